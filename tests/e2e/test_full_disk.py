"""A write that a full disk refuses says so and changes nothing; it succeeds when there is room again."""

import resource
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest
import pytest_asyncio

import clausegate
from tests.e2e.processes import READY_SECONDS, running, wait_until

pytestmark = pytest.mark.asyncio(loop_scope="module")

FEES = b"# Fees\n\nThe Licensee shall pay a fee of USD 120 for each month, in advance.\n"
QUESTION = "How high is the fee for a month?"
PROCESSES = ("retrieval", "ingest")


@dataclass
class Services:
    """Ingest and retrieval, each a process, and a client of both."""

    client: clausegate.Client
    pids: dict[str, int]

    @contextmanager
    def full(self, name):
        """No file of this process can be written to, as if its disk were full."""
        pid = self.pids[name]
        room = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, room[1]))
        try:
            yield
        finally:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, room)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def services(tmp_path_factory, socket_dirs):
    folder, sockets = tmp_path_factory.mktemp("disks"), socket_dirs()
    addresses = {name: f"unix:{sockets}/{name}" for name in PROCESSES}
    settings = {f"CLAUSEGATE_{name.upper()}_ADDRESS": address for name, address in addresses.items()}
    with ExitStack() as stack:
        pids = {}
        for name in PROCESSES:
            data = {"CLAUSEGATE_DATA_DIR": str(folder / name)}
            process = running(f"services.{name}", {**settings, **data}, folder / f"{name}.log")
            pids[name] = stack.enter_context(process).pid
            wait_until((sockets / name).exists, READY_SECONDS)
        both = clausegate.Addresses(addresses["ingest"], addresses["retrieval"], addresses["retrieval"])
        async with clausegate.connect(both) as client:
            yield Services(client, pids)


async def refusal(call):
    """Why a call failed, and when to try again."""
    with pytest.raises(clausegate.ClausegateError) as refused:
        await call
    return refused.value.code, refused.value.reason, refused.value.retry_after_seconds


FULL = ("UNAVAILABLE", "STORAGE_UNAVAILABLE", 5)


async def is_there(client):
    """Whether the document is listed, found, archived and expected; all of it, or nothing."""
    listed = [document.document_id async for document in client.documents()]
    archived = [original.document_id async for original in client.originals()]
    assert listed == archived
    if not listed:
        return False
    found = await client.search(QUESTION)
    assert [candidate.chunk.document_id for candidate in found.candidates] == listed
    assert b"".join([part async for part in client.get_original("cme/fees.md")]) == FEES
    return True


@pytest.mark.parametrize("full", PROCESSES)
async def test_a_document_that_a_full_disk_keeps_from_removal_is_there_as_a_whole(services, full):
    await services.client.ingest(FEES, source="cme", path="fees.md")

    with services.full(full):
        assert await refusal(services.client.remove_document("cme/fees.md")) == FULL
        assert await is_there(services.client)
    assert await is_there(services.client)

    await services.client.remove_document("cme/fees.md")
    assert not await is_there(services.client)


async def test_a_project_that_a_full_disk_keeps_from_change_stays_as_it_was(services):
    client = services.client
    project = await client.create_project("review", ["cme"], display_name="Review")

    with services.full("retrieval"):
        assert await refusal(client.update_project("review", ["ice"], display_name="Renamed")) == FULL
        assert await refusal(client.delete_project("review")) == FULL
        assert await client.get_project("review") == project
    assert await client.get_project("review") == project

    renamed = await client.update_project("review", ["ice"], display_name="Renamed")
    assert (renamed.display_name, list(renamed.sources)) == ("Renamed", ["ice"])
    await client.delete_project("review")
    assert await refusal(client.get_project("review")) == ("NOT_FOUND", "PROJECT_NOT_FOUND", None)
