"""The commands of articles: compile them from documents, list, show and delete them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.markdown import Markdown
from rich.text import Text

from clausegate import ArticleOptions, ClausegateError, Client
from clausegate.answer.v1.article_service_pb2 import CompileArticleResponse
from clausegate.corpus.v1.article_pb2 import Article, ArticleClaim, ClaimConfidence
from clausegate.corpus.v1.citation_pb2 import Citation
from cli.connection import Services
from cli.costs import footer
from cli.errors import CallFailed
from cli.naming import documents_named
from cli.output import Output, as_dict, counted
from cli.parameters import DEFAULT_DATA, Data, Documents, Json, MaxCost, Server, Sources, split
from cli.passages import name_of, visible
from cli.running import FAILED, run
from cli.tables import print_articles, print_table

app = typer.Typer()
articles = typer.Typer(no_args_is_help=True, help="List, show and delete compiled articles.")
app.add_typer(articles, name="articles")

Id = Annotated[str, typer.Argument(metavar="ID", help="See `articles list`.")]


@app.command("compile")
def compile_article(  # noqa: PLR0913 - the options of a command are its parameters
    sources: Sources = "",
    document: Documents = None,
    topic: Annotated[str, typer.Option(metavar="T", help="What the article is to be about.")] = "",
    article_id: Annotated[
        str, typer.Option("--id", metavar="ID", help="Name of the article; alone it is compiled again.")
    ] = "",
    stale: Annotated[
        bool, typer.Option("--stale", help="Compile every article again whose documents have changed.")
    ] = False,
    max_cost: MaxCost = None,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Compile an article from documents and store it. Needs a chat model."""
    output = Output(json)
    options = ArticleOptions(
        sources=split(sources),
        document_ids=document or [],
        topic=topic,
        article_id=article_id,
        max_cost_usd=max_cost,
    )
    if not stale:
        run(_compile(Services(server, data), options, output), output)
    if any((sources, document, topic, article_id)):
        raise typer.BadParameter("stale articles know what they are made from", param_hint="--stale")
    run(_compile_stale(Services(server, data), max_cost, output), output)


async def _compile(services: Services, options: ArticleOptions, output: Output) -> int:
    with output.errors.status("compiling"):
        async with services.connected() as client:
            options["document_ids"] = await documents_named(client, options["document_ids"])
            response = await client.compile_article(**options)
    if output.as_json:
        output.json(response)
    else:
        _print_outcome(output, "COMPILED", response.article.article_id, _summary(response))
        output.footer(footer(response.metadata, response.usage))
    return 0


async def _compile_stale(services: Services, max_cost: float | None, output: Output) -> int:
    """Each on its own: one that fails stops no other."""
    outcomes: list[dict[str, object]] = []
    async with services.connected() as client:
        waiting = [article.article_id async for article in client.articles(stale=True)]
        for number, article_id in enumerate(waiting, 1):
            with output.errors.status(f"compiling {number} of {len(waiting)}"):
                outcome, remark = await _compiled_again(client, article_id, max_cost)
            outcomes.append({"articleId": article_id, "outcome": outcome, "remark": remark})
            if not output.as_json:
                _print_outcome(output, outcome, article_id, remark)
    failed = sum(outcome["outcome"] == "FAILED" for outcome in outcomes)
    if output.as_json:
        output.json({"articles": outcomes})
    else:
        failures = f", {failed} failed" if failed else ""
        output.verbatim(
            f"{counted(len(outcomes), 'stale article')}: {len(outcomes) - failed} compiled{failures}"
        )
    return FAILED if failed else 0


async def _compiled_again(client: Client, article_id: str, max_cost: float | None) -> tuple[str, str]:
    try:
        response = await client.compile_article(article_id=article_id, max_cost_usd=max_cost)
        return "COMPILED", _summary(response)
    except ClausegateError as error:
        return "FAILED", str(CallFailed(error))


def _summary(response: CompileArticleResponse) -> str:
    article = response.article
    sourced = sum(
        claim.confidence == ClaimConfidence.CLAIM_CONFIDENCE_SOURCED for claim in article.key_claims
    )
    parts = [article.title, f"{counted(len(article.key_claims), 'claim')}, {sourced} sourced"]
    if article.downgraded_claims:
        parts.append(f"{article.downgraded_claims} downgraded")
    if article.sentences_left_out:
        parts.append(f"{article.sentences_left_out} sentences left out")
    if article.chunks_left_out:
        parts.append(f"{counted(article.chunks_left_out, 'chunk')} did not fit")
    return " · ".join(parts)


def _print_outcome(output: Output, outcome: str, article_id: str, remark: str) -> None:
    if output.console.is_terminal:
        style = "bold red" if outcome == "FAILED" else "green"
        output.console.print(Text.assemble((outcome, style), "  ", (article_id, "cyan"), "  ", remark))
    else:
        print_table(output.console, (), [(outcome, article_id, remark)])


@articles.command("list")
def list_articles(
    stale: Annotated[
        bool, typer.Option("--stale", help="Only those whose documents have changed since.")
    ] = False,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """List all articles."""
    output = Output(json)

    async def work() -> int:
        async with Services(server, data).connected() as client:
            found = [article async for article in client.articles(stale=stale)]
        if json:
            output.json({"articles": [as_dict(article) for article in found]})
        else:
            print_articles(output.console, found)
        return 0

    run(work(), output)


@articles.command()
def show(
    article_id: Id,
    flat: Annotated[
        bool, typer.Option("--flat", help="Print it as JSON of plain values, without its citations.")
    ] = False,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Show one article: its text, its claims and the quotes that carry them."""
    output = Output(json)

    async def work() -> int:
        async with Services(server, data).connected() as client:
            if flat:
                output.json(await client.get_flat_article(article_id))
                return 0
            article = await client.get_article(article_id)
        if json:
            output.json(article)
        elif output.console.is_terminal:
            output.console.print(Markdown(article_markdown(article), hyperlinks=False))
        else:
            output.verbatim(article_markdown(article))
        return 0

    run(work(), output)


@articles.command()
def delete(article_id: Id, server: Server = None, data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """Delete an article; its documents stay."""
    output = Output(json)

    async def work() -> int:
        async with Services(server, data).connected() as client:
            await client.delete_article(article_id)
        output.removed("articleId", article_id)
        return 0

    run(work(), output)


def article_markdown(article: Article) -> str:
    """The article, its claims with their quotes, and what it leaves open, as Markdown."""
    return visible("\n\n".join(part for part in _parts(article) if part))


def _parts(article: Article) -> Iterator[str]:
    state = "**stale: its documents have changed** · " if article.stale else ""
    yield f"# {_escaped(article.title)}"
    yield f"{state}{_escaped(article.article_id)} · {_escaped(article.model)} · " + _escaped(
        ", ".join((*article.sources, *article.document_ids))
    )
    yield _escaped(article.summary)
    yield article.article_body
    yield from _listed("Key claims", [_claim(claim) for claim in article.key_claims])
    yield from _listed("Open questions", [_escaped(question) for question in article.open_questions])
    yield from _listed("Concepts", [_escaped(concept) for concept in article.concepts])
    links = [
        _escaped(f"{link.title} ({link.article_id or 'no such article yet'})")
        for link in article.backlink_suggestions
    ]
    yield from _listed("See also", links)


def _listed(title: str, items: list[str]) -> Iterator[str]:
    if items:
        yield f"## {title}"
        yield "\n".join(f"- {item}" for item in items)


def _claim(claim: ArticleClaim) -> str:
    confidence = ClaimConfidence.Name(claim.confidence).removeprefix("CLAIM_CONFIDENCE_").lower()
    quote = f"\n  > “{_escaped(claim.citation.quote)}”\n  > — {_place(claim.citation)}"
    return f"**{confidence}** {_escaped(claim.claim)}" + (quote if claim.HasField("citation") else "")


def _place(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.HasField("page") else ""
    return _escaped(f"{name_of(citation)} › {citation.section}{page}")


def _escaped(text: str) -> str:
    """One line whose words are never markup."""
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", " ".join(text.split()))
