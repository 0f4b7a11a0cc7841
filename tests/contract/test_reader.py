"""The answer service with a reader of made-up weights, which prefers what it likes."""

import asyncio
import logging

import pytest
import pytest_asyncio
from tokenizers import Tokenizer

from chassis.errors import CannotStart
from clausegate.answer.v1.query_service_pb2 import QueryRequest
from inference.reading.graph import READER_SHAPE
from services.answer.settings import PACKAGED_READER, AnswerSettings
from services.answer.wiring import answer
from tests.contract.test_query_service import CME, OPRA, answering, retrieval_with
from tests.made_up_reader import made_up_weights, quantised, write_reader

QUESTION = "How much is the monthly fee?"


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    vocabulary = Tokenizer.from_file(str(PACKAGED_READER / "tokenizer.json"))
    weights = made_up_weights(1, READER_SHAPE, 4 * READER_SHAPE.dimension, vocabulary.get_vocab_size())
    return str(write_reader(tmp_path_factory.mktemp("reader"), quantised(weights), vocabulary))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def index(tmp_path_factory):
    async with retrieval_with(tmp_path_factory.mktemp("index"), CME, OPRA) as address:
        yield address


async def ask(stub, **more):
    return await stub.Query(QueryRequest(query=QUESTION, **more), timeout=60)


@pytest.mark.asyncio(loop_scope="module")
async def test_an_answer_names_the_reader_that_graded(index, tmp_path, reader):
    async with answering(index, tmp_path, reader=reader) as queries:
        response = await ask(queries, debug=True)
    assert response.metadata.grader.startswith("reader-")
    assert response.metadata.grading_failure == ""
    assert response.citations


@pytest.mark.asyncio(loop_scope="module")
async def test_sixteen_questions_at_once_are_all_read(index, tmp_path, reader):
    async with answering(index, tmp_path, reader=reader, reader_deadline_seconds=300) as queries:
        responses = await asyncio.gather(*(ask(queries) for _ in range(16)))
    assert {response.metadata.grader[:7] for response in responses} == {"reader-"}


@pytest.mark.asyncio(loop_scope="module")
async def test_a_reading_without_time_leaves_grading_to_local_evidence_and_is_told(index, tmp_path, reader):
    async with answering(index, tmp_path, reader="off") as queries:
        without = await ask(queries)
    async with answering(index, tmp_path, reader=reader, reader_deadline_seconds=1e-9) as queries:
        response = await ask(queries)
    assert (response.metadata.grader, response.metadata.grading_failure) == ("local", "UPSTREAM_UNAVAILABLE")
    assert response.statements == without.statements


@pytest.mark.asyncio(loop_scope="module")
async def test_certificates_tell_answers_with_a_reader_from_those_without(index, tmp_path, reader):
    configurations = set()
    for setting in ("off", reader):
        async with answering(index, tmp_path, reader=setting) as queries:
            response = await ask(queries)
        configurations |= {citation.certificate.config_sha256 for citation in response.citations}
    assert len(configurations) == 2


async def test_a_reader_that_is_off_is_told_when_the_service_starts(tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        async with answer(AnswerSettings(data_dir=tmp_path, reader="off")):
            pass
    assert [record.setting for record in caplog.records if record.message == "there is no reader"] == ["off"]


async def test_a_reader_is_told_by_its_name_when_the_service_starts(tmp_path, caplog, reader):
    with caplog.at_level(logging.INFO):
        async with answer(AnswerSettings(data_dir=tmp_path, reader=reader)):
            pass
    (name,) = [record.reader for record in caplog.records if record.message == "the reader is there"]
    assert name.startswith("reader-")


async def test_a_folder_that_is_named_and_holds_no_reader_starts_nothing(tmp_path):
    with pytest.raises(CannotStart, match=r"reader\.json"):
        async with answer(AnswerSettings(data_dir=tmp_path, reader=str(tmp_path))):
            pass
