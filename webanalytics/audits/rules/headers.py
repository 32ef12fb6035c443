"""Rules about the headers of an answer: what protects visitors, and how the page is sent and kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.directives.headers import Headers
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.sources import (
    BACK_FORWARD,
    CSP,
    DOCUMENT_LATENCY,
    FRAME_OPTIONS,
    HSTS_PRELOAD,
    NOSNIFF,
    REFERRER_POLICY,
    both,
    rfc,
)
from webanalytics.audits.site import Site

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


_rule = partial(Rule, category="security", scope="host", priority="low", needs=("headers",))

RULES = (
    _rule(
        name="hsts_missing",
        title="HSTS missing",
        type="warning",
        explanation="Without Strict-Transport-Security, a visitor's first request may go over http, where "
        "others can read and change it.",
        fix="Send Strict-Transport-Security: max-age=31536000; includeSubDomains on https pages.",
        find=_hsts_missing,
        columns=("headers",),
        measured="An https page whose answer has no Strict-Transport-Security header with a max-age.",
        source=rfc(6797, "6.1 (Strict-Transport-Security)"),
    ),
    _rule(
        name="hsts_short",
        title="HSTS for a short time",
        type="warning",
        explanation="Browsers forget after the max-age that the site is to be reached over https alone; "
        "lists of browsers take sites from a year on.",
        fix="Set max-age to at least 31536000 seconds, a year.",
        find=_hsts_short,
        threshold=31_536_000,
        unit="seconds",
        columns=("headers",),
        measured="An https page whose first Strict-Transport-Security header has a shorter max-age.",
        source=both(HSTS_PRELOAD, rfc(6797, "6.1.1 (max-age)")),
    ),
    _rule(
        name="csp_missing",
        title="No content security policy",
        type="warning",
        explanation="Without a content security policy, a script that somebody smuggles into the page runs "
        "like the site's own.",
        fix="Send a Content-Security-Policy header that names where scripts may come from.",
        find=_no_policy,
        columns=("headers",),
        measured="A page with neither a Content-Security-Policy header nor such a meta element; a policy "
        "that only reports does not count.",
        source=CSP,
    ),
    _rule(
        name="nosniff_missing",
        title="X-Content-Type-Options missing",
        type="warning",
        explanation="Without nosniff, browsers may take a file for a script or a page that is sent as "
        "something else.",
        fix="Send X-Content-Type-Options: nosniff.",
        find=_sniffing,
        columns=("headers",),
        measured="A page whose X-Content-Type-Options header is missing or does not begin with nosniff.",
        source=NOSNIFF,
    ),
    _rule(
        name="framing_allowed",
        title="Page may be framed by others",
        type="warning",
        explanation="Another site can frame the page and lead visitors to click what they do not see.",
        fix="Send Content-Security-Policy: frame-ancestors 'self', or X-Frame-Options: SAMEORIGIN.",
        find=_framing,
        columns=("headers",),
        measured="A page without X-Frame-Options DENY or SAMEORIGIN and without frame-ancestors in a "
        "policy of its headers; in a meta element neither counts.",
        source=both(FRAME_OPTIONS, CSP),
    ),
    _rule(
        name="referrer_policy_missing",
        title="No safe referrer policy",
        type="warning",
        explanation="The site leaves to browsers, or allows, that whole addresses of its pages are told to "
        "the sites that it links to.",
        fix="Send Referrer-Policy: strict-origin-when-cross-origin.",
        find=_referrer,
        columns=("headers",),
        measured="A page without a known referrer policy in the header or a meta element, or whose last one "
        "is unsafe-url or no-referrer-when-downgrade.",
        source=REFERRER_POLICY,
    ),
    _rule(
        name="compression_missing",
        title="Compression missing",
        category="response",
        type="opportunity",
        explanation="The HTML is sent as it is; compressed it takes far fewer bytes and arrives sooner.",
        fix="Let the server compress HTML with Brotli or gzip.",
        find=_uncompressed,
        threshold=1_400,
        unit="bytes",
        columns=("headers", "bytes"),
        measured="A page of more bytes than the threshold, which is about one packet, whose answer has no "
        "Content-Encoding. Both encodings were offered.",
        source=both(DOCUMENT_LATENCY, rfc(9110, "8.4 (Content-Encoding)")),
    ),
    _rule(
        name="caching_missing",
        title="Caching not possible",
        category="response",
        type="opportunity",
        explanation="The answer says nothing of its age or version, so browsers and crawlers have to fetch "
        "the whole page anew each time.",
        fix="Send an ETag or Last-Modified, and a Cache-Control that suits the page.",
        find=_uncached,
        columns=("headers",),
        measured="A page whose answer has none of Cache-Control, Expires, ETag and Last-Modified.",
        source=both(rfc(9111, "4.2 (freshness)"), rfc(9110, "8.8 (validators)")),
    ),
    _rule(
        name="caching_forbidden",
        title="Caching forbidden",
        category="response",
        type="warning",
        explanation="With no-store no copy of the page may be kept: going back in the browser loads it anew.",
        fix="Keep no-store for pages with personal content; elsewhere use no-cache or a short max-age.",
        find=_no_store,
        columns=("headers",),
        measured="A page whose Cache-Control header has no-store.",
        source=both(rfc(9111, "5.2.2.5 (no-store)"), BACK_FORWARD),
    ),
)
