"""Parts of the report that are written as HTML: what is there before any script runs."""

from __future__ import annotations

from collections.abc import Iterable

from webanalytics.seo.report.charts import (
    category_label,
    matrix,
    number,
    percent,
    priorities,
    rules,
    status_label,
    statuses,
    titles,
)
from webanalytics.seo.report.content import PRIORITIES, Content, RuleLine
from webanalytics.seo.report.markup import Markup, element, joined

MOST_SECTIONS = 300
"""Sections in the list to choose from."""


def figures(content: Content) -> Markup:
    """Return the numbers at the head of the report."""
    failed = content.size - content.ok
    tiles = [
        _tile("Pages", content.size, "in this audit"),
        _tile("Read", content.ok, _of(content.ok, content.size), status="ok"),
        _tile("Failed", failed, _of(failed, content.size), status="failed"),
    ]
    if content.indexable is not None:
        said = _of(content.indexable, content.size)
        tiles.append(_tile("Indexable", content.indexable, said, status="indexable"))
    for priority in PRIORITIES:
        pages = content.pages_of[priority]
        said = f"issues on {number(pages)} page{'s' * (pages != 1)}"
        count = content.issues_of[priority]
        tiles.append(_tile(priority.capitalize(), count, said, kind=priority, priority=priority))
    return element("ul", joined(tiles), class_="tiles")


def _of(part: int, whole: int) -> str:
    return f"{percent(part / whole)} of pages" if whole else "of no page"


def _tile(label: str, value: int, after: str, kind: str = "", **wanted: str) -> Markup:
    inside = joined(
        [
            element("span", label, class_="name"),
            element("strong", number(value)),
            element("span", after, class_="after"),
        ]
    )
    data = {f"data_{key}": value for key, value in wanted.items()}
    body = element("button", inside, type="button", class_="set", **data) if wanted else inside
    return element("li", body, class_=f"tile {kind}".strip())


def notes(sentences: Iterable[str]) -> Markup:
    """Return sentences on the whole site."""
    items = [element("li", element("bdi", sentence)) for sentence in sentences]
    return element("ul", *items, class_="notes") if items else Markup("")


def charts(content: Content) -> Markup:
    """Return all charts that the audit has values for."""
    drawn = [priorities(content), statuses(content), titles(content), rules(content), matrix(content)]
    return joined(chart for chart in drawn if chart is not None)


def issues(content: Content) -> Markup:
    """Return every rule that speaks of a page, by priority; the script fills in the pages."""
    parts: list[object] = []
    for priority in PRIORITIES:
        lines = [(place, line) for place, line in enumerate(content.rules) if line.priority == priority]
        if lines:
            count = content.issues_of[priority]
            title = element(
                "h3",
                f"{priority.capitalize()} priority ",
                element("small", f"{len(lines)} rules, {number(count)} issues"),
            )
            parts.append(element("div", title, joined(_rule(*line) for line in lines), class_="group"))
    if not parts:
        parts.append(element("p", "No rule speaks of any page."))
    if content.passed:
        parts.append(_passed(content.passed))
    if content.untried:
        parts.append(_untried(content.untried))
    return joined(parts)


def _rule(place: int, line: RuleLine) -> Markup:
    summary = element(
        "summary",
        element("span", line.priority, class_=f"badge {line.priority}"),
        element("span", line.title, class_="name"),
        element("span", category_label(line.category), class_="category"),
        element(
            "span",
            element("b", number(line.pages)),
            f" page{'s' * (line.pages != 1)}, {percent(line.share)}",
            class_="count",
        ),
    )
    facts = [element("p", line.explanation)] if line.explanation else []
    if line.fix:
        facts.append(element("p", element("strong", "How to fix: "), line.fix))
    facts.append(element("p", f"{line.type} · ", element("code", line.name), class_="note"))
    body = element("div", *facts, element("div", class_="list"), class_="body")
    return element("details", summary, body, class_="rule", id=f"rule-{line.name}", data_rule=place)


def _passed(lines: list[RuleLine]) -> Markup:
    names = (
        element("li", line.title, " ", element("span", line.category, class_="category"))
        for line in sorted(lines, key=lambda line: (line.category, line.title))
    )
    head = element("summary", f"{len(lines)} rules found nothing")
    return element("details", head, element("ul", joined(names)), class_="passed")


def _untried(rules: dict[str, str]) -> Markup:
    names = (
        element("li", title, " ", element("span", why, class_="category"))
        for title, why in sorted(rules.items())
    )
    head = element("summary", f"{len(rules)} rules could not look at these pages")
    return element("details", head, element("ul", joined(names)), class_="passed")


def options_of_sections(content: Content) -> Markup:
    """Return the choices of sections, the largest first."""
    counts: dict[str, int] = {}
    for section in content.values("section"):
        if section is not None:
            counts[str(section)] = counts.get(str(section), 0) + 1
    largest = sorted(counts, key=lambda name: (-counts[name], name))[:MOST_SECTIONS]
    return joined(_option(name, f"{name} ({number(counts[name])})") for name in largest)


def options_of_rules(content: Content) -> Markup:
    """Return the choices of rules, by category."""
    groups: dict[str, list[RuleLine]] = {}
    for line in content.rules:
        groups.setdefault(line.category, []).append(line)
    parts = []
    for category in sorted(groups):
        everything = _option(f"category:{category}", f"Any of {category_label(category)}")
        each = (_option(f"rule:{line.name}", line.title) for line in groups[category])
        label = category_label(category)
        parts.append(element("optgroup", everything, joined(each), label=label))
    return joined(parts)


def options_of_status(content: Content) -> Markup:
    """Return the choices of how a fetch ended and of whether a page is indexable."""
    parts = [_option("ok", "Read"), _option("failed", "Failed")]
    if "indexable" in content.pages:
        parts += [_option("indexable", "Indexable"), _option("not indexable", "Not indexable")]
    if "http_status" in content.pages:
        codes = {value for value in content.values("http_status") if isinstance(value, (int, float))}
        parts += [_option(f"http:{int(code)}", status_label(code)) for code in sorted(codes)]
        if None in content.values("http_status"):
            parts.append(_option("none", "No answer"))
    return joined(parts)


def _option(value: str, label: str) -> Markup:
    return element("option", label, value=value)


def changes(names: list[tuple[str, str]]) -> Markup:
    """Return the section of what changed since: places that the script fills with tables."""
    if not names:
        return Markup("")
    parts = (
        element(
            "details",
            element("summary", title, " ", element("small", rows)),
            element("div", class_="list"),
            class_="change",
            data_change=place,
            open="" if place == 0 else None,
        )
        for place, (title, rows) in enumerate(names)
    )
    head = element("h2", "Changes", id="changes", tabindex="-1")
    return element("section", head, joined(parts), aria_labelledby="changes", class_="block")
