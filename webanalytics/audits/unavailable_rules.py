"""What an audit could not try, and what was missing for it, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from webanalytics.audits.rules import RULES

LACKED: Mapping[str, str] = {
    "in_sitemap": "a sitemap, and none was read (`sitemap=` names one)",
    "image_bytes": "the sizes of images (`image_sizes=True` fetches them)",
    "broken_resources": 'what the pages load (`resources="check"` asks for it)',
    "rendering": 'the pages as a browser shows them (`render="all"` renders them)',
    "rendered_words": 'the pages as a browser shows them (`render="all"` renders them)',
    "http_status": "the HTTP status of the answers",
    "redirects": "the redirects on the way",
    "headers": "the headers of the answers",
    "redirect_kinds": "the redirects on the way",
    "certificate": "the certificates of the servers",
    "fetched_at": "the time of the answers",
    "content_type": "the headers of the answers",
    "x_robots_tag": "the headers of the answers",
    "robots": "what robots tags and robots.txt say",
    "elapsed": "the time of the answers",
    "bytes": "the size of the answers",
    "crawl_depth": "a crawl from a start page (`webanalytics.crawl` makes one)",
    "checked_links": 'the answers of other sites (`external="check"` asks them)',
    "whole_crawl": "all pages of the site (the crawl stopped before, see `.skipped`)",
    "inlinks": "the links between the pages",
}
"""What a missing fact or column is called."""

OTHERS = "what is read from the HTML of the pages"
_FETCH = "the status, redirects, headers and time of pages that were fetched"
_FETCHED = frozenset(("http_status", "redirects", "headers", "robots", "elapsed", "bytes"))


def untried(issues: pd.DataFrame) -> dict[str, list[str]]:
    """Return the titles of rules that were not tried, by what they lacked first.

    Examples
    --------
    >>> from webanalytics.audits.audit import Audit
    >>> frame = pd.DataFrame({"url": ["a"], "status": ["ok"], "viewport": [""]})
    >>> untried(Audit(frame).issues)["a sitemap, and none was read (`sitemap=` names one)"][:2]
    ['Page in the sitemap is not indexable', 'Page in the sitemap redirects or fails']
    """
    known = issues.attrs.get("webanalytics", {}).get("rules_not_tried", {})
    groups: dict[str, list[str]] = {}
    for rule, missing in known.items():
        groups.setdefault(first_lacked(missing), []).append(title(rule))
    return groups


def first_lacked(missing: Iterable[str]) -> str:
    """Return what the first of the missing facts or columns is called; facts of a fetch are one thing."""
    return next((_FETCH if name in _FETCHED else LACKED.get(name, OTHERS) for name in missing), OTHERS)


def title(rule: str) -> str:
    """Return the title of a rule, or the name of one that is not known."""
    return RULES[rule].title if rule in RULES else rule
