"""Word lists of legal English that tell sentences, headings and defined terms apart."""

from __future__ import annotations


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


STARTERS = _listed("""
    The This These Those That Such If In It Its Each Any All No Neither Either Both Upon Notwithstanding
    Subject For To As An A Except Unless Until Where When Whenever While With Within Without During From
    On At By Nothing Every He She They We You Our Your After Before However Provided Should Following
    Pursuant There
""")
"""Words that open a sentence and hardly ever continue a name."""

CAPTION_ENDERS = STARTERS - _listed(
    "For To As With Within Without During From On At By In Upon A No All Following Subject"
)
"""Words that open the text after a caption without punctuation: `2. Maintenance of Records The Agent …`."""

NEVER_FINAL = _listed("""
    no nos sec secs art arts para paras cl fig figs ex exh app vol ver v vs e.g i.e eg ie viz cf mr mrs
    ms dr prof hon st messrs attn gen rep sen rev approx dept tel ref ed eds pp p § al
""")
"""Abbreviations, lower-case without the last full stop, after which a sentence always goes on."""

SELDOM_FINAL = _listed("""
    inc corp co cos ltd llc lp llp plc gmbh bros assoc jr sr esq etc op bldg ave blvd rd ste seq jan feb
    mar apr jun jul aug sept sep oct nov dec mon tue wed thu fri sat
""")
"""Abbreviations that end a sentence only when a word of `STARTERS` follows."""

OPEN_WORDS = _listed("""
    a an the this that these those such each every any all no its their his her our your my
    of in on at by to from for with within without under over into onto upon between among during
    before after until till since through throughout against above below beyond about around
    toward towards per via than as like regarding concerning including excluding except despite
    and or nor but if unless when whenever where wherever while whether because although though
    provided so which who whom whose what how not only neither either both
    shall will would may might must can could should cannot does do did is are was were be been being
    has have had having
    exceed exceeds exceeding exceeded equal equals equalling equaling totalling totaling least most
    maximum minimum approximately roughly nearly almost plus minus times
    until pursuant subject according prior up least less more fewer greater later earlier
    eur usd gbp chf jpy cad aud € $ £ ¥ § &
""")
"""Words, lower-case, that no sentence ends with: the next line goes on, whatever it begins with."""

LEAD_WORDS = _listed("""
    and or nor but if that which who not only to shall will would may might must can could should cannot
    does do is are was were be been has have either both neither unless until
""")
"""Words of `OPEN_WORDS` that a list hangs on: `The Licensee shall not⏎4.1 Copy …`."""

LIST_LEADS = LEAD_WORDS | {"following"}
"""Words that a list in small letters hangs on: `any of the following⏎a. copy …`."""

REFERENCE_WORDS = _listed("""
    section sections article articles clause clauses exhibit exhibits schedule schedules annex annexes
    appendix appendices part parts paragraph paragraphs subsection subsections sub-section sub-clause
    subclause subparagraph chapter chapters rule rules regulation regulations item items attachment
    attachments addendum amendment recital recitals phase tier class table figure version
""")
"""Words, lower-case, that a number on the next line belongs to: `under Clause⏎4.2 Fees`."""

NUMBER_KEYWORDS = _listed("""
    section sections article articles clause exhibit schedule annex appendix part
""")
"""Words before the number of a clause."""

CAPTION_SMALL_WORDS = _listed("""
    a an and as at but by for from in into of on or per the to upon via vs with within without its their
    other than not be & - – — / this that these those such all any no if when under between among during
    after before against through relating related thereof hereof hereto each other certain only prior
    until regarding
""")
"""Words that a title-case caption leaves in lower case."""

COMPANY_ENDINGS = _listed("""
    inc llc corp corporation ltd limited company co lp llp plc bank ag gmbh sa bv nv na trust
    partnership l.p l.l.c n.a s.a b.v n.v p.c l.l.p incorporated kg oy ab spa
""")
"""Last words of party names, lower-case without final punctuation."""

NOT_HEADINGS = _listed("""
    by and between whereas witness witnesseth now name title date dated signature signed its the of to
    from re cc attn attention dear very sincerely yours per page source exhibit telephone tel fax phone
    facsimile email e-mail address or if print printed for with copy notary seal amount total yes no
    none n/a x state county city
""")
"""First words, lower-case, of short lines that head nothing: parties, signatures, letters, forms."""

NOT_HEADING_LINES = frozenset(
    {"table of contents", "contents", "index", "signature page", "signatures", "in witness whereof"}
)
"""Lines, lower-case, that look like headings but have nothing of their own below them."""

PREAMBLES = _listed("""
    recitals recital background agreement agreements preamble introduction witnesseth
""")
"""Headings, lower-case, that never hold the numbered clauses after them."""

COMPANY_FORMS = _listed("inc llc l.l.c corp ltd plc gmbh s.a s/a llp l.p n.a")
"""Words, lower-case, that only the name of a company holds."""

VERBS = _listed("""
    shall will may must is are was were has have had means mean agrees represents hereby does can
""")
"""Words, lower-case, that make a sentence of a line."""

NOT_TERMS = _listed("""
    a all an and another any as at because both but by each either every for from he if in it its
    neither no nor nothing of on or other she such than that the there these they this those to under
    upon we what when where whereas which while who with without you
""")
"""First words, lower-case, of lines that speak about means but define nothing: `By any means …`."""

NOT_ENTRIES = _listed("""
    note notes page pages source name title date dated attention attn address tel telephone fax
    facsimile phone email e-mail web website url re to from cc bcc subject example examples witness
    whereas signature signed copy if by in see section sections article exhibit schedule annex appendix
    attachment clause part step item figure table chapter version author file contact office mobile
    provided nb n.b warning important caution recitals recital background total amount
""")
"""First words, lower-case, of `Label: …` lines that are not entries of a glossary."""

DETERMINERS = _listed("a an any the all each every those one either collectively")
"""First words, lower-case, of a definition that stands behind a colon or dash."""
