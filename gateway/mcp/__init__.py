"""The documents for programs that speak MCP (Model Context Protocol): the same answers, refusals and limits.

`tools` says what may be asked, with `arguments` and `results`; `projections` makes results of messages, and
`words` short text of results. `server` speaks the protocol by its SDK, over any client of the services;
`endpoint` serves it at `/mcp`, and the command `clausegate mcp` on standard input and output.
"""
