"""The house: imports run down only, every module imports alone, nothing names a secret place."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import webanalytics

PACKAGE = Path(webanalytics.__file__).parent
MODULES = sorted(
    ".".join(("webanalytics", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py"
)

# A floor may import itself and any floor below it; `settings` and `_version` lie at the bottom.
FLOORS = (
    "cli demo phone_update",
    "accessors widgets",
    "face",
    "aio",
    "collection estimates",
    "bridge",
    "run",
)
FLOORS += ("seo",)
FLOORS += ("again checkpoints frames charts testing service", "backends")
FLOORS += ("analysis fetching", "operations", "errors settings _version")
HEIGHT = {room: len(FLOORS) - level for level, rooms in enumerate(FLOORS) for room in rooms.split()}

# What must never be imported from where: worker processes and declarations stay light.
FORBIDDEN = {
    "analysis": {"pandas", "aiohttp", "matplotlib", "ipywidgets", "nltk", "pydantic", "tqdm"},
    "fetching": {"pandas", "matplotlib", "ipywidgets", "lxml", "pydantic"},
    "operations": {"pandas", "aiohttp", "matplotlib", "lxml"},
    "backends": {"pandas", "matplotlib", "ipywidgets"},
    "checkpoints": {"pandas", "aiohttp"},
    "charts": {"aiohttp", "lxml"},
    "service": {"pandas", "matplotlib", "ipywidgets", "tqdm"},
}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "webanalytics"


def source(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def imported(module: str) -> set[str]:
    """All modules a file imports, inside functions too, but not for type checkers alone."""
    names = set()
    tree = ast.parse(source(module).read_text("utf-8"))
    for_types = {
        node
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            names.add(node.module or "")
            names.update(
                f"{node.module}.{alias.name}" for alias in node.names if node.module == "webanalytics"
            )
    return names


@pytest.mark.parametrize("module", [module for module in MODULES if "." in module])
def test_arrows_run_down(module: str) -> None:
    height = HEIGHT[room(module)]
    for name in imported(module):
        if name.startswith("webanalytics."):
            assert HEIGHT[room(name)] <= height, f"{module} imports {name}"
    others = {"analysis": "fetching", "fetching": "analysis"}.get(room(module))
    assert not any(room(name) == others for name in imported(module) if name.startswith("webanalytics."))


@pytest.mark.parametrize("module", [module for module in MODULES if room(module) in FORBIDDEN])
def test_rooms_stay_light(module: str) -> None:
    outside = {name.split(".")[0] for name in imported(module)}
    # imported when first used: the checks of a declaration; sitemaps are XML
    allowed = {"webanalytics.operations.base": {"pydantic"}, "webanalytics.fetching.sitemap": {"lxml"}}.get(
        module, set()
    )
    assert outside & (FORBIDDEN[room(module)] - allowed) == set()


def test_the_client_of_an_api_computes_nothing_itself() -> None:
    names = {name for module in MODULES if ".hosted" in module for name in imported(module)}
    assert {room(name) for name in names if name.startswith("webanalytics.")} & {
        "analysis",
        "service",
    } == set()


def test_every_module_imports_alone() -> None:
    code = (
        "import importlib, subprocess, sys\n"
        "for name in sys.argv[1:]:\n"
        "    done = __import__('os').fork()\n"
        "    if done == 0:\n"
        "        importlib.import_module(name); __import__('os')._exit(0)\n"
        "    _, status = __import__('os').waitpid(done, 0)\n"
        "    if status: print(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *MODULES], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


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
    assert len(source(module).read_text("utf-8").splitlines()) <= 480
