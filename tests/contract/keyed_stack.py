"""All services as servers of their own, and the gateway, where callers need a key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import httpx

import clausegate
from chassis.api_keys import ApiKey, ApiKeys, new_key, to_json
from chassis.auth import Caller
from chassis.credentials import Credentials
from chassis.entrance import Entrance
from chassis.server import serving
from gateway.settings import GatewaySettings
from gateway.wiring import serving as serving_rest
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer
from services.ingest.settings import IngestSettings
from services.ingest.wiring import ingest
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import retrieval
from tests.contract.retrieval_index import MODEL

NOW = datetime(2026, 11, 21, tzinfo=UTC)
ANNAS, ANNA = new_key(Caller("acme", "anna"), NOW)
BERTS, BERT = new_key(Caller("globex", "bert"), NOW)
_GONE, REVOKED = new_key(Caller("acme", "carl"), NOW)
KEYS = (ANNAS, BERTS, replace(_GONE, revoked=NOW))
_, UNKNOWN = new_key(Caller("acme", "anna"), NOW)

WITHOUT_A_VALID_KEY = {
    "none": None,
    "wrong": f"Bearer {ANNA[:-64]}{UNKNOWN[-64:]}",
    "revoked": f"Bearer {REVOKED}",
}
"""Values of `authorization` that open nothing."""


@dataclass(frozen=True)
class KeyedStack:
    """What runs."""

    addresses: clausegate.Addresses
    url: str
    """Of the gateway."""
    keys_file: Path
    data: Path

    def client(self, api_key: str) -> clausegate.Client:
        return clausegate.connect(self.addresses, api_key=api_key, deadline_seconds=30)

    def http(self, authorization: str | None) -> httpx.AsyncClient:
        headers = {} if authorization is None else {"Authorization": authorization}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=30, trust_env=False)


@asynccontextmanager
async def keyed_stack(
    folder: Path,
    model_url: str = "",
    store: Mapping[str, object] | None = None,
    more_keys: Sequence[ApiKey] = (),
) -> AsyncIterator[KeyedStack]:
    """Run all of it; data and the file of keys are in `folder`, a chat model is at `model_url`, if any.

    `store` holds the settings of another store than the embedded one.
    """
    file, data = folder / "keys.json", folder / "data"
    file.write_text(to_json((*KEYS, *more_keys)))
    known = Credentials(ApiKeys(file))
    free = "127.0.0.1:0"
    async with (
        retrieval(RetrievalSettings(data_dir=data, model_dir=MODEL, **(store or {}))) as index,
        serving(free, [index], Entrance(known, drain_seconds=0)) as retrieval_address,
        ingest(IngestSettings(data_dir=data, retrieval_address=retrieval_address)) as documents,
        serving(free, [documents], Entrance(known, drain_seconds=0)) as ingest_address,
        answer(_answer_settings(data, retrieval_address, model_url)) as answers,
        serving(free, [answers], Entrance(known, drain_seconds=0)) as answer_address,
        serving_rest(
            GatewaySettings(
                gateway_address=free,
                api_keys_file=file,
                drain_seconds=0,
                ingest_address=ingest_address,
                retrieval_address=retrieval_address,
                answer_address=answer_address,
            )
        ) as rest,
    ):
        addresses = clausegate.Addresses(ingest_address, retrieval_address, answer_address)
        yield KeyedStack(addresses, f"http://{rest}", file, data)


def _answer_settings(data: Path, retrieval_address: str, model_url: str) -> AnswerSettings:
    return AnswerSettings.model_validate(
        {"data_dir": data, "retrieval_address": retrieval_address, "OPENAI_BASE_URL": model_url}
    )
