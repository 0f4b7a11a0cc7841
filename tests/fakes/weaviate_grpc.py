"""The gRPC side of the fake Weaviate: batches, searches and tenants, as far as our store asks for them.

What the real server refuses is refused. What the fake cannot do is refused, too, and held against the test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from weaviate.proto.v1 import (
    base_search_pb2,
    batch_delete_pb2,
    batch_pb2,
    search_get_pb2,
    tenants_pb2,
)

from tests.fakes.weaviate_database import Collection, Database, Refused, Stored, Tenant
from tests.fakes.weaviate_filters import matching
from tests.fakes.weaviate_ranking import Ranking, keyword_ranking, vector_ranking
from tests.fakes.weaviate_schema import Unsupported
from tests.fakes.weaviate_wire import (
    check_known,
    properties_reply,
    read_matrix,
    read_properties,
    read_vectors,
    vectors_reply,
)

DEFAULT_LIMIT = 10
MOST_RESULTS = 10_000
METADATA = (
    "uuid",
    "vector",
    "vectors",
    "distance",
    "score",
    "creation_time_unix",
    "last_update_time_unix",
    "is_consistent",
)
"""What may be asked of an object besides its properties; one replica says nothing of consistency."""
Rejects = Callable[[int], str | None]
"""Why the object of a batch with this index is rejected; None if it is not."""
Replies = search_get_pb2.SearchReply
Batch = batch_pb2.BatchObjectsRequest


def none(index: int) -> None:
    """Rejects no object."""


def batch_objects(database: Database, request: Batch, rejects: Rejects = none) -> batch_pb2.BatchObjectsReply:
    """Store what can be stored; the rest is named in the reply, which is no error.

    When nothing can be written, only the first object is named, as if the others had been stored.
    """
    check_known(request, "objects")
    error = batch_pb2.BatchObjectsReply.BatchError
    errors = []
    try:
        database.check_writable()
    except Refused as refused:
        return batch_pb2.BatchObjectsReply(errors=[error(index=0, error=str(refused))])
    for index, sent in enumerate(request.objects):
        try:
            if message := rejects(index):
                raise Refused(message)
            _put(database, sent)
        except Refused as refused:
            errors.append(error(index=index, error=str(refused)))
    return batch_pb2.BatchObjectsReply(errors=errors)


def _put(database: Database, sent: batch_pb2.BatchObject) -> None:
    check_known(sent, "uuid", "properties", "collection", "tenant", "vectors")
    collection = database.collection(sent.collection)
    properties = read_properties(sent.properties, collection)
    vectors = read_vectors(sent.vectors, collection)
    tenant = collection.tenant(sent.tenant)
    tenant.put(UUID(sent.uuid), properties, vectors, collection.searchable)


def batch_delete(
    database: Database, request: batch_delete_pb2.BatchDeleteRequest, rejects: Rejects = none
) -> batch_delete_pb2.BatchDeleteReply:
    """Delete what passes the filter, 10,000 objects at most: that there are more is no error.

    When nothing can be written, one failure stands for all.
    """
    check_known(request, "collection", "filters", "tenant", "dry_run")
    collection, tenant = database.place(request.collection, request.tenant)
    if not request.HasField("filters"):
        raise Refused("no filters in batch delete request")
    found = matching(collection, tenant, request.filters)
    if database.read_only:
        return batch_delete_pb2.BatchDeleteReply(matches=len(found), failed=1)
    tried = found[:MOST_RESULTS]
    deleted = [stored for index, stored in enumerate(tried) if not rejects(index)]
    for stored in deleted if not request.dry_run else ():
        del tenant.objects[stored.uuid]
    return batch_delete_pb2.BatchDeleteReply(
        matches=len(found), successful=len(deleted), failed=len(tried) - len(deleted)
    )


def search(database: Database, request: search_get_pb2.SearchRequest) -> Replies:
    """A ranking by words or vectors, or a list."""
    check_known(
        request,
        "collection",
        "tenant",
        "properties",
        "metadata",
        "limit",
        "offset",
        "after",
        "sort_by",
        "filters",
        "bm25_search",
        "near_vector",
    )
    collection, tenant = database.place(request.collection, request.tenant)
    limit = request.limit or DEFAULT_LIMIT
    if request.offset + limit > MOST_RESULTS:
        raise Refused(
            "query maximum results exceeded: the total limit calculated from the provided offset "
            f"'{request.offset}' and limit '{limit}' exceeds the configured value for "
            f"QUERY_MAXIMUM_RESULTS '{MOST_RESULTS}'"
        )
    if request.after and (request.offset or request.sort_by or request.HasField("filters")):
        raise Refused("offset, where and sort cannot be set with after and limit parameters")
    found = _ranked(collection, tenant, request, request.offset + limit)[request.offset :]
    names = _names(collection, request)
    return Replies(results=[_result(collection, request, each, score, names) for each, score in found])


def _ranked(
    collection: Collection, tenant: Tenant, request: search_get_pb2.SearchRequest, limit: int
) -> Ranking:
    allowed = None
    if request.HasField("filters"):
        allowed = {each.uuid: None for each in matching(collection, tenant, request.filters)}
    if request.HasField("near_vector"):
        name, query = _target(collection, request.near_vector)
        return vector_ranking(tenant, name, query, limit, allowed)
    if request.HasField("bm25_search"):
        wanted = request.bm25_search
        check_known(wanted, "query", "properties")
        return keyword_ranking(collection, tenant, wanted.query, wanted.properties, limit, allowed)
    # Without a filter the real server goes by id, with one by when an object was written.
    listed = _after(tenant, request) if allowed is None else [tenant.objects[uuid] for uuid in allowed]
    for sorting in reversed(request.sort_by):
        listed = _sorted(collection, listed, sorting)
    return [(each, 0.0) for each in listed[:limit]]


def _after(tenant: Tenant, request: search_get_pb2.SearchRequest) -> list[Stored]:
    """All objects by id, those that follow the id that is named, whether it is there or not."""
    listed = tenant.in_order()
    return [each for each in listed if each.uuid > UUID(request.after)] if request.after else listed


def _target(collection: Collection, wanted: base_search_pb2.NearVector) -> tuple[str, Any]:
    check_known(wanted, "targets", "vectors")
    (name,) = wanted.targets.target_vectors or collection.multi_vectors
    if name not in collection.multi_vectors:
        raise Refused(f"class {collection.name} does not have named vector {name} configured")
    (vector,) = wanted.vectors
    return name, read_matrix(vector)


def _sorted(collection: Collection, listed: Sequence[Stored], sorting: search_get_pb2.SortBy) -> list[Stored]:
    """By one property. Texts are compared without case; what has none comes first."""
    (name,) = sorting.path
    if name.startswith("_"):
        raise Unsupported(f"sorting by {name}")
    if collection.property(name).data_type == "int" and any(name not in each.properties for each in listed):
        raise Unsupported("sorting by a number that some have not: the real server may leave these out")

    def key(stored: Stored) -> tuple[bool, Any]:
        value = stored.properties.get(name)
        return value is not None, value.lower() if isinstance(value, str) else value or 0

    return sorted(listed, key=key, reverse=not sorting.ascending)


def _names(collection: Collection, request: search_get_pb2.SearchRequest) -> list[str]:
    wanted = request.properties
    if not request.HasField("properties") or wanted.return_all_nonref_properties:
        return list(collection.properties)
    check_known(wanted, "non_ref_properties")
    return list(wanted.non_ref_properties)


def _result(
    collection: Collection,
    request: search_get_pb2.SearchRequest,
    stored: Stored,
    score: float,
    names: Sequence[str],
) -> search_get_pb2.SearchResult:
    wanted = request.metadata
    check_known(wanted, *METADATA)
    vectors = (
        stored.vectors
        if wanted.vector
        else {name: stored.vectors[name] for name in wanted.vectors if name in stored.vectors}
    )
    metadata = search_get_pb2.MetadataResult(
        id=str(stored.uuid) if wanted.uuid else "",
        id_as_bytes=stored.uuid.bytes if wanted.uuid else b"",
        vectors=[vectors_reply(*each) for each in vectors.items()],
    )
    if wanted.creation_time_unix:
        metadata.creation_time_unix, metadata.creation_time_unix_present = stored.created, True
    if wanted.last_update_time_unix:
        metadata.last_update_time_unix, metadata.last_update_time_unix_present = stored.updated, True
    if wanted.distance and request.HasField("near_vector"):
        metadata.distance, metadata.distance_present = score, True
    if wanted.score and request.HasField("bm25_search"):
        metadata.score, metadata.score_present = score, True
    return search_get_pb2.SearchResult(
        properties=properties_reply(collection, stored, names), metadata=metadata
    )


def tenants_get(database: Database, request: tenants_pb2.TenantsGetRequest) -> tenants_pb2.TenantsGetReply:
    """All tenants, or those of these names that are there."""
    collection = database.collection(request.collection)
    names = list(request.names.values) if request.HasField("names") else list(collection.tenants)
    if request.HasField("names") and not names:
        raise Refused("must specify at least one tenant name")
    hot = tenants_pb2.TENANT_ACTIVITY_STATUS_HOT
    return tenants_pb2.TenantsGetReply(
        tenants=[
            tenants_pb2.Tenant(name=each, activity_status=hot) for each in names if each in collection.tenants
        ]
    )
