import pytest

from chassis.names import is_one_line


@pytest.mark.parametrize("name", ["fees 2026.pdf", "Gebühren – März.pdf", "料金.pdf", "نامه\u200cها.pdf", ""])
def test_what_people_call_their_files_is_one_line(name):
    assert is_one_line(name)


@pytest.mark.parametrize("code", [0x0, 0x9, 0xA, 0xB, 0xC, 0xD, 0x1C, 0x1E, 0x7F, 0x85, 0x9B, 0x2028, 0x2029])
def test_what_ends_a_line_somewhere_or_steers_a_terminal_is_none(code):
    assert not is_one_line(f"fees{chr(code)}.pdf")


@pytest.mark.parametrize("code", [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
def test_what_turns_round_the_order_of_words_is_none(code):
    assert not is_one_line(f"fees{chr(code)}fdp.exe")


def test_half_a_pair_is_none():
    assert not is_one_line("fees\ud800.pdf")
