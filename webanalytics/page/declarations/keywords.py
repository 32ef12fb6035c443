"""Keyword frequency over the main text of a page; in the service, over all of its visible text."""

from __future__ import annotations

from typing import Literal

from webanalytics.core.operations.model import (
    PAGE_COLUMNS,
    PAGE_PATTERN,
    PAGE_TEXT,
    PAGE_URL,
    Field,
    Operation,
    Parameter,
)

KEYWORDS = Operation(
    name="keywords",
    path="keywordextractor",
    method="POST",
    summary="Fetch a web page and return its keywords with the frequency of each.",
    kind="page",
    subject="url",
    input_column="url",
    parameters=(
        PAGE_URL,
        PAGE_TEXT,
        Parameter("ngrams", int, "Words in a keyword.", default=1, low=1, high=3, local=True),
        Parameter("top", int, "Most keywords of a page.", default=50, low=1, high=10_000, local=True),
        Parameter("min_length", int, "Fewest letters of a word.", default=4, low=1, high=100, local=True),
        Parameter(
            "stop_words",
            list[str] | str | None,
            "Words left out: a list, or a language code; without it those of the page's own language.",
            default=None,
            expects="a list of words, a language code such as en, or none",
            local=True,
        ),
        Parameter(
            "source",
            Literal["main", "page"],
            "Text that is counted: the main text, or all that the page shows.",
            default="main",
            local=True,
            served="page",
        ),
        Parameter(
            "details",
            bool,
            "Add where each keyword stands and how distinctive it is of its page.",
            default=True,
            local=True,
            served=False,
        ),
    ),
    fields=(
        Field("url", str, "URL as submitted; empty for a text."),
        Field("keywords", dict[str, int], "Keyword to frequency, most frequent first."),
        Field(
            "density",
            dict[str, float],
            "Keyword to share of all words of the text.",
            extra=True,
            audited=False,
        ),
        Field(
            "places",
            dict[str, list[str]],
            "Keywords in the title, h1, description and first paragraph.",
            extra=True,
            audited=False,
        ),
        Field(
            "counts",
            dict[str, int],
            "Keyword to frequency of more keywords than asked for, to compare pages by.",
            extra=True,
            audited=False,
        ),
        Field("source", str, "Text that was counted: main or page.", extra=True, audited=False),
        Field(
            "note", str, "Why a page has no keywords, where the reason is known.", extra=True, audited=False
        ),
    ),
    credits=10,
    formats=("json", "xml", "yaml", "csv"),
    analysis="webanalytics.page.keywords.keywords:analyse",
    column_names=PAGE_COLUMNS,
    column_pattern=PAGE_PATTERN,
    table=(
        ("url", "page"),
        ("rank", "rank"),
        ("keyword", "keyword"),
        ("frequency", "frequency"),
        ("density", "density"),
        ("distinctiveness", "distinctive"),
        ("note", "note"),
    ),
    chart="keywords",
    audited=True,
    example="webanalytics.page.declarations:examples/keywords.json",
)
