"""Reading time and words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from tests.notebook.charts.reading import heights, labels, note, texts, title, widths
from webanalytics.notebook.charts import reading_time, words

Picture = Callable[[Axes], Any]


def frame_of(column: str, values: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"url": [f"https://a.example/p{row}" for row in range(len(values))], column: values})


def test_the_longest_page_is_at_the_top(picture: Picture) -> None:
    ax = words(frame_of("wordCount", [120, 1500, 40]))
    assert labels(ax) == ["/p1", "/p0", "/p2"]
    assert widths(ax) == [1500, 120, 40]
    assert texts(ax)[:3] == ["1,500", "120", "40"]
    assert note(ax) == "median 120 (dashed)"
    assert list(ax.lines[0].get_xdata()) == [120, 120]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    picture(ax)


def test_minutes(picture: Picture) -> None:
    ax = reading_time(frame_of("readingTimeMinutes", [0.25, 4.0]))
    assert texts(ax)[:2] == ["4.0 min", "0.2 min"]
    assert title(ax) == "Reading time of 2 pages"
    assert title(reading_time(frame_of("readingTimeMinutes", [1]))) == "Reading time of /p0"
    picture(ax)


def test_many_pages_become_a_histogram(picture: Picture) -> None:
    ax = words(frame_of("wordCount", [50] * 60 + [250] * 20))
    assert sum(heights(ax)) == 80
    assert {bar.get_x(): bar.get_height() for bar in ax.patches if bar.get_height()} == {50: 60, 240: 20}
    assert ax.get_ylabel() == "pages"
    picture(ax)


def test_one_giant_page_does_not_press_the_others_together(picture: Picture) -> None:
    values = np.random.default_rng(2).integers(100, 900, 500).tolist()
    ax = words(frame_of("wordCount", [*values, 5_000_000]))
    assert ax.get_xlim()[1] < 10_000
    assert sum(heights(ax)) == 501
    assert heights(ax)[-1] == 1
    assert "the last bar holds 1 page beyond the scale, up to 5,000,000" in note(ax)
    picture(ax)


def test_all_pages_are_empty(picture: Picture) -> None:
    assert widths(words(frame_of("wordCount", [0, 0]))) == [0, 0]
    picture(words(frame_of("wordCount", [0] * 100)))


@pytest.mark.parametrize(("most", "kind"), [(3, ""), (2, "pages")])
def test_where_bars_end_and_the_histogram_begins(most: int, kind: str) -> None:
    assert words(frame_of("wordCount", [1, 2, 3]), max_pages=most).get_ylabel() == kind


def test_pages_without_a_count_are_counted() -> None:
    assert note(words(frame_of("wordCount", [5, None]))) == "1 without a count"


def test_pages_without_a_url_are_all_drawn() -> None:
    frame = pd.DataFrame({"url": ["", None], "wordCount": [5, 3]}, index=[10, 11])
    assert labels(words(frame)) == ["row 10", "row 11"]
