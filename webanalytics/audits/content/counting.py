"""Counting words and phrases of texts for an audit: each word is looked at once, and then is a number.

What is a word and what is a phrase is said where one text is counted
(`webanalytics.page.keywords.keywords.count_keywords`); here the same is found for all pages of a site.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from webanalytics.audits.content.pieces import Pieces
from webanalytics.audits.content.vocabulary import LEAST, LONGEST, MASK, STEP, Numbers, Vocabulary, term_hash
from webanalytics.page.keywords.keywords import MAX_LENGTH
from webanalytics.page.keywords.segmentation import (
    DOTTED_I,
    UNSPACED,
    UNSPACED_JOINT,
    bare,
    letters,
    tokens,
    without_joint,
)
from webanalytics.page.keywords.stopwords import chosen_stop_words

Flags = npt.NDArray[np.bool_]

_BLANKS = (("\t", " "), ("\u00a0", " "), ("\n", " \n "))  # a line break is a piece, which joins nothing
_SIZE = 0xC2B2AE3D27D4EB4F  # odd, without a pattern


class Counted(NamedTuple):
    """The terms of a text; see `webanalytics.audits.content.terms.PageTerms`."""

    terms: Numbers
    counts: Numbers
    words: Numbers
    whole: Flags
    totals: Numbers
    places: dict[str, Flags]
    once: Numbers


class _Runs(NamedTuple):
    """The runs of so many words of a text, by the word that each begins with."""

    keys: Numbers  # their hashes
    stand: Flags  # whether the words stand side by side
    are_terms: Flags


class Lexicon(dict[str, int]):
    """The words of one language by number.

    ``vocabulary`` gets the terms of the texts that are counted, of so many words as ``sizes`` say. Of a text
    each word is a number whose last two bits say what joins it to the next one: nothing, a space or a
    hyphen, nothing between two words of a script without spaces.

    Examples
    --------
    >>> known = Vocabulary()
    >>> found = Lexicon(known, "en", min_length=3).count("Green tea is a tea. Green tea keeps.", {})
    >>> names = list(known)
    >>> {names[term]: times for term, times in zip(found.terms, found.counts.tolist())}
    {'tea': 3, 'green': 2, 'green tea': 2}
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        language: str,
        *,
        sizes: Iterable[int] = (1, 2, 3),
        min_length: int = 4,
        stop_words: Iterable[str] | str | None = None,
    ) -> None:
        super().__init__()
        self._vocabulary, self._language = vocabulary, language
        self._sizes, self._min_length = frozenset(sizes), min_length
        self._left_out = chosen_stop_words(stop_words, language)
        self._words: list[str] = []
        # By number: the word's hash, the number that it has as a term or -1, its length, and whether a phrase
        # may begin or end with it.
        self._hashes, self._terms, self._lengths = array("Q"), array("q"), array("q")
        self._ends = array("b")
        self._pieces = Pieces(self._look, 2)

    def __missing__(self, word: str) -> int:
        short = bare(word, self._language) if "'" in word else word
        good = word not in self._left_out and short not in self._left_out
        size = max(letters(short), len(word) if "'" not in word and self._min_length > 1 else 0)
        is_term = good and size >= self._min_length and len(short) <= MAX_LENGTH and 1 in self._sizes
        self._words.append(short)
        self._hashes.append(hash(short) & MASK)
        self._terms.append(self._vocabulary[short] if is_term else -1)
        self._lengths.append(len(short))
        self._ends.append(good and letters(short) > 1)
        number = self[word] = len(self)
        return number

    def count(self, text: str, places: Mapping[str, str | None]) -> Counted:
        """Return the terms of a text by falling frequency, number of words and first appearance.

        ``places`` are other texts of the page in which they may stand, None for one that is not known.
        """
        words = self._read(text)
        runs = list(self._runs(words))
        starts = [np.flatnonzero(run.are_terms) for run in runs]
        sizes = np.repeat(np.arange(1, len(runs) + 1), [len(those) for those in starts])
        at = np.concatenate([np.empty(0, np.intp), *starts])
        found = [run.keys[those] for run, those in zip(runs, starts, strict=True)]
        keys = np.concatenate([np.empty(0, np.uint64), *found])
        distinct, first, counts = np.unique(_sized(keys, sizes), True, False, True)
        sizes, at, keys = sizes[first], at[first], keys[first]
        is_term = (sizes == 1) | (counts >= LEAST)
        order = np.lexsort((first, -counts))
        order = order[is_term[order]]
        once = keys[~is_term]
        if (words & 3 == 2).any():  # there a word of one place is a phrase of another
            by_size = order[np.argsort(sizes[order], kind="stable")]
            alone = by_size[np.unique(keys[by_size], return_index=True)[1]]
            order, once = order[np.isin(order, alone)], once[~np.isin(once, keys[order])]
        totals = np.zeros(LONGEST + 1, np.int64)
        for size, run in enumerate(runs, 1):
            totals[size] = np.count_nonzero(run.stand) if size in self._sizes else 0
        return Counted(
            self._terms_at(words, at[order], sizes[order]),
            counts[order].astype(np.int32),
            sizes[order].astype(np.int8),
            ~_inside_phrases(runs, distinct, at, sizes, counts)[order],
            totals,
            {name: stand[order] for name, stand in self._standing(places, distinct).items()},
            once,
        )

    def _terms_at(self, words: Numbers, at: Numbers, sizes: Numbers) -> Numbers:
        """Return the numbers of the terms of so many words that begin at those words of a text."""
        terms = np.frombuffer(self._terms, np.int64)[words[at] >> 2] if len(words) else at
        for place in np.flatnonzero(sizes > 1).tolist():
            terms[place] = self._vocabulary[self._phrase(words, at[place], sizes[place])]
        return terms.astype(np.int32)

    def _look(self, piece: str) -> tuple[list[int], tuple[int, int]]:
        """Return the words of a piece, and whether it joins the next one and the one before."""
        if piece.isascii() and piece.isalpha() and self._language not in DOTTED_I:  # most are
            return [self[piece.lower()] << 2], (1, 1)
        before, *found, _ = tokens(f"a {piece} a", self._language)
        words = self._joined(found)
        if not words:
            return [], (0, before != "a")
        words[-1], joins = words[-1] >> 2 << 2, words[-1] & 3
        return words, (joins, before != "a")

    def _joined(self, found: list[str]) -> list[int]:
        """Return the numbers of tokens."""
        alone = map(without_joint, found)
        pairs = zip(found, alone, strict=True)
        return [
            self[word] << 2 | (token != word and 1 + token.endswith(UNSPACED_JOINT)) for token, word in pairs
        ]

    def _read(self, text: str) -> Numbers:
        """Return the words of a text."""
        if not text.isascii() and UNSPACED.search(text):  # what stands between spaces is long there
            return np.array(self._joined(tokens(text, self._language)), np.intp)
        for blank, meant in _BLANKS:
            text = text.replace(blank, meant)
        found, sizes, (joins, begins) = self._pieces.read([piece for piece in text.split(" ") if piece])
        words = found.astype(np.intp)
        joined = (joins[:-1] > 0) & (begins[1:] > 0)
        words[(np.cumsum(sizes) - 1)[:-1][joined]] += 1
        return words

    def _runs(self, words: Numbers) -> Iterator[_Runs]:
        """Yield the runs of one word, of two, and so on."""
        if not len(words):
            return
        numbers, joints = words >> 2, words & 3
        hashes, own, ends, terms = (
            np.frombuffer(column, column.typecode)[numbers]
            for column in (self._hashes, self._lengths, self._ends, self._terms)
        )
        chain, lengths = hashes * STEP, own
        stand = np.ones(len(words), bool)
        yield _Runs(chain, stand, terms >= 0)
        for size in range(2, min(LONGEST, len(words)) + 1):
            count, joint = len(words) - size + 1, joints[size - 2 : -1]
            chain = (chain[:count] + hashes[size - 1 :]) * STEP
            lengths = lengths[:count] + own[size - 1 :] + (joint == 1)
            stand = stand[:count] & (joint > 0)
            keys = chain.copy()
            for at in np.flatnonzero(stand & (joint == 2)).tolist():
                keys[at] = term_hash(self._phrase(words, at, size))
            are_terms = stand & (ends[:count] > 0) & (ends[size - 1 :] > 0) & (lengths <= MAX_LENGTH)
            for at in np.flatnonzero(are_terms).tolist() if self._min_length > 4 else ():
                pieces = self._phrase(words, at, size).split(" ")
                are_terms[at] = sum(map(letters, pieces)) >= self._min_length
            yield _Runs(keys, stand, are_terms if size in self._sizes else np.zeros(count, bool))

    def _phrase(self, words: Numbers, at: int, size: int) -> str:
        joint = "" if words[at] & 3 == 2 else " "
        return joint.join([self._words[word >> 2] for word in words[at : at + size].tolist()])

    def _standing(self, texts: Mapping[str, str | None], distinct: Numbers) -> dict[str, Flags]:
        """Return which of the terms stand in each of the texts."""
        known = {name: self._read(text) for name, text in texts.items() if text is not None}
        of_text = np.repeat(np.arange(len(known)), [len(found) for found in known.values()])
        stand = np.zeros((len(known), len(distinct)), bool)
        words = np.concatenate([np.empty(0, np.intp), *known.values()])
        for size, run in enumerate(self._runs(words), 1):
            keys, owners = run.keys[run.stand], of_text[: len(run.stand)][run.stand]
            # in scripts without spaces a word there is a phrase here
            for other in self._sizes if size in self._sizes else ():
                among, place = _places(distinct, _sized(keys, other))
                stand[owners[among], place] = True
        return dict(zip(known, stand, strict=True))


def _inside_phrases(
    runs: list[_Runs], distinct: Numbers, at: Numbers, sizes: Numbers, counts: Numbers
) -> Flags:
    """Return which terms stand only within one longer phrase, which occurs as often as they."""
    inside = np.zeros(len(distinct), bool)
    for size in range(2, len(runs) + 1):
        longer = np.flatnonzero((sizes == size) & (counts >= LEAST))
        for inner in range(1, size):
            starts = [at[longer] + offset for offset in range(size - inner + 1)]
            keys = _sized(runs[inner - 1].keys[np.concatenate(starts)], inner)
            among, places = _places(distinct, keys)
            times = np.tile(counts[longer], len(starts))[among]
            inside[places[counts[places] == times]] = True
    return inside


def _sized(keys: Numbers, size: Any) -> Numbers:
    """Return hashes that are others for each number of words."""
    made: Numbers = keys + np.asarray(size, np.uint64) * np.uint64(_SIZE)
    return made


def _places(distinct: Numbers, keys: Numbers) -> tuple[Numbers, Numbers]:
    """Return which keys are among the sorted ones, and where."""
    places = np.searchsorted(distinct, keys)
    places[places == len(distinct)] = 0
    found = np.flatnonzero(distinct[places] == keys) if len(distinct) else places[:0]
    return found, places[found]
