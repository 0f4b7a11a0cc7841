from io import StringIO

import pytest
from google.protobuf.json_format import ParseDict
from rich.console import Console

from clausegate.answer.v1.research_service_pb2 import SnippetsDone
from cli.snippets import snippet_lines, snippets_panel

DONE = {
    "resultCount": 2,
    "summary": "Fees are due monthly.",
    "snippets": [
        {
            "content": "Fees are due\nmonthly.",
            "sourceId": "cme/a.pdf",
            "sourceLocation": "4 Fees > 4.2",
            "relevance": "It says when.",
            "verified": True,
            "citation": {"page": 3, "documentLabel": "Fee Schedule · CME"},
        },
        {"content": "Fees are waived.", "sourceTitle": "Fee Schedule", "sourceLocation": "4 Fees"},
    ],
    "droppedSnippets": 1,
    "cached": True,
    "metadata": {"model": "gpt-4o", "latency": "0.5s"},
    "usage": [{"model": "gpt-4o", "calls": 1, "promptTokens": 10, "completionTokens": 2, "priced": True}],
}


def shown(done, width=120):
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(snippets_panel(ParseDict(done, SnippetsDone()), "When are fees due?"))
    return console.file.getvalue()


@pytest.mark.parametrize(
    "part",
    [
        "─ Snippets ─",
        "When are fees due?",
        "[1] Fee Schedule · CME › 4 Fees > 4.2 · page 3",
        "▌ Fees are due monthly.",
        "It says when.",
        "[2] Fee Schedule › 4 Fees not found in the documents",
        "Fees are due monthly.",
        "! 1 snippet of the model left out: the words do not stand in the documents",
        "gpt-4o · 1 call, 10 tokens sent, 2 received, $0.0000 · 500 ms · from the cache",
    ],
)
def test_a_terminal_shows(part):
    assert part in shown(DONE)


def test_nothing_found_is_its_summary():
    panel = shown({"noResults": True, "summary": "No passage bears on it."})

    assert "─ Nothing found ─" in panel
    assert "No passage bears on it." in panel


def test_a_panel_keeps_its_width():
    assert {len(line) for line in shown(DONE, width=60).splitlines()} == {60}


def test_a_pipe_gets_blocks_ofsnippet_lines():
    assert list(snippet_lines(ParseDict(DONE, SnippetsDone()))) == [
        "[1] Fee Schedule · CME › 4 Fees > 4.2, page 3",
        "Fees are due monthly.",
        "— It says when.",
        "",
        "[2] Fee Schedule › 4 Fees (not found in the documents)",
        "Fees are waived.",
        "",
        "Fees are due monthly.",
    ]


LISTED = {
    **DONE["snippets"][0],
    "contextBefore": "You shall not:",
    "content": "(b) share it",
    "contextAfter": "unless CME asks.",
    "notes": [{"text": "The reading order is uncertain."}],
}


def test_an_item_of_a_list_is_shown_with_what_governs_it_and_with_its_doubts():
    done = {**DONE, "snippets": [LISTED]}
    lines = list(snippet_lines(ParseDict(done, SnippetsDone())))
    assert lines[1:3] == [
        "You shall not: … (b) share it … unless CME asks.",
        "! The reading order is uncertain.",
    ]
    panel = shown(done)
    assert "▌ You shall not: … (b) share it … unless CME asks." in panel
    assert "! The reading order is uncertain." in panel
