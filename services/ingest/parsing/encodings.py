"""Turns the bytes of a text file into text, by what the file says, as UTF-8, or by a guess that is certain.

A wrong guess makes other words of a contract, so little is guessed: UTF-16 whose bytes can be nothing else,
and Windows-1252, in which Western texts were written before UTF-8, when every byte beyond ASCII stands where
that letter or sign can stand. Encodings of other scripts fail that, as do broken UTF-8 and Mac Roman.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from services.ingest.errors import DocumentEmpty, DocumentEncoding, DocumentFormatMismatch

WINDOWS_1252 = "windows-1252"
CONTROL_SHARE = 0.01
"""More control characters than this and the file is binary, whatever its name says."""
LEAST_UTF_16 = 8
"""Characters; fewer are not enough to be certain of UTF-16 without a byte order mark."""
LATIN_SHARE = 0.75
"""Share of characters below U+0100 in a text of UTF-16 that has no byte order mark."""

_DECLARABLE = frozenset(
    """
    iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-13
    iso8859-14 iso8859-15 iso8859-16 cp866 cp874 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    koi8-r koi8-u mac-roman mac-cyrillic gb2312 gbk gb18030 big5 big5hkscs euc_jp iso2022_jp shift_jis euc_kr
    """.split()  # noqa: SIM905 - a list would take a screen
)
"""What the WHATWG's Encoding Standard lists, in Python's names: among Python's own are some that unpack
archives, or take time quadratic in the text."""
_READ_AS_WINDOWS_1252 = frozenset({"ascii", "iso8859-1", "cp1252"})
"""By the same standard."""
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"
"""Bytes that Windows-1252 has no character for; the standard reads control characters, which nobody sees."""
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
"""Byte order marks. That of UTF-16 begins that of UTF-32, so it comes later."""
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_ASCII = bytes(range(0x80))
_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_UPPER = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜŠŒŽŸ"
_LOWER = "àáâãäåæçèéêëìíîïñòóôõöøùúûüšœžÿß"
_WITHIN_WORDS = "’–—…­·\xa0"
"""Signs that stand between letters: `Licensee’s`, `2019–2020`."""
_IMPLAUSIBLE = re.compile(
    # Words of another script, and letters of Icelandic alone, which other code pages have other letters for.
    rf"[{_UPPER}{_LOWER}]{{3}}|[ÐðÞþÝýƒˆ]"
    # A quotation mark of Mac Roman is a capital here.
    rf"|[a-z{_LOWER}][{_UPPER}]"
    # A letter of another code page is a sign here.
    rf"|(?<=[A-Za-z{_UPPER}{_LOWER}])[^\x00-\x7f{_UPPER}{_LOWER}{_WITHIN_WORDS}](?=[a-z{_LOWER}])"
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file."""

    text: str
    """Without a byte order mark at its beginning."""
    guessed: str = ""
    """The encoding, as the WHATWG names it, when the file does not say it and it is not UTF-8."""


def decode(data: bytes, declared: str = "") -> Decoded:
    """The text of a file in the encoding of its byte order mark, in the one that it declares, or in UTF-8.

    Where it declares none, UTF-16 and Windows-1252 are guessed when that is certain. Raises
    `DocumentFormatMismatch` for binary content, `DocumentEncoding` for text in another encoding and
    `DocumentEmpty` for nothing but white space.
    """
    decoded = _marked(data) or _declared(data, declared) or _in_utf_16(data) or _in_utf_8(data)
    if decoded is None and not declared:
        decoded = _in_windows_1252(data)
    if decoded is None:
        what = "nor in the encoding that it names" if declared else "and its encoding is not certain"
        raise DocumentEncoding(f"The file is {'neither' if declared else 'not'} UTF-8 {what}.", field="path")
    if len(_CONTROL.findall(decoded.text)) > CONTROL_SHARE * len(decoded.text):
        raise DocumentFormatMismatch("The file holds binary data, not text.", field="path")
    if not decoded.text.strip():
        raise DocumentEmpty("The file holds no text.", field="path")
    return decoded


def _marked(data: bytes) -> Decoded | None:
    """The text of a file with a byte order mark."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if encoding is None:
        return None
    try:
        return Decoded(data.decode(encoding))
    except UnicodeDecodeError as error:
        raise DocumentEncoding(
            f"The file begins as {encoding.upper()[:6]} does, but byte {error.start} does not fit.",
            field="path",
        ) from error


def _declared(data: bytes, declared: str) -> Decoded | None:
    """The text in the encoding that a page names, if browsers read it so."""
    try:
        encoding = codecs.lookup(declared).name if declared else ""
        if encoding in _READ_AS_WINDOWS_1252:
            return Decoded(data.translate(None, _UNDEFINED).decode("cp1252"))
        return Decoded(data.decode(encoding)) if encoding in _DECLARABLE else None
    except (LookupError, UnicodeError):
        return None


def _in_utf_16(data: bytes) -> Decoded | None:
    """The text of a file with a zero in nearly every second place; other zeros are no text at all."""
    if b"\0" not in data:
        return None
    for encoding, high in (("utf-16le", data[1::2]), ("utf-16be", data[::2])):
        count = len(data) // 2
        if count < LEAST_UTF_16 or len(data) % 2 or high.count(0) < LATIN_SHARE * count:
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return Decoded(text, encoding)
    raise DocumentFormatMismatch("The file holds binary data, not text.", field="path")


def _in_utf_8(data: bytes) -> Decoded | None:
    try:
        return Decoded(data.decode())
    except UnicodeDecodeError:
        return None


def _in_windows_1252(data: bytes) -> Decoded | None:
    if 2 * len(b"".join(_UTF_8.findall(data))) > len(data.translate(None, _ASCII)):
        return None  # UTF-8 that is broken in places.
    try:
        text = data.decode(WINDOWS_1252)
    except UnicodeDecodeError:
        return None
    return None if _IMPLAUSIBLE.search(text) or _CONTROL.search(text) else Decoded(text, WINDOWS_1252)
