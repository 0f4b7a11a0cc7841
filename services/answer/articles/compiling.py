"""Compiles an article: read the documents, ask the model, check what it says, store it.

An article is openly a model's text, and nobody may take it for evidence. What is checked all the same: its
numbers, amounts, percentages, dates, clause numbers and links stand in the material; a sourced claim has a
quote that was found, and says no more than it; a sentence that turns one of the documents round is left out;
Markdown that could link, load or run something is shown as text. What is not: whether the prose around the
claims draws the right conclusions.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chassis.auth import Caller
from corpus.chunks import Chunk
from corpus.documents import Version
from services.answer.answers import Metadata
from services.answer.article import (
    Article,
    ArticleClaim,
    ArticleScope,
    Backlink,
    ClaimConfidence,
    CompileRequest,
    check,
)
from services.answer.articles.prose import Prose, broken_rules
from services.answer.clients.articles import ArticlesClient
from services.answer.clients.retrieval import RetrievalClient
from services.answer.context import (
    NO_CARDS,
    ContextTooSmall,
    Material,
    card_for,
    enclose,
    format_chunk,
    lay_out,
)
from services.answer.contracts import article
from services.answer.contracts.article import ArticleReply, KeyClaim
from services.answer.contracts.completion import Completer, Kept
from services.answer.corpus import Assembled
from services.answer.evidence.policy import Policy
from services.answer.legible import legible
from services.answer.markup import neutralised
from services.answer.records.tasks import Task, Tasks
from services.answer.records.tracking import TaskName
from services.answer.records.usage import StageUsage
from services.answer.verification.citing import Citations, DocumentReplaced, Origin, check_live, quote_in
from services.answer.verification.lint.inventory import Inventory
from services.answer.verification.overstatement import overstates
from services.answer.verification.signing import Signer

READINGS = 2
"""Times that the documents are read when one is replaced meanwhile."""
LAYOUT_SHARE = 32
"""One token in so many is left for handles and rules between the chunks."""
_LIST_NUMBER = re.compile(r"^((?:[ \t]|[-*+>][ \t])*)\d{1,3}[.)](?=\s)", re.MULTILINE)
"""The number of an item in a numbered list."""
NO_ROOM = (
    "Prompt and reply leave too few tokens for any chunk: raise CLAUSEGATE_BUDGET_TOTAL_TOKENS, or "
    "CLAUSEGATE_BUDGET_CHUNK_TOKENS where that is less."
)


@dataclass(frozen=True, slots=True)
class Compiled:
    """The article as stored, and what it took."""

    article: Article
    metadata: Metadata
    usage: tuple[StageUsage, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the model is shown."""

    scope: ArticleScope
    basis: tuple[Version, ...]
    found: Assembled
    material: Material
    held: Inventory
    """What an article may say of numbers, dates, clause numbers and links."""
    prose: Prose
    """The sentences of the material."""


class Compiling:
    """Compiles articles. Keeps nothing of them."""

    def __init__(
        self,
        retrieval: RetrievalClient,
        store: ArticlesClient,
        completer: Completer,
        tasks: Tasks,
        signer: Signer,
        policy: Policy,
    ) -> None:
        """The policy gives the token budget, and its hash for certificates."""
        self._retrieval = retrieval
        self._store = store
        self._completer = completer
        self._tasks = tasks
        self._signer = signer
        self._policy = policy

    async def compile(self, request: CompileRequest, caller: Caller) -> Compiled:
        """The article, which is stored when this returns; nothing is stored before all of it was checked.

        Raises `InvalidInput`, `ModelNotConfigured` before anything is read, `ContextTooSmall`,
        `DocumentReplaced` when documents are replaced meanwhile, and what `Completer.ask`, retrieval and the
        store of articles raise.
        """
        async with self._tasks.open(
            TaskName.ARTICLE,
            text=request.scope.topic or request.article_id,
            sources=request.scope.sources,
            caller=caller,
            max_cost_usd=request.max_cost_usd,
        ) as task:
            check(request)
            self._completer.require(article.CONTRACT)
            code = task.clock.new_code()
            shown = await self._read(await self._scope(request), code)
            kept = await self._completer.ask(
                article.CONTRACT,
                article.prompt(_topic(shown.scope, code), shown.material.text),
                lambda reply: _broken(reply, shown),
                task.ledger,
            )
            compiled = await self._article(request, shown, kept, task)
            metadata = task.metadata(
                model=kept.model,
                prompt_version=article.CONTRACT.version,
                index_revision=shown.found.index_revision,
                context_tokens=shown.found.token_count,
            )
            # When the store fails now there is a record without its article; never the other way round.
            await task.close(
                answer=f"{compiled.title}\n\n{compiled.summary}\n\n{compiled.article_body}",
                chunks_retrieved=len(shown.found.passages),
                chunks_used=compiled.chunks_used,
            )
            return Compiled(await self._store.put(compiled), metadata, task.ledger.stages)

    async def _scope(self, request: CompileRequest) -> ArticleScope:
        if not request.again:
            return request.scope
        own = await self._store.scope(request.article_id)
        return replace(own, topic=request.scope.topic or own.topic)

    async def _read(self, scope: ArticleScope, code: str) -> _Shown:
        """The documents, all of them of the versions that the article will name as its basis.

        Were one replaced between, the article would count as fresh without having been made from it.
        """
        room = self._room(scope, code)
        for _ in range(READINGS):
            basis = await self._basis(scope)
            found = await self._retrieval.assemble(scope.topic, scope.sources, scope.document_ids, room)
            if await self._basis(scope) == basis:
                if not found.passages:
                    raise ContextTooSmall(NO_ROOM)
                cards = await self._retrieval.cards(found.passages)
                material = lay_out(found.passages, code, cards)
                # A third of a second of work where the material is long.
                held = await asyncio.to_thread(held_by, material, scope.topic)
                prose = await asyncio.to_thread(Prose, material.handles.values())
                return _Shown(scope, basis, found, material, held, prose)
        message = "Documents of the scope are being replaced; repeat the call."
        raise DocumentReplaced(message, retry_after_seconds=1.0)

    async def _basis(self, scope: ArticleScope) -> tuple[Version, ...]:
        documents = await self._retrieval.documents(scope.sources, scope.document_ids)
        return tuple(
            document.version for document in sorted(documents, key=lambda document: document.document_id)
        )

    def _room(self, scope: ArticleScope, code: str) -> int:
        """Tokens that prompt and reply leave for chunks."""
        prompt = article.prompt(_topic(scope, code), "")
        reply = self._completer.task(article.CONTRACT).max_tokens
        budget = replace(self._policy.budget, answer_tokens=reply)
        room = budget.for_chunks(self._completer.prompt_tokens(article.CONTRACT, prompt))
        if room < LAYOUT_SHARE:
            raise ContextTooSmall(NO_ROOM)
        return room - room // LAYOUT_SHARE

    async def _article(
        self, request: CompileRequest, shown: _Shown, kept: Kept[ArticleReply], task: Task
    ) -> Article:
        reply = kept.reply
        article_id = request.article_id or shown.scope.default_id()
        claims = await self._claims(kept, shown)
        prose = await asyncio.to_thread(shown.prose.kept, reply)
        return Article(
            article_id=article_id,
            title=legible(reply.title).strip(),
            summary=legible(prose.summary).strip(),
            key_claims=claims,
            concepts=_distinct(prose.concepts),
            backlink_suggestions=await self._backlinks(reply.backlink_suggestions, article_id),
            open_questions=_distinct(reply.open_questions),
            article_body=neutralised(prose.body),
            sources=shown.scope.sources,
            document_ids=shown.scope.document_ids,
            topic=shown.scope.topic,
            basis=shown.basis,
            chunks_used=len(shown.found.passages),
            chunks_left_out=shown.found.chunks_left_out,
            downgraded_claims=sum(claim.confidence == "sourced" for claim in reply.key_claims)
            - sum(claim.confidence is ClaimConfidence.SOURCED for claim in claims),
            sentences_left_out=prose.left_out,
            model=kept.model,
            prompt_version=article.CONTRACT.version,
            compiled_at=task.clock.now(),
        )

    async def _claims(self, kept: Kept[ArticleReply], shown: _Shown) -> tuple[ArticleClaim, ...]:
        """The claims; a sourced one that its quote does not carry counts as inferred."""
        topic = shown.scope.topic
        claims = [(claim, carrier(claim, shown.material, topic)) for claim in kept.reply.key_claims]
        quoted = [chunk.chunk_id for _, chunk in claims if chunk]
        stored, documents = await self._retrieval.read_back(quoted)
        check_live(quoted, stored)
        contract = article.CONTRACT
        origin = Origin(self._policy.sha256(), kept.model, contract.version, contract.sha256)
        citations = Citations(stored, documents, origin, self._signer)
        return tuple(_claim(claim, chunk, citations, topic) for claim, chunk in claims)

    async def _backlinks(self, suggested: Sequence[str], article_id: str) -> tuple[Backlink, ...]:
        titles = _distinct(suggested)
        found = await self._store.find(titles)
        links = (Backlink(title, found.get(title, "")) for title in titles)
        return tuple(link for link in links if link.article_id != article_id)


def _claim(claim: KeyClaim, chunk: Chunk | None, citations: Citations, topic: str) -> ArticleClaim:
    text = legible(claim.claim).strip()
    if chunk is None:
        inferred = claim.confidence == "sourced"
        return ArticleClaim(text, ClaimConfidence("inferred" if inferred else claim.confidence), None)
    stored = citations.find(quote_in(chunk, claim.quote or "", whole_sentences=True))
    # What was shown may have been a part of the chunk.
    if stored is None or not stored.says_something or overstates(text, [stored.reading], topic):
        return ArticleClaim(text, ClaimConfidence.INFERRED, None)
    return ArticleClaim(text, ClaimConfidence.SOURCED, citations.cite_stored(stored))


def _topic(scope: ArticleScope, code: str) -> str:
    topic = scope.topic.strip()
    return enclose(f"{topic}\n", code, "topic") if topic else ""


def _broken(reply: ArticleReply, shown: _Shown) -> Sequence[str]:
    return [
        *article.broken_rules(reply),
        *unsupported(reply, shown.held),
        *broken_rules(reply, shown.prose),
    ]


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    """The items in order, each once; case and white space make no other item."""
    first: dict[str, str] = {}
    for item in items:
        shown = legible(item)
        first.setdefault(" ".join(shown.casefold().split()), shown.strip())
    return tuple(first.values())


def held_by(material: Material, topic: str) -> Inventory:
    """What an article may say of numbers, dates, clause numbers and links.

    Titles and headings are the documents' too, and the words of the topic are the user's own.
    """
    shown = material.handles.values()
    return Inventory([topic, *(f"{card_for(chunk, NO_CARDS)}\n{format_chunk(chunk)}" for chunk in shown)])


def unsupported(reply: ArticleReply, held: Inventory) -> Sequence[str]:
    """Numbers, amounts, dates, clause numbers and links that an article invents, one sentence each.

    Negations, duties and names are checked in sourced claims alone: in whole documents nearly every word
    stands somewhere, and headings look like names.
    """
    return [
        f"{name}: “{invented.text}” does not stand in the material."
        for name, text in _fields(reply)
        for invented in dict.fromkeys(held.lacks(text))
    ]


def carrier(claim: KeyClaim, material: Material, topic: str) -> Chunk | None:
    """The chunk whose sentences carry a claim that is called sourced: the words stand there, and their whole
    sentences say no less."""
    if claim.confidence != "sourced" or not claim.chunk or not claim.quote:
        return None
    words = material.quoted(claim.chunk, claim.quote)
    if words is None or overstates(claim.claim, [words], topic):
        return None
    return material.handles[claim.chunk]


def _fields(reply: ArticleReply) -> Iterator[tuple[str, str]]:
    yield "title", reply.title
    yield "summary", reply.summary
    for i, claim in enumerate(reply.key_claims):
        yield f"key_claims.{i}.claim", claim.claim
    lists = (reply.concepts, reply.backlink_suggestions, reply.open_questions)
    for name, items in zip(("concepts", "backlink_suggestions", "open_questions"), lists, strict=True):
        for i, text in enumerate(items):
            yield f"{name}.{i}", text
    # The numbers of a numbered list are the list's.
    yield "article_body", _LIST_NUMBER.sub(r"\1-", reply.article_body)
