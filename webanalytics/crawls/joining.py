"""Answers that arrive operation by operation, joined to answers about pages."""

from __future__ import annotations

from collections.abc import Mapping

from webanalytics.frames.build import JoinedOutcomes
from webanalytics.operations import AUDIT_PAGES, CRAWL_PAGES, OUTLINKS
from webanalytics.outcomes import JobResult

_OUTLINKS = CRAWL_PAGES.index(OUTLINKS)


def whole(number: int, parts: Mapping[int, JobResult] | None) -> JobResult | None:
    """Return the answer about a page whose operations are all answered, else None.

    A page that could not be fetched has no links.
    """
    if parts is None or not all(place in parts for place in range(len(AUDIT_PAGES))):
        return None
    apart = parts.get(_OUTLINKS)
    if apart is None and any(part.outcomes[0].data is not None for part in parts.values()):
        return None
    known = [part.fetched for part in parts.values() if part.fetched is not None]
    fetched = next((item for item in known if item.final_url is not None), known[0] if known else None)
    outcomes = JoinedOutcomes(tuple(parts[place].outcomes for place in range(len(AUDIT_PAGES))))
    return JobResult(number, outcomes, fetched, apart=None if apart is None else apart.outcomes)


class Joining:
    """Collects the parts of answers."""

    def __init__(self) -> None:
        self._parts: dict[int, dict[int, JobResult]] = {}

    def add(self, answer: JobResult) -> JobResult | None:
        """Take an answer or a part of one, and return it once it is whole."""
        if answer.position is None:
            return answer
        parts = self._parts.setdefault(answer.number, {})
        parts[answer.position] = answer
        if len(parts) < len(CRAWL_PAGES):
            return None
        del self._parts[answer.number]
        return whole(answer.number, parts)
