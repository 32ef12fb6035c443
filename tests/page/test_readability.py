"""Readability equals textstat, over the corpus and over generated text, without its dictionary or NLTK's."""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.effort import effort_since
from webanalytics.page.declarations.readability import READABILITY
from webanalytics.page.page import Page
from webanalytics.page.readability.counts import (
    clean_word,
    count_sentences,
    count_text,
    count_words,
    easy_words,
)
from webanalytics.page.readability.readability import (
    LANGUAGES,
    analyse,
    dale_chall_text,
    ease_text,
    lix,
    score,
    target_audience,
    wiener_sachtextformel,
)
from webanalytics.page.readability.syllables import pronouncing_dictionary, syllables
from webanalytics.page.text.main import main_language, main_text

FORMULAS = {
    "fleschReadingEase": "flesch_reading_ease",
    "fleschKincaidGrade": "flesch_kincaid_grade",
    "gunningFog": "gunning_fog",
    "colemanLiauIndex": "coleman_liau_index",
    "smogIndex": "smog_index",
    "automatedReadabilityIndex": "automated_readability_index",
    "daleChallReadabilityScore": "dale_chall_readability_score",
}
GRADES = [
    "fleschKincaidGrade",
    "gunningFog",
    "colemanLiauIndex",
    "smogIndex",
    "automatedReadabilityIndex",
]


def write_dictionary(folder: Path, words: dict[str, int]) -> None:
    """Write words with that many syllables where and as NLTK keeps its pronouncing dictionary."""
    target = folder / "corpora" / "cmudict"
    target.mkdir(parents=True)
    for made in (folder, folder / "corpora", target):
        made.chmod(0o700)  # NLTK refuses folders that others may write to.
    lines = [f"{word.upper()} 1 {' '.join(['AH0'] * count or ['M'])}\n" for word, count in words.items()]
    path = target / "cmudict"
    path.write_text("".join(lines), "utf-8")
    path.chmod(0o600)


class _Vowels:
    def positions(self, word: str) -> range:
        return range(syllables(word) - 1)


@pytest.fixture(scope="session")
def textstat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The reference, reading our dictionary in NLTK's format from a private folder, the network barred.

    English words that are not in it have our syllables, for textstat hyphenates them.
    """
    folder = tmp_path_factory.mktemp("nltk_data")
    write_dictionary(folder, dict(pronouncing_dictionary().items()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import nltk
        import textstat
    patch = pytest.MonkeyPatch()
    patch.setattr(nltk.data, "path", [str(folder)])
    patch.setattr(nltk, "download", lambda *_, **__: pytest.fail("NLTK would use the network"))
    counting = importlib.import_module("textstat.backend.counts._count_syllables")
    divided = counting.get_pyphen
    patch.setattr(counting, "get_pyphen", lambda tag: _Vowels() if tag.startswith("en") else divided(tag))
    yield textstat
    textstat.set_lang("en_US")
    patch.undo()


def reference(textstat: ModuleType, text: str, tag: str) -> dict[str, Any]:
    """Return textstat's answers under our names, rounded, the reading ease limited to 0..100."""
    textstat.set_lang(tag)
    text = text.replace("’", "'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # It warns that a language has no easy words and takes the English.
        answers = {name: round(getattr(textstat, formula)(text), 2) for name, formula in FORMULAS.items()}
    answers["fleschReadingEase"] = min(100.0, max(0.0, answers["fleschReadingEase"]))
    answers["wordCount"] = textstat.lexicon_count(text)
    answers["sentenceCount"] = textstat.sentence_count(text)
    return answers


def assert_equal(textstat: ModuleType, text: str, language: str, tag: str) -> None:
    ours, theirs = score(text, language), reference(textstat, text, tag)
    formulas = LANGUAGES[language.partition("_")[0]]
    given_names = {
        "fleschReadingEase": formulas.flesch is not None,
        "gunningFog": formulas.complex_from is not None,
    }
    for name in FORMULAS:
        if given_names.get(name, tag.startswith("en")) and theirs["wordCount"]:
            assert ours[name] == theirs[name], name
        else:
            assert ours[name] is None, name
    assert (ours["wordCount"], ours["sentenceCount"]) == (theirs["wordCount"], theirs["sentenceCount"])


Texts = list[tuple[str | None, str]]


@pytest.fixture(scope="module")
def texts(corpus_pages: dict[str, bytes]) -> Texts:
    """Language and main text of each saved page."""
    return [(main_language(page), main_text(page)) for page in map(Page, corpus_pages.values())]


def test_corpus_in_english(textstat: ModuleType, texts: Texts) -> None:
    for _, text in texts:
        assert_equal(textstat, text, "en", "en_US")


def test_corpus_in_its_languages(textstat: ModuleType, texts: Texts) -> None:
    languages = {"de", "es", "fr", "pl"}
    seen = set()
    for language, text in texts:
        if language in languages:
            assert_equal(textstat, text, language, language)
            seen.add(language)
    assert seen >= {"de", "es", "fr"}


def test_lix_and_sachtextformel_in_german(textstat: ModuleType, texts: Texts) -> None:
    textstat.set_lang("de")
    seen = 0
    for language, text in texts:
        # textstat takes every apostrophe out of a word before it measures it, but not before it divides it
        if language != "de" or "'" in text:
            continue
        seen += 1
        assert lix(count_words(text)) == pytest.approx(textstat.lix(text), abs=0.005)
        theirs = textstat.wiener_sachtextformel(text, 1)
        assert wiener_sachtextformel(count_text(text, "de")) == pytest.approx(theirs, abs=0.005)
    assert seen > 40


# Words that came into the dictionary after the edition that NLTK ships (CMU 0.6), for which textstat as it is
# installed falls back on hyphenation: syllables here, and there.
NEWER_WORDS = {"google": (2, 1), "wikipedia": (5, 1)}


def test_english_beside_textstat_with_the_older_dictionary() -> None:
    """The one known difference of our English: in a process of its own, for textstat keeps what it has read."""
    code = """
import sys, warnings
warnings.simplefilter("ignore")
import nltk
from textstat import textstat
nltk.data.path = [sys.argv[1]]
print(*(textstat.syllable_count(word) for word in sys.argv[2:]))
print(textstat.flesch_reading_ease("Google and Wikipedia are read every day."))
"""
    older = {word: n for word, n in pronouncing_dictionary().items() if word not in NEWER_WORDS}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o700)
        write_dictionary(Path(folder), older)
        command = [sys.executable, "-c", code, folder, *NEWER_WORDS]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    counts, ease = done.stdout.split("\n")[:2]
    assert {word: syllables(word) for word in NEWER_WORDS} == {
        word: n for word, (n, _) in NEWER_WORDS.items()
    }
    assert [int(count) for count in counts.split()] == [theirs for _, theirs in NEWER_WORDS.values()]
    # 7 words; our 5 further syllables are 5 / 7 * 84.6 points
    ours = score("Google and Wikipedia are read every day.")["fleschReadingEase"]
    assert float(ease) - ours == pytest.approx(5 / 7 * 84.6, abs=0.02)


def has_nltk_dictionary() -> bool:
    try:
        import nltk

        nltk.data.find("corpora/cmudict")
    except (ImportError, LookupError):
        return False
    return True


if has_nltk_dictionary():  # tests download nothing: it is there where somebody uses textstat with the network

    def test_english_beside_textstat_as_it_is_installed(corpus_pages: dict[str, bytes]) -> None:
        """With NLTK's own dictionary, where somebody has downloaded it: the difference that the guide names."""
        code = "\n".join(
            (
                "import json, sys, warnings",
                "warnings.simplefilter('ignore')",
                "import nltk",
                "nltk.download = lambda *_, **__: sys.exit('NLTK would use the network')",
                "from textstat import textstat",
                "print(json.dumps([textstat.flesch_reading_ease(text) for text in json.load(sys.stdin)]))",
            )
        )
        pages = [Page(content) for content in corpus_pages.values()]
        texts = [main_text(page) for page in pages if main_language(page) == "en"]
        done = subprocess.run(
            [sys.executable, "-c", code], input=json.dumps(texts), capture_output=True, text=True, check=True
        )
        ours = [score(text)["fleschReadingEase"] for text in texts]
        theirs = [min(100.0, max(0.0, ease)) for ease in json.loads(done.stdout)]
        differences = [abs(own - other) for own, other in zip(ours, theirs, strict=True)]
        assert statistics.median(differences) < 0.5
        assert max(differences) < 5


SAMPLES = """
the cat don't it's we'll O'Reilly's rhythm hmm sh analytics readability İstanbul STRASSE straße e.g. 3.5 U.S.A.
well-known 'tis boys' ''s - -- & @ # _ … » 😀 naïve Привет слово 日本語 ok? no! wait... constitutionality
Wirtschaftswissenschaften communication é a\u0301 ΟΔΟΣ I 'VE 've ' " (in) don’t
"""
WORDS = st.sampled_from(SAMPLES.split())
PROSE = st.lists(st.one_of(WORDS, st.text(max_size=8)), max_size=40).flatmap(
    lambda words: st.lists(
        st.sampled_from([" ", "\n", ". ", "! ", "", ", ", "\u00a0"]),
        min_size=len(words),
        max_size=len(words),
    ).map(lambda gaps: "".join(word + gap for word, gap in zip(words, gaps, strict=True)))
)
RELAXED = settings(
    max_examples=130,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@RELAXED
@given(text=PROSE)
@example(text="")
@example(text="...")
@example(text="hmm hmm hmm")
@example(text="İİİ. a. b! c?")
@example(text="one two three four")
@example(text="12 34 56. 78")
def test_generated_english(textstat: ModuleType, text: str) -> None:
    assert_equal(textstat, text, "en", "en_US")


@settings(RELAXED, max_examples=70)
@given(text=st.text(max_size=300))
def test_any_text_at_all(textstat: ModuleType, text: str) -> None:
    assert_equal(textstat, text, "en", "en_US")


@settings(RELAXED, max_examples=60)
@given(text=PROSE)
@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {"en"}))
def test_generated_other_languages(textstat: ModuleType, language: str, text: str) -> None:
    assert_equal(textstat, text, language, language)


@settings(RELAXED, max_examples=40)
@given(text=PROSE)
def test_regions(textstat: ModuleType, text: str) -> None:
    assert_equal(textstat, text, "en_GB", "en_GB")
    assert_equal(textstat, text, "de_CH", "de_CH")


def test_constants_and_word_list_are_textstats(textstat: ModuleType) -> None:
    utils = textstat.backend.utils
    names = ("fre_base", "fre_sentence_length", "fre_syll_per_word")
    expected = {
        language: (
            tuple(values[name] for name in names) if "fre_base" in values else None,
            values.get("syllable_threshold"),
        )
        for language, values in utils.constants.LANG_CONFIGS.items()
    }
    assert {name: (own.flesch, own.complex_from) for name, own in LANGUAGES.items()} == expected
    assert easy_words() == utils.get_lang_easy_words("en")


def test_by_hand() -> None:
    # 6 + 5 words in 2 sentences; syllables the cat sat on the mat 6, it was very sunny too 1 1 2 2 1 = 7.
    result = score("The cat sat on the mat. It was very sunny too.")
    assert (result["wordCount"], result["sentenceCount"]) == (11, 2)
    assert result["fleschKincaidGrade"] == round(0.39 * 11 / 2 + 11.8 * 13 / 11 - 15.59, 2)
    # Letters without punctuation: 17 + 17 = 34; characters with the two full stops: 36.
    assert result["colemanLiauIndex"] == round(5.8 * 34 / 11 - 29.6 * 2 / 11 - 15.8, 2)
    assert result["automatedReadabilityIndex"] == round(4.71 * 36 / 11 + 0.5 * 11 / 2 - 21.43, 2)
    assert result["smogIndex"] == 3.13
    assert result["gunningFog"] == round(0.4 * 5.5, 2)
    assert result["readingTimeMinutes"] == round(11 / 238, 2)
    assert result["targetAudience"] == "elementary"


def test_fields_are_the_declared_ones_in_order() -> None:
    page = Page(
        "<html lang=en><body><p>" + "Plain words make a page easy to read. " * 30, "https://a.example/"
    )
    result = analyse(page)
    assert list(result) == [field.name for field in READABILITY.fields]
    assert result["url"] == "https://a.example/"
    assert result["wordCount"] == len(main_text(page).split())


def test_average_is_the_mean_of_the_five_grades() -> None:
    text = "Extraordinary communication requires considerable preparation. The committee met on Monday. " * 5
    result = score(text)
    assert result["averageGradeLevel"] == pytest.approx(sum(result[name] for name in GRADES) / 5, abs=0.01)
    assert result["targetAudience"] == target_audience(result["averageGradeLevel"])


@pytest.mark.parametrize("text", ["", " \n ", "...", "😀 — 😀", "?!"])
def test_no_words_no_numbers(text: str) -> None:
    result = score(text)
    assert result["wordCount"] == 0
    assert result["readingTimeMinutes"] == 0
    assert result["targetAudience"] == "general public"
    empty = [*FORMULAS, "fleschReadingEaseText", "daleChallReadabilityScoreText", "averageGradeLevel"]
    assert [result[name] for name in empty] == [None] * len(empty)


@pytest.mark.parametrize("language", ["", "pt", "xx", "ar"])
def test_language_without_formulas(language: str) -> None:
    result = score("Uma frase curta com seis palavras.", language)
    assert result["wordCount"] == 6
    assert result["sentenceCount"] == 1
    assert {result[name] for name in FORMULAS} == {None}
    assert result["targetAudience"] == "general public"
    assert result["audience"] is None


SENTENCES = {
    "hi": "भारत एक विशाल देश है। यहाँ अनेक भाषाएँ हैं। क्या आप यहाँ आना चाहते हैं? हम आपका स्वागत करते हैं।",
    "bn": "ঢাকা একটি বড় শহর। এখানে অনেক মানুষ থাকে। আমরা শহরটি ভালোবাসি। আপনি কি আসবেন?",
    "ur": "پاکستان ایک خوبصورت ملک ہے۔ یہاں بہت زبانیں بولی جاتی ہیں۔ کیا آپ آنا چاہتے ہیں؟ لوگ مہمان نواز ہیں۔",
    "am": "አዲስ አበባ ትልቅ ከተማ ናት። ብዙ ሰዎች እዚህ ይኖሩባታል። እኛ ከተማችንን በጣም እንወዳለን። እናንተ መቼ ትመጣላችሁ፧",
    "hy": "Երևանը մեծ քաղաք է։ Այստեղ շատ մարդիկ են ապրում։ Մենք սիրում ենք մեր քաղաքը։ Շուտով կգանք նորից։",
    "ar": "القاهرة مدينة كبيرة جدا. يعيش فيها ملايين الناس. هل زرت القاهرة من قبل؟ إنها مدينة جميلة حقا.",
    "sv": "Staden är mycket stor. Många människor bor här! Vill du komma hit? Vi väntar på dig.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_sentences_end_as_their_script_has_it(language: str) -> None:
    breakers = pytest.importorskip("icu4py.breakers")
    text = SENTENCES[language]
    assert score(text, language)["sentenceCount"] == 4
    assert len(list(breakers.SentenceBreaker(text, language))) == 4


def test_a_typographic_apostrophe_is_an_apostrophe() -> None:
    plain = "He couldn't see it. They don't know why she isn't here. We'll go, and it's late."
    assert score(plain.replace("'", "’")) == score(plain)


def test_german_has_its_own_flesch_only() -> None:
    # Amstad: 180 - words per sentence - 58.5 * syllables per word; Die Re-gie-rung plant Steu-er-re-for-men.
    result = score("Die Regierung plant Steuerreformen.", "de")
    assert result["fleschReadingEase"] == round(180 - 4 - 58.5 * 10 / 4, 2)
    assert [result[name] for name in FORMULAS if result[name] is not None] == [result["fleschReadingEase"]]


@pytest.mark.parametrize(
    ("ease", "text"),
    [
        (100, "Very Easy"), (90, "Very Easy"), (89.99, "Easy"), (80, "Easy"), (79.99, "Fairly Easy"),
        (70, "Fairly Easy"), (60, "Standard"), (50, "Fairly Difficult"), (49.99, "Difficult"),
        (30, "Difficult"), (29.99, "Very Confusing"), (0, "Very Confusing"),
    ],
)  # fmt: skip
def test_ease_texts(ease: float, text: str) -> None:
    assert ease_text(ease) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "4th-grade student or lower"), (4.9, "4th-grade student or lower"), (4.91, "5th or 6th-grade"),
        (5.99, "5th or 6th-grade"), (6, "7th or 8th-grade"), (7, "9th or 10th-grade"),
        (8.99, "11th or 12th-grade"), (9, "13th to 15th-grade (college)"), (16, "13th to 15th-grade (college)"),
    ],
)  # fmt: skip
def test_dale_chall_texts(value: float, text: str) -> None:
    assert text in (dale_chall_text(value) or "")


@pytest.mark.parametrize(
    ("grade", "audience"),
    [
        (-3, "elementary"), (5.99, "elementary"), (6, "middle school"), (8.99, "middle school"),
        (9, "high school"), (12.99, "high school"), (13, "college"), (15.99, "college"),
        (16, "post-graduate"), (None, "general public"),
    ],
)  # fmt: skip
def test_audiences(grade: float | None, audience: str) -> None:
    assert target_audience(grade) == audience


def test_pieces_are_kept_within_a_limit() -> None:
    first = count_text("alpha beta gamma delta. " * 3, max_kept=2)
    assert first == count_text("alpha beta gamma delta. " * 3)
    assert clean_word("'DON'T'") == "DONT"  # Only lower-case contractions keep the apostrophe.


@pytest.mark.parametrize(
    "text",
    [
        "a" * 3_000_000,
        "a. " * 1_000_000,
        "word " * 600_000,
        "." * 3_000_000,
        "a " * 1_500_000,
        "'" * 3_000_000,
        "- " * 1_500_000,
        "日本語" * 1_000_000,
    ],
    ids=[
        "one word",
        "short sentences",
        "one sentence",
        "dots",
        "letters",
        "apostrophes",
        "dashes",
        "no spaces",
    ],
)
def test_time_grows_with_the_text_only(text: str) -> None:
    seconds = []
    for part in (text[: len(text) // 4], text):
        start = time.process_time()
        score(part)
        seconds.append(effort_since(start))
    assert seconds[1] < 3
    assert seconds[1] < 4 * seconds[0] * 3 + 0.2  # Four times the text: a quadratic scan would take 16 times.


def test_sentences_that_are_too_short_do_not_count() -> None:
    assert count_sentences("Yes. No way! I see it now. She left him there?") == 2


def test_worker_imports_stay_light() -> None:
    code = (
        "import sys; from webanalytics.page.readability.readability import score; score('Words of a text.');"
        "from webanalytics.page.keywords.keywords import count_keywords; count_keywords('Words of a text.');"
        "print(sorted({'nltk', 'textstat', 'pandas', 'pydantic', 'cmudict', 'matplotlib'} & set(sys.modules)))"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
