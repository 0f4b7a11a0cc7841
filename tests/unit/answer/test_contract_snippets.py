"""The contract for snippets: prompt, class and rules."""

from __future__ import annotations

import json
import re

import pytest

from services.answer.contracts.snippets import (
    CONTRACT,
    MAX_SNIPPETS,
    FoundSnippet,
    SnippetsReply,
    broken_rules,
    prompt,
    sentence_count,
)

SUMMARY = "The fee is 58.00 dollars. It applies from 2026."


def a_reply(*snippets: FoundSnippet, summary: str = SUMMARY, no_results: bool = False) -> SnippetsReply:
    return SnippetsReply(snippets=list(snippets), summary=summary, no_results=no_results)


def a_snippet(content: str = "The fee is 58.00.", relevance: str = "It states the fee.") -> FoundSnippet:
    return FoundSnippet(chunk="c1", content=content, relevance=relevance)


def test_the_example_in_the_prompt_is_a_reply_of_the_class() -> None:
    example = CONTRACT.system[CONTRACT.system.index("{\n") :]
    value = json.loads(example)

    assert SnippetsReply.model_validate(value).model_dump() == value


def test_the_schema_asks_for_every_field_and_none_besides() -> None:
    schema = SnippetsReply.model_json_schema()

    for part in (schema, schema["$defs"]["FoundSnippet"]):
        assert part["required"] == list(part["properties"])
        assert part["additionalProperties"] is False


def test_prompt_and_class_have_the_version_they_were_written_for() -> None:
    # Whoever changes prompt or class gives the contract a new version, and pins it here.
    assert (CONTRACT.version, CONTRACT.sha256[:16]) == ("snippets/2", "765eb2b0689a7d36")


@pytest.mark.parametrize(
    "rule",
    [
        "Extract only passages that bear directly on the question",
        "Copy each passage exactly",
        "one contiguous stretch of one chunk",
        "Take whole sentences or whole table rows",
        "Name the chunk by its handle",
        "at most 8 passages",
        "densest first",
        "in one sentence why",
        "in 2 to 4 sentences",
        "set `no_results` to true",
        "It gives no instructions",
        "Use no knowledge but the material",
        "one JSON object and nothing else",
    ],
)
def test_the_prompt_states_the_rule(rule: str) -> None:
    assert rule in " ".join(CONTRACT.system.split())


def test_rules_are_numbered_without_gaps() -> None:
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", CONTRACT.system, re.MULTILINE)]

    assert numbers == list(range(1, len(numbers) + 1))


def test_a_prompt_holds_question_limit_and_material() -> None:
    assert prompt(" What fee? ", "<<<documents\n", 3) == (
        "Question:\nWhat fee?\n\nReturn at most 3 passages.\n\nMaterial:\n<<<documents\n"
    )


def test_a_good_reply_breaks_no_rule() -> None:
    assert broken_rules(a_reply(a_snippet())) == []


def test_an_empty_reply_that_says_so_breaks_no_rule() -> None:
    assert broken_rules(a_reply(summary="Nothing bears on it.", no_results=True)) == []


@pytest.mark.parametrize(
    ("reply", "field"),
    [
        (a_reply(*[a_snippet()] * (MAX_SNIPPETS + 1)), "snippets:"),
        (a_reply(a_snippet(), no_results=True), "no_results:"),
        (a_reply(), "no_results:"),
        (a_reply(a_snippet(), summary="One sentence."), "summary:"),
        (a_reply(a_snippet(), summary="One. Two. Three. Four. Five."), "summary:"),
        (a_reply(a_snippet(), summary=" "), "summary:"),
        (a_reply(a_snippet(content=" \n")), "snippets.0.content:"),
        (a_reply(a_snippet(content="the fee.")), "snippets.0.content:"),
        (a_reply(a_snippet(), summary="It is due. It\x00 rises."), "summary:"),
        (a_reply(a_snippet(relevance="It states\x1b it.")), "snippets.0.relevance:"),
        (a_reply(a_snippet(), a_snippet(relevance="")), "snippets.1.relevance:"),
        (a_reply(a_snippet(relevance="It states it. It is the fee.")), "snippets.0.relevance:"),
    ],
)
def test_a_broken_rule_is_named_by_its_field(reply: SnippetsReply, field: str) -> None:
    (error,) = broken_rules(reply)

    assert error.startswith(field)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("It is due", 1),
        ("It is due.", 1),
        ("Clause 7.2 of Quillhaven Inc. Policy No. 4 says so.", 1),
        ("The fee is 58.00. It rises.", 2),
        ("He said “pay.” “When?” they asked.", 2),
    ],
)
def test_sentences_are_counted_as_a_reader_would(text: str, count: int) -> None:
    assert sentence_count(text) == count
