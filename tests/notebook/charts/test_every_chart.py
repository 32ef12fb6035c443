"""What holds for every chart: odd frames, odd labels, wrong arguments, dark figures."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.notebook.charts.contrast import contrast
from tests.notebook.charts.reading import labels, texts, title
from webanalytics.errors import ParameterError
from webanalytics.notebook import charts

Picture = Callable[[Axes], Any]

# For each chart: the column that names a row, the other columns with the values of a good row, and who makes it.
PAGE, RECORD = "url", None
CHARTS: dict[str, tuple[str | None, dict[str, Any], str]] = {
    "clicks_by_cause": ("cause", {"priority": "high", "clicks": 7}, "audit"),
    "crawl_depth": (RECORD, {"crawl_depth": 2}, "crawl"),
    "crawler_access": (
        "section",
        {"crawler": "GPTBot", "purpose": "training", "pages": 3, "share": 0.5},
        "audit",
    ),
    "disposable_by_country": ("country", {"isDisposable": True}, "phones"),
    "disposable_by_month": (RECORD, {"isDisposable": True, "firstSeen": "2024-03-05"}, "phones"),
    "image_sizes": ("image", {"inputSize": 2000, "outputSize": 500}, "convert"),
    "issues_by_priority": ("rule", {"url": "https://a.example/", "priority": "high"}, "audit"),
    "issues_by_section": ("section", {"url": "https://a.example/", "category": "title"}, "audit"),
    "keyword_heatmap": (PAGE, {"keyword": "lamp", "frequency": 3}, "keywords"),
    "keywords": (PAGE, {"keyword": "lamp", "frequency": 3}, "keywords"),
    "link_flow": (RECORD, {"source": "https://a.example/a/b", "target": "https://a.example/"}, "crawl"),
    "pages_against": (RECORD, {"crawl_depth": 2, "clicks": 7}, "audit"),
    "readability": (PAGE, {"averageGradeLevel": 8.5}, "readability"),
    "readability_distribution": (PAGE, {"averageGradeLevel": 8.5}, "readability"),
    "reading_time": (PAGE, {"readingTimeMinutes": 2.5}, "readability"),
    "site_map": (RECORD, {"url": "https://a.example/docs/api/x"}, "crawl"),
    "text_lengths": (PAGE, {"title": "Lamps", "description": None}, "metadata"),
    "tlsa_security": (RECORD, {"security_level": "Good"}, "dane"),
    "words": (PAGE, {"wordCount": 300}, "readability"),
}
ODD = [
    "donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 40,
    "مصباح العاصفة في الليل",
    "灯台の灯りを守る人々の長い長い物語",
    "$x_1$ costs $5 and \\frac{$",
    "नमस्ते",
    "👩‍👩‍👧 lamp ❤️",
    "<img src=x onerror=alert(1)>",
    "",
    "\ud800\x00\u202eabc",
]
each_chart = pytest.mark.parametrize("name", CHARTS)


def frame_of(name: str, rows: int, state: str = "ok") -> pd.DataFrame:
    named, values, _ = CHARTS[name]
    good = state == "ok"
    frame = pd.DataFrame({column: [value if good else None] * rows for column, value in values.items()})
    if named:
        frame[named] = [f"https://a.example/{row}" for row in range(rows)]
    return frame.assign(
        status=state, error=None if good else "It failed.", error_type=None if good else "timeout"
    )


def draw(name: str, frame: Any, **arguments: Any) -> Axes:
    ax: Axes = getattr(charts, name)(frame, **arguments)
    return ax


def test_every_chart_is_tested_here() -> None:
    assert charts.__all__ == sorted(charts.__all__), (
        "charts/__init__.py: __all__ is in the order of the alphabet"
    )
    assert list(CHARTS) == charts.__all__, (
        "CHARTS of this file must have a line for each chart, in the order of `__all__`"
    )


@each_chart
def test_an_empty_frame_says_so(name: str, picture: Picture) -> None:
    ax = draw(name, frame_of(name, 0))
    assert not ax.axison
    assert any(text.startswith("No ") for text in texts(ax))
    picture(ax)


@each_chart
def test_one_row(name: str, picture: Picture) -> None:
    ax = draw(name, frame_of(name, 1))
    assert ax.axison
    picture(ax)


@each_chart
def test_one_failed_row_gives_its_reason(name: str, picture: Picture) -> None:
    ax = draw(name, frame_of(name, 1, "error"))
    assert "It failed." in texts(ax), (
        "draw only rows that are not data.has_failed; say why none is with data.why_empty"
    )
    picture(ax)


@each_chart
def test_failed_rows_are_left_out_and_counted(name: str, picture: Picture) -> None:
    failed = frame_of(name, 3, "error")
    if named := CHARTS[name][0]:
        failed[named] += "/failed"
    alone = draw(name, frame_of(name, 2))
    ax = draw(name, pd.concat([frame_of(name, 2).astype(object), failed.astype(object)]))
    assert "3 failed (3 timeout)" in texts(ax)[-1], (
        "count failed rows below the title: data.left_out, data.failures"
    )
    assert labels(ax) == labels(alone)
    assert [bar.get_bbox().bounds for bar in ax.patches] == [bar.get_bbox().bounds for bar in alone.patches]
    picture(ax)


@each_chart
def test_nothing_but_failures(name: str, picture: Picture) -> None:
    ax = draw(name, frame_of(name, 40, "error"))
    assert not ax.axison
    assert "40 failed (40 timeout)" in texts(ax), "say why nothing is drawn with data.why_empty"
    picture(ax)


@each_chart
def test_ten_thousand_rows(name: str, picture: Picture) -> None:
    ax = draw(name, frame_of(name, 10_000))
    width, height = ax.figure.get_size_inches()
    assert width == 8.5
    assert height < 9
    picture(ax)


@each_chart
def test_labels_from_anywhere(name: str, picture: Picture) -> None:
    frame = frame_of(name, len(ODD)).astype(object)
    if "share" in frame:  # sections that are alike stand together
        frame["share"] = [place / 10 for place in range(len(ODD))]
    for column in (
        "url",
        "keyword",
        "country",
        "image",
        "title",
        "description",
        "rule",
        "section",
        "category",
        "cause",
    ):
        if column in frame.columns:
            frame[column] = pd.Series(ODD, dtype=object)
    ax = draw(name, frame, title="A title of $x$ that is too long for any figure " * 5)
    assert "$x$" in title(ax)
    assert "…" in title(ax)
    for text in [*ax.texts, *ax.get_yticklabels(), *ax.get_xticklabels(), ax._left_title]:
        assert not text.get_parse_math(), (
            "write labels with `charts.writing`: a dollar sign is a price, no formula"
        )
    if CHARTS[name][0] and name != "readability_distribution":  # whose rows are the indices
        assert any("$x_1$ costs $5 and \\frac{$" in label for label in labels(ax))
    picture(ax)


@each_chart
def test_a_list_is_no_frame(name: str) -> None:
    maker = CHARTS[name][2]
    with pytest.raises(
        ParameterError, match=rf"`frame` .* DataFrame of webanalytics\.{maker}.*, not list\.$"
    ):
        draw(name, [1])


@pytest.mark.parametrize(
    ("name", "column"), [(name, column) for name, (_, values, _) in CHARTS.items() for column in values]
)
def test_a_missing_column_is_named_with_the_function_that_makes_it(name: str, column: str) -> None:
    with pytest.raises(ParameterError) as caught:
        draw(name, frame_of(name, 2).drop(columns=column))
    assert f"`{column}`" in str(caught.value)
    assert f"webanalytics.{CHARTS[name][2]}" in str(caught.value)
    assert caught.value.parameter == "frame"


@each_chart
def test_a_column_that_stands_twice(name: str) -> None:
    frame = frame_of(name, 2)
    column = next(iter(CHARTS[name][1]))
    with pytest.raises(ParameterError, match=f"`{column}` only once"):
        draw(name, pd.concat([frame, frame[[column]]], axis=1))


@each_chart
def test_columns_full_of_something_else(name: str, picture: Picture) -> None:
    frame = frame_of(name, 3).astype(object)
    for column in frame.columns:
        frame[column] = pd.Series([{"a": 1}, [2, 3], float("inf")], dtype=object)
    picture(draw(name, frame))


@each_chart
@pytest.mark.parametrize("ax", ["new", 3, [None]])
def test_axes_must_be_axes(name: str, ax: Any) -> None:
    with pytest.raises(ParameterError, match="`ax` parameter must be one matplotlib Axes"):
        draw(name, frame_of(name, 1), ax=ax)


@each_chart
def test_counts_of_rows_have_limits(name: str) -> None:
    function = getattr(charts, name)
    for parameter in {"top", "max_pages", "max_images", "max_sections"} & inspect.signature(
        function
    ).parameters.keys():
        for wrong in (-1, 10_000, 2.5, "3", True, None):
            with pytest.raises(
                ParameterError, match=f"`{parameter}` parameter must be an integer from"
            ) as caught:
                draw(name, frame_of(name, 1), **{parameter: wrong})
            assert caught.value.parameter == parameter


@each_chart
@pytest.mark.parametrize("face", ["#000000", "#1e1e1e", "#383838", "none", "#f8f8f8", "white"])
def test_what_is_written_around_the_axes_can_be_read(name: str, face: str) -> None:
    with mpl.rc_context({"text.color": "#222222", "axes.labelcolor": "#222222", "ytick.color": "#222222"}):
        figure = Figure(facecolor=face, layout="constrained", figsize=(8, 5))
        ax = draw(name, frame_of(name, 4), ax=figure.subplots())
    outside = [ax._left_title, ax.xaxis.label, *ax.get_yticklabels(), *ax.get_xticklabels()]
    outside += [text for text in ax.texts if text.xycoords == "axes fraction"]
    written = [text for text in outside if text.get_text()]
    for text, paper in itertools.product(written, ["#000000", "#ffffff"] if face == "none" else [face]):
        assert contrast(to_hex(text.get_color()), paper) >= 4.5, text
    assert to_hex(ax.get_facecolor()) == "#ffffff"


@each_chart
def test_a_figure_of_its_own_is_an_opaque_card(name: str) -> None:
    ax = draw(name, frame_of(name, 2))
    assert ax.figure.get_facecolor() == (1, 1, 1, 1)


@each_chart
def test_side_by_side_in_a_figure_of_the_users(name: str) -> None:
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    assert draw(name, frame_of(name, 5), ax=right) is right
    assert not [*left.patches, *left.texts, *left.lines]
    figure.savefig("/dev/null", format="rgba")
