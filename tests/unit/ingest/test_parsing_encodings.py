import codecs

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from services.ingest import chunking
from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.errors import DocumentEncoding, DocumentFormatMismatch
from services.ingest.parsing.encodings import decode
from services.ingest.parsing.formats import format_of, parse
from services.ingest.parsing.limits import ParsingLimits

CLAUSE = "The Licensee’s fee is £50 – or €60 – for “Café” data.\r\nIt is due under § 4.\n"
UNMARKED = {"utf-8": "", "utf-16le": "utf-16le", "utf-16be": "utf-16be", "windows-1252": "windows-1252"}


def marked(text: str, mark: bytes, encoding: str) -> bytes:
    return mark + text.encode(encoding)


@pytest.mark.parametrize(
    "content",
    [
        marked(CLAUSE, codecs.BOM_UTF8, "utf-8"),
        marked(CLAUSE, codecs.BOM_UTF16_LE, "utf-16le"),
        marked(CLAUSE, codecs.BOM_UTF16_BE, "utf-16be"),
        marked(CLAUSE, codecs.BOM_UTF32_LE, "utf-32le"),
        marked(CLAUSE, codecs.BOM_UTF32_BE, "utf-32be"),
    ],
)
def test_a_byte_order_mark_says_how_a_file_is_read(content):
    decoded = decode(content)
    assert (decoded.text, decoded.guessed) == (CLAUSE, "")


@pytest.mark.parametrize(("encoding", "guessed"), UNMARKED.items())
def test_an_encoding_that_is_certain_is_guessed_and_told(encoding, guessed):
    decoded = decode(CLAUSE.encode(encoding))
    assert (decoded.text, decoded.guessed) == (CLAUSE, guessed)


@pytest.mark.parametrize(
    "words", ["für", "S’il vous plaît, créée à Paris", "naïve", "ÜBERSICHT", "25 °C ± 1", "2019–2020"]
)
def test_western_words_are_windows_1252(words):
    assert decode(words.encode("cp1252")).text == words


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        ("Плата за данные", "cp1251"),
        ("Плата за данные", "koi8-r"),
        ("Τα τέλη οφείλονται", "cp1253"),
        ("Opłata należy się za każdą licencję", "cp1250"),
        ("Opłata należy się za każdą licencję", "iso8859-2"),
        ("Lisans ücreti yıllık olarak ödenmeğe", "cp1254"),
        ("The Licensee’s “fee”", "mac-roman"),
        ("Die Gebühr für den Zugang", "cp850"),
        ("利用料は毎月支払う", "shift_jis"),
        ("许可费应每月支付", "gbk"),
        ("许可费应每月支付", "big5hkscs"),
        ("رسوم الترخيص مستحقة", "cp1256"),
    ],
)
def test_text_of_another_code_page_is_refused(words, encoding):
    with pytest.raises(DocumentEncoding):
        decode(words.encode(encoding, "ignore"))


def test_broken_utf_8_is_refused():
    with pytest.raises(DocumentEncoding):
        decode("Die Gebühr für den Zugang zählt. “Fee”".encode() + b" \xe4 ")


@pytest.mark.parametrize("undefined", [0x81, 0x8D, 0x8F, 0x90, 0x9D])
def test_a_byte_that_windows_1252_does_not_have_is_refused(undefined):
    with pytest.raises(DocumentEncoding):
        decode(b"The fee is due " + bytes([undefined]))


@pytest.mark.parametrize(
    "content",
    [
        b"text\x00text",
        "The fee. ".encode("utf-32le") * 20,
        b"a\x00b\x00" * 20 + b"a",
        bytes(range(256)) * 4,
        b"\x00\x01" * 100,
    ],
)
def test_binary_content_is_no_text(content):
    with pytest.raises(DocumentFormatMismatch):
        decode(content)


@pytest.mark.parametrize("content", [b"\xff\xfeF", b"\xff\xfe\x00\xd8a\x00", b"\xff\xfe\x00\x00abc"])
def test_a_mark_that_the_bytes_do_not_keep_is_refused(content):
    with pytest.raises(DocumentEncoding):
        decode(content)


@pytest.mark.parametrize("label", ["iso-8859-1", "ascii", "windows-1252", "latin1"])
def test_western_labels_of_pages_mean_windows_1252(label):
    decoded = decode("“Fee” für\x81 Daten".encode("cp1252", "ignore") + b"\x81", declared=label)
    assert (decoded.text, decoded.guessed) == ("“Fee” für Daten", "")


def test_what_a_page_declares_comes_before_utf_8():
    assert decode("für".encode(), declared="windows-1252").text == "fÃ¼r"


def test_a_declared_encoding_that_does_not_fit_is_not_guessed():
    with pytest.raises(DocumentEncoding):
        decode("für".encode("cp1252"), declared="utf-8")


ORIGIN = Origin("cme/a.txt", "cme", "a.txt", "g1", "a.txt")
WORDS = st.sampled_from(
    [
        "The",
        "Licensee",
        "shall",
        "pay.",
        "1. Fees",
        "(a)",
        "“Café”",
        "£5",
        "–",
        "\n",
        "\n\n",
        "\r\n",
        "# Fees",
        "é",
        "’s",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(words=st.lists(WORDS, min_size=8, max_size=60), extension=st.sampled_from(["txt", "md", "html"]))
@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16le", "utf-16be", "windows-1252"]
)
def test_a_text_has_the_same_chunks_in_every_encoding(tmp_path, encoding, words, extension):
    text = "The fee of the Licensee is due at once, and no other fee. " + " ".join(words)
    assume("é é" not in text)
    chunks = [_cut(tmp_path / f"a.{extension}", text.encode(each)) for each in ("utf-8", encoding)]
    assert chunks[0] == chunks[1]


def _cut(file, content):
    file.write_bytes(content)
    document = parse(file, format_of(file.name), ParsingLimits(), lambda done, total: None)
    return chunking.cut(document, ORIGIN, ChunkLimits())


@pytest.mark.parametrize("extension", ["txt", "md", "html"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16le"])
def test_a_byte_order_mark_within_a_file_is_no_text(tmp_path, extension, encoding):
    chunks = _cut(tmp_path / f"a.{extension}", "The fee\ufeff is due. \ufeffIt is 5.".encode(encoding))
    assert [chunk.text for chunk in chunks] == ["The fee is due. It is 5."]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_end_as_on_any_system(tmp_path, ending):
    text = ending.join(["1. Fees. The fee is due.", "", "2. Term. The term is a year.", ""])
    chunks = _cut(tmp_path / "a.txt", text.encode("utf-16"))
    found = [section.heading_chain for chunk in chunks for section in chunk.sections]
    assert found == [("1. Fees",), ("2. Term",)]
