"""The distribution of the readability indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from tests.notebook.charts.reading import heights, labels, note, texts, title
from webanalytics.errors import ParameterError
from webanalytics.notebook.charts import readability_distribution
from webanalytics.notebook.charts.distribution import INDICES
from webanalytics.operations import READABILITY
from webanalytics.page.readability.readability import dale_chall_text, ease_text

Picture = Callable[[Axes], Any]


def frame_of(**columns: Any) -> pd.DataFrame:
    frame = pd.DataFrame(columns)
    return frame.assign(url=[f"https://a.example/{row}" for row in range(len(frame))])


def test_every_index_of_the_operation_is_known() -> None:
    left_out = {
        "wordCount",
        "sentenceCount",
        "readingTimeMinutes",
        "readability_score",
        "wiener_sachtextformel",
    }
    numbers = {field.name for field in READABILITY.fields if field.dtype in ("float", "integer")}
    assert set(INDICES) == numbers - left_out


def test_the_grades_stand_under_one_another(picture: Picture) -> None:
    ax = readability_distribution(
        frame_of(gunningFog=[8.5, 8.6, 12.0], averageGradeLevel=[7.0, 7.4, None], fleschReadingEase=60.0)
    )
    assert labels(ax) == ["average grade", "Gunning fog index"]
    assert title(ax) == "Readability indices of 3 pages"
    assert [text for text in texts(ax) if text in ("7.2", "8.6")] == ["7.2", "8.6"]  # the medians
    bars = [bar for bar in ax.patches if bar.get_height() < 0]  # they rise: the axis points down
    tallest = max(-bar.get_height() for bar in bars)
    found = {float(bar.get_x()): round(-bar.get_height() / tallest, 3) for bar in bars if bar.get_y() > 1}
    assert found == {8.0: 1.0, 12.0: 0.5}
    picture(ax)


def test_one_index_alone(picture: Picture) -> None:
    ease = [95.0, 85.0, 86.0, 55.0, -20.0, 120.0]
    ax = readability_distribution(frame_of(fleschReadingEase=ease), index="fleschReadingEase")
    assert sum(height for height in heights(ax) if height > 1 or height == 1) >= 6
    written = texts(ax)
    counts = {
        name: written[written.index(name) + 1]
        for name in ("very\neasy", "easy", "fairly\ndifficult", "difficult")
    }
    assert counts == {"very\neasy": "2", "easy": "2", "fairly\ndifficult": "1", "difficult": "0"}
    assert "85.5" in ax.get_xlabel()
    assert "higher is easier" in ax.get_xlabel()
    assert title(ax) == "Flesch reading ease of 6 pages"
    picture(ax)


@pytest.mark.parametrize("index", INDICES)
def test_each_index_can_be_drawn_alone(index: str, picture: Picture) -> None:
    values = np.random.default_rng(3).normal(9, 3, 150)
    ax = readability_distribution(frame_of(**{index: values}), index=index)
    drawn = sum(
        bar.get_height()
        for bar in ax.patches
        if bar.get_y() == 0 and bar.get_height() >= 1 and bar.get_width() < 10
    )
    bands = len(INDICES[index].bands) or 5
    assert drawn - bands <= 150 <= drawn  # the bands are patches of height 1
    picture(ax)


@pytest.mark.parametrize(
    ("index", "words"), [("fleschReadingEase", ease_text), ("daleChallReadabilityScore", dale_chall_text)]
)
def test_bands_are_those_of_the_analysis(index: str, words: Callable[[float], str]) -> None:
    limits, names = INDICES[index].limits, INDICES[index].bands
    below = [words(limit - 0.01) for limit in limits[1:]]
    assert len(set(below)) == len(names)
    assert [words(limit + 0.01) for limit in limits[:-1]] == below  # nothing changes inside a band
    for name, sentence in zip(names, below, strict=True):
        number_or_word = name.split("–")[0].removesuffix(" grade").lower()
        assert number_or_word in sentence.lower()


def test_pages_without_an_index_are_counted() -> None:
    ax = readability_distribution(frame_of(gunningFog=[8.0, None, float("inf")]), index="gunningFog")
    assert note(ax) == "2 without it"


def test_pages_listed_twice_are_drawn_once() -> None:
    frame = frame_of(gunningFog=[8.5, 9.5])
    assert title(readability_distribution(pd.concat([frame, frame]))) == "Readability indices of 2 pages"


def test_an_unknown_index_names_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="`index` parameter must be one of: averageGradeLevel, "):
        readability_distribution(frame_of(gunningFog=[8.0]), index="wordCount")
