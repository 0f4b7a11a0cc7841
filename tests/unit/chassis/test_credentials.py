import logging
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.api_keys import ApiKeys, new_key, to_json
from chassis.auth import Caller
from chassis.credentials import Credentials
from chassis.errors import Unauthenticated
from chassis.jwks_sources import FileKeys
from chassis.jwt_tokens import Tokens
from chassis.token_rules import Algorithm, TokenRules
from tests.fakes.token_issuer import AUDIENCE, ISSUER, Issuer

NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)
TOKENS = Issuer()
KEY, PRESENTED = new_key(Caller("acme", "anna"), NOW)
_ENDED, ENDED = new_key(Caller("acme", "anna"), NOW - timedelta(days=2), NOW - timedelta(days=1))


@pytest.fixture(scope="module")
def credentials(tmp_path_factory) -> Credentials:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    path.write_text(to_json([KEY, _ENDED]))
    jwks = path.with_name("jwks.json")
    jwks.write_text(TOKENS.jwks())
    rules = TokenRules(ISSUER, AUDIENCE, 30.0, "tenant", "scope", "")
    issued = Tokens(FileKeys("CLAUSEGATE_JWT_JWKS", jwks, frozenset(Algorithm)), rules)
    return Credentials(ApiKeys(path), issued, now=lambda: NOW)


async def refusal_of(credentials: Credentials, *authorization: str) -> str:
    with pytest.raises(Unauthenticated) as refused:
        await credentials.caller_of(authorization)
    return str(refused.value)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer "])
async def test_a_key_or_a_token_says_who_calls(credentials, scheme):
    assert await credentials.caller_of([f"{scheme} {PRESENTED}"]) == KEY.caller
    assert (await credentials.caller_of([f"{scheme} {TOKENS.token()}"])).credential_id == "jwt:anna"


@pytest.mark.parametrize(
    "authorization",
    [
        (),
        ("",),
        (PRESENTED,),
        ("Bearer",),
        (f"Basic {PRESENTED}",),
        (f"Bearer {PRESENTED} ",),
        (f"Bearer {PRESENTED}\n",),
        (f"Bearer {PRESENTED}, Bearer {PRESENTED}",),
        (f"Bearer {ENDED}",),
        (f"Bearer {PRESENTED}", f"Bearer {PRESENTED}"),
    ],
    ids=["none", "empty", "bare", "no-value", "basic", "blank", "line", "joined", "expired", "two"],
)
async def test_what_is_refused_is_refused_in_the_same_words(credentials, authorization):
    assert await refusal_of(credentials, *authorization) == (
        "A valid credential is needed: `authorization: Bearer <API key or token>`."
    )


async def test_the_log_says_why_and_never_what_was_presented(credentials, caplog):
    with caplog.at_level(logging.INFO):
        await refusal_of(credentials)
        await refusal_of(credentials, f"Basic {PRESENTED}")
        await refusal_of(credentials, f"Bearer {PRESENTED[:-1]}")
        await refusal_of(credentials, f"Bearer {PRESENTED[:-64]}{ENDED[-64:]}")
        await refusal_of(credentials, f"Bearer {ENDED}")

    assert [(record.why, record.credential_id) for record in caplog.records] == [
        ("missing", ""),
        ("malformed", ""),
        ("malformed", ""),
        ("unknown", KEY.key_id),
        ("expired", _ENDED.key_id),
    ]
    assert not [each for each in (PRESENTED[-64:-1], ENDED[-64:]) if each in caplog.text]


@given(st.text() | st.text().map("Bearer {}".format) | st.from_regex(r"Bearer cg_[0-9a-f]{16}_[0-9a-f]{64}"))
async def test_no_text_gets_in(credentials, text):
    await refusal_of(credentials, text)
