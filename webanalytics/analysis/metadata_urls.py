"""Absolute forms of the links of one page, each worked out once."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from webanalytics.analysis.page import Page

DEFAULT_MAX_BASE = 8_000
"""Longest base address that relative links are joined to."""

_REMOVED = str.maketrans("", "", "\t\r\n")
_FINISHED = re.compile(r"https?://[^/?#\\]|data:")


class Links:
    """Make the links of a page absolute.

    Nearly all links of a page are absolute already or start with a slash; both need no general URL
    join, which costs ten times as much. Equal links become one string, which keeps results small.

    Parameters
    ----------
    page : Page
        The page whose links these are.
    max_base : int
        Longest base address, in characters, that links are joined to: each relative link repeats it.

    Examples
    --------
    >>> links = Links(Page("<p>", "https://example.org/a/b"))
    >>> links.absolute("/x"), links.absolute("//cdn.example/x"), links.absolute(" c.png ")
    ('https://example.org/x', 'https://cdn.example/x', 'https://example.org/a/c.png')
    """

    def __init__(self, page: Page, max_base: int = DEFAULT_MAX_BASE) -> None:
        self._page = page
        self._max_base = max_base
        self._known: dict[str, str] = {"": ""}
        self._origin: str | None = None

    def absolute(self, link: str) -> str:
        """Return the absolute form of a link; '' stays ''.

        Notes
        -----
        White space around a link and line breaks inside it are no part of it (URL Standard,
        section 4.4). A link that is absolute already stays as written.
        """
        found = self._known.get(link)
        if found is None:
            found = self._known[link] = self._work_out(link)
        return found

    def _work_out(self, link: str) -> str:
        text = link.strip()
        if "\n" in text or "\t" in text or "\r" in text:
            text = text.translate(_REMOVED)
        if not text or _FINISHED.match(text):
            return text
        if len(self._page.base_url) > self._max_base:
            return text
        if text[0] == "/" and text[1:2] not in ("/", "\\") and "/." not in text and (origin := self._base()):
            return origin + text
        return self._page.urljoin(text)

    def _base(self) -> str:
        """Return scheme and host of the page's base address, '' where they are not those of the web."""
        if self._origin is None:
            try:
                scheme, host = urlsplit(self._page.base_url)[:2]
            except ValueError:
                scheme = host = ""
            self._origin = f"{scheme}://{host}" if scheme in ("http", "https") and host else ""
        return self._origin
