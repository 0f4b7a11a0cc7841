"""The answer to a question, as the client gives it: the response, and in one word whether it is a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clausegate.answer.v1.query_service_pb2 import QueryResponse

if TYPE_CHECKING:

    class Answer(QueryResponse):  # type: ignore[misc]  # messages are final, and so is this one
        """A response of `QueryService.Query`."""

        @property
        def refused(self) -> bool:
            """Whether the documents do not say it; `refusal` says then what was looked at."""

else:
    # A message class can have no subclass, but may be given what it lacks.
    Answer = QueryResponse
    Answer.refused = property(lambda self: self.HasField("refusal"))
