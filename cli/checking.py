"""The commands that check texts and citations against the documents, without a model."""

from __future__ import annotations

import json as json_format
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer
from google.protobuf.json_format import ParseDict, ParseError
from rich.text import Text

from clausegate.answer.v1.grounding_service_pb2 import (
    CheckedClaim,
    CheckGroundingResponse,
    GroundingCaveat,
    GroundingVerdict,
    LintFinding,
    LintRule,
    SignatureState,
    TextState,
    VerifyCitationResponse,
)
from clausegate.corpus.v1.citation_pb2 import Citation
from cli.connection import Services
from cli.errors import CommandError
from cli.files import read_text
from cli.naming import documents_named
from cli.output import Output, as_dict
from cli.parameters import (
    DEFAULT_DATA,
    STANDARD_INPUT,
    Data,
    Documents,
    Json,
    Server,
    Sources,
    TextFile,
    split,
)
from cli.passages import name_of, reflow, visible
from cli.running import REFUSED, run
from cli.tables import print_table

app = typer.Typer()

SOUND = (GroundingVerdict.GROUNDING_VERDICT_VERBATIM, GroundingVerdict.GROUNDING_VERDICT_SUPPORTED)
CITATION_FIELDS = {"document", "quote", "span"}
"""What every citation of ours has, and nothing else among what commands print."""
STYLES = {"VALID": "green", "PRESENT": "green", "UNSIGNED": "dim", "SUPERSEDED": "yellow"}


@app.command()
def ground(
    file: TextFile = STANDARD_INPUT,
    sources: Sources = "",
    document: Documents = None,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Check, claim by claim, whether a text stands on the documents (exit code 3 when not)."""
    output = Output(json)

    async def work() -> int:
        text = read_text(file)
        async with Services(server, data).connected() as client:
            chosen = await documents_named(client, document or [])
            response = await client.check_grounding(text, sources=split(sources), document_ids=chosen)
        if json:
            output.json(response)
        else:
            _print_claims(response, output)
        return 0 if response.grounded else REFUSED

    run(work(), output)


CAVEATS = {
    GroundingCaveat.GROUNDING_CAVEAT_PARTIES: "check who does what to whom",
    GroundingCaveat.GROUNDING_CAVEAT_DENIAL: "check what the quote denies",
    GroundingCaveat.GROUNDING_CAVEAT_CONDITION: "check the conditions of the quote",
    GroundingCaveat.GROUNDING_CAVEAT_OTHER_WORD: "has another word than the quote",
    GroundingCaveat.GROUNDING_CAVEAT_JOINED_QUOTES: "joins several quotes",
}


VERDICTS = {
    GroundingVerdict.GROUNDING_VERDICT_VERBATIM: "stands there word for word",
    GroundingVerdict.GROUNDING_VERDICT_SUPPORTED: "a clause says it",
    GroundingVerdict.GROUNDING_VERDICT_OVERSTATED: "says more than the clause",
    GroundingVerdict.GROUNDING_VERDICT_CONTRADICTED: "the clause says otherwise",
    GroundingVerdict.GROUNDING_VERDICT_NOT_FOUND: "nothing like it in the documents",
    GroundingVerdict.GROUNDING_VERDICT_MISQUOTED: "a quote stands nowhere",
}
OTHER_WORDS = "not told whether the clause says it: some words are not the clause's"
"""Of a claim that nothing speaks against: it may say the same in words that no list knows, or more."""


def _print_claims(response: CheckGroundingResponse, output: Output) -> None:
    citations = {citation.number: citation for citation in response.citations}
    rows = (
        (_verdict(claim), marked(claim), "; ".join(remarks_on(claim, citations))) for claim in response.claims
    )
    print_table(output.console, ("Verdict", "Claim", "Remarks"), rows)
    sound = sum(claim.verdict in SOUND for claim in response.claims)
    output.verbatim(f"{sound} of {len(response.claims)} claims stand on the documents")


def _verdict(claim: CheckedClaim) -> Text:
    name = GroundingVerdict.Name(claim.verdict).removeprefix("GROUNDING_VERDICT_").replace("_", " ")
    return Text(name, "green" if claim.verdict in SOUND else "bold red")


def marked(claim: CheckedClaim) -> Text:
    """The claim with the words underlined that its clause does not say."""
    marked = {
        at
        for finding in claim.findings
        if finding.HasField("span")
        for at in range(finding.span.start, finding.span.end)
    }
    told = Text()
    for at, character in enumerate(claim.text):
        told.append(
            visible(" " if character.isspace() else character), "bold underline" if at in marked else ""
        )
    return told


def remarks_on(claim: CheckedClaim, citations: dict[int, Citation]) -> Iterator[str]:
    """What was found of a claim, in plain words, and where."""
    if claim.verdict in VERDICTS:
        yield OTHER_WORDS if _only_has_other_words(claim) else VERDICTS[claim.verdict]
    yield from (f"misquoted: “{reflow(quote)}”" for quote in claim.missing_quotes)
    yield from map(_finding, claim.findings)
    yield from (CAVEATS[caveat] for caveat in claim.caveats if caveat in CAVEATS)
    yield from (_place(citations[number]) for number in claim.citation_numbers if number in citations)
    yield from (reflow(note.text) for note in claim.notes)
    if claim.HasField("nearest_clause") and claim.nearest_citation_number not in claim.citation_numbers:
        nearest = claim.nearest_clause
        place = f"{reflow(name_of(nearest))} › {reflow(nearest.section)}"
        yield f"nearest clause: “{reflow(nearest.text)}” ({place})"


def _only_has_other_words(claim: CheckedClaim) -> bool:
    return claim.verdict == GroundingVerdict.GROUNDING_VERDICT_OVERSTATED and all(
        finding.rule == LintRule.LINT_RULE_UNSUPPORTED_WORDS for finding in claim.findings
    )


def _finding(finding: LintFinding) -> str:
    said, instead = reflow(finding.text), reflow(finding.clause_text)
    if finding.rule == LintRule.LINT_RULE_UNSUPPORTED_WORDS:
        return f"not the clause's words: “{said}”"
    if not finding.HasField("span"):
        return f"leaves out “{said}”"
    if instead:
        return f"says “{said}”, the clause “{instead}”"
    return f"the clause does not say “{said}”"


def _place(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.HasField("page") else ""
    return f"{reflow(name_of(citation))} › {reflow(citation.section)}{page}"


@dataclass(frozen=True, slots=True)
class Verified:
    """A citation and what became of it."""

    citation: Citation
    result: VerifyCitationResponse

    @property
    def signature(self) -> str:
        """`VALID`, `INVALID` or `UNSIGNED`."""
        return SignatureState.Name(self.result.signature).removeprefix("SIGNATURE_STATE_")

    @property
    def text(self) -> str:
        """`PRESENT`, `SUPERSEDED` or `GONE`."""
        return TextState.Name(self.result.text).removeprefix("TEXT_STATE_")

    @property
    def holds(self) -> bool:
        """Whether nobody has changed it and its words still stand."""
        return self.signature != "INVALID" and self.text == "PRESENT"


@app.command()
def verify(
    file: Annotated[
        str,
        typer.Argument(
            metavar="[FILE|-]",
            help="What a command printed with --json, or a citation; - is standard input.",
        ),
    ] = STANDARD_INPUT,
    server: Server = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Check the citations of an answer: signature and words (exit code 3 when one does not hold)."""
    output = Output(json)

    async def work() -> int:
        citations = citations_in(read_text(file))
        async with Services(server, data).connected() as client:
            checked = [Verified(citation, await client.verify_citation(citation)) for citation in citations]
        _print_verified(checked, output)
        return 0 if all(verified.holds for verified in checked) else REFUSED

    run(work(), output)


def citations_in(text: str) -> list[Citation]:
    """Every citation in a JSON text, wherever it stands. Raises `CommandError` when there is none."""
    try:
        document = json_format.loads(text)
        found = [ParseDict(fields, Citation(), ignore_unknown_fields=True) for fields in _citations(document)]
    except (json_format.JSONDecodeError, RecursionError) as error:
        raise CommandError(f"not JSON, as `ask --json` prints it: {error}") from error
    except ParseError as error:
        raise CommandError(f"not a citation: {error}") from error
    if not found:
        raise CommandError("no citation in it; expected what `ask --json` prints, or one citation")
    return found


def _citations(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        if value.keys() >= CITATION_FIELDS:
            yield value
        else:
            for inner in value.values():
                yield from _citations(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _citations(inner)


def _print_verified(checked: list[Verified], output: Output) -> None:
    if output.as_json:
        output.json({"citations": [{"citation": as_dict(c.citation), **as_dict(c.result)} for c in checked]})
        return
    rows = (
        (
            str(verified.citation.number),
            Text(verified.signature, STYLES.get(verified.signature, "bold red")),
            Text(verified.text, STYLES.get(verified.text, "bold red")),
            Text(_place(verified.citation), "cyan"),
            verified.result.explanation,
        )
        for verified in checked
    )
    print_table(output.console, ("#", "Signature", "Text", "Citation", "Explanation"), rows)
