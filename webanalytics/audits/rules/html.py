"""Rules for the markup that browsers and search engines start from, and how fast it loads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from webanalytics.audits.directives.languages import is_language
from webanalytics.audits.graph.site_links import AT_ONCE, normal
from webanalytics.audits.rules.base import Find, Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.searches import empty, enumerated, listed, more, outside_head, said
from webanalytics.audits.site import Site

_TAG = re.compile(r"[a-z]{2,8}(?:-[a-z0-9]{1,8})*", re.IGNORECASE)
_NO_ZOOM = re.compile(
    r"user-scalable\s*=\s*(?:no|0(?:\.0*)?)(?![\d.])|maximum-scale\s*=\s*[01](?:\.\d*)?(?![\d.])", re.I
)
_RESPONSIVE = re.compile(r"(?:^|[,;\s])(?:width|initial-scale)\s*=", re.IGNORECASE)
_XML = "application/xhtml+xml"
_HEADER_CHARSET = re.compile(r";\s*charset\s*=", re.IGNORECASE)


@PageByPage
def _charset_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, declared, header, charset in site.read("declared_charset", "content_type", "charset"):
        if declared is not None and not declared and not _HEADER_CHARSET.search(header or ""):
            yield Finding(row, evidence=f"read as {charset}" if charset else "")


@PageByPage
def _charset_not_utf8(site: Site, _: Any) -> Iterator[Finding]:
    for row, charset, mislabelled in site.read("charset", "charset_mislabelled"):
        if charset and not mislabelled and charset.strip().lower() not in ("utf-8", "utf8"):
            yield Finding(row, evidence=charset[:100])


@PageByPage
def _charset_wrong(site: Site, _: Any) -> Iterator[Finding]:
    for row, mislabelled, headers in site.read("charset_mislabelled", "headers"):
        if mislabelled and headers:
            yield Finding(row, evidence=f"declared as {mislabelled}, and UTF-8 in fact")


@PageByPage
def _lang_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, lang, xml, header in site.read("lang", "xml_lang", "content_type"):
        if lang is not None and not lang.strip():
            yield Finding(row)
        elif xml and _XML not in (header or "").lower():
            yield Finding(row, evidence=f'xml:lang="{xml}" alone, which browsers do not read in HTML')


def _is_no_language(lang: str) -> bool:
    return bool(lang.strip()) and not (_TAG.fullmatch(lang.strip()) and is_language(lang))


_FILE = re.compile(r"[^\s]*\.(?:jpe?g|jfif|png|gif|webp|avif|svg|bmp|tiff?|heic)", re.IGNORECASE)
_CAMERA = re.compile(r"(?:IMG|DSC[FN]?|PXL|MVIMG|DCIM|P?\d{6,})[_-]?[\d_-]+(?:\.\w+)?", re.IGNORECASE)
"""Names that cameras and phones give to pictures."""
_LONGEST = 1_000


@PageByPage
def _charset_late(site: Site, _: Any) -> Iterator[Finding]:
    for row, late, declared in site.read("charset_late", "declared_charset"):
        if late:
            yield Finding(row, evidence=f"{declared or ''} after the first 1,024 bytes".strip())


@PageByPage
def _title_is_description(site: Site, _: Any) -> Iterator[Finding]:
    for row, title, description in site.read("title", "description"):
        named = " ".join((title or "").split()).casefold()
        if named and named == " ".join((description or "").split()).casefold():
            yield Finding(row, evidence=title)


@PageByPage
def _alt_is_file(site: Site, _: Any) -> Iterator[Finding]:
    for row, images in site.read("imgTags"):
        if texts := [text for image in images or () if _is_file(text := image["alt"].strip())]:
            yield Finding(row, len(texts), enumerated(texts))


def _is_file(text: str) -> bool:
    return len(text) < _LONGEST and (_FILE.fullmatch(text) or _CAMERA.fullmatch(text)) is not None


@PageByPage
def _h1_image(site: Site, _: Any) -> Iterator[Finding]:
    for row, headings in site.read("image_headings"):
        if texts := [heading["alt"] for heading in headings or () if heading["level"] == "h1"]:
            yield Finding(row, len(texts), enumerated(texts))


@PageByPage
def _other_url(site: Site, _: Any) -> Iterator[Finding]:
    for row, shared, canonical, given in site.read("og:url", "canonical_url", "url"):
        known = {normal(url) for url in (site.name(row), canonical, given) if url}
        if shared and (normal(shared) or shared) not in known:
            yield Finding(row, evidence=f"og:url {shared[:300]}, the page is {canonical or site.name(row)}")


def _more(column: str) -> Find:
    @PageByPage
    def find(site: Site, threshold: float) -> Iterator[Finding]:
        for row, urls in site.read(column):
            distinct = list(dict.fromkeys(urls or ()))
            if len(distinct) > threshold:
                yield Finding(row, len(distinct), enumerated(distinct))

    return find


RULES = rules_of(
    __name__,
    {
        "viewport_missing": empty("viewport"),
        "viewport_without_width": said("viewport", lambda viewport: not _RESPONSIVE.search(viewport)),
        "viewport_blocks_zoom": said("viewport", lambda viewport: _NO_ZOOM.search(viewport[:1000])),
        "charset_missing": _charset_missing,
        "charset_not_utf8": _charset_not_utf8,
        "charset_wrong": _charset_wrong,
        "lang_missing": _lang_missing,
        "lang_invalid": said("lang", _is_no_language),
        "meta_refresh": said("refresh", lambda refresh: not AT_ONCE.match(refresh)),
        "meta_refresh_redirect": said("refresh", AT_ONCE.match),
        "favicon_missing": empty("favicons"),
        "doctype_missing": empty("doctype"),
        "charset_late": _charset_late,
        "head_multiple": more("heads", "head tags"),
        "head_ended_early": said("head_ended_by", bool),
        "robots_outside_head": outside_head("robots"),
        "title_same_as_description": _title_is_description,
        "images_alt_file_name": _alt_is_file,
        "h1_only_image": _h1_image,
        "og_url_differs": _other_url,
        "open_graph_image_relative": listed("relative_images"),
        "dom_too_large": more("elements", "elements"),
        "scripts_blocking": listed("blocking_scripts"),
        "styles_blocking": _more("blocking_styles"),
        "images_not_lazy": listed("images_not_lazy"),
        "images_old_format": listed("images_in_old_formats"),
        "images_without_srcset": listed("images_without_srcset"),
    },
)
