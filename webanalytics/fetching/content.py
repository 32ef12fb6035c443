"""Whether an answer is of the kind that was asked for."""

from __future__ import annotations

import re
from typing import Literal

from webanalytics.fetching.response import Problem

Accept = Literal["page", "image", "any"]

_PAGE_TYPES = frozenset(("text/html", "application/xhtml+xml", "text/plain"))
_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
# MIME Sniffing (mimesniff.spec.whatwg.org) section 5.1: types that say nothing.
_UNKNOWN = frozenset(("", "unknown/unknown", "application/unknown", "*/*"))
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,60}")
# Section 3 there: bytes that no text has.
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_TEXT_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
_DOCUMENTS = (b"%PDF-", b"%!PS-Adobe-", b"{\\rtf")
_SNIFFED = 1445


def media_type(content_type: str) -> str:
    """Return the type of a Content-Type header without its parameters, "" when it names none.

    Examples
    --------
    >>> media_type("Text/HTML; charset=utf-8"), media_type("nonsense")
    ('text/html', '')
    """
    name = content_type.partition(";")[0].strip().lower()
    return name if _MEDIA_TYPE.fullmatch(name) or name == "*/*" else ""


def check_type(content_type: str, accept: Accept) -> None:
    """Raise `Problem` when a header says that the body is not what was asked for."""
    name = media_type(content_type)
    if accept == "page" and name not in _UNKNOWN and name not in _PAGE_TYPES:
        raise Problem("not_html", content_type=name)
    if accept == "image" and name in _HTML_TYPES:
        raise Problem("not_image")


def check_body(content: bytes, content_type: str, accept: Accept) -> None:
    """Raise `Problem` when a body without a type is not the text of a page."""
    if accept != "page" or media_type(content_type) not in _UNKNOWN:
        return
    head = content[:_SNIFFED]
    if head.startswith(_TEXT_MARKS):
        return
    if _BINARY.search(head) or head.lstrip().startswith(_DOCUMENTS):
        raise Problem("not_text")
