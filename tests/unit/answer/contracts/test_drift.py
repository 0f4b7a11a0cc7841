"""Prompt and class of every contract belong together, and a version names both for good."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

from services.answer import contracts
from services.answer.contracts.completion import Contract

PINNED = {
    "answer/1": "f8918311245d268bb619d62daf81cad2ab29fef65f48b510de6df762e0ae2d0c",
    "answer/2": "54988349e4c7d3944ec184b6f0f48c4bebf62c6fae057743231bcf270feb2219",
    "answer/3": "16f06f3ce15b2a3ded4e686d0455f0b40a5d74ea5ec287bf23a8f83bc5953723",
    "answer/4": "650fdcd7b655faf2c5048ee89c3c6f8f7a7b33d43e3fd3103933937da6dc13f4",
    "article/1": "e04dfaf2fd61b81575b0d94be9695f918d7bea20383348a241b1733c98fb3fca",
    "article/2": "abf88dca3dbb7254e36fe8b9c13ceb887972a8a7166a516ccd8ed57e33b9b1e8",
    "article/3": "5be023608decfcad7787d16488d2ba453cd433e3d216bd55cae70d3c57053b00",
    "grade/1": "7ba6bad907a62ee3620235a97473d68b8482eb0c8759180810cbda22d601dd27",
    "grade/2": "ee4c84211c207d950a50d42276fc1a0b166f6d42951e24314be461c8624c86b6",
    "grade/3": "bd0375e582746a399c7a4124b17c4ba26a0aad344fdb03777689df9907c149f2",
    "queries/1": "ab25e7db9efdaa08f7a2ebbe180116dc76cc0b6a9043a5490c760451fcf533c9",
    "queries/2": "f9769a0544045c3ab1b4428a6d4653b0c80389673ddb9ba2d6711aa0b0f8f44c",
    "rewrite/1": "c9e30f5459682d2cb1a4aec00e2b9775ac278e9fc0adafe2a0e38811f20dfaab",
    "rewrite/2": "03650fcb8a4775e7ea2ff1b8a8c2d05368d03df99bf6d425791643ddf26b2a32",
    "rewrite/3": "048b6fc75ff539409d7d871762ec6ea08483af414a67f405d401ba89ec91ce3d",
    "snippets/1": "4fbd36dfd427995f944ed0856a3b41b152c69f38f513b6c6884868cfdad4db3f",
    "snippets/2": "765eb2b0689a7d368ac959b8f78ffb8400873f2f61daa427faa963a67c47d56d",
    "snippets/3": "d52d3b10f15e5c0cea6b1fc6e8af550c65141ec9cf9c96e79c596ece60bc708c",
}
"""SHA-256 of prompt and class by version. A changed prompt or class is a new version: certificates and caches
name it. Add the new one; versions that were released stay as they are."""

CONTRACTS = [
    contract
    for module in pkgutil.iter_modules(contracts.__path__)
    for contract in vars(importlib.import_module(f"{contracts.__name__}.{module.name}")).values()
    if isinstance(contract, Contract)
]


def fields_of(schema: object) -> set[str]:
    """Every field name in a schema, nested ones too."""
    if isinstance(schema, list):
        return set().union(*map(fields_of, schema))
    if not isinstance(schema, dict):
        return set()
    own = set(schema.get("properties", {}))
    return own.union(*map(fields_of, schema.values()))


def keys_of(system: str) -> set[str]:
    """The keys of the JSON that a prompt shows."""
    return set(re.findall(r'"(\w+)":', system))


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda one: one.name)
def test_the_prompt_shows_every_field_of_the_class_and_no_other(contract):
    assert keys_of(contract.system) == fields_of(contract.reply.model_json_schema())


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda one: one.name)
def test_the_prompt_asks_for_json(contract):
    """Servers refuse `json_object` unless the messages speak of JSON."""
    assert "JSON" in contract.system


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda one: one.name)
def test_the_class_can_be_enforced_by_a_strict_schema(contract):
    schema = contract.reply.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        assert set(part["required"]) == set(part["properties"]), part["title"]
        assert part["additionalProperties"] is False


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda one: one.name)
def test_a_changed_prompt_or_class_has_a_new_version(contract):
    assert {contract.version: contract.sha256}.items() <= PINNED.items()


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda one: one.name)
def test_the_version_names_its_contract(contract):
    assert re.fullmatch(rf"{contract.name}/[1-9]\d*", contract.version)


def test_no_two_contracts_share_a_name():
    names = [contract.name for contract in CONTRACTS]
    assert len(set(names)) == len(names) >= 2
