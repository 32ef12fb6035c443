"""Page text: the readable text of a page with its title, dates, language and publisher."""

from __future__ import annotations

from typing_extensions import TypedDict

from webanalytics.operations.base import Field, Operation
from webanalytics.operations.page_url import PAGE_URL


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
    parameters=(PAGE_URL,),
    fields=(
        Field("date", Dates | None, "Publication and modification date, null where the page has none."),
        Field("description", str, "Meta description."),
        Field("title", str, "The page's own title."),
        Field("title_alt", str, "Title from the main heading."),
        Field("text", str, "Extracted main text."),
        Field("language", str, "Language detected from the text, ISO 639-1."),
        Field("publisher", Publisher | None, "Publisher, null where the page names none."),
        Field("url", str, "URL as submitted."),
    ),
    credits=10,
    graphql=True,
)
