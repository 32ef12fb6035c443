"""Columns that rules read, from html5lib's tree of a page in https: each by a function that shares no line with ours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element

from tests.page.independent_markup import HEADINGS, Reading, content, fold, html_tag, tag, with_parents
from webanalytics.page.facts.links import GENERIC, bare

ADDRESS = "https://example.org/folder/page"


def named(root: Element, *names: str) -> list[Element]:
    """HTML elements in document order."""
    return [element for element, _ in with_parents(root) if html_tag(element) in names]


def pictures(root: Element) -> list[Element]:
    return [element for element, _ in with_parents(root) if html_tag(element) == "img"]


def base(root: Element) -> str:
    hrefs = [element.get("href") for element in named(root, "base")]
    found = next((href.strip() for href in hrefs if href is not None), "")
    return (
        urljoin(ADDRESS, found)
        if found and not found.lower().startswith(("data:", "javascript:"))
        else ADDRESS
    )


def without_alt(root: Element) -> int:
    return sum("alt" not in image.attrib for image in pictures(root))


def is_pixel(image: Element) -> bool:
    sizes = [image.get(name, "").strip().removesuffix("px") for name in ("width", "height")]
    return "0" in sizes or "1" in sizes


def with_empty_alt(root: Element) -> int:
    return sum(
        "alt" in image.attrib
        and not image.get("alt", "").strip()
        and image.get("role", "").strip().lower() not in ("presentation", "none")
        and image.get("aria-hidden", "").strip().lower() != "true"
        and not is_pixel(image)
        and not any(content(near).strip() for near in around if html_tag(near) in ("a", "button"))
        for image, around in with_parents(root)
        if html_tag(image) == "img"
    )


def without_size(root: Element) -> int:
    count = 0
    for image in pictures(root):
        width, height, source = image.get("width"), image.get("height"), image.get("src", "").lstrip()
        count += (
            not (width and height)
            and not is_pixel(image)
            and bool(source)
            and not source.lower().startswith("data:")
        )
    return count


def joined(root: Element, link: str) -> tuple[str, str]:
    """Scheme and host that a link leads to; of one that is no address, none."""
    try:
        parts = urlsplit(urljoin(base(root), link.strip()))
        return parts.scheme.lower(), parts.netloc.lower()
    except ValueError:
        return "", ""


def http(root: Element, link: str | None) -> bool:
    return bool(link) and joined(root, link or "")[0] == "http"


def upgraded(root: Element) -> bool:
    policies = [
        e for e in named(root, "meta") if e.get("http-equiv", "").strip().lower() == "content-security-policy"
    ]
    return any("upgrade-insecure-requests" in policy.get("content", "").lower() for policy in policies)


def insecure_forms(root: Element) -> bool:
    return not upgraded(root) and any(http(root, form.get("action")) for form in named(root, "form"))


def followed(element: Element) -> bool:
    """Whether a link has an address that a crawler can follow."""
    href = element.get("href", "").strip().lower()
    host = re.match(r"https?:[/\\]*([^/?#\\]*)", href)
    return not href.startswith(("javascript:", "file:")) and not (
        host and (not host[1] or re.search(r'[\s<>^|`"{}]', host[1]))
    )


def anchors(root: Element) -> list[Element]:
    return [e for e, _ in with_parents(root) if tag(e) in ("a", "area") and "href" in e.attrib]


def nofollow(root: Element) -> bool:
    return any(
        followed(element)
        and "nofollow" in element.get("rel", "").lower().split()
        and not element.get("href", "").strip().startswith("#")
        and joined(root, element.get("href", "")) in (("http", "example.org"), ("https", "example.org"))
        for element in anchors(root)
    )


def generic(root: Element) -> list[str]:
    page = Reading(root)
    texts = GENERIC["en"] | GENERIC.get(
        re.split("[-_]", root.get("lang", "").strip().lower())[0], frozenset()
    )
    found = []
    for element in anchors(root):
        href = element.get("href", "").strip()
        leads = not re.match(r"#|(?:javascript|mailto|tel|sms|data|blob):", href, re.IGNORECASE)
        follows = followed(element) and "nofollow" not in element.get("rel", "").lower().split()
        if tag(element) == "a" and leads and follows and content(element):
            name = page.name(element)
            if bare(content(element)) in texts and bare(name) in texts:
                found.append(name)
    return found[:500]


def shared(root: Element) -> list[bool]:
    """Which tags for sharing have a value: property takes several names (RDFa Lite 1.1, section 2.4), and so does name here."""
    filled = {
        name
        for meta in named(root, "meta")
        if fold(meta.get("content"))
        for name in f"{meta.get('property', '')} {meta.get('name', '')}".lower().split()
    }
    wanted = (
        {"og:title"},
        {"og:type"},
        {"og:image", "og:image:url"},
        {"og:url"},
        {"twitter:card"},
        {"twitter:image", "twitter:image:src"},
    )
    return [bool(names & filled) for names in wanted]


def icons(root: Element) -> int:
    kinds = {"icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"}
    return sum(
        bool(kinds & set(e.get("rel", "").lower().split())) and bool(e.get("href", "").strip())
        for e in named(root, "link")
    )


def refresh(root: Element) -> str:
    values = [
        fold(e.get("content"))
        for e in named(root, "meta")
        if e.get("http-equiv", "").strip().lower() == "refresh"
    ]
    return next(filter(None, values), "")


def used_ids(root: Element) -> list[str]:
    everything = [element for element, _ in with_parents(root)]
    counts = Counter(element.get("id", "") for element in everything)
    names = ("for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "headers", "list")
    referred = {part for e in everything for name in names for part in e.get(name, "").split()}
    return sorted(name for name, count in counts.items() if count > 1 and name.strip() and name in referred)


def only_images(root: Element) -> list[str]:
    """Levels of headings that have a name, an image and no text."""
    page = Reading(root)
    found = []
    for element, _ in page.all:
        if tag(element) in HEADINGS and page.name(element):
            images = [part for part, _ in with_parents(element) if tag(part) == "img"]
            if images and not fold(
                "".join(text for part, _ in with_parents(element) for text in texts_of(part, element))
            ):
                found.append(tag(element))
    return found


def texts_of(part: Element, top: Element) -> list[str]:
    return [part.text or ""] + ([] if part is top else [part.tail or ""])


def running(root: Element) -> int:
    """Scripts that a browser would run, not data."""
    code = {"", "module", "text/javascript", "application/javascript", "text/ecmascript"}
    return sum(e.get("type", "").split(";")[0].strip().lower() in code for e in named(root, "script"))


def alts(root: Element) -> list[str]:
    return [image.get("alt", "") for image in pictures(root)]


COLUMNS: dict[str, tuple[Callable[[Element], Any], Callable[[dict[str, Any]], Any]]] = {
    "images_without_alt": (without_alt, lambda cells: len(cells["images_without_alt"])),
    "images_with_empty_alt": (with_empty_alt, lambda cells: len(cells["images_with_empty_alt"])),
    "images_without_size": (without_size, lambda cells: len(cells["images_without_size"])),
    "insecure_forms": (insecure_forms, lambda cells: bool(cells["insecure_forms"])),
    "nofollow_links": (nofollow, lambda cells: bool(cells["nofollow_links"])),
    "generic_links": (generic, lambda cells: [link["text"] for link in cells["generic_links"]]),
    "refresh": (refresh, lambda cells: cells["refresh"]),
    "favicons": (icons, lambda cells: len(cells["favicons"])),
    "duplicate_ids_used": (used_ids, lambda cells: sorted(cells["duplicate_ids_used"])),
    "image_headings": (only_images, lambda cells: [heading["level"] for heading in cells["image_headings"]]),
    "scripts": (running, lambda cells: cells["scripts"]),
    "og:title": (
        shared,
        lambda cells: [
            bool(cells[name])
            for name in ("og:title", "og:type", "og:image", "og:url", "card:card", "card:image")
        ],
    ),
}
"""What is compared of a column: by the other parser's tree, and by the cells of ours."""
