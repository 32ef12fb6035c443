"""What a hosted API does not answer of the pages that it fetched: read here from the HTML that it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from webanalytics.backends.answering import worker_count
from webanalytics.backends.extracting import extracted
from webanalytics.operations import AUDIT_PAGES, FACTS, METADATA
from webanalytics.outcomes import JobResult, Outcome, PackedOutcomes, outcome_of
from webanalytics.workers.pool import WorkerDiedError, WorkerPool

BODY = "responseBody"
_METADATA, _FACTS = AUDIT_PAGES.index(METADATA), AUDIT_PAGES.index(FACTS)
_EXTRACT = len(AUDIT_PAGES)


class FactsOfBodies:
    """Adds the facts of a page, and what users extract, to the answer about its metadata with the HTML."""

    def __init__(
        self, options: Mapping[str, Any], *, keep: bool, extract: Mapping[str, Any] | None = None
    ) -> None:
        self._options = options
        self._keep = keep
        self._extract = extract
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
            facts = (await self._facts(outcome),) if outcome.data is not None else (outcome,)
            more = [] if self._extract is None else [await self._extracted(answer.number, outcome)]
            if outcome.data is not None and outcome.data.get(BODY) and not self._keep:
                packed = PackedOutcomes.pack([{**outcome.data, BODY: ""}])
                answer = replace(answer, outcomes=PackedOutcomes(packed))
            found += [answer, JobResult(answer.number, facts, position=_FACTS), *more]
        return found

    async def _extracted(self, number: int, outcome: Outcome) -> JobResult:
        page = None if outcome.data is None else _page(outcome.data)
        if page is None or self._extract is None:
            return JobResult(number, (outcome if outcome.data is None else Outcome({}),), position=_EXTRACT)
        answer = await extracted(await self._workers(), page, self._extract)
        return JobResult(number, (outcome_of(answer),), position=_EXTRACT)

    async def _workers(self) -> WorkerPool:
        if self._pool is None:
            pool = WorkerPool(worker_count(self._options["workers"]), self._options["worker_memory"])
            self._pool = await self._stack.enter_async_context(pool)
        return self._pool

    async def _facts(self, outcome: Outcome) -> Outcome:
        page = _page(outcome.data or {})
        if page is None:
            return Outcome({})
        pool = await self._workers()
        arguments: tuple[Any, ...] = ({FACTS.name: FACTS.analysis}, {FACTS.name: {}}, page)
        try:
            packed = await pool.run("page", (FACTS.analysis,), arguments, self._options["parse_timeout"])
        except (TimeoutError, WorkerDiedError):
            return Outcome({})
        facts = PackedOutcomes(packed)[0]
        return facts if facts.data is not None else Outcome({})


def _page(data: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the page in an answer about metadata, None if it is not there."""
    body = data.get(BODY)
    if not isinstance(body, str) or not body:
        return None
    url, final = str(data.get("requestUrl") or ""), str(data.get("url") or "")
    return body.encode("utf-8", "replace"), url, final, "text/html; charset=utf-8"
