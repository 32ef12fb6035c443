"""Jobs -> requests, bodies of responses -> envelopes, and what each response means for the run.

`http` and `batches` ask here whether to retry, to stop or to return a row: the specification has the rules.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import urlencode

import aiohttp

from webanalytics.core.messages import ERROR_TYPES, MESSAGES, error_type_of, must_be, recognise
from webanalytics.core.operations.secret import Secret
from webanalytics.core.outcomes import ArchivedPage, Job, PageRecord, TextRecord, check_subject
from webanalytics.core.strings import encodable
from webanalytics.errors import (
    AddressBlockedError,
    ErrorType,
    HostedError,
    KeyRejectedError,
    KeyRevokedError,
    OperationBlockedError,
    RowError,
)
from webanalytics.fetching.data_urls import is_data_url
from webanalytics.fetching.pace import retry_after
from webanalytics.operations import Operation, Parameter
from webanalytics.runs.backends.content import embedded_content, file_content
from webanalytics.urls import lacks_scheme

BATCH_SIZE = 200
"""Most inputs of a batch."""

REMAINING = "x-api-remaining-credits"
REQUEST_IDS = ("X-Request-ID", "x-edge-request-id", "x-cloud-trace-context")
RETRIED = frozenset((500, 503))
EXPECTED = frozenset((200, 400, 404, 413, 415, 422, 429, 500, 503))
"""Statuses that concern an input, or are retried; any other is a failure of the API itself."""

TYPE_HEADER, KEY_HEADER = "x-error-type", "x-error-key"
TYPE_FIELD, KEY_FIELD = "errorType", "errorKey"
"""Where an answer names the type and the key of a failure: in headers, and in the items of a batch."""


class Failure(NamedTuple):
    """A failure as an answer names it: its key, if known, and its type."""

    key: str | None
    error_type: ErrorType


def failure_of(status: int, item: Mapping[str, Any], sentence: str) -> Failure:
    """Return the key and the type of a failure: as the answer names them, else as its sentence says.

    Only foreign and older servers name neither; if the message does not help either, the status decides.

    >>> failure_of(400, {"errorType": "dns", "errorKey": "unknown_host"}, "Nobody there.")
    Failure(key='unknown_host', error_type='dns')
    >>> failure_of(400, {}, "The `url` parameter names a host that does not exist.")
    Failure(key='unknown_host', error_type='dns')
    >>> failure_of(503, {}, "Come back later.")
    Failure(key=None, error_type='service')
    """
    kind, key = item.get(TYPE_FIELD), item.get(KEY_FIELD)
    kind = kind if kind in ERROR_TYPES else None
    key = key if isinstance(key, str) and key in MESSAGES else None
    if key is not None:  # in its first words a service calls a refusal "http", and no connection "refused"
        numbers = re.findall(r"\b\d{3}\b", sentence)
        kind = error_type_of(key, numbers[-1] if numbers else None) or kind
    elif kind is None and (found := recognise(sentence)) is not None:
        kind, key = found.error_type, found.key
    elif kind == "refused":
        kind = "connection"
    return Failure(key, cast("ErrorType", kind or ("invalid" if status == 400 else "service")))


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete response of the API."""

    status: int
    headers: Mapping[str, str]
    envelope: Mapping[str, Any] | None  # the JSON object of the body; None for any other body
    heard: float = 0.0  # when its headers arrived, on the event loop's clock
    cleaned: Callable[[str], str] = field(default=str, repr=False)  # makes text of the response safe to show

    @property
    def error(self) -> str:
        """The message of a failure, or ""."""
        error = None if self.envelope is None else self.envelope.get("error")
        return self.cleaned(error) if isinstance(error, str) else ""

    @property
    def item(self) -> Mapping[str, Any]:
        """The envelope as it would appear among the results of a batch."""
        named = ((TYPE_FIELD, TYPE_HEADER), (KEY_FIELD, KEY_HEADER))
        found = {field: self.headers[header] for field, header in named if header in self.headers}
        return {**(self.envelope or {}), **found}

    @property
    def failure(self) -> Failure:
        """The failure that the response names."""
        return failure_of(self.status, self.item, self.error)

    @property
    def remaining(self) -> int | None:
        """Credits left, None if the response does not say."""
        text = self.headers.get(REMAINING, "")
        return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None

    @property
    def replayed(self) -> bool:
        """Whether this is the saved response to an earlier request, which has been charged already."""
        return self.headers.get("idempotency-replayed", "").lower() == "true"

    @property
    def request_id(self) -> str | None:
        """The identifier of the request, for the provider's support."""
        found = next((self.headers[name] for name in REQUEST_IDS if self.headers.get(name)), None)
        return None if found is None else self.cleaned("".join(c for c in found if c.isprintable()))[:100]

    @property
    def wait(self) -> float | None:
        """Seconds to wait, as the response demands."""
        return retry_after(self.headers.get("retry-after"))


_FORBIDDEN: Mapping[str, tuple[str, type[HostedError], str]] = {
    "key_revoked": ("revoked", KeyRevokedError, "another key: this one was revoked"),
    "operation_blocked": (
        "blocked",
        OperationBlockedError,
        "a key that may call {operation}: this one may not",
    ),
    "address_blocked": (
        "IP address",
        AddressBlockedError,
        "a key that may be used from this machine's IP address",
    ),
}
"""Why a key is refused with 403: a word in foreign messages, the exception, the end of our message."""


def _forbidden(reply: Reply) -> str | None:
    key = reply.failure.key
    if key in _FORBIDDEN:
        return key
    if reply.item.get(KEY_FIELD) is not None:
        return None
    return next((key for key, (word, *_) in _FORBIDDEN.items() if word in reply.error), None)


def is_out_of_credits(reply: Reply) -> bool:
    """Return whether an answer says that the credits are spent.

    The specification gives two statuses, 429 and 403; the header decides for both. Only the three messages
    about the key itself are taken literally, even if the account has no credits.
    """
    known = reply.status == 403 and _forbidden(reply) is not None
    return reply.status in (403, 429) and reply.remaining == 0 and not known


def fatal(reply: Reply, base_url: str, operation: str) -> HostedError | None:
    """Return the exception for a response (401, 403, 3xx) that ends the run, None for any other."""
    identified = (reply.status, reply.request_id)
    if reply.status == 401 or (reply.status == 403 and reply.envelope is None):
        return KeyRejectedError(
            f"The `api_key` parameter must be a key that {base_url} accepts.", *identified
        )
    if reply.status == 403:
        reason = _forbidden(reply)
        if reason is not None:
            _, kind, what = _FORBIDDEN[reason]
            return kind(f"The `api_key` parameter must be {what.format(operation=operation)}.", *identified)
        return HostedError(f"The `api_key` parameter must be a key that may call {operation}.", *identified)
    if 300 <= reply.status < 400:
        return HostedError(
            f"The `base_url` parameter must be the API's own address: {base_url} redirects elsewhere.",
            *identified,
        )
    return None


ITEM_STATUS = "statusCode"
MOST_BODY_BYTES = 4_000_000
"""Largest JSON body in bytes; further inputs go into another request."""
MOST_IMAGE_BYTES = 200_000_000
LARGE_BODY = 500_000
"""Bytes from which a response is parsed in a thread, and a request is sent in pieces."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, which can be sent more than once."""

    method: str  # as in the request line, including the query
    path: str
    # returns what aiohttp sends, new for each attempt; never shown, as it may hold a secret
    make_body: Callable[[], Any] = field(repr=False)
    content_type: str | None = "application/json"  # type of the body; None if aiohttp sets it
    idempotency_key: str | None = None  # key by which the server gives repeated attempts the same answer


def served_settings(operation: Operation, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are the same in every request, by their names in requests."""
    return {
        item.name: settings[item.keyword]
        for item in operation.settings
        if not item.local and settings[item.keyword] is not None
    }


def _revealed(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value.reveal().decode() if isinstance(value, Secret) else value
        for name, value in settings.items()
    }


def _json_body(content: Any) -> Any:
    body = json.dumps(content, ensure_ascii=False).encode()  # unencodable inputs have been answered already
    return body if len(body) < LARGE_BODY else io.BytesIO(body)  # as a stream aiohttp sends it in pieces


def content_of(job: Job) -> Any:
    """Return what is sent of an input."""
    return job.subject.text if isinstance(job.subject, TextRecord) else job.subject


def _own(operation: Operation, job: Job) -> tuple[str, Any]:
    """Return name and value of the parameter that differs from input to input."""
    subject, alternative = job.subject, operation.alternative
    if alternative is not None and isinstance(subject, TextRecord):
        return alternative.name, subject.text
    return operation.subject, content_of(job)


def size_of(job: Job) -> int:
    """Return about how many bytes an input takes in a body."""
    subject = content_of(job)
    if not isinstance(subject, str):
        return 64
    return 64 + (len(subject) if subject.isascii() else len(subject.encode("utf-8", "surrogatepass")))


def is_upload(job: Job) -> bool:
    """Return whether an input is content, which gets its own request and is read at its turn."""
    subject = job.subject
    return isinstance(subject, (bytes, Path)) or (isinstance(subject, str) and is_data_url(subject))


def batch_request(
    operation: Operation, jobs: Sequence[Job], settings: Mapping[str, Any], key: str
) -> Request:
    """Return the request for a batch of inputs."""
    path = f"/v1/{operation.path}/batch"
    own = [_own(operation, job) for job in jobs]

    def body() -> Any:
        same = _revealed(settings)
        return _json_body({"inputs": [{name: value, **same} for name, value in own]})

    return Request("POST", path, body, idempotency_key=key)


def single_request(operation: Operation, job: Job, settings: Mapping[str, Any], key: str | None) -> Request:
    """Return the request for one input; content goes as a form with a file."""
    path = f"/v1/{operation.path}"
    if isinstance(job.subject, bytes):
        return Request("POST", path, lambda: _form(operation, job.subject, settings), None, key)
    if operation.method == "GET":
        query = {operation.subject: job.subject, **settings}
        return Request("GET", f"{path}?{urlencode(query)}", lambda: None, None)
    name, value = _own(operation, job)
    return Request(
        "POST", path, lambda: _json_body({name: value, **_revealed(settings)}), idempotency_key=key
    )


def _form(operation: Operation, content: bytes, settings: Mapping[str, Any]) -> aiohttp.FormData:
    form = aiohttp.FormData()
    form.add_field(
        operation.subject, io.BytesIO(content), filename="image", content_type="application/octet-stream"
    )
    for name, value in _revealed(settings).items():
        form.add_field(name, str(value))
    return form


def sendable(operation: Operation, job: Job) -> Job:
    """Return a job whose subject can be sent: text, or the bytes of an image."""
    subject = job.subject
    check_subject(subject, operation)
    if operation.kind != "image":
        if isinstance(subject, (Path, PageRecord, ArchivedPage)):
            raise RowError("page_on_this_machine", parameter=operation.subject)
        parameter = operation.subject_parameter
        if isinstance(subject, TextRecord):
            parameter = operation.alternative or parameter
            if parameter.longest is not None and len(subject.text) > parameter.longest:
                raise RowError("must_be", parameter=parameter.name, what=parameter.expectation)
            return replace(job, subject=replace(subject, text=encodable(subject.text)))  # as it is read here
        _check_text(parameter, content_of(job))
        if operation.kind == "page" and isinstance(subject, str) and lacks_scheme(subject):
            return Job(job.number, f"https://{subject}", job.wanted)  # no API takes a host without a scheme
        return job
    if isinstance(subject, Path):
        content = file_content(subject, operation.subject, MOST_IMAGE_BYTES)
        return Job(job.number, content, job.wanted)
    if isinstance(subject, str) and is_data_url(subject):
        return Job(job.number, embedded_content(subject, operation.subject), job.wanted)
    _check_text(operation.subject_parameter, subject)
    return job


def _check_text(parameter: Parameter, subject: Any) -> None:
    """Raise `RowError` for lone surrogates: no JSON can carry them, and a whole batch would be refused."""
    if not isinstance(subject, str) or subject.isascii():
        return
    try:
        subject.encode()
    except UnicodeEncodeError:
        if parameter.expects:
            wrong = must_be(parameter.name, parameter.expects)
            raise RowError(wrong.key, **wrong.values) from None
        raise RowError("surrogates", parameter=parameter.name) from None


class WrongAnswerError(Exception):
    """The body is not an answer of the API: a proxy's page, half an answer, other JSON."""


def read_object(content: bytes) -> dict[str, Any]:
    """Return the JSON object of a body, with None for numbers of more digits than Python reads."""
    try:
        value = json.loads(content.decode(), parse_int=_whole)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise WrongAnswerError
    return value


def _whole(digits: str) -> int | None:
    try:
        return int(digits)
    except ValueError:
        return None
