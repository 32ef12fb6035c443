"""Jobs -> requests, and bodies of responses -> envelopes; `batches` and `http` use it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp

from webanalytics.core.messages import must_be
from webanalytics.core.operations.secret import Secret
from webanalytics.core.outcomes import ArchivedPage, Job, PageRecord, TextRecord, check_subject
from webanalytics.errors import RowError
from webanalytics.fetching.data_urls import is_data_url
from webanalytics.operations import Operation, Parameter
from webanalytics.runs.backends.content import embedded_content, file_content
from webanalytics.urls import lacks_scheme

ITEM_STATUS = "statusCode"
MOST_BODY_BYTES = 4_000_000
"""Largest JSON body in bytes; further inputs go into another request."""
MOST_IMAGE_BYTES = 200_000_000
LARGE_BODY = 500_000
"""Bytes from which a response is parsed in a thread, and a request is sent in pieces."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, which can be sent more than once.

    Attributes
    ----------
    method, path : str
        As in the request line, including the query.
    make_body : callable
        Returns what aiohttp sends, new for each attempt; never shown, as it may hold a secret.
    content_type : str or None
        Type of the body; None if aiohttp sets it.
    idempotency_key : str or None
        Key by which the server gives repeated attempts the same answer.
    """

    method: str
    path: str
    make_body: Callable[[], Any] = field(repr=False)
    content_type: str | None = "application/json"
    idempotency_key: str | None = None


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
    """Return a job whose subject can be sent: text, or the bytes of an image.

    Raises
    ------
    RowError
        For a missing input, a page on this machine, or a file that cannot be read.
    """
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
    """Return the JSON object of a body, with None for numbers of more digits than Python reads.

    Raises
    ------
    WrongAnswerError
        For anything but a JSON object in UTF-8.

    Examples
    --------
    >>> read_object(b'{"status": "ok", "data": {"results": [{"a": 1}, 2]}}')
    {'status': 'ok', 'data': {'results': [{'a': 1}, 2]}}
    """
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
