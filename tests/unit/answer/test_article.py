"""Names and limits of articles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.errors import InvalidInput
from services.answer.article import ArticleScope, CompileRequest, check

NAMES = st.lists(st.text(min_size=1, max_size=20), max_size=3).map(tuple)


def scope(*sources: str, topic: str = "", documents: tuple[str, ...] = ()) -> ArticleScope:
    return ArticleScope(sources, documents, topic)


@given(NAMES, NAMES, st.text(max_size=80))
def test_a_default_id_is_an_id(sources, documents, topic):
    name = ArticleScope(sources, documents, topic).default_id()
    check(CompileRequest(scope("cme"), article_id=name))


@pytest.mark.parametrize(
    "same",
    [
        scope("opra", "cme", topic="Fees"),
        scope("cme", "opra", "cme", topic=" fees "),
        scope("cme", "opra", topic="FEES"),
    ],
)
def test_the_same_scope_has_the_same_id(same):
    assert same.default_id() == scope("cme", "opra", topic="fees").default_id()


@pytest.mark.parametrize(
    "other",
    [scope("cme", topic="fees"), scope("cme", "opra"), scope(topic="fees", documents=("cme", "opra"))],
)
def test_another_scope_has_another_id(other):
    assert other.default_id() != scope("cme", "opra", topic="fees").default_id()


@pytest.mark.parametrize(
    ("named", "begins"),
    [
        (scope("cme", topic="Market data: fees & notices"), "market-data-fees-notices-"),
        (scope("cme", "opra"), "cme-opra-"),
        (scope(documents=("cme/Licence 2.pdf",)), "cme-licence-2-pdf-"),
        (scope("cme", topic="数据"), "article-"),
    ],
)
def test_an_id_begins_with_words_of_its_scope(named, begins):
    assert named.default_id().startswith(begins)


def test_a_scope_is_required_unless_an_article_is_named():
    check(CompileRequest(scope(), article_id="fees"))
    with pytest.raises(InvalidInput) as raised:
        check(CompileRequest(scope(topic="fees")))
    assert raised.value.field == "sources"
