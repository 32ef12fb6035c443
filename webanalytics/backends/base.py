"""What every backend answers: jobs go in, the service's envelope comes out for each."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Protocol, overload

from webanalytics.errors import ErrorType, RowError
from webanalytics.operations import Operation


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one operation answered for one input; the service's envelope in Python.

    Attributes
    ----------
    data : Mapping or None
        The operation's fields by name, None on failure.
    error : str or None
        One sentence naming the parameter to change, None on success.
    error_type : ErrorType or None
        The kind of failure.
    """

    data: Mapping[str, Any] | None
    error: str | None = None
    error_type: ErrorType | None = None

    @classmethod
    def failed(cls, error: RowError) -> Outcome:
        """Return the outcome of an input that cannot be answered."""
        return cls(None, error.sentence, error.error_type)

    @property
    def status(self) -> Literal["ok", "error"]:
        """``ok`` or ``error``, as the envelope spells it."""
        return "ok" if self.error is None else "error"


@dataclass(frozen=True, slots=True)
class Fetched:
    """How a page was had; unknown parts are None.

    Attributes
    ----------
    final_url : str or None
        Where the fetch ended.
    redirects : tuple of str
        The URLs passed through on the way, the first one submitted.
    http_status : int or None
        Status of the last answer.
    elapsed : float or None
        Seconds from the start of the fetch to its last byte.
    bytes : int or None
        Size of the body after decompression.
    """

    final_url: str | None = None
    redirects: tuple[str, ...] = ()
    http_status: int | None = None
    elapsed: float | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page that is already at hand: nothing is fetched for it."""

    url: str
    html: str | bytes


class Unusable(Enum):
    """What stands for an input of a type that the operation cannot take, such as a number for a URL."""

    UNUSABLE = "unusable"


UNUSABLE = Unusable.UNUSABLE


def check_subject(subject: Any, operation: Operation) -> None:
    """Raise `RowError` for an input that is missing or of another kind."""
    parameter = operation.parameter(operation.subject)
    if subject is None:
        raise RowError(f"The `{parameter.name}` parameter is required.", "invalid")
    if subject is UNUSABLE:
        raise RowError(parameter.sentence(), "invalid")


@dataclass(frozen=True, slots=True)
class Job:
    """One distinct input.

    Attributes
    ----------
    number : int
        Position among the jobs of a run.
    subject : object
        URL, path, `SavedPage`, record, message, number, or the bytes of an image; None for a missing
        input and `UNUSABLE` for one of another kind.
    """

    number: int
    subject: Any


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked about every job of a run.

    Attributes
    ----------
    operations : tuple of Operation
        One, or the four of an audit.
    settings : Mapping
        Checked settings by operation name.
    options : Mapping
        The run's options, all of them.
    """

    operations: tuple[Operation, ...]
    settings: Mapping[str, Mapping[str, Any]]
    options: Mapping[str, Any]


class PackedOutcomes(Sequence[Outcome]):
    """Outcomes as compressed bytes, unpacked at each access.

    An answer about a page is thousands of small Python objects. Until its frame is built it is kept
    in this form, which takes a fifth of the memory and leaves no holes in the heap.
    """

    __slots__ = ("_packed",)

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    @staticmethod
    def pack(results: Sequence[tuple[Any, str | None, ErrorType | None]]) -> bytes:
        """Return data, sentence and error type of each outcome as bytes."""
        return zlib.compress(pickle.dumps(results, protocol=5), level=1)

    def _unpack(self) -> list[Outcome]:
        results = pickle.loads(zlib.decompress(self._packed))  # noqa: S301 - packed by `pack`
        return [Outcome(*result) for result in results]

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self._unpack())

    def __len__(self) -> int:
        return len(self._unpack())

    @overload
    def __getitem__(self, index: int) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Outcome]: ...
    def __getitem__(self, index: int | slice) -> Outcome | Sequence[Outcome]:
        return self._unpack()[index]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one job: one outcome for each operation asked for."""

    number: int
    outcomes: Sequence[Outcome]
    fetched: Fetched | None = None


class Backend(Protocol):
    """Where the work is done."""

    name: str

    def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Answer, None]:
        """Yield one answer for each job, in the order they are finished."""
        ...
