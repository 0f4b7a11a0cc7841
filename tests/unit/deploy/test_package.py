"""What an installed package is: one name to import, and a command where its extra is installed."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = next(path for path in sys.path if path.endswith("site-packages"))
"""What the package needs. Read without its `.pth` files, which name this clone."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The wheel, unpacked as an installer does."""
    folder = tmp_path_factory.mktemp("package")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "installed")
    return folder / "installed"


def python(installed, code, *arguments):
    paths = f"import sys; sys.path += [{str(installed)!r}, {PACKAGES!r}]\n"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", paths + code, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_takes_one_name_at_the_top_level(installed):
    version = PROJECT["project"]["version"]

    assert {path.name for path in installed.iterdir()} == {"clausegate", f"clausegate-{version}.dist-info"}


def test_the_client_is_imported_without_what_only_the_services_need(installed):
    code = "import clausegate; print(clausegate.Client.__name__, {'pydantic', 'typer'} & set(sys.modules))"
    done = python(installed, code)

    assert (done.stdout, done.stderr) == ("Client set()\n", "")


def test_nothing_else_of_it_can_be_imported(installed):
    names = list(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["sources"])
    code = f"import importlib.util as found\nprint([name for name in {names} if found.find_spec(name)])"

    assert python(installed, code).stdout == "[]\n"


def test_the_command_runs_where_its_extra_is(installed):
    code = "sys.argv[0] = 'clausegate'; from clausegate.command import main; main()"
    done = python(installed, code, "keys", "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert "create" in done.stdout


def test_the_command_names_its_extra_where_that_is_not(installed):
    code = "sys.modules['typer'] = None; from clausegate.command import main; main()"
    done = python(installed, code, "keys", "--help")

    assert done.returncode == 1
    assert done.stderr.endswith("install clausegate[cli]\n")
    assert "Traceback" not in done.stderr
