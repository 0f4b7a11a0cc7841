"""Measures calls of model servers, by OpenTelemetry's conventions for generative AI."""

from __future__ import annotations

from contextlib import AbstractContextManager

from chassis.telemetry import histogram, timed

# Both scales are those that the conventions advise.
SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = tuple(float(4**power) for power in range(14))

_duration = histogram(
    __name__, "gen_ai.client.operation.duration", "Time of a call of a model, repeats within.", "s", SECONDS
)
_tokens = histogram(
    __name__, "gen_ai.client.token.usage", "Tokens of a call, as its server counts them.", "{token}", TOKENS
)


class Call:
    """One call of a model."""

    def __init__(self, operation: str, model: str, host: str) -> None:
        """`operation` is `chat` or `embeddings`, `host` the server."""
        self.attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": model,
            "server.address": host,
        }

    def timed(self) -> AbstractContextManager[None]:
        """The context to make the call in."""
        return timed(_duration, self.attributes)

    def used(self, kind: str, tokens: int) -> None:
        """Count tokens of a kind, `input` or `output`; a server that says nothing of them says 0."""
        if tokens:
            _tokens.record(tokens, self.attributes | {"gen_ai.token.type": kind})
