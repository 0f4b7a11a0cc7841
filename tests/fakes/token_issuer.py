"""An issuer of tokens: signs them, and publishes its public keys as a set, by HTTP if asked to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

ISSUER = "https://issuer.example"
AUDIENCE = "clausegate"
NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)

MAKERS = {
    "RS256": lambda: rsa.generate_private_key(65537, 2048),
    "PS256": lambda: rsa.generate_private_key(65537, 2048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ES384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "ES512": lambda: ec.generate_private_key(ec.SECP521R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}
WRITERS = {"R": RSAAlgorithm, "P": RSAAlgorithm, "E": ECAlgorithm}


class Issuer:
    """Holds private keys by their ids; tokens are signed with the last that was made."""

    def __init__(self, algorithm: str = "ES256", now: datetime = NOW) -> None:
        self._now = now
        self.keys: dict[str, tuple[str, Any]] = {}
        self.rotate("key-1", algorithm)

    def rotate(self, key_id: str, algorithm: str = "ES256") -> None:
        self.current = key_id
        self.keys[key_id] = (algorithm, MAKERS[algorithm]())

    def claims(self, **changes: object) -> dict[str, object]:
        """What a token says that opens all of acme for an hour; a claim set to None is left out."""
        usual = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": "anna",
            "tenant": "acme",
            "scope": "query ingest admin",
            "exp": int(self._now.timestamp()) + 3600,
        }
        return {name: value for name, value in {**usual, **changes}.items() if value is not None}

    def token(self, headers: dict[str, object] | None = None, **claims: object) -> str:
        """Signed with the current key, whatever the headers say."""
        algorithm, key = self.keys[self.current]
        payload = json.dumps(self.claims(**claims)).encode()
        return jwt.api_jws.encode(payload, key, algorithm, {"kid": self.current, **(headers or {})})

    def entry(self, key_id: str = "key-1", **changes: object) -> dict[str, Any]:
        """A public key as the set holds it; a member set to None is left out."""
        algorithm, key = self.keys[key_id]
        writer = OKPAlgorithm if algorithm == "EdDSA" else WRITERS[algorithm[0]]
        usual = {
            **writer.to_jwk(key.public_key(), as_dict=True),
            "kid": key_id,
            "alg": algorithm,
            "use": "sig",
        }
        usual.pop("key_ops", None)
        return {name: value for name, value in {**usual, **changes}.items() if value is not None}

    def jwks(self) -> str:
        return json.dumps({"keys": [self.entry(key_id) for key_id in self.keys]})


def answer_of(body: bytes, status: str = "200 OK") -> bytes:
    """A whole answer in HTTP."""
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class KeyServer:
    """Answers every request with the same bytes, and counts them."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.asked: list[bytes] = []
        self.closes = True
        self.url = ""

    @asynccontextmanager
    async def running(self, ssl: Any = None) -> AsyncIterator[KeyServer]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=ssl)
        port = server.sockets[0].getsockname()[1]
        self.url = f"{'https' if ssl else 'http'}://localhost:{port}/keys"
        async with server:
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(self.answer)
            await writer.drain()
            if not self.closes:
                await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
