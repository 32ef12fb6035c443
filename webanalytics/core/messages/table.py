"""The sentences of failures by key, each with its error type; none holds an address or a path.

A failure has up to two: that of the service, which names the parameter of a request, and that of a row, for
who reads a frame. To reword one, change it here: no behaviour depends on the wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from webanalytics.core.messages.kinds import TOLD, Table, table
from webanalytics.core.messages.service import SERVICE

__all__ = ["ADVICE", "CONTENT", "FETCHING", "HOSTED", "MESSAGES", "PARAMETERS", "SERVICE", "TOLD", "Advice"]


class Advice(NamedTuple):
    """An option that changes a failure, and what it does."""

    option: str
    change: str

    @property
    def effect(self) -> str:
        """Both as the end of a sentence."""
        return f"`{self.option}` {self.change}"


ADVICE: Final[Mapping[str, Advice]] = MappingProxyType(
    {
        "credentials": Advice("access=", "takes them"),
        "private": Advice("allow_private=True", "lets it through"),
        "connect_timeout": Advice("connect_timeout=", "sets how long to wait"),
        "timeout": Advice("timeout=", "sets how long to wait"),
        "host_given_up": Advice('redo="failed"', "asks again in a call with a store"),
        "robots": Advice("robots=False", "fetches it all the same"),
        "robots_effort": Advice("robots=False", "fetches it all the same"),
        "robots_unreadable": Advice("robots=False", "fetches it all the same"),
        "redirects": Advice("max_redirects=", "sets how many are followed"),
        "too_large": Advice("max_download=", "sets the limit"),
        "content_too_large": Advice("max_download=", "sets the limit"),
        "analysis_timeout": Advice("parse_timeout=", "sets how long to wait"),
        "analysis_memory": Advice("worker_memory=", "sets the limit"),
        "unknown_here": Advice('proxy="env"', "asks through it"),
        "proxy_auth": Advice("proxy=", "takes them"),
        "status 407": Advice("proxy=", "takes a user name and a password"),
        "status 401": Advice("access=", "sends a password, a token or cookies"),
        "status 403": Advice("access=", "sends what the owner of the site lets through"),
        "status 429": Advice("delay=", "asks less often"),
        "challenge": Advice("access=", "sends what the owner of the site lets through"),
        "wall": Advice("access=", "sends a password, or the cookies of a session or a consent"),
        "host_refused": Advice("delay=", "asks less often"),
        "budget_spent": Advice("budget=", "sets the limit"),
    }
)
"""The option that changes a failure, by its key."""


# {names} is "names", or "redirects to" when the fault lies behind a redirect; {page} is "page", "image" or
# "sitemap".
FETCHING: Final[Table] = table(
    {
        "invalid_url": (
            "invalid",
            "must be a valid URL in http or https format.",
            "The address is not a valid URL in http or https format.",
        ),
        "credentials": (
            "invalid",
            "must be a URL without a user name or password.",
            "The address holds a user name or a password that cannot be used.",
        ),
        "long_url": (
            "invalid",
            "must be a URL of at most {limit} characters.",
            "The address has more than {limit} characters.",
        ),
        "not_image": (
            "invalid",
            "must be the URL of an image, not of a web page.",
            "The address is that of a web page, not of an image.",
        ),
        "private": (
            "blocked",
            "{names} a host that is not public: private, local and reserved addresses are not fetched.",
            "The host is not public.",
        ),
        "port": ("blocked", "a port that is not allowed; use one of: {ports}."),
        "redirect_scheme": (
            "blocked",
            "redirects to something that is not in http or https format.",
            "The {page} redirects to something that is not in http or https format.",
        ),
        "unknown_host": ("dns", "a host that does not exist."),
        "lookup_failed": ("dns", "a host that could not be looked up."),
        "unknown_here": (
            "dns",
            "{names} a host that only a proxy of the environment may know.",
            "The host is not known here, and the environment names a proxy.",
        ),
        "refused": ("connection", "a server that does not accept connections."),
        "interrupted": ("connection", "a server that broke off before its answer was complete."),
        "certificate": (
            "tls",
            "{names} a server whose TLS certificate is not valid.",
            "The server's TLS certificate is not valid.",
        ),
        "handshake": ("tls", "a server that could not agree on a secure connection."),
        "no_starttls": ("tls", "a server that offers no secure connection (STARTTLS)."),
        "malformed_dns": ("dns", "a host that has malformed records in the DNS."),
        "no_mail": ("dns", "a domain that takes no mail."),
        "tls_host": ("invalid", "must hold hosts, such as example.org:25 or imap://example.org."),
        "connect_timeout": ("timeout", "a server that was not reached within {seconds} seconds."),
        "timeout": ("timeout", "a page that did not arrive within {seconds} seconds."),
        "host_given_up": (
            "timeout",
            "a host that was given up after {count} failed requests in a row ({reason}).",
        ),
        "robots": (
            "robots",
            "{names} a page that the site's robots.txt forbids fetching.",
            "The site's robots.txt forbids fetching the {page}.",
        ),
        "robots_effort": (
            "robots",
            "{names} an address too long to be checked against robots.txt.",
            "The address is too long to be checked against robots.txt.",
        ),
        "robots_unreadable": (
            "robots",
            "{names} a page of a site whose robots.txt answered HTTP {status}, which forbids fetching any "
            "of it.",
            "The site's robots.txt answered HTTP {status}, which forbids fetching any page.",
        ),
        "status": ("http", "a page that answered HTTP {status}."),
        "challenge": (
            "refused",
            "{names} a page that {who} answers with {answer} (HTTP {status}).",
            "In place of the {page} {who} answers with {answer} (HTTP {status}).",
        ),
        "wall": (
            "refused",
            "{names} a page to {what}, in place of the one that was asked for.",
            "A page to {what} takes the place of the {page}.",
        ),
        "host_refused": ("refused", "a host that was given up after {count} refusals in a row ({reason})."),
        "proxy_auth": (
            "refused",
            "{names} a page behind a proxy that asks for a password.",
            "The proxy asks for a user name and a password.",
        ),
        "proxy_failed": (
            "connection",
            "{names} a server that the proxy does not connect to ({reason}).",
            "The proxy does not connect to the server ({reason}).",
        ),
        "proxy_unreachable": (
            "connection",
            "{names} a page behind a proxy that cannot be reached.",
            "The proxy cannot be reached.",
        ),
        "no_target": ("http", "a page that redirects with HTTP {status} to no valid URL."),
        "redirects": ("http", "a page that redirects more than {limit} times."),
        "redirect_loop": ("http", "a page that redirects in a circle."),
        "protocol": (
            "http",
            "{names} a server whose answer is not valid HTTP.",
            "The server's answer is not valid HTTP.",
        ),
        "encoding": (
            "http",
            "{names} a page whose content encoding cannot be decoded.",
            "The content encoding of the {page} cannot be decoded.",
        ),
        "too_large": (
            "too_large",
            "{names} a page of more than {limit} bytes.",
            "The {page} has more than {limit} bytes.",
        ),
        "not_html": ("not_html", "a page that is neither HTML nor text but {content_type}."),
        "not_text": ("not_html", "a page that is neither HTML nor text."),
        "not_sitemap": ("parse", "a document that is not a sitemap."),
        "empty_sitemap": ("parse", "a sitemap that lists no page."),
        "broken_sitemap": ("parse", "a sitemap that is broken after its first {count} entries."),
        "deep_sitemap": ("too_large", "a sitemap that is nested more than {limit} levels deep."),
        "many_sitemaps": ("too_large", "a sitemap that leads to more than {limit} others."),
        "large_sitemaps": (
            "too_large",
            "leads to over {limit} bytes of sitemaps.",
            "The sitemaps have over {limit} bytes in all.",
        ),
        "long_sitemaps": (
            "too_large",
            "leads to sitemaps with too long URLs.",
            "The sitemaps have too long addresses.",
        ),
        "full_sitemap": (
            "too_large",
            "{names} a sitemap with more entries than the limit of {limit}.",
            "The sitemap has more entries than the limit of {limit}.",
        ),
    }
)
"""Failures of a fetch."""

CONTENT: Final[Table] = table(
    {
        "bad_data_url": ("invalid", "must be a well-formed data: URL."),
        "unreadable_file": ("invalid", "a file that cannot be read: {reason}."),
        "unreadable_content": (
            "parse",
            "names content that could not be read ({exception}).",
            "The content could not be read ({exception}).",
        ),
        "archive_damaged": (
            "parse",
            "names an archive that is damaged from byte {offset:,} on.",
            "The archive is damaged from byte {offset} on.",
        ),
        "archive_cut": (
            "parse",
            "names an archive that ends in the middle of a record, which begins at byte {offset:,}.",
            "The archive ends in the middle of a record, which begins at byte {offset}.",
        ),
        "archive_work": (
            "too_large",
            "names an archive that takes more work than its size allows; it is read up to byte {offset:,}.",
            "The archive takes more work than its size allows; it is read up to byte {offset}.",
        ),
        "archived_part": ("too_large", "a page that was cut off when it was archived ({reason})."),
        "archived_elsewhere": (
            "parse",
            "names a page whose content is in an archive that was not given.",
            "The content of the {page} is in an archive that was not given.",
        ),
        "archived_redirect": (
            "http",
            "names a page that redirects with HTTP {status} to an address that is not in the archive.",
            "The {page} redirects with HTTP {status} to what is not in the archive.",
        ),
        "content_too_large": (
            "too_large",
            "names content larger than {limit} bytes.",
            "The content is larger than {limit} bytes.",
        ),
        "surrogates": ("invalid", "must be text without lone surrogates, for UTF-8 to encode it."),
        "long_text": ("invalid", "must be at most {limit} characters long."),
        "page_empty": ("parse", "a page that is empty."),
        "page_attributes": (
            "parse",
            "names a page with tags of more than {limit:,} attributes.",
            "The {page} has tags with more than {limit} attributes.",
        ),
        "page_depth": (
            "parse",
            "names a page whose elements are nested more than {limit:,} levels deep.",
            "The elements of the {page} are nested more than {limit} levels deep.",
        ),
        "image_bytes": (
            "too_large",
            "must be at most {limit:,} bytes, not {size:,}.",
            "The image has {size} bytes, and at most {limit} are read.",
        ),
        "image_format": (
            "invalid",
            "must be an image in WebP, PNG, JPG, GIF or TIFF format.",
            "The content is not an image in WebP, PNG, JPG, GIF or TIFF format.",
        ),
        "image_no_reader": (
            "invalid",
            "must be an image that the installed Pillow reads, not {format}: {remedy}.",
        ),
        "image_damaged": (
            "invalid",
            "must be a complete image: its data is truncated or damaged.",
            "The image is truncated or damaged.",
        ),
        "image_tiff_tags": (
            "invalid",
            "must be a sound image: its TIFF tags claim more bytes than it has.",
            "The TIFF tags of the image claim more bytes than it has.",
        ),
        "image_without_pixels": (
            "invalid",
            "must be an image of at least one pixel.",
            "The image has no pixels.",
        ),
        "image_unwritable": (
            "invalid",
            "must be an image that can be written as {format}.",
            "The image cannot be written as {format}.",
        ),
        "image_memory": (
            "too_large",
            "must be an image that fits into memory.",
            "The image does not fit into memory.",
        ),
        "image_pixels": (
            "too_large",
            "must be an image of at most {limit:,} pixels.",
            "The image has more than {limit} pixels.",
        ),
        "image_total_pixels": (
            "too_large",
            "must be an image of at most {limit:,} pixels in all its frames or pages.",
            "The image has more than {limit} pixels in all its frames or pages.",
        ),
        "image_frames": (
            "too_large",
            "must be an image of at most {limit} frames or pages.",
            "The image has more than {limit} frames or pages.",
        ),
        "image_blocks": (
            "too_large",
            "must be an image of at most {limit:,} blocks of data.",
            "The image has more than {limit} blocks of data.",
        ),
        "image_side": (
            "too_large",
            "must be at most {limit:,} pixels wide and high for {format}; `max_width` and `max_height` "
            "reduce it.",
            "The image is more than {limit} pixels wide or high, the most of {format}; `max_width` and "
            "`max_height` reduce it.",
        ),
        "tlsa_record": (
            "invalid",
            "must be a TLSA record in the form `<name> <ttl> <class> TLSA <usage> <selector> <matching> "
            "<hex_certificate_data>`.",
        ),
        "tlsa_name": (
            "invalid",
            "must begin with a name where a hosted API reads it: `name` gives one to records without.",
        ),
        "national_phone": (
            "invalid",
            "must be a valid phone number in E.164 format, or in national format with `{needs}`.",
        ),
        "analysis_timeout": (
            "timeout",
            "names content that takes longer than {seconds:g} seconds to analyse.",
            "The analysis took longer than {seconds} seconds.",
        ),
        "analysis_died": (
            "parse",
            "names content that ended its analysis.",
            "The content ended its analysis.",
        ),
        "analysis_memory": (
            "parse",
            "names content whose {operation} cannot be had: it needs more memory than a worker has.",
            "The analysis ({operation}) needs more memory than a worker has.",
        ),
        "analysis_failed": (
            "parse",
            "names content whose {operation} cannot be had: it made the analysis fail with {exception}.",
            "The analysis ({operation}) failed with {exception}.",
        ),
        "unfinished": ("unfinished", "The run ended before every operation was answered for this input."),
    },
    names="names",
)
"""Inputs that cannot be read or analysed."""

HOSTED: Final[Table] = table(
    {
        "page_on_this_machine": (
            "invalid",
            "must be a URL for a hosted backend: this page is on this machine.",
            "The {page} is on this machine, where a hosted backend cannot read it.",
        ),
        "download_not_image": (
            "service",
            "The `downloadURL` of the answer leads to no image of its format on {host}.",
        ),
        "credits_spent": (
            "credits",
            "The `api_key` parameter must be the key of an account with credits: none were left for this.",
            "The account had no credits left for this row.",
        ),
        "budget_spent": (
            "credits",
            "The `budget` parameter must be larger: it did not reach this row.",
            "The budget did not reach this row.",
        ),
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

PARAMETERS: Final[Table] = table(
    {
        "required": ("invalid", "is required."),
        "one_of": ("invalid", "must be one of: {choices}."),
        "must_be": ("invalid", "must be {what}."),
        "either": ("invalid", "must be left out where `{other}` is given."),
    }
)
"""A parameter that is missing or wrong."""

MESSAGES: Final[Table] = MappingProxyType({**FETCHING, **CONTENT, **HOSTED, **SERVICE, **PARAMETERS})
"""All of them."""
