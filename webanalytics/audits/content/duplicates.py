"""Near duplicates: texts that share most of their phrases, by MinHash with locality-sensitive hashing.

A text is the set of its shingles, runs of three consecutive words; the similarity of two texts is the share
of their shingles that both have (Jaccard similarity; A. Broder, "On the resemblance and containment of
documents", 1997). MinHash signatures divided into bands find candidate pairs (Leskovec, Rajaraman and Ullman,
"Mining of Massive Datasets", chapter 3), which are compared exactly.

Case, punctuation and white space are ignored. Clusters are connected by pairs (single linkage): every member
is similar enough to at least one other, but two members of a large cluster may be less similar than the
threshold. A pair at the threshold is missed with a probability below 0.1%, and a more similar one less often.
In buckets of thousands of similar texts that are not near duplicates (pages of one template), comparisons are
bounded by `NEIGHBOURS` and `FAILURES`. The same texts give the same clusters in any order and every process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from webanalytics.audits.content.words import read_words
from webanalytics.audits.graph.metrics import once
from webanalytics.errors import ParameterError
from webanalytics.runs.boundary import watched
from webanalytics.runs.storage.temporary_texts import Spill

Shingles: TypeAlias = npt.NDArray[np.uint64]
Signatures: TypeAlias = npt.NDArray[np.uint32]
Positions: TypeAlias = npt.NDArray[np.intp]

SHINGLE = 3
"""Words per shingle; characters in scripts without spaces between words."""

MINIMUM_WORDS = 20
"""Texts with fewer words are not compared: they may be alike by chance."""

THRESHOLD = 0.9
"""Lowest similarity of near duplicates."""

SIGNATURE = 256
"""Hash values of a signature; the standard error of a similarity of 0.9 estimated from them is 0.019."""

RECALL = 0.999
"""Lowest probability with which a pair exactly at the threshold shares a band and so is compared."""

NEIGHBOURS = 1_000
"""Most texts of one bucket to which each text is compared: those after it in the order of signatures."""

FAILURES = 8
"""Most failed exact comparisons of a text in one bucket, the most similar by signature first."""

_SEED = 1997
_CHUNK = 1_000
_ORDERED_BY = 4  # bands by whose values a bucket is sorted, beginning with its own
_CACHED_SETS = 4_096

# Odd numbers without a pattern (the first 64 bits of the fractions of the square roots of 2, 3 and 5, last
# bit set), and the finaliser of SplitMix64, so that neighbouring shingles have unrelated hashes.
_PLACES = (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B)
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def shingles(text: str) -> Shingles:
    """Return the sorted, distinct hashes of a text's shingles; the same in every process.

    Examples
    --------
    >>> len(shingles("to be or not to be or not")), len(shingles("too short"))
    (4, 0)
    """
    return once(_shingles_of(read_words(text)[0]))


def _shingles_of(hashes: Shingles) -> Shingles:
    """Return the hashes of the runs of so many words, by the hashes of the words; each as often as it is."""
    count = len(hashes) - SHINGLE + 1
    if count < 1:
        return np.empty(0, np.uint64)
    mixed = np.zeros(count, np.uint64)
    for start, place in enumerate(_PLACES):
        mixed += hashes[start : start + count] * np.uint64(place)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(_MIX[0])
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(_MIX[1])
    mixed ^= mixed >> np.uint64(31)
    return mixed


def jaccard(first: Shingles, second: Shingles) -> float:
    """Return the Jaccard similarity of two texts' shingles, from 0 to 1; without shingles it is 0.

    Examples
    --------
    >>> jaccard(shingles("one two three four"), shingles("One, two, three - five"))
    0.3333333333333333
    """
    if not len(first) or not len(second):
        return 0.0
    ordered = np.sort(np.concatenate((first, second)), kind="stable")  # which merges what is sorted
    both = int(np.count_nonzero(ordered[1:] == ordered[:-1]))
    return both / (len(ordered) - both)


class NearDuplicates:
    """The search for near duplicates, to which texts are added one by one.

    Examples
    --------
    >>> found = NearDuplicates(minimum_words=3)
    >>> for text in ("A lantern of tin", "A lamp", "A LANTERN, of tin!"):
    ...     found.add(read_words(text)[0])
    >>> found.clusters()
    [0, None, 0]
    """

    def __init__(self, threshold: float = THRESHOLD, minimum_words: int = MINIMUM_WORDS) -> None:
        if not 0 < threshold <= 1:
            raise ParameterError.must_be("threshold", f"above 0 and at most 1, not {threshold!r}")
        self._threshold, self._minimum = threshold, max(minimum_words, SHINGLE)
        self._added = 0
        self._rows: dict[bytes, list[int]] = {}  # by the digests of texts
        self._texts = Spill()  # the hashes of their words
        self._waiting: list[Shingles] = []
        self._parts: list[Signatures] = []

    def add(self, hashes: Shingles | None) -> None:
        """Add the next text, by the hashes of its words, or None for one that is not compared."""
        row, self._added = self._added, self._added + 1
        if hashes is None or len(hashes) < self._minimum:
            return
        words = hashes.tobytes()
        rows = self._rows.setdefault(blake2b(words, digest_size=16).digest(), [])
        rows.append(row)
        if len(rows) == 1:
            self._texts.add(words)
            self._waiting.append(_shingles_of(hashes))
        if len(self._waiting) == _CHUNK:
            self._parts.append(_signatures(self._waiting))
            self._waiting = []

    def clusters(self) -> list[int | None]:
        """Return the cluster of each text, when all are added."""
        keys = list(self._rows)
        order = sorted(range(len(keys)), key=keys.__getitem__)  # whatever the order of the texts
        rows = [self._rows[keys[number]] for number in order]

        @lru_cache(maxsize=_CACHED_SETS)
        def shingles_of(position: int) -> Shingles:
            return once(_shingles_of(np.frombuffer(self._texts.piece(order[position]), np.uint64)))

        clusters = _Clusters(len(rows))
        if len(rows) > 1:
            signatures = np.concatenate([*self._parts, _signatures(self._waiting)])[order]
            _Search(signatures, shingles_of, self._threshold, clusters).run()
        found: list[int | None] = [None] * self._added
        for cluster in clusters.members.values():
            together = sorted(row for position in cluster for row in rows[position])
            for row in together if len(together) > 1 else ():
                found[row] = together[0]
        return found


def _signatures(sets: list[Shingles]) -> Signatures:
    if not sets:
        return np.empty((0, SIGNATURE), np.uint32)
    offsets = np.zeros(len(sets) + 1, np.uint64)
    np.cumsum([len(hashes) for hashes in sets], out=offsets[1:])
    import rensa  # takes time to load

    matrix = rensa.RMinHash.digest_matrix_from_flat_token_hashes(
        np.concatenate(sets), offsets, SIGNATURE, _SEED
    )
    return np.array(matrix.to_rows(), np.uint32)


def band_rows(threshold: float) -> int:
    """Return the number of hash values per band: the most with which pairs at the threshold are still found.

    A pair of similarity s agrees in all r values of a band with probability s**r, and in at least one of b
    bands with probability 1 - (1 - s**r)**b.

    Examples
    --------
    >>> band_rows(0.9), band_rows(0.5), band_rows(1.0)
    (12, 3, 256)
    """
    for size in range(SIGNATURE, 1, -1):
        if 1 - (1 - threshold**size) ** (SIGNATURE // size) >= RECALL:
            return size
    return 1


class _Clusters:
    """Disjoint sets; when two are joined, the smaller takes the label of the larger."""

    def __init__(self, count: int) -> None:
        self.label = np.arange(count)
        self.members = {position: [position] for position in range(count)}

    def join(self, first: int, second: int) -> None:
        one, other = int(self.label[first]), int(self.label[second])
        if one == other:
            return
        if len(self.members[one]) < len(self.members[other]):
            one, other = other, one
        moved = self.members.pop(other)
        self.label[moved] = one
        self.members[one] += moved


class _Search:
    """The search for similar pairs in the buckets of each band."""

    def __init__(
        self,
        signatures: Signatures,
        shingles_of: Callable[[int], Shingles],
        threshold: float,
        clusters: _Clusters,
    ) -> None:
        self.signatures = signatures
        # One byte of each value is enough to estimate similarities, at a quarter of the cost: one in 256
        # unequal values looks equal (P. Li and A. C. König, "b-bit minwise hashing", 2010).
        self.low = signatures.astype(np.uint8)
        self.shingles_of = shingles_of
        self.threshold = threshold
        self.clusters = clusters
        self.size = band_rows(threshold)
        bands = SIGNATURE // self.size
        # Four standard errors below the threshold: one pair in 30,000 at the threshold looks less similar.
        self.likely = SIGNATURE * threshold - 4 * math.sqrt(SIGNATURE * threshold * (1 - threshold))
        self.bucket_of = np.zeros((len(signatures), bands), np.int32)

    def run(self) -> None:
        bands = self.bucket_of.shape[1]
        for band in watched(range(bands), bands, "near duplicates", "round"):
            for bucket in self._buckets(band):
                label = self.clusters.label[bucket]
                if len(bucket) and (label != label[0]).any():
                    self._compare(bucket, band)

    def _buckets(self, band: int) -> Iterator[Positions]:
        """Yield the texts with equal values in a band, sorted by the values of the following bands."""
        first, width = band * self.size, min(_ORDERED_BY * self.size, SIGNATURE)
        turned = self.signatures.take(np.arange(first, first + width) % SIGNATURE, axis=1)
        order = np.argsort(turned.view(f"V{turned.itemsize * width}").ravel(), kind="stable")
        heads = turned[order, : self.size]
        starts = np.flatnonzero((heads[1:] != heads[:-1]).any(axis=1)) + 1
        edges = np.concatenate(([0], starts, [len(order)]))
        sizes = np.diff(edges)
        self.bucket_of[order, band] = np.repeat(np.arange(len(sizes)), sizes)
        for number in np.flatnonzero(sizes > 1).tolist():
            bucket = order[edges[number] : edges[number + 1]]
            if len(bucket) > NEIGHBOURS + 1:
                # Not all pairs of this bucket are compared, so it must not keep other bands from doing it.
                self.bucket_of[bucket, band] = -1 - np.arange(len(bucket))
            yield bucket

    def _compare(self, bucket: Positions, band: int) -> None:
        label, earlier = self.clusters.label, self.bucket_of[:, :band]
        for place, one in enumerate(bucket[:-1].tolist()):
            others = bucket[place + 1 : place + 1 + NEIGHBOURS]
            others = others[label[others] != label[one]]
            if band and len(others):
                others = others[~(earlier[others] == earlier[one]).any(axis=1)]
            if len(others):
                self._connect(one, others)

    def _connect(self, one: int, others: Positions) -> None:
        equal = self.low.take(others, axis=0) == self.low[one]
        alike = equal.view(np.uint8).sum(axis=1, dtype=np.uint16)
        likely = np.flatnonzero(alike >= self.likely)
        label, failures = self.clusters.label, 0
        for place in likely[np.argsort(-alike[likely].astype(np.int32), kind="stable")].tolist():
            if failures == FAILURES:
                return
            other = int(others[place])
            if label[one] == label[other]:
                continue
            if jaccard(self.shingles_of(one), self.shingles_of(other)) >= self.threshold:
                self.clusters.join(one, other)
            else:
                failures += 1
