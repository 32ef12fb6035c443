"""Where the keywords of a page stand, and how distinctive a term is of one text among others.

Keyness is log-likelihood; frames and audits compare pages by it, once all of them have come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

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
    """Return the keywords that stand in each place, in the given order; unknown places are left out.

    Parameters
    ----------
    keywords
        Words and phrases, as `webanalytics.page.keywords.keywords` spells them.
    texts
        The text of each place, None where the page's is not known.
    language
        Language of the page.
    sizes
        How many words the keywords have.

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


UNLIKELY = 3.84
"""Keyness that chance alone exceeds in one of 20 terms: chi-squared with one degree of freedom."""

CRITICAL = 10.83
"""Keyness that chance alone exceeds in one of 1,000 terms."""


def keyness(
    here: npt.ArrayLike, size: npt.ArrayLike, elsewhere: npt.ArrayLike, rest: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return the signed log-likelihood ratio G2 of terms' frequencies in two texts.

    Parameters
    ----------
    here, size
        How often each term occurs in the first text, and the words of that text.
    elsewhere, rest
        The same of the text that it is compared with.

    Returns
    -------
    numpy.ndarray
        0 where a term is as frequent in both; negative where it is rarer in the first.

    Notes
    -----
    The frequencies to expect of a term that is as frequent in both are ``E1 = size (here + elsewhere) /
    (size + rest)`` and ``E2 = rest (here + elsewhere) / (size + rest)``; then ``G2 = 2 (here ln(here / E1) +
    elsewhere ln(elsewhere / E2))``: T. Dunning, "Accurate methods for the statistics of surprise and
    coincidence", Computational Linguistics 19 (1993); P. Rayson and R. Garside, "Comparing corpora using
    frequency profiling" (2000). Chance alone exceeds 3.84 in 5% of terms, 6.63 in 1%, and 10.83 in 0.1%.

    Examples
    --------
    >>> keyness([10, 2, 1], 1_000, [10, 18, 99], 9_000).round(2).tolist()
    [20.43, 0.0, -14.27]
    """
    first, one, second, other = (
        np.asarray(given, dtype=np.float64) for given in (here, size, elsewhere, rest)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (first + second) / (one + other)
        ratio = 2 * (_part(first, one * share) + _part(second, other * share))
        rarer = first * other < second * one
    ratio = np.where(ratio > 1e-9, ratio, 0.0)  # equal logarithms leave a difference of rounding
    signed: npt.NDArray[np.float64] = np.where(rarer, -ratio, ratio)
    return signed


def _part(found: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]) -> Any:
    return np.where(found > 0, found * np.log(found / expected), 0.0)
