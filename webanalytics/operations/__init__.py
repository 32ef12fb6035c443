"""The declarations of the eight operations: everything about their shape, and nothing else."""

from __future__ import annotations

from webanalytics.operations.base import Field, Operation, Parameter
from webanalytics.operations.convert import CONVERT
from webanalytics.operations.dane import DANE
from webanalytics.operations.facts import FACTS
from webanalytics.operations.hmac import HMAC
from webanalytics.operations.keywords import KEYWORDS
from webanalytics.operations.metadata import METADATA
from webanalytics.operations.phone import PHONE
from webanalytics.operations.readability import READABILITY
from webanalytics.operations.text import TEXT

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (METADATA, TEXT, READABILITY, KEYWORDS, DANE, HMAC, CONVERT, PHONE)
}
"""All operations by name."""

AUDIT: tuple[Operation, ...] = (METADATA, TEXT, READABILITY, KEYWORDS)
"""The page operations that an audit answers from one fetch and one parse."""

AUDIT_PAGES: tuple[Operation, ...] = (*AUDIT, FACTS)
"""What an audit on this machine asks of a page: the page operations, and the facts that no service has."""

__all__ = [
    "AUDIT",
    "AUDIT_PAGES",
    "CONVERT",
    "DANE",
    "FACTS",
    "HMAC",
    "KEYWORDS",
    "METADATA",
    "OPERATIONS",
    "PHONE",
    "READABILITY",
    "TEXT",
    "Field",
    "Operation",
    "Parameter",
]
