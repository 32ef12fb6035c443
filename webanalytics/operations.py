"""The declarations of the operations: everything about their shape, and the register of them all."""

from __future__ import annotations

from webanalytics.core.operations.model import (
    DECLARED,
    OPERATIONS,
    Field,
    Operation,
    Parameter,
    by_function,
    declare,
    register,
)
from webanalytics.page.declarations.facts import FACTS
from webanalytics.page.declarations.keywords import KEYWORDS
from webanalytics.page.declarations.metadata import METADATA
from webanalytics.page.declarations.readability import READABILITY
from webanalytics.page.declarations.text import TEXT
from webanalytics.page.declarations.unserved import EXTRACT, OUTLINKS, RENDERING
from webanalytics.records.dane.declaration import DANE
from webanalytics.records.hmac.declaration import HMAC
from webanalytics.records.images.declaration import CONVERT
from webanalytics.records.phones.declaration import PHONE

declare(
    METADATA, TEXT, READABILITY, KEYWORDS, DANE, HMAC, CONVERT, PHONE, FACTS, OUTLINKS, EXTRACT, RENDERING
)

AUDIT: tuple[Operation, ...] = tuple(item for item in OPERATIONS.own.values() if item.audited)
"""The page operations that an audit answers from one fetch and one parse."""

AUDIT_PAGES: tuple[Operation, ...] = (*AUDIT, FACTS)
"""What an audit on this machine extracts from a page: the page operations, and facts that no service has."""

CRAWL_PAGES: tuple[Operation, ...] = (*AUDIT_PAGES, OUTLINKS)
"""What a crawl extracts from a page: what an audit does, and its links."""

__all__ = [
    "AUDIT",
    "AUDIT_PAGES",
    "CONVERT",
    "CRAWL_PAGES",
    "DANE",
    "DECLARED",
    "EXTRACT",
    "FACTS",
    "HMAC",
    "KEYWORDS",
    "METADATA",
    "OPERATIONS",
    "OUTLINKS",
    "PHONE",
    "READABILITY",
    "RENDERING",
    "TEXT",
    "Field",
    "Operation",
    "Parameter",
    "by_function",
    "register",
]
