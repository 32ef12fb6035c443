"""HTML from templates, escaped by default: the one builder of reports, notebook views and widgets."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

# What would not show, or would change how its surroundings show: control characters, line and paragraph
# separators, embeddings, overrides and isolates of the writing direction, lone surrogates, noncharacters.
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """Return text in which invisible characters are named.

    Examples
    --------
    >>> print(visible("photo\u202egpj.exe"))
    photo⟨U+202E⟩gpj.exe
    """
    return UNSEEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def render(template: str, **values: Any) -> Markup:
    """Return a template of the package as HTML, every value escaped and every character of it visible."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 - escaped by the template


@cache
def _environment() -> Environment:
    made = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        loader=FunctionLoader(_source),
    )
    made.filters["number"] = lambda value: f"{value:,}"
    return made


def _source(name: str) -> str:
    return resources.files("webanalytics").joinpath(name).read_text("utf-8").replace("\r\n", "\n")
