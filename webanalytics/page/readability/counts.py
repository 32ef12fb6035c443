"""What readability formulas are made of: words, sentences and syllables, counted in one pass over a text.

Each count is defined as in textstat, but for the syllables of English words outside the dictionary.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import mul

import regex

from webanalytics.page.keywords.segmentation import UNSPACED_LANGUAGES, segment
from webanalytics.page.readability.syllables import DATA, patterns_of, syllable_counter

# An apostrophe stays in a word where an English contraction or possessive follows: don't, we'll, it's.
_OTHER_APOSTROPHE = re.compile(r"'(?![tsd]|ve|ll|re)")
_PUNCTUATION = re.compile(r"[^\w']")

# From one end mark to the next: a sentence of three words or more (which the group marks), or the rest.
# Possessive throughout, so that no text makes it look at a character more than twice.
_SENTENCE = re.compile(r"[^\w.!?]*+(\w)[^\s.!?]*+\s[^\w.!?]*+\w[^\s.!?]*+\s[^\w.!?]*+\w[^.!?]*+|[^.!?]++")

# End marks of all scripts, for languages that no formula was made for.
_END_MARK = regex.compile(r"\p{Sentence_Break=STerm}")

# Letters of the longest pieces and words that are kept from text to text.
_LONGEST_KEPT = 64

LONGEST_SHORT = 6
"""Letters up to which a word is not long (Björnsson 1968; Bamberger and Vanecek 1984)."""

_COMBINING_DOT = "\u0307"


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts over a text, each as textstat defines it."""

    words: int  # pieces between white space that hold a letter, digit or underscore
    pieces: int  # all pieces between white space, including punctuation alone
    # stretches up to the next ``.``, ``!`` or ``?`` that have at least three words; at least one where there
    # is any text
    sentences: int
    characters: int  # characters other than white space
    letters: int  # letters, digits and underscores
    syllables: int = 0  # syllables of all words
    polysyllables: int = 0  # words of three syllables or more
    hard_words: int = 0  # words that are not on the English list of easy words
    complex_words: int = 0  # hard words with at least as many syllables as the threshold asked for
    long_words: int = 0  # words of more than six letters, as LIX and the Wiener Sachtextformel count them
    monosyllables: int = 0  # words of one syllable


@cache
def easy_words() -> frozenset[str]:
    """Return the English words that a fourth-grade pupil knows, as textstat lists them."""
    return frozenset(DATA.joinpath("easy-words-en.txt").read_text("utf-8").split())


def clean_word(piece: str) -> str:
    """Return a piece of text without punctuation, apostrophes of English contractions excepted.

    >>> clean_word("(don't)"), clean_word("well-known,"), clean_word("boys'"), clean_word("--")
    ("don't", 'wellknown', 'boys', '')
    """
    if (word := piece.rstrip(".,")).isalnum():
        return word
    if "'" in piece:
        piece = _OTHER_APOSTROPHE.sub("", piece)
    return _PUNCTUATION.sub("", piece)


def count_sentences(text: str) -> int:
    """Return the number of sentences of a text, as textstat counts them.

    >>> count_sentences("Stop! We did not see it. It was, e.g., far away.")
    2
    """
    if not text:
        return 0
    return max(1, sum(map(bool, _SENTENCE.findall(text))))


# What a piece adds to each count of `Counts` from `words` on, except for pieces, sentences and characters.
_Measure = tuple[int, int, int, int, int, int, int, int]
_NOTHING: _Measure = (0, 0, 0, 0, 0, 0, 0, 0)


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
        word = clean_word(piece)
        if not word:
            return _NOTHING
        letters = len(word) - word.count("'")
        lower = word.lower()
        count = self.known_words.get(lower, -1)
        if count < 0:
            count = self.syllables(lower)
            if len(lower) <= _LONGEST_KEPT:
                self.known_words[lower] = count
        long, short = letters > LONGEST_SHORT, count == 1
        if lower in self.easy:
            return (1, letters, count, count >= 3, 0, 0, long, short)
        heard = count
        # textstat cleans a word a second time here, after the lower case of a dotted capital I gave it a dot.
        if not lower.isascii() and _COMBINING_DOT in lower:
            heard = self.syllables(lower.replace(_COMBINING_DOT, ""))
        return (1, letters, count, count >= 3, 1, heard >= self.threshold, long, short)


_measures = lru_cache(maxsize=4)(_Measures)


def count_text(text: str, language: str = "en", complex_from: int = 3, max_kept: int = 30_000) -> Counts:
    """Count what the formulas need, the text being split once and each distinct piece measured once."""
    measures = _measures(patterns_of(language), complex_from)
    pieces = text.split()
    counted = Counter(pieces)
    new = [piece for piece in counted if piece not in measures]
    if len(measures) + len(new) > max_kept:
        measures.clear()
        measures.known_words.clear()
        new = list(counted)
    long = measures.learn(new)
    found = [measures.get(piece) or long[piece] for piece in counted]
    times = counted.values()
    words, *others = [sum(map(mul, column, times)) for column in zip(*found, strict=True)] or _NOTHING
    return Counts(words, len(pieces), count_sentences(text), sum(map(len, pieces)), *others)


def count_words(text: str) -> Counts:
    """Count only what needs no syllables; a sentence ends as its script has it.

    >>> count_words("Η γλώσσα - πλούσια.").words, count_words("भारत विशाल है। यहाँ लोग हैं।").sentences
    (3, 2)
    """
    pieces = text.split()
    lengths = [len(word) - word.count("'") for piece in pieces if (word := clean_word(piece))]
    return Counts(
        words=len(lengths),
        pieces=len(pieces),
        sentences=count_sentences(text if text.isascii() else _END_MARK.sub(".", text)),
        characters=sum(map(len, pieces)),
        letters=sum(lengths),
        long_words=sum(length > LONGEST_SHORT for length in lengths),
    )


CHARACTERS_PER_MINUTE = {"zh": 255, "ja": 357}
"""Characters read in a minute (Trauzettel-Klosinski and Dietz 2012, IReST)."""

# What ends a sentence in Chinese and Japanese, Burmese and Khmer, besides the marks of Latin script.
_END = re.compile("[\u3002\uff0e\uff61\uff01\uff1f\u2026!?\u104b\u17d4\u17d5]+|\\.(?!\\d)")
# Thai and Lao mark no sentence: a line is the smallest part that is.
_BY_LINES = frozenset(("th", "lo"))

SHORTEST_SENTENCE = 4
"""Letters from which on a stretch up to an end mark counts as a sentence."""


@dataclass(frozen=True, slots=True)
class Unspaced:
    """Counts over such a text; None for what only a word segmenter could tell."""

    words: int | None
    sentences: int
    minutes: float | None


def is_unspaced(language: str, text: str) -> bool:
    """Return whether a text is written without spaces; one of unknown language, for the most part.

    >>> is_unspaced("ja", "Tokyo"), is_unspaced("", "天地玄黄"), is_unspaced("", "Tokyo")
    (True, True, False)
    """
    if language or text.isascii():
        return language in UNSPACED_LANGUAGES
    found = segment(text)
    unspaced = found.unread + sum(len(word) for run in found.runs if not run.separator for word in run.words)
    return 2 * unspaced > unspaced + sum(
        len(word) for run in found.runs if run.separator for word in run.words
    )


def count_unspaced(text: str, language: str, words_per_minute: float) -> Unspaced:
    """Count words by the segmentation that keywords use, and sentences by their end marks.

    The reading time is by characters where a speed in characters is known, else by words; words of scripts
    with spaces in between are added by their number.
    """
    found = segment(text, language)
    sentences = unspaced_sentences(text, language)
    if found.unread:
        return Unspaced(None, sentences, None)
    words = spaced = characters = 0
    for run in found.runs:
        words += len(run.words)
        if run.separator:
            spaced += len(run.words)
        else:
            characters += sum(map(len, run.words))
    speed = CHARACTERS_PER_MINUTE.get(language)
    minutes = characters / speed + spaced / words_per_minute if speed else words / words_per_minute
    return Unspaced(words, sentences if words else 0, minutes)


def unspaced_sentences(text: str, language: str) -> int:
    """Return the number of sentences, at least one where there is any letter.

    >>> unspaced_sentences("今日は雨です。傘を持って行きましょう！はい。", "ja")
    2
    """
    parts = text.split("\n") if language in _BY_LINES else _END.split(text)
    long_enough = sum(sum(map(str.isalpha, part)) >= SHORTEST_SENTENCE for part in parts)
    return max(long_enough, int(any(map(str.isalpha, text))))
