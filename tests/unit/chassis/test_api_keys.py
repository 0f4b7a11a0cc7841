import json
from dataclasses import replace as changed_key
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.access import Scope
from chassis.api_keys import ApiKey, ApiKeys, from_json, new_key, to_json
from chassis.auth import Caller, Refused
from chassis.watched_file import FileBroken

ANNA = Caller("acme", "anna@acme.example")
BERT = Caller("globex", "bert")
NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "keys.json"


def keys_in(path: Path, *keys: ApiKey) -> ApiKeys:
    path.write_text(to_json(keys))
    return ApiKeys(path)


def refusal_of(keys: ApiKeys, presented: str, now: datetime = NOW) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        keys.caller_of(presented, now)
    return refused.value.why, refused.value.credential_id


def revoked(key: ApiKey) -> ApiKey:
    return changed_key(key, revoked=NOW)


def test_a_key_says_whose_it_is(path):
    (annas, presented), (berts, _) = new_key(ANNA, NOW), new_key(BERT, NOW)

    assert keys_in(path, annas, berts).caller_of(presented, NOW) == annas.caller
    assert annas.caller == changed_key(ANNA, credential_id=annas.key_id)


def test_what_is_no_key_of_the_file_is_refused(path):
    (key, presented), (_, foreign) = (new_key(ANNA, NOW) for _ in range(2))
    keys = keys_in(path, key)
    known, unknown = f"cg_{key.key_id}_", ("unknown", key.key_id)

    assert refusal_of(keys, presented.upper()) == ("malformed", "")
    assert refusal_of(keys, presented[:-1]) == ("malformed", "")
    assert refusal_of(keys, f"{presented}0") == ("malformed", "")
    assert refusal_of(keys, f"{presented[:-2]}zz") == ("malformed", "")
    assert refusal_of(keys, known + key.sha256) == unknown
    assert refusal_of(keys, known + foreign[-64:]) == unknown
    assert refusal_of(keys, foreign) == ("unknown", foreign[3:19])


def test_a_revoked_key_opens_nothing(path):
    key, presented = new_key(ANNA, NOW)

    assert refusal_of(keys_in(path, revoked(key)), presented) == ("revoked", key.key_id)


def test_a_key_opens_nothing_from_the_moment_it_expires(path):
    moment = timedelta(microseconds=1)
    key, presented = new_key(ANNA, NOW, NOW + timedelta(days=1))
    keys = keys_in(path, key)

    assert keys.caller_of(presented, NOW + timedelta(days=1) - moment) == key.caller
    assert refusal_of(keys, presented, NOW + timedelta(days=1)) == ("expired", key.key_id)


def test_the_file_holds_no_secret(path):
    key, presented = new_key(ANNA, NOW)

    assert presented[-64:] not in to_json([key])
    assert presented[-64:] not in repr(key)


def test_secrets_and_ids_differ_from_key_to_key():
    made = [new_key(ANNA, NOW) for _ in range(50)]

    assert len({key.key_id for key, _ in made}) == len({presented for _, presented in made}) == 50


names = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,63}", fullmatch=True)
instants = st.datetimes(timezones=st.just(UTC))


@given(
    st.builds(
        Caller,
        names,
        st.just("ünï “x”"),
        st.frozensets(st.sampled_from(Scope), min_size=1),
        st.frozensets(names),
    ),
    instants,
    st.none() | instants,
    st.none() | instants,
)
def test_a_key_is_read_back_as_it_was_written(caller, created, expires, when):
    key = changed_key(new_key(caller, created, expires)[0], revoked=when)

    assert from_json(to_json([key])) == (key,)


def test_all_sources_are_said_by_a_star(path):
    key, presented = new_key(ANNA, NOW)

    assert json.loads(to_json([key]))["keys"][0]["sources"] == ["*"]
    assert keys_in(path, key).caller_of(presented, NOW).sources == frozenset()


def test_a_file_of_the_first_layout_is_read_and_its_keys_may_do_everything(path):
    key, presented = new_key(ANNA, NOW)
    document = json.loads(to_json([key]))
    document["version"] = 1
    for name in ("scopes", "sources", "expires"):
        del document["keys"][0][name]
    path.write_text(json.dumps(document))

    assert ApiKeys(path).caller_of(presented, NOW) == Caller(
        ANNA.tenant, ANNA.subject, frozenset(Scope), frozenset(), key.key_id
    )


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
        ('{"version": 3, "keys": []}', "version 3 is neither 1 nor 2"),
        ('{"version": true, "keys": []}', "version True is neither 1 nor 2"),
        ('{"version": 2, "keys": {}}', "not a list"),
        ('{"version": 1, "keys": [7]}', r"keys\[0\]: expected an object with created, key_id"),
        (changed(tenant="../acme"), r"keys\[0\]: a tenant has"),
        (changed(tenant=7), "tenant is not a text"),
        (changed(subject=""), "a subject is"),
        (changed(key_id="x"), "key_id is not"),
        (changed(sha256="0" * 63), "sha256 is not"),
        (changed(created="yesterday"), "created is not a time"),
        (changed(created="2026-11-21T12:30:00"), "created has no time zone"),
        (changed(revoked=""), "revoked is not a time"),
        (changed(expires="soon"), "expires is not a time"),
        (changed(expires=""), "expires is not a time"),
        (changed(scopes=[]), "scopes is not one or more of query, ingest, admin"),
        (changed(scopes=["owner"]), "scopes is not one or more of"),
        (changed(scopes="query"), "scopes is not a list of texts"),
        (changed(scopes=[["query"]]), "scopes is not a list of texts"),
        (changed(sources=["../cme"]), r"keys\[0\]: a source has"),
        (changed(sources=[True]), "sources is not a list of texts"),
        (changed(sources=[]), r"keys\[0\]: sources is empty: name some, or \"\*\" for all"),
        (changed(sources=None), "sources is not a list of texts"),
        (changed(addresses=["10.0.0.1"]), "expected an object with"),
        (
            changed().replace('"revoked": null', '"revoked": "2026-11-21", "revoked": null'),
            "revoked is given twice",
        ),
        (twice(), r"keys\[1\]: the second with the id"),
        ("[" * 100_000, "recursion"),
    ],
    ids=lambda value: value if len(value) < 70 else "a-file",
)
def test_a_file_that_cannot_be_used_is_one_line_that_names_it(path, text, said):
    path.write_text(text)

    with pytest.raises(FileBroken, match=said) as broken:
        ApiKeys(path)

    assert str(path) in str(broken.value)
    assert "\n" not in str(broken.value)


def test_a_missing_file_is_one_line_that_names_it(path):
    with pytest.raises(FileBroken, match=r"keys\.json: No such file"):
        ApiKeys(path)


def test_a_file_without_keys_lets_nobody_in(path):
    assert refusal_of(keys_in(path), new_key(ANNA, NOW)[1])[0] == "unknown"


def replace(path: Path, text: str) -> None:
    staged = path.with_suffix(".new")
    staged.write_text(text)
    staged.replace(path)


def test_a_new_version_of_the_file_counts_from_the_next_call(path):
    (annas, by_anna), (berts, by_bert) = new_key(ANNA, NOW), new_key(BERT, NOW)
    keys = keys_in(path, annas)

    replace(path, to_json([revoked(annas), berts]))

    assert keys.caller_of(by_bert, NOW) == berts.caller
    refusal_of(keys, by_anna)


@pytest.mark.parametrize("text", ["", '{"version": 3, "keys": []}', None])
def test_a_broken_new_version_keeps_the_last_good_one_and_is_logged_once(path, caplog, text):
    key, presented = new_key(ANNA, NOW)
    keys = keys_in(path, key)
    path.unlink() if text is None else replace(path, text)

    assert [keys.caller_of(presented, NOW) for _ in range(3)] == [key.caller] * 3
    [record] = caplog.records
    assert (record.levelname, record.file, record.setting) == (
        "ERROR",
        str(path),
        "CLAUSEGATE_API_KEYS_FILE",
    )


def test_a_file_that_was_mended_counts_again(path):
    (annas, by_anna), (berts, by_bert) = new_key(ANNA, NOW), new_key(BERT, NOW)
    keys = keys_in(path, annas)
    replace(path, "half a fi")
    assert keys.caller_of(by_anna, NOW) == annas.caller

    replace(path, to_json([berts]))

    assert keys.caller_of(by_bert, NOW) == berts.caller
    refusal_of(keys, by_anna)


def test_a_link_that_leads_to_another_file_is_a_new_version(path, tmp_path):
    # So does Kubernetes replace the files of a secret.
    (annas, by_anna), (berts, by_bert) = new_key(ANNA, NOW), new_key(BERT, NOW)
    for name, key in (("one", annas), ("two", berts)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "keys.json").write_text(to_json([key]))
    link = tmp_path / "data"
    link.symlink_to(tmp_path / "one")
    keys = ApiKeys(link / "keys.json")
    assert keys.caller_of(by_anna, NOW) == annas.caller

    (tmp_path / "next").symlink_to(tmp_path / "two")
    (tmp_path / "next").replace(link)

    assert keys.caller_of(by_bert, NOW) == berts.caller
