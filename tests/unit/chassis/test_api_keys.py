import json
import logging
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.api_keys import ApiKey, ApiKeys, ApiKeysBroken, from_json, new_key, to_json
from chassis.auth import Caller
from chassis.errors import Unauthenticated

ANNA = Caller("acme", "anna@acme.example")
BERT = Caller("globex", "bert")
NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "keys.json"


def keys_in(path: Path, *keys: ApiKey) -> ApiKeys:
    path.write_text(to_json(keys))
    return ApiKeys(path)


def refusal_of(keys: ApiKeys, *authorization: str) -> str:
    with pytest.raises(Unauthenticated) as refused:
        keys.caller_of(authorization)
    return str(refused.value)


def revoked(key: ApiKey) -> ApiKey:
    return ApiKey(key.key_id, key.caller, key.sha256, key.created, NOW)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer "])
def test_a_key_says_whose_it_is(path, scheme):
    (annas, presented), (berts, _) = new_key(ANNA, NOW), new_key(BERT, NOW)

    assert keys_in(path, annas, berts).caller_of([f"{scheme} {presented}"]) == ANNA


def test_what_is_refused_is_refused_in_the_same_words(path):
    (key, presented), (gone, revoked_one), (_, foreign) = (new_key(ANNA, NOW) for _ in range(3))
    keys = keys_in(path, key, revoked(gone))
    presentations: list[tuple[str, ...]] = [
        (),
        ("",),
        (presented,),
        ("Bearer",),
        (f"Basic {presented}",),
        (f"Bearer {presented} ",),
        (f"Bearer {presented.upper()}",),
        (f"Bearer {presented[:-1]}",),
        (f"Bearer {presented}0",),
        (f"Bearer {presented[:-2]}zz",),
        (f"Bearer cg_{key.key_id}_{key.sha256}",),
        (f"Bearer {foreign}",),
        (f"Bearer cg_{key.key_id}_{foreign[-64:]}",),
        (f"Bearer {revoked_one}",),
        (f"Bearer {presented}", f"Bearer {presented}"),
    ]

    assert len({refusal_of(keys, *each) for each in presentations}) == 1


def test_the_log_says_why_and_never_the_secret(path, caplog):
    key, presented = new_key(ANNA, NOW)
    keys = keys_in(path, revoked(key))

    with caplog.at_level(logging.INFO):
        refusal_of(keys, f"Bearer {presented}")
        refusal_of(keys)

    assert [(record.why, record.key_id) for record in caplog.records] == [
        ("revoked", key.key_id),
        ("missing", ""),
    ]
    assert presented[-64:] not in caplog.text


def test_the_file_holds_no_secret(path):
    key, presented = new_key(ANNA, NOW)

    assert presented[-64:] not in to_json([key])
    assert presented[-64:] not in repr(key)


def test_secrets_and_ids_differ_from_key_to_key():
    made = [new_key(ANNA, NOW) for _ in range(50)]

    assert len({key.key_id for key, _ in made}) == len({presented for _, presented in made}) == 50


@given(
    st.builds(Caller, st.from_regex(r"[a-z0-9][a-z0-9_-]{0,63}", fullmatch=True), st.just("ünï “x”")),
    st.datetimes(timezones=st.just(UTC)),
    st.none() | st.datetimes(timezones=st.just(UTC)),
)
def test_a_key_is_read_back_as_it_was_written(caller, created, when):
    key, _ = new_key(caller, created)
    key = ApiKey(key.key_id, key.caller, key.sha256, key.created, when)

    assert from_json(to_json([key])) == (key,)


def changed(**fields: object) -> str:
    document = json.loads(to_json([new_key(ANNA, NOW)[0]]))
    document["keys"][0] |= fields
    return json.dumps(document)


def twice() -> str:
    key, _ = new_key(ANNA, NOW)
    return to_json([key, key])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[]", "expected an object"),
        ('{"version": 1}', "expected an object"),
        ('{"version": 2, "keys": []}', "version 2 is not 1"),
        ('{"version": 1, "keys": {}}', "not a list"),
        ('{"version": 1, "keys": [7]}', r"keys\[0\]: expected an object with created, key_id"),
        (changed(tenant="../acme"), r"keys\[0\]: a tenant has"),
        (changed(tenant=7), "tenant is not a text"),
        (changed(subject=""), "a subject is"),
        (changed(key_id="x"), "key_id is not"),
        (changed(sha256="0" * 63), "sha256 is not"),
        (changed(created="yesterday"), "created is not a time"),
        (changed(created="2026-11-21T12:30:00"), "created has no time zone"),
        (changed(revoked=""), "revoked is not a time"),
        (changed(expires="2027-01-01T00:00:00Z"), "expected an object with"),
        (twice(), r"keys\[1\]: the second with the id"),
    ],
    ids=lambda value: value if len(value) < 70 else "a-file",
)
def test_a_file_that_cannot_be_used_is_one_line_that_names_it(path, text, said):
    path.write_text(text)

    with pytest.raises(ApiKeysBroken, match=said) as broken:
        ApiKeys(path)

    assert str(path) in str(broken.value)
    assert "\n" not in str(broken.value)


def test_a_missing_file_is_one_line_that_names_it(path):
    with pytest.raises(ApiKeysBroken, match=r"keys\.json: No such file"):
        ApiKeys(path)


def test_a_file_without_keys_lets_nobody_in(path):
    assert refusal_of(keys_in(path), f"Bearer {new_key(ANNA, NOW)[1]}")


def replace(path: Path, text: str) -> None:
    staged = path.with_suffix(".new")
    staged.write_text(text)
    staged.replace(path)


def test_a_new_version_of_the_file_counts_from_the_next_call(path):
    (annas, by_anna), (berts, by_bert) = new_key(ANNA, NOW), new_key(BERT, NOW)
    keys = keys_in(path, annas)

    replace(path, to_json([revoked(annas), berts]))

    assert keys.caller_of([f"Bearer {by_bert}"]) == BERT
    refusal_of(keys, f"Bearer {by_anna}")


@pytest.mark.parametrize("text", ["", '{"version": 2, "keys": []}', None])
def test_a_broken_new_version_keeps_the_last_good_one_and_is_logged_once(path, caplog, text):
    key, presented = new_key(ANNA, NOW)
    keys = keys_in(path, key)
    path.unlink() if text is None else replace(path, text)

    assert [keys.caller_of([f"Bearer {presented}"]) for _ in range(3)] == [ANNA] * 3
    [record] = caplog.records
    assert (record.levelname, record.file) == ("ERROR", str(path))


def test_a_file_that_was_mended_counts_again(path):
    (annas, by_anna), (berts, by_bert) = new_key(ANNA, NOW), new_key(BERT, NOW)
    keys = keys_in(path, annas)
    replace(path, "half a fi")
    assert keys.caller_of([f"Bearer {by_anna}"]) == ANNA

    replace(path, to_json([berts]))

    assert keys.caller_of([f"Bearer {by_bert}"]) == BERT
    refusal_of(keys, f"Bearer {by_anna}")


def test_a_link_that_leads_to_another_file_is_a_new_version(path, tmp_path):
    # So does Kubernetes replace the files of a secret.
    (annas, by_anna), (berts, by_bert) = new_key(ANNA, NOW), new_key(BERT, NOW)
    for name, key in (("one", annas), ("two", berts)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "keys.json").write_text(to_json([key]))
    link = tmp_path / "data"
    link.symlink_to(tmp_path / "one")
    keys = ApiKeys(link / "keys.json")
    assert keys.caller_of([f"Bearer {by_anna}"]) == ANNA

    (tmp_path / "next").symlink_to(tmp_path / "two")
    (tmp_path / "next").replace(link)

    assert keys.caller_of([f"Bearer {by_bert}"]) == BERT
