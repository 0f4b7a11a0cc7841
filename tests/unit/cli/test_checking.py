import json

import pytest

from clausegate.answer.v1.grounding_service_pb2 import VerifyCitationResponse
from clausegate.corpus.v1.citation_pb2 import Citation
from cli.checking import Verified, citations_in
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
