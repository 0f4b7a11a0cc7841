from __future__ import annotations

import pytest

from corpus.chunks import Chunk
from corpus.spans import Span
from services.answer.contracts.answer import AnswerReply
from services.answer.query.composing import Draft
from services.answer.query.stating import Why, claims_of, extracted, supported_claims
from services.answer.sentences import sentences_of
from services.answer.verification.citing import Citations, Origin
from services.answer.verification.lint import LintRule
from services.answer.verification.signing import Signer
from tests.unit.answer.listed import ALL, CONSENT, COPY, LEAD_IN, SECOND, SHARE
from tests.unit.nouns import a_chunk, a_document

FEE = "The Licensee shall pay a monthly display fee of USD 120 for each Device."
LAW = "This Agreement is governed by the laws of the State of Illinois."
DENIAL = "No Vendor and, unless the Licensor agrees, no Subscriber shares data with clients."
CONDITION = "Derived data stay property of the Vendor if the Vendor made them."
SWAP = "Ownership passes from the Vendor to the Subscriber."
SPLICE = "The Vendor owns derived data and the Subscriber owns raw data."
DENIED = "The Vendor denies that the Subscriber owns the data."
CUSTOM = "Data are generally delivered by the close of business."


def chunk(chunk_id: str, *sentences: str) -> Chunk:
    text, ends = " ".join(sentences), [len(" ".join(sentences[: n + 1])) for n in range(len(sentences))]
    spans = tuple(Span(end - len(one), end) for one, end in zip(sentences, ends, strict=True))
    return a_chunk(
        text,
        chunk_id=chunk_id,
        alias="alias",
        document_id=f"{chunk_id}/a.txt",
        source=chunk_id,
        sentences=spans,
    )


CME = chunk("cme", FEE, LAW, CUSTOM, DENIAL, CONDITION, SWAP, SPLICE, DENIED)
OPRA = chunk("opra", FEE.replace("120", "90"))
TABLE = chunk("table", "EXCLUSIVE LICENCE", "Service | Fee (USD)", "Display | 5")
HANDLES = {"c1": CME, "c2": OPRA, "c3": TABLE}


def citations() -> Citations:
    chunks = {one.chunk_id: one for one in HANDLES.values()}
    documents = {one.document_id: a_document(one.document_id) for one in chunks.values()}
    return Citations(chunks, documents, Origin("c" * 64), Signer())


def said(*statements: tuple[str, list[tuple[str, str]]], question: str = "What is it?"):
    """What leaves of these statements, each with its quotes by handle."""
    reply = AnswerReply.model_validate(
        {
            "addressed": True,
            "statements": [
                {"text": text, "quotes": [{"chunk": handle, "quote": quote} for handle, quote in quotes]}
                for text, quotes in statements
            ],
        }
    )
    kept = citations()
    return supported_claims(claims_of(reply, HANDLES), kept, question), kept


def test_a_statement_that_its_quotes_bear_out_leaves_as_the_quotes():
    stated, kept = said(("Governed by the laws of Illinois.", [("c1", LAW)]))
    (statement,) = stated.statements
    assert (statement.text, statement.source_prefixes) == (LAW, ("CME",))
    assert [kept.all[n - 1].quote for n in statement.citation_numbers] == [LAW]
    assert stated.dropped == ()


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The Licensee shall pay USD 120.", FEE),
        ("Delaware law governs this Agreement.", LAW),
        ("The courts of Illinois govern the Agreement.", LAW),
        ("Illinois is governed by the laws of this Agreement.", LAW),
        ("Ownership passes to the Vendor from the Subscriber.", SWAP),
        ("The Vendor owns raw data.", SPLICE),
        ("The Subscriber owns the data.", DENIED),
        ("Derived data stay property of the Vendor.", CONDITION),
        ("This Agreement\u202e is governed\nby the laws of \u200bIllinois.", LAW),
        ("It is so.", LAW),
        ("\u200b", LAW),
    ],
)
def test_no_word_of_a_model_leaves(text, quote):
    stated, _ = said((text, [("c1", quote)]), question="Does Delaware law govern?")
    assert {one.text for one in stated.statements} <= {quote}


def test_a_fee_with_two_quotes_leaves_as_two_statements_not_as_one_stitched_text():
    stated, kept = said(("Fees are USD 120 and USD 90 for each Device.", [("c1", FEE), ("c2", OPRA.text)]))
    assert [one.text for one in stated.statements] == [FEE, OPRA.text]
    assert [one.citation_numbers for one in stated.statements] == [(1,), (2,)]
    assert [one.source for one in kept.all] == ["cme", "opra"]


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("The law of Illinois governs.", [("c9", LAW)]),
        ("The law of Illinois governs.", [("c2", LAW)]),
        ("The law of Illinois governs.", [("c1", LAW.replace("Illinois", "Delaware"))]),
        ("The law of Illinois governs.", [("c1", "")]),
        ("The fee is USD 200.", [("c1", FEE)]),
        ("The fee is USD 120.", [("c1", FEE.replace("120", "121"))]),
        ("The Licensee shall pay.", [("c1", "The Licensee shall pay … for each Device.")]),
        ("The laws of Illinois do not govern.", [("c1", LAW)]),
        ("The laws of Illinois likely govern this Agreement.", [("c1", LAW)]),
        ("In most  cases the laws of Illinois govern.", [("c1", LAW)]),
        ("Governed by the laws of Illinois, see https://evil.example/x.", [("c1", LAW)]),
    ],
)
def test_what_stored_text_does_not_bear_out_is_dropped_counted_and_cites_nothing(text, quotes):
    stated, kept = said((text, quotes))
    assert (stated.statements, len(stated.dropped)) == ((), 1)
    assert kept.all == ()


def test_a_forbidden_phrase_leaves_where_the_quote_says_it():
    stated, _ = said((CUSTOM, [("c1", CUSTOM)]))
    assert [one.text for one in stated.statements] == [CUSTOM]


def test_a_quote_that_fails_is_dropped_and_the_statement_leaves_with_the_others():
    stated, kept = said(("Illinois law governs this Agreement.", [("c2", LAW), ("c1", LAW)]))
    assert [one.citation_numbers for one in stated.statements] == [(1,)]
    assert [one.chunk_id for one in kept.all] == ["cme"]


def test_a_quote_set_otherwise_is_cited_as_stored():
    _, kept = said(("Illinois law governs this Agreement.", [("c1", LAW.replace(" ", "\n").upper())]))
    assert [one.quote for one in kept.all] == [LAW]


def test_what_is_said_twice_leaves_once_and_is_not_counted_as_dropped():
    stated, _ = said(("Pay USD 120.", [("c1", FEE)]), ("USD 120 is the fee.", [("c1", FEE)]))
    assert ([one.text for one in stated.statements], len(stated.dropped)) == ([FEE], 0)


def test_words_cut_out_of_a_sentence_are_cited_as_the_whole_sentence():
    stated, kept = said(("USD 120 for each Device.", [("c1", "USD 120 for each Device")]))
    assert [one.text for one in stated.statements] == [FEE]
    assert [one.quote for one in kept.all] == [FEE]


def test_a_denial_cannot_be_left_out_of_a_quote():
    stated, _ = said(
        ("Subscriber shares data with clients.", [("c1", "Subscriber shares data with clients.")])
    )
    assert (stated.statements, len(stated.dropped)) == ((), 1)


def test_a_heading_proves_nothing_and_a_header_goes_with_its_row():
    stated, kept = said(("Exclusive licence.", [("c3", "EXCLUSIVE LICENCE")]))
    assert (stated.statements, len(stated.dropped), kept.all) == ((), 1, ())
    stated, _ = said(("Display is USD 5.", [("c3", "Service | Fee (USD)"), ("c3", "Display | 5")]))
    assert [(one.text, one.citation_numbers) for one in stated.statements] == [("Display | 5", (1, 2))]


def shown(chunk: Chunk) -> tuple[dict[str, Chunk], Citations]:
    """The chunk as `c1`, and as it is stored."""
    document = a_document(chunk.document_id)
    return {"c1": chunk}, Citations(
        {chunk.chunk_id: chunk}, {chunk.document_id: document}, Origin("c" * 64), Signer()
    )


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("The Licensee shall not share the Data with third parties.", [SHARE]),
        ("The Licensee shall not share the Data with third parties.", [LEAD_IN, SHARE]),
        (SHARE, [SHARE]),
        (f"{LEAD_IN} {SHARE} {CONSENT}", [LEAD_IN, SHARE, CONSENT]),
        (SHARE, [f"{LEAD_IN} … {SHARE}"]),
    ],
)
def test_whatever_a_model_quotes_of_an_item_its_lead_in_and_condition_leave_with_it(text, quotes):
    handles, kept = shown(SECOND)
    said = [{"chunk": "c1", "quote": quote} for quote in quotes]
    reply = AnswerReply.model_validate({"addressed": True, "statements": [{"text": text, "quotes": said}]})
    stated = supported_claims(claims_of(reply, handles), kept, "May the Licensee share the Data?")
    assert [one.text for one in stated.statements] == [f"{LEAD_IN} … {SHARE} … {CONSENT}"]


def test_a_claim_that_turns_a_prohibition_round_is_dropped():
    handles, kept = shown(SECOND)
    quotes = [{"chunk": "c1", "quote": "Share the Data with any third party for commercial purposes."}]
    text = "The Licensee may share the Data with any third party for commercial purposes."
    reply = AnswerReply.model_validate({"addressed": True, "statements": [{"text": text, "quotes": quotes}]})
    stated = supported_claims(claims_of(reply, handles), kept, "May the Licensee share the Data?")
    assert (stated.statements, [one.why for one in stated.dropped]) == ((), [Why.GOES_BEYOND])


def test_a_lead_in_is_not_said_again_beside_its_items():
    _, kept = shown(ALL)
    draft = Draft("What may the Licensee not do?", kept=(), definitions=(), calibrated=True)
    wanted = [one for text in (LEAD_IN, COPY, SHARE) for one in sentences_of(ALL) if one.text == text]
    statements = extracted(draft, wanted, kept)
    assert [one.text for one in statements] == [
        f"{LEAD_IN}\n{COPY} … {CONSENT}",
        f"{LEAD_IN} … {SHARE}\n{CONSENT}",
    ]


def test_a_lead_in_alone_comes_with_its_whole_list():
    _, kept = shown(ALL)
    draft = Draft("What may the Licensee not do?", kept=(), definitions=(), calibrated=True)
    wanted = [one for one in sentences_of(ALL) if one.text == LEAD_IN]
    (statement,) = extracted(draft, wanted, kept)
    assert statement.text == "\n".join([LEAD_IN, COPY, SHARE, CONSENT])


def test_a_lead_in_that_a_model_quotes_alone_comes_with_its_whole_list():
    handles, kept = shown(ALL)
    said = [{"chunk": "c1", "quote": LEAD_IN}]
    reply = AnswerReply.model_validate({"addressed": True, "statements": [{"text": LEAD_IN, "quotes": said}]})
    (statement,) = supported_claims(
        claims_of(reply, handles), kept, "What may the Licensee not do?"
    ).statements
    assert statement.text == "\n".join([LEAD_IN, COPY, SHARE, CONSENT])


def test_a_condition_that_a_claim_leaves_out_is_told_by_the_quote():
    stated, _ = said(("Derived data stay property of the Vendor.", [("c1", CONDITION)]))
    assert ([one.text for one in stated.statements], len(stated.dropped)) == ([CONDITION], 0)


@pytest.mark.parametrize(
    ("text", "quote", "why", "rules"),
    [
        ("The law of Illinois governs.", "Nobody ever wrote this.", Why.NO_STORED_QUOTE, set()),
        ("The laws of Illinois likely govern this Agreement.", LAW, Why.GUESS, set()),
        ("The fee is USD 200.", FEE, Why.GOES_BEYOND, {LintRule.CURRENCY}),
        ("The laws of Illinois do not govern.", LAW, Why.GOES_BEYOND, {LintRule.NEGATION}),
    ],
    ids=["no quote", "guess", "amount", "negation"],
)
def test_a_statement_that_is_dropped_says_why(text, quote, why, rules):
    stated, _ = said(("Governed by the laws of Illinois.", [("c1", LAW)]), (text, [("c1", quote)]))
    (dropped,) = stated.dropped

    assert (dropped.number, dropped.why) == (2, why)
    assert rules <= set(dropped.rules)
