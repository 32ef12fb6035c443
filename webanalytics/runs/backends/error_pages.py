"""What is known of a page besides its content: its headers, where its fetch ended, what an error page says.

`LocalBackend` keeps a page that comes with an HTTP error in audits, where its title and links tell what
visitors meet; everywhere else such a page is only a failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from multidict import CIMultiDict

from webanalytics.core.outcomes import ErrorPage, Fetched
from webanalytics.errors import RowError
from webanalytics.fetching import FetchError
from webanalytics.fetching.response import LONGEST_HEADER, header_block
from webanalytics.operations import FACTS, METADATA, Operation
from webanalytics.runs.backends.pipeline import Answering

READ = (METADATA, FACTS)
"""What is read of a page that comes with an HTTP error; its text is nothing to judge.
Of a refusal nothing is read."""


def said_by(headers: CIMultiDict[str]) -> dict[str, Any]:
    """Return the parts of `Fetched` that headers give, and the time.

    Examples
    --------
    >>> known = said_by(CIMultiDict({"Content-Type": "text/html", "ETag": "1"}))
    >>> known["content_type"], known["x_robots_tag"], known["headers"].splitlines()
    ('text/html', '', ['Content-Type: text/html', 'ETag: 1'])
    """
    return {
        "content_type": headers.get("Content-Type", "")[:LONGEST_HEADER],
        "x_robots_tag": "\n".join(headers.getall("X-Robots-Tag", ()))[:LONGEST_HEADER],
        "headers": header_block(headers.items()),
        "fetched_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def where_it_ended(error: FetchError, known: Fetched) -> Fetched:
    """Return how far a fetch came that failed; ``known`` is what the record of a page says of it."""
    more: dict[str, Any] = {} if error.headers is None else said_by(error.headers)
    if known.source == "fetched":
        more["redirect_kinds"] = error.redirect_kinds
    return replace(
        known,
        final_url=error.final_url or None,
        redirects=tuple(error.redirects),
        http_status=error.http_status,
        elapsed=error.elapsed or None,
        bytes=error.bytes or None,
        **more,
    )


async def error_page(
    answering: Answering,
    operations: Sequence[Operation],
    settings: Mapping[str, Mapping[str, Any]],
    error: FetchError,
    url: str,
    fetched: Fetched,
    deadline: float,
) -> ErrorPage | None:
    """Return the outcomes of a page that came with an HTTP error; None if nothing can be read of it."""
    content = error.content
    read = [operation for operation in operations if operation in READ]
    if not content or error.key != "status" or error.error_type == "refused" or not read:
        return None
    page = (content, url, fetched.final_url or url, fetched.content_type or "")
    try:
        with answering.inflight.hold(len(content)):
            packed = await answering.analyse(
                read, {item.name: settings[item.name] for item in read}, page, deadline
            )
    except RowError:
        return None
    places = tuple(read.index(item) if item in read else None for item in operations)
    return ErrorPage(error, packed, places)
