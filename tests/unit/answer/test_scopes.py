"""Where a research query looks."""

from __future__ import annotations

import pytest

from chassis.errors import InvalidInput
from chassis.limits.size import check_names
from services.answer.research.scopes import NotInProject, Scope, named_field, scope_of


def test_without_a_project_every_source_may_be_named() -> None:
    assert scope_of(["cme", "opra/a.pdf", "cme"], None) == Scope(("cme",), ("opra/a.pdf",))


def test_a_document_of_a_named_source_adds_nothing() -> None:
    assert scope_of(["cme/a.pdf", "cme", "opra/b.pdf"], None) == Scope(("cme",), ("opra/b.pdf",))


@pytest.mark.parametrize("name", ["opra", "opra/a.pdf", "cme2", "cme2/a.pdf"])
def test_what_lies_outside_the_project_is_not_found(name: str) -> None:
    with pytest.raises(NotInProject) as failure:
        scope_of(["cme/a.pdf", name], {"cme"})

    assert failure.value.field == "source_ids[1]"
    assert (failure.value.code, failure.value.reason) == ("NOT_FOUND", "SOURCE_NOT_FOUND")


def test_what_lies_in_the_project_is_searched() -> None:
    assert scope_of(["cme/a.pdf", "opra"], {"cme", "opra"}) == Scope(("opra",), ("cme/a.pdf",))


@pytest.mark.parametrize(
    ("names", "field"),
    [(["a"] * 101, "source_ids"), (["a", ""], "source_ids[1]"), (["é" * 513], "source_ids[0]")],
)
def test_names_that_cannot_be_are_refused(names: list[str], field: str) -> None:
    with pytest.raises(InvalidInput) as failure:
        check_names("source_ids", names)

    assert failure.value.field == field


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ("sources[0]", "source_ids[2]"),
        ("document_ids[0]", "source_ids[1]"),
        ("query", "query"),
        (None, None),
    ],
)
def test_a_fault_of_the_search_is_named_as_the_caller_wrote_it(field: str | None, named: str | None) -> None:
    source_ids = ["cme/a.pdf", "opra/b.pdf", "cme"]

    assert named_field(field, scope_of(source_ids, None), source_ids) == named


def test_a_source_that_only_the_project_names_is_the_project_s_fault() -> None:
    assert named_field("sources[0]", Scope(("cme",)), []) == "project"
