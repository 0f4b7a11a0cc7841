"""The `clausegate` command: rich panels and tables for people, JSON for programs, by the public client.

Read `main` (the commands), `connection` (which services they call), then the rest.
"""

import os

# Taken when gRPC is loaded: what its core notes of handshakes would stand on standard error beside our line.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # noqa: TID251 - it is set here, not read
