"""Hits of logs beside the pages of an audit: columns, what is of no page, what only both together know."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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

KINDS = {
    "search_hits": (SEARCH,),
    "ai_hits": ("ai search", "ai user", "ai training"),
    "people_hits": (PEOPLE,),
}
ISSUES: Mapping[str, Dtype] = {
    **{"url": "string", "fact": "string", "hits": "integer", "last": "string", "evidence": "string"},
}
_UNSEEN = {"search_hits": ("never crawled", "search engine"), "ai_hits": ("no AI crawler", "AI crawler")}
_FILE = re.compile(r"(?i)\.(?!x?html?$|php\d?$|aspx?$|jsp$)[a-z0-9]{1,5}$")


def with_logs(pages: pd.DataFrame, logs: Logs) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, pd.DataFrame]]:
    """Return columns of the pages, hits of no page, and hits by page and crawler."""
    if not isinstance(logs, Logs) or "search_hits" in pages:
        raise ParameterError.must_be("logs", "what webanalytics.logs returned, for pages without hits so far")
    site, hits = Site(pages), logs.hits
    rows = Places(site.addresses, site.good).rows(hits["url"])
    leads = np.array([*(fetch.problem == "redirected" for fetch in site.fetches), False])
    # an answer that redirects is of another address, which leads to the page
    aside = hits["status"].isin((301, 302, 303, 307, 308)).to_numpy(bool) & ~leads[rows]
    left = aside | (rows < 0)
    names = np.append(pages["url"].to_numpy(object), "")[rows]
    all_hits = hits.assign(url=np.where(left, hits["url"], names), page=~left, row=rows)
    sums = {"hits": "sum", "bytes": "sum", "first": "min", "last": "max"}
    found = (
        all_hits.groupby(["url", "page", "crawler", "purpose", "status"], sort=False).agg(sums).reset_index()
    )
    true, every = all_hits[~left & hits["verified"].fillna(True)], range(len(pages))
    kinds = {name: true[true["purpose"].isin(purposes)].groupby("row") for name, purposes in KINDS.items()}
    counts = {name: kind["hits"].sum().reindex(every, fill_value=0) for name, kind in kinds.items()}
    made = pd.DataFrame(counts)
    made["last_search_hit"] = kinds["search_hits"]["last"].max().reindex(every)
    found = found.sort_values("hits", ascending=False, ignore_index=True)
    return made.set_axis(pages.index), hits[left].reset_index(drop=True), {"log_hits": found}


def log_issues(site: Site, hits: pd.DataFrame, chosen: Sequence[int] | None) -> pd.DataFrame:
    """Return the frame of `Audit.log_issues`."""
    if "search_hits" not in site.pages or "first" not in hits:  # hits are not saved with an audit
        raise ParameterError("The `audit` must have hits of a server: see audit.with_logs.", "audit")
    period = f"from {hits['first'].min()} to {hits['last'].max()}"
    urls, states, rows = site.values("url"), site.values("indexability"), []
    part = set(range(len(site.good)) if chosen is None else chosen)
    for column, (fact, who) in _UNSEEN.items():
        seen, said = site.values(column), f"May be indexed; no {who} asked for it {period}."
        unseen = [row for row in site.distinct if row in part and not seen[row]] if any(seen) else []
        rows += [{"url": urls[row], "fact": fact, "hits": 0, "evidence": said} for row in unseen]
    for url, group in hits[hits["page"] & (hits["purpose"] != PEOPLE)].groupby("url", sort=False):
        place = site.row_of.get(str(url), -1)
        fact = STATES.get(str(states[place]), "") if place in part else ""
        if fact and not (fact == "redirects" and site.addresses.first(place)):
            rows.append(_told(url, fact, group, "Crawlers asked for it"))
    left = hits[~hits["page"] & (hits["status"] == 200)]
    paths = left["url"].str.replace(r"^https?://[^/]+|\?.*", "", regex=True)
    a_page = paths.str.startswith("/") & ~paths.str.contains(_FILE) & (paths != "/…")
    for url, group in left[a_page].groupby("url", sort=False) if chosen is None else ():
        rows.append(_told(url, "not in the audit", group, "Answered HTTP 200"))
    return frame_of(ISSUES, sorted(rows, key=lambda row: -row["hits"]))


def _told(url: Any, fact: str, part: pd.DataFrame, said: str) -> dict[str, Any]:
    most = part.groupby("crawler", sort=False)["hits"].sum().sort_values(ascending=False, kind="stable")
    names, hits = ", ".join(name or PEOPLE for name in most.index[:3]), int(most.sum())
    last = part["last"].max()
    said = f"{said} {counted(hits, 'time')} ({names}), last on {last}."
    return {"url": url, "fact": fact, "hits": hits, "last": last, "evidence": said}
