"""The report's chapters on texts: languages, readability, keywords, competing pages; and those left out."""

from __future__ import annotations

import pandas as pd

from tests.audits.report_data import readable, rows_of, shown, texts
from tests.audits.test_report import HOSTILE


def test_the_chapter_on_languages_counts_what_is_declared() -> None:
    pages = pd.DataFrame(
        {
            "url": list("abcdefgh"),
            "title": [f"Page {name}" for name in "abcdefgh"],
            "status": ["ok"] * 7 + ["error"],
            "language": ["de", "de", "de", "no", "en", None, "de", None],
            "lang": ["de-AT", "en_US", "", "nb", "EN", "fr", HOSTILE[2], None],
        }
    )
    document = shown(pages)
    assert rows_of(document, "languages") == [
        ["Language of the text", "Pages", "Declared so", "Not declared", "Declared otherwise"],
        ["de", "457%", "1", "1", f"en: 1, {HOSTILE[2].partition('-')[0].lower()[:40]}: 1Page bbPage gg"],
        ["en", "114%", "1", "0", "–"],
        ["no", "114%", "1", "0", "–"],
        ["undetermined", "114%", "–", "0", "–"],
    ]
    (chapter,) = document.xpath("//section[@aria-labelledby='languages']")
    assert "not read (1 page)" in chapter.text_content()
    assert chapter.xpath(".//a/@href") == ["#page-2", "#page-7"]
    assert document.xpath("//select[@name='language']/option/@value") == [
        "",
        "de",
        "no",
        "en",
        "undetermined",
    ]


def test_readability_is_by_scale_and_says_how_many_pages_it_is_of() -> None:
    pages = readable()
    document = shown(pages)
    heads, german, english = rows_of(document, "readability")
    names = ["middle school", "high school", "college", "post-graduate"]
    assert heads == ["Language and scale", "Pages", "Median", "Middle half", *names, "Hardest page"]
    quarters = pages["readability_score"][:4].quantile([0.25, 0.5, 0.75])
    assert german[1:4] == ["4", f"{quarters[0.5]:.1f}", f"{quarters[0.25]:.1f} – {quarters[0.75]:.1f}"]
    assert german[4:] == ["1", "1", "1", "1", "20.0https://a.example/2"]
    assert english[1:3] == ["2", "10.0"]
    assert english[4:] == ["1", "1", "·", "·", "12.0https://a.example/5"]
    text = document.xpath("//section[@aria-labelledby='readability']")[0].text_content()
    assert "6 of 8 pages can be judged" in text
    assert "Without a figure: no scale for the language (1 page), not read (1 page)." in " ".join(
        text.split()
    )


def test_keywords_are_those_of_most_pages_and_those_of_single_pages() -> None:
    pages = pd.DataFrame({"url": ["u0", "u1", "u2"], "title": ["Tea", None, "Pots"], "status": "ok"})
    keywords = pd.DataFrame(
        {
            "keyword": ["tea", "green tea", "pot", HOSTILE[2]],
            "pages": pd.array([2, 1, 3, 1], "Int64"),
            "frequency": [40, 12, 9, 8],
            "best_page": ["u0", "u0", "elsewhere", "u1"],
            "distinctiveness": [30.04, 41.0, None, 12.0],
            "in_title": pd.array([1, pd.NA, 0, 0], "Int64"),
            "in_h1": [0, 0, 0, 0],
        }
    )
    rows = rows_of(shown(pages, keywords=keywords), "keywords")
    assert rows == [
        ["Term", "Pages", "Times", "In titles", "In h1"],
        ["pot", "3", "9", "0", "0"],
        ["tea", "2", "40", "1", "0"],
        ["green tea", "1", "12", "–", "0"],
        [HOSTILE[2], "1", "8", "0", "0"],
        ["Best page", "Distinctive terms", "Strength"],
        ["Tea", "green tea, tea", "41.0"],
        ["u1", HOSTILE[2], "12.0"],
    ]


def test_words_of_many_texts_and_few_titles_are_no_subjects() -> None:
    pages = pd.DataFrame({"url": [f"u{row}" for row in range(40)], "title": "Lamps", "status": "ok"})
    keywords = pd.DataFrame(
        {
            "keyword": ["lassen", "lamp", "wick", "brass"],
            "pages": [38, 30, 20, 9],
            "frequency": [90, 80, 40, 20],
            "in_title": [1, 12, 0, 0],
            "in_h1": [2, 0, 4, 0],
        }
    )
    content = shown(pages, keywords=keywords)
    assert [row[0] for row in rows_of(content, "keywords")[1:]] == ["lamp", "wick", "brass"]
    assert "In many texts, and in few titles: lassen." in content.text_content()


def test_competing_pages_are_shown_with_their_evidence() -> None:
    pages = pd.DataFrame({"url": ["u0", "u1"], "title": ["Storm lantern", "<b>Lanterns"], "status": "ok"})
    found = pd.DataFrame(
        {
            "keyword": ["storm lantern"], "url": ["u0"], "rival": ["u1"], "score": [0.875],
            "places": ["title, h1, text"], "rival_places": ["title, text"],
            "frequency": [12], "rival_frequency": [1], "shared": ["storm, lantern"],
        }
    )  # fmt: skip
    rows = rows_of(shown(pages, cannibalisation=found), "cannibalisation")
    assert rows[1] == [
        "storm lanternshared: storm, lantern",
        "0.88",
        "Storm lanternu0title, h1, text, 12 times",
        "<b>Lanternsu1title, text",
    ]
    many = pd.concat([found] * 40, ignore_index=True)
    document = shown(pages, cannibalisation=many)
    assert len(rows_of(document, "cannibalisation")) == 26
    assert "and 15 more" in document.text_content()
    assert (
        "No two pages are about the same terms" in shown(pages, cannibalisation=found.head(0)).text_content()
    )


def test_chapters_of_which_nothing_is_known_are_left_out() -> None:
    document = shown(pd.DataFrame({"url": ["u"], "status": ["ok"]}), keywords=pd.DataFrame({"other": [1]}))
    assert not document.find_class("chapter")
    assert texts(document.xpath("//nav[@aria-label='Parts of the report']/a")) == [
        "Overview",
        "Issues",
        "Pages",
    ]
