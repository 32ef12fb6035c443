"""Days that a text names: machine-readable dates, and lines of text in many languages."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from babel.dates import format_date
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.page.text.dates import days_in, parse_date

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


@pytest.mark.parametrize(
    ("line", "language"),
    [
        *(("4. Mai 2022", "de"), ("Berlin, den 04.05.2022, 10:15 Uhr", "de"), ("Von Anna | 4.5.2022", "de")),
        *(
            ("May 4, 2022", "en"),
            ("Posted on May 4th, 2022 by Ann", "en"),
            ("Wed 4 May 2022 10.00 BST", "en"),
        ),
        *(
            ("4 mai 2022 à 10h", "fr"),
            ("Publicado el 4 de mayo de 2022", "es"),
            ("Miércoles, 4 Mayo 2022", "es"),
        ),
        *(
            ("4 maggio 2022", "it"),
            ("4 de maio de 2022", "pt"),
            ("4 maja 2022", "pl"),
            ("4 мая 2022 г.", "ru"),
        ),
        *(
            ("2022年5月4日", "ja"),
            ("2022년 5월 4일", "ko"),
            ("2022-05-04", "sv"),
            ("04/05/2022", "it"),
            ("4 mei 2022", "nl"),
        ),
        *(("4. května 2022", "cs"), ("4 Mayıs 2022", "tr"), ("4 Μαΐου 2022", "el"), ("May 4, 2022", "ja")),
        # As Intl.DateTimeFormat of ICU 78 writes that day.
        *(("4. 5. 2022", "cs"), ("04. 05. 2022.", "hr"), ("2022. május 4., szerda", "hu"), ("2022 m. gegužės 4 d.", "lt")),
        *(("الأربعاء، ٤ مايو ٢٠٢٢", "ar"), ("٤\u200f/٥\u200f/٢٠٢٢", "ar"), ("۴ مهٔ ۲۰۲۲", "fa"), ("۲۰۲۲/۵/۴", "fa")),
        *(("4 मई 2022", "hi"), ("৪ মে, ২০২২", "bn")),
        # As Unicode's CLDR has it; Thai pages count years by the Buddhist era.
        *(("2022. gada 4. maijs", "lv"), ("2022 թ. մայիսի 4", "hy"), ("2022\u202fж. 4 мамыр", "kk"), ("2022-ж., 4-май", "ky")),
        *(("4-may, 2022", "uz"), ("4 مئی، 2022", "ur"), ("4 พ.ค. 2022", "th"), ("4 พฤษภาคม ค.ศ. 2022", "th")),
        *(("4 พฤษภาคม 2565", "th"), ("4 tháng 5, 2022", "vi"), ("Thứ Tư, ngày 4 tháng 5 năm 2022", "vi")),
        *(("2022. 5. 4.", "ko"), ("4 ta’ Mejju 2022", "mt"), ("4 ພ.ພ. 2022", "lo")),
    ],
)  # fmt: skip
def test_datelines(line: str, language: str) -> None:
    assert days_in(line, language) == {DAY}


@pytest.mark.parametrize("language", ["en", "de", "nl", "es", "it", "pt", "ca", "da", "sv", "nb", "hr", "hu"])
def test_december_is_no_word_of_that_stands_before_a_month(language: str) -> None:
    december = format_date(date(2021, 12, 22), "d MMMM y", language)
    assert days_in(december, language) == {date(2021, 12, 22)}


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("04/05/2022", "en"),
        ("Tea in 2022", "en"),
        ("4 cups of 2022", "en"),
        ("31 February 2022", "en"),
        ("1.2.2022.3", "de"),
        ("4. Mai 1848", "de"),
        ("12 May 20221", "en"),
        ("4 May 2565", "en"),
    ],
)
def test_what_is_no_dateline(line: str, language: str) -> None:
    assert days_in(line, language) == set()
