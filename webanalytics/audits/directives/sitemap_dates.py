"""Dates of sitemaps: W3C Datetime, and RFC 822 in feeds."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_W3C = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)"
    r"(?P<time>T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?)?)?"
)


def moment_of(text: str) -> datetime | None:
    """Return the moment that a date of a sitemap names, None for what is no such date.

    A year or a month is its first day; a day begins at midnight UTC.

    Examples
    --------
    >>> moment_of("2026-01-31").isoformat(), moment_of("2026-01-31T10:00:00+02:00").isoformat()
    ('2026-01-31T00:00:00+00:00', '2026-01-31T10:00:00+02:00')
    >>> moment_of("31.01.2026"), moment_of("2026-02-30"), moment_of("2026-01-31T10:00:00")
    (None, None, None)
    """
    text = text.strip()
    found = _W3C.fullmatch(text)
    try:
        if found is None:
            moment = parsedate_to_datetime(text[:60])
        else:
            day = f"{found['year']}-{found['month'] or '01'}-{found['day'] or '01'}"
            moment = datetime.fromisoformat(text if found["time"] else day)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # those before and after may lie beyond what there is in another zone
    return moment.replace(tzinfo=moment.tzinfo or UTC) if 1 < moment.year < 9_999 else None


def day_of(text: str) -> str:
    """Return the day of a date as it is written, the text itself for what is no date."""
    moment = moment_of(text)
    return text if moment is None else moment.date().isoformat()
