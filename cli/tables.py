"""Lists for people: a table on a terminal, tab-separated lines in a pipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from google.protobuf.timestamp_pb2 import Timestamp
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from clausegate.corpus.v1.article_pb2 import Article
from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.corpus.v1.definition_pb2 import Definition
from clausegate.corpus.v1.document_pb2 import Document, DocumentFormat
from clausegate.retrieval.v1.document_service_pb2 import Source
from clausegate.retrieval.v1.project_service_pb2 import Project
from clausegate.retrieval.v1.retrieval_service_pb2 import Candidate, ResolvedDefinition
from cli.ingestion import FileResult, Outcome
from cli.output import counted
from cli.passages import Barred, reflow, visible
from corpus.codec import from_message
from corpus.documents import Document as DomainDocument
from corpus.labels import label_of

OUTCOME_STYLES = {
    Outcome.CREATED: "green",
    Outcome.UPDATED: "cyan",
    Outcome.UNCHANGED: "dim",
    Outcome.REMOVED: "yellow",
    Outcome.FAILED: "bold red",
}
PREVIEW_CHARACTERS = 200


def print_table(
    console: Console, columns: Sequence[str], rows: Iterable[Sequence[str | Text]], *, whole: str = ""
) -> None:
    """Print `rows` under `columns`; a column whose name ends in `#` is right-aligned, without the sign.

    The cells of the column `whole`, which are to be copied, are never broken.
    """
    if not console.is_terminal:
        for row in rows:
            print("\t".join(visible(" ".join(str(cell).split())) for cell in row), file=console.file)
        return
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(
            column.removesuffix("#"),
            justify="right" if column.endswith("#") else "left",
            overflow="fold",
            no_wrap=column == whole,
        )
    for row in rows:
        table.add_row(*(Text(visible(cell)) if isinstance(cell, str) else cell for cell in row))
    console.print(table)


def print_results(console: Console, results: Sequence[FileResult]) -> None:
    """The outcome of every file, those that failed at the end, and last how many there are of each."""
    rows = (
        (
            Text(result.outcome, OUTCOME_STYLES[result.outcome]),
            result.document_id,
            f"{result.chunks:,}" if result.chunks else "",
            result.reason or "; ".join([*_remarks(result), *_guess(result)]),
        )
        for result in sorted(results, key=lambda result: result.outcome is Outcome.FAILED)
    )
    print_table(console, ("Outcome", "Document", "Chunks#", "Remarks"), rows)
    counts = Counter(result.outcome for result in results)
    summary = ", ".join(f"{counts[outcome]} {outcome.lower()}" for outcome in Outcome if counts[outcome])
    console.print(f"{counted(len(results), 'document')}: {summary}", markup=False, highlight=False)


def _guess(result: FileResult) -> list[str]:
    """How a file was read that does not say how it is encoded."""
    return [f"read as {result.guessed_encoding}, a guess"] if result.guessed_encoding else []


def _remarks(found: FileResult | Document) -> list[str]:
    """What a reader of the file, or of answers from it, should know."""
    remarks = [
        f"{counted(len(pages), 'page')} {what}: {_first_ten(pages)}"
        for pages, what in (
            (found.unreadable_pages, "without readable text"),
            (found.scanned_pages, "whose words stand invisibly over an image"),
        )
        if pages
    ]
    remarks += [
        f"{counted(count, thing)} {what}, left out"
        for count, thing, what in (
            (found.hidden_characters, "character", "hidden from readers"),
            (found.reference_marks, "mark", "of footnotes and references"),
            (found.running_lines, "line", "of running headers and footers"),
        )
        if count
    ]
    return remarks


def _first_ten(pages: Sequence[int]) -> str:
    return ", ".join(map(str, pages[:10])) + (", …" if len(pages) > 10 else "")


def print_documents(console: Console, documents: Iterable[Document]) -> None:
    """One line a document."""
    rows = (
        (
            Text("\n").join(
                [
                    Text(document.document_id, "cyan"),
                    Text(reflow(label_of(from_message(document, DomainDocument)))),
                    *(Text(remark, "yellow") for remark in _remarks(document)),
                ]
            ),
            DocumentFormat.Name(document.format).removeprefix("DOCUMENT_FORMAT_").lower(),
            f"{document.page_count:,}" if document.page_count else "",
            f"{document.chunk_count:,}",
            f"{document.definition_count:,}",
            _minute(document.indexed_at),
        )
        for document in documents
    )
    columns = ("Document", "Format", "Pages#", "Chunks#", "Terms#", "Indexed (UTC)")
    print_table(console, columns, rows)


def print_sources(console: Console, sources: Iterable[Source]) -> None:
    """One line a source."""
    rows = ((s.source, f"{s.document_count:,}", f"{s.chunk_count:,}") for s in sources)
    print_table(console, ("Source", "Documents#", "Chunks#"), rows)


def print_projects(console: Console, projects: Iterable[Project]) -> None:
    """One line a project."""
    rows = (
        (
            Text(project.project_id, "cyan"),
            project.display_name,
            ", ".join(project.sources),
            _minute(project.updated_at),
        )
        for project in projects
    )
    print_table(console, ("Project", "Name", "Sources", "Changed (UTC)"), rows)


def print_articles(console: Console, articles: Iterable[Article]) -> None:
    """One line an article."""
    rows = (
        (
            Text.assemble((article.article_id, "cyan"), "\n", reflow(article.title)),
            ", ".join((*article.sources, *article.document_ids)),
            f"{len(article.key_claims):,}",
            Text("stale", "yellow") if article.stale else "current",
            _minute(article.compiled_at),
        )
        for article in articles
    )
    print_table(console, ("Article", "Compiled from", "Claims#", "State", "Compiled (UTC)"), rows)


def _minute(instant: Timestamp) -> str:
    return instant.ToDatetime().strftime("%Y-%m-%d %H:%M")


def print_candidates(console: Console, candidates: Iterable[Candidate], labels: Mapping[str, str]) -> None:
    """What a search found, best first, with the scores of both legs; `labels` of documents, by id."""
    rows = (
        (
            str(rank),
            f"{candidate.evidence.combined:.3f}",
            f"{candidate.vector_similarity:.3f}" if candidate.HasField("vector_similarity") else "–",
            f"{candidate.bm25_score:.2f}" if candidate.HasField("bm25_score") else "–",
            _passage(candidate.chunk, labels),
        )
        for rank, candidate in enumerate(candidates, 1)
    )
    print_table(console, ("#", "Evidence#", "Cosine#", "BM25#", "Clause"), rows)


def _passage(chunk: Chunk, labels: Mapping[str, str]) -> Text:
    text = reflow(chunk.text)
    preview = text if len(text) <= PREVIEW_CHARACTERS else f"{text[:PREVIEW_CHARACTERS].rsplit(' ', 1)[0]} …"
    pages = f" · page {chunk.pages[0].page}" if chunk.pages else ""
    called = labels.get(chunk.document_id, chunk.document_id)
    return Text.assemble((f"{reflow(called)} › {reflow(chunk.section)}{pages}\n", "cyan"), preview)


def every_definition(found: Iterable[ResolvedDefinition]) -> list[Definition]:
    """Each definition that was found once, those with other words for the same term too."""
    all_of = (definition for resolved in found for definition in (resolved.definition, *resolved.conflicting))
    return list({definition.definition_id: definition for definition in all_of}.values())


def print_definitions(
    console: Console, found: Sequence[ResolvedDefinition], labels: Mapping[str, str]
) -> None:
    """Every definition once, with its place; marked when another document has other words for the term.

    `labels` are those of the documents, by id.
    """
    disputed = {
        definition.definition_id
        for definition in every_definition(resolved for resolved in found if resolved.conflicting)
    }
    for definition in every_definition(found):
        called = labels.get(definition.document_id, definition.document_id)
        _print_definition(console, definition, called, definition.definition_id in disputed)


def _print_definition(console: Console, definition: Definition, called: str, disputed: bool) -> None:
    page = f" · page {definition.pages[0].page}" if definition.pages else ""
    place = f"{reflow(called)} › {reflow(definition.section)}{page}"
    remark = "other documents say otherwise" if disputed else ""
    if not console.is_terminal:
        print_table(console, (), [(definition.term, definition.text, place, remark)])
        return
    console.print()
    console.print(Text.assemble((reflow(definition.term), "bold"), "  ", (remark, "bold red")))
    console.print(Barred(Text(reflow(definition.text)), "cyan"))
    console.print(Text(place, "cyan"))
