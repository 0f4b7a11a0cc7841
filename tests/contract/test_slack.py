"""The slash command over real sockets: a fake Slack on one side, small services of ours on the other."""

import asyncio
import json
import logging
import time
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import pytest_asyncio

from chassis.errors import PermissionDenied, Unauthenticated, Unavailable
from clausegate.answer.v1 import answer_pb2, query_service_pb2
from clausegate.corpus.v1 import citation_pb2
from gateway.slack.files import SlackFileBroken
from gateway.wiring import serving
from services.ingest.errors import DocumentNotFound
from tests.contract.gateway_services import (
    PATIENCE_SECONDS,
    Script,
    client_of,
    problem_in,
    running,
    seen,
    services,
)
from tests.contract.traces import kept_spans
from tests.fakes.slack import HANG, RESET, SECRET, Reply, Slack, shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/slack/commands"
KEY = "cg_0123456789abcdef_" + "0" * 64
LOOKING = {"response_type": "ephemeral", "text": "Looking in the documents …"}
HOSTILE = (
    "<!channel> <@U0BOSS> *bold* _it_ `code` &amp; <https://evil.example|click> :boom: https://evil.example"
)


def settings_of(slack, folder, **settings):
    (folder / "acme.key").write_text(f"{KEY}\n")
    (folder / "secrets").write_text(f"a-secret-that-was-rotated-out\n{slack.secret}\n")
    (folder / "workspaces.json").write_text(json.dumps({"T0ACME": "acme.key", "E0GRID": "acme.key"}))
    return {
        "slack_signing_secrets_file": folder / "secrets",
        "slack_workspaces_file": folder / "workspaces.json",
        "slack_response_origins": slack.origin,
        **settings,
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory):
    """One gateway for all tests that need nothing special of it: to start one takes half a second."""
    script, folder = Script(), tmp_path_factory.mktemp("slack")
    async with Slack() as slack, running(script, **settings_of(slack, folder)) as client:
        yield client, script, slack, folder


@pytest.fixture
def folder(shared):
    """Where the files of the operator are; they are as they were for the next test."""
    before = {file: file.read_text() for file in shared[3].iterdir()}
    yield shared[3]
    for file, text in before.items():
        file.write_text(text)


@pytest.fixture
def script(shared):
    vars(shared[1]).update(vars(Script()))
    return shared[1]


@pytest.fixture
def slack(shared):
    slack = shared[2]
    yield slack
    slack.secret = SECRET
    for each in (slack.replies, slack.posts, slack.accepted):
        each.clear()


@pytest.fixture
def client(shared):
    return shared[0]


async def logged(caplog, message):
    """The record with this message, as soon as it is there."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := [record for record in caplog.records if record.message == message]):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return found[0]


async def ended(spans, name):
    """The spans of this name, as soon as there is one."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := [span for span in spans.get_finished_spans() if span.name == name]):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return found


async def asked(client, slack, text, **fields):
    """Ask, see it acknowledged, and wait for what is posted."""
    response = await client.post(PATH, **slack.signed(slack.command(text, **fields)))
    assert (response.status_code, response.json()) == (200, LOOKING)
    return await slack.posted()


# Whose command it is --------------------------------------------------------------------------------------


async def test_a_signed_command_is_answered_with_the_key_of_its_workspace(client, script, slack):
    post = await asked(client, slack, "in:cme,opra May I display &lt;delayed&gt; data?")
    assert post.path.startswith("/commands/T0ACME/")
    assert post.message["response_type"] == "ephemeral"
    assert script.requests[0].query == "May I display <delayed> data?"
    assert list(script.requests[0].sources) == ["cme", "opra"]
    assert script.metadata["authorization"] == f"Bearer {KEY}"


async def test_a_workspace_of_a_known_organisation_is_answered(client, script, slack):
    await asked(client, slack, "Fees?", team_id="T0OTHER", enterprise_id="E0GRID")
    assert script.metadata["authorization"] == f"Bearer {KEY}"


async def test_an_unknown_workspace_is_told_so_and_nothing_is_asked(client, script, slack):
    response = await client.post(PATH, **slack.signed(slack.command("Fees?", team_id="T0OTHER")))
    assert response.status_code == 200
    assert "not connected" in response.json()["text"]
    assert "T0OTHER" in response.json()["text"]
    assert script.requests == []


async def test_a_header_with_a_credential_decides_nothing(client, script, slack):
    request = slack.signed(slack.command("Fees?"))
    request["headers"]["Authorization"] = "Bearer of-another-tenant"
    await client.post(PATH, **request)
    await slack.posted()
    assert script.metadata["authorization"] == f"Bearer {KEY}"


def unsigned(slack):
    request = slack.signed(slack.command("Fees?"))
    del request["headers"]["X-Slack-Signature"]
    return request


def signed_by_another(slack):
    return Slack("0123456789abcdef0123456789abcdef").signed(slack.command("Fees?"))


def tampered(slack):
    request = slack.signed(slack.command("Fees?"))
    return request | {"content": request["content"].replace(b"T0ACME", b"T0OTHR")}


def old(slack):
    return slack.signed(slack.command("Fees?"), at=time.time() - 330)


def of_the_future(slack):
    return slack.signed(slack.command("Fees?"), at=time.time() + 330)


def dated_anew(slack):
    request = slack.signed(slack.command("Fees?"), at=time.time() - 330)
    request["headers"]["X-Slack-Request-Timestamp"] = str(int(time.time()))
    return request


def without_a_number(slack):
    request = slack.signed(slack.command("Fees?"))
    request["headers"]["X-Slack-Request-Timestamp"] = "1e9"
    return request


def too_large(slack):
    return slack.signed(slack.command("Fees? " * 20_000))


FORGERIES = (
    unsigned,
    signed_by_another,
    tampered,
    old,
    of_the_future,
    dated_anew,
    without_a_number,
    too_large,
)


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
async def test_what_slack_did_not_just_sign_is_refused_in_the_same_words(client, script, slack, forge):
    problem = problem_in(await client.post(PATH, **forge(slack)), 401, "UNAUTHENTICATED")
    assert problem["detail"] == "The request is not signed by Slack, or too old."
    assert script.requests == []


async def test_slacks_look_at_the_certificate_is_welcome_and_asks_nothing(client, script, slack):
    form = slack.command("Fees?", ssl_check="1")
    response = await client.post(PATH, content=slack.signed(form)["content"])
    assert (response.status_code, response.content) == (200, b"")
    assert (script.requests, slack.posts) == ([], [])


async def test_a_replayed_command_is_answered_once(client, script, slack):
    request = slack.signed(slack.command("Fees?"))
    await client.post(PATH, **request)
    await slack.posted()
    again = await client.post(PATH, **request)
    assert (again.status_code, again.content) == (200, b"")
    assert len(script.requests) == 1


async def test_a_command_that_slack_repeats_under_a_new_signature_is_answered_once(client, script, slack):
    form = slack.command("Fees?")
    await client.post(PATH, **slack.signed(form))
    await slack.posted()
    repeat = slack.signed(form, at=time.time() + 5)
    repeat["headers"]["X-Slack-Retry-Num"] = "1"
    again = await client.post(PATH, **repeat)
    assert (again.status_code, again.content) == (200, b"")
    assert len(script.requests) == 1


async def test_the_same_question_asked_twice_is_answered_twice(client, script, slack):
    for number in (1, 2):
        await client.post(PATH, **slack.signed(slack.command("Fees?")))
        await slack.posted(number)
    assert len(script.requests) == 2


ELSEWHERE = {
    "another host": "https://evil.example/commands/1",
    "a host that begins alike": "{origin}.evil.example/commands/1",
    "a user before the host": "{origin}@evil.example/commands/1",
    "the cloud's metadata": "http://169.254.169.254/latest",
    "another port": "http://127.0.0.1:1/commands/1",
    "another scheme": "file:///etc/passwd",
    "a backslash": "{origin}\\@evil.example/",
    "a query": "{origin}/commands/1?to=evil.example",
    "a line break": "{origin}/commands/1\r\nHost: evil.example",
    "nothing": "",
    "too long": "{origin}/" + "a" * 1_000,
}


@pytest.mark.parametrize("url", ELSEWHERE.values(), ids=ELSEWHERE)
async def test_an_answer_goes_to_slack_alone(client, script, slack, url):
    form = slack.command("Fees?", response_url=url.replace("{origin}", slack.origin))
    problem_in(await client.post(PATH, **slack.signed(form)), 400, "INVALID_FIELD", "response_url")
    assert (script.requests, slack.posts) == ([], [])


BROKEN = {
    "no form": (b"\xff\xfe", "MALFORMED_REQUEST", ()),
    "not UTF-8": (b"team_id=%ff&user_id=U1", "MALFORMED_REQUEST", ()),
    "a field twice": (b"team_id=T1&team_id=T2", "MALFORMED_REQUEST", ()),
    "no workspace": (b"user_id=U1&text=Fees", "INVALID_FIELD", ("team_id",)),
    "a workspace that is no id": (b"team_id=../etc&user_id=U1", "INVALID_FIELD", ("team_id",)),
    "a user that is no id": (b"team_id=T1&user_id=%3C!here%3E", "INVALID_FIELD", ("user_id",)),
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN)
async def test_a_signed_form_that_is_broken_is_refused(client, slack, case):
    body, reason, fields = case
    problem_in(await client.post(PATH, **slack.signed(body)), 400, reason, *fields)


async def test_only_forms_are_taken(client, slack):
    request = slack.signed(slack.command("Fees?"))
    request["headers"]["Content-Type"] = "application/json"
    problem_in(await client.post(PATH, **request), 415, "UNSUPPORTED_CONTENT_TYPE", "Content-Type")


@pytest.mark.parametrize("verb", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
async def test_the_route_takes_posts_only(client, verb):
    response = await client.request(verb, PATH)
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


async def test_without_a_signing_secret_there_is_no_such_route(script, slack):
    async with running(script) as client:
        problem_in(await client.post(PATH, **slack.signed(slack.command("Fees?"))), 404, "ROUTE_NOT_FOUND")


async def test_the_route_is_in_no_contract(client):
    document = (await client.get("/openapi.json")).json()
    assert PATH not in document["paths"]


@pytest.mark.parametrize("text", ["", "  ", "help", "HELP", "in:cme"])
async def test_without_a_question_the_usage_is_told(client, script, slack, text):
    response = await client.post(PATH, **slack.signed(slack.command(text, command="/ask")))
    assert "/ask in:cme,opra" in response.json()["text"]
    assert script.requests == []


# Files of the operator ------------------------------------------------------------------------------------


async def test_a_new_secret_counts_from_the_next_command_and_the_removed_one_no_more(
    client, script, slack, folder
):
    (folder / "secrets").write_text("another-secret-of-the-same-app\n")
    problem_in(await client.post(PATH, **slack.signed(slack.command("Fees?"))), 401, "UNAUTHENTICATED")
    slack.secret = "another-secret-of-the-same-app"
    await asked(client, slack, "Fees?")


async def test_a_file_that_broke_meanwhile_answers_no_command(client, script, slack, folder, caplog):
    (folder / "acme.key").unlink()
    response = await client.post(PATH, **slack.signed(slack.command("Fees?")))
    problem = problem_in(response, 503, "UPSTREAM_UNAVAILABLE")
    assert "acme.key" not in problem["detail"]
    assert any("acme.key" in getattr(record, "error", "") for record in caplog.records)
    assert script.requests == []


async def test_a_gateway_with_broken_files_does_not_start(script, slack, tmp_path):
    settings = settings_of(slack, tmp_path)
    (tmp_path / "acme.key").unlink()
    async with AsyncExitStack() as stack:
        configured = await stack.enter_async_context(services(script, **settings))
        with pytest.raises(
            SlackFileBroken, match=r"CLAUSEGATE_SLACK_WORKSPACES_FILE: .*acme\.key: No such file"
        ):
            await stack.enter_async_context(serving(configured))


# What is posted -------------------------------------------------------------------------------------------


def citation(number=1, quote="Delayed data may be displayed without a fee.", **fields):
    named = {"document": "cme/a.pdf", "source": "cme", "title": "Schedule A", "section": "3.2 Fees"}
    return citation_pb2.Citation(number=number, quote=quote, page=3, last_page=4, **named | fields)


def an_answer(text="Delayed data may be displayed without a fee.", **fields):
    return query_service_pb2.QueryResponse(
        outcome=answer_pb2.OUTCOME_ANSWERED,
        statements=[answer_pb2.Statement(text=text, source_prefixes=["CME"], citation_numbers=[1])],
        supporting_clauses=[
            answer_pb2.SupportingClause(
                source="cme", title="Schedule A", section="3.2 Fees", page=3, last_page=3, text=text
            )
        ],
        definitions=[answer_pb2.DefinitionInUse(term="Delayed Data", citation_number=2)],
        citations=[citation(quote=text), citation(2, "“Delayed Data” means data after 15 minutes.")],
        notes=[answer_pb2.Note(text="Sources define it differently.", citation_numbers=[2])],
        metadata=answer_pb2.Metadata(query_id="q-1", trace_id="ab" * 16),
        **fields,
    )


async def test_an_answer_is_its_quotes_what_warns_and_how_to_see_the_rest(client, script, slack):
    script.response = an_answer()
    text = shown(await asked(client, slack, "May I?"))
    assert text.splitlines() == [
        "May I?",
        "Answer",
        "[1] [CME] Schedule A, 3.2 Fees, pp. 3–4Delayed data may be displayed without a fee.",
        "Notes",
        "Sources define it differently. [2]",
        "Not shown: 1 supporting clause, 1 definition. Ask with show:all to see all of it.",
        f"query q-1 · trace {'ab' * 16}",
    ]


async def test_all_of_an_answer_has_the_sections_of_every_answer(client, script, slack):
    script.response = an_answer()
    text = shown(await asked(client, slack, "show:all May I?"))
    assert text.splitlines() == [
        "May I?",
        "Answer",
        "[CME] Delayed data may be displayed without a fee. [1]",
        "Supporting Clauses",
        "[CME] Schedule A, 3.2 Fees, p. 3Delayed data may be displayed without a fee.",
        "Definitions",
        "Delayed Data [2]“Delayed Data” means data after 15 minutes.",
        "Citations",
        "[1] [CME] Schedule A, 3.2 Fees, pp. 3–4Delayed data may be displayed without a fee.",
        "[2] [CME] Schedule A, 3.2 Fees, pp. 3–4“Delayed Data” means data after 15 minutes.",
        "Notes",
        "Sources define it differently. [2]",
        f"query q-1 · trace {'ab' * 16}",
    ]


async def test_a_long_clause_begins_shortly_before_its_quote(client, script, slack):
    response, clause = an_answer(), "x" * 1_000 + "Display is free." + "y" * 1_000
    response.supporting_clauses[0].text = clause
    response.supporting_clauses[0].span.start = 5_000
    response.supporting_clauses[0].quoted.add(start=6_000, end=6_016)
    script.response = response
    said = shown(await asked(client, slack, "show:all May I?"))
    assert "[850 characters before] … " + "x" * 150 + "Display is free." in said
    assert " … [cut: 700 of 1,166 characters]" in said


async def test_an_answer_is_shown_to_the_channel_when_asked_for(client, script, slack):
    script.response = an_answer()
    post = await asked(client, slack, "to:channel May I?")
    assert post.message["response_type"] == "in_channel"


async def test_all_of_a_refusal_is_its_sentence_the_nearest_clauses_and_what_was_searched(
    client, script, slack
):
    clause = answer_pb2.SupportingClause(source="cme", title="Schedule A", section="1", text="Data is data.")
    absence = answer_pb2.AbsenceEvidence(
        documents_searched=7, term_hits=[answer_pb2.TermHits(term="moon", chunks=0)]
    )
    refusal = answer_pb2.Refusal(
        message="This is not addressed in the provided CME documents.",
        missing="Nothing speaks of the moon.",
        nearest_clauses=[clause],
        absence=absence,
    )
    response = query_service_pb2.QueryResponse(refusal=refusal, outcome=answer_pb2.OUTCOME_REFUSED)
    script.response = response
    post = await asked(client, slack, "in:cme show:all The moon?")
    assert shown(post).splitlines() == [
        "The moon?",
        "Not addressed",
        "This is not addressed in the provided CME documents.",
        "Nothing speaks of the moon.",
        "Nearest Clauses (not an answer)",
        "[CME] Schedule A, 1Data is data.",
        "Searched",
        "7 documents",
        "Chunks with the question's words: “moon” in 0",
        "query  · trace none",
    ]
    assert post.message["text"] == "Clausegate: Not addressed"


async def test_an_answer_of_weak_evidence_is_not_called_an_answer(client, script, slack):
    response = an_answer()
    response.outcome = answer_pb2.OUTCOME_RELATED
    for statement in response.statements:
        statement.possibly_related = True
    script.response = response
    post = await asked(client, slack, "May I?")
    assert "Possibly related" in shown(post)
    assert post.message["text"] == "Clausegate: Possibly related"


async def test_what_answers_and_what_is_only_related_are_both_shown(client, script, slack):
    response = an_answer()
    response.statements.add(text="Fees may change.", citation_numbers=[3], possibly_related=True)
    response.citations.append(citation(3, "Fees may change."))
    script.response = response
    said = shown(await asked(client, slack, "May I?")).splitlines()
    firm, related = said.index("Answer"), said.index("Possibly related")
    assert any("Delayed data may be displayed" in line for line in said[firm:related])
    assert any("Fees may change." in line for line in said[related:])


@pytest.mark.parametrize(("option", "times"), [("", 4), ("show:all ", 6)], ids=["short", "all"])
async def test_nothing_of_documents_or_questions_becomes_markup(client, script, slack, option, times):
    response = an_answer(HOSTILE)
    response.citations[0].title = response.citations[0].section = HOSTILE
    response.notes[0].text = response.definitions[0].term = HOSTILE
    script.response = response
    post = await asked(client, slack, option + HOSTILE)
    foreign = [block for block in post.message["blocks"] if block["type"] != "header"]
    assert {block["type"] for block in foreign} == {"rich_text"}
    elements = [element for block in foreign for part in block["elements"] for element in part["elements"]]
    assert {element["type"] for element in elements} == {"text"}
    assert "evil" not in json.dumps([block for block in post.message["blocks"] if block["type"] == "header"])
    assert "evil" not in post.message["text"]
    assert sum(element["text"] == HOSTILE for element in elements) >= times


async def test_characters_that_nobody_sees_are_named(client, script, slack):
    script.response = an_answer("pay\u202enothing\u202c now\u200b,\x07 ever")
    post = await asked(client, slack, "May\u2066 I?")
    text = shown(post)
    assert "pay‹U+202E›nothing‹U+202C› now‹U+200B›,‹U+0007› ever" in text
    assert "May‹U+2066› I?" in text
    assert not set("\u202e\u202c\u200b\u2066\x07") & set(text)


@pytest.mark.parametrize("character", ["x", "\u200b", "😀"], ids=["letters", "unseen", "astral"])
async def test_a_long_answer_fits_and_says_what_it_cuts(client, script, slack, character):
    text = character * 5_000
    response = an_answer(text)
    for number in range(3, 60):
        response.citations.append(citation(number, text))
        response.supporting_clauses.append(response.supporting_clauses[0])
    script.response = response
    post = await asked(client, slack, "show:all May I?")
    said = shown(post)
    assert "of 5,000 characters]" in said
    assert "more that do not fit into a message here." in said
    assert f"trace {'ab' * 16}" in said


async def test_the_notes_of_an_answer_are_shown_where_its_citations_do_not_fit(client, script, slack):
    response = an_answer()
    response.citations.extend(citation(number) for number in range(3, 60))
    script.response = response
    said = shown(await asked(client, slack, "show:all May I?"))
    assert "more that do not fit into a message here." in said
    assert "Sources define it differently. [2]" in said


FAILURES = {
    "unknown source": (
        DocumentNotFound("There is no source “nyse”.", field="sources[0]"),
        "DOCUMENT_NOT_FOUND",
    ),
    "service away": (Unavailable("Retrieval is away.", retry_after_seconds=1), "UPSTREAM_UNAVAILABLE"),
    "defect": (RuntimeError("secret detail"), "INTERNAL"),
}


@pytest.mark.parametrize("case", FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_a_line_with_its_reason_and_trace(client, script, slack, case):
    script.failure, reason = case
    request = slack.signed(slack.command("Fees?"))
    request["headers"]["traceparent"] = f"00-{'cd' * 16}-{'ef' * 8}-01"
    await client.post(PATH, **request)
    text = shown(await slack.posted())
    assert f"({reason}, trace {'cd' * 16})" in text
    assert text.splitlines()[1].startswith("Not answered: ")
    assert "secret detail" not in text


@pytest.mark.parametrize("refusal", [Unauthenticated, PermissionDenied], ids=["revoked", "without the scope"])
async def test_who_asks_by_a_key_that_is_refused_is_told_whose_it_is_to_mend(client, script, slack, refusal):
    script.failure = refusal("A valid credential is needed: `authorization: Bearer …`.")
    said = shown(await asked(client, slack, "Fees?"))
    assert "Whoever runs Clausegate can give it another." in said
    assert f"({refusal.reason}, trace" in said
    assert "authorization" not in said


async def test_the_question_is_asked_within_the_trace_of_the_request(client, script, slack):
    request = slack.signed(slack.command("Fees?"))
    request["headers"]["traceparent"] = f"00-{'cd' * 16}-{'ef' * 8}-01"
    await client.post(PATH, **request)
    await slack.posted()
    assert script.metadata["traceparent"].startswith(f"00-{'cd' * 16}-")


async def test_the_log_names_team_and_user_and_holds_neither_question_nor_address(client, slack, caplog):
    caplog.set_level(logging.DEBUG)
    post = await asked(client, slack, "What is the secret question?")
    record = next(record for record in caplog.records if record.message == "slack command")
    assert (record.team, record.user, record.outcome) == ("T0ACME", "U0ANNA", "asked")
    assert (await logged(caplog, "slack answer posted")).attempts == 1
    ours = [record for record in caplog.records if not record.name.startswith(("asyncio", "hpack"))]
    everything = json.dumps([vars(record) for record in ours], default=str)
    assert "secret question" not in everything
    assert post.path not in everything


# When something is slow, away or stopping -----------------------------------------------------------------


async def test_a_slow_service_holds_up_no_acknowledgement_and_ends_at_the_deadline(script, slack, tmp_path):
    script.hang_after_events = 0
    async with running(script, **settings_of(slack, tmp_path, slack_deadline_seconds=0.3)) as client:
        text = shown(await asked(client, slack, "Fees?"))
    assert "(DEADLINE_EXCEEDED, trace" in text


async def test_more_questions_than_may_run_are_told_to_wait(script, slack, tmp_path):
    script.hang_after_events = 0
    async with running(script, **settings_of(slack, tmp_path, slack_max_running=1)) as client:
        await client.post(PATH, **slack.signed(slack.command("Fees?")))
        await seen(script.started)
        second = await client.post(PATH, **slack.signed(slack.command("Fees?")))
        assert "Too many" in second.json()["text"]
        script.go_on.set()
        await slack.posted()
    assert len(script.requests) == 1


async def test_the_questions_of_one_workspace_leave_room_for_those_of_others(script, slack, tmp_path):
    script.hang_after_events = 0
    settings = settings_of(slack, tmp_path, slack_max_running=4)
    (tmp_path / "other.key").write_text(KEY.replace("0" * 64, "1" * 64))
    (tmp_path / "workspaces.json").write_text('{"T0ACME": "acme.key", "T0OTHER": "other.key"}')
    async with running(script, **settings) as client:
        told = [
            (await client.post(PATH, **slack.signed(slack.command("Fees?", team_id=team)))).json()["text"][:8]
            for team in ("T0ACME", "T0ACME", "T0ACME", "T0OTHER", "T0OTHER", "T0OTHER")
        ]
        script.go_on.set()
    assert told == ["Looking ", "Looking ", "Too many"] * 2


PASSING = {
    "500": Reply(500, "oops"),
    "429": Reply(429, "", {"Retry-After": "0.05"}),
    "reset": RESET,
}


@pytest.mark.parametrize("reply", PASSING.values(), ids=PASSING)
async def test_a_passing_failure_of_slack_is_tried_again(client, script, slack, reply):
    slack.replies.append(reply)
    await asked(client, slack, "Fees?")
    assert len(slack.posts) == 2
    assert len(script.requests) == 1


FINAL = {
    "404": Reply(404, '{"ok": false, "error": "expired_url"}'),
    "200 that says no": Reply(200, '{"ok": false, "error": "used_url"}'),
    "a redirect": Reply(307, "", {"Location": "http://127.0.0.1:1/elsewhere"}),
    "deep nesting": Reply(400, "[" * 4_000),
}


@pytest.mark.parametrize("reply", FINAL.values(), ids=FINAL)
async def test_a_final_failure_of_slack_is_told_and_not_tried_again(client, slack, reply, caplog):
    slack.replies.append(reply)
    with kept_spans() as spans:
        await client.post(PATH, **slack.signed(slack.command("Fees?")))
        await slack.tried(1)
        await logged(caplog, "slack answer lost")
        [posting] = await ended(spans, "slack post")
    assert posting.attributes["error.type"] == "UPSTREAM_UNAVAILABLE"
    assert len(slack.posts) == 1


async def test_five_posts_are_the_most_that_one_command_gets(client, slack, caplog):
    slack.replies.extend([Reply(503, "", {"Retry-After": "0.01"})] * 9)
    await client.post(PATH, **slack.signed(slack.command("Fees?")))
    await logged(caplog, "slack answer lost")
    assert len(slack.posts) == 5


@asynccontextmanager
async def stopping(script, slack, folder, drain_seconds):
    """A gateway that stops when the block is left."""
    settings = settings_of(slack, folder, drain_seconds=drain_seconds)
    async with (
        services(script, **settings) as configured,
        serving(configured) as address,
        client_of(address) as client,
    ):
        yield client


async def test_a_gateway_that_stops_waits_for_the_answer(script, slack, tmp_path):
    script.hang_after_events = 0
    async with (
        asyncio.TaskGroup() as tasks,
        stopping(script, slack, tmp_path, drain_seconds=10) as client,
    ):
        await client.post(PATH, **slack.signed(slack.command("Fees?")))
        await seen(script.started)
        tasks.create_task(later(script.go_on))
    assert "trace" in shown(await slack.posted())
    assert "Not answered" not in shown(slack.accepted[0])


async def later(event):
    await asyncio.sleep(0.2)
    event.set()


async def test_an_answer_that_takes_longer_than_draining_is_told_as_failed(script, slack, tmp_path):
    script.hang_after_events = 0
    async with stopping(script, slack, tmp_path, drain_seconds=0.2) as client:
        await client.post(PATH, **slack.signed(slack.command("Fees?")))
        await seen(script.started)
    assert "Not answered: The gateway is shutting down." in shown(await slack.posted())


async def test_a_slack_that_hangs_does_not_keep_the_gateway_from_stopping(script, slack, tmp_path, caplog):
    slack.replies.extend([HANG] * 5)
    async with asyncio.timeout(PATIENCE_SECONDS):
        async with stopping(script, slack, tmp_path, drain_seconds=0.1) as client:
            await client.post(PATH, **slack.signed(slack.command("Fees?")))
            await slack.tried(1)
    [lost] = [record for record in caplog.records if record.message == "slack answer lost"]
    assert (lost.attempts, lost.why) == (1, "the gateway stopped")
