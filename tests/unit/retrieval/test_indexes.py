"""Which index a caller gets, and how many are kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from chassis.auth import Caller
from corpus.documents import DocumentId
from inference.tokens import ESTIMATE
from services.retrieval.indexes import Indexes
from tests.contract.store.drafts import DIMENSION, Draft, open_embedded, put


class NoModel:
    """Embeds nothing: no test here asks."""

    name = "model"
    dimension = DIMENSION

    async def embed(self, texts):
        return np.zeros((len(texts), DIMENSION), np.float32)

    async def embed_query(self, text):
        return np.zeros(DIMENSION, np.float32)

    async def token_spans(self, texts):
        return [() for _ in texts]

    async def close(self):
        """Nothing to release."""


@pytest.fixture
async def indexes() -> AsyncIterator[Indexes]:
    """Of one tenant with a document in each of three sources; two restricted ones are kept."""
    async with open_embedded() as store:
        await asyncio.gather(
            *(put(store, Draft(f"{name}/a.txt", ["fee"])) for name in ("cme", "ice", "opra"))
        )

        async def open_store(tenant: str):
            return store

        with ThreadPoolExecutor(1) as executor:
            opened = Indexes(open_store, NoModel(), ESTIMATE, executor, 2)
            yield opened
            await opened.close()


def caller(*sources: str, subject: str = "anna") -> Caller:
    return Caller("acme", subject, sources=frozenset(sources))


async def test_callers_of_the_same_sources_share_an_index_and_others_do_not(indexes):
    whole, cme, both = [await indexes.of(caller(*held)) for held in ((), ("cme",), ("ice", "cme"))]

    assert len({id(each) for each in (whole, cme, both)}) == 3
    assert await indexes.of(caller("cme", "ice", subject="bert")) is both
    assert [(await each.store.counts()).documents for each in (whole, cme, both)] == [3, 1, 2]


async def test_the_least_recently_used_restricted_index_goes_and_the_whole_one_stays(indexes):
    whole, cme, ice = [await indexes.of(caller(*held)) for held in ((), ("cme",), ("ice",))]
    assert await indexes.of(caller("cme")) is cme
    await indexes.of(caller("opra"))

    assert await indexes.of(caller()) is whole
    assert await indexes.of(caller("cme")) is cme
    assert await indexes.of(caller("ice")) is not ice


async def test_what_works_over_an_index_that_went_meanwhile_ends_as_if_it_were_there(indexes):
    cme = await indexes.of(caller("cme"))
    refresh = cme.overviews.refresh()
    for held in ("ice", "opra"):
        await indexes.of(caller(held))

    await refresh
    overview = await cme.overviews.at(await cme.store.revision())
    assert await cme.store.document(DocumentId("cme/a.txt"))
    assert overview.sample.documents == ("cme/a.txt",)
