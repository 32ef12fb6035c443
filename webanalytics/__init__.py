"""webanalytics: page metadata, text, keywords, readability, HMAC, DANE, images and phones in DataFrames.

>>> import webanalytics as wa
>>> wa.hmac(["what do ya want for nothing?"], secret="Jefe").loc[0, "hmac"]
'5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'

Give a list, a Series or a DataFrame; get a DataFrame with one row per input. The main job:

.. code-block:: python

    pages = wa.sitemap("https://example.org/sitemap.xml")
    audit = wa.audit(pages)
    audit[["url", "title", "wordCount", "averageGradeLevel", "language"]]

Every function has an asynchronous twin in `webanalytics.aio`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webanalytics._version import __version__

if TYPE_CHECKING:
    from webanalytics import aio, charts, testing
    from webanalytics.errors import AuditInterrupted, BackendError, ParameterError, WebAnalyticsError
    from webanalytics.face import (
        audit,
        convert,
        dane,
        hmac,
        keywords,
        metadata,
        phones,
        readability,
        sitemap,
        text,
        tlsa_record,
    )
    from webanalytics.run import last_partial
    from webanalytics.settings import option_context, options

__all__ = [
    "AuditInterrupted",
    "BackendError",
    "ParameterError",
    "WebAnalyticsError",
    "__version__",
    "aio",
    "audit",
    "charts",
    "convert",
    "dane",
    "hmac",
    "keywords",
    "last_partial",
    "metadata",
    "option_context",
    "options",
    "phones",
    "readability",
    "sitemap",
    "testing",
    "text",
    "tlsa_record",
]

_MODULES = frozenset({"aio", "charts", "testing"})
_ERRORS = frozenset({"AuditInterrupted", "BackendError", "ParameterError", "WebAnalyticsError"})
_OPTIONS = frozenset({"option_context", "options"})


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: worker processes need none of them."""
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'webanalytics' has no attribute {name!r}")
    if name in _MODULES:
        return import_module(f"webanalytics.{name}")
    home = "errors" if name in _ERRORS else "settings" if name in _OPTIONS else "face"
    home = "run" if name == "last_partial" else home
    value = getattr(import_module(f"webanalytics.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
