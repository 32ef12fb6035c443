"""Why pages were not read, for a reader without the package."""

from __future__ import annotations

import re
from typing import NamedTuple

import pandas as pd

from webanalytics.audits.report.cells import column
from webanalytics.audits.words import phrase, say, several

MOST_FAILURES = 8
_ADVICE = re.compile(
    r"(?:; |,? see |: (?:(?:they|the others) are in |(?=`\.)))`[^`]+`[^.;]*|: see \.\w+(?:\(\))?|"
    r" `[a-z_]+=[^`]*` [^.]*\.| \([^()]*`[^()]*\)"
)


class Gap(NamedTuple):
    """How much is missing, and why."""

    amount: str
    why: str


def plain(text: str) -> str:
    """Return a sentence without what to write in Python about it.

    Examples
    --------
    >>> plain("The host is not public; `allow_private=True` lets it through.")
    'The host is not public.'
    """
    return _ADVICE.sub("", text).replace("`", "")


def failures(frame: pd.DataFrame) -> list[Gap]:
    """Return why addresses gave no page, the most frequent reason first."""
    if not {"reason", "pages"} <= set(frame.columns):
        return []
    found = [
        Gap(
            several("{n} address", "{n} addresses", int(count)),
            phrase(plain(str(reason))) if reason else say("The reason is unknown."),
        )
        for reason, count in zip(column(frame, "reason"), column(frame, "pages"), strict=True)
        if isinstance(count, (int, float))
    ]
    left = len(found) - MOST_FAILURES
    more = [Gap(several("{n} more reason", "{n} more reasons", left), say("See the list of pages."))]
    return found[:MOST_FAILURES] + more * (left > 0)
