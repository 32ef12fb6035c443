"""GraphQL requests between the HTTP application and the endpoint: credits are reserved, operations called."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from webanalytics.operations import Operation
from webanalytics.service.accounts.base import NoCredits, Reservation
from webanalytics.service.billing.calls import Answer, Caller, Calls
from webanalytics.service.billing.payment import HeldCredits, idempotency, no_credits
from webanalytics.service.graphql.endpoint import GraphQLEndpoint, Prepared
from webanalytics.service.headers import check_operation
from webanalytics.service.parameters import check_parameters
from webanalytics.service.results import Problem, Result

OPERATION = "graphql"


class Queries:
    """Answers GraphQL requests."""

    def __init__(self, calls: Calls, endpoint: GraphQLEndpoint) -> None:
        self._calls = calls
        self._endpoint = endpoint

    async def run(self, caller: Caller, body: Mapping[str, Any]) -> Answer:
        """Answer one request; each operation in it that succeeds costs its credits.

        Raises
        ------
        Problem
            400 for a wrong query, 429 where no credits are left.
        """
        prepared = self._endpoint.parse(body.get("query"), body.get("variables"), body.get("operationName"))
        caller.record.inputs = len(prepared.calls)
        cost = sum(self._calls.price(operation) for operation, _ in prepared.calls.values())
        promise = idempotency(
            caller.idempotency_key,
            caller.api_key,
            OPERATION,
            [body.get("query"), body.get("variables"), body.get("operationName")],
        )
        if not cost:
            answer, _ = await self._work(caller, prepared, Reservation(0, 0, 0))
            return answer
        call = self._calls.call(caller, OPERATION, 1, cost, promise)
        async with self._calls.admission.place(caller.key.account):
            return await self._calls.reserved(caller, call, lambda held: self._work(caller, prepared, held))

    async def _work(self, caller: Caller, prepared: Prepared, held: Reservation) -> tuple[Answer, int]:
        credits_held = HeldCredits(held.credits)
        window = asyncio.Semaphore(self._calls.settings.batch_concurrency)

        async def run(operation: Operation, given: dict[str, Any]) -> Result:
            try:
                check_operation(caller.key, operation)
                parameters = check_parameters(operation, given)
            except Problem as problem:
                return problem.result
            price = self._calls.price(operation)
            if not await credits_held.take(price):
                return no_credits(NoCredits(held.remaining), price).result
            used = False
            try:
                async with window:
                    result = await self._calls.compute(caller, operation, parameters)
                used = result.ok
            finally:
                credits_held.give(price, used=used)
            return result

        content = await self._endpoint.execute(prepared, run, premium=caller.plan.premium)
        return Answer(200, content), credits_held.spent
