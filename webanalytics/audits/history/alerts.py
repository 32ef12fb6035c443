"""What to tell of an audit beside the last good one.

A finding is told when it holds in N of the last M runs, once, and is over when it did not hold in N runs one
after the other. A run that could not look says nothing: what was not fetched is neither gone nor mended.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

import pandas as pd

from webanalytics.audits.compare.comparison import Comparison
from webanalytics.audits.compare.differences import Judged, beside
from webanalytics.audits.compare.fields import FOLLOWS, difference, is_same
from webanalytics.audits.graph.site_links import normal
from webanalytics.audits.graph.verdicts import verdict
from webanalytics.audits.origin import Audited
from webanalytics.audits.redaction import without_secrets
from webanalytics.core.strings import one_line, shortened
from webanalytics.core.url_patterns import matching
from webanalytics.thresholds import PRIORITIES
from webanalytics.urls import parts_of

Key: TypeAlias = tuple[str, str]
"""What was found (a rule, a field, a condition), and at which address or host."""
Item: TypeAlias = dict[str, Any]
Holds: TypeAlias = Callable[[Key, Item], bool | None]
"""Whether a finding holds still; None where the run cannot tell."""
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    **{"issues": {"rule": "", "priority": ""}, "noindex": {}, "lost": {}, "changed": {"field": "title"}},
    **{"sitemap": {}, "score": {"by": 5}, "refused": {}, "down": {}},
    **{"slow": {"seconds": 3, "runs": "2 of 3"}, "certificate": {"days": 21}, "redirects": {"plan": ""}},
}
"""Conditions, and what each takes besides ``segment`` and ``runs``."""
EVENTS = ("changed", "sitemap")
"""Conditions of which there is nothing to resolve."""


class View:
    """An audit to judge, what changed since the last good one, and tables that were asked for besides."""

    def __init__(self, audit: Audited, since: Comparison | None, asked: Mapping[str, pd.DataFrame]) -> None:
        self.audit, self.since, self.asked = audit, since, asked
        self.judged = audit.judged() if since is None else beside(audit.judged(), since.before.judged())
        names = ("http_status", "error_type", "error_key", "status")
        cells = list(zip(*map(self.judged.site.values, names), strict=True))
        self.hosts: dict[str, Counter[str]] = {}
        self._unread = set()
        for url, row in self.judged.rows.items():
            status, kind, key, said = (None if pd.isna(cell) else cell for cell in cells[row])
            found = "ok" if said == "ok" else verdict(status, kind, key)
            self.hosts.setdefault(parts_of(url).netloc, Counter())[found] += 1
            self._unread |= {url} if found in ("failed", "refused", "blocked") else set()
        self.fates: dict[str, str | None] = {}
        self.down = {host for host, found in self.hosts.items() if found["failed"] * 2 > found.total()}

    def saw(self, url: str) -> bool:
        """Return whether the audit can tell anything of an address."""
        look = self.judged.look(url)
        return look not in ("unchecked", "closed") and url not in self._unread and not self.is_down(url)

    @cached_property
    def had(self) -> list[str]:
        """Pages that the last good audit read."""
        before = None if self.since is None else self.since.before.judged()
        return [] if before is None else [url for url in before.rows if before.look(url) == "read"]

    def absent(self, told: Iterable[str] = ()) -> list[str]:
        """Return pages that were read before, and those told of, that this audit does not find any more."""
        known = dict.fromkeys((*told, *self.had))
        return [url for url in known if self.saw(url) and self.judged.look(url) == "absent"]

    def look_at(self, answers: Judged) -> None:
        """Keep what became of pages that are absent: nothing where they moved, None where nobody knows."""
        is_crawl = self.judged.site.crawl is not None
        for url in answers.rows:
            self.fates[url] = "gone" if answers.is_missing(url) else None
            if answers.look(url) == "read":
                unlinked = is_crawl and answers.ends[url] is None
                self.fates[url] = "no link leads there any more" if unlinked else ""

    def is_down(self, url: str) -> bool:
        """Return whether most pages of the host of an address failed."""
        return parts_of(url).netloc in self.down

    def values(self, name: str) -> dict[str, Any]:
        """Return a field of the pages, or the text of robots.txt, where it is known."""
        site, rows = self.judged.site, self.judged.rows
        if name == "robots.txt":
            files = site.robots_files.items()
            return {f"{origin}/{name}": copy.text or "" for origin, copy in files if not copy.error_type}
        cells = site.values(name) if name in site.pages else ()
        known = {url: _known(cells[row]) for url, row in rows.items() if cells and self.saw(url)}
        return {url: cell for url, cell in known.items() if cell is not None}

    def changes(self, name: str) -> dict[str, tuple[Any, Any]]:
        """Return both values of a field where it changed, also where that follows from another change."""
        if self.since is None:
            return {}
        rows, sides = self.since.changes, (self.since.before.judged(), self.judged)
        own = rows[rows["field"] == name][["url", "before", "after"]].itertuples(index=False)
        found = {url: (old, new) for url, old, new in own}
        if all(name in side.site.pages for side in sides):
            for url in set(rows.loc[rows["field"].isin(FOLLOWS.get(name, ())), "url"]) - found.keys():
                old, new = (_known(side.site.values(name)[side.rows[url]]) for side in sides)
                found |= {} if is_same(name, old, new) else {url: (old, new)}
        return {url: pair for url, pair in found.items() if self.saw(url)}


def _known(cell: Any) -> Any:
    return cell if isinstance(cell, (list, dict)) or not pd.isna(cell) else None


def _issues(alert: Item, view: View) -> tuple[dict[Key, Any], Holds]:
    wanted = PRIORITIES[: PRIORITIES.index(alert["priority"] or "low") + 1]

    def of(issues: pd.DataFrame) -> dict[Key, Any]:
        rows = issues[
            issues["priority"].isin(wanted) & ((issues["rule"] == alert["rule"]) | (not alert["rule"]))
        ]
        cells = rows[["rule", "url", "evidence"]].itertuples(index=False)
        return {(str(rule), url): said for rule, url, said in cells if not view.is_down(url)}

    def holds(key: Key, _: Item) -> bool | None:
        return (
            True if key in now else False if view.saw(key[1]) and key[0] not in view.judged.untried else None
        )

    now = of(view.audit.issues)
    rows = None if view.since is None else view.since.issues
    return {} if rows is None else of(rows[rows["change"].isin(("worse", "added"))]), holds


def _changed(alert: Item, view: View) -> tuple[dict[Key, Any], Holds]:
    name = alert["field"]
    now = view.values(name)

    def holds(key: Key, item: Item) -> bool | None:
        return not is_same(name, item["before"], now[key[1]]) if key[1] in now else None

    return {(name, url): pair for url, pair in view.changes(name).items()}, holds


def _sitemap(_: Item, view: View) -> tuple[dict[Key, Any], Holds]:
    sides = () if view.since is None else (view.since.before.origin.sitemap, view.audit.origin.sitemap)
    old, new = [{*map(normal, () if side is None else side["url"])} - {None} for side in sides] or [set()] * 2
    said = f"{len(new - old):,} addresses more, {len(old - new):,} less"
    return {("sitemap", "sitemap"): said} if old and new and old != new else {}, lambda *_: None


def _state(alert: Item, view: View) -> tuple[dict[Key, Any], Holds]:
    values, is_bad, new = _STATES[alert["when"]](alert, view)
    before = {"before": None if view.since is None else view.since.score.before}
    found = {
        (alert["when"], where): value
        for where, value in values.items()
        if (new is None or where in new) and is_bad(value, before)
    }
    return found, lambda key, item: is_bad(values[key[1]], item) if key[1] in values else None


State: TypeAlias = tuple[Mapping[str, Any], Callable[[Any, Item], bool], set[str] | None]
"""What is known, what of it is bad, and what may be told as new: None for all."""


def _noindex(_: Item, view: View) -> State:
    changed = set(view.changes("indexability"))
    return view.values("indexability"), lambda value, _: value == "noindex", changed


def _lost(_: Item, view: View) -> State:
    seen = filter(view.saw, view.judged.rows)
    fates: dict[str, str | None] = {url: "gone" if view.judged.is_missing(url) else "" for url in seen}
    fates |= dict.fromkeys(view.absent(), "not found any more")
    values = {url: fate for url, fate in (fates | view.fates).items() if fate is not None}
    return values, lambda value, _: bool(value), set(view.had)


def _score(alert: Item, view: View) -> State:
    score = None if view.down else view.audit.score
    known = view.since is not None and view.since.score.before is not None
    values = {} if score is None else {"all pages": score}
    return values, lambda value, item: item["before"] - value >= alert["by"], None if known else set()


def _hosts(alert: Item, view: View) -> State:
    name = "failed" if alert["when"] == "down" else "refused"
    hosts = {host: found for host, found in view.hosts.items() if name == "failed" or host not in view.down}
    values = {host: f"{found[name]} of {found.total()} pages" for host, found in hosts.items()}
    wrong = view.down if name == "failed" else {host for host, found in hosts.items() if found[name]}
    bad = {values[host] for host in wrong}
    return values, lambda value, _: value in bad, None


def _redirects(alert: Item, view: View) -> State:
    rows = view.asked[alert["plan"]]
    rows = rows[rows["http_status"].notna()]  # of what did not answer nothing is known
    values = dict(zip(rows["old"], rows["verdict"], strict=True))
    return values, lambda value, _: value in ("fails", "not redirected", "elsewhere"), None


def _certificate(alert: Item, view: View) -> State:
    rows = view.asked["certificate"]
    rows = rows[rows["days_left"].notna()].sort_values("days_left", ascending=False)  # the fewest count
    return (
        dict(zip(rows["host"], rows["days_left"], strict=True)),
        lambda value, _: value < alert["days"],
        None,
    )


def _slow(alert: Item, view: View) -> State:
    return view.values("elapsed"), lambda value, _: value >= alert["seconds"], None


_STATES = {
    **{"noindex": _noindex, "lost": _lost, "score": _score, "refused": _hosts, "down": _hosts, "slow": _slow},
    **{"redirects": _redirects, "certificate": _certificate},
}
_FINDERS = {"issues": _issues, "changed": _changed, "sitemap": _sitemap} | dict.fromkeys(_STATES, _state)


def judge(alerts: Iterable[Item], view: View, known: list[Item]) -> tuple[list[Item], list[Item], list[Item]]:
    """Return what is known after a run, what is to be told of it, and what is resolved."""
    kept, told, resolved = list[Item](), list[Item](), list[Item]()
    taken = set[tuple[Any, ...]]()  # noindex is a condition and a rule; another limit is another alert
    for alert in alerts:
        name, (need, of) = json.dumps(alert, sort_keys=True), alert["of"]
        found, holds = _FINDERS[alert["when"]](alert, view)
        inside = matching(alert["segment"] or "*", "segment")
        limit = [alert[option] for option in ("by", "days", "seconds") if option in alert]
        mine = {(item["what"], item["where"]): item for item in known if item["alert"] == name}
        for key, value in found.items():
            old, new = value if isinstance(value, tuple) else (None, value)
            old = view.since.score.before if alert["when"] == "score" and view.since else old
            made = {"alert": name, "what": key[0], "where": key[1], "before": old, "seen": "", "told": False}
            free = (*key, *limit) not in taken
            if key in mine or (free and (alert["when"] == "score" or inside(key[1]))):
                mine.setdefault(key, made)["said"] = _said(old, new)
        taken |= {(*key, *limit) for key in mine}
        for key, item in mine.items():
            now = True if key in found else holds(key, item)
            item["seen"] = item["seen"] if now is None else (item["seen"] + "01"[now])[-of:]
            over = item["told"] and item["seen"].endswith("0" * need)
            fresh = not item["told"] and item["seen"].count("1") >= need
            item["told"] = item["told"] or fresh
            told += [item] if fresh else []
            resolved += [item] if over else []
            stays = item["told"] or "1" in item["seen"]
            kept += [item] if stays and not over and not (fresh and alert["when"] in EVENTS) else []
    return kept, told, resolved


def _said(old: Any, new: Any) -> str:
    sides = [new] if old is None else difference(old, new)
    texts = [str(round(side, 2) if isinstance(side, float) else side) for side in sides]
    return " → ".join(shortened(one_line(text), 160) for text in texts)


def grouped(items: Iterable[Item]) -> list[Item]:
    """Return one entry for what was found in one way, however many pages have it."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault((item["alert"], item["what"]), []).append(item)
    return [
        {
            **{"what": what, "count": len(members), "when": json.loads(alert)["when"] if alert else "outage"},
            "templates": dict(Counter(_template(item["where"]) for item in members).most_common(5)),
            "examples": sorted(map(_shown, members), key=str)[:3],
        }
        for (alert, what), members in groups.items()
    ]


def _shown(item: Item) -> dict[str, str]:
    return {name: without_secrets(item[name]) for name in ("where", "said")}


def _template(url: str) -> str:
    """Return the part of a site that an address is in.

    >>> _template("https://a.example/shop/tea/green"), _template("https://a.example/tea"), _template("http://[")
    ('/shop/*', '/*', '/*')
    """
    parts = parts_of(url).path.split("/")
    return f"/{parts[1]}/*" if len(parts) > 2 else "/*" if "://" in url else url
