"""Findings in a frame of pages: some of the audit's rules, with filters that show the pages."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import pandas as pd

from webanalytics.audits.pages import derived
from webanalytics.audits.profiles import Profile, resolve_profile
from webanalytics.audits.rules.base import Rule
from webanalytics.audits.site import Site
from webanalytics.thresholds import PRIORITIES
from webanalytics.widgets.explorer.table import lists, texts

log = logging.getLogger("webanalytics.widgets")

FILTERS: Mapping[str, tuple[str, str]] = {
    "title_missing": ("title_length", "0"),
    "title_duplicate": ("title_repeated", "yes"),
    "description_missing": ("description_length", "0"),
    "h1_missing": ("h1_count", "0"),
    "h1_multiple": ("h1_count", ">1"),
    "images_without_alt_attribute": ("images_without_alt", ">0"),
    "images_without_alt_text": ("images_without_alt", ">0"),
    "noindex": ("robots", "noindex"),
    "content_low": ("wordCount", "<{}"),
    "slow_response": ("elapsed", ">{}"),
}
"""Rules that a column of the table can be filtered by: the column and the filter; {} is the threshold."""

_READ = (
    *(
        "url",
        "status",
        "error",
        "error_type",
        "http_status",
        "final_url",
        "redirects",
        "title",
        "description",
    ),
    *("headings", "robots", "x_robots_tag", "canonical", "language", "wordCount", "elapsed"),
    *("imagesWithoutAlt", "imagesWithEmptyAlt"),
)
"""Columns that these rules need; an audit's long columns are not read."""


def findings(pages: pd.DataFrame, profile: Profile | None = None) -> list[dict[str, Any]]:
    """Return what the rules find, the most urgent first: text, count and filters.

    Examples
    --------
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "title": [""], "robots": ["noindex"]})
    >>> [item["text"] for item in findings(pages)]
    ['Noindex in the page', 'Title missing']
    """
    site = Site(derived(_readable(pages), near_duplicates=None))
    found = [
        (PRIORITIES.index(rule.priority), -count, rule)
        for rule in (profile or resolve_profile()).rules()
        if rule.name in FILTERS and (count := _count(site, rule))
    ]
    failed = texts(pages, "status").count("error")
    lines = [{"text": "could not be read", "count": failed, "filters": {"status": "error"}}] * bool(failed)
    for _, count, rule in sorted(found, key=itemgetter(0, 1)):
        column, wanted = FILTERS[rule.name]
        limit = "" if rule.threshold is None else f"{rule.threshold:g}"
        lines.append({"text": rule.title, "count": -count, "filters": {column: wanted.format(limit)}})
    return lines


def _count(site: Site, rule: Rule) -> int:
    """Return how many pages a rule concerns, without building the issues, for frames of many pages."""
    try:
        return len({finding.row for finding in rule.find(site, rule.threshold)})
    except Exception:  # odd data in one page must not cost the whole overview
        log.exception("the rule %s failed", rule.name)
        return 0


def _readable(pages: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that the rules need, of one type throughout."""
    known = pages[[name for name in _READ if name in pages.columns]].reset_index(drop=True)
    for name in (
        "url",
        "title",
        "description",
        "robots",
        "x_robots_tag",
        "canonical",
        "language",
        "final_url",
    ):
        if name in known.columns:
            known[name] = pd.Series(texts(pages, name), dtype=object)
    for name in ("wordCount", "elapsed", "http_status"):
        if name in known.columns:
            known[name] = pd.to_numeric(known[name], errors="coerce").astype("Float64")
    if "status" not in known.columns:
        known["status"] = "ok"
    if "imagesWithoutAlt" not in pages.columns and "imgTags" in pages.columns:
        known["imagesWithEmptyAlt"] = pd.Series(
            [
                [str(image.get("src", "")) for image in images if not image.get("alt")]
                for images in lists(pages, "imgTags")
            ],
            dtype=object,
        )
    return known
