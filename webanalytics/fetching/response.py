"""What a fetch gives: a response, or an error that becomes a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from multidict import CIMultiDict

from webanalytics.errors import ErrorType, RowError


@dataclass(frozen=True, slots=True)
class Response:
    """A page as it was received.

    Attributes
    ----------
    url : str
        URL as submitted.
    final_url : str
        URL that answered, in the form in which it was asked for (ASCII, no fragment).
    redirects : tuple of str
        URLs passed through before `final_url`.
    http_status : int
        Status of the last answer, 200 to 299.
    content_type : str
        The Content-Type header, "" when there was none.
    headers : multidict.CIMultiDict
        Headers of the last answer; names in any case, ``getall`` for repeated ones. Set-Cookie is left out.
    content : bytes
        The body after decompression.
    elapsed : float
        Seconds from the first connection to the end of the body, over all redirects of the last try.
    """

    url: str
    final_url: str
    redirects: tuple[str, ...]
    http_status: int
    content_type: str
    headers: CIMultiDict[str] = field(repr=False)
    content: bytes = field(repr=False)
    elapsed: float


class FetchError(RowError):
    """A fetch that gave no page; see `webanalytics.errors.RowError`.

    Parameters
    ----------
    sentence : str
        One sentence naming the parameter to change.
    error_type : ErrorType
        The kind of failure.
    http_status : int or None
        Status of the last answer, None when there was none.
    final_url : str
        Where the fetch had got to, "" when the URL itself was refused.
    redirects : tuple of str
        URLs passed through before `final_url`.
    elapsed : float
        Seconds on the network in the last try.
    bytes : int
        Size of what had arrived of the body, after decompression.
    key : str
        Which sentence of `webanalytics.fetching.SENTENCES` it is: finer than the error type.
    """

    def __init__(
        self,
        sentence: str,
        error_type: ErrorType,
        *,
        http_status: int | None = None,
        final_url: str = "",
        redirects: tuple[str, ...] = (),
        elapsed: float = 0.0,
        bytes: int = 0,  # noqa: A002 - the name of the column
        key: str = "",
    ) -> None:
        super().__init__(sentence, error_type)
        self.key = key
        self.http_status = http_status
        self.final_url = final_url
        self.redirects = redirects
        self.elapsed = elapsed
        self.bytes = bytes

    def __reduce__(self) -> tuple[Any, ...]:
        # The third part is laid over __dict__: the keyword-only attributes survive pickling.
        return type(self), (self.sentence, self.error_type), dict(self.__dict__)


class Problem(Exception):  # noqa: N818 - it never reaches a user
    """Inside this package: something went wrong that `Fetcher` turns into a `FetchError`.

    It knows neither the parameter's name nor the redirects: only the one who asked does.
    """

    def __init__(
        self,
        key: str,
        *,
        http_status: int | None = None,
        received: int = 0,
        again: bool = False,
        retry_after: float | None = None,
        **details: Any,
    ) -> None:
        super().__init__(key)
        self.key = key
        self.http_status = http_status
        self.received = received
        self.again = again
        self.retry_after = retry_after
        self.details = details

    def once(self) -> Problem:
        """Return a fresh copy that is not tried again; for a problem kept and raised many times."""
        return Problem(self.key, http_status=self.http_status, **self.details)
