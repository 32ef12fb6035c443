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
from importlib import import_module
from typing import TYPE_CHECKING, Any

from webanalytics._version import __version__

if TYPE_CHECKING:
    from webanalytics import aio
    from webanalytics.audits.ai.roster import ai_crawlers
    from webanalytics.audits.audit import Audit
    from webanalytics.audits.compare.comparison import Comparison
    from webanalytics.audits.logs.table import Logs
    from webanalytics.audits.moves.plan import RedirectMap
    from webanalytics.audits.rules.registration import rule, rules
    from webanalytics.core.access import Access
    from webanalytics.core.bot_key import BotKey
    from webanalytics.core.run_options import option_context, options, use
    from webanalytics.errors import (
        AuditInterrupted,
        BackendError,
        HostedError,
        ParameterError,
        WebAnalyticsError,
    )
    from webanalytics.fetching import testing
    from webanalytics.fetching.archives.sources import pages
    from webanalytics.notebook import charts, widgets
    from webanalytics.notebook.widgets import app, explore
    from webanalytics.runs.backends.dask import Dask
    from webanalytics.runs.backends.hosted import Hosted
    from webanalytics.runs.frames.kinds import to_arrow, to_polars
    from webanalytics.runs.partial import last_partial
    from webanalytics.runs.run import estimate
    from webanalytics.sync import (
        audit,
        certificates,
        check_redirects,
        compare,
        content_gap,
        convert,
        crawl,
        dane,
        history,
        hmac,
        keywords,
        live_tlsa,
        llms_txt,
        load,
        logs,
        metadata,
        phones,
        readability,
        redirect_map,
        sitemap,
        text,
        tlsa_record,
    )

__all__ = [
    "Access",
    "Audit",
    "AuditInterrupted",
    "BackendError",
    "BotKey",
    "Comparison",
    "Dask",
    "Hosted",
    "HostedError",
    "Logs",
    "ParameterError",
    "RedirectMap",
    "WebAnalyticsError",
    "__version__",
    "ai_crawlers",
    "aio",
    "app",
    "audit",
    "certificates",
    "charts",
    "check_redirects",
    "compare",
    "content_gap",
    "convert",
    "crawl",
    "dane",
    "estimate",
    "explore",
    "history",
    "hmac",
    "keywords",
    "last_partial",
    "live_tlsa",
    "llms_txt",
    "load",
    "logs",
    "metadata",
    "option_context",
    "options",
    "pages",
    "phones",
    "readability",
    "redirect_map",
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

_MODULES = {
    "aio": "aio",
    "charts": "notebook.charts",
    "testing": "fetching.testing",
    "widgets": "notebook.widgets",
}
_HOMES = {
    "audits.rules.registration": ("rule", "rules"),
    "runs.frames.kinds": ("to_arrow", "to_polars"),
    "fetching.archives.sources": ("pages",),
    "errors": ("AuditInterrupted", "BackendError", "HostedError", "ParameterError", "WebAnalyticsError"),
    "core.access": ("Access",),
    "core.bot_key": ("BotKey",),
    "core.run_options": ("option_context", "options", "use"),
    "runs.partial": ("last_partial",),
    "audits.ai.roster": ("ai_crawlers",),
    "audits.audit": ("Audit",),
    "audits.logs.table": ("Logs",),
    "audits.moves.plan": ("RedirectMap",),
    "audits.compare.comparison": ("Comparison",),
    "runs.run": ("estimate",),
    "runs.backends.dask": ("Dask",),
    "runs.backends.hosted": ("Hosted",),
    "notebook.widgets": ("app", "explore"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
"""Modules of the names that are not in `webanalytics.sync`."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: worker processes need none of them."""
    from importlib.util import find_spec

    if name not in __all__:
        a_file = name.isidentifier() and find_spec(f"{__name__}.{name}") is not None  # yet to be imported
        inside = a_file or name.startswith("_")
        if inside or name not in _registered():
            from webanalytics.core.strings import did_you_mean

            hint = "" if inside else did_you_mean(name, __dir__())
            raise AttributeError(f"module 'webanalytics' has no attribute {name!r}{hint}")
    if name in _MODULES:
        return import_module(f"webanalytics.{_MODULES[name]}")
    value = getattr(import_module(f"webanalytics.{_HOME.get(name, 'sync')}"), name)
    if name in __all__:  # the function of another package's operation may be gone later
        globals()[name] = value
    _offer_accessors()
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_registered()})


def _registered() -> tuple[str, ...]:
    """Return the names of the functions of all operations, those of other packages too."""
    from webanalytics.operations import OPERATIONS

    return tuple(item.function for item in OPERATIONS.values())


class _Later:
    """``frame.web`` before its first use: the accessors, which import all functions, then take its place."""

    def __get__(self, frame: Any, kind: type) -> Any:
        for other in _kinds():
            if isinstance(vars(other).get("web"), _Later):
                delattr(other, "web")
        import_module("webanalytics.notebook.accessors").register()
        owner: Any = kind if frame is None else frame
        return owner.web


def _kinds() -> list[Any]:
    # Imported again: another thread may be in the middle of it.
    libraries = [import_module(name) for name in ("pandas", "polars") if sys.modules.get(name)]
    return [kind for library in libraries for kind in (library.DataFrame, library.Series)]


def _offer_accessors() -> None:
    """Give frames their `web`, those of polars too where it is imported; the service does without both."""
    for kind in _kinds():
        if "web" not in vars(kind):
            kind.web = _Later()
        elif not isinstance(vars(kind)["web"], _Later):
            # Another package may have an accessor of this name.
            import_module("webanalytics.notebook.accessors").register()
    if not {"pandas", "IPython"}.difference(sys.modules):
        import_module("webanalytics.notebook.issue_table")


_offer_accessors()
