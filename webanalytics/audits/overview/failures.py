"""The pages of an audit that could not be read: why, how many, and the option that changes it."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd

from webanalytics.core.messages import ADVICE, MEANINGS, MESSAGES, Advice, advice_on, recognise
from webanalytics.core.operations.model import Dtype
from webanalytics.runs.frames.schema import as_frame, make_columns
from webanalytics.urls import address

COLUMNS: dict[str, Dtype] = {
    "reason": "string",
    "error_type": "string",
    "pages": "integer",
    "option": "string",
    "advice": "string",
    "url": "string",
    "error_key": "string",
}
"""Columns of a frame of failures."""


class Reason(NamedTuple):
    """Why a page was not read: a sentence without advice, the failure's type and key, and the advice."""

    sentence: str
    error_type: str | None = None
    key: str | None = None
    advice: Advice | None = None


@lru_cache(maxsize=10_000)
def reason(error_type: str | None, error: str | None, key: str | None = None) -> Reason:
    """Return why a page was not read, from its error type, its sentence and, where it is known, its key.

    Examples
    --------
    >>> found = reason("blocked", "The host is not public; `allow_private=True` lets it through.", "private")
    >>> found.sentence, found.advice.option, found.advice.change
    ('The host is not public.', 'allow_private=True', 'lets it through')
    >>> reason("http", None).sentence
    'The server answered with an error such as 404, or with invalid HTTP.'
    """
    if not error:
        meaning: str = MEANINGS.get(error_type, "The page was not read, and no reason is known.")  # type: ignore[call-overload]
        sentence, _, more = meaning.partition(";")
        advice = ADVICE.get(key or error_type or "")
        of_all = key is not None or (advice is not None and more.strip() == f"{advice.effect}.")
        return Reason(f"{sentence.rstrip('.')}.", error_type, key, advice if of_all else None)
    if key not in MESSAGES or key == "status":  # a frame that another version, or a file, gave
        known = recognise(error)
        if known is not None:
            key, error_type = known.key, known.error_type
        elif key not in MESSAGES:
            key = None
    advice = advice_on(key, error)
    cut = error if advice is None else error.removesuffix(f"; {advice.effect}.")
    return Reason(error if cut == error else f"{cut}.", error_type, key, advice)


def reasons(pages: pd.DataFrame) -> list[tuple[Reason, list[int]]]:
    """Return why pages were not read, each reason with the positions of its rows, the most frequent first.

    Examples
    --------
    >>> pages = pd.DataFrame({"url": ["a", "b"], "status": ["error", "ok"], "error_type": ["robots", None]})
    >>> [(found.sentence, rows) for found, rows in reasons(pages)]
    [("The site's robots.txt forbids the page.", [0])]
    """
    groups: dict[Reason, list[int]] = {}
    columns = (_texts(pages, name) for name in ("status", "error_type", "error", "error_key"))
    for row, (status, *cause) in enumerate(zip(*columns, strict=True)):
        if status == "error":
            groups.setdefault(reason(*cause), []).append(row)
    return sorted(groups.items(), key=lambda item: -len(item[1]))


def failures(pages: pd.DataFrame) -> pd.DataFrame:
    """Return why pages could not be read; see `Audit.failures`."""
    found, urls = reasons(pages), _texts(pages, "url")
    advice = [why.advice for why, _ in found]
    cells: dict[str, list[Any]] = {
        "reason": [why.sentence for why, _ in found],
        "error_type": [why.error_type for why, _ in found],
        "pages": [len(rows) for _, rows in found],
        "option": [None if item is None else item.option for item in advice],
        "advice": [None if item is None else item.effect for item in advice],
        "url": [next((urls[row] for row in rows if urls[row] is not None), None) for _, rows in found],
        "error_key": [why.key for why, _ in found],
    }
    return as_frame(make_columns(cells, COLUMNS), pd.RangeIndex(len(found)), "failures")


LARGE_SHARE = 0.1
"""Share of refused pages of a host, above which an audit says at its top that it is of the others."""


def refused(pages: pd.DataFrame) -> int:
    """Return how many pages were refused to us, which is not a fault of theirs."""
    return sum(len(rows) for why, rows in reasons(pages) if why.error_type == "refused")


def refusal_warning(pages: pd.DataFrame) -> str:
    """Return a sentence on the host that refused most, if above `LARGE_SHARE` of its pages; "" if none did.

    Examples
    --------
    >>> rows = {"url": ["https://a.example/", "https://a.example/b"], "status": ["ok", "error"]}
    >>> said = {"error_type": [None, "refused"], "error": [None, "The page answered HTTP 451."]}
    >>> refusal_warning(pd.DataFrame({**rows, **said}))
    'a.example refused 1 of 2 addresses: this audit speaks of the others alone. The page answered HTTP 451.'
    """
    away = {row: why for why, rows in reasons(pages) if why.error_type == "refused" for row in rows}
    found = [address(url or "") if away else None for url in _texts(pages, "url")]
    hosts = ["" if place is None else place.host for place in found]
    asked, counts = Counter(hosts), Counter(hosts[row] for row in away)
    most = [(host, count) for host, count in counts.most_common() if count > LARGE_SHARE * asked[host]]
    if not most:
        return ""
    host, count = most[0]
    why = next(why for row, why in away.items() if hosts[row] == host)
    left = "speaks of the others alone" if count < asked[host] else "says nothing of them"
    who = "The proxy" if why.key == "proxy_auth" else host or "The site"
    more = f" ({len(most) - 1:,} more such hosts: see .failures())" * (len(most) > 1)
    return (
        f"{who} refused {count:,} of {asked[host]:,} addresses{more}: this audit {left}. "
        f"{why.sentence.removesuffix('.')}{f'; {why.advice.effect}' if why.advice else ''}."
    )


def _texts(frame: pd.DataFrame, name: str) -> list[str | None]:
    """Return a column's texts; None for what is missing or no text, also where the column is missing."""
    if list(frame.columns).count(name) != 1:
        return [None] * len(frame)
    return [value if isinstance(value, str) else None for value in frame[name].tolist()]
