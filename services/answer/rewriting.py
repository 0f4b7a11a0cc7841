"""A user's text rewritten, with documents to look things up in.

What is checked of the result: its numbers, amounts, percentages, dates, clause numbers, names and links stand
in the user's text or in a quote that was found in the documents; it says no `must`, `may` or `not` where
neither of them has any such word; and it adds no links, images or HTML. Plain words and another order are
what it is for. What is not checked: that every sentence means what it meant. A negation, a duty or a number
may move from one sentence to another without a word that is new; whoever asked for the rewriting has the
original to compare with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chassis.auth import Caller
from chassis.errors import InvalidInput
from chassis.limits.size import check_names, check_text
from corpus.citations import Citation
from services.answer.answers import Metadata
from services.answer.clients.retrieval import RetrievalClient
from services.answer.context import ContextTooSmall, Material, enclose, lay_out
from services.answer.contracts import rewrite
from services.answer.contracts.completion import Completer, Kept
from services.answer.contracts.rewrite import Given, RewriteReply
from services.answer.corpus import Assembled
from services.answer.legible import legible
from services.answer.markup import added_markup
from services.answer.records.tasks import Task, Tasks
from services.answer.records.tracking import TaskName
from services.answer.records.usage import StageUsage
from services.answer.verification.citing import Citations, Origin, check_live, quote_in
from services.answer.verification.lint import Finding, LintRule, lint
from services.answer.verification.signing import Signer

MAX_TEXT_CHARACTERS = 20_000
MAX_INSTRUCTION_CHARACTERS = 2_000
MAX_AROUND_CHARACTERS = 4_000
"""Of the text before, and of the text after."""
MAX_QUERY_CHARACTERS = 8_000
DEFAULT_REFERENCE_TOKENS = 8_000
MAX_REFERENCE_TOKENS = 50_000
MAX_PLACES = 20
"""Sentences of a text that are looked at again, so that a long one is read in seconds; what is found after
that stays found."""
CHECKED = frozenset(LintRule) - {LintRule.UNSUPPORTED_WORDS, LintRule.CONDITION}
"""Other words than the user's are what rewriting is for, and whether a condition is told in other words is
beyond counting words."""
_SENTENCE = re.compile(r".+?(?:(?<=[.!?])\s+|\n+|\Z)", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n+")


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """What is asked for, see `clausegate.answer.v1.RewriteRequest`."""

    text: str
    instruction: str
    before: str = ""
    """What stands before the text where it is from."""
    after: str = ""
    sources: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    reference_tokens: int = 0
    max_cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The text, the quotes that it rests on, and what it took."""

    text: str
    citations: tuple[Citation, ...]
    metadata: Metadata
    usage: tuple[StageUsage, ...]


class Rewriting:
    """Rewrites texts. Keeps nothing of them."""

    def __init__(
        self,
        retrieval: RetrievalClient,
        completer: Completer,
        tasks: Tasks,
        signer: Signer,
        config_sha256: str,
    ) -> None:
        """`config_sha256` goes into certificates, see `Origin`."""
        self._retrieval = retrieval
        self._completer = completer
        self._tasks = tasks
        self._signer = signer
        self._config_sha256 = config_sha256

    async def rewrite(self, request: RewriteRequest, caller: Caller) -> Rewritten:
        """The rewritten text.

        Raises `InvalidInput`, `ModelNotConfigured` before anything is read, `ContextTooSmall`,
        `DocumentReplaced` when a quoted document is replaced meanwhile, and what `Completer.ask` and
        retrieval raise.
        """
        async with self._tasks.open(
            TaskName.REWRITE,
            text=f"{request.instruction}\n\n{request.text}",
            sources=request.sources,
            caller=caller,
            max_cost_usd=request.max_cost_usd,
        ) as task:
            _check(request)
            self._completer.require(rewrite.CONTRACT)
            found = await self._reference(request)
            return await self._render(request, found, task)

    async def _reference(self, request: RewriteRequest) -> Assembled:
        if not (request.sources or request.document_ids):
            return Assembled((), chunks_left_out=0, token_count=0, index_revision="")
        tokens = min(request.reference_tokens or DEFAULT_REFERENCE_TOKENS, MAX_REFERENCE_TOKENS)
        # The instruction may name what is to be looked up, the text's beginning what it is about.
        query = f"{request.instruction}\n{request.text}"[:MAX_QUERY_CHARACTERS]
        found = await self._retrieval.assemble(query, request.sources, request.document_ids, tokens)
        if not found.passages:
            raise ContextTooSmall(f"No chunk fits into {tokens:,} tokens.", field="reference_tokens")
        return found

    async def _render(self, request: RewriteRequest, found: Assembled, task: Task) -> Rewritten:
        code = task.clock.new_code()
        material = lay_out(found.passages, code, await self._retrieval.cards(found.passages))
        kept = await self._completer.ask(
            rewrite.CONTRACT,
            rewrite.prompt(
                request.instruction,
                Given(
                    text=enclose(f"{request.text}\n", code, "text"),
                    before=_enclosed(request.before, code, "before"),
                    after=_enclosed(request.after, code, "after"),
                    material=material.text if found.passages else "",
                ),
            ),
            lambda reply: _broken(reply, request, material),
            task.ledger,
        )
        text = legible(kept.reply.text, keeping=request.text)
        citations = await self._cite(kept, material)
        metadata = task.metadata(
            model=kept.model,
            prompt_version=rewrite.CONTRACT.version,
            index_revision=found.index_revision,
            context_tokens=found.token_count,
        )
        await task.close(
            answer=text,
            chunks_retrieved=len(found.passages),
            chunks_used=len({citation.chunk_id for citation in citations}),
        )
        return Rewritten(text, citations, metadata, task.ledger.stages)

    async def _cite(self, kept: Kept[RewriteReply], material: Material) -> tuple[Citation, ...]:
        """The references that stand in the material, and in the index now, as whole sentences; the others are
        dropped."""
        named = [
            (material.handles[reference.chunk], reference.quote)
            for reference in kept.reply.references
            if material.quoted(reference.chunk, reference.quote)
        ]
        quoted = [chunk.chunk_id for chunk, _ in named]
        chunks, documents = await self._retrieval.read_back(quoted)
        check_live(quoted, chunks)
        contract = rewrite.CONTRACT
        origin = Origin(self._config_sha256, kept.model, contract.version, contract.sha256)
        citations = Citations(chunks, documents, origin, self._signer)
        for chunk, quote in named:
            citations.cite(quote_in(chunk, quote, whole_sentences=True))
        return citations.all


def sentences_of(text: str) -> list[str]:
    """The text in pieces that end where a sentence or a line does; joined they are the text."""
    return _SENTENCE.findall(text)


def unsupported(text: str, original: str, quotes: Sequence[str], instruction: str = "") -> tuple[str, ...]:
    """What a rewritten text says and neither its original, a quote nor the instruction does.

    One sentence each. The instruction lends what it says and asks for nothing: what it denies need not stand.
    """
    sources = [original, *quotes]
    lent = lint(text, [*sources, instruction]) if instruction else None
    findings = [
        finding
        for finding in lint(text, sources)
        if finding.rule in CHECKED and (lent is None or finding in lent)
    ]
    findings = _without_repeated(findings, text, sources)
    said = [
        f"text: “{finding.text}” stands neither in the user's text nor in a passage quoted."
        for finding in findings
    ]
    markup = [f"text: “{added}” is no markup of the user's text." for added in added_markup(text, original)]
    return (*said, *markup)


def _without_repeated(findings: Sequence[Finding], text: str, sources: Sequence[str]) -> list[Finding]:
    """The findings but those that are there only because the text says a thing more often than its sources.

    The lint holds a statement to how often its quotes say a thing, and in which order; a text that is told
    anew may put things elsewhere, and repeat them in a summary. So a sentence that stands alone stands.
    """
    sentences = list(dict.fromkeys(_SENTENCE_END.split(text)))
    kept, looked_at = list[Finding](), 0
    for finding in findings:
        words = re.compile(rf"(?<!\w){re.escape(finding.text)}(?!\w)")
        places = [sentence for sentence in sentences if words.search(sentence)]
        looked_at += len(places)
        alone = bool(places) and looked_at <= MAX_PLACES
        if not alone or any(finding in lint(place, sources) for place in places):
            kept.append(finding)
    return kept


def _broken(reply: RewriteReply, request: RewriteRequest, material: Material) -> Sequence[str]:
    quotes = [
        words
        for reference in reply.references
        if (words := material.quoted(reference.chunk, reference.quote))
    ]
    return [*rewrite.broken_rules(reply), *unsupported(reply.text, request.text, quotes, request.instruction)]


def _enclosed(text: str, code: str, name: str) -> str:
    return enclose(f"{text}\n", code, name) if text.strip() else ""


def _check(request: RewriteRequest) -> None:
    check_text("text", request.text, MAX_TEXT_CHARACTERS, required=True)
    check_text("instruction", request.instruction, MAX_INSTRUCTION_CHARACTERS, required=True)
    check_text("before", request.before, MAX_AROUND_CHARACTERS, required=False)
    check_text("after", request.after, MAX_AROUND_CHARACTERS, required=False)
    check_names("sources", request.sources)
    check_names("document_ids", request.document_ids)
    if request.reference_tokens < 0:
        raise InvalidInput("Must not be below 0.", field="reference_tokens")
