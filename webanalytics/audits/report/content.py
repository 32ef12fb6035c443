"""The frames of an audit -> plain data for the report and the explorer's tab of issues."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import pandas as pd

from webanalytics.audits.graph.site_links import count_missing
from webanalytics.audits.overview.head import site_of
from webanalytics.audits.report import large
from webanalytics.audits.report.cells import Scalar, column
from webanalytics.audits.report.gaps import plain
from webanalytics.audits.report.groups import Kind, cut
from webanalytics.audits.score import COUNTED
from webanalytics.audits.selection import OTHER
from webanalytics.audits.words import phrase, say, spoken
from webanalytics.thresholds import PRIORITIES

LONGEST_URL = 4000
LONGEST_EVIDENCE = 500
LONGEST_EXCERPT = 400
"""Characters of a page's text that its card shows."""

MOST_TERMS = 8
"""Most keywords of a page that its card shows."""


@dataclass(frozen=True)
class Fact:
    """A column that a page's card shows: its name, label and unit."""

    name: str
    label: str
    unit: str = ""


FACTS = (
    Fact("score", "Score"),
    Fact("http_status", "HTTP status"),
    Fact("final_url", "Ended at"),
    Fact("redirects", "Redirects"),
    Fact("redirect_kinds", "Kinds of redirects"),
    Fact("indexability", "Indexability"),
    Fact("canonical", "Canonical"),
    Fact("canonical_state", "Canonical state"),
    Fact("robots", "Robots meta"),
    Fact("x_robots_tag", "X-Robots-Tag"),
    Fact("lang", "Declared language"),
    Fact("language", "Language of the text"),
    Fact("title_length", "Title", "characters"),
    Fact("title_pixels", "Title width", "px"),
    Fact("description_length", "Description", "characters"),
    Fact("description_pixels", "Description width", "px"),
    Fact("h1_count", "h1 headings"),
    Fact("h2_count", "h2 headings"),
    Fact("page_type", "Type of page"),
    Fact("content_confidence", "Chance that the text is right"),
    Fact("content_note", "Why it is low"),
    Fact("wordCount", "Words"),
    Fact("audience", "Readers it suits"),
    Fact("readability_score", "Readability score"),
    Fact("readability_scale", "Readability scale"),
    Fact("readability_note", "Readability not judged"),
    Fact("fleschReadingEase", "Flesch reading ease"),
    Fact("fleschReadingEaseText", "Reading ease in words"),
    Fact("depth", "Folder depth"),
    Fact("crawl_depth", "Clicks from the start"),
    Fact("link_score", "Link score"),
    Fact("inlinks", "Internal links to it"),
    Fact("in_sitemap", "In the sitemap"),
    Fact("internal_links", "Internal links on it"),
    Fact("external_links", "External links on it"),
    Fact("subdomain_links", "Those to own subdomains"),
    Fact("images", "Images"),
    Fact("structured_types", "Structured data"),
    Fact("near_duplicate_cluster", "Near-duplicate cluster"),
    Fact("elapsed", "Response time", "s"),
    Fact("bytes", "Size", "bytes"),
    Fact("content_type", "Content type"),
)

PREVIEW_COLUMNS = (
    *("og:title", "og:description", "og:image", "og:site_name"),
    *("card:title", "card:description", "card:image", "card:card"),
)
PAGE_COLUMNS = (
    *("url", "status", "error", "title", "description", "section", "indexable", "text", "keywords"),
    *PREVIEW_COLUMNS,
    *(fact.name for fact in FACTS),
)
_OF_ALL = frozenset(
    (
        *("url", "status", "error", "title", "section", "indexable", "score", "http_status", "final_url"),
        *("redirects", "indexability", "lang", "language", "title_length", "title_pixels", "wordCount"),
        *("audience", "readability_score", "readability_scale", "readability_note", "depth", "crawl_depth"),
        *("link_score", "inlinks", "page_type", "content_note"),
    )
)
"""Columns that the report of many pages has of all of them: its lists, charts and chapters need them."""
IN_WORDS = ("audience", "readability_scale", "readability_note", "fleschReadingEaseText", "content_note")
"""Columns of words of the package, which the cards say in the language of the report."""
_URLS = ("url", "final_url", "canonical", "og:image", "card:image")


@dataclass
class RuleLine:
    """One rule and how many pages it concerns."""

    name: str
    title: str
    category: str = ""
    type: str = "issue"
    priority: str = "low"
    explanation: str = ""
    fix: str = ""
    unit: str = ""
    pages: int = 0
    indexable: int = 0
    findings: int = 0
    share: float = 0.0
    issues: int = 0
    measured: str = ""
    help: str = ""  # address of the page that explains it, where the documentation has one

    @property
    def urgency(self) -> tuple[int, int, int, int]:
        """What the order "fix first" sorts by: priority, then indexable pages, then findings."""
        return PRIORITIES.index(self.priority), -self.indexable, -self.findings, -self.pages


@dataclass
class Content:
    """Pages, issues and rules of one audit."""

    size: int
    pages: dict[str, list[Scalar]]  # columns that are not empty
    issues: dict[str, list[Any]]  # ``page`` and ``rule`` are positions, -1 for an address outside the pages
    rules: list[RuleLine]  # those that concern a page, in the order "fix first"
    passed: list[RuleLine] = field(default_factory=list)  # those that concern none
    kind: Kind = "section"  # what the column ``section`` holds
    detailed: list[int] | None = None  # rows of which everything is known, None for all
    missing: int = 0  # addresses behind which there is no page

    @property
    def count(self) -> int:
        """How many pages there are."""
        return self.size - self.missing

    def values(self, name: str) -> list[Scalar]:
        """Return a column of the pages; all None if it is missing."""
        return self.pages.get(name) or [None] * self.size

    @cached_property
    def row_of(self) -> dict[Scalar, int]:
        """The first row of each address."""
        rows: dict[Scalar, int] = {}
        for row, url in enumerate(self.pages.get("url", ())):
            rows.setdefault(url, row)
        return rows

    @cached_property
    def ok(self) -> int:
        """Pages that were read."""
        return sum(value == "ok" for value in self.values("status"))

    @cached_property
    def indexable(self) -> int | None:
        """Pages that search engines may index; None if unknown."""
        if "indexable" not in self.pages:
            return None
        return sum(value is True for value in self.values("indexable"))

    @cached_property
    def issues_of(self) -> dict[str, int]:
        """Issues of each priority."""
        counts = Counter(self.rules[rule].priority for rule in self.issues["rule"])
        return {priority: counts[priority] for priority in PRIORITIES}

    @cached_property
    def faults_of(self) -> dict[str, int]:
        """Faults of each priority: issues that take points from the score."""
        counted = (rule for rule in self.issues["rule"] if self.rules[rule].type in COUNTED)
        counts = Counter(self.rules[rule].priority for rule in counted)
        return {priority: counts[priority] for priority in PRIORITIES}

    @cached_property
    def pages_of(self) -> dict[str, int]:
        """Pages with a fault of each priority."""
        found: dict[str, set[int]] = {priority: set() for priority in PRIORITIES}
        for rule, page in zip(self.issues["rule"], self.issues["page"], strict=True):
            if self.rules[rule].type in COUNTED and page >= 0:
                found[self.rules[rule].priority].add(page)
        return {priority: len(urls) for priority, urls in found.items()}

    @cached_property
    def hosts_of(self) -> dict[str, int]:
        """Hosts with a fault of each priority that is of the whole host."""
        both = {
            (self.rules[rule].priority, url)
            for rule, page, url in zip(*(self.issues[name] for name in ("rule", "page", "url")), strict=True)
            if page < 0 and self.rules[rule].type in COUNTED
        }
        return Counter(priority for priority, _ in both)

    @cached_property
    def host(self) -> str:
        """The host of most pages, and how many others there are."""
        return site_of(self.values("url"))


def read(pages: pd.DataFrame, issues: pd.DataFrame, summary: pd.DataFrame) -> Content:
    """Return the content of an audit's frames; columns may be missing."""
    detailed = large.detailed(pages)
    columns = _pages(pages, detailed)
    kind, columns["section"] = cut(
        [final or url for final, url in zip(columns["final_url"], columns["url"], strict=True)],
        columns["section"],
    )
    if "segment" in pages:
        kind = "segment"
        columns["section"] = [say(OTHER) if it == OTHER else it for it in column(pages, "segment")]
    filled = {name: values for name, values in columns.items() if any(value is not None for value in values)}
    names = [str(name) for name in column(issues, "rule")]
    addresses = column(issues, "url", LONGEST_URL)
    lines = _rules(issues, names, summary, columns)
    affected = sorted((line for line in lines if line.pages), key=lambda line: line.urgency)
    place = {line.name: number for number, line in enumerate(affected)}
    found: dict[str, list[Any]] = {"rule": [place[name] for name in names], "url": addresses}
    shown = None if detailed is None else large.first_of_each(found["rule"])
    for name, rows in (("value", None), ("threshold", None), ("evidence", shown)):
        cells = _of_some(issues, name, LONGEST_EVIDENCE, rows)
        found[name] = [None if value == "" else value for value in cells]
    found["evidence"] = [phrase(said) if isinstance(said, str) else said for said in found["evidence"]]
    passed = [line for line in lines if not line.pages]
    made = Content(len(pages), filled, found, affected, passed, kind=kind, detailed=detailed)
    of_page = [scope != "host" for scope in column(issues, "scope")]
    found["page"] = [
        made.row_of.get(url, -1) if own else -1 for url, own in zip(addresses, of_page, strict=True)
    ]
    made.missing = count_missing(pages)
    return made


def _pages(pages: pd.DataFrame, detailed: list[int] | None) -> dict[str, list[Scalar]]:
    longest = dict.fromkeys(_URLS, LONGEST_URL) | {"text": LONGEST_EXCERPT}
    columns = {
        name: _of_some(pages, name, longest.get(name, 1000), None if name in _OF_ALL else detailed)
        for name in PAGE_COLUMNS
    }
    columns["error"] = [
        phrase(plain(error)) if isinstance(error, str) else error for error in columns["error"]
    ]
    for name in ("title", "description"):
        if f"{name}Length" not in pages.columns:
            columns[f"{name}Length"] = [
                len(text) if isinstance(text, str) else None for text in columns[name]
            ]
    if "keywords" in pages.columns:
        rows = range(len(pages)) if detailed is None else detailed
        columns["keywords"] = [None] * len(pages)
        for row, cell in zip(rows, pages["keywords"].iloc[list(rows)].tolist(), strict=True):
            columns["keywords"][row] = _terms(cell)
    if "status" not in pages.columns:
        columns["status"] = ["ok" if error is None else "error" for error in columns["error"]]
    return columns


def _of_some(frame: pd.DataFrame, name: str, longest: int, rows: list[int] | None) -> list[Scalar]:
    if rows is None:
        return column(frame, name, longest)
    cells: list[Scalar] = [None] * len(frame)
    if name in frame.columns and name != "keywords":
        for row, value in zip(rows, column(frame[[name]].iloc[rows], name, longest), strict=True):
            cells[row] = value
    return cells


def _terms(cell: Any) -> Scalar:
    return ", ".join(map(str, islice(cell, MOST_TERMS))) or None if isinstance(cell, dict) else None


def _rules(
    issues: pd.DataFrame, names: list[str], summary: pd.DataFrame, columns: dict[str, list[Scalar]]
) -> list[RuleLine]:
    lines: dict[str, RuleLine] = {}
    for row in _records(summary):
        _add(lines, str(row["rule"]), row)
    first: dict[str, int] = {}
    for number, name in enumerate(names):
        first.setdefault(name, number)
    told = issues.drop(columns=[*_COUNTS], errors="ignore")  # they count the pages of one issue
    for name, row in zip(first, _records(told.iloc[list(first.values())]), strict=True):
        _add(lines, name, row)
    counts = Counter(names)
    complete = "indexable" in summary
    urls: dict[str, set[Any]] = {name: set() for name, line in lines.items() if not (complete and line.pages)}
    for name, url in zip(names, column(issues, "url", LONGEST_URL), strict=True):
        if name in urls:
            urls[name].add(url)
    both = zip(columns["url"], columns["indexable"], strict=True)
    free = {url for url, indexable in both if indexable is True}
    known = {name: _declared(name) for name in lines}
    size = len(columns["url"])
    for name, line in lines.items():
        _add(lines, name, known[name])
        line.title = line.title or name.replace("_", " ").capitalize()
        line.priority = line.priority.lower() if line.priority.lower() in PRIORITIES else "low"
        line.measured, line.help = _measured(name), _help(name)
        for text in ("title", "explanation", "fix", "unit"):
            setattr(line, text, say(getattr(line, text)))
        line.issues = counts[name]
        line.pages = line.pages or len(urls[name])
        line.indexable = line.indexable if complete else len(urls[name] & free)
        line.findings = line.findings or line.issues
        line.share = line.share or (line.pages / size if size else 0.0)
    return list(lines.values())


_TEXTS = ("title", "category", "type", "priority", "explanation", "fix", "unit")
_COUNTS = ("pages", "indexable", "findings")


def _records(frame: pd.DataFrame) -> list[dict[str, Scalar]]:
    frame = frame.rename(columns={"rule_title": "title"})
    names = [name for name in ("rule", *_TEXTS, *_COUNTS, "share") if name in frame.columns]
    if "rule" not in names:
        return []
    values = [column(frame, name) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _add(lines: dict[str, RuleLine], name: str, row: dict[str, Scalar]) -> None:
    line = lines.get(name)
    if line is None:
        line = lines[name] = RuleLine(name, "", type="", priority="")
    for key in _TEXTS:
        if not getattr(line, key) and row.get(key) is not None:
            setattr(line, key, str(row[key]))
    for key in _COUNTS:
        count = row.get(key)
        if isinstance(count, (int, float)):
            setattr(line, key, int(count))
    share = row.get("share")
    if isinstance(share, (int, float)):
        line.share = float(share)


def _declared(name: str) -> dict[str, Scalar]:
    from webanalytics.audits.rules import RULES

    rule = RULES.get(name)
    return {} if rule is None else {key: str(getattr(rule, key)) for key in _TEXTS}


def _measured(name: str) -> str:
    """Return how a rule measures, '' where that is not said in the language of the report."""
    from webanalytics.audits.rules import RULES

    text = RULES[name].measured if name in RULES else ""
    return text if spoken() == "en" or say(text) != text else ""


def _help(name: str) -> str:
    """Return where the documentation explains a rule, '' where nobody said where that is."""
    from webanalytics.audits.rules import RULES

    return RULES[name].link if name in RULES else ""
