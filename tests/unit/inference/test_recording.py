import json
import stat

import pytest

from inference.recording import Recorder, Recording, ReplayDiverged


def record(path, *entries):
    recorder = Recorder(path)
    for kind, key, value in entries:
        recorder.write(kind, key, {"value": value})
    recorder.close()


def value(entry):
    return entry["value"]


def test_entries_of_a_key_come_back_in_order_and_keys_in_any(tmp_path):
    record(tmp_path / "tape", ("k", "a", 1), ("k", "b", "zwei\u2028\ud800"), ("other", "a", 9), ("k", "a", 3))
    track = Recording.read(tmp_path / "tape").track("k", value)

    assert [track.next("b"), track.next("a"), track.next("a")] == ["zwei\u2028\ud800", 1, 3]


def test_what_was_not_recorded_diverges(tmp_path):
    record(tmp_path / "tape", ("k", "a", 1))
    track = Recording.read(tmp_path / "tape").track("k", value)

    with pytest.raises(ReplayDiverged, match="differs"):
        track.next("b")


def test_a_recording_that_has_ended_says_so(tmp_path):
    record(tmp_path / "tape", ("k", "a", 1))
    track = Recording.read(tmp_path / "tape").track("k", value)
    track.next("a")

    with pytest.raises(ReplayDiverged, match="ended") as diverged:
        track.next("a")
    assert (diverged.value.code, diverged.value.reason) == ("FAILED_PRECONDITION", "REPLAY_DIVERGED")


def test_a_second_recording_goes_on_where_the_first_ended(tmp_path):
    record(tmp_path / "tape", ("k", "a", 1))
    record(tmp_path / "tape", ("k", "a", 2))
    track = Recording.read(tmp_path / "tape").track("k", value)

    assert [track.next("a"), track.next("a")] == [1, 2]


def test_only_the_owner_may_read_a_recording(tmp_path):
    (tmp_path / "tape").touch(0o644)
    record(tmp_path / "tape")

    assert stat.S_IMODE((tmp_path / "tape").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "line", ["", "{", "[]", "1", '"k"', "{}", '{"kind": "k"}', '{"kind": 1, "key": "a"}', "[" * 100_000]
)
def test_a_broken_line_is_named_with_its_file(tmp_path, line):
    good = json.dumps({"kind": "k", "key": "a", "value": 1})
    (tmp_path / "tape").write_text(f"{good}\n{line}\n{good}\n")

    with pytest.raises(ReplayDiverged, match=r"Line 2 of the recording .*tape is no entry"):
        Recording.read(tmp_path / "tape")


def test_an_entry_that_cannot_be_used_is_named_with_its_file(tmp_path):
    record(tmp_path / "tape", ("k", "a", 1), ("k", "a", "x"))

    with pytest.raises(ReplayDiverged, match=r"Line 2 of the recording .*tape"):
        Recording.read(tmp_path / "tape").track("k", lambda entry: int(entry["value"]))


def test_a_missing_file_and_one_that_is_no_text_say_so(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")

    for name in ("missing", "binary"):
        with pytest.raises(ReplayDiverged, match=f"{name} cannot be read"):
            Recording.read(tmp_path / name)
