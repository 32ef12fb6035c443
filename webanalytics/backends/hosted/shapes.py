"""What is to be done with the answers of one operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webanalytics.operations import Field, Operation
from webanalytics.operations.holding import DEEPEST, is_deep

_SCALARS = frozenset((str, bool, float, type(None)))
_MOST_FORMS = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """What is to be done with the answers of one operation.

    Attributes
    ----------
    premium : tuple of str
        Fields that a plan may leave out.
    final : Field or None
        The field that tells where a fetch ended.
    emptied : Mapping
        What takes the place of fields that were not asked for here, and that a service always has.
    image, large : bool
        Whether there is an image to fetch, and whether answers are packed until the frame is built.
    operation : Operation
        The declaration that an answer must fit.
    fields : tuple of Field
        Its fields that are taken from an answer.
    """

    premium: tuple[str, ...]
    final: Field | None
    emptied: Mapping[str, str]
    image: bool
    large: bool
    operation: Operation
    fields: tuple[Field, ...]
    _good: set[tuple[object, ...]] = field(default_factory=set, repr=False)

    def fault(self, data: Mapping[str, Any]) -> str:
        """Return a sentence about what is wrong with an answer, empty where nothing is."""
        form = (*data, *map(type, data.values()))
        if form in self._good:
            return ""
        for item in self.fields:
            if not item.holds(item.read(data)):
                return f"The hosted API answered with a `{item.name}` that is not of its documented type."
        if not self.operation.is_told(data):
            return f"The hosted API answered without a value of its `{self.operation.path}`."
        if is_deep(data):
            return f"The hosted API answered with lists or objects that are more than {DEEPEST} levels deep."
        if len(self._good) < _MOST_FORMS and _SCALARS.issuperset(form[len(data) :]):
            self._good.add(form)  # where types are all there is to check: most records come in one form
        return ""

    @property
    def plain(self) -> bool:
        """Whether an answer's data are all there is."""
        return not (self.premium or self.final or self.emptied or self.image or self.large)

    @classmethod
    def of(cls, operation: Operation, settings: Mapping[str, Any]) -> Shape:
        """Return the shape of an operation's answers in a run with these settings."""
        names = {item.name for item in operation.fields}
        without_body = "responseBody" in names and not settings.get("body")
        return cls(
            tuple(item.name for item in operation.fields if item.premium),
            next((item for item in operation.fields if item.column_name == "final_url"), None),
            {"responseBody": ""} if without_body else {},
            operation.kind == "image",
            operation.kind == "page",
            operation,
            tuple(item for item in operation.fields if not (item.extra and operation.kind == "image")),
        )
