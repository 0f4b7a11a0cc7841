from __future__ import annotations

from services.ingest.chunking import ChunkLimits
from services.ingest.pipeline import generation_of

ONE, OTHER = "0" * 64, "1" * 64


def test_the_same_bytes_cut_the_same_way_have_the_same_generation():
    assert generation_of(ONE, ChunkLimits()) == generation_of(ONE, ChunkLimits())
    assert len(generation_of(ONE, ChunkLimits())) == 32


def test_other_bytes_or_other_limits_have_another_generation():
    generations = {
        generation_of(ONE, ChunkLimits()),
        generation_of(OTHER, ChunkLimits()),
        generation_of(ONE, ChunkLimits(target_words=200)),
    }

    assert len(generations) == 3
