"""Generates what a model server does, request by request, and says what a call must fail with after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.fakes import behaviours
from tests.fakes.behaviours import (
    Behaviour,
    Closes,
    Fails,
    Hangs,
    Junk,
    Raw,
    Resets,
    Says,
    Slowly,
    Trickles,
    commented,
    cut_off,
    fenced,
    json_reply,
)
from tests.fakes.mutations import MUTATIONS
from tests.fakes.prompts import Shown, read
from tests.fakes.renderer import Renderer
from tests.fakes.wire import Request

WELL_FORMED = {"json": json_reply, "fenced": fenced}
MALFORMED = {"commented": commented, "cut off": cut_off}
SILENT = {
    "empty": behaviours.EMPTY,
    "null": behaviours.NULL,
    "declines": behaviours.DECLINES,
    "filtered": behaviours.FILTERED,
    "words": Says("I am sorry, but as a language model I cannot quote documents."),
    "prose": Says("The fee is USD 7 a month [c1]."),
    "number": Says("3"),
    "null as json": Says("null"),
    "list": Says("[]"),
    "deep": Says("[" * 50_000),
}
"""Completions without what was asked for."""
UNAVAILABLE = {
    "500": Fails(500),
    "503": Fails(503, retry_after=0.1),
    "reset": Resets(),
    "reset within": Resets(Says("x" * 500)),
    "closed": Closes(),
    "html": behaviours.HTML,
    "not utf-8": behaviours.NOT_UTF8,
    "no json": behaviours.NO_JSON,
    "no choices": behaviours.NO_CHOICES,
    "wrong shape": behaviours.WRONG_SHAPE,
    "too short": behaviours.TOO_SHORT,
    "no body": behaviours.NO_BODY,
    "content of a wrong type": Raw(b'{"choices": [{"message": {"content": {"a": 1}}}]}'),
    "deep body": Raw(b'{"choices": ' + b"[" * 100_000),
    "not http": Raw(b"", status=200, content_length=-1),
}
SLOW = {"hangs": Hangs(), "trickles": Trickles(Says("x" * 900)), "junk": Junk()}
REJECTED = {str(status): Fails(status) for status in (400, 401, 403, 404, 422)}
RATE_LIMITED = {"429": Fails(429), "429 with a pause": Fails(429, retry_after=3_600)}
LATE = {"late": Slowly(Says("{}"), 0.02)}
REASONS = {
    **dict.fromkeys((*UNAVAILABLE, *SLOW), "UPSTREAM_UNAVAILABLE"),
    **dict.fromkeys(REJECTED, "MODEL_REJECTED"),
    **dict.fromkeys(RATE_LIMITED, "MODEL_RATE_LIMITED"),
    **dict.fromkeys((*SILENT, *MALFORMED, *LATE), "CONTRACT_FAILED"),
}
"""What a call fails with when this was the last that its model said."""
BROKEN = {**SILENT, **LATE, **UNAVAILABLE, **REJECTED, **RATE_LIMITED}


@dataclass(frozen=True)
class Move:
    """What the model server does with one request."""

    name: str
    """Of a form or of a behaviour."""
    mutations: tuple[str, ...] = ()
    seed: int = 0

    @property
    def sound(self) -> bool:
        """Whether it is a reply that anybody could use."""
        return self.name in WELL_FORMED and not self.mutations

    def play(self, request: Request) -> Behaviour:
        if behaviour := (BROKEN | SLOW).get(self.name):
            return behaviour
        return Renderer(self.mutations, self.seed, (WELL_FORMED | MALFORMED)[self.name])(request)


@dataclass
class Played:
    """A model server that follows a plan, and what it said, by contract; give it to `ModelServer.respond`."""

    planned: Mapping[str, Sequence[Move]]
    """For each contract its moves in order, the last one for ever."""
    moves: dict[str, list[Move]] = field(default_factory=lambda: defaultdict(list))
    shown: list[Shown] = field(default_factory=list)

    def __call__(self, request: Request) -> Behaviour:
        shown = read(request)
        planned, done = self.planned[shown.contract], self.moves[shown.contract]
        done.append(planned[min(len(done), len(planned) - 1)])
        self.shown.append(shown)
        return done[-1].play(request)

    def last(self, contract: str) -> Move | None:
        """The last that the model said for a contract; None when it was not asked."""
        return self.moves[contract][-1] if self.moves[contract] else None


replies = st.builds(
    Move,
    name=st.sampled_from([*["json"] * 6, *WELL_FORMED, *MALFORMED]),
    mutations=st.lists(st.sampled_from(sorted(MUTATIONS)), max_size=3).map(tuple),
    seed=st.integers(0, 9_999),
)
spoilt = st.builds(
    Move,
    name=st.sampled_from(sorted(WELL_FORMED)),
    mutations=st.lists(st.sampled_from(sorted(MUTATIONS)), min_size=1, max_size=4).map(tuple),
    seed=st.integers(0, 9_999),
)
broken = st.sampled_from([*sorted(BROKEN) * 12, *sorted(SLOW)]).map(Move)
sound = st.just(Move("json"))
moves = st.lists(st.one_of(replies, spoilt, broken), min_size=1, max_size=2).map(tuple)
