"""The declarations."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from webanalytics.core.operations.model import PAGE_COLUMNS, PAGE_PATTERN, PAGE_URL
from webanalytics.operations import Field, Operation, Parameter

slugify = Operation(
    name="slugify",
    path="slugify",
    method="POST",
    summary="Make a slug of a title.",
    kind="record",
    subject="title",
    input_column="title",
    parameters=(
        Parameter("title", str, "The title.", expects="a text with letters"),
        Parameter("separator", Literal["-", "_"], "What stands between words.", default="-"),
    ),
    fields=(Field("slug", str, "The slug."), Field("words", int, "Words of the slug.")),
    credits=1,
    analysis="lanterns.analysis:slugify",
    inputs="titles",
    column_names=("title", "titles"),
    example={"parameters": {"title": "Old Town"}, "data": {"slug": "old-town", "words": 2}},
)

headline = Operation(
    name="headline",
    path="headline",
    method="POST",
    summary="Read the first heading of a page.",
    kind="page",
    subject="url",
    input_column="url",
    parameters=(PAGE_URL,),
    fields=(Field("headline", str | None, "The heading."), Field("process", int, "Who read it.")),
    credits=1,
    analysis="lanterns.analysis:headline",
    column_names=PAGE_COLUMNS,
    column_pattern=PAGE_PATTERN,
)

hmac = replace(slugify, name="hmac", function="signed", path="signed")
ladder = replace(slugify, name="ladder", function="crawl", path="ladder")
