"""Asks the product and keeps what the figures need, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clausegate import ClausegateError, Client
from clausegate.answer.v1.answer_pb2 import Outcome, StageUsage
from clausegate.answer.v1.grounding_service_pb2 import GroundingClaim, GroundingVerdict
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.citation_pb2 import Citation
from evals.concurrency import in_order
from evals.metrics import Passage

POOL = 12
"""Candidates looked at: what the answer service grades."""
NO_MODEL = "no chat model"
"""Who answers where no model is configured."""
FAILURES_OF_MODELS = frozenset({"CONTRACT_FAILED", "MODEL_RATE_LIMITED", "UPSTREAM_UNAVAILABLE"})
"""What a model may fail with at one question and not at the next; counted, where all else ends the run."""
NOTHING_RETRIEVED = -1.0
"""Stands for the gate's score when it had none; below every real one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as put to the product."""

    text: str
    document_ids: tuple[str, ...] = ()
    """Where to look; everywhere when empty."""


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A candidate of a search."""

    passage: Passage
    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote of a statement."""

    parts: tuple[Passage, ...]
    """What it consists of, in the order of the document: lead-ins, the words themselves, conditions."""
    text: str
    pages: frozenset[int]
    """Pages that its parts stand on; empty where the format has none."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer or a refusal."""

    refused: bool
    top_score: float
    """What the gate compared with its threshold."""
    quotes: tuple[Quote, ...]
    """Quotes of the statements, in order of first use."""
    said: str
    """Answer and all citations, those of definitions too."""
    related: bool = False
    """Whether what it quotes is only possibly related."""
    probability: float | None = None
    """That the first quote is right, 0 to 1; None where a model graded, or nothing was found."""
    markdown_length: int = 0
    """Code points of the answer as Markdown."""
    cost_usd: float | None = None
    """What models took for it, see `cost_of`."""
    failed: bool = False
    """Whether there is neither answer nor refusal."""

    @property
    def answered(self) -> bool:
        """Whether it is more than related."""
        return not (self.refused or self.related or self.failed)

    @property
    def passages(self) -> list[Passage]:
        """Where the quotes stand, part by part."""
        return [part for quote in self.quotes for part in quote.parts]

    @property
    def first_passages(self) -> list[Passage]:
        """Where the first quote stands, part by part; empty without quotes."""
        return [part for quote in self.quotes[:1] for part in quote.parts]


FAILED = Reply(refused=False, top_score=NOTHING_RETRIEVED, quotes=(), said="", failed=True)
"""Stands for the reply of a call that failed: no right answer, and no refusal either."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Puts many questions at once; results keep the order of the questions."""

    client: Client
    concurrency: int

    async def searches(self, questions: Sequence[Asked]) -> list[list[FoundChunk]]:
        """The pool of each question, best first."""
        return await in_order(questions, self._search, self.concurrency, "searches")

    async def replies(self, questions: Sequence[Asked], *, gate: bool = True) -> list[Reply]:
        """The reply to each question; without the gate none is refused for weak evidence."""

        async def ask(asked: Asked) -> Reply:
            try:
                return read_reply(
                    await self.client.query(
                        asked.text, document_ids=asked.document_ids, gate=gate, debug=True
                    )
                )
            except ClausegateError as error:
                if error.reason not in FAILURES_OF_MODELS:
                    raise
                return FAILED

        return await in_order(questions, ask, self.concurrency, "queries")

    async def verdicts(self, texts: Sequence[str]) -> list[str]:
        """What grounding finds of each sentence over all documents: `supported`, `not_found` and the like."""

        async def check(text: str) -> str:
            response = await self.client.check_grounding(claims=[GroundingClaim(text=text)])
            name = GroundingVerdict.Name(response.claims[0].verdict)
            return name.removeprefix("GROUNDING_VERDICT_").lower()

        return await in_order(texts, check, self.concurrency, "checks")

    async def citations(self, questions: Sequence[Asked]) -> list[Citation]:
        """What all answers cite, definitions too; without the gate."""

        async def ask(asked: Asked) -> Sequence[Citation]:
            response = await self.client.query(asked.text, document_ids=asked.document_ids, gate=False)
            return response.citations

        answers = await in_order(questions, ask, self.concurrency, "queries")
        return [citation for citations in answers for citation in citations]

    async def _search(self, asked: Asked) -> list[FoundChunk]:
        response = await self.client.search(asked.text, document_ids=asked.document_ids, top_k=POOL)
        chunks = [candidate.chunk for candidate in response.candidates]
        return [FoundChunk(Passage(c.document_id, c.span.start, c.span.end), c.text) for c in chunks]


def read_reply(response: QueryResponse) -> Reply:
    """What the figures need of a response."""
    decided, explained = response.debug.confidence_gate, response.debug.explanation
    return Reply(
        refused=response.HasField("refusal"),
        top_score=decided.top_score if decided.HasField("top_score") else NOTHING_RETRIEVED,
        quotes=_quotes(response),
        said="\n".join([response.answer, *(citation.quote for citation in response.citations)]),
        related=response.outcome == Outcome.OUTCOME_RELATED,
        probability=explained.probability if explained.HasField("probability") else None,
        markdown_length=len(response.markdown),
        cost_usd=cost_of(response.usage),
    )


def cost_of(usage: Sequence[StageUsage]) -> float | None:
    """US dollars; None when no model was called, or one without a price."""
    return sum(stage.cost_usd for stage in usage) if usage and all(stage.priced for stage in usage) else None


async def answerers(client: Client, server: str) -> str:
    """Who grades and answers, and where: told by a dry run, which sends nothing to a model."""
    dry_run = (await client.query("Who answers?", dry_run=True)).dry_run
    models = ", ".join(f"{stage.stage} {stage.model}" for stage in dry_run.stages)
    return f"{models} of {server}" if models else NO_MODEL


def _quotes(response: QueryResponse) -> tuple[Quote, ...]:
    cited = {number: None for statement in response.statements for number in statement.citation_numbers}
    citations = {citation.number: citation for citation in response.citations}
    return tuple(_quote(citations[number]) for number in cited)


def _quote(citation: Citation) -> Quote:
    return Quote(
        tuple(Passage(citation.document, part.span.start, part.span.end) for part in citation.parts),
        citation.quote,
        frozenset(
            page
            for part in citation.parts
            if part.HasField("page")
            for page in range(part.page, part.last_page + 1)
        ),
    )
