"""One request to the hosted API, repeated as the rules allow until there is an answer.

`batches` makes the requests; their bodies are read by `wire`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from webanalytics._version import __version__
from webanalytics.core.messages import UNSEEN
from webanalytics.core.operations.secret import MASK, Secret
from webanalytics.errors import ServiceUnavailableError
from webanalytics.fetching.content import body_within
from webanalytics.fetching.pace import backoff
from webanalytics.operations import Operation
from webanalytics.runs.backends.hosted.wire import (
    LARGE_BODY,
    RETRIED,
    Reply,
    Request,
    WrongAnswerError,
    fatal,
    is_out_of_credits,
    read_object,
)

SHORT_KEY = 8
_SPACE = re.compile(r"[\t\r\n\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Api:
    """A user's settings for a hosted API, checked."""

    base_url: str
    api_key: Secret = field(repr=False)
    batch_size: int
    timeout: float
    patience: float  # seconds to go on after broken connections and the answers 429, 500 and 503
    # credits of one success by operation, where they differ from the published ones
    prices: Mapping[str, int]
    # operations found to have no batch path; the only mutable part
    without_batch: set[str] = field(default_factory=set, repr=False, compare=False)

    def price(self, operation: Operation) -> int:
        """Return the credits of one success."""
        return self.prices.get(operation.name, operation.credits)

    def key_header(self) -> str:
        """Return the API key for a request."""
        return self.api_key.reveal().decode("ascii")

    def cleaned(self, text: str) -> str:
        """Return text of an answer without control characters, and without the API key."""
        text = UNSEEN.sub("", _SPACE.sub(" ", text))
        key = re.escape(self.key_header().strip())
        if len(key) < SHORT_KEY:  # a short key would match parts of words
            key = rf"(?<!\w){key}(?!\w)"
        return re.sub(key, MASK, text, flags=re.IGNORECASE)


def is_this_machine(host: str) -> bool:
    """Return whether a host is the loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


log = logging.getLogger("webanalytics")

MOST_ANSWER_BYTES = 128_000_000
PAUSE_SECONDS = 0.5
LONGEST_PAUSE = 30.0
LONGEST_AWAY = 5.0
"""Longest pause, in seconds, after no answer at all: retrying is cheap for both sides."""
SPREAD_SECONDS = 0.3
RUNNING = 409
"""Status of a request whose first attempt is still in progress."""


class _Fault(Exception):  # noqa: N818 - a reason to send again
    """No answer, or an unusable one."""

    def __init__(self, what: str, wait: float | None = None, reply: Reply | None = None) -> None:
        super().__init__(what)
        self.what, self.wait, self.reply = what, wait, reply


class Stopped(Exception):  # noqa: N818 - no error: the run ends for a reason of its own
    """The run is ending; nothing further is sent."""


class RetryGate:
    """Holds requests back: all of them after a 429, and permanently when the run is ending."""

    def __init__(self) -> None:
        self._until = 0.0
        self._ending = asyncio.Event()
        self._answered = asyncio.Event()

    @property
    def ending(self) -> bool:
        """Whether nothing further is to be sent."""
        return self._ending.is_set()

    def end(self) -> None:
        """Let nothing further through."""
        self._ending.set()
        self.answered()

    def close_for(self, seconds: float) -> None:
        """Hold every request back for a while."""
        self._until = max(self._until, asyncio.get_running_loop().time() + seconds)

    async def passed(self) -> None:
        """Wait until a request may go."""
        while not self.ending and (left := self._until - asyncio.get_running_loop().time()) > 0:
            await self.pause(left)
        if self.ending:
            raise Stopped

    async def pause(self, seconds: float) -> None:
        """Sleep, but not beyond the run's end."""
        await self._wait(self._ending, seconds)

    async def pause_while_away(self, seconds: float) -> None:
        """Sleep until another request is answered, because the server is then available again."""
        if await self._wait(self._answered, seconds):
            await self.pause(random.uniform(0.0, SPREAD_SECONDS))  # noqa: S311 - no secret

    def answered(self) -> None:
        """Note that the server has answered."""
        self._answered.set()
        self._answered = asyncio.Event()

    @staticmethod
    async def _wait(event: asyncio.Event, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await event.wait()
        except TimeoutError:
            return False


def asked_too_long(reply: Reply, patience: float) -> ServiceUnavailableError:
    """Return the error for an answer that demands a longer wait than the remaining patience."""
    return ServiceUnavailableError(
        f"The `patience` parameter must be larger for this service: it asks to wait {reply.wait:,.0f} "
        f"s, and of {patience:g} s too few are left.",
        reply.status,
        reply.request_id,
    )


def _given_up(what: str, patience: float, reply: Reply | None) -> ServiceUnavailableError:
    return ServiceUnavailableError(
        f"The `base_url` parameter must be the address of a service that answers: {what}, for longer than "
        f"its `patience` of {patience:g} s.",
        *((None, None) if reply is None else (reply.status, reply.request_id)),
    )


class Backoff:
    """How long to wait before resending inputs that an answer has deferred."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._since: float | None = None
        self._pauses = 0

    def pause(self, reply: Reply, *, answered: bool) -> float:
        """Return the seconds to wait."""
        now = asyncio.get_running_loop().time()
        if answered:
            self._since, self._pauses = None, 0
        elif self._since is None:
            self._since = now
        left = self._patience if self._since is None else self._patience - (now - self._since)
        if left < 0:
            raise _given_up("it puts inputs off", self._patience, reply)
        if (reply.wait or 0.0) > left:
            raise asked_too_long(reply, self._patience)
        self._pauses += 1
        return max(reply.wait or 0.0, backoff(self._pauses - 1, PAUSE_SECONDS, LONGEST_PAUSE))


class Exchange:
    """The connections of one run, made on its event loop; ``note`` briefly shows what it waits for."""

    def __init__(self, api: Api, requests: int, note: Callable[[str], None]) -> None:
        self._api = api
        self._places = asyncio.Semaphore(requests)
        self._note = note
        self.gate = RetryGate()
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=requests),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=api.timeout, sock_connect=30.0),
            headers={"User-Agent": f"webanalytics/{__version__}", "Accept": "application/json"},
        )

    async def close(self) -> None:
        """Close all connections."""
        await self.session.close()

    async def send(
        self,
        request: Request,  # what to send
        operation: str,  # last part of the path, for messages
        *,
        # whether a 500 or 503 concerns the input, so that the caller decides
        about_input: Callable[[Reply], bool],
        fits: Callable[[Mapping[str, Any]], bool],  # whether an envelope can be the answer to this request
    ) -> Reply:
        """Return the final answer to a request."""
        clock = asyncio.get_running_loop().time
        began, trouble, tries = clock(), None, 0
        while True:
            try:
                async with self._places:
                    await self.gate.passed()  # in here: it may have closed while waiting for a slot
                    reply = await self._once(request)
                self.gate.answered()
                self._judge(reply, operation, about_input, fits)
                return reply
            except _Fault as caught:
                fault = caught  # handled out here: an error raised from there would carry the reply along
            alive = fault.reply is not None and fault.reply.status == RUNNING
            trouble = clock() if trouble is None or alive else trouble
            patience = self._api.patience
            asks = None if fault.reply is None else fault.reply.wait
            if fault.reply is not None and asks and asks > patience - (clock() - trouble):
                raise asked_too_long(fault.reply, patience)
            if clock() - trouble > patience or clock() - began > self._api.timeout + patience:
                raise _given_up(fault.what, patience, fault.reply)
            away = fault.reply is None
            longest = LONGEST_AWAY if away or alive else LONGEST_PAUSE
            wait = max(backoff(tries, PAUSE_SECONDS, longest), fault.wait or 0.0)
            tries = min(tries + 1, 20)
            log.info("%s: sent again in %.1f seconds", fault.what, wait)
            self._note(f"{fault.what}, again in {max(wait, 1):.0f} s")
            if fault.reply is not None and fault.reply.status == 429:
                self.gate.close_for(fault.wait or wait)
            elif away:
                await self.gate.pause_while_away(wait)
            else:
                await self.gate.pause(wait)

    def _judge(
        self,
        reply: Reply,
        operation: str,
        about_input: Callable[[Reply], bool],
        fits: Callable[[Mapping[str, Any]], bool],
    ) -> None:
        """Raise `_Fault` for an answer that calls for a retry, `HostedError` for one that ends the run."""
        if is_out_of_credits(reply):
            return
        ends = fatal(reply, self._api.base_url, operation)
        if ends is not None:
            raise ends
        if reply.status == 429:
            raise _Fault("asked to slow down", 1.0 if reply.wait is None else reply.wait, reply)
        if reply.status == RUNNING:
            raise _Fault("still being worked on", reply.wait, reply)
        of_gateway = reply.envelope is None and (reply.status > 500 or reply.status == 408)
        if of_gateway or (reply.status in RETRIED and not about_input(reply)):
            raise _Fault(f"the API answered {reply.status}", min(reply.wait or 0.0, LONGEST_PAUSE), reply)
        if reply.status == 200:
            envelope = reply.envelope or {}
            if envelope.get("status") not in ("ok", "error") or not fits(envelope):
                raise _Fault("the answer was not what the API answers", reply=reply)

    async def _once(self, request: Request) -> Reply:
        """Send a request once and read the answer to its end."""
        what = ""
        try:
            async with self.session.request(
                request.method,
                self._api.base_url + request.path,
                data=request.make_body(),
                headers=self._headers(request),
                allow_redirects=False,
            ) as response:
                return await self._read(response)
        except WrongAnswerError:
            what = "the answer was not what the API answers"
        except TimeoutError:
            what = "no answer in time"
        except aiohttp.ClientConnectorDNSError:
            what = "the host of the API could not be looked up"
        except aiohttp.ClientSSLError:
            what = "the API could not agree on a secure connection"
        except aiohttp.ClientConnectorError:
            what = "the API does not accept connections"
        except (aiohttp.ClientError, OSError, ValueError):
            what = "the connection broke"
        raise _Fault(what)  # out here: the errors above know the request's headers

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {"x-api-key": self._api.key_header()}
        if request.content_type is not None:
            headers["Content-Type"] = request.content_type
        if request.idempotency_key is not None:
            headers["Idempotency-Key"] = request.idempotency_key
        return headers

    async def _read(self, response: aiohttp.ClientResponse) -> Reply:
        heard = asyncio.get_running_loop().time()
        content = await body_within(MOST_ANSWER_BYTES, response)
        if content is None:
            raise WrongAnswerError
        envelope: dict[str, Any] | None = None
        if response.content_type == "application/json":
            try:
                large = len(content) >= LARGE_BODY
                envelope = await asyncio.to_thread(read_object, content) if large else read_object(content)
            except WrongAnswerError:
                if response.status == 200:
                    raise
        return Reply(response.status, response.headers, envelope, heard, self._api.cleaned)
