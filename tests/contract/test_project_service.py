"""ProjectService over real sockets and store."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain

import pytest
import pytest_asyncio

from chassis.errors import ServiceError
from clausegate.retrieval.v1 import index_service_pb2, retrieval_service_pb2
from clausegate.retrieval.v1 import project_service_pb2 as wire
from tests.contract.messages import reads_well
from tests.contract.retrieval_index import STORES, Text, running

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=STORES)
async def served(request, tmp_path_factory, socket_dirs):
    folder = tmp_path_factory.mktemp("index")
    with request.param() as store:
        async with running(folder, socket_dirs(), **store) as service:
            yield service


@pytest_asyncio.fixture(loop_scope="module")
async def service(served):
    """A service without projects."""
    for project in chain(*await pages(served, page_size=1000)):
        await served.call(
            served.projects.DeleteProject, wire.DeleteProjectRequest(project_id=project.project_id)
        )
    return served


async def create(service, project_id, *sources, **fields):
    request = wire.CreateProjectRequest(project_id=project_id, sources=sources or ["cme"], **fields)
    return (await service.call(service.projects.CreateProject, request)).project


async def get(service, project_id):
    request = wire.GetProjectRequest(project_id=project_id)
    return (await service.call(service.projects.GetProject, request)).project


async def pages(service, **request):
    token, seen = "", []
    while True:
        page = await service.call(
            service.projects.ListProjects, wire.ListProjectsRequest(page_token=token, **request)
        )
        seen.append(list(page.projects))
        token = page.next_page_token
        if not token:
            return seen


async def refusal(service, method, request):
    with pytest.raises(ServiceError) as refused:
        await service.call(method, request)
    assert reads_well(refused.value), str(refused.value)
    return refused.value.code, refused.value.reason, refused.value.field


async def test_a_project_is_read_as_it_was_created(service):
    created = await create(service, "pricing-review", "opra", "cme", "opra", display_name="Pricing, “2025”")

    assert created.project_id == "pricing-review"
    assert created.display_name == "Pricing, “2025”"
    assert list(created.sources) == ["cme", "opra"]
    assert created.created_at == created.updated_at
    assert abs(created.created_at.ToDatetime(UTC) - datetime.now(UTC)).total_seconds() < 60
    assert await get(service, "pricing-review") == created


async def test_a_project_without_a_name_is_named_by_its_id(service):
    assert (await create(service, "a" * 64)).display_name == "a" * 64


async def test_an_id_that_is_taken_is_refused(service):
    created = await create(service, "a", "cme")

    request = wire.CreateProjectRequest(project_id="a", sources=["opra"])
    refused = await refusal(service, service.projects.CreateProject, request)

    assert refused == ("ALREADY_EXISTS", "PROJECT_EXISTS", "project_id")
    assert await get(service, "a") == created


async def test_an_updated_project_keeps_when_it_was_created(service):
    created = await create(service, "a", "cme", display_name="Old")

    request = wire.UpdateProjectRequest(project_id="a", sources=["ice", "opra"])
    updated = (await service.call(service.projects.UpdateProject, request)).project

    assert (updated.display_name, list(updated.sources)) == ("a", ["ice", "opra"])
    assert updated.created_at == created.created_at
    assert updated.updated_at.ToMicroseconds() > created.updated_at.ToMicroseconds()
    assert await get(service, "a") == updated


async def test_a_deleted_project_is_gone(service):
    await create(service, "a")
    await service.call(service.projects.DeleteProject, wire.DeleteProjectRequest(project_id="a"))
    assert await pages(service) == [[]]


@pytest.mark.parametrize("project_id", ["none", "Not An Id", "-"])
@pytest.mark.parametrize("call", ["Get", "Delete"])
async def test_an_unknown_project_is_named(service, call, project_id):
    request = getattr(wire, f"{call}ProjectRequest")(project_id=project_id)
    refused = await refusal(service, getattr(service.projects, f"{call}Project"), request)
    assert refused == ("NOT_FOUND", "PROJECT_NOT_FOUND", "project_id")


async def test_an_unknown_project_is_not_updated(service):
    request = wire.UpdateProjectRequest(project_id="none", sources=["cme"])
    refused = await refusal(service, service.projects.UpdateProject, request)
    assert refused == ("NOT_FOUND", "PROJECT_NOT_FOUND", "project_id")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"project_id": ""}, "project_id"),
        ({"project_id": "-a"}, "project_id"),
        ({"project_id": "A"}, "project_id"),
        ({"project_id": "a b"}, "project_id"),
        ({"project_id": "a\n"}, "project_id"),
        ({"project_id": "a" * 65}, "project_id"),
        ({"display_name": " "}, "display_name"),
        ({"display_name": "a\nb"}, "display_name"),
        ({"display_name": "a\0b"}, "display_name"),
        ({"display_name": "a" * 201}, "display_name"),
        ({"sources": []}, "sources"),
        ({"sources": [f"s{number}" for number in range(101)]}, "sources"),
        ({"sources": ["cme", ""]}, "sources[1]"),
        ({"sources": ["CME"]}, "sources[0]"),
        ({"sources": ["cme", "opra", "a/b"]}, "sources[2]"),
        ({"sources": ["a" * 65]}, "sources[0]"),
    ],
)
@pytest.mark.parametrize("call", ["Create", "Update"])
async def test_bad_projects_are_refused_with_the_field(service, call, fields, field):
    request = getattr(wire, f"{call}ProjectRequest")(**{"project_id": "a", "sources": ["cme"], **fields})
    refused = await refusal(service, getattr(service.projects, f"{call}Project"), request)
    assert refused == ("INVALID_ARGUMENT", "INVALID_FIELD", field)


@pytest.mark.parametrize("call", ["Get", "Delete"])
async def test_an_id_is_required(service, call):
    request = getattr(wire, f"{call}ProjectRequest")()
    refused = await refusal(service, getattr(service.projects, f"{call}Project"), request)
    assert refused == ("INVALID_ARGUMENT", "INVALID_FIELD", "project_id")


async def test_a_hundred_sources_may_be_named_more_than_once(service):
    sources = [f"s{number:02}" for number in range(100)]
    assert list((await create(service, "a", *sources, *sources)).sources) == sources


@pytest.mark.parametrize("page_size", [1, 2, 4, 5, 6, 0, 5000])
async def test_paging_sees_every_project_once_in_order(service, page_size):
    created = [await create(service, project_id) for project_id in ("0", "a", "a-b", "a0", "b")]
    seen = await pages(service, page_size=page_size)
    assert [*chain(*seen)] == created
    assert all(len(page) <= (page_size or 50) for page in seen)


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (wire.ListProjectsRequest(page_size=-1), "page_size"),
        (wire.ListProjectsRequest(page_token="made up"), "page_token"),
    ],
)
async def test_bad_lists_are_refused(service, request_, field):
    refused = await refusal(service, service.projects.ListProjects, request_)
    assert refused == ("INVALID_ARGUMENT", "INVALID_FIELD", field)


async def test_a_mangled_token_is_refused(service):
    for project_id in ("a", "b"):
        await create(service, project_id)
    page = await service.call(service.projects.ListProjects, wire.ListProjectsRequest(page_size=1))
    last = "B" if page.next_page_token[-2] == "A" else "A"
    mangled = f"{page.next_page_token[:-2]}{last}{page.next_page_token[-1]}"
    refused = await refusal(
        service, service.projects.ListProjects, wire.ListProjectsRequest(page_token=mangled)
    )
    assert refused[2] == "page_token"


async def test_projects_change_neither_the_revision_nor_what_a_search_finds(service):
    await service.put(Text("cme/fees.txt", ["Fees are due monthly."]))
    described = await service.call(service.index.DescribeIndex, index_service_pb2.DescribeIndexRequest())

    await create(service, "zebra", "zebra", display_name="Zebra stripes")

    found = await service.call(
        service.retrieval.Search, retrieval_service_pb2.SearchRequest(query="zebra stripes")
    )
    assert found.index_revision == described.index_revision
    assert [each.chunk.document_id for each in found.candidates] == ["cme/fees.txt"]
    assert found.keyword.count == 0
