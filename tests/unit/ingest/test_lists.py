from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.documents import DocumentFormat
from corpus.spans import Span
from services.ingest import chunking, headings
from services.ingest.chunking import ChunkLimits, Origin, lists
from services.ingest.chunking.units import dissect
from services.ingest.documents import Block, BlockKind, ExtractedDocument
from services.ingest.parsing.formats import format_of, parse
from services.ingest.parsing.limits import ParsingLimits
from tests.unit.ingest import list_layouts

LAYOUTS = 600
SEEDS = range(6)
SOAKED = 50 * LAYOUTS


def chunks_of(folder: Path, name: str, content: bytes) -> tuple[chunking.Chunk, ...]:
    path = folder / name
    path.write_bytes(content)
    document = parse(path, format_of(name), ParsingLimits(), lambda done, total: None)
    return chunking.cut(document, Origin(f"cme/{name}", "cme", name, "g1", name), ChunkLimits())


def failures(folder: Path, count: int, seed: int) -> list[str]:
    found = []
    for contract in list_layouts.sample(count, seed):
        chunks = chunks_of(folder, contract.file_name, contract.content)
        found += [f"{contract.layout}: {each}" for each in list_layouts.lost(contract, chunks)]
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_no_item_of_a_list_loses_its_lead_in_or_its_condition(tmp_path, seed):
    assert failures(tmp_path, LAYOUTS // len(SEEDS), seed) == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 110))
def test_no_item_of_any_list_loses_its_lead_in_or_its_condition(tmp_path, seed):
    assert failures(tmp_path, SOAKED // 10, seed) == []


@pytest.mark.parametrize("seed", [24, 34, 42])
def test_the_last_items_of_a_page_are_no_footer_that_a_sentence_goes_on_behind(tmp_path, seed):
    layout = list_layouts.Layout("1.", 3, "none", "clause", "inline", "pdf", "chunk", tight=False)
    contract = list_layouts.write(layout, random.Random(seed))
    assert list_layouts.lost(contract, chunks_of(tmp_path, contract.file_name, contract.content)) == []


CLAUSES = """1. Term. This Agreement begins on 1 May 2026.

2. Fees. The Licensee shall pay USD 50 a month.

(a) The Licensor may change the fee once a year.

(b) The Licensee shall pay within 30 days.

3. Audit. The Licensor may audit the books of the Licensee.
"""


def context_of(folder: Path, text: str, words: str) -> tuple[list[str], list[str]]:
    """What governs the sentence with these words, before and after it."""
    for chunk in chunks_of(folder, "a.txt", text.encode()):
        for sentence in chunk.sentences:
            if words in chunk.text[sentence.start - chunk.span.start : sentence.end - chunk.span.start]:
                return tuple(
                    [
                        list_layouts.squeezed(part.text)
                        for part in parts
                        if part.governs.start <= sentence.start and sentence.end <= part.governs.end
                    ]
                    for parts in (chunk.context_before, chunk.context_after)
                )
    raise AssertionError(f"no sentence holds {words!r}")


def test_clauses_of_a_contract_are_no_list(tmp_path):
    chunks = chunks_of(tmp_path, "a.txt", CLAUSES.encode())
    assert {(chunk.context_before, chunk.context_after) for chunk in chunks} == {((), ())}


@pytest.mark.parametrize(
    "opening",
    [
        "NOW, THEREFORE, the parties agree as follows:",
        "NOW, THEREFORE, the parties agree\nas  follows:",
        "The parties hereby agree to the following terms:",
        "Licence Agreement",
        "This Agreement is made on 1 May 2026 between Vellmark Limited and Tarnholm Exchange.",
    ],
)
def test_what_opens_a_contract_leads_into_none_of_its_clauses(tmp_path, opening):
    chunks = chunks_of(tmp_path, "a.txt", f"{opening}\n\n{CLAUSES}".encode())
    assert {(chunk.context_before, chunk.context_after) for chunk in chunks} == {((), ())}


@pytest.mark.parametrize("number", ["3.", "4."])
def test_the_clause_after_a_list_is_none_of_its_items(tmp_path, number):
    text = (
        "2. Fees. The fee is USD 50.\n\n3. Delivery. The Licensor shall:\n\n1. deliver the Data;\n\n"
        f"2. keep it up to date.\n\n{number} Audit. The Licensor may audit the books.\n"
    )
    assert context_of(tmp_path, text, "keep it") == (["The Licensor shall:"], [])
    assert context_of(tmp_path, text, "may audit") == ([], [])


@pytest.mark.parametrize(
    "after",
    [
        "The Licensor may audit the Licensee.",
        "If the fee is late, the Licensor may suspend the Data.",
        "Except as set out in Schedule 2, the Licensor may audit the Licensee.",
        "Unless otherwise agreed, each party bears its own costs.",
        "5.2 Notices. All notices are sent by post.",
    ],
)
def test_a_sentence_below_a_list_that_stands_alone_is_no_condition(tmp_path, after):
    text = f"The Licensee shall not:\n\n(a) copy the Data; or\n\n(b) sell the Data.\n\n{after}\n"
    assert context_of(tmp_path, text, "sell the Data") == (["The Licensee shall not:"], [])
    assert context_of(tmp_path, text, after.split(". ")[-1]) == ([], [])


def test_a_condition_in_the_middle_of_a_list_governs_the_item_above_it(tmp_path):
    text = (
        "The Licensee shall not:\n\n(a) copy the Data,\n\nexcept for one backup;\n\n(b) sell the Data.\n\n"
        "The Licensor may audit.\n"
    )
    assert context_of(tmp_path, text, "copy the Data") == (
        ["The Licensee shall not:"],
        ["except for one backup;"],
    )
    assert context_of(tmp_path, text, "sell the Data") == (["The Licensee shall not:"], [])


def test_a_list_that_begins_within_a_sentence_goes_on_below_it(tmp_path):
    text = (
        "4.2 The Licensee shall not: (a) copy the Data;\n\n(b) share the Data; or\n\n(c) sell the Data.\n\n"
        "Nothing else is restricted.\n"
    )
    assert context_of(tmp_path, text, "(c) sell") == (["4.2 The Licensee shall not:"], [])


@pytest.mark.parametrize("marks", [("1.", "2."), ("a.", "b."), ("i.", "ii."), ("4.1.1", "4.1.2")])
def test_items_without_blank_lines_keep_a_lead_in_that_is_long_itself(tmp_path, marks):
    first, second = marks
    text = (
        f"The Licensee shall not\n{first} copy the Data {'of that day and ' * 10}of the next, and\n"
        f"{second} share it {'with any person or ' * 10}with a competitor in order to:\n"
        "(A) sell it;\n(B) lease it.\n"
    )
    before, _ = context_of(tmp_path, text, "lease it")
    assert before[0] == "The Licensee shall not"
    assert before[1].startswith(f"{second} share it")
    assert before[1].endswith("in order to:")


def test_every_piece_of_a_sentence_that_no_chunk_holds_keeps_its_beginning(tmp_path):
    text = "The Licensee shall not share " + "the Data of that day and " * 300 + "the rest.\n"
    chunks = chunks_of(tmp_path, "a.txt", text.encode())
    assert len(chunks) > 1
    for chunk in chunks[1:]:
        assert chunk.context_before[0].text.startswith("The Licensee shall not share")
        assert chunk.context_before[0].governs == chunk.sentences[0]


@pytest.mark.parametrize(
    ("lead", "first", "items"),
    [
        (
            "Vellmark Limited agrees that it will not do any of the following",
            "\n\n    modify the Data;",
            "\n\n    display the Records;\n\n    lease the Data, in each case only with consent.\n",
        ),
        (
            "The Licensee shall not",
            "\ncopy the Data;",
            "\n\ndisplay the Records;\n\nlease the Data, in each case only with consent.\n",
        ),
        (
            "The Licensee shall not",
            "\nCopy the Data.",
            "\nDisplay the Records.\nLease the Data, in each case only with consent.\n",
        ),
        (
            "The Licensee may not —",
            "\ncopy the Data,",
            "\nsell the Data, and\n\ndisplay the Records, in each case only with consent.\n",
        ),
    ],
)
def test_items_without_marks_keep_the_lead_in_whose_sentence_holds_the_first(tmp_path, lead, first, items):
    text = lead + first + items
    after = "in each case only with consent."
    before, _ = context_of(tmp_path, text, "isplay the Records")
    assert before[0].startswith(lead)
    _, conditions = context_of(tmp_path, text, first.split(maxsplit=1)[1])
    assert conditions == [after]


def test_a_list_below_a_whole_sentence_in_an_item_has_only_that_sentence_for_its_lead_in(tmp_path):
    text = (
        "The Licensor shall not:\n\n(i) license others in the Territory;\n\n(ii) open a shop there. "
        "The Licensor keeps all other rights and may:\n\na. license others elsewhere;\n\nb. sell the Data.\n"
    )
    own = "The Licensor keeps all other rights and may:"
    assert context_of(tmp_path, text, "sell the Data") == ([own], [])


def test_a_condition_in_a_last_item_that_is_a_whole_sentence_is_its_own(tmp_path):
    text = (
        "If control changes, the following holds:\n\n(a) The Customer shall tell the Vendor.\n\n"
        "(b) The Vendor shall go on with its work, provided that the fees are paid.\n"
    )
    assert context_of(tmp_path, text, "shall tell")[1] == []


def test_a_condition_in_a_further_sentence_of_the_last_item_is_that_sentences_own(tmp_path):
    text = (
        "The Licensee shall:\n\n(a) keep the Data;\n\n(b) send the Reports. "
        "The Licensor may print them, provided that nothing is changed.\n"
    )
    assert context_of(tmp_path, text, "keep the Data") == (["The Licensee shall:"], [])


def test_a_sentence_within_an_item_that_begins_like_a_condition_is_none(tmp_path):
    text = (
        "The Licensee shall:\n\n(a) keep the Data;\n\n(b) send the Reports. "
        "Only after they are approved may it print them.\n"
    )
    assert context_of(tmp_path, text, "keep the Data") == (["The Licensee shall:"], [])


def test_a_name_that_begins_with_a_small_letter_is_no_condition(tmp_path):
    text = (
        "The services are the following:\n\n(a) Sampling of each product.\n\n"
        "eLearning means a platform that the Vendor may make.\n\nThe Vendor may audit.\n"
    )
    assert context_of(tmp_path, text, "Sampling")[1] == []


def test_a_number_after_its_word_is_no_item(tmp_path):
    text = (
        "For a period of one (1) year the Customer shall not: (i) hire any person; or\n\n"
        "(ii) solicit any person.\n"
    )
    lead = "For a period of one (1) year the Customer shall not:"
    assert context_of(tmp_path, text, "(ii) solicit") == ([lead], [])


@pytest.mark.parametrize("caption", ["2. PRICE AND PAYMENT.\n---------------", "2. PRICE AND PAYMENT:"])
def test_a_caption_leads_into_no_clauses(tmp_path, caption):
    text = f"{caption}\n\n2.1 The Customer shall pay the Fee.\n\n2.2 The Vendor shall send a bill.\n"
    assert context_of(tmp_path, text, "shall send a bill") == ([], [])


@pytest.mark.parametrize("caption", ["PROHIBITED USES:", "EXCEPTIONS:"])
def test_a_caption_that_says_what_its_clauses_mean_leads_into_them(tmp_path, caption):
    text = f"{caption}\n\n(a) The Customer shares the Data.\n\n(b) The Customer sells the Data.\n"
    assert context_of(tmp_path, text, "sells the Data") == ([caption], [])


def test_the_last_item_of_a_sentence_counts_on_behind_an_or(tmp_path):
    text = (
        "The Licensee shall pay for: (a) the Data; (b) any claim of others; and/or (c) any breach; "
        "provided that (i) it is told in time;\n\n(ii) it may defend itself.\n"
    )
    before, _ = context_of(tmp_path, text, "(ii) it may")
    assert before == ["The Licensee shall pay for:", "(c) any breach; provided that"]


def test_a_whole_sentence_continues_the_outer_of_two_lists_that_it_may_continue(tmp_path):
    text = (
        "The Licensor warrants that: (i) it has the Data;\n\n(ii) The sale of the Data will not: "
        "(i) break a law; or (ii) break a contract;\n\n(iii) No consents are necessary.\n"
    )
    assert context_of(tmp_path, text, "(iii) No consents")[0] == ["The Licensor warrants that:"]


LINES = st.sampled_from(
    [
        "The Licensee shall not:",
        "(a) copy the Data;",
        "(b) sell it to:",
        "(i) affiliates; or",
        "1. Term. It ends in May.",
        "2. Fees",
        "4.1.2 to pay",
        "- share it",
        "in each case only with consent.",
        "Page 3 of 9",
        "The Licensor may audit.",
        "a. keep (a) and (b) or (i) this",
        "provided that it has paid:",
        "A | B",
        "unless agreed",
        "----------",
    ]
)


@given(st.lists(st.tuples(LINES, st.sampled_from(["\n", "\n\n", " "])), min_size=1, max_size=40))
def test_context_is_verbatim_bounded_and_governs_whole_sentences_of_its_chunk(lines):
    text = "".join(line + gap for line, gap in lines).strip()
    block = Block(BlockKind.PARAGRAPH, Span(0, len(text)))
    document = ExtractedDocument(DocumentFormat.TEXT, None, text, (block,))
    for chunk in chunking.cut(
        document, Origin("cme/a.txt", "cme", "a.txt", "g1", "a.txt"), ChunkLimits(40, 50, 10)
    ):
        starts = {sentence.start for sentence in chunk.sentences}
        ends = {sentence.end for sentence in chunk.sentences}
        for part in (*chunk.context_before, *chunk.context_after):
            assert part.text == text[part.span.start : part.span.end] == part.text.strip() != ""
            assert len(part.text.split()) <= 120
            assert part.governs.start in starts
            assert part.governs.end in ends


class Counted(str):
    """A text that counts the characters that are taken out of it."""

    taken = 0

    def __getitem__(self, place):
        found = super().__getitem__(place)
        Counted.taken += len(found)
        return found


def test_looking_for_lists_takes_time_linear_in_the_text():
    def work(times: int) -> int:
        body = (
            "The Licensee shall not:\n(a) copy the Data;\n(b) sell the Data to:\n(i) affiliates;\n- others.\n"
            * times
        )
        document = ExtractedDocument(
            DocumentFormat.TEXT, None, body, (Block(BlockKind.PARAGRAPH, Span(0, len(body) - 1)),)
        )
        units = dissect(document, headings.find(document), 400)
        Counted.taken = 0
        found = lists.find(Counted(body), units)
        return Counted.taken + sum(len(each.governs) for each in found)

    assert work(800) < 2.2 * work(400)
