"""Pages of one site that compete for the same searches: they make the same terms their own.

Candidates come from an index of the terms, and each page meets few others for each of its terms: the work
grows with the number of pages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.content.nearest import spans
from webanalytics.audits.content.terms import Scores, Terms, terms_of
from webanalytics.audits.content.vocabulary import Numbers, PageTerms
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.errors import ParameterError
from webanalytics.page.keywords.keyness import UNLIKELY, keyness
from webanalytics.runs.boundary import watched
from webanalytics.runs.frames.schema import make_columns
from webanalytics.urls import host_of

NEIGHBOURS = 10
"""Pages with which each page is compared for each of its terms: those that claim it next most."""

PAIRS = 20_000
"""Pairs of pages that are compared together."""

SHORTEST_TERM = 3
"""Fewest letters of a word: shorter ones are seldom what a page is about."""

_COLUMNS: dict[str, Dtype] = {
    **{"keyword": "string", "url": "string", "rival": "string", "score": "float", "places": "string"},
    **{"rival_places": "string", "frequency": "integer", "rival_frequency": "integer"},
    **{"distinctiveness": "float", "rival_distinctiveness": "float", "shared": "string"},
    **{"language": "string"},
}


@dataclass(eq=False)
class _Claims:
    """What pages are about: the terms in title or main heading that a text has too, page after page."""

    pages: list[PageTerms]
    owners: Numbers  # whose claim each is,
    places: Numbers  # at which position among the page's terms
    terms: Numbers
    words: Numbers  # of the term
    # how distinctive it is against the pages that do not claim it
    scores: Scores
    about: npt.NDArray[np.bool_]  # whether the text is about the term, not only the title
    # how much the page makes of it, where it is a single word, else 0; rare words count for more
    weights: Scores

    def shared(self, ones: Numbers, others: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return the claims that pairs of pages have in common: of which pair, the one's and the other's."""
        most = int(self.terms.max(initial=0)) + 1
        keys = self.owners * most + self.terms
        order = np.argsort(keys)
        starts = np.searchsorted(self.owners, ones)
        counts = np.searchsorted(self.owners, ones, "right") - starts
        mine, pairs = spans(starts, counts), np.repeat(np.arange(len(ones)), counts)
        wanted = others[pairs] * most + self.terms[mine]
        at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
        both = np.flatnonzero(keys[order[at]] == wanted)
        return pairs[both], mine[both], order[at[both]]


def rivals(site: Site, min_score: float) -> pd.DataFrame:
    """Return the frame of `Audit.cannibalisation`, which is made once."""
    if isinstance(min_score, bool) or not isinstance(min_score, (int, float)) or not 0 < min_score <= 1:
        raise ParameterError("The `min_score` parameter must be a number above 0 and at most 1.", "min_score")
    made: pd.DataFrame = site.once(("rivals", min_score), lambda: _rivals(site, min_score))
    return made.copy()


def _rivals(site: Site, min_score: float) -> pd.DataFrame:
    cells: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for group in _groups(site):
        claims, names = _claims(group), group.vocabulary.names
        ones, others = _candidates(claims)
        starts = range(0, len(ones), PAIRS)
        for start in watched(starts, len(starts), "competing pages", "portion"):
            one, other = ones[start : start + PAIRS], others[start : start + PAIRS]
            scores = _likeness(claims, one, other)
            close = np.flatnonzero(scores >= min_score)
            found = _pairs(claims, one[close], other[close], scores[close], names)
            for name, values in found.items():
                cells[name] += values
    order = np.lexsort((-np.array(cells["distinctiveness"]), -np.array(cells["score"]))).tolist()
    ranked = {name: [values[row] for row in order] for name, values in cells.items()}
    return pd.DataFrame(make_columns(ranked, _COLUMNS))


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


def _claims(group: Terms) -> _Claims:
    """Return what the pages of a group are about."""
    pages, (counts, _) = group.pages, group.frequencies()
    standing = [_claimed(page) for page in pages]
    places = [np.flatnonzero(times) for times in standing]
    owners, size = np.repeat(np.arange(len(pages)), [*map(len, places)]), len(counts)
    terms, words, here = (
        np.concatenate([getattr(page, name)[own] for page, own in zip(pages, places, strict=True)])
        for name in ("terms", "words", "counts")
    )
    totals = np.array([page.totals for page in pages])
    elsewhere = counts - np.bincount(terms, here, size)
    sums = [np.bincount(terms, total, size) for total in totals[owners].T]
    rest = (group.totals - np.transpose(sums))[terms, words]
    scores = np.nan_to_num(keyness(here, totals[owners, words], elsewhere[terms], rest))
    rarity = np.log((len(pages) + 1) / np.maximum(1, np.bincount(terms, minlength=size)))
    at = np.concatenate(places)
    stands = np.concatenate([times[own] for times, own in zip(standing, places, strict=True)])
    about = scores > UNLIKELY
    claim = np.where(words == 1, (stands + about) / 3 * rarity[terms], 0.0)
    return _Claims(pages, owners, at, terms, words, scores, about, claim)


def _claimed(page: PageTerms) -> Numbers:
    """Return in how many of title and main heading each term of a page stands."""
    nowhere = np.zeros(len(page.terms), np.int8)
    return nowhere + page.places.get("title", nowhere) + page.places.get("h1", nowhere)


def _candidates(claims: _Claims) -> tuple[Numbers, Numbers]:
    """Return pairs of pages to compare: for each word, pages with claims next to each other in strength."""
    chosen = np.flatnonzero((claims.weights > 0) & claims.about)
    owners, terms = claims.owners[chosen], claims.terms[chosen]
    order = np.lexsort((owners, -claims.weights[chosen], terms))
    owners, terms = owners[order], terms[order]
    pairs = [np.empty((0, 2), np.int64)]
    for step in range(1, NEIGHBOURS + 1):
        same = terms[step:] == terms[:-step]
        pairs.append(np.column_stack([owners[:-step][same], owners[step:][same]]))
    both = np.sort(np.concatenate(pairs), axis=1)
    ones, others = np.divmod(np.unique(both[:, 0] * len(claims.pages) + both[:, 1]), len(claims.pages))
    return ones, others


def _likeness(claims: _Claims, ones: Numbers, others: Numbers) -> Scores:
    """Return the weighted Jaccard similarity of the claims of pairs of pages."""
    pairs, mine, theirs = claims.shared(ones, others)
    least = np.bincount(pairs, np.minimum(claims.weights[mine], claims.weights[theirs]), len(ones))
    sums = np.bincount(claims.owners, claims.weights, len(claims.pages))
    made: Scores = least / np.maximum(sums[ones] + sums[others] - least, np.finfo(float).tiny)
    return made


def _pairs(
    claims: _Claims, ones: Numbers, others: Numbers, scores: Scores, names: list[str]
) -> dict[str, list[Any]]:
    """Return the columns of pairs behind which a term stands that both texts are about."""
    pairs, mine, theirs = claims.shared(ones, others)
    known = claims.scores
    about = np.flatnonzero(claims.about[mine] & claims.about[theirs])
    weaker = np.minimum(known[mine], known[theirs])[about]
    ranked = about[np.lexsort((-weaker, -claims.words[mine[about]], pairs[about]))]
    of, first = np.unique(pairs[ranked], return_index=True)
    best = ranked[first]
    turned = known[theirs[best]] > known[mine[best]]
    sides = np.where(turned, theirs[best], mine[best]), np.where(turned, mine[best], theirs[best])
    shared: defaultdict[int, list[str]] = defaultdict(list)
    single = np.flatnonzero(claims.words[mine] == 1)
    for pair, term in zip(pairs[single].tolist(), claims.terms[mine[single]].tolist(), strict=True):
        shared[pair].append(names[term])
    one, other = (
        [(claims.pages[claims.owners[claim]], int(claims.places[claim])) for claim in side.tolist()]
        for side in sides
    )
    return {
        "keyword": [names[term] for term in claims.terms[sides[0]].tolist()],
        "url": [page.name for page, _ in one],
        "rival": [page.name for page, _ in other],
        "score": scores[of].tolist(),
        "places": [_places(page, place) for page, place in one],
        "rival_places": [_places(page, place) for page, place in other],
        "frequency": [int(page.counts[place]) for page, place in one],
        "rival_frequency": [int(page.counts[place]) for page, place in other],
        "distinctiveness": known[sides[0]].tolist(),
        "rival_distinctiveness": known[sides[1]].tolist(),
        "shared": [", ".join(shared[pair]) for pair in of.tolist()],
        "language": [page.language for page, _ in one],
    }


def _places(page: PageTerms, term: int) -> str:
    standing = [name.replace("_", " ") for name, known in page.places.items() if known[term]]
    return ", ".join([*standing, "text"])
