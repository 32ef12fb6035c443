"""Words of a text in any script."""

from __future__ import annotations

import importlib.util
import re
import sys
import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import effort_since
from webanalytics.core.strings import OTHER_SCRIPT
from webanalytics.page.keywords import segmentation
from webanalytics.page.keywords.segmentation import bare, folded, letters, segment, text_language
from webanalytics.page.page import Page

needs_segmenter = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ["icu4py", "rjieba"])),
    reason='a word segmenter is not installed: in the clone, pip install ".[cjk]"',
)


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "Don’t STOP — it's 24/7, e-mail_me!", ["don't", "stop", "it's", "e-mail", "me"]),
        ("en", "see HTTPS://a.example/tea?x=cup#pot, or tea.example", ["see", "or", "tea", "example"]),
        ("en", "https protects, http too", ["https", "protects", "http", "too"]),
        ("en", "covid19 x² Ⅷ ½ 5G 24/7 2024", ["covid19", "x", "5g"]),
        (
            "en",
            "Insta360 HDR10 iPhone15 Python3 WH-1000XM5",
            ["insta360", "hdr10", "iphone15", "python3", "wh-1000xm5"],
        ),
        ("en", "C++, C# and .NET: R&D at AT&T.", ["c++", "c#", "and", ".net", "r&d", "at", "at&t"]),
        (
            "en",
            "Wi-Fi x-ray US-state end.net a+b a&b&c",
            ["wi-fi", "x-ray", "us", "state", "end", "net", "a", "b", "a", "b", "c"],
        ),
        (
            "de",
            "Bürger:innen Bürger*in Leser/innen Kund·innen Bürger_innen 10:in und/oder",
            ["bürger:innen", "bürger*in", "leser/innen", "kund·innen", "bürger_innen", "in", "und", "oder"],
        ),
        (
            "fr",
            "auteur·rice étudiant·es étudiant·e·s auteur.rice fini.ne a·b",
            ["auteur·rice", "étudiant·es", "étudiant·e·s", "auteur.rice", "fini", "ne", "a", "b"],
        ),
        ("en", "rock'n'roll 'quoted' o’ clock'", ["rock'n'roll", "quoted", "o", "clock"]),
        ("de", "Straße STRASSE Silben\u00adtrennung", ["straße", "strasse", "silbentrennung"]),
        ("fr", "L’ÉTÉ e\u0301te\u0301", ["l'été", "été"]),
        ("tr", "IŞIK İzmir ILIK", ["ışık", "izmir", "ılık"]),
        # SpecialCasing of Unicode for tr and az: a dot above takes the I with it, and does not matter after an i
        ("tr", "I\u0307zmir I\u015eIK ILIK ILIK\u0327", ["izmir", "ışık", "ılık", "ılıķ"]),
        ("az", "I\u0307stanbul", ["istanbul"]),
        ("en", "İzmir", ["izmir"]),
        # UAX 29: the class MidNumLet has these apostrophes, too
        ("en", "don\u2018t O\uff07Neil rock \u2018n\u2019 roll", ["don't", "o'neil", "rock", "n", "roll"]),
        ("el", "ΟΔΥΣΣΕΥΣ ΣΟΦΟΣ.", ["οδυσσευς", "σοφος"]),
        ("ca", "col·lecció Home·About", ["col·lecció", "home", "about"]),
        ("hi", "हिन्दी की राजभाषा।", ["हिन्दी", "की", "राजभाषा"]),
        ("ta", "தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("ar", "اللُّغَة العربية،", ["اللُّغَة", "العربية"]),
        ("fa", "می\u200cخواهم", ["می\u200cخواهم"]),
        ("he", "צה״ל ג׳ורג׳", ["צה״ל", "ג׳ורג"]),
        ("uk", "комп’ютер", ["комп'ютер"]),
        ("ko", "검색 엔진", ["검색", "엔진"]),
        ("vi", "tiếng Việt", ["tiếng", "việt"]),
        ("en", "", []),
        ("en", "123 😀 --- ' ’", []),
    ],
)
def test_words(language: str, text: str, words: list[str]) -> None:
    expected = [folded(word, language) for word in words]  # The words above may be typed decomposed.
    assert segment(text, language).words == expected
    assert segment(text, language, in_runs=False).words == expected


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("one two. three", [["one", "two"], ["three"]]),
        ("one\ntwo", [["one"], ["two"]]),
        ("one  \u00a0 two", [["one", "two"]]),
        ("top 10 hotels", [["top"], ["hotels"]]),
        ("red, green", [["red"], ["green"]]),
        ("well-known\u2011fact", [["well", "known", "fact"]]),
        ("home - about", [["home"], ["about"]]),
        ("our tea http://a.example keeps", [["our", "tea"], ["keeps"]]),
        ("rock 'n' roll", [["rock"], ["n"], ["roll"]]),
    ],
)
def test_runs_end_where_words_do_not_stand_side_by_side(text: str, runs: list[list[str]]) -> None:
    assert [run.words for run in segment(text).runs] == runs


@needs_segmenter
@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("zh", "网站，客户服务。", ["网站", "客户服务"]),
        ("ja", "東京の観光情報です。", ["東京", "の", "観光", "情報", "です"]),
        ("ja", "新しいパーティションを作成", ["新しい", "パーティション", "を", "作成"]),
        ("ja", "ディストリビューションとリポジトリ", ["ディストリビューション", "と", "リポジトリ"]),
        ("th", "ประเทศไทยมีกรุงเทพมหานคร", ["ประเทศไทย", "มี", "กรุงเทพมหานคร"]),
        ("km", "ភ្នំពេញជារាជធានី", ["ភ្នំពេញ", "ជា", "រាជធានី"]),
        ("lo", "ວຽງຈັນເປັນນະຄອນຫຼວງ", ["ວຽງຈັນ", "ເປັນ", "ນະຄອນຫຼວງ"]),
        ("zh", "用Python做SEO优化 2024", ["用", "python", "做", "seo", "优化"]),
        ("en", "The word 网站 is Chinese", ["the", "word", "网站", "is", "chinese"]),
        ("en", "The word 観光の is not", ["the", "word", "観光", "の", "is", "not"]),
    ],
)
def test_scripts_without_spaces(language: str, text: str, words: list[str]) -> None:
    found = segment(text, language)
    assert (found.words, found.unread) == (words, 0)


def test_without_a_segmenter_they_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "word_breaker", lambda locale: None)
    found = segment("用Python做SEO优化", "zh")
    assert (found.words, found.unread) == (["python", "seo"], 4)


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    found = segment(text, "en")
    assert found.words == segment(text, "en", in_runs=False).words
    assert all(run.words for run in found.runs)
    assert all(word == word.lower() or not word.isascii() for word in found.words)
    if text.isascii() and not set("'&+#.-:*") & set(text):
        # Without signs and accents a word is a stretch of letters and digits that has a letter.
        stretches = re.findall("[0-9a-z]+", text.lower())
        assert found.words == [word for word in stretches if not word.isdigit()]


@pytest.mark.parametrize(
    ("language", "word", "expected"),
    [
        ("en", "people's", "people"),
        ("nl", "foto's", "foto's"),  # a plural: Taalunie, Leidraad 7.1
        ("en", "o'reilly", "o'reilly"),
        ("fr", "l'homme", "homme"),
        ("fr", "jusqu'aujourd'hui", "aujourd'hui"),
        ("fr", "aujourd'hui", "aujourd'hui"),
        ("it", "dell'arte", "arte"),
        ("ca", "d'aigua", "aigua"),
        ("en", "l'homme", "l'homme"),
        ("uk", "комп'ютер", "комп'ютер"),
    ],
)
def test_bare_words(language: str, word: str, expected: str) -> None:
    assert bare(word, language) == expected


def test_letters() -> None:
    assert [letters(word) for word in ("word", "don't", "한국", "検索", "検", "été")] == [4, 4, 4, 4, 0, 3]


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang='pt-BR'><body>1", "pt"),
        ("<html><body>1", "en"),
    ],
)
def test_language_falls_back_on_the_declared_one(html: str, language: str) -> None:
    assert text_language(Page(html)) == language


@pytest.mark.parametrize(
    "text",
    [
        "a" * 4_000_000,
        "a-" * 500_000,
        "a'" * 500_000,
        "l·" * 500_000,
        "a" + "\u0301" * 3_000_000,
        "- " * 10**6,
        "1" * 4_000_000,
        "a&" * 200_000,
        "a+" * 200_000,
        "ab-" * 200_000,
        "a:in" * 200_000,
        "http" * 200_000 + "://" * 200_000,
    ],
    ids=[
        "letters",
        "hyphens",
        "apostrophes",
        "dots",
        "marks",
        "dashes",
        "digits",
        "ands",
        "pluses",
        "short hyphens",
        "gendered",
        "addresses",
    ],
)
def test_hostile_text_takes_little_time(text: str) -> None:
    start = time.process_time()
    segment(text)
    assert effort_since(start) < 2


@pytest.mark.parametrize(
    ("word", "counted"), [("せん", 1), ("って", 1), ("灯り", 4), ("ランプ", 6), ("ひまわり", 8), ("検索", 4)]
)
def test_japanese_endings_are_no_words_of_their_own(word: str, counted: int) -> None:
    assert letters(word) == counted


def test_the_engines_agree_on_all_characters_that_one_of_them_reads_alone() -> None:
    pairs = [(r"[^\W\d_]", r"\p{L}"), (r"\d", r"\p{Nd}"), (r"[^\W_]", r"[\p{L}\p{M}\p{Nd}]"), (r"\w", r"\w")]
    known = [chr(code) for code in range(sys.maxunicode + 1) if not OTHER_SCRIPT.search(chr(code))]
    assert len(known) > 4_000
    for one, other in pairs:
        assert [c for c in known if re.match(one, c)] == [c for c in known if regex.match(other, c)]
