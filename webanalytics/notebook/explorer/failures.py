"""The pages that could not be read, by reason, as the browser gets them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from webanalytics.audits.overview.failures import reasons
from webanalytics.notebook.explorer.table import MOST_ROWS, clean, texts

MOST_URLS = 100
"""Most pages that are listed of one reason."""
MOST_REASONS = 100


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
    addresses = texts(pages, str(pages.columns[0])) if len(pages.columns) else []
    return [
        {
            "reason": clean(why.sentence),
            "type": clean(why.error_type or "other", 40),
            "option": "" if why.advice is None else why.advice.option,
            "change": "" if why.advice is None else why.advice.change,
            "count": len(rows),
            "rows": [[row if row < MOST_ROWS else None, clean(addresses[row])] for row in rows[:MOST_URLS]],
        }
        for why, rows in reasons(pages)[:MOST_REASONS]
    ]
