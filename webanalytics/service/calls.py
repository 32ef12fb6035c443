"""One call of one operation: paid for when it succeeds, and only then.

`app` calls it with checked parameters; it asks `accounts` for credits and `engine` for the work.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from webanalytics.core.messages import Message, required
from webanalytics.operations import Operation
from webanalytics.service.accounts.base import (
    AccountsError,
    Call,
    Conflict,
    Key,
    NoCredits,
    Receipt,
    Replay,
    Reservation,
)
from webanalytics.service.accounts.store import Accounts
from webanalytics.service.admission import Admission, ByteBudget
from webanalytics.service.answer_formats import render
from webanalytics.service.engine import Engine
from webanalytics.service.parameters import check_parameters
from webanalytics.service.payment import (
    HeldCredits,
    conflict,
    idempotency,
    no_credits,
    pack_answer,
    to_the_end,
    unpack_answer,
)
from webanalytics.service.results import Problem, Record, Result, envelope, success
from webanalytics.service.settings import Plan, ServiceSettings

REPLAYED = {"idempotency-replayed": "true"}

FULL_SECONDS = 1.0
RETURN_PAUSES = (1.0, 5.0, 30.0, 120.0)
"""Seconds before each attempt to return credits that could not be returned at once."""
LIGHT = 1_000_000
"""Characters of a result from which it is measured in a thread."""


async def weight(operation: Operation, result: Result, *, premium: bool) -> int:
    """Return the bytes of a result in JSON, as a plan sees it."""
    content = envelope(operation, result, premium=premium)
    texts = sum(len(value) for value in (content["data"] or {}).values() if isinstance(value, str))
    if texts < LIGHT:
        return len(render(content, "json")[0])
    return len((await asyncio.to_thread(render, content, "json"))[0])


@dataclass(slots=True)
class Caller:
    """Who makes a request, and what holds for all of it."""

    key: Key  # the key as it is stored
    plan: Plan  # the account's plan
    record: Record  # what is logged
    idempotency_key: str | None = None  # the ``Idempotency-Key`` header
    fresh: bool = False  # whether pages are to be fetched anew
    base_url: str = ""  # public address of the service, for links
    answer_bytes: int = 0  # bytes of results that are held for the answer


@dataclass(slots=True)
class Answer:
    """An answer before it has a format."""

    status: int
    envelope: Mapping[str, Any]
    remaining: int | None = None
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    failure: Message | str | None = None


Notice = Callable[[Key, int, int], None]
"""Is notified of a key's account, the percentage of its credits reached, and the credits left."""


class Calls:
    """Makes calls and charges them."""

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
        """Return the result of one input; nothing is charged here."""
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
        """Return a result if there is room for it, in this answer and with all others."""
        settings = self.settings
        size = await weight(operation, result, premium=caller.plan.premium)
        most = settings.answer_bytes if caller.idempotency_key is None else settings.saved_bytes
        if caller.answer_bytes + size > most:
            shown = {"parameter": operation.subject, "limit": most}
            if caller.answer_bytes:
                return Result(503, None, Message("answer_full", shown), FULL_SECONDS)
            if size <= settings.answer_bytes:
                return Result(400, None, Message("answer_not_kept", {"limit": most}))
            return Result(400, None, Message("answer_large", shown))
        if not self.answers.take(caller.key.account, size):
            return Result(503, None, Message("answers_full"), FULL_SECONDS)
        caller.answer_bytes += size
        return result

    def sent(self, caller: Caller) -> None:
        """Note that an answer has been sent, or that its client has gone."""
        self.answers.give(caller.key.account, caller.answer_bytes)
        caller.answer_bytes = 0

    def single(
        self, caller: Caller, operation: Operation, parameters: Mapping[str, Any]
    ) -> Awaitable[Answer]:
        """Make one call, or raise `Problem` (409, 422, 429 or 503) before any work."""
        call = self.call(caller, operation.name, self.price(operation), 1, operation.path, parameters)
        if operation.kind == "record":
            return self._computed_first(caller, operation, parameters, call)
        return self._paid_first(caller, operation, parameters, call)

    def call(
        self, caller: Caller, operation: str, price: int, inputs: int, path: str, parameters: Any
    ) -> Call:
        """Return the call to be paid for; with an Idempotency-Key its path and parameters are remembered."""
        promise = idempotency(caller.idempotency_key, path, parameters)
        return Call(caller.key, operation, caller.record.request_id, price, inputs, promise)

    def _answer(self, caller: Caller, operation: Operation, result: Result) -> Answer:
        content = envelope(operation, result, premium=caller.plan.premium)
        return Answer(result.status, content, retry_after=result.retry_after, failure=result.failure)

    async def _paid_first(
        self, caller: Caller, operation: Operation, parameters: Mapping[str, Any], call: Call
    ) -> Answer:
        async def work(_: Reservation) -> tuple[Answer, int]:
            result = await self.compute(caller, operation, parameters)
            return self._answer(caller, operation, result), call.price if result.ok else 0

        async with self.admission.place(caller.key.account):
            return await self.reserved(caller, call, work)

    async def _computed_first(
        self, caller: Caller, operation: Operation, parameters: Mapping[str, Any], call: Call
    ) -> Answer:
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
        """Hold credits, do the work, and charge the credits that it reports as used."""
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
        """Return held credits once the accounts can be reached again."""

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
        """Record what was charged."""
        caller.record.credits += receipt.charged
        if receipt.notice is not None:
            self._notice(caller.key, receipt.notice, receipt.remaining)

    async def instead(self, found: Replay | NoCredits | Conflict, call: Call) -> Answer:
        """Return the saved answer of an earlier call, or raise `Problem`."""
        if isinstance(found, Replay):
            return Answer(200, await unpack_answer(found.answer), found.remaining, headers=REPLAYED)
        raise conflict(found) if isinstance(found, Conflict) else no_credits(found, call.price)


STATUS_FIELD = "statusCode"
TURN_SECONDS = 0.01
"""Seconds that inputs without fetching are computed before other requests are served."""


def check_inputs(body: Mapping[str, Any], most: int) -> list[Any]:
    """Return the inputs of a batch, or raise `Problem` 400 naming ``inputs``."""
    inputs = body.get("inputs")
    if inputs is None:
        raise Problem(400, required("inputs"))
    if not isinstance(inputs, list) or not 1 <= len(inputs) <= most:
        raise Problem(400, Message("batch_size", {"parameter": "inputs", "limit": most}))
    return inputs


def _checked(operation: Operation, given: Any) -> Mapping[str, Any] | Result:
    if not isinstance(given, dict):
        return Result(400, None, Message("batch_objects", {"parameter": "inputs"}))
    try:
        return check_parameters(operation, given)
    except Problem as problem:
        return problem.result


class Batch:
    """One batch in progress: `inputs` are the parameters of each call, unchecked."""

    def __init__(self, calls: Calls, caller: Caller, operation: Operation, inputs: Sequence[Any]) -> None:
        self._calls = calls
        self._caller = caller
        self._operation = operation
        self._price = calls.price(operation)
        self._inputs = [_checked(operation, given) for given in inputs]
        self._results: list[Result | None] = [
            given if isinstance(given, Result) else None for given in self._inputs
        ]

    async def run(self) -> Answer:
        """Answer every input; only successes are charged."""
        caller, open_inputs = self._caller, self._results.count(None)
        caller.record.inputs = len(self._inputs)
        if not open_inputs:
            return Answer(200, self._envelope())
        path = f"{self._operation.path}/batch"
        same = [given.failure if isinstance(given, Result) else given for given in self._inputs]
        call = self._calls.call(caller, self._operation.name, self._price, open_inputs, path, same)
        if self._operation.kind == "record":
            return await self._calls.reserved(caller, call, self._work)
        async with self._calls.admission.place(caller.key.account):
            return await self._calls.reserved(caller, call, self._work)

    async def _work(self, held: Reservation) -> tuple[Answer, int]:
        credits_held = HeldCredits(held.credits)
        waiting = iter([index for index, result in enumerate(self._results) if result is None])
        turn = time.monotonic()

        async def pull() -> None:
            nonlocal turn
            for index in waiting:
                self._results[index] = await self._one(index, credits_held, held.remaining)
                if time.monotonic() - turn > TURN_SECONDS:
                    await asyncio.sleep(0)
                    turn = time.monotonic()

        window = 1 if self._operation.kind == "record" else self._calls.settings.batch_concurrency
        async with asyncio.TaskGroup() as group:
            for _ in range(min(window, len(self._inputs))):
                group.create_task(pull())
        return Answer(200, self._envelope()), credits_held.spent

    async def _one(self, index: int, credits_held: HeldCredits, left: int) -> Result:
        parameters = self._inputs[index]
        assert not isinstance(parameters, Result)  # noqa: S101 - only open inputs get here
        return await credits_held.pay(
            self._price, left, lambda: self._calls.compute(self._caller, self._operation, parameters)
        )

    def _envelope(self) -> dict[str, Any]:
        premium = self._caller.plan.premium
        results = []
        succeeded = 0
        for result in self._results:
            assert result is not None  # noqa: S101 - every input has been answered
            succeeded += result.ok
            answer = envelope(self._operation, result, premium=premium)
            results.append({**answer, STATUS_FIELD: result.status, **result.error_fields})
        return success({"results": results, "succeeded": succeeded, "failed": len(results) - succeeded})
