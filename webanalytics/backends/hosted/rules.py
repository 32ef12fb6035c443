"""The hosted API's rules, as its specification has them: what each answer means for its sender."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from webanalytics.errors import (
    AddressBlockedError,
    ErrorType,
    HostedError,
    KeyRejectedError,
    KeyRevokedError,
    OperationBlockedError,
)
from webanalytics.fetching import recognise
from webanalytics.fetching.retry import retry_after

BATCH_SIZE = 200
"""Most inputs of a batch."""

REMAINING = "x-api-remaining-credits"
REQUEST_IDS = ("X-Request-ID", "x-edge-request-id", "x-cloud-trace-context")
RETRIED = frozenset((500, 503))
EXPECTED = frozenset((200, 400, 404, 413, 415, 422, 429, 500, 503))
"""Statuses that say something about an input, or are asked about again; another is the API's own failure."""

_KINDS: tuple[tuple[ErrorType, re.Pattern[str]], ...] = (
    ("timeout", re.compile(r"takes longer than [\d.]+ seconds to analyse")),
    ("timeout", re.compile(r"names a site that takes fewer requests than it is sent")),
    ("too_large", re.compile(r"must be (an image of )?at most [\d,]+ (bytes|pixels|frames|blocks)")),
    ("too_large", re.compile(r"(content larger than|a page whose answer has more than) [\d,]+ bytes")),
    ("too_large", re.compile(r"that fits into memory")),
    ("parse", re.compile(r"^The `url` parameter must name a page ")),
    ("parse", re.compile(r"^The service failed to (work on|analyse what) the `")),
    (
        "parse",
        re.compile(r"content (that ended its analysis|that could not be read|whose \w+ cannot be had)"),
    ),
)
"""How sentences that no fetch has said tell their error type; what is not among them is a wrong value."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the API, read to its end.

    Attributes
    ----------
    status : int
        HTTP status.
    headers : Mapping
        Headers, by name in any case.
    envelope : Mapping or None
        The JSON object of the body, None where it is none.
    heard : float
        When its headers arrived, on the event loop's clock.
    cleaned : callable
        Makes text of the answer fit to be shown.
    """

    status: int
    headers: Mapping[str, str]
    envelope: Mapping[str, Any] | None
    heard: float = 0.0
    cleaned: Callable[[str], str] = field(default=str, repr=False)

    @property
    def error(self) -> str:
        """The sentence of a failure, empty where there is none."""
        error = None if self.envelope is None else self.envelope.get("error")
        return self.cleaned(error) if isinstance(error, str) else ""

    @property
    def remaining(self) -> int | None:
        """Credits left, where the answer tells."""
        text = self.headers.get(REMAINING, "")
        return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None

    @property
    def replayed(self) -> bool:
        """Whether this is the kept answer of an earlier request, which was paid for then."""
        return self.headers.get("idempotency-replayed", "").lower() == "true"

    @property
    def request_id(self) -> str | None:
        """What identifies the request to the provider."""
        found = next((self.headers[name] for name in REQUEST_IDS if self.headers.get(name)), None)
        return None if found is None else self.cleaned("".join(c for c in found if c.isprintable()))[:100]

    @property
    def wait(self) -> float | None:
        """Seconds that the answer asks to wait."""
        return retry_after(self.headers.get("retry-after"))


_FORBIDDEN: tuple[tuple[str, type[HostedError], str], ...] = (
    ("revoked", KeyRevokedError, "another key: this one was revoked"),
    ("blocked", OperationBlockedError, "a key that may call {operation}: this one may not"),
    ("IP address", AddressBlockedError, "a key that may be used from this machine's IP address"),
)
"""What a 403 says of a key, the exception for it, and how its sentence ends."""


def is_out_of_credits(reply: Reply) -> bool:
    """Tell whether an answer says that the credits are spent.

    Notes
    -----
    The specification has two statements, 429 and 403; the header decides in both. Only the three
    sentences about the key itself are what they say, also where the account has no credits.
    """
    known = reply.status == 403 and any(word in reply.error for word, *_ in _FORBIDDEN)
    return reply.status in (403, 429) and reply.remaining == 0 and not known


def fatal(reply: Reply, base_url: str, operation: str) -> HostedError | None:
    """Return the exception for an answer after which no further request makes sense, else None.

    Parameters
    ----------
    reply : Reply
        The answer, of the status 401, 403 or 3xx.
    base_url : str
        Address of the API.
    operation : str
        Last part of the path.
    """
    told = (reply.status, reply.request_id)
    if reply.status == 401 or (reply.status == 403 and reply.envelope is None):
        return KeyRejectedError(f"The `api_key` parameter must be a key that {base_url} accepts.", *told)
    if reply.status == 403:
        for word, kind, what in _FORBIDDEN:
            if word in reply.error:
                return kind(f"The `api_key` parameter must be {what.format(operation=operation)}.", *told)
        return HostedError(f"The `api_key` parameter must be a key that may call {operation}.", *told)
    if 300 <= reply.status < 400:
        return HostedError(
            f"The `base_url` parameter must be the API's own address: {base_url} redirects elsewhere.", *told
        )
    return None


def error_type(sentence: str, status: int) -> ErrorType:
    """Return the kind of failure that a sentence of the API tells.

    Examples
    --------
    >>> error_type("The `url` parameter names a host that does not exist.", 400)
    'dns'
    >>> error_type("The `image` parameter must be at most 10,000,000 bytes.", 400)
    'too_large'
    >>> error_type("The `record` parameter is required.", 400)
    'invalid'
    """
    known = recognise(sentence)
    if known is not None:
        return known[0]
    found = next((kind for kind, pattern in _KINDS if pattern.search(sentence)), None)
    return found or ("invalid" if status == 400 else "service")
