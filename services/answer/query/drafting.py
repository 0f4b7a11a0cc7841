"""From kept passages to a verified answer: definitions, budget, statements, verification.

The statements are extracts, or the quotes of a chat model where one is configured. What code adds, such as
definitions, clauses and notes, is the same for both. A model that answers nothing leaves a draft behind, from
which extracts can be made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from corpus.chunks import Chunk
from corpus.definitions import Definition
from inference.tokens import TokenCounter
from services.answer.answers import Answer, Outcome, RefusalReason
from services.answer.clients.retrieval import RetrievalClient
from services.answer.context import NO_CARDS, format_chunk, format_entry
from services.answer.contracts.answer import CONTRACT
from services.answer.contracts.completion import Completer, ContractFailed
from services.answer.corpus import Found, ResolvedDefinition
from services.answer.evidence.budget import pack
from services.answer.evidence.extraction import ScoredSentence, leading, rank_sentences
from services.answer.evidence.policy import Policy
from services.answer.query import answering, defining, stating
from services.answer.query.answering import Asked, Reply
from services.answer.query.composing import Draft, compose
from services.answer.query.defining import Quoted
from services.answer.query.progress import Progress
from services.answer.query.summarising import Summary, summarised
from services.answer.records.tasks import Task
from services.answer.sentences import Sentence, said_by, whole
from services.answer.verification.citing import EXTRACTIVE, Citations, Origin, check_live
from services.answer.verification.signing import Signer


@dataclass(frozen=True, slots=True)
class WithoutReply:
    """A draft to which the answer model has said nothing that can be used."""

    draft: Draft
    declined: bool
    """Whether it said that the passages do not answer; else nothing of its reply could be used."""


class Drafting:
    """Drafts answers and keeps of them what stands in the index."""

    def __init__(
        self,
        retrieval: RetrievalClient,
        completer: Completer,
        counter: TokenCounter,
        policy: Policy,
        signer: Signer,
    ) -> None:
        self._retrieval = retrieval
        self._completer = completer
        self._counter = counter
        self._policy = policy
        self._signer = signer

    async def draft(
        self, task: Task, progress: Progress, found: Found
    ) -> Answer | RefusalReason | WithoutReply:
        """The verified answer from the kept passages of a query, or why there is none.

        Raises what `Completer.ask` raises but `ContractFailed`: a model that cannot be asked is an error; and
        `DocumentReplaced` when a document that was to be quoted was replaced meanwhile.
        """
        definitions = await self._define(progress, found)
        configured, chunks = self._completer.configured, [graded.candidate.chunk for graded in progress.kept]
        cards = await self._retrieval.cards(chunks) if configured else NO_CARDS
        draft = self._fit(progress, definitions, cards)
        if not draft.kept:
            return RefusalReason.EMPTY_CONTEXT_AFTER_BUDGET
        if not configured:
            if draft.kept != progress.kept:
                progress.ranked_sentences = rank_sentences(draft.kept, found)
            return await self.extract(progress, replace(draft, is_answer=self.is_answer(progress, draft)))
        reply = await self._ask(task, progress, draft, cards)
        if reply is None or not reply.addressed:
            return WithoutReply(draft, declined=reply is not None)
        answer = await self._verify(progress, draft, reply)
        return answer if answer.statements else WithoutReply(draft, declined=False)

    async def extract(self, progress: Progress, draft: Draft) -> Answer | RefusalReason:
        """The best of the ranked sentences, verified, whether or not a model was asked before."""
        progress.model, progress.prompt_version = EXTRACTIVE, ""
        answer = await self._verify(progress, draft, _sentences(leading(progress.ranked_sentences)))
        return answer if answer.statements else RefusalReason.VALIDATION_FAILED

    def is_answer(self, progress: Progress, draft: Draft) -> bool | None:
        """Whether local evidence takes the extracts for an answer; None where there is none."""
        estimate = progress.estimate
        if estimate is None:
            return None
        if draft.asked_definitions():
            return True
        limit = self._policy.answered_from
        return estimate.probability >= (estimate.answered_from if limit is None else limit)

    async def _define(self, progress: Progress, found: Found) -> tuple[ResolvedDefinition, ...]:
        """The definitions of terms that the question uses, or what may be quoted: by a model, anything."""
        with progress.stage("definitions") as span:
            kept, depth = progress.kept, self._policy.definition_depth
            if self._completer.configured:
                passages = tuple(whole(graded.candidate.chunk) for graded in kept)
            else:
                ranked = progress.ranked_sentences = progress.ranked_sentences or rank_sentences(kept, found)
                passages = _sentences(leading(ranked))
            quoted = [_quoted_sentence(passage) for passage in passages]
            resolved = progress.resolved = await self._retrieval.find_definitions(
                progress.question, found, passages, depth
            )
            used = defining.in_use(resolved, quoted, progress.question.query)
            definitions = defining.relevant(used, {graded.candidate.chunk.source for graded in kept})
            span.set_attribute("clausegate.definitions", len(definitions))
        return definitions

    def _fit(
        self,
        progress: Progress,
        definitions: tuple[ResolvedDefinition, ...],
        cards: Mapping[str, str],
    ) -> Draft:
        """Chunks first, then as many definitions as the budget still holds."""
        with progress.stage("budget") as span:
            question, configured = progress.question, self._completer.configured
            prompt = answering.prompt_tokens(self._completer, question.query) if configured else 0
            packed = pack(
                progress.kept,
                self._policy.budget.for_chunks(prompt),
                self._counter,
                partial(format_entry, cards=cards) if configured else format_chunk,
            )
            left = packed.report.target_tokens - packed.report.final_tokens
            shown = _entry if configured else defining.words_of
            fitting, tokens = defining.fitting(definitions, left, self._counter, shown)
            progress.packed, progress.defined = packed.kept, tuple(fitting)
            progress.budget = replace(packed.report, final_tokens=packed.report.final_tokens + tokens)
            span.set_attribute("clausegate.context_tokens", progress.budget.final_tokens)
        calibrated = not question.grading or (progress.gate is not None and progress.gate.calibrated)
        return Draft(question.query, packed.kept, fitting, calibrated)

    async def _ask(
        self, task: Task, progress: Progress, draft: Draft, cards: Mapping[str, str]
    ) -> Reply | None:
        """What the answer model says; None when its reply breaks the contract after its repair, too."""
        progress.prompt_version = CONTRACT.version
        chunks = [graded.candidate.chunk for graded in draft.kept]
        told = [resolved.definition for resolved in draft.definitions]
        chunks += [defining.as_chunk(definition) for definition in told if defining.explains(definition)]
        with progress.stage("answer") as span:
            asked = Asked(draft.question, summary=self._policy.summary)
            try:
                reply = await answering.ask(self._completer, task, asked, chunks, cards)
            except ContractFailed:
                return None
            span.set_attribute("clausegate.quotes", len(reply.quotes))
        progress.model = reply.model
        return reply

    async def _verify(self, progress: Progress, draft: Draft, said: Reply | tuple[Sentence, ...]) -> Answer:
        """Re-read every chunk that may be quoted, and keep what stands there of a reply, or of extracts."""
        with progress.stage("verify") as span:
            chunks, documents = await self._retrieval.read_to_quote(draft.chunk_ids())
            citations = Citations(chunks, documents, self._origin(progress), self._signer, progress.labels)
            summary = Summary()
            if isinstance(said, Reply):
                check_live([quote.chunk_id for quote in said.quotes if quote], chunks)
                stated = stating.quoted(said.quotes, citations, draft.question)
                summary = summarised(said.summary, stated, draft.question)
                statements = stated.statements
                progress.dropped, progress.dropped_sentences = stated.dropped, summary.dropped
                span.set_attribute("clausegate.dropped_quotes", len(stated.dropped))
                span.set_attribute("clausegate.dropped_summary_sentences", len(summary.dropped))
            else:
                check_live([sentence.chunk.chunk_id for sentence in said], chunks)
                check_live([definition.chunk_id for definition in draft.asked_definitions()], chunks)
                statements = stating.extracted(draft, said, citations)
            used = defining.in_use(progress.resolved, _quoted(citations, chunks), draft.question)
            shown, left_out = defining.shown(used, draft.definitions)
            draft = replace(draft, definitions=shown)
            answer = compose(draft, statements, citations, chunks, documents) if statements else Answer()
            if answer.outcome is Outcome.ANSWERED:
                answer = replace(answer, summary=summary.sentences)
            span.set_attribute("clausegate.citations", len(answer.citations))
        return replace(answer, definitions_left_out=left_out)

    def _origin(self, progress: Progress) -> Origin:
        config = self._policy.sha256()
        if not progress.prompt_version:
            return Origin(config)
        return Origin(config, progress.model, CONTRACT.version, CONTRACT.sha256)


def _sentences(chosen: Iterable[ScoredSentence]) -> tuple[Sentence, ...]:
    return tuple(scored.sentence for scored in chosen)


def _entry(definition: Definition) -> str:
    return format_entry(defining.as_chunk(definition))


def _quoted_sentence(sentence: Sentence) -> Quoted:
    chunk = sentence.chunk
    return Quoted(chunk.document_id, chunk.source, said_by(sentence), chunk.text)


def _quoted(citations: Citations, chunks: Mapping[str, Chunk]) -> list[Quoted]:
    return [
        Quoted(citation.document, citation.source, citation.quote, chunks[citation.chunk_id].text)
        for citation in citations.all
    ]
