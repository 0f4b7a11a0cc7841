"""What the Dockerfile says of the package that it is made from."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
STAGES = dict(re.findall(r"^FROM runtime AS (\w+)\n(.*?)(?=^FROM )", DOCKERFILE, re.M | re.S))
PACKED = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]


def test_each_process_is_an_extra_of_the_package():
    assert set(STAGES) <= set(PROJECT["project"]["optional-dependencies"])
    assert re.search(r"^ARG PROCESS=(\w+)$", DOCKERFILE, re.M)[1] in STAGES


def test_the_base_is_one_image_for_ever():
    bases = re.findall(r"^ARG BASE=(\S+)$", DOCKERFILE, re.M)

    assert len(bases) == 1
    assert re.fullmatch(r"python:3\.11\.\d+-slim-trixie@sha256:[0-9a-f]{64}", bases[0])


@pytest.mark.parametrize("process", STAGES)
def test_an_image_runs_a_module_that_there_is(process):
    command = json.loads(re.search(r"^ENTRYPOINT (\[.*\])$", STAGES[process], re.M)[1])

    assert command[:2] == ["python", "-m"]
    assert importlib.util.find_spec(f"{command[2]}.__main__")
    assert command[2].partition(".")[0] in PACKED


def test_images_of_processes_that_embed_hold_the_model_and_no_others():
    embedding = {
        process for process, stage in STAGES.items() if "COPY --from=model /opt/model /opt/model" in stage
    }

    assert embedding == {"retrieval", "embedded", "cli"}
    assert all("ENV CLAUSEGATE_MODEL_DIR=/opt/model" in STAGES[process] for process in embedding)


def test_images_of_processes_that_count_tokens_hold_the_encodings_and_no_others():
    counting = {
        process
        for process, stage in STAGES.items()
        if "COPY --from=model /opt/encodings /opt/encodings" in stage
    }

    assert counting == {"retrieval", "answer", "embedded", "cli"}
    assert all("TIKTOKEN_CACHE_DIR=/opt/encodings" in STAGES[process] for process in counting)


def test_the_model_is_fetched_by_the_files_that_its_stage_has_and_nothing_installed(tmp_path):
    stage = re.search(r"^FROM \S+ AS model\n(.*?)^FROM ", DOCKERFILE, re.M | re.S)[1]
    for copied in re.findall(r"^COPY (.*)$", stage, re.M):
        *files, folder = copied.split()
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copy(ROOT / file, tmp_path / folder)
    code = "import sys; sys.path.insert(0, sys.argv[1]); import inference.fetch"

    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, tmp_path], capture_output=True, text=True, check=False
    )

    assert run.stderr == ""


def test_the_build_sees_what_the_package_is_made_from_and_nothing_else():
    allowed = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.M)

    assert "\n*\n" in (ROOT / ".dockerignore").read_text()
    assert sorted(allowed) == sorted(["pyproject.toml", "requirements.lock", "README.md", *PACKED])


def test_the_label_gives_the_version_of_the_package():
    assert f'org.opencontainers.image.version="{PROJECT["project"]["version"]}"' in DOCKERFILE


def test_an_image_is_not_run_by_root_nor_by_a_name():
    assert re.findall(r"^USER (.*)$", DOCKERFILE, re.M) == ["10001:10001"]
