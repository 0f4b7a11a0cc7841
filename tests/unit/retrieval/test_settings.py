"""Settings of retrieval: addresses, and what is read from files."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from chassis.settings import settings_problem
from services.retrieval.settings import RetrievalSettings


def key_in(path):
    return RetrievalSettings(weaviate_api_key_file=path).weaviate_key()


def test_a_key_is_read_from_its_file_without_the_end_of_line(tmp_path):
    (tmp_path / "key").write_text("secret\n")

    assert key_in(tmp_path / "key") == "secret"


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_key_file_is_told(tmp_path, content):
    (tmp_path / "key").write_bytes(content)

    with pytest.raises(OSError, match="CLAUSEGATE_WEAVIATE_API_KEY_FILE holds no key"):
        key_in(tmp_path / "key")


def test_a_key_file_that_is_missing_is_told(tmp_path):
    with pytest.raises(OSError, match=r"CLAUSEGATE_WEAVIATE_API_KEY_FILE cannot be read: .*: No such file"):
        key_in(tmp_path / "key")


def test_a_key_file_that_holds_something_else_is_told_without_it(tmp_path):
    (tmp_path / "key").write_bytes(b"\xff\xfe")

    with pytest.raises(OSError, match=r"cannot be read: .*: not a key"):
        key_in(tmp_path / "key")


@pytest.mark.parametrize("name", ["weaviate_url", "weaviate_grpc_url"])
@pytest.mark.parametrize(
    "url", ["http://host:x", "http://host:99999", "http://:80", "http://[::1:80", "ho:80"]
)
def test_an_address_that_is_none_is_told_with_its_variable(name, url):
    with pytest.raises(ValidationError) as caught:
        RetrievalSettings.model_validate({name: url})
    assert settings_problem(caught.value).startswith(f"settings: CLAUSEGATE_{name.upper()}: ")


def test_a_key_that_cannot_be_sent_is_told_without_it():
    with pytest.raises(ValidationError) as caught:
        RetrievalSettings(weaviate_api_key="ké")
    assert settings_problem(caught.value) == "settings: CLAUSEGATE_WEAVIATE_API_KEY: must be printable ASCII"
