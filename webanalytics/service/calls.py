"""One call of one operation: paid for when it succeeds, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from webanalytics.operations import Operation
from webanalytics.service.accounts.base import (
    Accounts,
    AccountsError,
    Call,
    Conflict,
    Idempotency,
    Key,
    NoCredits,
    Receipt,
    Replay,
    Reservation,
)
from webanalytics.service.admission import Admission
from webanalytics.service.budget import ByteBudget
from webanalytics.service.engine import Engine
from webanalytics.service.envelope import envelope
from webanalytics.service.formats import render
from webanalytics.service.payment import (
    conflict,
    idempotency,
    no_credits,
    pack_answer,
    to_the_end,
    unpack_answer,
)
from webanalytics.service.plans import Plan
from webanalytics.service.results import Record, Result
from webanalytics.service.settings import ServiceSettings

REPLAYED = {"idempotency-replayed": "true"}

FULL = "The `{name}` parameter must be sent in another request: this answer has reached {most:,} bytes."
NOT_KEPT = "The `Idempotency-Key` header must be left out: the answer has more than {most:,} bytes."
TOO_LARGE = "The `{name}` parameter names a page whose answer has more than {most:,} bytes."
CROWDED = "The service holds as many answers as it can; repeat the request later."
FULL_SECONDS = 1.0
RETURN_PAUSES = (1.0, 5.0, 30.0, 120.0)
"""Seconds before each try to return credits that could not be returned at once."""
LIGHT = 1_000_000
"""Characters of a result from which it is measured beside the event loop."""


async def weight(operation: Operation, result: Result, *, premium: bool) -> int:
    """Return the bytes of a result in JSON, as a plan sees it."""
    content = envelope(operation, result, premium=premium)
    texts = sum(len(value) for value in (content["data"] or {}).values() if isinstance(value, str))
    if texts < LIGHT:
        return len(render(content, "json")[0])
    return len((await asyncio.to_thread(render, content, "json"))[0])


@dataclass(slots=True)
class Caller:
    """Who makes a request, and what holds for all of it.

    Attributes
    ----------
    api_key : str
        The key in clear, only to key fingerprints with; never shown.
    key : Key
        The key as it is stored.
    plan : Plan
        The account's plan.
    record : Record
        What is logged.
    promise : str or None
        The ``Idempotency-Key`` header.
    fresh : bool
        Whether pages are to be fetched anew.
    base_url : str
        Public address of the service, for links.
    answer_bytes : int
        Bytes of results that are held for the answer.
    """

    api_key: str = field(repr=False)
    key: Key
    plan: Plan
    record: Record
    promise: str | None = None
    fresh: bool = False
    base_url: str = ""
    answer_bytes: int = 0


@dataclass(slots=True)
class Answer:
    """An answer before it has a format.

    Attributes
    ----------
    status : int
        HTTP status.
    envelope : Mapping
        The envelope, or the body of a GraphQL response.
    remaining : int or None
        Credits left, where they are known.
    retry_after : float or None
        Seconds after which a further try may do.
    headers : Mapping
        Further headers.
    """

    status: int
    envelope: Mapping[str, Any]
    remaining: int | None = None
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


Notice = Callable[[Key, int, int], None]
"""Told of a key's account, the percentage of its credits reached, and the credits left."""


class Calls:
    """Makes calls and has them paid for.

    Parameters
    ----------
    settings : ServiceSettings
        Prices and limits.
    accounts : Accounts
        Who pays.
    engine : Engine
        Who works.
    admission : Admission
        How much may be under way.
    notice : callable
        Told when an account reaches a percentage of its credits.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        accounts: Accounts,
        engine: Engine,
        admission: Admission,
        notice: Notice,
    ) -> None:
        self.settings = settings
        self.accounts = accounts
        self.engine = engine
        self.admission = admission
        self.answers = ByteBudget(settings.answer_memory)
        self._returning: set[asyncio.Task[None]] = set()
        self._notice = notice

    def price(self, operation: Operation) -> int:
        """Return what one success costs."""
        return int(self.settings.credits.get(operation.name, operation.credits))

    async def compute(self, caller: Caller, operation: Operation, parameters: Mapping[str, Any]) -> Result:
        """Return the result of one input; nothing is paid here."""
        result = await self.engine.compute(
            operation,
            parameters,
            account=caller.key.account,
            upload_bytes=caller.plan.upload_bytes,
            premium=caller.plan.premium,
            fresh=caller.fresh,
            base_url=caller.base_url,
        )
        if operation.kind != "page" or not result.ok:
            return result
        return await self._bounded(caller, operation, result)

    async def _bounded(self, caller: Caller, operation: Operation, result: Result) -> Result:
        """Return a result if there is room for it, in this answer and beside all others."""
        settings = self.settings
        size = await weight(operation, result, premium=caller.plan.premium)
        most = settings.answer_bytes if caller.promise is None else settings.saved_bytes
        if caller.answer_bytes + size > most:
            if caller.answer_bytes:
                return Result(503, None, FULL.format(name=operation.subject, most=most), FULL_SECONDS)
            if size <= settings.answer_bytes:
                return Result(400, None, NOT_KEPT.format(most=most))
            return Result(400, None, TOO_LARGE.format(name=operation.subject, most=most))
        if not self.answers.take(caller.key.account, size):
            return Result(503, None, CROWDED, FULL_SECONDS)
        caller.answer_bytes += size
        return result

    def sent(self, caller: Caller) -> None:
        """Take note that an answer has been sent, or that nobody waits for it."""
        self.answers.give(caller.key.account, caller.answer_bytes)
        caller.answer_bytes = 0

    async def single(self, caller: Caller, operation: Operation, parameters: Mapping[str, Any]) -> Answer:
        """Make one call.

        Raises
        ------
        Problem
            409, 422, 429 or 503 before any work.
        """
        promise = idempotency(caller.promise, caller.api_key, operation.path, parameters)
        call = self.call(caller, operation.name, self.price(operation), 1, promise)
        if operation.kind == "record":
            return await self._computed_first(caller, operation, parameters, call)
        async with self.admission.place(caller.key.account):
            return await self.reserved(caller, call, lambda _: self._fetched(caller, operation, parameters))

    def call(
        self, caller: Caller, operation: str, price: int, inputs: int, promise: Idempotency | None
    ) -> Call:
        """Return what is to be paid for."""
        return Call(caller.key, operation, caller.record.request_id, price, inputs, promise)

    async def _fetched(
        self, caller: Caller, operation: Operation, parameters: Mapping[str, Any]
    ) -> tuple[Answer, int]:
        result = await self.compute(caller, operation, parameters)
        return self._answer(caller, operation, result), self.price(operation) if result.ok else 0

    def _answer(self, caller: Caller, operation: Operation, result: Result) -> Answer:
        content = envelope(operation, result, premium=caller.plan.premium)
        return Answer(result.status, content, retry_after=result.retry_after)

    async def _computed_first(
        self, caller: Caller, operation: Operation, parameters: Mapping[str, Any], call: Call
    ) -> Answer:
        result = self.engine.compute_record(operation, parameters)
        if result is None:
            result = await self.compute(caller, operation, parameters)
        answer = self._answer(caller, operation, result)
        if not result.ok:
            return answer
        saved = await pack_answer(answer.envelope) if call.idempotency else None
        paid = await self.accounts.charge(call, saved)
        if isinstance(paid, Receipt):
            self.paid(caller, paid)
            answer.remaining = paid.remaining
            return answer
        return await self.instead(paid, call)

    async def reserved(
        self, caller: Caller, call: Call, work: Callable[[Reservation], Awaitable[tuple[Answer, int]]]
    ) -> Answer:
        """Hold credits, do the work with them, and charge what it says it used.

        Parameters
        ----------
        caller : Caller
            Who pays.
        call : Call
            For what.
        work : callable
            Gets what is held; returns the answer, and the credits to charge.
        """
        held = await self.accounts.reserve(call)
        if not isinstance(held, Reservation):
            return await self.instead(held, call)
        try:
            answer, used = await work(held)
            saved = await pack_answer(answer.envelope) if call.idempotency and used else None
        except BaseException:
            await to_the_end(self.accounts.settle(held, 0, None))
            raise
        try:
            paid = await to_the_end(self.accounts.settle(held, used, saved))
        except AccountsError:
            self._return_later(held)  # the answer is not sent: it must cost nothing
            raise
        self.paid(caller, paid)
        answer.remaining = paid.remaining
        return answer

    def _return_later(self, held: Reservation) -> None:
        """Return what is held once the accounts can be reached again."""

        async def return_it() -> None:
            for pause in RETURN_PAUSES:
                await asyncio.sleep(pause)
                with suppress(AccountsError):
                    await self.accounts.settle(held, 0, None)
                    return

        task = asyncio.create_task(return_it())
        self._returning.add(task)
        task.add_done_callback(self._returning.discard)

    def paid(self, caller: Caller, receipt: Receipt) -> None:
        """Take note of what was charged."""
        caller.record.credits += receipt.charged
        if receipt.notice is not None:
            self._notice(caller.key, receipt.notice, receipt.remaining)

    async def instead(self, found: Replay | NoCredits | Conflict, call: Call) -> Answer:
        """Return the saved answer of an earlier call, or raise `Problem`."""
        if isinstance(found, Replay):
            return Answer(200, await unpack_answer(found.answer), found.remaining, headers=REPLAYED)
        raise conflict(found) if isinstance(found, Conflict) else no_credits(found, call.price)
