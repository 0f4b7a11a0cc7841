"""Which files of hints are taken, and what is said of the others."""

from __future__ import annotations

import re

import pytest

from chassis.errors import InvalidInput
from services.answer.category_hints import HintsBroken, hints_for, load_hints


def test_the_packaged_file_has_social_services_and_licence_topics():
    assert {"FOOD_BANK", "SHELTER", "MARKET_DATA_FEES", "REDISTRIBUTION", "NON_DISPLAY"} <= set(
        load_hints(None)
    )


def test_a_file_of_ones_own_replaces_the_packaged_one(tmp_path):
    file = tmp_path / "hints.toml"
    file.write_text('TAXES = [" withholding tax ", "value added tax"]\n')
    assert load_hints(file) == {"TAXES": ("withholding tax", "value added tax")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("TAXES = [", "is not TOML in UTF-8"),
        ("TAXES = 'all'", "`TAXES` must be a list of hints"),
        ("TAXES = []", "`TAXES` must be a list of hints"),
        ("[TAXES]\nhints = ['a']", "`TAXES` must be a list of hints"),
        ("taxes = ['a']", "the name `taxes` must be capitals"),
        ("'TWO WORDS' = ['a']", "the name `TWO WORDS` must be capitals"),
        ("TAXES = ['a', 3]", "`TAXES`, hint 2: must be one line"),
        ("TAXES = [' ']", "`TAXES`, hint 1: must be one line"),
        ("TAXES = ['''a\nb''']", "`TAXES`, hint 1: must be one line"),
        (f"TAXES = ['{'x' * 201}']", "`TAXES`, hint 1: must be one line"),
    ],
)
def test_a_broken_file_is_an_error_that_names_file_and_entry(tmp_path, text, said):
    file = tmp_path / "hints.toml"
    file.write_text(text)
    with pytest.raises(HintsBroken, match=re.escape(said)) as raised:
        load_hints(file)
    assert str(file) in str(raised.value)


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path):
    with pytest.raises(HintsBroken, match=r"none\.toml cannot be read"):
        load_hints(tmp_path / "none.toml")


def test_bytes_that_are_no_text_are_an_error(tmp_path):
    file = tmp_path / "hints.toml"
    file.write_bytes(b"TAXES = ['\xff']")
    with pytest.raises(HintsBroken, match="is not TOML in UTF-8"):
        load_hints(file)


def test_an_unknown_category_is_refused_with_the_known_ones():
    with pytest.raises(InvalidInput, match=r"Known are: A, B\.") as raised:
        hints_for("C", {"A": ("a",), "B": ("b",)})
    assert raised.value.field == "category"


def test_no_category_means_no_hints():
    assert hints_for("", {"A": ("a",)}) == ()
