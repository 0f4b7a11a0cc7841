"""All processes with TLS and client certificates between them, and a question from outside."""

import ssl
from contextlib import asynccontextmanager

import httpx

import clausegate
from chassis.policy import server_policy
from chassis.server import serving
from gateway.settings import GatewaySettings
from gateway.wiring import serving as serving_rest
from services.answer.settings import AnswerSettings
from services.answer.wiring import answer
from services.ingest.settings import IngestSettings
from services.ingest.wiring import ingest
from services.retrieval.settings import RetrievalSettings
from services.retrieval.wiring import retrieval
from tests.contract.certificates import files, pairs
from tests.contract.retrieval_index import MODEL

TEXT = b"# Fees\n\nThe fee for redistribution of market data is USD 120 a month, payable in advance.\n"


@asynccontextmanager
async def stack(folder):
    """Yields the addresses of the services and the URL of the gateway."""
    shown = files(folder, "server", "ca")
    shared = {
        "data_dir": folder / "data",
        "drain_seconds": 0,
        "tls_certificate_file": shown.certificate,
        "tls_key_file": shown.key,
        "tls_ca_file": shown.ca,
        "tls_client_certificates": "required",
    }
    index_settings = RetrievalSettings(model_dir=MODEL, **shared)
    free = "127.0.0.1:0"
    async with (
        server_policy(index_settings) as asked,
        retrieval(index_settings) as index,
        serving(free, [index], asked) as retrieval_address,
        ingest(IngestSettings(retrieval_address=retrieval_address, **shared)) as documents,
        serving(free, [documents], asked) as ingest_address,
        answer(AnswerSettings(retrieval_address=retrieval_address, **shared)) as answers,
        serving(free, [answers], asked) as answer_address,
        serving_rest(
            GatewaySettings(
                gateway_address=free,
                ingest_address=ingest_address,
                retrieval_address=retrieval_address,
                answer_address=answer_address,
                **shared,
            )
        ) as rest,
    ):
        yield clausegate.Addresses(ingest_address, retrieval_address, answer_address), f"https://{rest}"


def browser(folder):
    context = ssl.create_default_context(cadata=pairs()["ca"].certificate_pem().decode())
    shown = files(folder, "client")
    context.load_cert_chain(shown.certificate, shown.key)
    return httpx.AsyncClient(verify=context, timeout=60, trust_env=False)


async def test_a_document_is_ingested_and_a_question_answered_over_tls_alone(tmp_path):
    async with stack(tmp_path) as (addresses, url), browser(tmp_path) as http:
        receipt = await http.post(
            f"{url}/v1/documents", data={"source": "cme", "path": "fees.md"}, files={"file": TEXT}
        )
        question = {"query": "What is the fee for redistribution?"}
        answered = await http.post(f"{url}/v1/query", json=question)
        shown = pairs()["client"].certificate_pem(), pairs()["client"].key_pem()
        by_tls = clausegate.Addresses(
            *(f"https://{each}" for each in (addresses.ingest, addresses.retrieval, addresses.answer))
        )
        async with clausegate.connect(
            by_tls,
            ca_certificates=pairs()["ca"].certificate_pem(),
            client_certificate=shown,
            deadline_seconds=60,
        ) as client:
            directly = await client.query(question["query"])

    assert receipt.json()["outcome"] == "INGEST_OUTCOME_CREATED"
    assert "USD 120" in answered.json()["citations"][0]["quote"]
    assert directly.answer == answered.json()["answer"]
