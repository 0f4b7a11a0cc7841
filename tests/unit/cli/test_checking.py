import json

import pytest

from clausegate.answer.v1.grounding_service_pb2 import (
    CheckedClaim,
    GroundingVerdict,
    LintFinding,
    VerifyCitationResponse,
)
from clausegate.corpus.v1.citation_pb2 import Citation
from clausegate.corpus.v1.span_pb2 import Span
from cli.checking import OTHER_WORDS, Verified, citations_in, marked, remarks_on
from cli.errors import CommandError

CITATION = {"number": 1, "document": "cme/a.pdf", "quote": "Fees are due.", "span": {"start": 3, "end": 16}}


@pytest.mark.parametrize(
    "document",
    [
        CITATION,
        [CITATION],
        {"answer": "…", "citations": [CITATION], "supportingClauses": [{"document": "cme/a.pdf"}]},
        {"snippets": [{"content": "…", "citation": CITATION}, {"content": "unverified"}]},
        {"keyClaims": [{"claim": "…", "citation": CITATION}]},
        {**CITATION, "future": True},
    ],
)
def test_citations_are_found_wherever_they_stand(document):
    [citation] = citations_in(json.dumps(document))

    assert (citation.document, citation.quote, citation.span.end) == ("cme/a.pdf", "Fees are due.", 16)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Fees are due.", "not JSON"),
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "no citation in it"),
        ('{"refusal": {}, "citations": []}', "no citation in it"),
        (json.dumps({**CITATION, "span": 5}), "not a citation"),
        (json.dumps({**CITATION, "number": "one"}), "not a citation"),
    ],
)
def test_what_holds_no_citation_is_an_error_of_one_line(text, problem):
    with pytest.raises(CommandError, match=problem) as caught:
        citations_in(text)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("signature", "text", "holds"),
    [
        ("SIGNATURE_STATE_VALID", "TEXT_STATE_PRESENT", True),
        ("SIGNATURE_STATE_UNSIGNED", "TEXT_STATE_PRESENT", True),
        ("SIGNATURE_STATE_INVALID", "TEXT_STATE_PRESENT", False),
        ("SIGNATURE_STATE_VALID", "TEXT_STATE_SUPERSEDED", False),
        ("SIGNATURE_STATE_VALID", "TEXT_STATE_GONE", False),
    ],
)
def test_a_citation_holds_when_nobody_changed_it_and_its_words_stand(signature, text, holds):
    assert Verified(Citation(), VerifyCitationResponse(signature=signature, text=text)).holds is holds


CONTRADICTED = CheckedClaim(
    text="Notice of 60 days is due,\nand a phone call.",
    verdict=GroundingVerdict.GROUNDING_VERDICT_CONTRADICTED,
    findings=[
        LintFinding(text="60 days", span=Span(start=10, end=17), clause_text="90 days"),
        LintFinding(text="phone", span=Span(start=32, end=37)),
        LintFinding(text="unless waived"),
    ],
    nearest_clause={"text": "90 days’ notice unless waived.", "document_label": "Terms", "section": "3"},
    nearest_citation_number=1,
)


def test_the_words_of_a_claim_that_go_beyond_its_clause_are_marked():
    told = marked(CONTRADICTED)

    assert told.plain == "Notice of 60 days is due, and a phone call."
    underlined = [told.plain[span.start : span.end] for span in told.spans if "underline" in str(span.style)]
    assert "".join(underlined) == "60 daysphone"


def test_the_remarks_on_a_claim_tell_its_words_beside_those_of_the_clause():
    assert list(remarks_on(CONTRADICTED, {})) == [
        "the clause says otherwise",
        "says “60 days”, the clause “90 days”",
        "the clause does not say “phone”",
        "leaves out “unless waived”",
        "nearest clause: “90 days’ notice unless waived.” (Terms › 3)",
    ]


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        (("LINT_RULE_UNSUPPORTED_WORDS",) * 2, OTHER_WORDS),
        (("LINT_RULE_UNSUPPORTED_WORDS", "LINT_RULE_NUMBER"), "says more than the clause"),
        (("LINT_RULE_CONDITION",), "says more than the clause"),
    ],
)
def test_a_claim_in_other_words_is_not_said_to_go_beyond(rules, verdict):
    claim = CheckedClaim(
        text="A feed is retired.",
        verdict=GroundingVerdict.GROUNDING_VERDICT_OVERSTATED,
        findings=[LintFinding(rule=rule, text="retired", span=Span(start=10, end=17)) for rule in rules],
    )

    remarks = list(remarks_on(claim, {}))

    assert remarks[0] == verdict
    assert ("not the clause's words: “retired”" in remarks) is ("LINT_RULE_UNSUPPORTED_WORDS" in rules)
