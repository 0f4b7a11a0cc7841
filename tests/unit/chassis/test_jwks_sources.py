import asyncio
from collections.abc import Mapping

import pytest
from jwt import PyJWK

from chassis.bounded_get import NotRead
from chassis.errors import Unavailable
from chassis.jwks import keys_of
from chassis.jwks_sources import FetchedKeys, FileKeys
from chassis.token_rules import Algorithm
from chassis.watched_file import FileBroken
from tests.fakes.token_issuer import Issuer

EVERY = frozenset(Algorithm)
PAUSE = 10.0


class Place:
    """Where keys are fetched from; each fetch waits until it is let through."""

    def __init__(self) -> None:
        self.issuer = Issuer()
        self.fetches = 0
        self.begun: asyncio.Queue[int] = asyncio.Queue()
        self.open = asyncio.Event()
        self.open.set()
        self.failure: Exception | None = None

    async def fetch(self) -> Mapping[str, PyJWK]:
        self.fetches += 1
        self.begun.put_nowait(self.fetches)
        await self.open.wait()
        if self.failure:
            raise self.failure
        return keys_of(self.issuer.jwks(), EVERY)


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def fetched(place: Place, clock: Clock, refresh_seconds: float = 3600.0) -> FetchedKeys:
    return FetchedKeys(place.fetch, refresh_seconds, PAUSE, clock)


async def refused(keys: FetchedKeys) -> Unavailable:
    with pytest.raises(Unavailable) as failed:
        await keys.find("key-1")
    return failed.value


async def test_a_key_is_fetched_once_and_kept():
    place, clock = Place(), Clock()
    keys = fetched(place, clock)
    found = [await keys.find("key-1") for _ in range(3)]

    assert found[0] is not None
    assert found == [found[0]] * 3
    assert place.fetches == 1


async def test_a_key_that_appears_is_found_when_a_token_names_it():
    place, clock = Place(), Clock()
    keys = fetched(place, clock)
    await keys.find("key-1")
    place.issuer.rotate("key-2")
    clock.seconds = PAUSE

    assert await keys.find("key-2")


async def test_unknown_ids_fetch_no_more_than_once_in_a_pause():
    place, clock = Place(), Clock()
    keys = fetched(place, clock)
    for number in range(100):
        clock.seconds = number / 100 * PAUSE
        assert await keys.find(f"unknown-{number}") is None
    assert place.fetches == 1

    clock.seconds = PAUSE
    await asyncio.gather(*(keys.find(f"unknown-{number}") for number in range(100)))
    assert place.fetches == 2


async def test_one_fetch_serves_all_who_wait():
    place, clock = Place(), Clock()
    keys = fetched(place, clock)
    place.open.clear()
    waiting = [asyncio.create_task(keys.find("key-1")) for _ in range(50)]
    await asyncio.sleep(0)
    clock.seconds = 2 * PAUSE
    waiting += [asyncio.create_task(keys.find("key-1")) for _ in range(50)]
    await asyncio.sleep(0)
    waiting.pop(0).cancel()
    place.open.set()

    assert all(await asyncio.gather(*waiting))
    assert place.fetches == 1


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "failure",
    [NotRead("status 500"), ValueError("no key can be used"), RecursionError("nested too deeply")],
    ids=str,
)
async def test_keys_stay_when_a_fetch_fails(failure, caplog):
    place, clock = Place(), Clock()
    keys = fetched(place, clock)
    await keys.find("key-1")
    place.failure, clock.seconds = failure, PAUSE

    assert await keys.find("key-2") is None
    assert await keys.find("key-1")
    assert [record.error for record in caplog.records if record.levelname == "ERROR"] == [str(failure)]


async def test_without_any_key_a_caller_is_told_to_come_again():
    place, clock = Place(), Clock()
    place.failure = NotRead("status 500")
    keys = fetched(place, clock)

    assert (await refused(keys)).retry_after_seconds == PAUSE
    await refused(keys)
    assert place.fetches == 1
    place.failure, clock.seconds = None, PAUSE
    assert await keys.find("key-1")


async def test_keys_are_fetched_before_anybody_asks_and_again():
    place, clock = Place(), Clock()
    keys = FetchedKeys(place.fetch, 0.001, 0.0, clock)
    async with keys.kept_fresh(), asyncio.timeout(20):
        assert [await place.begun.get() for _ in range(3)] == [1, 2, 3]


async def test_a_fetch_that_hangs_ends_with_the_process():
    place = Place()
    place.open.clear()
    keys = fetched(place, Clock())
    async with keys.kept_fresh():
        await place.begun.get()

    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_file_of_keys_is_read_again_when_it_changes(tmp_path):
    issuer, path = Issuer(), tmp_path / "jwks.json"
    path.write_text(issuer.jwks())
    keys = FileKeys("CLAUSEGATE_JWT_JWKS", path, EVERY)
    issuer.rotate("key-2")
    assert await keys.find("key-1")
    assert await keys.find("key-2") is None

    path.write_text(issuer.jwks())
    assert await keys.find("key-2")


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "not JSON"), ('{"keys": []}', "no key can be used"), (DEEP, "maximum recursion depth")],
    ids=["empty", "no key", "deep"],
)
def test_a_file_without_keys_is_one_line_that_names_it(tmp_path, text, said):
    path = tmp_path / "jwks.json"
    path.write_text(text)
    with pytest.raises(FileBroken, match=f"CLAUSEGATE_JWT_JWKS: {path}: {said}"):
        FileKeys("CLAUSEGATE_JWT_JWKS", path, EVERY)
