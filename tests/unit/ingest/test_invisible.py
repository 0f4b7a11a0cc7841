from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.parsing.invisible import is_readable, readable


@pytest.mark.parametrize(
    "text",
    [
        "fee\u202e004\u202c",
        "fee\u2066\u2069",
        "fee\U000e0041",
        "fe\ufe0fe",
        "f\u200dee",
    ],
    ids=["override", "isolate", "tag", "selector", "joiner"],
)
def test_characters_that_nobody_sees_are_left_out_and_counted(text):
    words, unseen = readable(text)

    assert words in ("fee", "fee004")
    assert unseen == len(text) - len(words)


@pytest.mark.parametrize(
    "text", ["نمی\u200cخواهم", "क्\u200dष", "non\u00adexclusive", "a\tb\n\r\n\x0cc", "“é”—§ 4", "עברית"]
)
def test_what_belongs_to_the_spelling_stays(text):
    assert readable(text) == (text, 0)


def test_white_space_without_a_width_goes_and_does_not_count_as_hidden():
    assert readable("\ufeffSection \u200b7\u2060.1") == ("Section 7.1", 0)


def test_control_characters_go_and_those_that_part_words_become_spaces():
    assert readable("one\x1b[2Jtwo\x00\x9b") == ("one[2Jtwo", 0)
    assert readable("one\x1ctwo\x85three\x0bfour") == ("one two three four", 0)


def test_half_a_surrogate_pair_becomes_a_replacement_character():
    assert readable("fee\ud800") == ("fee\ufffd", 0)


@given(st.text() | st.text(st.sampled_from("a\u200c\u200d\u202e\u0627\U0001f600\ufe0f\x1b\n")))
def test_what_was_made_readable_is_readable(text):
    words, unseen = readable(text)

    assert is_readable(words)
    assert len(words) + unseen <= len(text)
