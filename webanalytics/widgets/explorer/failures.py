"""The pages that could not be read, by reason, each with the option that changes it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from webanalytics.messages import recognise
from webanalytics.messages.table import MEANINGS
from webanalytics.widgets.explorer.table import MOST_ROWS, clean, texts

MOST_URLS = 100
"""Most pages that are listed of one reason."""
MOST_REASONS = 100

OPTIONS = {
    "robots": "robots=False",
    "private": "allow_private=True",
    "timeout": "timeout=",
    "too_large": "max_bytes=",
    "credits": "budget=",
    "service": 'retry="failed"',
    "unfinished": 'retry="failed"',
}
"""The option that changes a failure, by the key of its sentence or by its error type."""

CHANGES = {
    "robots=False": "fetches it all the same",
    "allow_private=True": "lets it through",
    "timeout=": "gives it more seconds",
    "max_bytes=": "takes larger pages",
    "budget=": "spends more credits",
    'retry="failed"': "asks for it again, with a checkpoint",
}
"""What each option does to the pages that failed for want of it."""


def option_for(error_type: str, sentence: str) -> str:
    """Return the option that changes a failure, "" where none does.

    Examples
    --------
    >>> option_for("robots", "The page may not be fetched."), option_for("http", "")
    ('robots=False', '')
    """
    found = recognise(sentence) if sentence else None
    return OPTIONS.get("" if found is None else found.key) or OPTIONS.get(error_type, "")


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
    kinds, sentences = texts(pages, "error_type"), texts(pages, "error")
    groups: dict[tuple[str, str], list[int]] = {}
    for row, status in enumerate(texts(pages, "status")):
        if status == "error":
            groups.setdefault((kinds[row], sentences[row]), []).append(row)
    addresses = texts(pages, str(pages.columns[0])) if len(pages.columns) else []
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))[:MOST_REASONS]
    return [_group(kind, sentence, rows, addresses) for (kind, sentence), rows in ordered]


def _group(kind: str, sentence: str, rows: list[int], addresses: list[str]) -> dict[str, Any]:
    option = option_for(kind, sentence)
    meaning = str(MEANINGS.get(kind, "It failed."))  # type: ignore[call-overload]
    return {
        "reason": clean(sentence or f"{meaning.partition(';')[0].rstrip('.')}."),
        "type": clean(kind or "other", 40),
        "option": option,
        "change": CHANGES.get(option, ""),
        "count": len(rows),
        "rows": [[row if row < MOST_ROWS else None, clean(addresses[row])] for row in rows[:MOST_URLS]],
    }
