"""When a fetch is tried again, and after how long."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[0-9]{1,9}")


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds that a Retry-After header asks for, or None when it says nothing readable.

    Parameters
    ----------
    value : str or None
        The header: seconds or an HTTP date (RFC 9110 section 10.2.3).
    now : datetime, optional
        The present, for a date.

    Examples
    --------
    >>> retry_after("120")
    120.0
    >>> retry_after("Fri, 31 Dec 1999 23:59:59 GMT", datetime(1999, 12, 31, 23, 59, 29, tzinfo=UTC))
    30.0
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def backoff(attempt: int, base: float, longest: float) -> float:
    """Return the seconds before a further try: `base` doubled for each earlier one, less up to half.

    The part taken off at random keeps many clients from coming back at the same moment.

    Parameters
    ----------
    attempt : int
        Tries made so far, less one.
    base : float
        Seconds before the first further try.
    longest : float
        Upper bound in seconds.
    """
    return min(longest, base * 2.0**attempt) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
