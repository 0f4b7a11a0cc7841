"""Batches of whole groups, of rows of about one length, in an order that a seed fixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.rows import Integers, Rows

SORTED_TOGETHER = 64
"""Batches whose groups are sorted by length before they are cut: little padding, and still a fair mixture."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows padded to one length (n, t), and what is right of them."""

    ids: Integers
    types: Integers
    places: Integers
    """Sentence of each token; -1 outside of the passage."""
    lengths: Integers
    """Tokens of each row that are not padding."""
    evidence: NDArray[np.bool_]
    """(n, s): whether the sentence answers; s is the highest number of sentences of a row."""
    groups: Integers
    """(n,): which rows compete, counted from 0."""
    weights: NDArray[np.float32]
    """(n,): what a row's mistakes count."""


def batches(
    rows: Rows, weights: Sequence[float], tokens: int, random: np.random.Generator
) -> Iterator[Batch]:
    """All groups once, at most `tokens` tokens a batch with the padding, or one group that has more.

    `weights` holds one for each of `rows.sources`: below 1 it is the chance that a group is taken at all in
    this pass, above 1 its mistakes count so much more.
    """
    chance = np.minimum(np.array(weights), 1.0)[rows.group_source]
    groups = random.permutation(np.flatnonzero(random.random(rows.group_count) < chance))
    longest = group_lengths(rows)
    sizes = np.diff(rows.group_starts)
    together = max(1, int(SORTED_TOGETHER * tokens / max(1.0, float((longest * sizes).mean()))))
    for start in range(0, len(groups), together):
        part = groups[start : start + together]
        part = part[np.argsort(longest[part], kind="stable")]
        cuts = cut(longest[part], sizes[part], tokens)
        for index in random.permutation(len(cuts)):
            yield collate(rows, part[cuts[index]], weights)


def group_lengths(rows: Rows) -> Integers:
    """Tokens of the longest row of each group."""
    return np.maximum.reduceat(rows.lengths(), rows.group_starts[:-1])


def cut(longest: Integers, sizes: Integers, tokens: int) -> list[slice]:
    """Neighbouring groups that fit together: rows padded to the longest are at most `tokens` tokens."""
    cuts, first = [], 0
    for index in range(1, len(longest) + 1):
        if (
            index == len(longest)
            or longest[first : index + 1].max() * sizes[first : index + 1].sum() > tokens
        ):
            cuts.append(slice(first, index))
            first = index
    return cuts


def collate(rows: Rows, groups: Sequence[int] | Integers, weights: Sequence[float]) -> Batch:
    """The rows of these groups as one batch."""
    members = [(number, row) for number, group in enumerate(groups) for row in rows.rows_of(int(group))]
    read = [rows.tokens_of(row) for _, row in members]
    n, length = len(read), max(len(ids) for ids, _, _ in read)
    ids, types, places = np.zeros((n, length), int), np.zeros((n, length), int), np.full((n, length), -1)
    for index, (own_ids, own_types, own_places) in enumerate(read):
        ids[index, : len(own_ids)] = own_ids
        types[index, : len(own_ids)] = own_types
        places[index, : len(own_ids)] = own_places
    evidence = np.zeros((n, int(places.max()) + 1), bool)
    for index, (_, row) in enumerate(members):
        evidence[index, list(rows.evidence_of(row))] = True
    counted = np.maximum(np.array(weights, np.float32), 1)[rows.group_source[np.asarray(groups)]]
    numbers = np.array([number for number, _ in members])
    lengths = np.array([len(own_ids) for own_ids, _, _ in read])
    return Batch(ids, types, places, lengths, evidence, numbers, counted[numbers])
