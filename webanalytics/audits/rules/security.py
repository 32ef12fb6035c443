"""Rules about pages and what they load without encryption."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.graph.site_links import listed
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.site import Site


def _http(site: Site, _: Any) -> Iterator[Finding]:
    for row, _status in site.read("status"):
        if site.name(row).startswith("http:"):
            yield Finding(row)


def _addresses(site: Site, _: Any, column: str) -> Iterator[Finding]:
    for row, urls in site.read(column):
        headers = site.headers[row]
        # The facts know a policy in the page; one in the headers upgrades its requests just the same.
        if urls and not (headers is not None and headers.enforces("upgrade-insecure-requests")):
            yield Finding(row, len(urls), listed(urls))


RULES = (
    Rule(
        name="http_page",
        title="Page without https",
        category="security",
        scope="host",
        priority="high",
        explanation="The page is served over http: browsers call it not secure, and search engines prefer "
        "https.",
        fix="Serve the page over https and redirect the http address to it.",
        find=_http,
        columns=("final_url",),
        measured="The scheme of the address at which the page was read.",
        source=sources.both(sources.CANONICALIZATION, sources.MIXED_CONTENT),
    ),
    Rule(
        name="mixed_content",
        title="Mixed content",
        category="security",
        priority="high",
        explanation="An https page loads something over http, which browsers block or warn about.",
        fix="Load everything over https.",
        find=partial(_addresses, column="mixed_content"),
        columns=("mixed_content",),
        measured="Addresses in http of images, scripts, style sheets, frames and media that a page in https "
        "loads are counted; a page that lets its requests be upgraded has none.",
        source=sources.MIXED_CONTENT,
    ),
    Rule(
        name="insecure_form",
        title="Form that sends over http",
        category="security",
        priority="high",
        explanation="A form on an https page sends what visitors type without encryption.",
        fix="Let the form send to an https address.",
        find=partial(_addresses, column="insecure_forms"),
        columns=("insecure_forms",),
        measured="Forms of a page in https whose action is in http are counted; a page that lets its "
        "requests be upgraded has none.",
        source=sources.MIXED_CONTENT,
    ),
)
