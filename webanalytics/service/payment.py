"""Paying for calls: Idempotency-Keys, refusals for lack of credits, kept answers, a batch's credits."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import aiohttp
import orjson

from webanalytics.core.messages import Message
from webanalytics.core.operations.secret import Secret
from webanalytics.service.accounts.base import Conflict, Idempotency, Key, NoCredits
from webanalytics.service.answer_formats import render
from webanalytics.service.headers import REMAINING_HEADER
from webanalytics.service.logs import Log
from webanalytics.service.results import Problem, Result

T = TypeVar("T")

_KEY = re.compile(r"[\x21-\x7e]{1,255}")

HELD_SECONDS = 2.0
"""After how long a call may be repeated whose credits are held by others."""

PACKED_BYTES = 65_536
"""Bytes from which a kept answer is compressed; for a smaller one it would take longer than it saves."""

RUNNING_SECONDS, LONGEST_SECONDS = 1.0, 10.0
"""After how long a call may be repeated whose first sending is still being worked on: as long again as it has
been, within these bounds. A process that has died is found out in about the longest."""


def _plain(value: Any) -> Any:
    """Return what stands for a value that JSON does not know."""
    if isinstance(value, Secret):
        return hashlib.sha256(value.reveal()).hexdigest()
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    raise TypeError


def idempotency(header: str | None, what: str, parameters: Any) -> Idempotency | None:
    """Return the caller's promise that calls with one Idempotency-Key are the same call.

    The fingerprint of path and parameters is keyed with that key: no table of fingerprints finds the
    parameters, and every API key of the account makes the same, also one that has replaced another.
    """
    if header is None:
        return None
    if not _KEY.fullmatch(header):
        raise Problem(400, Message("idempotency_key"))
    text = orjson.dumps(
        [what, parameters], default=_plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    )
    return Idempotency(header, hmac.digest(header.encode(), text, "sha256"))


def conflict(found: Conflict) -> Problem:
    """Return the answer to an Idempotency-Key that is taken."""
    headers = {REMAINING_HEADER: str(found.remaining)}
    if found.running:
        pause = min(max(found.seconds, RUNNING_SECONDS), LONGEST_SECONDS)
        return Problem(409, Message("call_running"), retry_after=pause, headers=headers)
    return Problem(422, Message("key_reused"), headers=headers)


def next_cycle(now: datetime | None = None) -> str:
    """Return the first day of the next billing cycle.

    >>> next_cycle(datetime(2026, 12, 31, tzinfo=UTC))
    '2027-01-01'
    """
    now = now or datetime.now(UTC)
    year, month = divmod(now.year * 12 + now.month, 12)
    return f"{year:04}-{month + 1:02}-01"


def no_credits(found: NoCredits, price: int) -> Problem:
    """Return the answer if the credits do not cover a call.

    Its header says 0 even if a few credits are left: by it a caller distinguishes this 429 from one that
    waiting resolves, and waiting does not help here. If calls in progress hold enough credits, waiting may
    help, and the header includes those.
    """
    if found.remaining + found.held >= price:
        headers = {REMAINING_HEADER: str(found.remaining + found.held)}
        return Problem(
            429, Message("credits_held", {"held": found.held}), retry_after=HELD_SECONDS, headers=headers
        )
    spent = Message("no_credits", {"price": price, "left": found.remaining, "date": next_cycle()})
    return Problem(429, spent, headers={REMAINING_HEADER: "0"})


async def to_the_end(step: Awaitable[T]) -> T:
    """Await a step that must not be left half done when the request is cancelled."""
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def pack_answer(envelope: Mapping[str, Any]) -> bytes:
    """Return an envelope as it is kept for an Idempotency-Key; a large one is compressed in a thread."""
    content = render(envelope, "json")[0]
    return content if len(content) < PACKED_BYTES else await asyncio.to_thread(zlib.compress, content, 1)


def _unpack(answer: bytes) -> Any:
    # a zlib stream never begins with a brace (RFC 1950: its first byte ends in 8)
    return json.loads(answer if answer[:1] == b"{" else zlib.decompress(answer))


async def unpack_answer(answer: bytes) -> dict[str, Any]:
    """Return the envelope that was kept; Python's own parser keeps integers of any size."""
    envelope: dict[str, Any] = await asyncio.to_thread(_unpack, answer)
    return envelope


class HeldCredits:
    """A reservation's credits, taken by the items of a batch or query in their order.

    An item that fails returns its credits, so that a later one can use them; `take` therefore waits while
    credits are in use, and refuses only when none can be returned.
    """

    def __init__(self, held: int) -> None:
        self._free = held
        self._out = 0
        self.spent = 0
        self._changed = asyncio.Event()

    async def pay(self, price: int, left: int, work: Callable[[], Awaitable[Result]]) -> Result:
        """Return the result of one item, which is paid if it succeeds, or that of a refusal."""
        if not await self.take(price):
            return no_credits(NoCredits(left), price).result
        used = False
        try:
            result = await work()
            used = result.ok
        finally:
            self.give(price, used=used)
        return result

    async def take(self, price: int) -> bool:
        """Take the price of one item; return False if the credits left do not cover it."""
        while self._free < price and self._out:
            self._changed.clear()
            await self._changed.wait()
        if self._free < price:
            return False
        self._free -= price
        self._out += price
        return True

    def give(self, price: int, *, used: bool) -> None:
        """Report whether an item's credits were used; if not, they are available again."""
        self._out -= price
        if used:
            self.spent += price
        else:
            self._free += price
        self._changed.set()


WEBHOOK_SECONDS = 10.0
WEBHOOK_TRIES = 4


class Notices:
    """Sends notices.

    The webhook is the operator's own, so it is not guarded as customers' URLs are, but no redirect is
    followed. The pause before a further try doubles each time.
    """

    def __init__(self, webhook: str, log: Log, pause: float = 1.0) -> None:
        self._webhook = webhook
        self._log = log
        self._pause = pause
        self._tasks: set[asyncio.Task[None]] = set()

    def notify(self, key: Key, percent: int, remaining: int) -> None:
        """Report that an account has used a percentage of its credits; does not wait."""
        self._log.warning("credits", account=key.account, plan=key.plan, percent=percent, remaining=remaining)
        if self._webhook:
            content = {
                "event": "credits",
                "account": key.account,
                "plan": key.plan,
                "percent": percent,
                "remaining": remaining,
            }
            task = asyncio.create_task(self._post(content))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _post(self, content: dict[str, object]) -> None:
        timeout = aiohttp.ClientTimeout(total=WEBHOOK_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
            for attempt in range(WEBHOOK_TRIES):
                if attempt:
                    await asyncio.sleep(self._pause * 2 ** (attempt - 1))
                try:
                    async with session.post(self._webhook, json=content, allow_redirects=False) as answer:
                        if answer.status < 300:
                            return
                except (aiohttp.ClientError, TimeoutError, ValueError):
                    continue
        self._log.warning("webhook", account=content["account"], percent=content["percent"])

    async def close(self) -> None:
        """Wait a while for what is on its way."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=WEBHOOK_SECONDS)
        for task in self._tasks:
            task.cancel()
