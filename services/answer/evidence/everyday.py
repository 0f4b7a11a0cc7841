"""How people put what contracts word otherwise: `walk away` for a termination, `foot the bill` for expenses.

Written from general knowledge of contracts, and looked over with questions of the train part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from corpus.stems import stems_of

EVERYDAY = {
    "liable liability responsible bear indemnify expense": (
        "on the hook, answer for, to blame, at fault, the tab, foot, eat, bear, who cover, stuck with"
    ),
    "aggregate exceed maximum liability": "recover, the most, limit, cap",
    "indemnify harmless defend expenses attorneys claim": "losses, legal bill, defence, defense, lawyer, sue",
    "court jurisdiction venue action": "court, sue, lawsuit, judge",
    "arbitration arbitrator mediation resolve": "arbitrate, dispute, disagree, argument, settle",
    "terminate termination": (
        "walk away, walk, pull out, pull the plug, get out, back out, bail, quit, cancel, drop us, end early,"
        " end it, end this, end the, call off, call it off, out of the deal, want out, end at once"
    ),
    "term expire expiration continue until": "be over, is over, run out, end, last, how long",
    "renew renewal extend automatically successive": (
        "roll over, renew, extend, extension, second year, another year, by itself"
    ),
    "termination expiration survive following": "after the deal, once this ends, after he leaves, after",
    "cure remedy repair correct replace": "fix, mend, put right, cure, repair, swap out",
    "breach default material fail failure": "breach, break, mess up, screw up, violate, misbehaviour",
    "consent approval approve prior written": (
        "ok, okay, sign off, approve, go ahead, permission, consent, without asking, blessing, agreeing"
    ),
    "amend amendment modify modification change alter": (
        "rewrite, change the terms, wording, amend, alter, tweak, modify, adjust"
    ),
    "assign assignment transfer delegate successor": (
        "pass, hand over, transfer, outsider, assign, sell the business, another company"
    ),
    "subcontract subcontractor delegate": (
        "farm out, farm work out, subcontract, outside help, other provider"
    ),
    "confidential disclose disclosure announcement publicity": (
        "secret, confidential, keep quiet, tell, mention, leak, reveal, disclose, publicly, press, reporter"
    ),
    "law order disclose prompt notice": "subpoena, court order, court orders, compel",
    "audit inspect examine books records access": (
        "audit, books, go through, look at, check, inspect, accountant"
    ),
    "exclusive exclusively sole non": (
        "only one, only distributor, only for us, exclusive, sole, other people"
    ),
    "compete competing competitive competitor similar": (
        "compete, rival, similar, same kind, same sort, someone else, anyone else"
    ),
    "hire solicit employ recruit": "hire, poach, recruit, go work, staff, people away",
    "own ownership title property belong vest": (
        "own, belong, ours, whose, theirs, keep the rights, hold the rights"
    ),
    "insurance coverage insured maintain": "insurance, insurer, policy, cover",
    "refund reimburse return credit": "refund, money back, get back, give back",
    "expense cost reimburse pay borne": "pay for, cost, expense, flight, hotel, travel, extra",
    "pay payment payable due invoice": "paid, pay, payout, owe, bill, invoice, fall due",
    "interest late overdue past due": "late, overdue, missed payment, miss a payment, interest",
    "fee price charge rate compensation amount": "fee, price, charge, cost, rate, salary, earn",
    "percent percentage royalty commission share revenue": (
        "cut, share of, split, percentage, commission, royalty, profit"
    ),
    "governed laws construed": "law, which state, whose law",
    "conflict inconsistency prevail control govern supersede precedence": (
        "win, prevail, contradict, conflict, says one thing, count"
    ),
    "notice notify written prior inform": "warn, warning, tell us, let us know, notice, inform, say so",
    "notice receipt deemed facsimile address delivered": "posted, email, mail, fax, letter, send notices",
    "warrant warranty warranties represent guarantee": "guarantee, warrant, promise, assure, free of bugs",
    "force majeure beyond control delay": "strike, storm, war, earthquake, disaster, flood, act of god",
    "damages consequential special punitive lost profits": "punitive, lost profit, damages",
    "injunction injunctive equitable relief": "injunction, stop them",
    "tax taxes withholding": "tax",
    "death disability incapacity illness injury": "die, sick, ill, disabled, hurt, injured, injury",
    "cause removal misconduct": "fire, firing, sack, let go, let somebody go",
    "moral felony disrepute scandal convicted ridicule": "scandal, arrest, disgrace, crime, jail",
    "bankruptcy insolvent insolvency receiver creditors petition": (
        "bankrupt, insolvent, go under, bust, creditor"
    ),
    "control acquire merger sale assets": "control, taken over, takeover, acquired, sold, bought, merge",
    "mark trademark logo name": "logo, trademark, brand, name",
    "reproduce duplicate archival": "copy, backup",
    "decompile disassemble reverse engineer": "source code, decompile, reverse engineer",
    "training train": "train, teach, course",
    "support assistance maintenance": "help, helpdesk, support, technical",
    "delivery deliver shipment ship": "ship, shipped, deliver, dispatch, shipment",
    "order purchase minimum quantity": "order, minimum, buy, purchase, quantity",
    "furnish provide report statement": "report, statement, figures",
    "reject defective nonconforming inspect replace": "reject, faulty, defect, bad batch, fail, wrong",
    "return destroy": "send back, give back, handed back, go back, return, destroy, shred, keep",
    "not agree restrict compete": "stay out, keep out, stop us, barred, ban, forbidden, prohibit",
    "territory countries worldwide": "territory, sales area, region, country, abroad, resell",
    "independent contractor employee relationship agent": "employee, employer, contractor, boss",
    "by name title": "sign, signed, signing, signature",
    "effective commence date": "start, begin, kick off, take effect, go live",
    "dispute object written notify": "complain, object, challenge, wrong, disagree",
    "shares stock option": "share, stock, warrant, option",
    "entitled benefit bonus": "bonus, perk, benefit, vacation, holiday",
    "free cost charge without": "free, no cost, freebie, giving away",
    "deemed approval accepted failure respond": (
        "silence, no answer, no reply, no response, never replies, heard nothing, without comment,"
        " nobody says, no objection, absent any objection"
    ),
}
"""Words of contracts, and the ways in which a question may ask for them, with commas between."""


def _ways() -> Mapping[str, Sequence[tuple[Sequence[str], Sequence[str]]]]:
    """Every way of asking and the words that it stands for, as stems, under the first stem of the way."""
    ways: dict[str, list[tuple[Sequence[str], Sequence[str]]]] = defaultdict(list)
    for words, phrases in EVERYDAY.items():
        for phrase in phrases.split(","):
            way = stems_of(phrase)
            ways[way[0]].append((way, stems_of(words)))
    return ways


_WAYS = _ways()


def contract_stems(question: str) -> frozenset[str]:
    """Stems of the words that a contract may use for what the question says; most questions have some."""
    asked = stems_of(question)
    return frozenset(
        stem
        for at, first in enumerate(asked)
        for way, words in _WAYS.get(first, ())
        if asked[at : at + len(way)] == way
        for stem in words
    )
