"""Parts of the report that its template renders before any script runs: figures, lists of rules, choices."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd
from markupsafe import Markup, escape

from webanalytics.audits.report.chapters import UNDETERMINED
from webanalytics.audits.report.charts import category_label, status_label
from webanalytics.audits.report.content import Content, RuleLine
from webanalytics.audits.score import COSTS
from webanalytics.core import templates
from webanalytics.core.strings import counted, percent
from webanalytics.thresholds import PRIORITIES

MOST_SECTIONS = 300
"""Most sections in the list to choose from."""

Choices = list[tuple[str, str]]


def figures(content: Content) -> list[dict[str, Any]]:
    """Return the numbers at the head of the report, as arguments of the template's tiles."""
    refused = content.values("indexability").count("refused")
    failed = content.count - content.ok - refused
    tiles: list[dict[str, Any]] = [
        {"label": "Pages", "value": content.count, "after": f"{content.ok:,} read"},
        {"label": "Failed", "value": failed, "after": _share(failed, content.count)}
        | ({"wanted": {"status": "failed"}, "kind": "failed"} if failed else {}),
    ]
    if content.missing:
        told = {"label": "Missing", "value": content.missing, "after": "addresses without a page"}
        tiles.append(told | {"wanted": {"status": "failed"}, "kind": "failed"})
    tiles += [{"label": "Refused", "value": refused, "after": "and not judged"}] * (refused > 0)
    if content.indexable is not None:
        shared = _share(content.indexable, content.count)
        tiles.append(
            {
                "label": "Indexable",
                "value": content.indexable,
                "after": shared,
                "wanted": {"status": "indexable"},
            }
        )
    return tiles + [
        {
            "label": priority.capitalize(),
            "value": content.faults_of[priority],
            "after": _where(content.pages_of[priority], content.hosts_of[priority]),
            "kind": priority,
            "wanted": {"priority": priority},
        }
        for priority in PRIORITIES
    ]


def _where(pages: int, hosts: int) -> str:
    named = [counted(pages)] * (pages > 0 or not hosts) + [counted(hosts, "host")] * (hosts > 0)
    return f"faults on {' and '.join(named)}"


MOST_CAUSES = 10


def causes(found: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the causes to name at the head of the report: those that take points, else the first."""
    chosen = found[found["points"] > 0]
    return (chosen if len(chosen) else found).head(MOST_CAUSES).to_dict("records")


def _share(part: int, size: int) -> str:
    return f"{percent(part / size)} of pages" if size else "of no page"


def reach(line: RuleLine) -> str:
    """Return how many pages a rule concerns, and how many of them may be indexed where that differs."""
    shown = counted(line.pages)
    if line.indexable >= line.pages:
        return shown
    return f"{shown}, {line.indexable:,} indexable" if line.indexable else f"{shown}, none indexable"


def coded(text: str) -> Markup:
    """Return text with its parts between backticks as code.

    >>> coded("Try `a < b`.")
    Markup('Try <code>a &lt; b</code>.')
    """
    parts = (escape(templates.visible(part)) for part in text.split("`"))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def formula() -> str:
    """Return the formula of the health score in one sentence.

    >>> formula()
    'Pages start at 100 and lose 20 for a high, 5 for a medium, 1 for a low fault; hidden pages cost more.'
    """
    costs = ", ".join(f"{COSTS[priority]} for a {priority}" for priority in PRIORITIES)
    return f"Pages start at 100 and lose {costs} fault; hidden pages cost more."


def groups(content: Content) -> list[tuple[str, list[tuple[int, RuleLine]]]]:
    """Return the rules that concern a page with their positions, by priority; the script adds the pages."""
    found = {
        priority: [(place, line) for place, line in enumerate(content.rules) if line.priority == priority]
        for priority in PRIORITIES
    }
    return [(priority, lines) for priority, lines in found.items() if lines]


def passed(content: Content) -> Choices:
    """Return title and category of the rules that found nothing."""
    lines = sorted(content.passed, key=lambda line: (line.category, line.title))
    return [(line.title, line.category) for line in lines]


def sections(content: Content) -> Choices:
    """Return the choices of sections or hosts, the largest first."""
    counts = Counter(str(section) for section in content.values("section") if section is not None)
    largest = sorted(counts, key=lambda name: (-counts[name], name))[:MOST_SECTIONS]
    return [(name, f"{name} ({counts[name]:,})") for name in largest]


def rules(content: Content) -> list[tuple[str, Choices]]:
    """Return the choices of rules, by category: both in the order "fix first"."""
    choices: dict[str, Choices] = {}
    for line in content.rules:
        everything = (f"category:{line.category}", f"Any of {category_label(line.category)}")
        choices.setdefault(line.category, [everything]).append((f"rule:{line.name}", line.title))
    return [(category_label(category), found) for category, found in choices.items()]


def languages(content: Content) -> Choices:
    """Return the choices of languages of the texts of pages that were read, the most frequent first."""
    if "language" not in content.pages:
        return []
    both = zip(content.values("status"), content.values("language"), strict=True)
    counts = Counter(str(language or UNDETERMINED) for status, language in both if status == "ok")
    return [(name, f"{name} ({count:,})") for name, count in counts.most_common(MOST_SECTIONS)]


def statuses(content: Content) -> Choices:
    """Return the choices for the outcome of the fetch and for indexability."""
    choices = [("ok", "Read"), ("failed", "Failed")]
    if "indexable" in content.pages:
        choices += [("indexable", "Indexable"), ("not indexable", "Not indexable")]
    if "http_status" in content.pages:
        found = content.values("http_status")
        codes = {value for value in found if isinstance(value, (int, float))}
        choices += [(f"http:{int(code)}", status_label(code)) for code in sorted(codes)]
        choices += [("none", "No answer")] * (None in found)
    return choices
