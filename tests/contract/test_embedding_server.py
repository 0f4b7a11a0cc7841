"""Embedding with a model server over real HTTP, alone and below a whole retrieval service."""

import asyncio
import json
from contextlib import asynccontextmanager

import numpy as np
import pytest

from chassis.channel import open_channel
from chassis.errors import ServiceError
from clausegate.retrieval.v1 import index_service_pb2, retrieval_service_pb2
from inference.embedding.openai import OpenAIEmbedding
from inference.errors import EmbeddingDimensionWrong, ModelServerUnavailable
from inference.settings import ModelServerSettings
from inference.transport import ModelServer as Connection
from services.retrieval.settings import RetrievalSettings
from services.retrieval.store.port import EmbeddingModelMismatch
from tests.contract.retrieval_index import Text, running, service_at
from tests.fakes import behaviours as fake
from tests.fakes.model_server import ModelServer

LARGE = "text-embedding-3-large"


@pytest.fixture
async def server():
    async with ModelServer() as server:
        yield server


@asynccontextmanager
async def embedding(server, name=LARGE, dimension=3072, **settings):
    settings = ModelServerSettings(OPENAI_BASE_URL=server.url, model_deadline_seconds=10, **settings)
    model = OpenAIEmbedding(Connection(settings), settings, name, dimension)
    try:
        yield model
    finally:
        await model.close()


async def test_vectors_are_unit_and_in_the_order_of_the_texts(server):
    texts = [f"the fee of clause {number}" for number in range(7)]
    async with embedding(server) as model:
        vectors = await model.embed(texts)

    assert (vectors.shape, vectors.dtype) == ((7, 3072), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(7), abs=1e-6)
    assert vectors == pytest.approx(np.array([fake.embedding(text, 3072) for text in texts]), abs=1e-6)


async def test_vectors_spelled_out_in_digits_are_as_good(server):
    data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [-0.5, 0.0]}]
    server.reply(fake.Raw(json.dumps({"data": data}).encode()))
    async with embedding(server, "other", 2) as model:
        assert (await model.embed(["a", "b"])).tolist() == [[-1, 0], [0, 1]]


async def test_no_texts_need_no_call(server):
    async with embedding(server) as model:
        assert (await model.embed([])).shape == (0, 3072)

    assert server.requests == []


@pytest.mark.parametrize(("name", "asked"), [(LARGE, 256), ("nomic-embed-text", None)])
async def test_a_length_is_asked_of_models_that_take_one(server, name, asked):
    server.respond = lambda request: fake.Vectors(dimensions=256)
    async with embedding(server, name, 256) as model:
        await model.embed_query("fee")

    assert server.requests[0].body.get("dimensions") == asked


async def test_another_length_than_the_settings_say_names_the_setting(server):
    server.respond = lambda request: fake.Vectors(dimensions=768)
    async with embedding(server, "nomic-embed-text") as model:
        with pytest.raises(EmbeddingDimensionWrong, match=r"768 numbers, not 3072: set CLAUSEGATE_EMBEDDING"):
            await model.embed_query("fee")


async def test_batches_are_bounded_in_texts_and_in_bytes(server):
    server.respond = lambda request: fake.Vectors(dimensions=2)
    async with embedding(server, "m", 2) as model:
        await model.embed(["short"] * 250)
        await model.embed(["word " * 5000] * 9)
    sizes = [len(request.body["input"]) for request in server.requests]

    assert sizes == [100, 100, 50, 8, 1]


async def test_a_long_text_is_cut_to_what_the_model_reads_and_an_empty_one_is_sent_as_a_blank(server):
    server.respond = lambda request: fake.Vectors(dimensions=2)
    async with embedding(server, "m", 2) as model:
        await model.embed(["fee. " * 20_000, "", "\ud800"])
    long, *others = server.requests[0].body["input"]

    assert long == ("fee. " * 20_000)[: len(long)]
    assert 5 * 4095 <= len(long) <= 5 * 4096
    assert others == [" ", "?"]


@pytest.mark.parametrize(
    "behaviour",
    [
        fake.HTML,
        fake.NO_JSON,
        fake.Vectors(missing=1),
        fake.Raw(b'{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}'),
        fake.Raw(b'{"data": [{"index": 0, "embedding": [0, 0]}, {"index": 1, "embedding": [1, 0]}]}'),
        fake.Raw(b'{"data": [{"index": 0, "embedding": [NaN, 1]}, {"index": 1, "embedding": [1, 0]}]}'),
        fake.Raw(b'{"data": [{"index": 0, "embedding": "####"}, {"index": 1, "embedding": "AAA="}]}'),
        fake.Raw(b'{"data": [{"index": 0, "embedding": 1}, {"index": 1, "embedding": [[1]]}]}'),
        fake.Raw(b'{"data": [{"index": 0, "embedding": [1' + b"0" * 400 + b"]}]}"),
        fake.Raw(b'{"data": {"0": [1, 2]}}'),
    ],
)
async def test_what_is_no_vector_of_each_text_is_no_embedding(server, behaviour):
    server.reply(behaviour)
    async with embedding(server) as model:
        with pytest.raises(ModelServerUnavailable, match="no embedding"):
            await model.embed(["a", "b"])


async def test_questions_do_not_wait_behind_passages(server):
    goes_on = asyncio.Event()
    server.respond = lambda request: (
        fake.Vectors() if request.body["input"] == ["question"] else fake.Waits(fake.Vectors(), goes_on)
    )
    async with embedding(server, model_concurrency=1, model_queue=0) as model:
        passages = asyncio.create_task(model.embed(["passage"]))
        await server.received(1)
        question = await asyncio.wait_for(model.embed_query("question"), 10)
        waited = passages.done()
        goes_on.set()
        await passages

    assert (question.shape, waited) == ((3072,), False)


async def test_spans_of_tokens_cover_all_that_is_written(server):
    text = "The fee: 1,200 “Euro” (§ 4)\n\n\tüber  alles \U0001f600"
    async with embedding(server) as model:
        (spans,) = await model.token_spans([text])
    covered = {at for start, end in spans for at in range(start, end)}

    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered
    assert list(spans) == sorted(spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)


TEXT = Text(
    "cme/licence.txt",
    [
        "The Licensee shall pay a monthly display fee of USD 120 for each Device.",
        "Either party may terminate this Agreement on ninety days of notice.",
        "This Agreement is governed by the laws of the State of Illinois.",
    ],
)


def served(server, **settings):
    return {"OPENAI_BASE_URL": server.url, "embedding_model": LARGE} | settings


async def searched(service, query):
    request = retrieval_service_pb2.SearchRequest(query=query, top_k=3, background=True)
    return await service.call(service.retrieval.Search, request)


async def test_an_index_of_3072_dimensions_finds_what_was_put_into_it(server, tmp_path, socket_dirs):
    async with running(tmp_path, socket_dirs(), **served(server)) as service:
        await service.put(TEXT)
        found = await searched(service, "Who may terminate the Agreement on notice?")
        described = await service.call(service.index.DescribeIndex, index_service_pb2.DescribeIndexRequest())

    assert "terminate" in found.candidates[0].chunk.text
    assert (described.embedding_model, described.embedding_dimension) == (LARGE, 3072)


async def test_evidence_of_another_model_than_the_measured_one_is_not_calibrated(
    server, tmp_path, socket_dirs
):
    async with running(tmp_path, socket_dirs(), **served(server, embedding_dimension=64)) as service:
        texts = [f"The tenant of house {number} shall pay rent." for number in range(24)]
        leases = [Text(f"leases/{number}.txt", [text]) for number, text in enumerate(texts)]
        await asyncio.gather(*map(service.put, leases))
        found = await searched(service, "What is the rent?")

    assert (found.background.calibrated, found.background.mean) == (False, 0.0)


@pytest.mark.parametrize(
    ("made_with", "opened_with"),
    [
        ({}, {"embedding_model": LARGE}),
        ({"embedding_model": LARGE}, {}),
        ({"embedding_model": LARGE}, {"embedding_model": "text-embedding-3-small"}),
        ({"embedding_model": LARGE}, {"embedding_model": LARGE, "embedding_dimension": 1024}),
    ],
    ids=["local to served", "served to local", "served to served", "dimension"],
)
async def test_an_index_of_another_model_is_refused_with_the_way_out(
    server, tmp_path, socket_dirs, made_with, opened_with
):
    async with running(tmp_path, socket_dirs(), OPENAI_BASE_URL=server.url, **made_with) as service:
        await service.put(TEXT)
    with pytest.raises(
        EmbeddingModelMismatch, match=r"made with .*: run `clausegate reindex`, or"
    ) as refused:
        async with running(tmp_path, socket_dirs(), OPENAI_BASE_URL=server.url, **opened_with):
            pass

    assert refused.value.reason == "EMBEDDING_MODEL_MISMATCH"


async def test_a_search_without_its_model_server_is_unavailable_and_repeated_by_nobody_else(
    server, tmp_path, socket_dirs
):
    sockets = socket_dirs()
    repeating = open_channel(
        f"unix:{sockets}/retrieval", retried_services=["clausegate.retrieval.v1.RetrievalService"]
    )
    async with running(tmp_path, sockets, **served(server, model_attempts=1)), repeating as channel:
        server.respond = lambda request: fake.Fails(503, retry_after=3)
        with pytest.raises(ServiceError) as failed:
            await searched(service_at(channel), "fee")

    assert (failed.value.code, failed.value.reason) == ("UNAVAILABLE", "UPSTREAM_UNAVAILABLE")
    assert failed.value.retry_after_seconds == 3
    assert len(server.requests) == 1


async def test_recorded_vectors_of_questions_are_played_back_without_a_server(server, tmp_path, socket_dirs):
    tape, questions = tmp_path / "tape", ("Who may terminate the Agreement?", "What is the fee?")
    async with running(tmp_path, socket_dirs(), **served(server), record_model_calls=tape) as service:
        await service.put(TEXT)
        recorded = [await searched(service, question) for question in questions]
    calls = len(server.requests)
    replaying = {"embedding_model": LARGE, "replay_model_calls": tape}
    async with running(tmp_path, socket_dirs(), **replaying) as service:
        replayed = [await searched(service, question) for question in reversed(questions)]
        with pytest.raises(ServiceError) as other:
            await searched(service, "Which law governs?")
        with pytest.raises(ServiceError) as ingested:
            await service.put(Text("cme/other.txt", ["Nothing else."]))

    assert list(reversed(replayed)) == recorded
    assert (other.value.reason, ingested.value.reason) == ("REPLAY_DIVERGED", "REPLAY_DIVERGED")
    assert len(server.requests) == calls
    assert "terminate" not in tape.read_text()


async def test_a_recording_without_vectors_stops_the_start_and_names_its_line(tmp_path, socket_dirs):
    (tmp_path / "tape").write_text('{"kind": "embedding", "key": "x", "vector": 7}\n')
    with pytest.raises(ServiceError, match="Line 1 of the recording"):
        async with running(
            tmp_path, socket_dirs(), embedding_model=LARGE, replay_model_calls=tmp_path / "tape"
        ):
            pass


@pytest.mark.parametrize(
    ("settings", "dimension"),
    [
        ({"embedding_model": LARGE}, 3072),
        ({"embedding_model": "text-embedding-3-small"}, 1536),
        ({"embedding_model": LARGE, "embedding_dimension": 256}, 256),
        ({"embedding_model": "of-ours", "embedding_dimension": 768}, 768),
    ],
)
def test_the_dimension_follows_the_model_unless_it_is_set(settings, dimension):
    assert RetrievalSettings(OPENAI_API_KEY="sk", **settings).dimension() == dimension


def test_a_model_of_unknown_dimension_needs_it_said():
    with pytest.raises(ValueError, match="of-ours has is not known here: set CLAUSEGATE_EMBEDDING_DIMENSION"):
        RetrievalSettings(OPENAI_API_KEY="sk", embedding_model="of-ours")


def test_a_served_model_without_a_server_is_refused_at_start():
    with pytest.raises(ValueError, match="text-embedding-3-large needs a model server: set OPENAI_API_KEY"):
        RetrievalSettings(embedding_model=LARGE)
