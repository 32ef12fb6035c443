"""Every sentence that a failed fetch can say, in one table.

A client of a hosted service gets only the sentence; `recognise` gives it the error type back. So no
sentence may be written anywhere else, and none holds an address, a path or the text of an exception.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from webanalytics.errors import ErrorType

# {names} is "names", or "redirects to" when the fault lies behind a redirect.
SENTENCES: Mapping[str, tuple[ErrorType, str]] = MappingProxyType(
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
        "robots": (
            "robots",
            "The `{parameter}` parameter {names} a page that the site's robots.txt forbids to fetch.",
        ),
        "robots_unreadable": (
            "robots",
            "The `{parameter}` parameter {names} a page of a site whose robots.txt answered HTTP {status}, "
            "which forbids to fetch any of it.",
        ),
        "status": ("http", "The `{parameter}` parameter {names} a page that answered HTTP {status}."),
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
        "full_sitemap": (
            "too_large",
            "The `{parameter}` parameter {names} a sitemap with more entries than the limit of {limit}.",
        ),
    }
)


def sentence(key: str, parameter: str, *, redirected: bool = False, **details: object) -> str:
    """Return one sentence of the table, filled in.

    Parameters
    ----------
    key : str
        Which sentence.
    parameter : str
        Name of the parameter that the user would change.
    redirected : bool
        Whether the fault lies behind a redirect.
    **details : object
        The figures and words that the sentence shows.

    Examples
    --------
    >>> sentence("status", "url", status=404)
    'The `url` parameter names a page that answered HTTP 404.'
    >>> sentence("unknown_host", "image", redirected=True)
    'The `image` parameter redirects to a host that does not exist.'
    """
    names = "redirects to" if redirected else "names"
    return SENTENCES[key][1].format(parameter=parameter, names=names, **details)


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", template)
    fields = {"parameter": r"[\w.-]+", "names": "names|redirects to"}
    return re.compile(
        "".join(
            f"(?P<{part}>{fields.get(part, '.+?')})" if odd else re.escape(part)
            for part, odd in zip(parts, (index % 2 for index in range(len(parts))), strict=True)
        )
    )


_PATTERNS = {key: (error_type, _pattern(template)) for key, (error_type, template) in SENTENCES.items()}


def recognise(text: str) -> tuple[ErrorType, dict[str, str]] | None:
    """Return the error type and the details of a sentence of the table, or None for another text.

    Examples
    --------
    >>> recognise("The `url` parameter names a page that answered HTTP 404.")
    ('http', {'parameter': 'url', 'names': 'names', 'status': '404'})
    >>> recognise("The `quality` parameter must be an integer from 1 to 100.") is None
    True
    """
    for error_type, pattern in _PATTERNS.values():
        if found := pattern.fullmatch(text):
            return error_type, found.groupdict()
    return None
