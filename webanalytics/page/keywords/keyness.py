"""How distinctive a term is of one text, and the places where keywords stand: for frames, without a parser.

Keyness is log-likelihood against other texts; frames and audits compare pages by it, once all have come.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

UNLIKELY = 3.84
"""Keyness that chance alone exceeds in one of 20 terms: chi-squared with one degree of freedom."""

CRITICAL = 10.83
"""Keyness that chance alone exceeds in one of 1,000 terms."""

SUBJECT = 10
"""Pages whose texts have a term for each whose title or main heading has it, from which on it is shared."""


def keyness(
    here: npt.ArrayLike, size: npt.ArrayLike, elsewhere: npt.ArrayLike, rest: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return the signed log-likelihood ratio G2 of terms' frequencies in two texts.

    It is 0 where a term is as frequent in both, and negative where it is rarer in the first.

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


PLACES = ("title", "h1", "description", "first_paragraph")
"""The places of a page, as the columns ``in_title`` and so on name them."""
