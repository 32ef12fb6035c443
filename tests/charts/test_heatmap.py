"""The heat map of keywords and pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes

from tests.charts.reading import labels, note, texts, title
from webanalytics.charts import keyword_heatmap
from webanalytics.errors import ParameterError

Picture = Callable[[Axes], Any]
ROWS = [("/a", "lamp", 5), ("/a", "oil", 1), ("/b", "lamp", 4), ("/b", "wick", 7), ("/c", "boat", 1)]


def frame_of(rows: list[tuple[str, str, int]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["url", "keyword", "frequency"])


def cells(ax: Axes) -> list[list[float]]:
    (image,) = ax.images
    return image.get_array().tolist()


def pages(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_xticklabels()]


def test_keywords_by_page(picture: Picture) -> None:
    ax = keyword_heatmap(frame_of(ROWS))
    assert labels(ax) == ["lamp", "wick", "oil", "boat"]  # 9, 7, 1 and 1 in all
    assert pages(ax) == ["/a", "/b", "/c"]
    assert cells(ax) == [[5, 4, 0], [0, 7, 0], [1, 0, 0], [0, 0, 1]]
    assert texts(ax)[:5] == ["5", "4", "7", "1", "1"]
    assert title(ax) == "4 keywords by page, on 3 pages"
    picture(ax)


def test_the_pages_that_use_the_keywords_most_in_the_frames_order() -> None:
    ax = keyword_heatmap(frame_of([("/z", "boat", 1), *ROWS]), top=2, max_pages=2)
    assert (labels(ax), pages(ax)) == (["lamp", "wick"], ["/a", "/b"])
    assert note(ax) == "the 2 of 4 pages that use them most"


def test_an_audit_frame_gives_the_same() -> None:
    maps = [{"lamp": 5, "oil": 1}, {"lamp": 4, "wick": 7}, {"boat": 1}]
    ax = keyword_heatmap(pd.DataFrame({"url": ["/a", "/b", "/c"], "keywords": maps}))
    assert cells(ax) == cells(keyword_heatmap(frame_of(ROWS)))


def test_metadata_keywords_are_no_frequencies() -> None:
    with pytest.raises(ParameterError, match=r"maps of frequencies .* webanalytics\.audit"):
        keyword_heatmap(pd.DataFrame({"url": ["/a"], "keywords": ["lamp, oil"]}))


def test_pages_without_a_url_are_told_apart_by_their_rows() -> None:
    frame = frame_of([("", "lamp", 2), ("", "oil", 1), ("", "lamp", 4)])
    frame.index = [0, 0, 1]
    ax = keyword_heatmap(frame)
    assert (pages(ax), cells(ax)) == (["row 0", "row 1"], [[2, 4], [1, 0]])


def test_the_largest_map(picture: Picture) -> None:
    rows = [(f"/p{page}", f"word{word}", 1 + page * word) for page in range(45) for word in range(110)]
    ax = keyword_heatmap(frame_of(rows), top=100, max_pages=40)
    assert (len(labels(ax)), len(pages(ax))) == (100, 40)
    assert note(ax).endswith("darker is more often, up to 4,797 times")  # 1 + 44 * 109
    assert len(texts(ax)) == 1
    picture(ax)


def test_thousands_are_written_short() -> None:
    assert texts(keyword_heatmap(frame_of([("/a", "lamp", 4797), ("/b", "lamp", 999)])))[:2] == ["5k", "999"]
