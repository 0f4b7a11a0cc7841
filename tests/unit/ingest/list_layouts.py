"""Makes contracts with lists of prohibitions in every layout, and says what must be known of each item."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import product

import docx
import pymupdf
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
BULLETS = ("•", "–", "-", "*")
STYLES = {
    "1.": lambda n: f"{n}.",
    "1)": lambda n: f"{n})",
    "(1)": lambda n: f"({n})",
    "a.": lambda n: f"{chr(96 + n)}.",
    "a)": lambda n: f"{chr(96 + n)})",
    "(a)": lambda n: f"({chr(96 + n)})",
    "A.": lambda n: f"{chr(64 + n)}.",
    "(A)": lambda n: f"({chr(64 + n)})",
    "i.": lambda n: f"{ROMAN[n - 1]}.",
    "ii)": lambda n: f"{ROMAN[n - 1]})",
    "(iv)": lambda n: f"({ROMAN[n - 1]})",
    "I.": lambda n: f"{ROMAN[n - 1].upper()}.",
    "4.1.1": lambda n: f"4.1.{n}",
    **{bullet: lambda n, bullet=bullet: bullet for bullet in BULLETS},
    "": lambda n: "",
}
"""The mark of the n-th item of a list."""
BELOW = {"1.": "(a)", "(a)": "(iv)", "4.1.1": "(a)", "•": "–", "–": "-", "-": "*", "*": "•"}
"""Marks of a list in an item; of any other one `1.`."""
ENDS = {"stop": (".", "."), "semicolon": (";", "."), "none": ("", ""), "comma": (",", ".")}
"""What ends an item, and the last one."""
LEADS = ("colon", "bare", "dash", "following", "clause")
CONDITIONS = ("none", "flush", "provided", "inline")
FORMATS = ("md", "txt", "html", "html-list", "docx", "docx-list", "pdf")
BREAKS = ("none", "page", "chunk")
SUBJECTS = (
    "The Licensee",
    "Each Recipient",
    "The Customer",
    "Vellmark Limited",
    "No Subscriber and no Affiliate",
)
FLUSH = (
    "in each case only with prior written consent of the Licensor.",
    "in each case, unless the Licensor has agreed in writing.",
    "without the prior written consent of Tarnholm Exchange.",
    "unless the Licensor has given its consent in writing.",
    "except as set out in Schedule 2.",
)
PROVIDED = ("provided that the Licensor has agreed in writing.", "provided, however, that each fee is paid.")
VERBS = (
    "copy",
    "share",
    "sell",
    "disclose",
    "publish",
    "store",
    "display",
    "transmit",
    "lease",
    "modify",
    "alter",
)
OBJECTS = ("Data", "Prices", "Index Values", "Records", "Reports", "Quotations", "Software", "Documentation")
TAILS = (
    "with any third party for commercial purposes",
    "to any person outside the Group",
    "on a public website",
    "in a derived product",
    "for use by a competitor",
    "through any network",
    "in whole or in part",
    "outside the Territory",
)
FILLER = (
    "including every part of it that was received on a trading day or was made from what was received then"
)
AFTER = (
    "The Licensor may audit the books of the other party once a year.",
    "All notices are sent to the address on the first page.",
    "This Agreement is governed by the laws of Norland.",
)


@dataclass(frozen=True)
class Layout:
    """One way of laying out a list."""

    style: str
    depth: int
    ends: str
    lead: str
    condition: str
    format: str
    broken: str
    tight: bool
    """Whether no blank lines stand between the items."""

    @property
    def sensible(self) -> bool:
        """Whether anybody could read it."""
        real = self.format.endswith("-list")
        if not self.style and (
            self.depth > 1 or self.ends == "none" or (self.format == "txt" and self.tight)
        ):
            return False
        if self.tight and self.style in ("", "A.", "I.") and self.format not in ("html-list", "docx-list"):
            return False
        if real and self.style not in ("1.", "a.", "A.", "i.", "I.", "•", ""):
            return False
        if self.format == "md" and self.lead == "clause" and self.style == "1.":
            return False  # one list, which counts on
        if self.format == "docx-list" and not self.style:
            return False
        return self.broken != "page" or self.format == "pdf"


@dataclass(frozen=True)
class Line:
    """A paragraph, as deep in lists as `level`; 0 is outside."""

    level: int
    mark: str
    text: str

    @property
    def marked(self) -> str:
        return f"{self.mark} {self.text}".strip()


@dataclass
class Contract:
    """A file, and what must be known of the sentences in it."""

    layout: Layout
    lines: list[Line] = field(default_factory=list)
    needs: list[tuple[str, list[str], list[str]]] = field(default_factory=list)
    """Words of an item, what leads into it, and the conditions below it."""
    free: list[str] = field(default_factory=list)
    """Words of sentences that nothing governs."""
    file_name: str = ""
    content: bytes = b""


def every() -> list[Layout]:
    """All layouts that somebody might choose, in a fixed order."""
    axes = product(STYLES, (1, 2, 3), ENDS, LEADS, CONDITIONS, FORMATS, BREAKS, (False, True))
    return [layout for axis in axes if (layout := Layout(*axis)).sensible]


def sample(count: int, seed: int) -> Iterator[Contract]:
    """As many contracts of different layouts; beyond the number of layouts, with other words."""
    rng, layouts = random.Random(seed), every()
    while count > 0:
        chosen = rng.sample(layouts, min(count, len(layouts)))
        yield from (write(layout, rng) for layout in chosen)
        count -= len(chosen)


def write(layout: Layout, rng: random.Random) -> Contract:
    """A contract in this layout."""
    contract = Contract(layout)
    _Writer(contract, rng).write()
    contract.file_name, contract.content = FILES[layout.format](contract)
    return contract


class _Writer:
    def __init__(self, contract: Contract, rng: random.Random) -> None:
        self._contract, self._layout, self._rng = contract, contract.layout, rng
        self._used: set[str] = set()

    def write(self) -> None:
        layout, lines = self._layout, self._contract.lines
        clause = layout.lead == "clause"
        before = "This Agreement begins on 1 May 2026 and lasts two years."
        self._free("3. Term. " + before if clause else before)
        lead = self._lead()
        lines.append(Line(0, "", f"4. Use of data. {lead}" if clause else lead))
        condition = self._condition()
        self._list(
            1, layout.style, [lead], [condition] if condition else [], 9 if layout.broken == "chunk" else 3
        )
        if condition and layout.condition != "inline":
            lines.append(Line(0, "", condition))
        elif condition:
            last = lines.pop()
            lines.append(Line(last.level, last.mark, last.text.rstrip(".,;") + ", " + condition))
        after = self._rng.choice(AFTER)
        self._free("5. Other. " + after if clause else after)

    def _free(self, text: str) -> None:
        self._contract.lines.append(Line(0, "", text))
        self._contract.free.append(text)

    def _lead(self) -> str:
        subject = self._rng.choice(SUBJECTS)
        modal = self._rng.choice(("shall not", "may not", "must not", "agrees that it will not"))
        if subject.startswith("No "):
            modal = "may"
        form = self._layout.lead
        if form == "following":
            return f"{subject} {modal} do any of the following{self._rng.choice((':', '.', ''))}"
        return f"{subject} {modal}" + {"colon": ":", "clause": ":", "dash": " —", "bare": ""}[form]

    def _condition(self) -> str:
        options = {"none": ("",), "flush": FLUSH, "provided": PROVIDED, "inline": FLUSH[:2]}
        text = self._rng.choice(options[self._layout.condition])
        capital = self._layout.ends == "stop" and self._layout.condition != "inline"
        return text[:1].upper() + text[1:] if capital else text

    def _list(self, level: int, style: str, leads: list[str], conditions: list[str], count: int) -> None:
        nested = self._rng.randrange(1, count) if level < self._layout.depth else 0
        for number in range(1, count + 1):
            words = self._item()
            capital = self._layout.ends == "stop"
            last = number == count
            if number == nested:
                text = f"{words} to:"
            else:
                text = words + ENDS[self._layout.ends][last]
                text += " and" if self._layout.ends == "comma" and number == count - 1 else ""
            text = text[:1].upper() + text[1:] if capital else text
            self._contract.lines.append(Line(level, STYLES[style](number), text))
            self._contract.needs.append((words[1:], leads, conditions))
            if number == nested:
                below = self._below(style)
                self._list(level + 1, below, [*leads, words[1:]], conditions, 2)

    def _below(self, style: str) -> str:
        """The mark of a list in an item."""
        if self._layout.format.endswith("-list"):
            return style
        if self._layout.format == "md" and style in "-*":
            return "*" if style == "-" else "-"
        return BELOW.get(style, "1.")

    def _item(self) -> str:
        """What nobody may do, in words that no other item has."""
        while True:
            verb, thing, tail = (self._rng.choice(words) for words in (VERBS, OBJECTS, TAILS))
            words = f"{verb} the {thing} {tail}"
            if self._layout.broken == "chunk":
                words += f", {FILLER}" * self._rng.randrange(1, 4)
            if not any(words[1:] in other or other in words for other in self._used):
                self._used.add(words[1:])
                return words


# Files


def _markdown(contract: Contract) -> tuple[str, bytes]:
    """Real lists where Markdown has them, else paragraphs or lines."""
    tight = contract.layout.tight
    parts: list[str] = []
    for line in contract.lines:
        counted = line.mark.rstrip(".)").isdigit() and line.mark[-1] in ".)"
        real = line.mark and (line.mark in "-*" or counted)
        text = "    " * (line.level - 1) * bool(real) + line.marked
        together = tight and line.level > 0 and parts
        parts.append(("\n" if together else "\n\n") * bool(parts) + text)
    return "a.md", "".join(parts).encode()


def _text(contract: Contract) -> tuple[str, bytes]:
    tight = contract.layout.tight
    parts: list[str] = []
    for line in contract.lines:
        indent = "    " * line.level
        wrapped = _wrapped(line.marked, 78 - len(indent))
        together = tight and line.level > 0 and parts
        parts.append(
            ("\n" if together else "\n\n") * bool(parts) + "\n".join(indent + row for row in wrapped)
        )
    return "a.txt", "".join(parts).encode()


def _wrapped(text: str, width: int) -> list[str]:
    rows = [""]
    for word in text.split():
        if len(rows[-1]) + len(word) + 1 > width and rows[-1]:
            rows.append(word)
        else:
            rows[-1] = f"{rows[-1]} {word}".strip()
    return rows


def _html(contract: Contract) -> tuple[str, bytes]:
    """Paragraphs, or lines of one."""
    parts: list[str] = []
    for line in contract.lines:
        text = escape(line.marked)
        if contract.layout.tight and line.level > 0 and parts:
            parts[-1] += f"<br>{text}"
        else:
            parts.append(text)
    return "a.html", "".join(f"<p>{part}</p>" for part in parts).encode()


def _html_list(contract: Contract) -> tuple[str, bytes]:
    style = contract.layout.style
    tag = "ol" if style and style != "•" else "ul"
    attributes = (
        f' type="{style[0]}"' if tag == "ol" else ' style="list-style-type: none"' if not style else ""
    )
    start = ' start="5"' if style == "1." and not contract.layout.tight else ""
    parts: list[str] = []
    level = 0
    for line in contract.lines:
        while level < line.level:
            level += 1
            parts.append(f"<{tag}{attributes}{start if level == 1 else ''}>")
        while level > line.level:
            level -= 1
            parts.append(f"</li></{tag}>")
        if level == 0:
            parts.append(f"<p>{escape(line.text)}</p>")
            continue
        closing = "</li>" if parts[-1].startswith(("<li", "</li></")) else ""
        inner = f"<p>{escape(line.text)}</p>" if contract.layout.tight else escape(line.text)
        parts.append(f"{closing}<li>{inner}")
    return "a.html", "".join(parts).replace(f"</{tag}></li><li>", f"</{tag}></li><li>").encode()


FORMS = {
    "1.": "decimal",
    "a.": "lowerLetter",
    "A.": "upperLetter",
    "i.": "lowerRoman",
    "I.": "upperRoman",
    "•": "bullet",
}


def _docx(contract: Contract) -> tuple[str, bytes]:
    document = docx.Document()
    for line in contract.lines:
        document.add_paragraph(line.marked)
    return "a.docx", _saved(document)


def _docx_list(contract: Contract) -> tuple[str, bytes]:
    document = docx.Document()
    form = FORMS[contract.layout.style]
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{"o" if form == "bullet" else f"%{level + 1}."}"/></w:lvl>'
        for level in range(3)
    )
    numbering = document.part.numbering_part.element
    numbering.insert(
        0, parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="77">{levels}</w:abstractNum>')
    )
    numbering.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'))
    for line in contract.lines:
        paragraph = document.add_paragraph(line.text)
        if line.level:
            number = (
                f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{line.level - 1}"/><w:numId w:val="77"/></w:numPr>'
            )
            paragraph._p.get_or_add_pPr().append(parse_xml(number))
    return "a.docx", _saved(document)


def _saved(document: docx.document.Document) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


FONT = pymupdf.Font("helv")


def _pdf(contract: Contract) -> tuple[str, bytes]:
    document = pymupdf.open()
    page, y = document.new_page(), 80.0
    items = [index for index, line in enumerate(contract.lines) if line.level]
    breaks = items[len(items) // 2] if contract.layout.broken == "page" else -1
    for index, line in enumerate(contract.lines):
        left = 72 + 24 * line.level
        for number, row in enumerate(_wrapped(line.marked, 90 - 5 * line.level)):
            if y > 740 or (index == breaks and number == 0):
                page, y = document.new_page(), 80.0
            writer = pymupdf.TextWriter(page.rect)
            writer.append((left, y), row, FONT, 10)
            writer.write_text(page)
            y += 13
        y += 0 if contract.layout.tight and line.level else 9
    return "a.pdf", document.tobytes()


FILES = {
    "md": _markdown,
    "txt": _text,
    "html": _html,
    "html-list": _html_list,
    "docx": _docx,
    "docx-list": _docx_list,
    "pdf": _pdf,
}


def squeezed(text: str) -> str:
    """The words of a text, one space between them."""
    return " ".join(text.split())


def lost(contract: Contract, chunks: Sequence) -> list[str]:
    """What a reader of single sentences would not know, and what would be said of too many."""
    told = []
    for chunk in chunks:
        for sentence in chunk.sentences:
            start = chunk.span.start
            own = squeezed(chunk.text[sentence.start - start : sentence.end - start])
            governs = lambda part, at=sentence: part.governs.start <= at.start and at.end <= part.governs.end  # noqa: E731
            before = [squeezed(part.text) for part in chunk.context_before if governs(part)]
            after = [squeezed(part.text) for part in chunk.context_after if governs(part)]
            told += _untold(contract, own, before, after)
    return told


def _untold(contract: Contract, own: str, before: list[str], after: list[str]) -> Iterator[str]:
    for words, leads, conditions in contract.needs:
        at = own.find(words)
        if at < 0:
            continue
        above = [*before, own[:at]]
        yield from (
            f"{words!r} without {lead!r}" for lead in leads if not any(lead in part for part in above)
        )
        below = [*after, own[at:]]
        yield from (
            f"{words!r} without {text!r}" for text in conditions if not any(text in part for part in below)
        )
        for parts in (before, after):
            yield from (f"{words!r} twice with {part!r}" for part in set(parts) if parts.count(part) > 1)
    for text in contract.free:
        if text in own and len(own) < len(text) + 9 and (before or after):
            yield f"{text!r} with {before} {after}"
