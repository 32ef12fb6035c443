"""HTML from templates, escaped by default: the one builder of reports, notebook views and widgets."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from webanalytics.core.messages import UNSEEN as UNSEEN
from webanalytics.core.messages import visible as visible
from webanalytics.core.run_options import options

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: Any) -> Markup:
    """Return a template of the package as HTML, every value escaped and every character of it visible."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 - escaped by the template


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        loader=FunctionLoader(_source),
    )
    made.globals["theme"] = lambda: options.theme
    made.filters["number"] = lambda value: f"{value:,}"
    return made


def _source(name: str) -> str:
    return resources.files("webanalytics").joinpath(name).read_text("utf-8").replace("\r\n", "\n")
