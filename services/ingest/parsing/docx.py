"""DOCX to text: the body in order, with the numbers Word shows; notes follow the paragraph that calls them.

Blocks are separated by a blank line, rows of a table by a line break. Marks of notes are left out of the text
and stand before the notes as `[1]`. Headers and footers come last, each text once. Deletions, tracked or
struck out, and hidden text are left out.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import docx
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from docx.oxml.parser import parse_xml
from lxml import etree

from corpus.documents import DocumentFormat
from services.ingest.documents import BlockKind, ExtractedDocument
from services.ingest.errors import (
    DocumentCorrupt,
    DocumentEmpty,
    DocumentEncrypted,
    DocumentFormatMismatch,
    DocumentTooLarge,
)
from services.ingest.parsing.building import TextBuilder
from services.ingest.parsing.docx_body import BodyReader
from services.ingest.parsing.docx_hidden import HiddenRuns
from services.ingest.parsing.docx_styles import Styles
from services.ingest.parsing.docx_text import paragraph_text
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.numbering import Numbering, W

MAX_ENTRIES = 10_000
"""Parts of a DOCX; a real one has a few dozen, and its images."""
_PAGE_NUMBER_ONLY = re.compile(r"(?:page|of|[\d\W_])*", re.IGNORECASE)


def parse_docx(path: Path, limits: ParsingLimits) -> ExtractedDocument:
    """Read a DOCX.

    Raises `DocumentEncrypted`, `DocumentFormatMismatch`, `DocumentCorrupt`, `DocumentTooLarge` (a zip bomb,
    before anything is unpacked) and `DocumentEmpty`.
    """
    _check_package(path, limits)
    try:
        document = docx.Document(str(path))
        builder = TextBuilder(limits.max_characters)
        hidden = _read(document, builder)
    except (OpcError, etree.LxmlError, zipfile.BadZipFile, zlib.error, OSError) as error:
        raise DocumentCorrupt("The DOCX cannot be read.", field="path") from error
    except (KeyError, ValueError, AttributeError, NotImplementedError, EOFError) as error:
        raise DocumentCorrupt("A part of the DOCX is missing or broken.", field="path") from error
    if not builder.blocks:
        raise DocumentEmpty("The file holds no text.", field="path")
    title = document.core_properties.title.strip() or None
    return ExtractedDocument(
        format=DocumentFormat.DOCX,
        title=title,
        text=builder.text,
        blocks=tuple(builder.blocks),
        hidden_characters=hidden + builder.hidden_characters,
        doubts=tuple(builder.doubts),
        reference_marks=builder.reference_marks,
    )


def _check_package(path: Path, limits: ParsingLimits) -> None:
    """Look at the ZIP's directory before anything is unpacked; unpacking stops at the sizes it declares."""
    with path.open("rb") as file:
        if file.read(4) == b"\xd0\xcf\x11\xe0":
            _refuse_ole(file.read())
    try:
        with zipfile.ZipFile(path) as package:
            entries = package.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DocumentCorrupt("The DOCX is broken or cut off.", field="path") from error
    if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > limits.max_unpacked_bytes:
        raise DocumentTooLarge(
            f"The DOCX unpacks to more than {limits.max_unpacked_bytes:,} bytes.", field="path"
        )
    if any(entry.flag_bits & 1 for entry in entries):
        raise DocumentEncrypted("The DOCX needs a password.", field="path")
    names = {entry.filename for entry in entries}
    if "[Content_Types].xml" not in names or any(name.startswith(("xl/", "ppt/")) for name in names):
        raise DocumentFormatMismatch(
            "The name says docx, the content is another kind of archive.", field="path"
        )


def _refuse_ole(content: bytes) -> None:
    if "EncryptedPackage".encode("utf-16-le") in content:
        raise DocumentEncrypted("The DOCX needs a password.", field="path")
    raise DocumentFormatMismatch(
        "The name says docx, the content is an old binary Office file.", field="path"
    )


def _read(document: Document, builder: TextBuilder) -> int:
    """Write the document's blocks; how many characters are hidden from its readers."""
    runs = HiddenRuns(document.styles.element)
    notes = _notes(document)
    margins = list(_margins(document))
    hidden = sum(map(runs.remove, [document.element.body, *notes.values(), *margins]))
    builder.known_marks = frozenset(runs.marks)
    numbering = Numbering(_numbering(document))
    styles = Styles(document.styles.element)
    BodyReader(builder, styles, numbering, notes).read(document.element.body)
    seen = {builder.text[block.span.start : block.span.end] for block in builder.blocks}
    for margin in margins:
        for paragraph in margin.iter(f"{W}p"):
            text = paragraph_text(paragraph).strip()
            if text not in seen and not _PAGE_NUMBER_ONLY.fullmatch(text):
                seen.add(text)
                builder.add(BlockKind.PARAGRAPH, text)
    return hidden


def _numbering(document: Document) -> etree._Element | None:
    for relation in document.part.rels.values():
        if relation.reltype == RELATIONSHIP_TYPE.NUMBERING:
            element: etree._Element = relation.target_part.element
            return element
    return None


def _notes(document: Document) -> dict[tuple[str, str], etree._Element]:
    """Footnotes and endnotes by kind (`footnote`, `endnote`) and id."""
    notes: dict[tuple[str, str], etree._Element] = {}
    for kind, relation_type in (
        ("footnote", RELATIONSHIP_TYPE.FOOTNOTES),
        ("endnote", RELATIONSHIP_TYPE.ENDNOTES),
    ):
        for relation in document.part.rels.values():
            if relation.reltype == relation_type and not relation.is_external:
                for note in parse_xml(relation.target_part.blob).iterfind(f"{W}{kind}"):
                    notes[kind, note.get(f"{W}id", "")] = note
    return notes


def _margins(document: Document) -> Iterator[etree._Element]:
    """Headers and footers, section by section."""
    for section in document.sections:
        for margin in (
            section.header,
            section.first_page_header,
            section.even_page_header,
            section.footer,
            section.first_page_footer,
            section.even_page_footer,
        ):
            if not margin.is_linked_to_previous:
                yield margin._element
