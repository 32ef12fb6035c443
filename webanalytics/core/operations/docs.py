"""What the documentation of an operation's function says, as its declaration has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PAGES = "str, path, iterable, Series, Index or DataFrame"
"""What a function over pages takes, for its documentation."""
RECORDS = "str, iterable, Series, Index or DataFrame"
"""What a function over records takes."""
IMAGES = "str, bytes, path, iterable, Series, Index or DataFrame"
"""What a function over images takes."""


@dataclass(frozen=True)
class Docs:
    """What the documentation of an operation's function says beyond its parameters.

    Attributes
    ----------
    summary : str
        First line; empty for the operation's own.
    inputs, inputs_type : str
        Meaning and type of the first argument; empty for those of all operations of the kind.
    returns : str
        Content of the frame.
    raises : str
        What does not raise: the end of the sentence about `ParameterError`.
    settings : mapping of str to str
        Meanings of settings in Python, by keyword, if they differ from the declaration.
    notes, examples : str
        Separate sections, left out if empty; examples are doctests.
    """

    summary: str = ""
    inputs: str = ""
    inputs_type: str = ""
    returns: str = ""
    raises: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: str = ""
    examples: str = ""
