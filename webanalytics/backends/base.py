"""What every backend answers: jobs go in, the service's envelope comes out for each."""

from __future__ import annotations

import hashlib
import pickle
import zlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
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
    redirects : tuple of str or None
        The URLs passed through on the way, the first one submitted.
    http_status : int or None
        Status of the last answer.
    elapsed : float or None
        Seconds from the start of the fetch to its last byte.
    bytes : int or None
        Size of the body after decompression.
    content_type : str or None
        The Content-Type header, "" where there was none.
    x_robots_tag : str or None
        All X-Robots-Tag headers, joined with ", "; "" where there was none.
    """

    final_url: str | None = None
    redirects: tuple[str, ...] | None = ()
    http_status: int | None = None
    elapsed: float | None = None
    bytes: int | None = None
    content_type: str | None = None
    x_robots_tag: str | None = None


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
    if subject is None:
        raise RowError(f"The `{operation.subject}` parameter is required.", "invalid")
    if subject is UNUSABLE:
        raise RowError(operation.parameter(operation.subject).sentence(), "invalid")


def digest(subject: Any) -> str:
    """Return what stands for an input in checkpoints and requests: a SHA-256 in hexadecimal.

    Examples
    --------
    >>> digest("https://example.org/") == digest("https://example.org/")
    True
    >>> digest("a") == digest(b"a")
    False
    """
    if isinstance(subject, SavedPage):
        html = subject.html if isinstance(subject.html, bytes) else _utf8(subject.html)
        kind, content = "page", _utf8(subject.url) + b"\0" + html
    elif isinstance(subject, bytes):
        kind, content = "bytes", subject
    elif isinstance(subject, (str, Path)):
        kind, content = "str" if isinstance(subject, str) else "path", _utf8(str(subject))
    elif isinstance(subject, Unusable):
        kind, content = "unusable", b""
    else:
        kind, content = "missing", b""
    return hashlib.sha256(kind.encode() + b"\0" + content).hexdigest()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


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
    wanted : tuple of int, optional
        Positions of the operations that are still to be answered; None for all.
    """

    number: int
    subject: Any
    wanted: tuple[int, ...] | None = None


@dataclass(slots=True)
class Report:
    """What a backend tells of a run beside its answers.

    Attributes
    ----------
    used : int
        Credits that were charged for this run's answers.
    left : int or None
        Credits left on the account, as last heard.
    needed : int
        Credits that the inputs would need which were not asked for.
    why : str
        Why some inputs were not asked for; empty where all were.
    left_out : set of str
        Premium fields that the account's plan does not include.
    note : callable
        Takes a few words that are shown beside the progress bar.
    """

    used: int = 0
    left: int | None = None
    needed: int = 0
    why: str = ""
    left_out: set[str] = field(default_factory=set)
    note: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked about every job of a run.

    Attributes
    ----------
    operations : tuple of Operation
        One, or those of an audit.
    settings : Mapping
        Checked settings by operation name.
    options : Mapping
        The run's options, all of them.
    given : Mapping
        The options that the call itself gave.
    identity : str
        The same for a run and those that resume it: requests can be recognised by it.
    report : Report
        Filled in by the backend.
    """

    operations: tuple[Operation, ...]
    settings: Mapping[str, Mapping[str, Any]]
    options: Mapping[str, Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    identity: str = ""
    report: Report = field(default_factory=Report)


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
    """What came back for one job.

    Attributes
    ----------
    number : int
        Number of the job.
    outcomes : sequence of Outcome
        One for each operation of the task, or the one at `position`.
    fetched : Fetched, optional
        How the page was had.
    position : int, optional
        Which operation the outcome belongs to; None where all are answered.
    """

    number: int
    outcomes: Sequence[Outcome]
    fetched: Fetched | None = None
    position: int | None = None


class Backend(Protocol):
    """Where the work is done.

    Attributes
    ----------
    name : str
        What the backend is called in messages and checkpoints.
    paid : bool
        Whether answers cost something: then each group is kept safe before further work is begun.
    """

    name: str
    paid: bool

    def check(self, task: Task) -> None:
        """Raise `ParameterError` for a task that this backend cannot do, before any work."""
        ...

    def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[Answer], None]:
        """Yield the answers in groups, as they come; every job gets all the outcomes it wants."""
        ...
