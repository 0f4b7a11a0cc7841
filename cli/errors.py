"""What a command reports in one line before it ends with exit code 1."""

from __future__ import annotations

from collections.abc import Mapping

from clausegate.errors import ClausegateError, json_path

NO_GRPC = (
    "it does not speak gRPC, as the gateway does not, which serves REST: --server is the address of the "
    "services, such as 127.0.0.1:7000"
)
ADVICE = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate is not trusted; CLAUSEGATE_CA_FILE names whom to trust",
    "is not in peer certificate": "its certificate is not for the host of this address",
    "WRONG_VERSION_NUMBER": "it does not speak TLS: try host:port without https://",
    "http1.x server": NO_GRPC,
    "missing selected ALPN": NO_GRPC,
    "DNS resolution failed": "no host of this name is known",
    "Connection refused": "nothing listens there; is it running, and is the address the right one?",
    "Socket closed": "The connection broke off. Without https:// in its address, it may speak TLS only. It "
    "may ask for a client certificate that it trusts: see CLAUSEGATE_CLIENT_CERTIFICATE_FILE.",
}
"""What may be done about a connection that failed, by a part of gRPC's words for it."""


class CommandError(Exception):
    """The command cannot go on; the message is one line for people that says what to do."""

    def problem(self) -> Mapping[str, object]:
        """The same as an RFC 9457 problem, for `--json`."""
        return {"title": str(self)}


class CallFailed(CommandError):
    """A service was called in vain; the message names the reason, and the fields at fault."""

    def __init__(self, error: ClausegateError, server: str | None = None) -> None:
        """`server` is the address that the user gave, if any."""
        self._reason, self._detail = error.reason or error.code, error.message
        if not error.reason and error.code == "UNAVAILABLE":
            meaning = next((said for words, said in ADVICE.items() if words in error.message), error.message)
            where = f"the server at {server}" if server else "the server"
            self._reason, self._detail = "UPSTREAM_UNAVAILABLE", f"{where}: {meaning}"
        self._fields = [(json_path(field.field), field.description) for field in error.fields]
        self._retry_after_seconds = error.retry_after_seconds
        super().__init__(f"{self._reason}: {self._said()}")

    def _said(self) -> str:
        said = "; ".join(f"{field}: {description}" for field, description in self._fields) or self._detail
        if self._reason == "UNAUTHENTICATED":
            return f"{said} Commands present what CLAUSEGATE_CREDENTIAL holds."
        return said

    def problem(self) -> Mapping[str, object]:
        """Reason, fields, and when to try again."""
        problem: dict[str, object] = {
            "title": self._reason.replace("_", " ").capitalize(),
            "detail": self._detail,
            "reason": self._reason,
            "errors": [{"field": field, "description": description} for field, description in self._fields],
        }
        if self._retry_after_seconds is not None:
            problem["retryAfterSeconds"] = self._retry_after_seconds
        return problem
