"""Where the keywords of a page stand: its title, main heading, description and first paragraph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from webanalytics.page.keywords.segmentation import UNSPACED, Run, bare, segment

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
        if len(line) >= PARAGRAPH:
            return line
        if 3 * len(line) >= PARAGRAPH and len(line) + 2 * sum(map(len, UNSPACED.findall(line))) >= PARAGRAPH:
            return line
    return None


def terms_of(text: str, language: str, sizes: Iterable[int]) -> set[str]:
    """Return all words and phrases of so many words in a text, stop words included.

    Examples
    --------
    >>> sorted(terms_of("The people's lamp. Brass", "en", (1, 2)))
    ['brass', 'lamp', 'people', 'people lamp', 'the', 'the people']
    """
    runs = segment(text, language).runs
    found: set[str] = set()
    for size in sizes:
        for run in runs:
            found |= _grams(run, size, language)
    return found


def _grams(run: Run, size: int, language: str) -> set[str]:
    words = [bare(word, language) for word in run.words]
    return {run.separator.join(words[start : start + size]) for start in range(len(words) - size + 1)}


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
