"""The house: imports run down only, every module imports alone, nothing names a secret place."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

import webanalytics

PACKAGE = Path(webanalytics.__file__).parent
MODULES = sorted(
    ".".join(("webanalytics", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py"
)

# A floor may import itself and any floor below it, and the rooms of one floor do not import each other. Of several
# names that fit a module the longest counts: the files of an operation's folder stand on different floors.
FLOORS = (
    "cli generate",
    "notebook",
    "records.*.widget",
    "notebook.widgets.parts",
    "aio",
    "sync",
    "crawls",
    "audits records.*.function runs.functions service",
    "notebook.charts",
    "records.*.chart",
    "notebook.drawing",
    "records.phones.columns audits.content.pixels",
    "runs",
    "fetching.archives",
    "page fetching records",
    "core.outcomes",
    "operations",
    "page.declarations records.*.declaration",
    "core",
    "errors files loops thresholds urls",
    "core.messages fetching.testing _version",
)
HEIGHT = {place: len(FLOORS) - level for level, places in enumerate(FLOORS) for place in places.split()}
ROOMS = ("audits", "cli", "core", "crawls", "fetching", "notebook", "page", "records", "runs", "service")

# What must never be imported from where: worker processes and declarations stay light.
FORBIDDEN = {
    "core": {"pandas", "aiohttp", "matplotlib", "lxml"},
    "fetching": {"pandas", "matplotlib", "ipywidgets", "lxml", "pydantic"},
    "fetching.archives": {"pandas", "aiohttp", "matplotlib", "ipywidgets", "lxml", "pydantic"},
    "page": {"pandas", "aiohttp", "matplotlib", "ipywidgets", "nltk", "pydantic", "tqdm"},
    "page.declarations": {"pandas", "aiohttp", "matplotlib", "lxml"},
    "records": {"pandas", "aiohttp", "matplotlib", "ipywidgets", "nltk", "pydantic", "tqdm"},
    "records.*.declaration": {"pandas", "aiohttp", "matplotlib", "lxml"},
    "notebook.charts": {"aiohttp", "lxml"},
    "runs.backends": {"pandas", "matplotlib", "ipywidgets"},
    "runs.workers": {"pandas", "aiohttp", "matplotlib", "ipywidgets"},
    "service": {"pandas", "matplotlib", "ipywidgets", "tqdm"},
}
PLACES = {*HEIGHT, *FORBIDDEN}


def place(module: str, places: Iterable[str]) -> str | None:
    """The longest name of `places` that fits a module."""
    name = module.partition(".")[2]
    fitting = [item for item in places if fnmatchcase(name, item) or fnmatchcase(name, f"{item}.*")]
    return max(fitting, key=len, default=None)


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "webanalytics"


def source(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"


@cache
def imported(module: str) -> set[str]:
    """All modules a file imports: inside functions too, and for type checkers alone."""
    names = set()
    for node in ast.walk(ast.parse(source(module).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                names.add(whole if whole in MODULES else node.module or "")
    return names


def circles() -> list[list[str]]:
    """Groups of files that import each other in a circle: strongly connected components (Tarjan, 1972)."""
    found: list[list[str]] = []
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for name in imported(module) & set(MODULES) - {module}:
            if name not in index:
                visit(name)
            if name in stack:
                low[module] = min(low[module], low[name])
        if low[module] == index[module]:
            place = stack.index(module)
            if len(stack) > place + 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for module in MODULES:
        if module not in index:
            visit(module)
    return found


def test_the_table_of_the_architecture_has_every_room() -> None:
    text = Path(__file__).parents[1].joinpath("ARCHITECTURE.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    named = [name for line in rows for name in re.findall(r"`(\w+)/`", line.split("|")[1])]
    assert sorted(named) == sorted(ROOMS), "the table of rooms in ARCHITECTURE.md names each room once"
    assert sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()) == sorted(
        ROOMS
    )


@pytest.mark.parametrize(
    "module", [module for module in MODULES if "." in module and module != "webanalytics.generate"]
)
def test_arrows_run_down(module: str) -> None:
    height = HEIGHT[place(module, HEIGHT) or ""]
    for name in imported(module) & set(MODULES) - {"webanalytics"}:
        below = HEIGHT[place(name, HEIGHT) or ""]
        assert below < height or (below == height and room(name) == room(module)), f"{module} imports {name}"


def test_no_circle_between_files() -> None:
    assert circles() == []


@pytest.mark.parametrize("module", [module for module in MODULES if place(module, PLACES) in FORBIDDEN])
def test_rooms_stay_light(module: str) -> None:
    outside = {name.split(".")[0] for name in imported(module)}
    # imported when first used: the checks of a declaration; sitemaps are XML
    allowed = {
        "webanalytics.fetching.sitemap_parser": {"lxml"},
    }.get(module, set())
    assert outside & (FORBIDDEN[place(module, PLACES) or ""] - allowed) == set()


def test_the_client_of_an_api_computes_nothing_itself() -> None:
    names = {name for module in MODULES if ".hosted" in module for name in imported(module)}
    assert {room(name) for name in names} & {"page", "records", "service"} == set()


@pytest.mark.parametrize("first", [0, -1])
def test_modules_import_from_either_end(first: int) -> None:
    # Without circles the order does not matter: what imports first imports alone.
    names = MODULES if first == 0 else MODULES[::-1]
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code, *names], capture_output=True, text=True)
    assert done.stderr == ""


def test_importing_the_package_is_quick_and_quiet() -> None:
    code = "import sys, webanalytics; print(sorted({'pandas', 'matplotlib', 'aiohttp', 'pydantic'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_all_is_sorted_and_complete() -> None:
    assert sorted(webanalytics.__all__, key=lambda name: (name.lower() == name, name)) == webanalytics.__all__
    for name in webanalytics.__all__:
        assert getattr(webanalytics, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = webanalytics.nonsense


@pytest.mark.parametrize("module", MODULES)
def test_files_stay_readable(module: str) -> None:
    assert len(source(module).read_text("utf-8").splitlines()) <= 460
