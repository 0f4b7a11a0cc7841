"""The whole product over Weaviate says what it says over files.

The Weaviate is the fake, and the one that the environment names, if it names one.
"""

import json
import secrets
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from tests.contract.store import weaviate_server
from tests.e2e.processes import ROOT, clausegate, embedded_stack
from tests.fakes.weaviate_server import WeaviateServer

EXAMPLES = ROOT / "examples" / "corpus"
AUDIT = "How often, and on what notice, may Tarnholm audit the Licensee?"
REAL_TIME = "What is the fee for real-time data of Quillhaven?"
INSURANCE = "Must the Licensee buy insurance?"
DRAFT = "Tarnholm may audit the Licensee on not less than 5 days’ written notice. The Licensee pays in gold."
OF_A_RUN = {
    *("queryId", "traceId", "finishedAt", "indexedAt", "latency", "indexRevision", "revision"),
    *("processingTimeMs", "cached"),
}
"""Fields that differ from run to run over one store, too."""
OF_A_STORE = {"bm25Score", "keywordRank", "topScore"}
"""Raw BM25, for which the stores count the length of a chunk differently; no evidence is made of it."""
TOLERANCE = 0.01
"""Of scores: with other lengths another chunk may be the last of the keyword leg, and the words of all that
were found weigh in each one's share (.3 % in the refusal here); what is said must be the same."""
COMMANDS = {
    "answer": ["ask", AUDIT, "--sources", "tarnholm"],
    "answer over all": ["ask", REAL_TIME],
    "refusal": ["ask", INSURANCE, "--sources", "tarnholm"],
    "definition": ["define", "Unit of Count"],
    "snippets": ["snippets", "notice before an audit"],
    "grounding": ["ground"],
    "context": ["context", "fees for non-display use"],
    "sources": ["sources"],
    "documents": ["documents"],
    "search": ["search", REAL_TIME],
    "search by vectors": ["search", REAL_TIME, "--mode", "vector"],
}


@contextmanager
def fake():
    with WeaviateServer() as server:
        yield {"CLAUSEGATE_WEAVIATE_URL": server.url, "CLAUSEGATE_WEAVIATE_GRPC_URL": server.grpc_url}


@contextmanager
def real():
    prefix = f"Product{secrets.token_hex(4)}"
    yield {
        "CLAUSEGATE_WEAVIATE_URL": weaviate_server.URL,
        "CLAUSEGATE_WEAVIATE_GRPC_URL": weaviate_server.GRPC_URL,
        "CLAUSEGATE_WEAVIATE_API_KEY": weaviate_server.API_KEY,
        "CLAUSEGATE_WEAVIATE_PREFIX": prefix,
    }
    weaviate_server.drop_collections(prefix)


# Two stacks that embed the examples: what answers from Weaviate is tested service by service in `make test`.
SERVERS = [pytest.param(fake, id="fake", marks=pytest.mark.soak)]
if weaviate_server.URL:
    SERVERS.append(pytest.param(real, id="real", marks=pytest.mark.weaviate))


@contextmanager
def filled_with_examples(root: Path, socket_dirs, free_port, **settings):
    with embedded_stack(root / "data", socket_dirs(), free_port(), **settings) as stack:
        assert clausegate("ingest", str(EXAMPLES), "--server", stack.grpc).returncode == 0
        yield stack


@pytest.fixture(scope="module")
def over_files(tmp_path_factory, socket_dirs, free_port):
    with filled_with_examples(tmp_path_factory.mktemp("files"), socket_dirs, free_port) as stack:
        yield stack


@pytest.fixture(scope="module", params=SERVERS)
def over_weaviate(request, tmp_path_factory, socket_dirs, free_port):
    root = tmp_path_factory.mktemp("weaviate")
    with (
        request.param() as server,
        filled_with_examples(root, socket_dirs, free_port, CLAUSEGATE_STORE="weaviate", **server) as stack,
    ):
        yield stack


def said(stack, command):
    """Exit code and JSON of a command."""
    result = CliRunner().invoke(app, [*command, "--server", stack.grpc, "--json"], input=DRAFT)
    return result.exit_code, json.loads(result.stdout)


def leaves(value, path=""):
    """Values by path, but for those of a run or a store."""
    if isinstance(value, dict):
        inner = [
            (f"{path}.{name}", each) for name, each in value.items() if name not in OF_A_RUN | OF_A_STORE
        ]
    elif isinstance(value, list):
        inner = [(f"{path}[{place}]", each) for place, each in enumerate(value)]
    else:
        return {path: value}
    return {place: leaf for at, each in inner for place, leaf in leaves(each, at).items()}


def scores(printed):
    return {path: leaf for path, leaf in leaves(printed).items() if isinstance(leaf, float)}


def words(printed):
    return {path: leaf for path, leaf in leaves(printed).items() if not isinstance(leaf, float)}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_says_over_weaviate_what_it_says_over_files(over_files, over_weaviate, command):
    code, printed = said(over_files, command)
    code_over_weaviate, printed_over_weaviate = said(over_weaviate, command)

    assert code_over_weaviate == code
    assert words(printed_over_weaviate) == words(printed)
    assert scores(printed_over_weaviate) == pytest.approx(scores(printed), rel=TOLERANCE, abs=TOLERANCE)


@pytest.mark.parametrize("mode", ["keyword", "keyword-first"])
def test_keywords_find_the_same_chunks_over_weaviate_as_over_files(over_files, over_weaviate, mode):
    command = ["search", REAL_TIME, "--mode", mode]
    found, found_over_weaviate = (
        {each["chunk"]["chunkId"] for each in said(stack, command)[1]["candidates"]}
        for stack in (over_files, over_weaviate)
    )

    assert found
    assert found_over_weaviate == found
