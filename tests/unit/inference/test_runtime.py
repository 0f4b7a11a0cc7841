import subprocess
import sys

import pytest

IMPORTED_QUIETLY = """
import inference.bert.session, socket, sys
assert "openvino" in sys.modules
loaded = [name for name in sys.modules if "telemetry" in name and name.startswith("openvino")]
assert [name for name in loaded if sys.modules[name]] == [], loaded
"""


@pytest.mark.parametrize("first", ["", "import inference.embedding.local"])
def test_openvino_is_loaded_without_its_telemetry_and_writes_nothing_at_home(tmp_path, first):
    command = [sys.executable, "-c", first + IMPORTED_QUIETLY]
    subprocess.run(command, check=True, env={"HOME": str(tmp_path), "PATH": ""}, cwd=".")
    assert list(tmp_path.iterdir()) == []
