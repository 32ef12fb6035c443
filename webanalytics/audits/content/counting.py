"""Counting words and phrases of texts for an audit: each word is looked at once, and then is a number.

What is a word and what is a phrase is said where one text is counted
(`webanalytics.page.keywords.keywords.count_keywords`); here the same is found for many pages together. A
worker process counts portions of a site's pages.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from webanalytics.audits.content.pieces import Pieces
from webanalytics.audits.content.vocabulary import (
    LEAST,
    LONGEST,
    STEP,
    Numbers,
    PageTerms,
    Vocabulary,
    term_hash,
    word_hash,
)
from webanalytics.page.keywords.keyness import PLACES
from webanalytics.page.keywords.keywords import MAX_LENGTH
from webanalytics.page.keywords.segmentation import DOTTED_I, bare, letters, segment
from webanalytics.page.keywords.stopwords import chosen_stop_words

Flags = npt.NDArray[np.bool_]
Texts = tuple[str, Mapping[str, str | None]]
"""What is counted of a page, and its other texts in which terms may stand, None for one that is not known."""

_BLANKS = (("\t", " "), ("\u00a0", " "), ("\n", " \n "))  # a line break is a piece, which joins nothing
_PUNCTUATION = '.,;:!?()"“”„«»…'  # which parts words
_EDGE = "\x1e"  # between texts that are read together
_SIZE, _PAGE = 0xC2B2AE3D27D4EB4F, 0xD1B54A32D192ED03  # odd, without a pattern
_MOST_WORDS = 400_000  # of a lexicon that is kept for the next portion


class Together(NamedTuple):
    """The terms of several pages, those of one behind those of the other."""

    terms: Numbers
    counts: Numbers
    words: Numbers
    whole: Flags
    standing: Flags  # one row for each of the places
    ends: Numbers  # where the terms of each page end,
    once: Numbers
    once_ends: Numbers  # and its phrases that it has once
    totals: Numbers  # one row for each page
    known: list[list[str]]  # the places of each page whose text is known

    def pages(self) -> Iterator[PageTerms]:
        """Yield the terms of each page."""
        start = begin = 0
        ends = zip(self.ends.tolist(), self.once_ends.tolist(), strict=True)
        for (end, stop), totals, known in zip(ends, self.totals, self.known, strict=True):
            terms, counts, words, whole = (column[start:end] for column in self[:4])
            places = {place: self.standing[PLACES.index(place), start:end] for place in known}
            yield PageTerms(terms, counts, words, whole, totals, self.once[begin:stop], places)
            start, begin = end, stop


class Portion(NamedTuple):
    """The terms of some pages: their numbers are places among the names and hashes."""

    names: str  # one on each line: many small texts take longer to hand over
    hashes: Numbers
    found: Together


class _Runs(NamedTuple):
    """The runs of so many words of texts, by the word that each begins with."""

    keys: Numbers  # their hashes
    stand: Flags  # whether the words stand side by side
    are_terms: Flags


class _Found(NamedTuple):
    """Distinct terms of each page: of so many words, by their hashes, and where each first begins."""

    keys: Numbers
    sizes: Numbers
    pages: Numbers
    at: Numbers
    counts: Numbers
    whole: Flags

    def of(self, chosen: Any) -> _Found:
        return _Found(*(column[chosen] for column in self))


class Lexicon(dict[str, int]):
    """The words of one language by number.

    Its ``vocabulary`` has the terms of the texts that are counted, of so many words as ``sizes`` say. Of a
    text each word is a number whose last two bits say what joins it to the next one: nothing, a space or a
    hyphen, nothing between two words of a script without spaces.

    Examples
    --------
    >>> lexicon = Lexicon("en", min_length=3)
    >>> found = lexicon.count([("Green tea is a tea. Green tea keeps.", {})])
    >>> names = lexicon.vocabulary.names
    >>> {names[term]: times for term, times in zip(found.terms, found.counts.tolist())}
    {'tea': 3, 'green': 2, 'green tea': 2}
    """

    def __init__(
        self,
        language: str,
        *,
        sizes: Iterable[int] = (1, 2, 3),
        min_length: int = 4,
        stop_words: Iterable[str] | str | None = None,
    ) -> None:
        super().__init__()
        self.vocabulary, self._language = Vocabulary(), language
        self._sizes, self._min_length = frozenset(sizes), min_length
        self._left_out = chosen_stop_words(stop_words, language)
        self._words: list[str] = []
        # By number: the word's hash, the number that it has as a term or -1, its length, and whether a phrase
        # may begin or end with it.
        self._hashes, self._terms, self._lengths = array("Q"), array("q"), array("q")
        self._ends = array("b")
        self._pieces = Pieces(self._look, 2)
        self[""]  # an edge

    def __missing__(self, word: str) -> int:
        short = bare(word, self._language) if "'" in word else word
        good = word not in self._left_out and short not in self._left_out
        size = max(letters(short), len(word) if "'" not in word and self._min_length > 1 else 0)
        is_term = good and size >= self._min_length and len(short) <= MAX_LENGTH and 1 in self._sizes
        hashed = word_hash(short)
        self._words.append(short)
        self._hashes.append(hashed)
        self._terms.append(self.vocabulary.number(short, term_hash(hashed)) if is_term else -1)
        self._lengths.append(len(short))
        self._ends.append(good and letters(short) > 1)
        number = self[word] = len(self)
        return number

    def count(self, pages: Sequence[Texts]) -> Together:
        """Return the terms of each page by falling frequency, number of words and first appearance."""
        known = [[place for place in PLACES if places.get(place) is not None] for _, places in pages]
        texts = [
            [text, *(places[place] or "" for place in own)]
            for (text, places), own in zip(pages, known, strict=True)
        ]
        read = self._read(chain.from_iterable(texts))
        words = np.concatenate([np.empty(0, np.intp), *read])
        of_texts = [(page, -1, *map(PLACES.index, own)) for page, own in enumerate(known)]
        owners = [(page, place) for page, *places in of_texts for place in places]
        page, place = np.repeat(np.array(owners, np.intp).reshape(-1, 2), [*map(len, read)], axis=0).T
        runs = [*self._runs(words)]
        found, once = self._distinct(runs, page, place < 0)
        if is_unspaced := bool((words & 3 == 2).any()):  # there a word of one place is a phrase of another
            by_size, keys = np.argsort(found.sizes, kind="stable"), _mixed(found.keys, 0, found.pages)
            found = found.of(np.sort(by_size[np.unique(keys[by_size], return_index=True)[1]]))
            once = once.of(~np.isin(_mixed(once.keys, 0, once.pages), keys))
        totals = np.zeros((len(pages), LONGEST + 1), np.int64)
        for size, run in enumerate(runs, 1):
            stand = run.stand & (place < 0) & (size in self._sizes)
            totals[:, size] = np.bincount(page[stand], minlength=len(pages))
        of_pages = (np.bincount(side.pages, minlength=len(pages)) for side in (found, once))
        ends, once_ends = map(np.cumsum, of_pages)
        numbers = self._terms_at(words, found), found.counts.astype(np.int32), found.sizes.astype(np.int8)
        stand = self._standing(runs, page, place, found, is_unspaced)
        return Together(*numbers, found.whole, stand, ends, once.keys, once_ends, totals, known)

    def _distinct(self, runs: list[_Runs], page: Numbers, is_main: Flags) -> tuple[_Found, _Found]:
        """Return the terms of the main texts in order, and the phrases that a page has once."""
        starts = [np.flatnonzero(run.are_terms & is_main) for run in runs]
        sizes = np.repeat(np.arange(1, len(runs) + 1), [len(those) for those in starts])
        keys = np.concatenate([run.keys[those] for run, those in zip(runs, starts, strict=True)])
        at = np.concatenate(starts)
        pages = page[at]
        mixed = _mixed(keys, sizes, pages)
        order = _within(pages, mixed)
        is_new = np.diff(mixed[order], prepend=~mixed[order[:1]]) != 0
        begins = np.flatnonzero(is_new)
        counts = np.diff(np.append(begins, len(order)))
        first = np.minimum.reduceat(order, begins) if len(order) else order
        numbers = np.full((LONGEST + 1, len(page)), -1)  # by size and place, of the distinct terms
        numbers[sizes[order], at[order]] = np.cumsum(is_new) - 1
        whole = np.ones(len(first), bool)
        every = _Found(keys[first], sizes[first], pages[first], at[first], counts, whole)
        is_term = (every.sizes == 1) | (counts >= LEAST)
        whole[_inside_phrases(every.of(is_term), numbers, counts)] = False
        ranked = _within(every.pages, first - counts * len(order))
        return every.of(ranked[is_term[ranked]]), every.of(~is_term)

    def _terms_at(self, words: Numbers, found: _Found) -> Numbers:
        """Return the numbers of terms."""
        terms: Numbers = np.frombuffer(self._terms, np.int64)[words[found.at] >> 2]
        longer = np.flatnonzero(found.sizes > 1)
        for place, key in zip(longer.tolist(), found.keys[longer].tolist(), strict=True):
            if (number := self.vocabulary.get(key)) is None:
                number = self.vocabulary.number(self._phrase(words, found.at[place], found.sizes[place]), key)
            terms[place] = number
        return terms.astype(np.int32)

    def _look(self, piece: str) -> tuple[list[int], tuple[int, int]]:
        """Return the words of a piece, and whether it joins the next one and the one before."""
        if piece == _EDGE:
            return [0], (0, 0)
        word = piece.strip(_PUNCTUATION)
        plain = word.isascii() and word.isalpha() and f".{word}" not in piece
        if plain and self._language not in DOTTED_I:  # most are
            return [self[word.lower()] << 2], (piece[-1] == word[-1], piece[0] == word[0])
        runs = segment(f"a {piece} a", self._language).runs
        joined = [
            (word, place < len(run.words) and 1 + (not run.separator))
            for run in runs
            for place, word in enumerate(run.words, 1)
        ]
        (_, begins), *found, _ = joined
        words = [self[word] << 2 | joint for word, joint in found]
        if not words:
            return [], (0, begins)
        words[-1], joins = words[-1] >> 2 << 2, words[-1] & 3
        return words, (joins, begins)

    def _read(self, texts: Iterable[str]) -> list[Numbers]:
        whole = f"\n{_EDGE}\n".join(text.replace(_EDGE, "\n") for text in texts)
        for blank, meant in _BLANKS:
            whole = whole.replace(blank, meant)
        found, sizes, (joins, begins) = self._pieces.read([*filter(None, whole.split(" "))])
        words = found.astype(np.intp)
        joined = (joins[:-1] > 0) & (begins[1:] > 0)
        words[(np.cumsum(sizes) - 1)[:-1][joined]] += 1
        edges = np.flatnonzero(words == 0)
        return np.split(np.delete(words, edges), edges - np.arange(len(edges)))

    def _runs(self, words: Numbers) -> Iterator[_Runs]:
        """Yield the runs of one word, of two, and so on; all as many as there are words."""
        numbers, joints = words >> 2, words & 3
        hashes, own, ends, terms = (
            np.frombuffer(column, column.typecode)[numbers]
            for column in (self._hashes, self._lengths, self._ends, self._terms)
        )
        keys, lengths, stand = hashes * np.uint64(STEP), own, np.ones(len(words), bool)
        yield _Runs(keys, stand, terms >= 0)
        for size in range(2, LONGEST + 1):
            joint = _later(joints, size - 1)
            keys = (keys + _later(hashes, size)) * np.uint64(STEP)
            lengths = lengths + _later(own, size) + (joint == 1)
            stand = stand & (joint > 0)
            own_keys = keys.copy()
            for at in np.flatnonzero(stand & (joint == 2)).tolist():
                own_keys[at] = term_hash(word_hash(self._phrase(words, at, size)))
            are_terms = stand & (ends > 0) & (_later(ends, size) > 0) & (lengths <= MAX_LENGTH)
            for at in np.flatnonzero(are_terms).tolist() if self._min_length > 4 else ():
                pieces = self._phrase(words, at, size).split(" ")
                are_terms[at] = sum(map(letters, pieces)) >= self._min_length
            yield _Runs(own_keys, stand, are_terms if size in self._sizes else np.zeros(len(words), bool))

    def _phrase(self, words: Numbers, at: int, size: int) -> str:
        joint = "" if words[at] & 3 == 2 else " "
        return joint.join([self._words[word >> 2] for word in words[at : at + size].tolist()])

    def _standing(
        self, runs: list[_Runs], page: Numbers, place: Numbers, found: _Found, is_unspaced: bool
    ) -> Flags:
        """Return which of the terms stand in each of the places, by the page and place of each word."""
        stand = np.zeros((len(PLACES), len(found.keys)), bool)
        keys = _mixed(found.keys, found.sizes, found.pages)
        order = np.argsort(keys)
        for size, run in enumerate(runs, 1):
            beside = np.flatnonzero(run.stand & (place >= 0))
            # in scripts without spaces a word there is a phrase here
            for other in self._sizes if is_unspaced and size in self._sizes else self._sizes & {size}:
                among, spots = _places(keys[order], _mixed(run.keys[beside], other, page[beside]))
                stand[place[beside[among]], order[spots]] = True
        return stand


def _later(values: Numbers, size: int) -> Numbers:
    """Return for each word the value of the last one of so many; 0 where there are not so many."""
    return np.append(values[size - 1 :], np.zeros(min(size - 1, len(values)), values.dtype))


def _inside_phrases(terms: _Found, numbers: Numbers, counts: Numbers) -> Numbers:
    """Return the numbers of what stands only within one longer phrase, which occurs as often as it."""
    inside = [np.empty(0, np.intp)]
    for size, inner in combinations(range(LONGEST, 0, -1), 2):
        longer = terms.of(terms.sizes == size)
        for offset in range(size - inner + 1):
            within = numbers[inner, longer.at + offset]
            inside.append(within[(within >= 0) & (counts[within] == longer.counts)])
    return np.concatenate(inside)


def _within(pages: Numbers, values: Numbers) -> Numbers:
    """Return the order of values page by page, which takes less time than that of all."""
    blocks = np.split(np.argsort(pages.astype(np.int16), kind="stable"), np.cumsum(np.bincount(pages))[:-1])
    return np.concatenate([block[np.argsort(values[block])] for block in blocks])


def _mixed(keys: Numbers, sizes: Any, pages: Numbers) -> Numbers:
    """Return hashes that are others for each number of words and each page."""
    sized = keys + np.asarray(sizes, np.uint64) * np.uint64(_SIZE)
    made: Numbers = sized + pages.astype(np.uint64) * np.uint64(_PAGE)
    return made


def _places(distinct: Numbers, keys: Numbers) -> tuple[Numbers, Numbers]:
    """Return which keys are among the sorted ones, and where."""
    places = np.searchsorted(distinct, keys)
    places[places == len(distinct)] = 0
    found = np.flatnonzero(distinct[places] == keys) if len(distinct) else places[:0]
    return found, places[found]


@lru_cache(maxsize=8)
def _lexicon(  # no two threads share one
    thread: int,  # noqa: ARG001
    language: str,
    sizes: tuple[int, ...],
    min_length: int,
    stop_words: Any,
) -> Lexicon:
    return Lexicon(language, sizes=sizes, min_length=min_length, stop_words=stop_words)


forget_lexicons = _lexicon.cache_clear


def count_portion(how: tuple[tuple[int, ...], int, Any], language: str, texts: Sequence[Texts]) -> Portion:
    """Return the terms of some pages of a language; words that were seen are known in the next portion.

    ``how`` has the numbers of words of a term, its fewest letters, and the stop words (a name or a tuple).
    """
    lexicon = _lexicon(get_ident(), language, *how)
    found = lexicon.count(texts)
    numbers = np.full(len(lexicon.vocabulary), -1)  # of terms in the portion, where they first appear
    numbers[found.terms[::-1]] = np.arange(len(found.terms))[::-1]
    terms = np.flatnonzero(numbers >= 0)
    terms = terms[np.argsort(numbers[terms])]
    numbers[terms] = np.arange(len(terms))
    known = lexicon.vocabulary
    names = "\n".join([known.names[term] for term in terms.tolist()])
    if len(lexicon) > _MOST_WORDS:
        forget_lexicons()
    return Portion(names, known.hashes[terms], found._replace(terms=numbers[found.terms].astype(np.int32)))
