"""Stop words, which keywords leave out: the words of a language that say nothing about a text's subject."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources

from webanalytics.errors import ParameterError
from webanalytics.page.keywords.segmentation import folded

_DATA = resources.files("webanalytics.page").joinpath("data")

# Codes of languages that another list serves: the two written forms of Norwegian, those that Croatian shares
# its small words with, and withdrawn codes.
_ALIASES = {"nb": "no", "nn": "no", "bs": "hr", "sr": "hr", "iw": "he", "in": "id", "fil": "tl"}

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


@lru_cache(maxsize=16)
def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language; none for a language without a list.

    Notes
    -----
    The lists join Stopwords ISO (58 languages, MIT) and the package stop-words (33 of them, BSD). Both
    lists of English hold some two hundred nouns, verbs and adjectives (computer, research, website);
    these were taken out: a page can be about them. Added to 38 languages are verbs, adverbs and adjectives
    that stand in texts of any subject (`data/any-subject.txt`). Languages in other than Latin script get the
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
    """Return the stop words that a call requests: a language's list, none, or the words themselves.

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
        raise ParameterError.on("stop_words", "must hold words only")
    return frozenset(folded(word.strip(), language) for word in words)
