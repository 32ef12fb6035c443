"""What users extract from pages besides the columns of an audit: declared like the facts, never served."""

from __future__ import annotations

from typing import Any

from webanalytics.core.operations.model import (
    PAGE_COLUMNS,
    PAGE_PATTERN,
    PAGE_URL,
    Field,
    Operation,
    Parameter,
)

EXTRACT = Operation(
    name="extract",
    path="",
    method="POST",
    summary="What selectors of one's own find on a page.",
    kind="page",
    subject="url",
    input_column="url",
    parameters=(
        PAGE_URL,
        Parameter("entries", list[list[Any]], "Name, kind, source, flags and number of each selector."),
    ),
    fields=(
        Field("extracted", dict[str, Any], "What each selector found, by its name."),
        Field("extract_note", str, "Selectors that took too long or failed on the page, and why."),
    ),
    credits=0,
    analysis="webanalytics.page.extraction:analyse",
    column_names=PAGE_COLUMNS,
    column_pattern=PAGE_PATTERN,
)
