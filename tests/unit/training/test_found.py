from corpus.spans import Span
from tests.unit.training.questions import chunk, found
from training.found import FoundChunk, by_question, write


def test_what_was_found_is_read_as_it_was_written(tmp_path):
    asked = found(chunk(0, 0.25), chunk(3, 0.125))
    write(tmp_path / "set.jsonl", [asked])
    assert by_question(tmp_path / "set.jsonl") == {"q": asked}


def test_windows_of_a_chunk_hold_the_sentences_that_they_share_words_with():
    text = "One is here. Two is there. Three."
    sentences = (Span(0, 12), Span(13, 26), Span(27, 33))
    cut = FoundChunk("a.txt", 50, text, 0.0, sentences, (Span(0, 26), Span(20, 33)))
    first, second = cut.read_windows()
    assert (first.start, first.passage.text) == (50, text[:26])
    assert first.passage.sentences == (Span(0, 12), Span(13, 26))
    assert (second.start, second.passage.text) == (70, text[20:])
    assert second.passage.sentences == (Span(0, 6), Span(7, 13))
