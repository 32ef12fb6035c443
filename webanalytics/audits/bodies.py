"""Facts and links of pages that a hosted API has fetched: read on this machine from its HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from webanalytics.backends.answering import worker_count
from webanalytics.operations import CRAWL_PAGES, FACTS, METADATA, Operation
from webanalytics.outcomes import JobResult, Outcome, PackedOutcomes
from webanalytics.workers.pool import WorkerDiedError, WorkerPool

BODY = "responseBody"
_METADATA = CRAWL_PAGES.index(METADATA)


class FactsOfBodies:
    """Adds the facts of a page to the answer about its metadata, if that includes the HTML.

    ``read`` names the operations of `CRAWL_PAGES` that no service has.
    """

    def __init__(
        self, options: Mapping[str, Any], *, keep: bool, read: tuple[Operation, ...] = (FACTS,)
    ) -> None:
        self._read = read
        self._options = options
        self._keep = keep
        self._stack = AsyncExitStack()
        self._pool: WorkerPool | None = None

    async def __aenter__(self) -> FactsOfBodies:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def add(self, group: Sequence[JobResult]) -> list[JobResult]:
        """Return the answers, and one more for each about metadata."""
        found: list[JobResult] = []
        for answer in group:
            if answer.position != _METADATA:
                found.append(answer)
                continue
            outcome = answer.outcomes[0]
            facts = await self._facts(outcome) if outcome.data is not None else [outcome] * len(self._read)
            if outcome.data is not None and outcome.data.get(BODY) and not self._keep:
                packed = PackedOutcomes.pack([{**outcome.data, BODY: ""}])
                answer = replace(answer, outcomes=PackedOutcomes(packed))
            found.append(answer)
            for operation, one in zip(self._read, facts, strict=True):
                place = CRAWL_PAGES.index(operation)
                found.append(JobResult(answer.number, (one,), position=place))
        return found

    async def _facts(self, outcome: Outcome) -> list[Outcome]:
        data = outcome.data or {}
        body = data.get(BODY)
        if not isinstance(body, str) or not body:
            return [Outcome({})] * len(self._read)
        if self._pool is None:
            pool = WorkerPool(worker_count(self._options["workers"]), self._options["worker_memory"])
            self._pool = await self._stack.enter_async_context(pool)
        url, final = str(data.get("requestUrl") or ""), str(data.get("url") or "")
        page = (body.encode("utf-8", "replace"), url, final, "text/html; charset=utf-8")
        paths = {operation.name: operation.analysis for operation in self._read}
        arguments: tuple[Any, ...] = (paths, {name: {} for name in paths}, page)
        try:
            packed = await self._pool.run(
                "page", tuple(paths.values()), arguments, self._options["parse_timeout"]
            )
        except (TimeoutError, WorkerDiedError):
            return [Outcome({})] * len(self._read)
        return [facts if facts.data is not None else Outcome({}) for facts in PackedOutcomes(packed)]
