"""Results as short text: quotes, each on one line of its own, and where they stand.

Words of a document are one line between “ and ”, so that none of them can pass for a line of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gateway.mcp.results import (
    Answer,
    Definitions,
    Documents,
    Found,
    Grounding,
    Opened,
    Passage,
    Place,
    Quote,
    Refused,
    Verified,
)

CLAUSE, PASSAGE = 300, 1_200
"""Characters shown of a clause that is only near, and of a passage; the data holds all of it."""
OUTCOMES = {
    "ANSWERED": "Answered: the quotes below say it.",
    "RELATED": "Only related: it is not certain that these quotes answer the question. Say so.",
    "REFUSED": "Refused: the documents do not say it. Do not answer from elsewhere as if they did.",
}
VERDICTS = {
    "VERBATIM": "stands there word for word",
    "SUPPORTED": "a clause says it",
    "OVERSTATED": "says more than the clause, or says it in words that are not the clause’s",
    "CONTRADICTED": "the clause says otherwise",
    "MISQUOTED": "a quote stands nowhere",
    "NOT_FOUND": "nothing like it in the documents",
}


def line(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def quoted(text: str, limit: int | None = None) -> str:
    """Somebody else's words; a cut is said."""
    words = line(text)
    if limit is None or len(words) <= limit:
        return f"“{words}”"
    return f"“{words[:limit]} …” (cut)"


def place(at: Place) -> str:
    """The name of the document, section and pages, and what `open_citation` takes."""
    pages = ""
    if at.page is not None:
        pages = (
            f", page {at.page}" if at.last_page in (None, at.page) else f", pages {at.page}–{at.last_page}"
        )
    named = " › ".join(line(words) for words in (at.document, at.section) if words)
    return f"{named}{pages} (documentId {at.document_id}, start {at.start}, end {at.end})"


def _lines(heading: str, lines: Iterable[str]) -> Iterator[str]:
    """A heading and its lines; nothing where there are none."""
    listed = list(lines)
    if listed:
        yield from ("", heading, *listed)


def _numbers(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)


def _quote(quote: Quote) -> str:
    return f"[{quote.number}] {quoted(quote.quote)} — {place(quote)}"


def answer_words(answer: Answer) -> str:
    """The outcome, the quotes, what defines their terms, what is silent, and the notes."""
    return "\n".join(
        [
            f"outcome: {answer.outcome}. {OUTCOMES[answer.outcome]}",
            *(_refused(answer.refusal) if answer.refusal else ()),
            *_lines(
                "In a model's words, of which the quotes decide:",
                (f"{quoted(said.text)} {_numbers(said.numbers)}" for said in answer.summary),
            ),
            *_lines("Quotes:", (_quote(quote) for quote in answer.quotes if not quote.related)),
            *_lines("Possibly related:", (_quote(quote) for quote in answer.quotes if quote.related)),
            *_lines(
                "Defined terms:", (f"{quoted(used.term)} [{used.number}]" for used in answer.definitions)
            ),
            *_lines("Silent documents:", (quoted(name) for name in answer.silent)),
            *_lines("Notes:", map(line, answer.notes)),
        ]
    )


def _refused(refusal: Refused) -> Iterator[str]:
    yield line(f"{refusal.message} {refusal.missing}")
    yield f"Documents searched: {refusal.documents_searched:,}."
    yield from _lines("Nearest clauses, which are no answer:", _passages(refusal.nearest, CLAUSE))


def _passages(passages: Iterable[Passage], limit: int) -> Iterator[str]:
    return (f"- {quoted(passage.text, limit)} — {place(passage)}" for passage in passages)


def found_words(found: Found) -> str:
    """Passages, best first."""
    return "\n".join(_passages(found.passages, PASSAGE)) or "No passage matches."


def definition_words(result: Definitions) -> str:
    """Each definition and where it stands."""
    lines = [
        f"- {quoted(definition.term)}: {quoted(definition.text)} — {place(definition)}"
        for definition in result.definitions
    ]
    return "\n".join(lines) or "No document defines this term."


def document_words(result: Documents) -> str:
    """One document a line."""
    lines = [
        f"- {document.document_id}: {quoted(document.title)}"
        + "".join(
            f"; {words}" for words in (", ".join(map(quoted, document.parties)), document.dated) if words
        )
        + (f"; {document.pages} pages" if document.pages else "")
        for document in result.documents
    ]
    if result.more:
        lines.append(f"There are more; ask with after={result.documents[-1].document_id}.")
    return "\n".join(lines) or "No such document."


def opened_words(opened: Opened) -> str:
    """The quote between marks, within its context."""
    context = line(f"{opened.before}»»{opened.quote}««{opened.after}")
    return f"{place(opened)}\nThe quote stands between »» and ««:\n“{context}”"


def verified_words(verified: Verified) -> str:
    """Whether a citation holds, and why."""
    holds = "The citation holds." if verified.holds else "The citation does not hold as it is."
    return f"{holds} {verified.explanation} (signature {verified.signature}, text {verified.text})"


def grounding_words(grounding: Grounding) -> str:
    """A line for each claim, then the quotes."""
    verdict = "Every claim stands on the documents." if grounding.grounded else "Not every claim stands."
    return "\n".join(
        [
            verdict,
            *(
                f"- {claim.verdict} ({VERDICTS.get(claim.verdict, 'not checked')}): {quoted(claim.text)}"
                f" {_numbers(claim.numbers)}".rstrip()
                + "".join(f"; {line(remark)}" for remark in claim.remarks)
                + (f" — nearest: {quoted(claim.nearest.text, CLAUSE)}" if claim.nearest else "")
                for claim in grounding.claims
            ),
            *_lines("Quotes:", map(_quote, grounding.quotes)),
        ]
    )
