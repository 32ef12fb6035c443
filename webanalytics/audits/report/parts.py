"""Parts of the report that its template renders before any script runs: figures, lists of rules, choices."""

from __future__ import annotations

from collections import Counter
from typing import Any

from webanalytics.audits.report.charts import category_label, status_label
from webanalytics.audits.report.content import Content, RuleLine
from webanalytics.strings import percent
from webanalytics.thresholds import PRIORITIES

MOST_SECTIONS = 300
"""Most sections in the list to choose from."""

Choices = list[tuple[str, str]]


def figures(content: Content) -> list[dict[str, Any]]:
    """Return the numbers at the head of the report, as arguments of the template's tiles."""

    def of_pages(part: int) -> str:
        return f"{percent(part / content.size)} of pages" if content.size else "of no page"

    def tile(label: str, value: int, **wanted: str) -> dict[str, Any]:
        return {"label": label, "value": value, "after": of_pages(value), "wanted": wanted}

    tiles: list[dict[str, Any]] = [
        {"label": "Pages", "value": content.size, "after": "in this audit"},
        tile("Read", content.ok, status="ok"),
        tile("Failed", content.size - content.ok, status="failed"),
    ]
    if content.indexable is not None:
        tiles.append(tile("Indexable", content.indexable, status="indexable"))
    for priority in PRIORITIES:
        pages = content.pages_of[priority]
        made = tile(priority.capitalize(), content.issues_of[priority], priority=priority)
        tiles.append(made | {"after": f"issues on {pages:,} page{'s' * (pages != 1)}", "kind": priority})
    return tiles


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
    """Return the choices of sections, the largest first."""
    counts = Counter(str(section) for section in content.values("section") if section is not None)
    largest = sorted(counts, key=lambda name: (-counts[name], name))[:MOST_SECTIONS]
    return [(name, f"{name} ({counts[name]:,})") for name in largest]


def rules(content: Content) -> list[tuple[str, Choices]]:
    """Return the choices of rules, by category."""
    choices: dict[str, Choices] = {}
    for line in content.rules:
        everything = (f"category:{line.category}", f"Any of {category_label(line.category)}")
        choices.setdefault(line.category, [everything]).append((f"rule:{line.name}", line.title))
    return [(category_label(category), choices[category]) for category in sorted(choices)]


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
