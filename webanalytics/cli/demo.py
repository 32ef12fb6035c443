"""``webanalytics demo``: the sample site, served on loopback, audited, and written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics import charts
from webanalytics.api import sync as face
from webanalytics.audits.audit import Audit
from webanalytics.audits.display import counted
from webanalytics.audits.rules import RULES
from webanalytics.frames.terminal import table
from webanalytics.frames.writing import write_frame
from webanalytics.testing import sample_site

MOST_RULES = 8
SHOWN = 14
"""Rows of the table that the demo prints."""


def findings(pages: Audit) -> list[str]:
    """Return what an audit shows at a glance, a sentence each: the most urgent rules come first."""
    good = pages[pages["status"] == "ok"]
    if good.empty:
        return ["No page could be read."]
    lines = [
        f"{len(good)} of {len(pages)} pages read, {good['language'].nunique()} languages, "
        f"{int(good['wordCount'].sum()):,} words, {good['readingTimeMinutes'].sum():.0f} minutes to read.",
    ]
    summary = pages.summary()
    broken = summary[summary["category"] != "security"].head(MOST_RULES)  # on loopback there is no https
    lines += [
        f"{RULES[str(rule)].title}: {counted(str(count), 'pages')}, {priority} priority."
        for rule, count, priority in zip(broken["rule"], broken["pages"], broken["priority"], strict=True)
    ]
    graded = good.dropna(subset=["averageGradeLevel"])
    if not graded.empty:
        hardest = graded.iloc[int(graded["averageGradeLevel"].argmax())]
        lines.append(
            f"Hardest to read: {hardest['title']} (US grade {hardest['averageGradeLevel']:.1f}, "
            f"{hardest['audience']})."
        )
    failed = pages[pages["status"] != "ok"]
    for kind, count in failed["error_type"].value_counts().items():
        example = failed[failed["error_type"] == kind].iloc[0]
        lines.append(f"{count} not read ({kind}), such as {example['url']}")
    return lines


def run_demo(folder: Path, width: int = 110) -> int:
    """Audit the sample site, print the findings and write tables and charts."""
    folder.mkdir(parents=True, exist_ok=True)
    with sample_site() as site:
        print(f"Sample site on {site.url}, {len(site.pages)} pages\n")
        pages = face.audit(site.pages, allow_private=True)
        lines = findings(pages)
        # the site is gone in a moment, and its port differs from run to run
        pages["url"] = pages["url"].str.replace(site.url.rstrip("/"), "", regex=False)
        print(table(pages.head(SHOWN), width).rsplit("\n\n", 1)[0])
        print(f"... and {len(pages) - SHOWN} more\n")
        for line in lines:
            print(f"  - {line.replace(site.url, '')}")
    print("\nWritten:")
    for path in (
        write_frame(pages, folder / "audit.csv"),
        write_frame(pages, folder / "audit.parquet"),
        _chart(charts.keywords, pages, folder / "keywords.png"),
        _chart(charts.readability, pages, folder / "readability.png"),
    ):
        print(f"  {path}")
    return 0


def _chart(draw: Callable[[pd.DataFrame], Any], pages: pd.DataFrame, path: Path) -> Path:
    axes = draw(pages)
    axes.figure.savefig(path, dpi=120)
    return path
