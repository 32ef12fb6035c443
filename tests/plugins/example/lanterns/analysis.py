"""The pure functions, which worker processes import."""

from __future__ import annotations

import re
from typing import Any

from webanalytics.errors import RowError


def slugify(title: str, separator: str) -> dict[str, Any]:
    """Return the slug of a title."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    if not words:
        raise RowError("must_be", parameter="title", what="a text with letters")
    return {"slug": separator.join(words), "words": len(words)}


def headline(page: Any) -> dict[str, Any]:
    """Return the first heading of a page, and the process that read it."""
    import os

    found = next(page.tree.iter("h1"), None)
    return {"headline": None if found is None else found.text_content(), "process": os.getpid()}
