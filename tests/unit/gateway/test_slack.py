import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from chassis.errors import Exhausted, Unauthenticated
from clausegate.answer.v1.answer_pb2 import Note, Statement, SupportingClause
from clausegate.answer.v1.query_service_pb2 import QueryResponse
from clausegate.corpus.v1.span_pb2 import Span
from gateway.slack import signature
from gateway.slack.blocks import Section, fitted, foreign, line, units
from gateway.slack.command import Question, parse_question
from gateway.slack.files import SlackFileBroken, SlackFiles
from gateway.slack.message import answer_message
from gateway.slack.signature import SeenRequests, check_signature, signature_of
from tests.fakes.slack import refused

# The example in Slack's own documentation of its signatures.
EXAMPLE_SECRET = b"8f742231b10e8888abcd99yyyzzz85a5"
EXAMPLE_TIMESTAMP = "1531420618"
EXAMPLE_BODY = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
    b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
    b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554"
    b"%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
EXAMPLE_SIGNATURE = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"


def test_slacks_own_example_has_its_signature():
    assert signature_of(EXAMPLE_SECRET, EXAMPLE_TIMESTAMP, EXAMPLE_BODY) == EXAMPLE_SIGNATURE


@pytest.mark.parametrize("age", [-300, 0, 300])
def test_a_signature_counts_for_five_minutes_either_way(age):
    headers = Headers(
        {"X-Slack-Request-Timestamp": EXAMPLE_TIMESTAMP, "X-Slack-Signature": EXAMPLE_SIGNATURE}
    )
    check_signature(headers, EXAMPLE_BODY, [b"older", EXAMPLE_SECRET], int(EXAMPLE_TIMESTAMP) + age)


@pytest.mark.parametrize("age", [-301, 301])
def test_a_signature_counts_no_longer_than_that(age):
    headers = Headers(
        {"X-Slack-Request-Timestamp": EXAMPLE_TIMESTAMP, "X-Slack-Signature": EXAMPLE_SIGNATURE}
    )
    with pytest.raises(Unauthenticated):
        check_signature(headers, EXAMPLE_BODY, [EXAMPLE_SECRET], int(EXAMPLE_TIMESTAMP) + age)


def test_a_body_is_remembered_as_long_as_its_signature_can_count():
    now = 0.0
    seen = SeenRequests(lambda: now)
    assert seen.first_time(b"one")
    now = 599.0
    assert not seen.first_time(b"one")
    now = 600.0
    assert seen.first_time(b"one")


def test_more_bodies_than_fit_are_refused_until_the_oldest_are_forgotten():
    now = 0.0
    seen = SeenRequests(lambda: now)
    assert all(seen.first_time(b"%d" % number) for number in range(signature.MAX_REMEMBERED))
    with pytest.raises(Exhausted):
        seen.first_time(b"one more")
    now = 600.0
    assert seen.first_time(b"one more")


QUESTIONS = {
    "May I?": Question("May I?"),
    "in:cme May I?": Question("May I?", ("cme",)),
    "May I? in:cme,opra": Question("May I?", ("cme", "opra")),
    "in:cme in:opra,cme  May  I?\nOr not?": Question("May  I?\nOr not?", ("cme", "opra")),
    "to:channel May I? in:cme": Question("May I?", ("cme",), to_channel=True),
    "Is in:cme part of it?": Question("Is in:cme part of it?"),
    "in: May I?": Question("in: May I?"),
    "in:, May I?": Question("May I?"),
    "in:cme": Question("", ("cme",)),
    "help": Question(""),
    "help me": Question("help me"),
}


@pytest.mark.parametrize(("text", "question"), QUESTIONS.items(), ids=QUESTIONS)
def test_options_stand_before_or_behind_the_question(text, question):
    assert parse_question(text) == question


@given(st.text())
def test_every_text_is_a_question_of_its_own_words(text):
    assert parse_question(text).text in text


FILES = {
    "no secrets": {"secrets": "\n"},
    "a short secret": {"secrets": "abc\n"},
    "secrets that are no text": {"secrets": b"\xff\xfe"},
    "workspaces that are no JSON": {"workspaces.json": "T0ACME acme.key"},
    "workspaces that are no object": {"workspaces.json": '["T0ACME"]'},
    "a workspace that is listed twice": {"workspaces.json": '{"T0ACME": "acme.key", "T0ACME": null}'},
    "a workspace without an id": {"workspaces.json": '{"": "acme.key"}'},
    "a key that is no name": {"workspaces.json": '{"T0ACME": 7}'},
    "a key that is missing": {"workspaces.json": '{"T0ACME": "none.key"}'},
    "a key that is a folder": {"workspaces.json": '{"T0ACME": "."}'},
    "a key of two lines": {"acme.key": "cg_1\ncg_2\n"},
    "an empty key": {"acme.key": ""},
}


def written(folder, **texts):
    defaults = {"secrets": "0123456789abcdef\n", "workspaces.json": '{"T0ACME": "acme.key", "T0DEV": null}'}
    for name, text in (defaults | {"acme.key": "cg_1\n"} | texts).items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return SlackFiles(folder / "secrets", folder / "workspaces.json")


@pytest.mark.parametrize("texts", FILES.values(), ids=FILES)
def test_files_that_cannot_be_used_are_named(tmp_path, texts):
    with pytest.raises(SlackFileBroken, match=r"CLAUSEGATE_SLACK_\w+_FILE: .*: "):
        written(tmp_path, **texts).check()


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path):
    files = written(tmp_path)
    (tmp_path / "acme.key").unlink()
    os.mkfifo(tmp_path / "acme.key")
    with pytest.raises(SlackFileBroken, match=r"acme\.key: not a regular file"):
        files.check()


def test_a_workspace_may_ask_without_a_key_and_an_unknown_one_not_at_all(tmp_path):
    files = written(tmp_path)
    assert files.authorization_of("T0ACME", "") == "Bearer cg_1"
    assert files.authorization_of("T0DEV", "") == ""
    assert files.authorization_of("T0OTHER", "") is None


@given(st.text(max_size=60), st.integers(1, 400))
def test_what_is_shown_of_a_text_is_within_its_limit_and_a_cut_is_said(text, limit):
    shown, *cut = foreign(text, limit)
    assert units(shown.text) <= limit
    assert bool(cut) == (units(foreign(text, 10_000)[0].text) > limit)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1), st.integers(1, 40))
def test_what_is_shown_of_a_text_that_all_can_see_is_its_beginning(text, limit):
    assert text.startswith(foreign(text, limit)[0].text.rstrip(" "))


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(1, 2_900))
def test_a_message_of_any_items_is_one_that_slack_takes(counts, length):
    sections = [
        Section(f"Section {number}", tuple(line("x" * length) for _ in range(count)), number)
        for number, count in enumerate(counts)
    ]
    blocks = fitted(sections)
    assert refused({"response_type": "ephemeral", "text": "x", "blocks": blocks}) == ""


def test_a_clause_begins_with_a_word_shortly_before_its_quote():
    quote = "The fee is USD 120."
    text = "word " * 200 + quote + " more" * 200
    start = text.index(quote)
    clause = SupportingClause(text=text, quoted=[Span(start=start, end=start + len(quote))])
    message = answer_message(QueryResponse(supporting_clauses=[clause]), Question("What is the fee?"))
    (shown,) = [block for block in message["blocks"] if len(block.get("elements", ())) == 2]
    before, words, _ = (run["text"] for run in shown["elements"][1]["elements"])

    assert words.startswith("word word")
    assert quote in words
    assert before == f"[{start - words.index(quote)} characters before] … "


def test_no_text_that_is_sent_to_slack_is_empty():
    response = QueryResponse(notes=[Note(text="Mind the date.")], statements=[Statement(text="So it is.")])
    message = answer_message(response, Question("What is the fee?"))
    runs = [
        run for block in message["blocks"] for part in block.get("elements", ()) for run in part["elements"]
    ]

    assert all(run["text"] for run in runs)
