"""`charts.crawler_access`: which crawlers may read which sections of a site."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba

from webanalytics.core.strings import counted, percent
from webanalytics.notebook.drawing import captions, data, style

PURPOSES = {"search": "Search", "user": "On request of users", "training": "Training of models"}
"""Headings of the groups of crawlers, in their order."""

_NEEDED = ("section", "crawler", "purpose", "pages", "share")
_CLOSED = "#f6e0d3"
"""What is closed altogether; it differs from an open cell in lightness and in hue."""
_UNKNOWN = "#eceff1"
_WIDEST_NAME = 110


@style.chart
def crawler_access(
    frame: pd.DataFrame, *, ax: Axes | None = None, max_sections: int = 20, title: str | None = None
) -> Axes:
    """Draw which crawlers may read which sections of a site: the share of the pages that are open to each.

    Rows are sections of which something is closed, the largest ones first after the top of the site, those
    with equal cells together; columns are crawlers, grouped by what they read pages for. A dark cell is open,
    a light one with "0" closed, one in between in part. Where nothing is closed, or the same to all crawlers,
    one sentence says so.

    Parameters
    ----------
    frame : DataFrame
        An audit, or what its `Audit.ai_sections` returned.
    max_sections : int
        The most rows to draw, those with the most pages.

    Raises
    ------
    ParameterError
        When `max_sections` is not from 1 to 60, or when the frame lacks the columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"section": ["", "blog"], "crawler": ["GPTBot"] * 2, "purpose": ["training"] * 2,
    ...                       "pages": [3, 5], "share": [1.0, 0.0]})
    >>> ax = crawler_access(frame)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['/blog']
    """
    max_sections = data.row_count("max_sections", max_sections, 1, 60)
    audit: Any = frame
    given = audit.ai_sections() if data.is_audit(frame) else frame
    picked = data.pick(given, _NEEDED, ("audit().ai_sections",))
    rows = picked.copy()
    for name in ("section", "crawler", "purpose"):
        rows[name] = pd.Series(data.strings(picked[name]), index=picked.index, dtype=object)
    for name in ("pages", "share"):
        rows[name] = data.numbers(picked[name])
    usable = rows[["crawler", "pages", "share"]].notna().all(axis=1).to_numpy() & ~data.has_failed(picked)
    good = rows[usable]
    good = good.assign(section=good["section"].fillna(""), purpose=good["purpose"].fillna(""))
    crawlers = _crawlers(good)
    shares = good.pivot_table(index="section", columns="crawler", values="share", aggfunc="mean").clip(0, 1)
    closed = shares[(shares < 1).any(axis=1)]
    closed = closed.reindex(columns=[name for name, _ in crawlers])
    rows_of = _alike_sections(closed, _sections(good[good["section"].isin(closed.index)]))
    sections, hidden = rows_of[:max_sections], sum(map(len, rows_of[max_sections:]))
    notes = [data.left_out(picked, usable, "without a share") if len(picked) > 1 else ""]
    is_same = len(crawlers) > 1 and (closed.nunique(axis=1) == 1).all()
    ax = style.start(ax, style.row_height(0 if is_same else len(sections), 3.2, 0.28))
    if good.empty:
        none = "No page whose robots.txt is known."
        captions.message(ax, data.why_empty(picked, none, none, none))
    elif closed.empty:
        captions.message(ax, f"robots.txt leaves every page open to {counted(len(crawlers), 'crawler')}.")
    elif is_same:
        captions.message(ax, _alike(closed.mean(axis=1), len(crawlers), len(shares) - len(closed)))
    else:
        _draw(ax, closed.reindex(index=[names[0] for names in sections]).to_numpy(float))
        _name(ax, sections, crawlers)
        whole = counted(len(shares) - len(closed), "section")
        notes = [
            f"{whole} open to all" if len(shares) > len(closed) else "",
            f"{hidden:,} smaller sections left out" if hidden else "",
            *notes,
            _LEGEND,
        ]
    captions.headline(ax, title or _title(crawlers), data.joined(*notes))
    return ax


def _alike(shares: pd.Series, crawlers: int, whole: int) -> str:
    """Return what is open, where it is the same to all crawlers."""
    least = shares.sort_values(kind="stable").head(_MOST_SAID)
    parts = [f"{percent(share)} of /{name}" for name, share in least.items()]
    if len(shares) > len(least):
        parts.append(f"a part of {counted(len(shares) - len(least), 'further section')}")
    if whole:
        parts.append(f"all of {counted(whole, 'other section')}")
    return f"robots.txt makes no difference between {crawlers:,} crawlers. Open to each: {', '.join(parts)}."


_MOST_SAID = 5
_LEGEND = "numbers: % of pages that robots.txt leaves open"


def _crawlers(rows: pd.DataFrame) -> list[tuple[str, str]]:
    pairs = rows[["crawler", "purpose"]].drop_duplicates("crawler").itertuples(index=False, name=None)
    order = list(PURPOSES)
    known = [(str(name), str(purpose)) for name, purpose in pairs]
    return sorted(known, key=lambda pair: order.index(pair[1]) if pair[1] in order else len(order))


def _sections(rows: pd.DataFrame) -> list[str]:
    sizes = rows.groupby("section", sort=False)["pages"].max().sort_values(ascending=False, kind="stable")
    return sorted(map(str, sizes.index), key=lambda name: name != "")


def _alike_sections(shares: pd.DataFrame, names: list[str]) -> list[list[str]]:
    """Return the sections that are drawn as one row each, as their cells are equal."""
    found: dict[bytes, list[str]] = {}
    for name, cells in zip(names, shares.reindex(index=names).to_numpy(float), strict=True):
        found.setdefault(cells.tobytes(), []).append(name)
    return list(found.values())


def _title(crawlers: list[tuple[str, str]]) -> str:
    if not crawlers:
        return "Crawlers by section"
    return f"What {counted(len(crawlers), 'crawler')} may read, by section"


def _draw(ax: Axes, cells: Any) -> None:
    tints = LinearSegmentedColormap.from_list("webanalytics-open", (style.HEAT[1], style.HEAT[3]))
    height, width = cells.shape
    colours = np.empty((height, width, 4))
    for row, column in np.ndindex(height, width):
        share = cells[row, column]
        colour: Any = _UNKNOWN if np.isnan(share) else _CLOSED if share <= 0 else tints(share)
        colours[row, column] = to_rgba(colour)
    ax.imshow(colours, aspect="auto", interpolation="nearest").set_zorder(0)
    ax.set(ylim=(max(height, style.FEWEST_ROWS) - 0.5, -1.2), xlim=(-0.5, max(width, 4) - 0.5))
    ax.hlines(np.arange(height + 1) - 0.5, -0.5, width - 0.5, color=style.CARD, linewidth=1.4)
    ax.vlines(np.arange(width + 1) - 0.5, -0.5, height - 0.5, color=style.CARD, linewidth=1.4)
    if width > captions.most_ticks(ax, 18):
        return
    for row, column in np.ndindex(height, width):
        share = cells[row, column]
        if not np.isnan(share):
            captions.inner_text(
                ax,
                percent(share).removesuffix("%").strip(),
                (column, row),
                (0, 0),
                ha="center",
                fontsize=8,
                color=style.text_on(colours[row, column][:3]),
            )


def _name(ax: Axes, sections: list[list[str]], crawlers: list[tuple[str, str]]) -> None:
    others = [f" and {counted(len(names) - 1, 'other')}" if names[1:] else "" for names in sections]
    rows = [f"/{names[0]}{more}" for names, more in zip(sections, others, strict=True)]
    captions.cell_labels(ax, rows, [name for name, _ in crawlers], _WIDEST_NAME)
    ax.set_ylim(max(len(sections), style.FEWEST_ROWS) - 0.5, -1.2)  # room for the headings of the groups
    purposes = [purpose for _, purpose in crawlers]
    for purpose, name in PURPOSES.items():
        places = [place for place, other in enumerate(purposes) if other == purpose]
        if not places:
            continue
        if places[0]:
            ax.axvline(places[0] - 0.5, color=style.MUTED, linewidth=1.2)
        captions.inner_text(
            ax,
            name if len(places) > 3 else name.split()[0],
            (places[0] - 0.42, -0.85),
            (0, 0),
            ha="left",
            fontsize=8.5,
            color=style.MUTED,
        )
