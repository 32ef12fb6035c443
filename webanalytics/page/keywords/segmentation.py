"""Words of a text, for its keywords: letters of any script, in runs of adjacent words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import Any

import regex

from webanalytics.core.strings import OTHER_SCRIPT, normalized
from webanalytics.page.page import Page
from webanalytics.page.readability.syllables import primary
from webanalytics.page.text.language import page_language

UNSPACED_LANGUAGES = {
    "ja": "Japanese",
    "km": "Khmer",
    "lo": "Lao",
    "my": "Burmese",
    "th": "Thai",
    "zh": "Chinese",
}
"""Languages written without spaces between words."""

# Thai, Lao; Burmese; Khmer; signs that stand for ideographs; kana; ideographs; halfwidth kana.
UNSPACED = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d"
    "\u1780-\u17d3\u17d7\u17dc\u17dd\uaa60-\uaa7f\ua9e0-\ua9ef\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    "\u3038-\u303c\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff]+"
)
_KATAKANA = frozenset(map(chr, (*range(0x30A1, 0x30FB), 0x30FC, *range(0x31F0, 0x3200))))
_HANGUL = re.compile("[\uac00-\ud7a3]")

_GENDERED = r"[:*_·/](?=in(?:nen)?\b)|[·•](?=(?:(?:e|ne|ve|rice|trice|euse)s?|s)\b)|\.(?=(?:t?rice|euse)s?\b)"


def _patterns(engine: Any, letter: str, digit: str, in_word: str) -> tuple[Any, Any, Any, Any]:
    """Return the patterns of words, of words and names, and of both with what joins them to the next one.

    A word is letters with their marks, and the digits beside them; inside it also apostrophes, the joiners
    of Persian and Indic scripts, the Hebrew geresh and gershayim, the Catalan dot of l·l, the sign of a
    gendered form (Bürger:innen, auteur·rice, étudiant·e·s) and some hyphens: e-mail, Wi-Fi, WH-1000. Names
    have a sign: AT&T, R&D; .NET; C++, C#. Joints and digits before a letter have a limit, as an engine needs
    memory for each.
    """
    begins = rf"(?<!{in_word})(?<!-){letter}"
    hyphen = rf"(?<={begins})-|(?<={begins}{letter})-(?={digit}|{letter}{{2}}(?!{in_word}))"
    joint = rf"(?:['\u200c\u200d\u05f3\u05f4]|(?<=l)·(?=l)|{_GENDERED}|{hyphen})"
    start = rf"{letter}|(?<!{digit}){digit}{{1,8}}+{letter}"
    word = rf"(?:{start}){in_word}*+(?:{joint}{in_word}+){{0,16}}"
    dot_net = rf"(?<!{in_word})(?<![&.])\.net(?!{in_word})"
    pair = rf"{letter}{{1,2}}&{letter}{{1,2}}(?!{in_word}|&)|[a-z](?:\+\+|\#)(?!{in_word}|[+#])"
    named = rf"(?:(?<!{in_word})(?<![&.])(?:{pair})|{dot_net}|{word})"
    most = rf"{letter}{in_word}*+ (?={letter})"  # as most words are, which is sooner found
    next_word = rf"{letter}|{digit}{{1,8}}+{letter}"
    to_next = r"(?:(?:[ \t\u00a0]*+|[-\u2010\u2011])(?={}))?"
    return (
        engine.compile(word),
        engine.compile(named),
        engine.compile(f"{most}|{word}{to_next.format(next_word)}"),
        engine.compile(f"{most}|{named}{to_next.format(f'{next_word}|{dot_net}')}"),
    )


@cache
def _patterns_of(is_plain: bool) -> tuple[Any, Any, Any, Any]:
    # The standard library's engine is faster, and in texts without other scripts finds the same.
    if is_plain:
        return _patterns(re, r"[^\W\d_]", r"\d", r"[^\W_]")
    return _patterns(regex, r"\p{L}", r"\p{Nd}", r"[\p{L}\p{M}\p{Nd}]")


_ADDRESS = re.compile(r"\b[a-z]{2,10}://[!-~]+")
_JOINTS = " \t\u00a0-\u2010\u2011"
_SIGNS = frozenset("&+#.")

# Variant or invisible characters within a word.
_SPELLINGS = (*((sign, "'") for sign in "’‘＇ʼ"), ("\u00ad", ""), ("\u2060", ""), ("i\u0307", "i"))

# Short words that lose their vowel and lean on the next word: l'homme, dell'arte.
_ELISIONS = {
    "ca": "l d s m t n",
    "fr": "c d j l m n s t qu jusqu lorsqu puisqu quoiqu quelqu",
    "it": "l un d c s m t n v quest quell dell nell sull all dall coll bell quand anch cos com",
}
_ELIDED = {language: frozenset(words.split()) for language, words in _ELISIONS.items()}
DOTTED_I = {"tr", "az"}


@dataclass(frozen=True, slots=True)
class Run:
    """Adjacent words of a text, and what joins them."""

    words: list[str]
    separator: str = " "


@dataclass(frozen=True, slots=True)
class Segmented:
    """Words of a text."""

    # the words in order. Each run ends where something else than a space or a hyphen stands between two
    # words: punctuation, a digit, a line break, the change to or from a script without spaces.
    runs: list[Run]
    unread: int = 0  # characters left out because no word segmenter for their script is installed

    @property
    def words(self) -> list[str]:
        """All words in order."""
        return [word for run in self.runs for word in run.words]


def text_language(page: Page) -> str:
    """Return the language to read a page in: detected, else declared, else English."""
    return primary(page_language(page)) or primary(page.lang) or "en"


def folded(text: str, language: str) -> str:
    """Return a text in lower case, in Unicode's composed form, with plain apostrophes.

    The rules of lower case are those of the language: the Turkish and Azerbaijani i differ.

    Examples
    --------
    >>> folded("ISPARTA İLİ", "tr"), folded("Don’t STOP", "en"), folded("ΟΔΥΣΣΕΥΣ", "el")
    ('ısparta ili', "don't stop", 'οδυσσευς')
    """
    if language in DOTTED_I:
        text = normalized(text).replace("I", "ı").replace("İ", "i")
    text = text.lower()
    if text.isascii():
        return text
    text = normalized(text)
    for written, meant in _SPELLINGS:
        text = text.replace(written, meant)
    return text


_Breaker = Callable[[str], Iterable[str]]


@cache
def word_breaker(locale: str) -> _Breaker | None:
    """Return the word breaker for a locale, or None where the extra ``cjk`` is not installed.

    ICU breaks all scripts without spaces by its dictionaries; for Chinese, jieba's larger one is preferred.
    """
    if locale == "zh":
        try:
            from rjieba import cut
        except ImportError:
            pass
        else:
            chinese: _Breaker = cut
            return chinese
    try:
        from icu4py.breakers import WordBreaker
    except ImportError:
        return None
    return lambda text: WordBreaker(text, locale)


def _broken(stretches: list[str], language: str) -> list[list[str]] | None:
    """Return the words of each stretch of a script without spaces, all found in one pass."""
    # ICU has one dictionary for Chinese and Japanese; only a Chinese page is worth loading the larger one.
    breaker = word_breaker(language if language in UNSPACED_LANGUAGES else "ja")
    if breaker is None:
        return None
    found: list[list[str]] = [[]]
    for is_katakana, pieces in groupby(breaker("\n".join(stretches)), lambda piece: piece[0] in _KATAKANA):
        # Loan words are whole: the dictionary breaks those that it lacks where no word ends.
        for piece in ["".join(pieces)] if is_katakana else pieces:
            if piece == "\n":
                found.append([])
            elif piece[0].isalpha():
                found[-1].append(piece)
    return found


def segment(text: str, language: str = "en", in_runs: bool = True) -> Segmented:
    """Return the words of a text; a line break ends a run.

    Unless `in_runs`, everything comes in one run, in less time.

    Notes
    -----
    A word is made of letters, their marks and digits (``hdr10``, never digits alone): underscores and signs
    end it, and so does a hyphen, except after one letter or between two pairs (``e-mail``, ``wi-fi``).
    Gendered forms (``bürger:innen``) and names with a sign (``c++``, ``.net``, ``r&d``) are whole. Scripts
    without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) are broken into words by a dictionary,
    wherever they stand in the text, in a page of any language; a stretch of katakana is one word. Web
    addresses that are written out (``https://...``) have no words.

    Examples
    --------
    >>> [run.words for run in segment("Well-known people's rights. Top 10 hotels").runs]
    [['well', 'known', "people's", 'rights'], ['top'], ['hotels']]
    """
    text = folded(text, language)
    if "://" in text:
        text = _ADDRESS.sub(",", text)
    if text.isascii() or not UNSPACED.search(text):
        return Segmented(_spaced(text, in_runs))
    stretches = UNSPACED.findall(text)
    between = UNSPACED.split(text)
    broken = _broken(stretches, language)
    runs: list[Run] = []
    for spaced, words in zip(between, [*(broken or [[]] * len(stretches)), []], strict=True):
        runs += _spaced(spaced, in_runs)
        if words:
            runs.append(Run(words, ""))
    return Segmented(runs, 0 if broken else sum(map(len, stretches)))


def _found(text: str, with_joints: bool) -> list[str]:
    patterns = _patterns_of(not OTHER_SCRIPT.search(text))
    named = any(sign in text for sign in ("&", "++", "#", ".net"))
    found: list[str] = patterns[2 * with_joints + named].findall(text)
    return found


def _spaced(text: str, in_runs: bool) -> list[Run]:
    if not in_runs:
        return [Run(_found(text, False))]
    runs: list[Run] = []
    words: list[str] = []
    for token in _found(text, True):
        words.append(word := token.rstrip(_JOINTS))
        if word == token:
            runs.append(Run(words))
            words = []
    return runs


def bare(word: str, language: str) -> str:
    """Return a word without an elided article before it or an English possessive after it.

    Examples
    --------
    >>> bare("l'homme", "fr"), bare("aujourd'hui", "fr"), bare("people's", "en"), bare("foto's", "nl")
    ('homme', "aujourd'hui", 'people', "foto's")
    """
    while "'" in word:
        before, _, after = word.partition("'")
        if before not in _ELIDED.get(language, ()):
            break
        word = after
    return word if language in ("nl", "af") else word.removesuffix("'s")  # where it is a plural: foto's


# Up to three letters of hiragana are endings and particles (ません, って), not words to search for.
_HIRAGANA_ENDING = re.compile(r"[\u3041-\u309f]{1,3}")


@lru_cache(20_000)
def letters(word: str) -> int:
    """Return the length of a word in letters.

    A Korean syllable, which is written with two or more letters, counts as two, and so does a character
    of a script without spaces, but a single such character counts as none: it is not treated as a word. A
    name with a sign, such as ``c++``, counts as four at least.

    Examples
    --------
    >>> letters("don't"), letters("검색"), letters("检索"), letters("的"), letters("c#")
    (4, 4, 4, 0, 4)
    """
    if UNSPACED.match(word):
        if _HIRAGANA_ENDING.fullmatch(word):
            return 1
        return 2 * len(word) if len(word) > 1 else 0
    if not _SIGNS.isdisjoint(word):
        return max(4, len(word))
    return len(word) - word.count("'") + len(_HANGUL.findall(word))
