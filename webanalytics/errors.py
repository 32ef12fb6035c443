"""The exceptions of webanalytics.

::

    WebAnalyticsError
    ├── ParameterError (ValueError)     a wrong call: raised before any work is done
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

from collections.abc import Iterable
from functools import partial
from typing import Any

from webanalytics import messages
from webanalytics.messages import ERROR_TYPES as ERROR_TYPES
from webanalytics.messages import ErrorType as ErrorType
from webanalytics.messages import Message as Message
from webanalytics.messages.visible import for_terminal


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

    @classmethod
    def required(cls, parameter: str) -> ParameterError:
        """Return the error for a missing argument."""
        return cls(messages.required(parameter), parameter)

    @classmethod
    def one_of(cls, parameter: str, choices: Iterable[object]) -> ParameterError:
        """Return the error for a value outside a closed set of choices."""
        return cls(messages.one_of(parameter, choices), parameter)

    @classmethod
    def must_be(cls, parameter: str, what: str) -> ParameterError:
        """Return the error for a wrong value; `what` ends the sentence."""
        return cls(messages.must_be(parameter, what), parameter)


class MissingExtraError(WebAnalyticsError, ImportError):
    """An optional dependency is missing; the message names the extra to install.

    Examples
    --------
    >>> raise MissingExtraError("excel", "openpyxl", "writing xlsx")
    Traceback (most recent call last):
    webanalytics.errors.MissingExtraError: writing xlsx needs openpyxl: pip install "webanalytics[excel]"
    """

    def __init__(self, extra: str, package: str, purpose: str) -> None:
        super().__init__(f'{purpose} needs {package}: pip install "webanalytics[{extra}]"')
        self.extra = extra
        self._parts = (extra, package, purpose)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), self._parts


class BackendError(WebAnalyticsError):
    """The backend as a whole cannot work (its worker processes do not start, for example)."""


class HostedError(BackendError):
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
        self.partial: Any = None
        self._done: tuple[int, int] | None = None

    def keep(self, partial: Any, total: int) -> None:
        """Take the finished rows along."""
        self.partial, self._done = partial, (len(partial), total)

    def __str__(self) -> str:
        details = [f"HTTP {self.status}"] * (self.status is not None)
        details += [f"request {self.request_id}"] * (self.request_id is not None)
        text = self.sentence + (f" ({', '.join(details)})" if details else "")
        if self._done is None:
            return text
        return f"{text} {self._done[0]} of {self._done[1]} rows are in .partial and last_partial()."

    def __reduce__(self) -> tuple[Any, ...]:
        state = {"partial": self.partial, "_done": self._done}
        return type(self), (self.sentence, self.status, self.request_id), state


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


class AuditInterrupted(KeyboardInterrupt):
    """Ctrl-C or "Interrupt kernel" during a run.

    Attributes
    ----------
    partial : pandas.DataFrame
        The rows that were finished, with the index of their inputs. `webanalytics.last_partial`
        returns the same frame when the exception itself is out of reach.
    """

    def __init__(self, partial: Any, total: int | None = None) -> None:
        of_total = f" of {total}" if total is not None else ""
        super().__init__(
            f"interrupted after {len(partial)}{of_total} rows; they are in .partial and last_partial()"
        )
        self.partial = partial
        self._total = total

    def __reduce__(self) -> tuple[type[AuditInterrupted], tuple[Any, int | None]]:
        return type(self), (self.partial, self._total)


class RowError(Exception):
    """One input cannot be answered; backends turn this into an outcome and never let it escape.

    Parameters
    ----------
    key : str
        Which sentence of `webanalytics.messages` says so; it also has the error type.
    **values : object
        Values shown in the sentence, including the name of the ``parameter`` to change.
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
