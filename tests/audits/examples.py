"""Runs the examples of rules in ``docs/rules/examples``: one file for each file of rules.

Each rule has a table with ``fails`` and ``passes``: an HTML page, whose address is https://example.org/page; or
a list of page records, such as `webanalytics.audit` takes in a DataFrame; or a table with such a list in
``pages``, and what is known of the site besides: the entries of a sitemap in ``sitemap`` (addresses, or rows of
`webanalytics.sitemap`), its files in ``files``, the time when it was read in ``read``, the text of its robots.txt
in ``robots_txt``, and what a crawl knows (see `tests.audits.crawl_examples`). A record may have any other column
of an audit too, which then replaces what was read, and in ``failure`` the key of the message with which its fetch
failed. ``also`` names rules that cannot but speak where this one does.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

import webanalytics as wa
from tests.audits.crawl_examples import crawl_of
from webanalytics.audits.directives.robots import robots_problems
from webanalytics.audits.origin import Origin
from webanalytics.core.messages import FETCHING, MESSAGES, sentence
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.runs.frames.records import COLUMNS
from webanalytics.runs.frames.schema import SITEMAP_FIELDS

FOLDER = Path(__file__).parents[2] / "docs" / "rules" / "examples"
SITE = "https://example.org"
PAGE = f"{SITE}/page"
PLAIN = "<!doctype html><title>Storm lanterns of tin and brass</title><h1>The keeper of the lamp</h1>"
KNOWN = frozenset(("url", "html", "failure", "seconds", *COLUMNS))


@dataclass
class Example:
    """A rule and the site of its example."""

    rule: str
    kind: str
    pages: list[dict[str, Any]]
    site: Mapping[str, Any] = field(default_factory=dict)
    also: frozenset[str] = frozenset()
    rows: range = field(default=range(0))


def read(folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """The tables of all rules by their names, in the order of the files."""
    tables: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.toml")):
        for name, table in tomllib.loads(path.read_text("utf-8")).items():
            assert name not in tables, f"{name} has two tables of examples"
            tables[name] = table
    return tables


def examples(tables: Mapping[str, Mapping[str, Any]]) -> Iterator[Example]:
    """Both examples of each rule."""
    for rule, table in tables.items():
        also = frozenset(table.get("also", ()))
        for kind in ("fails", "passes"):
            given = table[kind]
            site = given if isinstance(given, dict) else {}
            pages = site["pages"] if site else given
            records = [{"html": pages}] if isinstance(pages, str) else pages
            answered = {"http_status": 200} if "start" in site else {}
            yield Example(rule, kind, [{**answered, **record} for record in records], site, also)


def found(examples: list[Example]) -> list[set[str]]:
    """The rules that find something in each example, all pages read in one call."""
    records = []
    for example in examples:
        example.rows = range(len(records), len(records) + len(example.pages))
        records += [{"url": PAGE, "html": PLAIN, **record} for record in example.pages]
    given = pd.DataFrame(
        {
            name: pd.Series([record.get(name) for record in records], dtype=object)
            for name in ("url", "html", *COLUMNS)
        }
    )
    audit = wa.audit(given, progress=False)
    facts = {**audit.raw.attrs["webanalytics"], "lacking": []}
    judged = []
    for example in examples:
        pages = audit.raw.iloc[list(example.rows)].reset_index(drop=True)
        pages.attrs["webanalytics"] = facts
        judged.append(_judged(pages, example))
    return judged


def _judged(pages: pd.DataFrame, example: Example) -> set[str]:
    for row, record in enumerate(example.pages):
        failed = dict(_failure(record))
        for name, value in {**record, **failed}.items():
            if name not in KNOWN or (failed and name in pages and name != "url"):
                _set(pages, row, name, value)
    audit = wa.Audit(pages, _origin(example.site))
    issues = audit.issues
    assert issues.attrs["webanalytics"]["rules_failed"] == [], example.rule
    return set(issues["rule"])


def _origin(site: Mapping[str, Any]) -> Origin:
    text = site.get("robots_txt")
    return Origin(
        sitemap=_sitemap(site) if "sitemap" in site else None,
        robots={} if text is None else {SITE: robots_problems(text)},
        robots_files={} if text is None else {SITE: RobotsCopy(text, 200)},
        crawl=crawl_of(site),
    )


def _sitemap(site: Mapping[str, Any]) -> pd.DataFrame:
    """What `webanalytics.sitemap` returns for the sitemap of an example."""
    entries = [entry if isinstance(entry, dict) else {"url": entry} for entry in site["sitemap"]]
    frame = pd.DataFrame(
        [{"sitemap": f"{SITE}/sitemap.xml", "status": "ok", **entry} for entry in entries],
        columns=[field.name for field in SITEMAP_FIELDS],
        dtype=object,
    )
    frame.attrs["webanalytics"] = {
        "operation": "sitemap",
        "date": site.get("read", "2026-03-01T12:00:00+00:00"),
        "sitemaps": [{"error_key": None, **file} for file in site.get("files", ())],
    }
    return frame


def _failure(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The cells of a page that could not be fetched."""
    if key := record.get("failure"):
        assert key in FETCHING
        values = {"parameter": "url", "seconds": record.get("seconds", 30), "limit": 10, "status": 302}
        values["reason"] = "expired"
        yield from (("status", "error"), ("error", sentence(key, **values)), ("error_type", MESSAGES[key][0]))
        yield "error_key", key
        yield from (("http_status", None), ("title", None), ("text", None))


def _set(pages: pd.DataFrame, row: int, name: str, value: Any) -> None:
    cells = pages[name].tolist() if name in pages else [None] * len(pages)
    cells[row] = value
    dtype = pages[name].dtype if name in pages and pages[name].dtype != "str" else object
    pages[name] = pd.Series(cells, dtype=dtype, index=pages.index)
