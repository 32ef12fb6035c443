"""The specification's error rules: what each response of a hosted API means for the run.

`http` and `batches` ask here whether to retry, to stop, or to return a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from webanalytics.core.messages import ERROR_TYPES, MESSAGES, error_type_of, recognise
from webanalytics.errors import (
    AddressBlockedError,
    ErrorType,
    HostedError,
    KeyRejectedError,
    KeyRevokedError,
    OperationBlockedError,
)
from webanalytics.fetching.limits import retry_after

BATCH_SIZE = 200
"""Most inputs of a batch."""

REMAINING = "x-api-remaining-credits"
REQUEST_IDS = ("X-Request-ID", "x-edge-request-id", "x-cloud-trace-context")
RETRIED = frozenset((500, 503))
EXPECTED = frozenset((200, 400, 404, 413, 415, 422, 429, 500, 503))
"""Statuses that concern an input, or are retried; any other is a failure of the API itself."""

TYPE_HEADER, KEY_HEADER = "x-error-type", "x-error-key"
TYPE_FIELD, KEY_FIELD = "errorType", "errorKey"
"""Where an answer names the type and the key of a failure: in headers, and in the items of a batch."""


class Failure(NamedTuple):
    """A failure as an answer names it: its key, if known, and its type."""

    key: str | None
    error_type: ErrorType


def failure_of(status: int, item: Mapping[str, Any], sentence: str) -> Failure:
    """Return the key and the type of a failure: as the answer names them, else as its sentence says.

    Only foreign and older servers name neither; if the message does not help either, the status decides.

    Parameters
    ----------
    status : int
        The status that a single call would have had.
    item : Mapping
        The envelope, with ``errorType`` and ``errorKey``.
    sentence : str
        The envelope's message.

    Examples
    --------
    >>> failure_of(400, {"errorType": "dns", "errorKey": "unknown_host"}, "Nobody there.")
    Failure(key='unknown_host', error_type='dns')
    >>> failure_of(400, {}, "The `url` parameter names a host that does not exist.")
    Failure(key='unknown_host', error_type='dns')
    >>> failure_of(503, {}, "Come back later.")
    Failure(key=None, error_type='service')
    """
    kind, key = item.get(TYPE_FIELD), item.get(KEY_FIELD)
    kind = kind if kind in ERROR_TYPES else None
    key = key if isinstance(key, str) and key in MESSAGES else None
    if key is not None:  # in its first words a service calls a refusal "http", and no connection "refused"
        numbers = re.findall(r"\b\d{3}\b", sentence)
        kind = error_type_of(key, numbers[-1] if numbers else None) or kind
    elif kind is None and (found := recognise(sentence)) is not None:
        kind, key = found.error_type, found.key
    elif kind == "refused":
        kind = "connection"
    return Failure(key, cast("ErrorType", kind or ("invalid" if status == 400 else "service")))


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete response of the API.

    Attributes
    ----------
    envelope : Mapping or None
        The JSON object of the body; None for any other body.
    heard : float
        When its headers arrived, on the event loop's clock.
    cleaned : callable
        Makes text of the response safe to show.
    """

    status: int
    headers: Mapping[str, str]
    envelope: Mapping[str, Any] | None
    heard: float = 0.0
    cleaned: Callable[[str], str] = field(default=str, repr=False)

    @property
    def error(self) -> str:
        """The message of a failure, or ""."""
        error = None if self.envelope is None else self.envelope.get("error")
        return self.cleaned(error) if isinstance(error, str) else ""

    @property
    def item(self) -> Mapping[str, Any]:
        """The envelope as it would appear among the results of a batch."""
        named = ((TYPE_FIELD, TYPE_HEADER), (KEY_FIELD, KEY_HEADER))
        found = {field: self.headers[header] for field, header in named if header in self.headers}
        return {**(self.envelope or {}), **found}

    @property
    def failure(self) -> Failure:
        """The failure that the response names."""
        return failure_of(self.status, self.item, self.error)

    @property
    def remaining(self) -> int | None:
        """Credits left, None if the response does not say."""
        text = self.headers.get(REMAINING, "")
        return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None

    @property
    def replayed(self) -> bool:
        """Whether this is the saved response to an earlier request, which has been charged already."""
        return self.headers.get("idempotency-replayed", "").lower() == "true"

    @property
    def request_id(self) -> str | None:
        """The identifier of the request, for the provider's support."""
        found = next((self.headers[name] for name in REQUEST_IDS if self.headers.get(name)), None)
        return None if found is None else self.cleaned("".join(c for c in found if c.isprintable()))[:100]

    @property
    def wait(self) -> float | None:
        """Seconds to wait, as the response demands."""
        return retry_after(self.headers.get("retry-after"))


_FORBIDDEN: Mapping[str, tuple[str, type[HostedError], str]] = {
    "key_revoked": ("revoked", KeyRevokedError, "another key: this one was revoked"),
    "operation_blocked": (
        "blocked",
        OperationBlockedError,
        "a key that may call {operation}: this one may not",
    ),
    "address_blocked": (
        "IP address",
        AddressBlockedError,
        "a key that may be used from this machine's IP address",
    ),
}
"""Why a key is refused with 403: a word in foreign messages, the exception, the end of our message."""


def _forbidden(reply: Reply) -> str | None:
    """Return the known reason for a 403, if any."""
    key = reply.failure.key
    if key in _FORBIDDEN:
        return key
    if reply.item.get(KEY_FIELD) is not None:
        return None
    return next((key for key, (word, *_) in _FORBIDDEN.items() if word in reply.error), None)


def is_out_of_credits(reply: Reply) -> bool:
    """Return whether an answer says that the credits are spent.

    Notes
    -----
    The specification gives two statuses, 429 and 403; the header decides for both. Only the three messages
    about the key itself are taken literally, even if the account has no credits.
    """
    known = reply.status == 403 and _forbidden(reply) is not None
    return reply.status in (403, 429) and reply.remaining == 0 and not known


def fatal(reply: Reply, base_url: str, operation: str) -> HostedError | None:
    """Return the exception for a response (401, 403, 3xx) that ends the run, None for any other.

    `base_url` and `operation`, the last part of the path, are named in its sentence.
    """
    identified = (reply.status, reply.request_id)
    if reply.status == 401 or (reply.status == 403 and reply.envelope is None):
        return KeyRejectedError(
            f"The `api_key` parameter must be a key that {base_url} accepts.", *identified
        )
    if reply.status == 403:
        reason = _forbidden(reply)
        if reason is not None:
            _, kind, what = _FORBIDDEN[reason]
            return kind(f"The `api_key` parameter must be {what.format(operation=operation)}.", *identified)
        return HostedError(f"The `api_key` parameter must be a key that may call {operation}.", *identified)
    if 300 <= reply.status < 400:
        return HostedError(
            f"The `base_url` parameter must be the API's own address: {base_url} redirects elsewhere.",
            *identified,
        )
    return None
