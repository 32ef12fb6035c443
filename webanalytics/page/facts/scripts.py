"""The scripts of a page, counted: a page whose text is empty may have its content from them."""

from __future__ import annotations

from webanalytics.page.document import Element
from webanalytics.page.page import Collector, Page, Reader

CODE = frozenset(
    (
        *("", "module", "text/jscript", "text/livescript"),
        *(
            f"{kind}/{x}{name}script"
            for kind in ("text", "application")
            for x in ("", "x-")
            for name in ("java", "ecma")
        ),
    )
)
"""Types of scripts that browsers run; others are data.

HTML Standard, section 4.12.1, and MIME Sniffing Standard, section 4.6, without versions of JavaScript.
"""


class ScriptElements(Collector):
    """How many scripts a page runs."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.count = 0

    def readers(self) -> dict[str, Reader]:
        """Return its reader."""
        return {"script": self._script}

    def _script(self, element: Element) -> None:
        self.count += script_type(element) in CODE


def script_type(element: Element) -> str:
    """Return the type of a script without its parameters, empty where none is named."""
    return (element.get("type") or "").partition(";")[0].strip().lower()
