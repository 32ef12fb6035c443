"""The readability operation: a page's main text by the usual formulas, with textstat's numbers.

What the formulas are made of (words, sentences, syllables) is counted in one pass over the text.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from webanalytics.analysis.keywords.segmentation import text_language
from webanalytics.analysis.page.page import Page
from webanalytics.analysis.readability.syllables import DATA, patterns_of, primary, syllable_counter
from webanalytics.analysis.text.main_text import main_text
from webanalytics.thresholds import GRADE_BANDS

# An apostrophe stays in a word where an English contraction or possessive follows: don't, we'll, it's.
_OTHER_APOSTROPHE = re.compile(r"'(?![tsd]|ve|ll|re)")
_PUNCTUATION = re.compile(r"[^\w']")

# From one end mark to the next: a sentence of three words or more (which the group marks), or the rest.
# Possessive throughout, so that no text makes it look at a character more than twice.
_SENTENCE = re.compile(
    r"[^\w.!?]*+(\w)[^\s.!?]*+\s[^\w.!?]*+\w[^\s.!?]*+\s[^\w.!?]*+\w[^.!?]*+|[^.!?]++",
)

# Letters of the longest pieces and words that are kept from text to text.
_LONGEST_KEPT = 64

_COMBINING_DOT = "\u0307"


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts over a text, each as textstat defines it.

    Attributes
    ----------
    words
        Pieces between white space that hold a letter, digit or underscore.
    pieces
        All pieces between white space, including punctuation alone.
    sentences
        Stretches up to the next ``.``, ``!`` or ``?`` that have at least three words; at least one
        where there is any text.
    characters
        Characters other than white space.
    letters
        Letters, digits and underscores.
    syllables
        Syllables of all words.
    polysyllables
        Words of three syllables or more.
    hard_words
        Words that are not on the English list of easy words.
    complex_words
        Hard words with at least as many syllables as the threshold asked for.
    """

    words: int
    pieces: int
    sentences: int
    characters: int
    letters: int
    syllables: int = 0
    polysyllables: int = 0
    hard_words: int = 0
    complex_words: int = 0


@cache
def easy_words() -> frozenset[str]:
    """Return the English words that a fourth-grade pupil knows, as textstat lists them."""
    return frozenset(DATA.joinpath("easy-words-en.txt").read_text("utf-8").split())


def clean_word(piece: str) -> str:
    """Return a piece of text without punctuation, apostrophes of English contractions excepted.

    Examples
    --------
    >>> clean_word("(don't)"), clean_word("well-known,"), clean_word("boys'"), clean_word("--")
    ("don't", 'wellknown', 'boys', '')
    """
    if piece.isalnum():
        return piece
    if "'" in piece:
        piece = _OTHER_APOSTROPHE.sub("", piece)
    return _PUNCTUATION.sub("", piece)


def count_sentences(text: str) -> int:
    """Return the number of sentences of a text, as textstat counts them.

    Examples
    --------
    >>> count_sentences("Stop! We did not see it. It was, e.g., far away.")
    2
    """
    if not text:
        return 0
    return max(1, sum(map(bool, _SENTENCE.findall(text))))


# What a piece adds to each count of `Counts` from `words` on, except for pieces, sentences and characters.
_Measure = tuple[int, int, int, int, int, int]
_NOTHING: _Measure = (0, 0, 0, 0, 0, 0)


class _Measures(dict[str, _Measure]):
    """Measures of recent pieces; a text consists mostly of pieces that earlier texts had."""

    def __init__(self, language: str, threshold: int) -> None:
        super().__init__()
        self.syllables = syllable_counter(language)
        self.known_words: dict[str, int] = {}  # pieces differ by capitals and commas, words less often
        self.easy = easy_words()
        self.threshold = threshold

    def learn(self, pieces: list[str]) -> dict[str, _Measure]:
        """Measure new pieces, keep them, and return those that are too long to keep."""
        long: dict[str, _Measure] = {}
        for piece in pieces:
            measure = self._measure(piece)
            if len(piece) <= _LONGEST_KEPT:
                self[piece] = measure
            else:
                long[piece] = measure
        return long

    def _measure(self, piece: str) -> _Measure:
        word = piece if piece.isalnum() else clean_word(piece)
        if not word:
            return _NOTHING
        letters = len(word) - word.count("'")
        lower = word.lower()
        count = self.known_words.get(lower, -1)
        if count < 0:
            count = self.syllables(lower)
            if len(lower) <= _LONGEST_KEPT:
                self.known_words[lower] = count
        if lower in self.easy:
            return (1, letters, count, count >= 3, 0, 0)
        heard = count
        # textstat cleans a word a second time here, after the lower case of a dotted capital I gave it a dot.
        if not lower.isascii() and _COMBINING_DOT in lower:
            heard = self.syllables(lower.replace(_COMBINING_DOT, ""))
        return (1, letters, count, count >= 3, 1, heard >= self.threshold)


@lru_cache(maxsize=4)
def _measures(patterns: str, threshold: int) -> _Measures:
    return _Measures(patterns, threshold)


def count_text(text: str, language: str = "en", complex_from: int = 3, max_kept: int = 30_000) -> Counts:
    """Count what the formulas need, the text being split once and each distinct piece measured once.

    A hard word is complex from `complex_from` syllables on.

    Raises
    ------
    LookupError
        For a language without hyphenation patterns.
    """
    measures = _measures(patterns_of(language), complex_from)
    pieces = text.split()
    counted = Counter(pieces)
    new = [piece for piece in counted if piece not in measures]
    if len(measures) + len(new) > max_kept:
        measures.clear()
        measures.known_words.clear()
        new = list(counted)
    long = measures.learn(new)
    words = letters = syllables = polysyllables = hard = complex_words = 0
    for piece, times in counted.items():
        measure = measures.get(piece) or long[piece]
        word, letter, syllable, polysyllable, hard_word, complex_word = measure
        words += times * word
        letters += times * letter
        syllables += times * syllable
        polysyllables += times * polysyllable
        hard += times * hard_word
        complex_words += times * complex_word
    return Counts(
        words=words,
        pieces=len(pieces),
        sentences=count_sentences(text),
        characters=sum(map(len, pieces)),
        letters=letters,
        syllables=syllables,
        polysyllables=polysyllables,
        hard_words=hard,
        complex_words=complex_words,
    )


def count_words(text: str) -> Counts:
    """Count only what needs no syllables, for languages that have no formula.

    Examples
    --------
    >>> count_words("Η γλώσσα - πλούσια.").words
    3
    """
    pieces = text.split()
    cleaned = [clean_word(piece) for piece in pieces]
    return Counts(
        words=sum(map(bool, cleaned)),
        pieces=len(pieces),
        sentences=count_sentences(text),
        characters=sum(map(len, pieces)),
        letters=sum(len(word) - word.count("'") for word in cleaned),
    )


@dataclass(frozen=True, slots=True)
class LanguageFormulas:
    """What is known about the formulas in one language, None where it has no constants of its own.

    Base, weight of the sentence length and weight of the syllables per word of the Flesch reading ease; and
    the syllables of a complex word in the Gunning fog index.
    """

    flesch: tuple[float, float, float] | None = None
    complex_from: int | None = None


# Flesch 1948 (en), Amstad 1978 (de), Fernandez Huerta 1959 (es), Kandel and Moles 1958 (fr),
# Franchina and Vacca 1986 (it), Douma 1960 (nl), Oborneva 2006 (ru); fog thresholds and hu as in textstat.
LANGUAGES = {
    "en": LanguageFormulas((206.835, 1.015, 84.6), 3),
    "de": LanguageFormulas((180, 1, 58.5)),
    "es": LanguageFormulas((206.84, 1.02, 60.0)),
    "fr": LanguageFormulas((207, 1.015, 73.6)),
    "hu": LanguageFormulas((206.835, 1.015, 58.5), 5),
    "it": LanguageFormulas((217, 1.3, 60.0)),
    "nl": LanguageFormulas((206.835, 0.93, 77)),
    "pl": LanguageFormulas(None, 4),
    "ru": LanguageFormulas((206.835, 1.3, 60.1)),
}

EASE_TEXTS = (
    (90, "Very Easy"),
    (80, "Easy"),
    (70, "Fairly Easy"),
    (60, "Standard"),
    (50, "Fairly Difficult"),
    (30, "Difficult"),
)
DALE_CHALL_TEXTS = (
    (6, "average 5th or 6th-grade student"),
    (7, "average 7th or 8th-grade student"),
    (8, "average 9th or 10th-grade student"),
    (9, "average 11th or 12th-grade student"),
)


def flesch_reading_ease(counts: Counts, constants: tuple[float, float, float]) -> float:
    """Return the Flesch reading ease, not limited to 0..100 (Flesch 1948 and its national forms)."""
    if not counts.words or not counts.syllables:
        return 0.0
    base, sentence_weight, syllable_weight = constants
    sentence_length = counts.words / counts.sentences
    return base - sentence_weight * sentence_length - syllable_weight * (counts.syllables / counts.words)


def flesch_kincaid_grade(counts: Counts) -> float:
    """Return the Flesch-Kincaid grade (Kincaid et al. 1975)."""
    if not counts.words or not counts.syllables:
        return 0.0
    return (0.39 * (counts.words / counts.sentences)) + (11.8 * (counts.syllables / counts.words)) - 15.59


def gunning_fog(counts: Counts) -> float:
    """Return the Gunning fog index (Gunning 1952), a complex word being hard and of many syllables."""
    if not counts.words:
        return 0.0
    return 0.4 * (counts.words / counts.sentences + 100 * counts.complex_words / counts.words)


def coleman_liau_index(counts: Counts) -> float:
    """Return the Coleman-Liau index (Coleman and Liau 1975)."""
    if not counts.words:
        return 0.0
    letters = counts.letters / counts.words * 100
    sentences = counts.sentences / counts.words * 100
    return (0.058 * letters) - (0.296 * sentences) - 15.8


def smog_index(counts: Counts) -> float:
    """Return the SMOG index (McLaughlin 1969), also for texts of fewer than thirty sentences."""
    if not counts.sentences:
        return 0.0
    return float((1.043 * (30 * (counts.polysyllables / counts.sentences)) ** 0.5) + 3.1291)


def automated_readability_index(counts: Counts) -> float:
    """Return the automated readability index (Smith and Senter 1967)."""
    if not counts.words:
        return 0.0
    characters = counts.characters / counts.pieces
    return (4.71 * characters) + (0.5 * (counts.words / counts.sentences)) - 21.43


def dale_chall_readability_score(counts: Counts) -> float:
    """Return the Dale-Chall score (Dale and Chall 1948); inflected forms of easy words count as hard."""
    if not counts.words:
        return 0.0
    hard = 100 * counts.hard_words / counts.words
    score = (0.1579 * hard) + (0.0496 * (counts.words / counts.sentences))
    return score + 3.6365 if hard > 5 else score


def _formulas(counts: Counts, language: LanguageFormulas, english: bool) -> dict[str, float | None]:
    """Return every index, unrounded; None where the language has no such formula or the text no word."""
    ease = fog = None
    if counts.words and language.flesch:
        ease = flesch_reading_ease(counts, language.flesch)
    if counts.words and language.complex_from:
        fog = gunning_fog(counts)
    given = bool(counts.words) and english
    return {
        "fleschReadingEase": ease,
        "fleschKincaidGrade": flesch_kincaid_grade(counts) if given else None,
        "gunningFog": fog,
        "colemanLiauIndex": coleman_liau_index(counts) if given else None,
        "smogIndex": smog_index(counts) if given else None,
        "automatedReadabilityIndex": automated_readability_index(counts) if given else None,
        "daleChallReadabilityScore": dale_chall_readability_score(counts) if given else None,
    }


def _shown(value: float | None) -> float | None:
    # Adding zero turns a negative zero into a plain one.
    return None if value is None else round(value, 2) + 0.0


def ease_text(ease: float | None) -> str | None:
    """Return the verbal rating of a Flesch reading ease (Flesch's own table)."""
    if ease is None:
        return None
    return next((text for least, text in EASE_TEXTS if ease >= least), "Very Confusing")


def dale_chall_text(score: float | None) -> str | None:
    """Return the verbal rating of a Dale-Chall score (Dale and Chall's own table)."""
    if score is None:
        return None
    if score <= 4.9:
        return "average 4th-grade student or lower"
    college = "average 13th to 15th-grade (college) student"
    return next((text for below, text in DALE_CHALL_TEXTS if score < below), college)


def target_audience(grade: float | None) -> str:
    """Return the audience of a grade level; without a grade, the general public.

    Examples
    --------
    >>> target_audience(5.99), target_audience(6.0), target_audience(16.0), target_audience(None)
    ('elementary', 'middle school', 'post-graduate', 'general public')
    """
    if grade is None:
        return "general public"
    return next((name for below, name in GRADE_BANDS if grade < below), "post-graduate")


def average_grade(values: dict[str, float | None]) -> float | None:
    """Return the mean of the five grade indices, or None unless all five are known."""
    grades = [
        values[name]
        for name in (
            "fleschKincaidGrade",
            "gunningFog",
            "colemanLiauIndex",
            "smogIndex",
            "automatedReadabilityIndex",
        )
    ]
    known = [grade for grade in grades if grade is not None]
    return sum(known) / len(known) if len(known) == len(grades) else None


def score(text: str, language: str = "en", words_per_minute: float = 238) -> dict[str, Any]:
    """Score the readability of a plain text; a language tag with a region takes that region's hyphenation.

    The usual reading speed of 238 words is the mean for silent reading of English non-fiction
    (Brysbaert 2019).

    Returns
    -------
    dict
        ``fleschReadingEase`` (0 to 100), ``fleschReadingEaseText``, ``fleschKincaidGrade``,
        ``gunningFog``, ``colemanLiauIndex``, ``smogIndex``, ``automatedReadabilityIndex``,
        ``daleChallReadabilityScore``, ``daleChallReadabilityScoreText``, ``wordCount``,
        ``sentenceCount``, ``readingTimeMinutes``, ``averageGradeLevel``, ``targetAudience``.
        Numbers have at most two decimals.

    Notes
    -----
    Counts and formulas are those of textstat 0.7.13 with ``set_lang(language)`` (its default, ``en_US``,
    for English). The grade indices and the Dale-Chall score were fitted to American schools and
    English texts, so other languages get None for them. The Flesch reading ease is given in the
    languages with constants of their own: en, de, es, fr, hu, it, nl, ru; the Gunning fog index in
    those with a threshold of their own for complex words: en, hu, pl. Elsewhere they are None too, and
    so are all of them for a text without a word.

    ``averageGradeLevel`` is the mean of the five unrounded grade indices, rounded at the end; None
    unless all five are known. The texts and the audience follow from the numbers as shown. Words and
    sentences are textstat's in every language: a script without spaces has few words by that count.

    Examples
    --------
    >>> result = score("The cat sat on the mat. It was a very sunny day and the cat slept.")
    >>> result["wordCount"], result["sentenceCount"], result["fleschReadingEase"]
    (16, 2, 100.0)
    >>> score("Der Hund schläft im Garten.", "de")["fleschKincaidGrade"] is None
    True
    """
    root = primary(language)
    formulas = LANGUAGES.get(root, LanguageFormulas())
    if root in LANGUAGES:
        counts = count_text(text, language, formulas.complex_from or 3)
    else:
        counts = count_words(text)
    exact = _formulas(counts, formulas, root == "en")
    grade = _shown(average_grade(exact))
    shown = {name: _shown(value) for name, value in exact.items()}
    ease = shown.pop("fleschReadingEase")
    ease = None if ease is None else min(100.0, max(0.0, ease))
    return {
        "fleschReadingEase": ease,
        "fleschReadingEaseText": ease_text(ease),
        **shown,
        "daleChallReadabilityScoreText": dale_chall_text(shown["daleChallReadabilityScore"]),
        "wordCount": counts.words,
        "sentenceCount": counts.sentences,
        "readingTimeMinutes": round(counts.words / words_per_minute, 2),
        "averageGradeLevel": grade,
        "targetAudience": target_audience(grade),
    }


def analyse(page: Page, words_per_minute: float = 238) -> dict[str, Any]:
    """Score the readability of a page's main text: the fields of `score`, and its address as submitted."""
    return {**score(main_text(page), text_language(page), words_per_minute), "url": page.url}
