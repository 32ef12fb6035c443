"""Dates of a page."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.analysis.page.page import Page
from webanalytics.analysis.text import dates
from webanalytics.analysis.text.dates import page_dates, parse_date

DAY = date(2022, 5, 4)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "2022-05-04",
            "2022-05-04T23:59:59-11:00",
            "2022-05-04 01:00:00 UTC",
            " 2022-05-04T01:00Z",
            "2022/5/4",
        ),
        *(
            "2022.05.04",
            "20220504",
            "20220504T120000Z",
            "Wed, 04 May 2022 12:00:00 GMT",
            "4 May 2022 10:00:00 +0200",
        ),
    ],
)
def test_machine_readable_dates(text: str) -> None:
    assert parse_date(text) == DAY


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            "yesterday",
            "04 mayo 2022",
            "2022",
            "2022-05",
            "2022-13-01",
            "2022-02-30",
            "0000-00-00",
            "1900-01-01",
        ),
        *(
            "2022-05-045",
            "202205041",
            "20220504123",
            None,
            1651622400,
            ["2022-05-04"],
            "9999-12-31",
            "Wed, 99 May 2022",
        ),
    ],
)
def test_what_is_no_date(value: object) -> None:
    assert parse_date(value) is None


def test_no_date_is_later_than_tomorrow() -> None:
    today = date.today()
    assert parse_date((today + timedelta(days=1)).isoformat()) == today + timedelta(days=1)
    assert parse_date((today + timedelta(days=2)).isoformat()) is None


@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    day = parse_date(text)
    assert day is None or day.year >= 1990


@given(st.dates(date(1990, 1, 1), date(2024, 12, 31)))
def test_iso_dates_come_back(day: date) -> None:
    assert parse_date(day.isoformat()) == day


def jsonld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@pytest.mark.parametrize(
    ("markup", "published", "modified"),
    [
        (jsonld('{"@type":"NewsArticle","datePublished":"2022-05-04T01:00:00Z","dateModified":"2022-05-06"}'),
         "2022-05-04", "2022-05-06"),
        # The article goes before the page around it, and what is not the page has no say.
        (jsonld('[{"@type":"WebPage","datePublished":"2021-01-01"},{"@type":["Thing","BlogPosting"],"datePublished":"2022-05-04"}]'),
         "2022-05-04", None),
        (jsonld('[{"@type":"Review","datePublished":"2021-01-01"},{"@type":"Recipe","datePublished":"2022-05-04"}]'),
         "2022-05-04", None),
        (jsonld('{"@type":"VideoObject","uploadDate":"2022-05-04"}'), "2022-05-04", None),
        (jsonld('{"@type":"Article","datePublished":"soon"}') + '<meta name=date content="2022-05-04">', "2022-05-04", None),
        ('<meta property="article:published_time" content="2022-05-04T01:00:00+00:00">'
         '<meta property="og:updated_time" content="2022-05-05">', "2022-05-04", "2022-05-05"),
        ('<meta name="DC.date.issued" content="2022-05-04">', "2022-05-04", None),
        ('<meta itemprop=datePublished content="2022-05-04">', "2022-05-04", None),
        ('<time itemprop="datePublished dateModified" datetime="2022-05-04">4 May</time>', "2022-05-04", "2022-05-04"),
        ("<span itemprop=dateModified>2022-05-04</span><p>x", None, "2022-05-04"),
    ],
)  # fmt: skip
def test_sources(markup: str, published: str | None, modified: str | None) -> None:
    assert page_dates(Page(markup)) == {"published": published, "modified": modified}


def test_address() -> None:
    page = Page("<p>Tea", "https://example.org/2022/05/04/tea.html")
    assert page_dates(page) == {"published": "2022-05-04", "modified": None}


@pytest.mark.parametrize(
    "markup", ["<p>Tea", "<p>Tea in 1848", jsonld("[]"), "<meta name=date content=never>"]
)
def test_no_date_is_made_up(markup: str) -> None:
    assert page_dates(Page(markup)) is None


def test_large_pages_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("<p>Tea", "https://example.org/2022/05/04/tea.html")
    monkeypatch.setattr(dates, "MAX_ELEMENTS", 1)
    assert page_dates(page) is None


# Read by eye on the saved pages: the line under the headline, or the page's own declaration.
KNOWN = {
    "bayrische-bembel.de.504.html": "2015-08-25",
    "tomshardware.com.rtx.html": "2020-11-04",
    "oekonomenstimme.org.keynes.html": "2015-01-21",
    "focus.de.leasen.html": "2018-07-06",
    "hss.de-Regierung.html": "2021-11-03",
    "nnz-online.de-Quantensprung.html": "2023-11-06",
    "spox.com-corona-fealle.html": "2022-02-04",
}


def test_corpus(corpus_pages: dict[str, bytes]) -> None:
    found = {name: page_dates(Page(content)) for name, content in corpus_pages.items()}
    for name, day in KNOWN.items():
        assert (found[name] or {})["published"] == day
    assert sum(dates is not None for dates in found.values()) >= 80
    today = date.today().isoformat()
    days = [day for dates in found.values() if dates for day in dates.values() if day]
    assert all("1990-01-01" <= day < today for day in days)
