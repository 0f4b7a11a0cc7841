"""Questions that ask for each of many documents, told from those that only begin like them."""

from __future__ import annotations

import pytest

from services.answer.query.recognising import asked_of_each, compared


@pytest.mark.parametrize(
    ("question", "asked", "kind"),
    [
        ("Which contracts have a non-compete?", "Does the contract have a non-compete?", "contract"),
        ("which of our leases allow subletting", "Does the lease allow subletting?", "lease"),
        ("Do all our NDAs allow copies?", "Does the nda allow copies?", "nda"),
        ("Does every lease limit liability?", "Does the lease limit liability?", "lease"),
        ("Is each of our leases transferable?", "Is the lease transferable?", "lease"),
        (
            "List the agreements that renew automatically.",
            "Does the agreement renew automatically?",
            "agreement",
        ),
        ("Please list all contracts with a cap", "Does the contract have a cap?", "contract"),
        ("Find our leases where pets are forbidden", "Pets are forbidden?", "lease"),
        ("In which contracts is liability capped?", "Is liability capped?", "contract"),
        ("Compare the liability caps across all contracts", "The liability caps?", "contract"),
        ("Compare notice periods of our agreements", "Notice periods?", "agreement"),
        ("What is the notice period in each of our leases?", "What is the notice period?", "lease"),
        (
            "How many of our supply agreements can be terminated early?",
            "Can the supply agreement be terminated early?",
            "supply agreement",
        ),
        (
            "Which agreements with Acme Corp. don't mention arbitration?",
            "Does the agreement mention arbitration?",
            "agreement",
        ),
        (
            "Which contracts aren't governed by local law?",
            "Is the contract governed by local law?",
            "contract",
        ),
    ],
)
def test_what_is_asked_of_each_document_is_said_of_one(question, asked, kind):
    recognised = asked_of_each(question)
    assert recognised is not None
    assert (recognised.question, recognised.kind) == (asked, kind)


@pytest.mark.parametrize(
    "question",
    [
        "Which contracts does the Supplier have to disclose?",
        "Which contracts must the Buyer take over?",
        "Which agreements have to be assigned at closing?",
        "Which agreements have been terminated?",
        "Which other agreements have the parties signed?",
        "Which law governs the contract?",
        "What documents must the Licensee provide?",
        "What documents set out the scope?",
        "Does any agreement between the parties survive?",
        "Does the agreement renew?",
        "List the agreements that the Buyer must take over.",
        "Compare the fees in the agreement with those of last year",
        "Compare the notice periods of Acme and Globex",
        "Is the supplier in default under any contract?",
        "Who signs both agreements?",
        "?",
    ],
)
def test_a_question_about_one_document_is_left_alone(question):
    assert asked_of_each(question) is None


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Compare the notice periods", "The notice periods?"),
        ("What is the difference between the parties on liability?", "Liability?"),
        ("What are the differences in the notice periods?", "The notice periods?"),
        ("How do the notice periods differ?", "The notice periods?"),
        ("Is there a cap?", "Is there a cap?"),
    ],
)
def test_what_is_compared_is_asked_of_each(question, asked):
    assert compared(question) == asked
