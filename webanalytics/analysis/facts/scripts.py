"""The scripts of a page, counted: a page whose text is empty may have its content from them."""

from __future__ import annotations

from lxml.html import HtmlElement

from webanalytics.analysis.page.page import Collector, Page, Reader

_CODE = frozenset(("", "module", "text/javascript", "application/javascript", "text/ecmascript"))
"""Types of scripts that browsers run (HTML Standard, section 4.12.1); others are data."""


class ScriptElements(Collector):
    """How many scripts a page runs."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.count = 0

    def readers(self) -> dict[str, Reader]:
        """Return its reader."""
        return {"script": self._script}

    def _script(self, element: HtmlElement) -> None:
        kind = (element.get("type") or "").partition(";")[0].strip().lower()
        self.count += kind in _CODE
