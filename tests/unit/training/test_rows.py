import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from corpus.spans import Span
from inference.reading.model import Passage
from training.examples import Example, Group
from training.rows import CLS, SEP, Rows
from training.tokens import build

WORDS = {"when": 5, "Fees": 6, "due": 7, "Law": 8, "Bern": 9, ".": 10, "[UNK]": 0, "[CLS]": CLS, "[SEP]": SEP}
PASSAGE = Passage("Fees due. Law Bern.", (Span(0, 9), Span(10, 19)))


@pytest.fixture
def tokenizer():
    made = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


def group(*examples, question="when"):
    return Group(question, examples, "natural")


def test_the_network_reads_question_and_passage_and_knows_the_sentence_of_each_token(tokenizer):
    rows = build([group(Example(PASSAGE, frozenset({1})))], tokenizer)
    ids, types, places = rows.tokens_of(0)
    assert ids.tolist() == [CLS, 5, SEP, 6, 7, 10, 8, 9, 10, SEP]
    assert types.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    assert places.tolist() == [-1, -1, -1, 0, 0, 0, 1, 1, 1, -1]
    assert rows.evidence_of(0) == {1}


def test_omitted_sentences_are_not_read(tokenizer):
    rows = build([group(Example(PASSAGE, omitted=frozenset({0})))], tokenizer)
    ids, _, places = rows.tokens_of(0)
    assert ids.tolist() == [CLS, 5, SEP, 8, 9, 10, SEP]
    assert places.tolist() == [-1, -1, -1, 1, 1, 1, -1]


def test_questions_and_passages_are_kept_once(tokenizer):
    rows = build([group(Example(PASSAGE)), group(Example(PASSAGE, frozenset({0})))], tokenizer)
    assert rows.group_count == 2
    assert (len(rows.question_starts), len(rows.passage_starts)) == (2, 2)
    assert rows.passage.tolist() == [0, 0]


def test_a_passage_without_tokens_makes_no_row_and_a_group_without_rows_is_left_out(tokenizer):
    rows = build([group(Example(Passage(" ", ()))), group(Example(PASSAGE))], tokenizer)
    assert rows.group_count == 1


def test_rows_are_read_as_they_were_saved(tokenizer, tmp_path):
    rows = build([group(Example(PASSAGE, frozenset({1}), frozenset({0})))], tokenizer)
    rows.save(tmp_path / "rows.npz")
    again = Rows.load(tmp_path / "rows.npz")
    assert [part.tolist() for part in again.tokens_of(0)] == [part.tolist() for part in rows.tokens_of(0)]
    assert again.sources.tolist() == ["natural"]


def test_the_first_groups_alone_keep_their_rows(tokenizer):
    rows = build([group(Example(PASSAGE), Example(PASSAGE)), group(Example(PASSAGE))], tokenizer)
    part = rows.first(1)
    assert (part.group_count, list(part.rows_of(0)), len(part.question)) == (1, [0, 1], 2)


def test_lengths_count_tokens_and_what_stands_around_them(tokenizer):
    rows = build([group(Example(PASSAGE))], tokenizer)
    assert np.array_equal(rows.lengths(), [10])
