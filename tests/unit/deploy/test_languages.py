"""The contracts build for TypeScript and Go, with the programs that the documentation shows."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / ".cache/languages"
PAGE = (ROOT / "docs/other-languages.md").read_text()
PROGRAMS = dict(re.findall(r"^```(ts|go)\n(.*?)^```$", PAGE, re.M | re.S))
NEEDED = ("protoc-gen-es", "tsc", "protoc-gen-go", "protoc-gen-go-grpc", "go", "node")
PATH = os.pathsep.join([str(TOOLS / "node_modules/.bin"), str(TOOLS / "bin"), os.environ["PATH"]])  # noqa: TID251

MISSING = [tool for tool in NEEDED if shutil.which(tool, path=PATH) is None]
pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"`make languages` has not fetched {', '.join(MISSING)}, and PATH has none"
)


def run(*command, folder):
    environment = {
        "PATH": PATH,
        "HOME": str(Path.home()),
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    assert run(ROOT / ".venv/bin/buf", "generate", "--output", folder, folder=ROOT) == (0, "")
    return folder


def test_typescript_compiles_with_the_program_of_the_documentation(generated):
    folder = generated / "typescript"
    (folder / "node_modules").symlink_to(TOOLS / "node_modules")
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "ask.ts").write_text(PROGRAMS["ts"])
    options = ("--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node")

    assert run("tsc", *options, "ask.ts", folder=folder) == (0, "")


def test_go_compiles_with_the_program_of_the_documentation(generated):
    folder = generated / "go"
    for name in ("go.mod", "go.sum"):
        shutil.copy(TOOLS / name, folder)
    (folder / "ask").mkdir()
    (folder / "ask/main.go").write_text(PROGRAMS["go"])

    assert run("go", "vet", "./...", folder=folder) == (0, "")
