"""Two judged audits of one site: what changed between them.

`webanalytics.Comparison` hands over the frames of both audits, and shows what comes back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.compare.fields import (
    FOLLOWS,
    OF_ANSWERS,
    columns_of,
    fields_of,
    is_noise,
    is_own,
    is_same,
)
from webanalytics.audits.content.shared_blocks import COLUMNS as CONTENT_COLUMNS
from webanalytics.audits.graph.metrics import clicks
from webanalytics.audits.graph.verdicts import GONE, verdict
from webanalytics.audits.rules import RULES
from webanalytics.audits.rules.base import PageByPage, Rule
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.runs.frames.schema import frame_of, is_missing, make_series
from webanalytics.runs.storage.lazy_columns import stored
from webanalytics.thresholds import PRIORITIES

Keys: TypeAlias = npt.NDArray[np.int64]
Look: TypeAlias = Literal["read", "answered", "closed", "unchecked", "absent"]
"""How an audit looked at an address: it read the page, got an error or was sent to another one, was kept out
by robots.txt, did not get there, or saw that there is no such page."""

OF_ROBOTS = ("robots_txt_problems",)
"""Rules that look at robots.txt, which is read where an audit is made from a sitemap."""
OF_PAGES = frozenset(("response", "security", "indexability", "html"))
"""Categories of rules that know each page from itself, whatever other pages are missing."""
OF_ONE_FETCH = ("slow_response",)
"""Rules whose findings come and go with the hour: one time each is no change of the site."""
CHANGES = ("worse", "added", "fixed", "removed", "remaining", "unchecked")
"""What became of issues, in the order of a comparison."""
INDEXABLE = "indexable"
_CLOSED = "blocked by robots.txt"
_ADDRESS = re.compile(r"https?://[^\s,;]*[^\s,;.:]")
"""Other pages that the evidence of an issue names: it came or went with them."""
_PAGES = ("changed", "gone", "added", "removed", "missing", "unchecked", "same")
_SUMMARY: dict[str, Dtype] = {
    **dict.fromkeys(("rule_title", "rule", "priority"), "string"),
    **dict.fromkeys(("before", "after", *CHANGES), "integer"),
    "points": "float",
}
_CHANGED: dict[str, Dtype] = {"url": "string", "field": "string", "before": "object", "after": "object"}


@dataclass(frozen=True)
class Judged:
    """An audit to compare: its site and issues, the points that each rule takes, its rows if it is a part.

    What is ``hidden`` may be there behind pages that a crawl did not read; see `beside`.
    """

    site: Site
    issues: pd.DataFrame
    costs: Mapping[str, float] = field(default_factory=dict)
    part: Sequence[int] | None = None
    muted: pd.DataFrame | None = None
    hidden: frozenset[str] = frozenset()

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of each address; the first of several."""
        urls = list(self.site.values("url"))
        chosen = range(len(urls)) if self.part is None else self.part
        return {urls[row]: row for row in reversed(chosen) if isinstance(urls[row], str)}

    @cached_property
    def _left_out(self) -> Mapping[str, str]:
        """Why addresses without a row were left out."""
        found = {} if self.part is None else dict.fromkeys(self.site.values("url"), "not selected")
        if self.site.crawl is not None:
            skipped = self.site.crawl.skipped
            found |= dict(zip(skipped["url"], skipped["reason"], strict=True))
        return found

    @cached_property
    def hosts(self) -> dict[str, Look]:
        """Hosts of the pages, each with its scheme, and how they were looked at: the best of their pages."""
        found: dict[str, Look] = {}
        for url, row in self.rows.items():
            host = "/".join(url.split("/", 3)[:3])
            found[host] = "read" if self._looks[row] == "read" else found.get(host, "unchecked")
        return found

    @cached_property
    def _looks(self) -> list[Look]:
        names = ("status", "http_status", "error_type", "error_key")
        return [_look(*cells) for cells in zip(*map(self.site.values, names), strict=True)]

    def look(self, url: str) -> Look:
        """Return how the audit looked at an address."""
        if (row := self.rows.get(url)) is not None:
            look = self._looks[row]
            return "answered" if look == "read" and self.ends[url] in self.rows else look
        if url in self.hosts:  # of what is said of a whole host
            return self.hosts[url]
        if url in self._left_out:
            return "closed" if self._left_out[url] == "robots" else "unchecked"
        return "unchecked" if self.site.stopped or url in self.hidden else "absent"

    def is_unread(self, url: str) -> bool:
        """Return whether an address may have a page with links that the audit did not see."""
        row = self.rows.get(url)
        failed = row is not None and self.site.values("status")[row] == "error" and not self.is_missing(url)
        return failed or self.look(url) in ("unchecked", "closed")

    def is_missing(self, url: str) -> bool:
        """Return whether an address answered that there is no such page."""
        row = self.rows.get(url)
        return row is not None and self.site.values("http_status")[row] in GONE

    @cached_property
    def ends(self) -> dict[str, Any]:
        """Where each page was read, None where that is not known or its own address."""
        found = list(self.site.values("final_url"))
        return {url: None if found[row] == url else found[row] for url, row in self.rows.items()}

    @cached_property
    def untried(self) -> set[str]:
        """Names of rules that could not be tried, as those on several pages where some are missing."""
        known = self.issues.attrs.get("webanalytics", {})
        of_sites = [rule.name for rule in _wide_rules() if rule.category not in OF_PAGES]
        unread = (*OF_ONE_FETCH, *(() if self.site.robots else OF_ROBOTS))
        unread += (*known.get("rules_not_tried", ()), *known.get("rules_failed", ()))
        return {*unread, *(of_sites if self.site.stopped else ())}


def _wide_rules() -> Iterator[Rule]:
    """Yield the rules that look at more than one page."""
    return (rule for rule in RULES.values() if not isinstance(rule.find, PageByPage))


def _look(status: Any, http_status: int | None, error_type: str | None, key: str | None) -> Look:
    if status == "ok":
        return "read"
    if error_type == "robots":
        return "closed"
    if http_status is None or verdict(http_status, error_type, key) in ("blocked", "refused"):
        return "unchecked"
    return "answered"


def beside(this: Judged, other: Judged) -> Judged:
    """Return an audit that knows which pages of another one it may have missed.

    A crawl that did not read a page or a sitemap, which failed or was left out, misses what is behind it.
    """
    if this.site.crawl is None or other.site.crawl is None:
        return this
    graph = other.site.graph
    urls, source, target = graph.table.urls, graph.table.source, graph.table.target
    absent = np.array([url in other.rows and this.look(url) == "absent" for url in urls], bool)
    told, lists = this.site.sitemap, other.site.sitemap
    read = told is not None and not told["status"].eq("error").any()
    candidates = () if read or lists is None else lists["url"]
    listed = {url for url in candidates if url in other.rows and this.look(url) == "absent"}
    unread = np.array([url in listed or (url in other.rows and this.is_unread(url)) for url in urls], bool)
    used = graph.clicked & absent[target] & (absent | unread)[source]
    starts = np.flatnonzero(unread).astype(np.int32)
    depth = clicks(source[used], target[used], len(urls), starts, graph.next)
    behind = (urls[place] for place in np.flatnonzero(absent & (depth >= 0)).tolist())
    return replace(this, hidden=frozenset(listed.union(behind)))


def summary(before: Judged, after: Judged, issues: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each rule from two judged audits and the changes of their issues."""
    groups = issues.groupby(["rule", "rule_title", "priority", "category"], observed=True, sort=False)[
        "change"
    ]
    distinct = [side.issues[["url", "rule"]].drop_duplicates() for side in (before, after)]
    known = [frame["rule"].value_counts().to_dict() for frame in distinct]
    rows: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []
    for head, found in groups:
        rule, title, priority, category = map(str, head)
        counted = [int(totals.get(rule, 0)) for totals in known]
        changes = {str(name): count for name, count in found.value_counts().items()}
        points = round(before.costs.get(rule, 0.0) - after.costs.get(rule, 0.0), 2)
        became = (int(changes.get(name, 0)) for name in CHANGES)
        row = (title, rule, priority, *counted, *became, points + 0.0)
        rows.append(((*_rank(changes, priority, category), rule), row))
    return frame_of(_SUMMARY, (dict(zip(_SUMMARY, row, strict=True)) for _, row in sorted(rows)))


def _rank(changes: Mapping[str, int], priority: str, category: str) -> tuple[Any, ...]:
    """Return where a rule stands: what got worse first, above all pages that left the index; by number."""
    worse = changes.get("worse", 0)
    moved = sum(changes.get(name, 0) for name in ("added", "fixed", "removed"))
    urgency = PRIORITIES.index(priority) if priority in PRIORITIES else len(PRIORITIES)
    left = bool(worse) and category == "indexability" and not urgency
    return not left, not worse, not (worse or moved), urgency, -worse, -moved


def changed_fields(earlier: Judged, later: Judged, again: Judged | None = None) -> pd.DataFrame:
    """Return one row for each changed field of the pages that both audits looked at.

    Pages that left the index come first, then those with the most changes; in the end robots.txt files. What
    differs only where a page differs from itself, read ``again``, is no change.
    """
    told: dict[str, dict[str, tuple[Any, Any]]] = {}
    for url, name, *values in (*_closed(earlier, later), *_differing(earlier, later, again)):
        told.setdefault(url, {})[name] = (values[0], values[1])
    for fields in told.values():
        for name in [name for name in fields if _follows(name, fields)]:
            del fields[name]

    def place(url: str) -> tuple[Any, ...]:
        was, now = told[url].get("indexability", ("", ""))
        return was != INDEXABLE, now != "noindex", -len(told[url]), later.rows.get(url, 0)

    order = sorted(told, key=place)
    found = [(url, name, *told[url][name]) for url in order for name in told[url]]
    for origin, copy in later.site.robots_files.items():
        before = earlier.site.robots_files.get(origin)
        if before is not None and not (before.error_type or copy.error_type):
            texts = before.text or "", copy.text or ""
            found += [] if is_same("", *texts) else [(f"{origin}/robots.txt", "robots.txt", *texts)]
    return frame_of(_CHANGED, (dict(zip(_CHANGED, row, strict=True)) for row in found))


def _closed(earlier: Judged, later: Judged) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield pages that robots.txt kept one of two crawls from, so that it has no row of them."""
    for this, other, step in ((earlier, later, 1), (later, earlier, -1)):
        for url, row in this.rows.items():
            if url not in other.rows and other.look(url) == "closed" and this.look(url) == "read":
                old, new = (this.site.values("indexability")[row], _CLOSED)[::step]
                yield url, "indexability", old, new


def _follows(name: str, fields: Mapping[str, tuple[Any, Any]]) -> bool:
    """Return whether a change of a page follows from another that is told."""
    if name == "text" and "headings" in fields:
        texts = zip(fields["text"], fields["headings"], strict=True)
        return is_same(name, *(_without(text, headings) for text, headings in texts))
    return any(source in fields for source in FOLLOWS.get(name, ()))


def _without(text: Any, headings: Any) -> str:
    listed = headings if isinstance(headings, list) else []
    known = {heading.get("text") for heading in listed if isinstance(heading, Mapping)}
    return "\n".join(line for line in str(text).split("\n") if line not in known)


def _differing(earlier: Judged, later: Judged, again: Judged | None) -> Iterator[tuple[Any, ...]]:
    """Yield address, field and both values of what differs, column by column."""
    urls = [url for url in later.rows if url in earlier.rows]
    columns = columns_of(earlier.site.pages.columns, later.site.pages.columns)
    whole = frozenset(columns)
    compared = [_compared(earlier, later, url, whole) for url in urls]
    audits = [earlier, later] if again is None else [earlier, later, again]
    for column in columns:
        cells = [_cells(side, column, urls, audits) for side in (earlier, later)]
        for url, names, *values in zip(urls, compared, *cells, strict=True):
            if column not in names or values[0] is values[1]:
                continue
            for name, old, new, *twice in fields_of(column, *values, *_again(again, column, url, audits)):
                if not _same(column, old, new) and not (twice and is_noise(old, new, twice[0])):
                    yield url, name, None if is_missing(old) else old, None if is_missing(new) else new


def _compared(earlier: Judged, later: Judged, url: str, whole: frozenset[str]) -> frozenset[str]:
    """Return the columns of a page that both audits know."""
    looks = {earlier.look(url), later.look(url)}
    if "unchecked" in looks:
        return frozenset()
    if "closed" in looks:
        return frozenset(("indexability",))
    return whole if looks == {"read"} and later.ends[url] == earlier.ends[url] else OF_ANSWERS


def _again(again: Judged | None, column: str, url: str, audits: Sequence[Judged]) -> list[Any]:
    """Return what a page had in a column when it was read again, if it was."""
    known = again is not None and again.look(url) == "read" and column in again.site.pages
    return list(_cells(again, column, [url], audits)) if again is not None and known else []


def _cells(side: Judged, column: str, urls: Sequence[str], audits: Sequence[Judged]) -> Iterator[Any]:
    """Yield the values of a column; of texts the content, without what the site shares in any audit."""
    pages, rows = side.site.pages, [side.rows[url] for url in urls]
    if column != "text" or any("visible_text" not in audit.site.pages for audit in audits):
        yield from _at(pages[column], rows)
        return
    shared = [audit.site.shared_blocks for audit in audits]
    finals = (side.site.addresses.final[row] for row in rows)
    texts = (_at(pages[name], rows) if name in pages else repeat(None) for name in CONTENT_COLUMNS)
    for final, *said in zip(finals, *texts, strict=False):
        visible, main, note = (None if is_missing(value) else value for value in said)
        yield shared[0].content(final, visible, main, note, shared[1:]).text


def _at(column: pd.Series, rows: list[int]) -> Iterator[Any]:
    """Yield the values at some rows; of a column in a folder, a bounded number are in memory at once."""
    if (array := stored(column)) is not None:
        return array.take(rows).values()
    cells = column.astype(object).tolist()
    return (cells[row] for row in rows)


def _same(column: str, old: Any, new: Any) -> bool:
    if is_missing(old) or is_missing(new):  # of a declared column: nobody looked
        return not is_own(column) or (is_missing(old) and is_missing(new))
    return is_same(column, old, new)


def changed_pages(before: Judged, after: Judged, changes: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each address of both audits, those that changed most first."""
    counts = Counter(changes["url"].tolist())
    known = dict.fromkeys((*after.rows, *before.rows))
    became = {url: _page_change(url, before, after, is_changed=url in counts) for url in known}
    places = {url: place for place, url in enumerate(counts)}
    urls = sorted(known, key=lambda url: (url not in counts, places.get(url, 0), _PAGES.index(became[url])))
    rows = ({"url": url, "change": became[url], "fields": counts[url]} for url in urls)
    return frame_of({"url": "string", "change": "string", "fields": "integer"}, rows)


def left_index(changes: pd.DataFrame) -> pd.DataFrame:
    """Return the changes by which pages left the index: each with what it is now."""
    return changes[(changes["field"] == "indexability") & (changes["before"] == INDEXABLE)]


def _page_change(url: str, before: Judged, after: Judged, *, is_changed: bool) -> str:
    old, new = before.look(url), after.look(url)
    if is_changed:
        return "gone" if old == "read" and after.is_missing(url) else "changed"
    lacks = [side.is_missing(url) for side in (before, after)]
    unseen = "absent" in (old, new) or url in before.hidden or url in after.hidden
    if all(lacks) or (any(lacks) and unseen):
        return "missing"
    if "unchecked" in (old, new):
        return "added" if old == "absent" else "unchecked"
    return "added" if old == "absent" else "removed" if new == "absent" else "same"


def _keys(before: pd.DataFrame, after: pd.DataFrame) -> tuple[Keys, Keys]:
    """Return a number for the page and the rule of each issue, equal where both are."""
    places = [pd.factorize(_joined([before[name], after[name]]))[0] for name in ("url", "rule")]
    keys = places[0].astype(np.int64) * (places[1].max(initial=0) + 2) + places[1]
    return keys[: len(before)], keys[len(before) :]


def _became(
    issues: pd.DataFrame, has: Judged, lacks: Judged, of_pages: str, moved: str
) -> npt.NDArray[np.object_]:
    """Return what became of the issues that one of two audits has, and the other could find or not."""

    def outcome(url: str) -> str:
        own, other = has.look(url), lacks.look(url)
        if other == "absent" or (own == "read" and lacks.is_missing(url)):
            return "unchecked" if own == "unchecked" and of_pages == "removed" else of_pages
        return "unchecked" if other == "unchecked" or (own == "read" and other != "read") else moved

    places, urls = pd.factorize(issues["url"])
    found = np.array([outcome(url) for url in urls], dtype=object)[places]
    unsure = issues["rule"].isin(lacks.untried).to_numpy(bool) & (found == moved)
    if lacks.part is None:
        unsure[list(_beside_unread(issues, found == moved, has, lacks))] = True
    if lacks.muted is not None and len(lacks.muted):
        own, others = _keys(issues, lacks.muted)
        unsure |= np.isin(own, others)
    return np.where(unsure, "unchecked", found).astype(object)


def _beside_unread(issues: pd.DataFrame, chosen: Any, has: Judged, lacks: Judged) -> Iterator[int]:
    """Yield the places of chosen issues that name another page, which the other audit did not read."""
    wide = issues["rule"].isin([rule.name for rule in _wide_rules()]).to_numpy(bool)
    places = np.flatnonzero(wide & chosen)
    for place, said in zip(places.tolist(), issues["evidence"].iloc[places].fillna(""), strict=True):
        pages = (url for url in _ADDRESS.findall(said) if has.look(url) == "read")
        if any(map(lacks.is_unread, pages)):
            yield place


def changed_issues(before: Judged, after: Judged) -> pd.DataFrame:
    """Return the issues of both audits with their changes, those of the second first."""
    old, new = _keys(before.issues, after.issues)
    still = _chosen(after.issues, ~pd.Series(new).duplicated().to_numpy())
    left = _chosen(before.issues, ~pd.Series(old).duplicated().to_numpy() & ~np.isin(old, new))
    come = _became(still, after, before, "added", "worse")
    come[np.isin(pd.unique(new), old)] = "remaining"
    changes = np.concatenate([come, _became(left, before, after, "removed", "fixed")])
    parts = [still, left]
    kept = [part for part in parts if len(part)] or parts[:1]
    index = pd.RangeIndex(len(changes))
    names = [name for name in parts[0].columns if name in parts[1].columns]
    columns = {name: _joined([part[name] for part in kept]) for name in names}
    return pd.DataFrame({"change": make_series(changes, "string", index), **columns}, index=index)


def _chosen(issues: pd.DataFrame, mask: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """Return some issues; where they are all, nothing is copied."""
    return issues if mask.all() else issues[mask]


def _joined(columns: list[pd.Series]) -> pd.Series:
    """Return columns one below the other; categories stay categories."""
    if all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
        return pd.Series(pd.api.types.union_categoricals(columns))
    plain = [column.astype(object) if column.dtype == "category" else column for column in columns]
    return pd.concat(plain, ignore_index=True)
