"""Failed work as results: which of the contract's statuses each kind of failure has."""

from __future__ import annotations

from webanalytics.backends.worker import UNEXPECTED
from webanalytics.errors import RowError
from webanalytics.fetching import FetchError
from webanalytics.operations import Operation
from webanalytics.service.results import Result

ANALYSIS_RETRY_SECONDS = 30.0
"""After how long an analysis that took too long may be tried again: the machine may be less busy then."""

UNREACHABLE_NOW = frozenset(
    ("lookup_failed", "refused", "interrupted", "connect_timeout", "timeout", "robots_unreadable")
)
"""Keys of the fetching sentences about what may have passed by the next try."""


def fetch_failure(error: FetchError) -> Result:
    """Return 503 for a page that cannot be had for now, 400 for one that cannot be had at all.

    Examples
    --------
    >>> fetch_failure(FetchError("It answered HTTP 502.", "http", http_status=502, key="status")).status
    503
    >>> fetch_failure(FetchError("It answered HTTP 404.", "http", http_status=404, key="status")).status
    400
    """
    for_now = error.key in UNREACHABLE_NOW
    if error.key == "status":
        for_now = error.http_status == 429 or (error.http_status or 0) >= 500
    return Result(503 if for_now else 400, None, error.sentence)


def analysis_failure(operation: Operation, error: RowError) -> Result:
    """Return 400 for content that cannot be analysed, 500 for an analysis that failed by itself.

    A sentence about a parameter that the service does not have becomes the one about the subject.
    """
    if UNEXPECTED in error.sentence:
        sentence = f"The service failed to analyse what the `{operation.subject}` parameter names."
        return Result(500, None, sentence)
    return Result(400, None, served_sentence(operation, error.sentence))


def served_sentence(operation: Operation, sentence: str) -> str:
    """Return a sentence that names only parameters which the service has.

    Examples
    --------
    >>> from webanalytics.operations import OPERATIONS
    >>> served_sentence(OPERATIONS["phone"], "The `phone` parameter must have a `region`.")
    'The `phone` parameter must be a valid phone number in E.164 format.'
    """
    if any(f"`{item.name}`" in sentence for item in operation.parameters if item.local):
        return operation.parameter(operation.subject).sentence()
    return sentence


def too_slow(operation: Operation, seconds: float) -> Result:
    """Return the result of content whose analysis went over its deadline."""
    sentence = (
        f"The `{operation.subject}` parameter names content that takes longer than {seconds:g} seconds "
        "to analyse."
    )
    return Result(503, None, sentence, ANALYSIS_RETRY_SECONDS)


def worker_died(operation: Operation) -> Result:
    """Return the result of content whose analysis ended its worker process."""
    sentence = f"The `{operation.subject}` parameter names content that ended its analysis."
    return Result(503, None, sentence, ANALYSIS_RETRY_SECONDS)


def failed(operation: Operation) -> Result:
    """Return the result of a failure of the service itself."""
    sentence = f"The service failed to work on the `{operation.subject}` parameter."
    return Result(500, None, sentence)
