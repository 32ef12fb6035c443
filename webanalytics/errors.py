"""The exceptions of webanalytics.

::

    WebAnalyticsError
    ├── ParameterError (ValueError)     a wrong call: raised before any work is done
    │   └── WriteError                  a place to write to is full; carries the finished rows
    ├── MissingExtraError (ImportError) an optional dependency is not installed
    └── BackendError                    the backend cannot work at all
        └── HostedError                 a hosted API ended the run; carries the finished rows
            ├── KeyRejectedError        the key is not one of its keys (401, or HTML 403 from its edge)
            ├── KeyRevokedError         the key was revoked or rotated
            ├── OperationBlockedError   the key may not call the operation
            ├── AddressBlockedError     the key may not be used from this IP address
            └── ServiceUnavailableError it did not answer within the backend's patience
    AuditInterrupted (KeyboardInterrupt)  Ctrl-C or "Interrupt kernel"; carries the finished rows
    RowError                            internal: one bad input, by its key; it becomes a row of the frame

A bad *row* is never an exception: it is a row whose ``status`` is ``"error"``.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Collection, Hashable, Iterable
from functools import partial
from numbers import Integral
from pathlib import Path
from types import FrameType
from typing import Any

from webanalytics._version import how_to_install
from webanalytics.core import messages
from webanalytics.core.messages import ERROR_TYPES as ERROR_TYPES
from webanalytics.core.messages import ErrorType as ErrorType
from webanalytics.core.messages import Message as Message
from webanalytics.core.messages import for_terminal

_PACKAGE = os.path.join(os.path.dirname(__file__), "")  # noqa: PTH118, PTH120 - pathlib is slow to import


class WebAnalyticsError(Exception):
    """Base of every error that webanalytics raises on purpose."""

    def __str__(self) -> str:
        return for_terminal(super().__str__())  # what a page or a service wrote may be quoted in it


class ParameterError(WebAnalyticsError, ValueError):
    """A wrong argument; the message is one sentence that names the parameter and the choices.

    Parameters
    ----------
    sentence : str or Message
        What to change, naming the parameter in backticks.
    parameter : str
        Name of the parameter to change.

    Examples
    --------
    >>> raise ParameterError.one_of("encoding", ["hex", "base64"])
    Traceback (most recent call last):
    webanalytics.errors.ParameterError: The `encoding` parameter must be one of: hex, base64.
    """

    def __init__(self, sentence: str | Message, parameter: str) -> None:
        super().__init__(str(sentence))
        self.message = sentence if isinstance(sentence, Message) else None
        self.parameter = parameter

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str | Message, str]]:
        return type(self), (self.message or str(self), self.parameter)

    def of(self, parameter: str) -> ParameterError:
        """Return the same error for what the caller knows by another name."""
        return ParameterError(str(self).replace(f"`{self.parameter}`", f"`{parameter}`"), parameter)

    @classmethod
    def required(cls, parameter: str) -> ParameterError:
        """Return the error for a missing argument."""
        return cls(messages.required(parameter), parameter)

    @classmethod
    def one_of(cls, parameter: str, choices: Iterable[object]) -> ParameterError:
        """Return the error for a value outside a closed set of choices."""
        return cls(messages.one_of(parameter, choices), parameter)

    @classmethod
    def on(cls, parameter: str, what: str) -> ParameterError:
        """Return the error that says something about a parameter; `what` ends the sentence."""
        return cls(f"The `{parameter}` parameter {what}.", parameter)

    @classmethod
    def must_be(cls, parameter: str, what: str) -> ParameterError:
        """Return the error for a wrong value; `what` ends the sentence."""
        return cls(messages.must_be(parameter, what), parameter)


def whole_number(parameter: str, value: Any, low: int, high: int | None = None, also: str = "") -> int:
    """Return an integer within limits, one of NumPy too, or raise `ParameterError`.

    >>> whole_number("port", 0, 1, 65_535)
    Traceback (most recent call last):
    webanalytics.errors.ParameterError: The `port` parameter must be an integer from 1 to 65535.
    """
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if is_integer and low <= value and (high is None or value <= high):
        return int(value)
    limits = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise ParameterError.must_be(parameter, f"an integer {limits}{also}")


def choice(parameter: str, value: Any, choices: Collection[Any]) -> Any:
    """Return a value that is one of the choices, or raise `ParameterError`."""
    if not isinstance(value, Hashable) or value not in choices:
        raise ParameterError.one_of(parameter, choices)
    return value


def path_of(value: Any, parameter: str = "path") -> Path:
    """Return a path that is given as one or as a string, or raise `ParameterError`."""
    if isinstance(value, (str, os.PathLike)) and str(value).strip():
        return Path(value)
    raise ParameterError.must_be(parameter, "a path")


class MissingExtraError(WebAnalyticsError, ImportError):
    """An optional dependency is missing; the message names the extra to install.

    Examples
    --------
    >>> raise MissingExtraError("excel", "xlsxwriter", "writing xlsx")
    Traceback (most recent call last):
    webanalytics.errors.MissingExtraError: writing xlsx needs xlsxwriter: in the clone, pip install ".[excel]"
    """

    def __init__(self, extra: str, package: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}: {how_to_install(extra)}")
        self.extra = extra
        self._parts = (extra, package, purpose)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), self._parts


class BackendError(WebAnalyticsError):
    """The backend as a whole cannot work (its worker processes do not start, for example)."""


class _Interrupting(Exception):  # noqa: N818 - a part of errors
    """What errors have in common that end a call in its middle: they carry the finished rows."""

    _partial: Any = None
    _done: tuple[int, int] | None = None

    @property
    def partial(self) -> Any:
        """The rows that were finished; made into a frame when first asked for."""
        return _made(self._partial)

    @property
    def rows(self) -> int | None:
        """How many inputs were finished; None where no call was ended."""
        return None if self._done is None else self._done[0]

    def keep(self, partial: Any, total: int, rows: int | None = None) -> None:
        """Take the finished rows along: a frame, or what makes it of so many rows."""
        self._partial, self._done = partial, (len(partial) if rows is None else rows, total)

    def _with_rows(self, text: str) -> str:
        if self._done is None:
            return text
        return f"{text} {self._done[0]} of {self._done[1]} rows are in .partial and last_partial()."

    def _state(self) -> dict[str, Any]:
        return {"_partial": self.partial, "_done": self._done}


class WriteError(_Interrupting, ParameterError):
    """A place that something is written to is full, gone or closed to this user.

    Parameters
    ----------
    sentence : str
        What to change, naming the parameter in backticks.
    parameter : str
        Name of the parameter that names the place.

    Attributes
    ----------
    partial : pandas.DataFrame or None
        The rows that were finished where a call was ended in its middle; also in `webanalytics.last_partial`.
        With a checkpoint the same call goes on from what is in it.
    """

    @classmethod
    def at(cls, parameter: str, what: str, error: OSError) -> WriteError:
        """Return the error for a place, "a file that can be written", and what the system said."""
        return cls(f"The `{parameter}` parameter must be {what}: {reason(error)}.", parameter)

    def __str__(self) -> str:
        return self._with_rows(super().__str__())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (ParameterError.__str__(self), self.parameter), self._state()


def reason(error: OSError) -> str:
    """Return what the system says about a failure, in a few words.

    Examples
    --------
    >>> reason(OSError(28, "Error writing bytes to file. Detail: [errno 28]"))
    'No space left on device'
    """
    return os.strerror(error.errno) if error.errno else str(error) or "it could not be written"


_SHORTAGES = {
    errno.EMFILE: "file descriptors",
    errno.ENFILE: "file descriptors",
    errno.EADDRNOTAVAIL: "ports",
    errno.ENOBUFS: "memory",
    errno.ENOMEM: "memory",
}
_TO_IPV6 = re.compile(r"failed \('[^']*:")


def shortage_of(error: BaseException | None) -> str:
    """Return what the machine had too little of when an error arose, "" for any other error.

    Notes
    -----
    Without IPv6 an address of it is "not available" either: that is no shortage of ports.

    Examples
    --------
    >>> shortage_of(OSError(24, "Too many open files")), shortage_of(ConnectionRefusedError(111, "refused"))
    ('file descriptors', '')
    """
    seen = 0
    while error is not None and seen < 10:
        if isinstance(error, MemoryError):
            return "memory"
        number = getattr(error, "errno", None)
        if number in _SHORTAGES and not (number == errno.EADDRNOTAVAIL and _TO_IPV6.search(str(error))):
            return _SHORTAGES[number]
        error, seen = getattr(error, "os_error", None) or error.__cause__ or error.__context__, seen + 1
    return ""


class HostedError(_Interrupting, BackendError):
    """A hosted API answered in a way that ends the run.

    Parameters
    ----------
    sentence : str
        What to change, naming the parameter in backticks. It never holds the API key.
    status : int, optional
        HTTP status of the answer.
    request_id : str, optional
        Identifier of the answer, for the provider's support.

    Attributes
    ----------
    partial : pandas.DataFrame or None
        The rows that were finished, with the index of their inputs; also in `webanalytics.last_partial`.
    """

    def __init__(self, sentence: str, status: int | None = None, request_id: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.status = status
        self.request_id = request_id

    def __str__(self) -> str:
        details = [f"HTTP {self.status}"] * (self.status is not None)
        details += [f"request {self.request_id}"] * (self.request_id is not None)
        text = self.sentence + (f" ({', '.join(details)})" if details else "")
        return self._with_rows(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.sentence, self.status, self.request_id), self._state()


class KeyRejectedError(HostedError):
    """The API key is not one that the hosted API knows, or it has expired."""


class KeyRevokedError(HostedError):
    """The API key was revoked, rotated or deleted."""


class OperationBlockedError(HostedError):
    """The API key may not call the operation."""


class AddressBlockedError(HostedError):
    """The API key may not be used from the IP address of this machine."""


class ServiceUnavailableError(HostedError):
    """The hosted API did not answer, or answered 500, 503 or 429 for longer than the backend's patience."""


class IncompleteRunWarning(UserWarning):
    """Some inputs were not requested: the credits or the budget did not suffice."""


def warn_incomplete(text: str) -> None:
    """Warn that a run is incomplete, at the line outside of this package that asked for it."""
    frame: FrameType | None = sys._getframe()
    level = 0
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, IncompleteRunWarning, stacklevel=level + 1)


class AuditInterrupted(KeyboardInterrupt):
    """Ctrl-C or "Interrupt kernel" during a run.

    Attributes
    ----------
    partial : pandas.DataFrame or Audit
        The rows that were finished, with the index of their inputs: what the call would have returned.
        `webanalytics.last_partial` returns the same when the exception itself is out of reach. Nothing is
        lost by a further Ctrl-C: the rows are kept as they are, and their frame is made when asked for.
    rows : int
        How many inputs were finished.
    """

    def __init__(self, partial: Any, total: int | None = None, rows: int | None = None) -> None:
        of_total = f" of {total}" if total is not None else ""
        self.rows = len(partial) if rows is None else rows
        super().__init__(
            f"interrupted after {self.rows}{of_total} rows; they are in .partial and last_partial()"
        )
        self._partial = partial
        self._total = total

    @property
    def partial(self) -> Any:
        """The rows that were finished; made into a frame when first asked for."""
        return _made(self._partial)

    def __reduce__(self) -> tuple[type[AuditInterrupted], tuple[Any, int | None, int]]:
        return type(self), (self.partial, self._total, self.rows)


def _made(partial: Any) -> Any:
    """Return the frame of finished rows, which may still have to be made."""
    return partial() if callable(partial) else partial


class RowError(Exception):
    """One input cannot be answered; backends turn this into an outcome and never let it escape.

    The key names the sentence of `webanalytics.core.messages`, and the values are shown in it.
    """

    def __init__(self, key: str, /, **values: Any) -> None:
        super().__init__(key)
        self.message = Message(key, values)

    @property
    def key(self) -> str:
        """Which failure it is: finer than the error type."""
        return self.message.key

    @property
    def sentence(self) -> str:
        """One sentence that names the parameter to change."""
        return str(self.message)

    @property
    def error_type(self) -> ErrorType:
        """The kind of failure, for the ``error_type`` column."""
        return self.message.error_type or "invalid"

    def __str__(self) -> str:
        return self.sentence

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.key, **self.message.values), ()
