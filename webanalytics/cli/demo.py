"""``webanalytics demo``: the sample site, served on loopback, audited, and written to files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics import sync as face
from webanalytics.audits.audit import Audit
from webanalytics.audits.overview.display import as_text, audit_overview
from webanalytics.audits.profiles import resolve_profile
from webanalytics.cli.names import as_flags
from webanalytics.fetching.testing import sample_site
from webanalytics.notebook import charts
from webanalytics.runs.frames.output_files import write_frame
from webanalytics.runs.frames.terminal import table

SHOWN = 8
"""Rows of the table that the demo prints."""

OFF = (
    "Switched off: http_page. A site on this machine has no https; where the rule is on, the score is lower."
)


def findings(audit: Audit) -> list[str]:
    """Return what the texts of an audit's pages show at a glance, a sentence each."""
    good = audit.raw[audit.raw["status"] == "ok"]
    if good.empty:
        return ["No page could be read."]
    languages = good.loc[good["language"] != "", "language"].nunique()
    lines = [
        f"{len(good)} of {len(audit)} pages read, {languages} languages, "
        f"{int(good['wordCount'].sum()):,} words, {good['readingTimeMinutes'].sum():.0f} minutes to read.",
    ]
    graded = good.dropna(subset=["averageGradeLevel", "audience"])  # no audience: no scale fits the text
    if not graded.empty:
        hardest = graded.iloc[int(graded["averageGradeLevel"].argmax())]
        lines.append(
            f"Hardest to read: {hardest['title']} (US grade {hardest['averageGradeLevel']:.1f}, "
            f"{hardest['audience']})."
        )
    return lines


def run_demo(folder: Path, width: int = 110) -> int:
    """Audit the sample site, print what to fix first, and write the report, tables and charts."""
    folder.mkdir(parents=True, exist_ok=True)
    with sample_site() as site:
        print(f"Sample site on {site.url}, {len(site.pages)} pages\n")
        known = resolve_profile()
        profile = replace(known, off=known.off | {"http_page"})  # on loopback there is no https
        audit = face.audit(site.pages, sitemap=site.sitemap, allow_private=True).with_profile(profile)
        overview = replace(audit_overview(audit), title="Audit of the sample site", hint="")
        # the site is gone in a moment, and its port differs from run to run
        pages = audit.raw.assign(url=audit.raw["url"].str.replace(site.url.rstrip("/"), "", regex=False))
        print(table(pages.head(SHOWN), width).rsplit("\n\n", 1)[0])
        print(f"... and {len(pages) - SHOWN} more\n")
        print("\n".join(findings(audit)).replace(site.url, "") + "\n")
        print(as_flags(as_text(overview, width)).replace(site.url, ""))
        print(f"\n{OFF}")
        report = audit.report(folder / "report.html", title="The sample site")
    print("\nWritten:")
    for path in (
        write_frame(pages, folder / "audit.csv"),
        write_frame(pages, folder / "audit.parquet"),
        _chart(charts.keywords, pages, folder / "keywords.png"),
        _chart(charts.readability, pages, folder / "readability.png"),
        report,
    ):
        print(f"  {path}")
    print(f"\nOpen the report in a browser: {report.absolute().as_uri()}")
    return 0


def _chart(draw: Callable[[pd.DataFrame], Any], pages: pd.DataFrame, path: Path) -> Path:
    axes = draw(pages)
    axes.figure.savefig(path, dpi=120)
    return path
