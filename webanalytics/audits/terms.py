"""The words and phrases of an audit's pages: counted from what the audit holds, and compared by pages.

`Audit.keywords` shows them; `audits.cannibalisation` and `audits.content_gap` build on the same counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.analysis.keywords.keyness import keyness
from webanalytics.analysis.keywords.keywords import count_keywords, count_terms
from webanalytics.analysis.keywords.places import PLACES, first_paragraph, places_of
from webanalytics.analysis.readability.syllables import primary
from webanalytics.audits.site import Site
from webanalytics.errors import ParameterError
from webanalytics.frames.schema import make_series
from webanalytics.operations import KEYWORDS
from webanalytics.operations.model import Dtype

Numbers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

LONGEST = 3
"""Most words of a term."""

TOP_OF_PAGE, TOP_OF_SITE = 20, 200
"""Most terms shown of a page and of a site."""


@dataclass(frozen=True, eq=False)
class PageTerms:
    """The terms of one page.

    Attributes
    ----------
    row : int
        Row of the page in the audit.
    name : str
        Its address.
    language : str
        Language that its text was read in.
    terms : numpy.ndarray
        Numbers of its terms in the vocabulary: by falling frequency, then first appearance.
    counts : numpy.ndarray
        How often each occurs.
    words : numpy.ndarray
        How many words each has.
    totals : numpy.ndarray
        By words of a term: all words of the page, all runs of two words, and so on; the first is 0.
    places : dict
        By place, whether each term stands there; a place is missing where that is not known.
    """

    row: int
    name: str
    language: str
    terms: Numbers
    counts: Numbers
    words: Numbers
    totals: Numbers
    places: dict[str, npt.NDArray[np.bool_]]

    @property
    def sizes(self) -> Numbers:
        """Of how many words or phrases each term is one."""
        return self.totals[self.words]


@dataclass(eq=False)
class Terms:
    """The terms of several pages: each page holds numbers of a common vocabulary.

    Attributes
    ----------
    vocabulary : dict
        Term to number.
    pages : list of PageTerms
        The pages, each once.
    """

    vocabulary: dict[str, int] = field(default_factory=dict)
    pages: list[PageTerms] = field(default_factory=list)

    def add(
        self, row: int, name: str, language: str, text: str, texts: dict[str, str | None], **how: Any
    ) -> None:
        """Count the terms of a page; ``texts`` are those of its places, ``how`` is for `count_terms`."""
        found = count_terms(text, language, **how)
        known: dict[str, tuple[int, int]] = {}
        for size, one in found.items():  # in scripts without spaces a word here is a phrase there
            for term, times in one.counts.items():
                known.setdefault(term, (times, size))
        terms = sorted(known, key=lambda term: -known[term][0])
        totals = np.zeros(LONGEST + 1, np.int64)
        totals[list(found)] = [one.total for one in found.values()]
        standing = {place: set(those) for place, those in places_of(terms, texts, language, found).items()}
        number = self.vocabulary.setdefault
        self.pages.append(
            PageTerms(
                row,
                name,
                language,
                np.array([number(term, len(self.vocabulary)) for term in terms], np.int64),
                np.array([known[term][0] for term in terms], np.int64),
                np.array([known[term][1] for term in terms], np.int64),
                totals,
                {
                    place: np.array([term in those for term in terms], bool)
                    for place, those in standing.items()
                },
            )
        )

    def names(self) -> list[str]:
        """Return the terms by their numbers."""
        return list(self.vocabulary)

    def sums(self) -> tuple[Numbers, Numbers]:
        """Return the frequency of each term over all pages, and the sums of their totals."""
        counts, totals = np.zeros(len(self.vocabulary), np.int64), np.zeros(LONGEST + 1, np.int64)
        for page in self.pages:
            counts[page.terms] += page.counts
            totals += page.totals
        return counts, totals

    def keyness(self) -> Iterator[Scores]:
        """Yield how distinctive its terms are of each page against all others; NaN for a single page."""
        counts, totals = self.sums()
        for page in self.pages:
            if len(self.pages) < 2:
                yield np.full(len(page.terms), np.nan)
                continue
            elsewhere = counts[page.terms] - page.counts
            yield keyness(page.counts, page.sizes, elsewhere, totals[page.words] - page.sizes)


def language_of(detected: object, declared: object) -> str:
    """Return the language to read the text of a page in: detected, else declared, else English."""
    known = (primary(said) for said in (detected, declared) if isinstance(said, str))
    return next(filter(None, known), "en")


def grouped_terms(
    site: Site,
    group_of: Callable[[int, str], Hashable],
    *,
    sizes: Iterable[int] = (1, 2, 3),
    **how: Any,
) -> dict[Hashable, Terms]:
    """Return the terms of the main texts of an audit's pages that were read, each page once, by group.

    ``group_of`` takes the row and the language of a page, and returns None for one to leave out.
    """
    found: dict[Hashable, Terms] = {}
    wanted = tuple(sizes)
    columns = ("text", "title", "headings", "description", "language", "lang")
    for row, text, title, headings, description, detected, declared in site.read(*columns):
        if not isinstance(text, str) or not site.addresses.first(row):
            continue
        language = language_of(detected, declared)
        group = group_of(row, language)
        if group is not None:
            texts = (title, _first_heading(headings), description, first_paragraph(text))
            places = dict(zip(PLACES, texts, strict=True))
            terms = found.setdefault(group, Terms())
            terms.add(row, _address(site, row), language, text, places, sizes=wanted, **how)
    return found


def terms_of(site: Site, **how: Any) -> Terms:
    """Return the terms of all pages of an audit that were read, each page once."""
    return grouped_terms(site, lambda row, language: True, **how).get(True, Terms())  # noqa: ARG005


def _address(site: Site, row: int) -> str:
    url = site.values("url")[row]
    return url if isinstance(url, str) else site.name(row)


def _first_heading(headings: object) -> str | None:
    if not isinstance(headings, list):
        return None
    mains = (entry.get("text") or "" for entry in headings if entry.get("level") == "h1")
    return next(filter(str.strip, mains), "")


def checked_sizes(ngrams: object) -> tuple[int, ...]:
    """Return the lengths that a number of words, or the shortest and the longest, stand for."""
    ends = (ngrams, ngrams) if isinstance(ngrams, int) else ngrams
    whole = isinstance(ends, (tuple, list)) and len(ends) == 2 and all(type(end) is int for end in ends)
    if not whole or not 1 <= ends[0] <= ends[1] <= LONGEST:  # type: ignore[index]
        raise ParameterError(
            f"The `ngrams` parameter must be an integer from 1 to {LONGEST}, or the shortest and the longest "
            "as a tuple such as (1, 3).",
            "ngrams",
        )
    return tuple(range(ends[0], ends[1] + 1))  # type: ignore[index]


def site_keywords(
    site: Site,
    by: Literal["page", "site"] = "page",
    *,
    ngrams: int | tuple[int, int] = (1, LONGEST),
    top: int | None = None,
    min_length: int = 4,
    stop_words: Sequence[str] | str | None = None,
) -> pd.DataFrame:
    """Return the frame of `Audit.keywords`."""
    if by not in ("page", "site"):
        raise ParameterError.one_of("by", ("page", "site"))
    sizes = checked_sizes(ngrams)
    most = TOP_OF_PAGE if by == "page" else TOP_OF_SITE
    words = list(stop_words) if isinstance(stop_words, (tuple, set, frozenset)) else stop_words
    how = {
        name: KEYWORDS.parameter(name).check(value)
        for name, value in (("min_length", min_length), ("stop_words", words))
    }
    top = KEYWORDS.parameter("top").check(most if top is None else top)
    found = terms_of(site, sizes=sizes, **how)
    return _by_page(found, top) if by == "page" else _by_site(found, top)


def _by_page(found: Terms, top: int) -> pd.DataFrame:
    """Return one row for each page and term, the most distinctive first."""
    names = found.names()
    columns: dict[str, list[Any]] = {name: [] for name in _PAGE_COLUMNS}
    for page, scores in zip(found.pages, found.keyness(), strict=True):
        order = np.argsort(-np.nan_to_num(scores), kind="stable")[:top]
        count = len(order)
        columns["url"] += [page.name] * count
        columns["keyword"] += [names[number] for number in page.terms[order].tolist()]
        columns["words"] += page.words[order].tolist()
        columns["frequency"] += page.counts[order].tolist()
        columns["density"] += (page.counts[order] / np.maximum(1, page.sizes[order])).tolist()
        columns["distinctiveness"] += scores[order].tolist()
        columns["rank"] += range(1, count + 1)
        for place in PLACES:
            known = page.places.get(place)
            columns[f"in_{place}"] += [None] * count if known is None else known[order].tolist()
        columns["language"] += [page.language] * count
    return _frame(columns, _PAGE_COLUMNS)


def _by_site(found: Terms, top: int) -> pd.DataFrame:
    """Return one row for each term of the site, the most frequent first."""
    names, (counts, _) = found.names(), found.sums()
    size = len(names)
    pages, words = np.zeros(size, np.int64), np.zeros(size, np.int64)
    best, best_page = np.full(size, -np.inf), np.full(size, -1, np.int64)
    standing = {place: np.zeros(size, np.int64) for place in PLACES}
    for place_of_page, (page, scores) in enumerate(zip(found.pages, found.keyness(), strict=True)):
        pages[page.terms] += 1
        words[page.terms] = page.words
        known = np.where(np.isnan(scores), page.counts, scores)
        better = known > best[page.terms]
        best[page.terms[better]] = known[better]
        best_page[page.terms[better]] = place_of_page
        for place, stands in page.places.items():
            standing[place][page.terms[stands]] += 1
    order = np.lexsort((-best, -pages, -counts))[:top]
    single = len(found.pages) < 2
    return _frame(
        {
            "keyword": [names[number] for number in order.tolist()],
            "words": words[order].tolist(),
            "pages": pages[order].tolist(),
            "frequency": counts[order].tolist(),
            "best_page": [found.pages[number].name for number in best_page[order].tolist()],
            "distinctiveness": [None] * len(order) if single else best[order].tolist(),
            **{f"in_{place}": standing[place][order].tolist() for place in PLACES},
        },
        _SITE_COLUMNS,
    )


_PAGE_COLUMNS: dict[str, Dtype] = {
    "url": "string",
    "keyword": "string",
    "words": "integer",
    "frequency": "integer",
    "density": "float",
    "distinctiveness": "float",
    "rank": "integer",
    **{f"in_{place}": "boolean" for place in PLACES},
    "language": "string",
}
_SITE_COLUMNS: dict[str, Dtype] = {
    "keyword": "string",
    "words": "integer",
    "pages": "integer",
    "frequency": "integer",
    "best_page": "string",
    "distinctiveness": "float",
    **{f"in_{place}": "integer" for place in PLACES},
}


def _frame(columns: dict[str, list[Any]], dtypes: dict[str, Dtype]) -> pd.DataFrame:
    index = pd.RangeIndex(len(next(iter(columns.values()))))
    return pd.DataFrame(
        {name: make_series(columns[name], dtype, index) for name, dtype in dtypes.items()}, index=index
    )


def of_main_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return an audit's frame with the keywords of its main texts, where a service counted whole pages."""
    settings = {name: KEYWORDS.parameter(name).default for name in ("ngrams", "top", "min_length")}
    cells: list[dict[str, int] | None] = []
    for known, text, detected, declared in zip(
        frame["keywords"], frame["text"], frame["language"], frame["lang"], strict=True
    ):
        if not isinstance(known, dict) or not isinstance(text, str):
            cells.append(None)
            continue
        found = count_keywords(text, language_of(detected, declared), **settings)
        cells.append(dict(zip(found["keywords"], found["frequency"], strict=True)))
    made = frame.copy(deep=False)
    made["keywords"] = make_series(cells, "object", frame.index)
    made.attrs = dict(frame.attrs)
    return made
