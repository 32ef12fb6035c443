"""One walk over the elements of a page that carry metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree
from lxml.html import HtmlElement

from webanalytics.analysis.metadata_urls import Links
from webanalytics.analysis.page import Page, fold
from webanalytics.analysis.structured import is_jsonld, jsonld_texts
from webanalytics.analysis.structured_microdata import describes_page

DEFAULT_MAX_ENTRIES = 10_000
"""Most headings, images and icons that are kept of one page, each."""

DEFAULT_MAX_HEADING = 10_000
"""Longest text of a heading, in characters: headings left open hold each other's text over and over."""

DEFAULT_MAX_CLIMBS = 2_000
"""Most elements of one page whose surroundings are looked at."""

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_TAGS = ("meta", "link", "title", "img", *_HEADINGS, "script", "noscript")
_ICONS = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"})
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_HTML_TAG = re.compile(r"<html\b[^<>]*+", re.IGNORECASE)
_LANG = re.compile(r"\s(?:xml:)?lang\s*+=\s*+[\"']?\s*+([^\"'\s/<>]++)", re.IGNORECASE)
_HTML_TAG_WINDOW = 200_000
# The text of these is no part of the text around them.
_NOT_TEXT = ("script", "style", "template")


class Scan:
    """What the elements of a page say, in document order.

    Parameters
    ----------
    page : Page
        The page.
    wanted : frozenset of str
        Names of the meta tags to keep, in lower case.
    max_entries : int
        Most headings, images and icons kept, each.
    max_heading : int
        Longest heading text kept, in characters.

    Attributes
    ----------
    metas : dict of str to list of str
        Contents of the meta tags that are not empty, by name.
    properties : dict of str to str
        Author and image as microdata gives them, the image not yet absolute.
    title, canonical, charset : str
        First that is not empty.
    favicons, headings, images : list of dict
        The entries of the result.

    Examples
    --------
    >>> page = Page('<title>Tea</title><meta name="Robots" content=" noindex "><h1>Green <b>tea</b></h1>')
    >>> scan = Scan(page, frozenset({"robots"}))
    >>> scan.title, scan.metas, scan.headings
    ('Tea', {'robots': ['noindex']}, [{'level': 'h1', 'text': 'Green tea'}])
    """

    def __init__(
        self,
        page: Page,
        wanted: frozenset[str],
        max_entries: int = DEFAULT_MAX_ENTRIES,
        max_heading: int = DEFAULT_MAX_HEADING,
    ) -> None:
        self.links = Links(page)
        self.metas: dict[str, list[str]] = {}
        self.properties = {"author": "", "image": ""}
        self.title = self.canonical = self.charset = ""
        self.favicons: list[dict[str, str]] = []
        self.headings: list[dict[str, str]] = []
        self.images: list[dict[str, str]] = []
        self._page = page
        self._wanted = wanted
        self._max_entries = max_entries
        self._max_heading = max_heading
        self._climbs = DEFAULT_MAX_CLIMBS
        self._strings: dict[str, str] = {}
        self._holds_paragraph: dict[str, bool] = {}
        self._read()

    def _read(self) -> None:
        """Read every element of interest, those that only browsers without scripts show left out."""
        scripts: list[HtmlElement] = []
        readers = {"meta": self._meta, "link": self._link, "title": self._title, "img": self._image}
        hidden = 0
        for element in self._page.tree.iter(*_TAGS):
            tag = element.tag
            if tag == "noscript" and not hidden:
                hidden = sum(1 for _ in element.iter(*_TAGS)) - 1
                continue
            if tag == "script":
                if is_jsonld(element):
                    scripts.append(element)
            elif not hidden:
                readers.get(str(tag), self._heading)(element)
            hidden = hidden and hidden - 1
        jsonld_texts(self._page, scripts)

    def _meta(self, element: HtmlElement) -> None:
        get = element.get
        content = get("content")
        names = f"{get('property', '')} {get('name', '')}".lower()
        for name in self._wanted.intersection(names.split()):
            if value := fold(content):
                self.metas.setdefault(name, []).append(value)
        part = get("itemprop")
        if part and part in self.properties:
            self._property(part, element, fold(content))
        if not self.charset:
            self.charset = _declared_charset(element, content)

    def _link(self, element: HtmlElement) -> None:
        link = element.get("href")
        if not link:
            return
        kinds = (element.get("rel") or "").lower().split()
        if "canonical" in kinds:
            self.canonical = self.canonical or self.links.absolute(link)
        elif not _ICONS.isdisjoint(kinds) and len(self.favicons) < self._max_entries:
            icon = {"rel": " ".join(kinds), "href": self.links.absolute(link)}
            icon.update((name, value) for name in ("sizes", "type") if (value := fold(element.get(name))))
            self.favicons.append(icon)
        elif element.get("itemprop") == "image":
            self._property("image", element, link)

    def _title(self, element: HtmlElement) -> None:
        if not self.title and self._may_climb() and next(element.iterancestors("svg"), None) is None:
            self.title = fold(element.text_content())

    def _heading(self, element: HtmlElement) -> None:
        if len(self.headings) < self._max_entries:
            text = _heading_text(element) or self._paragraph_text(element)
            self.headings.append({"level": str(element.tag), "text": text[: self._max_heading]})

    def _paragraph_text(self, heading: HtmlElement) -> str:
        """Return the text of a paragraph that was inside the heading before the parser moved it out.

        Notes
        -----
        ``<h2><p>Text</p></h2>`` is parsed as an empty heading and a paragraph, with nothing in between;
        whether the page is written so, or has an empty heading, is to be seen in its text alone.
        """
        following = heading.getnext()
        if len(heading) or heading.tail or following is None or following.tag != "p":
            return ""
        tag = str(heading.tag)
        if tag not in self._holds_paragraph:
            written = rf"<(?:{tag}|{tag.upper()})\b[^<>]*+>\s*+<[pP]\b"
            self._holds_paragraph[tag] = re.search(written, self._page.html) is not None
        return _heading_text(following) if self._holds_paragraph[tag] else ""

    def _image(self, element: HtmlElement) -> None:
        get = element.get
        if len(self.images) < self._max_entries:
            image = {"src": self.links.absolute(get("src") or ""), "alt": self._shared(fold(get("alt")))}
            if width := get("width"):
                image["width"] = self._shared(fold(width))
            if height := get("height"):
                image["height"] = self._shared(fold(height))
            self.images.append(image)
        if get("itemprop") == "image":
            self._property("image", element, get("src") or "")

    def _property(self, name: str, element: HtmlElement, value: str) -> None:
        if value and not self.properties[name] and self._may_climb() and describes_page(element):
            self.properties[name] = value

    def _may_climb(self) -> bool:
        """Tell whether the elements around one may be looked at: each such look costs the tree's depth."""
        self._climbs -= 1
        return self._climbs >= 0

    def _shared(self, text: str) -> str:
        """Return one string for equal ones: pages repeat sizes and alternative texts."""
        return self._strings.setdefault(text, text)


def _declared_charset(element: HtmlElement, content: str | None) -> str:
    """Return the encoding that a meta element declares, as written, or ''.

    Notes
    -----
    HTML Standard, section 4.2.5.4: ``<meta charset>`` or ``<meta http-equiv="Content-Type">``.
    """
    if charset := fold(element.get("charset")):
        return charset
    kind = element.get("http-equiv")
    if content and kind and kind.strip().lower() == "content-type" and (match := _CHARSET.search(content)):
        return match[1]
    return ""


def _heading_text(element: HtmlElement) -> str:
    """Return the folded text of a heading without that of scripts and styles in it.

    Notes
    -----
    A heading that starts directly inside another one ends that one (HTML Standard, section 13.2.6.4.7);
    the parser nests them instead.
    """
    if not len(element):
        return fold(element.text)
    if next(element.iter(*_NOT_TEXT), None) is None and next(element.iterchildren(*_HEADINGS), None) is None:
        return fold("".join(element.itertext()))
    return fold("".join(_texts(element)))


def _texts(heading: HtmlElement) -> Iterator[str]:
    """Yield the texts of a heading up to the next heading directly inside it."""
    walk = etree.iterwalk(heading, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            if element is not heading:
                yield element.tail or ""
        elif element.tag in _NOT_TEXT:
            walk.skip_subtree()
        elif element.tag in _HEADINGS and element.getparent() is heading:
            return
        else:
            yield element.text or ""


def late_language(page: Page) -> str:
    """Return the language of an html tag that the parser dropped because something stood before it.

    Notes
    -----
    HTML Standard, section 13.2.6.4.7: the attributes of a late html tag are those of the root.

    Examples
    --------
    >>> late_language(Page('<br>Notice: undefined<html lang="es"><p>Hola'))
    'es'
    """
    if len(page.tree.attrib) or not (tag := _HTML_TAG.search(page.html, 0, _HTML_TAG_WINDOW)):
        return ""
    before = page.html[: tag.start()].lower()
    if before.rfind("<script") > before.rfind("</script"):
        return ""
    found = _LANG.search(tag[0])
    # from the markup, not from the parser, which would have replaced lone surrogates
    return found[1].encode("utf-8", "replace").decode() if found else ""
