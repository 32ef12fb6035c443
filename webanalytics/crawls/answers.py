"""Answers that arrive operation by operation, joined to answers about pages."""

from __future__ import annotations

from collections.abc import Mapping

from webanalytics.core.outcomes import JobResult
from webanalytics.runs.frames.build import JoinedOutcomes


def whole(number: int, parts: Mapping[int, JobResult] | None, count: int) -> JobResult | None:
    """Return the answer about a page whose operations, of which the last is `OUTLINKS`, are all answered.

    A page that could not be fetched has no links.
    """
    if parts is None or not all(place in parts for place in range(count - 1)):
        return None
    apart = parts.get(count - 1)
    if apart is None and any(part.outcomes[0].data is not None for part in parts.values()):
        return None
    known = [part.fetched for part in parts.values() if part.fetched is not None]
    fetched = next((item for item in known if item.final_url is not None), known[0] if known else None)
    outcomes = JoinedOutcomes(tuple(parts[place].outcomes for place in range(count - 1)))
    return JobResult(number, outcomes, fetched, apart=None if apart is None else apart.outcomes)


class Joining:
    """Collects the parts of answers, each to so many operations."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._parts: dict[int, dict[int, JobResult]] = {}

    def add(self, answer: JobResult) -> JobResult | None:
        """Take an answer or a part of one, and return it once it is whole."""
        if answer.position is None:
            return answer
        parts = self._parts.setdefault(answer.number, {})
        parts[answer.position] = answer
        if len(parts) < self._count:
            return None
        del self._parts[answer.number]
        return whole(answer.number, parts, self._count)
