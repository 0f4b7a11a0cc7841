"""Servers that stop while somebody is connected, in a process of their own: gRPC may crash it."""

import subprocess
import sys

STOPS = """
import asyncio
from chassis.server import serving

async def main():
    for _ in range(40):
        async with serving("127.0.0.1:0", []) as address:
            host, _, port = address.rpartition(":")
            silent = [(await asyncio.open_connection(host, int(port)))[1] for _ in range(3)]
            gone = (await asyncio.open_connection(host, int(port)))[1]
            gone.close()
            await asyncio.sleep(0.05)  # until they are accepted
        for each in silent:
            each.close()

asyncio.run(main())
"""


def test_a_server_stops_while_clients_are_connected_and_silent():
    stopped = subprocess.run([sys.executable, "-c", STOPS], timeout=60, check=False)

    assert stopped.returncode == 0
