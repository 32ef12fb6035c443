"""One parameter of an operation as it is declared, and the check of what a call gives for it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from functools import cached_property
from typing import Any

from webanalytics.core.messages import must_be
from webanalytics.core.operations.secret import Secret
from webanalytics.core.operations.types import Shape, shape_of, strict
from webanalytics.errors import ParameterError


class _Marker(Enum):
    """Sentinels for a missing value; they keep their identity when a declaration is pickled."""

    REQUIRED = "required"
    AS_DEFAULT = "as default"


REQUIRED: Any = _Marker.REQUIRED
AS_DEFAULT: Any = _Marker.AS_DEFAULT


def _snake(name: str) -> str:
    """Return the Python spelling of a parameter: ``maxWidth`` becomes ``max_width``."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


class Declared:
    """Pickles a declaration by its fields alone: what is cached on it may not be picklable."""

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Parameter(Declared):
    """One request parameter."""

    name: str  # the name in a request
    type: Any  # Python type; a ``Literal`` closes the set of choices
    meaning: str
    default: Any = REQUIRED  # left out means required
    low: int | None = None  # smallest allowed integer
    high: int | None = None  # largest allowed integer
    expects: str = ""  # the end of the error after "must be"; derived for choices and integers
    premium: bool = False  # takes effect only on plans that include it
    local: bool = False  # not part of the service: a hosted call drops it silently
    # the value that a local parameter has on the service; left out means its default
    served: Any = AS_DEFAULT
    # a local parameter that takes effect before inputs are sent, so hosted calls may have it too
    applied_here: bool = False
    digits: bool = False  # a text of digits: tables may hold it as a number
    secret: bool = False  # checked values are wrapped in a `Secret`, which is never shown
    longest: int | None = None  # most characters of a text
    # name of the subject that it may stand in place of: exactly one of the two is given
    alternative_to: str = ""
    more: tuple[Any, ...] = ()  # further choices of calls on this machine
    here: Any = AS_DEFAULT  # default in Python and on the command line, where it differs from the service's

    @property
    def service_value(self) -> Any:
        """Value that a local parameter has on the service."""
        return self.default if self.served is AS_DEFAULT else self.served

    @property
    def default_here(self) -> Any:
        """Default in Python and on the command line."""
        return self.default if self.here is AS_DEFAULT else self.here

    @property
    def required(self) -> bool:
        """Whether a request must carry the parameter."""
        return self.default is REQUIRED

    @cached_property
    def keyword(self) -> str:
        """Name of the parameter in Python calls."""
        return _snake(self.name)

    @property
    def shape(self) -> Shape:
        """What the type says."""
        return shape_of(self.type)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The allowed values of a closed set, else an empty tuple."""
        return self.shape.choices

    @property
    def expectation(self) -> str:
        """A description of valid values, as the end of "The parameter must be"."""
        if self.expects:
            return self.expects
        if self.choices:
            return f"one of: {', '.join(map(str, self.choices))}"
        kind = self.shape.kind
        if kind == "integer" and self.low is not None:
            return f"an integer from {self.low} to {self.high}"
        if self.longest is not None:
            return f"a string of at most {self.longest:,} characters"
        plain = {"integer": "an integer", "boolean": "true or false", "string": "a string"}
        return plain.get(kind, "a valid value")

    def sentence(self, name: str | None = None) -> str:
        """Return the error about a wrong value."""
        return str(must_be(name or self.name, self.expectation))

    def check_here(self, value: Any) -> Any:
        """Return the value if a call in Python may have it; see `check`."""
        more = isinstance(value, str) and value in self.more
        return value if more else self.check(value, self.keyword)

    def check(self, value: Any, name: str | None = None) -> Any:
        """Return the value if it is allowed."""
        if isinstance(value, Secret):
            return value
        if hasattr(value, "dtype") and hasattr(value, "item"):
            value = value.item()  # a NumPy scalar, as a cell of a frame is
        fits = strict(self.type, self.low, self.high)(value)
        if fits and (value is None or self.longest is None or len(value) <= self.longest):
            if self.shape.kind == "number" and value is not None:
                return float(value)
            return Secret(value) if self.secret else value
        raise ParameterError.must_be(name or self.name, self.expectation)
