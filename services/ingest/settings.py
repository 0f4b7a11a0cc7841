"""Settings of the ingest process."""

from __future__ import annotations

from pydantic import Field

from chassis.settings import ProcessSettings


class IngestSettings(ProcessSettings):
    """Variables that begin with `CLAUSEGATE_`; sizes in bytes, times in seconds."""

    ingest_address: str = Field(default="127.0.0.1:7001", description="Where the service listens.")
    retrieval_address: str = Field(
        default="127.0.0.1:7002", description="Where the retrieval service listens."
    )
    max_document_bytes: int = Field(
        default=100 << 20, gt=0, le=1 << 30, description="Largest file, in bytes."
    )
    max_document_pages: int = Field(default=5_000, gt=0, description="Most pages of a PDF.")
    max_document_characters: int = Field(
        default=20_000_000, gt=0, le=50_000_000, description="Longest extracted text, in code points."
    )
    max_unpacked_bytes: int = Field(
        default=300_000_000, gt=0, description="Most bytes that a DOCX may unpack to."
    )
    upload_silence_seconds: float = Field(
        default=60.0, gt=0, description="A sender that sends less than 16 KiB for so long loses its turn."
    )
    max_concurrent_documents: int = Field(
        default=2, ge=1, le=64, description="Uploads worked on at a time; each may run one parser process."
    )
    max_waiting_documents: int = Field(
        default=64, ge=0, description="Uploads that may wait for their turn; more are refused for the moment."
    )
    parser_memory_bytes: int = Field(
        default=2 << 30, ge=256 << 20, description="Address space of one parser process."
    )
    parser_cpu_seconds: int = Field(default=600, gt=0, description="Processor time for reading one file.")
    parser_silence_seconds: float = Field(
        default=60.0,
        gt=0,
        description="A parser that reports nothing for so long, not even a page, is killed.",
    )
    parser_idle_seconds: float = Field(
        default=30.0, ge=0, description="A parser process without work ends after this."
    )
    chunk_target_words: int = Field(default=300, gt=0, description="Words a chunk aims at.")
    chunk_max_words: int = Field(default=400, gt=0, le=400, description="Words a chunk never exceeds.")
    chunk_min_words: int = Field(
        default=50, ge=0, description="Words below which a chunk joins its neighbour."
    )
    chunk_overlap_sentences: int = Field(
        default=2, ge=0, description="Sentences that a chunk repeats from the one before."
    )
    read_deadline_seconds: float = Field(
        default=10.0, gt=0, description="Longest wait for the index to say what it holds."
    )
    index_deadline_seconds: float = Field(
        default=3_600.0, gt=0, description="Longest wait for a document to be embedded and stored."
    )
