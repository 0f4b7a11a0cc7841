"""What two research queries must share so that one is answered with the result of the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chassis.auth import Caller
from services.answer.research.research import NOTHING, result_key
from services.answer.research.scopes import Scope
from services.answer.research.snippets import Unverified, Wanted

FOUND = replace(NOTHING, normalized_query="display data", index_revision="7")
WANTED = Wanted("May I display the data?", frozenset({"display", "data"}))
SCOPE = Scope(("cme",))
ONE = Caller("one", "anna")
ASKED = {"caller": ONE, "found": FOUND, "scope": SCOPE, "wanted": WANTED, "maker": ("m", "snippets/1")}


@pytest.mark.parametrize("question", ["  may i display the DATA? ", "May I\ndisplay the data?"])
def test_case_and_white_space_make_no_other_question(question: str) -> None:
    asked = {**ASKED, "wanted": replace(WANTED, question=question)}

    assert result_key(**asked) == result_key(**ASKED)


@pytest.mark.parametrize(
    "changed",
    [
        {"caller": Caller("two", "anna")},
        {"caller": Caller("one", "anna", sources=frozenset({"cme"}))},
        {"wanted": replace(WANTED, question="Must I display the data?")},
        {"wanted": replace(WANTED, at_most=3)},
        {"wanted": replace(WANTED, unverified=Unverified.FLAG)},
        {"found": replace(FOUND, normalized_query="display")},
        {"found": replace(FOUND, index_revision="8")},
        {"scope": Scope(("opra",))},
        {"scope": Scope(document_ids=("cme",))},
        {"scope": None},
        {"maker": ("other", "snippets/1")},
        {"maker": ("m", "snippets/2")},
    ],
)
def test_no_result_is_shared_where_anything_differs_that_it_depends_on(changed: dict[str, object]) -> None:
    assert result_key(**{**ASKED, **changed}) != result_key(**ASKED)


def test_callers_who_hold_the_same_sources_share_a_result() -> None:
    held = frozenset({"cme", "ice"})
    anna, bert = ({**ASKED, "caller": Caller("one", name, sources=held)} for name in ("anna", "bert"))

    assert result_key(**anna) == result_key(**bert)
