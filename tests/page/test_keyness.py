"""The distinctiveness of terms: log-likelihood keyness."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.page.keywords.keyness import CRITICAL, UNLIKELY, keyness


def textbook(here: int, size: int, elsewhere: int, rest: int) -> float:
    """Return G2 by sums of x ln x, another form of the formula."""

    def plogp(value: float) -> float:
        return value * math.log(value) if value else 0.0

    both = here + elsewhere
    share = here * math.log(size) + elsewhere * math.log(rest) - both * math.log(size + rest)
    return 2 * (plogp(here) + plogp(elsewhere) - plogp(both) - share)


texts = st.integers(1, 100_000)


@given(texts, texts, st.data())
def test_keyness_equals_another_form_of_the_formula(size: int, rest: int, data: st.DataObject) -> None:
    here, elsewhere = data.draw(st.integers(0, size)), data.draw(st.integers(0, rest))
    found = float(keyness(here, size, elsewhere, rest))
    assert math.isclose(abs(found), textbook(here, size, elsewhere, rest), rel_tol=1e-6, abs_tol=1e-5)
    difference = here * rest - elsewhere * size
    assert found == 0 or math.copysign(1, found) == math.copysign(1, difference)
    turned = float(keyness(elsewhere, rest, here, size))
    assert math.isclose(found, -turned, rel_tol=1e-6, abs_tol=1e-6)


def test_arrays_and_limits() -> None:
    assert keyness([5, 0], [10, 10], [0, 0], [10, 10]).tolist() == [10 * math.log(2), 0.0]
    # what chi-squared with one degree of freedom exceeds with these probabilities: erfc(sqrt(x / 2))
    assert np.isclose(math.erfc(math.sqrt(UNLIKELY / 2)), 0.05, rtol=0.01)
    assert np.isclose(math.erfc(math.sqrt(CRITICAL / 2)), 0.001, rtol=0.01)
