"""What is read of a file besides its chunks: its card, whose rules may fail."""

from __future__ import annotations

from services.ingest.chunking import ChunkLimits, Origin
from services.ingest.parsing.limits import ParsingLimits
from services.ingest.reading import Job, read

LEASE = "LEASE AGREEMENT\n\nThis Lease Agreement is made between Acme, Inc. and Zeta GmbH (“Tenant”).\n"


def job(folder):
    file = folder / "upload"
    file.write_text(LEASE)
    return Job(file, Origin("cme/a.txt", "cme", "a.txt", "g1", "a.txt"), ParsingLimits(), ChunkLimits())


def test_a_file_is_read_with_its_card(tmp_path):
    reading = read(job(tmp_path), lambda *_: None)

    assert reading.profile.title.text == "Lease Agreement"
    assert [party.name for party in reading.profile.parties] == ["Acme, Inc.", "Zeta GmbH"]
    assert reading.profile_failure == ""


def test_a_file_whose_card_fails_is_read_without_one_and_says_what_failed(tmp_path):
    def failing(document, file_name):
        raise ValueError(document.text)

    reading = read(job(tmp_path), lambda *_: None, failing)

    assert reading.profile is None
    assert reading.profile_failure.startswith("ValueError in failing, line ")
    assert "Acme" not in reading.profile_failure
    assert "Acme, Inc." in reading.chunks[0].text
