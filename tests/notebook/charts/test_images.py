"""Image sizes before and after conversion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from tests.notebook.charts.reading import labels, note, texts, title
from webanalytics.notebook.charts import image_sizes
from webanalytics.notebook.drawing import style

Picture = Callable[[Axes], Any]


def frame_of(*sizes: tuple[Any, Any]) -> pd.DataFrame:
    before, after = zip(*sizes, strict=True)
    names = [f"i{row}.png" for row in range(len(sizes))]
    return pd.DataFrame({"image": names, "inputSize": before, "outputSize": after, "outputFormat": "webp"})


def points(ax: Axes, marker: str, colour: str) -> list[float]:
    return [
        float(value)
        for line in ax.lines
        if line.get_marker() == marker and line.get_color() == colour
        for value in line.get_xdata()
    ]


def test_sizes_before_and_after(picture: Picture) -> None:
    ax = image_sizes(frame_of((1000, 900), (2000, 500), (300, 600)))
    assert labels(ax) == ["i1.png", "i0.png", "i2.png"]  # the largest saving first
    assert points(ax, "o", style.INK) == [2000, 1000, 300]
    assert points(ax, "o", style.BLUE) == [500, 900]
    assert points(ax, "s", style.ORANGE) == [600]
    assert texts(ax)[:3] == ["−75%", "−10%", "+100%"]
    assert title(ax) == "3 images: 3.3 kB before, 2 kB after (−39%)"
    assert note(ax) == "2 smaller, 1 larger"
    assert ax.get_xscale() == "log"
    picture(ax)


def test_the_key_names_the_format(picture: Picture) -> None:
    ax = image_sizes(frame_of((1000, 900), (2000, 500)))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "before",
        "after, as webp: smaller",
        "after, as webp: larger",
    ]
    picture(ax)


def test_many_images_become_a_cloud(picture: Picture) -> None:
    sizes = [(1000 + row, 400) for row in range(60)] + [(500, 900)]
    ax = image_sizes(frame_of(*sizes))
    smaller, larger = ax.collections
    assert sorted(map(tuple, smaller.get_offsets().data.tolist())) == sizes[:60]
    assert larger.get_offsets().data.tolist() == [[500, 900]]
    assert ax.get_ylabel() == "size after"
    picture(ax)


def test_sizes_from_bytes_to_gigabytes(picture: Picture) -> None:
    ax = image_sizes(frame_of((3, 2), (5_000_000_000, 400_000_000)))
    assert {"10 bytes", "1 kB", "1 MB", "1 GB"} <= {tick.get_text() for tick in ax.get_xticklabels()}
    picture(ax)


def test_a_size_just_below_a_unit_is_no_power_of_ten() -> None:
    title = image_sizes(frame_of((999_999, 999_600))).get_title(loc="left")
    assert title == "1 image: 1 MB before, 999.6 kB after (±0%)"


@pytest.mark.parametrize("size", [0, -5, None, float("nan"), "many"])
def test_images_without_sizes_are_counted(size: Any) -> None:
    ax = image_sizes(frame_of((1000, 900), (size, 500)).astype(object))
    assert labels(ax) == ["i0.png"]
    assert note(ax) == "1 without sizes"


@pytest.mark.parametrize("most", [40, 0])
def test_a_short_scale_has_no_names_but_sizes(most: int, picture: Picture) -> None:
    ax = image_sizes(frame_of((1000, 400), (500, 900)), max_images=most)
    picture(ax)
    for axis in (ax.xaxis, ax.yaxis) if most == 0 else (ax.xaxis,):
        named = [label.get_text() for label in axis.get_ticklabels(which="both")]
        assert {"500 bytes", "1 kB"} <= {name for name in named if name} <= {"500 bytes", "1 kB", "2 kB"}


def test_equal_sizes(picture: Picture) -> None:
    ax = image_sizes(frame_of(*[(700, 700)] * 3))
    assert texts(ax)[0] == "±0%"
    assert np.isfinite(ax.get_xlim()).all()
    picture(ax)
