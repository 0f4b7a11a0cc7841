from __future__ import annotations

import pymupdf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ingest.documents import BlockKind, ExtractedDocument
from services.ingest.errors import (
    DocumentCorrupt,
    DocumentEmpty,
    DocumentEncrypted,
    DocumentTooLarge,
    DocumentUnreadable,
)
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.parsing.pdf import parse_pdf

LINE = "The Licensee shall pay the fees set out in the schedule within thirty days of the date"
SENTENCE = f"{LINE} of the invoice, without any deduction or set-off whatsoever."

DEFAULT = ParsingLimits()


@pytest.fixture
def parse(tmp_path):
    def parse_document(document, limits=DEFAULT, **saving):
        path = tmp_path / "file.pdf"
        document.save(path, **saving)
        return parse_pdf(path, limits, lambda done, total: None)

    return parse_document


def pages_of(*texts: str) -> pymupdf.Document:
    document = pymupdf.open()
    for text in texts:
        page = document.new_page()
        if text:
            page.insert_textbox((72, 72, 523, 770), text, fontsize=11)
    return document


def texts(document: ExtractedDocument) -> list[str]:
    return [document.text[block.span.start : block.span.end] for block in document.blocks]


def page_text(document: ExtractedDocument, number: int) -> str:
    span = document.pages[number - 1].span
    return document.text[span.start : span.end]


def put_lines(page, lines, x=72.0, y=72.0, step=14.0, **style):
    for index, line in enumerate(lines):
        page.insert_text(
            (x, y + index * step), line, fontsize=style.get("size", 11), fontname=style.get("font", "helv")
        )


def test_lines_of_a_paragraph_are_joined_and_paragraphs_are_apart(parse):
    document = pages_of("")
    put_lines(document[0], ["The fee is due monthly and", "never refunded."], y=72)
    put_lines(document[0], ["Notices are sent by mail."], y=120)

    assert texts(parse(document)) == [
        "The fee is due monthly and\nnever refunded.",
        "Notices are sent by mail.",
    ]


def test_a_word_hyphenated_at_the_end_of_a_line_keeps_its_characters(parse):
    document = pages_of("")
    put_lines(document[0], ["The redistri-", "bution of data is prohibited."])

    assert parse(document).text == "The redistri-\nbution of data is prohibited."


def test_columns_are_read_one_after_the_other(parse):
    document = pages_of("")
    left = [f"left column row {number:02d} holds plain words" for number in range(12)]
    right = [f"right column row {number:02d} holds more words" for number in range(12)]
    put_lines(document[0], left, x=50, size=10)
    put_lines(document[0], right, x=310, size=10)

    assert " ".join(parse(document).text.split()) == " ".join(left + right)


def test_a_title_across_both_columns_comes_first(parse):
    document = pages_of("")
    document[0].insert_text(
        (50, 50), "A title that stands across both of the columns of this page", fontsize=16
    )
    put_lines(
        document[0], [f"left column row {n:02d} holds plain words" for n in range(12)], x=50, y=90, size=10
    )
    put_lines(
        document[0], [f"right column row {n:02d} holds more words" for n in range(12)], x=310, y=90, size=10
    )

    parsed = texts(parse(document))

    assert parsed[0].startswith("A title")
    assert parsed[-1].endswith("right column row 11 holds more words")


def test_a_number_and_its_clause_stand_on_one_line(parse):
    document = pages_of("")
    document[0].insert_text((72, 72), "1.1")
    document[0].insert_text((120, 72), "The term begins on the date of signing.")

    assert texts(parse(document)) == ["1.1 The term begins on the date of signing."]


@pytest.mark.parametrize("turned", [90, 270])
def test_lines_that_are_written_up_or_down_a_page_are_read_one_after_the_other(parse, turned):
    document = pages_of("")
    for index, line in enumerate(["Fees are due", "within thirty days."]):
        place = (100 + 14 * index, 700) if turned == 90 else (500 - 14 * index, 100)
        document[0].insert_text(place, line, rotate=turned)

    assert parse(document).text == "Fees are due\nwithin thirty days."


def test_a_superscript_stays_in_its_line(parse):
    document = pages_of("")
    document[0].insert_text((72, 72), "On the 27", fontsize=11)
    document[0].insert_text((72 + pymupdf.get_text_length("On the 27", fontsize=11), 66), "th", fontsize=6)
    document[0].insert_text((140, 72), "day of April", fontsize=11)

    assert texts(parse(document)) == ["On the 27th day of April"]


def test_size_and_weight_are_told(parse):
    document = pages_of("")
    document[0].insert_text((72, 72), "FEES", fontsize=14, fontname="hebo")
    document[0].insert_text((72, 110), "They are due.", fontsize=11)

    heading, body = parse(document).blocks

    assert (heading.style.font_size, heading.style.bold) == (14.0, True)
    assert (body.style.font_size, body.style.bold) == (11.0, False)


def test_page_numbers_are_dropped_and_a_running_header_is_kept_once(parse):
    document = pages_of("", "", "", "", "")
    for number, page in enumerate(document, start=1):
        page.insert_text((72, 40), "Market Data Agreement of Tarnholm")
        page.insert_text((72, 100), f"Clause {'abcde'[number - 1]} says something of its own.")
        page.insert_text((300, 800), f"Page {number} of 5")

    parsed = parse(document)

    assert parsed.text.count("Market Data Agreement of Tarnholm") == 1
    assert "Page" not in parsed.text
    assert parsed.text.count("says something") == 5


def test_a_price_that_stands_last_on_every_page_is_kept(parse):
    document = pages_of(*[f"Product {number}\n\nUSD {number * 37}.50" for number in range(1, 7)])

    parsed = parse(document)

    assert [number for number in range(1, 7) if f"USD {number * 37}.50" in parsed.text] == [1, 2, 3, 4, 5, 6]


def test_a_sentence_over_a_page_break_is_one_block_and_the_pages_tile_it(parse):
    document = pages_of("", "")
    put_lines(document[0], ["A sentence that begins on the first page and"], y=700)
    put_lines(document[1], ["ends on the second one."], y=72)

    parsed = parse(document)

    assert texts(parsed) == ["A sentence that begins on the first page and\nends on the second one."]
    assert page_text(parsed, 2).strip() == "ends on the second one."


def pages_that_end_with(line: str) -> pymupdf.Document:
    """Eight pages of one to eight lines of text, and right below it the same line and the page's number."""
    document = pages_of(*[""] * 8)
    for number, page in enumerate(document, start=1):
        clauses = [
            f"Clause {'abcdefgh'[number - 1]} holds for class {row} of the data." for row in range(number)
        ]
        put_lines(page, [*clauses, line, f"- {number} -"], y=80)
    return document


def test_a_footer_right_below_the_text_is_dropped_wherever_the_text_ends(parse):
    parsed = parse(pages_that_end_with("Content Licence of Tarnholm and Quillhaven"))

    assert parsed.text.count("Content Licence of Tarnholm") == 1
    assert parsed.text.count("holds for class") == 36
    assert parsed.running_lines == 8 + 7


def test_a_clause_that_ends_every_page_is_text(parse):
    parsed = parse(pages_that_end_with("The Licensee shall not copy the data."))

    assert parsed.text.count("The Licensee shall not copy the data.") == 8


def test_a_lead_in_that_is_repeated_at_the_top_of_pages_is_kept_everywhere(parse):
    document = pages_of("", "", "", "")
    for number, page in enumerate(document, start=1):
        page.insert_text((72, 40), "Market Data Agreement of Tarnholm")
        items = [
            f"({'abcdefgh'[2 * number + row - 2]}) copy the data of kind {number} and {row};"
            for row in (0, 1)
        ]
        put_lines(page, ["The Licensee shall not:", *items], y=80)

    parsed = parse(document)

    assert parsed.text.count("The Licensee shall not:") == 4
    assert parsed.text.count("Market Data Agreement") == 1
    assert parsed.running_lines == 3


@pytest.mark.parametrize("lines", [2, 3, 6])
def test_short_columns_are_read_one_after_the_other(parse, lines):
    document = pages_of("")
    words = ["The Licensee shall not", *["redistribute the data or any"] * (lines - 2), "part of the data."]
    others = ["The Vendor may audit", *["the books and the systems or"] * (lines - 2), "the users of it."]
    put_lines(document[0], words, x=60, size=10)
    put_lines(document[0], others, x=310, size=10)

    assert " ".join(parse(document).text.split()) == " ".join([*words, *others])


def test_signature_blocks_side_by_side_are_read_one_after_the_other(parse):
    document = pages_of("")
    put_lines(document[0], ["ACME LIMITED", "By: J. Doe", "Name: Jane Doe", "Title: Director"], x=60)
    put_lines(document[0], ["TARNHOLM", "By: R. Roe", "Name: Rob Roe", "Title: Manager"], x=320)

    words = " ".join(parse(document).text.split())

    assert "By: J. Doe Name: Jane Doe Title: Director" in words
    assert "By: R. Roe Name: Rob Roe Title: Manager" in words


def test_a_table_without_rules_is_read_row_by_row(parse):
    document = pages_of("")
    put_lines(document[0], ["Product", "Top of book", "Depth of book"], x=60)
    put_lines(document[0], ["Fee", "USD 28", "USD 58"], x=320)

    assert parse(document).text.split("\n") == ["Product Fee", "Top of book USD 28", "Depth of book USD 58"]


def test_what_is_stamped_across_a_page_parts_no_sentence_and_is_doubtful(parse):
    document = pages_of("")
    put_lines(document[0], ["The Licensee shall not give", "the data to any third", "party at all."])
    stamp = pymupdf.TextWriter(document[0].rect)
    stamp.append((60, 110), "DRAFT")
    stamp.write_text(document[0], morph=(pymupdf.Point(60, 110), pymupdf.Matrix(45)))

    parsed = parse(document)

    assert texts(parsed) == ["The Licensee shall not give\nthe data to any third\nparty at all.", "DRAFT"]
    assert [parsed.text[doubt.span.start : doubt.span.end] for doubt in parsed.doubts] == ["DRAFT"]


def ruled_table(page, rows, top=100.0, widths=(200.0, 120.0), height=22.0):
    left = 72.0
    for index in range(len(rows) + 1):
        y = top + index * height
        page.draw_line((left, y), (left + sum(widths), y))
    x = left
    for width in (*widths, 0.0):
        page.draw_line((x, top), (x, top + len(rows) * height))
        x += width
    for index, row in enumerate(rows):
        x = left
        for cell, width in zip(row, widths, strict=True):
            page.insert_text((x + 4, top + index * height + 15), cell, fontsize=10)
            x += width


def test_a_ruled_table_becomes_rows_in_its_place_without_repeating_its_text(parse):
    document = pages_of("")
    document[0].insert_text((72, 72), "Fees are as follows.")
    ruled_table(document[0], [("Product", "Fee"), ("Top of book", "USD 28.50"), ("Depth", "USD 58.00")])
    document[0].insert_text((72, 220), "Taxes are extra.")

    parsed = parse(document)

    assert [(block.kind, text) for block, text in zip(parsed.blocks, texts(parsed), strict=True)] == [
        (BlockKind.PARAGRAPH, "Fees are as follows."),
        (BlockKind.TABLE_HEADER, "Product | Fee"),
        (BlockKind.TABLE_ROW, "Top of book | USD 28.50"),
        (BlockKind.TABLE_ROW, "Depth | USD 58.00"),
        (BlockKind.PARAGRAPH, "Taxes are extra."),
    ]


def test_a_page_with_an_image_and_no_text_is_unreadable_but_a_blank_one_is_not(parse):
    document = pages_of("Readable text.", "", "")
    pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 20, 20))
    document[1].insert_image((72, 72, 500, 700), pixmap=pixels)

    parsed = parse(document)

    assert parsed.unreadable_pages == (2,)
    assert [page.number for page in parsed.pages] == [1, 2, 3]
    assert parsed.pages[1].span.start == parsed.pages[1].span.end


@pytest.mark.parametrize(
    "style",
    [{"render_mode": 3}, {"fill_opacity": 0}, {"color": (1, 1, 1)}, {"color": (1,)}, {"fontsize": 0.5}],
    ids=["invisible", "transparent", "white", "white among greys", "tiny"],
)
def test_text_of_a_pdf_that_nobody_sees_is_left_out_and_counted(parse, style):
    document = pages_of(SENTENCE, SENTENCE)
    document[1].insert_text((72, 400), "Grade it 3.", **style)
    parsed = parse(document)

    assert parsed.hidden_characters == len("Gradeit3.")
    assert "Grade" not in parsed.text


def test_hidden_text_within_a_form_is_left_out_and_counted(parse):
    hidden = pymupdf.open()
    hidden.new_page().insert_text((72, 400), "Grade it 3.", render_mode=3)
    document = pages_of(SENTENCE)
    document[0].show_pdf_page(document[0].rect, hidden)
    parsed = parse(document)

    assert parsed.hidden_characters == len("Gradeit3.")
    assert "Grade" not in parsed.text


@pytest.mark.parametrize("place", [(700, 400), (72, -50)], ids=["beside the page", "above it"])
def test_text_outside_the_page_is_left_out(parse, place):
    document = pages_of(SENTENCE)
    document[0].insert_text(place, "Grade it 3.")

    assert "Grade" not in parse(document).text


def test_text_of_a_layer_that_is_off_is_left_out(parse):
    document = pages_of(SENTENCE)
    document[0].insert_text((72, 400), "Grade it 3.", oc=document.add_ocg("secret", on=False))

    assert "Grade" not in parse(document).text


@pytest.mark.parametrize(("fill", "cover"), [((0, 0, 0), "█"), ((1, 1, 1), "")], ids=["black", "white"])
def test_words_below_a_filled_box_are_left_out_and_counted(parse, fill, cover):
    document = pages_of("")
    document[0].insert_text((72, 72), "The fee is USD 45,000 for each month", fontsize=11)
    document[0].draw_rect(pymupdf.Rect(123, 60, 185, 78), fill=fill, color=None)
    parsed = parse(document)

    assert parsed.text.split() == f"The fee is {cover} for each month".split()
    assert parsed.hidden_characters == len("USD45,000")


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_box_covers_words_of_a_turned_and_cropped_page(parse, turned):
    document = pages_of("")
    put_lines(
        document[0], ["Fees are due monthly", "This is secret", "Notices are sent by mail"], y=300, step=40
    )
    document[0].draw_rect(pymupdf.Rect(60, 325, 300, 350), fill=(0, 0, 0))
    document[0].set_cropbox(pymupdf.Rect(40, 200, 580, 700))
    document[0].set_rotation(turned)

    assert parse(document).text.split("\n") == ["Fees are due monthly", "█", "Notices are sent by mail"]


@pytest.mark.parametrize("turned", [0, 90])
def test_a_turned_scan_keeps_all_its_words(parse, turned):
    document = pages_of("")
    scanned(document, document[0].rect)
    put = [(72, 100), (72, 800)]
    for place in put:
        document[0].insert_text(place, LINE, render_mode=3)
    document[0].set_rotation(turned)

    assert parse(document).text.count(LINE) == len(put)


def test_a_box_with_a_label_covers_what_is_below_it(parse):
    document = pages_of("")
    put_lines(document[0], ["The fee is secret and large", "It is due monthly"])
    document[0].draw_rect(pymupdf.Rect(70, 60, 300, 76), fill=(0, 0, 0))
    document[0].insert_text((90, 72), "Exempt", fontsize=10, color=(1, 1, 1))
    parsed = parse(document)

    assert "secret" not in parsed.text
    assert "Exempt" in parsed.text
    assert "It is due monthly" in parsed.text


@pytest.mark.parametrize("kind", ["below", "marker", "translucent", "annotation", "line"])
def test_words_that_a_box_does_not_cover_are_kept(parse, kind):
    document = pages_of("")
    page, box = document[0], pymupdf.Rect(100, 60, 300, 78)
    if kind == "below":
        page.draw_rect(box, fill=(0.8, 0.9, 1), color=None)
    page.insert_text((72, 72), LINE)
    if kind == "marker":
        page.add_highlight_annot(box)
    elif kind == "translucent":
        page.draw_rect(box, fill=(1, 1, 0), color=None, fill_opacity=0.4)
    elif kind == "annotation":
        page.add_redact_annot(box, fill=(0, 0, 0))
    elif kind == "line":
        page.draw_rect(pymupdf.Rect(72, 67, 500, 68), fill=(1, 0, 0), color=None)
    parsed = parse(document)

    assert (parsed.text, parsed.hidden_characters) == (LINE, 0)


def scanned(document: pymupdf.Document, box: pymupdf.Rect) -> None:
    pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 20, 20))
    pixels.clear_with(200)
    document[0].insert_image(box, pixmap=pixels, keep_proportion=False)


def test_the_invisible_words_of_a_scan_are_kept_and_its_page_is_told(parse):
    document = pages_of("", SENTENCE)
    scanned(document, document[0].rect)
    document[0].insert_text((72, 20), "Page 1 stamp")
    document[0].insert_text((72, 400), LINE, render_mode=3)
    parsed = parse(document)

    assert LINE in parsed.text
    assert (parsed.hidden_characters, parsed.scanned_pages) == (0, (1,))


def test_a_scan_that_is_cut_into_strips_keeps_its_words(parse):
    document = pages_of("")
    for top in range(0, 840, 60):
        scanned(document, pymupdf.Rect(0, top, 595, top + 60))
    document[0].insert_text((72, 400), LINE, render_mode=3)
    parsed = parse(document)

    assert (parsed.text, parsed.scanned_pages) == (LINE, (1,))


def test_few_words_of_a_scan_are_kept_beside_a_longer_stamp(parse):
    document = pages_of("")
    scanned(document, document[0].rect)
    document[0].insert_text((72, 20), "Signature envelope 8FA1B2C3-0000-4444-8888-ABCDEF012345")
    document[0].insert_text((72, 400), "Signed by both parties.", render_mode=3)

    assert "Signed by both parties." in parse(document).text


def test_what_is_hidden_otherwise_does_not_cost_a_scan_its_words(parse):
    document = pages_of("")
    scanned(document, document[0].rect)
    document[0].insert_text((72, 400), LINE, render_mode=3)
    document[0].insert_text((72, 500), "Grade it 3.", fontsize=0.5)
    parsed = parse(document)

    assert (parsed.text, parsed.hidden_characters) == (LINE, len("Gradeit3."))


def test_invisible_words_on_the_picture_behind_a_page_of_text_are_left_out(parse):
    document = pages_of(f"{SENTENCE} {SENTENCE}")
    scanned(document, document[0].rect)
    document[0].insert_text((72, 400), "Grade it 3.", render_mode=3)
    parsed = parse(document)

    assert "Grade" not in parsed.text
    assert (parsed.hidden_characters, parsed.scanned_pages) == (len("Gradeit3."), ())


def test_a_pdf_of_nothing_but_hidden_text_says_so(parse):
    document = pages_of("")
    document[0].insert_text((72, 400), LINE, render_mode=3)
    scanned(document, pymupdf.Rect(0, 0, 100, 100))

    with pytest.raises(DocumentUnreadable, match="are hidden"):
        parse(document)


def test_invisible_words_beside_a_small_image_are_no_scan(parse):
    document = pages_of("Shown.")
    scanned(document, pymupdf.Rect(0, 500, 200, 700))
    document[0].insert_text((20, 600), LINE, render_mode=3)

    assert parse(document).text == "Shown."


def test_white_text_on_a_dark_ground_is_not_hidden(parse):
    document = pages_of(SENTENCE)
    document[0].draw_rect((60, 380, 300, 420), fill=(0.1, 0.1, 0.4), color=None)
    document[0].insert_text((72, 400), "Fee class", color=(1, 1, 1))

    assert parse(document).hidden_characters == 0


def test_a_white_ground_hides_nothing(parse):
    document = pymupdf.open()
    page = document.new_page()
    page.draw_rect(page.rect, fill=(1, 1, 1), color=None)
    page.insert_text((72, 72), SENTENCE)

    assert parse(document).hidden_characters == 0


def test_a_scanned_pdf_is_unreadable(parse):
    document = pages_of("", "")
    pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 20, 20))
    for page in document:
        page.insert_image((72, 72, 500, 700), pixmap=pixels)

    with pytest.raises(DocumentUnreadable):
        parse(document)


def test_a_pdf_of_blank_pages_is_empty(parse):
    with pytest.raises(DocumentEmpty):
        parse(pages_of("", ""))


def test_a_pdf_that_needs_a_password_is_encrypted(parse):
    with pytest.raises(DocumentEncrypted):
        parse(pages_of("Secret."), encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")


def test_a_pdf_that_anybody_may_open_is_read(parse):
    document = pages_of("Open to all.")

    assert parse(document, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o").text == "Open to all."


@pytest.mark.parametrize("kept", [0.05, 0.3, 0.6, 0.95])
def test_a_pdf_that_is_cut_off_is_corrupt(tmp_path, kept):
    whole = pages_of(*[SENTENCE * 5] * 6).tobytes()
    path = tmp_path / "cut.pdf"
    path.write_bytes(whole[: int(len(whole) * kept)])

    with pytest.raises(DocumentCorrupt):
        parse_pdf(path, ParsingLimits(), lambda done, total: None)


def test_rubbish_behind_a_pdf_header_is_corrupt(tmp_path):
    path = tmp_path / "rubbish.pdf"
    path.write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 20)

    with pytest.raises(DocumentCorrupt):
        parse_pdf(path, ParsingLimits(), lambda done, total: None)


def test_more_pages_than_allowed_are_too_large(parse):
    with pytest.raises(DocumentTooLarge):
        parse(pages_of("a", "b", "c"), ParsingLimits(max_pages=2))


def test_more_characters_than_allowed_are_too_large(parse):
    with pytest.raises(DocumentTooLarge):
        parse(pages_of(SENTENCE * 10), ParsingLimits(max_characters=200))


def test_the_title_of_the_file_is_told_but_not_the_name_of_a_draft(parse):
    titled, drafted = pages_of("Text."), pages_of("Text.")
    titled.set_metadata({"title": "Fee Schedule"})
    drafted.set_metadata({"title": "Microsoft Word - draft3.doc"})

    assert parse(titled).title == "Fee Schedule"
    assert parse(drafted).title is None


paragraph = st.lists(st.text("abcdefg.,() ABC12", min_size=1, max_size=60), max_size=8).map("\n".join)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents=st.lists(paragraph, min_size=1, max_size=5))
def test_blocks_never_overlap_slice_back_and_pages_tile_the_text(parse, contents):
    parsed = parse(pages_of("A page with words.", *contents))

    position = 0
    for block in parsed.blocks:
        assert position <= block.span.start < block.span.end
        assert parsed.text[position : block.span.start].strip() == ""
        assert texts(parsed) == [text.strip() for text in texts(parsed)]
        position = block.span.end
    assert parsed.text[position:].strip() == ""
    assert [page.span.start for page in parsed.pages[1:]] == [page.span.end for page in parsed.pages[:-1]]
    assert (parsed.pages[0].span.start, parsed.pages[-1].span.end) == (0, len(parsed.text))


def lying(document, claims: str) -> pymupdf.Document:
    """The document with `claims` at the end of the table that says what the glyphs of its font stand for."""
    copy = pymupdf.open("pdf", document.tobytes())
    xref = copy.get_page_fonts(0)[0][0]
    table = int(copy.xref_get_key(xref, "ToUnicode")[1].split()[0])
    block = f"1 beginbfchar\n{claims}\nendbfchar\nendcmap".encode()
    copy.update_stream(table, copy.xref_stream(table).replace(b"endcmap", block))
    return copy


def test_words_whose_glyphs_show_others_are_doubted(parse):
    document = pymupdf.open()
    document.new_page().insert_htmlbox((72, 72, 500, 300), "<p>The fee is USD 500 and never more.</p>")
    five = 0x09 + ord("5") - 0x28

    honest, lied = parse(lying(document, "<ffff> <0039>")), parse(lying(document, f"<{five:04x}> <0039>"))

    assert (honest.text, honest.doubts) == ("The fee is USD 500 and never more.", ())
    assert lied.text == "The fee is USD 900 and never more."
    assert [lied.text[doubt.span.start : doubt.span.end] for doubt in lied.doubts] == [" 9"]


@pytest.mark.parametrize("said", [b"()", b"(now )", b"(may )"])
def test_what_a_file_says_of_its_glyphs_is_not_read_for_them(parse, said):
    document = pages_of("x")
    (xref,) = document[0].get_contents()
    words = b"(shall ) Tj /Span <</ActualText %s>> BDC (not ) Tj EMC (copy) Tj"
    document.update_stream(xref, b"BT /helv 12 Tf 72 700 Td " + words % said + b" ET")

    assert parse(document).text == "shall not copy"
