"""`python -m tests.faults --seconds 600 --seed 7 [--keep FOLDER]`: one long run, for `make faults`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.faults.running import run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="an empty folder for the processes' logs")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cg-faults-") as temporary:
        folder = asked.keep or Path(temporary)
        report = asyncio.run(run(folder, seconds=asked.seconds, seed=asked.seed))
    print(report.text)
    sys.exit(bool(report.violations))


if __name__ == "__main__":
    main()
