"""Digests of what the index holds cover all fields, those of later releases among them."""

import pytest
from google.protobuf.descriptor import FieldDescriptor

from clausegate.corpus.v1.chunk_pb2 import Chunk
from clausegate.corpus.v1.definition_pb2 import Definition
from clausegate.corpus.v1.document_pb2 import Document
from clausegate.digests import NOT_DIGESTED, contents_digest, digest_of

FIELDS = [
    (kind, field.name)
    for kind in (Chunk, Definition, Document)
    for field in kind.DESCRIPTOR.fields
    if field.name not in NOT_DIGESTED
]


VALUES = {FieldDescriptor.TYPE_STRING: "x", FieldDescriptor.TYPE_BYTES: b"x"}
"""What a field of another type than a number is set to."""


def changed(kind, name):
    """A message in which this one field has another value than unset."""
    message = kind()
    field = kind.DESCRIPTOR.fields_by_name[name]
    if field.message_type is not None:
        target = getattr(message, name)
        (target.add() if field.is_repeated else target).SetInParent()
    elif field.is_repeated:
        getattr(message, name).append(VALUES.get(field.type, 1))
    else:
        setattr(message, name, VALUES.get(field.type, 1))
    return message


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_every_field_changes_the_digest(kind, name):
    assert digest_of(changed(kind, name)) != digest_of(kind())


@pytest.mark.parametrize("kind", [Chunk, Definition, Document])
def test_a_digest_does_not_depend_on_itself(kind):
    message = kind()
    message.digest = digest_of(kind())

    assert digest_of(message) == digest_of(kind())


def test_a_digest_does_not_depend_on_when_a_version_became_visible():
    message = Chunk(text="fee")
    message.indexed_at.GetCurrentTime()

    assert digest_of(message) == digest_of(Chunk(text="fee"))


def test_a_digest_does_not_depend_on_the_html_that_was_asked_for():
    assert digest_of(Chunk(text="fee", html="<p>fee</p>")) == digest_of(Chunk(text="fee"))


def test_a_field_of_a_later_release_changes_the_digest():
    later = Chunk.FromString(Chunk(text="fee").SerializeToString() + b"\xa2\x06\x01x")

    assert digest_of(later) != digest_of(Chunk(text="fee"))


def test_the_digest_of_contents_knows_each_part_and_no_order():
    assert contents_digest(["a", "b"]) == contents_digest(["b", "a"])
    assert len({contents_digest(each) for each in (["a"], ["a", "a"], ["a", "b"], [])}) == 4
