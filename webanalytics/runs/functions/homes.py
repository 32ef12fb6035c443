"""Where the functions are; nothing is imported to know it."""

from __future__ import annotations

from webanalytics.runs.functions.analyses import DECLARED

GENERATED = "runs.functions.generated"
"""The module of the functions that `webanalytics.generate` writes."""
_HOMES = {
    "audits.function": ("audit",),
    "audits.moves.landing": ("check_redirects",),
    "audits.moves.plan": ("redirect_map",),
    "audits.site_functions": ("llms_txt", "sitemap"),
    "crawls.function": ("crawl",),
    "records.dane.function": ("dane",),
    "records.hosts.function": ("certificates", "live_tlsa"),
    "records.images.function": ("convert",),
    "records.phones.function": ("phones",),
    "runs.functions.keywords": ("keywords",),
    GENERATED: DECLARED,
}
_BLOCKING = {
    "audits.content.content_gap": ("content_gap",),
    "audits.history.history": ("history",),
    "audits.logs.table": ("logs",),
    "audits.storage.functions": ("compare", "load"),
    "records.dane.tlsa": ("tlsa_record",),
}
HOMES, BLOCKING = (
    {name: f"webanalytics.{home}" for home, names in homes.items() for name in names}
    for homes in (_HOMES, _BLOCKING)
)
"""By name of a function, the modules of those of `webanalytics.aio`, and of others that nothing waits for."""
