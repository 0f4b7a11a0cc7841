"""Words that say the same of what contracts deal with, so that a claim in other words can be compared.

Left out on purpose: opposites, `may` beside `must`, parties, and words that are only of the same subject, for
which a search may take `evidence.everyday`. Written from general knowledge of contracts and their language.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from services.answer.verification.lint.wording import stem_of

_IRREGULAR_FORMS = """
    found/find told/tell begun/begin began/begin paid/pay given/give gave/give sent/send made/make kept/keep
    held/hold got/get gotten/get taken/take took/take sold/sell bought/buy lost/lose left/leave chosen/choose
    chose/choose known/know knew/know shown/show showed/show written/write wrote/write met/meet built/build
    borne/bear bore/bear brought/bring broken/break broke/break withdrawn/withdraw withheld/withhold
    undertaken/undertake risen/rise rose/rise went/go gone/go goes/go ran/run came/come became/become
    sought/seek taught/teach lent/lend drawn/draw people/person persons/person children/child indices/index
    """
_IRREGULAR = dict(pair.split("/") for pair in _IRREGULAR_FORMS.split())
"""Forms of words that no ending tells."""


def meaning_stem(word: str) -> str:
    """The stem of a word, that of `find` for `found`; words in capitals are names."""
    folded = word.casefold()
    return stem_of(folded if word.isupper() else _IRREGULAR.get(folded, folded))


def is_irregular(word: str) -> bool:
    """Whether it is the past of a verb that no ending tells, or a plural like that."""
    return word in _IRREGULAR


GROUPS = """
tell, inform, notify, declare, notice, notification, give notice, announce, announcement, advise, let know
increase, raise, rise, higher, go up, put up
reduce, reduction, decrease, lower, cut, bring down
cease, stop, end, discontinue, withdraw, withdrawal, shut down
terminate, termination, end, cancel, cancellation, walk away from, pull out of, get out of, leave, quit
expire, expiry, expiration, end, run out
begin, start, commence, commencement, come into force, effective, take effect, apply from, kick in
last, continue, run, go on, remain in force, carry on, stay in force, valid, remain
pay, payment, payable, settle, settlement, due, pay up
due, payable, fall due, owe
fee, charge, cost, price, rate, amount payable, pay, payable
free, free of charge, without charge, without fee, at no cost, no charge, no fee, gratis
at no extra charge, at no extra cost, at no additional cost, without additional fee, without charge
invoice, bill, billing
overdue, late, past due, in arrears
reimburse, reimbursement, refund, repay, repayment, pay back, give back, make good
bear, pay, cover, carry, meet, shoulder
accrue, bear
audit, inspect, inspection, examine, examination, check
review, examine, check, inspect, look at, look over
keep, retain, hold, store, maintain, preserve, save
delete, deletion, erase, remove, destroy, wipe
return, give back, hand back, send back
use, usage, utilise, utilize, make use of, employ
supply, provide, furnish, give, deliver, delivery, make available, offer, hand over, send, offer to
supply, provide, pass on, pass, share, hand out, make available, on offer
redistribute, redistribution, pass on, onward supply
distribute, distribution, distributor
receive, receipt, get, obtain, be given
recipient, receiver
permit, permission, allow, authorise, authorize, authorisation, let
consent, approval, approve, permission, sign off, go ahead, blessing, agree, authorisation
accept, acceptance, agree to
written, in writing, writing
prior, in advance, advance, ahead, beforehand, notice
immediate, immediately, at once, straight away, right away, instantly, with immediate effect
promptly, without delay, quickly, speedily
customer, client
firm, company, business, enterprise, undertaking
employee, staff, personnel, worker, employed
teacher, teaching staff, lecturer, teach
student, pupil, learner
person, individual, people, human being, user
party, side
third party, outsider, anyone else, any other person, somebody else, others
dispute, contest, object, objection, challenge, disagree, complain, complaint, query
mistake, error, slip
correct, correction, fix, rectify, put right
amend, amendment, change, modify, modification, alter, alteration, vary, variation, adjust, revise
remedy, cure, fix, put right, repair, correct
breach, violation, violate, break, contravene
material, serious, significant, substantial
confidential, confidentiality, secret, secrecy, private
keep confidential, keep secret
disclose, disclosure, reveal, divulge, make public, tell, share
late, not on time, overdue, not received on time, not delivered on time, not paid on time, after the due date
liable, liability, responsible, responsibility, answerable, answer for, accountable
limit, limited, cap, capped, ceiling, maximum, restrict
greater, higher, larger, bigger
lesser, lower, smaller
exceed, more than, in excess of
damage, loss, harm
loss of, lost, lose
profit, earnings, gain
indemnify, indemnity, hold harmless, compensate
law, legislation, statute, legal
govern, apply, applicable, subject
arbitration, arbitrator, arbitral
sole, single, one
settle, resolve, decide, determine, settlement, resolution, determination, decision
insolvent, insolvency, bankrupt, bankruptcy
assign, transfer, assignment, hand over, novate
email, electronic mail, mail, by email
publish, publication, post, put out
display, show, present, presentation
visual, visible, see
delay, delayed, late
real time, live
count, counted, treat as, regard as, deem, consider, classify, classified
duty, obligation
submit, file, hand in, send in, deliver, lodge, supply
quarterly, every quarter, each quarter, once a quarter
annual, annually, yearly, every year, each year, once a year, per annum
monthly, every month, each month, once a month, per month
daily, every day, each day
renew, renewal, extend, extension, prolong, roll over
initial, first, original
successive, subsequent, following, next
term, duration, period, length
additional, extra, further, added, addition, on top
equipment, hardware, gear
premises, office, place of business
remote, remotely, at a distance, online, from afar
business hour, working hour, office hour
business day, working day
prove, proof, evidence, demonstrate, show
calculate, calculation, compute, work out
create, creation, make, produce, generate, build
own, owner, ownership, belong to, property of, title to, rights in, keep the rights
entitle, entitlement, right, have the right
mark, trademark, trade mark
state, name, list, specify, set out, mention, indicate, say, identify
obtain, secure, get, acquire
apply, application, applicant, request, ask for
reject, rejection, refuse, refusal, decline, turn down
suspend, suspension, interrupt, interruption, pause, cut off
resume, resumption, restart, take up again, start again
reinstate, reinstatement, restore, restoration
cause, reason, ground
event, occurrence, incident
beyond its control, force majeure, outside its control
compete, competitor, competing, competition, rival
purpose, aim, goal
trial, test period, try out
prospective, potential, would be, possible future
consecutive, in a row, running, uninterrupted, successive
record, log, note, document
complete, completion, full, entire, whole
part, portion
accurate, accuracy, correct, correctness
warrant, warranty, guarantee, assure, assurance, promise
advice, advise, recommendation
survive, continue, outlast, remain, live on, stay
buy, purchase, acquire
sell, sale
hire, recruit, engage, take on
insure, insurance, insured
tax, taxes, vat, value added tax
deduct, deduction, withhold, withholding
include, included, comprise, cover, contain, consist
sign, signed, signature
confirm, confirmation
ask, request, ask for, demand, call for
answer, reply, respond, response, react
help, assist, assistance, support
penalty, fine, punishment
discount, rebate
surcharge, extra charge, supplement, additional fee, added charge
amount, sum
equal, equally, same, identical, evenly
split, share, divide, shared
hide, obscure, conceal
monitor, watch, supervise
bind, bound, binding
regulator, supervisory authority
exempt, exemption, exempted
try, endeavour, effort, attempt
satisfy, meet, fulfil, comply, conform, compliance
available, availability, on offer, open
open to, eligible, qualify, available to, reserved for
planned, scheduled
operate, operator, operation, run, conduct
conduct, carry out, perform, performance, undertake
manage, handle, administer
process, processing, handle
choose, choice, elect, election, select, selection, opt for, pick
by default, automatically
enable, enabled, activate, switch on, turn on
disable, disabled, deactivate, switch off, turn off
access, reach
employer, hirer
require, requirement, necessary, call for
show, reveal, find, disclose, turn out, discover
find, findings, result, discovery
raise, make, give, lodge, bring, notify
comment, remark, feedback
draft, preliminary version
report, statement
estimate, estimated, guess
aware, know, knowledge, learn
concern, relate, relating, about, regard, refer
because of, by reason of, due to, as a result of, caused by
permit, licence, license, licensed
price, rate, tariff
site, location, place
server, machine, computer
machine learning, machine learning model
identity, who they are
verify, verification, check, establish
acknowledge, acknowledgement, confirm receipt
forbid, prohibit, ban, bar
replace, replacement, supersede, substitute, take the place of
convert, conversion, exchange
in perpetuity, perpetual, forever, for ever, permanently, indefinitely
grant, give, award
migrate, migration, move, switch, change over
introduce, introduction, bring in, launch
cover, extend to, reach back, go back, span
apply to, cover, extend to, concern
precede, preceding, previous, earlier
outside, beyond
internal, internally, in house
external, externally, outside
half yearly, twice a year, every six months
clause, section, provision, article
agreement, contract, licence agreement
schedule, annex, appendix
merge, merger, takeover, take over
board, directors
shareholder, stockholder
lend, loan
borrow, borrowing
rent, lease, let
tenant, lessee
landlord, lessor
goods, products, merchandise
ship, shipment, dispatch
fault, defect, defective, faulty
work, perform, function, operate
invent, invention
secret, undisclosed
press release, public statement, announcement
subcontract, subcontractor, farm out
hold back, withhold
view, see, look at
precedence, take precedence, prevail, priority, win
registered office, headquarters, seat
void, invalid, unenforceable
recreate, rebuild, reconstruct, reverse engineer
lawful, lawfully, legal, legally
unlawful, unlawfully, illegal, illegally
stand by, backup, fallback
public holiday, bank holiday
delivery point, point of delivery, demarcation point
appoint, designate, engage
undertake, promise, commit, commitment
explain, justify, give reasons
enter into, conclude, sign
unused, not used
jointly, together
label, mark, bear the words
unreasonable, unreasonably, without good reason
"""
"""A group a line: words and phrases, in any inflection, that may stand for each other."""

_ADDING_NOTHING = """
    get give take make go come set put run fall become happen occur exist involve concern regard
    relate refer mean say state tell call speak case matter question thing way manner kind sort
    point place fact basis respect itself himself themselves somebody anybody someone anyone
    everybody everyone something anything respective respectively relevant corresponding concerned
    particular certain applicable actual actually simply namely particularly specifically overall
    accordingly therefore moreover furthermore addition additionally likewise similarly whole latest
    earliest least most cost count amount rather instead already still yet even here agreement
    contract there now exactly precisely fully currently thereafter afterwards let serve base result
    arise provide foresee stipulate deal act follow based upon various described obviously own
"""
LIGHT = frozenset(meaning_stem(word) for word in _ADDING_NOTHING.split())
"""Stems of words that add nothing to what the other words of a claim say."""
UNIVERSAL = tuple(
    tuple(phrase.split())
    for phrase in (
        "always",
        "in every case",
        "in all cases",
        "whenever",
        "at any time",
        "regardless",
        "without exception",
        "unconditionally",
        "no matter",
        "under all circumstances",
        "in any event",
        "of every kind",
        "of any kind",
        "of all kinds",
        "of every sort",
        "whatsoever",
    )
)
"""Say that something holds without conditions."""
ANYBODY = frozenset(
    ("anyone", "anybody", "everyone", "everybody", "anything", "everything", "anywhere", "everywhere")
)
"""Say that something holds of all; a clause says so with one of `SHARES`."""
SHARES = frozenset((*ANYBODY, "any", "all", "every", "each", "no", "none", "nobody", "whoever", "whatever"))

_Stems = tuple[str, ...]


def _members() -> Mapping[_Stems, tuple[_Stems, ...]]:
    """Every word and phrase, as stems, to the others of its groups."""
    others: dict[_Stems, dict[_Stems, None]] = defaultdict(dict)
    for line in GROUPS.strip().splitlines():
        group = [tuple(meaning_stem(word) for word in member.split()) for member in line.split(",")]
        for member in group:
            others[member] |= {other: None for other in group if other != member}
    return {member: tuple(said) for member, said in others.items()}


_MEMBERS = _members()
LONGEST = max(map(len, _MEMBERS))
"""Words of the longest phrase."""


def other_words(stems: Sequence[str]) -> tuple[_Stems, ...]:
    """Words and phrases, as stems, that say the same as these; none for most."""
    return _MEMBERS.get(tuple(stems), ())


@lru_cache(maxsize=4096)
def ways_to_say(stem: str) -> frozenset[str]:
    """Stems that may stand for a word in a clause, its own among them."""
    return frozenset((stem, *(other for phrase in other_words((stem,)) for other in phrase)))
