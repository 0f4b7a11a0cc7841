"""One embedded stack with the five files of `corpus`, for all tests that only read."""

from __future__ import annotations

import pytest

from tests.e2e.corpus import write_corpus
from tests.e2e.processes import clausegate, embedded_stack


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def stack(tmp_path_factory, socket_dirs, free_port):
    data = tmp_path_factory.mktemp("stack") / "data"
    with embedded_stack(data, socket_dirs(), free_port()) as stack:
        yield stack


@pytest.fixture(scope="session")
def ingested(stack, corpus):
    """The stack after `clausegate ingest`, and what the command printed."""
    return stack, clausegate("ingest", str(corpus), "--server", stack.grpc, "--json")


@pytest.fixture
def filled(ingested):
    return ingested[0]
