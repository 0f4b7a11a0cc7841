import httpx
import pytest

from clausegate.answer.v1.query_service_pb2 import StreamQueryRequest
from cli.gateway_client import GatewayClient
from cli.rest import GatewayError

RETRIEVED = 'event: retrieved\nid: 1\ndata: {"candidates": 3}\n\n'
COMPLETED = 'event: completed\nid: 2\ndata: {"response": {"answer": "yes"}}\n\n'
HEARTBEAT = ": heartbeat\n\n"
FAILED = 'event: error\nid: 2\ndata: {"reason": "DEADLINE_EXCEEDED", "detail": "too late"}\n\n'


def gateway(body, *, status=200, content_type="text/event-stream"):
    def answer(request):
        return httpx.Response(status, headers={"Content-Type": content_type}, text=body)

    http = httpx.AsyncClient(base_url="http://gateway", transport=httpx.MockTransport(answer))
    return GatewayClient(http)


async def events(client):
    return [event async for event in client.stream_query(StreamQueryRequest(query="May I?"))]


async def test_events_come_in_order():
    retrieved, completed = await events(gateway(RETRIEVED + COMPLETED))

    assert retrieved.retrieved.candidates == 3
    assert completed.completed.response.answer == "yes"


async def test_a_heartbeat_is_no_event():
    assert len(await events(gateway(RETRIEVED + HEARTBEAT + HEARTBEAT + COMPLETED))) == 2


async def test_what_a_newer_gateway_adds_is_passed_over():
    (event,) = await events(gateway('event: retrieved\ndata: {"candidates": 3, "future": true}\n\n'))

    assert event.retrieved.candidates == 3


async def test_a_failure_within_the_stream_is_raised():
    with pytest.raises(GatewayError, match="DEADLINE_EXCEEDED: too late"):
        await events(gateway(RETRIEVED + FAILED))


async def test_a_failure_before_the_stream_is_raised():
    with pytest.raises(GatewayError, match="SOURCE_NOT_FOUND: no such source"):
        await events(gateway('{"reason": "SOURCE_NOT_FOUND", "detail": "no such source"}', status=404))


async def test_what_is_no_gateway_is_named():
    with pytest.raises(GatewayError, match="HTTP 502 from http://gateway/v1/query:stream"):
        await events(gateway("<html>", status=502, content_type="text/html"))


async def test_a_page_where_events_are_expected_is_an_error():
    with pytest.raises(GatewayError, match="the gateway: "):
        await events(gateway("<html>", content_type="text/html"))
