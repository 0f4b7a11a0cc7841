"""A folder of two sources in the five formats, made when a test needs it, and what is known of it."""

from __future__ import annotations

from pathlib import Path

import docx
import pymupdf

AGREEMENT = [
    ("1. Definitions", '"Subscriber" means any person that receives Information from the Licensee.'),
    (
        "2. Fees and Payment",
        "The Licensee shall pay the monthly licence fee of USD 4,200 for each site. "
        "Invoices are due within thirty (30) days after the date of the invoice.",
    ),
    (
        "3. Audit",
        "Northgate may inspect the books and records of the Licensee once in each calendar year, "
        "upon ten (10) business days' prior written notice.",
    ),
    (
        "4. Termination",
        "Either party may terminate this Agreement for convenience upon ninety (90) days' written notice "
        "to the other party.",
    ),
]
FEE_PAGES = [
    "Northgate Fee Schedule\n\nSection 1 Scope\n\nThis schedule lists the fees that apply to real-time data "
    "of Northgate. It forms part of the licence agreement.",
    "Section 2 Device Fees\n\nThe fee for each display device is USD 95.00 a month. A device that is used "
    "for fewer than five days in a month is charged half of the fee.",
]
POLICY = """<!DOCTYPE html>
<html><head><title>Redistribution Policy</title></head><body>
<h1>Redistribution Policy</h1>
<h2>Internal use</h2><p>Information may be used inside the offices of the Licensee only.</p>
<h2>Redistribution</h2><p>The Licensee must not redistribute real-time Information to any third party
without the prior written consent of Northgate.</p></body></html>
"""
NOTICE = """# Notice 7: Delayed data

## Delay interval

Southport releases delayed data fifteen minutes after the original publication.

## Effective date

This notice takes effect on 1 March 2026.
"""
TERMS = """SOUTHPORT DATA TERMS

Section 1. Governing Law

This Agreement shall be governed by the laws of the Republic of Ireland.

Section 2. Confidentiality

The Subscriber shall keep the Information confidential for a period of five years after termination.

Section 3. Definitions

"Subscriber" means a natural person who views Information on a single screen.
"""

DOCUMENT_IDS = [
    "northgate/fee-schedule.pdf",
    "northgate/licence-agreement.docx",
    "northgate/policy.html",
    "southport/notices/notice-7.md",
    "southport/terms.txt",
]

GOVERNING_LAW = "Which law governs the agreement?"
DEVICE_FEE = "What is the monthly fee for a display device?"
UNANSWERABLE = "How many parking spaces does the cafeteria of the headquarters have?"


def write_corpus(root: Path) -> Path:
    """Write the five files below `root` and return it."""
    (root / "northgate").mkdir(parents=True)
    (root / "southport" / "notices").mkdir(parents=True)
    write_agreement(root / "northgate" / "licence-agreement.docx")
    write_pdf(root / "northgate" / "fee-schedule.pdf", FEE_PAGES)
    (root / "northgate" / "policy.html").write_text(POLICY)
    (root / "southport" / "notices" / "notice-7.md").write_text(NOTICE)
    (root / "southport" / "terms.txt").write_text(TERMS)
    return root


def write_agreement(path: Path) -> None:
    """A DOCX with a title and one heading a clause."""
    document = docx.Document()
    document.add_heading("Northgate Licence Agreement", 0)
    for heading, text in AGREEMENT:
        document.add_heading(heading, 1)
        document.add_paragraph(text)
    document.save(str(path))


def write_pdf(path: Path, pages: list[str]) -> None:
    """A PDF with one text box a page."""
    with pymupdf.open() as document:
        for text in pages:
            page = document.new_page()
            page.insert_textbox(pymupdf.Rect(72, 72, 523, 770), text, fontsize=11)
        document.save(str(path))


def long_text(clauses: int, remark: str) -> str:
    """A text of many clauses, long enough to be killed in the middle of; `remark` stands in its first."""
    first = f"Section 1. Remark\n\nThe remark of this version is {remark}.\n\n"
    return first + "\n\n".join(
        f"Section {n}. Matter {n}\n\n"
        + " ".join(
            f"The party of clause {n} shall deliver item {k} of matter {n} to the other party "
            f"within {n + k} days after notice number {k} was received at its office."
            for k in range(1, 12)
        )
        for n in range(2, clauses + 2)
    )
