"""Facts of a page's head: icons, alternates and others; and the scripts that hold no code but data."""

from __future__ import annotations

import re
from typing import Any

from webanalytics.page.decoder import declared_label, order_mark
from webanalytics.page.document import Element
from webanalytics.page.page import Collector, Page, Reader

EARLY_BYTES = 1_024
"""Bytes in which a page has to declare its encoding (HTML Standard, section 4.2.5.4)."""

LONGEST_HEAD = 300_000
"""Characters in which the end of the head is looked for."""

# Nothing here is tried twice: a page may be made to keep a search busy.
_DOCTYPE = re.compile(r"(?:\s++|<!--(?>-?>|.*?--!?>)|<\?[^>]*+>)*+<!doctype\b", re.IGNORECASE | re.DOTALL)
# Comments, declarations, and elements whose content is no markup; then tags; then text.
_PIECES = re.compile(
    r"<!--(?:-?>|.*?--!?>|.*)|<[!?][^>]*+>?|</[^a-z][^>]*+>?"
    r"|<(script|style|title|noscript|template|noframes)(?=[\s/>])(?:[^<]++|<(?!/\1[\s/>]))*+(?:</\1[^>]*+>)?"
    r"|<(/?)([a-z][^\s/>]*+)(?:[^>\"']++|\"[^\"]{0,5000}+\"|'[^']{0,5000}+')*+[^>]*+>?|([^<\s]++|<)",
    re.IGNORECASE | re.DOTALL,
)
_IN_HEAD = frozenset(("base", "basefont", "bgsound", "link", "meta"))
_END_TAGS = frozenset(("head", "body", "html", "br"))


def head_facts(page: Page) -> dict[str, Any]:
    """Return the facts about the head.

    ``head_ended_by`` is the element or text that does not belong in a head and so starts the body before the
    source says that the head ends (HTML Standard, section 13.2.6.4.4 "in head").

    >>> facts = head_facts(Page("<head><title>Tea</title><div>x</div></head>"))
    >>> facts["heads"], facts["head_ended_by"]
    (1, '<div>')
    """
    html = page.html
    heads, ended = _read_head(html)
    return {
        "doctype": _DOCTYPE.match(html, 1 if html[:1] == "\ufeff" else 0) is not None,
        "charset_late": _is_late(page),
        "charset_mislabelled": page.decoded.mislabelled[:100],
        "heads": heads,
        "head_ended_by": ended,
        "xml_lang": "" if page.root.get("lang") else (page.root.get("xml:lang") or "").strip()[:100],
    }


def _is_late(page: Page) -> bool:
    """Return whether the encoding is declared too late for browsers, and nowhere else."""
    content = page.content
    if not page.declared_charset or page.header_charset:
        return False
    start = content[:EARLY_BYTES]
    start = start if isinstance(start, bytes) else start.encode("utf-8", "replace")
    return declared_label(start, EARLY_BYTES) is None and not order_mark(content)


def _read_head(html: str) -> tuple[int, str]:
    """Return how many head tags there are up to the body, and what ends the head early."""
    heads, closed, ended = 0, False, ""
    for found in _PIECES.finditer(html, 0, LONGEST_HEAD):
        raw, slash, name, text = found.groups()
        name = (name or "").lower()
        if raw or not (name or text) or name in _IN_HEAD:
            continue
        if name == "head" and not slash:
            heads += 1
        elif name == "head" or (slash and name not in _END_TAGS):
            if name == "head" and ended:
                return heads, ended
            closed = closed or name == "head"
        elif name == "html" and not slash:
            continue
        elif name == "body" and not slash:
            return heads, ended
        elif slash or closed:
            return heads, ""
        elif not ended:
            ended = f"<{name}>" if name else text[:60]
    return heads, ""


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
