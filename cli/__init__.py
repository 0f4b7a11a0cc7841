"""The `clausegate` command: REST and server-sent events to a gateway, rich panels and tables for people.

Read `main` (the commands), `connection` (which gateway), `gateway_client` (how it is called), then the rest.
"""
