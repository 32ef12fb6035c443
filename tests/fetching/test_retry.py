"""Waiting times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.fetching.pace import backoff, retry_after

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        (" 7 ", 7.0),
        ("Fri, 02 Jan 2026 03:04:35 GMT", 30.0),  # the three forms of RFC 9110 section 5.6.7
        ("Friday, 02-Jan-26 03:04:35 GMT", 30.0),
        ("Fri Jan  2 03:04:35 2026", 30.0),
        ("Thu, 01 Jan 2026 00:00:00 GMT", 0.0),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("Fri, 99 Jan 2026 99:99:99 GMT", None),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@given(st.text(max_size=60))
def test_any_text_is_harmless(value: str) -> None:
    found = retry_after(value)
    assert found is None or found >= 0


def test_backoff_doubles_with_jitter_up_to_a_bound() -> None:
    for attempt, whole in enumerate((0.5, 1.0, 2.0, 4.0)):
        waits = [backoff(attempt, 0.5, 60) for _ in range(200)]
        assert whole / 2 <= min(waits) < max(waits) <= whole
        assert len(set(waits)) > 100
    assert max(backoff(50, 0.5, 10) for _ in range(100)) <= 10
