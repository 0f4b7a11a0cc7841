"""Word lists of names, roles and titles, lower-case unless told."""

from __future__ import annotations


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


COMPANY_FORMS = _listed("""
    inc incorporated llc l.l.c ltd limited plc p.l.c corp corporation co company lp l.p llp l.l.p lllp gmbh
    ag a.g kg kgaa se s.e s.a sa s/a s.a.s sas s.a.r.l sarl s.p.a spa s.r.l srl b.v bv n.v nv a/s as ab oy
    oyj aps asa k.k kk kft d.o.o s.r.o a.s pty pte pvt proprietary bhd sdn n.a ulc p.c g.i.e gie e.v ev
    ltda s.l s.l.u s.c.a sca eeig limitada
""")
"""Without the last full stop."""

SHORTENED_FORMS = _listed("inc ltd corp co pty pte pvt bhd sdn ltda")
"""Forms that are written with a full stop of their own, like those that have one within: `Inc.`, `L.P.`."""

FORMS_IN_CAPITALS = _listed("as se sa spa co company ev sca asa ab limited corporation incorporated")
"""Forms that are also words: they count only with a capital."""

STATES = _listed("NV CO SA AS AB")
"""Behind a comma these are parts of an address, as in `Las Vegas, NV`; in capitals."""

BODIES = _listed("""
    trust fund bank university association partnership institute foundation authority college hospital
    agency church society exchange corporation company club institution
""")
"""Words that the name of an organisation holds as a part of it."""

PUBLIC_BODIES = _listed("city county state department town village university bank commonwealth republic")
"""Words that the name of an organisation begins with: `City of …`."""

NAME_LINKS = _listed("of the for de la di du da del della van von der den e y et und & + on at")
"""Words in small letters that a name goes on over."""

NAME_ENDERS = _listed("""
    and by name title date dated its between among whereas witnesseth this to from effective as attention
    attn address per signature signed whose having with each parties party recitals background exhibit
    agreement therefore or page source re subject dear telephone phone fax email hereinafter both
    recital preamble table contents section article tel
""")
"""Words that no name has in the middle, whatever their case."""

NOT_FIRST_IN_NAMES = NAME_ENDERS | _listed("""
    in on at for of if it he she they we you our your any all no an a such these those each either now
    january february march april may june july august september october november december
    schedule appendix annex monday tuesday wednesday thursday friday saturday sunday
""")
"""Words that no name begins with, whatever their case."""

SECOND_HALVES = _listed("wales tobago nevis barbuda herzegovina labrador")
"""Second halves of places: `incorporated in England and Wales`."""

OFFICES = _listed(
    "chairman president director officer manager secretary treasurer counsel ceo cfo nationality"
)
"""Words of what somebody is in a company, which no name of a person holds."""

TRADES = _listed("""
    insurance annuity savings loan science technology technologies research development trade trading
    marketing sales oil gas power light electric water engineering construction import export information
    telecommunications communications health medical life casualty fire marine finance investment
    management manufacturing supply distribution hotels resorts research education culture media sports
    training testing design production services industry commerce agriculture transport storage logistics
""")
"""Lines of business that a name joins by `and`: `Savings and Loan Association`."""

ROLES = _listed("""
    licensor licensee licencor licencee consultant consultants customer client supplier vendor seller buyer
    purchaser lessor lessee landlord tenant distributor reseller sponsor franchisor franchisee company
    contractor provider recipient owner operator servicer agent manager employer employee executive lender
    borrower guarantor investor developer publisher manufacturer shipper transporter carrier representative
    adviser advisor investment fund trust trustee issuer underwriter affiliate partner producer user
    subscriber service disclosing receiving counterparty administrator talent celebrity artist corporation
    bank repairer remarketing discloser member subcontractor promoter author broker dealer marketer
    franchise principal host team club university institution participant merchant processor facilitator
""")
"""Words of which the role of a party is made."""

TITLE_LINKS = _listed("and of for the to in on by with a an or & / - – at from as nr n° no no. # de la du di")
"""Words in small letters that a title goes on over."""

ACRONYMS = _listed(
    "IP IT OEM ASP NDA ISDA US USA UK EU API VAR LLC LLP II III IV VI SLA MSA SOW DPA QA R&D VOD"
)
"""Words that stay in capitals when a title is no longer; in capitals."""

BARE_TITLES = _listed("agreement agreements contract terms notice schedule lease license licence")
"""Words that alone are no title."""

ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"),
    *("eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third"),
    *("twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth"),
    *("twenty-ninth", "thirtieth", "thirty-first"),
)
"""Days of a month in words, from the first."""
