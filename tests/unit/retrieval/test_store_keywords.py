from corpus.documents import DocumentId
from services.retrieval.corpus import Scope
from services.retrieval.store.embedded.keywords import Entry, KeywordIndex


def entry(chunk, version):
    return Entry(chunk, version, "cme", DocumentId("cme/a.txt"), "", f"fee of chunk {chunk}")


def test_update_drops_versions_and_adds_entries_in_one_step(tmp_path):
    index = KeywordIndex(tmp_path)
    index.update([entry(1, 1), entry(2, 1), entry(3, 2)], [])
    before = index.searcher()
    index.update([entry(4, 3)], [1])
    assert before.versions() == {1: 2, 2: 1}
    assert index.searcher().versions() == {2: 1, 3: 1}
    assert {number for number, _ in index.searcher().hits(["fee"], 10, Scope())} == {3, 4}


def test_reopened_index_holds_what_was_added(tmp_path):
    KeywordIndex(tmp_path).update([entry(1, 1)], [])
    assert KeywordIndex(tmp_path).searcher().versions() == {1: 1}


def test_count_passes_over_versions(tmp_path):
    index = KeywordIndex(tmp_path)
    index.update([entry(1, 1), entry(2, 1), entry(3, 2)], [])
    assert index.searcher().count(["fee"], Scope(), []) == 3
    assert index.searcher().count(["fee"], Scope(), [1]) == 1
