"""How a document is called where people read of it: its title, its parties and its date in one line.

`Consulting Agreement · Slingerbag Inc. / Sporting Edge · 1 July 2020`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import PurePosixPath

from corpus.documents import Document
from corpus.profiles import DatePrecision, DocumentProfile, OtherNameKind, Party, StatedDate

MAX_LABEL = 90
"""Code points; the company forms of parties go first, then parties, then the title is cut."""
_JOINT = " · "


def labels_of(documents: Iterable[Document]) -> Mapping[str, str]:
    """The labels of documents that are shown together, by id; those that would be the same name the file."""
    shown: dict[str, Document] = {document.document_id: document for document in documents}
    plain = {document_id: label_of(document) for document_id, document in shown.items()}
    labels = plain
    for named in (_file_name, _document_id):
        uses = Counter(labels.values())
        labels = {
            document_id: f"{plain[document_id]} ({named(shown[document_id])})" if uses[label] > 1 else label
            for document_id, label in labels.items()
        }
    return labels


def label_of(document: Document) -> str:
    """Title, parties and date of its card, in at most 90 characters; what the card lacks is left out.

    The title of a document without a card, or whose card has none, stands in; the file's name only where
    nothing else is known.
    """
    profile = document.profile
    if profile is None:
        return _cut(document.title, MAX_LABEL)
    names = [party.name for party in profile.parties]
    plain = [_plain(party) for party in profile.parties]
    when = _date(profile)
    title = profile.title.text if profile.title else document.title
    if profile.title is None and names and title == _file_name(document):
        title = ""
    for parties in (" / ".join(names), *_shorter(plain)):
        label = _JOINT.join(filter(None, (title, parties, when)))
        if len(label) <= MAX_LABEL:
            return label
    room = MAX_LABEL - len(_JOINT + when) if when else MAX_LABEL
    return _JOINT.join(filter(None, (_cut(title or names[0], room), when)))


def _shorter(names: Sequence[str]) -> Iterator[str]:
    """The parties, with fewer of them each time; at last none."""
    yield " / ".join(names)
    for kept in range(len(names) - 1, 0, -1):
        others = len(names) - kept
        yield f"{' / '.join(names[:kept])} and {others} other{'s' if others > 1 else ''}"
    yield ""


def _plain(party: Party) -> str:
    """The name without its company form, where the card has it."""
    return next((name.text for name in party.other_names if name.kind is OtherNameKind.PLAIN), party.name)


def _date(profile: DocumentProfile) -> str:
    """When it was made, else from when it has effect, as `1 July 2020`, as precise as it is stated."""
    stated = profile.dated or profile.effective
    return _spoken(stated) if stated else ""


def _spoken(stated: StatedDate) -> str:
    if stated.precision is DatePrecision.DAY:
        day = date.fromisoformat(stated.iso)
        return f"{day.day} {day:%B} {day.year}"
    if stated.precision is DatePrecision.MONTH:
        return f"{date.fromisoformat(f'{stated.iso}-01'):%B} {stated.iso[:4]}"
    return stated.iso


def _cut(text: str, room: int) -> str:
    """The text, or as many of its words as there is room for."""
    if len(text) <= room:
        return text
    return f"{text[: room - 1].rsplit(' ', 1)[0].rstrip(' ,;:')}…"


def _file_name(document: Document) -> str:
    return PurePosixPath(document.path).name


def _document_id(document: Document) -> str:
    return document.document_id
