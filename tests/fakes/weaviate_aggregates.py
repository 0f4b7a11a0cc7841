"""Aggregates of the fake Weaviate: counts and sums, of all or by the values of a property."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from weaviate.proto.v1 import aggregate_pb2

from tests.fakes.weaviate_database import Collection, Database, Stored
from tests.fakes.weaviate_filters import matching
from tests.fakes.weaviate_schema import Unsupported
from tests.fakes.weaviate_wire import check_known

DEFAULT_GROUPS = 100


def aggregate(database: Database, request: aggregate_pb2.AggregateRequest) -> aggregate_pb2.AggregateReply:
    """Counts and sums, of all or by the values of a property."""
    check_known(
        request, "collection", "tenant", "objects_count", "aggregations", "group_by", "limit", "filters"
    )
    collection, tenant = database.place(request.collection, request.tenant)
    objects = matching(collection, tenant, request.filters if request.HasField("filters") else None)
    if not request.HasField("group_by"):
        single = aggregate_pb2.AggregateReply.Single(**_totals(collection, request, objects))
        return aggregate_pb2.AggregateReply(single_result=single)
    groups = _groups(collection, request, objects)
    if not groups:
        return aggregate_pb2.AggregateReply()
    return aggregate_pb2.AggregateReply(grouped_results=aggregate_pb2.AggregateReply.Grouped(groups=groups))


def _groups(
    collection: Collection, request: aggregate_pb2.AggregateRequest, objects: Iterable[Stored]
) -> list[aggregate_pb2.AggregateReply.Group]:
    """The largest groups; that there are more is no error."""
    name = request.group_by.property
    if collection.property(name).data_type not in ("text", "uuid"):
        raise Unsupported("groups by a property that is no text")
    by_value: dict[str, list[Stored]] = defaultdict(list)
    for each in objects:
        if name in each.properties:
            by_value[each.properties[name]].append(each)
    largest = sorted(by_value.items(), key=lambda item: -len(item[1]))[: request.limit or DEFAULT_GROUPS]
    group = aggregate_pb2.AggregateReply.Group
    return [
        group(grouped_by=group.GroupedBy(path=[name], text=value), **_totals(collection, request, members))
        for value, members in largest
    ]


def _totals(
    collection: Collection, request: aggregate_pb2.AggregateRequest, objects: Sequence[Stored]
) -> dict[str, Any]:
    reply = aggregate_pb2.AggregateReply.Aggregations
    return {
        "objects_count": len(objects),
        "aggregations": reply(
            aggregations=[_total(collection, each, objects) for each in request.aggregations]
        ),
    }


def _total(
    collection: Collection, wanted: aggregate_pb2.AggregateRequest.Aggregation, objects: Sequence[Stored]
) -> aggregate_pb2.AggregateReply.Aggregations.Aggregation:
    check_known(wanted, "property", "int")
    check_known(wanted.int, "count", "sum", "maximum", "minimum")
    if collection.property(wanted.property).data_type != "int":
        raise Unsupported("sums of what is no number")
    values = [each.properties[wanted.property] for each in objects if wanted.property in each.properties]
    reply = aggregate_pb2.AggregateReply.Aggregations.Aggregation
    totals = {"count": len(values)} if wanted.int.count else {}
    if values:
        every = {"sum": sum(values), "maximum": max(values), "minimum": min(values)}
        totals |= {name: value for name, value in every.items() if getattr(wanted.int, name)}
    return reply(property=wanted.property, int=reply.Integer(type="", **totals))
