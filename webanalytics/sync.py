"""The blocking functions: those of `webanalytics.aio`, each run on its own event loop.

Each is imported when it is called, after a worker process has begun to import what it needs.
Written by ``python -m webanalytics.generate``: change the declarations, or the generator, not this file.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webanalytics.runs.functions.source import later_function, later_names
from webanalytics.runs.plain import Plain

if TYPE_CHECKING:
    from webanalytics.audits import function as audits_function
    from webanalytics.audits import site_functions as audits_site_functions
    from webanalytics.audits.content.content_gap import content_gap
    from webanalytics.audits.history.history import history
    from webanalytics.audits.logs.table import logs
    from webanalytics.audits.moves import landing as moves_landing
    from webanalytics.audits.moves import plan as moves_plan
    from webanalytics.audits.storage.functions import compare, load
    from webanalytics.crawls import function as crawls_function
    from webanalytics.records.dane import function as dane_function
    from webanalytics.records.dane.tlsa import tlsa_record
    from webanalytics.records.hosts import function as hosts_function
    from webanalytics.records.images import function as images_function
    from webanalytics.records.phones import function as phones_function
    from webanalytics.runs.functions import generated as functions_generated
    from webanalytics.runs.functions import keywords as functions_keywords
    from webanalytics.runs.plain import plain

    audit = plain(audits_function.audit)
    certificates = plain(hosts_function.certificates)
    check_redirects = plain(moves_landing.check_redirects)
    convert = plain(images_function.convert)
    crawl = plain(crawls_function.crawl)
    dane = plain(dane_function.dane)
    hmac = plain(functions_generated.hmac)
    keywords = plain(functions_keywords.keywords)
    live_tlsa = plain(hosts_function.live_tlsa)
    llms_txt = plain(audits_site_functions.llms_txt)
    metadata = plain(functions_generated.metadata)
    phones = plain(phones_function.phones)
    readability = plain(functions_generated.readability)
    redirect_map = plain(moves_plan.redirect_map)
    sitemap = plain(audits_site_functions.sitemap)
    text = plain(functions_generated.text)

__all__ = [
    "audit",
    "certificates",
    "check_redirects",
    "compare",
    "content_gap",
    "convert",
    "crawl",
    "dane",
    "history",
    "hmac",
    "keywords",
    "live_tlsa",
    "llms_txt",
    "load",
    "logs",
    "metadata",
    "phones",
    "readability",
    "redirect_map",
    "sitemap",
    "text",
    "tlsa_record",
]

_HOMES = {
    "audit": "webanalytics.audits.function",
    "certificates": "webanalytics.records.hosts.function",
    "check_redirects": "webanalytics.audits.moves.landing",
    "convert": "webanalytics.records.images.function",
    "crawl": "webanalytics.crawls.function",
    "dane": "webanalytics.records.dane.function",
    "hmac": "webanalytics.runs.functions.generated",
    "keywords": "webanalytics.runs.functions.keywords",
    "live_tlsa": "webanalytics.records.hosts.function",
    "llms_txt": "webanalytics.audits.site_functions",
    "metadata": "webanalytics.runs.functions.generated",
    "phones": "webanalytics.records.phones.function",
    "readability": "webanalytics.runs.functions.generated",
    "redirect_map": "webanalytics.audits.moves.plan",
    "sitemap": "webanalytics.audits.site_functions",
    "text": "webanalytics.runs.functions.generated",
}
_BESIDES = {
    "compare": "webanalytics.audits.storage.functions",
    "content_gap": "webanalytics.audits.content.content_gap",
    "history": "webanalytics.audits.history.history",
    "load": "webanalytics.audits.storage.functions",
    "logs": "webanalytics.audits.logs.table",
    "tlsa_record": "webanalytics.records.dane.tlsa",
}

globals().update({name: Plain(name, home) for name, home in _HOMES.items()})


def __getattr__(name: str) -> Any:
    if name in _BESIDES:
        return getattr(import_module(_BESIDES[name]), name)
    return later_function(__name__, name, blocking=True)


def __dir__() -> list[str]:
    return [*__all__, *later_names(__all__)]
