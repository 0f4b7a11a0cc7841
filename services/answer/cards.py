"""Cards of documents as a model is shown them: what a document is, in one line."""

from __future__ import annotations

from collections.abc import Iterator

from corpus.documents import Document
from corpus.profiles import DocumentProfile, OtherNameKind, Party

MAX_PARTIES, MAX_PARTY_NAMES = 4, 3
"""Parties that a card tells, and other names of each."""
MAX_NAME = 100
"""Code points of a party's name."""
_TOLD_NAMES = (OtherNameKind.DEFINED, OtherNameKind.ROLE, OtherNameKind.ABBREVIATION, OtherNameKind.TRADE)
"""Names that the text uses; the others are parts of the name, or of the file's."""


def card_of(document: Document) -> str:
    """What a document is: its title, its id, its parties with the names that it uses for them, its date."""
    profile = document.profile
    title = profile.title.text if profile and profile.title else document.title
    return "; ".join([titled(title, document.document_id), *(_facts(profile) if profile else ())])


def titled(title: str, document_id: str) -> str:
    """A document by its title and its id."""
    return f'"{quoteless(title)}" (id: {quoteless(document_id)})'


def quoteless(text: str) -> str:
    """One line without quotation marks that could end a title."""
    return on_one_line(text.replace('"', "'"))


def on_one_line(text: str) -> str:
    """A text as one line."""
    return " ".join(text.split())


def _facts(profile: DocumentProfile) -> Iterator[str]:
    if profile.parties:
        parties = " / ".join(_party(party) for party in profile.parties[:MAX_PARTIES])
        yield f"parties: {parties}"
    if dated := profile.effective or profile.dated:
        yield f"date: {dated.iso}"


def _party(party: Party) -> str:
    names = [name.text for name in party.other_names if name.kind in _TOLD_NAMES][:MAX_PARTY_NAMES]
    known_as = f" ({', '.join(quoteless(name[:MAX_NAME]) for name in names)})" if names else ""
    return quoteless(party.name[:MAX_NAME]) + known_as
