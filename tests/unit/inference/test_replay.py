import asyncio
from dataclasses import replace

import pytest

from inference.chat.model import ChatReply, ChatRequest, JsonSchema, Message, Role, TokenUsage
from inference.chat.replay import RecordingChat, ReplayedChat, digest
from inference.errors import ModelRateLimited
from inference.recording import Recorder, Recording, ReplayDiverged

REQUEST = ChatRequest("gpt-4.1", (Message(Role.USER, "What is the secret fee?"),), 100)


class Numbered:
    """A chat model that counts its replies, and fails where told."""

    def __init__(self, *failing):
        self.calls = 0
        self.failing = failing

    async def complete(self, request):
        self.calls += 1
        if self.calls in self.failing:
            raise ModelRateLimited("Too many calls.", retry_after_seconds=2.5)
        return ChatReply(f"{request.model} {self.calls}", TokenUsage(self.calls, 2), "stop")


async def recorded(path, chat, *requests):
    recorder = Recorder(path)
    recording = RecordingChat(chat, recorder)
    outcomes = [await outcome_of(recording, request) for request in requests]
    recorder.close()
    return outcomes


async def outcome_of(chat, request):
    try:
        return await chat.complete(request)
    except ModelRateLimited as error:
        return error.message, error.retry_after_seconds


async def test_replies_and_errors_come_back_as_they_were(tmp_path):
    requests = [REQUEST, replace(REQUEST, model="gpt-4o"), REQUEST]
    outcomes = await recorded(tmp_path / "tape", Numbered(2), *requests)
    replayed = ReplayedChat(Recording.read(tmp_path / "tape"))

    assert [await outcome_of(replayed, request) for request in requests] == outcomes
    assert outcomes[1] == ("Too many calls.", 2.5)


async def test_calls_at_once_may_come_in_another_order(tmp_path):
    requests = [replace(REQUEST, seed=seed) for seed in range(8)]
    outcomes = await recorded(tmp_path / "tape", Numbered(), *requests)
    replayed = ReplayedChat(Recording.read(tmp_path / "tape"))

    again = await asyncio.gather(*(replayed.complete(request) for request in reversed(requests)))

    assert list(reversed(again)) == outcomes


@pytest.mark.parametrize(
    "change",
    [
        {"model": "gpt-4o"},
        {"messages": (Message(Role.SYSTEM, "What is the secret fee?"),)},
        {"max_tokens": 101},
        {"reply_format": JsonSchema("answer", {"type": "object"})},
        {"temperature": 0.1},
        {"seed": 1},
    ],
)
async def test_any_change_of_a_request_diverges(tmp_path, change):
    await recorded(tmp_path / "tape", Numbered(), REQUEST)
    replayed = ReplayedChat(Recording.read(tmp_path / "tape"))

    with pytest.raises(ReplayDiverged):
        await replayed.complete(replace(REQUEST, **change))


async def test_a_recording_names_model_and_seed_but_holds_no_prompt(tmp_path):
    await recorded(tmp_path / "tape", Numbered(), REQUEST)
    text = (tmp_path / "tape").read_text()

    assert "secret" not in text
    assert all(part in text for part in ('"gpt-4.1"', '"seed": 0', digest(REQUEST)))


@pytest.mark.parametrize(
    "outcome",
    [
        '{"nothing": 1}',
        '{"reply": {"text": 1}}',
        '{"reply": {"text": "x", "usage": {}, "finish_reason": "stop"}}',
        '{"error": {"type": "KeyboardInterrupt", "message": "x", "retry_after_seconds": null}}',
        '{"reply": {"text": "", "usage": {"prompt_tokens": -1, "completion_tokens": 0}, '
        '"finish_reason": ""}}',
        '{"reply": {"text": "", "usage": {"prompt_tokens": 0, "completion_tokens": 99999999999}, '
        '"finish_reason": ""}}',
        '{"error": {"type": "ModelRejected", "message": "x", "retry_after_seconds": "soon"}}',
        '{"error": {"type": "ModelRejected", "message": "x", "retry_after_seconds": NaN}}',
        '{"error": {"type": "ModelRejected", "message": "x", "retry_after_seconds": 1e300}}',
    ],
)
def test_an_outcome_that_is_none_is_named_at_once(tmp_path, outcome):
    (tmp_path / "tape").write_text('{"kind": "chat", "key": "a", ' + outcome[1:].lstrip() + "\n")

    with pytest.raises(ReplayDiverged, match=r"Line 1 of"):
        ReplayedChat(Recording.read(tmp_path / "tape"))
