# The types of webanalytics/sync.py: written by python -m webanalytics.generate.
from typing import Any

import webanalytics.audits.function
import webanalytics.audits.moves.landing
import webanalytics.audits.moves.plan
import webanalytics.audits.site_functions
import webanalytics.crawls.function
import webanalytics.records.dane.function
import webanalytics.records.hosts.function
import webanalytics.records.images.function
import webanalytics.records.phones.function
import webanalytics.runs.functions.generated
import webanalytics.runs.functions.keywords
from webanalytics.audits.content.content_gap import content_gap as content_gap
from webanalytics.audits.history.history import history as history
from webanalytics.audits.logs.table import logs as logs
from webanalytics.audits.storage.functions import compare as compare
from webanalytics.audits.storage.functions import load as load
from webanalytics.records.dane.tlsa import tlsa_record as tlsa_record
from webanalytics.runs.functions.plain import plain as plain

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

audit = plain(webanalytics.audits.function.audit)
certificates = plain(webanalytics.records.hosts.function.certificates)
check_redirects = plain(webanalytics.audits.moves.landing.check_redirects)
convert = plain(webanalytics.records.images.function.convert)
crawl = plain(webanalytics.crawls.function.crawl)
dane = plain(webanalytics.records.dane.function.dane)
hmac = plain(webanalytics.runs.functions.generated.hmac)
keywords = plain(webanalytics.runs.functions.keywords.keywords)
live_tlsa = plain(webanalytics.records.hosts.function.live_tlsa)
llms_txt = plain(webanalytics.audits.site_functions.llms_txt)
metadata = plain(webanalytics.runs.functions.generated.metadata)
phones = plain(webanalytics.records.phones.function.phones)
readability = plain(webanalytics.runs.functions.generated.readability)
redirect_map = plain(webanalytics.audits.moves.plan.redirect_map)
sitemap = plain(webanalytics.audits.site_functions.sitemap)
text = plain(webanalytics.runs.functions.generated.text)

def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...
