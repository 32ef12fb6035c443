"""Audits and comparisons -> workbooks with one sheet for each part, behind `Audit.to_excel`."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics.audits.overview.display import Overview, audit_overview
from webanalytics.audits.pages import CRAWLED, DERIVED, FOUND
from webanalytics.audits.report.gaps import plain
from webanalytics.audits.rules import RULES
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError, path_of
from webanalytics.runs.frames.arrow import declared
from webanalytics.runs.frames.excel import write_sheets
from webanalytics.runs.frames.output_files import flat, new_file
from webanalytics.urls import is_web

LEFT_OUT = frozenset(("responseBody", "rendering", "sent_html", "visible_text"))
"""Columns omitted from sheets: the page itself, and what has a sheet of its own."""

OF_PAGES = (
    *("url", "status", "score", "issues_high", "issues_medium", "issues_low", "title", "title_length"),
    *("description", "description_length", "h1_count", "indexable", "indexability", "canonical"),
    *("http_status", "error", "final_url", "language", "wordCount", "readability_score", "crawl_depth"),
    *("inlinks", "outlinks", "link_score", "in_sitemap", "internal_links", "external_links"),
    *("images_without_alt", "bytes", "elapsed"),
)
"""Columns of the sheet of pages, unless others are asked for; those of the user's own come after them."""

OF_RULES = frozenset(("category", "type", "scope", "fix", "help"))
"""Columns that issues of one rule would all repeat: the sheet of rules has them."""

FIRST = ("rule_title", "rule", "change", "priority", "url", "page_title")
"""Columns with which the sheets of rules and issues begin."""


def sheets_of_audit(audit: Any, columns: Iterable[str] | str | None, rules: Any) -> dict[str, pd.DataFrame]:
    """Return the sheets of an audit: issues of the rules that are named, and some columns of the pages."""
    wanted, parts = checked_rules(rules), audit.parts()
    pages, overview = parts["Pages"], audit_overview(audit)
    named = _columns(pages, columns)
    sheets = sheets_of(overview, parts) | {"Pages": pages[named]}
    issues = sheets["Issues"]
    sheets["Issues"] = issues[[name for name in issues.columns if name not in OF_RULES]]
    notes = []
    if len(named) < len(pages.columns):
        notes.append(f"Pages are shown with {len(named)} of {len(pages.columns)} columns.")
    if wanted is not None:
        notes.append(f"What to fix, rules and issues are those of {', '.join(wanted)} alone.")
        for name in ("Fix first", "Summary", "Issues"):
            sheets[name] = sheets[name][sheets[name]["rule"].isin(wanted)]
    told = [("fix first", cause) for cause in sheets["Fix first"]["cause"].head(10)]
    failed = parts.get("Failures", pd.DataFrame(columns=["pages", "reason"]))
    told += [("not read", f"{row['pages']:,}: {plain(row['reason'])}") for row in failed.to_dict("records")]
    more = pd.DataFrame([*told, *(("note", note) for note in notes)], columns=["what", "value"], dtype=object)
    sheets["Overview"] = pd.concat([sheets["Overview"], more], ignore_index=True)
    return sheets


def checked_rules(rules: Any, parameter: str = "rules") -> list[str] | None:
    """Return the names of rules that a workbook is to show, also those of ``title_*``; None for all."""
    names, found = None if rules is None else _names(rules), dict[str, None]()
    for name in names or ():
        named = fnmatch.filter(RULES, str(name)) if parameter != "rule" else [name] * (name in RULES)
        found |= dict.fromkeys(named)
        if not named:
            near = did_you_mean(name, RULES) or "."
            text = f"The `{parameter}` parameter must name rules; there is no {name!r}{near}"
            raise ParameterError(text, parameter)
    return None if names is None else list(found)


def _names(given: Any) -> list[Any]:
    """Return one name or several, or what is none."""
    return [given] if isinstance(given, str) or not isinstance(given, Iterable) else [*given]


def _columns(pages: pd.DataFrame, columns: Iterable[str] | str | None) -> list[str]:
    if columns is None:
        own = pages.attrs.get("webanalytics", {}).get("extract", ())
        ours = {*declared("audit"), *DERIVED, *CRAWLED, *FOUND}.difference(own)
        return [name for name in OF_PAGES if name in pages] + [c for c in pages.columns if c not in ours]
    if isinstance(columns, str) and columns == "all":
        return [name for name in pages.columns if name not in LEFT_OUT]
    for name in (named := _names(columns)):
        if name not in pages.columns:
            near = did_you_mean(name, map(str, pages.columns)) or "."
            said = f'must be "all" or columns of the pages; there is no {name!r}{near}'
            raise ParameterError(f"The `columns` parameter {said}", "columns")
    return named


def sheets_of(overview: Overview, parts: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the sheets of an audit or a comparison: its score and figures, then its parts."""
    kind, _, site = overview.title.partition(" of ")
    rows: list[tuple[str, object]] = [(kind.lower(), site)] * bool(site)
    rows += [("note", plain(text)) for text in overview.warnings]
    if overview.earlier is not None:
        rows.append(("score before, of 100", overview.earlier))
    if overview.score is not None:
        rows.append(("score, of 100", overview.score))
    rows += [("note", overview.alarm)] * bool(overview.alarm)
    rows += [(label, int(value.replace(",", ""))) for label, value in overview.figures]
    last = [*overview.notes, *[overview.folded[0]] * bool(overview.folded[0])]
    rows += [("note", plain(text)) for text in last]
    figures = pd.DataFrame(rows, columns=["what", "value"], dtype=object)
    return {"Overview": figures, **{name: _titled(frame) for name, frame in parts.items()}}


def _titled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of rules with their titles first and what they say; others without visible text."""
    frame = frame[[name for name in frame.columns if name not in LEFT_OUT]]
    if not {"rule_title", "rule"} <= set(frame.columns):
        return frame
    frame = frame.drop(columns="help", errors="ignore").assign(**_explained(frame))
    if "threshold" in frame.columns:
        units = ["" if (rule := RULES.get(name)) is None else rule.unit for name in frame["rule"]]
        frame.insert(list(frame.columns).index("threshold") + 1, "unit", units)
    first = [name for name in FIRST if name in frame.columns]
    return frame[[*first, *(name for name in frame.columns if name not in first)]]


def _explained(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return why each rule of a list of rules matters, and where its page is if that is on the web."""
    rules = [RULES.get(name) for name in frame["rule"]]
    more = {}
    if "url" not in frame.columns:  # issues of one rule would all repeat it
        for name in ("explanation", "fix"):
            more[name] = ["" if rule is None else getattr(rule, name) for rule in rules]
    known = frame["help"] if "help" in frame.columns else [""] * len(rules)
    told = [
        str(said) if rule is None else rule.link or rule.help for rule, said in zip(rules, known, strict=True)
    ]
    links = [text if is_web(text) else "" for text in told]
    return more | ({"help": links} if any(links) else {})


def write_workbook(path: str | os.PathLike[str], parts: Mapping[str, pd.DataFrame]) -> Path:
    """Write frames to a workbook, one sheet for each, whole or not at all.

    Raises
    ------
    ParameterError
        For another suffix, or a folder that cannot be written to.
    MissingExtraError
        If xlsxwriter is not installed.

    Notes
    -----
    Text is text: what starts with "=" is never a formula. Lists and dicts are JSON text. Control characters
    that a workbook cannot hold are left out, and a text of over 32,767 characters is cut.
    """
    path = path_of(path)
    if path.suffix.lower() != ".xlsx":
        raise ParameterError.must_be("path", "a file with the suffix .xlsx")
    sheets = {name: flat(frame) for name, frame in parts.items()}
    with new_file(path, "path") as temporary:
        write_sheets(temporary, sheets)
    return path
