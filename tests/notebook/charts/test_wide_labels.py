"""Labels of letters that are wider than any room, which are cut by what they measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.notebook.charts.reading import labels
from tests.notebook.charts.test_every_chart import CHARTS, draw, frame_of

WIDE = [
    "x_" * 3000,
    "W" * 3000,
    "\ufdfd" * 300,
    "https://a.example/" + "x_" * 3000,
    "https://a.example/" + "\ufdfd" * 40,
]
Picture = Callable[[Axes], Any]


def wide_frame(name: str, rows: int) -> Any:
    frame = frame_of(name, rows).astype(object)
    for column in ("url", "keyword", "country", "image", "title", "description"):
        if column in frame.columns:
            frame[column] = [f"{WIDE[row % len(WIDE)]}{row}" for row in range(rows)]
    return frame


@pytest.mark.parametrize("rows", [3, 30])
@pytest.mark.parametrize("name", CHARTS)
def test_wide_labels_leave_room_for_the_chart(name: str, rows: int, picture: Picture) -> None:
    ax = draw(name, wide_frame(name, rows))
    picture(ax)
    assert ax.get_position().width > 0.25


@pytest.mark.parametrize("name", CHARTS)
def test_wide_labels_in_a_small_figure(name: str) -> None:
    figure = Figure(figsize=(5, 4), layout="constrained")
    draw(name, wide_frame(name, 4), ax=figure.subplots())
    figure.savefig("/dev/null", format="rgba")


def test_one_label_of_one_page() -> None:
    for name in ("readability", "reading_time"):
        ax = draw(name, wide_frame(name, 1))
        assert "\u2026" in labels(ax)[0]
