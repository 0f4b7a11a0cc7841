"""Finds the title of a document as a person would say it, its kind, and what it amends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from corpus.profiles import AmendedAgreement, DocumentKind, ProfileTitle, StatedDate
from services.ingest.profile import dates, names
from services.ingest.profile.passage import Passage, one_line
from services.ingest.profile.vocabulary import ACRONYMS, BARE_TITLES, TITLE_LINKS

_NOUN = (
    r"(?:agreements?|contracts?|leases?|licen[sc]es?|addendum|amendments?|supplements?|deeds?|guarant(?:y|ee)"
    r"|memorandum\sof\s(?:understanding|agreement)|(?:letter|heads)\sof\s(?:intent|agreement|terms)|statement(?:\sof\swork)?"
    r"|terms\s(?:and|&)\sconditions|terms\sof\s(?:use|service|sale|supply)|terms|conditions|policy"
    r"|schedules?|undertaking|order\sform|notices?(?:\s\d[\d-]*)?|indenture|protocol|guidelines|declaration"
    r"|\w*vertrag|\w*vereinbarung|\w*bedingungen|contrats?|convention|contrato|convenio|contratto|accordo"
    r"|acuerdo|overeenkomst|accord)"
)
_ENDS_IN_NOUN = re.compile(rf"(?i:\b{_NOUN})$")
_TAIL = re.compile(r".\s(?:Agreement|AGREEMENT|Contract|CONTRACT|Terms|TERMS)\s(?:on|of|for|ON|OF|FOR)\s")
"""What goes on behind the noun of a title: `Cooperation Agreement on Mobile Games`."""
_STARTS_WITH_NOUN = re.compile(
    r"(?i:^(?:contrat|convention|contrato|convenio|contratto|accordo|acuerdo|accord|amendment|addendum|deed"
    r"|supplement|memorandum|terms|notice|amended\sand\srestated)\b)"
)
_CALLED_WORD = (
    r"(?!(?i:(?:exhibit|this|is|shall|will|may)\b|agreement,))"
    r"[A-Z0-9](?:[^\s()\"“”;:.,]|[.,](?!\s)|(?<=No)\.){0,30}"
)
_ECHO = re.compile(
    rf"\b(?i:this)\s(?P<title>(?:{_CALLED_WORD},?\s(?:(?:and|of|for|the|to|in|on|&|/|-|–)\s){{0,2}}){{0,14}}"
    rf"(?=[A-Z])(?i:{_NOUN}|exhibit\s\W?[A-Z\d]\b))(?=[\s,.(])"
)
"""What a text calls itself: `This Consulting Agreement`."""
_CUT = re.compile(
    r"(?i:[\s,(–-]{1,3}(?:by\sand\s)?\b(?:between|among|amongst|dated|made|entered|effective|this|whereas"
    r"|regarding|concerning|offering|ref|contract\s(?:no|number|identification)|agreement\s(?:no|number)|dear"
    r"|party\s[ab]|date:|table\sof\scontents|version)\b)"
    r"|\s\(|[;:\[]|\s[-–—]\s|\s[“\"]|(?<!\b[Nn][Oor])(?<!Inc)(?<!INC)\.\s"
)
"""Where the words of a title end, if not at the end of its line."""
_BEFORE = re.compile(
    r"(?i:\[[^\[\]]{1,40}\]\s|\([^()]{1,30}\)\s|schedule\s\w{1,3}\s"
    r"|(?:exhibit|ex|annex|appendix|attachment)[\s.-]{1,3}[\w.()\[\]#-]{1,14}(?:\sto\b)?[\s:–-]{0,5}"
    r"|execution\s(?:version|copy)\s?|final\sversion\s?|conformed\scopy\s|draft\s|copy\s|\[?form\]\s|form\sof\s"
    r"|private\s(?:and|&)\sconfidential\s|confidential\b(?:\streatment\srequested)?\s?|strictly\s"
    r"|page\s\d+\s(?:of\s\d+\s)?|-?\d+\s?-\s|the\s|\W{1,6}\s?)*"
)
"""What may stand before a title in its line."""
_CAPITAL_NOUN = r"(?:AGREEMENT|CONTRACT|LEASE|LICEN[SC]E|ADDENDUM|AMENDMENT|POLICY|TERMS\sAND\sCONDITIONS)"
_CAPITAL_WORD = (
    r"(?!(?:THIS|BETWEEN|BY|DATED|MADE|EXHIBIT|WHEREAS)\b)"
    r"[A-Z0-9](?:[A-Z0-9&/'’#°-]|\.(?=\S)|(?<=NO)\.){0,30}"
)
_CAPITAL_RUN = re.compile(
    rf"(?<![\w.])(?=[A-Z])(?:{_CAPITAL_WORD},?\s(?:(?:and|of|for|to|the|in|&)\s)?){{0,14}}?"
    rf"(?:[A-Z&/'’-]{{0,30}}{_CAPITAL_NOUN})(?!\s(?:AND|&|OR|AGREEMENT|CONTRACT)\b|,\s)"
    r"(?:\s(?:NO\.?\s|#)?\d{1,3})?"
    r"(?:\s(?:TO|OF)\s(?:THE\s)?(?:[A-Z&/'’,-]{1,30}\s){0,10}?(?:AGREEMENT|CONTRACT|LEASE))?(?![\w])"
)
"""A title in capitals anywhere in a line."""
_FIRST_WORDS = re.compile(
    r"(?!(?:This|The|In|Under|Each|Any|Upon|As)\b)(?:(?:[A-Z][\w&/'’-]{0,30},?|and|of|for|to|the|&)\s){1,10}?"
    r"(?:Agreement|Contract|Addendum|Lease|Policy|Terms\sand\sConditions)"
    r"(?=\s(?!N[or]\b|Number|Id)(?:[A-Z\d{\[*(]|$)|$)"
)
"""A title in title case that a line begins with and does not stop at."""
_LETTER = re.compile(r"\b(?i:this)\s((?i:letter)\s(?i:agreement|of\sintent))\b")
_PREDICATE = re.compile(r"[\s,]{1,2}(?i:\(|is\b|made\b|dated\b|entered\b|by\sand\b|between\b)")
"""What follows the words by which an agreement begins."""
_GOES_ON = re.compile(r"(?i:\s(?:this|by|between|among|entered|made|dated|whereas|contract\sid)\b|\s\(|$)")
"""What stands behind a title in the line that it begins."""
_WORD = re.compile(r"\S+")
_NUMBERED = re.compile(r"\d{1,2}\.|[A-Z]\.|ARTICLE|Article|SECTION|Section")
_AMENDS = re.compile(
    r"(?i:\b(?:amendments?|addendum|supplement|modification|extension)\b[^\n]{0,40}?\b(?:to|of)\s(?:the\s|that\s"
    r"|that\scertain\s|certain\s|its\s)?)(?=[A-Z0-9])"
)
_AMENDING = re.compile(r"(?i)\b(?:amendment|addendum|supplement|amending)\b")
_CERTAIN = re.compile(
    r"(?i:(?:that\scertain|into\san?|to\san?|their|under\sthe|that)\s)"
    rf"(?P<title>(?:[A-Z0-9][^\s()\"“”;:]{{0,30}}\s(?:(?:and|of|for|the|&)\s)?){{1,12}}(?i:{_NOUN}))"
)
_NOT_TITLE = re.compile(
    r"(?i)\b(?:treatment|omitted|redacted|portions|commission|excluded|pursuant|quicklinks)\b"
    r"|\s\d{1,3}\s(?:\d|exhibit|article|section)|^agreements?\s\d|\sis\s"
)
"""Words of what a filing says about itself."""
_HEAD = 3_500
"""Characters at the top in which a title stands."""
_LINES = 60
_LONGEST = 18
"""Words of a title."""
_MORE = 2
"""Words that a heading may have before those by which the text calls the agreement."""

_KINDS = (
    (DocumentKind.AMENDMENT, re.compile(r"amendment|addendum|supplement(?!ar)|amending")),
    (DocumentKind.CONFIDENTIALITY, re.compile(r"confidential|non-?\s?disclosure|\bnda\b|secrecy")),
    (DocumentKind.CONSULTING, re.compile(r"consult")),
    (DocumentKind.FRANCHISE, re.compile(r"franchis")),
    (DocumentKind.JOINT_VENTURE, re.compile(r"joint venture")),
    (DocumentKind.LEASE, re.compile(r"\bleases?\b|tenancy|rental")),
    (DocumentKind.EMPLOYMENT, re.compile(r"employ|separation|severance")),
    (DocumentKind.HOSTING, re.compile(r"hosting|co-?location")),
    (DocumentKind.OUTSOURCING, re.compile(r"outsourc")),
    (
        DocumentKind.DISTRIBUTION,
        re.compile(r"distribut|resell|\bagency\b|dealer|sales representative|remarketing"),
    ),
    (DocumentKind.SPONSORSHIP, re.compile(r"sponsor|endorsement")),
    (DocumentKind.MANUFACTURING, re.compile(r"manufactur")),
    (DocumentKind.SUPPLY, re.compile(r"suppl(?:y|ies)")),
    (DocumentKind.MAINTENANCE, re.compile(r"maintenance|support")),
    (DocumentKind.LICENCE, re.compile(r"licen[sc]|lizenz")),
    (
        DocumentKind.COLLABORATION,
        re.compile(r"collaborat|alliance|co-?operation|co-?branding|teaming|partnership"),
    ),
    (DocumentKind.DEVELOPMENT, re.compile(r"develop")),
    (DocumentKind.MARKETING, re.compile(r"marketing|promotion|affiliate|advertis|referral")),
    (DocumentKind.TRANSPORTATION, re.compile(r"transport|freight|shipping|carriage")),
    (DocumentKind.LOAN, re.compile(r"\bloan|credit|guarant|\bnote\b|security agreement|pledge")),
    (DocumentKind.PURCHASE, re.compile(r"purchase|sale")),
    (DocumentKind.SERVICES, re.compile(r"servic|\boperat|management|administration|statement of work")),
    (DocumentKind.POLICY, re.compile(r"polic(?:y|ies)|guidelines")),
    (DocumentKind.NOTICE, re.compile(r"\bnotice")),
    (DocumentKind.TERMS, re.compile(r"terms|conditions")),
    (DocumentKind.SCHEDULE, re.compile(r"schedule|price list|order form")),
)


@dataclass(frozen=True, slots=True)
class _Words:
    """Part of a passage."""

    start: int
    end: int


def find(opening: Passage) -> ProfileTitle | None:
    """The heading by whose words the text calls itself, else the first heading, else what it calls itself."""
    text = opening.text
    echo = _echo(text)
    heading = next(_headings(text, _begins(text, echo)), None)
    if echo is not None and _words_of(text, echo) > 1:
        return _title(opening, _repeated(text, echo, heading))
    words = heading or echo or _letter(text)
    return _title(opening, words) if words and not _is_bare(text, words) else None


def kind_of(title: ProfileTitle | None) -> DocumentKind:
    """What sort of document has this title."""
    if title is None:
        return DocumentKind.OTHER
    said = title.text.lower()
    return next((kind for kind, pattern in _KINDS if pattern.search(said)), DocumentKind.OTHER)


def amended(opening: Passage, title: ProfileTitle | None, made: StatedDate | None) -> AmendedAgreement | None:
    """The agreement that an amendment, itself `made` then, names: in its title, else in `that certain …`."""
    if title is None or not _AMENDING.search(title.text):
        return None
    text = opening.text
    for match in (*_AMENDS.finditer(text, 0, _HEAD), *_CERTAIN.finditer(text, 0, _HEAD)):
        in_title = match.re is _AMENDS
        words = _title_behind(text, match.end()) if in_title else _Words(*match.span("title"))
        dated = _dated(opening, words, made) if words else None
        if words and (dated or in_title):
            said = _cased(one_line(text[words.start : words.end]))
            return AmendedAgreement(said, opening.span(words.start, words.end), dated)
    return None


def _title_behind(text: str, start: int) -> _Words | None:
    """The title that the rest of a line begins with."""
    line_end = text.find("\n", start)
    return _title_in(text, start, line_end if line_end > 0 else len(text))


def _dated(opening: Passage, words: _Words, made: StatedDate | None) -> StatedDate | None:
    """The date behind a title, or behind its last words where they are said again, unless it is `made`."""
    last = opening.text[words.start : words.end].split()[-2:]
    said_again = re.compile(re.escape(" ".join(last)).replace(r"\ ", r"\s"), re.IGNORECASE)
    mentions = said_again.finditer(opening.text, 0, _HEAD)
    found = (dates.behind(opening, mention.end()) for mention in mentions)
    return next((dated for dated in found if dated and (made is None or dated.iso != made.iso)), None)


def _begins(text: str, echo: _Words | None) -> int:
    """Where the agreement itself begins, below which no title stands."""
    return echo.start if echo and _PREDICATE.match(text, echo.end) else len(text)


def _echo(text: str) -> _Words | None:
    """By what name the text calls itself: `THIS CONSULTING AGREEMENT is …`."""
    bare = None
    for match in _ECHO.finditer(text, 0, 12_000):
        words = _Words(match.start("title"), match.end("title"))
        if _words_of(text, words) > 1 and not _NOT_TITLE.search(match["title"]):
            return words
        if _PREDICATE.match(text, words.end):
            return words
        bare = bare or words
    return bare


def _letter(text: str) -> _Words | None:
    letter = _LETTER.search(text, 0, _HEAD)
    return _Words(*letter.span(1)) if letter else None


def _words_of(text: str, words: _Words) -> int:
    return len(text[words.start : words.end].split())


def _headings(text: str, before: int) -> Iterator[_Words]:
    """The titles that stand in lines of their own, or in capitals within a line, above `before`."""
    lines = [match.span() for match in re.finditer(r"[^\n]+", text[: min(_HEAD, before)])][:_LINES]
    for index, (start, end) in enumerate(lines):
        found = _title_in(text, start, end)
        if found is None and index + 1 < len(lines):
            found = _over_two_lines(text, start, lines[index + 1][1], end)
        if found is None:
            found = _in_capitals(text, start, end) or _at_line_start(text, start, end)
        if found:
            yield found


def _title_in(text: str, start: int, end: int) -> _Words | None:
    """The title that a line is, but for what may stand before and behind one."""
    start = _behind_lead(text, start, end)
    end = min(end, start + 200)
    if (cut := _CUT.search(text, start + 1, end)) is not None:
        end = cut.start()
    start = _behind_company(text, start, end)
    said = text[start:end].rstrip(" ,.*\n")
    words = said.split()
    half = len(words) // 2
    if [word.lower() for word in words[:half]] == [word.lower() for word in words[half:]]:
        said = said[: (len(said) - 1) // 2]
    return _Words(start, start + len(said)) if _reads_like_title(said) else None


def _reads_like_title(said: str) -> bool:
    words = said.split()
    if not 0 < len(words) <= _LONGEST or not all(map(_may_stand_in_title, words)):
        return False
    if _NUMBERED.match(said) or _NOT_TITLE.search(said) or (said[0].islower() and said[1:2] != "-"):
        return False
    if said.lower() in BARE_TITLES or words[-1].lower() in TITLE_LINKS:
        return False
    return any(form.search(said) for form in (_ENDS_IN_NOUN, _STARTS_WITH_NOUN, _TAIL))


def _behind_company(text: str, start: int, end: int) -> int:
    """Where the words behind the name of a company begin: `Acme, Inc. Master Services Agreement`."""
    for word in _WORD.finditer(text, start, end):
        said = text[start : word.end()]
        if (
            names.is_form(word[0])
            and word.end() < end
            and names.has_form(said)
            and not _AMENDING.search(said)
        ):
            start = word.end() + 1
    return start


def _behind_lead(text: str, start: int, end: int) -> int:
    lead = _BEFORE.match(text, start, end)
    return lead.end() if lead else start


def _may_stand_in_title(word: str) -> bool:
    bare = word.strip(",'\"“”’‘*")
    return (
        not bare
        or bare.lower() in TITLE_LINKS
        or bare[0].isupper()
        or bare[0].isdigit()
        or bare[0] in "#n("
        or bare[1:2] == "-"
    )


def _over_two_lines(text: str, start: int, end: int, line_end: int) -> _Words | None:
    """The title that two lines make together: the upper goes on, or the lower is a bare `AGREEMENT`."""
    upper = text[_behind_lead(text, start, line_end) : line_end].strip()
    if not upper or len(upper) > 100 or names.has_form(upper) or _CUT.search(upper):
        return None
    lower = text[line_end:end].strip()
    goes_on = upper.split()[-1].lower() in TITLE_LINKS or upper.endswith(",") or len(lower.split()) == 1
    return _title_in(text, start, end) if goes_on or (upper.isupper() and lower.isupper()) else None


def _in_capitals(text: str, start: int, end: int) -> _Words | None:
    """A title in capitals within a line that goes on: `EXHIBIT 10.1 HOSTING AGREEMENT This Agreement …`."""
    found = _CAPITAL_RUN.finditer(text, _behind_lead(text, start, end), end)
    runs = [_Words(_behind_company(text, run.start(), run.end()), run.end()) for run in found]
    runs = [run for run in runs if _words_of(text, run) > 1]
    return next((run for run in runs if _GOES_ON.match(text, run.end)), runs[0] if runs else None)


def _at_line_start(text: str, start: int, end: int) -> _Words | None:
    words = _FIRST_WORDS.match(text, _behind_lead(text, start, end), end)
    return _Words(*words.span()) if words and not _NOT_TITLE.search(words[0]) else None


def _repeated(text: str, echo: _Words, heading: _Words | None) -> _Words:
    """The heading whose last words are those by which the text calls itself."""
    called = text[echo.start : echo.end].lower()
    if heading is not None:
        said = text[heading.start : heading.end].lower()
        if one_line(said).endswith(one_line(called)) and len(said.split()) <= len(called.split()) + _MORE:
            return heading
    pattern = re.compile(re.escape(" ".join(called.split())).replace(r"\ ", r"\s"), re.IGNORECASE)
    for match in pattern.finditer(text, 0, echo.start):
        if text[match.start() : match.end()][0].isupper():
            return _Words(match.start(), match.end())
    return echo


def _is_bare(text: str, words: _Words) -> bool:
    return text[words.start : words.end].lower() in BARE_TITLES


def _title(opening: Passage, words: _Words) -> ProfileTitle:
    said = one_line(opening.text[words.start : words.end])
    return ProfileTitle(_cased(said), opening.span(words.start, words.end))


def _cased(words: str) -> str:
    """Words in capitals or small letters as in a title; others as they are."""
    if words not in (words.upper(), words.lower()):
        return words
    cased = [_word_cased(word) for word in words.split()]
    return " ".join([cased[0][:1].upper() + cased[0][1:], *cased[1:]])


def _word_cased(word: str) -> str:
    if word.strip(",.()") in ACRONYMS or any(map(str.isdigit, word)):
        return word
    if word.lower() == "no.":
        return "No."
    if word.lower() in TITLE_LINKS:
        return word.lower()
    return "".join(part.capitalize() for part in re.split(r"([-/&.(])", word))
