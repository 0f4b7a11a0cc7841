import numpy as np

from training.scores import Scores


def test_scores_are_read_as_they_were_saved(tmp_path):
    sentences = [np.array([0.5, -1.5], np.float32), np.array([2.5], np.float32)]
    Scores.of(np.array([1.0, -1.0], np.float32), sentences).save(tmp_path / "scores.npz")
    again = Scores.load(tmp_path / "scores.npz")
    assert again.answers.tolist() == [1.0, -1.0]
    assert [again.sentences_of(row).tolist() for row in (0, 1)] == [[0.5, -1.5], [2.5]]
