"""Rules for the markup that browsers and search engines start from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.directives.languages import is_language
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import empty, said
from webanalytics.audits.site import Site

_TAG = re.compile(r"[a-z]{2,8}(?:-[a-z0-9]{1,8})*", re.IGNORECASE)
_NO_ZOOM = re.compile(
    r"user-scalable\s*=\s*(?:no|0(?:\.0*)?)(?![\d.])|maximum-scale\s*=\s*[01](?:\.\d*)?(?![\d.])", re.I
)
_RESPONSIVE = re.compile(r"(?:^|[,;\s])(?:width|initial-scale)\s*=", re.IGNORECASE)
_AT_ONCE = re.compile(r"\s*[01]?(?:\.\d*)?\s*[;,]\s*\S", re.ASCII)
"""A meta refresh that leads elsewhere within a second (HTML Standard, section 4.2.5.3)."""
_XML = "application/xhtml+xml"
_HEADER_CHARSET = re.compile(r";\s*charset\s*=", re.IGNORECASE)


@page_by_page
def _charset_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, declared, header, charset in site.read("declared_charset", "content_type", "charset"):
        if declared is not None and not declared and not _HEADER_CHARSET.search(header or ""):
            yield Finding(row, evidence=f"read as {charset}" if charset else "")


@page_by_page
def _charset_not_utf8(site: Site, _: Any) -> Iterator[Finding]:
    for row, charset, mislabelled in site.read("charset", "charset_mislabelled"):
        if charset and not mislabelled and charset.strip().lower() not in ("utf-8", "utf8"):
            yield Finding(row, evidence=charset[:100])


@page_by_page
def _charset_wrong(site: Site, _: Any) -> Iterator[Finding]:
    for row, mislabelled, headers in site.read("charset_mislabelled", "headers"):
        if mislabelled and headers:
            yield Finding(row, evidence=f"declared as {mislabelled}, and UTF-8 in fact")


@page_by_page
def _lang_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, lang, xml, header in site.read("lang", "xml_lang", "content_type"):
        if lang is not None and not lang.strip():
            yield Finding(row)
        elif xml and _XML not in (header or "").lower():
            yield Finding(row, evidence=f'xml:lang="{xml}" alone, which browsers do not read in HTML')


def _is_no_language(lang: str) -> bool:
    return bool(lang.strip()) and not (_TAG.fullmatch(lang.strip()) and is_language(lang))


_rule = partial(Rule, category="html")

RULES = (
    _rule(
        name="viewport_missing",
        title="Viewport missing",
        explanation="Without a viewport, phones show the page as wide as on a desk and far too small, "
        "and search engines look at the phone's page first.",
        fix='Add <meta name="viewport" content="width=device-width, initial-scale=1"> to the head.',
        find=empty("viewport"),
        columns=("viewport",),
        measured="The content of the meta element named viewport.",
        source=sources.VIEWPORT,
    ),
    _rule(
        name="viewport_without_width",
        title="Viewport without width",
        type="warning",
        priority="low",
        explanation="The viewport names no width and no scale, so phones show the page as wide as on a desk.",
        fix="Set the viewport to width=device-width, initial-scale=1.",
        find=said("viewport", lambda viewport: not _RESPONSIVE.search(viewport)),
        columns=("viewport",),
        measured="Whether the viewport names a width or an initial scale.",
        source=sources.VIEWPORT,
    ),
    _rule(
        name="viewport_blocks_zoom",
        title="Viewport blocks zooming",
        type="warning",
        priority="low",
        explanation="People with weak eyesight cannot enlarge the page where zooming is turned off.",
        fix="Remove user-scalable=no and maximum-scale from the viewport.",
        find=said("viewport", lambda viewport: _NO_ZOOM.search(viewport[:1000])),
        columns=("viewport",),
        measured="user-scalable=no or 0, or a maximum scale below 2, in the viewport.",
        source=sources.both(sources.ZOOM, sources.wcag("1.4.4")),
    ),
    _rule(
        name="charset_missing",
        title="Character encoding missing",
        priority="low",
        explanation="Without a declared encoding, browsers guess, and accented letters may come out wrong.",
        fix='Add <meta charset="utf-8"> as the first element of the head.',
        find=_charset_missing,
        columns=("declared_charset",),
        measured="Whether a meta element, a byte order mark or the Content-Type header declares the "
        "encoding.",
        source=sources.CHARSET,
    ),
    _rule(
        name="charset_not_utf8",
        title="Character encoding is not UTF-8",
        type="warning",
        priority="low",
        explanation="The HTML Standard requires UTF-8; other encodings cannot show every character, and "
        "forms may send broken text.",
        fix="Save the page as UTF-8 and declare it.",
        find=_charset_not_utf8,
        columns=("charset",),
        measured="The encoding that the page was read with, as declared in the header or in the page.",
        source=sources.CHARSET,
    ),
    _rule(
        name="charset_wrong",
        title="Character encoding declared wrongly",
        priority="high",
        explanation="The page is written in UTF-8 and declares another encoding, so browsers show wrong "
        "characters in place of accented letters and other scripts.",
        fix='Declare UTF-8 in the Content-Type header, or by <meta charset="utf-8"> where that names none.',
        find=_charset_wrong,
        columns=("charset_mislabelled", "headers"),
        needs=("headers",),
        measured="Whether all bytes beyond ASCII are valid UTF-8 where the header, or else the page, names "
        "another encoding. Of saved pages without headers nothing is said: tools that save pages write "
        "UTF-8 and leave the declaration as it was.",
        source=sources.CHARSET,
    ),
    _rule(
        name="lang_missing",
        title="Language missing",
        type="warning",
        priority="low",
        explanation="Screen readers pronounce and browsers translate a page by the language it declares.",
        fix='Add the language to the html element, such as <html lang="en">.',
        find=_lang_missing,
        columns=("lang",),
        measured="The lang attribute of the html element.",
        source=sources.both(sources.wcag("3.1.1"), sources.LANG),
    ),
    _rule(
        name="lang_invalid",
        title="Language is not a language tag",
        type="warning",
        priority="low",
        explanation="The lang attribute is no language tag of the registry, so it is ignored.",
        fix="Write a tag of BCP 47 such as en, en-GB or pt-BR, with hyphens.",
        find=said("lang", _is_no_language, 100),
        columns=("lang",),
        measured="Whether the lang attribute is well-formed, and begins with a language of the registry of "
        "BCP 47.",
        source=sources.both(sources.rfc(5646, "2.1 (syntax)"), sources.LANG),
    ),
    _rule(
        name="meta_refresh",
        title="Meta refresh",
        type="warning",
        priority="low",
        explanation="A page that reloads or leaves by itself takes readers by surprise, and search engines "
        "follow a redirect of the server more surely.",
        fix="Redirect with status 301 instead, and let readers reload a page themselves.",
        find=said("refresh", lambda refresh: not _AT_ONCE.match(refresh)),
        columns=("refresh",),
        measured="A meta refresh that reloads the page, or that leads elsewhere after more than a second.",
        source=sources.both(sources.wcag("2.2.1", "3.2.5"), sources.REFRESH),
    ),
    _rule(
        name="meta_refresh_redirect",
        title="Redirect by meta refresh",
        category="response",
        explanation="The page leads to another address at once by a meta refresh. Search engines take that "
        "for a redirect, but later and less surely than one of the server, and readers see it flash up.",
        fix="Let the server redirect with status 301.",
        find=said("refresh", _AT_ONCE.match),
        columns=("refresh",),
        measured="A meta refresh that leads elsewhere within a second.",
        source=sources.both(sources.REDIRECTS, sources.REFRESH),
    ),
    _rule(
        name="favicon_missing",
        title="Favicon missing",
        type="opportunity",
        priority="low",
        explanation="Search results, tabs and bookmarks show a page's icon. The page links to none; "
        "a favicon.ico at the root of the site is not looked for.",
        fix='Add <link rel="icon" href="/favicon.ico"> to the head.',
        find=empty("favicons"),
        columns=("favicons",),
        measured="Link elements whose rel is icon or one of Apple's names for it.",
        source=sources.both(sources.FAVICONS, sources.ICON),
    ),
)
