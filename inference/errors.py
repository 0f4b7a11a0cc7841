"""What can go wrong with a model server."""

from __future__ import annotations

from chassis.errors import Exhausted, Precondition, Unavailable


class ModelServerUnavailable(Unavailable):
    """The model server does not answer in time, fails, or answers something that is no reply."""

    reason = "UPSTREAM_UNAVAILABLE"

    repeated = True


class ModelRateLimited(Exhausted):
    """The model server gets too many calls, also after the repeats that fit into the deadline."""

    reason = "MODEL_RATE_LIMITED"


class ModelQueueFull(Exhausted):
    """No more calls may wait for the model."""

    reason = "OVERLOADED"


class EmbeddingDimensionWrong(Precondition):
    """The model's vectors have another length than the settings say."""

    reason = "EMBEDDING_MODEL_MISMATCH"


class ModelRejected(Precondition):
    """The model server refuses the call itself: key, model name or parameters are wrong."""

    reason = "MODEL_REJECTED"
