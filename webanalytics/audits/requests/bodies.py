"""What a hosted API does not answer of the pages that it fetched: read here from the HTML it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from webanalytics.core.outcomes import JobResult, Outcome, PackedOutcomes, outcome_of
from webanalytics.operations import EXTRACT, METADATA, Operation
from webanalytics.runs.backends.content import extracted
from webanalytics.runs.workers.pool import WorkerDiedError, WorkerPool, worker_count

BODY = "responseBody"


class FactsOfBodies:
    """Adds what no service answers about a page to the answer about its metadata, if that has the HTML."""

    def __init__(
        self,
        options: Mapping[str, Any],
        *,
        keep: bool,  # whether the HTML stays in the answer
        operations: tuple[Operation, ...],  # all of the call, in the order of its outcomes
        read: tuple[Operation, ...],  # those that are answered here
        extract: Mapping[str, Any] | None = None,  # settings of `EXTRACT`
    ) -> None:
        self._options = options
        self._keep = keep
        self._places = {operation.name: place for place, operation in enumerate(operations)}
        self._read = tuple(operation for operation in read if operation is not EXTRACT)
        self._extract = extract if EXTRACT in read else None
        self._stack = AsyncExitStack()
        self._pool: WorkerPool | None = None

    async def __aenter__(self) -> FactsOfBodies:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def add(self, group: Sequence[JobResult]) -> list[JobResult]:
        """Return the answers, and further ones for each about metadata."""
        found: list[JobResult] = []
        for answer in group:
            if answer.position != self._places[METADATA.name]:
                found.append(answer)
                continue
            outcome = answer.outcomes[0]
            more = await self._more(outcome)
            if outcome.data is not None and outcome.data.get(BODY) and not self._keep:
                packed = PackedOutcomes.pack([{**outcome.data, BODY: ""}])
                answer = replace(answer, outcomes=PackedOutcomes(packed))
            found.append(answer)
            for name, one in more.items():
                found.append(JobResult(answer.number, (one,), position=self._places[name]))
        return found

    async def _more(self, outcome: Outcome) -> dict[str, Outcome]:
        """Return the outcomes of what is read here, by operation."""
        names = [operation.name for operation in self._read]
        if self._extract is not None:
            names.append(EXTRACT.name)
        if outcome.data is None:
            return dict.fromkeys(names, outcome)
        page = _page(outcome.data)
        if page is None:
            return dict.fromkeys(names, Outcome({}))
        found = await self._facts(page)
        if self._extract is not None:
            found[EXTRACT.name] = outcome_of(await extracted(await self._workers(), page, self._extract))
        return found

    async def _workers(self) -> WorkerPool:
        if self._pool is None:
            pool = WorkerPool(worker_count(self._options["workers"]), self._options["worker_memory"])
            self._pool = await self._stack.enter_async_context(pool)
        return self._pool

    async def _facts(self, page: tuple[Any, ...]) -> dict[str, Outcome]:
        pool = await self._workers()
        paths = {operation.name: operation.analysis for operation in self._read}
        arguments: tuple[Any, ...] = (paths, {name: {} for name in paths}, page)
        try:
            packed = await pool.run("page", tuple(paths.values()), arguments, self._options["parse_timeout"])
        except (TimeoutError, WorkerDiedError):
            return dict.fromkeys(paths, Outcome({}))
        found = zip(paths, PackedOutcomes(packed), strict=True)
        return {name: Outcome({}) if one.data is None else one for name, one in found}


def _page(data: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the page in an answer about metadata, None if it is not there."""
    body = data.get(BODY)
    if not isinstance(body, str) or not body:
        return None
    url, final = str(data.get("requestUrl") or ""), str(data.get("url") or "")
    return body.encode("utf-8", "replace"), url, final, "text/html; charset=utf-8"
