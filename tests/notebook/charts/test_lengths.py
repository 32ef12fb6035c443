"""Titles and descriptions against their limits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes

import webanalytics as wa
from tests.notebook.charts.reading import labels, note, texts, title
from webanalytics.errors import ParameterError
from webanalytics.notebook import charts
from webanalytics.notebook.drawing import style

Picture = Callable[[Axes], Any]
text_lengths = partial(charts.text_lengths, unit="characters")


def frame_of(*lengths: tuple[int, int]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "url": [f"https://a.example/p{row}" for row in range(len(lengths))],
            "title": ["t" * one or None for one, _ in lengths],
            "description": ["d" * other or None for _, other in lengths],
        }
    )


def marks(ax: Axes, marker: str, filled: bool) -> dict[str, float]:
    """Return label and length of one kind of mark."""
    found = {}
    for line in ax.lines:
        if line.get_marker() == marker and (line.get_markerfacecolor() != style.CARD) is filled:
            found.update(zip([labels(ax)[row] for row in line.get_ydata()], line.get_xdata(), strict=True))
    return found


def test_texts_are_inside_or_outside_their_limits(picture: Picture) -> None:
    ax = text_lengths(frame_of((30, 70), (60, 155), (29, 69), (61, 156)))
    assert marks(ax, "o", True) == {"/p0": 30, "/p1": 60}
    assert marks(ax, "o", False) == {"/p2": 29, "/p3": 61}
    assert marks(ax, "D", True) == {"/p0": 70, "/p1": 155}
    assert marks(ax, "D", False) == {"/p2": 69, "/p3": 156}
    assert note(ax) == "2 titles within 30–60 characters · 2 descriptions within 70–155 characters"
    bands = sorted((patch.get_x(), patch.get_x() + patch.get_width()) for patch in ax.patches)
    assert bands == [(30, 60), (70, 155)]
    picture(ax)


def test_by_default_texts_are_judged_as_the_rules_judge_them() -> None:
    """Capital letters are wide: 40 of them are too long in pixels, and not in characters."""
    titles = ["W" * 40, "i" * 80, "A lamp of brass and tin", "Lamp"]
    frame = frame_of(*[(1, 100)] * 4).assign(title=titles)
    html = [f"<title>{title}</title><p>x" for title in titles]
    issues = wa.audit(pd.DataFrame({"url": frame["url"], "html": html}), progress=False).issues
    outside = set(issues.loc[issues["rule"].isin(["title_too_long", "title_too_short"]), "url"])
    ax = charts.text_lengths(frame)
    assert set(marks(ax, "o", False)) == {url.removeprefix("https://a.example") for url in outside}
    assert outside == {"https://a.example/p0", "https://a.example/p3"}
    assert note(ax).startswith("2 titles within 200–561 pixels")
    assert marks(ax, "o", False)["/p0"] == pytest.approx(40 * 20 * 1933 / 2048, abs=1)


@pytest.mark.parametrize("unit", ["words", None])
def test_a_wrong_unit(unit: Any) -> None:
    with pytest.raises(ParameterError, match="`unit`"):
        charts.text_lengths(frame_of((1, 1)), unit=unit)


def test_the_page_furthest_from_its_limits_is_at_the_top() -> None:
    ax = text_lengths(frame_of((40, 100), (65, 100), (0, 0), (40, 200)))
    assert labels(ax) == ["/p2", "/p3", "/p1", "/p0"]


def test_limits_are_the_callers(picture: Picture) -> None:
    ax = text_lengths(frame_of((20, 100)), title_limits=(10, 25), description_limits=[50, 90])
    assert marks(ax, "o", True) == {"/p0": 20}
    assert marks(ax, "D", False) == {"/p0": 100}
    assert {0, 10, 25, 50, 90} <= set(ax.get_xticks())
    picture(ax)


def test_a_text_beyond_the_scale_stands_at_its_end_with_its_length(picture: Picture) -> None:
    ax = text_lengths(frame_of((40, 50_000)))
    end = ax.get_xlim()[1]
    assert end < 500
    assert marks(ax, "D", False) == {"/p0": end}
    assert "description 50,000" in texts(ax)
    picture(ax)
    assert "title 700, description 50,000" in texts(text_lengths(frame_of((700, 50_000), (40, 100))))


def test_white_space_counts_once() -> None:
    frame = frame_of((0, 100)).assign(title=f" {'x' * 20} \n\t {'y' * 10} ")
    assert marks(text_lengths(frame), "o", True) == {"/p0": 31}


def test_many_pages_become_two_histograms(picture: Picture) -> None:
    ax = text_lengths(frame_of(*[(45, 0)] * 50, *[(10, 100)] * 10))
    assert labels(ax) == ["title", "description"]
    assert title(ax) == "Title and description of 60 pages"
    assert "0 none\n10 short\n0 long" in texts(ax)
    assert "50 none\n0 short\n0 long" in texts(ax)
    bars = [bar for bar in ax.patches if bar.get_height() < 0 and bar.get_y() < 1]
    assert [round(bar.get_height() / min(b.get_height() for b in bars), 2) for bar in bars] == [0.2, 1]
    picture(ax)


def test_histograms_have_an_axis_of_counts() -> None:
    """Heights are read off the axis, and times the widths of the bars they are the pages."""
    ax = text_lengths(frame_of(*[(45, 100)] * 50, *[(10, 100)] * 10))
    width = int(ax.get_xlabel().partition("pages in ")[2].split()[0])
    ticks = {
        float(place): int(label.get_text())
        for place, label in zip(ax.get_yticks(minor=True), ax.get_yticklabels(minor=True), strict=True)
    }
    of_titles = sorted((place, count) for place, count in ticks.items() if place < 0.5)
    (high, most), (base, none) = of_titles[0], of_titles[-1]
    assert none == 0
    assert most > 10
    bars = [bar for bar in ax.patches if bar.get_height() < 0 and bar.get_y() < 1]
    pages = [-bar.get_height() / (base - high) * most * bar.get_width() / width for bar in bars]
    assert pages == pytest.approx([10, 50])


@pytest.mark.parametrize(
    "wrong", [(60, 30), (30,), (30, 60, 90), "ab", 30, (-1, 5), (1.5, 3), (True, 5), (30, 30)]
)
@pytest.mark.parametrize("parameter", ["title_limits", "description_limits"])
def test_wrong_limits(parameter: str, wrong: Any) -> None:
    with pytest.raises(
        ParameterError, match=f"`{parameter}` parameter must be two rising integers"
    ) as caught:
        text_lengths(frame_of((1, 1)), **{parameter: wrong})
    assert caught.value.parameter == parameter
