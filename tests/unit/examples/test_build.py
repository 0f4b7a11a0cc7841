"""The committed binary documents are what the drafts say."""

import zipfile
from pathlib import Path

import pymupdf
import pytest

from examples.build import HERE, WORKS, build

DOCX = "tarnholm/market-data-licence-agreement.docx"


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory):
    corpus = tmp_path_factory.mktemp("corpus")
    build(corpus)
    return corpus


def unpacked(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("target", [work.target for work in WORKS if work.target != DOCX])
def test_rebuilding_a_pdf_gives_the_committed_bytes(rebuilt, target):
    assert (rebuilt / target).read_bytes() == (HERE / "corpus" / target).read_bytes()


def test_rebuilding_the_docx_gives_the_committed_parts(rebuilt):
    assert unpacked(rebuilt / DOCX) == unpacked(HERE / "corpus" / DOCX)


def test_every_page_of_the_fee_schedule_has_a_ruled_table(rebuilt):
    with pymupdf.open(rebuilt / "quillhaven/market-data-fee-schedule.pdf") as pdf:
        assert all(page.find_tables().tables for page in pdf)
