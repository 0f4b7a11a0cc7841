"""LangChain's ensemble retriever (BM25 and FAISS) over the same chunks, vectors and questions.

Runs in an environment of its own (`benchmarks/peers.txt`), as `python benchmarks/peer.py INPUT.npz`, and
prints one JSON object: seconds to build, milliseconds of every search, resident mebibytes. Nothing of the
product is imported.
"""

import json
import sys
import time
from pathlib import Path

import faiss
import numpy as np
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.docstore.in_memory import InMemoryDocstore
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

HITS = 10


class Given(Embeddings):
    """Vectors that were made before, so that no model is timed."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Not needed: documents arrive with their vectors."""
        return [self._vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self._vectors[text]


def resident_mebibytes() -> float:
    """Resident memory of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main(path: str) -> None:
    """Build both retrievers, search, report."""
    given = np.load(path, allow_pickle=False)
    idle = resident_mebibytes()
    texts, questions = given["texts"].tolist(), given["questions"].tolist()
    started = time.perf_counter()
    documents = [Document(page_content=text, id=str(number)) for number, text in enumerate(texts)]
    index = faiss.IndexFlatIP(given["vectors"].shape[1])
    index.add(given["vectors"])
    ids = {number: str(number) for number in range(len(texts))}
    store = InMemoryDocstore({str(number): document for number, document in enumerate(documents)})
    embeddings = Given(dict(zip(questions, given["question_vectors"].tolist(), strict=True)))
    dense = FAISS(embeddings, index, store, ids).as_retriever(search_kwargs={"k": HITS})
    keywords = BM25Retriever.from_documents(documents, k=HITS)
    ensemble = EnsembleRetriever(retrievers=[keywords, dense], weights=[0.5, 0.5])
    built = time.perf_counter() - started
    milliseconds = []
    for question in questions:
        begun = time.perf_counter()
        ensemble.invoke(question)
        milliseconds.append((time.perf_counter() - begun) * 1000)
    report = {"build_seconds": built, "milliseconds": milliseconds, "mebibytes": resident_mebibytes() - idle}
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1])
