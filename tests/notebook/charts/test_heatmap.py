"""The heat map of keywords and pages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes

from tests.notebook.charts.reading import labels, note, texts, title
from webanalytics.errors import ParameterError
from webanalytics.notebook.charts import keyword_heatmap
from webanalytics.page.keywords.keyness import UNLIKELY

Picture = Callable[[Axes], Any]
ROWS = [("/a", "lamp", 5), ("/a", "oil", 1), ("/b", "lamp", 4), ("/b", "wick", 7), ("/c", "boat", 1)]


def frame_of(rows: list[tuple[str, str, int]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["url", "keyword", "frequency"])


def colours(ax: Axes) -> list[list[float]]:
    (image,) = ax.images
    return image.get_array().tolist()


def pages(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_xticklabels()]


def test_keywords_by_page(picture: Picture) -> None:
    ax = keyword_heatmap(frame_of(ROWS))
    # in the order of the pages that each is most distinctive of: oil and lamp of /a, wick of /b, boat of /c
    assert labels(ax) == ["oil", "lamp", "wick", "boat"]
    assert pages(ax) == ["/a", "/b", "/c"]
    assert texts(ax)[:5] == ["1", "5", "4", "7", "1"]
    assert title(ax) == "4 keywords by page, on 3 pages"
    # wick: 7 of 11 on /b, 0 of 7 elsewhere, so 2 * 7 * ln(18 / 11)
    assert colours(ax)[2] == pytest.approx([UNLIKELY, 14 * math.log(18 / 11), UNLIKELY])
    assert note(ax) == "stronger is more distinctive, numbers are frequencies"
    picture(ax)


def test_the_distinctiveness_of_the_frame_is_drawn() -> None:
    frame = frame_of(ROWS).assign(distinctiveness=[12.0, 40.0, -3.0, None, 5.0])
    ax = keyword_heatmap(frame)
    assert labels(ax) == ["oil", "lamp", "wick", "boat"]
    assert colours(ax)[:2] == [[40, UNLIKELY, UNLIKELY], [12, UNLIKELY, UNLIKELY]]


@pytest.mark.parametrize("named", ["maps", "rows"])
def test_words_that_pages_share_whatever_they_are_about_are_left_out(named: str) -> None:
    words = {f"/{n}": {"help": 9, "tea": 3 + n % 4, f"leaf{n}": 5} for n in range(12)}
    if named == "maps":
        titles = ["Green tea", *["A cup of tea"] * 5, *["Leaves"] * 6]
        frame = pd.DataFrame({"url": list(words), "keywords": list(words.values()), "title": titles})
    else:
        frame = frame_of([(url, word, n) for url, found in words.items() for word, n in found.items()])
        frame["in_title"] = (frame["keyword"] == "tea") & (frame.index < 18)
    shown = labels(keyword_heatmap(frame, top=20, max_pages=20))
    assert "tea" in shown
    assert "help" not in shown
    unknown = frame.drop(columns=frame.columns[-1])
    assert "help" in labels(keyword_heatmap(unknown, top=20, max_pages=20))


def test_one_page_does_not_own_the_colours() -> None:
    rest = [(f"/p{page}", word, 6) for page in range(90) for word in (f"own{page}", "oil", "boat", "time")]
    ax = keyword_heatmap(frame_of([("/a", "lamp", 356), ("/a", "oil", 6), ("/b", "wick", 9), *rest]))
    (image,) = ax.images
    shade = {label: max(image.norm(row)) for label, row in zip(labels(ax), colours(ax), strict=True)}
    assert shade["lamp"] == 1
    assert shade["wick"] > 0.5  # as counts it would have 9 of 356


def test_no_page_takes_all_rows() -> None:
    busy = [("/a", f"word{number}", 50) for number in range(12)]
    frame = frame_of([*busy, *((f"/p{page}", f"other{page}", 3) for page in range(4))])
    assert sum(label.startswith("word") for label in labels(keyword_heatmap(frame, top=6))) == 2


def test_terms_of_several_pages_come_before_peculiarities_of_one() -> None:
    shared = [(f"/s{page}", "lamp", 9) for page in range(3)] + [(f"/s{page}", "oil", 9) for page in range(3)]
    frame = frame_of([*shared, *((f"/p{page}", f"other{page}", 12) for page in range(30))])
    assert set(labels(keyword_heatmap(frame, top=2))) == {"lamp", "oil"}


def test_the_pages_that_the_terms_tell_most_about_in_the_frames_order() -> None:
    rows = [("/z", "boat", 1), ("/z", "lamp", 1), ("/a", "lamp", 30), ("/b", "wick", 30), ("/b", "boat", 1)]
    ax = keyword_heatmap(frame_of(rows), top=2, max_pages=2)
    assert (labels(ax), pages(ax)) == (["lamp", "wick"], ["/a", "/b"])
    assert note(ax).startswith("2 of 3 pages")


def test_an_audit_frame_gives_the_same() -> None:
    maps = [{"lamp": 5, "oil": 1}, {"lamp": 4, "wick": 7}, {"boat": 1}]
    ax = keyword_heatmap(pd.DataFrame({"url": ["/a", "/b", "/c"], "keywords": maps}))
    assert colours(ax) == colours(keyword_heatmap(frame_of(ROWS)))


def test_an_address_that_redirects_to_a_page_of_the_frame_is_no_page() -> None:
    frame = frame_of([*ROWS, ("/old", "lamp", 5), ("/old", "oil", 1)])
    ends = [*(url for url, _, _ in ROWS), "/a", "/a"]
    assert pages(keyword_heatmap(frame.assign(final_url=ends))) == ["/a", "/b", "/c"]


def test_a_single_page_is_coloured_by_frequency() -> None:
    ax = keyword_heatmap(frame_of([("/a", "lamp", 50), ("/a", "oil", 10)]))
    assert colours(ax) == [[50], [10]]
    assert note(ax) == "stronger is more often"


def test_metadata_keywords_are_no_frequencies() -> None:
    with pytest.raises(ParameterError, match=r"maps of frequencies .* webanalytics\.audit"):
        keyword_heatmap(pd.DataFrame({"url": ["/a"], "keywords": ["lamp, oil"]}))


def test_pages_without_a_url_are_told_apart_by_their_rows() -> None:
    frame = frame_of([("", "lamp", 2), ("", "oil", 1), ("", "lamp", 4)])
    frame.index = [0, 0, 1]
    ax = keyword_heatmap(frame)
    assert (pages(ax), labels(ax)) == (["row 0", "row 1"], ["oil", "lamp"])
    assert texts(ax)[:3] == ["1", "2", "4"]


def test_the_largest_map(picture: Picture) -> None:
    rows = [(f"/p{page}", f"word{word}", 1 + page * word) for page in range(45) for word in range(110)]
    ax = keyword_heatmap(frame_of(rows), top=100, max_pages=40)
    assert (len(labels(ax)), len(pages(ax))) == (100, 40)
    assert note(ax).endswith("stronger is more distinctive")
    assert len(texts(ax)) == 1
    picture(ax)


def test_a_number_in_a_cell_takes_no_part_in_the_layout() -> None:
    ax = keyword_heatmap(frame_of([("/a", "lamp", 4), ("/b", "lamp", 9), ("/b", "oil", 2)]))
    inside = [text for text in ax.texts if text.get_text() in ("4", "9", "2")]
    assert len(inside) == 3
    assert not any(text.get_in_layout() for text in inside)


def test_thousands_are_written_short() -> None:
    assert texts(keyword_heatmap(frame_of([("/a", "lamp", 4797), ("/b", "lamp", 999)])))[:2] == ["5k", "999"]
