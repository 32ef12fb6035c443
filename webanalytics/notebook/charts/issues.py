"""Issues of an audit: by rule and priority, and by section of the site."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from webanalytics.core.strings import counted
from webanalytics.errors import choice
from webanalytics.notebook.charts.heatmap import paint_cells
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.thresholds import PRIORITIES, TOP_LEVEL

FILLS = {"high": "#8f2a00", "medium": "#d67d00", "low": style.BLUE_TINT}
"""Dark, medium and light, so that they also differ in greyscale."""

EDGES = {"high": "#8f2a00", "medium": "#d67d00", "low": style.BLUE}
"""The outline makes the light one stand out from the card."""

NO_SECTION = "(no URL)"
_MAKERS = ("audit(urls).issues",)


@style.chart
def issues_by_priority(
    frame: pd.DataFrame, *, ax: Axes | None = None, top: int = 20, title: str | None = None
) -> Axes:
    """Draw on how many pages each rule found an issue, what to fix first at the top.

    The rules of an audit are in the order of its ``summary()``, those of other frames by priority, and within
    one priority by pages. Each is called by its title, where the frame has titles. A page that is in the
    frame twice counts once; for an audit, the share of all its pages is given, too.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.audit` returned, or its ``issues``: ``url``, ``rule`` and ``priority``;
        ``title`` if there is one.
    top : int
        The most rules to draw; in small axes of your own as many as stay readable.

    Raises
    ------
    ParameterError
        When `top` is not from 1 to 200, or when the frame lacks the columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["/a", "/b", "/a"], "rule": ["slow", "slow", "noindex"],
    ...                       "priority": ["low", "low", "high"]})
    >>> [int(bar.get_width()) for bar in issues_by_priority(frame).patches]
    [1, 2]
    """
    top = data.row_count("top", top, 1)
    total = _page_count(frame)
    kinds = ["rule_title", "scope", "pages"]
    issues = data.pick(_issues(frame), ["url", "rule", "priority"], _MAKERS, optional=kinds)
    rules = pd.Series(data.strings(issues["rule"]), index=issues.index, dtype=object)
    levels = pd.Series(_levels(issues["priority"]), index=issues.index, dtype=object)
    usable = (rules.notna() & levels.notna()).to_numpy() & ~data.has_failed(issues)
    found = _once(issues.assign(rule=rules, level=levels)[usable], "rule")
    of_each = data.numbers(found["pages"]) if "pages" in found else np.ones(len(found))
    found = found.assign(count=np.nan_to_num(of_each, nan=1).astype(np.int64))
    counts = found.groupby("rule", sort=False).agg(level=("level", "min"), pages=("count", "sum"))
    counts["place"] = _places(frame, counts.index)
    counts = counts.sort_values(["level", "place", "pages"], ascending=[True, True, False], kind="stable")
    counts["name"] = _names(issues, counts.index)
    shown = counts.head(captions.rows_that_fit(ax, top))
    ax = style.start(ax, style.row_height(len(shown), 1.7))
    if shown.empty:
        captions.message(ax, _reason(issues))
    else:
        _bars(ax, shown, total)
    hidden = f"the {len(shown):,} most urgent of {len(counts):,} rules" if len(shown) < len(counts) else ""
    left = data.left_out(issues, usable, "without a rule or priority") if len(issues) > 1 else ""
    captions.headline(ax, title or _title(found, len(counts)), data.joined(hidden, left))
    return ax


@style.chart
def issues_by_section(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    by: Literal["category", "rule"] = "category",
    segment: str = "section",
    top: int = 15,
    max_sections: int = 15,
    title: str | None = None,
) -> Axes:
    """Draw how many pages of each section of a site have issues of each category of rules.

    A section is the first folder of a URL's path. Rows are the sections with the most pages that have an
    issue, columns the `top` categories or rules that concern the most pages. Each cell shows its number,
    unless there are so many columns that it does not fit. A page that is in the frame twice counts once, and
    what is of a host is left out. Pages of which fewer than nine in ten are of one host are cut by hosts.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.audit` returned, or its ``issues``: ``url`` and ``category`` or ``rule``. A column
        ``section`` gives the sections if it is there; otherwise they come from the URLs.
    by : {"category", "rule"}
        What the columns are.
    segment : str
        Which column of the audit's pages, or of the frame, gives the rows, such as ``page_type``.
    top : int
        The most columns to draw.
    max_sections : int
        The most sections to draw.

    Raises
    ------
    ParameterError
        When `top` or `max_sections` is out of range (1 to 40, 1 to 100), for another `by`, or when the frame
        or the audit's pages lack the columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["/blog/a", "/blog/b", "/"], "category": ["title", "title", "links"]})
    >>> issues_by_section(frame).images[0].get_array().tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    top = data.row_count("top", top, 1, 40)
    max_sections = data.row_count("max_sections", max_sections, 1, 100)
    choice("by", by, ("category", "rule"))
    names = ["section", "scope", "rule_title"] if by == "rule" else ["section", "scope"]
    issues = data.pick(_with_sections(frame, segment), ["url", by], _MAKERS, optional=names)
    kinds = pd.Series(data.strings(issues[by]), index=issues.index, dtype=object)
    usable = kinds.notna().to_numpy() & ~data.has_failed(issues)
    sections = pd.Series(_sections(issues), index=issues.index, dtype=object)
    found = _of_pages(_once(issues.assign(kind=kinds, section=sections)[usable], "kind"))
    columns = found["kind"].value_counts(sort=False).sort_values(ascending=False, kind="stable")
    rows = _once(found, "section")["section"].value_counts(sort=False)
    rows = rows.sort_values(ascending=False, kind="stable")
    kind_of_row, several = _spoken(segment), rows
    if (
        segment == "section"
        and data.is_audit(frame)
        and data.is_of_several_hosts(frame.pages["url"].tolist())
    ):
        kind_of_row = "host"
        several = rows[rows > 1] if (rows > 1).any() else rows  # one page a row is a wall of equal cells
    kept, shown = columns.head(top).index.tolist(), several.head(max_sections).index.tolist()
    ax = style.start(ax, style.row_height(len(shown), 2.4))
    notes = [left_out(len(shown), len(rows), kind_of_row), left_out(len(kept), len(columns), by)]
    if found.empty:
        captions.message(ax, _reason(issues))
    else:
        table = pd.crosstab(found["section"], found["kind"]).reindex(index=shown, columns=kept)
        cells = table.fillna(0).to_numpy(dtype=float)
        captions.cell_labels(
            ax, shown, _names(issues, pd.Index(kept, dtype=object)) if by == "rule" else kept
        )
        if not paint_cells(ax, cells):
            notes.append(f"stronger is more pages, up to {np.max(cells):,.0f}")
    notes.append(data.left_out(issues, usable, f"without a {by}") if len(issues) > 1 else "")
    heading = "Pages with issues" + ("" if found.empty else f", by {kind_of_row} and {by}")
    captions.headline(ax, title or heading, data.joined(*notes))
    return ax


def _issues(frame: Any) -> Any:
    return frame.issues if data.is_audit(frame) else frame


def _page_count(frame: Any) -> int | None:
    """Return how many pages an audit has, as in its summary; a frame of issues does not say."""
    if not data.is_audit(frame):
        return None
    judged = frame.judged()
    return sum(not judged.is_missing(url) for url in judged.rows)


def _places(frame: Any, rules: pd.Index) -> list[int]:
    """Return the places of rules in the order of what to fix first; an audit alone knows it."""
    order = frame.summary()["rule"].tolist() if data.is_audit(frame) else []
    known = {rule: place for place, rule in enumerate(order)}
    return [known.get(rule, len(order)) for rule in rules]


def _names(issues: pd.DataFrame, rules: pd.Index) -> list[str]:
    known: dict[str | None, str | None] = {}
    if "rule_title" in issues.columns:
        known = dict(zip(data.strings(issues["rule"]), data.strings(issues["rule_title"]), strict=True))
    return [known.get(str(rule)) or _spoken(str(rule)) for rule in rules]


def _of_pages(issues: pd.DataFrame) -> pd.DataFrame:
    return issues[issues["scope"].ne("host").to_numpy(bool)] if "scope" in issues else issues


def _with_sections(frame: Any, segment: str) -> Any:
    """Return issues; those of an audit with its sections or segments, or its hosts if there are several."""
    issues = _issues(frame)
    if segment != "section":
        pages = data.pick(frame.pages if data.is_audit(frame) else issues, ["url", segment], _MAKERS)
        of: dict[Any, Any] = dict(zip(data.strings(pages["url"]), data.strings(pages[segment]), strict=True))
        unknown = f"(no {_spoken(segment)})"
        sections = [of.get(url) or unknown for url in data.strings(issues["url"])]
        return issues.assign(section=pd.Series(sections, index=issues.index, dtype=object))
    if not data.is_audit(frame):
        return issues
    urls = data.strings(frame.pages["url"])
    known: dict[Any, Any] = dict(zip(urls, frame.pages["section"].tolist(), strict=True))
    if data.is_of_several_hosts(urls):
        known = {url: data.host_of(url) for url in urls}
    sections = [known.get(url, section_of(url)) for url in data.strings(issues["url"])]
    return issues.assign(section=pd.Series(sections, index=issues.index, dtype=object))


def _levels(priorities: pd.Series[Any]) -> list[int | None]:
    places: dict[str, int] = {name: place for place, name in enumerate(PRIORITIES)}
    return [places.get((value or "").lower()) for value in data.strings(priorities)]


def _once(issues: pd.DataFrame, per: str) -> pd.DataFrame:
    """Return each page once for each value of a column; pages without a URL are all different."""
    urls = pd.Series(data.strings(issues["url"]), index=issues.index, dtype=object)
    repeated = pd.DataFrame({"url": urls, "per": issues[per]}).duplicated().to_numpy()
    kept: pd.DataFrame = issues[~repeated | urls.isna().to_numpy()]
    return kept


def _sections(issues: pd.DataFrame) -> list[str]:
    if "section" not in issues.columns:
        found = [section_of(url) for url in data.strings(issues["url"])]
    else:
        given = issues["section"].tolist()
        # an empty section is the top level; a missing one is unknown
        found = [
            "" if isinstance(value, str) and not value.strip() else text
            for value, text in zip(given, data.strings(issues["section"]), strict=True)
        ]
    return [NO_SECTION if name is None else name or TOP_LEVEL for name in found]


def section_of(url: str | None) -> str | None:
    """Return the first folder of a URL's path.

    >>> section_of("https://a.example/blog/tea"), section_of("/about"), section_of("/blog/"), section_of(None)
    ('blog', '', 'blog', None)
    """
    if url is None:
        return None
    try:
        path = urlsplit(url).path
    except ValueError:  # an unclosed bracket of an IPv6 address, for example
        return None
    folders = [part for part in path[: path.rfind("/") + 1].split("/") if part]
    return folders[0] if folders else ""


def _spoken(rule: str) -> str:
    """Return a rule's name as words.

    >>> _spoken("title_too_long"), _spoken("$x_1$")
    ('title too long', '$x_1$')
    """
    return rule.replace("_", " ") if rule.isidentifier() else rule


def _reason(issues: pd.DataFrame) -> str:
    return data.why_empty(
        issues, "No issues.", "This row holds no issue.", "None of these rows holds an issue."
    )


def _title(found: pd.DataFrame, rules: int) -> str:
    if found.empty:
        return "Issues"
    pages = len(data.distinct(_of_pages(found)))
    return f"Issues of {counted(rules, 'rule')}, on {counted(pages, 'page')}"


def left_out(shown: int, count: int, noun: str) -> str:
    """Return a note on how many are shown, empty where all are."""
    plural = "categories" if noun == "category" else f"{noun}s"
    return f"{shown:,} of {count:,} {plural}" if shown < count else ""


def _bars(ax: Axes, shown: pd.DataFrame, total: int | None) -> None:
    pages: list[int] = shown["pages"].tolist()
    levels = [PRIORITIES[int(level)] for level in shown["level"].tolist()]
    bars: Any = ax.barh(
        range(len(pages)),
        pages,
        height=0.72,
        color=[FILLS[level] for level in levels],
        edgecolor=[EDGES[level] for level in levels],
        linewidth=1,
    )
    values = [f"{count:,}" + (f"  ({count / total:.0%})" if total else "") for count in pages]
    captions.row_labels(ax, shown["name"].tolist())
    captions.label_bars(ax, bars, values, max(pages))
    captions.count_axis(ax.xaxis)
    captions.grid(ax, "x")
    captions.finish_value_axis(ax, "pages")
    used = [level for level in PRIORITIES if level in levels]
    captions.legend_below(
        ax,
        [Patch(facecolor=FILLS[level], edgecolor=EDGES[level], label=f"{level} priority") for level in used],
    )
