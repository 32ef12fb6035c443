"""The keywords operation: the most frequent words and phrases of a main text or of all that a page shows.

It says where they stand, too: in title, main heading, description and first paragraph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, Literal, TypeAlias, TypedDict

from webanalytics._version import how_to_install
from webanalytics.errors import whole_number
from webanalytics.page.keywords.keyness import PLACES
from webanalytics.page.keywords.segmentation import (
    UNSPACED,
    UNSPACED_LANGUAGES,
    Segmented,
    bare,
    letters,
    segment,
    text_language,
)
from webanalytics.page.keywords.stopwords import chosen_stop_words
from webanalytics.page.page import Page
from webanalytics.page.text.main import main_language, main_text, prose

PARAGRAPH = 80
"""Letters from which a line of text is a paragraph, not a label or a heading."""


def first_paragraph(text: str) -> str | None:
    r"""Return the first paragraph of a text, None for a text of labels and headings alone.

    A paragraph has at least 80 characters, of which each one in a script without spaces counts as three.

    Examples
    --------
    >>> first_paragraph("Lamps\nThis lamp burns for thirty hours" + " and one more" * 4) is None
    False
    >>> first_paragraph("Lamps\nBrass lamps") is None
    True
    """
    for line in text.split("\n"):
        length = len(line)
        if length < PARAGRAPH <= 3 * length and not line.isascii():
            length += 2 * sum(map(len, UNSPACED.findall(line)))
        if length >= PARAGRAPH:
            return line
    return None


def terms_of(text: str, language: str, sizes: Sequence[int]) -> set[str]:
    """Return all words and phrases of so many words in a text, stop words included.

    Examples
    --------
    >>> sorted(terms_of("The people's lamp. Brass", "en", (1, 2)))
    ['brass', 'lamp', 'people', 'people lamp', 'the', 'the people']
    """
    found: set[str] = set()
    for run in segment(text, language).runs:
        words = [bare(word, language) for word in run.words]
        for size in sizes:
            found.update(run.separator.join(words[at : at + size]) for at in range(len(words) - size + 1))
    return found


def places_of(
    keywords: Iterable[str], texts: Mapping[str, str | None], language: str, sizes: Iterable[int]
) -> dict[str, list[str]]:
    """Return the keywords of so many words that stand in each place, in the given order.

    Places whose text is not known (None) are left out.

    Examples
    --------
    >>> places_of(["lamp", "oil"], {"title": "Lamps and a lamp", "h1": "", "description": None}, "en", [1])
    {'title': ['lamp'], 'h1': []}
    """
    wanted, lengths = list(keywords), tuple(sizes)
    found = {}
    for place, text in texts.items():
        if text is not None:
            terms = terms_of(text, language, lengths) if text else set()
            found[place] = [keyword for keyword in wanted if keyword in terms]
    return found


Source: TypeAlias = Literal["main", "page"]
"""Which text of a page is counted: its main text, or all that it shows."""

MOST_COUNTED = 2_000
"""Most words of a page, the most frequent first, with which those of other pages are compared."""

MENU_LINES = 10
"""Lines from which on a text of short lines alone is taken for menus and labels."""

MAX_LENGTH = 100
"""Most characters of a keyword: anything longer is not a word but encoded data."""


class KeywordTable(TypedDict):
    """Keywords of one text, most frequent first; the three lists run parallel."""

    keywords: list[str]
    frequency: list[int]
    density: list[float]
    total_words: int
    note: str


def count_keywords(
    text: str,
    language: str = "en",
    *,
    ngrams: int = 1,
    top: int = 50,
    min_length: int = 4,
    stop_words: Iterable[str] | str | None = None,
    max_length: int = MAX_LENGTH,
) -> KeywordTable:
    """Count the keywords of a text, by falling frequency, then first appearance.

    The parameters are those of `webanalytics.keywords`; ``note`` says why there is no keyword, or what was
    not read.

    Notes
    -----
    A word is letters with their marks and digits (``hdr10``; digits alone are none), in lower case and in
    Unicode's composed form. A hyphen separates words unless it stands after one letter or between two pairs
    (``e-mail``, ``wi-fi``), an apostrophe and the sign of a gendered form (``bürger:innen``) do not; names
    with a sign (``c++``, ``c#``, ``.net``, ``r&d``) are whole and count as four letters at least. Digits
    within a word count as letters. Then an English possessive (``people's``) and an elided
    article (``l'homme``) are taken off. Web addresses that are written out have no words. A word of a
    script without spaces has two characters or more, each worth two letters; so is each syllable of Korean.

    Words of an n-gram stand side by side, with nothing but a space or a hyphen between them: it never
    crosses punctuation, a number or the edge of a block. It neither starts nor ends with a stop word or a
    single letter; stop words inside it stay ("terms of service").

    The density is a share from 0 to 1: the frequency divided by the number of all words of the text, stop
    words and short ones included (``total_words``); for n-grams, by the number of all n-grams.

    Examples
    --------
    >>> count_keywords("Green tea is tea. Green tea keeps.", top=2, min_length=3)["keywords"]
    ['tea', 'green']
    >>> count_keywords("Green tea is tea. Green tea keeps.", ngrams=2)["frequency"]
    [2]
    """
    whole_number("ngrams", ngrams, 1, 3)
    whole_number("top", top, 1)
    whole_number("min_length", min_length, 1)
    left_out = chosen_stop_words(stop_words, language)
    segmented = segment(text, language, in_runs=ngrams > 1)
    words = sum(len(run.words) for run in segmented.runs)
    if ngrams == 1:
        counts, total = _count_words(segmented, language, left_out, min_length), words
    else:
        counts, total = _count_ngrams(segmented, language, left_out, min_length, ngrams)
    readable = [item for item in counts.items() if len(item[0]) <= max_length]
    best = dict(islice(sorted(readable, key=lambda item: -item[1]), top))
    return {
        "keywords": list(best),
        "frequency": list(best.values()),
        "density": [times / total for times in best.values()],
        "total_words": words,
        "note": _note(segmented, language, bool(best), ngrams, min_length),
    }


def _count_words(
    segmented: Segmented, language: str, left_out: frozenset[str], min_length: int
) -> dict[str, int]:
    """Return keyword to frequency, in order of first appearance."""
    counts: dict[str, int] = {}
    for word, times in Counter(segmented.words).items():
        if word in left_out:
            continue
        if "'" in word:
            word = bare(word, language)
            if word in left_out:
                continue
        elif len(word) >= min_length > 1:
            counts[word] = counts.get(word, 0) + times
            continue
        if letters(word) >= min_length:
            counts[word] = counts.get(word, 0) + times
    return counts


def _count_ngrams(
    segmented: Segmented, language: str, left_out: frozenset[str], min_length: int, size: int
) -> tuple[dict[str, int], int]:
    """Return n-gram to frequency, in order of first appearance, and the number of all n-grams."""
    bare_words: dict[str | None, str | None] = {None: None}
    ends: dict[str | None, str | None] = {None: None}
    for word in set(segmented.words):
        short = bare_words[word] = bare(word, language) if "'" in word else word
        good = word not in left_out and short not in left_out and letters(short) > 1
        ends[word] = short if good else None
    grams: list[str] = []
    for separator, runs in groupby(segmented.runs, key=lambda run: run.separator):
        words = [word for run in runs for word in (*run.words, None)]  # in one go: None parts the runs
        bares, at_end = [bare_words[word] for word in words], [ends[word] for word in words]
        inner = [bares[place:] for place in range(1, size - 1)]
        found = zip(at_end, *inner, at_end[size - 1 :], strict=False)
        grams += [separator.join(gram) for gram in found if None not in gram]
    total = sum(max(0, len(run.words) - size + 1) for run in segmented.runs)
    counts = Counter(grams)
    if min_length <= 4:  # two letters at both ends
        return counts, total
    long_enough = {
        gram: times for gram, times in counts.items() if sum(map(letters, gram.split())) >= min_length
    }
    return long_enough, total


def _note(segmented: Segmented, language: str, found: bool, ngrams: int, min_length: int) -> str:
    """Return why a text has no keywords, or that a large part of it was not read."""
    read = sum(map(len, segmented.words))
    if segmented.unread * 10 >= segmented.unread + read > 0:
        text = f"{UNSPACED_LANGUAGES.get(language, 'This')} text"
        return f"{text} needs a word segmenter: {how_to_install('cjk')}"
    if found:
        return ""
    if not read:
        return "The page has no visible text with letters."
    if ngrams > 1:
        return f"No {ngrams} words stand side by side that begin and end with other than stop words."
    return f"Every word of the text is a stop word or has fewer than {min_length} letters."


def text_of(page: Page, source: Source) -> tuple[str, str]:
    """Return the text of a page to count, and what there is to say about it, '' for nothing."""
    if source == "page":
        return page.visible_text, ""
    text = main_text(page)
    if not text and any(map(str.isalpha, page.visible_text)):
        return text, 'The page has no main text; source="page" counts all of its visible text.'
    lines = text.count("\n") + 1
    if lines >= MENU_LINES and text == page.visible_text and 2 * len(prose(text)) < len(text):
        return text, "No main text stands out on the page: all of its visible text was counted."
    return text, ""


def analyse(
    page: Page,
    *,
    ngrams: int = 1,
    top: int = 50,
    min_length: int = 4,
    stop_words: Iterable[str] | str | None = None,
    # ``"main"`` for the main text, without menus, banners and footers; ``"page"`` for all visible text
    source: Source = "main",
    # whether to find out where the keywords stand, and to give the counts that tell how distinctive they are
    # of the page
    details: bool = True,
) -> dict[str, Any]:
    """Count the keywords of a page; the parameters of the count are those of `count_keywords`.

    Returns
    -------
    dict
        ``url`` (as submitted), ``keywords`` (keyword to frequency, by falling frequency, then first
        appearance), ``density`` (keyword to share of the text's words, 0 to 1), ``places`` (the keywords in
        title, main heading, description and first paragraph), ``counts`` (more keywords than those asked
        for, with their frequencies), ``source`` and ``note``.

    Raises
    ------
    ParameterError
        For a parameter out of its range.
    """
    language = (source == "main" and main_language(page)) or text_language(page)
    text, remark = text_of(page, source)
    found = count_keywords(
        text,
        language,
        ngrams=ngrams,
        top=max(top, MOST_COUNTED) if details else top,
        min_length=min_length,
        stop_words=stop_words,
    )
    best = found["keywords"][:top]
    answer: dict[str, Any] = {
        "url": page.url,
        "keywords": dict(zip(best, found["frequency"], strict=False)),
        "density": dict(zip(best, found["density"], strict=False)),
        "places": None,
        "counts": None,
        "source": source,
        "note": remark or found["note"],
    }
    if details:
        said = (None, None, None) if page.is_text else (page.title, page.h1, page.description)
        texts = dict(zip(PLACES, (*said, first_paragraph(text)), strict=True))
        answer["places"] = places_of(best, texts, language, [ngrams])
        answer["counts"] = dict(zip(found["keywords"], found["frequency"], strict=True))
    return answer
