"""What to do with each page of a site: keep, improve, merge, redirect, close to search engines, remove."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from webanalytics.audits.content.nearest import Vocabulary, nearest
from webanalytics.audits.graph.site_links import normal
from webanalytics.audits.rules.content import WITHOUT_SPACES
from webanalytics.audits.rules.crawl import is_list, later_pages
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.core.strings import counted
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.schema import frame_of
from webanalytics.urls import parts_of

COLUMNS: Mapping[str, Dtype] = {
    **{"url": "string", "advice": "string", "target": "string", "reasons": "string"},
    **{"content_words": "integer", "inlinks": "integer", "clicks": "float", "impressions": "float"},
    **{"similarity": "float", "indexability": "string"},
}
CANDIDATES = 5
"""Nearest pages of each that are looked at."""
_STAYS = frozenset(("keep", "improve"))


class Limits(NamedTuple):
    """From where on a page is thin, similar to another one, visited, and linked to."""

    thin: float
    similar: float
    clicks: float
    inlinks: float


class _Page(NamedTuple):
    row: int
    url: str
    words: int | None
    """Missing where they cannot be counted, or may not be all."""
    inlinks: int | None
    clicks: float | None
    impressions: float | None
    indexability: str
    is_list: bool
    is_home: bool
    cluster: int | None

    @property
    def rank(self) -> tuple[Any, ...]:
        """The order of pages about the same thing: the one that should stay first."""
        return -(self.clicks or 0), -(self.inlinks or 0), -(self.words or 0), len(self.url), self.url


class _Advice(NamedTuple):
    advice: str
    reasons: str
    target: int | None = None
    similarity: float | None = None


def prune(site: Site, rows: Sequence[int] | None, limits: Limits, whole: bool) -> pd.DataFrame:
    """Return the frame of `Audit.prune`: of some rows, or of all."""
    for name, value in limits._asdict().items():
        most = 1 if name == "similar" else float("inf")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= most:
            told = "above 0, and at most 1" if name == "similar" else "above 0"
            raise ParameterError.must_be(name, f"a number {told}")
    pages = {page.row: page for page in _pages(site, whole)}
    advice = _Judgement(site, pages, limits).all()
    chosen = pages.values() if rows is None else [pages[row] for row in rows if row in pages]
    return frame_of(COLUMNS, (_told(page, advice[page.row], pages) for page in chosen))


def _told(page: _Page, given: _Advice, pages: Mapping[int, _Page]) -> dict[str, Any]:
    return {
        "url": page.url,
        "advice": given.advice,
        "target": None if given.target is None else pages[given.target].url,
        "reasons": given.reasons,
        "content_words": page.words,
        **{name: getattr(page, name) for name in ("inlinks", "clicks", "impressions", "indexability")},
        "similarity": given.similarity,
    }


def _pages(site: Site, whole: bool) -> Iterator[_Page]:
    """Yield the pages that were read, each once; a plain text is none."""
    names = (
        *("content_words", "inlinks", "clicks", "impressions", "indexability"),
        *("page_type", "language", "internal_links"),
    )
    doubtful = [
        content.is_doubtful(note)
        for content, note in zip(site.contents(), site.values("content_note"), strict=True)
    ]
    clusters = site.values("near_duplicate_cluster")
    whole = whole and "clicks" in site.pages
    for row, words, inlinks, clicks, shown, state, kind, language, links in site.read(*names):
        if row in site.texts:
            continue
        known = None if doubtful[row] or language in WITHOUT_SPACES else words
        is_home = parts_of(site.name(row)).path in ("", "/")
        if whole and clicks is None:  # a page with clicks was shown, however often
            clicks, shown = 0, 0 if shown is None else shown
        figures = inlinks, _number(clicks), _number(shown)
        yield _Page(row, site.name(row), known, *figures, state, is_list(kind, links), is_home, clusters[row])


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


class _Judgement:
    """What is advised, page after page: the one that should stay before those that are about the same."""

    def __init__(self, site: Site, pages: Mapping[int, _Page], limits: Limits) -> None:
        self._site, self._pages, self._limits = site, pages, limits
        self._later = later_pages(site)
        self._order = [page for page in pages.values() if page.indexability == "indexable"]
        rows, known = [page.row for page in self._order], Vocabulary()
        described = known.of_site(site, rows)
        near = nearest(known, described, described, CANDIDATES) if rows else []
        self._near = dict(zip(rows, near, strict=True))
        self._known: dict[int, _Advice] = {}
        self._first: dict[int | None, list[_Page]] = {}

    def all(self) -> dict[int, _Advice]:
        """Return the advice on each page, by its row."""
        for page in sorted(self._pages.values(), key=lambda page: page.rank):
            self._known[page.row] = self._advice(page)
            if page.cluster is not None:
                self._first.setdefault(page.cluster, []).append(page)
        return self._known

    def _advice(self, page: _Page) -> _Advice:
        if page.indexability != "indexable":
            return _Advice("keep", f"It is in no search results as it is: {page.indexability}.")
        if page.row in self._later:
            return _Advice("keep", "A later page of a list, which leads to what is listed.")
        made = None if page.is_home else self._same(page) or self._similar(page)
        made = made or self._alone(page)
        near = self._near[page.row]
        if made.similarity is not None or not near:
            return made
        scores = {self._order[one.place].row: one.score for one in near}
        return made._replace(similarity=near[0].score if made.target is None else scores.get(made.target))

    def _same(self, page: _Page) -> _Advice | None:
        """Return where a page leads that has nearly the text of one that is visited or linked to more."""
        others = self._first.get(page.cluster, ())
        first = next((one for one in others if self._may_be_one(page, one)), None)
        if first is None or self._known[first.row].advice == "remove":
            return None
        goal = self._known[first.row].target
        target = first.row if goal is None else goal
        return _Advice("redirect to", f"Nearly the same text as {first.url}{_stronger(first, page)}.", target)

    def _similar(self, page: _Page) -> _Advice | None:
        """Return what page a page belongs to that is about the same and has few visits and links."""
        if page.is_list or self._why_strong(page):
            return None
        for one in self._near[page.row]:
            other = self._order[one.place]
            known = self._known.get(other.row)
            stays = known is not None and known.advice in _STAYS and not other.is_list
            if one.score >= self._limits.similar and stays and self._may_be_one(page, other):
                words = ", ".join(one.words[:CANDIDATES])
                said = f"About the same as {other.url}{_stronger(other, page)}: both say {words}."
                return _Advice("merge into", said, other.row, one.score)
        return None

    def _may_be_one(self, page: _Page, other: _Page) -> bool:
        """Return whether two pages are of one site and no versions of each other in languages."""
        site = self._site
        alternates = [{url for _, url in site.alternates.get(one.row, ())} for one in (page, other)]
        versions = normal(other.url) in alternates[0] or normal(page.url) in alternates[1]
        return not versions and site.domain(page.row) == site.domain(other.row)

    def _why_strong(self, page: _Page) -> str:
        """Return what a page has that would be lost with it, '' if nothing."""
        if page.clicks is not None and page.clicks >= self._limits.clicks:
            return f"it has {counted(int(page.clicks), 'click')}"
        return _linked(page) if page.inlinks is not None and page.inlinks >= self._limits.inlinks else ""

    def _alone(self, page: _Page) -> _Advice:
        """Return the advice on a page that is about nothing that another one is about."""
        strong = self._why_strong(page)
        also = f", and {strong}" * bool(strong)
        unseen = page.clicks is not None and page.clicks < self._limits.clicks and not page.impressions
        if page.words is None or page.is_list or page.words >= self._limits.thin:
            if unseen and page.impressions == 0 and not page.is_home:
                return _Advice("improve", "It is long enough, but no searcher was shown it.")
            doubt = "Its words cannot be counted for sure; n" if page.words is None else "N"
            return _Advice("keep", f"{doubt}othing speaks against it{also}.")
        few = f"{counted(page.words, 'word')} of content"
        if not unseen or page.is_home or page.inlinks is None:
            return _Advice("improve", f"{few}{also}.")
        few += f" and {counted(int(page.clicks), 'click') if page.clicks else 'no clicks'} from search"
        if strong:
            return _Advice("noindex", f"{few}, but {strong}: its visitors come by links.")
        return _Advice("remove", f"{few}, and {'only ' * (page.inlinks > 0)}{_linked(page)}.")


def _linked(page: _Page) -> str:
    count = page.inlinks or 0
    return f"{counted(count) if count else 'no page'} link{'s' * (count < 2)} to it"


def _stronger(first: _Page, page: _Page) -> str:
    """Return what the page that stays has more of, as far as it is known of both."""
    for name in ("clicks", "inlinks"):
        more, less = (getattr(one, name) for one in (first, page))
        if None not in (more, less) and more > less:
            label = "links to it" if name == "inlinks" else name
            return f", which has more {label} ({more:,.0f}, not {less:,.0f})"
    return ""
