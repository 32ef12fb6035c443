"""Batches: many inputs of one operation in one request, each with its own result and status.

`app` checks the list and runs a `Batch`; each input goes through `Calls` as a single call would.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from webanalytics.core.messages import Message, required
from webanalytics.operations import Operation
from webanalytics.service.accounts.base import NoCredits, Reservation
from webanalytics.service.billing.calls import Answer, Caller, Calls
from webanalytics.service.billing.payment import HeldCredits, idempotency, no_credits
from webanalytics.service.parameters import check_parameters
from webanalytics.service.results import Problem, Result, envelope, success

STATUS_FIELD = "statusCode"
TURN_SECONDS = 0.01
"""Seconds that inputs without fetching are computed before other requests are served."""


def check_inputs(body: Mapping[str, Any], most: int) -> list[Any]:
    """Return the inputs of a batch.

    Raises
    ------
    Problem
        400 naming ``inputs``.
    """
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
        promise = idempotency(
            caller.idempotency_key,
            caller.api_key,
            f"{self._operation.path}/batch",
            [given.failure if isinstance(given, Result) else given for given in self._inputs],
        )
        if not open_inputs:
            return Answer(200, self._envelope())
        call = self._calls.call(caller, self._operation.name, self._price, open_inputs, promise)
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
        if not await credits_held.take(self._price):
            return no_credits(NoCredits(left), self._price).result
        used = False
        try:
            result: Result | None = None
            if self._operation.kind == "record":
                result = self._calls.engine.compute_record(self._operation, parameters)
            if result is None:
                result = await self._calls.compute(self._caller, self._operation, parameters)
            used = result.ok
        finally:
            credits_held.give(self._price, used=used)
        return result

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
