"""Chooses the documents that a question is put to one by one, and words what each is asked.

Those are the documents that a question names, or all that it asks for: `Which of our leases …`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpus.documents import Document
from corpus.profiles import DocumentKind
from corpus.stems import stems_of
from services.answer.clients.retrieval import RetrievalClient
from services.answer.corpus import Found
from services.answer.query.recognising import AskedOfEach, asked_of_each, compared
from services.answer.questions import Question

MAX_NAMED = 5
"""Documents that a question may name to be answered from each on its own; more are searched together."""
MAX_ASKED = 12
"""Documents that are asked when a question asks for each of many; `QueryEach` asks all."""
WIDE = 100
"""Passages in which the documents are looked for that have most to say; the most that a search gives."""
SHORT_FOR = {
    "nda": DocumentKind.CONFIDENTIALITY,
    "lease": DocumentKind.LEASE,
    "amendment": DocumentKind.AMENDMENT,
}
"""Kinds of documents that are called by a word of their own."""
_ANY_KIND = frozenset(stems_of("agreement contract document deal"))


@dataclass(frozen=True, slots=True)
class Chosen:
    """Documents that a question is put to one by one."""

    document_ids: tuple[str, ...]
    """Two or more, in the order of naming, or those first that have most to say."""
    question: str
    """What each is asked."""
    not_asked: int = 0
    """Further documents that the question asks for."""
    is_named: bool = True
    """Whether the question names them, and does not ask for each of many."""
    by_one_name: bool = False
    """Whether it does so by one name that all of them bear."""


async def choose(retrieval: RetrievalClient, question: Question, found: Found) -> Chosen | None:
    """The documents to put a question to one by one; None when it is put to all at once, or to one."""
    asked = asked_of_each(question.query)
    if asked and len(question.document_ids) != 1 and len(found.named) != 1 and not found.unknown_names:
        return await _of_each(retrieval, question, asked, found.named)
    if 1 < len(found.named) <= MAX_NAMED and not await _is_everywhere(retrieval, question, found):
        asked_question = compared(found.clause_question)
        return Chosen(found.named, asked_question, by_one_name=len(found.names) == 1)
    return None


async def _is_everywhere(retrieval: RetrievalClient, question: Question, found: Found) -> bool:
    """Whether the question names all documents in scope by one name, which tells none from the others."""
    if len(found.names) != 1:
        return False
    in_scope = len(question.document_ids) or await retrieval.document_count(question.sources)
    return len(found.named) == in_scope


async def _of_each(
    retrieval: RetrievalClient, question: Question, asked: AskedOfEach, named: Sequence[str]
) -> Chosen | None:
    documents: Sequence[Document]
    if named:
        documents = list((await retrieval.live_documents(named)).values())
    else:
        documents = await retrieval.documents(question.sources, question.document_ids)
    of_kind = [document for document in documents if _is_of_kind(document, asked.kind)]
    meant: list[str] = [document.document_id for document in of_kind or documents]
    if len(meant) > MAX_ASKED:
        meant = await _best_first(retrieval, replace(question, query=asked.question), meant)
    left = len(meant) - MAX_ASKED
    if len(meant) < 2:
        return None
    return Chosen(tuple(meant[:MAX_ASKED]), asked.question, max(0, left), is_named=False)


async def _best_first(retrieval: RetrievalClient, question: Question, meant: Sequence[str]) -> list[str]:
    """The documents, those first in which the best passages stand."""
    scope = tuple(meant) if len(meant) <= WIDE else question.document_ids
    wide = await retrieval.search(
        replace(question, document_ids=scope), top_k=WIDE, vector_k=WIDE, keyword_k=WIDE, route=False
    )
    found = (candidate.chunk.document_id for candidate in wide.candidates)
    known = set(meant)
    return list(dict.fromkeys([*(document for document in found if document in known), *meant]))


def _is_of_kind(document: Document, kind: str) -> bool:
    """Whether a document is what the question calls those that it asks for; `contract` is any."""
    words = set(stems_of(kind)) - _ANY_KIND
    if not words:
        return True
    if document.profile and document.profile.kind is SHORT_FOR.get(kind.split()[-1]):
        words -= set(stems_of(kind.split()[-1]))
    title = document.profile.title.text if document.profile and document.profile.title else document.title
    return words <= set(stems_of(title))
