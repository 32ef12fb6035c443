"""What other sites write about and ours does not: the terms that tell their texts from ours."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from webanalytics.analysis.keywords.keyness import CRITICAL, keyness
from webanalytics.analysis.text.language import detect
from webanalytics.audits.audit import Audit
from webanalytics.audits.terms import LONGEST, Terms, checked_sizes, grouped_terms
from webanalytics.errors import ParameterError
from webanalytics.frames.schema import make_series
from webanalytics.operations import KEYWORDS
from webanalytics.operations.model import Dtype

Contents: TypeAlias = "Audit | pd.DataFrame | Iterable[Audit | pd.DataFrame]"

EXAMPLES = 3
"""Most pages named for each term."""

BARELY = 4
"""How many times as frequent as in ours a term of theirs must be, where ours has it."""

_COLUMNS: dict[str, Dtype] = {
    "keyword": "string",
    "gap": "string",
    "distinctiveness": "float",
    "their_pages": "integer",
    "our_pages": "integer",
    "their_frequency": "integer",
    "our_frequency": "integer",
    "their_density": "float",
    "our_density": "float",
    "examples": "object",
    "our_page": "string",
    "language": "string",
}


def content_gap(
    ours: Audit | pd.DataFrame,
    theirs: Contents,
    *,
    ngrams: int | tuple[int, int] = (1, LONGEST),
    top: int = 100,
    min_length: int = 4,
    min_pages: int = 1,
) -> pd.DataFrame:
    """Find the words and phrases that are distinctive of other sites' texts and that ours lacks, or nearly.

    Parameters
    ----------
    ours : Audit or DataFrame
        Pages of our site: an audit, a frame with ``url`` and ``text``, or a frame of `webanalytics.keywords`,
        which knows only the ``top`` keywords of each page.
    theirs : Audit, DataFrame or iterable of them
        Pages of other sites, likewise.
    ngrams : int or tuple of int, default (1, 3)
        Words of a term, or the fewest and the most.
    top : int, default 100
        Most terms of a language.
    min_length : int, default 4
        Fewest letters of a term.
    min_pages : int, default 1
        On how many of their pages a term must stand.

    Returns
    -------
    pandas.DataFrame
        The most distinctive first: ``keyword``, ``gap`` ("missing", or "thin" where ours has it a quarter as
        often or less), ``distinctiveness``, ``their_pages``, ``our_pages``, ``their_frequency``,
        ``our_frequency``, ``their_density`` and ``our_density`` (share of all words), ``examples`` (up to
        three of their pages, those that use it most first), ``our_page`` (the page of ours that uses it
        most) and ``language``.

    Raises
    ------
    ParameterError
        For a wrong argument.

    Notes
    -----
    The distinctiveness is the log-likelihood ratio G2 of a term in all of their texts against all of ours (T.
    Dunning 1993; P. Rayson and R. Garside 2000; see `webanalytics.keywords`); terms are shown from 10.83,
    which chance exceeds in 0.1% of them. Texts are compared with those of their language: languages that we
    do not have at all are left out. So are the names of their hosts.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> ours = pd.DataFrame({"url": ["https://a.example/"], "text": ["Lamps made of brass. " * 9]})
    >>> theirs = pd.DataFrame({"url": ["https://b.example/"], "text": ["Lamps, repair kits. " * 9]})
    >>> wa.content_gap(ours, theirs)[["keyword", "gap", "their_pages"]].values.tolist()
    [['repair kits', 'missing', 1]]
    """
    sizes = checked_sizes(ngrams)
    for name, value in (("top", top), ("min_length", min_length)):
        KEYWORDS.parameter(name).check(value)
    if type(min_pages) is not int or min_pages < 1:
        raise ParameterError("The `min_pages` parameter must be an integer of at least 1.", "min_pages")
    how: dict[str, Any] = {"sizes": sizes, "min_length": min_length}
    several = not isinstance(theirs, pd.DataFrame) and isinstance(theirs, Iterable)
    others: list[Any] = list(theirs) if several else [theirs]
    rivals = _Side.of(others, "theirs", **how)
    wanted = {term for one in rivals.values() for term in one.counts}
    own = _Side.of([ours], "ours", wanted, **how, parts=True, least=1)
    if "" in rivals or "" in own:  # a language that is not known may be any
        rivals, own = ({"": _Side.joined(side.values())} for side in (rivals, own))
    rows: list[dict[str, Any]] = []
    for language, side in rivals.items():
        if language in own and side.words[1:].any() and own[language].words[1:].any():
            rows += nlargest(
                top, _gaps(side, own[language], language, min_pages), key=lambda row: row["distinctiveness"]
            )
    rows.sort(key=lambda row: -row["distinctiveness"])
    index = pd.RangeIndex(len(rows))
    columns = {name: make_series([row[name] for row in rows], kind, index) for name, kind in _COLUMNS.items()}
    return pd.DataFrame(columns, index=index)


class _Page(NamedTuple):
    """The terms of one page: each with its frequency and number of words, and all words by that number."""

    url: str
    language: str
    terms: list[tuple[str, int, int]]
    words: Any


@dataclass(eq=False)
class _Side:
    """All texts of one side in one language."""

    counts: Counter[str] = field(default_factory=Counter)
    pages: Counter[str] = field(default_factory=Counter)
    length: dict[str, int] = field(default_factory=dict)
    best: defaultdict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    words: Any = field(default_factory=lambda: np.zeros(LONGEST + 1, np.int64))
    hosts: set[str] = field(default_factory=set)

    @classmethod
    def of(
        cls, sources: Iterable[Any], parameter: str, wanted: Collection[str] | None = None, **how: Any
    ) -> dict[str, _Side]:
        """Return the sides of sources by language, with only the wanted terms."""
        found: dict[str, _Side] = {}
        for source in sources:
            for page in _pages(source, parameter, **how):
                found.setdefault(page.language, cls()).add(page, wanted)
        return found

    @classmethod
    def joined(cls, sides: Iterable[_Side]) -> _Side:
        """Return several sides as one."""
        made = cls()
        for side in sides:
            made.counts += side.counts
            made.pages += side.pages
            made.length |= side.length
            made.words = made.words + side.words
            made.hosts |= side.hosts
            for term, best in side.best.items():
                made.best[term] = nlargest(EXAMPLES, [*made.best[term], *best], key=lambda one: one[0])
        return made

    def add(self, page: _Page, wanted: Collection[str] | None) -> None:
        """Add a page."""
        self.words = self.words + page.words
        self.hosts |= _host_names(page.url)
        for term, times, length in page.terms:
            if wanted is None or term in wanted:
                self.counts[term] += times
                self.pages[term] += 1
                self.length.setdefault(term, length)
                best = self.best[term]
                best.append((times, page.url))
                if len(best) > EXAMPLES:
                    best.remove(min(reversed(best), key=lambda one: one[0]))

    def examples(self, term: str) -> list[str]:
        """Return the pages that use a term most, the first one the most."""
        return [url for _, url in sorted(self.best.get(term, ()), key=lambda one: -one[0])]


def _gaps(theirs: _Side, ours: _Side, language: str, min_pages: int) -> Iterator[dict[str, Any]]:
    terms = [term for term, pages in theirs.pages.items() if pages >= min_pages]
    if not terms:
        return
    lengths = np.array([theirs.length[term] for term in terms])
    there = np.array([theirs.counts[term] for term in terms])
    here = np.array([ours.counts[term] for term in terms])
    words, own = np.maximum(1, theirs.words[lengths]), np.maximum(1, ours.words[lengths])
    scores = keyness(there, words, here, own)
    for place in np.flatnonzero((scores >= CRITICAL) & (there / words >= BARELY * here / own)).tolist():
        term = terms[place]
        if term.replace(" ", "") in theirs.hosts:
            continue
        yield {
            "keyword": term,
            "gap": "thin" if here[place] else "missing",
            "distinctiveness": float(scores[place]),
            "their_pages": theirs.pages[term],
            "our_pages": ours.pages[term],
            "their_frequency": int(there[place]),
            "our_frequency": int(here[place]),
            "their_density": float(there[place] / words[place]),
            "our_density": float(here[place] / own[place]),
            "examples": theirs.examples(term),
            "our_page": next(iter(ours.examples(term)), None),
            "language": language or None,
        }


def _pages(source: Any, parameter: str, **how: Any) -> Iterator[_Page]:
    """Yield the pages of an audit, of a frame of texts, or of a frame of keywords."""
    if isinstance(source, Audit):
        for terms in grouped_terms(source.site, lambda row, language: language, **how).values():  # noqa: ARG005
            yield from _from_terms(terms)
    elif isinstance(source, pd.DataFrame) and {"url", "text"} <= set(source.columns):
        yield from _from_terms(_of_texts(source, **how))
    elif isinstance(source, pd.DataFrame) and {"url", "keyword", "frequency"} <= set(source.columns):
        yield from _of_keywords(source, how["sizes"])
    else:
        raise ParameterError(
            f"The `{parameter}` parameter must be an audit, or a frame with the columns url and text or url, "
            "keyword and frequency.",
            parameter,
        )


def _from_terms(found: Terms) -> Iterator[_Page]:
    names = found.names()
    for page in found.pages:
        rows = zip(page.terms.tolist(), page.counts.tolist(), page.words.tolist(), strict=True)
        yield _Page(
            page.name,
            page.language,
            [(names[term], times, words) for term, times, words in rows],
            page.totals,
        )


def _of_texts(frame: pd.DataFrame, **how: Any) -> Terms:
    found = Terms()
    said = frame["language"].tolist() if "language" in frame else [None] * len(frame)
    seen = set()
    for row, (url, text, language) in enumerate(zip(frame["url"], frame["text"], said, strict=True)):
        if isinstance(text, str) and text and (url, text) not in seen:
            seen.add((url, text))
            known = language if isinstance(language, str) and language else detect(text) or "en"
            found.add(row, url if isinstance(url, str) else "", known, text, {}, **how)
    return found


def _of_keywords(frame: pd.DataFrame, sizes: Collection[int]) -> Iterator[_Page]:
    """Yield the pages of a frame of keywords; their words follow from frequency and density."""
    shown = frame[frame["frequency"].fillna(0) > 0].drop_duplicates(["url", "keyword"])
    for url, rows in shown.groupby("url", sort=False):
        language = rows["language"].iloc[0] if "language" in rows else ""
        density = rows["density"] if "density" in rows else rows["frequency"] / rows["frequency"].sum()
        terms = []
        words = np.zeros(LONGEST + 1, np.int64)
        for term, times, share in zip(rows["keyword"], rows["frequency"], density, strict=True):
            size = min(LONGEST, term.count(" ") + 1)
            if size in sizes:
                terms.append((term, int(times), size))
                words[size] = max(words[size], round(times / share) if share and share == share else 0)
        yield _Page(str(url), language if isinstance(language, str) else "", terms, words)


def _host_names(url: str) -> set[str]:
    """Return the parts of a host that may be a name, without hyphens.

    Examples
    --------
    >>> sorted(_host_names("https://www.green-tea.example/"))
    ['greentea']
    """
    try:
        labels = (urlsplit(url).hostname or "").split(".")[:-1]
    except ValueError:
        return set()
    return {label.replace("-", "") for label in labels} - {"www", ""}
