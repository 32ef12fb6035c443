"""The sentences of rows, for who reads a frame: what the page did, and the option that changes it.

A service answers in the words of `messages.table`, which name the parameter of a request; frames put the
same failure, known by its key, in the words of this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


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
        "budget_spent": Advice("budget=", "sets the limit"),
    }
)
"""The option that changes a failure, by its key."""

# {page} is "page", "image" or "sitemap".
TOLD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "invalid_url": "The address is not a valid URL in http or https format.",
        "credentials": "The address holds a user name or a password that cannot be used.",
        "long_url": "The address has more than {limit} characters.",
        "not_image": "The address is that of a web page, not of an image.",
        "private": "The host is not public.",
        "port": "The port is not allowed; use one of: {ports}.",
        "redirect_scheme": "The {page} redirects to something that is not in http or https format.",
        "unknown_host": "The host does not exist.",
        "lookup_failed": "The host could not be looked up.",
        "unknown_here": "The host is not known here, and the environment names a proxy.",
        "refused": "The server does not accept connections.",
        "interrupted": "The server broke off before its answer was complete.",
        "certificate": "The server's TLS certificate is not valid.",
        "handshake": "The server could not agree on a secure connection.",
        "connect_timeout": "The server was not reached within {seconds} seconds.",
        "timeout": "The {page} did not arrive within {seconds} seconds.",
        "host_given_up": "The host was given up after {count} failed requests in a row ({reason}).",
        "robots": "The site's robots.txt forbids to fetch the {page}.",
        "robots_effort": "The address is too long to be checked against robots.txt.",
        "robots_unreadable": "The site's robots.txt answered HTTP {status}, which forbids to fetch any page.",
        "status": "The {page} answered HTTP {status}.",
        "proxy_auth": "The proxy asks for a user name and a password.",
        "proxy_failed": "The proxy does not connect to the server ({reason}).",
        "proxy_unreachable": "The proxy cannot be reached.",
        "no_target": "The {page} redirects with HTTP {status} to no valid URL.",
        "redirects": "The {page} redirects more than {limit} times.",
        "redirect_loop": "The {page} redirects in a circle.",
        "protocol": "The server's answer is not valid HTTP.",
        "encoding": "The content encoding of the {page} cannot be decoded.",
        "too_large": "The {page} has more than {limit} bytes.",
        "not_html": "The {page} is neither HTML nor text but {content_type}.",
        "not_text": "The {page} is neither HTML nor text.",
        "not_sitemap": "The document is not a sitemap.",
        "empty_sitemap": "The sitemap lists no page.",
        "broken_sitemap": "The sitemap is broken after its first {count} entries.",
        "deep_sitemap": "The sitemap is nested more than {limit} levels deep.",
        "many_sitemaps": "The sitemap leads to more than {limit} others.",
        "large_sitemaps": "The sitemaps have over {limit} bytes in all.",
        "long_sitemaps": "The sitemaps have too long addresses.",
        "full_sitemap": "The sitemap has more entries than the limit of {limit}.",
        "unreadable_file": "The file cannot be read: {reason}.",
        "unreadable_content": "The content could not be read ({exception}).",
        "archive_damaged": "The archive is damaged from byte {offset} on.",
        "archive_cut": "The archive ends in the middle of a record, which begins at byte {offset}.",
        "archive_large": "A record of the archive is too large to be read; it begins at byte {offset}.",
        "archived_part": "The {page} was cut off when it was archived ({reason}).",
        "archived_elsewhere": "The content of the {page} is in an archive that was not given.",
        "archived_redirect": "The {page} redirects with HTTP {status} to what is not in the archive.",
        "content_too_large": "The content is larger than {limit} bytes.",
        "page_empty": "The {page} is empty.",
        "page_attributes": "The {page} has tags with more than {limit} attributes.",
        "page_depth": "The elements of the {page} are nested more than {limit} levels deep.",
        "image_bytes": "The image has {size} bytes, and at most {limit} are read.",
        "image_format": "The content is not an image in WebP, PNG, JPG, GIF or TIFF format.",
        "image_damaged": "The image is truncated or damaged.",
        "image_tiff_tags": "The TIFF tags of the image claim more bytes than it has.",
        "image_without_pixels": "The image has no pixels.",
        "image_unwritable": "The image cannot be written as {format}.",
        "image_memory": "The image does not fit into memory.",
        "image_pixels": "The image has more than {limit} pixels.",
        "image_total_pixels": "The image has more than {limit} pixels in all its frames or pages.",
        "image_frames": "The image has more than {limit} frames or pages.",
        "image_blocks": "The image has more than {limit} blocks of data.",
        "image_side": (
            "The image is more than {limit} pixels wide or high, the most of {format}; "
            "`max_width` and `max_height` reduce it."
        ),
        "analysis_timeout": "The analysis took longer than {seconds} seconds.",
        "analysis_died": "The content ended its analysis.",
        "analysis_memory": "The analysis ({operation}) needs more memory than a worker has.",
        "analysis_failed": "The analysis ({operation}) failed with {exception}.",
        "page_on_this_machine": "The {page} is on this machine, where a hosted backend cannot read it.",
        "credits_spent": "The account had no credits left for this row.",
        "budget_spent": "The budget did not reach this row.",
        "call_failed": "The service failed on this row.",
        "call_analysis_failed": "The service failed to analyse the {page}.",
        "site_busy": "The site takes fewer requests than it is sent.",
    }
)
"""What a row says of a failure, by its key; a key that is not here keeps the sentence of the service."""
