"""webanalytics: page metadata, text, keywords, readability, HMAC, DANE, images and phones in DataFrames.

>>> import webanalytics as wa
>>> wa.hmac(["what do ya want for nothing?"], secret="Jefe").loc[0, "hmac"]
'5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'

Give a list, a Series or a DataFrame; get a DataFrame with one row per input. The main job:

.. code-block:: python

    pages = wa.sitemap("https://example.org/sitemap.xml")
    audit = wa.audit(pages)
    audit.pages[["url", "title", "score", "wordCount", "language"]]
    audit.issues
    audit.report("report.html")

Every function has an asynchronous twin in `webanalytics.aio`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from webanalytics._version import __version__
from webanalytics.api.polars_names import register_when_there

if TYPE_CHECKING:
    from webanalytics import aio, charts, testing, widgets
    from webanalytics.api.rules import rule, rules
    from webanalytics.api.sync import (
        audit,
        compare,
        content_gap,
        convert,
        crawl,
        dane,
        hmac,
        keywords,
        llms_txt,
        load,
        metadata,
        phones,
        readability,
        sitemap,
        text,
        tlsa_record,
    )
    from webanalytics.archives.sources import pages
    from webanalytics.audits.ai.roster import ai_crawlers
    from webanalytics.audits.audit import Audit
    from webanalytics.audits.comparison import Comparison
    from webanalytics.backends.dask import Dask
    from webanalytics.backends.hosted import Hosted
    from webanalytics.errors import (
        AuditInterrupted,
        BackendError,
        HostedError,
        ParameterError,
        WebAnalyticsError,
    )
    from webanalytics.frames.kinds import to_arrow, to_polars
    from webanalytics.run_options import option_context, options, use
    from webanalytics.runs.estimates import estimate
    from webanalytics.runs.partial import last_partial
    from webanalytics.widgets import app, explore

__all__ = [
    "Audit",
    "AuditInterrupted",
    "BackendError",
    "Comparison",
    "Dask",
    "Hosted",
    "HostedError",
    "ParameterError",
    "WebAnalyticsError",
    "__version__",
    "ai_crawlers",
    "aio",
    "app",
    "audit",
    "charts",
    "compare",
    "content_gap",
    "convert",
    "crawl",
    "dane",
    "estimate",
    "explore",
    "hmac",
    "keywords",
    "last_partial",
    "llms_txt",
    "load",
    "metadata",
    "option_context",
    "options",
    "pages",
    "phones",
    "readability",
    "rule",
    "rules",
    "sitemap",
    "testing",
    "text",
    "tlsa_record",
    "to_arrow",
    "to_polars",
    "use",
    "widgets",
]

_MODULES = frozenset({"aio", "charts", "testing", "widgets"})
_HOMES = {
    "api.rules": ("rule", "rules"),
    "frames.kinds": ("to_arrow", "to_polars"),
    "archives.sources": ("pages",),
    "errors": ("AuditInterrupted", "BackendError", "HostedError", "ParameterError", "WebAnalyticsError"),
    "run_options": ("option_context", "options", "use"),
    "runs.partial": ("last_partial",),
    "audits.ai.roster": ("ai_crawlers",),
    "audits.audit": ("Audit",),
    "audits.comparison": ("Comparison",),
    "runs.estimates": ("estimate",),
    "backends.dask": ("Dask",),
    "backends.hosted": ("Hosted",),
    "widgets": ("app", "explore"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
"""Modules of the names that are not in `webanalytics.api.sync`."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: worker processes need none of them."""
    from importlib import import_module
    from importlib.util import find_spec

    if name not in __all__:
        a_file = name.isidentifier() and find_spec(f"{__name__}.{name}") is not None  # yet to be imported
        inside = a_file or name.startswith("_")
        if inside or name not in _registered():
            from webanalytics.strings import did_you_mean

            hint = "" if inside else did_you_mean(name, __dir__())
            raise AttributeError(f"module 'webanalytics' has no attribute {name!r}{hint}")
    if name in _MODULES:
        return import_module(f"webanalytics.{name}")
    value = getattr(import_module(f"webanalytics.{_HOME.get(name, 'api.sync')}"), name)
    if name in __all__:  # the function of another package's operation may be gone later
        globals()[name] = value
    if "pandas" in sys.modules:
        import_module("webanalytics.api.accessors")
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_registered()})


def _registered() -> tuple[str, ...]:
    """Return the names of the functions of all operations, those of other packages too."""
    from webanalytics.operations import OPERATIONS

    return tuple(item.function for item in OPERATIONS.values())


if "pandas" in sys.modules:  # so that `frame.web` is there; the service and its workers do without both
    import webanalytics.api.accessors  # noqa: F401

register_when_there()
