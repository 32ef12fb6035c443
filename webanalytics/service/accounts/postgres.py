"""Accounts in PostgreSQL: any number of servers, each with its own connections."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.service.accounts.base import AccountsError, Call, Conflict, NoCredits, Receipt, Replay
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.schema import Steps, migrate
from webanalytics.service.accounts.store import SWEEP_SECONDS, Accounts, failure

try:
    import asyncpg
except ImportError:  # an extra
    asyncpg = None

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy
    from asyncpg.transaction import Transaction

T = TypeVar("T")

CONNECTIONS = 10
"""Most connections of one server process."""

STATEMENT_SECONDS = 30.0
"""Longest a statement, or the wait for a free connection, may take."""

TRIES = 5
"""How often a transaction is tried that conflicts with another."""

MOST_IN_GROUP = 256
"""Most charges of one transaction."""

MOST_WAITING = 20_000
"""Most charges waiting for the next one."""

BEAT_SECONDS, MISSED_BEATS = 2.0, 4
"""How often a process shows that it lives, and after how many of our own beats without it, it does not."""

MIGRATION_LOCK = int.from_bytes(b"webanaly", "big") >> 1
"""Advisory lock held during migration, so that servers may start together."""


class PostgresAccounts(Accounts):
    """A pool of connections to PostgreSQL."""

    def __init__(self, pool: asyncpg.Pool, commands: Commands, clock: Callable[[], float]) -> None:
        super().__init__()
        self._pool, self._commands, self._clock = pool, commands, clock
        self._waiting: list[tuple[Call, asyncio.Future[Receipt | NoCredits]]] = []
        self._charging: asyncio.Task[None] | None = None
        self._closing = False
        self._seen: dict[str, tuple[int, int]] = {}

    @classmethod
    async def open(
        cls,
        url: str,
        commands: Commands,
        clock: Callable[[], float],
        *,
        connections: int = CONNECTIONS,
        statement_seconds: float = STATEMENT_SECONDS,
    ) -> PostgresAccounts:
        """Connect, bring the schema to the newest version and release overdue reservations."""
        if asyncpg is None:
            raise MissingExtraError("postgres", "asyncpg", "a PostgreSQL database")
        try:
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=connections,
                timeout=statement_seconds,
                command_timeout=statement_seconds,
                server_settings={"application_name": "webanalytics"},
            )
        except ValueError as error:
            raise ParameterError.must_be("database", "a PostgreSQL address that can be read") from error
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise AccountsError(f"PostgreSQL cannot be reached: {str(error) or 'no answer'}.") from error
        accounts = cls(pool, commands, clock)
        try:
            await accounts.run(_migrate)
            await accounts.sweep(clock)
            await accounts.beat()
        except BaseException:
            await pool.close()
            raise
        accounts.keep_doing(lambda: accounts.sweep(clock), SWEEP_SECONDS)
        accounts.keep_doing(accounts.beat, BEAT_SECONDS)
        return accounts

    async def run(self, command: Callable[..., Steps[T]], *arguments: Any) -> T:
        """Run a command in a transaction; retry it on a conflict with another one."""
        return await self._tried(self._transaction, command, arguments)

    async def read(self, command: Callable[..., Steps[T]], *arguments: Any) -> T:
        """Run a command of one statement without a transaction of its own."""
        return await self._tried(self._statement, command, arguments)

    async def _tried(
        self,
        way: Callable[[Callable[..., Steps[T]], tuple[Any, ...]], Awaitable[T]],
        command: Callable[..., Steps[T]],
        arguments: tuple[Any, ...],
    ) -> T:
        for tries_left in reversed(range(TRIES)):
            try:
                return await way(command, arguments)
            except (AccountsError, ParameterError):
                raise
            except _AgainError as error:
                if not tries_left:
                    raise failure(error.reason) from error.reason
                await asyncio.sleep(0)
            except Exception as error:
                raise failure(error) from error
        raise AssertionError  # the last try returns or raises

    async def _statement(self, command: Callable[..., Steps[T]], arguments: tuple[Any, ...]) -> T:
        steps = command(self._commands, self._clock(), *arguments)
        async with self._pool.acquire(timeout=STATEMENT_SECONDS) as connection:
            try:
                return await _drive(connection, steps)
            except _PASSING as error:
                _give_up(connection)
                raise _AgainError(error) from error

    async def _transaction(self, command: Callable[..., Steps[T]], arguments: tuple[Any, ...]) -> T:
        steps = command(self._commands, self._clock(), *arguments)
        async with self._pool.acquire(timeout=STATEMENT_SECONDS) as connection:
            transaction = connection.transaction(isolation="read_committed")
            try:
                await transaction.start()
                result = await _drive(connection, steps)
            except _PASSING as error:  # nothing has been committed
                await _roll_back(connection, transaction)
                raise _AgainError(error) from error
            except BaseException:
                await _roll_back(connection, transaction)
                raise
            await transaction.commit()
            return result

    async def beat(self) -> None:
        """Show that this process lives, and return what is held by one that has not for some of our beats.

        What is counted are beats and no seconds: clocks differ, and while the database is away nobody's are
        missed.
        """
        beats = await self.run(Commands.beat)
        before, self._seen = self._seen, {}
        for name, count in beats.items():
            known, missed = before.get(name, (0, 0))
            self._seen[name] = count, missed + 1 if known == count else 0
            if self._seen[name][1] >= MISSED_BEATS:
                await self.sweep(self._clock, dead=name)
                await self.run(Commands.bury, name)

    async def charge(self, call: Call, answer: bytes | None) -> Receipt | Replay | NoCredits | Conflict:
        """Charge one success that has been computed, together with others that are waiting."""
        if call.idempotency is not None:
            return await self.run(Commands.charge, call, answer)
        if self._closing or len(self._waiting) >= MOST_WAITING:
            raise AccountsError("The accounts database has too many calls waiting or is closed.")
        future: asyncio.Future[Receipt | NoCredits] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, future))
        if self._charging is None:
            self._charging = asyncio.create_task(self._charge_waiting(), name="charge accounts")
        return await future

    async def _charge_waiting(self) -> None:
        """Commit charges in groups until none are waiting."""
        try:
            while self._waiting:
                group, self._waiting = self._waiting[:MOST_IN_GROUP], self._waiting[MOST_IN_GROUP:]
                await self._charge_group(group)
        finally:
            self._charging = None

    async def _charge_group(self, group: list[tuple[Call, asyncio.Future[Receipt | NoCredits]]]) -> None:
        try:
            results = await self.run(Commands.charge_group, [call for call, _ in group])
        except Exception as error:
            if len(group) > 1 and isinstance(error.__cause__, _OF_ONE):
                for one in group:
                    await self._charge_group([one])
                return
            for _, future in group:
                if not future.done():
                    future.set_exception(AccountsError(str(error)))
            return
        for (_, future), result in zip(group, results, strict=True):
            if not future.done():
                future.set_result(result)

    async def close(self) -> None:
        """Finish pending work and close the connections."""
        self._closing = True
        await self.stop_doing()
        await self.all_returned()
        while self._charging is not None:
            await asyncio.wait([self._charging])
        with contextlib.suppress(AccountsError):
            await self.run(Commands.bury, self._commands.process)
        await self._pool.close()


class _AgainError(Exception):
    """The transaction was rolled back for a temporary reason."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


if asyncpg is not None:
    _PASSING: tuple[type[Exception], ...] = (
        asyncpg.SerializationError,
        asyncpg.DeadlockDetectedError,
        asyncpg.UniqueViolationError,  # two servers drew one name
        asyncpg.PostgresConnectionError,  # the database was restarted
        asyncpg.AdminShutdownError,
        asyncpg.InterfaceError,
        asyncpg.InternalClientError,  # it is being ended while it is idle
        ConnectionError,
    )
    _OF_ONE: tuple[type[Exception], ...] = (
        asyncpg.IntegrityConstraintViolationError,
        asyncpg.DataError,
        ValueError,
    )


async def _roll_back(connection: PoolConnectionProxy, transaction: Transaction) -> None:
    """Roll back; a connection on which that fails is abandoned."""
    try:
        await transaction.rollback()
    except Exception:
        _give_up(connection)


def _give_up(connection: PoolConnectionProxy) -> None:
    with contextlib.suppress(asyncpg.InterfaceError):  # the pool has it back already
        connection.terminate()


async def _drive(connection: PoolConnectionProxy, steps: Steps[T]) -> T:
    """Run one command's statements."""
    try:
        statement, parameters = next(steps)
        while True:
            rows = await connection.fetch(statement, *parameters)
            statement, parameters = steps.send(rows)
    except StopIteration as stop:
        result: T = stop.value
        return result


def _migrate(_commands: Commands, _now: float) -> Steps[int]:
    """Bring the schema to the newest version, one server at a time."""
    yield "SELECT pg_advisory_xact_lock($1)", (MIGRATION_LOCK,)
    return (yield from migrate("postgresql"))
