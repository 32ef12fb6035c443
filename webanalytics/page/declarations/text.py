"""Page text: the readable text of a page with its title, dates, language and publisher."""

from __future__ import annotations

from typing import Literal, TypedDict

from webanalytics.core.operations.model import (
    PAGE_COLUMNS,
    PAGE_PATTERN,
    PAGE_URL,
    Docs,
    Field,
    Operation,
    Parameter,
)


class Dates(TypedDict):
    """Dates as ``YYYY-MM-DD``."""

    published: str | None
    modified: str | None


class Publisher(TypedDict):
    """The organisation behind a page."""

    name: str | None
    url: str | None
    logo: str | None


TEXT = Operation(
    name="text",
    path="websitetotext",
    method="POST",
    summary="Fetch a web page and return its readable text with title, description and language.",
    kind="page",
    subject="url",
    input_column="url",
    parameters=(
        PAGE_URL,
        Parameter(
            "format",
            Literal["plain", "markdown"],
            "Form of the text: plain, or markdown with its headings, lists, tables and links.",
            default="plain",
            local=True,
        ),
        Parameter("comments", bool, "Return readers' comments beside the text.", default=False, local=True),
    ),
    fields=(
        Field("date", Dates | None, "Publication and modification date, null where the page has none."),
        Field("description", str, "Meta description."),
        Field("title", str, "The page's own title."),
        Field("title_alt", str, "Title from the main heading."),
        Field("text", str, "Extracted main text."),
        Field("language", str, "Language detected from the text, ISO 639-1."),
        Field("publisher", Publisher | None, "Publisher, null where the page names none."),
        Field("url", str, "URL as submitted."),
        Field("note", str, "Why a page has no text, where it has none.", extra=True, audited=False),
        Field(
            "page_type",
            str,
            "article, documentation, service, forum, collection, listing, product or other.",
            extra=True,
        ),
        Field(
            "content_confidence", float | None, "Chance from 0 to 1 that the text is the content.", extra=True
        ),
        Field("content_note", str, "Why the chance is low: no_text, by_scripts or fragment.", extra=True),
        Field("comments", str, "Readers' comments.", extra=True, audited=False, only_with="comments"),
    ),
    credits=10,
    graphql=True,
    analysis="webanalytics.page.text.text:analyse",
    column_names=PAGE_COLUMNS,
    column_pattern=PAGE_PATTERN,
    table=(("url", "page"), ("title", "title"), ("language", "lang"), ("text", "text")),
    chart="words",
    audited=True,
    example="webanalytics.page.declarations:examples/text.json",
    docs=Docs(
        summary="Extract the main text of pages, with title, dates, language and publisher.",
        returns=(
            "One row per input; ``text``, ``title``, ``title_alt``, ``description`` and ``language`` "
            "(ISO 639-1) are strings, ``date`` is a dict with ``published`` and ``modified``, "
            "``publisher`` a dict with ``name``, ``url`` and ``logo`` (both missing where the page has "
            "none)."
        ),
        notes=(
            "Which blocks of a page are its content is decided by small models for any type of page, trained "
            "on the Web Content eXtraction Benchmark (Foley 2026, CC BY 4.0). ``content_confidence`` says "
            "how likely the text is right."
        ),
        examples="""
>>> import pandas as pd
>>> import webanalytics as wa
>>> html = "<h1>Tides</h1><p>" + "The sea rises and falls twice a day. " * 8 + "</p>"
>>> frame = wa.text(pd.DataFrame({"url": ["https://sea.example/"], "html": [html]}))
>>> frame.loc[0, ["title_alt", "language"]].tolist()
['Tides', 'en']
""",
    ),
)
