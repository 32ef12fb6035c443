"""Charts of the sizes of images before and after conversion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from webanalytics.core.strings import counted, size_in_words
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.notebook.drawing.labels import BASE_FONT


@style.chart
def image_sizes(
    frame: pd.DataFrame, *, ax: Axes | None = None, max_images: int = 40, title: str | None = None
) -> Axes:
    """Draw the sizes of images before and after conversion, the largest saving at the top.

    Up to `max_images` images have a row each: a hollow circle for the size before, a filled mark for the size
    after, and the change in percent. More are drawn as a cloud of points below and above the line of equal
    sizes. Scales are logarithmic, so that equal distances are equal changes. Images that failed are left
    out and counted.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.convert` returned: ``image``, ``inputSize``, ``outputSize``.
    max_images : int
        The most images that have a row of their own.

    Raises
    ------
    ParameterError
        When `max_images` is not from 0 to 200, or when the frame lacks the columns.

    Examples
    --------
    >>> frame = pd.DataFrame({"image": ["a.png"], "inputSize": [2000], "outputSize": [500]})
    >>> image_sizes(frame).get_title(loc="left")
    '1 image: 2 kB before, 500 bytes after (−75%)'
    """
    max_images = data.row_count("max_images", max_images, 0)
    images = data.pick(frame, ["image", "inputSize", "outputSize"], ("convert",), optional=["outputFormat"])
    images = images.assign(before=data.numbers(images["inputSize"]), after=data.numbers(images["outputSize"]))
    usable = ((images["before"] > 0) & (images["after"] > 0)).to_numpy() & ~data.has_failed(images)
    found = images[usable]
    found = found.iloc[np.argsort((found["after"] - found["before"]).to_numpy(), kind="stable")]
    rows = len(found) <= max_images
    ax = style.start(ax, style.row_height(len(found), 1.8) if rows else 6.0)
    if found.empty:
        one, several = "This image has no sizes.", "None of these images has sizes."
        captions.message(ax, data.why_empty(images, "No images.", one, several))
    else:
        (_rows if rows else _cloud)(ax, found)
    note = data.left_out(images, usable, "without sizes") if len(images) > 1 else ""
    captions.headline(ax, title or _title(found), data.joined(_verdict(found), note))
    return ax


def change_text(before: float, after: float) -> str:
    """Return a change in percent, with its sign.

    >>> change_text(200, 50), change_text(100, 400), change_text(1000, 1001)
    ('−75%', '+300%', '±0%')
    """
    change = round((after / before - 1) * 100)
    return f"{'+' if change > 0 else '−' if change else '±'}{abs(change):,}%"


def _title(found: pd.DataFrame) -> str:
    if found.empty:
        return "Sizes of images"
    before, after = float(found["before"].sum()), float(found["after"].sum())
    sizes = f"{size_in_words(before)} before, {size_in_words(after)} after"
    return f"{counted(len(found), 'image')}: {sizes} ({change_text(before, after)})"


def _verdict(found: pd.DataFrame) -> str:
    if len(found) < 2:
        return ""
    smaller, larger = (found["after"] < found["before"]).sum(), (found["after"] > found["before"]).sum()
    return f"{smaller:,} smaller, {larger:,} larger"


def _rows(ax: Axes, found: pd.DataFrame) -> None:
    """Draw a line from the size before to the size after for each image."""
    before, after = found["before"].to_numpy(), found["after"].to_numpy()
    grown = after > before
    low, high = _range(before, after)
    ax.set_xscale("log")
    ax.set_xlim(low / 1.25, high * (high / low) ** 0.22 * 1.35)
    rows = np.arange(len(found))
    colours = [style.ORANGE if more else style.BLUE for more in grown]
    ax.hlines(rows, before, after, color=colours, linewidth=2.4, alpha=0.55, zorder=2)
    ax.plot(
        before, rows, "o", color=style.INK, markerfacecolor=style.CARD, ms=6, markeredgewidth=1.4, zorder=3
    )
    for kept, marker, colour in ((~grown, "o", style.BLUE), (grown, "s", style.ORANGE)):
        ax.plot(after[kept], rows[kept], marker, color=colour, ms=6.5, zorder=4)
    for row, (old, new) in enumerate(zip(before.tolist(), after.tolist(), strict=True)):
        captions.inner_text(ax, change_text(old, new), (max(old, new), row), (9, 0), color=style.INK)
    captions.row_labels(ax, [text or "?" for text in data.strings(found["image"])])
    captions.grid(ax, "x")
    _size_axis(ax, "size")
    captions.legend_below(ax, _keys(found))


def _keys(found: pd.DataFrame) -> list[Any]:
    after = "after"
    if "outputFormat" in found.columns:
        formats = {text for text in data.strings(found["outputFormat"]) if text}
        after = f"after, as {formats.pop()}" if len(formats) == 1 else after
    looks: list[tuple[str, str, str, str]] = [
        ("before", "o", style.INK, style.CARD),
        (f"{after}: smaller", "o", style.BLUE, style.BLUE),
        (f"{after}: larger", "s", style.ORANGE, style.ORANGE),
    ]
    return [
        Line2D([], [], ls="", marker=marker, color=edge, markerfacecolor=fill, label=label, ms=6)
        for label, marker, edge, fill in looks
    ]


def _cloud(ax: Axes, found: pd.DataFrame) -> None:
    """Draw a point for each image, above the line of equal sizes if it grew."""
    before, after = found["before"].to_numpy(), found["after"].to_numpy()
    low, high = _range(before, after)
    ends = (low / 1.3, high * 1.3)
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    size, opacity = (14, 0.5) if len(found) < 1000 else (6, 0.25)
    for kept, marker, colour in ((after <= before, "o", style.BLUE), (after > before, "s", style.ORANGE)):
        ax.scatter(
            before[kept],
            after[kept],
            s=size,
            marker=marker,
            color=colour,
            alpha=opacity,
            linewidths=0,
            rasterized=True,
        )
    ax.plot(ends, ends, color=style.INK, linewidth=1, dashes=(4, 2))
    for share in (0.5, 0.25):
        reduced = (ends[0] * share, ends[1] * share)
        ax.plot(ends, reduced, color=style.MUTED, linewidth=0.9, linestyle=(0, (1, 2)))
    captions.grid(ax, "both")
    _size_axis(ax, "size before")
    ticks = _decades(*ax.get_ylim())
    ax.set_yticks(ticks, labels=[size_in_words(tick) for tick in ticks], fontfamily=[BASE_FONT])
    ax.set_ylabel("size after", color=style.muted(ax), fontsize=9.5)
    lines = [
        Line2D([], [], color=style.INK, linewidth=1, dashes=(4, 2), label="same size"),
        Line2D([], [], color=style.MUTED, linewidth=0.9, linestyle=(0, (1, 2)), label="half, a quarter"),
    ]
    captions.legend_below(ax, [*_keys(found)[1:], *lines])


def _range(before: Any, after: Any) -> tuple[float, float]:
    low, high = float(np.min([before, after])), float(np.max([before, after]))
    middle = math.sqrt(low * high)
    return min(low, middle / 2), max(high, middle * 2)


def _size_axis(ax: Axes, label: str) -> None:
    ax.minorticks_off()  # a short logarithmic scale would label them, as powers of ten
    ticks = _decades(*ax.get_xlim())
    captions.finish_value_axis(ax, f"{label} (logarithmic)", ticks, [size_in_words(tick) for tick in ticks])


def _decades(low: float, high: float) -> list[float]:
    """Return round sizes in the range: powers of ten, with steps between them where there are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
        ticks = [
            10.0**power * step for power in powers for step in steps if low <= 10.0**power * step <= high
        ]
        if len(ticks) >= 3:
            break
    return ticks
