"""Each language on its own scale, by the language of the main text, and no judgement of what is no prose."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from webanalytics.page.declarations.readability import READABILITY
from webanalytics.page.page import Page
from webanalytics.page.readability import counts
from webanalytics.page.readability.counts import Counts
from webanalytics.page.readability.readability import analyse, lix, score, wiener_sachtextformel
from webanalytics.thresholds import ANY_FLESCH, AUDIENCES, SCALES, Scale, Unjudged

API = ("fleschReadingEase", "fleschKincaidGrade", "gunningFog", "averageGradeLevel")

# Texts with the words, sentences and syllables that a reader counts in them, and the formula of the paper.
TEXTS: dict[str, tuple[str, int, int, int]] = {
    # Das Haus ist groß. Der Mann kauft Brot. Die Kat-ze trinkt Milch.
    "de": ("Das Haus ist groß. Der Mann kauft Brot. Die Katze trinkt Milch.", 12, 3, 13),
    # La ca-sa es gran-de. El hom-bre com-pra pan. La ni-ña lee. (lee: pyphen divides no hiatus at an end)
    "es": ("La casa es grande. El hombre compra pan. El gato come pan.", 12, 3, 18),
    # Le cha-peau est grand. Le ma-tin est frais. Le ga-min boit du lait.
    "fr": ("Le chapeau est grand. Le matin est frais. Le gamin boit du lait.", 13, 3, 16),
    # O ga-to be-be lei-te. A me-sa é gran-de. O ho-mem com-pra pão.
    "pt": ("O gato bebe leite. A mesa é grande. O homem compra pão.", 12, 3, 18),
    # Ke-di süt iç-ti. Ço-cuk o-kul-a git-ti. Be-bek u-yu-du bu-gün.
    "tr": ("Kedi süt içti. Çocuk okula gitti. Bebek uyudu bugün.", 9, 3, 20),
    # Il ga-to be-ve lat-te.
    "it": ("Il gatto beve latte. La mela cade sotto. Il pane costa poco.", 12, 3, 21),
    # De kat drinkt melk. De man koopt brood. Het kind leest graag.
    "nl": ("De kat drinkt melk. De man koopt brood. Het kind leest graag.", 12, 3, 12),
}
FLESCH = {
    "de": lambda asl, asw: 180 - asl - 58.5 * asw,
    "es": lambda asl, asw: 206.84 - 1.02 * asl - 60 * asw,
    "fr": lambda asl, asw: (
        209 - 1.15 * asl - 68 * asw
    ),  # as koRpus has it; textstat's French gives other numbers
    "pt": lambda asl, asw: 248.835 - 1.015 * asl - 84.6 * asw,
    "tr": lambda asl, asw: 198.825 - 40.175 * asw - 2.610 * asl,
    "it": lambda asl, asw: 217 - 1.3 * asl - 60 * asw,
    "nl": lambda asl, asw: 206.835 - 0.93 * asl - 77 * asw,
}


@pytest.mark.parametrize("language", TEXTS)
def test_flesch_by_hand(language: str) -> None:
    text, words, sentences, syllables = TEXTS[language]
    result = score(text, language)
    assert (result["wordCount"], result["sentenceCount"]) == (words, sentences)
    expected = FLESCH[language](words / sentences, syllables / words)
    assert result["readability_score"] == min(100, max(0, round(expected, 2)))
    assert SCALES[language].name == result["readability_scale"]
    if language in ("pt", "tr"):  # textstat has no constants for them, and so the API no value
        assert result["fleschReadingEase"] is None


def test_a_published_example_of_lix() -> None:
    # inuse.se on lix.se's result for a blog: 580 sentences, 3,784 words, 1,018 long ones make LIX 33
    assert round(lix(Counts(3784, 3784, 580, 0, 0, long_words=1018))) == 33


def test_lix_by_hand() -> None:
    # long words, of more than six letters: människor, rättigheter, förnuft, samvete
    text = "Alla människor är födda fria. De är lika i rättigheter. De har fått förnuft och samvete."
    result = score(text, "sv")
    assert result["readability_score"] == round(16 / 3 + 100 * 4 / 16, 2)
    assert result["readability_scale"] == "LIX (Björnsson 1968, Swedish)"
    assert result["audience"] == "middle school"
    assert all(result[name] is None for name in API)


def test_wiener_sachtextformel_by_hand() -> None:
    # Of 13 words Re-gie-rung, Steu-er-re-for-men, Par-la-men-te and ge-wor-den have 3 syllables or more, they and
    # strei-ten, which stands there twice, more than six letters; die, plant, die, und, es, ist, spät one syllable.
    text = "Die Regierung plant Steuerreformen. Die Parlamente streiten und streiten. Es ist spät geworden."
    counts = Counts(13, 13, 3, 0, 0, polysyllables=4, long_words=6, monosyllables=7)
    expected = 0.1935 * 400 / 13 + 0.1672 * 13 / 3 + 0.1297 * 600 / 13 - 0.0327 * 700 / 13 - 0.875
    assert wiener_sachtextformel(counts) == pytest.approx(expected)
    assert score(text, "de")["wiener_sachtextformel"] == round(expected, 2)
    assert score(text, "nl")["wiener_sachtextformel"] is None


PROSE = "Eins und zwei sind drei. Das weiß hier jedes Kind. Wer es nicht weiß, der fragt."


@pytest.mark.parametrize(
    ("text", "language", "note"),
    [
        (PROSE, "de", None),
        ("", "de", "no words"),
        ("— …", "", "no words"),
        (PROSE, "", "language undetermined"),
        (PROSE, "el", "no scale for the language"),
        ("Eins und zwei sind drei. Das weiß hier jedes Kind.", "de", "fewer than 3 sentences"),
        ("wort " * 41 * 3 + ". Und noch ein Satz. Und noch ein Satz.", "de", "over 40 words a sentence"),
    ],
)
def test_what_is_not_judged_says_why(text: str, language: str, note: str | None) -> None:
    result = score(text, language)
    assert result["readability_note"] == note
    for name in ("audience", "readability_score", "wiener_sachtextformel"):
        assert (result[name] is None) is (note is not None)
    if not language:
        assert all(result[name] is None for name in API)


def test_every_note_can_occur() -> None:
    (field,) = [field for field in READABILITY.fields if field.name == "readability_note"]
    assert set(field.shape.choices) == set(get_args(Unjudged))


@pytest.mark.parametrize(
    ("language", "value", "audience"),
    [
        # Flesch (1979): 5th grade, 6th to 9th, 10th to 12th, college, graduates
        ("de", 90, "elementary"), ("de", 89.99, "middle school"), ("es", 60, "middle school"),
        ("fr", 59.99, "high school"), ("ru", 50, "high school"), ("it", 49.99, "college"),
        ("nl", 30, "college"), ("pt", 29.99, "post-graduate"), ("de", -20, "post-graduate"),
        # Björnsson: children's books, fiction, newspapers, official texts, what is harder
        ("sv", 29.99, "elementary"), ("sv", 30, "middle school"), ("da", 40, "high school"),
        ("no", 50, "college"), ("nb", 60, "post-graduate"),
        # school grades as the API has them
        ("en", 5.99, "elementary"), ("en", 6, "middle school"), ("pl", 13, "college"), ("en", 16, "post-graduate"),
        # Ateşman: easy from 70, medium from 50
        ("tr", 69.99, "high school"), ("tr", 70, "middle school"),
    ],
)  # fmt: skip
def test_audiences_of_scales(language: str, value: float, audience: str) -> None:
    assert SCALES[language].audience(value) == audience


@pytest.mark.parametrize("scale", [*SCALES.values(), ANY_FLESCH], ids=lambda scale: scale.name)
def test_places_and_eases_agree_with_the_audiences(scale: Scale) -> None:
    low, high = sorted(scale.ends)
    for step in range(1, 400):
        value = low + (high - low) * (step + 0.123) / 401
        assert AUDIENCES[int(scale.place(value))] == scale.audience(value)
        assert ANY_FLESCH.audience(scale.ease(value)) == scale.audience(value) or scale.name.endswith(
            "Turkish)"
        )


ENGLISH_MENU = (
    "<ul>" + "<li>Sign in to your account and read the latest news from all over the world</li>" * 30
)
GERMAN = "Der Zug nach Norden fährt jeden Morgen um acht Uhr ab und kommt am Abend an. " * 8


def page(body: str, lang: str = "en") -> dict[str, Any]:
    return analyse(Page(f"<html lang={lang}><title>x</title><body>{body}", "https://a.example/"))


def test_the_language_is_that_of_the_main_text() -> None:
    result = page(f"<nav>{ENGLISH_MENU}</ul></nav><article><h1>Zug</h1><p>{GERMAN}</p></article>")
    assert result["language"] == "de"
    assert result["averageGradeLevel"] is None
    assert result["readability_scale"] == "Flesch reading ease (Amstad 1978, German)"


def test_a_page_of_undetermined_language_is_not_scored_as_english() -> None:
    names = " ".join(f"Xq{number}zt Vrk{number}pl." for number in range(300))
    result = page(f"<p>{names}</p>", "en")
    assert result["language"] == ""
    assert {result[name] for name in API} == {None}
    assert (result["audience"], result["readability_note"]) == (None, "language undetermined")
    assert result["wordCount"] > 0


CHINESE = "天地玄黄宇宙洪荒。今天的天气很好，我们去公园散步吧！你想吃什么？\n" * 40
JAPANESE = "今日は天気がいいので、公園を散歩しましょう。何を食べたいですか。\n" * 40


@pytest.mark.parametrize(("text", "language", "speed"), [(CHINESE, "zh", 255), (JAPANESE, "ja", 357)])
def test_without_spaces_words_are_segmented_and_time_goes_by_characters(
    text: str, language: str, speed: int
) -> None:
    result = score(text, language)
    characters = sum(map(str.isalpha, text))
    assert characters / 3 < result["wordCount"] < characters
    assert result["sentenceCount"] == 40 * (3 if language == "zh" else 2)
    assert result["readingTimeMinutes"] == pytest.approx(characters / speed, abs=0.01)
    assert result["readability_note"] == "no scale for the language"


def test_latin_words_between_them_are_read_by_words() -> None:
    assert score("Python " * 238 + "天地。", "zh")["readingTimeMinutes"] == pytest.approx(
        1 + 2 / 255, abs=0.01
    )


def test_without_a_segmenter_words_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from webanalytics.page.keywords import segmentation

    monkeypatch.setattr(segmentation, "word_breaker", lambda locale: None)
    for text, language in ((CHINESE, "zh"), (JAPANESE, "ja"), ("ภาษาไทยสวยงามมาก", "th"), (CHINESE, "")):
        result = score(text, language)
        assert (result["wordCount"], result["readingTimeMinutes"]) == (None, None)
        assert result["readability_note"] == "no word segmenter"


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("", "zh", 0),
        ("。。。", "zh", 0),
        ("天地", "zh", 1),
        ("他说：“很好。”然后他走了……真的！", "zh", 2),
        ("Version 2.5 は新しいです．とても速いです．", "ja", 2),
        ("ព្រះរាជាណាចក្រ។ ភាសាខ្មែរ។", "km", 2),
        ("วันนี้อากาศดี\nพรุ่งนี้ฝนตก", "th", 2),
    ],
)
def test_sentences_without_spaces(text: str, language: str, count: int) -> None:
    assert counts.unspaced_sentences(text, language) == count
