"""Pages that are about the same: nearest by their distinctive words, with the words as evidence."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.content.words import words as in_order
from webanalytics.audits.site import Site
from webanalytics.errors import ParameterError
from webanalytics.urls import parts_of

Weights = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int32]
Embed = Callable[[list[str]], Any]
"""Texts -> one row of numbers each, such as the ``encode`` of a model."""

MOST_WORDS = 300
"""Words of a page that are compared: its most distinctive ones."""
THIN = 30
"""Words of a text below which the title, the headings and the address count as text too."""
ADDRESS = 0.15
"""What the words of the addresses count beside those of the texts."""
MOST_PLACES = 20_000
"""Pages looked through for those that share rare words with one."""
CANDIDATES = 50
"""Pages of these that are compared by all words."""
SHOWN = 8
"""Words shown as evidence."""

_STEP = re.compile(r"[^\W_]+")


class Counts(NamedTuple):
    """Words by their numbers in a vocabulary, and how often each occurs."""

    words: Numbers
    times: Weights


class Described(NamedTuple):
    """A page as it is compared with others."""

    url: str
    language: str
    words: Counts
    """Those of its text; of its title, headings and address too where the text is thin."""
    steps: Counts
    """Those of its address."""
    thin: bool
    text: str
    """What a user's function makes numbers of."""


class Near(NamedTuple):
    """A page that is near another one."""

    place: int
    score: float
    words: list[str]


class Vocabulary:
    """Pages that are compared with each other, and the words that they have."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}

    def described(self, frame: pd.DataFrame) -> list[Described]:
        """Return the pages of a frame with url, and text, title, headings and language where it has them."""

        def cells(name: str) -> list[Any]:
            return frame[name].tolist() if name in frame else [None] * len(frame)

        named = ("url", "text", "title", "headings", "language")
        return [self._described(*row) for row in zip(*map(cells, named), strict=True)]

    def of_site(self, site: Site, rows: Sequence[int]) -> list[Described]:
        """Return some pages of a site by what each has of its own."""
        wanted = set(rows)
        texts = {
            row: content.text or "" for row, content in enumerate(site.contents(wanted)) if row in wanted
        }
        known = {name: [site.values(name)[row] for row in rows] for name in ("title", "language")}
        known |= {"url": [site.name(row) for row in rows], "text": [texts[row] for row in rows]}
        return self.described(pd.DataFrame(known))

    def _described(
        self, url: object, text: object, title: object, headings: object, language: object
    ) -> Described:
        from webanalytics.page.readability.syllables import primary

        address = url if isinstance(url, str) else ""
        known = text if isinstance(text, str) else ""
        words, steps = Counter(in_order(known)), Counter(_steps(address))
        said = [name for name in (title, *_headings(headings)) if isinstance(name, str)]
        thin = words.total() < THIN
        if thin:
            for name in said:
                words.update(in_order(name))
            words.update(steps)
            known = known or "\n".join([*said[:1], " ".join(steps)])
        spoken = primary(language) if isinstance(language, str) else ""
        return Described(address, spoken, self._counts(words), self._counts(steps), thin, known)

    def _counts(self, found: Mapping[str, int]) -> Counts:
        number = self.words.setdefault
        words = np.array([number(word, len(self.words)) for word in found], np.int32)
        return Counts(words, np.array(list(found.values()), np.float32))


def _headings(cell: object) -> Iterator[object]:
    if isinstance(cell, list):
        yield from (entry.get("text") for entry in cell if isinstance(entry, dict))


def _steps(url: str) -> list[str]:
    parts = parts_of(url)
    return _STEP.findall(unquote(f"{parts.path} {parts.query}").lower())


def nearest(
    known: Vocabulary,
    pages: Sequence[Described],
    others: Sequence[Described],
    most: int,
    embed: Embed | None = None,
    closed: Sequence[int] = (),
) -> list[list[Near]]:
    """Return for each page the nearest of others in its language, the nearest first.

    The score is the cosine of two pages' words, from 0 to 1; an eighth of it is that of their
    addresses' words. A word counts by the logarithm of its frequency, and the less the more pages have it
    (K. Sparck Jones, "A statistical interpretation of term specificity", 1972). Others at the places
    ``closed`` are left out; where ``others`` are the ``pages``, so is each page of its own.
    """
    size = len(known.words)
    texts = Beside([page.words for page in pages], [page.words for page in others], size)
    steps = Beside([page.steps for page in pages], [page.steps for page in others], size)
    rows = None if embed is None else _embedded(embed, pages, others)
    names = list(known.words)
    elsewhere = _elsewhere([page.language for page in others])
    found = []
    for row, page in enumerate(pages):
        scores = texts.scores(row) if rows is None else rows[0][row] @ rows[1].T
        scores = (scores + np.float32(ADDRESS) * steps.scores(row)) / np.float32(1 + ADDRESS)
        scores[[row, *closed] if pages is others else [*closed]] = 0
        if page.language:
            scores[elsewhere.get(page.language, elsewhere[""])] = 0
        near = np.flatnonzero(scores > 0)
        order = near[np.argsort(-scores[near], kind="stable")][:most].tolist()
        shared = ([names[word] for word in texts.shared(row, place)] for place in order)
        found.append(list(map(Near, order, scores[order].tolist(), shared)))
    return found


def _elsewhere(languages: Sequence[str]) -> dict[str, npt.NDArray[np.bool_]]:
    """Return by language which pages are in another one; by "" those whose language is known."""
    written = np.array(languages, dtype=object)
    return {name: (written != name) & (written != "") for name in {*languages, ""}}


def _embedded(
    embed: Embed, pages: Sequence[Described], others: Sequence[Described]
) -> tuple[Weights, Weights]:
    """Return rows of length 1 from a user's function, for both sides."""
    sides: list[Weights] = []
    for side in (pages, others):
        try:
            rows = np.asarray(embed([page.text for page in side]), dtype=np.float32)
        except (TypeError, ValueError):
            rows = np.empty(0, np.float32)
        if rows.ndim != 2 or len(rows) != len(side):
            raise ParameterError.on("embed", "must return one row of numbers for each text")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        sides.append((rows / np.where(lengths > 0, lengths, 1)).astype(np.float32))
    if sides[0].shape[1] != sides[1].shape[1]:
        raise ParameterError("The `embed` parameter must return rows of one length.", "embed")
    return sides[0], sides[1]


class Beside:
    """Words of pages beside those of others: weighed together, the others by word."""

    def __init__(self, pages: Sequence[Counts], others: Sequence[Counts], size: int) -> None:
        times = np.zeros(size)
        for counts in (*pages, *others):
            times[counts.words] += 1
        rarity = np.log((len(pages) + len(others) + 1) / np.maximum(times, 1))
        self._rows = [_weighed(counts, rarity) for counts in pages]
        weighed = [_weighed(counts, rarity) for counts in others]
        self._ends = np.cumsum([0, *(len(counts.words) for counts in weighed)])
        self._words = np.concatenate([np.empty(0, np.int32), *(counts.words for counts in weighed)])
        self._weights = np.concatenate([np.empty(0, np.float32), *(counts.times for counts in weighed)])
        order = np.argsort(self._words, kind="stable")
        place = np.repeat(np.arange(len(others), dtype=np.int32), np.diff(self._ends))
        self._place, self._weight = place[order], self._weights[order]
        self._starts = np.searchsorted(self._words[order], np.arange(size + 1))
        self._dense = np.zeros(size, np.float32)

    def scores(self, row: int) -> Weights:
        """Return the cosine of a page with each of the others that shares a rare word with it.

        Those that share the most of its rarest words are compared by all words: the lists of pages with
        common words are long.
        """
        found = np.zeros(len(self._ends) - 1, np.float32)
        words, weights = self._rows[row]
        starts, counts = self._starts[words], self._starts[words + 1] - self._starts[words]
        rarest = np.argsort(counts, kind="stable")
        few = rarest[: max(1, int(np.searchsorted(np.cumsum(counts[rarest]), MOST_PLACES)))]
        chosen = spans(starts[few], counts[few])
        products = self._weight[chosen] * np.repeat(weights[few], counts[few])
        rough = np.bincount(self._place[chosen], products, len(found))
        if len(few) == len(words):
            return rough.astype(np.float32)
        best = np.argpartition(-rough, min(CANDIDATES, len(rough) - 1))[:CANDIDATES]
        best = best[rough[best] > 0]
        if len(best):
            found[best] = self._cosines(row, best)
        return found

    def _cosines(self, row: int, places: npt.NDArray[np.intp]) -> Weights:
        """Return the cosine of a page with some of the others that have words."""
        words, weights = self._rows[row]
        self._dense[words] = weights
        counts = self._ends[places + 1] - self._ends[places]
        chosen = spans(self._ends[places], counts)
        products = self._dense[self._words[chosen]] * self._weights[chosen]
        self._dense[words] = 0
        sums: Weights = np.add.reduceat(products, np.cumsum(counts) - counts)
        return sums

    def cosine(self, row: int, place: int) -> float:
        """Return the cosine of a page with one of the others."""
        return float(self._products(row, place)[1].sum())

    def shared(self, row: int, place: int) -> list[int]:
        """Return the words that bring a page and another one together, the strongest first."""
        common, products = self._products(row, place)
        found: list[int] = common[np.argsort(-products, kind="stable")[:SHOWN]].tolist()
        return found

    def _products(self, row: int, place: int) -> tuple[Numbers, Weights]:
        """Return the words of both a page and another one, and what each adds to their cosine."""
        words, weights = self._rows[row]
        own = slice(*self._ends[place : place + 2])
        self._dense[words] = weights
        products = self._dense[self._words[own]] * self._weights[own]
        self._dense[words] = 0
        both = np.flatnonzero(products)
        return self._words[own][both], products[both]


def spans(starts: npt.NDArray[np.intp], counts: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return the places of several spans, one behind the other."""
    before = np.cumsum(counts) - counts
    found: npt.NDArray[np.intp] = np.arange(counts.sum()) + np.repeat(starts - before, counts)
    return found


def _weighed(counts: Counts, rarity: npt.NDArray[np.float64]) -> Counts:
    """Return the words of a page that tell it best from others, with weights whose squares add up to 1."""
    weights = (1 + np.log(counts.times)) * rarity[counts.words]
    length = math.sqrt(float(weights @ weights)) or 1.0
    best = np.argsort(-weights, kind="stable")[:MOST_WORDS]
    return Counts(counts.words[best], (weights[best] / length).astype(np.float32))
