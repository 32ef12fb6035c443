"""The names of the places that keywords are looked for in; apart, for frames that need no parser for them."""

from __future__ import annotations

PLACES = ("title", "h1", "description", "first_paragraph")
"""The places of a page, as the columns ``in_title`` and so on name them."""
