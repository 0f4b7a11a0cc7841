from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from services.answer.records.chain import AuditLog
from services.answer.records.findings import Anchor
from services.answer.records.head import AuditBroken, AuditInUse, read_head, write_head
from services.answer.records.lines import Keys, Position, chained
from services.answer.records.rotation import FileLimits, segments
from services.answer.records.verification import verify
from services.answer.verification.signing import SigningKey

KEYS = Keys([SigningKey("k1", b"1" * 32)])
UNSEALED = Keys()
FIRST = "queries-000000000001.jsonl"


def log(folder, keys=UNSEALED, name="replica-1", max_bytes=2_000, older_files=9) -> AuditLog:
    return AuditLog(folder, name, keys, FileLimits(max_bytes, older_files))


def write(folder, numbers, keys=UNSEALED, **options) -> None:
    """One process that writes a record for each number, and stops."""
    writer = log(folder, keys, **options)
    writer.open()
    for number in numbers:
        assert writer.append([record(number)]) == 1
    writer.close()


def record(number):
    return {"timestamp": f"2026-01-02T03:04:{number % 60:02}.000Z", "query": f"fee {number}?", "n": number}


def only_chain(folder, keys=UNSEALED, anchors=()):
    report = verify([folder], keys, anchors)
    assert not report.violations
    (chain,) = report.chains
    return chain


def files_in(folder) -> list[Path]:
    """Oldest first."""
    return list(segments(folder))


def numbers_in(folder):
    return [json.loads(line)["n"] for file in files_in(folder) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module", params=[UNSEALED, KEYS], ids=["unsealed", "sealed"])
def written(request, tmp_path_factory):
    """A folder with a chain in several files that is whole, and the keys to check it."""
    folder = tmp_path_factory.mktemp("written")
    write(folder, range(12), request.param, max_bytes=1_500)
    assert len(files_in(folder)) >= 3
    return folder, request.param


@contextmanager
def copy_of(folder) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(shutil.copytree(folder, Path(name) / "copy"))


def is_whole(folder, keys, anchors=()) -> bool:
    return verify([folder], keys, anchors).whole


@pytest.mark.parametrize("keys", [UNSEALED, KEYS], ids=["unsealed", "sealed"])
def test_a_chain_is_whole_over_files_and_restarts(tmp_path, keys):
    write(tmp_path, range(7), keys)
    write(tmp_path, range(7, 20), keys)
    chain = only_chain(tmp_path, keys)
    assert (chain.chain, chain.records, chain.first, chain.last, chain.violations) == (
        "replica-1",
        20,
        1,
        20,
        0,
    )
    assert chain.sealed == (20 if keys else 0)
    assert len(files_in(tmp_path)) >= 3


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_change_of_any_byte_is_found(written, data):
    folder, keys = written
    with copy_of(folder) as copy:
        file = data.draw(st.sampled_from(sorted(copy.iterdir())))
        content = file.read_bytes()
        at = data.draw(st.integers(0, len(content) - 1))
        byte = bytes([data.draw(st.integers(0, 255).filter(lambda byte: byte != content[at]))])
        changed = data.draw(st.sampled_from([byte, b"", content[at : at + 1] + byte]))
        after = content[:at] + changed + content[at + 1 :]
        assume(file != files_in(copy)[-1] or not is_unfinished_line_added(content, after))
        file.write_bytes(after)
        assert not is_whole(copy, keys)


def is_unfinished_line_added(content, after) -> bool:
    return after.startswith(content) and b"\n" not in after[len(content) :]


@settings(max_examples=10, deadline=None)
@given(added=st.binary(min_size=1, max_size=40).filter(lambda added: b"\n" not in added))
def test_bytes_without_an_end_after_the_newest_record_are_told_as_an_unfinished_line(written, added):
    folder, keys = written
    with copy_of(folder) as copy:
        append(files_in(copy)[-1], added)
        chain = only_chain(copy, keys)
        assert (chain.violation, chain.unfinished_bytes) == (None, len(added))


@settings(max_examples=10, deadline=None)
@given(added=st.binary(max_size=40))
def test_a_line_after_the_newest_record_that_is_no_record_is_found(written, added):
    folder, keys = written
    with copy_of(folder) as copy:
        append(files_in(copy)[-1], added + b"\n")
        assert not is_whole(copy, keys)


def append(file, added) -> None:
    with file.open("ab") as opened:
        opened.write(added)


def lines_of(folder) -> list[tuple[Path, list[bytes]]]:
    return [(file, file.read_bytes().splitlines(keepends=True)) for file in files_in(folder)]


def removed(lines, at, _):
    del lines[at]


def swapped(lines, at, other):
    lines[at], lines[other] = lines[other], lines[at]


def doubled(lines, at, other):
    lines.insert(other, lines[at])


def inserted(lines, at, _):
    lines.insert(at, b'{"timestamp": "2026-01-02T03:04:05.000Z", "query": "forged"}\n')


def cut_off(lines, at, _):
    del lines[at:]


@settings(max_examples=12, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize(
    "change", [removed, swapped, doubled, inserted, cut_off], ids=lambda one: one.__name__
)
def test_any_record_removed_swapped_doubled_inserted_or_cut_off_is_found(written, change, data):
    folder, keys = written
    with copy_of(folder) as copy:
        lines = [line for _, each in lines_of(copy) for line in each]
        at = data.draw(st.integers(0, len(lines) - 1))
        other = data.draw(
            st.integers(0, len(lines) - 1).filter(lambda other: change is not swapped or other != at)
        )
        change(lines, at, other)
        for file in files_in(copy):
            size = len(lines_of(copy)[files_in(copy).index(file)][1])
            file.write_bytes(b"".join(lines[:size]))
            lines = lines[size:]
        files_in(copy)[-1].write_bytes(files_in(copy)[-1].read_bytes() + b"".join(lines))
        assert not is_whole(copy, keys)


def test_a_file_removed_anywhere_is_found(written):
    folder, keys = written
    for file in files_in(folder):
        with copy_of(folder) as copy:
            (copy / file.name).unlink()
            assert not is_whole(copy, keys)


def crashed(folder, number, cut, head_written, keys) -> bool:
    """A process that ends while it writes a record, after `cut` bytes, or below 0 with as many missing.

    Returns whether it could have told of it.
    """
    write(folder, [], keys, max_bytes=MAX_BYTES)
    head = folder / "queries.head"
    head_before, before = head.read_bytes(), {file: file.stat().st_size for file in files_in(folder)}
    write(folder, [number], keys, max_bytes=MAX_BYTES)
    written = files_in(folder)[-1]
    after, start = written.read_bytes(), before.get(written, 0)
    end = start + cut if cut >= 0 else len(after) + cut
    written.write_bytes(after[:end])
    told = head_written and end >= len(after)
    if not told:
        head.write_bytes(head_before)
    return told


MAX_BYTES = 1_200


@settings(max_examples=8, deadline=None)
@given(
    steps=st.lists(
        st.one_of(
            st.integers(1, 4).map(lambda count: ("append", count, 0, False)),
            st.tuples(st.just("crash"), st.just(1), st.integers(-2, -1) | st.integers(0, 450), st.booleans()),
        ),
        max_size=6,
    ),
    keys=st.sampled_from([UNSEALED, KEYS]),
)
@example(steps=[("crash", 1, -1, False)], keys=KEYS)
@example(steps=[("append", 1, 0, False), ("crash", 1, -1, False)], keys=KEYS)
def test_what_was_told_is_there_after_appends_and_crashes_at_any_byte(steps, keys):
    with tempfile.TemporaryDirectory() as name:
        folder, told = Path(name), list[int]()
        number = 0
        for what, count, cut, head_written in steps:
            for _ in range(count):
                number += 1
                if what == "append":
                    write(folder, [number], keys, max_bytes=MAX_BYTES)
                    told.append(number)
                elif crashed(folder, number, cut, head_written, keys):
                    told.append(number)
        write(folder, [0], keys, max_bytes=MAX_BYTES)
        chain = only_chain(folder, keys)
        assert chain.violation is None
        assert set(told) <= set(numbers_in(folder))


def test_a_line_that_was_never_finished_is_told_by_verify_and_by_the_next_record(tmp_path):
    write(tmp_path, range(3))
    with (tmp_path / FIRST).open("ab") as file:
        file.write(b'{"timestamp": "2026-01')
    before = only_chain(tmp_path)
    write(tmp_path, [3])
    after = only_chain(tmp_path)
    assert (before.violation, before.unfinished_bytes, before.records) == (None, 22, 3)
    assert (after.violation, after.unfinished_bytes, after.records, after.torn) == (None, 0, 4, 1)
    last = json.loads((tmp_path / FIRST).read_text().splitlines()[-1])
    assert last["torn"] == {
        "bytes": 22,
        "sha256": hashlib.sha256(b'{"timestamp": "2026-01').hexdigest(),
    }


def test_records_that_were_told_and_are_gone_leave_a_gap_that_a_restart_does_not_close(tmp_path, caplog):
    write(tmp_path, range(5))
    file = tmp_path / FIRST
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:3]))
    assert "records 4 to 5 are missing at the end" in only_chain(tmp_path).violation.what
    write(tmp_path, range(5, 7))
    chain = only_chain(tmp_path)
    assert "audit records are missing" in caplog.text
    assert chain.violation.what == "records 4 to 5 are missing before record 6"
    assert (chain.violation.file.name, chain.violation.line) == ("queries-000000000006.jsonl", 1)


def test_half_of_a_record_that_was_told_is_no_unfinished_line(tmp_path):
    write(tmp_path, range(5))
    file = tmp_path / FIRST
    file.write_bytes(file.read_bytes()[:-40])
    assert "records 5 to 5 are missing" in only_chain(tmp_path).violation.what
    write(tmp_path, [5])
    assert only_chain(tmp_path).violation is not None


def test_a_second_process_may_not_write_to_the_same_folder(tmp_path):
    first = log(tmp_path)
    first.open()
    with pytest.raises(AuditInUse, match="another process"):
        log(tmp_path).open()
    first.close()
    write(tmp_path, [1])
    assert only_chain(tmp_path).violation is None


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (Path.unlink, "no queries.head is beside it"),
        (lambda head: head.write_bytes(head.read_bytes()[:100]), "does not have 512 bytes"),
        (
            lambda head: head.write_bytes(head.read_bytes().replace(b'"sequence": 3', b'"sequence": 2')),
            "changed",
        ),
    ],
    ids=["removed", "cut", "changed"],
)
def test_a_chain_without_its_head_is_not_gone_on_with(tmp_path, spoil, said):
    write(tmp_path, range(3))
    spoil(tmp_path / "queries.head")
    assert not verify([tmp_path], UNSEALED).whole
    with pytest.raises(AuditBroken, match=said):
        log(tmp_path).open()


def test_nothing_is_recorded_in_a_folder_that_took_the_place_of_its_own(tmp_path):
    folder, moved = tmp_path / "logs", tmp_path / "moved"
    writer = log(folder, KEYS)
    writer.append([record(1)])
    folder.rename(moved)
    folder.mkdir()
    with pytest.raises(OSError, match="removed or replaced"):
        writer.append([record(2)])
    writer.close()
    assert list(folder.iterdir()) == []
    assert (only_chain(moved, KEYS).violation, numbers_in(moved)) == (None, [1])


def test_a_call_that_fails_since_the_head_is_gone_leaves_no_record(tmp_path):
    writer = log(tmp_path)
    writer.append([record(1)])
    (tmp_path / "queries.head").unlink()
    with pytest.raises(OSError, match="removed or replaced"):
        writer.append([record(2)])
    writer.close()
    assert numbers_in(tmp_path) == [1]


def test_a_sealed_chain_is_not_gone_on_with_without_its_key(tmp_path):
    write(tmp_path, range(3), KEYS)
    for keys in (UNSEALED, Keys([SigningKey("k2", b"2" * 32)])):
        with pytest.raises(AuditBroken, match="the key k1, which is not among those given"):
            log(tmp_path, keys).open()
    write(tmp_path, range(3), Keys([SigningKey("k2", b"2" * 32), SigningKey("k1", b"1" * 32)]))
    assert (
        only_chain(tmp_path, Keys([SigningKey("k2", b"2" * 32), SigningKey("k1", b"1" * 32)])).violation
        is None
    )


def test_a_sealed_chain_made_anew_without_the_key_is_found_by_who_has_it(tmp_path):
    write(tmp_path, range(3), KEYS)
    shutil.rmtree(tmp_path)
    write(tmp_path, range(3))
    assert only_chain(tmp_path).violation is None
    assert "not sealed" in only_chain(tmp_path, KEYS).violation.what


def test_a_chain_is_sealed_from_the_record_on_from_which_there_is_a_key(tmp_path, caplog):
    write(tmp_path, range(3))
    write(tmp_path, range(3, 5), KEYS)
    chain = only_chain(tmp_path, KEYS)
    assert (chain.violation, chain.sealed, chain.head.sealed_from) == (None, 2, 4)
    assert "audit records are sealed from here on" in caplog.text


def test_records_with_the_head_of_before_are_found_by_an_anchor_that_was_kept_elsewhere(tmp_path):
    write(tmp_path, range(3), KEYS)
    early = shutil.copytree(tmp_path, tmp_path / "early")
    write(tmp_path, range(3, 6), KEYS)
    chain = only_chain_of(tmp_path / FIRST, tmp_path / "queries.head", keys=KEYS)
    anchor = Anchor(chain.chain, chain.last, chain.last_hash)
    assert is_whole(early, KEYS)
    assert not is_whole(early, KEYS, [anchor])
    assert not verify([early], KEYS, [Anchor(chain.chain, 2, "0" * 64)]).whole


def only_chain_of(*files, keys):
    (chain,) = verify(files, keys).chains
    return chain


def test_what_rotation_removes_is_no_gap_and_what_somebody_else_removes_is(tmp_path):
    write(tmp_path, range(30), max_bytes=1_000, older_files=2)
    assert len(files_in(tmp_path)) == 3
    chain = only_chain(tmp_path)
    assert (chain.violation, chain.removed, chain.first) == (None, chain.first - 1, chain.first)
    files_in(tmp_path)[0].unlink()
    assert "are missing at the beginning" in only_chain(tmp_path).violation.what


def test_a_long_record_is_no_gap_when_its_file_goes(tmp_path):
    write(tmp_path, [1], max_bytes=1_000, older_files=1)
    writer = log(tmp_path, max_bytes=1_000, older_files=1)
    for number in (2, 3, 4):
        writer.append([{**record(number), "answer": "x" * 1_500_000}])
    writer.close()
    chain = only_chain(tmp_path)
    assert (chain.violation, chain.removed, chain.records) == (None, 2, 2)


def copied_youngest(folder):
    shutil.copy(files_in(folder)[-2], folder / "queries.jsonl.50")


def forged(folder):
    line, _ = chained(record(1), "replica-1", Position(17, "0" * 64), None)
    (folder / "queries.jsonl.50").write_bytes(line)


def renamed_youngest(folder):
    files_in(folder)[-2].rename(folder / "queries.jsonl.50")


@pytest.mark.parametrize("somebody_has", [copied_youngest, forged, renamed_youngest])
def test_files_that_somebody_adds_are_not_what_retention_removed(tmp_path, somebody_has):
    write(tmp_path, range(20), KEYS, max_bytes=1_000)
    older = len(files_in(tmp_path)) - 1
    somebody_has(tmp_path)
    write(tmp_path, range(20, 22), KEYS, max_bytes=1_000, older_files=older)
    assert not (tmp_path / "queries.jsonl.50").exists()
    files_in(tmp_path)[0].unlink()
    assert not is_whole(tmp_path, KEYS)


def test_an_anchor_of_a_record_that_retention_has_removed_holds_nothing(tmp_path):
    write(tmp_path, range(30), max_bytes=1_000, older_files=2)
    assert only_chain(tmp_path).removed > 3
    assert (
        "record 3 is not there"
        in only_chain(tmp_path, anchors=[Anchor("replica-1", 3, "0" * 64)]).violation.what
    )


def test_a_chain_is_whole_while_files_are_begun(tmp_path):
    def write_many():
        write(tmp_path, range(1, 100), max_bytes=700, older_files=999)

    write(tmp_path, [0])
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write_many)
        while not writing.done():
            assert is_whole(tmp_path, UNSEALED)
        writing.result()
    assert only_chain(tmp_path).records == 100


@pytest.mark.parametrize("name", ["queries-000000000009.jsonl", "queries.head"])
def test_a_pipe_is_no_log_and_nobody_waits_for_it(tmp_path, name):
    write(tmp_path, range(3))
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(OSError, match="no regular file"):
        verify([tmp_path], UNSEALED)


def test_a_file_that_somebody_else_changed_is_left_as_it_is(tmp_path, caplog):
    writer = log(tmp_path)
    writer.append([record(1)])
    with (tmp_path / FIRST).open("ab") as file:
        file.write(b"half a line")
    writer.append([record(2)])
    writer.close()
    assert "changed by somebody else" in caplog.text
    assert (tmp_path / FIRST).read_bytes().endswith(b"half a line")
    assert only_chain(tmp_path).violation.what == "the line has no end, and records follow it"


def test_records_of_a_version_that_kept_no_chain_are_put_aside(tmp_path):
    (tmp_path / "queries.jsonl").write_text('{"query": "old"}\n')
    write(tmp_path, [1])
    assert (tmp_path / "unchained-queries.jsonl").read_text() == '{"query": "old"}\n'
    assert only_chain(tmp_path).violation is None


def as_an_earlier_version_named_it(folder):
    """The file that was written was `queries.jsonl`, and the others were renamed whenever a new one began."""
    for age, file in enumerate(reversed(files_in(folder))):
        file.rename(folder / (f"queries.jsonl.{age}" if age else "queries.jsonl"))


def killed_while_it_rotated(folder):
    """Every file had become one older, and the new one had not been begun."""
    as_an_earlier_version_named_it(folder)
    for file in files_in(folder):
        age = int(file.suffix[1:]) if file.suffix != ".jsonl" else 0
        file.rename(folder / f"queries.jsonl.{age + 1}")


def stopped_after_it_rotated(folder):
    """The same, and the head said that nothing of the new file was written."""
    killed_while_it_rotated(folder)
    head = read_head((folder / "queries.head").read_bytes())
    (folder / "queries.head").write_bytes(write_head(replace(head, bytes=0), KEYS.current))


def killed_while_it_wrote(folder):
    as_an_earlier_version_named_it(folder)
    with (folder / "queries.jsonl").open("ab") as file:
        file.write(b'{"timestamp": "2026-01')


EARLIER = pytest.mark.parametrize(
    "leave",
    [
        as_an_earlier_version_named_it,
        killed_while_it_rotated,
        stopped_after_it_rotated,
        killed_while_it_wrote,
    ],
)


@EARLIER
def test_a_log_of_an_earlier_version_verifies_and_is_gone_on_with_under_its_names(tmp_path, leave):
    write(tmp_path, range(12), KEYS, max_bytes=1_500)
    leave(tmp_path)
    earlier = files_in(tmp_path)
    before = only_chain(tmp_path, KEYS)
    write(tmp_path, range(12, 24), KEYS, max_bytes=1_500)
    after = only_chain(tmp_path, KEYS)
    assert (before.violation, before.records) == (None, 12)
    assert (after.violation, after.records, after.first) == (None, 24, 1)
    assert files_in(tmp_path)[: len(earlier)] == earlier
    assert numbers_in(tmp_path) == list(range(24))


@EARLIER
def test_files_of_an_earlier_version_go_first_and_leave_no_gap(tmp_path, leave):
    write(tmp_path, range(12), KEYS, max_bytes=1_500)
    leave(tmp_path)
    write(tmp_path, range(12, 40), KEYS, max_bytes=1_500, older_files=2)
    chain = only_chain(tmp_path, KEYS)
    assert list(tmp_path.glob("queries.jsonl*")) == []
    assert (chain.violation, chain.removed, chain.last) == (None, chain.first - 1, 40)


@EARLIER
def test_a_record_that_is_gone_from_a_log_of_an_earlier_version_is_found(tmp_path, leave):
    write(tmp_path, range(12), KEYS, max_bytes=1_500)
    leave(tmp_path)
    file = files_in(tmp_path)[1]
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    assert not is_whole(tmp_path, KEYS)
    write(tmp_path, range(12, 24), KEYS, max_bytes=1_500)
    assert not is_whole(tmp_path, KEYS)


def test_a_file_is_named_by_its_first_record_and_is_never_renamed(tmp_path):
    seen = dict[str, int]()
    for number in range(20):
        write(tmp_path, [number], max_bytes=1_000)
        now = {file.name: file.stat().st_ino for file in files_in(tmp_path)}
        assert seen.items() <= now.items()
        seen = now
    firsts = [json.loads(file.read_text().splitlines()[0])["sequence"] for file in files_in(tmp_path)]
    assert [file.name for file in files_in(tmp_path)] == [f"queries-{first:012}.jsonl" for first in firsts]


def test_a_file_of_others_that_has_the_name_of_the_next_one_is_left_as_it_is(tmp_path):
    write(tmp_path, range(3))
    content, _ = chained(record(3), "another", Position(3, "0" * 64), None)
    (tmp_path / "queries-000000000004.jsonl").write_bytes(content)
    write(tmp_path, range(3, 5))
    write(tmp_path, range(5, 7))
    assert (tmp_path / "queries-000000000004.jsonl").read_bytes() == content
    mine = next(chain for chain in verify([tmp_path], UNSEALED).chains if chain.chain == "replica-1")
    assert (mine.violation, mine.records) == (None, 7)


def test_a_head_of_some_time_ago_is_brought_up_to_date_over_files(tmp_path):
    # As a power cut leaves it: the head is not synced with every record.
    write(tmp_path, range(2), KEYS, max_bytes=1_000)
    early = (tmp_path / "queries.head").read_bytes()
    write(tmp_path, range(2, 12), KEYS, max_bytes=1_000)
    (tmp_path / "queries.head").write_bytes(early)
    write(tmp_path, [12], KEYS, max_bytes=1_000)
    chain = only_chain(tmp_path, KEYS)
    assert (chain.violation, chain.records, chain.torn) == (None, 13, 0)
    assert numbers_in(tmp_path) == list(range(13))


def test_several_replicas_have_a_chain_each(tmp_path):
    for name in ("replica-1", "replica-2"):
        write(tmp_path / name, range(3), name=name)
    report = verify([tmp_path], UNSEALED)
    assert report.whole
    assert [(chain.chain, chain.records) for chain in report.chains] == [("replica-1", 3), ("replica-2", 3)]


def test_times_that_go_back_are_no_break(tmp_path):
    write(tmp_path, [30, 10, 20])
    chain = only_chain(tmp_path)
    assert (chain.violation, chain.steps_back, chain.longest_step_back) == (None, 1, timedelta(seconds=20))


DAY = timedelta(days=1)
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


def on_day(number):
    return {"timestamp": (NEW_YEAR + number * DAY).isoformat(), "n": number}


def test_records_go_when_they_are_older_than_their_time_and_the_chain_stays_whole(tmp_path):
    writer = AuditLog(tmp_path, "replica-1", KEYS, FileLimits(1 << 20, 9, retention=40 * DAY))
    for day in range(100):
        writer.append([on_day(day)])
        writer.retain(NEW_YEAR + day * DAY)
        chain = verify([tmp_path], KEYS).chains[0]
        assert chain.violation is None
        assert day - chain.first <= 45
        assert chain.first == 1 or day - chain.first >= 39
    writer.retain(NEW_YEAR + 400 * DAY)
    writer.close()
    assert only_chain(tmp_path, KEYS).records <= 10
    write(tmp_path, [1], KEYS)
    assert only_chain(tmp_path, KEYS).violation is None


def test_a_process_that_starts_with_a_clock_far_ahead_removes_nothing_by_age(tmp_path, caplog):
    limits = FileLimits(1 << 20, 9, retention=40 * DAY)
    writer = AuditLog(tmp_path, "replica-1", KEYS, limits)
    writer.append([on_day(0)])
    writer.retain(NEW_YEAR)
    writer.close()
    writer = AuditLog(tmp_path, "replica-1", KEYS, limits)
    writer.retain(NEW_YEAR + 4_000 * DAY)
    writer.append([on_day(4_000)])
    writer.retain(NEW_YEAR + 4_001 * DAY)
    writer.close()
    assert "the clock may be wrong" in caplog.text
    assert (only_chain(tmp_path, KEYS).records, only_chain(tmp_path, KEYS).removed) == (2, 0)
    writer = AuditLog(tmp_path, "replica-1", KEYS, limits)
    writer.retain(NEW_YEAR + 4_002 * DAY)
    writer.append([on_day(4_002)])
    writer.close()
    assert only_chain(tmp_path, KEYS).violation is None


def test_pruning_removes_whole_files_from_the_oldest_on(tmp_path):
    writer = log(tmp_path, max_bytes=800)
    for day in range(20):
        writer.append([on_day(day)])
    assert writer.prune(NEW_YEAR) == 0
    removed_files = writer.prune(NEW_YEAR + 10 * DAY)
    chain = only_chain(tmp_path)
    assert removed_files > 0
    assert (chain.violation, chain.first, chain.last) == (None, chain.removed + 1, 20)
    assert chain.first <= 11
    writer.prune(NEW_YEAR + 100 * DAY)
    writer.append([on_day(20)])
    writer.close()
    chain = only_chain(tmp_path)
    assert (chain.violation, chain.removed, chain.first, chain.last) == (None, 20, 21, 21)


def test_a_gap_in_the_middle_is_none_that_retention_explains(tmp_path):
    write(tmp_path, range(12), max_bytes=800)
    files_in(tmp_path)[2].unlink()
    writer = log(tmp_path, max_bytes=800)
    writer.open()
    writer.close()
    assert "are missing before record" in only_chain(tmp_path).violation.what


@contextmanager
def full_beyond(size) -> Iterator[None]:
    """No file of this process may grow beyond `size`."""
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_record_that_does_not_fit_on_the_disk_leaves_the_chain_as_it_was(tmp_path):
    writer = log(tmp_path, KEYS)
    writer.append([record(1)])
    with full_beyond(700), pytest.raises(OSError, match="File too large"):
        writer.append([{**record(2), "query": "x" * 900}])
    assert only_chain(tmp_path, KEYS).records == 1
    writer.append([record(3)])
    writer.close()
    chain = only_chain(tmp_path, KEYS)
    assert (chain.violation, chain.records, chain.torn) == (None, 2, 0)


def test_a_batch_is_one_chain_over_as_many_files_as_it_takes(tmp_path):
    writer, records = log(tmp_path, KEYS, max_bytes=1_500), [record(number) for number in range(20)]
    done = 0
    while done < len(records):
        done += writer.append(records[done:])
    writer.close()
    assert numbers_in(tmp_path) == list(range(20))
    assert only_chain(tmp_path, KEYS).violation is None
    assert all(file.stat().st_size <= 1_500 for file in files_in(tmp_path))
