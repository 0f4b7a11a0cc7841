import subprocess
import sys

import pytest

from chassis.folders import DataInUse, owned


def test_a_missing_folder_is_made(tmp_path):
    with owned(tmp_path / "data"):
        assert (tmp_path / "data").is_dir()


def test_a_second_owner_is_refused(tmp_path):
    with owned(tmp_path), pytest.raises(DataInUse, match="in use by another process"), owned(tmp_path):
        pass


def test_a_folder_is_free_after_its_owner(tmp_path):
    with owned(tmp_path):
        pass

    with owned(tmp_path):
        pass


def test_a_killed_owner_leaves_no_lock(tmp_path):
    code = (
        "import os, pathlib, sys; from chassis.folders import owned\n"
        "with owned(pathlib.Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)

    assert killed.returncode == -9
    with owned(tmp_path):
        pass
