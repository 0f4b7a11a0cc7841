"""The wall clock jumps by hours, forward and back, at every reading: nothing may rest on its order."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from starlette.datastructures import Headers

from chassis.api_keys import ApiKeys, new_key, to_json
from chassis.auth import Caller
from chassis.credentials import Credentials
from chassis.errors import Unauthenticated
from corpus.stems import stems_of
from gateway.slack.signature import SeenRequests, check_signature, signature_of
from services.answer.records.chain import AuditLog
from services.answer.records.lines import Keys
from services.answer.records.rotation import FileLimits
from services.answer.records.verification import verify
from services.retrieval.corpus import Scope
from services.retrieval.store.embedded.store import open_store
from tests.contract.store.drafts import DIMENSION, Draft, put

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


class JumpingClock:
    """Says a time of day within two days of `NOW`, drawn anew each time."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def __call__(self) -> datetime:
        return NOW + timedelta(hours=self._chance.uniform(-48, 48))


def test_an_audit_chain_is_whole_whatever_its_records_say_of_the_time(tmp_path):
    clock = JumpingClock(1)
    for _ in range(4):
        log = AuditLog(tmp_path, "replica-1", Keys(), FileLimits(2_000, 99, retention=timedelta(days=7)))
        log.open()
        for number in range(20):
            assert log.append([{"timestamp": clock().isoformat(), "n": number}]) == 1
            log.retain(clock())
        log.close()
    report = verify([tmp_path], Keys(), ())
    assert not report.violations
    assert [chain.records for chain in report.chains] == [80]


async def test_the_last_write_is_live_whatever_the_clock_said_when_it_was_written(tmp_path):
    store = await open_store(tmp_path, "model", DIMENSION, JumpingClock(1))
    try:
        for number in range(6):
            draft = Draft("cme/fees.txt", [f"The fee is {number} dollars."])
            written = await put(store, draft)
            assert await store.document(draft.version.document_id) == written.document
            live = await store.keyword_hits(stems_of("fee dollars"), 10, Scope())
            assert [hit.chunk_id for hit in live] == list(draft.ids)
    finally:
        await store.close()


async def test_a_key_that_has_expired_by_a_clock_that_was_wrong_counts_again_when_it_is_right(tmp_path):
    key, presented = new_key(Caller("acme", "anna"), NOW, expires=NOW + timedelta(hours=1))
    (tmp_path / "keys.json").write_text(to_json([key]))
    time = [NOW]
    credentials = Credentials(ApiKeys(tmp_path / "keys.json"), now=lambda: time[0])
    for hours, counts in ((0, True), (5, False), (0, True), (-5, True), (1.1, False), (0.9, True)):
        time[0] = NOW + timedelta(hours=hours)
        if counts:
            assert (await credentials.caller_of([f"Bearer {presented}"])).tenant == "acme"
            continue
        with pytest.raises(Unauthenticated):
            await credentials.caller_of([f"Bearer {presented}"])


def test_a_command_is_not_served_twice_while_the_clock_jumps():
    secret, body = b"0123456789abcdef", b"team_id=T1&trigger_id=7"
    timestamp = str(int(NOW.timestamp()))
    headers = Headers(
        {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": signature_of(secret, timestamp, body)}
    )
    seen, served = SeenRequests(), 0
    for hours in (0, 5, 0, -5, 0):
        try:
            check_signature(headers, body, [secret], NOW.timestamp() + hours * 3_600)
        except Unauthenticated:
            continue
        served += seen.first_time(body)
    assert served == 1
