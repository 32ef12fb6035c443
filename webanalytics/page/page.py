"""A page, shared by the analyses of a worker: decoded once, parsed once, its elements walked once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property, wraps
from typing import Any, ClassVar, TypeVar
from urllib.parse import urljoin

from lxml.html import HtmlElement

from webanalytics.errors import RowError
from webanalytics.page.decoder import Decoded, decode, wrap_plain_text, xhtml_as_html
from webanalytics.page.document import Document, Element
from webanalytics.page.tree import parse
from webanalytics.page.visible_text import drop_invisible, given_text, shown, visible_text
from webanalytics.urls import parts_of

# What the URL Standard strips from the ends of a URL, and what it removes within it.
_URL_ENDS = "".join(map(chr, range(0x21)))
_URL_BREAKS = re.compile(r"[\t\n\r]")
_NOT_A_BASE = ("data:", "javascript:")
_LINK_BREAKS = str.maketrans("", "", "\t\r\n")
_FINISHED = re.compile(r"https?://[^/?#\\]|data:")
_MAX_BASE = 8_000

T = TypeVar("T")
Reader = Callable[[Element], None]


def fold(text: str | None) -> str:
    """Return the text with every run of white space folded into one space, and none at the ends."""
    return " ".join(text.split()) if text else ""


def once_per_page(function: Callable[[Page], T]) -> Callable[[Page], T]:
    """Cache a function's result with the page, because several analyses need it."""

    @wraps(function)
    def kept(page: Page) -> T:
        if function not in page.found:
            page.found[function] = function(page)
        found: T = page.found[function]
        return found

    return kept


class Page:
    """A web page as it was received, decoded and parsed at most once.

    Everything is computed on first access and then cached. Analyses must not modify `document` and `tree`.

    Examples
    --------
    >>> page = Page(b"<title>Tea</title><a href=milk>Milk", "https://example.org/tea")
    >>> page.title, page.charset, page.urljoin("milk")
    ('Tea', 'utf-8', 'https://example.org/milk')
    """

    def __init__(
        self,
        content: bytes | str,  # the page as it was received, or as text
        url: str = "",  # its address as requested
        final_url: str = "",  # its address after redirects
        content_type: str = "",  # the Content-Type header that it came with
        # whether the content is a text in place of a page: all of it is read, and none of it is markup
        is_text: bool = False,
        language: str = "",  # language of the text, where it is known
    ) -> None:
        self.content = content
        self.url = url
        self.final_url = final_url or url
        self.content_type = content_type
        self.is_text = is_text
        self.language = language
        self.found: dict[Any, Any] = {}  # cached results of functions and collectors
        # collectors that later analyses will need: they share one walk with the first of them
        self.expected: tuple[type[Collector], ...] = ()

    @cached_property
    def decoded(self) -> Decoded:
        """The text, of XHTML as HTML has it, and how its encoding was found."""
        found = decode(self.content, self.content_type)
        if self._kind == "application/xhtml+xml":
            return found._replace(text=xhtml_as_html(found.text), as_written=False)
        return found

    @property
    def _kind(self) -> str:
        return self.content_type.partition(";")[0].strip().lower()

    @property
    def html(self) -> str:
        """The page as text."""
        return self.decoded.text

    @property
    def charset(self) -> str:
        """Name, in the Encoding standard, of the encoding that the page was decoded with."""
        return self.decoded.charset

    @property
    def header_charset(self) -> str | None:
        """Encoding named by the Content-Type header, as it was written."""
        return self.decoded.header

    @property
    def declared_charset(self) -> str | None:
        """Encoding declared inside the page, as it was written."""
        return self.decoded.declared

    @property
    def document(self) -> Document:
        """Its elements; raises RowError for a page that cannot be parsed."""
        if isinstance(self._parsed, RowError):
            raise self._parsed
        return self._parsed

    @cached_property
    def _parsed(self) -> Document | RowError:
        """The elements, or why there are none: each analysis asks, and the parser is kept busy once."""
        try:
            if self._kind == "text/plain":
                return parse(wrap_plain_text(self.html))
            return parse(self.content if self.decoded.as_written else self.html)
        except RowError as error:
            return error

    @property
    def root(self) -> Element:
        """The ``html`` element."""
        return self.document.root

    @property
    def tree(self) -> HtmlElement:
        """Root of the same tree as lxml's, for XPath and extractors."""
        return self.document.tree

    @property
    def size(self) -> int:
        """Number of its elements."""
        return len(self.document.elements)

    def having(self, attribute: str) -> list[Element]:
        """Return the elements that have one of the attributes of `tree.NOTED`, in document order."""
        return self.document.noted[attribute]

    @cached_property
    def title(self) -> str:
        """First title of the document that is not empty; a drawing's title does not count."""
        for element in self.document.tagged["title"]:
            text = fold(drop_invisible(self.document.text_of(element)))
            if text and next(element.iterancestors("svg"), None) is None:
                return text
        return ""

    @cached_property
    def h1(self) -> str:
        """First main heading that is not empty."""
        document = self.document
        headings = filter(document.may_read, document.tagged["h1"])
        return next((text for node in headings if (text := fold(visible_text(document, node)))), "")

    @cached_property
    def _metas(self) -> dict[str, list[str]]:
        """The contents of the meta elements that have one by their names, in document order."""
        metas: dict[str, list[str]] = {}
        for meta in self.document.tagged["meta"]:
            name = meta.get("name") or meta.get("property") or meta.get("itemprop")
            content = fold(meta.get("content"))
            if name and content:
                metas.setdefault(name.strip().lower(), []).append(content)
        return metas

    def metas(self, *names: str) -> list[str]:
        """Return the contents of the meta elements of these names, a name's before the next name's."""
        return [content for name in names for content in self._metas.get(name, ())]

    @cached_property
    def description(self) -> str:
        """First meta description that is not empty."""
        return next(iter(self.metas("description")), "")

    @cached_property
    def descriptions(self) -> list[str]:
        """Every description that the page gives of itself in its meta elements."""
        found = self.metas("description", "og:description", "twitter:description")
        return list(dict.fromkeys(map(drop_invisible, found)))

    @cached_property
    def lang(self) -> str:
        """Value of the html element's lang attribute, or the language given with a text."""
        if self.is_text:
            return self.language
        return (self.root.get("lang") or self.root.get("xml:lang") or "").strip()

    @cached_property
    def visible_text(self) -> str:
        """All text that a reader of the page sees, one line per block."""
        if self.is_text:
            return given_text(self.html)
        return shown(self.document.pieces)

    @cached_property
    def base_url(self) -> str:
        """Address that relative links of the page start from: the first base element with one counts."""
        hrefs = (element.get("href") for element in self.document.tagged["base"])
        href = next((href for href in hrefs if href is not None), "").strip(_URL_ENDS)
        if not href or href.lower().startswith(_NOT_A_BASE):
            return self.final_url
        return _join(self.final_url, href)

    @cached_property
    def links(self) -> Links:
        """The absolute forms of its links."""
        return Links(self.base_url)

    def urljoin(self, href: str) -> str:
        """Return the absolute form of a link found on the page; never raises."""
        return _join(self.base_url, href)


def _join(base: str, href: str) -> str:
    href = _URL_BREAKS.sub("", href.strip(_URL_ENDS))
    try:
        return urljoin(base, href)
    except ValueError:
        return href


class Links:
    """Absolute forms of the links of one page, each computed once; equal links become one string.

    Nearly all links of a page are absolute already or start with a slash; both need no general URL
    join, which costs ten times as much.

    Examples
    --------
    >>> links = Links("https://example.org/a/b")
    >>> links.absolute("/x"), links.absolute("//cdn.example/x"), links.absolute(" c.png ")
    ('https://example.org/x', 'https://cdn.example/x', 'https://example.org/a/c.png')
    """

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._known: dict[str, str] = {"": ""}

    def absolute(self, link: str) -> str:
        """Return the absolute form of a link; '' stays '', and so does an absolute one as it is written.

        White space around a link and line breaks inside it are removed (URL Standard, section 4.4).
        """
        found = self._known.get(link)
        if found is None:
            found = self._known[link] = self._work_out(link)
        return found

    def _work_out(self, link: str) -> str:
        text = link.strip()
        if "\n" in text or "\t" in text or "\r" in text:
            text = text.translate(_LINK_BREAKS)
        # Each relative link would repeat a base of enormous length.
        if not text or _FINISHED.match(text) or len(self._base_url) > _MAX_BASE:
            return text
        if text[0] == "/" and text[1:2] not in ("/", "\\") and "/." not in text and self._origin:
            return self._origin + text
        return _join(self._base_url, text)

    @cached_property
    def _origin(self) -> str:
        """Scheme and host of the page's base address, '' unless it is a web address."""
        scheme, host = parts_of(self._base_url)[:2]
        return f"{scheme}://{host}" if scheme in ("http", "https") and host else ""


class Collector:
    """What one analysis collects in the walk over a page's elements, which all analyses share.

    Its readers are called in document order. It keeps no reference to the page, which keeps it: a circle
    would wait for the garbage collector.
    """

    alongside: ClassVar[tuple[type[Collector], ...]] = ()
    """Collectors that the same analysis asks for."""
    max_climbs: ClassVar[int] = 2_000
    """Most elements whose surroundings are looked at: each such look costs the tree's depth."""
    max_entries: ClassVar[int] = 500
    """Most entries of a list."""
    max_length: ClassVar[int] = 500
    """Most characters of a string in such a list."""

    def __init__(self, page: Page) -> None:
        self._absolute = page.links.absolute
        self._document = page.document
        self._climbs = 0

    def readers(self) -> dict[str, Reader]:
        """Return the reader of the elements of each tag of interest."""
        raise NotImplementedError

    def may_climb(self) -> bool:
        """Return whether an element's surroundings may still be examined."""
        self._climbs += 1
        return self._climbs <= self.max_climbs

    def keep(self, entries: list[str], text: str) -> None:
        """Add a string to a list, within these bounds."""
        if len(entries) < self.max_entries:
            entries.append(text[: self.max_length])

    def title_of(self, element: Element) -> str | None:
        """Return the text of a title element, None for a drawing's title."""
        if not self.may_climb() or next(element.iterancestors("svg"), None) is not None:
            return None
        return fold(self._document.text_of(element))


C = TypeVar("C", bound=Collector)


def collected(page: Page, kind: type[C]) -> C:
    """Return what a collector finds on a page, from one walk shared with all expected ones.

    Examples
    --------
    >>> class Titles(Collector):
    ...     def readers(self):
    ...         return {"title": lambda element: print(self.title_of(element))}
    >>> found = collected(Page("<title>Tea</title><svg><title>Pot</title></svg>"), Titles)
    Tea
    None
    """
    if kind not in page.found:
        own: tuple[type[Collector], ...] = (kind, *kind.alongside)
        others = [found for expected in page.expected for found in (expected, *expected.alongside)]
        _ = page.document  # a page that cannot be parsed is not an analysis's failure
        try:
            _walk(page, (*own, *others))
        except Exception:
            if not others:
                raise
            _walk(page, own)  # the failure of one analysis must not affect another
    found: C = page.found[kind]
    return found


def _walk(page: Page, kinds: Iterable[type[Collector]]) -> None:
    """Feed the collectors that have not been fed yet from one pass over the page's elements."""
    collectors = {kind: kind(page) for kind in dict.fromkeys(kinds) if kind not in page.found}
    readers: dict[str, list[Reader]] = {}
    for collector in collectors.values():
        for tag, reader in collector.readers().items():
            readers.setdefault(tag, []).append(reader)
    for element in page.document.elements:
        for read in readers.get(element.tag, ()):
            read(element)
    page.found.update(collectors)
