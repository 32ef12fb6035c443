"""The Python source of an operation's function, made from its declaration.

`webanalytics.generate` writes it into a file for the operations of the package; that of an operation which is
registered later is compiled here.
"""

from __future__ import annotations

import builtins
import textwrap
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any

from webanalytics.core.operations.model import IMAGES, PAGES, RECORDS
from webanalytics.core.operations.types import Shape
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError
from webanalytics.operations import OPERATIONS, Operation, Parameter
from webanalytics.runs.boundary import awaited
from webanalytics.runs.functions.plain import plain


def secret_setting(operation: Operation, keyword: str, value: Any) -> Any:
    """Return a checked secret, which no traceback shows."""
    if not value:
        raise ParameterError.on(keyword, "is required")
    return operation.parameter(keyword).check(value, keyword)


def later_names(known: Collection[str]) -> list[str]:
    """Return the names of the functions of operations that were registered after the known ones."""
    return [item.function for item in OPERATIONS.values() if item.function not in known]


def later_function(module: str, name: str, *, blocking: bool = False) -> Callable[..., Any]:
    """Return the function of an operation that was registered at run time, for a module's `__getattr__`."""
    operation = next((item for item in OPERATIONS.values() if item.function == name), None)
    if operation is None:
        known = [item.function for item in OPERATIONS.values()]
        hint = "" if name.startswith("_") else did_you_mean(name, known)
        raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")

    function = _compiled(module_source([operation]), name)
    return plain(function) if blocking else awaited(function)


@lru_cache(maxsize=64)
def _compiled(source: str, name: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, f"<function {name}>", "exec"), namespace)  # noqa: S102 - made from our own declaration
    function: Callable[..., Any] = namespace[name]
    return function


_HEAD = '''\
"""Functions of operations that need nothing beyond their declaration.

Written by ``python -m webanalytics.generate``: change the declarations, not this file.
"""

from __future__ import annotations

{sequence}from typing import Unpack

import pandas as pd

from webanalytics.core.option_types import {options}
from webanalytics.operations import OPERATIONS
from webanalytics.runs.frames.inputs import Inputs{texts}
{secret}from webanalytics.runs.run import collect

__all__ = [{names}]
'''

WIDTH = 106
TEXTS = (
    """\
texts : str, iterable, Series, Index or DataFrame, optional
    Texts in place of pages, exactly one of the two: nothing is fetched. Of a DataFrame, the column
    ``text`` or the one that ``column`` names. The result then has, in place of ``url``, the column
    ``text`` with the first 80 characters of each; the index says which text a row belongs to.""",
    """\
language : str, optional
    Language of the texts, a code of ISO 639-1; by default that of each is detected.""",
)
_PYTHON = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "bytes": "bytes"}
_INPUTS = {
    "page": (PAGES, "Pages: URLs, saved HTML files, web archives, or a DataFrame with ``url`` and ``html``."),
    "image": (IMAGES, "Paths, URLs, or the bytes of images."),
    "record": (RECORDS, "What the function works on, each a text."),
}
_NO_REASON = {
    "page": "A page that cannot be fetched is a row.",
    "image": "A broken image is a row.",
    "record": "An input that cannot be used is a row.",
}


def module_source(operations: Iterable[Operation]) -> str:
    """Return the source of a module with the functions of operations."""
    chosen = sorted(operations, key=lambda operation: operation.function)
    body = "".join(f"\n\n{function_source(operation)}" for operation in chosen)
    head = _HEAD.format(
        sequence="from collections.abc import Sequence\n" * ("Sequence[" in body),
        secret="from webanalytics.runs.functions.source import secret_setting\n" * ("secret_setting" in body),
        texts=", pages_or_texts" * ("pages_or_texts" in body),
        options=", ".join(sorted({_option_type(operation) for operation in chosen})),
        names=", ".join(f'"{operation.function}"' for operation in chosen),
    )
    return head + body


def function_source(operation: Operation) -> str:
    """Return the source of an operation's asynchronous function."""
    name, settings = operation.function, operation.settings
    required = [item for item in settings if item.required]
    others = [item for item in settings if not item.required]
    texts = operation.alternative is not None
    arguments = [
        f"{operation.inputs}: Inputs{' | None = None' * texts}",
        "*",
        *(["texts: Inputs | None = None", "language: str | None = None"] * texts),
        *(f"{item.keyword}: {_annotation(item.shape)}" for item in required),
        *(f"{item.keyword}: {_annotation(item.shape)} = {_literal(item.default)}" for item in others),
        "column: str | None = None",
        f"**options: Unpack[{_option_type(operation)}]",
    ]
    masked = [  # early: tracebacks show variables
        f'    {key} = secret_setting(OPERATIONS["{operation.name}"], "{key}", {key})'
        for key in (item.keyword for item in settings if item.secret)
    ]
    lines = [
        f"async def {name}(",
        *(f"    {argument},{_shadowing(argument)}" for argument in arguments),
        ") -> pd.DataFrame:",
        textwrap.indent(f'{_raw(operation)}"""{_documentation(operation)}\n"""', "    "),
        *masked,
        "    return await collect(",
        f'        (OPERATIONS["{operation.name}"],),',
        f"        pages_or_texts({operation.inputs}, texts, language),"
        if texts
        else f"        {operation.inputs},",
        f'        "{operation.inputs}",',
        "        column=column,",
        *_settings(operation),
        "        options=options,",
        "    )",
    ]
    return "\n".join(lines) + "\n"


def _option_type(operation: Operation) -> str:
    return f"{operation.kind.title()}Options"


def _shadowing(argument: str) -> str:
    """Return the comment for the linter behind an argument that is called like a function of Python."""
    name = argument.partition(":")[0]
    return "  # noqa: A002 - the name of the parameter" if hasattr(builtins, name) else ""


def _settings(operation: Operation) -> list[str]:
    """Return the argument `settings`, on one line where that is not too long."""
    given = [f'"{item.keyword}": {item.keyword}' for item in operation.settings]
    line = f'        settings={{"{operation.name}": {{{", ".join(given)}}}}},'
    if len(line) <= WIDTH:
        return [line]
    entries = (f"                {item}," for item in given)
    return [
        "        settings={",
        f'            "{operation.name}": {{',
        *entries,
        "            },",
        "        },",
    ]


def _raw(operation: Operation) -> str:
    return "r" if "\\" in _documentation(operation) else ""


def _annotation(shape: Shape) -> str:
    if shape.alternatives:
        plain = " | ".join(_annotation(part) for part in shape.alternatives)
    elif shape.kind == "list" and shape.items is not None:
        plain = f"Sequence[{_annotation(shape.items)}]"
    else:
        plain = _PYTHON.get(shape.kind, "object")
    return f"{plain} | None" if shape.nullable else plain


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) and '"' not in value else repr(value)


def _documentation(operation: Operation) -> str:
    """Return the docstring, in the sections of numpydoc."""
    docs = operation.docs
    kind, meaning = _INPUTS[operation.kind]
    texts = operation.alternative is not None
    opening = docs.summary or operation.summary
    parameters = [
        f"{operation.inputs} : {docs.inputs_type or kind}{', optional' * texts}\n"
        + _filled(docs.inputs or meaning),
        *(TEXTS if texts else ()),
        *(
            f"{item.keyword} : {_described(item)}\n{_filled(docs.settings.get(item.keyword, item.meaning))}"
            for item in operation.settings
        ),
        f"column : str, optional\n{_filled(_column(operation))}",
        "**options\n"
        + _filled(
            "Options of this call, such as ``concurrency=8``: those of "
            f"`webanalytics.core.option_types.{_option_type(operation)}`."
        ),
    ]
    returns = docs.returns or _returned(operation)
    wrong = f"For a wrong argument, before any work. {docs.raises or _NO_REASON[operation.kind]}"
    sections = [
        ("Parameters", "\n".join(parameters)),
        ("Returns", f"pandas.DataFrame\n{_filled(returns)}"),
        (
            "Raises",
            f"ParameterError\n{_filled(wrong)}\nAuditInterrupted\n"
            + _filled("On Ctrl-C; carries the finished rows."),
        ),
        ("Notes", textwrap.fill(docs.notes, WIDTH - 4)),
        ("Examples", docs.examples.strip()),
    ]
    return "\n\n".join([opening, *(f"{name}\n{'-' * len(name)}\n{body}" for name, body in sections if body)])


def _filled(text: str) -> str:
    return textwrap.indent(textwrap.fill(text, WIDTH - 8), "    ")


def _column(operation: Operation) -> str:
    found = "; found automatically where there is no doubt" if operation.column_names else ""
    return f"Column of a DataFrame that holds the inputs{found}."


def _described(parameter: Parameter) -> str:
    shape = parameter.shape
    kinds = shape.alternatives or (shape,)
    kind = " or ".join(_kind(part) for part in kinds)
    if parameter.required:
        return kind
    return (
        f"{kind}, optional" if parameter.default is None else f"{kind}, default {_literal(parameter.default)}"
    )


def _kind(shape: Shape) -> str:
    if shape.choices:
        return "{" + ", ".join(_literal(choice) for choice in shape.choices) + "}"
    if shape.kind == "list" and shape.items is not None:
        return f"list of {_kind(shape.items)}"
    return _PYTHON.get(shape.kind, "object")


def _returned(operation: Operation) -> str:
    names = [operation.input_column, "status", *(item.column_name for item in operation.columns)]
    shown = ", ".join(f"``{name}``" for name in names)
    return f"One row per input, in input order: {shown}, ``error`` and ``error_type``."
