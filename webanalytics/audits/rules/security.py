"""Rules about what protects visitors, and the headers of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

from webanalytics.audits.directives.headers import Headers
from webanalytics.audits.directives.sitemap_dates import moment_of
from webanalytics.audits.graph.site_links import listed
from webanalytics.audits.rules.base import Finding
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.site import Site


def _http(site: Site, _: Any) -> Iterator[Finding]:
    for row, _status in site.read("status"):
        if site.name(row).startswith("http:"):
            yield Finding(row)


def _expires(site: Site, threshold: float) -> Iterator[Finding]:
    for row, certificate, read in site.read("certificate", "fetched_at"):
        said = (certificate["not_before"], certificate["not_after"], read) if certificate and read else ()
        begin, end, now = map(moment_of, said or ("", "", ""))
        if begin and end and now:
            # One for less time than the threshold would always be late: it is, when a third is left.
            limit = timedelta(days=threshold)
            if end - now < (limit if end - begin >= limit else (end - begin) / 3):
                days, issuer = (end - now).days, certificate["issuer"]
                yield Finding(row, days, f"Days left: {days}, until {end:%Y-%m-%d}; issued by {issuer}.")


def _not_valid(site: Site, _: Any) -> Iterator[Finding]:
    for row, key in enumerate(site.values("error_key")):
        if key == "certificate":
            yield Finding(row, evidence=str(site.values("error")[row] or ""))


def _addresses(site: Site, _: Any, column: str) -> Iterator[Finding]:
    for row, urls in site.read(column):
        headers = site.headers[row]
        # The facts know a policy in the page; one in the headers upgrades its requests just the same.
        if urls and not (headers is not None and headers.enforces("upgrade-insecure-requests")):
            yield Finding(row, len(urls), listed(urls))


_UNSAFE_REFERRERS = frozenset(("unsafe-url", "no-referrer-when-downgrade"))
_REFERRERS = _UNSAFE_REFERRERS | {
    *("no-referrer", "origin", "origin-when-cross-origin", "same-origin"),
    *("strict-origin", "strict-origin-when-cross-origin"),
}
_VALIDATORS = ("cache-control", "expires", "etag", "last-modified")


def _answers(site: Site, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield the row, the headers and columns of each page that was read and whose headers are known."""
    for row, *values in site.read(*columns):
        headers = site.headers[row]
        if headers is not None:
            yield row, headers, *values


def _is_secure(site: Site, row: int) -> bool:
    return site.name(row).startswith("https:")


def _hsts_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, headers in _answers(site):
        if _is_secure(site, row) and headers.transport_seconds is None:
            said = headers.get("strict-transport-security")
            yield Finding(row, evidence=f"Strict-Transport-Security: {said}" if said else "")


def _hsts_short(site: Site, threshold: float) -> Iterator[Finding]:
    for row, headers in _answers(site):
        seconds = headers.transport_seconds
        if _is_secure(site, row) and seconds is not None and seconds < threshold:
            yield Finding(
                row, seconds, f"Strict-Transport-Security: {headers.get('strict-transport-security')}"
            )


def _no_policy(site: Site, _: Any) -> Iterator[Finding]:
    for row, headers, meta in _answers(site, "meta_policy"):
        if not headers.policies and not meta:
            reports = "content-security-policy-report-only" in headers
            yield Finding(row, evidence="Content-Security-Policy-Report-Only alone" if reports else "")


def _sniffing(site: Site, _: Any) -> Iterator[Finding]:
    for row, headers in _answers(site):
        said = headers.get("x-content-type-options")
        if said.split(",")[0].strip().lower() != "nosniff":
            yield Finding(row, evidence=f"X-Content-Type-Options: {said}" if said else "")


def _framing(site: Site, _: Any) -> Iterator[Finding]:
    for row, headers in _answers(site):
        said = headers.get("x-frame-options")
        kept = {part.strip().lower() for part in said.split(",")} & {"deny", "sameorigin"}
        if not kept and not headers.enforces("frame-ancestors"):
            yield Finding(row, evidence=f"X-Frame-Options: {said}" if said else "")


def _referrer(site: Site, _: Any) -> Iterator[Finding]:
    for row, headers, meta in _answers(site, "meta_referrer"):
        said = headers.get("referrer-policy") or meta or ""
        # The last policy that a browser knows is the one that counts.
        known = [part for part in map(str.strip, said.lower().split(",")) if part in _REFERRERS]
        if not known or known[-1] in _UNSAFE_REFERRERS:
            yield Finding(row, evidence=f"Referrer-Policy: {said}" if said else "")


def _is_compressed(headers: Headers) -> bool:
    # Archives of the web keep the header under another name, since they keep bodies decoded.
    said = f"{headers.get('content-encoding')},{headers.get('x-crawler-content-encoding')}"
    return any(part.strip().lower() not in ("", "identity", "none") for part in said.split(","))


def _uncompressed(site: Site, threshold: float) -> Iterator[Finding]:
    for row, headers, size in _answers(site, "bytes"):
        if size is not None and size > threshold and not _is_compressed(headers):
            yield Finding(row, int(size), f"{size / 1000:,.1f} kB without Content-Encoding")


def _uncached(site: Site, _: Any) -> Iterator[Finding]:
    for row, headers in _answers(site):
        if not any(name in headers for name in _VALIDATORS):
            yield Finding(row)


def _no_store(site: Site, _: Any) -> Iterator[Finding]:
    for row, headers in _answers(site):
        if "no-store" in headers.directives("cache-control"):
            yield Finding(row, evidence=f"Cache-Control: {headers.get('cache-control')}")


RULES = rules_of(
    __name__,
    {
        "http_page": _http,
        "certificate_invalid": _not_valid,
        "certificate_expires": _expires,
        "mixed_content": partial(_addresses, column="mixed_content"),
        "insecure_form": partial(_addresses, column="insecure_forms"),
        "hsts_missing": _hsts_missing,
        "hsts_short": _hsts_short,
        "csp_missing": _no_policy,
        "nosniff_missing": _sniffing,
        "framing_allowed": _framing,
        "referrer_policy_missing": _referrer,
        "compression_missing": _uncompressed,
        "caching_missing": _uncached,
        "caching_forbidden": _no_store,
    },
)
