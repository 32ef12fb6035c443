"""Rules for the address of a page, as it was given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import unquote

from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import LONGEST, Find, above
from webanalytics.audits.site import Site

_PARTS = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?(?://[^/?#]*)?([^?#]*)(?:\?([^#]*))?", re.IGNORECASE)
_ESCAPE = re.compile("%[0-9a-fA-F]{2}")

MOST_SEGMENTS = 100
"""Most parts of a path that are checked for repetitions."""


def _path_and_query(url: str) -> tuple[str, str]:
    parts = _PARTS.match(url.strip())
    return (parts[1], parts[2] or "") if parts else ("", "")


def _where(found: Callable[[str], str]) -> Find:
    """Return the search for addresses in which the function finds something."""

    @page_by_page
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, url in site.read("url"):
            if url and (evidence := found(url)):
                yield Finding(row, evidence=evidence[:LONGEST])

    return find


def _spaces(url: str) -> str:
    url = url.strip()
    return url if " " in url or "%20" in url else ""


def _upper_case(url: str) -> str:
    path = _ESCAPE.sub("", _path_and_query(url)[0])
    return "" if path == path.lower() else _path_and_query(url)[0]


def _underscores(url: str) -> str:
    path = _path_and_query(url)[0]
    return path if "_" in path else ""


def _parameters(url: str) -> str:
    return _path_and_query(url)[1]


def _not_ascii(url: str) -> str:
    read = unquote(url.strip(), errors="replace")
    return "" if read.isascii() else read


def _repeated_slashes(url: str) -> str:
    path = _path_and_query(url)[0]
    return path if "//" in path else ""


def _repeated_path(url: str) -> str:
    """Return the part of a path that repeats; numbers may, like the days and months of dates."""
    parts = [part for part in _path_and_query(url)[0].split("/") if part][:MOST_SEGMENTS]
    for size in range(1, len(parts) // 2 + 1):
        for start in range(len(parts) - 2 * size + 1):
            block = parts[start : start + size]
            following = parts[start + size : start + 2 * size]
            if block == following and not all(part.isdecimal() for part in block):
                return "/" + "/".join(block + following) + "/"
    return ""


_rule = partial(Rule, category="url", priority="low")

RULES = (
    _rule(
        name="url_too_long",
        title="URL too long",
        type="opportunity",
        explanation="Long addresses are hard to read, to share and to remember.",
        fix="Choose a shorter path for new pages; redirect the old address where you change one.",
        find=above("url_length", "url"),
        threshold=115,
        unit="characters",
        columns=("url_length",),
        measured="Characters of the address as it was given. No standard has a limit: the default is the "
        "usual one of SEO tools.",
        source=sources.URLS,
    ),
    _rule(
        name="url_with_space",
        title="URL contains a space",
        explanation="Spaces are not allowed in addresses, and links with them break when they are copied.",
        fix="Put a hyphen in place of each space and redirect the old address.",
        find=_where(_spaces),
        columns=("url",),
        measured="A space, or its escape %20, anywhere in the address as it was given.",
        source=sources.both(sources.rfc(3986, "2 (characters)"), sources.URLS),
    ),
    _rule(
        name="url_upper_case",
        title="URL with upper case",
        type="warning",
        explanation="Paths are case-sensitive, so one page may have two addresses that differ in case alone.",
        fix="Write paths in lower case and redirect the other spelling.",
        find=_where(_upper_case),
        columns=("url",),
        measured="An upper case letter in the path; escapes such as %C3 and the query are left out.",
        source=sources.both(sources.URLS, sources.rfc(3986, "6.2.2.1 (case normalization)")),
    ),
    _rule(
        name="url_underscores",
        title="URL with underscores",
        type="opportunity",
        explanation="Search engines see hyphens as the end of a word, underscores not always.",
        fix="Separate words with hyphens in new paths; existing addresses are seldom worth a redirect.",
        find=_where(_underscores),
        columns=("url",),
        measured="An underscore in the path.",
        source=sources.URLS,
    ),
    _rule(
        name="url_parameters",
        title="URL with parameters",
        type="warning",
        explanation="Parameters make many addresses of one page, which search engines then all visit.",
        fix="Give pages that should be found a path without parameters, and a canonical link on the others.",
        find=_where(_parameters),
        columns=("url",),
        measured="A query that is not empty.",
        source=sources.URLS,
    ),
    _rule(
        name="url_not_ascii",
        title="URL with non-ASCII characters",
        type="warning",
        explanation="Characters outside of ASCII are sent in a coded form that is long and hard to read "
        "where an address is copied.",
        fix="Prefer letters without accents in new paths where the language allows it.",
        find=_where(_not_ascii),
        columns=("url",),
        measured="A character outside of ASCII in the address, written as it is or as an escape.",
        source=sources.both(sources.URLS, sources.rfc(3986, "2.1 (percent-encoding)")),
    ),
    _rule(
        name="url_repeated_slashes",
        title="URL with repeated slashes",
        explanation="Two slashes in a row come from faults in links and make a second address of a page.",
        fix="Correct the links and redirect the address to the one with single slashes.",
        find=_where(_repeated_slashes),
        columns=("url",),
        measured="Two slashes in a row within the path.",
        source=sources.both(sources.URLS, sources.rfc(3986, "3.3 (path)")),
    ),
    _rule(
        name="url_repeated_path",
        title="URL repeats a part of its path",
        type="warning",
        explanation="A path that repeats itself often comes from a relative link that is resolved "
        "over and over, and may lead to endless addresses.",
        fix="Correct the links that lead here, and let the server answer such addresses with 404.",
        find=_where(_repeated_path),
        columns=("url",),
        measured="One or more parts of the path that come again at once, such as /shop/tin/shop/tin/; parts "
        "that are numbers alone are dates.",
        source=sources.URLS,
    ),
)
