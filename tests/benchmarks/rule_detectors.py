"""Detectors of `rule_precision` for rules that one look at the source settles, by regular expressions and lexbor."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

if TYPE_CHECKING:
    from tests.benchmarks.rule_precision import Page

_FILE = re.compile(
    r"\S*\.(?:jpe?g|png|gif|webp|svg|avif|bmp)\s*$|(?:img|dsc\w?|image|screenshot)[\W_]*\d+|\d{6,}", re.I
)
_GENERIC = [
    "here",
    "more",
    "details",
    "read",
    "learn",
    "click",
    "this",
    "link",
    "continue",
    "download",
    "view",
    "see",
    "go",
    "info",
    "information",
    "website",
    "page",
    "weiter",
    "mehr",
    "lesen",
    "hier",
    "details",
    "plus",
    "savoir",
    "suite",
    "ici",
    "seguir",
    "leer",
    "aquí",
    "más",
    "article",
    "post",
    "source",
    "full",
    "story",
]
_ACTIVE = re.compile(rb"http://", re.IGNORECASE)


def _robots(page: Page) -> set[str]:
    said = ",".join(page.meta("robots") + page.meta("googlebot"))
    return {part.strip().lower() for part in said.split(",")}


def _broken_json(page: Page) -> bool:
    for node in page.all('script[type="application/ld+json"]'):
        text = re.sub(r"^\s*(?:<!--|//<!\[CDATA\[)|(?:-->|//\]\]>)\s*$", "", node.text() or "").strip()
        try:
            json.loads(text or "{}")
        except ValueError:
            return True
    return False


def _declares_charset(html: bytes) -> bool:
    """Return whether a whole meta element says the encoding."""
    return bool(
        re.search(rb"(?i)<meta(?=[^>]*?\scharset\s*=[\s\"\x27]*[\w-])(?![^>]*name=.content-type)[^>]*>", html)
        or re.search(rb"(?i)<meta(?=[^>]*http-equiv)[^>]*charset=[^>]*>", html)
    )


def _head_of(page: Page) -> str:
    return re.sub(r"(?s)<!--.*?-->|<(script|style|noscript|template)\b.*?</\1\s*>", "", page.source)


def _ends_early(page: Page) -> bool:
    """Return whether something that is no part of a head stands before its end tag, or before the body's."""
    source = re.sub(
        r"(?is)<title\b.*?</title\s*>|<!doctype[^>]*>|</?html[^>]*>|<\?[^>]*>", "", _head_of(page)
    )
    start = re.search(r"(?i)<head\b[^>]*>", source)
    head = re.split(r"(?i)</head\s*>|<body\b", source[start.end() if start else 0 :], maxsplit=1)[0]
    rest = re.sub(
        r"(?is)<(?:meta|link|base|basefont|bgsound|head)\b(?:\"[^\"]*\"|'[^']*'|[^>\"'])*>|</[^>]*>", "", head
    )
    return bool(rest.strip())


def _titles(page: Page) -> int:
    return sum(not page.inside(node, "svg") for node in page.all("title"))


def _first_in_body(page: Page, selector: str) -> bool:
    nodes = [node for node in page.all(selector) if not page.inside(node, "svg")]
    return bool(nodes) and page.inside(nodes[0], "body")


def _mixed(page: Page) -> bool:
    if not page.url.startswith("https:"):
        return False
    sources = [
        page.get(node, key) or ""
        for selector, key in (
            *(("img[src]", "src"), ("img[srcset]", "srcset"), ("source", "src"), ("source", "srcset")),
            *(("script[src]", "src"), ("iframe[src]", "src"), ("video", "src"), ("audio", "src")),
            *(("embed", "src"), ("object", "data"), ("input[type=image]", "src"), ("form[action]", "action")),
        )
        for node in page.all(selector)
    ]
    sources += [
        page.get(node, "href") or "" for node in page.rel("stylesheet", "preload", "icon", "manifest")
    ]
    sources += re.findall(r"url\(\s*[\"']?(http://[^)]*)", page.source)
    return any(re.match(r"\s*http://", source) for source in sources)


def _plain(address: str) -> str:
    return re.sub(r"^https?://(?:www\.)?", "", unquote(address.strip())).rstrip("/").lower()


def _og_url(page: Page) -> bool:
    own = {*page.canonicals, page.url}
    said = [urljoin(page.base, url) for url in page.meta("og:url")]
    return bool(said) and said[0] not in own


def _by_language(page: Page) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for lang, url in page.hreflangs:
        found.setdefault(lang.strip().lower(), set()).add(url.partition("#")[0].rstrip("/"))
    return found


def _shared(page: Page) -> bool:
    pages: dict[str, set[str]] = {}
    for lang, urls in _by_language(page).items():
        for url in urls - {""}:
            if lang != "x-default":
                pages.setdefault(url, set()).add(lang.partition("-")[0])
    return any(len(langs) > 1 for langs in pages.values())


def _region(page: Page) -> bool:
    return any(
        re.fullmatch(r"[a-z]{2,3}-(?:\d{3}|eu|uk|un|[a-z]{2}-[a-z]{2})", lang) for lang in _by_language(page)
    )


def _wide_images(page: Page) -> bool:
    for node in page.images:
        width = re.match(r"\s*(\d+)", page.get(node, "width") or "")
        in_picture = page.inside(node, "picture") and "<source" in (
            node.parent.html or "" if node.parent else ""
        )
        if width and int(width[1]) > 600 and not page.get(node, "srcset") and not in_picture:
            return True
    return False


def _says_nothing(page: Page) -> bool:
    for node in page.all("a[href]"):
        words = re.findall(r"\w+", page.text(node).lower())
        if 0 < len(words) <= 4 and any(word in _GENERIC for word in words):
            return True
    return False


def _quoted(html: str, evidence: str) -> bool:
    """Return whether what a finding on structured data quotes, or the type that it names, stands in the page."""
    named = re.findall(r'"([^"]{1,60})', evidence)[:1] or re.findall(r"^([A-Za-z]+):", evidence)[:1]
    return any(name.strip() and name[:30] in html for name in named)


def _letters(of: Callable[[Any], str], is_wrong: Callable[[str], Any]) -> Callable[[Page], bool]:
    return lambda page: bool(is_wrong(of(urlsplit(page.url))))


def _path(parts: Any) -> str:
    return str(parts.path)


def _attributes(page: Page, selector: str, key: str) -> list[str]:
    return [page.get(node, key) or "" for node in page.all(selector)]


MORE: dict[str, Callable[[Page], bool]] = {
    "noindex": lambda page: bool(_robots(page) & {"noindex", "none"}),
    "nofollow": lambda page: bool(_robots(page) & {"nofollow", "none"}),
    "noarchive": lambda page: "noarchive" in _robots(page),
    "noodp": lambda page: bool(_robots(page) & {"noodp", "noydir"}),
    "title_multiple": lambda page: _titles(page) > 1,
    "title_outside_head": lambda page: _first_in_body(page, "title"),
    "description_outside_head": lambda page: _first_in_body(page, "meta[name=description i]"),
    "canonical_outside_head": lambda page: _first_in_body(page, "link[rel=canonical i]"),
    "hreflang_outside_head": lambda page: any(
        page.inside(node, "body") for node in page.all("link[hreflang][rel=alternate i]")
    ),
    "description_multiple": lambda page: len(page.all("meta[name=description i]")) > 1,
    "canonical_multiple": lambda page: len(page.rel("canonical")) > 1,
    "canonical_relative": lambda page: any(
        not re.match(r"\s*https?://[^/]", page.get(node, "href") or "", re.I)
        for node in page.rel("canonical")
    ),
    "canonical_to_http": lambda page: (
        page.url.startswith("https:") and any(url.startswith("http:") for url in page.canonicals)
    ),
    "title_same_as_description": lambda page: bool(
        {" ".join(text.lower().split()) for text in page.meta("description")}
        & {" ".join(page.text(node).lower().split()) for node in page.all("title")}
    ),
    "head_ended_early": _ends_early,
    "head_multiple": lambda page: len(re.findall(r"(?i)<head[\s>]", _head_of(page))) > 1,
    "html_too_large": lambda page: len(page.html) > 2_000_000,
    "doctype_missing": lambda page: (
        not re.match(r"(?is)\ufeff?(?:\s|<!--.*?-->|<\?[^>]*>)*<!doctype\b", page.source)
    ),
    "charset_late": lambda page: not _declares_charset(page.html[:1024]) and _declares_charset(page.html),
    "charset_missing": lambda page: not _declares_charset(page.html),
    "charset_not_utf8": lambda page: (
        not re.search(rb"(?i)<meta[^>]+charset\s*=\s*[\"']?\s*utf-?8", page.html)
    ),
    "mixed_content": _mixed,
    "og_url_differs": _og_url,
    "open_graph_image_relative": lambda page: any(
        not re.match(r"https?://", link)
        for name in ("og:image", "og:image:url", "twitter:image")
        for link in page.meta(name)
    ),
    "social_card_without_image": lambda page: (
        bool(page.meta("twitter:card"))
        and not any(
            page.meta(name) for name in ("twitter:image", "twitter:image:src", "og:image", "og:image:url")
        )
    ),
    "images_alt_file_name": lambda page: any(
        _FILE.fullmatch(alt.strip()) for alt in _attributes(page, "img[alt]", "alt")
    ),
    "images_without_srcset": _wide_images,
    "links_generic_text": _says_nothing,
    "links_to_http": lambda page: any(
        url.startswith("http:") and urlsplit(url).netloc == urlsplit(page.url).netloc for url, _ in page.links
    ),
    "many_internal_links": lambda page: (
        len(
            {
                url.partition("#")[0]
                for url, _ in page.links
                if urlsplit(url).netloc == urlsplit(page.url).netloc
            }
        )
        > 1_000
        or sum(urlsplit(url).netloc == urlsplit(page.url).netloc for url, _ in page.links) > 1_000
    ),
    "h1_only_image": lambda page: any(
        not (node.text() or "").strip() and "alt=" in (node.html or "") for node in page.all("h1")
    ),
    "hreflang_conflicting": lambda page: any(len(urls) > 1 for urls in _by_language(page).values()),
    "hreflang_shared_address": _shared,
    "hreflang_invalid_region": _region,
    "hreflang_invalid_language": lambda page: any(
        not re.fullmatch(r"x-default|[a-z]{2}(?:-.+)?", lang.strip().lower())
        for lang in _attributes(page, "link[hreflang]", "hreflang")
    ),
    "structured_data_broken": _broken_json,
    "lorem_ipsum": lambda page: bool(
        re.search(r"(?i)lorem\s+ipsum\s+dolor", re.sub(r"<[^>]+>", "", page.source))
    ),
    "url_upper_case": _letters(_path, lambda path: re.search(r"(?<!%)(?<!%[0-9A-F])[A-Z]", path)),
    "url_underscores": _letters(_path, lambda path: "_" in path),
    "url_parameters": _letters(lambda parts: str(parts.query), bool),
    "url_repeated_slashes": _letters(_path, lambda path: "//" in path),
    "url_with_space": _letters(lambda parts: parts.geturl(), lambda url: re.search(r"%20|\+| ", url)),
    "url_not_ascii": _letters(_path, lambda path: not path.isascii() or re.search(r"(?i)%[c-f]", path)),
    "url_too_long": lambda page: len(page.url) > 115,
    "http_page": lambda page: page.url.startswith("http:"),
}
QUOTING = ("structured_data_incomplete", "structured_data_invalid", "structured_data_unknown")
"""Rules whose findings are judged by whether the page has what their evidence quotes."""


def quoted(page: Page, evidence: str) -> bool:
    """Return whether a page has what a finding says of it."""
    return _quoted(page.source, evidence)
