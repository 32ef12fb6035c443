"""Small sets of decision trees, evaluated with numpy; `data/content/train.py` trains them.

All trees are symmetric: each asks the same question of all at each of its levels, so that the answers
are the bits of the number of a leaf.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webanalytics.page.content.features import Numbers

TYPES = ("article", "documentation", "service", "forum", "collection", "listing", "product")
"""Types of pages that the models know."""
PARTS = ("columns", "borders", "leaves", "bias")
"""Arrays of a model in the data file."""
AT_A_TIME = 2_048
"""Columns that are evaluated at a time: a page may have many thousand blocks."""


class Trees:
    """Trees of one model, which ask many of their questions several times."""

    def __init__(
        self,
        columns: NDArray[np.uint16],  # the columns that are asked for
        borders: Numbers,  # the values that are to be exceeded
        leaves: Numbers,  # what each tree adds
        bias: Numbers,  # what is added to all
    ) -> None:
        self._trees, self._levels = columns.shape
        asked = np.stack((columns.T.ravel(), borders.T.ravel()), axis=1)
        questions, places = np.unique(asked, axis=0, return_inverse=True)
        self._columns, self._borders = questions[:, 0].astype(np.intp), questions[:, 1:].astype(np.float32)
        self._places = places.ravel()  # of each level's questions among the different ones
        self._first = np.arange(self._trees)[:, None] << self._levels
        self._leaves = leaves.reshape(self._trees << self._levels, -1)
        self._bias = bias

    def raw(self, table: Numbers) -> Numbers:
        """Return the sums of the trees' answers for each column of a table of measures."""
        found = []
        for start in range(0, table.shape[1], AT_A_TIME):
            part = table[:, start : start + AT_A_TIME].take(self._columns, axis=0)
            answers = (part > self._borders).view(np.uint8).take(self._places, axis=0)
            leaf, *others = answers.reshape(self._levels, self._trees, -1)[::-1]
            for bits in others:  # a byte is enough for eight levels
                leaf += leaf
                leaf |= bits
            found.append(self._leaves.take(leaf + self._first, axis=0).sum(axis=0) + self._bias)
        return np.concatenate(found)


class Models(NamedTuple):
    """The trained models."""

    page: Trees
    block: Trees
    confidence: Trees


def logistic(values: Numbers) -> Numbers:
    """Return probabilities for sums of answers."""
    found: Numbers = (1 / (1 + np.exp(-values))).astype(np.float32)
    return found


def softmax(values: Numbers) -> Numbers:
    """Return probabilities for the sums of answers of several classes, the last axis."""
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    found: Numbers = (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)
    return found


@cache
def models() -> Models:
    """Return the models of this package, read once in a process."""
    path = files("webanalytics.page") / "data" / "content-model.npz"
    with path.open("rb") as file, np.load(file) as stored:
        found: dict[str, Any] = {}
        for name in Models._fields:
            columns, borders, leaves, bias = (stored[f"{name}_{part}"] for part in PARTS)
            found[name] = Trees(columns, borders, leaves.astype(np.float32), bias)
    return Models(**found)


def confidence_features(
    kinds: Numbers, chances: Numbers, keep: NDArray[np.bool_], weights: Numbers, expected: float
) -> Numbers:
    """Return a row of numbers by which the chance is judged that the right blocks were chosen."""
    total, kept = float(weights.sum()), float(weights[keep].sum())
    unsure = float((weights * np.minimum(chances, 1 - chances)).sum())
    inside = float((weights * chances)[keep].sum()) / max(kept, 1)
    return np.array(
        [expected, *kinds, kept, total, kept / max(total, 1), unsure / max(total, 1), inside, len(keep)],
        dtype=np.float32,
    )
