"""Writes what follows from the declarations: ``python -m webanalytics.api.generate``, with ``--check`` in CI.

Committed files keep signatures and documentation where editors and type checkers find them: the functions
in `webanalytics.api.generated`, their blocking twins in `webanalytics.api.sync`, `webanalytics.aio`, and the
names in `webanalytics`.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import webanalytics
from webanalytics.api import crawls, images, pages, records, sites
from webanalytics.api.source import module_source
from webanalytics.operations import OPERATIONS
from webanalytics.run_options import RECORDS, options_for

PACKAGE = Path(webanalytics.__file__).parent
WRITTEN_BY_HAND = (crawls, images, pages, records, sites)

_SYNC = '''\
"""The blocking functions: those of `webanalytics.aio`, each run on its own event loop.

Written by ``python -m webanalytics.api.generate``: change the declarations, or the generator, not this file.
"""

from __future__ import annotations

from typing import Any

from webanalytics.analysis.dane.tlsa import tlsa_record
from webanalytics.api import crawls, generated, images, pages, records, sites
from webanalytics.api.functions import later_function, later_names
from webanalytics.audits.content_gap import content_gap
from webanalytics.audits.saved import compare, load
from webanalytics.runs.blocking import plain

__all__ = [
{names}]

{functions}


def __getattr__(name: str) -> Any:
    return later_function(__name__, name, blocking=True)


def __dir__() -> list[str]:
    return [*__all__, *later_names(__all__)]
'''

_AIO = '''\
"""The functions of webanalytics for asynchronous code: await each of them.

`webanalytics.metadata` and the other plain functions are these, each run on its own event loop.
Written by ``python -m webanalytics.api.generate``: change the declarations, or the generator, not this file.

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

from webanalytics.api import crawls, generated, images, pages, records, sites
from webanalytics.api.functions import later_function, later_names
from webanalytics.runs.boundary import awaited

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

Written by ``python -m webanalytics.api.generate`` from `webanalytics.run_options.RECORDS`: change that.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, TypedDict
'''

_BESIDES = ("compare", "content_gap", "load", "tlsa_record")
"""Names in `webanalytics.api.sync` that are not functions of this kind."""


def files() -> dict[Path, str]:
    """Return the contents of every file that follows from the declarations."""
    homes = {
        name: module.__name__.rpartition(".")[2] for module in WRITTEN_BY_HAND for name in module.__all__
    }
    generated = [operation for operation in OPERATIONS.own.values() if operation.function not in homes]
    homes |= {operation.function: "generated" for operation in generated}
    return {
        PACKAGE / "api" / "generated.py": module_source(generated),
        PACKAGE / "api" / "sync.py": _SYNC.format(
            names=_entries({*homes, *_BESIDES}),
            functions="".join(f"{name} = plain({homes[name]}.{name})\n" for name in sorted(homes)).rstrip(
                "\n"
            ),
        ),
        PACKAGE / "aio.py": _AIO.format(
            names=_entries(homes),
            functions="".join(f"{name} = awaited({homes[name]}.{name})\n" for name in sorted(homes)),
        ),
        PACKAGE / "option_types.py": _option_types(),
        PACKAGE / "__init__.py": _package(sorted({*homes, *_BESIDES})),
    }


def _option_types() -> str:
    """Return the file with a type for the options of each kind of functions, and one for all options."""
    kinds = {kind: (f"those over {kind}s", options_for(kind)) for kind in ("page", "image", "record")}
    kinds["site"] = ("those that read files of sites", options_for("site"))
    kinds["run"] = ("all functions", RECORDS)
    return _OPTION_TYPES + "".join(
        f"\n\nclass {kind.title()}Options(TypedDict, total=False):\n"
        f'    """Options of {what}."""\n\n'
        + "".join(f"    {key}: {item.annotation}\n" for key, item in known.items())
        for kind, (what, known) in kinds.items()
    )


def _entries(names: Iterable[str]) -> str:
    return "".join(f'    "{name}",\n' for name in sorted(names, key=lambda name: (name.islower(), name)))


def _package(functions: list[str]) -> str:
    """Return the package's own file with the names of the functions."""
    text = (PACKAGE / "__init__.py").read_text("utf-8")
    lines = "".join(f"        {name},\n" for name in functions)
    text = re.sub(
        r"(from webanalytics\.api\.sync import \(\n).*?(    \)\n)",
        rf"\g<1>{lines}\g<2>",
        text,
        count=1,
        flags=re.S,
    )
    names = _entries({*functions, *webanalytics._HOME, *webanalytics._MODULES, "__version__"})
    return re.sub(r"(\n__all__ = \[\n).*?(\]\n)", rf"\g<1>{names}\g<2>", text, count=1, flags=re.S)


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with ``--check`` show which are out of date and return 1 if any is."""
    parser = argparse.ArgumentParser(prog="python -m webanalytics.api.generate", description=__doc__)
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
