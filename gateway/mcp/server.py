"""The MCP server over a client of the services, by the SDK, for HTTP and for standard input and output."""

from __future__ import annotations

import logging
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from pydantic import ValidationError

from clausegate import ClausegateError, Client
from clausegate.errors import json_path
from gateway.mcp.tools import DATA, TOOLS, Offered

logger = logging.getLogger(__name__)

INSTRUCTIONS = (
    "Clausegate answers questions about contracts and licences from the documents it holds, and from nothing "
    "else. `ask` gives checked verbatim quotes or refuses; a refusal is a result, so tell it as one. Cite by "
    f"document, section and page. {DATA}"
)
INTERNAL = "INTERNAL: An internal error occurred, and the log has it. Asking again may help."
ADVICE = {
    "UNAUTHENTICATED": "Give a key or token: over HTTP as `Authorization: Bearer …`, on standard input and "
    "output in CLAUSEGATE_CREDENTIAL of the command's environment.",
    "PERMISSION_DENIED": "Ask whoever runs Clausegate for a credential that may.",
    "DOCUMENT_NOT_FOUND": "list_documents names the documents that there are.",
    "UNAVAILABLE": "Clausegate cannot be reached; is it running at the address in --server?",
}
"""What may be done, by the reason of an error or, where that is not there, its code."""


def mcp_server(client: Client) -> Server[Any]:
    """A server of the protocol; whoever serves it says for whom each call is made."""

    async def tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[tool.described() for tool in TOOLS.values()])

    async def call(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"There is no such tool; there are {', '.join(TOOLS)}.")
        return await _called(tool, client, params.arguments or {})

    server = Server[Any](
        "clausegate", title="Clausegate", instructions=INSTRUCTIONS, on_list_tools=tools, on_call_tool=call
    )
    server.middleware.clear()  # its spans: the request and the calls of services have theirs
    return server


async def _called(tool: Offered, client: Client, arguments: dict[str, Any]) -> CallToolResult:
    try:
        result = await tool.call(client, tool.arguments.model_validate(arguments))
    except ValidationError as error:
        return _failed(f"INVALID_FIELD: {_problems(error)}")
    except ClausegateError as error:
        return _failed(_told(error))
    except Exception:  # the SDK would tell its words, which may be a document's, to the caller
        logger.exception("unexpected error")
        return _failed(INTERNAL)
    return CallToolResult(
        content=[TextContent(text=tool.words(result))], structured_content=result.model_dump(mode="json")
    )


def _failed(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)


def _problems(error: ValidationError) -> str:
    """What is wrong with each argument, without what was given."""
    return "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    )


def _told(error: ClausegateError) -> str:
    """The reason, what is wrong, and what to do."""
    fields = "; ".join(f"{json_path(field.field)}: {field.description}" for field in error.fields)
    advice = ADVICE.get(error.reason) or ADVICE.get(error.code, "")
    again = f"Try again in {error.retry_after_seconds:g} s." if error.retry_after_seconds else ""
    problem = f"{error.reason or error.code}: {fields or error.message}".removesuffix(".")
    said = (f"{problem}.", advice, again)
    return " ".join(part for part in said if part)
