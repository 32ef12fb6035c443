"""What a crawl reads from a page: its links of all kinds, and what tells its content from that of others."""

from __future__ import annotations

from typing import TypedDict

from webanalytics.core.operations.model import PAGE_COLUMNS, PAGE_PATTERN, PAGE_URL, Field, Operation

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


OUTLINKS = Operation(
    name="outlinks",
    path="",
    method="POST",
    summary="Links of a page, and what a crawl must know to follow them.",
    kind="page",
    subject="url",
    input_column="url",
    parameters=(PAGE_URL,),
    fields=(
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
    credits=0,
    analysis="webanalytics.page.facts.outlinks:analyse",
    column_names=PAGE_COLUMNS,
    column_pattern=PAGE_PATTERN,
)
