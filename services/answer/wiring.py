"""Builds the answer service from its settings and takes it down again; nothing else constructs clients."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from secrets import token_hex
from socket import gethostname
from uuid import uuid4

import grpc

from chassis.channel import open_channel
from chassis.server import Services
from clausegate.answer.v1 import (
    article_service_pb2,
    article_service_pb2_grpc,
    grounding_service_pb2,
    grounding_service_pb2_grpc,
    model_service_pb2,
    model_service_pb2_grpc,
    query_generation_service_pb2,
    query_generation_service_pb2_grpc,
    query_service_pb2,
    query_service_pb2_grpc,
    research_service_pb2,
    research_service_pb2_grpc,
    rewrite_service_pb2,
    rewrite_service_pb2_grpc,
)
from inference.chat.model import ChatModel
from inference.chat.replay import RecordingChat, ReplayedChat
from inference.reading.model import ReadingModel
from inference.recording import Recorder, Recording
from inference.tokens import TokenCounter, TokenCounters
from services.answer.articles.compiling import Compiling
from services.answer.category_hints import Hints, load_hints
from services.answer.checking.citations import Verifying
from services.answer.checking.texts import Grounding
from services.answer.clients.articles import ArticlesClient
from services.answer.clients.retrieval import RETRIED_SERVICES, RetrievalClient
from services.answer.contracts.completion import Completer
from services.answer.evidence.local_grading import LocalGrader
from services.answer.evidence.policy import Policy
from services.answer.models import Describing
from services.answer.query.concluding import Concluding
from services.answer.query.drafting import Drafting
from services.answer.query.each import QueryingEach
from services.answer.query.judging import Judge
from services.answer.query.querying import Querying
from services.answer.query_generation import QueryGeneration
from services.answer.records.audit import Records
from services.answer.records.chain import AuditLog
from services.answer.records.lines import Keys, chain_name
from services.answer.records.record_files import RecordFile, RecordWriter
from services.answer.records.replay import recorded, replayed
from services.answer.records.retaining import retaining
from services.answer.records.rotation import FileLimits
from services.answer.records.tasks import Tasks
from services.answer.records.texts import Texts
from services.answer.records.tracking import Clock
from services.answer.research.caching import ResultCache
from services.answer.research.extracting import Extraction, Extractor
from services.answer.research.research import Research
from services.answer.rewriting import Rewriting
from services.answer.servicers.article import ArticleServicer
from services.answer.servicers.grounding import GroundingServicer
from services.answer.servicers.model import ModelServicer
from services.answer.servicers.query import QueryServicer
from services.answer.servicers.query_generation import QueryGenerationServicer
from services.answer.servicers.research import ResearchServicer
from services.answer.servicers.rewrite import RewriteServicer
from services.answer.settings import AnswerSettings
from services.answer.verification.signing import Signer, read_keys

logger = logging.getLogger(__name__)

MEGABYTE = 1_000_000
MAX_CACHED_EXTRACTIONS = 1_000
"""Results of research queries that are kept at once, some 20 kB each."""
SYSTEM_CLOCK = Clock(
    now=lambda: datetime.now(UTC),
    seconds=time.monotonic,
    new_id=lambda: str(uuid4()),
    new_code=lambda: token_hex(8),
)


NAMES = tuple(
    file.DESCRIPTOR.services_by_name[name].full_name
    for file, name in (
        (query_service_pb2, "QueryService"),
        (research_service_pb2, "ResearchService"),
        (article_service_pb2, "ArticleService"),
        (query_generation_service_pb2, "QueryGenerationService"),
        (rewrite_service_pb2, "RewriteService"),
        (grounding_service_pb2, "GroundingService"),
        (model_service_pb2, "ModelService"),
    )
)


@asynccontextmanager
async def answer(settings: AnswerSettings) -> AsyncIterator[Services]:
    """What the answer service offers to a server, alive until the context ends.

    Raises `SigningKeysBroken` when a file of keys cannot be used, `AuditInUse` and `AuditBroken` when the
    audit log cannot be gone on with, `HintsBroken` when that of hints by category cannot, and
    `ReplayDiverged` when the recording to be played back cannot.
    """
    signer = Signer(read_keys(settings.signing_keys_file) if settings.signing_keys_file else ())
    hints = load_hints(settings.category_hints)
    async with AsyncExitStack() as stack:
        records = await stack.enter_async_context(_records(settings))
        channel = await stack.enter_async_context(
            open_channel(settings.retrieval_address, settings.tls_files(), retried_services=RETRIED_SERVICES)
        )
        chat, clock = await stack.enter_async_context(_chat_and_clock(settings))
        counters = await stack.enter_async_context(_counters(settings))
        counter = counters.of(settings.answer_model)
        reader = await stack.enter_async_context(_reader(settings))
        retrieval = RetrievalClient(
            channel, settings.retrieval_deadline_seconds, settings.retrieval_calls_at_once
        )
        policy = replace(settings.policy(), reader=reader.name if reader else "")
        tools = _Tools(
            completer=Completer(chat, settings.task_models(), counters.of),
            tasks=Tasks(records, clock, counter, settings.prices),
            retrieval=retrieval,
            articles=ArticlesClient(channel, settings.retrieval_deadline_seconds),
            counter=counter,
            snippets_counter=counters.of(settings.snippets_model),
            signer=signer,
            policy=policy,
            grader=LocalGrader(reader),
            # What finds snippets by a model has not been measured with the reader before it.
            snippet_grader=LocalGrader(None if chat else reader),
            extractions=ResultCache(settings.snippets_cache_seconds, MAX_CACHED_EXTRACTIONS, clock.seconds),
            describing=Describing(
                settings.task_models() if chat else {},
                "" if settings.replay_model_calls else settings.model_host,
                settings.prices,
                counters,
                policy,
                retrieval.embedding,
            ),
        )
        yield Services(NAMES, _servicers(tools, hints).register)


@dataclass(frozen=True, slots=True)
class _Tools:
    """What the tasks are made of."""

    completer: Completer
    tasks: Tasks
    retrieval: RetrievalClient
    articles: ArticlesClient
    counter: TokenCounter
    snippets_counter: TokenCounter
    signer: Signer
    policy: Policy
    grader: LocalGrader
    snippet_grader: LocalGrader
    extractions: ResultCache[Extraction]
    describing: Describing


def _servicers(tools: _Tools, hints: Hints) -> _Servicers:
    retrieval, completer, tasks, signer = tools.retrieval, tools.completer, tools.tasks, tools.signer
    policy, policy_sha256 = tools.policy, tools.policy.sha256()
    extractor = Extractor(retrieval, completer, tools.snippets_counter, policy, signer, tools.snippet_grader)
    drafting = Drafting(retrieval, completer, tools.counter, policy, signer)
    querying = Querying(
        retrieval=retrieval,
        completer=completer,
        counter=tools.counter,
        policy=policy,
        tasks=tasks,
        concluding=Concluding(Judge(retrieval, completer, policy, tools.grader), drafting),
    )
    return _Servicers(
        query=QueryServicer(querying, QueryingEach(querying, retrieval)),
        generation=QueryGenerationServicer(QueryGeneration(completer, tasks, hints)),
        research=ResearchServicer(Research(retrieval, extractor, policy, tasks, tools.extractions)),
        article=ArticleServicer(
            Compiling(retrieval, tools.articles, completer, tasks, signer, policy), tools.articles
        ),
        rewrite=RewriteServicer(Rewriting(retrieval, completer, tasks, signer, policy_sha256)),
        grounding=GroundingServicer(
            Grounding(retrieval, tasks, signer, policy_sha256), Verifying(retrieval, tasks, signer)
        ),
        models=ModelServicer(tools.describing),
    )


@asynccontextmanager
async def _chat_and_clock(settings: AnswerSettings) -> AsyncIterator[tuple[ChatModel | None, Clock]]:
    """The chat model and the clock: the real ones, which may be recorded, or those of a recording."""
    if settings.replay_model_calls:
        recording = Recording.read(settings.replay_model_calls)
        yield ReplayedChat(recording), replayed(recording)
        return
    async with _chat_model(settings) as chat:
        if chat and settings.record_model_calls:
            with closing(Recorder(settings.record_model_calls)) as recorder:
                yield RecordingChat(chat, recorder), recorded(SYSTEM_CLOCK, recorder)
        else:
            yield chat, SYSTEM_CLOCK


@asynccontextmanager
async def _chat_model(settings: AnswerSettings) -> AsyncIterator[ChatModel | None]:
    """The chat model of the settings; None when they name no model server."""
    if not settings.names_model_server:
        yield None
        return
    # Not at the top: the openai package takes .6 s and 40 MB, for nothing where no server is named.
    from inference.chat.client import OpenAIChat
    from inference.transport import ModelServer

    server = ModelServer(settings)
    try:
        yield OpenAIChat(server, settings)
    finally:
        await server.close()


@asynccontextmanager
async def _counters(settings: AnswerSettings) -> AsyncIterator[TokenCounters]:
    """What counts tokens. Reading an encoding takes .3 s, which no question waits for."""
    counters = TokenCounters(settings.tiktoken_cache_dir)
    reading = asyncio.create_task(asyncio.to_thread(counters.of(settings.answer_model).count, ""))
    try:
        yield counters
    finally:
        await asyncio.wait([reading])


@asynccontextmanager
async def _reader(settings: AnswerSettings) -> AsyncIterator[ReadingModel | None]:
    """The reader of the settings; None when it is off or not there, and the log says which."""
    folder = settings.reader_folder()
    if folder is None:
        logger.info("there is no reader", extra={"setting": settings.reader})
        yield None
        return
    # Not at the top: what runs it takes 60 MB, for nothing where it is off.
    from inference.reading.reader import Reader

    reader = await asyncio.to_thread(
        Reader, folder, settings.reader_deadline_seconds, settings.reader_threads
    )
    logger.info("the reader is there", extra={"reader": reader.name})
    try:
        yield reader
    finally:
        await reader.close()


@dataclass(frozen=True, slots=True)
class _Servicers:
    """One for each proto service."""

    query: query_service_pb2_grpc.QueryServiceServicer
    generation: query_generation_service_pb2_grpc.QueryGenerationServiceServicer
    research: research_service_pb2_grpc.ResearchServiceServicer
    article: article_service_pb2_grpc.ArticleServiceServicer
    rewrite: rewrite_service_pb2_grpc.RewriteServiceServicer
    grounding: grounding_service_pb2_grpc.GroundingServiceServicer
    models: model_service_pb2_grpc.ModelServiceServicer

    def register(self, server: grpc.aio.Server) -> None:
        """Add all of them to a server."""
        query_service_pb2_grpc.add_QueryServiceServicer_to_server(self.query, server)
        query_generation_service_pb2_grpc.add_QueryGenerationServiceServicer_to_server(
            self.generation, server
        )
        research_service_pb2_grpc.add_ResearchServiceServicer_to_server(self.research, server)
        article_service_pb2_grpc.add_ArticleServiceServicer_to_server(self.article, server)
        rewrite_service_pb2_grpc.add_RewriteServiceServicer_to_server(self.rewrite, server)
        grounding_service_pb2_grpc.add_GroundingServiceServicer_to_server(self.grounding, server)
        model_service_pb2_grpc.add_ModelServiceServicer_to_server(self.models, server)


@contextmanager
def _audit_log(settings: AnswerSettings, keys: Keys) -> Iterator[AuditLog]:
    """The audit log, open. One whose folder cannot be written now is opened by the first record that can."""
    log = AuditLog(
        settings.data_dir / "logs",
        chain_name(gethostname(), token_hex(8)),
        keys,
        FileLimits(50 * MEGABYTE, settings.audit_files - 1, settings.audit_retention()),
    )
    try:
        log.open()
    except OSError:
        logger.exception("audit log cannot be opened")
    with closing(log):
        yield log


@asynccontextmanager
async def _records(settings: AnswerSettings) -> AsyncIterator[Records]:
    """The records of all calls, with what keeps and removes them."""
    file = settings.audit_keys_file or settings.signing_keys_file
    keys = Keys(read_keys(file) if file else ())
    limits = FileLimits(10 * MEGABYTE, 4, settings.audit_retention())
    debug = RecordFile(settings.data_dir / "logs" / "debug.jsonl", limits)
    texts = Texts(settings.audit_query_text, settings.audit_answer_text, keys.current)
    with _audit_log(settings, keys) as audit_log:
        async with RecordWriter() as writer, retaining(writer, (audit_log, debug), SYSTEM_CLOCK):
            yield Records(writer, audit_log, debug, texts=texts, echo=settings.log_queries)
