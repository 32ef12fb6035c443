"""What a page is read for besides its facts, declared like the page operations and never served."""

from __future__ import annotations

from typing import Any, TypedDict

from webanalytics.core.operations.model import (
    PAGE_COLUMNS,
    PAGE_PATTERN,
    PAGE_URL,
    Field,
    Operation,
    Parameter,
)

DEFAULT_MAX_LINKS = 50_000
"""Most different targets kept of a page: an index of Python's documentation has 17,242."""

SKETCH_SIZE = 128
"""Most hashes of a page's sketch, and of its lines."""


class Outlinks(TypedDict):
    """The links of a page in document order, as parallel lists; alike ones are one, so many ``times``.

    ``left_out`` counts links that are not here, ``cut`` says that the page has more than are kept.
    """

    target: list[str]
    anchor: list[str]
    rel: list[int]
    kind: list[str]
    position: list[str]
    fragment: list[str]
    times: list[int]
    left_out: int
    cut: bool


def unserved(
    name: str, analysis: str, summary: str, fields: tuple[Field, ...], *parameters: Parameter
) -> Operation:
    """Return the declaration of what is read from a page on this machine alone."""
    return Operation(
        name=name,
        path="",
        method="POST",
        summary=summary,
        kind="page",
        subject="url",
        input_column="url",
        parameters=(PAGE_URL, *parameters),
        fields=fields,
        credits=0,
        analysis=f"webanalytics.page.{analysis}:analyse",
        column_names=PAGE_COLUMNS,
        column_pattern=PAGE_PATTERN,
    )


OUTLINKS = unserved(
    "outlinks",
    "facts.outlinks",
    "Links of a page, and what a crawl must know to follow them.",
    (
        Field(
            "outlinks",
            Outlinks,
            "Addresses in normal form, anchor texts, bits of rel, kinds, positions, fragments and times.",
            audited=False,
        ),
        Field(
            "ids",
            list[int] | None,
            "Hashes of the places that links can lead to; none if they are not known.",
            audited=False,
        ),
        Field("nofollow", bool, "Whether a meta element named robots says nofollow or none.", audited=False),
        Field(
            "sketch",
            list[int],
            "Hashes of pairs of words: near-equal pages have nearly the same.",
            audited=False,
        ),
        Field("lines", list[int], "Hashes of the lines of the visible text, numbers and all.", audited=False),
        Field("text_hash", str, "Hash of all visible text.", audited=False),
    ),
)
EXTRACT = unserved(
    "extract",
    "extraction",
    "What selectors of one's own find on a page.",
    (
        Field("extracted", dict[str, Any], "What each selector found, by its name."),
        Field("extract_note", str, "Selectors that took too long or failed on the page, and why."),
    ),
    Parameter("entries", list[list[Any]], "Name, kind, source, flags and number of each selector."),
)
RENDERING = unserved(
    "rendering",
    "rendering",
    "What the scripts of a page bring or change.",
    (
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
    Parameter("sent", dict[str, Any], "The page as it was sent.", default={}),
    Parameter("seen", dict[str, Any], "What the browser says of the page.", default={}),
)
