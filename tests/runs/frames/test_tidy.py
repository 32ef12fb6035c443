"""The tidy frame of keywords: distinctiveness over the frame, and places."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.arrow import declared

LAMPS = (
    "Brass lamps burn oil, and lamps of tin burn paraffin: every lamp here is sold with the oil it burns. "
)
TIDES = "Tides rise twice a day because the moon pulls at the sea, and the sea follows the moon around us. "


def page(text: str, title: str = "", heading: str = "", description: str = "") -> str:
    return (
        f"<html lang=en><title>{title}</title><meta name=description content='{description}'>"
        f"<h1>{heading}</h1><p>{text}"
    )


def frame_of(*pages: str, **more: list[str]) -> pd.DataFrame:
    urls = [f"https://a.example/{number}" for number in range(len(pages))]
    return pd.DataFrame({"url": urls, "html": pages, **more})


def counted(*pages: str, **settings: object) -> pd.DataFrame:
    return wa.keywords(frame_of(*pages), progress=False, **settings)  # type: ignore[arg-type]


def g2(here: int, size: int, elsewhere: int, rest: int) -> float:
    expected = size * (here + elsewhere) / (size + rest), rest * (here + elsewhere) / (size + rest)
    pairs = zip((here, elsewhere), expected, strict=True)
    return 2 * sum(found * math.log(found / much) for found, much in pairs if found)


def of(frame: pd.DataFrame, page: int, keyword: str) -> pd.Series:
    url = f"https://a.example/{page}"
    (row,) = frame[(frame["url"] == url) & (frame["keyword"] == keyword)].to_dict("records")
    return pd.Series(row)


def test_distinctiveness_is_that_of_the_whole_frame() -> None:
    lamps, tides, both = page(LAMPS * 2), page(TIDES * 2), page(LAMPS + TIDES)
    frame = counted(lamps, tides, both)
    words = {0: 2 * len(LAMPS.split()), 1: 2 * len(TIDES.split()), 2: len((LAMPS + TIDES).split())}
    lamps_row = of(frame, 0, "lamps")
    assert (lamps_row["frequency"], lamps_row["density"]) == (4, 4 / words[0])
    assert lamps_row["distinctiveness"] == pytest.approx(g2(4, words[0], 2, words[1] + words[2]))
    shared = of(frame, 2, "lamps")
    # 2 of 39 words here and 4 of 78 elsewhere or nearly so: no more than elsewhere
    assert abs(shared["distinctiveness"]) < 0.1


def test_keywords_below_the_top_of_other_pages_count() -> None:
    pages = page(LAMPS * 2), page(TIDES * 5 + "lamps lamps")
    full, short = counted(*pages), counted(*pages, top=2)
    shown = short[short["url"] == "https://a.example/0"].set_index("keyword")["distinctiveness"]
    assert len(shown) == 2
    assert "lamps" not in set(short[short["url"] == "https://a.example/1"]["keyword"])
    for keyword, value in shown.items():
        assert of(full, 0, str(keyword))["distinctiveness"] == value


def test_a_page_given_twice_is_one_page() -> None:
    pages = frame_of(page(LAMPS), page(TIDES), page(LAMPS))
    pages.loc[2, "url"] = pages.loc[0, "url"]
    twice = wa.keywords(pages, progress=False).loc[0]
    once = wa.keywords(pages.head(2), progress=False).loc[0]
    assert twice["distinctiveness"].tolist() == once["distinctiveness"].tolist()


def test_a_single_page_has_no_distinctiveness() -> None:
    assert counted(page(LAMPS))["distinctiveness"].isna().all()
    assert counted(page(LAMPS), "")["distinctiveness"].isna().all()


def test_places() -> None:
    frame = counted(page(LAMPS, "Lamps & oil", "Brass", "Sold: lamps"), page("Short lamps"))
    lamps, brass = of(frame, 0, "lamps"), of(frame, 0, "brass")
    places = ["in_title", "in_h1", "in_description", "in_first_paragraph"]
    assert lamps[places].tolist() == [True, False, True, True]
    assert brass[places].tolist() == [False, True, False, True]
    other = of(frame, 1, "lamps")
    assert other[places[:3]].tolist() == [False, False, False]
    assert pd.isna(other["in_first_paragraph"])  # nothing on the page is long enough for a paragraph
    assert frame[places].dtypes.astype(str).tolist() == ["boolean"] * 4


def test_places_of_phrases() -> None:
    frame = counted(page(LAMPS, "Brass lamps in stock"), page(TIDES), ngrams=2)
    assert of(frame, 0, "brass lamps")["in_title"]
    assert not of(frame, 0, "burn oil")["in_title"]


def test_order_is_by_frequency_then_appearance() -> None:
    frame = counted(page(LAMPS), page(TIDES))
    first = frame[frame["url"] == "https://a.example/0"]
    assert first["rank"].tolist() == list(range(1, len(first) + 1))
    assert first["frequency"].is_monotonic_decreasing
    # all twice or more in LAMPS, in the order of their first words: lamps, burn; the rest once
    assert first["keyword"].tolist()[:2] == ["lamps", "burn"]


def test_without_details() -> None:
    frame = counted(page(LAMPS), page(TIDES), details=False)
    assert frame["distinctiveness"].isna().all()
    assert frame["in_title"].isna().all()
    full = counted(page(LAMPS), page(TIDES))
    assert frame.dtypes.equals(full.dtypes)
    assert frame["keyword"].equals(full["keyword"])


def test_failed_pages_keep_their_row() -> None:
    frame = wa.keywords(["no address"], progress=False)
    assert (len(frame), frame["keyword"].tolist()) == (1, [""])
    assert frame[["distinctiveness", "in_title", "in_h1", "source", "frequency"]].isna().all(axis=None)


def test_the_source_is_checked_before_any_work() -> None:
    with pytest.raises(ParameterError, match="`source` parameter must be one of: main, page"):
        wa.keywords(["https://a.example/"], source="menu")  # type: ignore[arg-type]


def test_every_column_is_declared() -> None:
    frame = counted(page(LAMPS, "Lamps"), page(TIDES))
    assert set(frame.columns) <= set(declared("keywords"))
