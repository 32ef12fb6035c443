"""What a call to the service ends in: a result, or a problem that stops it before the work.

Failed fetches and analyses become results here, 400, 500 or 503 by their keys; and results the envelope of
every response, with the fields that the caller's plan includes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from webanalytics.core.messages import ErrorType, Message, must_be
from webanalytics.errors import ParameterError
from webanalytics.fetching import FetchError
from webanalytics.operations import Operation

TYPE_FIELD, KEY_FIELD = "errorType", "errorKey"
"""The fields next to the status of a failed item of a batch or a GraphQL error."""

_TYPES: Mapping[int, ErrorType] = {400: "invalid", 429: "service", 500: "service", 503: "service"}

CODE_FIELD = "code"
"""What answers about images hold besides: the status."""

ANALYSIS_RETRY_SECONDS = 30.0
"""After how long an analysis that took too long may be tried again: the machine may be less busy then."""

UNREACHABLE_NOW = frozenset(
    ("lookup_failed", "refused", "interrupted", "connect_timeout", "timeout", "robots_unreadable")
)
"""Keys of failed fetches that may have passed by the next try."""

# A service names kinds of failures in its first words, which are part of its contract.
_SAID: Mapping[ErrorType | None, ErrorType] = {"connection": "refused", "refused": "http"}


def error_type(status: int, failure: Message | str | None) -> ErrorType | None:
    """Return the type of a failure; for a finished sentence, that of its status."""
    if not isinstance(failure, Message):
        return _TYPES.get(status)
    return _SAID.get(failure.error_type, failure.error_type)


@dataclass(slots=True)
class Result:
    """What one operation answered for one input: the envelope, and the status a single call has."""

    status: int  # HTTP status of a single call: 200, 400, 403, 429, 500 or 503
    # the operation's fields by name, Premium ones included; None on failure
    data: Mapping[str, Any] | None = None
    # what names the parameter to change, as a message or a finished sentence; None on success
    failure: Message | str | None = None
    retry_after: float | None = None  # seconds after which a retry may succeed, if known

    @property
    def error(self) -> str | None:
        """The sentence of a failure; None on success."""
        return None if self.failure is None else str(self.failure)

    @property
    def error_fields(self) -> dict[str, str]:
        """Type and key of a failure, as given next to the status in batches and GraphQL."""
        kind, key = error_type(self.status, self.failure), getattr(self.failure, "key", None)
        named = ((TYPE_FIELD, kind), (KEY_FIELD, key))
        return {name: value for name, value in named if value is not None}

    @property
    def ok(self) -> bool:
        """Whether the call succeeded and has to be charged."""
        return self.status == 200


class Problem(Exception):  # noqa: N818 - an answer more than an error
    """A request that ends without work done; it becomes an answer, never a traceback."""

    def __init__(
        self,
        status: int,
        failure: Message | str,  # what names what to change, as a message or a finished sentence
        *,
        retry_after: float | None = None,  # seconds, for the ``retry-after`` header
        headers: Mapping[str, str] | None = None,  # further headers of the answer
    ) -> None:
        super().__init__(str(failure))
        self.status = status
        self.failure = failure
        self.retry_after = retry_after
        self.headers = dict(headers or {})

    @property
    def result(self) -> Result:
        """The same as the result of one input among several."""
        return Result(self.status, None, self.failure, self.retry_after)

    @property
    def sentence(self) -> str:
        """One sentence naming what to change."""
        return str(self.failure)


@dataclass(slots=True)
class Record:
    """What one request was, for its log line and the metrics."""

    request_id: str  # the edge's identifier of the request
    started: float = field(default_factory=monotonic)  # when it began, by `time.monotonic`
    key: str = ""  # first eight characters of the key, empty where there was none
    operation: str = "-"  # name of the operation, ``graphql``, the name of a public page, or ``-``
    status: int = 0  # HTTP status answered
    credits: int = 0  # credits charged
    inputs: int = 1  # inputs of a batch, operations of a query, otherwise 1
    notes: dict[str, Any] = field(default_factory=dict)


def fetch_failure(error: FetchError) -> Result:
    """Return 503 for a page that cannot be had for now, 400 for one that cannot be had at all.

    >>> fetch_failure(FetchError("status", {"parameter": "url", "status": 502}, http_status=502)).status
    503
    >>> fetch_failure(FetchError("status", {"parameter": "url", "status": 404}, http_status=404)).status
    400
    """
    for_now = error.key in UNREACHABLE_NOW
    if error.key == "status":
        for_now = error.http_status == 429 or (error.http_status or 0) >= 500
    return Result(503 if for_now else 400, None, error.message)


def analysis_failure(operation: Operation, message: Message) -> Result:
    """Return 400 for content that cannot be analysed, 500 for an analysis that failed by itself.

    A failure that a parameter would mend which the service does not have is one of the subject.

    >>> from webanalytics.operations import OPERATIONS
    >>> message = Message("national_phone", {"parameter": "phone", "needs": "region"})
    >>> analysis_failure(OPERATIONS["phone"], message).error
    'The `phone` parameter must be a valid phone number in E.164 format.'
    """
    if message.key == "analysis_failed":
        name = message.values.get("parameter", operation.subject)
        return Result(500, None, Message("call_analysis_failed", {"parameter": name}))
    if _is_local(operation, message.values.get("needs")):
        return Result(400, None, _wrong_subject(operation))
    return Result(400, None, message)


def argument_failure(operation: Operation, error: ParameterError) -> Result:
    """Return 400 for an argument that the analysis refused."""
    if _is_local(operation, error.parameter):
        return Result(400, None, _wrong_subject(operation))
    return Result(400, None, error.message or str(error))


def _is_local(operation: Operation, name: object) -> bool:
    """Return whether a parameter is one that the service does not have."""
    return any(item.local and name in (item.name, item.keyword) for item in operation.parameters)


def _wrong_subject(operation: Operation) -> Message:
    return must_be(operation.subject, operation.parameter(operation.subject).expectation)


def service_failure(operation: Operation) -> Result:
    """Return the result of a failure of the service itself."""
    return Result(500, None, Message("call_failed", {"parameter": operation.subject}))


def visible_fields(operation: Operation, premium: bool) -> tuple[str, ...]:
    """Return the fields that a plan sees of an operation, in order.

    >>> from webanalytics.operations import OPERATIONS
    >>> visible_fields(OPERATIONS["dane"], premium=False)
    ('raw_record', 'parsed', 'validation')
    """
    fields = (field for field in operation.fields if not field.extra and (premium or not field.premium))
    return tuple(field.name for field in fields if not field.path)


def failure(sentence: str) -> dict[str, Any]:
    """Return the envelope of a failure."""
    return {"status": "error", "error": sentence, "data": None}


def refusal(operation: Operation | None, status: int, sentence: str) -> dict[str, Any]:
    """Return the envelope of a request that ended before any work."""
    answer = failure(sentence)
    if operation is not None and operation.kind == "image":
        answer[CODE_FIELD] = status
    return answer


def success(data: Any) -> dict[str, Any]:
    """Return the envelope of a success."""
    return {"status": "ok", "error": None, "data": data}


def envelope(operation: Operation, result: Result, *, premium: bool) -> dict[str, Any]:
    """Return the envelope of one result, with the fields that the plan includes and no others."""
    if not result.ok or result.data is None:
        return refusal(operation, result.status, result.error or "The service failed.")
    data = result.data
    answer = success({name: data[name] for name in visible_fields(operation, premium) if name in data})
    if operation.kind == "image":
        answer[CODE_FIELD] = result.status
    return answer
