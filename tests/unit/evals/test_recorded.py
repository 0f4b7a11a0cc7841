"""What recorded replies say to prompts of today."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.recorded import (
    GivenQuote,
    Recorded,
    Stage,
    answer_to,
    passages_of,
    question_of,
    recorded_replies,
    stage_of,
)
from services.answer.context import lay_out
from services.answer.contracts import answer, grade, snippets
from tests.unit.nouns import a_chunk

RECORDED = Path(__file__).parents[4] / "shared" / "eval" / "model_replies" / "replies.jsonl"
CONTRACTS = {Stage.ANSWER: answer, Stage.GRADE: grade, Stage.SNIPPETS: snippets}
FEE, LAW = "The fee is USD 5.", "The law of Illinois governs."


def shown(*texts: str) -> dict[str, str]:
    chunks = [
        a_chunk(text, chunk_id=f"id-{number}", document_id=f"cme/{number}.txt")
        for number, text in enumerate(texts)
    ]
    return passages_of(grade.prompt("What is the fee?", lay_out(chunks, "0123456789abcdef").text))


def recorded(stage: Stage, **said: object) -> Recorded:
    return Recorded(stage, "What is the fee?", {"c1": FEE, "c2a": LAW}, json.dumps(said))


def test_passages_and_question_are_read_from_a_prompt_of_today():
    assert shown(FEE, f"{LAW}\nIts courts have jurisdiction.") == {
        "c1": FEE,
        "c2": f"{LAW}\nIts courts have jurisdiction.",
    }
    assert question_of(snippets.prompt("What is the fee?", "", 8)) == "What is the fee?"


@pytest.mark.parametrize(("stage", "contract"), CONTRACTS.items())
def test_a_prompt_of_today_is_known_by_how_it_begins(stage, contract):
    assert stage_of(contract.CONTRACT.system) is stage


def test_a_quote_is_given_under_the_handle_that_shows_it_now():
    said = recorded(
        Stage.ANSWER,
        addressed=True,
        statements=[{"text": "It is USD 5.", "quotes": [{"chunk": "c1", "quote": FEE}]}],
    )
    reply = json.loads(answer_to(said, shown(LAW, FEE)))
    assert [quote["chunk"] for quote in reply["quotes"]] == ["c2"]
    assert reply["summary"] == [{"text": "It is USD 5.", "quotes": [1]}]
    assert json.loads(answer_to(said, shown(LAW)))["quotes"][0]["chunk"] == "old-c1"


def test_a_passage_has_the_grade_of_the_recorded_one_that_shares_its_lines():
    said = recorded(Stage.GRADE, grades=[{"chunk": "c1", "grade": 3}, {"chunk": "c2a", "grade": 1}])
    grades = json.loads(answer_to(said, shown(LAW, "Notices are sent by post.", FEE)))["grades"]
    assert grades == [
        {"chunk": "c1", "grade": 1},
        {"chunk": "c2", "grade": 0},
        {"chunk": "c3", "grade": 3},
    ]


def test_a_passage_that_the_recorded_answer_quotes_has_grade_3():
    said = recorded(Stage.GRADE, grades=[{"chunk": "c1", "grade": 1}, {"chunk": "c2a", "grade": 1}])
    quotes = (GivenQuote("c7", "USD 5."),)
    grades = json.loads(answer_to(said, shown(LAW, f"{FEE}\nNo more."), quotes))["grades"]
    assert [grade["grade"] for grade in grades] == [1, 3]


needs_replies = pytest.mark.skipif(not RECORDED.is_file(), reason="the recorded replies are not here")


@needs_replies
def test_every_recorded_reply_keeps_the_contract_of_today_when_its_passages_are_shown():
    broken = []
    for one in recorded_replies(RECORDED):
        module = CONTRACTS[one.stage]
        reply = module.CONTRACT.reply.model_validate(
            module.CONTRACT.read(answer_to(one, one.passages)), extra="ignore"
        )
        rules = grade.rules_for(one.passages) if one.stage is Stage.GRADE else module.broken_rules
        broken += rules(reply)
    assert broken == []


@needs_replies
def test_every_recorded_quote_stands_in_the_passage_that_was_shown():
    quotes = [(one, quote) for one in recorded_replies(RECORDED) for quote in one.quotes]
    assert len(quotes) >= 100
    assert [quote.text for one, quote in quotes if not one.is_verbatim(quote)] == []
