"""Keywords: exact counts, the order, stop words in many languages."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.errors import ParameterError
from webanalytics.page.declarations.keywords import KEYWORDS
from webanalytics.page.keywords import segmentation
from webanalytics.page.keywords.keywords import analyse, count_keywords
from webanalytics.page.keywords.stopwords import chosen_stop_words, languages, stop_words_of
from webanalytics.page.page import Page

PAGE = """<html lang="en"><head><title>Tea</title><style>p{color:red}</style></head><body>
<h1>Green tea</h1><p>Green tea, from the leaves of the tea plant, is not black tea.</p>
<p>Leaves: 25 kinds of leaves. The plant's leaves.</p><script>var leaves = 1</script></body></html>"""


_SIGNS = re.compile(r"[\d&+#*:·]|[/_]in|\.net|(?<!\w)\w{1,2}-", re.IGNORECASE)


def _without_signs(text: str) -> str:
    """Return a text without the pieces whose digits, signs or short beginnings may be part of a word."""
    return " ".join(piece for piece in text.split() if not _SIGNS.search(piece))


def naive_words(text: str) -> list[str]:
    """Read words one character at a time: letters and marks, and an apostrophe between two of them."""
    text = re.sub("[’‘＇ʼ]", "'", unicodedata.normalize("NFC", text.lower())) + " "
    words, word = [], ""
    for position, character in enumerate(text):
        category = unicodedata.category(character)[0]
        inside = character == "'" and word and unicodedata.category(text[position + 1])[0] == "L"
        if category == "L" or (category == "M" and word) or inside:
            word += character
        else:
            words.append(word)
            word = ""
    return [word for word in words if word]


def test_corpus_counts_equal_a_naive_count(corpus_pages: dict[str, bytes]) -> None:
    for content in corpus_pages.values():
        text = _without_signs(Page(content).visible_text)
        if segmentation.UNSPACED.search(text):
            continue
        words = naive_words(text)
        found = count_keywords(text, "de", top=10**6, min_length=1, stop_words="none", max_length=10**6)
        expected: dict[str, int] = {}
        for word in words:
            word = word.removesuffix("'s")
            expected[word] = expected.get(word, 0) + 1
        assert dict(zip(found["keywords"], found["frequency"], strict=True)) == expected
        assert found["total_words"] == len(words)
        # By falling frequency; among equals the first to appear comes first.
        appeared = {word: rank for rank, word in enumerate(expected)}
        order = [(-times, appeared[word]) for word, times in zip(*_pairs(found), strict=True)]
        assert order == sorted(order)


def _pairs(found: Any) -> tuple[list[str], list[int]]:
    return found["keywords"], found["frequency"]


@given(
    st.lists(st.sampled_from(["tea", "Tea", "of", "leaf", "plant", ".", "\n", "7", "-"]), max_size=30),
    st.sampled_from([1, 2, 3]),
)
def test_ngrams_equal_a_naive_count(tokens: list[str], size: int) -> None:
    expected: dict[str, int] = {}
    runs, total = [[]], 0  # type: list[list[str]], int
    for token in tokens:
        runs[-1].append(token.lower()) if token.isalpha() else runs.append([])
    for run in runs:
        for start in range(len(run) - size + 1):
            gram = run[start : start + size]
            total += 1
            if gram[0] != "of" and gram[-1] != "of":
                expected[" ".join(gram)] = expected.get(" ".join(gram), 0) + 1
    found = count_keywords(" ".join(tokens), "en", ngrams=size, min_length=1, stop_words=["of"])
    assert dict(zip(*_pairs(found), strict=True)) == expected
    ranked = sorted(expected.items(), key=lambda item: -item[1])
    assert found["keywords"] == [gram for gram, _ in ranked]
    assert found["density"] == [times / total for _, times in ranked]


def test_analyse_gives_the_declared_fields() -> None:
    result = analyse(Page(PAGE, "https://a.example/x"), source="page")
    assert list(result) == [field.name for field in KEYWORDS.fields]
    # Visible words: green tea / green tea from the leaves of the tea plant is not black tea / leaves kinds
    # of leaves the plant's leaves: 22 in all.
    assert result == {
        "url": "https://a.example/x",
        "keywords": {"leaves": 4, "green": 2, "plant": 2, "black": 1, "kinds": 1},
        "density": {
            "leaves": 4 / 22,
            "green": 2 / 22,
            "plant": 2 / 22,
            "black": 1 / 22,
            "kinds": 1 / 22,
        },
        "places": {"title": [], "h1": ["green"], "description": []},  # no paragraph has 80 characters
        "counts": {"leaves": 4, "green": 2, "plant": 2, "black": 1, "kinds": 1},
        "source": "page",
        "note": "",
    }
    assert list(result["keywords"])[:3] == ["leaves", "green", "plant"]


def test_ngrams_of_a_page() -> None:
    found = analyse(Page(PAGE), ngrams=2, top=3, source="page")
    assert found["keywords"] == {"green tea": 2, "tea plant": 1, "black tea": 1}
    # Two words side by side: 1 in the heading; 1, 6 and 3 between the commas; 2 and 2 in the last block.
    assert list(found["density"].values()) == [2 / 15, 1 / 15, 1 / 15]
    assert found["places"]["h1"] == ["green tea"]
    assert len(found["counts"]) > 3


MENU = "<nav>" + "<a href=/x>Lampshop</a> <a href=/y>Cookies</a> " * 30 + "</nav>"
ARTICLE = "Tides rise and fall twice a day because the moon pulls at the sea. "
WITH_MENU = f"""<html lang=en><title>Tides and the moon</title><meta name=description content="What tides are">
<body>{MENU}<main><h1>Tides</h1><p>{ARTICLE * 4}</p></main><footer>{MENU}</footer>"""


def test_the_main_text_is_counted() -> None:
    main, page = analyse(Page(WITH_MENU)), analyse(Page(WITH_MENU), source="page")
    assert not {"lampshop", "cookies"} & main["keywords"].keys()
    assert list(page["keywords"])[:2] == ["lampshop", "cookies"]
    assert (main["source"], page["source"]) == ("main", "page")
    assert main["keywords"]["moon"] == 4
    places = main["places"]
    assert places["title"] == ["tides", "moon"]
    assert (places["h1"], places["description"]) == (["tides"], ["tides"])
    assert set(places["first_paragraph"]) == set(main["keywords"])


def test_details_can_be_left_out() -> None:
    found = analyse(Page(WITH_MENU), details=False)
    assert (found["places"], found["counts"]) == (None, None)
    assert found["keywords"] == analyse(Page(WITH_MENU))["keywords"]


def test_a_page_without_main_text_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webanalytics.page.keywords.keywords.main_text", lambda page: "")
    found = analyse(Page(WITH_MENU))
    assert found["keywords"] == {}
    assert found["note"] == 'The page has no main text; source="page" counts all of its visible text.'
    assert analyse(Page("<p>2024"))["note"] == "The page has no visible text with letters."


def test_menus_are_never_counted_silently() -> None:
    labels = "".join(f"<div><a href=/{n}>Label number</a></div>" for n in range(12))
    found = analyse(Page(f"<body>{labels}"))
    assert not found["keywords"] or found["note"].startswith("No main text stands out")


def test_stop_word_inside_an_ngram_stays() -> None:
    found = count_keywords("The terms of service. Terms of service of the shop.", ngrams=3)
    assert dict(zip(*_pairs(found), strict=True)) == {"terms of service": 2}


def test_limits() -> None:
    text = "alpha beta gamma alpha nu xi " + "q" * 101
    assert count_keywords(text)["keywords"] == ["alpha", "beta", "gamma"]
    assert count_keywords(text, top=1)["keywords"] == ["alpha"]
    assert count_keywords(text, min_length=5)["keywords"] == ["alpha", "gamma"]
    assert "xi" in count_keywords(text, min_length=2)["keywords"]
    many = " ".join(f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(200))
    assert len(count_keywords(many)["keywords"]) == 50


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"ngrams": 0}, "ngrams"),
        ({"ngrams": 4}, "ngrams"),
        ({"ngrams": True}, "ngrams"),
        ({"top": 0}, "top"),
        ({"min_length": 0}, "min_length"),
        ({"min_length": "4"}, "min_length"),
        ({"stop_words": "klingon"}, "stop_words"),
        ({"stop_words": [1]}, "stop_words"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^The `{name}` parameter must .*\\.$") as caught:
        count_keywords("text", **parameters)
    assert caught.value.parameter == name


# One word of four letters or more in each language that no list of stop words should lack.
FUNCTION_WORDS = {
    "ar": "الذي", "bg": "които", "bn": "জন্য", "ca": "aquesta", "cs": "které", "da": "ikke", "de": "nicht",
    "el": "όταν", "en": "their", "es": "también", "et": "mida", "eu": "baina", "fa": "است", "fi": "jotka",
    "fr": "avec", "gl": "pero", "he": "אולי", "hi": "लिए", "hr": "kako", "hu": "hogy", "id": "dengan",
    "it": "della", "ja": "から", "ko": "그리고", "lt": "tačiau", "lv": "tikai", "ms": "dengan", "nl": "deze",
    "no": "ikke", "pl": "jest", "pt": "para", "ro": "este", "ru": "если", "sk": "alebo", "sl": "lahko",
    "sv": "inte", "th": "เป็น", "tr": "için", "uk": "який", "ur": "لیکن", "vi": "những", "zh": "我们",
}  # fmt: skip


@pytest.mark.parametrize(("language", "word"), FUNCTION_WORDS.items())
def test_stop_words(language: str, word: str) -> None:
    assert unicodedata.normalize("NFC", word) in stop_words_of(language)


# A verb or an adverb that stands in texts of any subject: no function word, and no subject either.
ANY_SUBJECT = {
    "ar": "يوجد", "bg": "използва", "ca": "permeten", "cs": "umožňuje", "da": "tilbyder", "de": "ermöglicht",
    "el": "χρειάζεται", "en": "provides", "es": "permiten", "et": "kasutatakse", "fi": "tarjoaa", "fr": "permettant",
    "gl": "atopar", "he": "נמצאת", "hi": "चाहिए", "hr": "omogućuje", "hu": "található", "id": "menggunakan",
    "it": "offrono", "ko": "다양한", "lt": "suteikia", "lv": "nodrošina", "nl": "biedt", "no": "tilbyr",
    "pl": "umożliwia", "pt": "oferecem", "ro": "oferă", "ru": "позволяет", "sk": "poskytuje", "sl": "omogoča",
    "sv": "erbjuder", "tr": "sunuyor", "uk": "пропонує", "ur": "چاہیے", "zh": "提供",
}  # fmt: skip


@pytest.mark.parametrize(("language", "word"), ANY_SUBJECT.items())
def test_words_of_any_subject(language: str, word: str) -> None:
    assert unicodedata.normalize("NFC", word) in stop_words_of(language)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("ca", "dona general nova"),
        ("cs", "nová velká"),  # Nová Paka, Velká Británie
        ("de", "liebe lernen schreiben weiß"),  # nouns, and a colour
        ("en", "essential hard main multiple online real strong"),  # hard drive, main street, real estate
        ("fr", "acheter cours générale lire vivre"),
        ("pl", "nowa nowy"),  # Nowa Zelandia
        ("pt", "casa especial vida"),
        ("ro", "marea"),  # Marea Neagră
        ("ru", "новая новые"),
    ],
)
def test_what_names_and_subjects_are_made_of_is_counted(language: str, words: str) -> None:
    assert not stop_words_of(language) & set(words.split())


def test_stop_word_lists_are_clean() -> None:
    assert len(languages()) == 58
    assert set(FUNCTION_WORDS) <= set(languages())
    for language in languages():
        words = stop_words_of(language)
        assert len(words) >= 29
        for word in words:
            assert all(
                unicodedata.category(letter)[0] in "LM" for letter in word if letter not in "'\u200c\u200d"
            )
            assert word == unicodedata.normalize("NFC", word)


def test_stop_words_leave_what_a_page_can_be_about() -> None:
    assert not {"computer", "website", "research", "information", "system"} & stop_words_of("en")


def test_own_stop_words_have_the_lower_case_of_the_language() -> None:
    said = ["IŞIK", " İLE ", "I\u0307Çİ"]
    found = count_keywords("Işık ışık, İle ile; içi ısı", "tr", stop_words=said, min_length=1)
    assert found["keywords"] == ["ısı"]


def test_stop_words_by_choice() -> None:
    text = "Nicht alles with Kaffee"
    assert count_keywords(text, "de")["keywords"] == ["with", "kaffee"]
    assert count_keywords(text, "de", stop_words="en")["keywords"] == ["nicht", "alles", "kaffee"]
    assert count_keywords(text, "de", stop_words=["KAFFEE"])["keywords"] == ["nicht", "alles", "with"]
    for nothing in ("none", [], ()):
        assert len(count_keywords(text, "de", stop_words=nothing)["keywords"]) == 4
    assert stop_words_of("nb") == stop_words_of("no") == chosen_stop_words("NN", "en")
    assert stop_words_of("sr") == stop_words_of("bs") == stop_words_of("hr")  # which their small words are in
    assert stop_words_of("xx") == frozenset()
    # A page in another script has English words too.
    assert "with" in stop_words_of("ru")
    assert count_keywords("doesn’t couldn't matter, people’s", "en")["keywords"] == ["matter", "people"]


@pytest.mark.parametrize(
    ("text", "parameters", "note"),
    [
        ("", {}, "The page has no visible text with letters."),
        ("1 2 😀", {}, "The page has no visible text with letters."),
        ("this and that", {}, "Every word of the text is a stop word or has fewer than 4 letters."),
        (
            "one. two",
            {"ngrams": 2},
            "No 2 words stand side by side that begin and end with other than stop words.",
        ),
        ("plain words", {}, ""),
    ],
)
def test_notes(text: str, parameters: dict[str, Any], note: str) -> None:
    assert count_keywords(text, **parameters)["note"] == note


def test_note_names_the_missing_segmenter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "word_breaker", lambda locale: None)
    note = 'Japanese text needs a word segmenter: in the clone, pip install ".[cjk]"'
    found = count_keywords("東京の観光案内サイト Tokyo", "ja")
    assert (found["keywords"], found["note"]) == (["tokyo"], note)
    # A link in another script is no reason for a note.
    assert count_keywords("A long enough page about tea and its leaves. 中文", "en")["note"] == ""


@pytest.mark.skipif(
    importlib.util.find_spec("rjieba") is None,
    reason='rjieba is not installed: in the clone, pip install ".[cjk]"',
)
def test_chinese_and_english_on_one_page() -> None:
    found = count_keywords("网站优化的技术。Search engine 网站", "zh")
    assert dict(zip(*_pairs(found), strict=True)) == {
        "网站": 2,
        "优化": 1,
        "技术": 1,
        "search": 1,
        "engine": 1,
    }
    assert count_keywords("网站优化，网站优化", "zh", ngrams=2)["keywords"] == ["网站优化"]


def test_repeatable_in_every_process() -> None:
    code = (
        "import json; from webanalytics.page.keywords.keywords import count_keywords as count;"
        "text = ' '.join(f'word{chr(97 + i % 26)} other{chr(97 + i % 7)}.' for i in range(300));"
        "print(json.dumps([count(text, ngrams=n) for n in (1, 2, 3)]))"
    )
    root = str(Path(__file__).parents[2])
    answers = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "PYTHONPATH": root, "PYTHONHASHSEED": seed},
            ).stdout
        )
        for seed in ("1", "2")
    ]
    assert answers[0] == answers[1]
    assert answers[0][0]["frequency"] == sorted(answers[0][0]["frequency"], reverse=True)
