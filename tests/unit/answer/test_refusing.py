from __future__ import annotations

import dataclasses

import pytest

from corpus.stems import stems_of
from services.answer.answers import AbsenceEvidence, GateDecision, GateRule, GateTier, RefusalReason, TermHits
from services.answer.corpus import Background, Found, Leg
from services.answer.query.refusing import Named, content_words, missing_sentence, refusal_message, refuse
from services.answer.questions import Question

GATE = GateDecision(True, False, GateTier.GRADED, GateRule.BELOW_THRESHOLD, 0.1, 0.2, 1, 0, None, True)


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ((), "This is not addressed in the provided documents."),
        (("cme",), "This is not addressed in the provided CME documents."),
        (("cme", "opra"), "This is not addressed in the provided CME, OPRA documents."),
        (tuple("abcde"), "This is not addressed in the provided A, B, C, D, E documents."),
        (tuple("abcdef"), "This is not addressed in the provided documents."),
    ],
)
def test_the_refusal_sentence_is_exact(sources, message):
    assert refusal_message(sources) == message


@pytest.mark.parametrize(
    ("reason", "gate", "hits", "words"),
    [
        (RefusalReason.CONFIDENCE_TOO_LOW, GATE, (TermHits("refund", 0), TermHits("fee", 3)), "“refund”"),
        (RefusalReason.CONFIDENCE_TOO_LOW, GATE, (TermHits("fee", 3),), "0.10 where 0.20 is needed"),
        (
            RefusalReason.CONFIDENCE_TOO_LOW,
            dataclasses.replace(GATE, rule=GateRule.RATIO_TOO_LOW),
            (),
            "stands out",
        ),
        (
            RefusalReason.CONFIDENCE_TOO_LOW,
            dataclasses.replace(
                GATE,
                rule=GateRule.TOO_FEW_CHUNKS,
                top_score=0.6,
                chunks_above_threshold=1,
                min_chunks_required=2,
            ),
            (),
            "come close enough to the question: 1, and 2 are needed",
        ),
        (RefusalReason.NO_CHUNKS_RETRIEVED, dataclasses.replace(GATE, top_score=None), (), "anything to do"),
        (RefusalReason.EMPTY_CONTEXT_AFTER_BUDGET, GATE, (), "token budget"),
        (RefusalReason.VALIDATION_FAILED, GATE, (), "stood the check"),
    ],
)
def test_what_is_missing_is_one_sentence_about_the_reason(reason, gate, hits, words):
    sentence = missing_sentence(reason, gate, hits)
    assert words in sentence
    assert sentence.endswith(".")


def found(question: str, keywords: str) -> Found:
    nothing = Leg(0, None)
    background = Background(0.0, calibrated=False)
    stems = tuple(stems_of(keywords))
    return Found("", question, (), nothing, nothing, 0, 0, background, {}, stems, (), "1")


def test_the_words_that_carry_a_question_are_kept_as_written_each_once():
    asked = found("What Refunds do refunds of the device-fees cost?", "refund device fee cost")
    assert content_words(asked) == ("Refunds", "device-fees", "cost")


def test_words_of_the_asking_are_not_among_them():
    asked = found(
        "How long must we wait, and within whose rooms?", "how long must we wait and within whose rooms"
    )
    assert content_words(asked) == ("wait", "rooms")


ASKED = Question("Is there any refund?")
ABSENCE = AbsenceEvidence("1", 1, 0, 0, (TermHits("refund", 0),))


@pytest.mark.parametrize(
    ("labels", "begins"),
    [
        (("Lease · A",), "“Lease · A” does not address this (1 of 1,050 documents searched; "),
        (("Lease", "Loan"), "“Lease” and “Loan” do not address this (1 of"),
        (("A", "B", "C"), "“A”, “B” and “C” do not address this (1 of"),
        (("A", "B", "C", "D"), "The 4 documents that the question names do not address this (1 of"),
        ((), "No passage mentions “refund”."),
    ],
)
def test_a_refusal_within_the_documents_that_a_question_names_says_so(labels, begins):
    named = Named(labels, 1050)
    missing = refuse(RefusalReason.CONFIDENCE_TOO_LOW, GATE, ASKED, ABSENCE, named).missing
    assert missing.startswith(begins)
    assert missing.endswith("No passage mentions “refund”.")
    assert ("--everywhere" in missing) is bool(labels)


def test_a_refusal_for_want_of_room_says_nothing_of_the_documents():
    refused = refuse(RefusalReason.EMPTY_CONTEXT_AFTER_BUDGET, GATE, ASKED, ABSENCE, Named(("Lease",), 5))
    assert refused.missing == "No relevant clause fits into the token budget."


def test_a_refusal_of_a_question_in_another_language_says_so():
    asked = Question("Wie lang ist die Kündigungsfrist?")
    refused = refuse(RefusalReason.CONFIDENCE_TOO_LOW, GATE, asked, ABSENCE, Named((), 5))
    assert refused.missing == "Questions and documents in English only."
