"""A map of a site: its sections as areas, coloured by issues or by their weight in its links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from webanalytics.core.strings import counted
from webanalytics.errors import choice
from webanalytics.notebook.charts.crawl import pages_of, why_none
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.notebook.drawing.labels import lettering, shortened
from webanalytics.thresholds import TOP_LEVEL
from webanalytics.urls import parts_of


class Box(NamedTuple):
    """A rectangle: its lower left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    def inside(self, margin: float, top: float = 0.0) -> Box:
        """Return what is left within a margin, and below a strip at the top."""
        return Box(
            self.x + margin,
            self.y + margin,
            max(self.width - 2 * margin, 0.0),
            max(self.height - 2 * margin - top, 0.0),
        )


def squarified(values: Sequence[float], box: Box) -> list[Box]:
    """Return one rectangle for each value; values are positive, the largest first.

    Notes
    -----
    Bruls, Huizing and van Wijk, *Squarified Treemaps*, 2000: rows along the shorter side, each as long as
    that makes its rectangles more square.

    Examples
    --------
    >>> [tuple(round(side, 2) for side in made[2:]) for made in squarified([6, 3, 1], Box(0, 0, 10, 5))]
    [(6.0, 5.0), (4.0, 3.75), (4.0, 1.25)]
    """
    total = sum(values)
    if not values or total <= 0:
        return []
    scale = box.width * box.height / total
    left = [value * scale for value in values]
    made: list[Box] = []
    while left:
        side = min(box.width, box.height)
        count = 1
        while count < len(left) and _worst(left[: count + 1], side) <= _worst(left[:count], side):
            count += 1
        made += _row(left[:count], box)
        thick = sum(left[:count]) / side if side else 0.0
        if box.width >= box.height:
            box = Box(box.x + thick, box.y, box.width - thick, box.height)
        else:
            box = Box(box.x, box.y, box.width, box.height - thick)
        left = left[count:]
    return made


def _worst(areas: Sequence[float], side: float) -> float:
    total = sum(areas)
    if not side or not total:
        return float("inf")
    return max(side * side * max(areas) / total**2, total**2 / (side * side * max(min(areas), 1e-12)))


def _row(areas: Sequence[float], box: Box) -> list[Box]:
    side = min(box.width, box.height)
    thick = sum(areas) / side if side else 0.0
    made, place = [], 0.0
    for area in areas:
        length = area / thick if thick else 0.0
        if box.width >= box.height:
            made.append(Box(box.x, box.y + box.height - place - length, thick, length))
        else:
            made.append(Box(box.x + place, box.y + box.height - thick, length, thick))
        place += length
    return made


_HEIGHT = 5.4
_SIZE = 100.0
"""Width of the map in its own units."""

MOST_PARTS = 12
"""Most folders of one section; the smaller ones share an area."""
MOST_CELLS = 200
"""Most sections that are cells without a name of what the smaller ones share."""

_ISSUES = ("issues_high", "issues_medium", "issues_low")
_UNKNOWN = style.GRID
_STEPS = (style.BLUE_TINT, "#9cc6e3", *style.HEAT[2:])
"""From low to high; the lowest is told from the card by its borders."""
_NAME_WIDTH = 30


class _Part(NamedTuple):
    """A section or a folder of one: its name, its number of pages, and the mean of their values."""

    name: str
    pages: int
    value: float


@style.chart
def site_map(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    by: Literal["issues", "link_score"] = "issues",
    top: int = 30,
    title: str | None = None,
) -> Axes:
    """Draw the sections of a site as areas in proportion to their pages, with the folders in them.

    A section is the first folder of a URL's path, and a part of it the second; of pages of which fewer than
    nine in ten are of one host, a section is a host, and a part of it the first folder. The colour is the
    mean of its pages: how many faults they have, or their link score. Pages that were not read are left out
    and counted; a page that is in the frame twice counts once.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.crawl` or `webanalytics.audit` returned, or its ``pages``: ``url``, and
        ``issues_high``, ``issues_medium`` and ``issues_low``, or ``link_score``.
    by : {"issues", "link_score"}
        What the colours are.
    top : int
        The most sections; smaller ones share an area.

    Raises
    ------
    ParameterError
        When `top` is not from 1 to 60, for another `by`, or when the frame lacks the columns.

    Notes
    -----
    The areas are a squarified treemap: Bruls, Huizing and van Wijk, *Squarified Treemaps*, 2000.

    Examples
    --------
    >>> urls = [f"https://a.example/{path}" for path in ("docs/a", "docs/b", "docs/c", "blog/a")]
    >>> ax = site_map(pd.DataFrame({"url": urls, "link_score": [10, 20, 30, 90]}), by="link_score")
    >>> [text.get_text() for text in ax.texts if "page" in text.get_text()]
    ['docs  3 pages', 'blog  1 page']
    """
    top = data.row_count("top", top, 1, 60)
    choice("by", by, ("issues", "link_score"))
    wanted = ["link_score"] if by == "link_score" else []
    pages = pages_of(frame, ["url", *wanted], list(_ISSUES))
    usable = ~data.has_failed(pages)
    read = pages[usable]
    sections = _sections(read, _values(read, by), top)
    ax = style.start(ax, _HEIGHT)
    if not sections:
        captions.message(ax, why_none(pages))
    elif len(sections) > MOST_PARTS and sections[0][0].pages == 1:
        captions.message(ax, "Each page is the only one of its section: there are no areas to compare.")
    else:
        _draw(ax, sections, by)
    note = data.failures(pages[~usable]) if len(pages) > 1 else ""
    captions.headline(ax, title or _title(sections, len(read), by), note)
    return ax


def _values(pages: pd.DataFrame, by: str) -> list[float]:
    if by == "link_score":
        return [float(value) for value in data.numbers(pages["link_score"])]
    known = [data.numbers(pages[name]) for name in _ISSUES if name in pages.columns]
    if not known:
        return [math.nan] * len(pages)
    return [float(value) for value in np.sum(known, axis=0)]


def _sections(pages: pd.DataFrame, values: list[float], top: int) -> list[tuple[_Part, list[_Part]]]:
    found: dict[str, dict[str, list[float]]] = {}
    urls = data.strings(pages["url"])
    several = data.is_of_several_hosts(urls)
    for url, value in zip(urls, values, strict=True):
        section, folder = _folders(url)
        if several:
            section, folder = data.host_of(url), section
        found.setdefault(section, {}).setdefault(folder, []).append(value)
    order = sorted(found, key=lambda name: -sum(map(len, found[name].values())))
    made = [(_part(name, found[name].values()), _parts(found[name], MOST_PARTS)) for name in order[:top]]
    if len(order) > top:
        cells = [_part("", found[name].values()) for name in order[top:]]
        others = [values for name in order[top:] for values in found[name].values()]
        whole = _part(f"{len(cells):,} smaller {'hosts' if several else 'sections'}", others)
        made.append((whole, cells if len(cells) <= MOST_CELLS else [whole._replace(name="")]))
    return made


def _parts(folders: dict[str, list[float]], most: int) -> list[_Part]:
    parts = sorted((_part(name, [values]) for name, values in folders.items()), key=lambda part: -part.pages)
    if len(parts) > most:
        rest = [folders[part.name] for part in parts[most - 1 :]]
        parts = [*parts[: most - 1], _part(f"{len(parts) - most + 1:,} smaller", rest)]
    return sorted(parts, key=lambda part: -part.pages)


def _part(name: str, values: Any) -> _Part:
    everything = [value for found in values for value in found]
    known = [value for value in everything if not math.isnan(value)]
    return _Part(name, len(everything), sum(known) / len(known) if known else math.nan)


def _folders(url: str | None) -> tuple[str, str]:
    """Return the first and second folder of a URL's path.

    >>> _folders("https://a.example/docs/api/x"), _folders("https://a.example/docs/x")
    (('docs', 'api'), ('docs', ''))
    """
    path = parts_of(url or "").path
    folders = [unquote(part) for part in path[: path.rfind("/") + 1].split("/") if part]
    return (folders[0] if folders else TOP_LEVEL), (folders[1] if len(folders) > 1 else "")


def _edges(highest: float, by: str) -> list[float]:
    if by == "link_score":
        return [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    step = max(1, math.ceil(highest / 5)) if highest >= 1 else max(0.1, math.ceil(highest * 2) / 10)
    return [step * place for place in range(6)]


def _draw(ax: Axes, sections: list[tuple[_Part, list[_Part]]], by: str) -> None:
    figure: Any = ax.figure
    width, height = figure.bbox.width / figure.dpi, figure.bbox.height / figure.dpi
    tall = _SIZE * max(0.3, min(2.0, (height - 1.6) / (width - 0.4)))
    ax.set(xlim=(0, _SIZE), ylim=(0, tall))
    values = [part.value for _, parts in sections for part in parts if not math.isnan(part.value)]
    edges = _edges(max(values, default=0.0), by)
    share = 0.95 if isinstance(ax, style.ChartAxes) else 0.6  # neighbours' labels narrow the user's own axes
    point = _SIZE / max(captions.points_wide(ax) * share, 1.0)
    boxes = squarified([section.pages for section, _ in sections], Box(0, 0, _SIZE, tall))
    names = shortened([section.name for section, _ in sections], _NAME_WIDTH)
    for (section, parts), name, box in zip(sections, names, boxes, strict=True):
        _section(ax, section._replace(name=name), parts, box, edges, point)
    ax.set(xticks=[], yticks=[])
    ax.spines["bottom"].set_visible(False)
    _legend(ax, edges, by, known=bool(values))


def _section(
    ax: Axes, section: _Part, parts: list[_Part], box: Box, edges: list[float], point: float
) -> None:
    strip = 15 * point
    named = box.height > 2.2 * strip and box.width > 45 * point
    inner = box.inside(0.25, strip if named else 0.0)
    divided = parts if inner.width > 20 * point and inner.height > 8 * point else [section._replace(name="")]
    for part, area in zip(divided, squarified([part.pages for part in divided], inner), strict=True):
        colour = _colour(part.value, edges)
        ax.add_patch(
            Rectangle(
                area[:2], area.width, area.height, facecolor=colour, edgecolor=style.CARD, linewidth=0.8
            )
        )
        if named and area.height > 13 * point and area.width > 26 * point and part.name:
            top = (area.x + 3 * point, area.y + area.height - 8 * point)
            _text(ax, part.name, top, (area.width / point) - 6, 7.5, style.text_on(colour))
    if named:
        at = (box.x + 0.25 + point, box.y + box.height - 0.6 * strip)
        room, count = box.width / point - 6, f"  {counted(section.pages, 'page')}"
        count = count if room > 9 * len(count) else ""
        _text(ax, section.name, at, room - 5 * len(count), 8.5, style.INK, count)
    elif box.height > 13 * point and box.width > 26 * point:
        colour = _colour((divided[0] if divided else section).value, edges)
        at = (box.x + 3 * point, box.y + box.height / 2)
        if len(divided) == 1:
            _text(ax, section.name, at, box.width / point - 6, 7.5, style.text_on(colour))


def _text(
    ax: Axes, text: str, at: tuple[float, float], room: float, size: float, colour: str, after: str = ""
) -> None:
    texts, families = lettering([text])
    (fitted,) = captions.fitted_labels(ax, texts, room, size, families)
    if fitted and ("…" not in fitted or len(fitted) > 5):
        look: dict[str, Any] = {"fontsize": size, "color": colour, "fontfamily": families}
        ax.annotate(fitted + after, at, va="center", parse_math=False, clip_on=True, **look)


def _colour(value: float, edges: list[float]) -> str:
    if math.isnan(value):
        return _UNKNOWN
    step = sum(value >= edge for edge in edges[1:-1])
    return _STEPS[step]


def _legend(ax: Axes, edges: list[float], by: str, *, known: bool) -> None:
    noun = "issues a page" if by == "issues" else "link score"
    patches = [
        Patch(facecolor=colour, edgecolor=style.GRID, label=f"{low:g} to {high:g}")
        for colour, low, high in zip(_STEPS, edges[:-1], edges[1:], strict=True)
    ]
    if known:
        patches[0].set_label(f"{noun}: {edges[0]:g} to {edges[1]:g}")
        captions.legend_below(ax, patches)


def _title(sections: list[Any], pages: int, by: str) -> str:
    if not sections:
        return "Sections of a site"
    noun = "issues" if by == "issues" else "link score"
    return f"{counted(pages, 'page')} by section and {noun}"
