import json

import pytest

from clausegate.answer.v1.answer_pb2 import Outcome, Refusal, Statement
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.corpus.v1.citation_pb2 import Citation
from clausegate.retrieval.v1.retrieval_service_pb2 import Candidate, SearchResponse
from cli.errors import CommandError
from cli.questions import Came, came_of, read_questions, shares

FEE = "The fee is USD 95.00 a month."
ENTRY = {
    "id": "fee",
    "question": "What is the fee?",
    "expected_documents": ["cme/fees.txt"],
    "expected_chunks": [{"document": "cme/fees.txt", "phrase": "USD  95.00 a month"}],
    "expected_terms": ["usd 95.00"],
}


def read(*entries):
    return read_questions("\n".join(map(json.dumps, entries)), "q.jsonl")


def pool(*texts):
    chunks = [Chunk(document_id="cme/fees.txt", text=text) for text in texts]
    return SearchResponse(candidates=[Candidate(chunk=chunk) for chunk in chunks])


def answer(quote, document="cme/fees.txt", outcome=Outcome.OUTCOME_ANSWERED):
    return QueryResponse(
        outcome=outcome,
        answer=quote,
        statements=[Statement(text=quote, citation_numbers=[1])],
        citations=[Citation(number=1, document=document, quote=quote)],
    )


REFUSED = QueryResponse(outcome=Outcome.OUTCOME_REFUSED, refusal=Refusal(message="No."))


def test_an_answer_that_quotes_what_is_expected_is_right_in_every_respect():
    [question] = read(ENTRY)

    came = came_of(question, pool("Scope.", FEE), answer(FEE))

    assert came == Came(question, "answered", "", True, True, True, True)
    assert came.right


def test_the_same_words_of_another_document_are_not_right():
    [question] = read(ENTRY)

    came = came_of(question, pool("Scope."), answer(FEE, "opra/fees.txt"))

    assert (came.found, came.right_document, came.right_quote, came.terms_said) == (False, False, False, True)


def test_a_refusal_has_no_quotes_to_judge():
    [question] = read(ENTRY)

    came = came_of(question, pool(FEE), REFUSED)

    assert (came.outcome, came.found, came.right_document, came.right_quote) == ("refused", True, None, None)


def test_what_nothing_is_expected_of_is_not_judged():
    [question] = read({"id": "a", "question": "What is the fee?"})

    came = came_of(question, pool(FEE), answer(FEE))

    assert (came.found, came.right_document, came.right_quote, came.terms_said, came.right) == (None,) * 5


def test_without_expected_passages_the_terms_tell_whether_an_answer_is_right():
    [question] = read({"id": "a", "question": "What is the fee?", "expected_terms": ["EUR 7"]})

    assert came_of(question, pool(FEE), answer(FEE)).right is False


def test_shares_count_answers_to_what_the_documents_are_silent_on_as_wrong():
    asked, silent = read(ENTRY, {"id": "s", "question": "Who pays?", "should_refuse": True})
    results = [
        came_of(asked, pool(FEE), answer(FEE)),
        came_of(asked, pool(FEE), REFUSED),
        came_of(silent, pool(FEE), answer(FEE)),
        came_of(silent, pool(FEE), answer(FEE, outcome=Outcome.OUTCOME_RELATED)),
        Came(silent, "failed", failure="UPSTREAM_UNAVAILABLE"),
    ]

    counted = {share.name: (share.count, share.of) for share in shares(results)}

    assert counted == {
        "passages found": (2, 2),
        "right document first": (1, 1),
        "right quote": (1, 1),
        "terms said": (1, 1),
        "answered": (1, 2),
        "related": (0, 2),
        "falsely refused": (1, 2),
        "silent: refused": (0, 3),
        "silent: related": (1, 3),
        "silent: answered": (1, 3),
        "of what is answered, right": (1, 2),
        "failed": (1, 5),
    }


def test_the_questions_of_the_examples_can_be_read():
    from evals.corpora import EXAMPLE_QUESTIONS

    assert len(read_questions(EXAMPLE_QUESTIONS.read_text(), "questions.json")) == 30


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "q.jsonl: holds no question"),
        ("\n{", "q.jsonl:2: no JSON: "),
        ("[]", "q.jsonl:1: no object"),
        ('{"id": "a"}', "q.jsonl:1: question: "),
        ('{"id": "a", "question": " "}', "q.jsonl:1: question: "),
        ('{"id": "a", "question": "Q?", "expected": 1}', "q.jsonl:1: expected: "),
        ('{"id": "a", "question": "Q?", "should_refuse": 1}', "q.jsonl:1: should_refuse: "),
        (
            '{"id": "a", "question": "Q?", "expected_chunks": [{"document": "a/b"}]}',
            "q.jsonl:1: expected_chunks.0.phrase: ",
        ),
        (
            '{"id": "a", "question": "Q?"}\n{"id": "a", "question": "R?"}',
            "q.jsonl:2: id: 'a' is that of q.jsonl:1 already",
        ),
        ('{"questions": [{"id": "a"}]}', "q.jsonl: questions[0]: question: "),
    ],
)
def test_a_wrong_line_is_named_with_its_field(text, message):
    with pytest.raises(CommandError) as raised:
        read_questions(text, "q.jsonl")

    assert str(raised.value).startswith(message)
