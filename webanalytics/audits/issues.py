"""Runs the rules on the pages of an audit and makes a frame of their findings.

Called when `Audit.issues` is first read.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.findings import Evidence, Found, Rows, evidence_of
from webanalytics.audits.graph.site_links import count_missing
from webanalytics.audits.profiles import DEFAULT_PROFILE, Profile, resolve_profile
from webanalytics.audits.rules import RULES
from webanalytics.audits.rules.base import PageByPage, Rule
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.operations import FACTS
from webanalytics.runs.boundary import watched
from webanalytics.runs.frames.schema import as_frame, make_series
from webanalytics.runs.storage.lazy_columns import parts_of
from webanalytics.thresholds import PRIORITIES

log = logging.getLogger("webanalytics.audits")

COLUMNS: dict[str, Dtype] = {
    "url": "string",
    "page_title": "string",
    "priority": "string",
    "rule_title": "string",
    "evidence": "string",
    "fix": "string",
    "rule": "string",
    "category": "string",
    "type": "string",
    "scope": "string",
    "pages": "integer",
    "indexable": "integer",
    "value": "float",
    "threshold": "float",
    "help": "string",
}
"""Columns of a frame of issues."""

SUMMARY_COLUMNS: dict[str, Dtype] = {
    **{name: COLUMNS[name] for name in ("rule", "rule_title", "category", "type", "priority")},
    **{"pages": "integer", "indexable": "integer", "findings": "integer", "share": "float"},
}
"""Columns of a summary of issues."""

# Where one of these is missing on every page that was read, it was never looked at: a hosted API answers
# without facts, saved pages have no time of response, and without a sitemap no page is in one or left out.
_FILLED = frozenset(
    (
        *(field.audit_name for field in FACTS.columns),
        "image_bytes",
        "broken_resources",
        "rendering",
        "rendered_words",
        "elapsed",
        "bytes",
        "inlinks",
        "in_sitemap",
        "headers",
        "certificate",
    )
)


def find_issues(site: Site, profile: str | Profile = DEFAULT_PROFILE) -> pd.DataFrame:
    """Return what the rules of a profile find; see `Audit.issues`.

    Of an audit in a folder, what repeats is in columns of categories: ``url`` and what belongs to a rule.
    """
    chosen = resolve_profile(profile)
    not_tried: dict[str, list[str]] = {}
    places = {name: place for place, name in enumerate(RULES)}
    evidence = evidence_of(site)
    found: list[Found] = []
    known: dict[str, bool] = {}
    for rule in chosen.rules():
        if missing := _missing(site, rule, known):
            not_tried[rule.name] = missing
        else:
            found.append(Found(rule, places[rule.name], evidence))
    failed = _search(site, found)
    site.release()
    kept = [one for one in found if one.any and one.rule.name not in failed]
    frame = _frame(site, sorted(kept, key=lambda one: one.order), evidence)
    site.release()
    frame.attrs["webanalytics"] |= {
        "profile": chosen.name,
        "rules_not_tried": not_tried,
        "rules_failed": [one.rule.name for one in found if one.rule.name in failed],
    }
    return frame


def _missing(site: Site, rule: Rule, known: dict[str, bool]) -> list[str]:
    """Return the facts and columns a rule needs that no page record or no row has."""
    lacking = site.pages.attrs.get("webanalytics", {}).get("lacking", ())
    return [fact for fact in rule.needs if fact in lacking] + [
        column for column in rule.columns if not _is_there(site, column, known)
    ]


def _is_there(site: Site, column: str, known: dict[str, bool]) -> bool:
    if column not in known:
        there = column in site.pages.columns or column in site.besides
        known[column] = there and (column not in _FILLED or not any(site.good) or site.any_known(column))
    return known[column]


def _search(site: Site, found: Sequence[Found]) -> set[str]:
    """Let the rules look at the site, and return the names of those that broke off."""
    failed: set[str] = set()

    alone = [one for one in found if isinstance(one.rule.find, PageByPage) and one.rule.scope == "page"]
    alone.sort(key=lambda one: one.rule.columns)  # one after the other read the same
    others = [one for one in found if one not in alone]

    def in_turn() -> Iterator[Found]:
        for rows in site.portions:
            with site.portion(rows):
                yield from alone
        yield from others

    for one in watched(in_turn(), len(alone) * len(site.portions) + len(others), "rules", "rule"):
        try:
            if one.rule.name not in failed:
                one.search(site)
        except (Exception, SystemExit):  # odd data in one page must not cost the whole audit
            log.exception("the rule %s failed", one.rule.name)
            failed.add(one.rule.name)
    return failed


_OF_RULES = {
    "rule": "name",
    "rule_title": "title",
    **{name: name for name in ("category", "type", "priority", "scope", "fix", "help")},
}
"""Columns that say something of the rule, and its attributes."""


def _frame(site: Site, found: list[Found], evidence: Evidence) -> pd.DataFrame:
    places = [one.rows for one in found]
    counts = [len(rows) for rows in places]
    index = pd.RangeIndex(sum(counts))
    is_stored = parts_of(site.pages) is not None
    rows = np.concatenate([np.empty(0, np.int32), *places])
    of_hosts = np.repeat([one.rule.scope == "host" for one in found], counts).astype(bool)
    columns = {"url": _addresses(site, rows, of_hosts, index, is_stored)}
    titles, of_pages = [*site.values("title"), None], np.where(of_hosts, -1, rows)
    columns["page_title"] = _repeated(titles, of_pages, index, is_stored)
    which = np.repeat(np.arange(len(found), dtype=np.int32), counts)
    for name, attribute in _OF_RULES.items():
        texts = [getattr(one.rule, attribute) for one in found]
        columns[name] = _repeated(texts, which, index, is_stored)
    limits = [np.nan if one.rule.threshold is None else float(one.rule.threshold) for one in found]
    columns["threshold"] = pd.Series(np.repeat(np.array(limits, dtype=np.float64), counts), index=index)
    numbers = [one.counts(site) for one in found]
    for place, name in enumerate(("pages", "indexable")):
        counted = np.concatenate([np.empty(0, np.intp), *(pair[place] for pair in numbers)])
        columns[name] = pd.Series(pd.array(counted, dtype="Int64"), index=index)
    columns["evidence"] = evidence.column((one.evidence for one in found), index)
    values = np.concatenate([np.empty(0), *(one.values for one in found)])
    columns["value"] = pd.Series(values, index=index)
    return as_frame({name: columns[name] for name in COLUMNS}, index, "issues")


def _addresses(site: Site, rows: Rows, of_hosts: Any, index: pd.Index, as_categories: bool) -> pd.Series:
    """Return the addresses of issues: of their pages, or of their hosts."""
    urls: list[Any] = list(site.values("url"))
    hosts = {row: site.place_of_host(row) for row in rows[of_hosts].tolist()}
    known = {row: len(urls) + place for place, row in enumerate(hosts)}
    places = [known[row] if one else row for row, one in zip(rows.tolist(), of_hosts, strict=True)]
    return _repeated([*urls, *hosts.values()], np.array(places, np.int32), index, as_categories)


def _repeated(texts: Sequence[Any], places: Rows, index: pd.Index, as_categories: bool) -> pd.Series:
    """Return the texts at some places, as categories or as texts."""
    codes, known = pd.factorize(np.array(texts, dtype=object))
    if as_categories:
        return pd.Series(pd.Categorical.from_codes(codes[places], pd.Index(known)), index=index)
    cells = [*known.tolist(), None]  # the last for the code of a missing one, -1
    return make_series([cells[code] for code in codes[places].tolist()], "string", index)


def summary(issues: pd.DataFrame, pages: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each rule that found something, the most urgent first.

    Returns
    -------
    pandas.DataFrame
        Columns ``rule``, ``rule_title``, ``category``, ``type``, ``priority``, ``pages``, ``indexable`` (of
        them those that search engines may index, or could if they did not answer with an error), ``findings``
        (what the rule counted on them, such as images without a size; 1 for a page where it counts nothing)
        and ``share`` (of all pages, to 1; an address that answers 404 is none): by priority, then
        ``indexable``, then ``findings``, the most first.
        Rules that found nothing are omitted.

    Examples
    --------
    >>> pages = pd.DataFrame({"url": ["a", "b"], "status": ["ok", "ok"], "viewport": ["", "width=1"]})
    >>> pages["indexable"] = True
    >>> summary(find_issues(Site(pages)), pages).drop(columns=["rule_title", "type"]).values.tolist()
    [['viewport_missing', 'html', 'medium', 1, 1, 1, 0.5]]
    """
    names = ["rule", "rule_title", "category", "type", "priority"]
    counted = issues[["pages", "indexable"]].astype("int64").assign(findings=_findings(issues))
    by = [issues[name] for name in names]
    sums = counted.groupby(by, observed=True, sort=False, dropna=False).sum()
    counts = dict(zip(sums.index.tolist(), sums.to_numpy().tolist(), strict=True))
    places = {name: place for place, name in enumerate(RULES)}
    ordered = sorted(
        counts.items(),
        key=lambda item: (
            PRIORITIES.index(item[0][4]),
            [-count for count in (*item[1][1:], item[1][0])],
            places.get(item[0][0], len(places)),
            item[0],
        ),
    )
    cells: dict[str, list[Any]] = {
        name: [head[place] for head, _ in ordered] for place, name in enumerate(names)
    }
    for place, name in enumerate(("pages", "indexable", "findings")):
        cells[name] = [found[place] for _, found in ordered]
    size = len(pages) - count_missing(pages)
    cells["share"] = [found[0] / max(size, found[0]) for _, found in ordered]
    index = pd.RangeIndex(len(ordered))
    columns = {name: make_series(cells[name], dtype, index) for name, dtype in SUMMARY_COLUMNS.items()}
    return as_frame(columns, index, "summary")


def _findings(issues: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return what each issue counts: its value where the rule has no threshold, and at least 1."""
    values, limits = (issues[name].to_numpy(np.float64, na_value=np.nan) for name in ("value", "threshold"))
    counts = np.where(np.isnan(values) | ~np.isnan(limits), 1, values)
    return np.clip(counts, 1, 2**53).astype(np.int64)
