"""Parts of the report that its template renders before any script runs: figures, lists of rules, choices."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd

from webanalytics.audits.report.chapters import UNDETERMINED
from webanalytics.audits.report.charts import category_label, status_label
from webanalytics.audits.report.content import Content, RuleLine
from webanalytics.audits.score import COSTS
from webanalytics.audits.words import number, percent, phrase, say, several
from webanalytics.thresholds import PRIORITIES

MOST_SECTIONS = 300
"""Most sections in the list to choose from."""

Choices = list[tuple[str, str]]


def figures(content: Content) -> list[dict[str, Any]]:
    """Return the numbers at the head of the report, as arguments of the template's tiles."""
    refused = content.values("indexability").count("refused")
    failed = content.count - content.ok - refused
    tiles: list[dict[str, Any]] = [
        {"label": say("Pages"), "value": content.count, "after": say("{n} read", n=number(content.ok))},
        {"label": say("Failed"), "value": failed, "after": _share(failed, content.count)}
        | ({"wanted": {"status": "failed"}, "kind": "failed"} if failed else {}),
    ]
    if content.missing:
        told = {"label": say("Missing"), "value": content.missing, "after": say("addresses without a page")}
        tiles.append(told | {"wanted": {"status": "failed"}, "kind": "failed"})
    told = {"label": say("Refused"), "value": refused, "after": say("and not judged")}
    tiles += [told] * (refused > 0)
    if content.indexable is not None:
        told = {"label": say("Indexable"), "value": content.indexable, "wanted": {"status": "indexable"}}
        tiles.append(told | {"after": _share(content.indexable, content.count)})
    return tiles + [
        {
            "label": say(priority.capitalize()),
            "value": content.faults_of[priority],
            "after": _where(content.pages_of[priority], content.hosts_of[priority]),
            "kind": priority,
            "wanted": {"priority": priority},
        }
        for priority in PRIORITIES
    ]


def _where(pages: int, hosts: int) -> str:
    named = [several("on {n} page", "on {n} pages", pages)] * (pages > 0 or not hosts)
    return ", ".join(named + [several("on {n} host", "on {n} hosts", hosts)] * (hosts > 0))


MOST_CAUSES = 10


def causes(found: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the causes to name at the head of the report: those that take points, else the first."""
    chosen = found[found["points"] > 0]
    shown = (chosen if len(chosen) else found).head(MOST_CAUSES).to_dict("records")
    return [line | {"cause": phrase(str(line["cause"]))} for line in shown]


def _share(part: int, size: int) -> str:
    return say("{share} of pages", share=percent(part / size)) if size else "–"


def reach(line: RuleLine) -> str:
    """Return how many pages a rule concerns, and how many of them may be indexed where that differs."""
    shown = several("{n} page", "{n} pages", line.pages)
    if line.indexable >= line.pages:
        return shown
    more = (
        several("{n} indexable", "{n} indexable", line.indexable) if line.indexable else say("none indexable")
    )
    return f"{shown}, {more}"


def formula() -> str:
    """Return the formula of the health score in one sentence.

    >>> formula()
    'Pages start at 100 and lose 20 for a high, 5 for a medium, 1 for a low fault; hidden pages cost more.'
    """
    return say(
        "Pages start at 100 and lose {high} for a high, {medium} for a medium, {low} for a low fault; hidden "
        "pages cost more.",
        **{str(priority): str(cost) for priority, cost in COSTS.items()},
    )


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
    return [(line.title, category_label(line.category)) for line in lines]


def sections(content: Content) -> Choices:
    """Return the choices of sections or hosts, the largest first."""
    counts = Counter(str(section) for section in content.values("section") if section is not None)
    largest = sorted(counts, key=lambda name: (-counts[name], name))[:MOST_SECTIONS]
    return [(name, f"{name} ({number(counts[name])})") for name in largest]


def rules(content: Content) -> list[tuple[str, Choices]]:
    """Return the choices of rules, by category: both in the order "fix first"."""
    choices: dict[str, Choices] = {}
    for line in content.rules:
        label = say("All of {category}", category=category_label(line.category))
        everything = (f"category:{line.category}", label)
        choices.setdefault(line.category, [everything]).append((f"rule:{line.name}", line.title))
    return [(category_label(category), found) for category, found in choices.items()]


def languages(content: Content) -> Choices:
    """Return the choices of languages of the texts of pages that were read, the most frequent first."""
    if "language" not in content.pages:
        return []
    both = zip(content.values("status"), content.values("language"), strict=True)
    counts = Counter(str(language or UNDETERMINED) for status, language in both if status == "ok")
    return [(name, f"{name} ({number(count)})") for name, count in counts.most_common(MOST_SECTIONS)]


def statuses(content: Content) -> Choices:
    """Return the choices for the outcome of the fetch and for indexability."""
    choices = [("ok", say("Read")), ("failed", say("Not read"))]
    if "indexable" in content.pages:
        choices += [("indexable", say("Indexable")), ("not indexable", say("Not indexable"))]
    if "http_status" in content.pages:
        found = content.values("http_status")
        codes = {value for value in found if isinstance(value, (int, float))}
        choices += [(f"http:{int(code)}", status_label(code)) for code in sorted(codes)]
        choices += [("none", say("No answer"))] * (None in found)
    return choices
