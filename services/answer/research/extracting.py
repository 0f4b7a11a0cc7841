"""Finds the snippets of one question among the candidates of a search.

Local grading and the gate come before the model: a question that nothing found bears on costs nothing. A
model does not grade here: the one call that would grade extracts, and may well return nothing. So the gate
asks less where a model decides next. A model that finds nothing may name the words that documents would use:
they are searched for once, and what is found and was not shown yet is put to it in a second call, unless the
first one took a repair already. Without a model the sentences that score best are taken, and the gate
is that of answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from corpus.chunks import Chunk
from corpus.spans import Span
from inference.tokens import TokenCounter
from services.answer.answers import GateRule, RefusalReason
from services.answer.clients.retrieval import RetrievalClient
from services.answer.context import Material, format_chunk, format_entry, lay_out
from services.answer.contracts import snippets as contract
from services.answer.contracts.completion import Completer, Kept
from services.answer.contracts.snippets import (
    MAX_SNIPPETS,
    FoundSnippet,
    SnippetsReply,
    is_long_enough,
    is_one_sentence,
)
from services.answer.corpus import Found
from services.answer.evidence import gate, grading
from services.answer.evidence.extraction import choose_sentences
from services.answer.evidence.grading import LOCAL_GRADER, GradedCandidate
from services.answer.evidence.local_grading import LocalGrader
from services.answer.evidence.policy import Policy
from services.answer.records.tasks import Task
from services.answer.records.usage import StageUsage
from services.answer.research.snippets import Delivered, Passage, Snippet, Wanted, checked_summary, deliver
from services.answer.research.wording import NOTHING_FOUND, none_stands
from services.answer.sentences import Sentence
from services.answer.verification.citing import EXTRACTIVE, Citations, Origin, check_live
from services.answer.verification.signing import Signer

THRESHOLD = 0.20
"""Evidence that a passage needs whose sentences are taken as snippets."""
ASKED_THRESHOLD = 0.0
"""Evidence that a model is asked for: more than the question finds in documents where nobody asked.

That without a model, .20, is for words that nobody reads before they leave; it also stops questions in
other words than the documents'. Questions about something else altogether stay below 0: over the examples
eight of eight, at -.22 to -.03, while those about the examples reach .30 to .80."""
SENTENCE_SHARE = 0.7
"""Share of the best score that a sentence must reach. On the 30 questions about the examples a share of
.85, with 5.8 sentences, holds .84 of the expected phrases; .7, with 7.5, holds .95; less adds
nothing."""
NO_RESULTS = "no_results"
"""Recorded when the model says that nothing bears on the question."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What there is for a question."""

    snippets: tuple[Snippet, ...]
    summary: str
    silence: str | None
    """Why there are no snippets: a `RefusalReason`, or `NO_RESULTS`; None when there are."""
    dropped: int = 0
    model: str = EXTRACTIVE
    grader: str = LOCAL_GRADER
    """See `LocalGrades.grader`."""
    context_tokens: int = 0
    """Tokens of the chunks that a model was shown, or sentences were taken from."""
    chunks_used: int = 0
    usage: tuple[StageUsage, ...] = ()


SearchAgain = Callable[[str], Awaitable[Found]]
"""Searches for other words where the question was searched for."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What a model made of what it was shown."""

    kept: Kept[SnippetsReply]
    material: Material
    shown: tuple[Chunk, ...]
    """In this call, and in those before it."""


class Extractor:
    """Extracts snippets. Keeps nothing between questions."""

    def __init__(
        self,
        retrieval: RetrievalClient,
        completer: Completer,
        counter: TokenCounter,
        policy: Policy,
        signer: Signer,
        grader: LocalGrader,
    ) -> None:
        self._retrieval = retrieval
        self._completer = completer
        self._counter = counter
        self._policy = policy
        self._signer = signer
        self._grader = grader

    @property
    def model(self) -> str:
        """The model that is asked; `extractive` without one."""
        return self._completer.task(contract.CONTRACT).model if self._completer.configured else EXTRACTIVE

    @property
    def prompt_version(self) -> str:
        """The version of its prompt; empty without a model."""
        return contract.CONTRACT.version if self._completer.configured else ""

    async def extract(self, found: Found, wanted: Wanted, task: Task, again: SearchAgain) -> Extraction:
        """The snippets among what was found, or is found with a model's words. Raises what `again` and
        `Completer.ask` raise."""
        grades = await self._grader.grade(found)
        ranked = grades.ranked
        threshold = ASKED_THRESHOLD if self._completer.configured else THRESHOLD
        decision = gate.decide_graded(
            [graded.score for graded in ranked],
            threshold,
            self._policy.gate.min_chunks,
            enabled=True,
            calibrated=found.background.calibrated,
        )
        if not decision.passed:
            nothing = decision.rule is GateRule.NOTHING_RETRIEVED
            reason = RefusalReason.NO_CHUNKS_RETRIEVED if nothing else RefusalReason.CONFIDENCE_TOO_LOW
            return Extraction((), NOTHING_FOUND, reason.value, model=self.model, grader=grades.grader)
        if self._completer.configured:
            extraction = await self._ask(ranked, wanted, task, again)
        else:
            extraction = await self._excerpt(ranked, found, wanted)
        return replace(extraction, grader=grades.grader)

    async def _ask(
        self, ranked: Sequence[GradedCandidate], wanted: Wanted, task: Task, again: SearchAgain
    ) -> Extraction:
        """What a model extracts, as far as it stands in the documents."""
        read = await self._read(self._shown(ranked), wanted, task)
        if read.kept.reply.other_words and not read.kept.repaired:
            read = await self._read_on(read, wanted, task, again)
        kept, material = read.kept, read.material
        passages = [_passage_named(snippet, material) for snippet in kept.reply.snippets]
        delivered = await self._verify(passages, wanted, kept.model)
        return Extraction(
            delivered.snippets,
            _summary(kept.reply.summary, delivered, len(passages), wanted),
            _silence(delivered, named=bool(passages)),
            dropped=delivered.dropped,
            model=kept.model,
            context_tokens=self._counter.count(material.text),
            chunks_used=len(read.shown),
            usage=task.ledger.stages,
        )

    async def _read_on(self, read: _Read, wanted: Wanted, task: Task, again: SearchAgain) -> _Read:
        """What a model makes of the chunks that its own words find; what it made before where they find none
        that it was not shown."""
        grades = await self._grader.grade(await again(read.kept.reply.other_words))
        known = {chunk.chunk_id for chunk in read.shown}
        new = [graded for graded in grades.ranked if graded.candidate.chunk.chunk_id not in known]
        return await self._read(self._shown(new), wanted, task, read.shown) if new else read

    async def _read(
        self, shown: Sequence[Chunk], wanted: Wanted, task: Task, before: tuple[Chunk, ...] = ()
    ) -> _Read:
        cards = await self._retrieval.cards(shown)
        material = lay_out(shown, task.clock.new_code(), cards)
        kept = await self._completer.ask(
            contract.CONTRACT,
            contract.prompt(wanted.question, material.text, wanted.at_most),
            contract.broken_rules,
            task.ledger,
        )
        return _Read(kept, material, (*before, *shown))

    async def _excerpt(self, ranked: Sequence[GradedCandidate], found: Found, wanted: Wanted) -> Extraction:
        """The sentences of the kept chunks that score best."""
        kept = grading.keep(ranked, self._policy.keep_ratio, self._policy.snippets.max_chunks)
        passages = excerpts(kept, found)
        delivered = await self._verify(passages, wanted, EXTRACTIVE)
        return Extraction(
            delivered.snippets,
            _summary("", delivered, len(passages), wanted),
            _silence(delivered, named=bool(passages)),
            dropped=delivered.dropped,
            context_tokens=sum(self._counter.count(format_chunk(graded.candidate.chunk)) for graded in kept),
            chunks_used=len(kept),
        )

    def _shown(self, ranked: Sequence[GradedCandidate]) -> list[Chunk]:
        """The chunks that a model is shown, best first."""
        limits = self._policy.snippets
        shown: list[Chunk] = []
        tokens = 0
        for graded in ranked[: limits.max_chunks]:
            tokens += self._counter.count(format_entry(graded.candidate.chunk))
            if len(shown) >= limits.min_chunks and tokens > limits.chunk_tokens:
                break
            shown.append(graded.candidate.chunk)
        return shown

    async def _verify(self, passages: Sequence[Passage], wanted: Wanted, model: str) -> Delivered:
        """Re-read every chunk that is quoted, and deliver what stands there now.

        Raises `DocumentReplaced` when a document that is quoted was replaced meanwhile.
        """
        quoted = [passage.chunk.chunk_id for passage in passages if passage.chunk]
        stored, documents = await self._retrieval.read_to_quote(quoted)
        check_live(quoted, stored)
        citations = Citations(stored, documents, self._origin(model), self._signer)
        return deliver(passages, citations, wanted)

    def _origin(self, model: str) -> Origin:
        config_sha256 = self._policy.sha256()
        if model == EXTRACTIVE:
            return Origin(config_sha256)
        return Origin(config_sha256, model, contract.CONTRACT.version, contract.CONTRACT.sha256)


def _passage_named(snippet: FoundSnippet, material: Material) -> Passage:
    """What a model says that it read; a few words prove nothing, wherever they stand."""
    chunk = material.handles.get(snippet.chunk) if is_long_enough(snippet.content) else None
    relevance = snippet.relevance if is_one_sentence(snippet.relevance) else ""
    return Passage(chunk, snippet.content, relevance)


def _summary(said: str, delivered: Delivered, named: int, wanted: Wanted) -> str:
    if delivered.verified:
        return checked_summary(said, delivered.verified, wanted)
    return none_stands(named) if named else NOTHING_FOUND


def _silence(delivered: Delivered, *, named: bool) -> str | None:
    if delivered.snippets:
        return None
    return RefusalReason.VALIDATION_FAILED.value if named else NO_RESULTS


def excerpts(kept: Sequence[GradedCandidate], found: Found) -> tuple[Passage, ...]:
    """Passages of the kept chunks made of up to eight sentences, that with the best sentence first."""
    chosen = [scored.sentence for scored in choose_sentences(kept, found, MAX_SNIPPETS, SENTENCE_SHARE)]
    places = {(sentence.chunk.chunk_id, sentence.span) for sentence in chosen}
    spans = [(sentence, _joined(sentence, places)) for sentence in chosen]
    return tuple(_passage(sentence, span) for sentence, span in _distinct(spans))


def _joined(sentence: Sentence, places: Collection[tuple[str, Span]]) -> Span:
    """The sentence with the chosen ones right before and after it."""
    chunk = sentence.chunk
    first = last = chunk.sentences.index(sentence.span)
    while first > 0 and (chunk.chunk_id, chunk.sentences[first - 1]) in places:
        first -= 1
    while last + 1 < len(chunk.sentences) and (chunk.chunk_id, chunk.sentences[last + 1]) in places:
        last += 1
    return Span(chunk.sentences[first].start, chunk.sentences[last].end)


def _distinct(spans: Sequence[tuple[Sentence, Span]]) -> Collection[tuple[Sentence, Span]]:
    """Each stretch once, at the place of its best sentence."""
    first: dict[tuple[str, Span], tuple[Sentence, Span]] = {}
    for sentence, span in spans:
        first.setdefault((sentence.chunk.chunk_id, span), (sentence, span))
    return first.values()


def _passage(sentence: Sentence, span: Span) -> Passage:
    chunk = sentence.chunk
    content = chunk.text[span.start - chunk.span.start : span.end - chunk.span.start]
    return Passage(chunk, content, start=span.start)
