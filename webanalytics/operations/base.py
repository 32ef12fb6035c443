"""What a declaration is made of: parameters, result fields, and the operation that holds them.

An operation is declared once. Columns and dtypes of its frame, its command-line flags, the
sentences about wrong parameters and its JSON Schema all come from that one declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

from webanalytics.errors import ParameterError
from webanalytics.operations.holding import holder
from webanalytics.operations.secret import Secret

Kind = Literal["page", "image", "record"]
Dtype = Literal["string", "integer", "float", "boolean", "object"]
REQUIRED: Any = object()
AS_DEFAULT: Any = object()

_DTYPES: dict[Any, Dtype] = {str: "string", int: "integer", float: "float", bool: "boolean"}


def _parts(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union but None, or the one type that it is."""
    if get_origin(annotation) is UnionType:
        return tuple(part for part in get_args(annotation) if part is not type(None))
    return (annotation,)


def _without_none(annotation: Any) -> Any:
    """Return ``X`` for ``X | None``."""
    (annotation,) = _parts(annotation)
    return annotation


def _scalar(annotation: Any) -> Any:
    """Return the scalar type behind an annotation: ``str`` for a set of strings."""
    annotation = _without_none(annotation)
    return type(get_args(annotation)[0]) if get_origin(annotation) is Literal else annotation


def _snake(name: str) -> str:
    """Return the Python spelling of a parameter: ``maxWidth`` becomes ``max_width``."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


@cache
def _validator(annotation: Any, low: int | None, high: int | None) -> Callable[[Any], Any]:
    from pydantic import Field as Constraint
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[annotation, Constraint(ge=low, le=high)])
    return lambda value: adapter.validate_python(value, strict=True)


@dataclass(frozen=True)
class Parameter:
    """One request parameter.

    Attributes
    ----------
    name : str
        The name in a request.
    type : type
        Python type; a ``Literal`` closes the set of choices.
    meaning : str
        One sentence for the documentation.
    default : object
        Left out means required.
    low, high : int, optional
        Smallest and largest allowed integer.
    expects : str
        How the error sentence goes on after "must be"; derived for choices and integers.
    premium : bool
        Takes effect only on plans that include it.
    local : bool
        Not part of the service: a hosted call drops it in silence.
    served : object
        The value that a local parameter has on the service; left out means its default.
    secret : bool
        Checked values are wrapped in a `Secret`, which shows itself nowhere.
    """

    name: str
    type: Any
    meaning: str
    default: Any = REQUIRED
    low: int | None = None
    high: int | None = None
    expects: str = ""
    premium: bool = False
    local: bool = False
    served: Any = AS_DEFAULT
    secret: bool = False

    @property
    def service_value(self) -> Any:
        """Value that a local parameter has on the service.

        Examples
        --------
        >>> Parameter("details", bool, "Add details.", default=True, local=True, served=False).service_value
        False
        """
        return self.default if self.served is AS_DEFAULT else self.served

    @property
    def required(self) -> bool:
        """Whether a request must carry the parameter."""
        return self.default is REQUIRED

    @cached_property
    def keyword(self) -> str:
        """Name of the parameter in Python calls."""
        return _snake(self.name)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The allowed values of a closed set, else an empty tuple."""
        annotation = _without_none(self.type)
        return get_args(annotation) if get_origin(annotation) is Literal else ()

    @property
    def expectation(self) -> str:
        """What a right value is, as the end of "The parameter must be"."""
        if self.expects:
            return self.expects
        if self.choices:
            return f"one of: {', '.join(map(str, self.choices))}"
        if _without_none(self.type) is int and self.low is not None:
            return f"an integer from {self.low} to {self.high}"
        return {int: "an integer", bool: "true or false", str: "a string"}.get(
            _without_none(self.type), "a valid value"
        )

    @cached_property
    def _is_certain(self) -> Callable[[Any], bool]:
        """Tells whether a value of a plain type is right at first sight; the validator judges the rest."""
        if len(_parts(self.type)) != 1:
            return lambda value: False  # noqa: ARG005 - the same form as the others
        plain, low, high = _without_none(self.type), self.low, self.high
        if plain is str:
            return lambda value: type(value) is str
        if plain is int and low is not None and high is not None:
            return lambda value: type(value) is int and low <= value <= high
        known = frozenset(choice for choice in self.choices if type(choice) is str)
        return lambda value: type(value) is str and value in known

    @cached_property
    def _validate(self) -> Callable[[Any], Any]:
        return _validator(self.type, self.low, self.high)

    def sentence(self, name: str | None = None) -> str:
        """Return the sentence about a wrong value."""
        return f"The `{name or self.name}` parameter must be {self.expectation}."

    def check(self, value: Any, name: str | None = None) -> Any:
        """Return the value if it is allowed.

        Raises
        ------
        ParameterError
            Naming the parameter (as ``name`` where given) and what it may be.
        """
        if self._is_certain(value):
            return Secret(value) if self.secret else value
        if isinstance(value, Secret):
            return value
        from pydantic import ValidationError

        if hasattr(value, "dtype") and hasattr(value, "item"):
            value = value.item()  # a NumPy scalar, as a cell of a frame is
        try:
            checked = self._validate(value)
            return Secret(checked) if self.secret else checked
        except ValidationError:
            pass  # raised below, outside this block: the wrong value, maybe a secret, is not chained to it
        raise ParameterError(self.sentence(name), name or self.name)


@dataclass(frozen=True)
class Field:
    """One field of an operation's result.

    Attributes
    ----------
    name : str
        The name in an answer.
    type : type
        Python type of the value; ``X | None`` where an answer may hold null.
    meaning : str
        One sentence for the documentation.
    premium : bool
        Absent on plans that do not include it.
    extra : bool
        Beyond the specification: a column of frames, never part of an answer of the service.
    column : str, optional
        Name of the column where it differs from the field's.
    audit : str, optional
        Name of the column in audits, where another operation has a field of the same name.
    path : tuple of str
        For a column taken out of an object: where the value stands in the answer.
    """

    name: str
    type: Any
    meaning: str
    premium: bool = False
    extra: bool = False
    column: str | None = None
    audit: str | None = None
    path: tuple[str, ...] = ()

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
        """Which kind of column holds the field."""
        return _DTYPES.get(_scalar(self.type), "object")

    def read(self, data: Mapping[str, Any]) -> Any:
        """Return the field's value in an answer, None where it has none."""
        value: Any = data
        for key in self.path or (self.name,):
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def holds(self, value: Any) -> bool:
        """Tell whether the field may have a value; None, for one that is missing, it always may.

        Examples
        --------
        >>> Field("wordCount", int, "Words.").holds(12), Field("wordCount", int, "Words.").holds(12.5)
        (True, False)
        """
        return value is None or self._holds(value)

    @cached_property
    def _holds(self) -> Callable[[Any], bool]:
        return holder(self.type)


@dataclass(frozen=True)
class Operation:
    """One of the package's operations.

    Attributes
    ----------
    name : str
        Name in Python, on the command line, and of the module in `webanalytics.analysis`.
    path : str
        Last part of the service's path, ``/v1/<path>``.
    method : {"POST", "GET"}
        HTTP method of the service.
    summary : str
        One sentence: what it is for.
    kind : {"page", "image", "record"}
        Whether an input is a page or an image to fetch, or all there is to know.
    subject : str
        Name of the parameter that differs from row to row.
    input_column : str
        Column that shows the input as it was given.
    parameters : tuple of Parameter
        The subject first; sentences about wrong values go by this order.
    fields : tuple of Field
        What an answer holds, in order.
    credits : int
        Price of one successful call to the service.
    formats : tuple of str
        Response formats of the service.
    graphql : bool
        Whether the GraphQL endpoint offers it.
    """

    name: str
    path: str
    method: Literal["POST", "GET"]
    summary: str
    kind: Kind
    subject: str
    input_column: str
    parameters: tuple[Parameter, ...]
    fields: tuple[Field, ...]
    credits: int
    formats: tuple[str, ...] = ("json", "xml", "yaml", "csv")
    graphql: bool = False

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by its request name or its Python keyword."""
        return next(item for item in self.parameters if name in (item.name, item.keyword))

    @property
    def settings(self) -> tuple[Parameter, ...]:
        """The parameters that are the same for every row."""
        return tuple(item for item in self.parameters if item.name != self.subject)

    @property
    def columns(self) -> Iterator[Field]:
        """The fields that are columns beside the input's own."""
        return (field for field in self.fields if field.column_name != self.input_column)

    @cached_property
    def _certain(self) -> tuple[str, ...]:
        """Fields that no answer about a record is without."""
        plain = (item for item in self.fields if not (item.premium or item.extra))
        known = (item.name for item in plain if type(None) not in get_args(item.type))
        return tuple(known) if self.kind == "record" else ()

    def is_told(self, data: Mapping[str, Any]) -> bool:
        """Tell whether an answer has what every answer has: of a record, all that is certain."""
        if any(data.get(name) is None for name in self._certain):
            return False
        return any(item.read(data) is not None for item in self.fields)

    def check_settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all settings by Python keyword, defaults filled in.

        Raises
        ------
        ParameterError
            For the first wrong value in the order of declaration.
        """
        checked = {}
        for item in self.settings:
            value = given.get(item.keyword, item.default)
            if value is REQUIRED:
                raise ParameterError(f"The `{item.keyword}` parameter is required.", item.keyword)
            checked[item.keyword] = item.check(value, item.keyword)
        return checked
