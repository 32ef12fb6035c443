"""A rule."""

from __future__ import annotations

from typing import Any

import webanalytics as wa


@wa.rule(title="Title with a lantern", fix="Put it out.", explanation="Lanterns are out of date.")
def lantern_in_title(pages: Any) -> Any:
    """Find lanterns."""
    return pages["title"].str.contains("lantern", case=False)
