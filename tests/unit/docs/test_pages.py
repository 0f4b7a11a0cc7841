"""What the pages name is there: places that links lead to, settings, commands and their options."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from cli.main import app

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("examples/*.md")),
]
SETTINGS = re.findall(r"^#(CLAUSEGATE_\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
COMMAND = re.compile(r"(?:^|\.venv/bin/|\$ |\| )clausegate ([a-z][^\n|#>&]*)", re.MULTILINE)
COMMANDS = typer.main.get_command(app)


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(page):
    """What stands behind `clausegate` in blocks of commands, continued lines joined."""
    blocks = [block.replace("\\\n", " ") for block in page.read_text().split("```")[1::2]]
    return [found for block in blocks for found in COMMAND.findall(block)]


def unknown(words):
    """The first word of a command line that names no command, or no option of it."""
    command = COMMANDS
    for word in words:
        if below := getattr(command, "commands", None):
            if word not in below:
                return word
            command = below[word]
        elif word.startswith("--"):
            options = {name for parameter in command.params for name in parameter.opts}
            if word.partition("=")[0] not in options:
                return word
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_link_leads_to_a_page_and_a_heading(page):
    targets = [link for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if "://" not in link]
    places = [(link, (page.parent / link.partition("#")[0]) if link[0] != "#" else page) for link in targets]
    lost = [
        link
        for link, place in places
        if not place.exists() or ("#" in link and link.partition("#")[2] not in anchors(place))
    ]

    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_setting_that_a_page_names_is_there(page):
    named = {name.rstrip("_") for name in re.findall(r"CLAUSEGATE_[A-Z0-9_]+", page.read_text())}

    assert [name for name in sorted(named) if not any(each.startswith(name) for each in SETTINGS)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_that_a_page_shows_has_its_options(page):
    shown = commands(page)

    assert [line for line in shown if unknown(shlex.split(line))] == []


def test_commands_are_found_and_what_is_unknown_in_them():
    assert len(commands(ROOT / "README.md")) > 10
    assert unknown(["keys", "create", "--scope", "query"]) is None
    assert unknown(["keys", "create", "--scopes", "query"]) == "--scopes"
    assert unknown(["key"]) == "key"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_line_of_prose_can_be_read_without_scrolling(page):
    blocks = page.read_text().split("```")
    prose = [line for block in blocks[::2] for line in block.splitlines() if not line.startswith("|")]

    assert [line for line in prose if len(line) > 140] == []
