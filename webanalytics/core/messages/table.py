"""The sentences of failures by key, each with its error type; none holds an address or a path.

To reword one, change it here: no behaviour depends on the wording.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from webanalytics.core.messages.kinds import Table
from webanalytics.core.messages.service import SERVICE

# {names} is "names", or "redirects to" when the fault lies behind a redirect.
FETCHING: Final[Table] = MappingProxyType(
    {
        "invalid_url": (
            "invalid",
            "The `{parameter}` parameter must be a valid URL in http or https format.",
        ),
        "credentials": (
            "invalid",
            "The `{parameter}` parameter must be a URL without a user name or password.",
        ),
        "long_url": ("invalid", "The `{parameter}` parameter must be a URL of at most {limit} characters."),
        "not_image": (
            "invalid",
            "The `{parameter}` parameter must be the URL of an image, not of a web page.",
        ),
        "private": (
            "blocked",
            "The `{parameter}` parameter {names} a host that is not public: private, local and reserved "
            "addresses are not fetched.",
        ),
        "port": (
            "blocked",
            "The `{parameter}` parameter {names} a port that is not allowed; use one of: {ports}.",
        ),
        "redirect_scheme": (
            "blocked",
            "The `{parameter}` parameter redirects to something that is not in http or https format.",
        ),
        "unknown_host": ("dns", "The `{parameter}` parameter {names} a host that does not exist."),
        "lookup_failed": ("dns", "The `{parameter}` parameter {names} a host that could not be looked up."),
        "unknown_here": (
            "dns",
            "The `{parameter}` parameter {names} a host that only a proxy of the environment may know.",
        ),
        "refused": (
            "refused",
            "The `{parameter}` parameter {names} a server that does not accept connections.",
        ),
        "interrupted": (
            "refused",
            "The `{parameter}` parameter {names} a server that broke off before its answer was complete.",
        ),
        "certificate": (
            "tls",
            "The `{parameter}` parameter {names} a server whose TLS certificate is not valid.",
        ),
        "handshake": (
            "tls",
            "The `{parameter}` parameter {names} a server that could not agree on a secure connection.",
        ),
        "connect_timeout": (
            "timeout",
            "The `{parameter}` parameter {names} a server that was not reached within {seconds} seconds.",
        ),
        "timeout": (
            "timeout",
            "The `{parameter}` parameter {names} a page that did not arrive within {seconds} seconds.",
        ),
        "host_given_up": (
            "timeout",
            "The `{parameter}` parameter {names} a host that was given up after {count} failed requests in a "
            "row ({reason}).",
        ),
        "robots": (
            "robots",
            "The `{parameter}` parameter {names} a page that the site's robots.txt forbids to fetch.",
        ),
        "robots_effort": (
            "robots",
            "The `{parameter}` parameter {names} an address too long to be checked against robots.txt.",
        ),
        "robots_unreadable": (
            "robots",
            "The `{parameter}` parameter {names} a page of a site whose robots.txt answered HTTP {status}, "
            "which forbids to fetch any of it.",
        ),
        "status": ("http", "The `{parameter}` parameter {names} a page that answered HTTP {status}."),
        "proxy_auth": (
            "http",
            "The `{parameter}` parameter {names} a page behind a proxy that asks for a password.",
        ),
        "proxy_failed": (
            "refused",
            "The `{parameter}` parameter {names} a server that the proxy does not connect to ({reason}).",
        ),
        "proxy_unreachable": (
            "refused",
            "The `{parameter}` parameter {names} a page behind a proxy that cannot be reached.",
        ),
        "no_target": (
            "http",
            "The `{parameter}` parameter {names} a page that redirects with HTTP {status} to no valid URL.",
        ),
        "redirects": (
            "http",
            "The `{parameter}` parameter {names} a page that redirects more than {limit} times.",
        ),
        "redirect_loop": (
            "http",
            "The `{parameter}` parameter {names} a page that redirects in a circle.",
        ),
        "protocol": ("http", "The `{parameter}` parameter {names} a server whose answer is not valid HTTP."),
        "encoding": (
            "http",
            "The `{parameter}` parameter {names} a page whose content encoding cannot be decoded.",
        ),
        "too_large": (
            "too_large",
            "The `{parameter}` parameter {names} a page of more than {limit} bytes.",
        ),
        "not_html": (
            "not_html",
            "The `{parameter}` parameter {names} a page that is neither HTML nor text but {content_type}.",
        ),
        "not_text": (
            "not_html",
            "The `{parameter}` parameter {names} a page that is neither HTML nor text.",
        ),
        "not_sitemap": ("parse", "The `{parameter}` parameter {names} a document that is not a sitemap."),
        "empty_sitemap": ("parse", "The `{parameter}` parameter {names} a sitemap that lists no page."),
        "broken_sitemap": (
            "parse",
            "The `{parameter}` parameter {names} a sitemap that is broken after its first {count} entries.",
        ),
        "deep_sitemap": (
            "too_large",
            "The `{parameter}` parameter {names} a sitemap that is nested more than {limit} levels deep.",
        ),
        "many_sitemaps": (
            "too_large",
            "The `{parameter}` parameter {names} a sitemap that leads to more than {limit} others.",
        ),
        "large_sitemaps": (
            "too_large",
            "The `{parameter}` parameter leads to over {limit} bytes of sitemaps.",
        ),
        "long_sitemaps": (
            "too_large",
            "The `{parameter}` parameter leads to sitemaps with too long URLs.",
        ),
        "full_sitemap": (
            "too_large",
            "The `{parameter}` parameter {names} a sitemap with more entries than the limit of {limit}.",
        ),
    }
)
"""Failures of a fetch."""

CONTENT: Final[Table] = MappingProxyType(
    {
        "bad_data_url": ("invalid", "The `{parameter}` parameter must be a well-formed data: URL."),
        "unreadable_file": (
            "invalid",
            "The `{parameter}` parameter names a file that cannot be read: {reason}.",
        ),
        "unreadable_content": (
            "parse",
            "The `{parameter}` parameter names content that could not be read ({exception}).",
        ),
        "archive_damaged": (
            "parse",
            "The `{parameter}` parameter names an archive that is damaged from byte {offset:,} on.",
        ),
        "archive_cut": (
            "parse",
            "The `{parameter}` parameter names an archive that ends in the middle of a record, which begins "
            "at byte {offset:,}.",
        ),
        "archive_large": (
            "too_large",
            "The `{parameter}` parameter names an archive with a record too large to be read, which begins "
            "at byte {offset:,}.",
        ),
        "archived_part": (
            "too_large",
            "The `{parameter}` parameter names a page that was cut off when it was archived ({reason}).",
        ),
        "archived_elsewhere": (
            "parse",
            "The `{parameter}` parameter names a page whose content is in an archive that was not given.",
        ),
        "archived_redirect": (
            "http",
            "The `{parameter}` parameter names a page that redirects with HTTP {status} to an address that "
            "is not in the archive.",
        ),
        "content_too_large": (
            "too_large",
            "The `{parameter}` parameter names content larger than {limit} bytes.",
        ),
        "surrogates": (
            "invalid",
            "The `{parameter}` parameter must be text without lone surrogates, for UTF-8 to encode it.",
        ),
        "long_text": ("invalid", "The `{parameter}` parameter must be at most {limit} characters long."),
        "page_empty": ("parse", "The `{parameter}` parameter names a page that is empty."),
        "page_attributes": (
            "parse",
            "The `{parameter}` parameter names a page with tags of more than {limit:,} attributes.",
        ),
        "page_depth": (
            "parse",
            "The `{parameter}` parameter names a page whose elements are nested more than {limit:,} "
            "levels deep.",
        ),
        "image_bytes": (
            "too_large",
            "The `{parameter}` parameter must be at most {limit:,} bytes, not {size:,}.",
        ),
        "image_format": (
            "invalid",
            "The `{parameter}` parameter must be an image in WebP, PNG, JPG, GIF or TIFF format.",
        ),
        "image_no_reader": (
            "invalid",
            "The `{parameter}` parameter must be an image that the installed Pillow reads, not {format}: "
            "{remedy}.",
        ),
        "image_damaged": (
            "invalid",
            "The `{parameter}` parameter must be a complete image: its data is truncated or damaged.",
        ),
        "image_tiff_tags": (
            "invalid",
            "The `{parameter}` parameter must be a sound image: its TIFF tags claim more bytes than it has.",
        ),
        "image_without_pixels": (
            "invalid",
            "The `{parameter}` parameter must be an image of at least one pixel.",
        ),
        "image_unwritable": (
            "invalid",
            "The `{parameter}` parameter must be an image that can be written as {format}.",
        ),
        "image_memory": (
            "too_large",
            "The `{parameter}` parameter must be an image that fits into memory.",
        ),
        "image_pixels": (
            "too_large",
            "The `{parameter}` parameter must be an image of at most {limit:,} pixels.",
        ),
        "image_total_pixels": (
            "too_large",
            "The `{parameter}` parameter must be an image of at most {limit:,} pixels in all its frames "
            "or pages.",
        ),
        "image_frames": (
            "too_large",
            "The `{parameter}` parameter must be an image of at most {limit} frames or pages.",
        ),
        "image_blocks": (
            "too_large",
            "The `{parameter}` parameter must be an image of at most {limit:,} blocks of data.",
        ),
        "image_side": (
            "too_large",
            "The `{parameter}` parameter must be at most {limit:,} pixels wide and high for {format}; "
            "`max_width` and `max_height` reduce it.",
        ),
        "tlsa_record": (
            "invalid",
            "The `{parameter}` parameter must be a TLSA record in the form "
            "`<name> <ttl> <class> TLSA <usage> <selector> <matching> <hex_certificate_data>`.",
        ),
        "tlsa_name": (
            "invalid",
            "The `{parameter}` parameter must begin with a name where a hosted API reads it: "
            "`name` gives one to records without.",
        ),
        "national_phone": (
            "invalid",
            "The `{parameter}` parameter must be a valid phone number in E.164 format, or in national "
            "format with `{needs}`.",
        ),
        "analysis_timeout": (
            "timeout",
            "The `{parameter}` parameter names content that takes longer than {seconds:g} seconds to "
            "analyse.",
        ),
        "analysis_died": ("parse", "The `{parameter}` parameter names content that ended its analysis."),
        "analysis_memory": (
            "parse",
            "The `{parameter}` parameter names content whose {operation} cannot be had: it needs more "
            "memory than a worker has.",
        ),
        "analysis_failed": (
            "parse",
            "The `{parameter}` parameter names content whose {operation} cannot be had: it made the "
            "analysis fail with {exception}.",
        ),
        "unfinished": ("unfinished", "The run ended before every operation was answered for this input."),
    }
)
"""Inputs that cannot be read or analysed."""

HOSTED: Final[Table] = MappingProxyType(
    {
        "page_on_this_machine": (
            "invalid",
            "The `{parameter}` parameter must be a URL for a hosted backend: this page is on this machine.",
        ),
        "download_not_image": (
            "service",
            "The `downloadURL` of the answer leads to no image of its format on {host}.",
        ),
        "credits_spent": (
            "credits",
            "The `api_key` parameter must be the key of an account with credits: none were left for this.",
        ),
        "budget_spent": ("credits", "The `budget` parameter must be larger: it did not reach this row."),
        "field_type": (
            "service",
            "The hosted API answered with a `{field}` that is not of its documented type.",
        ),
        "field_missing": ("service", "The hosted API answered without a value of its `{path}`."),
        "field_depth": (
            "service",
            "The hosted API answered with lists or objects that are more than {limit} levels deep.",
        ),
        "api_no_reason": ("service", "The hosted API gave no reason."),
        "api_status": ("service", "The hosted API answered {status}."),
    }
)
"""Errors of hosted rows that do not come from an answer of the API."""

PARAMETERS: Final[Table] = MappingProxyType(
    {
        "required": ("invalid", "The `{parameter}` parameter is required."),
        "one_of": ("invalid", "The `{parameter}` parameter must be one of: {choices}."),
        "must_be": ("invalid", "The `{parameter}` parameter must be {what}."),
        "either": ("invalid", "The `{parameter}` parameter must be left out where `{other}` is given."),
    }
)
"""A parameter that is missing or wrong."""

MESSAGES: Final[Table] = MappingProxyType({**FETCHING, **CONTENT, **HOSTED, **SERVICE, **PARAMETERS})
"""All of them."""
