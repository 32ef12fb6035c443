"""What a call to the service ends in: a result, or a problem that stops it before the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """What one operation answered for one input: the envelope, and the status a single call has.

    Attributes
    ----------
    status : int
        HTTP status of a single call: 200, 400, 403, 429, 500 or 503.
    data : Mapping or None
        The operation's fields by name, Premium ones included; None on failure.
    error : str or None
        One sentence naming the parameter to change; None on success.
    retry_after : float or None
        Seconds after which a further try may do, where that is known.
    """

    status: int
    data: Mapping[str, Any] | None = None
    error: str | None = None
    retry_after: float | None = None

    @property
    def ok(self) -> bool:
        """Whether the call succeeded and is to be charged."""
        return self.status == 200


class Problem(Exception):  # noqa: N818 - an answer more than an error
    """A request that ends without work done; it becomes an answer, never a traceback.

    Parameters
    ----------
    status : int
        HTTP status.
    sentence : str
        One sentence naming what to change.
    retry_after : float, optional
        Seconds, for the ``retry-after`` header.
    headers : Mapping, optional
        Further headers of the answer.
    """

    def __init__(
        self,
        status: int,
        sentence: str,
        *,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.retry_after = retry_after
        self.headers = dict(headers or {})

    @property
    def result(self) -> Result:
        """The same as the result of one input among several."""
        return Result(self.status, None, self.sentence, self.retry_after)


@dataclass(slots=True)
class Record:
    """What one request was, for its log line and the metrics.

    Attributes
    ----------
    request_id : str
        The edge's identifier of the request.
    started : float
        Clock of the event loop, seconds.
    key : str
        First eight characters of the key, empty where there was none.
    operation : str
        Name of the operation, ``graphql``, the name of a public page, or ``-``.
    status : int
        HTTP status answered.
    credits : int
        Credits charged.
    inputs : int
        Inputs of a batch, operations of a query, otherwise 1.
    """

    request_id: str
    started: float
    key: str = ""
    operation: str = "-"
    status: int = 0
    credits: int = 0
    inputs: int = 1
    notes: dict[str, Any] = field(default_factory=dict)
