"""Charts in subplots of the user's: titles whole and within their part, and bars that end at limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.notebook.charts.reading import title
from tests.notebook.charts.test_every_chart import CHARTS, draw, frame_of
from webanalytics.notebook import charts
from webanalytics.notebook.charts import ridges
from webanalytics.notebook.drawing import style, titles
from webanalytics.notebook.drawing.labels import path_labels, shortened

LONG = "What the pages of the shop say about their lamps, and how long it takes to read it"


def drawn(figure: Figure) -> None:
    FigureCanvasAgg(figure)
    figure.canvas.draw()


def lines_of(ax: Axes) -> list[str]:
    written: titles.WrappedText = ax._left_title
    return written._get_wrapped_text().split("\n")


@pytest.mark.parametrize("name", CHARTS)
def test_titles_are_whole_and_keep_to_their_part(name: str) -> None:
    figure = Figure(figsize=(12, 8))  # without a layout, as plt.subplots() makes it
    axes = figure.subplots(2, 2)
    for ax in axes.flat:
        draw(name, frame_of(name, 6), ax=ax, title=LONG)
    drawn(figure)
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for row in axes:
        for ax, neighbour in zip(row, [*row[1:], None], strict=True):
            assert " ".join(lines_of(ax)) == LONG == title(ax)
            box = ax._left_title.get_window_extent(renderer)
            assert box.x0 >= 0
            assert box.x1 <= ax.bbox.x1 + 2
            assert box.y1 <= figure.bbox.height
            if neighbour is not None:
                others = [neighbour._left_title, *neighbour.get_yticklabels()]
                left = min(text.get_window_extent(renderer).x0 for text in others if text.get_text())
                assert box.x1 < left
    above = axes[0][0].xaxis.get_tightbbox(renderer)
    below = axes[1][0]._left_title.get_window_extent(renderer)
    assert above is None or below.y1 <= above.y0 + 1


def test_a_title_that_no_lines_hold_is_cut_in_the_middle() -> None:
    figure = Figure(figsize=(6, 6))
    ax = draw("words", frame_of("words", 3), ax=figure.subplots(2, 2)[0][0], title=LONG * 4)
    drawn(figure)
    assert len(lines_of(ax)) == titles.MOST_LINES
    assert "…" in lines_of(ax)[-1]


def test_a_figure_with_a_layout_keeps_it() -> None:
    figure = Figure(layout="tight")
    engine = figure.get_layout_engine()
    draw("words", frame_of("words", 3), ax=figure.subplots())
    assert figure.get_layout_engine() is engine


def test_rows_of_a_small_grid_stay_apart() -> None:
    frame = pd.DataFrame(
        {"url": ["/a"] * 20, "rule": [f"rule {number}" for number in range(20)], "priority": ["low"] * 20}
    )
    figure = Figure(figsize=(10, 7))
    ax = charts.issues_by_priority(frame, ax=figure.subplots(2, 2)[0][0])
    pages = pd.DataFrame({"url": [f"/{row}" for row in range(20)], "title": "Lamps", "description": "Lamps"})
    lengths = charts.text_lengths(pages, ax=figure.axes[1])
    drawn(figure)
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = [label.get_window_extent(renderer) for label in ax.get_yticklabels()]
    assert len(boxes) >= 3
    assert all(above.y0 > below.y1 - 2 for above, below in pairwise(boxes))
    assert [label.get_text() for label in lengths.get_yticklabels()] == ["title", "description"]
    assert len(charts.issues_by_priority(frame).patches) == 20


def test_a_map_in_a_small_grid_names_only_what_has_room() -> None:
    pages = pd.DataFrame({"url": [f"https://shop-{row}.example/a/b" for row in range(60)], "issues": 3})
    figure = Figure(figsize=(8, 6))
    ax = charts.site_map(pages, ax=figure.subplots(2, 2)[1][1])
    assert not [
        text.get_text() for text in ax.texts if "…" in text.get_text()[:5] and len(text.get_text()) < 6
    ]


def test_the_bars_of_lengths_end_at_the_limits() -> None:
    rng = np.random.default_rng(3)
    lengths = rng.integers(1, 240, 90)
    lengths[:4] = [29, 30, 60, 61]
    frame = pd.DataFrame(
        {
            "url": [f"https://a.example/{row}" for row in range(90)],
            "title": ["x" * length for length in lengths],
            "description": ["y" * length for length in lengths[::-1]],
        }
    )
    ax = charts.text_lengths(frame, unit="characters")
    for colour, low, high in ((style.BLUE, 29.5, 60.5), (style.ORANGE, 69.5, 155.5)):
        bars = [
            bar for bar in ax.patches if colour in (to_hex(bar.get_facecolor()), to_hex(bar.get_edgecolor()))
        ]
        edges = {round(bar.get_x(), 6) for bar in bars}
        assert {low, high} <= edges
        for bar in bars:
            inside = low <= bar.get_x() < high
            assert to_hex(bar.get_facecolor()) == (colour if inside else style.CARD), bar.get_x()
        sides = [bar.get_x() for bar in bars if bar.get_height()]
        assert min(sides) < low
        assert max(sides) >= high


@pytest.mark.parametrize("index", ["fleschReadingEase", "daleChallReadabilityScore", "averageGradeLevel"])
def test_the_bars_of_an_index_end_at_its_bands(index: str) -> None:
    values = np.linspace(-30, 130, 200)
    frame = pd.DataFrame({"url": [f"https://a.example/{row}" for row in range(200)], index: values})
    ax = charts.readability_distribution(frame, index=index)
    bars = [bar for bar in ax.patches if to_hex(bar.get_facecolor()) == style.BLUE]
    edges = [bar.get_x() for bar in bars] + [bars[-1].get_x() + bars[-1].get_width()]
    for tick in ax.get_xticks():
        assert min(abs(edge - tick) for edge in edges) < 1e-9
    assert sum(bar.get_height() for bar in bars) == 200
    note = [text.get_text() for text in ax.texts][-1].replace("\n", " ")
    below, above = (values < edges[0]).sum(), (values > edges[-1]).sum()
    assert f"{below} below and {above} above the scale" in note


def test_bars_stand_for_their_area() -> None:
    edges = ridges.between(-0.5, 20.5, (5.5,), 5, whole=True)
    assert 5.5 in edges.tolist()
    assert (edges[:-1] % 1 == 0.5).all()
    ax = style.new_axes(3)
    ridges.ridge(ax, 0, np.arange(0, 21, dtype=float), edges, style.BLUE)
    heights = [abs(bar.get_height()) for bar in ax.patches]
    assert np.allclose(heights, ridges.TALLEST), "one value for each whole number: all bars are alike"


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        (["https://a.example/shop/lamps/", "https://a.example/shop/wicks/"], ["…/lamps/", "…/wicks/"]),
        (["https://a.example/de/lamps", "https://a.example/fr/lamps"], ["/de/lamps", "/fr/lamps"]),
        (
            ["https://a.example/x/de/lamps", "https://a.example/y/fr/lamps", "https://a.example/z/fr/wicks"],
            ["…/de/lamps", "…/fr/lamps", "…/wicks"],
        ),
        (["https://a.example/docs/lamps/index.html"], ["…/lamps/index.html"]),
        (["https://a.example/news/2026/11/22"], ["/news/2026/11/22"]),
        (
            ["https://a.example/", "https://b.example/", "https://b.example/news/lamps"],
            ["a.example", "b.example", "…/lamps"],
        ),
        (["https://a.example/b/lamps", "https://a.example/b/lamps"], ["…/lamps", "…/lamps"]),
        (
            ["https://a.example/shop/list?page=1", "https://a.example/shop/list?page=2"],
            ["…/list?page=1", "…/list?page=2"],
        ),
    ],
)
def test_the_shortest_end_that_tells_pages_apart(urls: list[str], expected: list[str]) -> None:
    assert path_labels(pd.Series(urls)) == expected


def test_cut_labels_stay_different() -> None:
    texts = [f"/a-very-long-name-of-a-section/{'x' * 30}-{number}-{'y' * 30}" for number in range(9)]
    cut = shortened(texts, 24)
    assert len(set(cut)) == 9
    assert all(len(text) <= 24 for text in cut)
