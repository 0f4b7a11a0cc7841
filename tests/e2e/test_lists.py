"""Prohibitions in lists of every layout, asked about from outside: none may look as if it were allowed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.e2e.models import model_in_thread
from tests.e2e.processes import clausegate, embedded_stack
from tests.fakes.model_server import ModelServer
from tests.fakes.prompts import read
from tests.unit.ingest.list_layouts import Contract, sample, squeezed

LAYOUTS, MORE_LAYOUTS = 16, 600
PLAIN = (
    "The Licensee shall not:\n1. Copy the Data.\n"
    "2. Share the Data with any third party for commercial purposes.\n"
)
SOUND = ("GROUNDING_VERDICT_VERBATIM", "GROUNDING_VERDICT_SUPPORTED")


@dataclass(frozen=True)
class Asked:
    """A document with a list, and one of its items."""

    document_id: str
    contract: Contract
    words: str

    @property
    def item(self) -> str:
        """The item in its own words, without its mark."""
        line = next(line.text for line in self.contract.lines if self.words in line.text)
        return line[line.index(self.words) - 1 :].rstrip(" .;,:").removesuffix(", and").removesuffix(" to")

    @property
    def deed(self) -> str:
        return self.item[:1].lower() + self.item[1:]

    @property
    def question(self) -> dict[str, object]:
        return {
            "query": f"May the other party {self.deed}?",
            "documentIds": [self.document_id],
            "gate": False,
        }


def written(folder: Path, count: int, seed: int) -> list[Asked]:
    """Generated contracts as files of a source each, and the item that is asked about in each."""
    asked = []
    for number, contract in enumerate(sample(count, seed)):
        place = folder / f"s{number}"
        place.mkdir(parents=True)
        (place / contract.file_name).write_bytes(contract.content)
        words = contract.needs[number % len(contract.needs)][0]
        asked.append(Asked(f"s{number}/{contract.file_name}", contract, words))
    return asked


def bare(texts: Sequence[str], contract: Contract) -> list[str]:
    """Texts that show an item without something that governs it."""
    return [
        f"{contract.layout}: {text}"
        for text in map(squeezed, texts)
        for words, leads, conditions in contract.needs
        if words in text and not all(part in text for part in (*leads, *conditions))
    ]


def shown_by(answer: dict) -> Iterator[str]:
    """Every text of an answer that somebody may read by itself."""
    yield from (one["text"] for one in answer.get("statements", ()))
    yield from (one["quote"] for one in answer.get("citations", ()))
    clauses = [*answer.get("supportingClauses", ()), *answer.get("refusal", {}).get("nearestClauses", ())]
    for one in clauses:
        parts = [*one.get("contextBefore", ()), {"text": one["text"]}, *one.get("contextAfter", ())]
        yield " … ".join(part["text"] for part in parts)
    yield from (answer["markdown"], answer["markdownFull"])


def snippets_of(http: httpx.Client, one: Asked) -> list[str]:
    request = {"query": one.question["query"], "sourceIds": [one.document_id]}
    text = http.post("/v1/projects/-/research/query", json=request).raise_for_status().text
    done = next(line for line in reversed(text.splitlines()) if line.startswith("data:"))
    found = json.loads(done.removeprefix("data:"))["snippets"]
    return [" … ".join((each["contextBefore"], each["content"], each["contextAfter"])) for each in found]


def verdicts_of(http: httpx.Client, one: Asked) -> list[str]:
    claims = [{"text": f"{one.item}."}, {"text": f"The other party may {one.deed}."}]
    request = {"claims": claims, "documentIds": [one.document_id]}
    checked = http.post("/v1/grounding:check", json=request).raise_for_status().json()
    return [f"{one.contract.layout}: {claim['text']}: {claim['verdict']}" for claim in checked["claims"]]


def asked_all(http: httpx.Client, asked: Sequence[Asked]) -> list[str]:
    """What is said of the documents and means something else."""
    wrong = []
    for one in asked:
        answer = http.post("/v1/query", json=one.question).raise_for_status().json()
        wrong += bare([*shown_by(answer), *snippets_of(http, one)], one.contract)
        wrong += [verdict for verdict in verdicts_of(http, one) if verdict.endswith(SOUND)]
    return wrong


def shown_to_model(http: httpx.Client, asked: Sequence[Asked], model: ModelServer) -> list[str]:
    """Passages that a model is shown without what governs them."""
    wrong = []
    for one in asked:
        seen = len(model.chats)
        told = http.post("/v1/query", json=one.question)
        assert told.status_code == 200, told.text
        passages = [each.text for chat in model.chats[seen:] for each in read(chat).passages.values()]
        assert passages
        wrong += bare(passages, one.contract)
    return wrong


def wrongs(root: Path, count: int, seed: int, sockets: Path, ports: Sequence[int]) -> list[str]:
    """Whatever is shown wrongly of so many layouts, by a stack without a model and by one with a model."""
    asked, data = written(root / "files", count, seed), root / "data"
    with (
        embedded_stack(data, sockets, ports[0]) as stack,
        httpx.Client(base_url=stack.url, timeout=60) as http,
    ):
        told = clausegate("ingest", str(root / "files"), "--server", stack.grpc, "--json")
        assert told.returncode == 0, told.stderr
        wrong = asked_all(http, asked)
    with (
        model_in_thread() as model,
        embedded_stack(data, sockets, ports[1], OPENAI_BASE_URL=model.url) as stack,
        httpx.Client(base_url=stack.url, timeout=60) as http,
    ):
        return [*wrong, *shown_to_model(http, asked, model)]


def test_a_prohibition_in_a_list_is_never_shown_as_if_it_were_allowed(tmp_path, socket_dirs, free_port):
    assert wrongs(tmp_path, LAYOUTS, 7, socket_dirs(), [free_port(), free_port()]) == []


@pytest.mark.soak
def test_no_prohibition_is_lost_in_many_layouts(tmp_path, socket_dirs, free_port):
    assert wrongs(tmp_path, MORE_LAYOUTS, 8, socket_dirs(), [free_port(), free_port()]) == []


def test_the_second_item_of_a_list_of_prohibitions_says_that_it_is_forbidden(
    tmp_path, socket_dirs, free_port
):
    (tmp_path / "files" / "cme").mkdir(parents=True)
    (tmp_path / "files" / "cme" / "a.md").write_text(PLAIN)
    with (
        embedded_stack(tmp_path / "data", socket_dirs(), free_port()) as stack,
        httpx.Client(base_url=stack.url, timeout=60) as http,
    ):
        assert clausegate("ingest", str(tmp_path / "files"), "--server", stack.grpc).returncode == 0
        request = {"query": "May the Licensee share the Data with third parties?"}
        answer = http.post("/v1/query", json=request).json()
    texts = [*(one["text"] for one in answer["statements"]), *answer["answer"].splitlines()]
    said = [text for text in texts if "Share the Data" in text]
    assert len(said) >= 2
    assert all("The Licensee shall not:" in text for text in said)
