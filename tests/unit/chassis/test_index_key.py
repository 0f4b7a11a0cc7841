"""The key by which ingest calls retrieval in its own name."""

from datetime import UTC, datetime, timedelta

import pytest

from chassis.access import Scope
from chassis.auth import Caller, Refused, credential_metadata
from chassis.index_key import IndexKeyBroken, IndexKeys, read_index_key_file, read_index_keys
from chassis.settings import ProcessSettings

METHOD = "/clausegate.retrieval.v1.IndexService/ReplaceDocument"
NOW = datetime(2026, 11, 22, tzinfo=UTC)
ANNA = Caller("acme", "anna", frozenset({Scope.QUERY, Scope.INGEST}), frozenset({"cme"}), "3f0c9a1be2d47a58")
FIRST, SECOND = bytes(range(32)), bytes(range(1, 33))


def keys(*secrets, at=NOW):
    return IndexKeys(secrets or (FIRST,), lambda: at)


def test_a_signed_call_is_made_for_its_caller_and_no_more():
    caller = keys().caller_of(keys().sign(ANNA, METHOD), METHOD)

    assert (caller.tenant, caller.subject, caller.sources) == ("acme", "anna", {"cme"})
    assert caller.credential_id == ANNA.credential_id
    assert caller.scopes == {Scope.INGEST}
    assert caller.is_ingest


def test_a_call_signed_with_any_of_the_keys_is_accepted():
    assert keys(FIRST, SECOND).caller_of(keys(SECOND).sign(ANNA, METHOD), METHOD).is_ingest


@pytest.mark.parametrize(
    ("presented", "method", "at"),
    [
        (keys(SECOND).sign(ANNA, METHOD), METHOD, NOW),
        (keys().sign(ANNA, METHOD), METHOD.replace("Replace", "Remove"), NOW),
        (keys().sign(ANNA, METHOD), METHOD, NOW + timedelta(seconds=121)),
        (keys(at=NOW + timedelta(hours=1)).sign(ANNA, METHOD), METHOD, NOW),
        ("cgi_", METHOD, NOW),
        ("cgi_.", METHOD, NOW),
        ("cgi_é.é", METHOD, NOW),
    ],
    ids=["another key", "another call", "expired", "from the future", "empty", "unsigned", "no text"],
)
def test_what_no_key_has_signed_for_this_call_and_moment_is_refused(presented, method, at):
    with pytest.raises(Refused):
        keys(at=at).caller_of(presented, method)


@pytest.mark.parametrize("position", range(0, len(keys().sign(ANNA, METHOD)), 7))
def test_a_call_with_one_changed_character_is_refused(position):
    signed = keys().sign(ANNA, METHOD)
    changed = signed[:position] + ("A" if signed[position] != "A" else "B") + signed[position + 1 :]

    with pytest.raises(Refused):
        keys().caller_of(changed, METHOD)


def test_a_signature_is_presented_for_one_call_alone():
    with keys().speaking_for(ANNA, METHOD):
        ((name, value),) = credential_metadata()

    assert name == "authorization"
    assert value.startswith("Bearer cgi_")
    assert not any(value.startswith("Bearer cgi_") for _, value in credential_metadata())


@pytest.mark.parametrize("text", ["", "# nothing\n", "0f" * 31, f"{'0f' * 32}\nxx"])
def test_a_file_without_a_sound_key_is_named(tmp_path, text):
    (tmp_path / "key").write_text(text)

    with pytest.raises(IndexKeyBroken, match="key") as broken:
        read_index_key_file(tmp_path / "key")
    assert "0f0f" not in str(broken.value)


def test_blank_lines_and_comments_are_skipped():
    read = read_index_keys(f"# the key of monday\n\n{FIRST.hex()}\n", "test")

    assert IndexKeys([FIRST]).caller_of(read.sign(ANNA, METHOD), METHOD) == read.caller_of(
        read.sign(ANNA, METHOD), METHOD
    )


def test_without_a_key_a_service_where_callers_need_credentials_does_not_start(tmp_path):
    with pytest.raises(IndexKeyBroken, match="CLAUSEGATE_INDEX_KEY_FILE is missing"):
        ProcessSettings(api_keys_file=tmp_path / "keys.json").required_index_keys()


def test_without_credentials_no_key_is_needed():
    assert ProcessSettings().required_index_keys() is None
