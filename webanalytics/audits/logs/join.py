"""Hits of logs beside the pages of an audit: columns, what is of no page, what only both together know."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.audits.logs.agents import PEOPLE, SEARCH
from webanalytics.audits.logs.table import Logs
from webanalytics.audits.site import Site
from webanalytics.audits.work.search_data import Places
from webanalytics.audits.work.search_issues import STATES
from webanalytics.core.operations.model import Dtype
from webanalytics.core.strings import counted
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.schema import frame_of

AI = ("ai search", "ai user", "ai training")
KINDS: Mapping[str, Collection[str]] = {"search_hits": (SEARCH,), "ai_hits": AI, "people_hits": (PEOPLE,)}
ISSUES: Mapping[str, Dtype] = {
    **{
        "url": "string",
        "fact": "string",
        "hits": "integer",
        "last": "string",
        "evidence": "string",
        "fix": "string",
    },
}
_FILE = re.compile(r"(?i)\.(?!x?html?$|php\d?$|aspx?$|jsp$)[a-z0-9]{1,5}$")
_UNSEEN = {
    "search_hits": ("never crawled", "search engine"),
    "ai_hits": ("no AI crawler", "crawler of AI services"),
}
_FIXES: Mapping[str, str] = {
    "never crawled": "Link to the page from pages that are crawled often, and list it in the sitemap.",
    "no AI crawler": "See audit.ai_access() for what robots.txt allows; link to the page where it matters.",
    "not in the audit": "Link to the page if it matters; else redirect it, or answer HTTP 410.",
    "redirects": "Link to the address that it leads to.",
    "fails": "Bring the page back, redirect it, or take away the links to it.",
    "canonicalised": "Link to the canonical address instead.",
    "noindex": "Take away links to the page, if crawlers shall spend less on it.",
    "blocked by robots.txt": "Crawlers that obey robots.txt do not come: verify who this is.",
}


def with_logs(pages: pd.DataFrame, logs: Logs) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, pd.DataFrame]]:
    """Return columns of the pages, hits of no page, and hits by page and crawler."""
    if not isinstance(logs, Logs):
        raise ParameterError.must_be("logs", "what webanalytics.logs returned")
    if clashing := [name for name in (*KINDS, "last_search_hit") if name in pages]:
        raise ParameterError(f"The `logs` parameter is for pages without a column `{clashing[0]}`.", "logs")
    site, hits = Site(pages), logs.hits
    rows = Places(site.addresses, site.good).rows(hits["url"])
    leads = np.array([*(fetch.problem == "redirected" for fetch in site.fetches), False])
    aside = hits["status"].isin((301, 302, 303, 307, 308)).to_numpy(bool) & ~leads[rows]  # leads to the page
    rows = np.where(aside, -1, rows)
    own = hits[rows >= 0].assign(url=pages["url"].to_numpy(object)[rows[rows >= 0]])
    counts = {"hits": "sum", "bytes": "sum", "first": "min", "last": "max"}
    by = ["url", "crawler", "purpose", "status"]
    found = own.groupby(by, sort=False).agg(counts).sort_values("hits", ascending=False).reset_index()
    true = own[own["verified"].fillna(True).to_numpy(bool)]
    places, made = rows[true.index], pd.DataFrame(index=pages.index)
    for name, purposes in KINDS.items():
        chosen = true["purpose"].isin(purposes).to_numpy(bool)
        weights = true["hits"].to_numpy(float)[chosen]
        made[name] = np.bincount(places[chosen], weights, len(pages)).astype(np.int64)
    searched = (true["purpose"] == SEARCH).to_numpy(bool)
    last = true["last"][searched].groupby(places[searched]).max()
    made["last_search_hit"] = last.reindex(range(len(pages))).to_numpy()
    return made, hits[rows < 0].reset_index(drop=True), {"log_hits": found}


def log_issues(
    site: Site, found: pd.DataFrame, left: pd.DataFrame, selected: Sequence[int] | None
) -> pd.DataFrame:
    """Return the frame of `Audit.log_issues`."""
    if "search_hits" not in site.pages:
        raise ParameterError("The `audit` must have hits of a server: see audit.with_logs.", "audit")
    days = [found["first"].min(), left["first"].min(), found["last"].max(), left["last"].max()]
    known = sorted(day for day in days if isinstance(day, str))
    rows: list[dict[str, Any]] = []
    chosen = set(range(len(site.good)) if selected is None else selected)
    for column, (fact, who) in _UNSEEN.items():
        hits = site.values(column)
        period = f"from {known[0]} to {known[-1]}" if known else ""
        for row in site.distinct if any(hits) else ():
            if row in chosen and not hits[row]:
                said = f"May be indexed, and no {who} asked for it {period}."
                rows.append({"url": site.values("url")[row], "fact": fact, "evidence": said, "hits": 0})
    states = site.values("indexability")
    for url, part in found[found["purpose"] != PEOPLE].groupby("url", sort=False):
        row = site.row_of.get(url)
        fact = STATES.get(str(states[row]), "") if row in chosen else ""
        if fact and not (fact == "redirects" and site.addresses.first(row)):
            rows.append(_of_hits(url, fact, part, "Crawlers asked for it"))
    paths = left["url"].str.partition("?")[0].str.replace(r"^https?://[^/]+", "", regex=True)
    answered = (
        (left["status"] == 200) & paths.str.startswith("/") & ~paths.str.contains(_FILE) & (paths != "/…")
    )
    if selected is None:
        for url, part in left[answered].groupby("url", sort=False):
            rows.append(_of_hits(url, "not in the audit", part, "Answered HTTP 200"))
    rows.sort(key=lambda row: -row["hits"])
    return frame_of(ISSUES, ({**row, "fix": _FIXES[row["fact"]]} for row in rows))


def _of_hits(url: Any, fact: str, part: pd.DataFrame, said: str) -> dict[str, Any]:
    most = part.groupby("crawler", sort=False)["hits"].sum().sort_values(ascending=False, kind="stable")
    names, hits = ", ".join(name or PEOPLE for name in most.index[:3]), int(most.sum())
    last = part["last"].max()
    evidence = f"{said} {counted(hits, 'time')} ({names}), last on {last}."
    return {"url": url, "fact": fact, "hits": hits, "last": last, "evidence": evidence}
