"""Mutation testing of what must not break: ``python -m tests.benchmarks.mutants [MODULE ...] --most 40``.

Each mutant changes one comparison, condition, constant, sum, return, call or raise of a module in a copy of the
sources, and the tests that ought to notice run in a fork, first the quick ones. What survives is printed to be read:
`docs/measurements/mutants.md` says of each what became of it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
ACCOUNTS = ("service/test_accounts_credits", "service/test_accounts_idempotency")
SEVERAL = ("service/test_accounts_processes", "service/test_accounts_concurrency")
HOSTS = ("fetching/test_giving_up", "fetching/test_turning_hosts")
ACCESS = ("fetching/test_closed_sites", "fetching/test_access")
# Each module with the tests that ought to notice: those that are quick, and those for what survives them.
TARGETS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "fetching/guard": (("fetching/test_guard", "fetching/test_ports"), ("fetching/test_address_spellings",)),
    "fetching/pace": (("fetching/test_pace", "fetching/test_slots"), HOSTS),
    "fetching/gates": (("fetching/test_slots", "fetching/test_limits"), HOSTS),
    "core/access": (("core/test_access",), ACCESS),
    "core/access_by_host": (("core/test_access",), ACCESS),
    "core/operations/secret": (("records/hmac/test_hmac",), ()),
    "service/accounts/base": (("service/test_auth", *ACCOUNTS), SEVERAL),
    "service/accounts/charges": (ACCOUNTS, SEVERAL),
    "service/payment": (("service/test_payment", "service/test_held_credits"), ()),
    "service/addresses": (("service/test_auth",), ("service/test_accounts_keys",)),
}
BROKEN = 70  # what a fork ends with that could not run the tests
QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
COLLECT = (
    "import sys, pytest; pytest.main([*sys.argv[1:], '--co', '-q', '-n', '0']); print('|', *sys.modules)"
)

OTHER: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip


class Mutant(NamedTuple):
    """A changed module, and where and how it differs."""

    source: str
    line: int
    change: str


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what may be changed: no annotations, decorators and docstrings."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST) and not (
                isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
            ):
                yield item
                yield from nodes(item)


def changed(node: Any) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node."""
    new = copy.deepcopy(node)
    match node:
        case ast.Compare():
            for place, op in enumerate(node.ops):
                new = copy.deepcopy(node)
                new.ops[place] = OTHER[type(op)]()
                yield new
        case ast.BoolOp() | ast.BinOp() | ast.AugAssign() if type(node.op) in OTHER:
            new.op = OTHER[type(node.op)]()
            yield new
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1)
        case ast.Constant(value=str()) if node.value and not any(map(str.isspace, node.value)):
            yield ast.Constant(node.value + "x")  # a sentence or a statement of SQL is another matter
        case ast.If() | ast.While() | ast.IfExp() if isinstance(
            node.test, ast.Name | ast.Attribute | ast.Call
        ):
            new.test = ast.UnaryOp(ast.Not(), node.test)
            yield new
        case ast.Return(value=ast.AST()) if not (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            yield ast.Return(ast.Constant(None))
        case ast.Expr() | ast.Raise():
            yield ast.Pass()


class _Put(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


def mutants(source: str) -> list[Mutant]:
    """Return every mutant of a module."""
    tree = ast.parse(source)
    found = []
    for node in nodes(tree):
        for new in changed(node):
            known: dict[int, Any] = {}
            whole = copy.deepcopy(tree, known)
            made = ast.unparse(ast.fix_missing_locations(_Put(known[id(node)], new).visit(whole)))
            before, after = (ast.unparse(item).partition("\n")[0] for item in (node, new))
            found.append(Mutant(made, getattr(node, "lineno", 0), f"{before}  ->  {after}"))
    return found


def run(place: Path, tests: tuple[str, ...], seconds: float) -> str:
    """Run tests of the copy in a fork: ``survived``, ``killed`` or, where they do not end, ``time``."""
    pid = os.fork()
    if not pid:
        code = BROKEN
        try:
            os.setsid()
            with (place / "output").open("wb") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            code = pytest.main([*tests, "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *QUIET])
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)  # what the parent has opened is the parent's
    end, code = time.monotonic() + seconds, None
    while code is None and time.monotonic() < end:
        time.sleep(0.02)
        done, status = os.waitpid(pid, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if done else None
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if code is None:
        os.waitpid(pid, 0)
        return "time"
    assert code not in (5, BROKEN), (place / "output").read_text("utf-8")
    return "killed" if code else "survived"


def load(files: set[str]) -> None:
    """Import what tests import of others, once for all forks."""
    command = [sys.executable, "-c", COLLECT, *sorted(files)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in said.rpartition("|")[2].split():
        if name.partition(".")[0] not in ("__main__", "conftest", "tests", "webanalytics"):
            with suppress(ImportError):
                import_module(name)


def judge(place: Path, module: str, most: int, skip: int) -> tuple[int, Counter[str]]:
    """Return how many mutants a module has, and what became of those that were chosen."""
    file = place / "webanalytics" / f"{module}.py"
    source = file.read_text("utf-8")
    found = mutants(source)
    chosen = random.Random(module).sample(found, len(found))[skip : skip + most]
    told: Counter[str] = Counter()
    limits: dict[tuple[str, ...], float] = {}
    quick, later = (tuple(f"tests/{name}.py" for name in names) for names in TARGETS[module])
    stages = [stage for stage in ((f"webanalytics/{module}.py", *quick), later) if stage]
    try:
        for mutant in sorted(chosen, key=lambda item: item.line):
            for tests in stages:
                if tests not in limits:  # how long they take with the module as it is
                    file.write_text(source, "utf-8")
                    start = time.monotonic()
                    assert run(place, tests, 600) == "survived", (place / "output").read_text("utf-8")
                    limits[tests] = 20 + 4 * (time.monotonic() - start)
                file.write_text(mutant.source, "utf-8")
                fate = run(place, tests, limits[tests])
                if fate != "survived":
                    break
            told[fate] += 1
            if fate != "killed":
                print(f"{module}:{mutant.line}  {fate}  {mutant.change}", flush=True)
    finally:
        file.write_text(source, "utf-8")
    return len(found), told


def main() -> None:
    """Print the survivors and the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="*", default=list(TARGETS))
    parser.add_argument("--most", type=int, default=40, help="mutants of a module, of all a seeded choice")
    parser.add_argument("--skip", type=int, default=0, help="how many of the choice were tried before")
    arguments = parser.parse_args()
    os.environ.update({"CI": "1", "PYTHONDONTWRITEBYTECODE": "1"})
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("webanalytics", "tests", "data", "pyproject.toml"):
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, place / name)
        os.environ["PYTHONPATH"] = str(place)
        os.chdir(place)
        sys.path.insert(0, str(place))
        for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "webanalytics")]:
            del sys.modules[name]
        load({f"tests/{name}.py" for module in arguments.modules for name in sum(TARGETS[module], ())})
        import_module("tests.service.postgres").running()
        for module in arguments.modules:
            total, told = judge(place, module, arguments.most, arguments.skip)
            spent = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(
                f"{module}: {total} mutants, {dict(told)}, {spent.ru_utime + spent.ru_stime:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
