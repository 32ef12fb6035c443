"""What a page loads, read from html5lib's tree; the addresses are those of a page in https."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from webanalytics.page.facts.facts import analyse
from webanalytics.page.page import Page

HTML = "{http://www.w3.org/1999/xhtml}"
URL = "https://corpus.example/page"
LONGEST = 500
LOADING = {
    *(("script", "src"), ("iframe", "src"), ("frame", "src"), ("embed", "src"), ("audio", "src")),
    *(("video", "src"), ("video", "poster"), ("source", "src"), ("track", "src"), ("object", "data")),
    ("img", "src"),
}
LOADED_LINKS = {"stylesheet", "icon", "apple-touch-icon", "mask-icon", "preload", "modulepreload"}
LOADED_LINKS |= {"prefetch", "manifest"}


def tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


def walk(element: Element) -> Iterator[Element]:
    """An element and those below it, of any namespace, as far as a browser with scripts has them."""
    yield element
    if tag(element) not in ("noscript", "template"):
        for child in element:
            if tag(child):
                yield from walk(child)


@lru_cache(maxsize=1)
def base_of(root: Element) -> str:
    found = (e.get("href", "") for e in walk(root) if tag(e) == "base" and e.get("href") is not None)
    return next(found, "")


def absolute(root: Element, address: str) -> str:
    base = base_of(root)
    joined = urljoin(URL, base.strip()) if not base.lower().startswith(("data:", "javascript:")) else URL
    clean = "".join(character for character in address.strip() if character not in "\t\r\n")
    return urljoin(joined, clean) if not clean.lower().startswith(("http://", "https://", "data:")) else clean


def head(root: Element) -> list[Element]:
    return [e for part in root if tag(part) == "head" for e in walk(part)]


def rels(element: Element) -> set[str]:
    return set(element.get("rel", "").lower().split())


def scripts(root: Element) -> list[str]:
    kinds = {"", "text/javascript", "application/javascript", "application/ecmascript"}
    return [
        absolute(root, e.get("src", ""))[:LONGEST]
        for e in head(root)
        if tag(e) == "script"
        and e.get("src")
        and not {"async", "defer", "nomodule"} & set(e.keys())
        and e.get("type", "").split(";")[0].strip().lower() in kinds
    ]


def styles(root: Element) -> list[str]:
    return [
        absolute(root, e.get("href", ""))[:LONGEST]
        for e in head(root)
        if tag(e) == "link"
        and e.get("href")
        and "stylesheet" in rels(e)
        and "alternate" not in rels(e)
        and e.get("disabled") is None
        and e.get("media", "").strip().lower() in ("", "all", "screen")
    ]


def resources(root: Element) -> list[str]:
    """External scripts that run and style sheets, each address once, in the order of the page."""
    found = []
    for e in walk(root):
        kind = e.get("type", "").split(";")[0].strip().lower()
        runs = kind in ("", "module") or re.fullmatch(
            r"(text|application)/(x-)?(java|ecma)script|text/(j|live)script", kind
        )
        if e.tag == HTML + "script" and e.get("src") and runs:
            found.append(absolute(root, e.get("src", ""))[:LONGEST])
        if e.tag == HTML + "link" and e.get("href") and "stylesheet" in rels(e):
            found.append(absolute(root, e.get("href", ""))[:LONGEST])
    return list(dict.fromkeys(found))[:500]


def pictures(root: Element) -> list[tuple[Element, Element | None]]:
    """The images that are no pixels, each with the picture element that it is in."""
    parents = {child: parent for parent in walk(root) for child in parent}
    found = []
    for e in walk(root):
        source = e.get("src", "").strip()
        sizes = {(e.get(name) or "").strip().removesuffix("px") for name in ("width", "height")}
        embedded = not source or source.lower().startswith("data:")
        if e.tag == HTML + "img" and not embedded and sizes.isdisjoint({"0", "1"}):
            parent = parents.get(e)
            found.append((e, parent if parent is not None and tag(parent) == "picture" else None))
    return found


def pixels(text: str | None) -> int:
    found = re.fullmatch(r"\s*(\d{1,5})(?:px)?\s*", text or "")
    return int(found[1]) if found else 0


def offered(picture: Element | None) -> list[Element]:
    return [] if picture is None else [child for child in picture if tag(child) == "source"]


def of_a_late_image(name: str) -> bool:
    data, *words = name.split("-")
    if data != "data" or not words:
        return False
    marks = {"lazy", "delay", "lzl", "original"}
    if words[-1] in ("src", "srcset"):
        return len(words) == 1 or (len(words) <= 3 and words[-2] in marks)
    return words in (["lazy"], ["lazyload"], ["original"])


def not_lazy(root: Element) -> list[str]:
    return [
        absolute(root, e.get("src", ""))[:LONGEST]
        for e, _ in pictures(root)[5:]
        if e.get("loading", "").strip().lower() != "lazy" and not any(map(of_a_late_image, e.keys()))
    ]


def modern(text: str) -> bool:
    return any(word in text.lower() for word in ("webp", "avif", "jxl", "auto=", "=auto", "f_auto"))


def old_formats(root: Element) -> list[str]:
    found = []
    for e, picture in pictures(root):
        source = e.get("src", "").strip()
        path = source.split("?")[0].split("#")[0].lower()
        small = any(0 < pixels(e.get(side)) <= 64 for side in ("width", "height"))
        others = [f"{o.get('type', '')} {o.get('srcset', '')}" for o in offered(picture)]
        old = path.endswith((".jpg", ".jpeg", ".jfif", ".png", ".bmp")) and not small
        if old and not any(map(modern, [source + e.get("srcset", ""), *others])):
            found.append(absolute(root, source)[:LONGEST])
    return found


def one_size(root: Element) -> list[str]:
    return [
        absolute(root, e.get("src", ""))[:LONGEST]
        for e, picture in pictures(root)
        if pixels(e.get("width")) > 600
        and not e.get("srcset")
        and e.get("data-srcset") is None
        and not offered(picture)
        and not e.get("src", "").strip().lower().split("?")[0].endswith(".svg")
    ]


def insecure(root: Element) -> list[str]:
    """What is loaded over http, each address once and in no order."""
    found: list[str] = []
    for e in walk(root):
        named = [e.get(name) for kind, name in LOADING if kind == tag(e)]
        if tag(e) == "link" and rels(e) & LOADED_LINKS:
            named.append(e.get("href"))
        if tag(e) == "input" and e.get("type", "").strip().lower() == "image":
            named.append(e.get("src"))
        found += [url for n in named if n and (url := absolute(root, n)).lower().startswith("http:")]
        if tag(e) in ("img", "source"):
            found += re.findall(r"(?:^|[\s,])(http:\S+?),?(?=\s|$)", e.get("srcset", ""))
        code = (e.text or "") if tag(e) == "style" else ""
        for text in (code, e.get("style", "")):
            plain = re.sub(r"@namespace[^;]*", "", re.sub(r"(?s)/\*.*?\*/", "", text))
            found += re.findall(r"(?i)url\(\s*[\"']?\s*(http:[^\s\"')]+)", plain)
            found += re.findall(r"(?i)@import\s*[\"']\s*(http:[^\s\"')]+)", plain)
    upgraded = any(
        tag(e) == "meta"
        and e.get("http-equiv", "").strip().lower() == "content-security-policy"
        and "upgrade-insecure-requests" in e.get("content", "").lower()
        for e in walk(root)
    )
    return [] if upgraded else sorted({text[:LONGEST] for text in found})


READERS: dict[str, Callable[[Element], Any]] = {
    "elements": lambda root: sum(1 for _ in walk(root)),
    "resources": resources,
    "blocking_scripts": scripts,
    "blocking_styles": styles,
    "images_not_lazy": not_lazy,
    "images_in_old_formats": old_formats,
    "images_without_srcset": one_size,
    "mixed_content": insecure,
    "xml_lang": lambda root: (
        ""
        if root.get("lang")
        else (root.get("xml:lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or "").strip()
    ),
    "amphtml": lambda root: next(
        (absolute(root, e.get("href", "")) for e in head(root) if tag(e) == "link" and "amphtml" in rels(e)),
        "",
    ),
    "meta_referrer": lambda root: [
        " ".join(e.get("content", "").split())
        for e in walk(root)
        if tag(e) == "meta" and e.get("name", "").strip().lower() == "referrer"
    ][-1:],
}


def ours(name: str) -> Callable[[Page], Any]:
    def read(page: Page) -> Any:
        if "loading" not in page.found:
            page.found["loading"] = analyse(Page(page.html, URL, URL))
        value = page.found["loading"][name]
        if name == "mixed_content":
            return sorted(value)
        return ([value] if value else []) if name == "meta_referrer" else value

    return read


OURS: dict[str, Callable[[Page], Any]] = {name: ours(name) for name in READERS}
