"""Tells marks of notes, exponents, ordinals and fractions from the numbers that they stand beside.

A parser writes raised and lowered characters between the signs below, which no file may bring along
(`without_signs`). `tell_apart` then writes what they are:

    USD 50¹ → USD 50          a mark of a note: left out and counted
    ¹ Net of VAT → [1] Net    the mark before the note itself
    10⁶, m² → 10^6, m^2       exponents
    1¹/₂ → 1 1/2              fractions
    1ˢᵗ, ᵀᴹ → 1st, ™          ordinals and signs
    CO₂, 10₂ → CO2, 10_2      what is lowered never goes on with a number
    2⁸ → 2 [8]                a mark or an exponent: nobody can tell
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

RAISED, LOWERED, CALL, SMALL, END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3", "\ufdd4"
"""Begin what is raised, what is lowered, what is surely the mark of a note and what is only smaller than the
text beside it; and end it. Unicode keeps these code points for the inside of programs."""
GAP = "\ufdd5"
"""Stands where a reader sees something that cannot be read as text; for `building`."""
NOTHING_KNOWN: frozenset[str] = frozenset()
CONTEXT = 80
"""Characters before and after a mark that are looked at."""

_SIGNS = re.compile("[\ufdd0-\ufdd4\ufdd6-\ufddf]")
_BEGINNINGS = (RAISED, LOWERED, CALL, SMALL)
_NO_XML = re.compile("[\x00-\x08\x0e-\x1b\ud800-\udfff\ufffe\uffff]")
_SPACING = re.compile("[\x0b\x0c\x1c-\x1f]")
_OTHER_SIGNS = re.compile("[\ufdd6-\ufddf]")
_HIGH = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ"
_LOW = "₀₁₂₃₄₅₆₇₈₉₊₋₍₎"
_PLAIN = str.maketrans(_HIGH + _LOW, "0123456789+-()n" + "0123456789+-()")
_SMALL = re.compile(f"(?P<high>[{_HIGH}]+)|(?P<low>[{_LOW}]+)")
_CIRCLED = re.compile(r"(?<=\d)(?=[①-⓿❶-➓])")
_NEEDS_READING = re.compile(f"[\ufdd0-\ufddf{_HIGH}{_LOW}①-⓿❶-➓]")

_TRADEMARKS = {"tm": "™", "(tm)": "™", "sm": "℠", "(sm)": "℠", "(r)": "®", "(c)": "©"}
_DRAWN_HIGH = frozenset("®©™℠°º'′″’”\"+")
_ORDINALS = frozenset("st nd rd th er re ère ème eme nde ste de ter".split())  # noqa: SIM905
_SHORT = frozenset("no nos mr mrs ms dr mme mlle co cie ltd jr sr esq nᵒ messrs mgr ste".split())  # noqa: SIM905
_MARK = re.compile(r"\d{1,3}|[a-z]|[*†‡§¶#∗⁎]{1,4}|[ivx]{2,5}")
_SYMBOL = re.compile(r"[*†‡§¶#∗⁎]{1,4}")
_MARKS = re.compile(rf"(?:{_MARK.pattern})(?:\s?[,;–-]\s?(?:{_MARK.pattern}))+")
_BRACKETED = re.compile(rf"[\[(]({_MARK.pattern})[\])]|({_MARK.pattern})\)")
_ALGEBRA = re.compile(r"[+−–-]?(?:\d+(?:[.,]\d+)?)?[nxtkm]?(?:[+−–-](?:\d+|[nxtkm]))?")
_SUM = re.compile(r"\([^()]*\d?\s*[+×·*/−-]\s*[^()]*\)$")
_UNIT = re.compile(r"(?:(?<=\d)|(?<=\d )|(?<=/)|(?<=per )|(?<=square ))(?:[mck]?m|ft|yd|mi|in|s|h)$")
_NUMBER = re.compile(r"(?<![\d.,])\d+(?:[.,]\d+)*$")
_MONEY = re.compile(r"(?:[$€£¥]|\b(?:[A-Z]{3}|Rs\.?|Fr\.?|dollars|euros?))[ \xa0]?\d+(?:[.,]\d+)*$")
_COUNTED = re.compile(
    r"(?:\b(?:sections?|clauses?|articles?|paragraphs?|schedules?|exhibits?|annex|rule|item|no\.?|§+)\s"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z.]{0,7}\s)\S*$",
    re.IGNORECASE,
)
"""What numbers, and so is raised to no power."""
_TIMES_TEN = re.compile(r"[×x·*∙•]\s?10$", re.IGNORECASE)
_OPERATOR = re.compile(r"\s?[=×·*+<>≤≥]")
_FORMULAS = frozenset({"CO", "SO", "NO"})
_FRACTION = re.compile(r"[ ]?[/⁄∕][ ]?(\d{1,3})?")
_OPEN_NUMBER = re.compile(r"\d[.,]?$")
_GOES_ON = re.compile(r"[.,]?\d")
_DENOMINATORS = frozenset("2 3 4 5 6 8 10 12 16 32 64 100 360 365".split())  # noqa: SIM905
_HUNDREDTHS = re.compile(r"\d{2}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something raised stands."""

    before: str
    """The end of what is written before it in its block."""
    after: str
    """The beginning of the plain text behind it."""
    known: frozenset[str]
    """Marks that stand before notes of this document."""

    @property
    def is_start(self) -> bool:
        """Whether it stands before its block, line or cell."""
        stripped = self.before.rstrip(" \xa0")
        return not stripped or stripped.endswith(("\n", "|"))

    def beside(self, written: str) -> str:
        """What is written, apart from words and numbers on either side."""
        before = " " if self._touches_number(written) or self._touches_word(written) else ""
        after = " " if written[-1:].isalnum() and self.after[:1].isalnum() else ""
        return f"{before}{written}{after or (' ' if self._would_join(written) else '')}"

    def _touches_number(self, written: str) -> bool:
        return _OPEN_NUMBER.search(self.before) is not None and _GOES_ON.match(written) is not None

    def _touches_word(self, written: str) -> bool:
        return self.before[-1:].isalnum() and written[:1].isalnum()

    def _would_join(self, written: str) -> bool:
        return written[-1:].isdigit() and _GOES_ON.match(self.after) is not None

    def gap(self) -> str:
        """What keeps the text before from going on behind a mark that is left out."""
        return " " if self._touches_number(self.after) or self._touches_word(self.after) else ""

    def power(self, exponent: str) -> str:
        """An exponent, in brackets where something would go on behind it."""
        plain = exponent.replace("−", "-").replace("–", "-")
        simple = plain.lstrip("-").isalnum() and not self.after[:1].isalnum()
        return f"^{plain}" if simple and not _GOES_ON.match(self.after) else f"^({plain})"


def without_signs(text: str) -> str:
    """A text of a file, without what would pass for signs of this module; a gap only makes doubt."""
    return text if text.isascii() else _SIGNS.sub("", text)


def for_tree(text: str) -> str:
    """The same for a text that lxml is to hold, which takes no control characters."""
    plain = text if text.isprintable() else _NO_XML.sub("", _SPACING.sub(" ", text))
    return without_signs(plain)


def raised(text: str) -> str:
    """The text between the signs of what is raised."""
    return f"{RAISED}{text}{END}"


def label(text: str) -> str | None:
    """The mark that a text begins with when it is raised, as before a note at the foot; None for none."""
    found = None if text.isascii() else _LABEL.match(text)
    if found is None:
        return None
    body = (found[1] or found[2]).translate(_PLAIN).strip(" ()[].")
    return body if _MARK.fullmatch(body) else None


_LABEL = re.compile(rf"\s*(?:[{RAISED}{CALL}]([^{RAISED}-{END}]{{1,8}}){END}|([{_HIGH}]{{1,3}}))(?![ ]?[/⁄])")


def plain_formula(text: str) -> str:
    """`10^(6)` as `10^6` and `1(1)/(2)` as `1 1/2`, where nothing goes on behind them."""
    return _SIMPLE_FRACTION.sub(r"\1 \2/\3", _SIMPLE_POWER.sub(r"\1\2", text)).lstrip(" ")


_SIMPLE_POWER = re.compile(r"([\^_])\((-?\w+)\)(?![.,]?\w)")
_SIMPLE_FRACTION = re.compile(r"(^|\s|\d)\s?\((\d+)\)/\((\d+)\)(?![.,]?\w)")


def tell_apart(text: str, known: frozenset[str] = NOTHING_KNOWN) -> tuple[str, int]:
    """The text of a block with everything raised or lowered written out; how many marks were left out.

    `known` are the marks before the document's own notes (`label`).
    """
    if text.isascii() or not _NEEDS_READING.search(text):
        return text, 0
    pieces = list(_pieces(_CIRCLED.sub(" ", text)))
    written = ""
    done: list[str] = []
    count = 0
    index = 0
    while index < len(pieces):
        kind, piece = pieces[index]
        place = Place(written, _following(pieces, index + 1), known)
        fraction = _fraction(pieces, index, place) if kind == RAISED else None
        if fraction is not None:
            new, pieces[index + 1 : index + 2 + fraction.more] = fraction.written, [("", fraction.rest)]
        elif kind == "":
            new = piece
        else:
            new, marks = _write(kind, piece, place)
            count += marks
            if marks and written[-1:] == " " and (not place.after or not place.after[0].isalnum()):
                done, written = [*done[:-1], done[-1].rstrip(" ")] if done else [], written.rstrip(" ")
        done.append(new)
        written = (written + new)[-CONTEXT:]
        index += 1
    return "".join(done), count


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """The text in pieces, each with its sign (none for plain text); neighbours of one kind are one."""
    for (kind, _), pieces in groupby(_signed(text), key=lambda piece: (piece[0], piece[2])):
        yield kind, "".join(words for _, words, _ in pieces)


def _signed(text: str) -> Iterator[tuple[str, str, int]]:
    """Pieces with their signs, and how many marks of notes ended before them: two marks are not one."""
    kinds: list[str] = []
    ended = 0
    for piece in re.split(f"([{RAISED}-{END}])", text):
        if piece == END:
            ended += CALL in kinds[-1:]
            kinds = kinds[:-1]
        elif piece in _BEGINNINGS:
            kinds.append(piece)
        elif piece:
            inside = (CALL if CALL in kinds else kinds[-1]) if kinds else ""
            for kind, words in _split_small(inside, _OTHER_SIGNS.sub("", piece)):
                yield kind, words, ended


def _split_small(kind: str, text: str) -> Iterator[tuple[str, str]]:
    """Unicode's own small figures are raised and lowered like any others."""
    if kind:
        yield kind, text.translate(_PLAIN)
        return
    end = 0
    for small in _SMALL.finditer(text):
        if end < small.start():
            yield "", text[end : small.start()]
        yield (RAISED if small["high"] else LOWERED), small.group().translate(_PLAIN)
        end = small.end()
    if end < len(text):
        yield "", text[end:]


def _following(pieces: Sequence[tuple[str, str]], index: int) -> str:
    return pieces[index][1][:CONTEXT] if index < len(pieces) and not pieces[index][0] else ""


@dataclass(frozen=True, slots=True)
class _Fraction:
    written: str
    rest: str
    """The plain text behind it."""
    more: int
    """Pieces that it takes besides the raised one and the stroke."""


def _fraction(pieces: Sequence[tuple[str, str]], index: int, place: Place) -> _Fraction | None:
    """The fraction whose raised numerator is piece `index`; None where there is none."""
    above = pieces[index][1].strip()
    stroke = _FRACTION.match(place.after)
    if not above.isdecimal() or stroke is None:
        return None
    rest = pieces[index + 1][1][stroke.end() :]
    below, more = stroke[1] or "", 0
    if not below and not rest and index + 2 < len(pieces) and pieces[index + 2][0] == LOWERED:
        below, more = pieces[index + 2][1].strip(), 1
        rest = _following(pieces, index + 3)
        more += bool(rest)
        rest = pieces[index + 3][1] if rest else ""
    elif "⁄" not in stroke.group() and not (below in _DENOMINATORS and int(above) < int(below)):
        return None
    if not below.isdecimal():
        return None
    return _Fraction(Place(place.before, rest, place.known).beside(f"{above}/{below}"), rest, more)


def _write(kind: str, piece: str, place: Place) -> tuple[str, int]:
    """What is written for something raised or lowered, and how many marks are left out for it."""
    body = piece.strip()
    if not body:
        return (" " if piece and not place.before.endswith(" ") else ""), 0
    if kind == LOWERED:
        return _lower(body, place), 0
    if kind == SMALL and not (_OPEN_NUMBER.search(place.before) and _GOES_ON.match(body)):
        return piece + (" " if body[-1].isdigit() and _GOES_ON.match(place.after) else ""), 0
    if place.is_start and (named := _named(body)) is not None:
        return f"[{named}]" + ("" if place.after[:1].isspace() else " "), 0
    if kind == CALL:
        return place.gap(), 1
    return _raise(body, place)


def _named(body: str) -> str | None:
    """The mark that something raised consists of, out of its brackets; None when it is something else."""
    bare = body.strip("()[]. ")
    return bare if _MARK.fullmatch(bare) else None


def _lower(body: str, place: Place) -> str:
    before = place.before[-1:]
    if not any(map(str.isalnum, body)):
        return body
    if len(body) > 6 or " " in body or not before.isalnum():
        return place.beside(body)
    if body.isdecimal() and before.isalpha() and not _GOES_ON.match(place.after):
        return body
    simple = body.isalnum() and not place.after[:1].isalnum() and not _GOES_ON.match(place.after)
    return f"_{body}" if simple else f"_({body})"


def _raise(body: str, place: Place) -> tuple[str, int]:
    if body.lower() in _TRADEMARKS:
        return _TRADEMARKS[body.lower()], 0
    if set(body) <= _DRAWN_HIGH or _is_spelling(body, place.before):
        return body, 0
    marks = _marks(body, place)
    if marks:
        return place.gap(), marks
    if re.search(r"\d/\d", body) or (re.search(r"[^\W\d_]{2}", body) and not _MARK.fullmatch(body)):
        return place.beside(body), 0
    if _is_power(body, place):
        return place.power(body), 0
    if _is_mark(body, place):
        return place.gap(), 1
    if re.search(r"(?<!\d)[$€£¥(/=×]$", place.before) and not _GOES_ON.match(place.after):
        return body, 0
    return _in_doubt(body, place), 0


def _marks(body: str, place: Place) -> int:
    """How many marks of notes something raised is by its own form: symbols, figures in brackets, a list."""
    if _SYMBOL.fullmatch(body) or _BRACKETED.fullmatch(body):
        return 1
    if not _MARKS.fullmatch(body) or place.before[-1:].isspace():
        return 0
    marks = re.split(r"\s?[,;–-]\s?", body)
    return len(marks) if set(marks) <= place.known or not place.before[-1:].isdigit() else 0


def _is_spelling(body: str, before: str) -> bool:
    """Whether the raised letters belong to a word: `1st`, `nth`, `No`."""
    low = body.lower()
    if low in _ORDINALS and re.search(r"\d$|\b[nkixmNX]$", before):
        return True
    word = re.search(r"[^\W\d_]+$", before)
    return word is not None and body.isalpha() and (word.group() + body).lower() in _SHORT


def _is_power(body: str, place: Place) -> bool:
    """Whether what is raised says how often what stands before it is multiplied."""
    before = place.before[-1:]
    if not _ALGEBRA.fullmatch(body) or not (before.isalnum() or before == ")"):
        return False
    if body[0] in "−–-" or (len(body) > 1 and not body.isdecimal()):
        return True
    if before == ")":
        return _SUM.search(place.before) is not None
    if before.isalpha():
        return body in ("2", "3") and _is_variable(place)
    if body.isalpha():
        return body in "nx" and body not in place.known
    if body in place.known:
        return _TIMES_TEN.search(place.before) is not None or (
            _OPERATOR.match(place.after) is not None and not _MONEY.search(place.before)
        )
    number = _NUMBER.search(place.before)
    is_ten = number is not None and number.group() == "10" and not _MONEY.search(place.before)
    return is_ten and 1 < int(body) <= 30


def _is_variable(place: Place) -> bool:
    """Whether the letters before are a unit behind a number, or one letter, as in m² and x²."""
    if _UNIT.search(place.before):
        return True
    return not place.known and re.search(r"(?<![^\W_])[a-zA-Z]$", place.before) is not None


def _is_mark(body: str, place: Place) -> bool:
    """Whether what is raised can be nothing but the mark of a note."""
    if not _MARK.fullmatch(body):
        return False
    before = place.before[-1:]
    is_known = body in place.known
    if before.isdigit():
        return _marks_number(body, place, is_known)
    if before.isalpha():
        word = re.search(r"[^\W\d_]+$", place.before)
        letters = "" if word is None else word.group()
        return is_known or (body.isdecimal() and len(letters) > 1 and letters not in _FORMULAS)
    if before.isspace():
        return is_known
    if before in "$€£¥(/=×+<>":
        return False
    is_cents = before in ".," and place.before[-2:-1].isdigit() and _HUNDREDTHS.fullmatch(body) is not None
    return is_known or (not is_cents and (body.isdecimal() or before in ".,;:!?)]”\"’'%"))


def _marks_number(body: str, place: Place, is_known: bool) -> bool:
    number = _NUMBER.search(place.before)
    written = "" if number is None else number.group()
    if not body.isdecimal():
        return is_known
    if is_known:
        return written not in ("10", "2")
    if _MONEY.search(place.before):
        return _HUNDREDTHS.fullmatch(body) is None or "." in written
    return (
        "," in written
        or re.fullmatch(r"(?:19|20)\d\d", written) is not None
        or bool(_COUNTED.search(place.before))
    )


def _in_doubt(body: str, place: Place) -> str:
    space = "" if not place.before or place.before[-1].isspace() else " "
    return f"{space}[{body}]" + (" " if place.after[:1].isalnum() else "")
