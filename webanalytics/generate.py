"""Writes what follows from the declarations: ``python -m webanalytics.generate``, with ``--check`` in CI.

Committed files keep signatures and documentation where editors and type checkers find them: the functions
in `webanalytics.runs.functions.generated`, the types of `webanalytics.sync` and `webanalytics.aio`, and the
names in `webanalytics`.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import webanalytics
from webanalytics.cli.names import SUMMARIES, SUMMARIES_FILE
from webanalytics.core.run_options import RECORDS
from webanalytics.operations import AUDIT_PAGES, CRAWL_PAGES, OPERATIONS
from webanalytics.runs.functions.homes import BLOCKING, GENERATED, HOMES
from webanalytics.runs.functions.source import module_source

PACKAGE = Path(webanalytics.__file__).parent

_TYPES = """\
# The types of webanalytics/{name}.py: written by python -m webanalytics.generate.
from typing import Any

{imports}

__all__ = [
{names}]

{functions}
def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...
"""

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


def files() -> dict[Path, str]:
    """Return the contents of every file that follows from the declarations."""
    own = OPERATIONS.own.values()
    generated = [item for item in own if HOMES.get(item.function, GENERATED).endswith(GENERATED)]
    homes = HOMES | {item.function: f"webanalytics.{GENERATED}" for item in generated}
    functions = PACKAGE / "runs" / "functions"
    return {
        functions / "generated.py": module_source(generated),
        functions / "analyses.json": _analyses([item.function for item in generated]),
        PACKAGE / "sync.pyi": _types("sync", homes, "webanalytics.runs.functions.plain", "plain", BLOCKING),
        PACKAGE / "aio.pyi": _types("aio", homes, "webanalytics.runs.boundary", "awaited", {}),
        PACKAGE / "core" / "option_types.py": _option_types(),
        PACKAGE / "__init__.py": _package(sorted({*homes, *BLOCKING})),
        SUMMARIES_FILE: _summaries(),
    }


def _summaries() -> str:
    """Return the file with what each sub-command does, as declarations say it of operations."""
    said = SUMMARIES | {item.function: item.summary for item in OPERATIONS.own.values()}
    head = SUMMARIES_FILE.read_text("utf-8").partition("\n")[0]
    return f"{head}\n\n" + "".join(f"{name} = {_text(summary)}\n" for name, summary in said.items())


def _text(summary: str) -> str:
    return json.dumps(summary, ensure_ascii=False)


def _analyses(declared: Iterable[str]) -> str:
    """Return the file that names analyses, which a first call reads before it imports any declaration."""
    own = {item.function: (item,) for item in OPERATIONS.own.values() if item.kind in ("page", "image")}
    several = sorted((own | {"audit": AUDIT_PAGES, "crawl": CRAWL_PAGES}).items())
    analyses = {name: [item.analysis for item in items] for name, items in several}
    return json.dumps({"declared": sorted(declared), "analyses": analyses}, indent=1) + "\n"


def _types(name: str, homes: Mapping[str, str], home: str, wrapper: str, others: Mapping[str, str]) -> str:
    """Return the stub of a module of functions."""
    lines = [f"import {module}" for module in sorted(set(homes.values()))]
    taken = {**others, wrapper: home}
    lines += sorted(f"from {module} import {other} as {other}" for other, module in taken.items())
    functions = (f"{one} = {wrapper}({module}.{one})\n" for one, module in sorted(homes.items()))
    return _TYPES.format(
        name=name,
        imports="\n".join(lines),
        names=_entries({*homes, *others}),
        functions="".join(functions),
    )


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
