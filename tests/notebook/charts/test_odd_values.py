"""Values far from the usual: their numbers are written out, and no text covers or loses another."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tests.notebook.charts.reading import note, texts
from webanalytics.notebook.charts import (
    clicks_by_cause,
    crawler_access,
    keywords,
    pages_against,
    readability,
    text_lengths,
    words,
)


def addresses(count: int) -> list[str]:
    return [f"https://a.example/{row}" for row in range(count)]


def ticks(ax: Axes) -> dict[str, float]:
    """Return places of ticks by what they say."""
    of_axes = ((ax.get_xticks(), ax.get_xticklabels()), (ax.get_yticks(), ax.get_yticklabels()))
    return {label.get_text(): place for of in of_axes for place, label in zip(*of, strict=True)}


MILLIONS = [2_500_000.0, 40_000_000.0, 750_000_000.0]


@pytest.mark.parametrize(
    "ax",
    [
        words(pd.DataFrame({"url": addresses(3), "wordCount": MILLIONS})),
        pages_against(pd.DataFrame({"crawl_depth": [0, 1, 2], "clicks": MILLIONS})),
        clicks_by_cause(pd.DataFrame({"cause": list("abc"), "priority": ["high"] * 3, "clicks": MILLIONS})),
        keywords(pd.DataFrame({"url": addresses(3), "keyword": list("abc"), "frequency": MILLIONS})),
    ],
    ids=["words", "pages_against", "clicks_by_cause", "keywords"],
)
def test_millions_are_written_out(ax: Axes) -> None:
    said = {text: place for text, place in ticks(ax).items() if "000,000" in text}
    assert {text: float(text.replace(",", "")) for text in said} == said
    assert len(said) > 1
    assert not [text for text in (*ticks(ax), *texts(ax)) if "e+" in text]


def test_a_depth_is_a_whole_number_where_all_are_equal() -> None:
    ax = pages_against(pd.DataFrame({"crawl_depth": [2, 2], "clicks": [7, 9]}))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2"]


@pytest.mark.parametrize("pages", [60, 900, 20_000])
def test_counts_do_not_run_into_the_names_beside_them(pages: int) -> None:
    ax = text_lengths(pd.DataFrame({"url": addresses(pages), "title": "Lamps" * 9, "description": "Tin"}))
    renderer = FigureCanvasAgg(ax.figure).get_renderer()
    ax.figure.draw_without_rendering()
    names = [label.get_window_extent(renderer) for label in ax.get_yticklabels()]
    numbers = [label.get_window_extent(renderer) for label in ax.get_yticklabels(minor=True)]
    assert min(box.x0 for box in numbers) - max(box.x1 for box in names) > 3


def test_a_histogram_tells_of_grades_beyond_its_scale() -> None:
    grades = [8.0] * 50 + [25.0, 41.2]
    ax = readability(pd.DataFrame({"url": addresses(52), "averageGradeLevel": grades}))
    assert note(ax) == "the last bar holds 2 pages beyond the scale, up to 41"


def test_a_long_sentence_in_place_of_a_chart_is_whole() -> None:
    sections = [f"documentation-of-part-{number}" for number in range(12)]
    rows = [
        (section, crawler, "training", 9, 0.1 + place / 20)
        for place, section in enumerate(sections)
        for crawler in ("GPTBot", "CCBot")
    ]
    ax = crawler_access(pd.DataFrame(rows, columns=["section", "crawler", "purpose", "pages", "share"]))
    said = " ".join(texts(ax)[0].split())
    assert "…" not in said
    assert "10% of /documentation-of-part-0, 15% of /documentation-of-part-1," in said
    assert said.endswith("a part of 7 further sections.")
    ax.figure.draw_without_rendering()
    box = ax.texts[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= ax.figure.bbox.width
    assert ax.figure.get_figheight() < 5, "there are no rows to draw"
