import asyncio

import numpy as np
import pytest

from inference.embedding.local import MAX_TOKENS, LocalEmbedding, ModelUnavailable
from inference.fetch import DEFAULT_MODEL_DIR, FILES, MODEL_FOLDER

NEW_YORK = "the laws of the State of New York"
FOLDER = DEFAULT_MODEL_DIR.expanduser() / MODEL_FOLDER


TOLERANCE = {"f32": 2e-5, "bf16": 1e-3}
"""How far a cosine may be from that of the published weights; bfloat16 keeps 8 bits of a number."""
PASSAGES = [
    f"This Agreement shall be governed by {NEW_YORK}.",
    "Either party may terminate this Agreement upon ninety (90) days' written notice.",
    "The Licensee shall pay a fee of USD 58.00 per user and month, within thirty days of the invoice.",
    "In no event is the Supplier liable for lost profits or for any indirect damages.",
    "The Receiving Party keeps Confidential Information secret for five years.",
    "| Service | Fee |\n| Delayed data | GBP 250.00 |",
    "Fees.",
    "The Distributor shall not sell competing products in the Territory. " * 12,
]
QUESTIONS = ["Which law governs?", "What does a user cost?", "Who keeps secrets?", "How may it be ended?"]


@pytest.fixture(scope="module", params=["f32", ""])
def model(request):
    model = LocalEmbedding(FOLDER, precision=request.param)
    yield model
    asyncio.run(model.close())


@pytest.mark.parametrize(
    ("one", "other", "similarity"),
    [
        # The first two stand on the model's own card.
        ("That is a happy person", "That is a happy dog", 0.694578),
        ("That is a happy person", "Today is a sunny day", 0.256876),
        ("Which law governs the contract?", f"This Agreement shall be governed by {NEW_YORK}.", 0.497832),
    ],
)
async def test_similarities_are_those_of_the_published_model(model, one, other, similarity):
    first, second = await model.embed([one, other])
    assert first @ second == pytest.approx(similarity, abs=TOLERANCE[model.precision])


async def test_vectors_have_unit_norm_and_the_order_of_their_texts(model):
    texts = ["fees " * length for length in (90, 1, 300, 7, 30, 2, 4, 150, 3, 60, 11)]
    together = await model.embed(texts)
    alone = [(await model.embed([text]))[0] for text in texts]
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.array_equal(together, alone)


async def test_index_made_in_float32_is_searched_in_the_precision_of_this_processor_and_back(model):
    exact = LocalEmbedding(FOLDER, precision="f32")
    indexed = {one: await one.embed(PASSAGES) for one in (exact, model)}
    asked = {one: np.array([await one.embed_query(question) for question in QUESTIONS]) for one in indexed}
    await exact.close()
    cosines = asked[exact] @ indexed[exact].T
    for questions, passages in ((exact, model), (model, exact), (model, model)):
        found = asked[questions] @ indexed[passages].T
        assert np.allclose(found, cosines, atol=1e-3)
        assert (found.argsort() == cosines.argsort()).all()


async def test_question_and_passage_of_the_same_text_have_the_same_vector(model):
    text = "Who may terminate for convenience?"
    assert np.allclose(await model.embed_query(text), (await model.embed([text]))[0], atol=1e-6)


async def test_tokens_beyond_the_limit_have_no_effect_and_those_before_it_have(model):
    full = "word " * (MAX_TOKENS - 2)
    same, beyond, cut_by_the_tokenizer_file = await model.embed(
        [full, full + "exclusive licence", full[: 5 * 126]]
    )
    assert np.allclose(same, beyond, atol=1e-5)
    assert not np.allclose(same, cut_by_the_tokenizer_file, atol=1e-3)


async def test_nothing_gives_no_vectors_and_empty_text_gives_one(model):
    assert (await model.embed([])).shape == (0, 384)
    assert (await model.embed([""])).shape == (1, 384)


async def test_token_spans_are_code_points_of_the_text(model):
    text = "Café 10b-5 \U0001f600 licence"
    (spans,) = await model.token_spans([text])
    assert [text[start:end] for start, end in spans] == [
        *("Café", "10", "b", "-", "5", "\U0001f600", "licence")
    ]


async def test_text_with_unpaired_surrogates_is_embedded(model):
    assert (await model.embed_query("fee \ud800 schedule")).shape == (384,)
    assert (await model.token_spans(["a \udfff b"]))[0][-1] == (4, 5)


async def test_question_is_embedded_while_many_passages_wait(model):
    passages = asyncio.create_task(model.embed(["the licensee shall pay " * 40] * 64))
    await asyncio.sleep(0)
    await model.embed_query("Who pays?")
    assert not passages.done()
    passages.cancel()


def test_missing_weights_name_the_command_and_the_setting(tmp_path):
    with pytest.raises(ModelUnavailable, match=r"clausegate fetch-model.*CLAUSEGATE_MODEL_DIR"):
        LocalEmbedding(tmp_path / "nowhere")


@pytest.mark.parametrize("name", FILES)
def test_broken_file_is_refused(tmp_path, name):
    for each in FILES:
        (tmp_path / each).symlink_to((FOLDER / each).resolve())
    (tmp_path / name).unlink()
    (tmp_path / name).write_text("{}" * 10)
    with pytest.raises(ModelUnavailable, match="does not hold"):
        LocalEmbedding(tmp_path)


async def test_folder_of_symbolic_links_is_as_good_as_the_files(tmp_path, model):
    for each in FILES:
        (tmp_path / each).symlink_to((FOLDER / each).resolve())
    linked = LocalEmbedding(tmp_path, threads=1, precision=model.precision)
    assert np.array_equal(await linked.embed_query("fee"), await model.embed_query("fee"))
    await linked.close()
