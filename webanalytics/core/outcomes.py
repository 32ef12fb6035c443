"""Jobs and their results: what workers and backends pass on, the service's envelope in Python."""

from __future__ import annotations

import hashlib
import pickle
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypedDict, overload

from webanalytics.core.messages import Message
from webanalytics.errors import ErrorType, RowError
from webanalytics.operations import Operation


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of one operation for one input; the service's envelope in Python."""

    # the operation's fields by name, None on failure; in an audit, what a page says that was sent with an
    # HTTP error
    data: Mapping[str, Any] | None
    error: str | None = None  # one sentence naming the parameter to change, None on success
    error_type: ErrorType | None = None  # the kind of failure
    # which sentence of `webanalytics.core.messages` it is; None where it comes from elsewhere
    key: str | None = field(default=None, compare=False)

    @classmethod
    def failed(cls, error: RowError | Message, data: Mapping[str, Any] | None = None) -> Outcome:
        """Return the outcome of an input that cannot be answered, with what is known of it all the same."""
        return cls(data, str(error), error.error_type, error.key)

    @property
    def status(self) -> Literal["ok", "error"]:
        """``ok`` or ``error``, as the envelope spells it."""
        return "ok" if self.error is None else "error"


Source = Literal["fetched", "saved", "archive", "rendered"]
"""The source of a page: its server, a file, a web archive, or a browser."""

Fact = Literal["http_status", "redirects", "headers", "robots"]
"""Facts that a page record may lack and a rule may need."""


class Certificate(TypedDict):
    """The certificate that a server showed: who issued it, and from when to when it is valid (ISO 8601)."""

    issuer: str
    not_before: str
    not_after: str


def read_certificate(cell: Any) -> Certificate | None:
    """Return a certificate from a cell or a file, bounded; None for anything else."""
    known = cell if isinstance(cell, Mapping) else {}
    issuer, begin, end = (known.get(name) for name in ("issuer", "not_before", "not_after"))
    if not (isinstance(issuer, str) and isinstance(begin, str) and isinstance(end, str)):
        return None
    return {"issuer": issuer[:200], "not_before": begin[:40], "not_after": end[:40]}


@dataclass(frozen=True, slots=True)
class Fetched:
    """How a page was fetched; unknown parts are None."""

    final_url: str | None = None  # where the fetch ended
    redirects: tuple[str, ...] | None = ()  # the URLs passed through on the way, the first one submitted
    http_status: int | None = None  # status of the last answer
    elapsed: float | None = None  # seconds from the start of the fetch to its last byte
    bytes: int | None = None  # size of the body after decompression
    content_type: str | None = None  # the Content-Type header, "" where there was none
    x_robots_tag: str | None = None  # all X-Robots-Tag headers, one a line; "" where there was none
    # of each redirect its status ("301", "302", ...), or "meta" for one in the page; empty where the way is
    # known but not its kinds
    redirect_kinds: tuple[str, ...] | None = None
    # the headers of the last answer as lines, Set-Cookie left out and bounded in length
    headers: str | None = None
    fetched_at: str | None = None  # when the page was fetched: ISO 8601, UTC
    source: Source = "fetched"  # the source of the page
    # what the server showed, where it was asked over TLS
    certificate: Certificate | None = field(default=None, hash=False)
    steps: tuple[float, ...] = ()  # the seconds of each answer on the way, where they are known

    @property
    def facts(self) -> frozenset[Fact]:
        """What is known of the fetch; what was fetched here or by a service has an outcome for every page.

        >>> sorted(Fetched(source="saved", http_status=200).facts)
        ['http_status']
        """
        fetched = self.source == "fetched"
        known: dict[Fact, bool] = {
            "http_status": fetched or self.http_status is not None,
            "redirects": fetched or bool(self.redirects) or self.redirect_kinds is not None,
            "headers": self.x_robots_tag is not None,
            "robots": fetched,
        }
        return frozenset(fact for fact, is_known in known.items() if is_known)


SAVED = Fetched(source="saved")
"""The fetch of a page of which only the HTML was kept."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page with what is known about its fetch; as an input, it is not fetched."""

    url: str
    body: str | bytes
    fetched: Fetched = SAVED


@dataclass(frozen=True, slots=True)
class Stored:
    """Where content is on this machine."""

    file: Path  # an archive, or the page itself
    # the byte where its record or gzip member begins; None where the file is the content
    offset: int | None = None
    inside: int = 0  # how far into what the member inflates to the record begins


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A page in an archive; it is read when its turn comes."""

    url: str  # its address; of a stretch that is no record, the file and the byte
    fetched: Fetched = Fetched(source="archive")  # what is known of its fetch besides the head of its answer
    body: Stored | None = None  # the record with its content
    head: Stored | None = None  # the record with the head of its answer, where that is another one
    # key and values of the message of what failed when it was fetched or read
    failure: tuple[str, tuple[tuple[str, Any], ...]] | None = None
    name: str = ""  # what distinguishes its record from all others


def outcome_of(result: Mapping[str, Any] | Message) -> Outcome:
    """Return the outcome of an analysis: data, or a failure."""
    return Outcome.failed(result) if isinstance(result, Message) else Outcome(result)


@dataclass(frozen=True, slots=True)
class TextRecord:
    """A text in place of a page, and its language if the caller named it.

    The text is None for a missing one and `UNUSABLE` for a value of another kind.
    """

    text: Any
    language: str = ""

    @property
    def page(self) -> tuple[str, str, str, str, bool, str]:
        """The arguments of `webanalytics.page.page.Page`."""
        return self.text, "", "", "", True, self.language


@dataclass(frozen=True, slots=True)
class Particular:
    """An input with settings of its own, such as the region of one phone number."""

    subject: Any
    settings: tuple[tuple[str, Any], ...]


class Unusable(Enum):
    """Sentinel for an input of a type that the operation cannot take, such as a number for a URL."""

    UNUSABLE = "unusable"


UNUSABLE = Unusable.UNUSABLE


def check_subject(subject: Any, operation: Operation) -> None:
    """Raise `RowError` for an input that is missing or of another kind."""
    parameter = operation.subject_parameter
    if isinstance(subject, TextRecord):
        parameter, subject = operation.alternative or parameter, subject.text
    if subject is None:
        raise RowError("required", parameter=parameter.name)
    if subject is UNUSABLE:
        raise RowError("must_be", parameter=parameter.name, what=parameter.expectation)


def digest(subject: Any) -> str:
    """Return the digest of an input for checkpoints and requests: a SHA-256 in hexadecimal."""
    if isinstance(subject, PageRecord):
        body = subject.body if isinstance(subject.body, bytes) else _utf8(subject.body)
        more = b"" if subject.fetched == SAVED else b"\0" + _utf8(repr(subject.fetched))
        kind, content = "page", _utf8(subject.url) + b"\0" + body + more
    elif isinstance(subject, ArchivedPage):
        kind, content = "archived", _utf8(repr(subject))
    elif isinstance(subject, bytes):
        kind, content = "bytes", subject
    elif isinstance(subject, (str, Path)):
        kind, content = "str" if isinstance(subject, str) else "path", _utf8(str(subject))
    elif isinstance(subject, TextRecord):
        kind, content = "text", f"{subject.language}\0{digest(subject.text)}".encode()
    elif isinstance(subject, Particular):
        kind, content = "particular", f"{digest(subject.subject)}{subject.settings!r}".encode()
    elif isinstance(subject, Unusable):
        kind, content = "unusable", b""
    else:
        kind, content = "missing", b""
    return hashlib.sha256(kind.encode() + b"\0" + content).hexdigest()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Job:
    """One distinct input."""

    number: int  # position among the jobs of a run
    # URL, path, `PageRecord`, `ArchivedPage`, record, message, number, or the bytes of an image; None for a
    # missing input and `UNUSABLE` for one of another kind
    subject: Any
    # positions of the operations that are still to be answered; None for all
    wanted: tuple[int, ...] | None = None


class Outcomes(Sequence[Outcome]):
    """Outcomes that are made at each access."""

    __slots__ = ()

    def made(self) -> list[Outcome]:
        """Return all of them."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.made())

    def __len__(self) -> int:
        return len(self.made())

    @overload
    def __getitem__(self, index: int) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Outcome]: ...
    def __getitem__(self, index: int | slice) -> Outcome | Sequence[Outcome]:
        return self.made()[index]


class PackedOutcomes(Outcomes):
    """Outcomes as compressed bytes, unpacked at each access.

    An answer about a page is thousands of small Python objects. Until its frame is built it is kept
    in this form, which takes a fifth of the memory and leaves no holes in the heap.
    """

    __slots__ = ("_packed",)

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    @staticmethod
    def pack(results: Sequence[Mapping[str, Any] | Message]) -> bytes:
        """Return the data, or the failure, of each outcome as bytes."""
        return zlib.compress(pickle.dumps(results, protocol=5), level=1)

    def unpack(self) -> list[Mapping[str, Any] | Message]:
        """Return what was packed."""
        results: list[Mapping[str, Any] | Message]
        results = pickle.loads(zlib.decompress(self._packed))  # noqa: S301 - packed by `pack`
        return results

    def made(self) -> list[Outcome]:
        """Return all of them."""
        return [outcome_of(result) for result in self.unpack()]


class ErrorPage(Outcomes):
    """The outcomes of a page that came with an HTTP error: the failure of each, and what was read of it.

    `packed` has the answers of some operations, `places` for each operation of the task which is its own.
    """

    __slots__ = ("_found", "_message", "_places")

    def __init__(self, error: RowError | Message, packed: bytes, places: tuple[int | None, ...]) -> None:
        self._message = error if isinstance(error, Message) else error.message
        self._found = PackedOutcomes(packed)
        self._places = places

    def made(self) -> list[Outcome]:
        """Return all of them."""
        found = self._found.made()
        read = (None if place is None else found[place].data for place in self._places)
        return [Outcome.failed(self._message, data) for data in read]


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of one job."""

    number: int  # number of the job
    outcomes: Sequence[Outcome]  # one for each operation of the task, or the one at `position`
    fetched: Fetched | None = None  # how the page was fetched
    position: int | None = None  # which operation the outcome belongs to; None where all are answered
    # only one: that of the operation that the task wants apart from the others, which are in `outcomes`
    apart: Sequence[Outcome] | None = None
