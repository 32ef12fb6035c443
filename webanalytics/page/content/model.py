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

AT_A_TIME = 2_048
"""Columns that are evaluated at a time: a page may have many thousand blocks."""


class Trees(NamedTuple):
    """Trees of one model."""

    columns: NDArray[np.intp]  # the columns that are asked for
    borders: Numbers  # the values that are to be exceeded
    leaves: Numbers  # what each tree adds
    bias: Numbers  # what is added to all

    def raw(self, table: Numbers) -> Numbers:
        """Return the sums of the trees' answers for each column of a table of measures."""
        trees, levels = self.columns.shape
        first = np.arange(trees, dtype=np.int32)[:, None] << levels
        columns, borders = self.columns.T.ravel(), self.borders.T.ravel()[:, None]
        flat = self.leaves.reshape(trees << levels, -1)
        found = []
        for start in range(0, table.shape[1], AT_A_TIME):
            part = table[:, start : start + AT_A_TIME]
            bits = (part[columns] > borders).reshape(levels, trees, -1)
            leaf = np.repeat(first, part.shape[1], axis=1)
            for level in range(levels):
                leaf += bits[level].astype(np.int32) << level
            found.append(flat[leaf].sum(axis=0) + self.bias)
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
            columns, borders, leaves, bias = (stored[f"{name}_{part}"] for part in Trees._fields)
            found[name] = Trees(columns.astype(np.intp), borders, leaves.astype(np.float32), bias)
    return Models(**found)
