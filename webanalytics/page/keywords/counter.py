"""The words and phrases of many texts, counted in arrays: what `keywords.count_terms` counts word by word."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from webanalytics.page.keywords.keywords import count_terms, parts_of_phrases
from webanalytics.page.keywords.places import terms_of
from webanalytics.page.keywords.segmentation import UNSPACED, bare, folded, letters, words_of_piece
from webanalytics.page.keywords.stopwords import chosen_stop_words

Numbers = npt.NDArray[Any]
"""Whole numbers, as small as they can be: those of all pages are kept."""

LONGEST = 3
"""Most words of a term."""

LEAST = 2
"""How often a phrase must occur on a page to be a term of it."""

MOST_CHARACTERS = 100
"""Longer terms are encoded data; see `count_keywords`."""

MOST_PIECES = 200_000
"""Stretches without spaces that are kept of a site's texts."""

_EDGE, _TERM, _FOLLOWED, _OPEN, _STARTS, _NUMBER = 1, 2, 4, 8, 16, 32
"""Of the code of a word: it may be the edge of a phrase; it is a term; the next word follows it; one behind
the next spaces may follow it; it may follow a word in front of the spaces before it; and its number."""
_GAP = -32  # a stretch without a word
_WIDTH = 24

_MIXED = np.array([1, 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64).view(np.int64)


@dataclass(frozen=True, eq=False)
class Found:
    """The terms of a text: its words, and its phrases that occur twice or more.

    Attributes
    ----------
    terms : list of str
        By falling frequency, then first appearance.
    counts, words : numpy.ndarray
        How often each occurs, and how many words it has.
    whole : numpy.ndarray
        Whether each stands for itself, and not only within one longer phrase.
    totals : numpy.ndarray
        By words of a term: all words of the text, all runs of two words, and so on; the first is 0.
    once : numpy.ndarray
        Hashes of the phrases that occur once.
    """

    terms: list[str]
    counts: Numbers
    words: Numbers
    whole: npt.NDArray[np.bool_]
    totals: Numbers
    once: Numbers


def hashes_of(terms: Iterable[str]) -> Numbers:
    """Return a number for each term, made of those of its words."""
    pieces = [term.split(" ") for term in terms]
    found = np.zeros(len(pieces), np.int64)
    for place, factor in enumerate(_MIXED):
        found += factor * np.array(
            [hash(words[place]) if len(words) > place else 0 for words in pieces], np.int64
        )
    return found


class Counter(dict[str, int]):
    """Counts terms of texts of one language; of each stretch without spaces it holds where its words are."""

    def __init__(
        self,
        language: str,
        sizes: Iterable[int] = (1, 2, 3),
        *,
        min_length: int = 4,
        stop_words: Sequence[str] | str | None = None,
    ) -> None:
        self._language, self._sizes = language, tuple(sizes)
        self._how: dict[str, Any] = {"min_length": min_length, "stop_words": stop_words}
        self._left_out, self._min_length = chosen_stop_words(stop_words, language), min_length
        self._forget()

    def _forget(self) -> None:
        self.clear()
        self[""] = 0
        self._numbers: dict[str, int] = {}  # of words without an elided article or a possessive
        self._names: list[str] = []
        self._codes: dict[str, int] = {}
        self._read = array("q")

    def __missing__(self, piece: str) -> int:
        words, starts, is_open = words_of_piece(piece)
        first = len(self._read)
        for place, (word, is_followed) in enumerate(words):
            is_last = place == len(words) - 1
            bits = _FOLLOWED * is_followed + _OPEN * (is_open and is_last) + _STARTS * (starts and not place)
            self._read.append(self._code(word) + bits)
        if not words:
            self._read.append(_GAP)
        self[piece] = entry = (first << _WIDTH) + len(self._read) - first
        return entry

    def _code(self, word: str) -> int:
        """Return the number of a word, and whether it is a term, and whether a phrase may begin with it."""
        if (known := self._codes.get(word)) is not None:
            return known
        short = bare(word, self._language) if "'" in word else word
        number = self._numbers.setdefault(short, len(self._numbers))
        if number == len(self._names):
            self._names.append(short)
        code = number * _NUMBER
        if word not in self._left_out and short not in self._left_out:
            size = letters(short)
            plain = "'" not in word and len(word) >= self._min_length > 1
            code += _TERM * (plain or size >= self._min_length) + _EDGE * (size > 1)
        self._codes[word] = code
        return code

    def count(self, text: str) -> Found:
        """Return the terms of a text."""
        if len(self) > MOST_PIECES:
            self._forget()
        text = folded(text, self._language)
        if not text.isascii() and UNSPACED.search(text):
            return self._by_dictionary(text)
        return self._in_arrays(*self._words(text))

    def _words(self, text: str) -> tuple[Numbers, npt.NDArray[np.bool_]]:
        """Return the codes of the words of a folded text, and whether each ends its run."""
        pieces = text.replace("\n", " \n ").replace("\t", " ").replace("\xa0", " ").split(" ")
        entries = np.fromiter(map(self.__getitem__, pieces), np.int64, len(pieces))
        lengths = entries & ((1 << _WIDTH) - 1)
        before = np.cumsum(lengths) - lengths
        places = np.repeat((entries >> _WIDTH) - before, lengths) + np.arange(int(lengths.sum()))
        codes = np.frombuffer(self._read, np.int64)[places] if len(places) else places
        goes_on = codes & _FOLLOWED > 0
        goes_on[:-1] |= (codes[:-1] & _OPEN > 0) & (codes[1:] & _STARTS > 0)
        words = codes != _GAP
        return codes[words], ~goes_on[words]

    def places(self, terms: list[str], texts: Mapping[str, str | None]) -> dict[str, npt.NDArray[np.bool_]]:
        """Return by place whether each term stands there; a place without a known text is left out."""
        places = {term: place for place, term in enumerate(terms)}
        found = {}
        for name, text in texts.items():
            if text is not None:
                found[name] = np.zeros(len(terms), bool)
                found[name][[places[term] for term in self._said(text) if term in places]] = True
        return found

    def _said(self, text: str) -> set[str]:
        """Return all words and phrases of a text, stop words included."""
        if UNSPACED.search(text):
            return terms_of(text, self._language, self._sizes)
        codes, ends_run = self._words(folded(text, self._language))
        names = [self._names[number] for number in (codes // _NUMBER).tolist()]
        said, start = set(), 0
        for end in (np.flatnonzero(ends_run) + 1).tolist():
            for size in self._sizes:
                said |= {" ".join(names[n : n + size]) for n in range(start, end - size + 1)}
            start = end
        return said

    def _in_arrays(self, codes: Numbers, ends_run: npt.NDArray[np.bool_]) -> Found:
        used, here = np.unique(codes // _NUMBER, return_inverse=True)
        names = [self._names[number] for number in used.tolist()]
        long, hashes = np.array([*map(len, names)], np.int64), np.array([*map(hash, names)], np.int64)
        totals, once, found = np.zeros(LONGEST + 1, np.int64), [np.empty(0, np.int64)], []
        shorter: dict[int, _Phrases] = {}
        for size in range(1, LONGEST + 1):
            if size not in self._sizes:
                continue
            starts, total = self._starts(size, codes, here, ends_run, names, long)
            totals[size] = total
            phrases = _Phrases(size, starts, here, len(names))
            if size > 1:
                alone = phrases.first[phrases.counts < LEAST]
                once.append(sum((_MIXED[n] * hashes[here[alone + n]] for n in range(size)), np.zeros(1, np.int64)))
                phrases.mark_parts(shorter, here)
            shorter[size] = phrases
            found.append(phrases)
        return _put_together(found, here, names, totals, np.concatenate(once))

    def _starts(
        self, size: int, codes: Numbers, here: Numbers, ends_run: Numbers, names: list[str], long: Numbers
    ) -> tuple[Numbers, int]:
        """Return where terms of so many words begin, and how many runs of so many words there are."""
        count = len(codes) - size + 1
        if count <= 0:
            return np.empty(0, np.int64), 0
        inside = np.ones(count, bool)
        for n in range(size - 1):
            inside &= ~ends_run[n : n + count]
        good = inside & (codes & _TERM > 0 if size == 1 else codes[:count] & codes[size - 1 :] & _EDGE > 0)
        starts = np.flatnonzero(good)
        characters = sum((long[here[starts + n]] for n in range(size)), np.int64(size - 1))
        good_starts = starts[characters <= MOST_CHARACTERS]
        if size > 1 and self._min_length > 4:  # two letters are at both ends
            worth = np.array([*map(letters, names)], np.int64)
            enough = sum((worth[here[good_starts + n]] for n in range(size)), np.int64(0)) >= self._min_length
            good_starts = good_starts[enough]
        return good_starts, int(inside.sum())

    def _by_dictionary(self, text: str) -> Found:
        """Count a text with a script without spaces, where a word here is a phrase there."""
        found = count_terms(text, self._language, self._sizes, **self._how)
        parts = parts_of_phrases(found, LEAST)
        known: dict[str, tuple[int, int]] = {}
        once: list[str] = []
        for size, one in found.items():
            for term, times in one.counts.items():
                if size == 1 or times >= LEAST:
                    known.setdefault(term, (times, size))
                elif term not in known:
                    once.append(term)
        terms = sorted(known, key=lambda term: -known[term][0])
        return Found(
            terms,
            np.array([known[term][0] for term in terms], np.int32),
            np.array([known[term][1] for term in terms], np.int8),
            np.array([(known[term][1], term) not in parts for term in terms], bool),
            np.array([found[size].total if size in found else 0 for size in range(LONGEST + 1)], np.int64),
            hashes_of(once),
        )


class _Phrases:
    """The different phrases of so many words in a text: where each is first, and how often it occurs."""

    def __init__(self, size: int, starts: Numbers, here: Numbers, base: int) -> None:
        self.size, self._base = size, base
        self.keys, first, self.counts = np.unique(
            self._key(starts, here), return_index=True, return_counts=True
        )
        self.first, self.whole = starts[first], np.ones(len(first), bool)

    def _key(self, starts: Numbers, here: Numbers) -> Numbers:
        key = here[starts]
        for n in range(1, self.size):
            key = key * self._base + here[starts + n]
        return key

    def mark_parts(self, shorter: Mapping[int, _Phrases], here: Numbers) -> None:
        """Note which shorter terms occur only within one of these that occurs twice or more."""
        often = self.counts >= LEAST
        for size, others in shorter.items():
            for n in range(self.size - size + 1):
                keys = others._key(self.first[often] + n, here)
                places = np.minimum(np.searchsorted(others.keys, keys), max(0, len(others.keys) - 1))
                if len(others.keys):
                    same = (others.keys[places] == keys) & (others.counts[places] == self.counts[often])
                    others.whole[places[same]] = False


def _put_together(
    found: Sequence[_Phrases], here: Numbers, names: list[str], totals: Numbers, once: Numbers
) -> Found:
    kept = [one.counts >= (1 if one.size == 1 else LEAST) for one in found]
    counts, first, whole = (
        np.concatenate([getattr(one, name)[keep] for one, keep in zip(found, kept, strict=True)])
        for name in ("counts", "first", "whole")
    )
    sizes = np.repeat([one.size for one in found], [int(keep.sum()) for keep in kept])
    order = np.lexsort((first, sizes, -counts))
    starts, size_of = first[order], sizes[order]
    terms = [names[number] for number in here[starts].tolist()]
    for place in np.flatnonzero(size_of > 1).tolist():
        words = here[starts[place] : starts[place] + size_of[place]].tolist()
        terms[place] = " ".join([names[number] for number in words])
    return Found(terms, counts[order].astype(np.int32), size_of.astype(np.int8), whole[order], totals, once)
