from __future__ import annotations

from dataclasses import dataclass

import pytest

from clausegate import ClausegateError
from clausegate.corpus.v1.document_pb2 import Document
from cli.naming import DocumentUnclear, DocumentUnknown, documents_named

DOCUMENTS = {
    "acme/licence.pdf": "Software Licence Agreement",
    "acme/licence-2.pdf": "First Amendment",
    "globex/2026/fees.docx": "Fee Schedule",
}


@dataclass
class Index:
    """What the services tell of documents."""

    listed: int = 0

    async def get_document(self, document_id: str) -> Document:
        if document_id not in DOCUMENTS:
            raise ClausegateError("NOT_FOUND", "DOCUMENT_NOT_FOUND", "no such document")
        return document(document_id)

    async def documents(self):
        self.listed += 1
        for document_id in DOCUMENTS:
            yield document(document_id)


def document(document_id: str) -> Document:
    source, _, path = document_id.partition("/")
    return Document(
        document_id=document_id,
        source=source,
        path=path,
        title=DOCUMENTS[document_id],
        generation="g",
        format=1,
    )


@pytest.mark.parametrize(
    ("name", "document_id"),
    [
        ("acme/licence.pdf", "acme/licence.pdf"),
        ("FEES", "globex/2026/fees.docx"),
        ("amendment", "acme/licence-2.pdf"),
        ("software lic", "acme/licence.pdf"),
        ("licence-2", "acme/licence-2.pdf"),
    ],
)
async def test_a_document_is_named_by_a_part_that_is_its_alone(name, document_id):
    assert await documents_named(Index(), [name]) == [document_id]


async def test_ids_need_no_list_of_all_documents():
    index = Index()

    assert await documents_named(index, list(DOCUMENTS)) == list(DOCUMENTS)
    assert index.listed == 0


async def test_a_part_of_several_names_is_refused_and_each_is_told():
    with pytest.raises(DocumentUnclear, match=r"2 documents .* acme/licence\.pdf .*acme/licence-2\.pdf"):
        await documents_named(Index(), ["licence"])


async def test_the_nearest_is_offered_for_a_name_that_there_is_not():
    with pytest.raises(DocumentUnknown, match=r"no document has `lisence` .* nearest: acme/licence\.pdf"):
        await documents_named(Index(), ["lisence"])


async def test_where_nothing_is_near_the_list_is():
    with pytest.raises(DocumentUnknown, match="`clausegate documents` lists them") as unknown:
        await documents_named(Index(), ["zzzzzz"])

    problem = unknown.value.problem()
    assert (problem["reason"], problem["errors"][0]["field"]) == ("DOCUMENT_NOT_FOUND", "documentIds[0]")


async def test_another_failure_is_not_taken_for_a_missing_document():
    class Down(Index):
        async def get_document(self, document_id: str) -> Document:
            raise ClausegateError("UNAVAILABLE", "", "gone")

    with pytest.raises(ClausegateError, match="gone"):
        await documents_named(Down(), ["acme/licence.pdf"])
