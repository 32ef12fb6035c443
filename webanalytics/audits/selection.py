"""Which pages of an audit are meant by masks, URLs and labels, and which rows of a table are of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.causes import clicks_of
from webanalytics.audits.graph.site_links import normal
from webanalytics.audits.pages import CRAWLED, DERIVED, FOUND
from webanalytics.core.strings import did_you_mean, one_line, shortened
from webanalytics.core.url_patterns import matching
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.schema import make_series

if TYPE_CHECKING:
    from webanalytics.audits.site import Site

NEEDED = frozenset(("url", "status"))
"""Columns without which there is nothing to judge."""

MADE = frozenset((*DERIVED, *CRAWLED, *FOUND))
"""Columns that an audit makes itself."""

MOST_SEGMENTS = 50
SEGMENT = "segment"
"""The column of segments, which may be made anew."""
OTHER = "other"
"""The segment of pages that no pattern matches."""


def is_of_pages(value: Any) -> TypeGuard[pd.DataFrame]:
    """Return whether this is a frame of pages."""
    return isinstance(value, pd.DataFrame) and set(value.columns) >= NEEDED


def as_read(pages: Any) -> pd.DataFrame:
    """Return the pages of a frame as they were read, without the columns that an audit makes.

    Raises
    ------
    ParameterError
        For anything but a frame of pages.
    """
    if not is_of_pages(pages):
        raise ParameterError.must_be(
            "pages", "a DataFrame with the columns `url` and `status`, as webanalytics.audit makes them"
        )
    if not pages.columns.is_unique:
        raise ParameterError.on("pages", "must have each column only once")
    made = [name for name in pages.columns if name in MADE]
    frame = pd.DataFrame(pages.drop(columns=made) if made else pages)
    frame.attrs = dict(pages.attrs)
    return frame


def rows_of(pages: pd.DataFrame, which: Any) -> list[int]:
    """Return the places of the pages that are meant; see `webanalytics.Audit.select`.

    Raises
    ------
    ParameterError
        For a mask of other rows, and for a URL or label that is not there.

    Examples
    --------
    >>> pages = pd.DataFrame({"url": ["https://a.example/", "https://a.example/b"]}, index=["home", "b"])
    >>> rows_of(pages, pages["url"].str.endswith("b")), rows_of(pages, "https://A.example")
    ([1], [0])
    >>> rows_of(pages, ["b", "home"]), rows_of(pages, [False, True])
    ([1, 0], [1])
    """
    which = as_pandas([which] if isinstance(which, str) else which, "which")
    if isinstance(which, pd.DataFrame) or not isinstance(which, Iterable):
        raise ParameterError.must_be("which", "a mask of audit.pages, URLs, or labels of its index")
    listed = which if isinstance(which, pd.Series) else pd.Series(list(which), dtype=object)
    if len(listed) and pd.api.types.infer_dtype(listed, skipna=True) == "boolean":
        return _masked(pages, listed, aligned=listed is which)
    return _named(pages, listed.tolist())


def segments_of(pages: pd.DataFrame, by: str) -> list[npt.NDArray[np.bool_]]:
    """Return a mask of the pages with each value of a column, sorted; that of pages without one is the last.

    Examples
    --------
    >>> pages = pd.DataFrame({"url": ["a", "b", "c"], "page_type": ["product", "article", None]})
    >>> [mask.tolist() for mask in segments_of(pages, "page_type")]
    [[False, True, False], [True, False, False], [False, False, True]]
    """
    if not isinstance(by, Hashable) or by not in pages.columns:
        hint = did_you_mean(by, pages.columns) or "."
        raise ParameterError(f"The `by` parameter must name a column of audit.pages{hint}", "by")
    try:
        codes, known = pd.factorize(pages[by], sort=True)
    except TypeError:  # lists and the like
        raise ParameterError.on("by", "must name a column without lists") from None
    return [codes == code for code in [*range(len(known)), -1] if (codes == code).any()]


def has_segments(pages: pd.DataFrame) -> bool:
    """Return whether a column names parts of the site, so few that a table can have a row for each."""
    cells = pages["segment"].dropna().tolist() if "segment" in pages else []
    return all(isinstance(cell, str) for cell in cells) and 0 < len({*cells}) <= MOST_SEGMENTS


def segmented(pages: pd.DataFrame, patterns: Any, column: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the segment of each page, as `matched` does; see `webanalytics.Audit.segments`."""
    by = patterns if isinstance(patterns, str) else None
    good = isinstance(patterns, Mapping) and all(isinstance(one, str) and one for one in patterns.values())
    if by not in pages and not (good and patterns and all(isinstance(name, str) for name in patterns)):
        raise ParameterError.must_be("patterns", "a mapping of names to patterns, or the name of a column")
    if not isinstance(column, str) or column in {"url", *pages.columns, *MADE} - {SEGMENT}:
        raise ParameterError.must_be("column", f"`{SEGMENT}`, or a name that no column of the pages has yet")
    urls = {_normal(url): url for url in reversed(pages["url"].tolist()) if isinstance(url, str)}
    if by is not None:
        cells = dict(zip(reversed(pages["url"].tolist()), reversed(pages[by].tolist()), strict=True))
        found = [cells[url] for url in urls.values()]
        named = [str(cell) if pd.api.types.is_scalar(cell) and pd.notna(cell) else OTHER for cell in found]
    else:
        tests = {name: matching(pattern, "patterns") for name, pattern in patterns.items()}
        named = [next((name for name, is_in in tests.items() if is_in(url)), OTHER) for url in urls.values()]
    made = {"url": list(urls), column: make_series(named, "string", pd.RangeIndex(len(named)))}
    return matched(pages.drop(columns=column, errors="ignore"), pd.DataFrame(made), "url")


def _masked(pages: pd.DataFrame, mask: pd.Series[Any], *, aligned: bool) -> list[int]:
    if aligned and not mask.index.equals(pages.index):
        unique = mask.index.is_unique and pages.index.is_unique
        if not unique or len(mask) != len(pages) or len(pages.index.difference(mask.index)):
            raise ParameterError.must_be("which", "a mask with the index of audit.pages")
        mask = mask.reindex(pages.index)
    if len(mask) != len(pages):
        raise ParameterError.must_be("which", f"a mask of the {len(pages):,} pages, not of {len(mask):,}")
    found: list[int] = np.flatnonzero(mask.astype("boolean").fillna(False).to_numpy(bool)).tolist()
    return found


def _named(pages: pd.DataFrame, names: Iterable[Any]) -> list[int]:
    urls = [url if isinstance(url, str) else None for url in pages["url"].tolist()]
    by_label, by_url = _places(pages.index.tolist()), _places(urls)
    by_normal: dict[Hashable, list[int]] | None = None
    found: dict[int, None] = {}
    for name in names:
        rows = by_label.get(name) if isinstance(name, Hashable) else None
        if rows is None and isinstance(name, str):
            rows = by_url.get(name)
            if rows is None:
                by_normal = _places(map(_normal, urls)) if by_normal is None else by_normal
                rows = by_normal.get(_normal(name))
        if rows is None:
            raise ParameterError.on("which", f"names a page that the audit does not have: {_shown(name)}")
        found.update(dict.fromkeys(rows))
    return list(found)


def _places(keys: Iterable[Hashable]) -> dict[Hashable, list[int]]:
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    return dict(places)


def _normal(url: Any) -> str | None:
    """Return an address in normal form, anything else that is a text as it is."""
    return normal(url) or (url if isinstance(url, str) else None)


def _shown(value: Any) -> str:
    return shortened(one_line(str(value)[:200]), 100)


def matched(pages: pd.DataFrame, frame: Any, on: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the columns of a table for each page, and the rows that are of no page.

    Raises
    ------
    ParameterError
        As `webanalytics.Audit.with_columns`.

    Examples
    --------
    >>> pages = pd.DataFrame({"url": ["https://a.example/", "https://a.example/b"]})
    >>> clicks = pd.DataFrame({"url": ["https://A.example", "https://a.example/c"], "clicks": [7, 2]})
    >>> columns, unmatched = matched(pages, clicks, "url")
    >>> columns["clicks"].tolist(), unmatched["url"].tolist()
    ([7, <NA>], ['https://a.example/c'])
    """
    if not isinstance(frame, pd.DataFrame):
        raise ParameterError.must_be("frame", "a DataFrame with a column of URLs")
    _check_columns(pages, frame, on)
    row_of: dict[str, int] = {}
    for row, url in enumerate(map(_normal, frame[on].tolist())):
        if url is None:
            continue
        if url in row_of:
            raise ParameterError.on(
                "frame", f"must have one row for each page, and has two for {_shown(url)}; sum them up first"
            )
        row_of[url] = row
    places = np.array([row_of.get(_normal(url) or "", -1) for url in pages["url"].tolist()], dtype=np.intp)
    columns = {name: _taken(frame[name], places) for name in frame.columns if name != on}
    left = np.ones(len(frame), dtype=bool)
    left[places[places >= 0]] = False
    made = pd.DataFrame(columns, index=pd.RangeIndex(len(pages))).set_axis(pages.index)
    return made, frame[left].reset_index(drop=True)


def _check_columns(pages: pd.DataFrame, frame: pd.DataFrame, on: str) -> None:
    if list(frame.columns).count(on) != 1:
        hint = did_you_mean(str(on), map(str, frame.columns)) or "."
        raise ParameterError(f"The `on` parameter names no column of the frame with `{on}`{hint}", "on")
    known = {*pages.columns, *MADE}
    clashing = [str(name) for name in frame.columns if name != on and name in known]
    if clashing or not frame.columns.is_unique:
        listed = ", ".join(f"`{name}`" for name in clashing) or "each column once"
        said = "must not have the columns" if clashing else "must have"
        raise ParameterError.on("frame", f"{said} {listed}{', which the pages have' * bool(clashing)}")


def _taken(column: pd.Series[Any], places: npt.NDArray[np.intp]) -> pd.Series[Any]:
    """Return the values at some places, missing where there is none; whole numbers stay whole."""
    plain = column.reset_index(drop=True)
    if (places < 0).any() and isinstance(plain.dtype, np.dtype) and plain.dtype.kind in "iub":
        plain = plain.convert_dtypes()
    return plain.reindex(places).reset_index(drop=True)


def shares_of_hosts(site: Site, rows: Sequence[int]) -> dict[str, float]:
    """Return which share of the pages of each host some rows are."""
    own = Counter(map(site.host, {site.addresses.final[row] or row: row for row in rows}.values()))
    return {host: count / max(count, site.hosts.get(host, 0)) for host, count in own.items()}


def issues_of(
    issues: pd.DataFrame, urls: pd.Series[Any], hosts: Mapping[str, float] = MappingProxyType({})
) -> pd.DataFrame:
    """Return the issues of some of the pages, and of their hosts, given with the share that these pages are.

    Each page has as many issues of a rule as it has rows; an issue of a host is of so many of its pages.
    """
    of_host = issues["scope"].eq("host") if "scope" in issues else pd.Series(False, index=issues.index)
    known = Counter(url if isinstance(url, str) else None for url in urls.tolist())
    before = issues.groupby(["url", "rule"], dropna=False, observed=True, sort=False).cumcount().tolist()
    shares = [
        hosts.get(str(url).partition("://")[2] or str(url), 0.0)
        if whole
        else float(known[url if isinstance(url, str) else None] > count)
        for url, count, whole in zip(issues["url"].tolist(), before, of_host.tolist(), strict=True)
    ]
    share = np.array(shares)
    chosen = issues if share.all() else issues[share > 0].reset_index(drop=True)
    if not of_host.any():
        return chosen
    for name in ("pages", "indexable"):
        counts = np.floor(chosen[name].to_numpy(np.float64) * share[share > 0] + 0.5)
        chosen = chosen.assign(**{name: pd.array(counts.astype(np.int64), dtype="Int64")})
    return chosen


def check_clicks(site: Site) -> None:
    """Refuse an audit without clicks."""
    if "clicks" not in site.pages:
        said = "The `audit` must have clicks of a search engine: see audit.with_search_data."
        raise ParameterError(said, "audit")


def summary_by(audit: Any, by: str) -> pd.DataFrame:
    """Return the summary of an audit by the values of a column, or by the clicks that each rule touches."""
    whole: pd.DataFrame = audit.summary()
    if by == "clicks":
        check_clicks(audit.site)
        urls = dict(iter(audit.issues.groupby("rule", observed=True, sort=False)["url"]))
        sums = [clicks_of(audit.site, urls[rule].tolist()) for rule in whole["rule"]]
        made: pd.DataFrame = whole.assign(clicks=make_series(sums, "integer", whole.index))
        return made.sort_values("clicks", ascending=False, kind="stable", ignore_index=True)
    masks = segments_of(audit.pages, by)
    parts = [audit.select(mask).summary() for mask in masks]
    rows = [int(mask.argmax()) for mask, part in zip(masks, parts, strict=True) for _ in part.index]
    made = pd.concat([whole.iloc[:0], *parts], ignore_index=True)
    made.insert(0, "segment", audit.pages[by].iloc[rows].array)
    return made
