"""Reading questions: the formats of the evaluation data, and the promises of our own questions."""

import json
import re
from pathlib import Path

import pytest

from evals.asking import Asked
from evals.corpora import (
    EXAMPLES,
    ExpectedChunk,
    Kind,
    contractnli_questions,
    cuad_questions,
    example_questions,
    folder_files,
    is_held_out,
    natural_questions,
    pdf_questions,
    research_questions,
    tree_files,
    unruled,
)
from evals.metrics import Passage
from examples.build import HERE, WORKS

QUESTIONS = example_questions()
RESEARCH = research_questions()
DRAFTS = {work.target: HERE / "drafts" / work.draft for work in WORKS}


def written(document_id: str) -> str:
    text = DRAFTS.get(document_id, EXAMPLES / document_id).read_text(encoding="utf-8")
    return re.sub(r"<[^>]+>", " ", text)


def rows(folder: Path, name: str, *entries: dict[str, object]) -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return file


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.question_id)
def test_expected_phrases_stand_in_the_examples(question):
    missing = [
        chunk
        for chunk in question.expected_chunks
        if not chunk.is_in(chunk.document_id, written(chunk.document_id))
    ]
    assert not missing


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.question_id)
def test_exactly_the_questions_to_answer_expect_something(question):
    expected = (question.expected_documents, question.expected_chunks, question.expected_terms)
    assert all(map(bool, expected)) != question.should_refuse
    assert any(map(bool, expected)) != question.should_refuse


def test_there_are_thirty_questions_of_which_at_least_twelve_have_no_answer():
    assert len({question.question_id for question in QUESTIONS}) == 30
    assert sum(question.should_refuse for question in QUESTIONS) >= 12


@pytest.mark.parametrize("question", RESEARCH, ids=lambda question: question.question_id)
def test_phrases_that_research_should_find_stand_in_the_examples(question):
    expected = question.expected
    assert [one for one in expected if not one.is_in(one.document_id, written(one.document_id))] == []


@pytest.mark.parametrize("question", RESEARCH, ids=lambda question: question.question_id)
def test_a_research_question_expects_what_its_kind_says(question):
    sources = {one.document_id.split("/")[0] for one in question.expected}
    assert len(sources) == {Kind.NEGATIVE: 0, Kind.MULTI_SOURCE: 2}.get(question.kind, 1)


def test_there_are_six_research_questions_of_each_kind():
    assert len({question.question_id for question in RESEARCH}) == 24
    assert [[one.kind for one in RESEARCH].count(kind) for kind in Kind] == [6, 6, 6, 6]


def test_the_source_is_the_first_folder_of_a_tree():
    ids = [file.document_id for file in tree_files(EXAMPLES)]
    assert "tarnholm/notices/2025-06-unit-of-count-transition.md" in ids


def test_files_of_a_flat_folder_come_by_name(tmp_path):
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).touch()
    assert [file.document_id for file in folder_files(tmp_path, "cuad")] == ["cuad/a.txt", "cuad/b.txt"]


def test_table_bars_and_line_breaks_do_not_hide_a_phrase():
    expected = ExpectedChunk("a/b.pdf", "QH Top | 1,500")
    assert expected.is_in("a/b.pdf", "x\nQH Top\n1,500 y")


def test_a_phrase_in_another_document_does_not_count():
    assert not ExpectedChunk("a/b.pdf", "x").is_in("a/c.pdf", "x")


def test_unruled_text_has_single_spaces():
    assert unruled(" a | b\n\nc ") == "a b c"


def test_a_cuad_question_is_asked_of_its_contract_without_naming_it(tmp_path):
    titles = rows(tmp_path, "docs.jsonl", {"file": "x.txt", "title": "LEASE between A; B"})
    entry = {
        "id": "1",
        "question": "Consider the LEASE between A; B; What is due?",
        "scope": ["x.txt"],
        "answers": [{"file": "x.txt", "start": 3, "end": 9, "text": "sechse"}],
        "answerable": True,
    }
    [question] = cuad_questions(rows(tmp_path, "queries.jsonl", entry), titles)
    assert question.scoped == Asked("What is due?", ("cuad/x.txt",))
    assert question.gold == (Passage("cuad/x.txt", 3, 9),)


def test_a_cuad_question_that_names_another_contract_is_an_error(tmp_path):
    titles = rows(tmp_path, "docs.jsonl", {"file": "x.txt", "title": "LEASE"})
    entry = {"id": "1", "question": "Consider the LOAN; What?", "scope": ["x.txt"], "answers": []}
    with pytest.raises(ValueError, match="does not name its contract"):
        cuad_questions(rows(tmp_path, "queries.jsonl", entry), titles)


def test_a_contractnli_question_is_asked_in_its_raw_form(tmp_path):
    entry = {
        "id": "1",
        "question": 'Consider the document "x"; May it?',
        "raw_question": "May it?",
        "scope": ["x.txt"],
        "answers": [],
        "answerable": False,
    }
    [question] = contractnli_questions(rows(tmp_path, "queries.jsonl", entry))
    assert (question.clause_text, question.gold, question.answerable) == ("May it?", (), False)


def test_a_pdf_question_knows_the_pages_of_all_its_answers(tmp_path):
    titles = rows(
        tmp_path, "docs.jsonl", {"file": "x.txt", "title": "L"}, {"file": "y.txt", "title": "L; What"}
    )
    entry = {
        "id": "1",
        "question": "Consider the L; What; is due?",
        "pdf": "y.pdf",
        "answers": [{"text": "a", "pages": [3, 4]}, {"text": "b", "pages": [7]}],
        "answerable": True,
    }
    [question] = pdf_questions(rows(tmp_path, "page_gold.jsonl", entry), titles)
    assert question.scoped == Asked("is due?", ("cuad_pdf/y.pdf",))
    assert question.pages == {3, 4, 7}


def test_a_natural_question_is_asked_of_its_contract_or_names_it(tmp_path):
    row = {
        "id": "n1",
        "file": "A.txt",
        "q": "What is the fee?",
        "q_named": "What is Acme's fee?",
        "type": "amount",
        "answerable": True,
        "answers": [{"start": 5, "end": 9, "text": "USD "}, {"start": 20, "end": 22, "text": "50"}],
        "must": ["USD 50"],
    }
    (question,) = natural_questions(rows(tmp_path, "dev.jsonl", row))
    assert question.scoped == Asked("What is the fee?", ("cuad/A.txt",))
    assert question.naming == Asked("What is Acme's fee?")
    assert question.gold == (Passage("cuad/A.txt", 5, 9), Passage("cuad/A.txt", 20, 22))
    assert (question.kind, question.must, question.answerable) == ("amount", ("USD 50",), True)


def test_a_document_is_held_out_by_its_name_alone():
    names = [f"contract-{number}" for number in range(600)]
    held_out = [name for name in names if is_held_out(name, 6)]
    assert 60 < len(held_out) < 140
    assert all(is_held_out(name, 6) for name in held_out)
