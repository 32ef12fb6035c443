"""The declarations of the operations: everything about their shape, and the register of them all."""

from __future__ import annotations

from webanalytics.operations.convert import CONVERT
from webanalytics.operations.dane import DANE
from webanalytics.operations.declared import DECLARED, OPERATIONS, by_function, declare, register
from webanalytics.operations.extract import EXTRACT
from webanalytics.operations.facts import FACTS
from webanalytics.operations.hmac import HMAC
from webanalytics.operations.keywords import KEYWORDS
from webanalytics.operations.metadata import METADATA
from webanalytics.operations.model import Field, Operation
from webanalytics.operations.outlinks import OUTLINKS
from webanalytics.operations.parameter import Parameter
from webanalytics.operations.phone import PHONE
from webanalytics.operations.readability import READABILITY
from webanalytics.operations.text import TEXT

declare(METADATA, TEXT, READABILITY, KEYWORDS, DANE, HMAC, CONVERT, PHONE, FACTS, OUTLINKS, EXTRACT)

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
    "TEXT",
    "Field",
    "Operation",
    "Parameter",
    "by_function",
    "register",
]
