"""The keyword chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from webanalytics.errors import ParameterError
from webanalytics.notebook.charts import keywords

Picture = Callable[[Axes], Any]
A, B = "https://a.example/", "https://a.example/b"


def tidy(rows: list[tuple[str, str, int]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["url", "keyword", "frequency"])
    return frame.assign(status="ok", error=None, error_type=None)


@pytest.fixture
def site() -> pd.DataFrame:
    return tidy([(A, "lamp", 5), (A, "wick", 3), (A, "oil", 1), (B, "wick", 4), (B, "boat", 1)])


def labels(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def widths(ax: Axes) -> list[float]:
    return [bar.get_width() for bar in ax.patches]


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_a_whole_site_adds_up(site: pd.DataFrame, picture: Picture) -> None:
    ax = keywords(site)
    # wick 3 + 4; then lamp; of oil and boat, with one each, oil came first
    assert labels(ax) == ["wick", "lamp", "oil", "boat"]
    assert widths(ax) == [7, 5, 1, 1]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # so the first is at the top
    assert ax.get_title(loc="left") == "Keywords of 2 pages"
    assert "7  (2 pages)" in texts(ax)
    assert "5  (1 page)" in texts(ax)
    picture(ax)


def test_one_page(site: pd.DataFrame, picture: Picture) -> None:
    ax = keywords(site, url=B)
    assert (labels(ax), widths(ax)) == (["wick", "boat"], [4, 1])
    assert ax.get_title(loc="left") == "Keywords of /b"
    picture(ax)


def test_top_and_title(site: pd.DataFrame) -> None:
    ax = keywords(site, top=2, title="Mine")
    assert labels(ax) == ["wick", "lamp"]
    assert ax.get_title(loc="left") == "Mine"


def test_a_page_listed_twice_counts_once(site: pd.DataFrame) -> None:
    assert widths(keywords(pd.concat([site, site]))) == [7, 5, 1, 1]


def test_an_audit_frame_gives_the_same(site: pd.DataFrame) -> None:
    audit = pd.DataFrame(
        {
            "url": [A, B, A],
            "keywords": [{"lamp": 5, "wick": 3, "oil": 1}, {"wick": 4, "boat": 1}] * 1 + [{"lamp": 5}],
        }
    )
    ax = keywords(audit)
    assert (labels(ax), widths(ax)) == (["wick", "lamp", "oil", "boat"], [7, 5, 1, 1])


def test_an_audit_frame_whose_rows_failed(picture: Picture) -> None:
    audit = pd.DataFrame(
        {"url": [A, B], "keywords": [None, float("nan")], "status": "error", "error_type": ["dns", "http"]}
    )
    ax = keywords(audit)
    assert not ax.patches
    assert texts(ax) == ["No keywords on these pages.", "2 failed (1 dns, 1 http)"]
    picture(ax)


def test_empty_frame(picture: Picture) -> None:
    ax = keywords(tidy([]))
    assert not ax.patches
    assert texts(ax) == ["No pages, so no keywords."]
    picture(ax)


def test_a_failed_page_gives_its_reason(picture: Picture) -> None:
    frame = tidy([(A, "", 0)]).assign(
        status="error", error="The `url` parameter names no host.", error_type="dns"
    )
    ax = keywords(frame)
    assert texts(ax) == ["The `url` parameter names no host."]
    picture(ax)


def test_a_page_without_keywords(picture: Picture) -> None:
    frame = pd.DataFrame({"url": [A], "keyword": [None], "frequency": [None], "status": "ok"})
    assert texts(keywords(frame)) == ["No keywords on this page."]


def test_one_bar(picture: Picture) -> None:
    ax = keywords(tidy([(A, "lamp", 1)]))
    assert (labels(ax), widths(ax)) == (["lamp"], [1])
    picture(ax)


def test_ten_thousand_rows(picture: Picture) -> None:
    ax = keywords(
        tidy([(f"https://a.example/{n % 500}", f"word{n // 500}", 20 - n // 500) for n in range(10_000)])
    )
    assert labels(ax) == [f"word{n}" for n in range(15)]
    assert widths(ax)[0] == 500 * 20
    picture(ax)


def test_labels_from_anywhere(picture: Picture) -> None:
    words = [
        "donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
        "مصباح العاصفة",
        "灯台の灯り",
        "$x_1$ and $y^2$",
        "नमस्ते",
        "𓀀",
    ]
    ax = keywords(tidy([(A, word, 9) for word in words]))
    assert len(labels(ax)) == len(words)
    assert "…" in labels(ax)[0]
    assert labels(ax)[0].endswith("gesellschaft")
    assert labels(ax)[3] == "$x_1$ and $y^2$"
    picture(ax)


def test_half_a_surrogate_pair(picture: Picture) -> None:
    ax = keywords(pd.DataFrame({"url": [A], "keywords": [{"\ud800\n\x00": 2, "lamp": 1}]}))
    assert labels(ax) == ["\ufffd", "lamp"]
    picture(ax)


def test_draws_where_it_is_told(site: pd.DataFrame, picture: Picture) -> None:
    left, right = Figure(figsize=(12, 4), layout="constrained").subplots(1, 2)
    assert keywords(site, ax=right) is right
    assert not left.patches
    assert len(right.patches) == 4


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [({"top": 0}, "top"), ({"url": "https://other.example/"}, "url")],
)
def test_wrong_arguments(site: pd.DataFrame, arguments: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        keywords(site, **arguments)
    assert caught.value.parameter == parameter


def test_an_unknown_url_lists_the_known_ones(site: pd.DataFrame) -> None:
    with pytest.raises(
        ParameterError, match=r"one of the frame's pages: https://a\.example/, https://a\.example/b\.$"
    ):
        keywords(site, url="x")


@pytest.mark.parametrize("columns", [["keyword", "frequency"], ["url", "keyword"], ["url"]])
def test_missing_columns(site: pd.DataFrame, columns: list[str]) -> None:
    with pytest.raises(ParameterError, match="`frame`"):
        keywords(site[columns])


def test_what_is_counted_of_each_page_is_said() -> None:
    most = [("https://a.example/1", f"word{number}", 2) for number in range(50)]
    rare = [("https://a.example/2", f"word{number}", 3) for number in range(4)]
    assert any("of at most 50 keywords a page" in text for text in texts(keywords(tidy(most + rare))))
    assert not any("keywords a page" in text for text in texts(keywords(tidy(most[:20] + rare))))
