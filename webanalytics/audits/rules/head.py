"""Rules about the start of a page: its document type, its encoding and its head, and what the head says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from webanalytics.audits.graph.site_links import normal
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import LONGEST, enumerated, listed, more, outside_head, said
from webanalytics.audits.site import Site

_FILE = re.compile(r"[^\s]*\.(?:jpe?g|jfif|png|gif|webp|avif|svg|bmp|tiff?|heic)", re.IGNORECASE)
_CAMERA = re.compile(r"(?:IMG|DSC[FN]?|PXL|MVIMG|DCIM|P?\d{6,})[_-]?[\d_-]+(?:\.\w+)?", re.IGNORECASE)
"""Names that cameras and phones give to pictures."""


@page_by_page
def _no_doctype(site: Site, _: Any) -> Iterator[Finding]:
    for row, present in site.read("doctype"):
        if present is not None and not present:
            yield Finding(row)


@page_by_page
def _charset_late(site: Site, _: Any) -> Iterator[Finding]:
    for row, late, declared in site.read("charset_late", "declared_charset"):
        if late:
            yield Finding(row, evidence=f"{declared or ''} after the first 1,024 bytes".strip())


@page_by_page
def _title_is_description(site: Site, _: Any) -> Iterator[Finding]:
    for row, title, description in site.read("title", "description"):
        named = " ".join((title or "").split()).casefold()
        if named and named == " ".join((description or "").split()).casefold():
            yield Finding(row, evidence=title[:LONGEST])


@page_by_page
def _alt_is_file(site: Site, _: Any) -> Iterator[Finding]:
    for row, images in site.read("imgTags"):
        texts = [text for image in images or () if _is_file(text := image["alt"].strip())]
        if texts:
            yield Finding(row, len(texts), enumerated(texts))


def _is_file(text: str) -> bool:
    return len(text) < LONGEST and (_FILE.fullmatch(text) or _CAMERA.fullmatch(text)) is not None


@page_by_page
def _h1_image(site: Site, _: Any) -> Iterator[Finding]:
    for row, headings in site.read("image_headings"):
        texts = [heading["alt"] for heading in headings or () if heading["level"] == "h1"]
        if texts:
            yield Finding(row, len(texts), enumerated(texts))


@page_by_page
def _other_url(site: Site, _: Any) -> Iterator[Finding]:
    for row, shared, canonical, given in site.read("og:url", "canonical_url", "url"):
        known = {normal(url) for url in (site.name(row), canonical, given) if url}
        if shared and (normal(shared) or shared) not in known:
            yield Finding(row, evidence=f"og:url {shared[:300]}, the page is {canonical or site.name(row)}")


RULES = (
    Rule(
        name="doctype_missing",
        title="Document type missing",
        category="html",
        priority="low",
        explanation="Without a document type, browsers show the page as old ones did (quirks mode).",
        fix="Begin the page with <!doctype html>.",
        find=_no_doctype,
        columns=("doctype",),
        measured="Whether the source begins with a document type; white space and comments may come before "
        "it.",
        source=sources.DOCTYPE,
    ),
    Rule(
        name="charset_late",
        title="Character encoding declared late",
        category="html",
        priority="low",
        explanation="Browsers look for the encoding in the first 1,024 bytes: if it comes later, they "
        "guess, and may have to read the page again.",
        fix='Put <meta charset="utf-8"> first into the head, or name the encoding in the header.',
        find=_charset_late,
        columns=("charset_late",),
        measured="Whether the first 1,024 bytes declare the encoding that a later meta element names, where "
        "the header and a byte order mark do not.",
        source=sources.CHARSET,
    ),
    Rule(
        name="head_multiple",
        title="Several heads",
        category="html",
        priority="low",
        explanation="A page has one head; what stands between and after the others may end up in the body.",
        fix="Merge the heads into one.",
        find=more("heads", "head tags"),
        threshold=1,
        unit="heads",
        columns=("heads",),
        measured="Head tags in the source up to the body; those in comments and scripts are left out.",
        source=sources.HEAD,
    ),
    Rule(
        name="head_ended_early",
        title="Head ended early",
        category="html",
        explanation="An element or text that does not belong in the head ends it: canonical, hreflang and "
        "robots tags after it stand in the body, where search engines may ignore them.",
        fix="Move what is named into the body.",
        find=said("head_ended_by", bool, LONGEST),
        columns=("head_ended_by",),
        measured="The first element or text before </head> at which a browser ends the head.",
        source=sources.both(sources.HEAD_PARSING, sources.HEAD_METADATA),
    ),
    Rule(
        name="robots_outside_head",
        title="Robots meta tag outside the head",
        category="indexability",
        type="warning",
        explanation="Search engines look for the robots meta tag in the head, and may ignore others.",
        fix="Move the tag into the head, before anything that ends it.",
        find=outside_head("robots"),
        columns=("outside_head",),
        measured="Whether a robots meta element comes after the start of the body, in the tree that a "
        "browser builds.",
        source=sources.both(sources.HEAD_METADATA, sources.ROBOTS_META),
    ),
    Rule(
        name="title_same_as_description",
        title="Title same as description",
        category="description",
        type="opportunity",
        priority="low",
        explanation="The description repeats the title, so a search result says the same thing twice.",
        fix="Write a description that says what a reader finds on the page.",
        find=_title_is_description,
        columns=("title", "description"),
        measured="Title and description are compared without regard to case and to how white space is "
        "written.",
        source=sources.SNIPPETS,
    ),
    Rule(
        name="images_alt_file_name",
        title="Alt text is a file name",
        category="images",
        priority="low",
        explanation="The name of a file tells neither people nor search engines what an image shows.",
        fix="Describe in the alt attribute what the image shows.",
        find=_alt_is_file,
        columns=("imgTags",),
        measured="Alternative texts that end like the file of an image, or that are the name a camera "
        "gives, are counted.",
        source=sources.both(sources.WAI_IMAGES, sources.IMAGES),
    ),
    Rule(
        name="h1_only_image",
        title="h1 is only an image",
        category="headings",
        type="warning",
        priority="low",
        explanation="The main heading is a picture, often the logo: its alt text is all that says "
        "what the page is about.",
        fix="Write the main heading as text, and keep the logo out of it.",
        find=_h1_image,
        columns=("image_headings",),
        measured="h1 elements without text of their own whose name is the alternative text of an image.",
        source=sources.both(sources.WAI_HEADINGS, sources.STARTER_GUIDE),
    ),
    Rule(
        name="og_url_differs",
        title="og:url differs from the page",
        category="social",
        type="warning",
        priority="low",
        explanation="Networks count shares for og:url, which is not the page's or its canonical's.",
        fix="Let og:url name the same address as the canonical.",
        find=_other_url,
        columns=("og:url",),
        measured="og:url against the address of the page and its canonical, in normal form.",
        source=sources.OPEN_GRAPH,
    ),
    Rule(
        name="open_graph_image_relative",
        title="Open Graph image without full address",
        category="social",
        priority="low",
        explanation="Networks read og:image as it stands: one without scheme and host is not shown.",
        fix="Write the full address of the image, beginning with https://.",
        find=listed("relative_images"),
        columns=("relative_images",),
        measured="Addresses in og:image and twitter:image that do not begin with http:// or https:// are "
        "counted.",
        source=sources.OPEN_GRAPH,
    ),
)
