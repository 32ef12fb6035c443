"""Columns of an audit that are derived from others: lengths, indexability, canonicals, sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import pandas as pd

from webanalytics.audits.content.duplicates import NearDuplicates
from webanalytics.audits.content.shared_blocks import COLUMNS as CONTENT_COLUMNS
from webanalytics.audits.content.shared_blocks import Content
from webanalytics.audits.content.words import PORTION, SHARED_FROM, TextRead, read_texts
from webanalytics.audits.directives.robots import directives
from webanalytics.audits.graph.site_links import canonical_of, normal
from webanalytics.audits.graph.tables import crawl_columns
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.runs.boundary import watched
from webanalytics.runs.frames.link_table import CrawlFacts
from webanalytics.runs.frames.schema import AUDIT_LAST as LAST
from webanalytics.runs.frames.schema import make_series
from webanalytics.runs.workers.shared import shared_out

if TYPE_CHECKING:
    from webanalytics.audits.score import Health

DERIVED: Mapping[str, tuple[Dtype, str]] = {
    "title_length": ("integer", "Characters of the title."),
    "title_pixels": ("integer", "Width of the title in search results, in pixels."),
    "description_length": ("integer", "Characters of the meta description."),
    "description_pixels": ("integer", "Width of the meta description in search results, in pixels."),
    "h1_count": ("integer", "First headings with text."),
    "h2_count": ("integer", "Second headings with text."),
    "heading_order": ("boolean", "Whether no heading is more than one level below the one before it."),
    "url_length": ("integer", "Characters of the URL."),
    "noindex": ("boolean", "Whether the page or its X-Robots-Tag header asks not to be indexed."),
    "nofollow": ("boolean", "Whether the page or its X-Robots-Tag header asks not to follow its links."),
    "indexable": ("boolean", "Whether search engines may index the page at this URL."),
    "indexability": ("string", "indexable, or why it is not."),
    "canonical_url": ("string", "Canonical URL, absolute; the first one of several."),
    "canonical_state": ("string", "missing, self, other, multiple (they contradict each other) or invalid."),
    "section": ("string", "First folder of the URL's path, empty for pages at the top."),
    "depth": ("integer", "Segments of the URL's path."),
    "inlinks": ("integer", "Other pages of the audit that link to this one."),
    "content_words": ("integer", "Words of the content, by which rules judge the page."),
    "content_origin": (
        "string",
        "What that is: own (visible text without blocks that most pages of the site or section have), or of "
        "one or two pages main (or visible, where there is no main text).",
    ),
    "content_hash": ("string", "Hash that pages with equal contents or visible texts have in common."),
    "text_share": ("float", "Words of the main text for each word of the content: low where it lacks much."),
    "near_duplicate_cluster": ("integer", "Number that near duplicates have in common."),
    "in_sitemap": ("boolean", "Whether the sitemap lists the URL."),
}
"""Derived columns: dtype and meaning."""

CRAWLED: Mapping[str, tuple[Dtype, str]] = {
    "crawl_depth": ("integer", "Fewest clicks from a start; missing where no way leads here."),
    "found_on": ("string", "Page of the first link on a shortest way to this one."),
    "inlinks_all": ("integer", "Links of other pages to this one, repeated ones too."),
    "inlinks_followed": ("integer", "Other pages with a link to this one that search engines follow."),
    "outlinks": ("integer", "Different other addresses of the site that the page links to."),
    "outlinks_external": ("integer", "Different addresses of other sites that the page links to."),
    "links_left_out": ("integer", "Links of the page that are not kept, as there are too many."),
    "link_score": ("float", "Weight of the page in the links of the site, 0 to 100, by its PageRank."),
    "pagerank": ("float", "The PageRank itself; that of all pages adds up to 1."),
    "orphan": ("boolean", "Whether no other page links to this one."),
}
"""Further derived columns of a crawl: dtype and meaning."""

FOUND: Mapping[str, tuple[Dtype, str]] = {
    "score": ("float", "The page's score: 100 less 20, 5 and 1 for each of these faults, at least 0."),
    "issues_high": ("integer", "Issues and opportunities of high priority that the page itself has."),
    "issues_medium": ("integer", "The same of medium priority."),
    "issues_low": ("integer", "The same of low priority."),
}
"""Columns that say what was found on a page: dtype and meaning."""

FIRST = (
    *("url", "status", *FOUND, "title", "description", "h1_count", "indexable", "indexability", "wordCount"),
    *("language", "inlinks", "error", "http_status"),
)
"""Columns with which the pages of an audit begin, by use."""

CanonicalState: TypeAlias = Literal["missing", "self", "other", "multiple", "invalid"]
Cells: TypeAlias = list[Any]

_INDEXABILITY = {"timeout": "no response"}


def make_site(
    frame: pd.DataFrame,
    sitemap: pd.DataFrame | None = None,
    robots: Mapping[str, list[str]] = MappingProxyType({}),
    robots_files: Mapping[str, RobotsCopy] = MappingProxyType({}),
    crawl: CrawlFacts | None = None,
    stopped: str = "",
) -> Site:
    """Return what rules examine, made from an audit's frame; its pages have the columns of `DERIVED`.

    Those of a crawl have the columns of `CRAWLED` too. What the frame lacks is missing in them.

    Notes
    -----
    A page is indexable when it was read at its own URL, without a redirect (a meta refresh that leads away
    at once is one), asks for no ``noindex`` and names no other page as its canonical one. Canonicals that
    contradict each other are ignored, as search engines do.
    """
    pages = pd.DataFrame(frame).reset_index(drop=True)
    pages = pages.drop(columns=[name for name in (*DERIVED, *CRAWLED) if name in pages])
    site = Site(pages, sitemap, robots, crawl, robots_files, stopped)
    cells = {**_texts(site), **_headings(site), **_robots(site), **_places(site)}
    cells.update(_canonicals(site))
    cells.update(_indexability(site, cells))
    listed_links = None if crawl is not None else site.inlinks
    cells["inlinks"] = [None] * len(pages) if listed_links is None else listed_links.counts
    cells["in_sitemap"] = _listed(site, sitemap)
    cells.update(_contents(site, cells["indexable"]))
    columns = {name: make_series(cells[name], dtype, pages.index) for name, (dtype, _) in DERIVED.items()}
    site.pages = pd.concat([pages, pd.DataFrame(columns, index=pages.index)], axis=1)
    site.pages.attrs.update(frame.attrs)
    return site if crawl is None else _with_links(site)


def _with_links(site: Site) -> Site:
    """Add the columns of a crawl, for which other derived columns must be known."""
    cells = crawl_columns(site.graph, site.good, site.crawl or CrawlFacts())
    kinds = {**DERIVED, **CRAWLED}
    index = site.pages.index
    columns = {name: make_series(values, kinds[name][0], index) for name, values in cells.items()}
    attrs = site.pages.attrs
    others = site.pages.drop(columns=[name for name in columns if name in site.pages])
    site.pages = pd.concat([others, pd.DataFrame(columns, index=index)], axis=1)
    site.pages.attrs.update(attrs)
    site.forget(*columns)
    return site


def with_counts(site: Site, health: Health) -> pd.DataFrame:
    """Return a site's pages with what was found on each, in the order of use."""
    cells: dict[str, Cells] = {"score": list(health.scores)}
    counts = health.counts_by_priority()
    cells |= {f"issues_{priority}": list(found) for priority, found in counts.items()}
    index = site.pages.index
    columns = {name: make_series(cells[name], dtype, index) for name, (dtype, _) in FOUND.items()}
    others = site.pages.drop(columns=[name for name in FOUND if name in site.pages])
    return _by_use(pd.concat([others, pd.DataFrame(columns, index=index)], axis=1), site.pages.attrs)


def _by_use(pages: pd.DataFrame, attrs: Mapping[Any, Any]) -> pd.DataFrame:
    first = [name for name in FIRST if name in pages]
    later = [name for name in (*DERIVED, *CRAWLED) if name in pages and name not in first]
    last = [name for name in pages.columns if name.startswith(LAST)]
    named = {*first, *later, *last}
    ordered = pages[[*first, *(name for name in pages.columns if name not in named), *later, *last]]
    ordered.attrs = dict(attrs)
    return ordered


def near_clusters(site: Site, indexable: Sequence[bool], threshold: float) -> list[int | None]:
    """Return the number of each row's cluster of near duplicates, None without one."""
    near = NearDuplicates(threshold / 100)
    rows = zip(_read(site), site.values("content_note"), _first_of(site, indexable), strict=True)
    for (content, read), note, is_first in rows:
        near.add(read.hashes if is_first and not content.is_doubtful(note) else None)
    return near.clusters()


def _read(site: Site) -> Iterator[tuple[Content, TextRead]]:
    """Yield the content of each row, and what is told of it; of many pages, worker processes read it."""
    known = zip(site.addresses.final, *map(site.values, CONTENT_COLUMNS), strict=True)
    rows = ((site.shared_blocks.content(url, *said), said[0]) for url, *said in known)

    def messages() -> Iterator[tuple[list[Content], tuple[Any]]]:
        while portion := list(islice(rows, PORTION)):
            texts = [(content.whole, content.shared, visible) for content, visible in portion]
            yield [content for content, _ in portion], (texts,)

    size = len(site.pages)
    portions = shared_out(read_texts, messages(), size >= SHARED_FROM)
    read = (one for contents, told in portions for one in zip(contents, told, strict=True))
    yield from watched(read, size, "contents", "page")


def _first_of(site: Site, indexable: Sequence[bool]) -> Iterator[bool]:
    """Yield whether each row is the first one of a page that search engines may index."""
    texts = site.texts
    return (known and row not in texts and site.addresses.first(row) for row, known in enumerate(indexable))


def _contents(site: Site, indexable: Sequence[bool]) -> dict[str, Cells]:
    cells: dict[str, Cells] = {
        name: [] for name in ("content_words", "content_origin", "content_hash", "text_share")
    }
    hashes: dict[bytes, str] = {}
    near = NearDuplicates()
    columns = (site.values(name) for name in ("wordCount", "content_note"))
    rows = zip(site.good, _first_of(site, indexable), _read(site), *columns, strict=True)
    for good, is_first, (content, read), main_words, note in rows:
        values: tuple[Any, ...] = (None,) * 4
        if good and content.whole is not None:
            _, words, own, whole = read
            if whole and content.origin != "own":  # a main text may have lost what differs
                own = whole
            elif whole:  # in two sections with blocks of their own equal pages have other contents
                own = hashes.setdefault(bytes.fromhex(whole)[:16], own or whole)
            share = main_words / words if words and main_words is not None else None
            values = (words, content.origin, own, share)
        for column, value in zip(cells.values(), values, strict=True):
            column.append(value)
        near.add(read.hashes if is_first and not content.is_doubtful(note) else None)
    return {**cells, "near_duplicate_cluster": near.clusters()}


def _texts(site: Site) -> dict[str, Cells]:
    from webanalytics.audits.content.pixels import DESCRIPTION_SIZE, TITLE_SIZE, text_widths

    titles, descriptions = _of_pages(site, "title"), _of_pages(site, "description")
    return {
        "title_length": _lengths(titles),
        "title_pixels": list(text_widths(titles, size=TITLE_SIZE)),
        "description_length": _lengths(descriptions),
        "description_pixels": list(text_widths(descriptions, size=DESCRIPTION_SIZE)),
        "url_length": _lengths(site.values("url")),
    }


def _of_pages(site: Site, column: str) -> Cells:
    """Return a column without what error pages say, which is nothing to measure."""
    return [value if good else None for value, good in zip(site.values(column), site.good, strict=True)]


def _lengths(texts: Iterable[Any]) -> Cells:
    return [None if text is None else len(text) for text in texts]


def _headings(site: Site) -> dict[str, Cells]:
    cells: dict[str, Cells] = {"h1_count": [], "h2_count": [], "heading_order": []}
    for headings in _of_pages(site, "headings"):
        if not isinstance(headings, list):
            for column in cells.values():
                column.append(None)
            continue
        levels = [entry["level"] for entry in headings]
        filled = [entry["level"] for entry in headings if (entry.get("text") or "").strip()]
        cells["h1_count"].append(filled.count("h1"))
        cells["h2_count"].append(filled.count("h2"))
        cells["heading_order"].append(
            all(int(below[1]) - int(above[1]) <= 1 for above, below in pairwise(levels))
        )
    return cells


def _robots(site: Site) -> dict[str, Cells]:
    cells: dict[str, Cells] = {"noindex": [], "nofollow": []}
    known: dict[str, frozenset[str]] = {}
    for good, *texts in zip(
        site.good, site.values("robots"), site.values("googlebot"), site.values("x_robots_tag"), strict=True
    ):
        found: set[str] = set()
        for text in texts:
            if text:
                if text not in known:
                    known[text] = directives(text)
                found |= known[text]
        unknown = not good or all(text is None for text in texts)
        for name, column in cells.items():
            column.append(None if unknown else name in found)
    return cells


class _Place(NamedTuple):
    host: str
    segments: list[str]
    folder: bool


def _places(site: Site) -> dict[str, Cells]:
    places = [None if url is None else _place(url) for url in site.addresses.final]
    # A page such as /blog is the entrance of its section if there are pages such as /blog/lamps.
    sections = {
        (place.host, place.segments[0])
        for place in places
        if place is not None and place.segments and (place.folder or len(place.segments) > 1)
    }
    return {
        "depth": [None if place is None else len(place.segments) for place in places],
        "section": [
            None
            if place is None
            else place.segments[0]
            if place.segments and (place.host, place.segments[0]) in sections
            else ""
            for place in places
        ],
    }


def _place(url: str) -> _Place:
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    return _Place(parts.netloc, segments, parts.path.endswith("/"))


def _canonicals(site: Site) -> dict[str, Cells]:
    cells: dict[str, Cells] = {"canonical_url": [], "canonical_state": []}
    rows = zip(site.good, site.addresses.final, site.canonicals, site.values("canonical"), strict=True)
    for good, own, canonicals, canonical in rows:
        url, count, known = canonical_of(canonicals, canonical) if good else (None, 0, False)
        cells["canonical_url"].append(url)
        cells["canonical_state"].append(_state(url, count, own) if known else None)
    return cells


def _state(url: str | None, count: int, own: str | None) -> CanonicalState | None:
    if url is None:
        return "missing"
    if count > 1:
        return "multiple"
    target = normal(url)
    if target is None:
        return "invalid"
    if own is None:
        return None  # a saved file does not say which address it had
    return "self" if target == own else "other"


def _indexability(site: Site, cells: Mapping[str, Cells]) -> dict[str, Cells]:
    why = [
        _INDEXABILITY.get(trip.problem, trip.problem)
        or ("noindex" if noindex else "canonicalised" if state == "other" else "indexable")
        for trip, noindex, state in zip(site.fetches, cells["noindex"], cells["canonical_state"], strict=True)
    ]
    for row in site.forwarding:
        why[row] = "redirected"
    return {"indexability": list(why), "indexable": [reason == "indexable" for reason in why]}


def _listed(site: Site, sitemap: pd.DataFrame | None) -> Cells:
    if sitemap is None or sitemap["url"].isna().all():  # one that could not be read lists nobody knows what
        return [None] * len(site.good)
    urls = {normal(url) for url in sitemap["url"].tolist()} - {None}
    return [url in urls for url in site.addresses.requested]
