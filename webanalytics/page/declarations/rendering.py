"""What an audit says of pages that a browser rendered: declared like the facts, never served."""

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

RENDERING = Operation(
    name="rendering",
    path="",
    method="POST",
    summary="What the scripts of a page bring or change.",
    kind="page",
    subject="url",
    input_column="url",
    parameters=(
        PAGE_URL,
        Parameter("sent", dict[str, Any], "The page as it was sent.", default={}),
        Parameter("seen", dict[str, Any], "What the browser says of the page.", default={}),
    ),
    fields=(
        Field("rendered", bool, "Whether the row is of the page as a browser rendered it."),
        Field("rendered_words", int | None, "Words that the page shows when its scripts have run."),
        Field("words_without_scripts", int, "Words that the page shows as its server sends it."),
        Field("render_note", str, "Why a page was not rendered that should have been, or not to its end."),
        Field("sent_html", str, "HTML as the server sent it, of a page that was rendered; with `body=True`."),
        Field(
            "rendering",
            list[dict[str, str]],
            "What only scripts bring or change, errors and what was not loaded: `what`, `sent`, `rendered`.",
        ),
    ),
    credits=0,
    analysis="webanalytics.page.rendering:analyse",
    column_names=PAGE_COLUMNS,
    column_pattern=PAGE_PATTERN,
)
