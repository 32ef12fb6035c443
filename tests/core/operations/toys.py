"""Two operations that are no part of the package: declarations, pure functions, and a service that has them.

``python -m tests.core.operations.toys serve`` is ``webanalytics serve`` with both of them registered.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any, Literal

from webanalytics.core.operations.model import PAGE_COLUMNS, PAGE_PATTERN, PAGE_URL, Docs
from webanalytics.errors import RowError
from webanalytics.operations import Field, Operation, Parameter, register


def shout(phrase: str, mark: str, how_often: int) -> dict[str, Any]:
    """The pure function of `SHOUT`."""
    if not phrase.strip():
        raise RowError("must_be", parameter="phrase", what=SHOUT.subject_parameter.expectation)
    shouted = phrase.upper() + mark * how_often
    return {"shouted": shouted, "length": len(shouted), "mark": mark}


def outline(page: Any, deepest: int = 6) -> dict[str, Any]:
    """The pure function of `OUTLINE`."""
    found = [item for item in page.tree.iter("h1", "h2", "h3") if int(item.tag[1]) <= deepest]
    return {
        "url": page.url,
        "levels": dict(Counter(item.tag for item in found)),
        "first": found[0].text_content() if found else None,
        "links": sum(1 for _ in page.tree.iter("a")),
    }


SHOUT = Operation(
    name="shout",
    path="phraseshouter",
    method="POST",
    summary="Say a phrase loudly.",
    kind="record",
    subject="phrase",
    input_column="phrase",
    parameters=(
        Parameter("phrase", str, "What to say.", expects="a phrase with letters"),
        Parameter("mark", Literal["!", "?"], "What the phrase ends with.", default="!"),
        Parameter("howOften", int, "How many marks.", default=1, low=1, high=5),
    ),
    fields=(
        Field("shouted", str, "The phrase in capitals."),
        Field("length", int, "Characters of the answer."),
        Field("mark", str, "The mark used.", premium=True),
    ),
    credits=3,
    analysis="tests.core.operations.toys:shout",
    function="shouts",
    column_names=("phrase", "phrases"),
    table=(("phrase", "phrase"), ("shouted", "said loudly")),
    graphql=True,
    example={
        "parameters": {"phrase": "hello", "howOften": 2},
        "data": {"shouted": "HELLO!!", "length": 7, "mark": "!"},
    },
    docs=Docs(summary="Say phrases loudly.", inputs="What to say."),
)


OUTLINE = Operation(
    name="outline",
    path="pageoutline",
    method="POST",
    summary="Count the headings and links of a page.",
    kind="page",
    subject="url",
    input_column="url",
    parameters=(PAGE_URL, Parameter("deepest", int, "Deepest level.", default=6, low=1, high=6, local=True)),
    fields=(
        Field("url", str, "URL as submitted."),
        Field("levels", dict[str, int], "Headings of each level."),
        Field("first", str | None, "The first heading, null where there is none."),
        Field("links", int, "Links of the page.", premium=True),
    ),
    credits=4,
    analysis="tests.core.operations.toys:outline",
    column_names=PAGE_COLUMNS,
    column_pattern=PAGE_PATTERN,
    graphql=True,
)

if __name__ == "__main__":
    from webanalytics.cli import main

    with register(SHOUT), register(OUTLINE):
        sys.exit(main())
