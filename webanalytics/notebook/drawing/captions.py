"""The text of a chart: headline, names of rows, values, axes and legend."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

from webanalytics.core.strings import counted
from webanalytics.notebook.drawing import style, titles
from webanalytics.notebook.drawing.labels import BASE_FONT, lettering, path_labels, shorten, shortened

LABEL_SIZE = 9.5
"""Size of the labels of rows, in points."""


def headline(ax: Axes, title: str, subtitle: str = "", lift: float = 0.0) -> None:
    """Write the title and smaller lines below it, `lift` points above the top of the axes.

    Both align with the labels of the rows and break into lines that fit the axes: call this last.
    """
    indent = _label_width(ax)
    room = max(points_wide(ax) - 20, titles.NARROWEST)
    (title, subtitle), families = lettering([shorten(title, 150), subtitle])
    sizes = (size for size in (13, 12, 11) if _widest(ax, [title], size, families, bold=True) <= room)
    size = next(sizes, 11)
    # beside other charts, the labels of a neighbour may take some of the room
    measure = functools.partial(
        titles.width_of, size=9.5, families=tuple(families), weight="normal", dpi=_dpi(ax)
    )
    below = titles.lines(subtitle, room if _is_alone(ax) else 0.85 * room, measure) if subtitle else []
    up = 8 + lift + 13 * len(below) + (3 if below else 0)
    figure: Any = ax.figure
    written = ax.set_title(title, loc="left", pad=up, fontfamily=families, parse_math=False, fontsize=size)
    written.set(color=style.ink(ax), fontweight="bold")
    written.set_transform(ax.transAxes + ScaledTranslation(-indent / 72, up / 72, figure.dpi_scale_trans))
    titles.wrap(written, ax, indent)
    if below:
        note = outer_text(
            ax, "\n".join(below), (0, 1), (-indent, 7 + lift), families=families, fontsize=9.5, va="bottom"
        )
        note.set_in_layout(False)  # the title above it reserves the space


def _dpi(ax: Axes) -> float:
    return float(ax.figure.dpi)


def _is_alone(ax: Axes) -> bool:
    spec = ax.get_subplotspec()
    return spec is None or spec.get_gridspec().ncols == 1


def points_wide(ax: Axes) -> float:
    """Return the width of the axes' part of the figure in points."""
    figure: Any = ax.figure
    spec = ax.get_subplotspec()
    share = ax.get_position().width if spec is None else len(spec.colspan) / spec.get_gridspec().ncols
    return float(figure.bbox.width / figure.dpi * 72 * share)


def rows_that_fit(ax: Axes | None, most: int) -> int:
    """Return how many labelled rows stay apart in the axes: in those of the user's own only so many."""
    figure: Any = getattr(ax, "figure", None)
    if ax is None or figure is None:  # what are no axes is refused where they are drawn in
        return most
    spec = ax.get_subplotspec()
    share = ax.get_position().height if spec is None else len(spec.rowspan) / spec.get_gridspec().nrows
    inside = figure.bbox.height / figure.dpi * 72 * share - 150  # title, axis and legend
    return max(3, min(most, int(inside / (LABEL_SIZE * 1.3))))


def title_of(name: str, urls: pd.Series[Any], pages: str = "") -> str:
    """Return what a chart of pages is called: after the one page, or how many they are."""
    if len(urls) == 1:
        (label,) = path_labels(urls)
        return f"{name} of {shorten(label, 40)}"
    return f"{name} of {pages or counted(len(urls), 'page')}" if len(urls) else name


def _label_width(ax: Axes) -> float:
    labels = [label for label in ax.get_yticklabels() if ax.axison and label.get_text()]
    if not labels:
        return 0.0
    first = labels[0]
    return (
        _widest(ax, (label.get_text() for label in labels), first.get_fontsize(), first.get_fontfamily()) + 3
    )


def _widest(ax: Axes, texts: Iterable[str], size: Any, families: Sequence[str], bold: bool = False) -> float:
    look = (size, tuple(families), "bold" if bold else "normal", _dpi(ax))
    return max((titles.width_of(text, *look) for text in texts if text), default=0.0)


def outer_text(
    ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **properties: Any
) -> Text:
    """Write next to the axes: at a position in their coordinates, offset in points."""
    properties.setdefault("color", style.muted(ax))
    properties.setdefault("xycoords", "axes fraction")
    return ax.annotate(
        text,
        at,
        offset,
        textcoords="offset points",
        fontfamily=properties.pop("families", [BASE_FONT]),
        parse_math=False,
        annotation_clip=False,
        **properties,
    )


def inner_text(
    ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **more: Any
) -> Text:
    """Write next to a mark inside the axes: at a position in data coordinates, offset in points."""
    settings: dict[str, Any] = {"color": style.MUTED, "fontsize": 9, "va": "center", **more}
    return ax.annotate(
        text, at, offset, textcoords="offset points", fontfamily=[BASE_FONT], parse_math=False, **settings
    )


def side_column(ax: Axes, heading: str, values: Iterable[str], offset: float = 26) -> None:
    """Write one value for each row in a column on the right of the axes, under a heading."""
    outer_text(ax, heading, (1, 1), (offset, 4), ha="center", va="bottom", fontsize=8.5)
    for row, value in enumerate(values):
        outer_text(
            ax,
            value,
            (1, row),
            (offset, 0),
            xycoords=("axes fraction", "data"),
            ha="center",
            va="center",
            fontsize=9,
        )


def grid(ax: Axes, axis: Literal["x", "y", "both"]) -> None:
    """Draw the grid lines."""
    ax.grid(True, axis=axis, color=style.GRID, linewidth=0.8, linestyle="-", alpha=1)


def label_bars(ax: Axes, bars: Any, labels: Sequence[str], longest: float) -> None:
    """Write the values behind horizontal bars, and end the scale where the longest one still fits.

    Call it after labelling the rows, which determines the width of the axes.
    """
    ax.bar_label(bars, labels, padding=4, fontsize=9, color=style.MUTED, fontfamily=[BASE_FONT])
    written = _widest(ax, labels, 9, [BASE_FONT]) + 10
    wide = points_wide(ax) - _label_width(ax) - 30
    # next to other axes, the widest labels of the column narrow them all
    wide = wide if isinstance(ax, style.ChartAxes) else 0.6 * wide
    ax.set_xlim(0, max(longest, 1e-6) * max(wide, 2 * written) / (max(wide, 2 * written) - written))


def most_ticks(ax: Axes, points: float) -> int:
    """Return how many ticks the axes have room for, with labels so many points wide."""
    return max(2, int((points_wide(ax) - _label_width(ax)) * 0.8 / points))


def row_labels(ax: Axes, labels: Iterable[str], width: int = 40) -> None:
    """Label rows 0, 1, ... of a horizontal chart, shortened in the middle, in fonts that have the glyphs."""
    # narrow axes in the user's own figure leave less room for labels
    width = max(12, min(width, int(points_wide(ax) / 14)))
    texts, families = lettering(shortened(list(labels), width))
    texts = fitted_labels(ax, texts, max(85.0, 0.5 * points_wide(ax)), LABEL_SIZE, families)
    ax.set_yticks(range(len(texts)), labels=texts, fontfamily=families, parse_math=False)
    ax.tick_params(axis="y", length=0, labelcolor=style.ink(ax), labelsize=LABEL_SIZE)
    ax.set_ylim(max(len(texts), style.FEWEST_ROWS) - 0.4, -0.6)


def cell_labels(ax: Axes, rows: Iterable[str], columns: Sequence[str], widest: float = 170) -> None:
    """Label the rows and columns of a picture of cells, several columns aslant, at most so wide."""
    row_labels(ax, rows, width=30)
    names, families = lettering(shortened(columns, 24))
    slant = 0 if len(columns) == 1 else 40
    ax.set_xticks(
        range(len(columns)),
        labels=fitted_labels(ax, names, widest, 9, families),
        fontfamily=families,
        parse_math=False,
        rotation=slant,
        ha="right" if slant else "center",
        rotation_mode="anchor",
    )
    ax.tick_params(axis="x", length=0, labelcolor=style.ink(ax))
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel("", fontfamily=[BASE_FONT])


def fitted_labels(
    ax: Axes, labels: Iterable[str], room: float, size: float, families: Sequence[str]
) -> list[str]:
    """Return labels, shortened until none is wider than so many points.

    Glyphs differ greatly in width: an Arabic ligature can be as wide as ten letters.
    """
    return [titles.cut(label, room, lambda part: _widest(ax, [part], size, families)) for label in labels]


def count_axis(axis: Axis) -> None:
    """Put at most six round, whole numbers on an axis of counts."""
    axis.set_major_locator(MaxNLocator(nbins=6, integer=True))


def finish_value_axis(
    ax: Axes, label: str, ticks: Iterable[float] | None = None, names: Iterable[str] | None = None
) -> None:
    """Label the horizontal axis, and fix its ticks so that later settings change nothing."""
    if _widest(ax, [label], 9.5, [BASE_FONT]) > points_wide(ax) - _label_width(ax) - 20:
        label = label.replace("; ", "\n")
    ax.set_xlabel(label, fontfamily=[BASE_FONT], color=style.muted(ax), fontsize=9.5)
    places = list(ax.get_xticks()) if ticks is None else list(ticks)
    low, high = ax.get_xlim()
    if names is None:
        places = [place for place in places if low <= place <= high]
        names = [f"{place:,.12g}".replace("-", "−") for place in places]
    ax.set_xticks(places, labels=list(names), fontfamily=[BASE_FONT], parse_math=False)
    ax.set_xlim(low, high)
    ax.tick_params(axis="x", which="minor", length=0)


def finish_count_axis(ax: Axes, label: str, most: float) -> None:
    """Scale the vertical axis for counts up to `most`, and fix its ticks."""
    ax.set_ylim(0, max(most, 1) * 1.12)
    count_axis(ax.yaxis)
    bottom, top = ax.get_ylim()
    ticks = [tick for tick in ax.get_yticks() if bottom <= tick <= top]
    ax.set_yticks(ticks, labels=[f"{tick:,.0f}" for tick in ticks], fontfamily=[BASE_FONT])
    ax.set_ylim(bottom, top)
    ax.tick_params(axis="y", labelcolor=style.muted(ax), labelsize=9)
    ax.set_ylabel(label, fontfamily=[BASE_FONT], color=style.muted(ax), fontsize=9.5)


def legend_below(ax: Axes, handles: Sequence[Any]) -> None:
    """Explain marks in one line below the axes."""
    figure: Any = ax.figure
    ax.legend(
        handles=list(handles),
        loc="upper left",
        bbox_to_anchor=(0, -0.02),
        bbox_transform=ax.transAxes + ScaledTranslation(0, -32 / 72, figure.dpi_scale_trans),
        ncols=len(handles) if points_wide(ax) - _label_width(ax) > 110 * len(handles) else 1,
        frameon=False,
        borderaxespad=0,
        borderpad=0,
        handletextpad=0.4,
        columnspacing=1.6,
        prop={"family": [BASE_FONT], "size": 9},
        labelcolor=style.muted(ax),
    )


def message(ax: Axes, text: str) -> None:
    """Write in the middle of the axes why there is nothing to draw."""
    ax.set_axis_off()
    (text,), families = lettering([text])
    room = max(points_wide(ax) - 30, titles.NARROWEST)
    ax.text(
        0.5,
        0.5,
        "\n".join(titles.lines(text, room, lambda part: _widest(ax, [part], 11, families))),
        transform=ax.transAxes,
        ha="center",
        va="center",
        color=style.muted(ax),
        fontsize=11,
        fontfamily=families,
        parse_math=False,
    )
