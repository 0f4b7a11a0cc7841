"""The fake Weaviate answers as the real one does: the same objects and the same questions, put to both."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import numpy as np
import pytest
import weaviate
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st
from weaviate.classes.aggregate import GroupByAggregate, Metrics
from weaviate.classes.config import Configure, DataType, Property, Tokenization
from weaviate.classes.data import DataObject
from weaviate.classes.init import Auth
from weaviate.classes.query import Filter, MetadataQuery, Sort
from weaviate.client import WeaviateAsyncClient
from weaviate.collections import CollectionAsync
from weaviate.exceptions import WeaviateBaseError

from services.retrieval.store.weaviate.schema import WINDOWS, windows_vector
from tests.contract.store.weaviate_server import API_KEY, GRPC_URL, URL
from tests.fakes.weaviate_server import WeaviateServer

pytestmark = [
    pytest.mark.weaviate,
    pytest.mark.skipif(not URL, reason="there is no real server to compare with"),
]

PROPERTIES = [
    Property(name="words", data_type=DataType.TEXT, tokenization=Tokenization.WHITESPACE),
    Property(name="more", data_type=DataType.TEXT, tokenization=Tokenization.WHITESPACE),
    Property(name="name", data_type=DataType.TEXT, tokenization=Tokenization.FIELD, index_searchable=False),
    Property(name="key", data_type=DataType.UUID),
    Property(name="number", data_type=DataType.INT, index_range_filters=True),
    Property(name="ordinal", data_type=DataType.INT),
    Property(name="plain", data_type=DataType.TEXT, index_filterable=False, index_searchable=False),
    Property(name="places", data_type=DataType.INT_ARRAY, index_filterable=False),
    Property(name="names", data_type=DataType.TEXT_ARRAY, index_filterable=False, index_searchable=False),
]
KEYS = [UUID(int=number) for number in range(1, 4)]
UUIDS = [UUID(int=1_000 * number + 7) for number in range(30)]
DIMENSION = 3
SCORES_AGREE = 1e-3
# To shrink what failed would take a server some thousand questions.
COMPARED = settings(max_examples=60, phases=[Phase.generate])

TOKENS = st.sampled_from(["fee", "10b-5", "S&P", "401(k)", "#fee", "é", "\U0001f600", "FEE"])
TEXTS = st.lists(TOKENS, max_size=8).flatmap(
    lambda tokens: st.sampled_from([" ", "\n", "\u3000", "\x1f"]).map(lambda space: space.join(tokens))
)
NAMES = st.sampled_from(["a", "B", "b", " a", "a ", "a b", "é", "0", "\uffff", "\U0001f600", "z" * 300])
ROWS = st.integers(0, 10_000).map(lambda seed: _unit(np.random.default_rng(seed).normal(size=DIMENSION)))
MATRICES = st.lists(ROWS, min_size=1, max_size=4)
LIMITS = st.integers(1, 40)


def _unit(row: np.ndarray) -> list[float]:
    return (row / np.linalg.norm(row)).tolist()


VALUES = st.fixed_dictionaries(
    {"ordinal": st.integers(-5, 5)},
    optional={
        "words": TEXTS,
        "more": TEXTS,
        "name": NAMES,
        "key": st.sampled_from(KEYS),
        "number": st.integers(-5, 5),
        "plain": NAMES,
        "places": st.lists(st.integers(-(2**40), 2**40), max_size=3),
        "names": st.lists(NAMES, max_size=3),
    },
)
OBJECTS = st.builds(
    lambda uuid, values, matrix: DataObject(values, uuid=uuid, vector={WINDOWS: matrix}),
    st.sampled_from(UUIDS),
    VALUES,
    MATRICES,
)


def _conditions() -> st.SearchStrategy[Any]:
    words = st.sampled_from(["words", "more"]).map(Filter.by_property)
    name, key, number = map(Filter.by_property, ("name", "key", "number"))
    simple = st.one_of(
        st.builds(lambda of, token: of.equal(token), words, TOKENS),
        st.builds(lambda of, tokens: of.contains_any(tokens), words, st.lists(TOKENS, min_size=1)),
        st.builds(lambda of, tokens: of.contains_all(tokens), words, st.lists(TOKENS, min_size=1)),
        st.builds(lambda of, text: of.equal(text), words, TEXTS),
        NAMES.map(name.equal),
        NAMES.map(name.greater_than),
        NAMES.map(name.less_or_equal),
        st.sampled_from(KEYS).map(key.equal),
        st.sampled_from(KEYS).map(key.not_equal),
        st.lists(st.sampled_from(KEYS), min_size=1).map(key.contains_any),
        st.integers(-6, 6).map(number.greater_than),
        st.integers(-6, 6).map(number.less_than),
        st.integers(-6, 6).map(number.not_equal),
        st.lists(st.integers(-6, 6), min_size=1).map(number.contains_any),
        st.lists(st.sampled_from(UUIDS), min_size=1).map(Filter.by_id().contains_any),
        st.sampled_from(UUIDS).map(Filter.by_id().equal),
    )
    return st.recursive(
        simple,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(Filter.all_of),
            st.lists(inner, min_size=2, max_size=3).map(Filter.any_of),
            inner.map(Filter.not_),
        ),
        max_leaves=4,
    )


CONDITIONS = st.none() | _conditions()
Question = Callable[[CollectionAsync], Awaitable[Any]]


def _by_words(query: str, names: list[str], limit: int, condition: Any) -> Question:
    async def ask(collection: CollectionAsync) -> Any:
        found = await collection.query.bm25(
            query,
            query_properties=names,
            limit=limit,
            filters=condition,
            return_metadata=MetadataQuery(score=True),
        )
        return [(each.uuid, each.metadata.score) for each in found.objects]

    return ask


def _by_vector(row: list[float], limit: int, condition: Any) -> Question:
    async def ask(collection: CollectionAsync) -> Any:
        found = await collection.query.near_vector(
            [row],
            target_vector=WINDOWS,
            limit=limit,
            filters=condition,
            return_metadata=MetadataQuery(distance=True),
        )
        return [(each.uuid, -each.metadata.distance) for each in found.objects]

    return ask


def _all_of_it(condition: Any) -> Question:
    async def ask(collection: CollectionAsync) -> Any:
        found = await collection.query.fetch_objects(limit=100, filters=condition, include_vector=True)
        # Those of one batch come in any order.
        objects = sorted(found.objects, key=lambda each: each.uuid)
        return [(each.uuid, dict(each.properties), each.vector) for each in objects]

    return ask


def _following(position: UUID | None, limit: int, condition: Any) -> Question:
    """A page by id; one that follows a position takes no condition."""

    async def ask(collection: CollectionAsync) -> Any:
        wanted = None if position is None else condition
        found = await collection.query.fetch_objects(limit=limit, after=position, filters=wanted)
        return [each.uuid for each in found.objects]

    return ask


def _sorted_by(name: str, ascending: bool, limit: int, condition: Any) -> Question:
    async def ask(collection: CollectionAsync) -> Any:
        found = await collection.query.fetch_objects(
            limit=limit, filters=condition, sort=Sort.by_property(name, ascending), return_properties=[name]
        )
        # Those that are equal come in any order.
        return [_folded(each.properties[name]) for each in found.objects]

    return ask


def _totals(condition: Any) -> Question:
    async def ask(collection: CollectionAsync) -> Any:
        return await collection.aggregate.over_all(
            total_count=True,
            filters=condition,
            return_metrics=[Metrics("number").integer(count=True, sum_=True, maximum=True, minimum=True)],
        )

    return ask


def _groups(name: str, condition: Any) -> Question:
    async def ask(collection: CollectionAsync) -> Any:
        found = await collection.aggregate.over_all(
            total_count=True,
            filters=condition,
            group_by=GroupByAggregate(prop=name, limit=100),
            return_metrics=[Metrics("number").integer(sum_=True)],
        )
        groups = [(each.grouped_by.value, each.total_count, each.properties) for each in found.groups]
        return sorted(groups, key=lambda group: (-group[1], group[0]))

    return ask


def _folded(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


RANKINGS = st.one_of(
    st.builds(
        _by_words,
        st.lists(TOKENS, min_size=1, max_size=5).map(" ".join),
        st.sampled_from([["words"], ["more"], ["words", "more"]]),
        LIMITS,
        CONDITIONS,
    ),
    st.builds(_by_vector, ROWS, LIMITS, CONDITIONS),
)
READS = st.one_of(
    st.builds(_all_of_it, CONDITIONS),
    st.builds(_following, st.none() | st.sampled_from(UUIDS), LIMITS, st.none() | CONDITIONS),
    st.builds(_sorted_by, st.sampled_from(["name", "ordinal"]), st.booleans(), LIMITS, CONDITIONS),
    st.builds(_totals, CONDITIONS),
    st.builds(_groups, st.sampled_from(["name", "key"]), CONDITIONS),
)


def _put(objects: Sequence[DataObject]) -> Question:
    async def ask(collection: CollectionAsync) -> Any:
        return (await collection.data.insert_many(objects)).has_errors

    return ask


def _delete(condition: Any) -> Question:
    async def ask(collection: CollectionAsync) -> Any:
        deleted = await collection.data.delete_many(condition)
        return deleted.matches, deleted.successful, deleted.failed

    return ask


BATCHES = st.lists(OBJECTS, min_size=1, max_size=30, unique_by=lambda each: each.uuid)
DELETIONS = _conditions().map(_delete)
WRITES = st.one_of(BATCHES.map(_put), DELETIONS)


class Both:
    """A fake and the real server, each with a tenant of its own for every example."""

    def __init__(self, collections: Sequence[CollectionAsync]) -> None:
        self._collections = collections

    async def tenants(self) -> list[CollectionAsync]:
        name = f"t{secrets.token_hex(8)}"
        await asyncio.gather(*(each.tenants.create(name) for each in self._collections))
        return [each.with_tenant(name) for each in self._collections]


@asynccontextmanager
async def _client(url: str, grpc_url: str, key: str) -> AsyncIterator[WeaviateAsyncClient]:
    http, grpc = (each.rsplit(":", 1) for each in (url, grpc_url))
    client = weaviate.use_async_with_custom(
        http_host=http[0].split("//")[1],
        http_port=int(http[1]),
        http_secure=False,
        grpc_host=grpc[0].split("//")[1],
        grpc_port=int(grpc[1]),
        grpc_secure=False,
        auth_credentials=Auth.api_key(key) if key else None,
        skip_init_checks=True,
    )
    async with client:
        yield client


@asynccontextmanager
async def _collection(url: str, grpc_url: str, key: str) -> AsyncIterator[CollectionAsync]:
    name = f"Compared{secrets.token_hex(4)}"
    async with _client(url, grpc_url, key) as client:
        collection = await client.collections.create(
            name,
            properties=PROPERTIES,
            vector_config=windows_vector("none"),
            multi_tenancy_config=Configure.multi_tenancy(enabled=True),
        )
        try:
            yield collection
        finally:
            await client.collections.delete(name)


@asynccontextmanager
async def _both() -> AsyncIterator[Both]:
    with WeaviateServer() as fake:
        async with (
            _collection(fake.url, fake.grpc_url, "") as on_fake,
            _collection(URL, GRPC_URL, API_KEY) as on_real,
        ):
            yield Both([on_fake, on_real])


@pytest.fixture(scope="module")
def runner():
    with asyncio.Runner() as running:
        yield running


@pytest.fixture(scope="module")
def both(runner):
    opened = _both()
    yield runner.run(opened.__aenter__())
    runner.run(opened.__aexit__(None, None, None))


async def _answers(question: Question, tenants: Sequence[CollectionAsync]) -> list[Any]:
    return [await _answer(question, each) for each in tenants]


async def _answer(question: Question, tenant: CollectionAsync) -> Any:
    try:
        return await question(tenant)
    except WeaviateBaseError as error:
        return type(error)


@COMPARED
@given(st.lists(WRITES, min_size=1, max_size=4), st.lists(READS, min_size=1, max_size=8))
def test_both_store_and_delete_and_find_the_same(runner, both, writes, reads):
    async def compare() -> None:
        tenants = await both.tenants()
        for question in [*writes, *reads]:
            fake, real = await _answers(question, tenants)
            assert fake == real

    runner.run(compare())


@COMPARED
@given(BATCHES, st.lists(DELETIONS, max_size=2), st.lists(RANKINGS, min_size=1, max_size=8))
def test_both_rank_alike(runner, both, objects, deletions, rankings):
    async def compare() -> None:
        tenants = await both.tenants()
        for write in [_put(objects), *deletions]:
            await _answers(write, tenants)
        for number, ranking in enumerate(rankings):
            note(f"ranking {number}")
            fake, real = await _answers(ranking, tenants)
            _assert_alike(fake, real)

    runner.run(compare())


def _assert_alike(fake: Any, real: Any) -> None:
    """The same scores in order, and each object its own: of equals at the end either may be left out."""
    if not isinstance(real, list):
        assert fake == real
        return
    assert len(fake) == len(real)
    assert np.allclose([score for _, score in fake], [score for _, score in real], atol=SCORES_AGREE)
    scores = dict(real)
    least = min(scores.values(), default=0.0)
    for uuid, score in fake:
        assert abs(scores.get(uuid, least) - score) < SCORES_AGREE
