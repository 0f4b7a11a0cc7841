"""No pattern of the product holds what Python 3.11.2 matches wrongly.

Possessive repetitions and atomic groups came with Python 3.11, whose first releases lose characters with
them: `\\w++(?:-\\w++)++` finds `10b-` in `10b-5`. Ours go without, by alternatives that exclude each other.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from re import _parser as parser

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = [
    "benchmarks",
    "chassis",
    "clausegate",
    "cli",
    "corpus",
    "embedded",
    "evals",
    "gateway",
    "inference",
    "services",
]
FUNCTIONS = {"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}
FLAGS = re.compile(r"re\.[A-Z]+(?: \| re\.[A-Z]+)*")
REFUSED = {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}


class Escaped(ast.NodeTransformer):
    """Puts a letter where a pattern has words that are not known before it runs: `re.escape(name)`."""

    def visit_Call(self, node):
        return ast.Constant("x") if ast.unparse(node.func) == "re.escape" else self.generic_visit(node)


def calls_in(source):
    """Calls of functions of `re` that take a pattern."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {f"re.{name}" for name in FUNCTIONS}:
            yield node


def pattern_of(call, names):
    """The pattern that a call names, with flags; fails for one that cannot be read without running it."""
    written = ast.fix_missing_locations(ast.Expression(Escaped().visit(call.args[0])))
    text = eval(compile(written, "", "eval"), names)
    others = [ast.unparse(argument) for argument in [*call.args[1:], *(each.value for each in call.keywords)]]
    return text, eval(" | ".join(filter(FLAGS.fullmatch, others)) or "0", names)


def refused_in(pattern, flags=0):
    """What a pattern has of that which is refused."""
    return {name for name in REFUSED if name in repr(parser.parse(pattern, flags))}


def sources():
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_pattern_is_possessive_or_atomic(path):
    calls = list(calls_in(path.read_text()))
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    names = vars(importlib.import_module(name)) if calls else {}

    assert [found for call in calls if refused_in(*(found := pattern_of(call, names)))] == []


def test_the_patterns_of_the_product_are_seen():
    patterns = [call for path in sources() for call in calls_in(path.read_text())]

    assert len(patterns) > 150


def test_functions_of_patterns_are_always_called_by_the_name_of_their_module():
    """So that none is passed over: no `from re import compile`, no `import re as other`."""
    other_names = re.compile(
        r"^\s*(?:from re import|import re as|import .*\bre,|import .*, re\b)", re.MULTILINE
    )

    assert [path for path in sources() if other_names.search(path.read_text())] == []


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"\w++", {"POSSESSIVE_REPEAT"}),
        (r"a(?:b?+c)*", {"POSSESSIVE_REPEAT"}),
        (r"(?=x{2,3}+)", {"POSSESSIVE_REPEAT"}),
        (r"x|(?<!(?>ab))", {"ATOMIC_GROUP"}),
        (r"[*+?]\++ a{2}\+ (\?>)", set()),
    ],
)
def test_what_is_refused_is_seen_wherever_it_stands(pattern, found):
    assert refused_in(pattern) == found


def test_a_pattern_is_read_with_its_flags_and_without_what_it_escapes():
    source = 're.compile(rf"{PART}+ # x++\\n" + re.escape(self.name), re.VERBOSE)'
    (call,) = calls_in(source)

    assert pattern_of(call, {"re": re, "PART": "a"}) == ("a+ # x++\\nx", re.VERBOSE)
