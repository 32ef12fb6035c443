# The types of webanalytics/sync.py: written by python -m webanalytics.generate.
from typing import Any

from webanalytics.audits import function as audits_function
from webanalytics.audits import site_functions as audits_site_functions
from webanalytics.audits.content.content_gap import content_gap as content_gap
from webanalytics.audits.history.history import history as history
from webanalytics.audits.logs.table import logs as logs
from webanalytics.audits.moves import landing as moves_landing
from webanalytics.audits.moves import plan as moves_plan
from webanalytics.audits.storage.functions import compare as compare
from webanalytics.audits.storage.functions import load as load
from webanalytics.crawls import function as crawls_function
from webanalytics.records.dane import function as dane_function
from webanalytics.records.dane.tlsa import tlsa_record as tlsa_record
from webanalytics.records.hosts import function as hosts_function
from webanalytics.records.images import function as images_function
from webanalytics.records.phones import function as phones_function
from webanalytics.runs.functions import generated as functions_generated
from webanalytics.runs.functions import keywords as functions_keywords
from webanalytics.runs.functions.plain import plain

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

def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...
