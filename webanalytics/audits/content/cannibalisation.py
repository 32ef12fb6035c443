"""Pages of one site that compete for the same searches: they make the same terms their own.

Candidates come from an index of the terms, and each page meets few others for each of its terms: the work
grows with the number of pages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.audits.content.terms import PageTerms, Scores, Terms, terms_of
from webanalytics.audits.content.words import Numbers
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.errors import ParameterError
from webanalytics.page.keywords.keyness import UNLIKELY, keyness
from webanalytics.runs.boundary import watched
from webanalytics.runs.frames.schema import frame_of
from webanalytics.urls import host_of

NEIGHBOURS = 10
"""Pages with which each page is compared for each of its terms: those that claim it next most."""

SHORTEST_TERM = 3
"""Fewest letters of a word: shorter ones are seldom what a page is about."""

_COLUMNS: dict[str, Dtype] = {
    "keyword": "string",
    "url": "string",
    "rival": "string",
    "score": "float",
    "places": "string",
    "rival_places": "string",
    "frequency": "integer",
    "rival_frequency": "integer",
    "distinctiveness": "float",
    "rival_distinctiveness": "float",
    "shared": "string",
    "language": "string",
}


@dataclass(eq=False)
class _Claims:
    """What one page is about: the terms in its title or main heading that its text has too."""

    page: PageTerms
    places: dict[int, int]  # each term that it claims, to its position among the page's terms
    # how distinctive each is against the pages that do not claim it
    scores: dict[int, float] = field(default_factory=dict)
    # how much the page makes of each single word among them; rare words count for more
    weights: dict[int, float] = field(default_factory=dict)

    def about(self, term: int) -> bool:
        """Return whether the text is about a term, not only the title."""
        return self.scores[term] > UNLIKELY


def rivals(site: Site, min_score: float) -> pd.DataFrame:
    """Return the frame of `Audit.cannibalisation`, which is made once."""
    if isinstance(min_score, bool) or not isinstance(min_score, (int, float)) or not 0 < min_score <= 1:
        raise ParameterError("The `min_score` parameter must be a number above 0 and at most 1.", "min_score")
    made: pd.DataFrame = site.once(("rivals", min_score), lambda: _rivals(site, min_score))
    return made.copy()


def _rivals(site: Site, min_score: float) -> pd.DataFrame:
    found = []
    names: list[str] = []
    for group in _groups(site):
        names = group.names()
        claims = _claims(group)
        pairs = _candidates(claims)
        for one, other in watched(pairs, len(pairs), "competing pages", "pair"):
            score = _likeness(claims[one].weights, claims[other].weights)
            if score >= min_score:
                pair = _pair(claims[one], claims[other], score, names)
                found += [] if pair is None else [pair]
    found.sort(key=lambda row: (-row["score"], -row["distinctiveness"]))
    return frame_of(_COLUMNS, found)


def _groups(site: Site) -> Iterator[Terms]:
    """Yield the terms of the pages of each host and language, where there are several."""
    clusters = site.values("near_duplicate_cluster")
    first: dict[Any, int] = {}
    for row in site.distinct:
        if clusters[row] is not None:
            first.setdefault(clusters[row], row)

    whole = terms_of(site, min_length=SHORTEST_TERM)
    groups: defaultdict[tuple[str, str], list[PageTerms]] = defaultdict(list)
    for page in whole.pages:
        if site.indexable[page.row] and first.get(clusters[page.row], page.row) == page.row:
            groups[host_of(site.name(page.row)).removeprefix("www."), page.language].append(page)
    for pages in groups.values():
        if len(pages) > 1:
            yield whole.part(pages)


def _claims(group: Terms) -> list[_Claims]:
    """Return what each page of a group is about."""
    counts, _ = group.frequencies()
    words_of_others, users = np.tile(group.totals, (len(counts), 1)), np.zeros(len(counts), np.int64)
    found = []
    for page in group.pages:
        nowhere = np.zeros(len(page.terms), bool)
        places = np.flatnonzero(page.places.get("title", nowhere) | page.places.get("h1", nowhere))
        terms = page.terms[places]
        counts[terms] -= page.counts[places]
        words_of_others[terms] -= page.totals
        users[terms] += 1
        found.append(_Claims(page, dict(zip(terms.tolist(), places.tolist(), strict=True))))
    rarity = np.log((len(found) + 1) / np.maximum(1, users))
    for one in found:
        _weigh(one, counts, words_of_others, rarity)
    return found


def _weigh(one: _Claims, counts: Numbers, totals: Numbers, rarity: Scores) -> None:
    """Fill in how distinctive the terms of a page are, and how much it makes of each word."""
    page, places = one.page, np.array([*one.places.values()], np.int64)
    terms, words = page.terms[places], page.words[places]
    scores = np.nan_to_num(
        keyness(page.counts[places], page.sizes[places], counts[terms], totals[terms, words])
    )
    one.scores = dict(zip(terms.tolist(), scores.tolist(), strict=True))
    standing = [page.places[place][places] for place in ("title", "h1") if place in page.places]
    claim = (np.sum(standing, axis=0) + (scores > UNLIKELY)) / 3 * rarity[terms]
    one.weights = {int(terms[n]): float(claim[n]) for n in np.flatnonzero(words == 1).tolist()}


def _candidates(claims: list[_Claims]) -> list[tuple[int, int]]:
    """Return pairs of pages to compare: for each word, pages with claims next to each other in strength."""
    index: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
    for number, one in enumerate(claims):
        for term, weight in one.weights.items():
            if one.about(term):
                index[term].append((-weight, number))
    pairs = set()
    for users in index.values():
        users.sort()
        for place, (_, number) in enumerate(users):
            for _, other in users[place + 1 : place + 1 + NEIGHBOURS]:
                pairs.add((min(number, other), max(number, other)))
    return sorted(pairs)


def _likeness(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """Return the weighted Jaccard similarity of two pages' claims."""
    least = sum(min(weight, other[term]) for term, weight in one.items() if term in other)
    return least / (sum(one.values()) + sum(other.values()) - least) if least else 0.0


def _pair(one: _Claims, other: _Claims, score: float, names: list[str]) -> dict[str, Any] | None:
    """Return the row of a pair, None where no term that both texts are about stands behind it."""
    shared = [term for term in one.places if term in other.places]
    about = [term for term in shared if one.about(term) and other.about(term)]
    if not about:
        return None
    length = {term: int(one.page.words[one.places[term]]) for term in shared}
    term = max(about, key=lambda term: (length[term], min(one.scores[term], other.scores[term])))
    if other.scores[term] > one.scores[term]:
        one, other = other, one
    place, rival = one.places[term], other.places[term]
    return {
        "keyword": names[term],
        "url": one.page.name,
        "rival": other.page.name,
        "score": score,
        "places": _places(one.page, place),
        "rival_places": _places(other.page, rival),
        "frequency": int(one.page.counts[place]),
        "rival_frequency": int(other.page.counts[rival]),
        "distinctiveness": one.scores[term],
        "rival_distinctiveness": other.scores[term],
        "shared": ", ".join(names[number] for number in shared if length[number] == 1),
        "language": one.page.language,
    }


def _places(page: PageTerms, term: int) -> str:
    standing = [name.replace("_", " ") for name, known in page.places.items() if known[term]]
    return ", ".join([*standing, "text"])
