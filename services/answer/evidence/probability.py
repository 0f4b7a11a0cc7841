"""How probable it is that the first sentence of an answer answers the question: what outcomes go by.

A logistic model of a few signs, fitted on natural questions by `python -m evals.calibrate`, which writes
`calibration.json` with its limits: one model for each set of signs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.spans import Span
from corpus.stems import stems_of
from services.answer.corpus import Candidate, Found
from services.answer.evidence.everyday import contract_stems
from services.answer.evidence.extraction import ScoredSentence, similarity_at
from services.answer.evidence.grading import GradedCandidate
from services.answer.evidence.readings import UNREAD_SENTENCE
from services.answer.evidence.wants import Want, wanted
from services.answer.sentences import read_as

PACKAGED = Path(__file__).with_name("calibration.json")

EVIDENCE = "evidence"
"""The model of the signs that are always there."""
READER = "reader"
"""What the names of signs begin with that a reading model adds."""
NEAREST = "best evidence"
"""The sign that the gate goes by: the probability says little about questions whose subject a document does
not have. AUROC over lawyers' checklists: .67 where evidence has .81 (CUAD), .65 and .75 (ContractNLI)."""
SHARPNESS = 0.05
"""Scores of sentences so far apart differ by a factor of e; over 1,040 natural questions .05 tells right
first sentences best (AUROC of this sign alone .717; .1 is .712, .2 is .689)."""

Signs = Mapping[str, float]
"""What the probability is worked out from, by name."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A probability, and the limit of the model that it comes from."""

    probability: float
    """That the first sentence of the answer is right, 0 to 1."""
    answered_from: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted model and its limits."""

    bias: float
    weights: Mapping[str, float]
    """By sign."""
    evidence_needed: float
    """Evidence that the best passage must have; below it a question is refused."""
    answered_from: float
    """Probability from which sentences are an answer; below it they are only possibly related."""

    def estimate(self, signs: Signs) -> Estimate:
        """The probability that these signs give; a sign without a weight counts nothing."""
        weighed = self.bias + sum(weight * signs.get(name, 0.0) for name, weight in self.weights.items())
        probability = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, weighed))))
        return Estimate(probability, self.answered_from)


def read_calibrations(file: Path = PACKAGED) -> dict[str, Calibration]:
    """What `evals.calibrate` wrote: a model for each set of signs, by the name of the set."""
    read = json.loads(file.read_text(encoding="utf-8"))
    return {
        name: Calibration(
            fitted["bias"],
            fitted["weights"],
            fitted["evidence_needed"],
            fitted["answered_from"],
        )
        for name, fitted in read.items()
    }


def has_read(signs: Iterable[str]) -> bool:
    """Whether a reading model has added to the signs."""
    return any(name.startswith(READER) for name in signs)


def set_of(signs: Iterable[str]) -> str:
    """The name of the set that these signs are."""
    return f"{EVIDENCE}+{READER}" if has_read(signs) else EVIDENCE


_CALIBRATIONS = read_calibrations()


def calibration_of(signs: Iterable[str]) -> Calibration:
    """The model of these signs."""
    return _CALIBRATIONS[set_of(signs)]


def signs_of(ranked: Sequence[ScoredSentence], graded: Sequence[GradedCandidate], found: Found) -> Signs:
    """The signs of what was found; empty when no sentence was. `ranked` are sentences of `graded`."""
    if not ranked:
        return {}
    best, wants = ranked[0].sentence, wanted(found.clause_question)
    owner = _owner(ranked[0], graded)
    asked, topics = set(found.keyword_stems), set(found.lexicon_stems)
    everyday = set(contract_stems(found.clause_question)) - asked - topics
    heading = " ".join((owner.chunk.section, *owner.chunk.heading_chain))
    reading = read_as(best)
    return {
        NEAREST: max(candidate.score for candidate in graded),
        "sentence stands out": _standing(ranked),
        "sentence similarity": similarity_at(owner, best.span),
        "words in sentence and heading": _share(asked, f"{reading} {heading}"),
        "other words in sentence": _share(everyday, reading),
        "topic named": float(bool(topics)),
        "asks for a figure": float(bool(wants & {Want.AMOUNT, Want.NUMBER})),
        "length of question": math.log(1 + len(found.clause_question.split())),
        **(_read_in(owner, best.span) or _around(found)),
    }


def _read_in(owner: Candidate, sentence: Span) -> Signs:
    """What the reader says of a sentence and of its chunk; nothing without a reader."""
    if owner.reading is None:
        return {}
    return {
        f"{READER} of passage": owner.reading.answers,
        f"{READER} of sentence": owner.reading.sentences.get(sentence, UNREAD_SENTENCE),
    }


def _around(found: Found) -> Signs:
    """How strong all evidence is; without a reader alone, since a folder of a few chunks has no weak ones."""
    combined = [candidate.combined for candidate in found.candidates]
    return {"evidence around": sum(combined) / len(combined)}


def _owner(best: ScoredSentence, graded: Sequence[GradedCandidate]) -> Candidate:
    candidates = (own.candidate for own in graded)
    return next(own for own in candidates if own.chunk.chunk_id == best.sentence.chunk.chunk_id)


def _standing(ranked: Sequence[ScoredSentence]) -> float:
    """Share of the best sentence among all, above 0 to 1: 1 when no other comes near it."""
    return 1.0 / sum(math.exp((other.score - ranked[0].score) / SHARPNESS) for other in ranked)


def _share(stems: set[str], text: str) -> float:
    """Share of the stems that stand in a text, 0 to 1; 0 of none."""
    return len(stems.intersection(stems_of(text))) / len(stems) if stems else 0.0
