import base64
import json
from dataclasses import replace

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import assume, given
from hypothesis import strategies as st

from chassis.access import Scope
from chassis.auth import Caller, Refused
from chassis.jwks import keys_of
from chassis.jwt_tokens import MAX_TOKEN_CHARACTERS, Tokens
from chassis.token_rules import Algorithm, TokenRules
from tests.fakes.token_issuer import AUDIENCE, ISSUER, NOW, Issuer

RULES = TokenRules(ISSUER, AUDIENCE, 30.0, "tenant", "scope", "")
EC = Issuer("ES256")
RSA = Issuer("RS256")
OTHER = Issuer("ES256")
SECONDS = NOW.timestamp()
TENANT = "a tenant has 1 to 64 lower-case letters, digits, - and _, the first not - or _"
SUBJECT = "a subject is one line of 1 to 200 printable characters"


class Published:
    """The keys of an issuer, at hand."""

    def __init__(self, issuer: Issuer) -> None:
        self._keys = keys_of(issuer.jwks(), frozenset(Algorithm))

    async def find(self, key_id: str) -> jwt.PyJWK | None:
        return self._keys.get(key_id)


PUBLISHED = Published(EC)


async def caller_of(token: str, keys: Published = PUBLISHED, **rules: object) -> Caller:
    return await Tokens(keys, replace(RULES, **rules)).caller_of(token, NOW)


async def refusal_of(token: str, keys: Published = PUBLISHED, **rules: object) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        await caller_of(token, keys, **rules)
    return refused.value.why, refused.value.detail


def encoded(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA"])
async def test_a_token_says_whose_it_is_and_what_it_opens(algorithm):
    issuer = Issuer(algorithm)

    assert await caller_of(issuer.token(), Published(issuer)) == Caller(
        "acme", "anna", frozenset(Scope), frozenset(), "jwt:anna"
    )


@pytest.mark.parametrize("kind", ["JWT", "jwt", "at+jwt", "application/at+jwt", None])
async def test_an_access_token_is_accepted_however_it_calls_itself(kind):
    assert await caller_of(EC.token({"typ": kind}))


@pytest.mark.parametrize(
    ("scope", "scopes"),
    [
        ("query", {Scope.QUERY}),
        ("openid query  profile ingest", {Scope.QUERY, Scope.INGEST}),
        (["admin", "staff"], {Scope.ADMIN}),
        ("QUERY queries query:read", set()),
        ("", set()),
        ([], set()),
        (None, set()),
    ],
    ids=["one", "among-others", "list", "similar", "empty", "no-items", "none"],
)
async def test_a_token_has_the_scopes_that_it_names(scope, scopes):
    assert (await caller_of(EC.token(scope=scope))).scopes == scopes


@pytest.mark.parametrize(
    ("sources", "opened"),
    [(["cme", "ice"], {"cme", "ice"}), ("cme", {"cme"}), (["*"], set())],
    ids=["list", "text", "every"],
)
async def test_a_token_opens_the_sources_that_it_lists(sources, opened):
    assert (await caller_of(EC.token(srcs=sources), sources_claim="srcs")).sources == opened


@pytest.mark.parametrize("sources", [None, [], {}, True, 7, ["cme", 7], ["../cme"], ""], ids=str)
async def test_a_token_that_lists_no_sources_as_asked_opens_nothing(sources):
    assert (await refusal_of(EC.token(srcs=sources), sources_claim="srcs"))[0] == "unfit"


async def test_claims_have_the_names_that_the_settings_give():
    token = EC.token(tenant=None, scope=None, **{"https://acme/tenant": "globex", "scp": ["query"]})
    caller = await caller_of(token, tenant_claim="https://acme/tenant", scopes_claim="scp")

    assert (caller.tenant, caller.scopes) == ("globex", {Scope.QUERY})


@pytest.mark.parametrize("audience", [AUDIENCE, [AUDIENCE], ["other", AUDIENCE]], ids=str)
async def test_one_of_a_tokens_audiences_is_ours(audience):
    assert await caller_of(EC.token(aud=audience))


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"iss": "https://issuer.example/"}, ("foreign", "iss")),
        ({"iss": "HTTPS://issuer.example"}, ("foreign", "iss")),
        ({"iss": [ISSUER]}, ("unfit", "iss")),
        ({"iss": None}, ("unfit", "iss")),
        ({"aud": "other"}, ("foreign", "aud")),
        ({"aud": AUDIENCE.upper()}, ("foreign", "aud")),
        ({"aud": []}, ("foreign", "aud")),
        ({"aud": [AUDIENCE, 7]}, ("unfit", "aud")),
        ({"aud": {AUDIENCE: True}}, ("unfit", "aud")),
        ({"aud": None}, ("unfit", "aud")),
        ({"exp": None}, ("unfit", "exp")),
        ({"exp": True}, ("unfit", "exp")),
        ({"exp": str(int(SECONDS) + 600)}, ("unfit", "exp")),
        ({"exp": [int(SECONDS) + 600]}, ("unfit", "exp")),
        ({"exp": float("inf")}, ("unfit", "exp")),
        ({"exp": float("nan")}, ("unfit", "exp")),
        ({"exp": 10**400}, ("unfit", "exp")),
        ({"exp": -1}, ("unfit", "exp")),
        ({"nbf": "now"}, ("unfit", "nbf")),
        ({"nbf": SECONDS + 31}, ("early", "nbf")),
        ({"iat": SECONDS + 31}, ("early", "iat")),
        ({"sub": ""}, ("unfit", "sub")),
        ({"sub": None}, ("unfit", "sub")),
        ({"sub": 7}, ("unfit", "sub")),
        ({"sub": "two\nlines"}, ("unfit", SUBJECT)),
        ({"sub": "a" * 201}, ("unfit", SUBJECT)),
        ({"sub": "\ud800"}, ("unfit", SUBJECT)),
        ({"tenant": None}, ("unfit", "tenant")),
        ({"tenant": ["acme"]}, ("unfit", "tenant")),
        ({"tenant": True}, ("unfit", "tenant")),
        ({"tenant": "../acme"}, ("unfit", TENANT)),
        ({"tenant": "Acme"}, ("unfit", TENANT)),
        ({"tenant": "acme\n"}, ("unfit", TENANT)),
        ({"scope": True}, ("unfit", "scope")),
        ({"scope": 7}, ("unfit", "scope")),
        ({"scope": {"admin": True}}, ("unfit", "scope")),
        ({"scope": ["query", 7]}, ("unfit", "scope")),
    ],
    ids=str,
)
async def test_a_token_whose_claims_are_not_as_asked_opens_nothing(claims, why):
    assert await refusal_of(EC.token(**claims)) == why


async def test_a_token_ends_with_its_time_and_the_leeway():
    def expiring(seconds: float) -> str:
        return EC.token(exp=SECONDS + seconds)

    assert await caller_of(expiring(-29.9))
    assert await refusal_of(expiring(-30)) == ("expired", "")
    assert await refusal_of(expiring(0), leeway_seconds=0.0) == ("expired", "")
    assert await caller_of(EC.token(nbf=SECONDS + 30, iat=SECONDS + 30))


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"kid": "key-2"}, ("unknown", "")),
        ({"kid": "../../etc/passwd"}, ("unknown", "")),
        ({"kid": "' OR 1=1 --"}, ("unknown", "")),
        ({"kid": ""}, ("unknown", "")),
        ({"typ": "logout+jwt"}, ("foreign", "typ")),
        ({"typ": "id_token"}, ("foreign", "typ")),
        ({"typ": 7}, ("foreign", "typ")),
        ({"crit": ["b64"], "b64": True}, ("foreign", "crit")),
        ({"b64": True}, ("foreign", "crit")),
        ({"b64": False}, ("malformed", "header")),
        ({"crit": ["exp"], "exp": 1}, ("malformed", "header")),
        ({"crit": []}, ("malformed", "header")),
        ({"alg": "RS256"}, ("forged", "")),
        ({"alg": "ES384"}, ("forged", "")),
        ({"alg": "none"}, ("forged", "")),
        ({"alg": "NONE"}, ("forged", "")),
        ({"alg": ""}, ("forged", "")),
        ({"alg": ["ES256"]}, ("forged", "")),
        ({"kid": 7}, ("malformed", "header")),
        ({"kid": None}, ("malformed", "header")),
    ],
    ids=str,
)
async def test_a_token_whose_header_is_not_as_asked_opens_nothing(headers, why):
    _, claims, _ = EC.token().split(".")
    header = encoded({"alg": "ES256", "kid": "key-1", **headers})
    signature = (
        jwt.api_jws.PyJWS()
        .get_algorithm_by_name("ES256")
        .sign(f"{header}.{claims}".encode(), EC.keys["key-1"][1])
    )
    token = f"{header}.{claims}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"

    assert await refusal_of(token) == why


@pytest.mark.parametrize("name", ["jku", "x5u", "jwk", "x5c"])
async def test_a_key_that_a_token_brings_or_points_to_is_not_looked_at(name):
    brought = {"jwk": OTHER.entry(), "x5c": ["MIIB"]}.get(name, "http://127.0.0.1:1/keys")

    assert await refusal_of(OTHER.token({name: brought})) == ("forged", "")
    assert await caller_of(EC.token({name: brought}))


@pytest.mark.parametrize(
    "form", [PublicFormat.SubjectPublicKeyInfo, PublicFormat.PKCS1], ids=["spki", "pkcs1"]
)
@pytest.mark.parametrize("encoding", [Encoding.PEM, Encoding.DER], ids=["pem", "der"])
async def test_a_public_key_is_no_secret_that_signs(form, encoding):
    secret = RSA.keys["key-1"][1].public_key().public_bytes(encoding, form)
    head = f"{encoded({'alg': 'HS256', 'kid': 'key-1', 'typ': 'JWT'})}.{encoded(RSA.claims())}"
    hmac = jwt.api_jws.PyJWS().get_algorithm_by_name("HS256")
    signature = base64.urlsafe_b64encode(hmac.sign(head.encode(), secret)).rstrip(b"=").decode()

    assert await refusal_of(f"{head}.{signature}", Published(RSA)) == ("forged", "")


@pytest.mark.parametrize(
    "token",
    [
        "",
        "..",
        "a.b.c",
        "a.b",
        "a.b.c.d",
        f"{encoded('{}')}.{encoded('{}')}.",
        f"{encoded('[]')}.{encoded('{}')}.AA",
        f"{encoded('[' * 5000)}.{encoded('{}')}.AA",
        f"{encoded('9' * 5000)}.{encoded('{}')}.AA",
        EC.token() + "=",
        EC.token() + "\n",
    ],
    ids=range(11),
)
async def test_what_is_no_token_is_malformed(token):
    assert (await refusal_of(token))[0] == "malformed"


@pytest.mark.parametrize(
    "payload", ["[]", "7", '"text"', "{", "[" * 5000, '{"exp": ' + "9" * 5000 + "}"], ids=range(6)
)
async def test_a_genuine_signature_over_no_claims_is_malformed(payload):
    _, key = EC.keys["key-1"]
    token = jwt.api_jws.encode(payload.encode(), key, "ES256", {"kid": "key-1"})

    assert await refusal_of(token) == ("malformed", "claims")


async def test_a_token_is_not_longer_than_metadata_can_carry():
    room = MAX_TOKEN_CHARACTERS - len(EC.token(note=""))
    fits, longer = EC.token(note="x" * (room * 3 // 4 - 2)), EC.token(note="x" * (room * 3 // 4 + 2))

    assert len(fits) <= MAX_TOKEN_CHARACTERS < len(longer)
    assert await caller_of(fits)
    assert await refusal_of(longer) == ("malformed", "")


GENUINE = EC.token()
OPENED = Caller("acme", "anna", frozenset(Scope), frozenset(), "jwt:anna")
json_values = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())


@given(st.sampled_from(["iss", "aud", "sub", "tenant", "scope", "exp", "nbf", "other"]), json_values)
async def test_a_claim_that_was_changed_after_signing_opens_nothing(name, value):
    header, _, signature = GENUINE.split(".")
    claims = {**EC.claims(), name: value}
    assume(claims != EC.claims())

    assert await refusal_of(f"{header}.{encoded(claims)}.{signature}") == ("forged", "")


@given(st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk", "jku", "x5u", "other"]), json_values)
async def test_a_header_that_was_changed_after_signing_opens_nothing(name, value):
    _, claims, signature = GENUINE.split(".")
    header = {**jwt.get_unverified_header(GENUINE), name: value}
    assume(header != jwt.get_unverified_header(GENUINE))

    await refusal_of(f"{encoded(header)}.{claims}.{signature}")


@given(st.integers(0, len(GENUINE) - 1), st.characters(min_codepoint=33, max_codepoint=126))
async def test_a_token_of_which_any_character_was_changed_opens_nothing(place, character):
    changed = GENUINE[:place] + character + GENUINE[place + 1 :]
    assume(changed != GENUINE)

    await refusal_of(changed)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126)))
async def test_no_text_is_a_token(text):
    await refusal_of(text)
    await refusal_of(f"{GENUINE}{text or '.'}")


@pytest.mark.parametrize("name", ["tenant", "sub", "scope", "exp", "iss", "aud"])
@pytest.mark.parametrize("first", [True, False])
async def test_a_genuine_token_that_names_a_claim_twice_opens_nothing(name, first):
    claims = EC.claims()
    twice = f"{json.dumps(name)}: {json.dumps(claims[name])}"
    said = json.dumps(claims)
    payload = f"{{{twice}, {said[1:]}" if first else f"{said[:-1]}, {twice}}}"

    _, key = EC.keys["key-1"]
    token = jwt.api_jws.encode(payload.encode(), key, "ES256", {"kid": "key-1"})

    assert await refusal_of(token) == ("malformed", "claims")


async def test_a_header_that_names_its_key_twice_opens_nothing():
    header, _, rest = EC.token().partition(".")
    said = json.loads(base64.urlsafe_b64decode(header + "=="))
    twice = f'{{"kid": "other", {json.dumps(said)[1:]}'

    assert await refusal_of(f"{encoded(twice)}.{rest}") == ("malformed", "header")
