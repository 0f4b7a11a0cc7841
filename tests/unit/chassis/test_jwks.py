import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.jwks import keys_of
from chassis.token_rules import Algorithm
from tests.fakes.token_issuer import Issuer

EVERY = frozenset(Algorithm)
EC = Issuer("ES256")
RSA = Issuer("RS256")


def the_set(*entries: object) -> str:
    return json.dumps({"keys": entries})


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA"])
def test_a_key_is_for_the_algorithm_that_it_names(algorithm):
    [(key_id, key)] = keys_of(the_set(Issuer(algorithm).entry()), EVERY).items()

    assert (key_id, key.algorithm_name) == ("key-1", algorithm)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "ES384", "ES512", "EdDSA"])
def test_a_key_that_names_none_is_for_the_usual_algorithm_of_its_kind(algorithm):
    [key] = keys_of(the_set(Issuer(algorithm).entry(alg=None, use=None)), EVERY).values()

    assert key.algorithm_name == algorithm


def test_keys_for_other_ends_are_left_out():
    others = [
        EC.entry(kid="encrypts", use="enc"),
        EC.entry(kid="wraps", key_ops=["wrapKey"]),
        {"kty": "oct", "kid": "secret", "k": "c2VjcmV0", "alg": "HS256"},
        {"kty": "new", "kid": "of-tomorrow"},
        EC.entry(kid=None),
        "no object",
    ]

    assert keys_of(the_set(*others, EC.entry()), EVERY).keys() == {"key-1"}


def shortened() -> dict[str, str]:
    return RSA.entry(n=RSA.entry()["n"][:171])  # 1,024 bits and a bit


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (EC.entry(d="c2VjcmV0"), "not a public key"),
        ({"kty": "oct", "kid": "1", "k": "c2VjcmV0", "alg": "RS256"}, "not a public key"),
        (EC.entry(alg="HS256"), "algorithm is not allowed"),
        (EC.entry(alg="none"), "algorithm is not allowed"),
        (EC.entry(alg="RS256"), "Not an RSA key"),
        (EC.entry(alg="ES384"), "curve"),
        (EC.entry(crv="P-384", alg=None), "48 bytes"),
        (EC.entry(kid=""), "no id"),
        (EC.entry(kid=7), "malformed"),
        (EC.entry(alg=["ES256"]), "malformed"),
        (EC.entry(x=7), "malformed"),
        (EC.entry(key_ops="verify"), "not for signatures"),
        (RSA.entry(n="A" * 1401), "longer than 8,192 bits"),
        (shortened(), "shorter than 2,048 bits"),
    ],
)
def test_a_set_without_a_usable_key_says_why(entry, why):
    with pytest.raises(ValueError, match=why):
        keys_of(the_set(entry), EVERY)


def test_a_key_of_an_algorithm_that_is_not_allowed_is_left_out():
    with pytest.raises(ValueError, match="algorithm is not allowed"):
        keys_of(the_set(EC.entry()), {Algorithm.RS256})


def test_an_id_that_stands_for_two_keys_is_an_error():
    with pytest.raises(ValueError, match=r"keys\[1\]: the second with its id"):
        keys_of(the_set(EC.entry(), RSA.entry()), EVERY)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
members = st.dictionaries(
    st.sampled_from(["kty", "crv", "alg", "use", "key_ops", "kid", "x", "y"]), json_values
)


@given(st.text() | json_values.map(json.dumps) | members.map(lambda each: the_set({**EC.entry(), **each})))
def test_whatever_a_set_holds_it_is_read_or_named_as_wrong(text):
    try:
        keys = keys_of(text, EVERY)
    except ValueError:
        return
    assert len(keys) == 1
