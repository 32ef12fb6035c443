"""The declaration of an operation, with its result fields and what page operations share.

An operation is declared once. Its Python function, the columns and dtypes of its frame, its flags on the
command line, the sentences about wrong parameters and its JSON Schema all come from that declaration.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal

from webanalytics.core import plugins
from webanalytics.core.messages import must_be
from webanalytics.core.operations.secret import Secret
from webanalytics.core.operations.types import Shape, holder, shape_of, strict
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


PAGES = "str, path, iterable, Series, Index or DataFrame"
"""What a function over pages takes, for its documentation."""
RECORDS = "str, iterable, Series, Index or DataFrame"
"""What a function over records takes."""
IMAGES = "str, bytes, path, iterable, Series, Index or DataFrame"
"""What a function over images takes."""


@dataclass(frozen=True)
class Docs:
    """What the documentation of an operation's function says beyond its parameters."""

    summary: str = ""  # first line; empty for the operation's own
    # meaning and type of the first argument; empty for those of all operations of the kind
    inputs: str = ""
    inputs_type: str = ""
    returns: str = ""  # content of the frame
    raises: str = ""  # what does not raise: the end of the sentence about `ParameterError`
    # meanings of settings in Python, by keyword, if they differ from the declaration
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: str = ""  # a section of its own, left out if empty
    examples: str = ""  # doctests, likewise


Kind = Literal["page", "image", "record"]
Dtype = Literal["string", "integer", "float", "boolean", "object"]

_DTYPES: dict[str, Dtype] = {
    "string": "string",
    "integer": "integer",
    "number": "float",
    "boolean": "boolean",
}


@dataclass(frozen=True)
class Field(Declared):
    """One field of an operation's result."""

    name: str  # the name in an answer
    type: Any  # Python type of the value; ``X | None`` where an answer may hold null
    meaning: str
    premium: bool = False  # absent on plans that do not include it
    # beyond the specification: a column of frames, never part of an answer of the service
    extra: bool = False
    column: str | None = None  # name of the column where it differs from the field's
    # name of the column in audits, where another operation has a field of the same name
    audit: str | None = None
    audited: bool = True  # whether an audit has the column
    path: tuple[str, ...] = ()  # for a column taken out of an object: where the value stands in the answer
    only_with: str = ""  # keyword of the local setting that fills the field; without it the field is empty
    # for an extra column: makes its value of an answer that lacks it, as a service's does
    derived: Callable[[Mapping[str, Any]], Any] | None = None

    @property
    def shape(self) -> Shape:
        """What the type says."""
        return shape_of(self.type)

    @property
    def column_name(self) -> str:
        """Name of the column in the operation's own frame."""
        return self.column or self.name

    @property
    def audit_name(self) -> str:
        """Name of the column in an audit's frame."""
        return self.audit or self.column_name

    @property
    def dtype(self) -> Dtype:
        """The dtype of the field's column."""
        return _DTYPES.get(self.shape.kind, "object")

    def read(self, data: Mapping[str, Any]) -> Any:
        """Return the field's value in an answer, or None."""
        if self.derived is not None and self.name not in data:
            return self.derived(data)
        if not self.path:
            return data.get(self.name)
        value: Any = data
        for key in self.path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def holds(self, value: Any) -> bool:
        """Return whether the field may have a value; a missing one, None, is always allowed.

        >>> Field("wordCount", int, "Words.").holds(12), Field("wordCount", int, "Words.").holds(12.5)
        (True, False)
        """
        return value is None or self._holds(value)

    @cached_property
    def _holds(self) -> Callable[[Any], bool]:
        return holder(self.type)


@dataclass(frozen=True)
class Operation(Declared):
    """One of the package's operations."""

    name: str  # name in the code, in errors and prices
    path: str  # last part of the service's path, ``/v1/<path>``; empty if no service offers it
    method: Literal["POST", "GET"]  # HTTP method of the service
    summary: str
    kind: Kind  # whether an input is a page or an image to fetch, or a complete record
    subject: str  # name of the parameter that differs from row to row
    input_column: str  # column that shows the input as it was given
    parameters: tuple[Parameter, ...]  # the subject first; sentences about wrong values go by this order
    fields: tuple[Field, ...]  # what an answer holds, in order
    credits: int
    # the pure function, as ``package.module:function``: worker processes import it from there
    analysis: str = ""
    function: str = ""  # name in Python and on the command line; by default `name`
    inputs: str = ""  # name of the function's first argument; by default the plural of `subject`
    # names, in lower case, by which the column of inputs in a DataFrame is detected
    column_names: tuple[str, ...] = ()
    # regular expression of inputs, case ignored, by which their column is found where no name fits; without
    # one, inputs are any text
    column_pattern: str = ""
    # columns of the table on a terminal, with their headings; by default the first ones
    table: tuple[tuple[str, str], ...] = ()
    title: str = ""  # heading in documents and forms; by default the name with a capital
    chart: str = ""  # the chart of `webanalytics.charts` that shows the frame
    audited: bool = False  # whether audits have the operation's columns
    formats: tuple[str, ...] = ("json", "xml", "yaml", "csv")
    graphql: bool = False  # whether the GraphQL endpoint offers it
    # example call of the service: its ``parameters`` and the ``data`` of the answer; or the JSON file that
    # has them, as ``package:file``
    example: dict[str, Any] | str | None = field(default=None, hash=False, repr=False)
    docs: Docs = field(default_factory=Docs, hash=False, repr=False)  # documentation of the function

    def __post_init__(self) -> None:
        derived = {"function": self.name, "inputs": f"{self.subject}s", "title": self.name.capitalize()}
        for name, value in derived.items():
            if not getattr(self, name):
                object.__setattr__(self, name, value)

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by its request name or its Python keyword."""
        return next(item for item in self.parameters if name in (item.name, item.keyword))

    @cached_property
    def subject_parameter(self) -> Parameter:
        """The parameter that differs from row to row."""
        return self.parameter(self.subject)

    @cached_property
    def alternative(self) -> Parameter | None:
        """The parameter that may stand in place of the subject."""
        return next((item for item in self.parameters if item.alternative_to == self.subject), None)

    @cached_property
    def looks_like_input(self) -> Callable[[str], object]:
        """Return a match if a text looks like an input, None if any text may be one."""
        return re.compile(self.column_pattern or "(?!)", re.IGNORECASE).match

    @cached_property
    def served(self) -> tuple[Parameter, ...]:
        """The parameters that the service has."""
        return tuple(item for item in self.parameters if not item.local)

    @property
    def settings(self) -> tuple[Parameter, ...]:
        """The parameters that are the same for every row."""
        return tuple(
            item for item in self.parameters if item.name != self.subject and not item.alternative_to
        )

    @property
    def columns(self) -> Iterator[Field]:
        """The fields that are columns besides the input's own."""
        return (item for item in self.fields if item.column_name != self.input_column)

    @cached_property
    def _certain(self) -> tuple[str, ...]:
        """Fields that every answer about a record has."""
        plain = (item for item in self.fields if not (item.premium or item.extra))
        known = (item.name for item in plain if not item.shape.nullable)
        return tuple(known) if self.kind == "record" else ()

    def is_told(self, data: Mapping[str, Any]) -> bool:
        """Return whether an answer has all fields that every answer about a record has."""
        if any(data.get(name) is None for name in self._certain):
            return False
        return any(item.read(data) is not None for item in self.fields)

    def check_settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all settings by Python keyword, defaults filled in."""
        checked = {}
        for item in self.settings:
            value = given.get(item.keyword, item.default_here)
            if value is REQUIRED:
                raise ParameterError.required(item.keyword)
            checked[item.keyword] = item.check_here(value)
        return checked


PAGE_URL = Parameter("url", str, "URL of the web page.", expects="a valid URL in http or https format")
"""The parameter that every page operation has."""
PAGE_COLUMNS = ("url", "urls", "link", "links", "loc", "href", "address", "page", "page_url")
"""Names of columns that hold pages."""
PAGE_PATTERN = r"\s*https?://\S"
"""What addresses of pages look like."""
PAGE_TEXT = Parameter(
    "text",
    str,
    "A text in place of a page: nothing is fetched.",
    default=None,
    longest=50_000,
    alternative_to=PAGE_URL.name,
)
"""The parameter that some page operations have beside it."""

TAKEN = frozenset(
    "demo docs downloads graphql keys logs mcp mute plot prune report segments serve site watch".split()  # noqa: SIM905
)
"""Names of commands, paths and accessors that are no operations."""


def _take(name: str, operation: Any) -> None:
    """Add the operation that another package declares under a name."""
    if not isinstance(operation, Operation):
        raise ValueError(f"it is no Operation but a {type(operation).__name__}.")
    for what, text in (("entry point", name), ("function", operation.function), ("path", operation.path)):
        if not re.fullmatch("[a-z][a-z0-9_]*", text) or keyword.iskeyword(text):
            raise ValueError(f"its {what} must be a word of small letters, digits and underscores.")
    if operation.name != name:
        raise ValueError(f"its operation is called {operation.name!r}, and both names must be the same.")
    if operation.audited:
        raise ValueError("its operation must not be `audited`: the columns of audits are this package's.")
    _refuse_taken(operation)
    declare(operation)


_PLUGINS = plugins.Plugins(plugins.OPERATIONS, _take)

OPERATIONS: plugins.Register[Operation] = plugins.Register(_PLUGINS)
"""The operations that users and services have, by name."""

DECLARED: plugins.Register[Operation] = plugins.Register(_PLUGINS)
"""All operations by name, including those that no service offers."""


def declare(*operations: Operation) -> None:
    """Add operations permanently; those without a path are for the package itself."""
    for operation in operations:
        DECLARED[operation.name] = operation
        if operation.path:
            OPERATIONS[operation.name] = operation


@contextmanager
def register(operation: Operation) -> Iterator[Operation]:
    """Add an operation for the duration of the context, with its function, command, route and documentation.

    Raises `ValueError` where its name, its path or the name of its function is taken.
    """
    _refuse_taken(operation)
    declare(operation)
    try:
        yield operation
    finally:
        DECLARED.pop(operation.name, None)
        OPERATIONS.pop(operation.name, None)


def _refuse_taken(operation: Operation) -> None:
    for known in DECLARED.values():
        taken = {known.name, known.function} & {operation.name, operation.function}
        if taken or known.path == operation.path:
            raise ValueError(f"there is an operation {known.name} already.")
    others = {*TAKEN, *sys.modules["webanalytics"].__all__}
    for name in (operation.name, operation.function, operation.path):
        if name in others or find_spec(f"webanalytics.{name}"):
            raise ValueError(f"the name {name} is taken.")


def by_function(name: str) -> Operation | None:
    """Return the operation whose Python function, or which itself, has a name.

    >>> from webanalytics.operations import by_function
    >>> by_function("phones").name, by_function("phone").name, by_function("nonsense")
    ('phone', 'phone', None)
    """
    return OPERATIONS.get(name) or next((item for item in OPERATIONS.values() if item.function == name), None)


def example_of(operation: Operation) -> dict[str, Any] | None:
    """Return the example call of an operation."""
    if not isinstance(operation.example, str):
        return operation.example
    from importlib.resources import files  # which is slow to import

    package, _, name = operation.example.partition(":")
    example: dict[str, Any] = json.loads(files(package).joinpath(name).read_bytes())
    return example
