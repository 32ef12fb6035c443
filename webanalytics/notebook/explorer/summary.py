"""A frame of pages -> the content of the explorer's overview, keywords and failures tabs.

For a saved notebook on a web page where no widget can run, the explorer is static HTML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from webanalytics.audits.graph.site_links import count_missing
from webanalytics.audits.overview.failures import reasons, refused
from webanalytics.core.strings import counted, percent, to_one_decimal
from webanalytics.core.templates import render
from webanalytics.notebook.explorer.table import MOST_ROWS, clean, has_keyword_maps, texts
from webanalytics.runs.frames.schema import is_missing
from webanalytics.thresholds import AUDIENCES

MOST_URLS = 100
"""Most pages that are listed of one reason."""
MOST_REASONS = 100
MOST_RUNS = 12


def failure_groups(pages: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the failed pages by reason, the most frequent first, with what changes it and its first pages.

    Examples
    --------
    >>> pages = pd.DataFrame({"url": ["a", "b"], "status": ["error"] * 2, "error_type": ["robots"] * 2})
    >>> [(group["reason"], group["option"], group["count"]) for group in failure_groups(pages)]
    [("The site's robots.txt forbids the page.", 'robots=False', 2)]
    """
    addresses = texts(pages, str(pages.columns[0])) if len(pages.columns) else []
    return [
        {
            "reason": clean(why.sentence),
            "type": clean(why.error_type or "other", 40),
            "option": "" if why.advice is None else why.advice.option,
            "change": "" if why.advice is None else why.advice.change,
            "count": len(rows),
            "rows": [[row if row < MOST_ROWS else None, clean(addresses[row])] for row in rows[:MOST_URLS]],
        }
        for why, rows in reasons(pages)[:MOST_REASONS]
    ]


MOST_KEYWORDS = 300


def summary(pages: pd.DataFrame) -> dict[str, Any]:
    """Return what the tabs show in addition to their tables, and which of them have something to show."""
    has_status = "status" in pages.columns
    return {
        "figures": _figures(pages, texts(pages, "status")),
        "failures": failure_groups(pages) if has_status else [],
        "has": {
            "pages": "url" in pages.columns,
            "status": has_status,
            "readability": "averageGradeLevel" in pages.columns or "fleschReadingEase" in pages.columns,
            "keywords": has_keyword_maps(pages),
            "metadata": "title" in pages.columns and "description" in pages.columns,
        },
    }


def words_and_bars(pages: pd.DataFrame, history: pd.DataFrame | None = None) -> dict[str, Any]:
    """Return the words of all pages, and the bars of the overview."""
    words = keyword_totals(pages)
    return {"bars": [*_bars(pages, words), *_past(history)], "keywords": words[:MOST_KEYWORDS]}


def numbers(pages: pd.DataFrame, name: str) -> np.ndarray[Any, Any]:
    """Return the finite numbers of a column; an empty result if it is missing."""
    if list(pages.columns).count(name) != 1:
        return np.empty(0)
    found = pd.to_numeric(pages[name], errors="coerce").astype("Float64").to_numpy(float, na_value=np.nan)
    return found[np.isfinite(found)]


def _figures(pages: pd.DataFrame, statuses: list[str]) -> list[list[str]]:
    away = refused(pages) if "status" in pages.columns else 0
    failed = sum(status == "error" for status in statuses) - away
    noun = "Pages" if "url" in pages.columns else "Rows"
    missing = count_missing(pages) if any(statuses) else 0
    figures = [[noun, f"{len(pages) - missing:,}", ""]]
    if any(statuses):
        share = f"{percent((failed - missing) / (len(pages) - missing))} of all" if failed > missing else ""
        figures += [
            ["Read", f"{len(pages) - failed - away:,}", ""],
            ["Failed", f"{failed - missing:,}", share],
        ]
        figures += [["Refused", f"{away:,}", "and not judged"]] * (away > 0)
        figures += [["Missing", f"{missing:,}", "addresses without a page"]] * (missing > 0)
    count, minutes = numbers(pages, "wordCount"), numbers(pages, "readingTimeMinutes")
    if len(count):
        note = f"median {np.median(count):,.0f} a page"
        figures.append(["Words", f"{count.sum():,.0f}", note])
    if len(minutes):
        hours, rest = divmod(round(minutes.sum()), 60)
        figures.append(["Reading time", f"{hours:,} h {rest} min" if hours else f"{rest} min", ""])
    fits = pages["audience"].notna() if list(pages.columns).count("audience") == 1 else slice(None)
    for name, label in (("averageGradeLevel", "Median grade"), ("fleschReadingEase", "Median Flesch ease")):
        known = numbers(pages.loc[fits], name)  # of texts that a scale fits
        if len(known):
            note = f"of {counted(len(known))}"
            note += "" if name == "fleschReadingEase" else " in English"
            figures.append([label, f"{np.median(known):.1f}", note])
    for name, label in (("page_type", "Types of pages"), ("language", "Languages")):
        if counts := Counter(text for text in texts(pages, name) if text):
            most = ", ".join(clean(value, 13) for value, _ in counts.most_common(3))
            figures.append([label, f"{len(counts):,}", most])
    seconds = numbers(pages, "elapsed")
    if len(seconds):
        median = np.median(seconds)
        said = (
            f"{median:.1f} s" if median >= 1 else f"{median * 1000:.0f} ms" if median >= 0.001 else "< 1 ms"
        )
        figures.append(["Median fetch", said, ""])
    return figures


def _bars(pages: pd.DataFrame, words: list[list[Any]]) -> list[dict[str, Any]]:
    bars: list[dict[str, Any]] = []
    audiences = Counter(text for text in texts(pages, "audience") if text)
    if audiences:
        rows = [[name, audiences[name]] for name in AUDIENCES]
        title = f"Pages by audience ({audiences.total():,} of {len(pages) - count_missing(pages):,})"
        bars.append({"title": title, "key": "audience", "rows": rows})
    if words:
        rows = [[word, count] for word, count, _ in words[:10]]
        bars.append({"title": "Most frequent words", "key": "", "rows": rows})
    for name, title in (("language", "Pages by language"), ("http_status", "Pages by HTTP status")):
        if name in pages.columns and len(bars) < 2:
            values = [
                clean(str(value), 30)
                for value in pages[name].tolist()
                if not is_missing(value) and value != ""
            ]
            if rows := [[value, count] for value, count in Counter(values).most_common(8)]:
                bars.append({"title": title, "key": name, "rows": rows})
    return bars


def _past(history: pd.DataFrame | None) -> Iterator[dict[str, Any]]:
    if history is not None and len(history) > 1:
        rows = history[history["good"] & history["score"].notna()].tail(MOST_RUNS)[::-1]
        shown = [[f"{date:%Y-%m-%d}", score] for date, score in zip(rows["date"], rows["score"], strict=True)]
        yield {"title": f"Score over time ({len(history):,} audits)", "key": "", "rows": shown}


def keyword_totals(pages: pd.DataFrame) -> list[list[Any]]:
    """Return word, frequency and number of pages over all pages, the most frequent first.

    Examples
    --------
    >>> keyword_totals(pd.DataFrame({"keywords": [{"tea": 2}, {"tea": 1, "leaf": 1}]}))
    [['tea', 3, 2], ['leaf', 1, 1]]
    """
    if list(pages.columns).count("keywords") != 1:
        return []
    frequency: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for words in pages["keywords"].tolist():
        if isinstance(words, Mapping):
            frequency.update({str(word): int(count) for word, count in words.items()})
            spread.update([str(word) for word in words])
    return [[clean(word, 80), count, spread[word]] for word, count in frequency.most_common()]


ROWS = 15
COLUMNS = 8
RULES = 8
LONGEST_CELL = 70
# some sites keep only one of these, some only the other
_LEFT = Markup(' align="left" style="text-align:left"')


def static_html(content: dict[str, Any], issues: dict[str, Any] | None = None) -> str:
    """Return head, figures, what to fix first, failures and the first rows of what the browser gets."""
    table, summary = content["table"], content["summary"]
    found = issues or {"score": None, "causes": [], "alarm": "", "columns": []}
    columns = {item["key"]: item for item in (*table["columns"], *found["columns"])}
    rows = min(ROWS, table["length"])
    return render(
        "notebook/widgets/static/explorer.html",
        head=content["head"],
        figures=summary["figures"],
        score=found["score"],
        points=to_one_decimal,
        alarm=found["alarm"],
        causes=found["causes"][:RULES],
        failures=summary["failures"][:RULES],
        columns=[columns[key] for key in table["views"]["pages"] if key in columns][:COLUMNS],
        rows=rows,
        left=table["total"] - rows,
        cell=cell,
        side=lambda column: _LEFT if column["kind"] == "text" else "",
    )


def cell(value: Any) -> str:
    """Return the text of a cell; of a part that rounds to nothing, that it is less."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not value.is_integer():
        return "< 0.01" if 0 < value < 0.005 else f"{value:,.2f}"
    whole = isinstance(value, (int, float))
    text = f"{value:,.0f}" if whole and value > 9_999 else f"{value:.0f}" if whole else str(value)
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
