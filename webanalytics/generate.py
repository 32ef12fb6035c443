"""Writes what follows from the declarations: ``python -m webanalytics.generate``, with ``--check`` in CI.

Committed files keep signatures and documentation where editors and type checkers find them: the functions
in `webanalytics.runs.functions.generated`, their blocking twins in `webanalytics.sync`,
`webanalytics.aio`, and the names in `webanalytics`.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

import webanalytics
import webanalytics.audits.function
import webanalytics.audits.moves.landing
import webanalytics.audits.moves.plan
import webanalytics.audits.site_functions
import webanalytics.crawls.function
import webanalytics.records.dane.function
import webanalytics.records.hosts.function
import webanalytics.records.images.function
import webanalytics.records.phones.function
import webanalytics.runs.functions.keywords
from webanalytics.cli.tables import parser as command_line
from webanalytics.core.run_options import RECORDS
from webanalytics.operations import OPERATIONS
from webanalytics.runs.functions.source import module_source

PACKAGE = Path(webanalytics.__file__).parent
WRITTEN_BY_HAND = (
    webanalytics.audits.function,
    webanalytics.audits.moves.landing,
    webanalytics.audits.moves.plan,
    webanalytics.audits.site_functions,
    webanalytics.crawls.function,
    webanalytics.records.dane.function,
    webanalytics.records.hosts.function,
    webanalytics.records.images.function,
    webanalytics.records.phones.function,
    webanalytics.runs.functions.keywords,
)
GENERATED = "webanalytics.runs.functions.generated"

_SYNC = '''\
"""The blocking functions: those of `webanalytics.aio`, each run on its own event loop.

Each is imported when it is called, after a worker process has begun to import what it needs.
Written by ``python -m webanalytics.generate``: change the declarations, or the generator, not this file.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

{later}
from webanalytics.runs.plain import Plain

if TYPE_CHECKING:
{imports}

{functions}

__all__ = [
{names}]

_HOMES = {{
{homes}}}
_BESIDES = {{
{besides}}}

globals().update({{name: Plain(name, home) for name, home in _HOMES.items()}})


def __getattr__(name: str) -> Any:
    if name in _BESIDES:
        return getattr(import_module(_BESIDES[name]), name)
    return later_function(__name__, name, blocking=True)


def __dir__() -> list[str]:
    return [*__all__, *later_names(__all__)]
'''

_AIO = '''\
"""The functions of webanalytics for asynchronous code: await each of them.

`webanalytics.metadata` and the other plain functions are these, each run on its own event loop.
Written by ``python -m webanalytics.generate``: change the declarations, or the generator, not this file.

Examples
--------
>>> import asyncio
>>> import webanalytics as wa
>>> frame = asyncio.run(wa.aio.hmac(["one", "two"], secret="key"))
>>> frame.shape
(2, 7)
"""

from __future__ import annotations

from typing import Any

{imports}

__all__ = [
{names}]

{functions}

def __getattr__(name: str) -> Any:
    return later_function(__name__, name)


def __dir__() -> list[str]:
    return [*__all__, *later_names(__all__)]
'''

_OPTION_TYPES = '''\
"""The options as keyword arguments, for editors and type checkers; left out means the session's value.

Written by ``python -m webanalytics.generate`` from `webanalytics.core.run_options.RECORDS`: change that.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any, TypedDict

from webanalytics.core.access import Access
from webanalytics.core.bot_key import BotKey'''
_OPTIONS_OF = {
    "page": "those over pages",
    "image": "those over images",
    "record": "those over records",
    "site": "those that read files of sites",
    "host": "those that ask hosts for their certificates",
    "run": "all functions",
}

_SUMMARIES = '''\
"""What each sub-command does: written by ``python -m webanalytics.generate`` from the command line itself."""

from __future__ import annotations

SUMMARIES = {
'''

_BESIDES = {
    "compare": "webanalytics.audits.storage.functions",
    "content_gap": "webanalytics.audits.content.content_gap",
    "history": "webanalytics.audits.history.history",
    "load": "webanalytics.audits.storage.functions",
    "logs": "webanalytics.audits.logs.table",
    "tlsa_record": "webanalytics.records.dane.tlsa",
}
"""Names in `webanalytics.sync` that are not functions of this kind, and their modules."""
_LATER = "from webanalytics.runs.functions.source import later_function, later_names"


def files() -> dict[Path, str]:
    """Return the contents of every file that follows from the declarations."""
    homes = {name: module.__name__ for module in WRITTEN_BY_HAND for name in module.__all__}
    generated = [operation for operation in OPERATIONS.own.values() if operation.function not in homes]
    homes |= {operation.function: GENERATED for operation in generated}
    return {
        PACKAGE / "runs" / "functions" / "generated.py": module_source(generated),
        PACKAGE / "sync.py": _SYNC.format(
            later=_LATER,
            imports=_inside(_imports(homes, "from webanalytics.runs.plain import plain", _BESIDES)),
            names=_entries({*homes, *_BESIDES}),
            homes=_inside("".join(f'"{name}": "{home}",\n' for name, home in sorted(homes.items()))),
            besides=_inside("".join(f'"{name}": "{home}",\n' for name, home in sorted(_BESIDES.items()))),
            functions=_inside(_wrapped(homes, "plain").rstrip("\n")),
        ),
        PACKAGE / "aio.py": _AIO.format(
            imports=_imports(homes, "from webanalytics.runs.boundary import awaited", {}, _LATER),
            names=_entries(homes),
            functions=_wrapped(homes, "awaited"),
        ),
        PACKAGE / "core" / "option_types.py": _option_types(),
        PACKAGE / "__init__.py": _package(sorted({*homes, *_BESIDES})),
        PACKAGE / "cli" / "summaries.py": _summaries(),
    }


def _summaries() -> str:
    """Return the file with what each sub-command does, for a help that loads none of them."""
    width, os.environ["COLUMNS"] = os.environ.get("COLUMNS"), "10000"  # as wide: one line each
    lines = re.findall(r"^    ([a-z-]+)\s+(.+)$", command_line().format_help(), re.MULTILINE)
    del os.environ["COLUMNS"]
    os.environ.update({} if width is None else {"COLUMNS": width})
    entries = "".join(f'    "{name}": {_text(summary)},\n' for name, summary in lines)
    return f"{_SUMMARIES}{entries}}}\n"


def _text(summary: str) -> str:
    return json.dumps(summary, ensure_ascii=False)


def _alias(home: str) -> str:
    """Return what a module is called where functions are taken from it: ``dane_function``."""
    return "_".join(home.split(".")[-2:])


def _inside(lines: str) -> str:
    """Return lines as those of a block."""
    return textwrap.indent(lines, "    ")


def _imports(homes: Mapping[str, str], wrapper: str, besides: Mapping[str, str], *others: str) -> str:
    """Return the import lines of a file of functions."""
    lines = {
        f"from {home.rpartition('.')[0]} import {home.rpartition('.')[2]} as {_alias(home)}"
        for home in homes.values()
    }
    for home in set(besides.values()):
        names = ", ".join(sorted(name for name, other in besides.items() if other == home))
        lines.add(f"from {home} import {names}")
    return "\n".join(sorted({*lines, wrapper, *others}, key=str.split))


def _wrapped(homes: Mapping[str, str], wrapper: str) -> str:
    return "".join(f"{name} = {wrapper}({_alias(homes[name])}.{name})\n" for name in sorted(homes))


def _option_types() -> str:
    """Return the file with a type for the options of each kind of functions, and one for all options."""
    groups: dict[frozenset[str], str] = {}
    for item in RECORDS.values():
        groups.setdefault(item.serves, "_" + "".join(sorted(one[0].upper() for one in item.serves or "S")))
    lines = [_OPTION_TYPES]
    for serves, name in groups.items():
        shared = (item for item in RECORDS.values() if item.serves == serves)
        lines += ["", "", f"class {name}(TypedDict, total=False):"]
        lines += [f"    {item.key}: {item.annotation}" for item in shared]
    for kind, what in _OPTIONS_OF.items():
        bases = [name for serves, name in groups.items() if kind in serves]
        if kind == "run":
            bases = ["PageOptions", *(name for serves, name in groups.items() if "page" not in serves)]
        lines += ["", "", f"class {kind.title()}Options({', '.join(bases)}, total=False):"]
        lines += [f'    """Options of {what}."""']
    return "\n".join(lines) + "\n"


def _entries(names: Iterable[str]) -> str:
    return "".join(f'    "{name}",\n' for name in sorted(names, key=lambda name: (name.islower(), name)))


def _package(functions: list[str]) -> str:
    """Return the package's own file with the names of the functions."""
    text = (PACKAGE / "__init__.py").read_text("utf-8")
    lines = "".join(f"        {name},\n" for name in functions)
    text = re.sub(
        r"(from webanalytics\.sync import \(\n).*?(    \)\n)",
        rf"\g<1>{lines}\g<2>",
        text,
        count=1,
        flags=re.S,
    )
    names = _entries({*functions, *webanalytics._HOME, *webanalytics._MODULES, "__version__"})
    return re.sub(r"(\n__all__ = \[\n).*?(\]\n)", rf"\g<1>{names}\g<2>", text, count=1, flags=re.S)


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with ``--check`` show which are out of date and return 1 if any is."""
    parser = argparse.ArgumentParser(prog="python -m webanalytics.generate", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 where a file is stale"
    )
    check = parser.parse_args(arguments).check
    stale = 0
    for path, wanted in files().items():
        found = path.read_text("utf-8") if path.exists() else ""
        if found == wanted:
            continue
        stale += 1
        if not check:
            path.write_text(wanted, "utf-8")
            continue
        name = str(path.relative_to(PACKAGE.parent))
        lines = difflib.unified_diff(
            found.splitlines(True), wanted.splitlines(True), name, f"{name} generated"
        )
        sys.stdout.writelines(lines)
    return int(bool(check and stale))


if __name__ == "__main__":
    sys.exit(main())
