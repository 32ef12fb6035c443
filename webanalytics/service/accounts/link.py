"""The two ends of a connection between the owner of an SQLite file and another process.

Many calls travel at once; what is sent in one turn of the event loop goes out as one frame. A
message is ``[number, command, argument, ...]`` and its answer ``[number, result]``. With number 0
the owner asks to forget keys, and the answer says that it was done.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from webanalytics.errors import ParameterError
from webanalytics.service.accounts.base import AccountsError, Key, Reservation
from webanalytics.service.accounts.cache import KeyCache
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.statements import Steps
from webanalytics.service.accounts.store import Store, failure
from webanalytics.service.accounts.wire import Frames, encode, frame, pack, unpack

T = TypeVar("T")

READS_AND_CHARGES = ("find_key", "balance", "list_keys", "ready", "charge", "reserve", "settle")
CHANGES = ("create_key", "rotate_key", "revoke_key", "restrict_key", "change_plan")
"""Commands that other processes may call."""

FORGET_SECONDS = 1.0
"""Longest wait for the other processes to forget a key that was changed."""

MOST_CALLS = 20_000
"""Most calls of one process under way at once."""


class Link(asyncio.Protocol):
    """One end of a connection."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._frames = Frames()
        self._outbox: list[bytes] = []
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a stream
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Take messages apart."""
        try:
            for message in self._frames.feed(data):
                self.received(message)
        except (ValueError, TypeError, LookupError, AttributeError):  # not what we speak
            self.close()

    def connection_lost(self, _error: Exception | None) -> None:
        """End."""
        self.transport = None
        self.lost()

    def send(self, message: list[Any]) -> None:
        """Send a message with the others of this turn."""
        encoded = encode(message)
        if not self._outbox:
            self._loop.call_soon(self.flush)
        self._outbox.append(encoded)

    def flush(self) -> None:
        """Send what is waiting."""
        messages, self._outbox = self._outbox, []
        if messages and self.transport is not None:
            self.transport.write(frame(messages))

    def close(self) -> None:
        """Close the connection after what has been sent."""
        if self.transport is not None:
            self.flush()
            self.transport.close()

    @abstractmethod
    def received(self, message: list[Any]) -> None:
        """Take a message."""

    @abstractmethod
    def lost(self) -> None:
        """Take the end of the connection."""


class OwnerLink(Link):
    """The owner's end: runs commands, and returns what a process that ended had reserved.

    Parameters
    ----------
    submit : callable
        Queues a command of `READS_AND_CHARGES` and returns its future.
    change : callable
        Runs a command of `CHANGES`.
    links : set
        All the owner's links; this one is in it while it is connected.
    """

    def __init__(
        self,
        submit: Callable[..., asyncio.Future[Any]],
        change: Callable[..., Any],
        links: set[OwnerLink],
    ) -> None:
        super().__init__()
        self._submit, self._change, self._links = submit, change, links
        self._reserved: dict[int, Reservation] = {}
        self._changing: set[asyncio.Task[Any]] = set()
        self._forgetting: list[asyncio.Future[None]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        super().connection_made(transport)
        self._links.add(self)

    def received(self, message: list[Any]) -> None:
        """Run a command."""
        number, *rest = message
        if number == 0:
            _set(self._forgetting.pop(0), None)
            return
        name, *packed = rest
        arguments = tuple(unpack(argument) for argument in packed)
        try:
            if name in CHANGES:
                task = asyncio.create_task(self._change(getattr(Commands, name), *arguments))
                self._changing.add(task)
                task.add_done_callback(self._changing.discard)
                task.add_done_callback(partial(self._answer, number))
            elif name in READS_AND_CHARGES:
                if name == "settle":
                    self._reserved.pop(arguments[0].id, None)
                future = self._submit(getattr(Commands, name), arguments)
                future.add_done_callback(partial(self._answer, number))
            else:
                raise AccountsError("The owner of the accounts database does not know this command.")
        except AccountsError as error:
            self.send([number, pack(error)])

    def _answer(self, number: int, future: asyncio.Future[Any]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        result = future.result() if error is None else failure(error)  # type: ignore[arg-type]
        if isinstance(result, Reservation):
            self._reserved[result.id] = result
            if self.transport is None:
                self.lost()
        self.send([number, pack(result)])

    async def forget(self) -> None:
        """Have the other end forget the keys it knows."""
        forgotten: asyncio.Future[None] = self._loop.create_future()
        self._forgetting.append(forgotten)
        self.send([0])
        await asyncio.wait([forgotten], timeout=FORGET_SECONDS)

    def lost(self) -> None:
        """Return what the process at the other end had reserved."""
        self._links.discard(self)
        for forgotten in self._forgetting:
            _set(forgotten, None)
        reserved, self._reserved = self._reserved, {}
        with contextlib.suppress(AccountsError):  # closed: the next owner returns them
            for reservation in reserved.values():
                self._submit(Commands.settle, (reservation, 0, None)).add_done_callback(_ignore)


class ClientLink(Link):
    """The other process's end: calls by their numbers.

    Parameters
    ----------
    keys : KeyCache
        Cleared when the owner says so, and when the connection ends.
    """

    def __init__(self, keys: KeyCache) -> None:
        super().__init__()
        self._keys = keys
        self._number = 0
        self._calls: dict[int, asyncio.Future[Any]] = {}

    def call(self, name: str, arguments: tuple[Any, ...]) -> asyncio.Future[Any]:
        """Send a command; the future has its result or error."""
        if len(self._calls) >= MOST_CALLS:
            raise AccountsError("The accounts database has too many calls waiting.")
        self._number += 1
        self.send([self._number, name, *map(pack, arguments)])
        future: asyncio.Future[Any] = self._loop.create_future()
        self._calls[self._number] = future
        return future

    def received(self, message: list[Any]) -> None:
        """Take an answer."""
        number, *rest = message
        if number == 0:
            self._keys.clear()
            self.send([0])
            return
        future, result = self._calls.pop(number), unpack(rest[0])
        if future.done():
            if isinstance(result, Reservation):  # nobody waits for it
                self.call("settle", (result, 0, None)).add_done_callback(_ignore)
        elif isinstance(result, (AccountsError, ParameterError)):
            future.set_exception(result)
        else:
            future.set_result(result)

    def lost(self) -> None:
        """Fail what was under way."""
        self._keys.clear()
        calls, self._calls = self._calls, {}
        for future in calls.values():
            if not future.done():
                future.set_exception(AccountsError("The process that owns the accounts database has ended."))


class RemoteAccounts(Store):
    """Accounts in an SQLite file that another process owns.

    Parameters
    ----------
    socket : Path
        The owner's socket.
    """

    def __init__(self, socket: Path) -> None:
        super().__init__()
        self._socket = socket
        self._keys = KeyCache()
        self._link: ClientLink | None = None
        self._connecting = asyncio.Lock()
        self._closed = False

    async def connect(self) -> ClientLink:
        """Connect to the owner, or raise OSError."""
        async with self._connecting:
            if self._link is None or self._link.transport is None:
                loop = asyncio.get_running_loop()
                _, self._link = await loop.create_unix_connection(
                    lambda: ClientLink(self._keys), str(self._socket)
                )
            return self._link

    async def run(self, command: Callable[..., Steps[T]], *arguments: Any) -> T:
        """Have the owner run a command."""
        link = self._link
        if link is None or link.transport is None:
            if self._closed:
                raise AccountsError("The accounts database is closed.")
            try:
                link = await self.connect()
            except OSError as error:
                raise AccountsError("The process that owns the accounts database has ended.") from error
        result: T = await link.call(command.__name__, arguments)
        return result

    async def find_key(self, digest: bytes) -> Key | None:
        """Return the key with this SHA-256 digest, from memory where it is there."""
        key = self._keys.get(digest)
        if key is not None:
            return key
        return await self._keys.fill(digest, self.run(Commands.find_key, digest))

    async def close(self) -> None:
        """Close the connection."""
        self._closed = True
        if self._link is not None:
            self._link.close()
            await asyncio.sleep(0)  # the transport ends in the next turn


def _set(future: asyncio.Future[None], result: None) -> None:
    if not future.done():
        future.set_result(result)


def _ignore(future: asyncio.Future[Any]) -> None:
    """Take the result of a command nobody waits for."""
    if not future.cancelled():
        future.exception()
