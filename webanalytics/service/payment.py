"""Paying for calls: Idempotency-Keys, what is said when credits are short, and saved answers."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import zlib
from collections.abc import Awaitable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson

from webanalytics.operations.secret import Secret
from webanalytics.service.accounts.base import Conflict, Idempotency, NoCredits
from webanalytics.service.edge import REMAINING_HEADER
from webanalytics.service.formats import render
from webanalytics.service.results import Problem

T = TypeVar("T")

_KEY = re.compile(r"[\x21-\x7e]{1,255}")

HELD_SECONDS = 2.0
"""After how long a call may be repeated whose credits are held by others."""

PACKED_BYTES = 65_536
"""Bytes from which a kept answer is compressed; for a smaller one it would take longer than it saves."""

RUNNING_SECONDS = 1.0
"""After how long a call may be repeated whose first sending is still being worked on."""


def _plain(value: Any) -> Any:
    """Return what stands for a value that JSON does not know."""
    if isinstance(value, Secret):
        return hashlib.sha256(value.reveal()).hexdigest()
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    raise TypeError


def idempotency(header: str | None, api_key: str, what: str, parameters: Any) -> Idempotency | None:
    """Return the caller's promise that calls with one key are the same call.

    Parameters
    ----------
    header : str or None
        The ``Idempotency-Key`` header.
    api_key : str
        The caller's key. The fingerprint is keyed with it, so that what is stored does not tell
        which parameters (a short secret, a phone number) it was made from.
    what : str
        The path of the call.
    parameters : object
        Its checked parameters.

    Raises
    ------
    Problem
        400 for a header that is no key.
    """
    if header is None:
        return None
    if not _KEY.fullmatch(header):
        raise Problem(400, "The `Idempotency-Key` header must be 1 to 255 visible ASCII characters.")
    text = orjson.dumps(
        [what, parameters], default=_plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    )
    return Idempotency(header, hmac.digest(api_key.lower().encode(), text, "sha256"))


def conflict(found: Conflict) -> Problem:
    """Return the answer to an Idempotency-Key that is taken."""
    headers = {REMAINING_HEADER: str(found.remaining)}
    if found.running:
        sentence = "The `Idempotency-Key` header names a call that is still being worked on; repeat it later."
        return Problem(409, sentence, retry_after=RUNNING_SECONDS, headers=headers)
    sentence = "The `Idempotency-Key` header must be a new one: it was used with other parameters."
    return Problem(422, sentence, headers=headers)


def next_cycle(now: datetime | None = None) -> str:
    """Return the first day of the next billing cycle.

    Examples
    --------
    >>> next_cycle(datetime(2026, 12, 31, tzinfo=UTC))
    '2027-01-01'
    """
    now = now or datetime.now(UTC)
    year, month = divmod(now.year * 12 + now.month, 12)
    return f"{year:04}-{month + 1:02}-01"


def no_credits(found: NoCredits, price: int) -> Problem:
    """Return the answer where the credits do not cover a call.

    Its header says 0 also where a few credits are left: the header is how a caller tells this 429
    from the one that passes by waiting, and no waiting helps here. Where calls under way hold
    credits that would do, waiting may help, and the header says how many there are with those.
    """
    if found.remaining + found.held >= price:
        sentence = (
            f"The `x-api-key` header names an account whose last {found.held} credits are held by calls "
            "under way; repeat the request later."
        )
        headers = {REMAINING_HEADER: str(found.remaining + found.held)}
        return Problem(429, sentence, retry_after=HELD_SECONDS, headers=headers)
    sentence = (
        f"The `x-api-key` header must name an account with credits: the call costs {price}, "
        f"{found.remaining} are left, and the next billing cycle begins on {next_cycle()}."
    )
    return Problem(429, sentence, headers={REMAINING_HEADER: "0"})


async def to_the_end(step: Awaitable[T]) -> T:
    """Await a step that must not be left half done when the request is cancelled."""
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def pack_answer(envelope: Mapping[str, Any]) -> bytes:
    """Return an envelope as it is kept for an Idempotency-Key; the work is done beside the event loop."""

    def pack() -> bytes:
        content = render(envelope, "json")[0]
        return content if len(content) < PACKED_BYTES else zlib.compress(content, 1)

    return await asyncio.to_thread(pack)


def _unpack(answer: bytes) -> Any:
    # a zlib stream never begins with a brace (RFC 1950: its first byte ends in 8)
    return json.loads(answer if answer[:1] == b"{" else zlib.decompress(answer))


async def unpack_answer(answer: bytes) -> dict[str, Any]:
    """Return the envelope that was kept; Python's own parser keeps integers of any size."""
    envelope: dict[str, Any] = await asyncio.to_thread(_unpack, answer)
    return envelope
