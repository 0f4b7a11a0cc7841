from cli.asking import plain


def test_escapes_of_markdown_are_dropped_in_a_pipe():
    assert (
        plain(r"- \[CME\] Fee \*per device\*: a \| b \\ c\_d [1]" + "\n")
        == r"- [CME] Fee *per device*: a | b \ c_d [1]"
    )


def test_a_backslash_before_a_letter_stays():
    assert plain(r"C:\fees") == r"C:\fees"
