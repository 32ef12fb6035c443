# The types of webanalytics/aio.py: written by python -m webanalytics.generate.
from typing import Any

from webanalytics.audits import function as audits_function
from webanalytics.audits import site_functions as audits_site_functions
from webanalytics.audits.moves import landing as moves_landing
from webanalytics.audits.moves import plan as moves_plan
from webanalytics.crawls import function as crawls_function
from webanalytics.records.dane import function as dane_function
from webanalytics.records.hosts import function as hosts_function
from webanalytics.records.images import function as images_function
from webanalytics.records.phones import function as phones_function
from webanalytics.runs.boundary import awaited
from webanalytics.runs.functions import generated as functions_generated
from webanalytics.runs.functions import keywords as functions_keywords

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

audit = awaited(audits_function.audit)
certificates = awaited(hosts_function.certificates)
check_redirects = awaited(moves_landing.check_redirects)
convert = awaited(images_function.convert)
crawl = awaited(crawls_function.crawl)
dane = awaited(dane_function.dane)
hmac = awaited(functions_generated.hmac)
keywords = awaited(functions_keywords.keywords)
live_tlsa = awaited(hosts_function.live_tlsa)
llms_txt = awaited(audits_site_functions.llms_txt)
metadata = awaited(functions_generated.metadata)
phones = awaited(phones_function.phones)
readability = awaited(functions_generated.readability)
redirect_map = awaited(moves_plan.redirect_map)
sitemap = awaited(audits_site_functions.sitemap)
text = awaited(functions_generated.text)

def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...
