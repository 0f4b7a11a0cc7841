"""All services as servers of their own, and the gateway, where callers need a key or a token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

import clausegate
from chassis.access import Scope
from chassis.api_keys import ApiKey, new_key, to_json
from chassis.auth import Caller
from chassis.credentials import configured_credentials
from chassis.index_key import read_index_keys
from chassis.policy import ServerPolicy
from chassis.server import serving
from chassis.settings import ProcessSettings
from gateway.settings import GatewaySettings
from gateway.wiring import serving as serving_rest
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer
from services.ingest.settings import IngestSettings
from services.ingest.wiring import ingest
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import retrieval
from tests.contract.retrieval_index import MODEL
from tests.contract.store.weaviate_server import becomes_ready
from tests.fakes.token_issuer import AUDIENCE, ISSUER, Issuer

NOW = datetime(2026, 11, 21, tzinfo=UTC)
ANNAS, ANNA = new_key(Caller("acme", "anna"), NOW)
BERTS, BERT = new_key(Caller("globex", "bert"), NOW)
_GONE, REVOKED = new_key(Caller("acme", "carl"), NOW)
_ENDED, EXPIRED = new_key(Caller("acme", "dora"), NOW - timedelta(days=5000), NOW - timedelta(days=4000))
_SCOPED = {scope: new_key(Caller("acme", f"{scope}-alone", frozenset([scope])), NOW) for scope in Scope}
KEYS = (ANNAS, BERTS, replace(_GONE, revoked=NOW), _ENDED, *(key for key, _ in _SCOPED.values()))
_, UNKNOWN = new_key(Caller("acme", "anna"), NOW)
TOKENS = Issuer(now=datetime.now(UTC))
"""Signs what the stack accepts as tokens; in claims and headers a test says what is wrong with one."""
INDEX_KEY = "0f" * 32
INDEX_KEYS = read_index_keys(INDEX_KEY, "test")
"""By it ingest writes to the index."""
STRANGER = Issuer(now=datetime.now(UTC))
"""Another issuer, whose key has the same id."""

REFUSED = {
    "none": None,
    "empty": "",
    "no value": "Bearer",
    "another scheme": f"Basic {ANNA}",
    "bare key": ANNA,
    "short key": f"Bearer {ANNA[:-1]}",
    "wrong key": f"Bearer {ANNA[:-64]}{UNKNOWN[-64:]}",
    "unknown key": f"Bearer {UNKNOWN}",
    "revoked key": f"Bearer {REVOKED}",
    "expired key": f"Bearer {EXPIRED}",
    "two keys": f"Bearer {ANNA}, Bearer {ANNA}",
    "no token": "Bearer a.b.c",
    "bare token": TOKENS.token(),
    "unsigned token": f"Bearer {TOKENS.token().rpartition('.')[0]}.",
    "changed token": f"Bearer {TOKENS.token()[:-9]}{STRANGER.token()[-9:]}",
    "foreign token": f"Bearer {STRANGER.token()}",
    "token of an unknown key": f"Bearer {TOKENS.token({'kid': 'key-2'})}",
    "token for another use": f"Bearer {TOKENS.token({'typ': 'logout+jwt'})}",
    "token of another issuer": f"Bearer {TOKENS.token(iss='https://other.example')}",
    "token for others": f"Bearer {TOKENS.token(aud='other')}",
    "expired token": f"Bearer {TOKENS.token(exp=1_000_000_000)}",
    "endless token": f"Bearer {TOKENS.token(exp=None)}",
    "early token": f"Bearer {TOKENS.token(nbf=9_000_000_000)}",
    "token of nobody": f"Bearer {TOKENS.token(sub=None)}",
    "token without a tenant": f"Bearer {TOKENS.token(tenant=None)}",
    "token of a path": f"Bearer {TOKENS.token(tenant='../acme')}",
    "token of wrong scopes": f"Bearer {TOKENS.token(scope=True)}",
}
"""Values of `authorization` that open nothing."""
SCOPED: dict[str, tuple[frozenset[Scope], str]] = {
    **{f"key: {scope}": (frozenset([scope]), f"Bearer {_SCOPED[scope][1]}") for scope in Scope},
    **{f"token: {scope}": (frozenset([scope]), f"Bearer {TOKENS.token(scope=scope)}") for scope in Scope},
    "token: none": (frozenset(), f"Bearer {TOKENS.token(scope='openid profile')}"),
}
"""Credentials of acme and what they may do."""
OF_GLOBEX = {"key": f"Bearer {BERT}", "token": f"Bearer {TOKENS.token(tenant='globex', sub='bert')}"}


@dataclass(frozen=True)
class KeyedStack:
    """What runs."""

    addresses: clausegate.Addresses
    url: str
    """Of the gateway."""
    keys_file: Path
    data: Path

    def client(self, credential: str | Callable[[], str]) -> clausegate.Client:
        return clausegate.connect(self.addresses, credential=credential, deadline_seconds=120)

    def http(self, authorization: str | None) -> httpx.AsyncClient:
        headers = {} if authorization is None else {"Authorization": authorization}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=120, trust_env=False)


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
    (folder / "jwks.json").write_text(TOKENS.jwks())
    accepted = {
        "api_keys_file": file,
        "jwt_issuer": ISSUER,
        "jwt_audience": AUDIENCE,
        "jwt_jwks": str(folder / "jwks.json"),
    }
    own = {"index_key": INDEX_KEY}
    free = "127.0.0.1:0"
    async with (
        configured_credentials(ProcessSettings(**accepted)) as known,
        retrieval(RetrievalSettings(data_dir=data, model_dir=MODEL, **own, **(store or {}))) as index,
        serving(
            free, [index], ServerPolicy(known, drain_seconds=0, index_keys=INDEX_KEYS)
        ) as retrieval_address,
        ingest(IngestSettings(data_dir=data, retrieval_address=retrieval_address, **own)) as documents,
        serving(free, [documents], ServerPolicy(known, drain_seconds=0)) as ingest_address,
        answer(_answer_settings(data, retrieval_address, model_url)) as answers,
        serving(free, [answers], ServerPolicy(known, drain_seconds=0)) as answer_address,
        serving_rest(
            GatewaySettings(
                gateway_address=free,
                **accepted,
                drain_seconds=0,
                health_deadline_seconds=60,
                ingest_address=ingest_address,
                retrieval_address=retrieval_address,
                answer_address=answer_address,
            )
        ) as rest,
    ):
        await becomes_ready(index.readiness)
        addresses = clausegate.Addresses(ingest_address, retrieval_address, answer_address)
        yield KeyedStack(addresses, f"http://{rest}", file, data)


def _answer_settings(data: Path, retrieval_address: str, model_url: str) -> AnswerSettings:
    return AnswerSettings.model_validate(
        {"data_dir": data, "retrieval_address": retrieval_address, "OPENAI_BASE_URL": model_url}
    )
