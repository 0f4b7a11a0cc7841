"""Decides when a server is no longer worth asking, and how long until it is tried again."""

from __future__ import annotations

from chassis.telemetry import gauge

UNANSWERED = 5
"""Calls in a row without an answer that open the breaker. One search makes several calls at once."""
UNREADY = 3
"""Probes in a row that fail, with no call answered meanwhile, that open it: a node in a cluster may say for a
second that it is not ready, when it loses another."""
LONGEST_PAUSE_SECONDS = 30.0

_open = gauge(__name__, "clausegate.breaker.open", "Breakers that are open.", "{breaker}")
_WEAVIATE = {"clausegate.breaker": "weaviate"}


class Breaker:
    """Closed: calls are made. Open: they fail at once, until a trial succeeds and closes it.

    What fails is told to it from two sides. Calls that get no answer count until one is answered; probes that
    fail count until one succeeds, or until a call is answered: calls know better. A trial that succeeds says
    little of a server that is ready and yet answers no call: the pause doubles until one is answered.
    """

    def __init__(self, pause_seconds: float) -> None:
        """It begins open; `pause_seconds` pass between probes."""
        _open.add(1, _WEAVIATE)
        self._ended = False
        self._pause_seconds = pause_seconds
        self._closed = False
        self._unanswered = 0
        self._unready = 0
        self._in_vain = 0
        """Trials in a row that closed it without one call answered after."""

    @property
    def closed(self) -> bool:
        """Whether calls are worth making."""
        return self._closed

    @property
    def pause_seconds(self) -> float:
        """Until the next probe, which is the trial while it is open."""
        return min(self._pause_seconds * 2.0**self._in_vain, LONGEST_PAUSE_SECONDS)

    def answered(self) -> None:
        """A call was answered, be it with an error."""
        self._unanswered = self._unready = self._in_vain = 0

    def unanswered(self) -> None:
        """A call got no answer although it had time enough."""
        self._unanswered += 1
        if self._closed and self._unanswered >= UNANSWERED:
            self._in_vain += 1
            self.open()

    def ready(self) -> None:
        """A probe succeeded."""
        self._unready = 0

    def unready(self) -> None:
        """A probe failed."""
        self._unready += 1
        if self._unready >= UNREADY:
            self.open()

    def open(self) -> None:
        """Nothing listens, or what answers must not be used."""
        if self._closed:
            _open.add(1, _WEAVIATE)
        self._closed = False

    def close(self) -> None:
        """A trial succeeded."""
        if not self._closed:
            _open.add(-1, _WEAVIATE)
        self._closed = True
        self._unanswered = self._unready = 0

    def end(self) -> None:
        """Nobody calls any more; safe to call twice.

        It stays open, and is not counted as such: what a process last told is believed for minutes.
        """
        self.open()
        if not self._ended:
            _open.add(-1, _WEAVIATE)
        self._ended = True
