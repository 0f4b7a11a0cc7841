from __future__ import annotations

import pytest

from chassis.errors import InvalidInput
from services.ingest.addresses import DocumentAddress
from services.ingest.errors import DocumentFormatUnsupported


def test_an_address_names_its_document_and_file():
    address = DocumentAddress("cme", "terms/2025/Fee Schedule.PDF")

    assert address.document_id == "cme/terms/2025/Fee Schedule.PDF"
    assert address.file_name == "Fee Schedule.PDF"


@pytest.mark.parametrize("source", ["", "CME", "-cme", "a b", "a/b", "x" * 65, "cmé", "cme\n"])
def test_a_malformed_source_is_refused(source):
    with pytest.raises(InvalidInput) as refused:
        DocumentAddress(source, "a.txt")

    assert refused.value.field == "source"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a.txt",
        "a.txt/",
        "a//b.txt",
        "./a.txt",
        "a/../b.txt",
        "a\x00.txt",
        "a\u0085.txt",
        "é" * 512 + ".txt",
    ],
)
def test_a_malformed_path_is_refused(path):
    with pytest.raises(InvalidInput) as refused:
        DocumentAddress("cme", path)

    assert refused.value.field == "path"


@pytest.mark.parametrize("path", ["a.xlsx", "a", "a.doc", "pdf", "a.pdf.exe"])
def test_an_extension_that_nobody_reads_is_unsupported(path):
    with pytest.raises(DocumentFormatUnsupported):
        DocumentAddress("cme", path)
