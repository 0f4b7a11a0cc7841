from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.citations import Certificate, Citation, Highlight, MatchLevel, QuoteBox, QuotePart
from corpus.spans import Span
from services.answer.verification.signing import (
    DOMAIN,
    SignatureState,
    Signer,
    SigningKey,
    SigningKeysBroken,
    canonical,
    read_keys,
)

WORDS = "The fee is USD 120.\n"
QUOTE = f"The Licensee shall not pay unless: … {WORDS}"
CITATION = Citation(
    number=1,
    document="cme/licence.pdf",
    source="cme",
    title="Licence “A”",
    section="2. Fees",
    page=2,
    last_page=2,
    quote=QUOTE,
    span=Span(100, 120),
    chunk_id="7c9e6679-7425-40de-944b-e07fc1f90ae7",
    chunk_alias="cme__licence.pdf_1",
    match_level=MatchLevel.EXACT,
    certificate=Certificate(
        document_sha256="a" * 64,
        quote_sha256=hashlib.sha256(QUOTE.encode()).hexdigest(),
        generation="g1",
        model="extractive",
        prompt_version="",
        prompt_sha256="",
        config_sha256="c" * 64,
    ),
    parts=(
        QuotePart(Span(40, 74), "The Licensee shall not pay unless:", 1, 1),
        QuotePart(Span(100, 120), WORDS, 2, 2),
    ),
    document_label="Licence “A” · CME · 1 July 2020",
)
OLD, NEW = SigningKey("k-2025", bytes(range(32))), SigningKey("k-2026", bytes(range(1, 33)))


def keys_of(folder: Path, text: str | bytes) -> tuple[SigningKey, ...]:
    path = folder / "keys"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_keys(path)


def test_a_signed_citation_is_valid_under_any_number():
    signer = Signer((OLD,))
    signed = signer.sign(CITATION)
    assert signed.certificate.key_id == "k-2025"
    assert signer.check(signed) is SignatureState.VALID
    assert signer.check(dataclasses.replace(signed, number=7)) is SignatureState.VALID


def test_the_first_key_signs_and_all_keys_check():
    rotated = Signer((NEW, OLD))
    assert rotated.sign(CITATION).certificate.key_id == "k-2026"
    assert rotated.check(Signer((OLD,)).sign(CITATION)) is SignatureState.VALID


def test_a_key_that_is_gone_or_another_under_its_name_makes_a_signature_invalid():
    signed = Signer((OLD,)).sign(CITATION)
    assert Signer((NEW,)).check(signed) is SignatureState.INVALID
    assert Signer((SigningKey("k-2025", NEW.secret),)).check(signed) is SignatureState.INVALID


def test_without_keys_nothing_is_signed():
    assert Signer().sign(CITATION) == CITATION
    assert Signer().check(CITATION) is SignatureState.UNSIGNED


def test_a_signature_that_was_taken_off_leaves_its_key_behind_and_is_invalid():
    signed = Signer((OLD,)).sign(CITATION)
    bare = dataclasses.replace(signed.certificate, signature=b"")
    assert Signer((OLD,)).check(dataclasses.replace(signed, certificate=bare)) is SignatureState.INVALID


def test_what_is_signed_is_sorted_json_without_number_signature_and_absent_fields():
    told = json.loads(canonical(dataclasses.replace(CITATION, page=None)))
    assert list(told) == sorted(told)
    assert not {"number", "page"} & told.keys()
    assert "signature" not in told["certificate"]
    assert told["matchLevel"] == "MATCH_LEVEL_EXACT"
    assert told["span"] == {"end": 120, "start": 100}


def test_the_parts_of_a_quote_are_signed():
    parts = (QuotePart(Span(0, 4), "Not:", 1, 1), QuotePart(Span(9, 11), "it"))
    signed = Signer((OLD,)).sign(dataclasses.replace(CITATION, parts=parts))
    told = json.loads(canonical(signed))["parts"]
    assert told == [
        {"lastPage": 1, "page": 1, "span": {"end": 4, "start": 0}, "text": "Not:"},
        {"span": {"end": 11, "start": 9}, "text": "it"},
    ]
    for changed in ((), parts[1:], parts[::-1], (parts[0], dataclasses.replace(parts[1], span=Span(9, 12)))):
        assert Signer((OLD,)).check(dataclasses.replace(signed, parts=changed)) is SignatureState.INVALID


def test_the_boxes_of_a_quote_are_signed_with_whole_points_as_whole_numbers():
    boxes = (QuoteBox(2, 72.0, 100.5, 540.1, 112.0), QuoteBox(3, 0.0, 72.3, 90.0, 84.9))
    signed = Signer((OLD,)).sign(dataclasses.replace(CITATION, boxes=boxes))
    told = re.search(r'"boxes":(\[.*?\])', canonical(signed).decode())[1]
    assert told == (
        '[{"bottom":112,"left":72,"page":2,"right":540.1,"top":100.5},'
        '{"bottom":84.9,"left":0,"page":3,"right":90,"top":72.3}]'
    )
    assert Signer((OLD,)).check(signed) is SignatureState.VALID
    for changed in ((), boxes[1:], boxes[::-1], (dataclasses.replace(boxes[0], top=100.4), boxes[1])):
        assert Signer((OLD,)).check(dataclasses.replace(signed, boxes=changed)) is SignatureState.INVALID


def test_a_citation_that_was_signed_before_it_had_parts_stays_valid():
    signature = "54451e3160ef3ea10f0e75481231d7c0b72a2a50a12c1e3c9f4a5949d3db8d69"
    certificate = dataclasses.replace(
        CITATION.certificate,
        quote_sha256=hashlib.sha256(WORDS.encode()).hexdigest(),
        key_id="example-1",
        signature=bytes.fromhex(signature),
    )
    signer = Signer((SigningKey("example-1", bytes(range(32))),))
    old = dataclasses.replace(CITATION, quote=WORDS, parts=(), document_label="", certificate=certificate)
    assert signer.check(old) is SignatureState.VALID


def test_a_citation_that_was_signed_before_documents_had_labels_stays_valid():
    signature = "c27d930dc91931d26956a5c41aecd9d53d3b5dc702c5e021c6fc89522a7f9656"
    certificate = dataclasses.replace(
        CITATION.certificate, key_id="example-1", signature=bytes.fromhex(signature)
    )
    signer = Signer((SigningKey("example-1", bytes(range(32))),))
    old = dataclasses.replace(CITATION, document_label="", certificate=certificate)
    assert signer.check(old) is SignatureState.VALID
    assert signer.check(dataclasses.replace(old, document_label="Lease")) is SignatureState.INVALID


@given(st.text(), st.text(), st.text(), st.text())
def test_no_text_can_move_from_one_field_to_the_next(title, section, other_title, other_section):
    one = dataclasses.replace(CITATION, title=title, section=section)
    other = dataclasses.replace(CITATION, title=other_title, section=other_section)
    assert (canonical(one) == canonical(other)) == ((title, section) == (other_title, other_section))


def test_the_documented_example_is_what_is_signed():
    page = Path("docs/certificates.md").read_text("utf-8")
    key, signed, signature = re.findall(r"```text\n(.*?)\n```", page, re.DOTALL)
    key_id, _, secret = key.partition(":")
    ours = Signer((SigningKey(key_id, bytes.fromhex(secret)),)).sign(CITATION)
    assert canonical(ours).decode() == signed
    assert ours.certificate.signature.hex() == signature
    assert hmac.digest(bytes.fromhex(secret), DOMAIN + signed.encode(), "sha256").hex() == signature


def test_a_file_of_keys_may_hold_comments_and_blank_lines(tmp_path):
    text = f"# since May\n\n  k.1:{'0F' * 32}  \nk_2:{'00' * 32}\n"
    assert keys_of(tmp_path, text) == (SigningKey("k.1", b"\x0f" * 32), SigningKey("k_2", bytes(32)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no key in it"),
        ("# only a comment\n", "no key in it"),
        (f"\n{'ab' * 32}\n", "line 2: expected"),
        (f"k:{'ab' * 31}\n", "line 1: expected"),
        (f"k:{'xy' * 32}\n", "line 1: expected"),
        (f"-k:{'ab' * 32}\n", "line 1: expected"),
        (f"{'k' * 65}:{'ab' * 32}\n", "line 1: expected"),
        (f"k:{'ab' * 32} # mine\n", "line 1: expected"),
        (f"k:{'ab' * 32}\nk:{'cd' * 32}\n", "line 2: the id k is taken"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_broken_file_of_keys_names_file_and_line_and_shows_no_key(tmp_path, text, told):
    with pytest.raises(SigningKeysBroken) as caught:
        keys_of(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'keys'}")
    assert told in str(caught.value)
    assert "abab" not in str(caught.value)


def test_a_missing_file_of_keys_is_named(tmp_path):
    with pytest.raises(SigningKeysBroken, match=r"none: No such file"):
        read_keys(tmp_path / "none")


def test_a_key_is_not_shown_when_printed():
    assert "000102" not in repr(OLD)
    assert "\\x01" not in repr(OLD)


def test_highlights_are_signed_and_a_citation_that_was_signed_without_them_stays_valid():
    signer = Signer((SigningKey("example-1", bytes(range(32))),))
    old = signer.sign(CITATION)
    assert b"highlights" not in canonical(old)
    assert signer.check(old) is SignatureState.VALID
    marked = (Highlight(0, 3),)
    assert signer.check(dataclasses.replace(old, highlights=marked)) is SignatureState.INVALID
    assert signer.check(signer.sign(dataclasses.replace(CITATION, highlights=marked))) is SignatureState.VALID
