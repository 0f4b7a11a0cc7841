import asyncio

import numpy as np
import pytest

from corpus.spans import Span
from inference.reading.model import Passage
from inference.reading.reader import (
    QUESTIONS_AT_ONCE,
    QUESTIONS_WAITING,
    Reader,
    ReaderBroken,
    ReaderQueueFull,
    ReaderTooSlow,
)
from inference.reading.rows import MAX_PASSAGE_TOKENS, MAX_QUESTION_TOKENS
from tests.made_up_reader import (
    SHAPE,
    WORDS,
    forward,
    made_up_weights,
    quantised,
    vocabulary,
    write_reader,
)

QUESTION = "Who pays the fee?"
SHORT = Passage("The licensee shall pay.", (Span(0, 23),))
LONG = Passage(
    "The licensee shall pay the fee within thirty days. Fees. Pay the fees thirty days.",
    (Span(0, 50), Span(51, 56), Span(57, 82)),
)
PASSAGES = [LONG, SHORT, Passage("Fees within days", (Span(0, 16),)), *[SHORT] * 4, LONG]
LONGEST = 60.0
CLOSE = 1e-4


@pytest.fixture(scope="module")
def eight_bits():
    return quantised(made_up_weights(3))


@pytest.fixture(scope="module")
def reader(tmp_path_factory, eight_bits):
    reader = Reader(write_reader(tmp_path_factory.mktemp("reader"), eight_bits), LONGEST, 2, SHAPE, "f32")
    yield reader
    asyncio.run(reader.close())


def by_hand(tensors, question, passage):
    """Logit of the passage, and of each token of its sentences."""
    asked = vocabulary().encode(question, add_special_tokens=False)
    read = vocabulary().encode(passage.text, add_special_tokens=False)
    begin = len(asked.ids) + 2
    ids = [WORDS.index("[CLS]"), *asked.ids, WORDS.index("[SEP]"), *read.ids, WORDS.index("[SEP]")]
    types = np.array([0] * begin + [1] * (len(ids) - begin))
    answers, tokens = forward(tensors, np.array(ids), types)
    return answers, [
        tokens[begin:-1][[span.start <= start < span.end for start, _ in read.offsets]]
        for span in passage.sentences
    ]


def assert_is(reading, tensors, question, passage):
    answers, tokens = by_hand(tensors, question, passage)
    assert reading.answers == pytest.approx(answers, abs=CLOSE)
    assert reading.sentences == pytest.approx([values.mean() for values in tokens], abs=CLOSE)


@pytest.mark.parametrize("passage", [LONG, SHORT])
async def test_logits_are_those_of_a_plain_forward_pass_of_the_same_8_bit_weights(
    reader, eight_bits, passage
):
    (reading,) = await reader.read(QUESTION, [passage])
    assert_is(reading, eight_bits, QUESTION, passage)


@pytest.mark.parametrize("seed", [7, 8])
async def test_weights_that_are_not_quantised_are_read_as_well(tmp_path, seed):
    tensors = made_up_weights(seed)
    plain = Reader(write_reader(tmp_path, tensors), LONGEST, 1, SHAPE, "f32")
    (reading,) = await plain.read(QUESTION, [LONG])
    await plain.close()
    assert_is(reading, tensors, QUESTION, LONG)


async def test_readings_have_the_order_of_the_passages(reader):
    alone = [(await reader.read(QUESTION, [passage]))[0] for passage in PASSAGES]
    assert await reader.read(QUESTION, PASSAGES) == alone
    assert await reader.read(QUESTION, PASSAGES[::-1]) == alone[::-1]


@pytest.mark.parametrize("words", [1, 18, 19, 20, 21, 52, 53, 224])
async def test_padding_changes_nothing_that_is_said(reader, eight_bits, words):
    text = " ".join(["fee", "shall", "pay", "days"] * 56)[: 4 * words + words // 4]
    passage = Passage(text, (Span(0, len(text)),))
    (reading,) = await reader.read(QUESTION, [passage])
    assert_is(reading, eight_bits, QUESTION, passage)


async def test_precision_of_this_processor_is_near_that_of_float32(tmp_path, eight_bits, reader):
    folder = write_reader(tmp_path, eight_bits)
    own = Reader(folder, LONGEST, 1, SHAPE)
    near, exact = await own.read(QUESTION, PASSAGES), await reader.read(QUESTION, PASSAGES)
    await own.close()
    assert [reading.answers for reading in near] == pytest.approx(
        [reading.answers for reading in exact], abs=0.1
    )


async def test_question_and_passage_are_told_apart(reader):
    (asked,) = await reader.read(SHORT.text, [LONG])
    (answered,) = await reader.read(LONG.text, [SHORT])
    assert asked.answers != pytest.approx(answered.answers, abs=1e-3)


async def test_nothing_gives_no_reading_and_an_empty_passage_gives_one_without_sentences(reader):
    assert await reader.read(QUESTION, []) == []
    (reading,) = await reader.read("", [Passage("", ())])
    assert reading.sentences == ()


async def test_what_is_beyond_the_limits_has_no_effect_and_its_sentences_no_logit(reader):
    text = "fee " * MAX_PASSAGE_TOKENS + "shall pay . " * 5
    cut = Passage(text, (Span(0, 4 * MAX_PASSAGE_TOKENS), Span(4 * MAX_PASSAGE_TOKENS, len(text))))
    question = "pays " * MAX_QUESTION_TOKENS
    (reading,) = await reader.read(question + "thirty days", [cut])
    (same,) = await reader.read(question, [Passage(text[: 4 * MAX_PASSAGE_TOKENS], cut.sentences[:1])])
    assert reading.answers == pytest.approx(same.answers, abs=CLOSE)
    assert reading.sentences == (pytest.approx(same.sentences[0], abs=CLOSE), None)


async def test_token_between_two_sentences_counts_for_the_one_before(reader):
    (apart,) = await reader.read(QUESTION, [Passage("pay fee days", (Span(0, 3), Span(8, 12)))])
    (joined,) = await reader.read(QUESTION, [Passage("pay fee days", (Span(0, 7), Span(8, 12)))])
    assert apart == joined


async def test_places_are_code_points_and_unpaired_surrogates_are_read(reader):
    text = "\U0001f600 \ud800 pay. Fees."
    (reading,) = await reader.read("fee \udfff?", [Passage(text, (Span(0, 8), Span(9, 14)))])
    (fees,) = await reader.read("fee \udfff?", [Passage(text, (Span(9, 14),))])
    assert all(value is not None for value in reading.sentences)
    assert len(fees.sentences) == 1


async def test_many_questions_at_once_are_all_read(reader):
    readings = await asyncio.gather(*(reader.read(QUESTION, PASSAGES) for _ in range(16)))
    assert all(len(reading) == len(PASSAGES) for reading in readings)


async def test_one_question_too_many_is_refused_and_told_when_to_come_back(reader):
    room = QUESTIONS_AT_ONCE + QUESTIONS_WAITING
    results = await asyncio.gather(
        *(reader.read(QUESTION, [SHORT]) for _ in range(room + 1)), return_exceptions=True
    )
    refused = [result for result in results if isinstance(result, Exception)]
    assert [type(error) for error in refused] == [ReaderQueueFull]
    assert refused[0].retry_after_seconds > 0


async def test_reading_that_takes_too_long_is_given_up(tmp_path, eight_bits):
    hurried = Reader(write_reader(tmp_path, eight_bits), 1e-9, 1, SHAPE)
    with pytest.raises(ReaderTooSlow, match="1e-09 s"):
        await hurried.read(QUESTION, PASSAGES * 50)
    await hurried.close()


async def test_reading_goes_on_after_one_was_cancelled(reader):
    reading = asyncio.create_task(reader.read(QUESTION, PASSAGES * 50))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert len(await reader.read(QUESTION, PASSAGES)) == len(PASSAGES)


def test_the_name_tells_one_set_of_weights_from_another(tmp_path):
    folders = [write_reader(tmp_path / str(seed), quantised(made_up_weights(seed))) for seed in (1, 2)]
    names = [Reader(folder, LONGEST, 1, SHAPE, "f32").name for folder in folders]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["reader.safetensors", "tokenizer.json"])
def test_changed_file_is_refused_by_its_name(tmp_path, eight_bits, name):
    file = write_reader(tmp_path, eight_bits) / name
    changed = bytearray(file.read_bytes())
    changed[-20] ^= 1
    file.write_bytes(changed)
    with pytest.raises(ReaderBroken, match=name):
        Reader(tmp_path, LONGEST, 1, SHAPE, "f32")


@pytest.mark.parametrize("name", ["reader.safetensors", "tokenizer.json", "reader.json"])
def test_missing_file_is_named(tmp_path, eight_bits, name):
    (write_reader(tmp_path, eight_bits) / name).unlink()
    with pytest.raises(ReaderBroken, match=name):
        Reader(tmp_path, LONGEST, 1, SHAPE, "f32")


@pytest.mark.parametrize("described", ["", "[]", "{}", '{"sha256": 5}'])
def test_description_that_says_nothing_is_refused(tmp_path, eight_bits, described):
    (write_reader(tmp_path, eight_bits) / "reader.json").write_text(described)
    with pytest.raises(ReaderBroken, match="does not hold a reader"):
        Reader(tmp_path, LONGEST, 1, SHAPE, "f32")


@pytest.mark.parametrize("kind", [np.float64, None])
def test_weight_that_is_missing_or_of_another_kind_is_named(tmp_path, eight_bits, kind):
    name = "encoder.layer.1.output.dense.bias"
    tensors = {key: value for key, value in eight_bits.items() if key != name}
    if kind:
        tensors[name] = eight_bits[name].astype(kind)
    with pytest.raises(ReaderBroken, match=name):
        Reader(write_reader(tmp_path, tensors), LONGEST, 1, SHAPE, "f32")


def test_vocabulary_without_the_tokens_around_texts_is_refused(tmp_path, eight_bits):
    words = [word for word in WORDS if word != "[CLS]"]
    with pytest.raises(ReaderBroken, match=r"\[CLS\]"):
        Reader(write_reader(tmp_path, eight_bits, vocabulary(words)), LONGEST, 1, SHAPE, "f32")
