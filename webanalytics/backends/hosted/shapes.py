"""What is to be done with the answers of one operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webanalytics.operations import Field, Operation


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
    """

    premium: tuple[str, ...]
    final: Field | None
    emptied: Mapping[str, str]
    image: bool
    large: bool

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
        )
