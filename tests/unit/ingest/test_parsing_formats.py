from __future__ import annotations

import pytest

from corpus.documents import DocumentFormat
from services.ingest.errors import DocumentEmpty, DocumentFormatMismatch
from services.ingest.parsing.formats import check_signature, format_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.pdf", DocumentFormat.PDF),
        ("a.DOCX", DocumentFormat.DOCX),
        ("a.htm", DocumentFormat.HTML),
        ("a.html", DocumentFormat.HTML),
        ("a.md", DocumentFormat.MARKDOWN),
        ("a.b.txt", DocumentFormat.TEXT),
    ],
)
def test_the_extension_names_the_format(name, expected):
    assert format_of(name) is expected


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        (DocumentFormat.PDF, b"plain text"),
        (DocumentFormat.PDF, b"PK\x03\x04"),
        (DocumentFormat.DOCX, b"%PDF-1.7"),
        (DocumentFormat.DOCX, b"<html>"),
        (DocumentFormat.HTML, b"%PDF-1.7"),
        (DocumentFormat.MARKDOWN, b"PK\x03\x04"),
        (DocumentFormat.TEXT, b"\x89PNG\r\n"),
        (DocumentFormat.TEXT, b"{\\rtf1 text}"),
    ],
)
def test_content_of_another_format_is_a_mismatch(tmp_path, expected, content):
    path = tmp_path / "file"
    path.write_bytes(content)

    with pytest.raises(DocumentFormatMismatch):
        check_signature(path, expected)


@pytest.mark.parametrize("expected", list(DocumentFormat))
def test_a_file_of_no_bytes_is_empty(tmp_path, expected):
    path = tmp_path / "file"
    path.write_bytes(b"")

    with pytest.raises(DocumentEmpty):
        check_signature(path, expected)


def test_a_pdf_may_begin_with_rubbish(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\r\nrubbish\r\n%PDF-1.4\n")

    check_signature(path, DocumentFormat.PDF)
