"""The most that two texts can have in common: what tells pages of one template apart.

Thousands of pages of one template share the buckets of every band of `webanalytics.audits.duplicates`,
though few of them are near duplicates. Their shingles are of three kinds. Rare ones: the lists of the texts
that have them are short, so what two texts share of them is counted. Frequent ones: each has a bit, so what
two texts share of them is counted, too. Of the rest two texts share at most as many as each has. Two texts
of a and b shingles are as similar as t only when they share t / (1 + t) * (a + b) of them, so the bound
loses no pair. (Bounds by size and by rare elements are those of set similarity joins: C. Xiao, W. Wang, X.
Lin and J. X. Yu, "Efficient similarity joins for near duplicate detection", 2008.)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Packed = npt.NDArray[np.uint64]
Texts = npt.NDArray[np.int32]
Shared = npt.NDArray[np.int32]

WORK = 10_000_000
"""Most entries of lists of texts that are gone through; it decides which shingles are rare."""

BITS = 4_096
"""Most shingles that have a bit, the most frequent ones."""

FREQUENT = 64
"""Fewest texts of a shingle that has a bit."""

_HALF = np.uint64(32)
_ROUNDING = 1e-9


class _Lists(NamedTuple):
    """The texts of each shingle, one list after the other."""

    texts: Texts
    starts: Counts
    lengths: Counts


class Bound:
    """The most that pairs of texts can have in common.

    Parameters
    ----------
    sets : iterable of ndarray of uint64
        Distinct hashes of the shingles of each text.
    threshold : float
        Lowest Jaccard similarity of near duplicates, above 0 and at most 1.
    work, bits, frequent : int
        See `WORK`, `BITS` and `FREQUENT`; they decide how tight the bound is, not whether it holds.

    Attributes
    ----------
    kept : ndarray of bool
        False only for a text to which no other is similar enough.

    Examples
    --------
    >>> template = np.arange(100, dtype=np.uint64) << np.uint64(32)
    >>> own = [np.delete(template, slice(page, page + 6)) for page in (0, 20, 40)]
    >>> for threshold in (0.9, 0.85):  # any two have 88 of 100 shingles in common
    ...     bound = Bound(own, threshold)
    ...     print(bound.kept.tolist(), bound.possible(np.array([0]), np.array([1, 2])).tolist())
    [False, False, False] [[False, False]]
    [True, True, True] [[True, True]]
    """

    def __init__(
        self,
        sets: Iterable[npt.NDArray[np.uint64]],
        threshold: float,
        *,
        work: int = WORK,
        bits: int = BITS,
        frequent: int = FREQUENT,
    ) -> None:
        packed, self._sizes = _packed(sets)
        count = len(self._sizes)
        self._share = threshold / (1 + threshold)
        lists = _lists(packed)
        del packed
        with_bit = _most_frequent(lists.lengths, frequent, bits)
        rare = _rare(lists, with_bit, work)
        self._partners = _partners(rare, count)
        self._others = self._sizes - np.bincount(rare.texts, minlength=count)
        self.kept = self._similar_in_size()
        for text in np.flatnonzero(~self.kept).tolist():
            others, shared = self._partners[text]
            most = shared + np.minimum(self._others[text], self._others[others])
            self.kept[text] = bool(self._enough(most, text, others).any())
        self._bits = _bits(lists, with_bit, count)
        self._others -= _ones(self._bits)

    def possible(self, texts: npt.NDArray[np.intp], others: npt.NDArray[np.intp]) -> Flags:
        """Return for each text, in a row, which others may be as similar to it as the threshold."""
        most = _ones(self._bits[texts, None] & self._bits[others])
        most += np.minimum(self._others[texts, None], self._others[others])
        place = np.full(len(self._sizes), -1)
        place[others] = np.arange(len(others))
        for row, text in enumerate(texts.tolist()):
            partners, shared = self._partners[text]
            at = place[partners]
            most[row, at[at >= 0]] += shared[at >= 0]
        return self._enough(most, texts[:, None], others)

    def _enough(
        self, most: Counts, text: int | npt.NDArray[np.intp], others: npt.NDArray[np.integer]
    ) -> Flags:
        needed = self._share * (self._sizes[text] + self._sizes[others])
        return np.asarray(most + _ROUNDING >= needed)

    def _similar_in_size(self) -> Flags:
        """Return which texts may share enough with one with which they share no rare shingle."""
        largest = np.floor(self._others / self._share + _ROUNDING) - self._sizes  # partner of each
        order = np.argsort(self._sizes, kind="stable")
        reach = self._sizes[order].searchsorted(largest, side="right")
        best = np.concatenate(([-1.0], np.maximum.accumulate(largest[order])))
        return np.asarray(best[reach] >= self._sizes)


def _packed(sets: Iterable[npt.NDArray[np.uint64]]) -> tuple[Packed, Counts]:
    """Return half of each hash with the number of its text below, in order, and the size of each set.

    Different shingles with equal halves make the bound weaker, not wrong.
    """
    halves = [(hashes >> _HALF).astype(np.uint32) for hashes in sets]
    sizes = np.fromiter(map(len, halves), np.int64, len(halves))
    packed = np.empty(int(sizes.sum()), np.uint64)
    end = 0
    for text, found in enumerate(halves):
        start, end = end, end + len(found)
        packed[start:end] = found
        packed[start:end] <<= _HALF
        packed[start:end] |= np.uint64(text)
    packed.sort()
    return packed, sizes


def _lists(packed: Packed) -> _Lists:
    """Return the texts of each shingle; what is packed is not there afterwards, as it is large."""
    texts = packed.astype(np.uint32).view(np.int32)  # the lower half
    packed >>= _HALF
    first = np.ones(len(packed), bool)
    first[1:] = packed[1:] != packed[:-1]
    starts = np.flatnonzero(first)
    return _Lists(texts, starts, np.diff(starts, append=len(packed)))


def _most_frequent(lengths: Counts, frequent: int, bits: int) -> Counts:
    """Return the shingles that have a bit, the most frequent first."""
    found = np.flatnonzero(lengths >= frequent)
    return found[np.argsort(-lengths[found], kind="stable")[:bits]]


def _rare(lists: _Lists, frequent: Counts, work: int) -> _Lists:
    """Return the lists of the other shingles, those with the fewest texts first, as far as the work allows.

    Each text goes through the lists of its shingles, so a list is gone through once for each of its texts.
    """
    free = np.ones(len(lists.lengths), bool)
    free[frequent] = False
    numbers = np.bincount(lists.lengths[free])
    entries = np.cumsum(numbers * np.arange(len(numbers)) ** 2)
    free &= lists.lengths < entries.searchsorted(work, side="right")
    lengths = lists.lengths[free]
    return _Lists(lists.texts[np.repeat(free, lists.lengths)], np.cumsum(lengths) - lengths, lengths)


def _partners(rare: _Lists, count: int) -> list[tuple[Texts, Shared]]:
    """Return for each text the others with which it shares rare shingles, and how many."""
    listed = np.repeat(rare.lengths > 1, rare.lengths)
    texts = rare.texts[listed]
    shingles = np.repeat(np.arange(len(rare.lengths)), rare.lengths)[listed][np.argsort(texts, kind="stable")]
    ends = np.cumsum(np.bincount(texts, minlength=count))
    found = []
    for text, own in enumerate(np.split(shingles, ends[:-1])):
        lengths = rare.lengths[own]
        before = np.cumsum(lengths) - lengths
        entries = np.repeat(rare.starts[own] - before, lengths) + np.arange(int(lengths.sum()))
        others, shared = np.unique(rare.texts[entries], return_counts=True)
        different = others != text
        found.append((others[different].astype(np.int32), shared[different].astype(np.int32)))
    return found


def _bits(lists: _Lists, frequent: Counts, count: int) -> Packed:
    """Return for each text which of the frequent shingles it has, one bit each."""
    found = np.zeros((count, max(1, -(-len(frequent) // 64))), np.uint64)
    for number, shingle in enumerate(frequent.tolist()):
        start = lists.starts[shingle]
        texts = lists.texts[start : start + lists.lengths[shingle]]
        found[texts, number // 64] |= np.uint64(1 << number % 64)
    return found


def _ones(bits: Packed) -> Counts:
    """Return how many bits are set, over the last axis."""
    if hasattr(np, "bitwise_count"):  # NumPy 2
        return np.asarray(np.bitwise_count(bits).sum(axis=-1, dtype=np.int64))
    return np.asarray(np.unpackbits(bits.view(np.uint8), axis=-1).sum(axis=-1, dtype=np.int64))
