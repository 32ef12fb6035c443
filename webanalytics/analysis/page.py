"""One parse of a page, shared by every analysis of it."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any
from urllib.parse import urljoin

from lxml.html import HtmlElement

from webanalytics.analysis.decoding import Decoded, decode
from webanalytics.analysis.parsing import parse, wrap_plain_text
from webanalytics.analysis.visible import drop_invisible, visible_text

# What the URL standard takes off the ends of a URL, and what it takes out of it.
_URL_ENDS = "".join(map(chr, range(0x21)))
_URL_BREAKS = re.compile(r"[\t\n\r]")
_NOT_A_BASE = ("data:", "javascript:")


def fold(text: str | None) -> str:
    """Return the text with every run of white space folded into one space, and none at the ends."""
    return " ".join(text.split()) if text else ""


class Page:
    """A web page as it was received, decoded and parsed at most once.

    Everything is computed when first asked for and then kept. Analyses must not modify `tree`.

    Parameters
    ----------
    content : bytes or str
        The page as it was received, or as text.
    url : str
        Its address as it was asked for.
    final_url : str
        Its address after redirects.
    content_type : str
        The Content-Type header that it came with.

    Examples
    --------
    >>> page = Page(b"<title>Tea</title><a href=milk>Milk", "https://example.org/tea")
    >>> page.title, page.charset, page.urljoin("milk")
    ('Tea', 'utf-8', 'https://example.org/milk')
    """

    def __init__(
        self, content: bytes | str, url: str = "", final_url: str = "", content_type: str = ""
    ) -> None:
        self.content = content
        self.url = url
        self.final_url = final_url or url
        self.content_type = content_type

    @cached_property
    def decoded(self) -> Decoded:
        """The text, and how its encoding was found."""
        return decode(self.content, self.content_type)

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

    @cached_property
    def tree(self) -> HtmlElement:
        """Root of the whole document; raises RowError for a page that cannot be parsed."""
        plain = self.content_type.partition(";")[0].strip().lower() == "text/plain"
        return parse(wrap_plain_text(self.html) if plain else self.html)

    @cached_property
    def title(self) -> str:
        """First title of the document that is not empty; a drawing's title is none."""
        for element in self.tree.iter("title"):
            text = fold(drop_invisible(element.text_content()))
            if text and next(element.iterancestors("svg"), None) is None:
                return text
        return ""

    @cached_property
    def h1(self) -> str:
        """First main heading that is not empty."""
        return next((text for node in self.tree.iter("h1") if (text := fold(visible_text(node)))), "")

    @cached_property
    def _metas(self) -> list[tuple[str, str]]:
        """Names and contents of the meta elements that have both, in document order."""
        metas = []
        for meta in self.tree.iter("meta"):
            name = meta.get("name") or meta.get("property") or meta.get("itemprop")
            content = fold(meta.get("content"))
            if name and content:
                metas.append((name.strip().lower(), content))
        return metas

    def metas(self, *names: str) -> list[str]:
        """Return the contents of the meta elements of these names, a name's before the next name's."""
        return [content for name in names for key, content in self._metas if key == name]

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
        """Value of the html element's lang attribute."""
        return (self.tree.get("lang") or self.tree.get("xml:lang") or "").strip()

    @cached_property
    def jsonld(self) -> list[dict[str, Any]]:
        """Items of the page's JSON-LD blocks."""
        from webanalytics.analysis.structured import read_jsonld

        return read_jsonld(self)

    @cached_property
    def main_text(self) -> str:
        """Main text of the page, one line per paragraph; empty when it has none."""
        from webanalytics.analysis.main_text import main_text

        return main_text(self)

    @cached_property
    def visible_text(self) -> str:
        """All text that a reader of the page sees, one line per block."""
        return visible_text(self.tree)

    @cached_property
    def language(self) -> str:
        """ISO 639-1 code of the language that the page is written in; empty when unknown."""
        from webanalytics.analysis.language import page_language

        return page_language(self)

    @cached_property
    def base_url(self) -> str:
        """Address that relative links of the page start from."""
        for element in self.tree.iter("base"):
            href = element.get("href", "").strip(_URL_ENDS)
            if href and not href.lower().startswith(_NOT_A_BASE):
                return _join(self.final_url, href)
        return self.final_url

    def urljoin(self, href: str) -> str:
        """Return the absolute form of a link found on the page; never raises."""
        return _join(self.base_url, href)


def _join(base: str, href: str) -> str:
    href = _URL_BREAKS.sub("", href.strip(_URL_ENDS))
    try:
        return urljoin(base, href)
    except ValueError:
        return href
