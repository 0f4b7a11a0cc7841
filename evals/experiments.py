"""The experiments: each asks one set of questions in one way and returns its figures."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median

from evals.asking import Asked, Asker, FoundChunk, Reply
from evals.corpora import ExampleQuestion, JudgedClaim, NaturalQuestion, Question, unruled
from evals.metrics import Passage, auroc, character_overlap, first_hit, hit, mean, refused_at, reliability

FALSE_REFUSALS = 0.05
"""Operating point at which gates are compared."""

TRUE, BEYOND, FALSE = "supported", "overstated", ("contradicted", "not_found")
PASSED = (TRUE, "verbatim")
"""Verdicts of grounding: what is true, what says more, what is false; and what readers take for true."""

COST = "$ per 1,000"
"""US dollars at the price table, for a thousand questions."""

Figures = Mapping[str, float]


async def scoped_ranking(asker: Asker, questions: Sequence[Question]) -> Figures:
    """hit@k, and recall and precision in characters, of clause questions within their contract."""
    pools = await asker.searches([question.scoped for question in questions])
    return _ranking(_passages(pools), questions)


async def whole_ranking(asker: Asker, questions: Sequence[Question]) -> Figures:
    """The same for full questions over all contracts, and whether the right contract comes first."""
    pools = await asker.searches([Asked(question.text) for question in questions])
    found = _passages(pools)
    first = [bool(p) and p[0].document_id == q.document_id for p, q in zip(found, questions, strict=True)]
    return {**_ranking(found, questions), "document first": mean(first)}


async def gate(asker: Asker, questions: Sequence[Question]) -> Figures:
    """What is refused within the contract, and how well the gate's score tells answerable from silent."""
    replies = await asker.replies([question.scoped for question in questions])
    answerable = [r for r, q in zip(replies, questions, strict=True) if q.answerable]
    silent = [r for r, q in zip(replies, questions, strict=True) if not q.answerable]
    scores = [r.top_score for r in answerable], [r.top_score for r in silent]
    return {
        "false refusals": mean(r.refused for r in answerable),
        "refused": mean(r.refused for r in silent),
        "false answers": mean(not r.refused for r in silent),
        "AUROC": auroc(*scores),
        "refused at 5 %": refused_at(*scores, FALSE_REFUSALS),
        **of_models(replies),
    }


async def natural_scoped(asker: Asker, questions: Sequence[NaturalQuestion]) -> Figures:
    """Natural questions, each asked within its contract."""
    return _natural(await asker.replies([question.scoped for question in questions]), questions)


async def natural_folder(asker: Asker, questions: Sequence[NaturalQuestion]) -> Figures:
    """Natural questions that name their contract, asked over all of them."""
    return _natural(await asker.replies([question.naming for question in questions]), questions)


async def answers(asker: Asker, questions: Sequence[Question]) -> Figures:
    """Quoted sentences against the lawyers' spans; the gate is off so that every question counts."""
    replies = await asker.replies([question.scoped for question in questions], gate=False)
    quoted = [reply.passages for reply in replies]
    overlaps = [character_overlap(p, q.gold) for p, q in zip(quoted, questions, strict=True)]
    return {
        "hit": mean(hit(p, q.gold) for p, q in zip(quoted, questions, strict=True)),
        "F1": mean(overlap.f1 for overlap in overlaps),
        "precision": mean(overlap.precision for overlap in overlaps),
        "recall": mean(overlap.recall for overlap in overlaps),
        "characters": mean(sum(p.end - p.start for p in passages) for passages in quoted),
        **of_models(replies),
    }


async def pages(asker: Asker, questions: Sequence[Question]) -> Figures:
    """Whether citations name a page of the clause; the gate is off so that every question counts.

    `right quotes` looks at those quotes only whose words are the lawyers': there a wrong page is an error of
    the page numbers, not of the search.
    """
    replies = await asker.replies([question.scoped for question in questions], gate=False)
    pairs = list(zip(replies, questions, strict=True))
    right = [[bool(quote.pages & q.pages) for quote in r.quotes] for r, q in pairs]
    of_right_quotes = [
        bool(quote.pages & q.pages)
        for r, q in pairs
        for quote in r.quotes
        if any(_same_words(quote.text, gold) for gold in q.gold_texts)
    ]
    return {
        "first citation": mean(bool(hits) and hits[0] for hits in right),
        "any citation": mean(any(hits) for hits in right),
        "all citations": mean(hit for hits in right for hit in hits),
        "right quotes": mean(of_right_quotes),
        **of_models(replies),
    }


async def grounding(asker: Asker, claims: Sequence[JudgedClaim]) -> Figures:
    """How often the verdict is that of the set, and the two errors that mislead most.

    `false passed` and `beyond passed` are the shares of false and of overstated sentences that are called
    supported or verbatim; `true denied` is that of true ones that are called contradicted or not found.
    """
    verdicts = await asker.verdicts([claim.text for claim in claims])
    pairs = list(zip([claim.verdict for claim in claims], verdicts, strict=True))

    def share(expected: Collection[str], given: Collection[str]) -> float:
        return mean(verdict in given for wanted, verdict in pairs if wanted in expected)

    return {
        "agreement": mean(wanted == verdict for wanted, verdict in pairs),
        **{name.replace("_", " "): share((name,), (name,)) for name in (TRUE, BEYOND, *FALSE)},
        "false passed": share(FALSE, PASSED),
        "beyond passed": share((BEYOND,), PASSED),
        "true denied": share((TRUE,), FALSE),
    }


async def examples(asker: Asker, questions: Sequence[ExampleQuestion]) -> Figures:
    """Chunk recall, refusals and expected terms over the examples; nothing tells where to look."""
    asked = [Asked(question.text) for question in questions]
    pools, replies = await asker.searches(asked), await asker.replies(asked)
    refusals = [(reply.refused, q.should_refuse) for reply, q in zip(replies, questions, strict=True)]
    said = [
        term.casefold() in reply.said.casefold()
        for reply, question in zip(replies, questions, strict=True)
        for term in question.expected_terms
    ]
    return {
        "chunk recall": _chunk_recall(pools, questions),
        "chunk recall@5": _chunk_recall([pool[:5] for pool in pools], questions),
        "refusal accuracy": mean(refused for refused, should in refusals if should),
        "not answered": mean(
            not reply.answered
            for reply, question in zip(replies, questions, strict=True)
            if question.should_refuse
        ),
        "answered": mean(
            reply.answered
            for reply, question in zip(replies, questions, strict=True)
            if not question.should_refuse
        ),
        "false refusals": mean(refused for refused, should in refusals if not should),
        "term recall": mean(said),
        **of_models(replies),
    }


def _natural(replies: Sequence[Reply], questions: Sequence[NaturalQuestion]) -> Figures:
    """Of answerable questions: right quotes, `must`, right documents; of silent ones: what became of them.

    A quote is right where it shares half of the shorter one with a gold passage. `answered`, `related` and
    `refused` are the outcomes, of answerable questions and of silent ones; `answered, first right`
    is the share of all that is answered whose first quote is right. Bands compare the probability that the
    product works out with what came true.
    """
    pairs = list(zip(replies, questions, strict=True))
    answerable = [(reply, question) for reply, question in pairs if question.answerable]
    silent = [reply for reply, question in pairs if not question.answerable]
    answered = [(reply, question) for reply, question in answerable if not reply.refused and reply.quotes]
    headed = [(reply, question) for reply, question in pairs if reply.answered]
    scores = [reply.top_score for reply, _ in answerable], [reply.top_score for reply in silent]
    return {
        "quote right": mean(hit(reply.passages, question.gold) for reply, question in answerable),
        "first right": mean(hit(reply.first_passages, question.gold) for reply, question in answerable),
        "must held": mean(_holds(reply, question.must) for reply, question in answerable),
        "false refusals": mean(reply.refused for reply, _ in answerable),
        "answered": mean(reply.answered for reply, _ in answerable),
        "document first": mean(r.quotes[0].parts[0].document_id == q.document_id for r, q in answered),
        "refused of silent": mean(reply.refused for reply in silent),
        "related of silent": mean(reply.related for reply in silent),
        "answered of silent": mean(reply.answered for reply in silent),
        "answered, first right": mean(hit(reply.first_passages, question.gold) for reply, question in headed),
        "answered, any right": mean(hit(reply.passages, question.gold) for reply, question in headed),
        "AUROC": auroc(*scores),
        "refused at 5 %": refused_at(*scores, FALSE_REFUSALS),
        "Markdown": median(reply.markdown_length for reply in replies if not reply.refused),
        **_bands(pairs),
        **of_models(replies),
    }


def _bands(pairs: Iterable[tuple[Reply, NaturalQuestion]]) -> dict[str, float]:
    """The reliability of the probability that the first quote is right: how often it was, band by band."""
    told = [
        (reply.probability, question.answerable and hit(reply.first_passages, question.gold))
        for reply, question in pairs
        if reply.probability is not None and not reply.refused
    ]
    bands = reliability([probability for probability, _ in told], [right for _, right in told])
    return {f"p {band.predicted:.2f}, n {band.questions}": band.observed for band in bands}


def _holds(reply: Reply, must: Sequence[str]) -> bool:
    """Whether the quotes of the statements hold all of `must`."""
    quoted = unruled(" ".join(quote.text for quote in reply.quotes)).casefold()
    return all(unruled(words).casefold() in quoted for words in must)


def of_models(replies: Sequence[Reply]) -> dict[str, float]:
    """What models cost for a thousand questions, and how often they failed; neither without models."""
    costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    failed = [reply.failed for reply in replies]
    figures = {COST: mean(costs) * 1_000} if costs else {}
    return {**figures, "failed": mean(failed)} if any(failed) or costs else figures


def _passages(pools: Sequence[Sequence[FoundChunk]]) -> list[list[Passage]]:
    return [[chunk.passage for chunk in pool] for pool in pools]


def _ranking(found: Sequence[Sequence[Passage]], questions: Sequence[Question]) -> dict[str, float]:
    ranks = [first_hit(passages, question.gold) for passages, question in zip(found, questions, strict=True)]
    figures = {f"hit@{k}": mean(rank is not None and rank <= k for rank in ranks) for k in (1, 3, 5, 10)}
    for k in (5, 10):
        overlaps = [character_overlap(p[:k], q.gold) for p, q in zip(found, questions, strict=True)]
        figures[f"R@{k}"] = mean(overlap.recall for overlap in overlaps)
        figures[f"P@{k}"] = mean(overlap.precision for overlap in overlaps)
    return figures


def _chunk_recall(pools: Sequence[Sequence[FoundChunk]], questions: Sequence[ExampleQuestion]) -> float:
    return mean(
        any(expected.is_in(chunk.passage.document_id, chunk.text) for chunk in pool)
        for pool, question in zip(pools, questions, strict=True)
        for expected in question.expected_chunks
    )


def _same_words(quote: str, gold: str) -> bool:
    """Whether one stands in the other; only letters and digits count, since PDFs break lines and words."""
    quoted, expected = (re.sub(r"\W+", "", text.casefold()) for text in (quote, gold))
    return bool(quoted) and bool(expected) and (quoted in expected or expected in quoted)
