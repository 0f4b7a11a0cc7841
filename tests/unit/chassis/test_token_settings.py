import pytest
from pydantic import ValidationError

from chassis.settings import ProcessSettings, settings_problem
from chassis.token_rules import Algorithm

TOKENS = {"jwt_issuer": "https://issuer.example", "jwt_audience": "clausegate", "jwt_jwks": "jwks.json"}


def problem(**settings: object) -> str:
    with pytest.raises(ValidationError) as wrong:
        ProcessSettings(**settings)
    return settings_problem(wrong.value)


def test_no_token_is_accepted_unless_an_issuer_is_named():
    assert ProcessSettings().token_rules() is None


@pytest.mark.parametrize("missing", TOKENS)
def test_what_belongs_together_is_set_together(missing):
    assert "are set together or not at all" in problem(**{**TOKENS, missing: ""})


@pytest.mark.parametrize(
    "place",
    ["https://issuer.example/keys", "http://127.0.0.1:8080/keys?a=b", "http://[::1]/keys", "a/jwks.json"],
)
def test_keys_are_at_an_https_url_or_on_this_machine(place):
    assert ProcessSettings(**{**TOKENS, "jwt_jwks": place}).jwt_jwks == place


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("http://issuer.example/keys", "expected https"),
        ("http://127.0.0.1.example/keys", "expected https"),
        ("ftp://issuer.example/keys", "expected https"),
        ("file:///etc/passwd", "expected https"),
        ("https:///keys", "expected https://host/path"),
        ("https://user:secret@issuer.example/keys", "expected https://host/path"),
        ("https://issuer.example/keys#1", "expected https://host/path"),
        ("https://issuer.example:99999/keys", "not a URL"),
        ("https://issuer.example/ke ys", "not a URL"),
        ("https://issuer.example/\r\nHost: other", "not a URL"),
        ("https://[::1/keys", "not a URL"),
    ],
)
def test_a_url_that_may_not_be_read_is_named_and_not_shown(place, said):
    told = problem(**{**TOKENS, "jwt_jwks": place})

    assert told.startswith("settings: CLAUSEGATE_JWT_JWKS: ")
    assert said in told
    assert "secret" not in told


def test_algorithms_are_those_that_are_named():
    settings = ProcessSettings(**TOKENS, jwt_algorithms="PS256,EdDSA")

    assert settings.token_algorithms() == {Algorithm.PS256, Algorithm.EDDSA}


@pytest.mark.parametrize("algorithms", ["HS256", "none", "RS256,HS256", "", "rs256", "RS256, ES256"])
def test_an_algorithm_without_a_public_key_is_refused(algorithms):
    assert "CLAUSEGATE_JWT_ALGORITHMS: expected algorithms with public keys" in problem(
        jwt_algorithms=algorithms
    )


@pytest.mark.parametrize("seconds", [-1, 301, "nan"])
def test_the_leeway_is_bounded(seconds):
    assert "CLAUSEGATE_JWT_LEEWAY_SECONDS" in problem(jwt_leeway_seconds=seconds)
