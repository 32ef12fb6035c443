"""What a page loads: without encryption, before it is shown, and images that could come later or smaller."""

from __future__ import annotations

import re
from typing import Any

from webanalytics.page.document import Element
from webanalytics.page.facts.head import CODE, script_type
from webanalytics.page.page import Collector, Page, Reader, fold

FIRST_IMAGES = 5
"""Images at the start of a page that are taken to be in view when it opens; it depends on styles."""

LARGE_IMAGE = 600
"""Pixels of width over which phones need a smaller version of an image: they show some 400."""

SMALL_IMAGE = 64
"""Pixels of width or height up to which the format of an image hardly matters."""

LONGEST_POLICY = 2_000
"""Characters of a policy that are kept."""

_LATE = re.compile(r"data-(?:(?:(?:\w+-)?(?:lazy|delay|lzl|original)-)?src(?:set)?|lazy(?:load)?|original)")
"""Attributes with the address of an image that a script loads late, as of November 2026."""
_READ = 2_000
_FILE = re.compile(r"(?:https?:)?//\S+|[^\s{]+\.(?:jpe?g|png|gif|webp|avif|svg)(?:\?\S*)?", re.IGNORECASE)
_LOADING = {
    "script": ("src",),
    "iframe": ("src",),
    "frame": ("src",),
    "embed": ("src",),
    "audio": ("src",),
    "video": ("src", "poster"),
    "source": ("src",),
    "track": ("src",),
    "object": ("data",),
}
"""Attributes by which elements load what they show or run (HTML Standard, sections 4.8 and 4.12).

Besides, ``img`` and ``source`` have ``srcset``, an ``input`` of the type image ``src``, and styles URLs.
"""
_LOADING_LINKS = frozenset(
    (
        "stylesheet",
        "icon",
        "apple-touch-icon",
        "mask-icon",
        "preload",
        "modulepreload",
        "prefetch",
        "manifest",
    )
)
_IN_SRCSET = re.compile(r"(?:^|[\s,])(http:[^\s]+)", re.IGNORECASE)
_COMMENTS = re.compile(r"/\*(?:.*?\*/|.*)", re.DOTALL)
# A namespace is a name that looks like an address: nothing is loaded from it.
_IN_STYLE = re.compile(
    r"@namespace[^;]*+|(?:url\(\s*+[\"']?|@import\s*+[\"'])\s*+(http:[^\s\"')]++)", re.IGNORECASE
)
_SHOWN_MEDIA = frozenset(("", "all", "screen"))
_OLD = re.compile(r"[^?#]*\.(?:jpe?g|jfif|png|bmp)(?:[?#]|$)", re.IGNORECASE)
_NEGOTIATED = re.compile(r"webp|avif|jxl|auto=|=auto|f_auto", re.IGNORECASE)


class LoadingElements(Collector):
    """What elements load; addresses without encryption only of a page in https."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.insecure: list[str] = []
        self.insecure_forms: list[str] = []
        self.resources: list[str] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.not_lazy: list[str] = []
        self.old_formats: list[str] = []
        self.without_srcset: list[str] = []
        self.policy = ""
        self.referrer = ""
        self._images = 0
        self._pictures: dict[Element, tuple[bool, bool]] = {}
        self._in_body = False
        self._secure = page.final_url[:6].lower() == "https:"
        self._base_insecure = self._secure and page.base_url[:5].lower() == "http:"

    def readers(self) -> dict[str, Reader]:
        """Return its readers by tag; those of what elements load only for a page in https."""
        found = {
            "meta": self._meta,
            "link": self._link,
            "script": self._script,
            "img": self._image,
            "body": self._body,
        }
        if not self._secure:
            return found
        secure = {
            "style": self._style,
            "form": self._form,
            "button": self._button,
            "input": self._input,
            **dict.fromkeys(_LOADING, self._loading),
        }
        return {**secure, **found, "script": self._secure_script}

    def _body(self, _: Element) -> None:
        self._in_body = True

    def _meta(self, element: Element) -> None:
        kind = element.get("http-equiv")
        if kind and kind.strip().lower() == "content-security-policy":
            said = fold(element.get("content"))
            self.policy = f"{self.policy}, {said}" if self.policy else said
        elif (name := element.get("name")) and name.strip().lower() == "referrer":
            self.referrer = fold(element.get("content"))

    def _link(self, element: Element) -> None:
        kinds = (element.get("rel") or "").lower().split()
        if not _LOADING_LINKS.isdisjoint(kinds):
            href = element.get("href")
            if self._secure:
                self._check(href)
            if href and "stylesheet" in kinds:
                self.keep(self.resources, url := self._absolute(href))
                if not self._in_body and _blocks(element, kinds):
                    self.keep(self.styles, url)

    def _script(self, element: Element) -> None:
        get = element.get
        source = get("src")
        if not source:
            return
        kind = script_type(element)
        if kind not in CODE:
            return
        self.keep(self.resources, url := self._absolute(source))
        blocks = (
            kind != "module" and get("async") is None and get("defer") is None and get("nomodule") is None
        )
        if blocks and not self._in_body:
            self.keep(self.scripts, url)

    def _secure_script(self, element: Element) -> None:
        self._script(element)
        self._check(element.get("src"))

    def _form(self, element: Element) -> None:
        self._check_form(element.get("action"))

    def _button(self, element: Element) -> None:
        self._check_form(element.get("formaction"))

    def _input(self, element: Element) -> None:
        self._check_form(element.get("formaction"))
        if source := element.get("src"):
            kind = element.get("type")
            if kind and kind.strip().lower() == "image":
                self._check(source)

    def _style(self, element: Element) -> None:
        if text := element.text:
            self._check_style(text)

    def _loading(self, element: Element) -> None:
        for name in _LOADING[element.tag]:
            self._check(element.get(name))
        if several := element.get("srcset"):
            self._check_srcset(several)

    def _is_insecure(self, link: str) -> bool:
        if self._base_insecure:
            link = self._absolute(link)
        return link.lstrip()[:5].lower() == "http:"

    def _check(self, link: str | None) -> None:
        if link and self._is_insecure(link):
            self.keep(self.insecure, self._absolute(link))

    def _check_form(self, link: str | None) -> None:
        if link and self._is_insecure(link):
            self.keep(self.insecure_forms, self._absolute(link))

    def _check_srcset(self, value: str) -> None:
        if "http:" in value or "HTTP:" in value:
            for found in _IN_SRCSET.finditer(value):
                self.keep(self.insecure, found[1].rstrip(","))

    def _check_style(self, text: str) -> None:
        if "http:" in text or "HTTP:" in text:
            for found in _IN_STYLE.finditer(_COMMENTS.sub(" ", text)):
                if found[1]:
                    self.keep(self.insecure, found[1])

    def check_attributes(self, page: Page) -> None:
        """Look for addresses without encryption in the style attributes of a page."""
        if self._secure:
            for element in page.having("style"):
                self._check_style(element.attrib["style"])

    def _image(self, element: Element) -> None:
        get = element.get
        source, several = get("src"), get("srcset")
        if self._secure:
            self._check(source)
            if several:
                self._check_srcset(several)
        source = (source or "").strip()
        width, height = get("width"), get("height")
        if not source or source[:5].lower() == "data:" or is_pixel(width, height):
            return
        self._images += 1
        if self._images > FIRST_IMAGES and not _waits(element):
            self.keep(self.not_lazy, self._absolute(source))
        if _OLD.match(source) and not (_is_small(width) or _is_small(height)):
            self._old_format(element, source, several or "")
        # Three digits are the least that a large width takes: most images need no further look.
        if width and len(width) > 2 and not several and _number(width) > LARGE_IMAGE:
            self._one_size(element, source)

    def _sources(self, element: Element, *, modern: bool = False) -> bool:
        """Return whether a picture around an image offers other sources, ``modern`` ones where asked for."""
        parent = element.parent
        if parent is None or parent.tag != "picture":
            return False
        if parent not in self._pictures:
            sources = [
                part.attrib
                for part in self._document.inside(parent)
                if part.tag == "source" and part.parent is parent
            ]
            offered = [f"{source.get('type', '')} {source.get('srcset', '')}" for source in sources]
            self._pictures[parent] = bool(offered), any(map(_NEGOTIATED.search, offered))
        return self._pictures[parent][modern]

    def _old_format(self, element: Element, source: str, several: str) -> None:
        if not _NEGOTIATED.search(source + several) and not self._sources(element, modern=True):
            self.keep(self.old_formats, self._absolute(source))

    def _one_size(self, element: Element, source: str) -> None:
        drawn = source.partition("?")[0].lower().endswith(".svg")
        if not drawn and element.get("data-srcset") is None and not self._sources(element):
            self.keep(self.without_srcset, self._absolute(source))


def late_source(element: Element) -> str:
    """Return the address of an image that a script loads late, "" for none."""
    named = {name: value.strip() for name, value in element.attrib.items() if _LATE.fullmatch(name)}
    addresses = (value for value in named.values() if _FILE.fullmatch(value[:_READ]))
    return named.get("data-src") or next(addresses, "")


def _waits(element: Element) -> bool:
    """Return whether an image is loaded late: by the browser, or by a script that reads another attribute."""
    loading = element.get("loading") or ""
    return loading.strip().lower() == "lazy" or any(map(_LATE.fullmatch, element.attrib))


def _is_small(side: str | None) -> bool:
    return side is not None and 0 < _number(side) <= SMALL_IMAGE


def _number(text: str | None) -> int:
    digits = (text or "").strip().removesuffix("px")
    return int(digits) if digits.isdecimal() and len(digits) < 6 else 0


def is_pixel(width: str | None, height: str | None) -> bool:
    """Return whether an image is one pixel wide or high, as tracking pixels are."""
    return any((size or "").strip().removesuffix("px") in ("0", "1") for size in (width, height))


def _blocks(element: Element, kinds: list[str]) -> bool:
    """Return whether a browser waits for a style sheet before it shows anything."""
    if "alternate" in kinds or element.get("disabled") is not None:
        return False
    return (element.get("media") or "").strip().lower() in _SHOWN_MEDIA


def loading_facts(page: Page, elements: LoadingElements) -> dict[str, Any]:
    """Return the facts about what a page loads.

    Mixed content is that of W3C Mixed Content; a page that lets its requests be upgraded has none.

    >>> from webanalytics.page.page import collected
    >>> html = "<script src=a.js></script><body style='background: url(http://b.example/c.png)'>"
    >>> page = Page(html, "https://a.example/")
    >>> facts = loading_facts(page, collected(page, LoadingElements))
    >>> facts["mixed_content"], facts["blocking_scripts"], facts["elements"]
    (['http://b.example/c.png'], ['https://a.example/a.js'], 4)
    """
    elements.check_attributes(page)
    upgraded = "upgrade-insecure-requests" in elements.policy.lower()
    return {
        "mixed_content": [] if upgraded else list(dict.fromkeys(elements.insecure)),
        "insecure_forms": [] if upgraded else list(dict.fromkeys(elements.insecure_forms)),
        "resources": list(dict.fromkeys(elements.resources)),
        "blocking_scripts": elements.scripts,
        "blocking_styles": elements.styles,
        "images_not_lazy": elements.not_lazy,
        "images_in_old_formats": elements.old_formats,
        "images_without_srcset": elements.without_srcset,
        "elements": page.size,
        "meta_policy": elements.policy[:LONGEST_POLICY],
        "meta_referrer": elements.referrer[:100],
    }
