"""The pages that could not be read, by reason, each with the option that changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from webanalytics.messages import recognise
from webanalytics.messages.table import MEANINGS
from webanalytics.widgets.explorer.table import MOST_ROWS, clean, texts

MOST_URLS = 100
"""Most pages that are listed of one reason."""
MOST_REASONS = 100

_WAYS: Mapping[str, tuple[str, str]] = {
    "private": ("allow_private=True", "lets it through"),
    "connect_timeout": ("connect_timeout=", "sets how long to wait"),
    "timeout": ("timeout=", "sets how long to wait"),
    "robots": ("robots=False", "fetches it all the same"),
    "robots_unreadable": ("robots=False", "fetches it all the same"),
    "redirects": ("max_redirects=", "sets how many are followed"),
    "too_large": ("max_bytes=", "sets the limit"),
    "content_too_large": ("max_bytes=", "sets the limit"),
    "analysis_timeout": ("parse_timeout=", "sets how long to wait"),
    "analysis_memory": ("worker_memory=", "sets the limit"),
    "budget_spent": ("budget=", "sets the limit"),
}
"""The option that changes a failure and what it does, by the key of the failure."""


class Told(NamedTuple):
    """Why a page failed: a sentence, the option that changes it, and what the option does; "" where none."""

    reason: str
    option: str = ""
    change: str = ""


def told(kind: str, said: str, key: str = "") -> Told:
    """Return why a page failed, from its error type, its sentence and, where the frame has it, its key.

    Examples
    --------
    >>> told("blocked", "The host is not public; `allow_private=True` lets it through.", "private")
    Told(reason='The host is not public.', option='allow_private=True', change='lets it through')
    >>> told("http", "").reason
    'The server answered with an error such as 404, or with invalid HTTP.'
    """
    meaning = str(MEANINGS.get(kind, "The page was not read, and no reason is known."))  # type: ignore[call-overload]
    if not said:
        return Told(
            f"{meaning.partition(';')[0].rstrip('.')}.", *_WAYS.get(kind, ()) if kind == "robots" else ()
        )
    found = None if key in _WAYS else recognise(said)
    known = _WAYS.get(key or ("" if found is None else found.key))
    if known is None:
        return Told(said)
    # a frame's sentence may end with the option
    return Told(f"{said.removesuffix(f'; `{known[0]}` {known[1]}.').rstrip('.')}.", *known)


def failure_groups(pages: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the failed pages by reason, the most frequent first.

    Returns
    -------
    list of dict
        ``reason`` (a sentence), ``type`` (its error type), ``option`` and ``change`` (what changes it, and
        how), ``count``, and ``rows``: for the first of its pages the row in the table and the address.

    Examples
    --------
    >>> pages = pd.DataFrame({"url": ["a", "b"], "status": ["error"] * 2, "error_type": ["robots"] * 2})
    >>> [(group["reason"], group["option"], group["count"]) for group in failure_groups(pages)]
    [("The site's robots.txt forbids the page.", 'robots=False', 2)]
    """
    causes = [texts(pages, name) for name in ("error_type", "error", "error_key")]
    groups: dict[tuple[str, str, str], list[int]] = {}
    for row, status in enumerate(texts(pages, "status")):
        if status == "error":
            groups.setdefault((causes[0][row], causes[1][row], causes[2][row]), []).append(row)
    addresses = texts(pages, str(pages.columns[0])) if len(pages.columns) else []
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))[:MOST_REASONS]
    return [_group(cause, rows, addresses) for cause, rows in ordered]


def _group(cause: tuple[str, str, str], rows: list[int], addresses: list[str]) -> dict[str, Any]:
    found = told(*cause)
    return {
        "reason": clean(found.reason),
        "type": clean(cause[0] or "other", 40),
        "option": found.option,
        "change": found.change,
        "count": len(rows),
        "rows": [[row if row < MOST_ROWS else None, clean(addresses[row])] for row in rows[:MOST_URLS]],
    }
