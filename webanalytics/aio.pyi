# The types of webanalytics/aio.py: written by python -m webanalytics.generate.
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
from webanalytics.runs.boundary import awaited as awaited

__all__ = [
    "audit",
    "certificates",
    "check_redirects",
    "convert",
    "crawl",
    "dane",
    "hmac",
    "keywords",
    "live_tlsa",
    "llms_txt",
    "metadata",
    "phones",
    "readability",
    "redirect_map",
    "sitemap",
    "text",
]

audit = awaited(webanalytics.audits.function.audit)
certificates = awaited(webanalytics.records.hosts.function.certificates)
check_redirects = awaited(webanalytics.audits.moves.landing.check_redirects)
convert = awaited(webanalytics.records.images.function.convert)
crawl = awaited(webanalytics.crawls.function.crawl)
dane = awaited(webanalytics.records.dane.function.dane)
hmac = awaited(webanalytics.runs.functions.generated.hmac)
keywords = awaited(webanalytics.runs.functions.keywords.keywords)
live_tlsa = awaited(webanalytics.records.hosts.function.live_tlsa)
llms_txt = awaited(webanalytics.audits.site_functions.llms_txt)
metadata = awaited(webanalytics.runs.functions.generated.metadata)
phones = awaited(webanalytics.records.phones.function.phones)
readability = awaited(webanalytics.runs.functions.generated.readability)
redirect_map = awaited(webanalytics.audits.moves.plan.redirect_map)
sitemap = awaited(webanalytics.audits.site_functions.sitemap)
text = awaited(webanalytics.runs.functions.generated.text)

def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...
