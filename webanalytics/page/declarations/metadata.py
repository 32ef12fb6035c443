"""Page metadata: meta tags, Open Graph, social cards, headings, images, structured data."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from webanalytics.core.operations.model import (
    PAGE_COLUMNS,
    PAGE_PATTERN,
    PAGE_URL,
    Docs,
    Field,
    Operation,
    Parameter,
)


class Favicon(TypedDict):
    """One icon link."""

    rel: str
    href: str
    sizes: NotRequired[str]
    type: NotRequired[str]


class Heading(TypedDict):
    """One heading; the level is ``h1`` to ``h6``."""

    level: str
    text: str


class Image(TypedDict):
    """One img element."""

    src: str
    alt: str
    width: NotRequired[str]
    height: NotRequired[str]


_PAGE = (
    Field("requestUrl", str, "URL as submitted.", column="url"),
    Field("url", str, "Final URL after redirects.", column="final_url"),
    Field("canonical", str, "Canonical URL.", premium=True),
    Field("lang", str, "Language code from the html lang attribute."),
    Field("charset", str, "Character encoding declared by the page, else by the server, else detected."),
    Field("title", str, "Content of the title tag."),
    Field("image", str, "Primary image URL from meta tags.", premium=True),
    Field("favicons", list[Favicon], "Icon links.", premium=True),
    Field("author", str, "Author from meta tags."),
    Field("description", str, "Meta description."),
    Field("keywords", str, "Meta keywords.", audit="meta_keywords"),
    Field("source", str, "Page source or publication reference.", premium=True),
    Field("price", str, "Product price.", premium=True),
    Field("priceCurrency", str, "Currency code of the price.", premium=True),
    Field("availability", str, "Product availability.", premium=True),
    Field("robots", str, "Robots meta tag."),
    Field("jsonld", list[dict[str, Any]], "JSON-LD structured data, @graph arrays flattened.", premium=True),
    Field("viewport", str, "Viewport meta tag."),
    Field("theme-color", str, "Theme colour meta tag.", premium=True),
    Field("application-name", str, "Application name meta tag."),
    Field("headings", list[Heading], "Headings in document order.", premium=True),
    Field("imgTags", list[Image], "Images in document order.", premium=True),
    Field("responseBody", str, "Raw HTML; locally only with body=True.", premium=True, only_with="body"),
)

OPEN_GRAPH = {
    "url": "Canonical URL of the object.",
    "locale": "Locale of the tags.",
    "locale:alternate": "Other locales.",
    "title": "Title of the object.",
    "type": "Type of the object.",
    "description": "Description of the object.",
    "determiner": "Word placed before the title.",
    "site_name": "Name of the site.",
    "image": "Image URL.",
    "image:secure_url": "Image URL in https.",
    "image:type": "MIME type of the image.",
    "image:width": "Width of the image in pixels.",
    "image:height": "Height of the image in pixels.",
    "image:alt": "Description of the image.",
}

CARD = {
    "title": "Card title.",
    "description": "Card description.",
    "image": "Card image URL.",
    "image:alt": "Description of the card image.",
    "card": "Card type.",
    "site": "Account of the site.",
    "site:id": "Account id of the site.",
    "url": "Card URL.",
    "account_id": "Account id.",
    "creator": "Account of the creator.",
    "creator:id": "Account id of the creator.",
    "player": "URL of the player's iframe.",
    "player:width": "Width of the player.",
    "player:height": "Height of the player.",
    "player:stream": "URL of the raw media stream.",
} | {
    f"app:{part}:{platform}": f"{meaning} for the {platform} app."
    for part, meaning in (("name", "Name"), ("id", "Store id"), ("url", "Deep link"))
    for platform in ("handset", "tablet", "store")
}

_FIELDS = (
    *_PAGE,
    *(
        Field(f"og:{name}", str, f"Open Graph: {meaning}", premium=name != "image:alt")
        for name, meaning in OPEN_GRAPH.items()
    ),
    *(Field(f"card:{name}", str, f"Social card: {meaning}", premium=True) for name, meaning in CARD.items()),
    Field("authors", list[str], "Names of the authors, from structured data, markup and byline.", extra=True),
    Field("headline", str, "Headline that the reader sees, without the name of the site.", extra=True),
)

"""An answer; the fields that are not here are empty."""

METADATA = Operation(
    name="metadata",
    path="metadataextractor",
    method="POST",
    summary="Fetch a web page and return its meta tags, headings, images, favicons and related data.",
    kind="page",
    subject="url",
    input_column="url",
    parameters=(
        PAGE_URL,
        Parameter(
            "body", bool, "Fill responseBody with the raw HTML.", default=False, local=True, served=True
        ),
    ),
    fields=_FIELDS,
    credits=2,
    analysis="webanalytics.page.metadata:analyse",
    column_names=PAGE_COLUMNS,
    column_pattern=PAGE_PATTERN,
    table=(("url", "page"), ("title", "title"), ("description", "description"), ("robots", "robots")),
    chart="text_lengths",
    audited=True,
    example="webanalytics.page.declarations:examples/metadata.json",
    docs=Docs(
        summary="Read the metadata of pages: meta tags, Open Graph, social cards, headings, images, JSON-LD.",
        settings={"body": "Fill ``responseBody`` with the HTML of each page."},
        returns=(
            "One row per input, in input order, with the input's index. ``url`` is the input, "
            "``final_url`` where it ended; then the fields of the operation (strings, and lists of "
            "dicts for ``favicons``, ``jsonld``, ``headings`` and ``imgTags``), ``error``, "
            "``error_type``, ``redirects``, ``http_status``, ``elapsed`` in seconds and ``bytes``."
        ),
        notes=(
            "Tags are read as the HTML standard, the Open Graph protocol (ogp.me) and schema.org define "
            "them; where a tag repeats, the first that is not empty wins."
        ),
        examples="""
>>> import pandas as pd
>>> import webanalytics as wa
>>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>A &amp; B</title>"]})
>>> wa.metadata(pages).loc[0, "title"]
'A & B'
""",
    ),
)
