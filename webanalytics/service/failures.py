"""What may be told of an exception in a log: its type and place, never its message."""

from __future__ import annotations

import errno
import traceback
from collections import deque
from pathlib import Path
from types import FrameType
from typing import Any

PLACES = 5
CAUSES = 3


def _place(frame: FrameType, line: int) -> str:
    path = Path(frame.f_code.co_filename)
    return f"{'/'.join(path.parts[-3:])}:{line} {frame.f_code.co_name}"


def _name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def describe(error: BaseException) -> dict[str, Any]:
    """Return an exception's type and innermost places, and the types of what caused it.

    A message may quote what a caller sent, a key or a secret included, so none is kept; neither are
    source lines. The number of a system error has a name of its own.

    Examples
    --------
    >>> try:
    ...     int("a secret")
    ... except ValueError as error:
    ...     describe(error)["exception"]
    'ValueError'
    """
    places = deque(traceback.walk_tb(error.__traceback__), maxlen=PLACES)
    found: dict[str, Any] = {
        "exception": _name(error),
        "places": [_place(*place) for place in reversed(places)],
    }
    if isinstance(error, OSError) and error.errno is not None:
        found["errno"] = errno.errorcode.get(error.errno, str(error.errno))
    causes: list[str] = []
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    while cause is not None and len(causes) < CAUSES:
        causes.append(_name(cause))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    if causes:
        found["causes"] = causes
    return found
