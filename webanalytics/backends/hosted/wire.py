"""Jobs -> requests, and the bodies of answers -> envelopes."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp

from webanalytics.backends.base import Job, SavedPage, check_subject
from webanalytics.backends.data_urls import data_url_content, is_data_url
from webanalytics.errors import RowError
from webanalytics.operations import Operation
from webanalytics.operations.secret import Secret

ITEM_STATUS = "statusCode"
MOST_BODY_BYTES = 4_000_000
"""Largest JSON body that is sent; more inputs go into another request."""
MOST_IMAGE_BYTES = 200_000_000
LARGE_BODY = 500_000
"""Bytes of an answer from which it is read beside the event loop, item by item."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, which can be sent more than once.

    Attributes
    ----------
    method, path : str
        As in the first line, the query included.
    make_body : callable
        Returns what aiohttp sends, anew for each sending; never shown, for it may hold a secret.
    content_type : str or None
        Type of the body; None where aiohttp knows it.
    idempotency_key : str or None
        Key under which the server answers repeated sendings alike.
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
    body = json.dumps(content, ensure_ascii=False).encode()  # what cannot be encoded was answered before
    return body if len(body) < LARGE_BODY else io.BytesIO(body)  # as a stream aiohttp sends it in pieces


def size_of(job: Job) -> int:
    """Return about how many bytes an input takes in a body."""
    subject = job.subject
    if not isinstance(subject, str):
        return 64
    return 64 + (len(subject) if subject.isascii() else len(subject.encode("utf-8", "surrogatepass")))


def is_upload(job: Job) -> bool:
    """Return whether an input is content, which goes in a request of its own and is read in its turn."""
    subject = job.subject
    return isinstance(subject, (bytes, Path)) or (isinstance(subject, str) and is_data_url(subject))


def batch_request(
    operation: Operation, jobs: Sequence[Job], settings: Mapping[str, Any], key: str
) -> Request:
    """Return the request for a batch of inputs."""
    path = f"/v1/{operation.path}/batch"
    subjects = [job.subject for job in jobs]

    def body() -> Any:
        same = _revealed(settings)
        return _json_body({"inputs": [{operation.subject: subject, **same} for subject in subjects]})

    return Request("POST", path, body, idempotency_key=key)


def single_request(operation: Operation, job: Job, settings: Mapping[str, Any], key: str | None) -> Request:
    """Return the request for one input; content goes as a form with a file."""
    path = f"/v1/{operation.path}"
    if isinstance(job.subject, bytes):
        return Request("POST", path, lambda: _form(operation, job.subject, settings), None, key)
    if operation.method == "GET":
        query = {operation.subject: job.subject, **settings}
        return Request("GET", f"{path}?{urlencode(query)}", lambda: None, None)
    return Request(
        "POST",
        path,
        lambda: _json_body({operation.subject: job.subject, **_revealed(settings)}),
        idempotency_key=key,
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
        For what cannot be sent: a missing input, a page on this machine, a file that cannot be read.
    """
    subject = job.subject
    check_subject(subject, operation)
    if operation.kind != "image":
        if isinstance(subject, (Path, SavedPage)):
            raise RowError(
                f"The `{operation.subject}` parameter must be a URL for a hosted backend: this page is on "
                "this machine.",
                "invalid",
            )
        _check_text(operation, subject)
        return job
    if isinstance(subject, Path):
        return Job(job.number, _file(operation, subject), job.wanted)
    if isinstance(subject, str) and is_data_url(subject):
        try:
            return Job(job.number, data_url_content(subject), job.wanted)
        except ValueError:
            sentence = f"The `{operation.subject}` parameter must be a well-formed data: URL."
            raise RowError(sentence, "invalid") from None
    _check_text(operation, subject)
    return job


def _check_text(operation: Operation, subject: Any) -> None:
    """Raise `RowError` for lone surrogates: no JSON can carry them, and a whole batch would be refused."""
    try:
        if isinstance(subject, str):
            subject.encode()
    except UnicodeEncodeError:
        parameter = operation.parameter(operation.subject)
        sentence = (
            f"The `{parameter.name}` parameter must be text without lone surrogates, for UTF-8 to encode it."
        )
        raise RowError(parameter.sentence() if parameter.expects else sentence, "invalid") from None


def _file(operation: Operation, path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_IMAGE_BYTES + 1)
    except OSError as error:
        raise RowError(
            f"The `{operation.subject}` parameter names a file that cannot be read: {error.strerror}.",
            "invalid",
        ) from None
    if len(content) > MOST_IMAGE_BYTES:
        raise RowError(
            f"The `{operation.subject}` parameter names content larger than {MOST_IMAGE_BYTES} bytes.",
            "too_large",
        )
    return content


class WrongAnswerError(Exception):
    """The body is not what the API answers: a proxy's page, half an answer, other JSON."""


def read_object(content: bytes) -> dict[str, Any]:
    """Return the JSON object of a body.

    A large one is read value by value down to the items of ``data.results``: one value after the other,
    since Python's parser lets no other thread go on while it reads one.

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
        text = content.decode()
        value = json.loads(text) if len(content) < LARGE_BODY else _Walk(text).document()
    except json.JSONDecodeError:
        value = None
    except (ValueError, IndexError, RecursionError):
        value = _as_far_as_possible(content)
    if not isinstance(value, dict):
        raise WrongAnswerError
    return value


def _as_far_as_possible(content: bytes) -> Any:
    """Return a document with None for the values that are nested too deep, or have too many digits."""
    try:
        return _Walk(content.decode(), lenient=True).document()
    except (ValueError, IndexError, RecursionError):
        return None


class _Walk:
    """Reads a JSON document, its outermost three levels by itself and each value below at once."""

    _LEVELS = 3
    _TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{},]', re.DOTALL)

    def __init__(self, text: str, *, lenient: bool = False) -> None:
        self._lenient = lenient
        self._text = text
        self._at = 0
        self._decode = json.JSONDecoder().raw_decode

    def document(self) -> Any:
        value = self._value(self._LEVELS)
        if self._next() != "":
            raise ValueError("more than one value")
        return value

    def _next(self) -> str:
        """Return the next character that is not white space, without going past it."""
        while (letter := self._text[self._at : self._at + 1]) in (" ", "\n", "\r", "\t") and letter:
            self._at += 1
        return letter

    def _take(self, wanted: str) -> None:
        if self._next() != wanted:
            raise ValueError(f"{wanted} expected")
        self._at += 1

    def _value(self, levels: int) -> Any:
        first = self._next()
        if levels and first == "{":
            return self._items("}", lambda: self._pair(levels - 1), dict)
        if levels and first == "[":
            return self._items("]", lambda: self._value(levels - 1), list)
        try:
            value, self._at = self._decode(self._text, self._at)
        except json.JSONDecodeError:
            raise
        except (ValueError, RecursionError):
            if not self._lenient:
                raise
            value, self._at = None, self._end_of_value()
        return value

    def _end_of_value(self) -> int:
        """Return where a value ends that cannot be read."""
        depth = 0
        for token in self._TOKEN.finditer(self._text, self._at):
            sign = token[0]
            if depth == 0 and sign in (",", "]", "}"):
                return token.start()
            depth += (sign in ("[", "{")) - (sign in ("]", "}"))
        raise ValueError("an end expected")

    def _pair(self, levels: int) -> tuple[str, Any]:
        name = self._value(0)
        if not isinstance(name, str):
            raise ValueError("a name expected")
        self._take(":")
        return name, self._value(levels)

    def _items(self, end: str, read: Callable[[], Any], kind: Callable[[list[Any]], Any]) -> Any:
        self._at += 1
        found: list[Any] = []
        if self._next() == end:
            self._at += 1
            return kind(found)
        while True:
            found.append(read())
            if self._next() != ",":
                self._take(end)
                return kind(found)
            self._at += 1
