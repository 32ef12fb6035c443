"""The readability chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from webanalytics.errors import ParameterError
from webanalytics.notebook.charts import readability
from webanalytics.thresholds import SCALES, Unjudged

Picture = Callable[[Axes], Any]
AUDIENCES = ["elementary", "middle\nschool", "high\nschool", "college", "post-\ngraduate"]


def frame_of(grades: list[float | None]) -> pd.DataFrame:
    urls = [f"https://a.example/p{number}" for number in range(len(grades))]
    grade = pd.array(grades, dtype="Float64")
    ease = (100 - 5 * grade).astype("Float64")
    return pd.DataFrame(
        {
            "url": urls,
            "averageGradeLevel": grade,
            "fleschReadingEase": ease,
            "status": "ok",
            "error_type": None,
        }
    )


def labels(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def dots(ax: Axes, marker: str = "o") -> list[float]:
    (line,) = [line for line in ax.lines if line.get_marker() == marker]
    return list(line.get_xdata())


def counts(ax: Axes) -> list[str]:
    """Return the number that stands under each audience's name."""
    written = texts(ax)
    return [written[written.index(audience) + 1] for audience in AUDIENCES]


def test_pages_fall_into_the_bands_of_the_audience(picture: Picture) -> None:
    # below 6 elementary, below 9 middle school, below 13 high school, below 16 college, else post-graduate
    ax = readability(frame_of([5.99, 6, 8.99, 9, 12.99, 13, 15.99, 16, 21]))
    assert counts(ax) == ["1", "2", "2", "2", "2"]
    assert [round(float(tick)) for tick in ax.get_xticks()] == [0, 6, 9, 13, 16, 22]
    picture(ax)


def test_the_hardest_page_is_at_the_top(picture: Picture) -> None:
    ax = readability(frame_of([4, 11.26, 8]))
    assert labels(ax) == ["/p1", "/p2", "/p0"]
    assert dots(ax) == [11.26, 8, 4]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert {"11.3", "8.0", "4.0"} <= set(texts(ax))
    assert texts(ax)[-3:] == ["44", "60", "80"]  # reading ease: 100 - 5 * 11.26 = 43.7, and so on
    assert ax.get_title(loc="left") == "Readability of 3 pages"


def test_one_page(picture: Picture) -> None:
    ax = readability(frame_of([10]))
    assert ax.get_title(loc="left") == "Readability of /p0"
    assert dots(ax) == [10]
    picture(ax)


def test_without_reading_ease(picture: Picture) -> None:
    ax = readability(frame_of([10, 11])[["url", "averageGradeLevel"]])
    assert "Flesch\nease" not in texts(ax)
    picture(ax)


def test_pages_without_a_grade_are_counted_not_drawn(picture: Picture) -> None:
    frame = frame_of([10, None, None, float("nan")])
    frame.loc[3, ["status", "error_type"]] = ["error", "http"]
    ax = readability(frame)
    assert labels(ax) == ["/p0"]
    assert texts(ax)[-1] == "2 without a grade · 1 failed (1 http)"


def test_a_page_listed_twice_is_drawn_once() -> None:
    frame = frame_of([10, 11])
    assert len(dots(readability(pd.concat([frame, frame])))) == 2


def test_grades_beyond_the_scale_stand_at_its_end(picture: Picture) -> None:
    ax = readability(frame_of([140, 21.9, -3.5]))
    assert dots(ax, ">") == [22]
    assert dots(ax) == [21.9, -3.5]
    assert "140.0" in texts(ax)
    assert ax.get_xlim() == (-5, 22)
    picture(ax)


def test_many_pages_become_a_histogram(picture: Picture) -> None:
    grades = np.random.default_rng(5).normal(10, 4, 10_000)
    ax = readability(frame_of(grades.tolist()))
    bars = [bar for bar in ax.patches if bar.get_height() > 1]
    assert sum(bar.get_height() for bar in bars) == pytest.approx(10_000, abs=5)
    assert ax.get_ylabel() == "pages"
    below = int((grades < 6).sum())
    assert counts(ax)[0] == f"{below:,} ({below / 10_000:.0%})"
    picture(ax)


def test_where_rows_end_and_the_histogram_begins() -> None:
    assert len(dots(readability(frame_of([8, 9, 10]), max_pages=3))) == 3
    assert readability(frame_of([8, 9, 10]), max_pages=2).get_ylabel() == "pages"


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (frame_of([]), "No pages, so no grades."),
        (frame_of([None, None]), "None of these pages has a grade."),
        (frame_of([None]), "This page has no grade."),
        (
            frame_of([None]).assign(status="error", error="The `url` parameter names no host."),
            "The `url` parameter names no host.",
        ),
    ],
)
def test_nothing_to_draw(frame: pd.DataFrame, said: str, picture: Picture) -> None:
    ax = readability(frame)
    assert said in texts(ax)
    assert not ax.lines
    picture(ax)


def test_labels_from_anywhere(picture: Picture) -> None:
    frame = frame_of([8, 9, 10, 11])
    frame["url"] = [
        "https://a.example/" + "x" * 300,
        "https://b.example/%E7%81%AF%E5%8F%B0",
        "https://c.example/مصباح/العاصفة",
        "http://[::1",
    ]
    ax = readability(frame)
    assert labels(ax)[:3] == ["http://[::1", "…/العاصفة", labels(ax)[2]]
    assert labels(ax)[3].startswith("/xxx")
    assert "…" in labels(ax)[3]
    picture(ax)


def test_draws_where_it_is_told() -> None:
    left, right = Figure(figsize=(14, 5), layout="constrained").subplots(1, 2)
    assert readability(frame_of([8]), ax=left, title="Mine") is left
    assert left.get_title(loc="left") == "Mine"
    assert not right.lines


def mixed(pages: int = 1) -> pd.DataFrame:
    """Pages in four languages: 3 + 2 + 1 + 1 times `pages`, and 3 that are not judged."""
    german, swedish = SCALES["de"].name, SCALES["sv"].name
    kinds = [
        *[(None, 45.0, german, None)] * 2, (None, 20.0, german, None),
        (8.0, 8.0, SCALES["en"].name, None), (17.0, 17.0, SCALES["en"].name, None),
        (None, 55.0, swedish, None), (None, 95.0, SCALES["fr"].name, None),
    ]  # fmt: skip
    notes: list[Unjudged] = ["language undetermined", "language undetermined", "fewer than 3 sentences"]
    rows = kinds * pages + [(None, None, None, note) for note in notes]
    names = ["averageGradeLevel", "readability_score", "readability_scale", "readability_note"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.assign(url=[f"https://a.example/p{row}" for row in range(len(frame))], status="ok")


def test_languages_share_an_axis_of_audiences(picture: Picture) -> None:
    ax = readability(mixed())
    assert counts(ax) == ["1", "1", "0", "3", "2"]
    # hardest first: Flesch 20 is a third into the last band, grade 17 a sixth; LIX 55 in the middle of college
    assert dots(ax) == pytest.approx([4 + 1 / 3, 4 + 1 / 6, 3.5, 3.25, 3.25, 1 + 2 / 3, 0.5])
    assert labels(ax)[:3] == ["/p2", "/p4", "/p5"]
    assert {"55.0 Swedish, LIX", "20.0 German, Flesch ease", "8.0 English, school grade"} <= set(texts(ax))
    assert ax.get_title(loc="left") == "Readability of 7 of 10 pages"
    assert texts(ax)[-1] == "2 of unknown language · 1 under 3 sentences"
    assert ax.get_xlim() == (0, 5)
    picture(ax)


def test_the_scale_of_most_pages_is_named_once() -> None:
    frame = mixed(3)
    frame = frame[frame["readability_scale"] != SCALES["de"].name]  # six in English of twelve, then of eleven
    ax = readability(frame[frame["url"] != frame["url"].iloc[-4]])
    said = texts(ax)
    assert "8.0" in said
    assert "55.0 Swedish, LIX" in said
    assert not any("English" in text for text in said)
    assert ax.get_xlabel().endswith("; without a name: English, school grade")


def test_what_the_axis_shows_is_not_cut_off_beside_long_labels(picture: Picture) -> None:
    frame = mixed(3)
    frame = frame[frame["readability_scale"] != SCALES["de"].name].drop(frame.index[-4])
    ax = readability(frame.assign(url=frame["url"] + "/a-path-of-many-words-and-letters/and-another"))
    picture(ax)
    assert ax.get_xlabel().endswith("\nwithout a name: English, school grade")


def test_many_pages_have_a_row_for_each_language(picture: Picture) -> None:
    ax = readability(mixed(20))
    assert labels(ax) == [
        "German, Flesch ease", "English, school grade", "Swedish, LIX", "French, Flesch ease",
    ]  # fmt: skip
    assert ax.get_title(loc="left") == "Readability of 140 of 143 pages"
    assert {"60", "40", "20"} <= set(texts(ax))
    assert {"45.0", "12.5", "55.0", "95.0"} <= set(texts(ax))  # the medians, each on its own scale
    picture(ax)


def test_one_other_language_shows_the_limits_of_its_scale(picture: Picture) -> None:
    frame = mixed()
    ax = readability(frame[frame["readability_scale"] == SCALES["de"].name])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "90", "60", "50", "30", "0"]
    assert ax.get_xlabel() == "Flesch reading ease (Amstad 1978, German)"
    assert "45.0" in texts(ax)
    picture(ax)


def test_without_scales_a_reading_ease_without_a_grade_is_another_languages() -> None:
    frame = frame_of([8.0, None]).assign(fleschReadingEase=[70.0, 40.0])
    ax = readability(frame)
    assert dots(ax) == pytest.approx([3.5, 1 + 2 / 3])
    assert "40.0 Flesch ease" in texts(ax)


def test_english_alone_names_why_others_are_missing() -> None:
    frame = mixed()
    ax = readability(frame[frame["averageGradeLevel"].notna() | frame["readability_note"].notna()])
    assert ax.get_title(loc="left") == "Readability of 2 of 5 pages"
    assert dots(ax) == [17, 8]
    assert texts(ax)[-1] == "2 of unknown language · 1 under 3 sentences"


@pytest.mark.parametrize(
    ("arguments", "parameter"), [({"max_pages": -1}, "max_pages"), ({"max_grade": 16}, "max_grade")]
)
def test_wrong_arguments(arguments: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        readability(frame_of([8]), **arguments)
    assert caught.value.parameter == parameter


def test_missing_columns() -> None:
    with pytest.raises(ParameterError, match="averageGradeLevel"):
        readability(pd.DataFrame({"url": []}))
