"""Where the keys of tokens come from: a file, or a URL of the issuer's that is read in the background."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from jwt import PyJWK

from chassis.bounded_get import NotRead, bounded_get, checked_url
from chassis.errors import Unavailable
from chassis.jwks import keys_of
from chassis.token_rules import Algorithm
from chassis.watched_file import WatchedFile

logger = logging.getLogger(__name__)

FETCH_SECONDS = 5.0
MAX_BYTES = 2**18
Keys = Mapping[str, PyJWK]


class FileKeys:
    """The keys of a file as it stands now."""

    def __init__(self, setting: str, path: Path, algorithms: Collection[Algorithm]) -> None:
        """Raises `FileBroken`."""
        self._file = WatchedFile(setting, path, lambda text: keys_of(text, algorithms))

    async def find(self, key_id: str) -> PyJWK | None:
        """The key of an id."""
        return self._file.now().get(key_id)


class FetchedKeys:
    """The keys that a URL answered last.

    They are fetched every now and then, and for an id that is not known, but never again before a pause is
    over: presenting what nobody has signed costs the issuer next to nothing. A fetch that fails leaves them
    as they are.
    """

    def __init__(
        self,
        fetch: Callable[[], Awaitable[Keys]],
        refresh_seconds: float,
        pause_seconds: float,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """`fetch` raises `NotRead` and `ValueError`; `seconds` is a clock that never goes back."""
        self._fetch = fetch
        self._refresh_seconds = refresh_seconds
        self._pause_seconds = pause_seconds
        self._seconds = seconds
        self._keys: Keys = {}
        self._fetching: asyncio.Task[None] | None = None
        self._not_before = -float("inf")

    async def find(self, key_id: str) -> PyJWK | None:
        """The key of an id. Raises `Unavailable` when no key could ever be fetched."""
        if key_id not in self._keys:
            await self._look_again()
        if not self._keys:
            raise Unavailable(
                "Tokens cannot be checked: the keys of their issuer could not be read yet.",
                retry_after_seconds=self._pause_seconds,
            )
        return self._keys.get(key_id)

    @asynccontextmanager
    async def kept_fresh(self) -> AsyncIterator[None]:
        """Fetch them in the background until the context ends."""
        task = asyncio.create_task(self._keep_fresh())
        try:
            yield
        finally:
            running = [task, self._fetching] if self._fetching else [task]
            for running_task in running:
                running_task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _keep_fresh(self) -> None:
        while True:
            await self._look_again()
            await asyncio.sleep(self._refresh_seconds if self._keys else self._pause_seconds)

    async def _look_again(self) -> None:
        """Wait for the fetch that runs, or for one that may begin now; one serves all who wait."""
        if self._fetching is None:
            if self._seconds() < self._not_before:
                return
            self._not_before = self._seconds() + self._pause_seconds
            self._fetching = asyncio.create_task(self._replace())
        await asyncio.shield(self._fetching)

    async def _replace(self) -> None:
        try:
            self._keys = await self._fetch()
        except (NotRead, ValueError, RecursionError) as error:  # the last of JSON that is nested too deeply
            logger.error(
                "keys of tokens cannot be fetched; those fetched before go on", extra={"error": str(error)}
            )
        else:
            logger.info("keys of tokens fetched", extra={"keys": len(self._keys)})
        finally:
            self._fetching = None


def fetching(text: str, algorithms: Collection[Algorithm]) -> Callable[[], Awaitable[Keys]]:
    """Fetches the keys of a URL. Raises `ValueError` for one that may not be read."""
    url = checked_url(text)

    async def fetch() -> Keys:
        body = await bounded_get(url, FETCH_SECONDS, MAX_BYTES)
        return keys_of(body.decode("utf-8"), algorithms)

    return fetch
