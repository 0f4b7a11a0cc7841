"""Chooses the parser of a file by its extension, after checking that the content agrees with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from corpus.documents import DocumentFormat
from services.ingest.documents import ExtractedDocument
from services.ingest.errors import DocumentEmpty, DocumentFormatMismatch, DocumentFormatUnsupported
from services.ingest.parsing.limits import ParsingLimits

EXTENSIONS = {
    ".pdf": DocumentFormat.PDF,
    ".docx": DocumentFormat.DOCX,
    ".html": DocumentFormat.HTML,
    ".htm": DocumentFormat.HTML,
    ".md": DocumentFormat.MARKDOWN,
    ".txt": DocumentFormat.TEXT,
}

SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or an Office file"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old binary Office file, or an encrypted one"),
    (b"{\\rtf", "an RTF file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
)
"""First bytes of files, for saying what a file is instead of what its name claims."""
PDF_HEADER_WITHIN = 1024
"""Bytes; PDF readers accept the header anywhere in these."""

PARSER_VERSION = "8"
"""Goes into the generation: raise it with every change that alters extracted text, blocks or lines."""

Progress = Callable[[int, int], None]
"""Called with pages or elements done and in all."""


def format_of(name: str) -> DocumentFormat:
    """The format that a file's name announces; raises `DocumentFormatUnsupported`."""
    extension = Path(name).suffix.lower()
    if extension not in EXTENSIONS:
        known = ", ".join(EXTENSIONS)
        raise DocumentFormatUnsupported(f"`{extension or name}` is none of {known}.", field="path")
    return EXTENSIONS[extension]


def check_signature(path: Path, expected: DocumentFormat) -> None:
    """Raise `DocumentFormatMismatch` when the first bytes are another format's, `DocumentEmpty` for none."""
    with path.open("rb") as file:
        head = file.read(PDF_HEADER_WITHIN)
    if not head:
        raise DocumentEmpty("The file has 0 bytes.", field="path")
    is_expected = {
        DocumentFormat.PDF: b"%PDF-" in head,
        DocumentFormat.DOCX: head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")),
    }.get(expected)
    found = next((name for start, name in SIGNATURES if head.startswith(start)), None)
    if is_expected is False or (is_expected is None and found is not None):
        raise DocumentFormatMismatch(
            f"The name says {expected.value}, the content is {found or 'something else'}.", field="path"
        )


def parse(
    path: Path, expected: DocumentFormat, limits: ParsingLimits, progress: Progress
) -> ExtractedDocument:
    """Read a file; raises the errors of `READING_ERRORS` that fit its format.

    Parsers are imported when needed: a process that reads text only never loads MuPDF.
    """
    check_signature(path, expected)
    if expected is DocumentFormat.PDF:
        from services.ingest.parsing.pdf import parse_pdf

        return parse_pdf(path, limits, progress)
    if expected is DocumentFormat.DOCX:
        from services.ingest.parsing.docx import parse_docx

        return parse_docx(path, limits)
    if expected is DocumentFormat.HTML:
        from services.ingest.parsing.html import parse_html

        return parse_html(path, limits)
    if expected is DocumentFormat.MARKDOWN:
        from services.ingest.parsing.markdown import parse_markdown

        return parse_markdown(path, limits)
    from services.ingest.parsing.text import parse_text

    return parse_text(path, limits)
