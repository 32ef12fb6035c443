"""Words of a text, for its keywords: letters of any script, in runs of adjacent words, without stop words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

import regex

from webanalytics.errors import ParameterError
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
_HANGUL = re.compile("[\uac00-\ud7a3]")

# Letters with their marks, and the digits beside them; inside a word also apostrophes, the joiners of Persian
# and Indic scripts, the Hebrew geresh and gershayim, the Catalan dot of l·l, the sign of a gendered form
# (Bürger:innen, Bürger*in, auteur·rice) and some hyphens: e-mail, Wi-Fi, WH-1000. Possessive, so that no text
# is read twice; joints and digits before a letter have a limit because the engine needs memory for each.
_IN_WORD = r"[\p{L}\p{M}\p{Nd}]"
_GENDERED = r"[:*](?=in(?:nen)?\b)|·(?=(?:e|ne|ve|rice|trice|euse)s?\b)"
_HYPHEN = (
    rf"(?<=(?<![\p{{L}}\p{{M}}\p{{Nd}}-])\p{{L}})-|"
    rf"(?<=(?<![\p{{L}}\p{{M}}\p{{Nd}}-])\p{{L}}{{2}})-(?=\p{{Nd}}|\p{{L}}{{2}}(?!{_IN_WORD}))"
)
_JOINT = rf"(?=[^\p{{L}}\s])(?:['\u200c\u200d\u05f3\u05f4]|(?<=l)·(?=l)|{_GENDERED}|{_HYPHEN})"
_PLAIN = (
    rf"(?:\p{{L}}|(?<!\p{{Nd}})\p{{Nd}}{{1,8}}+\p{{L}}){_IN_WORD}*+"
    rf"(?:{_JOINT}[\p{{L}}\p{{Nd}}]{_IN_WORD}*+){{0,16}}+"
)
# Names that have a sign: AT&T, R&D; .NET; C++, C#.
_NAME = (
    rf"(?<![\p{{L}}\p{{M}}\p{{Nd}}&.])(?:\p{{L}}{{1,2}}&\p{{L}}{{1,2}}(?!{_IN_WORD}|&)|\.net(?!{_IN_WORD})|"
    rf"[a-z](?:\+\+|\#)(?!{_IN_WORD}|[+#]))"
)
_WORD = regex.compile(_PLAIN)
_WORD_OR_NAME = regex.compile(f"{_NAME}|{_PLAIN}")
_SIGNS = frozenset("&+#.")
_HYPHENS = frozenset("-\u2010\u2011")

# Variant or invisible characters within a word.
_SPELLINGS = (("’", "'"), ("ʼ", "'"), ("\u00ad", ""), ("\u2060", ""), ("i\u0307", "i"))

# Short words that lose their vowel and lean on the next word: l'homme, dell'arte.
_ELISIONS = {
    "ca": "l d s m t n",
    "fr": "c d j l m n s t qu jusqu lorsqu puisqu quoiqu quelqu",
    "it": "l un d c s m t n v quest quell dell nell sull all dall coll bell quand anch cos com",
}
_ELIDED = {language: frozenset(words.split()) for language, words in _ELISIONS.items()}
_DOTTED_I = {"tr", "az"}


@dataclass(frozen=True, slots=True)
class Run:
    """Adjacent words of a text, and what joins them."""

    words: list[str]
    separator: str = " "


@dataclass(frozen=True, slots=True)
class Segmented:
    """Words of a text.

    Attributes
    ----------
    runs
        The words in order. Each run ends where something else than a space or a hyphen stands between
        two words: punctuation, a digit, a line break, the change to or from a script without spaces.
    unread
        Characters left out because no word segmenter for their script is installed.
    """

    runs: list[Run]
    unread: int = 0

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
    if language in _DOTTED_I:
        text = text.replace("I", "ı").replace("İ", "i")
    text = text.lower()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
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
    for piece in breaker("\n".join(stretches)):
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
    wherever they stand in the text, in a page of any language.

    Examples
    --------
    >>> [run.words for run in segment("Well-known people's rights. Top 10 hotels").runs]
    [['well', 'known', "people's", 'rights'], ['top'], ['hotels']]
    """
    text = folded(text, language)
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


def _spaced(text: str, in_runs: bool) -> list[Run]:
    word = _WORD_OR_NAME if any(sign in text for sign in ("&", "++", "#", ".net")) else _WORD
    if not in_runs:
        return [Run(word.findall(text))]
    runs: list[Run] = []
    last = -1
    for match in word.finditer(text):
        start, end = match.span()
        gap = text[last:start] if runs else "\n"
        if gap not in _HYPHENS and gap.strip(" \t\u00a0"):
            runs.append(Run([]))
        runs[-1].words.append(match[0])
        last = end
    return runs


def bare(word: str, language: str) -> str:
    """Return a word without an elided article before it or an English possessive after it.

    Examples
    --------
    >>> bare("l'homme", "fr"), bare("aujourd'hui", "fr"), bare("people's", "en"), bare("комп'ютер", "uk")
    ('homme', "aujourd'hui", 'people', "комп'ютер")
    """
    while "'" in word:
        before, _, after = word.partition("'")
        if before not in _ELIDED.get(language, ()):
            break
        word = after
    return word.removesuffix("'s")


# Up to three letters of hiragana are endings and particles (ません, って), not words to search for.
_HIRAGANA_ENDING = re.compile(r"[\u3041-\u309f]{1,3}")


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


_DATA = resources.files("webanalytics.page").joinpath("data")

# Codes of languages that another list serves: the two written forms of Norwegian, and withdrawn codes.
_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl"}

# Pages in other scripts hold English words as well, and the lists of their languages have few of them.
_LATIN = (
    "af br ca cs da de en eo es et eu fi fr ga gl ha hr hu id it la lt lv ms nl no pl pt ro sk sl so st sv "
    "sw tl tr vi yo zu"
)


@cache
def _lines() -> dict[str, str]:
    text = _DATA.joinpath("stop-words.txt").read_text("utf-8")
    return dict(line.split(" ", 1) for line in text.splitlines())


def languages() -> list[str]:
    """Return the codes of the languages that have a list.

    Examples
    --------
    >>> len(languages()), languages()[:4]
    (58, ['af', 'ar', 'bg', 'bn'])
    """
    return sorted(_lines())


def normalised(word: str) -> str:
    """Return a word in the form for comparison: NFC, lower case, with the plain apostrophe.

    Examples
    --------
    >>> normalised(" Don’t ")
    "don't"
    """
    folded = unicodedata.normalize("NFC", word.strip().lower())
    return folded.replace("’", "'").replace("ʼ", "'").replace("i̇", "i")


@lru_cache(maxsize=16)
def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language; none for a language without a list.

    Notes
    -----
    The lists join Stopwords ISO (58 languages, MIT) and the package stop-words (33 of them, BSD). Both
    lists of English hold some two hundred nouns, verbs and adjectives (computer, research, website);
    these were taken out: a page can be about them. Languages in other than Latin script get the
    English words too.

    Examples
    --------
    >>> "although" in stop_words_of("en"), "website" in stop_words_of("en"), "jedoch" in stop_words_of("de")
    (True, False, True)
    """
    code = _ALIASES.get(language, language)
    words = frozenset(_lines().get(code, "").split())
    return words if code in _LATIN.split() or not words else words | stop_words_of("en")


def chosen_stop_words(stop_words: Iterable[str] | str | None, language: str) -> frozenset[str]:
    """Return the stop words that a call requests.

    Parameters
    ----------
    stop_words
        None for the list of the text's language; a language code for that language's list; ``"none"``
        or an empty list for no stop words; otherwise the words themselves, in place of the list.
    language
        Language of the text.

    Raises
    ------
    ParameterError
        For a code without a list, or anything but strings.

    Examples
    --------
    >>> sorted(chosen_stop_words(["Tea", "milk"], "en")), len(chosen_stop_words("none", "en"))
    (['milk', 'tea'], 0)
    """
    if stop_words is None:
        return stop_words_of(language)
    if isinstance(stop_words, str):
        code = stop_words.strip().lower()
        if code == "none":
            return frozenset()
        if _ALIASES.get(code, code) not in _lines():
            raise ParameterError(
                "The `stop_words` parameter must be a list of words, none, or one of: "
                + f"{', '.join(languages())}.",
                "stop_words",
            )
        return stop_words_of(code)
    words = list(stop_words)
    if not all(isinstance(word, str) for word in words):
        raise ParameterError("The `stop_words` parameter must hold words only.", "stop_words")
    return frozenset(map(normalised, words))
