"""Mutation testing of what must not break: ``python -m tests.benchmarks.mutants [MODULE ...]``.

Each mutant changes one comparison, condition, constant, sum, return, call or raise of a module, or one word of a statement
of SQL. The tests of its rooms are collected once and run once to see which lines each reaches; each mutant is
then tried in a fork, where the function that differs gets its new code, by the tests that reach it, the quickest first.
What stands outside of functions is tried in forks that import the module anew. What survives is printed to be
read: `docs/measurements/mutants.md` says of each what became of it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from ipaddress import IPv6Network
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import coverage
import pytest

ROOT = Path(__file__).parents[2]
ACCOUNTS = ("accounts_credits", "accounts_idempotency", "accounts_keys", "accounts_schema", "accounts_sqlite")
STORES = tuple(
    f"service/test_{name}" for name in (*ACCOUNTS, "accounts_machine", "auth", "held_credits", "payment")
)
SEVERAL = tuple(f"service/test_accounts_{name}" for name in ("processes", "concurrency"))
PACES = tuple(
    f"fetching/test_{name}" for name in ("pace", "slots", "limits", "retry", "giving_up", "turning_hosts")
)
HOSTS = tuple(f"fetching/test_{name}" for name in ("guard", "ports", "address_spellings", "urls", "fetcher"))
ACCESS = (
    "core/test_access",
    "core/test_access_rules",
    "fetching/test_access",
    "fetching/test_closed_sites",
    "cli/test_access_files",
)
SECRETS = ("records/hmac/test_hmac", "fetching/test_no_secret", "core/operations/test_declarations")
# Each module with the tests that ought to notice, and those that start servers, for what survives the others.
TARGETS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "fetching/guard": ((*HOSTS, "fetching/test_proxy"), ()),
    **dict.fromkeys(("core/access", "core/access_by_host"), ((*ACCESS, "fetching/test_no_secret"), ())),
    "core/proxy": (("core/test_proxy", "fetching/test_proxy", "cli/test_access_files"), ()),
    "core/operations/secret": (SECRETS, ()),
    **{f"service/accounts/{name}": (STORES, SEVERAL) for name in ("charges", "base", "writer", "store")},
    **{f"service/accounts/{name}": (STORES, SEVERAL) for name in ("sqlite", "postgres", "schema")},
    "service/accounts/keys": (STORES, ("service/test_commands",)),
    "service/payment": (STORES, ("service/test_together", "service/test_spec_errors")),
    "service/addresses": (STORES, ()),
    **dict.fromkeys(("fetching/pace", "fetching/gates"), (PACES, ())),
}
BROKEN = 70  # what a fork ends with that could not run the tests
PLAIN = (str, int, float, tuple, frozenset, re.Pattern, IPv6Network)
LONG = 4.0  # seconds; longer tests are of servers and processes, and read by hand what survives the others
OLD = 71  # and one whose mutant stands where no code can be put
OPTIONS = ("-q", "-n", "0", "-s", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
COLLECT = (
    "import sys, pytest; pytest.main([*sys.argv[1:], '--co', '-q', '-n', '0']); print('|', *sys.modules)"
)
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE)\b")
WORDS = {"<=": "<", ">=": ">", "<": "<=", ">": ">=", "=": "<>", "+": "-", "-": "+", "AND": "OR", "OR": "AND"}
WORD = re.compile(
    r"(?<= )(<=|>=|[<>=+-]|AND|OR|NOT|DESC|LIMIT \S+|ORDER BY [\w, ]+|FOR [A-Z ]*UPDATE[A-Z ]*)(?= |$|\n|\))"
)

OTHER: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip


class _Put(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


class Mutant(NamedTuple):
    """Where and how a changed module differs."""

    whole: ast.Module
    old: ast.AST
    new: ast.AST
    place: tuple[tuple[str, int], ...]  # the classes and the outermost function that it stands in, if any

    @property
    def lines(self) -> range:
        """The lines of what differs."""
        first = getattr(self.old, "lineno", 0)
        return range(first, getattr(self.old, "end_lineno", first) + 1)

    @property
    def change(self) -> str:
        """What stands in place of what."""
        return "  ->  ".join(" ".join(ast.unparse(item).split())[:400] for item in (self.old, self.new))

    def tree(self) -> ast.Module:
        """Return the changed module."""
        known: dict[int, Any] = {}
        whole = copy.deepcopy(self.whole, known)
        made = _Put(known[id(self.old)], self.new).visit(whole)
        return ast.fix_missing_locations(made)


def nodes(
    tree: ast.AST, place: tuple[tuple[str, int], ...] = (), inside: bool = False
) -> Iterator[tuple[ast.AST, Any]]:
    """Yield what may be changed, and in which function: no annotations, decorators and docstrings."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        here, within = place, inside
        if (
            isinstance(tree, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and not inside
            and field == "body"
        ):
            line = min([tree.lineno, *(item.lineno for item in tree.decorator_list)])
            here, within = (*place, (tree.name, line)), not isinstance(tree, ast.ClassDef)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST) and not (
                isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
            ):
                yield item, here if within else ()
                yield from nodes(item, here, within)


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
        case ast.Constant(value=str()) if STATEMENT.match(node.value):
            for found in WORD.finditer(node.value):
                start, end = found.span()
                yield ast.Constant(node.value[:start] + WORDS.get(found[0], "") + node.value[end:])
        case ast.Constant(value=str()) if node.value and not any(map(str.isspace, node.value)):
            yield ast.Constant(node.value + "x")  # a sentence is another matter
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


def mutants(source: str) -> list[Mutant]:
    """Return every mutant of a module."""
    tree = ast.parse(source)
    return [Mutant(tree, node, new, place) for node, place in nodes(tree) for new in changed(node)]


def fork(work: Callable[[], int], output: Path, seconds: float) -> int | None:
    """Return what some work in a fork ends with, None where it does not end in time."""
    pid = os.fork()
    if not pid:
        code = BROKEN
        try:
            os.setsid()
            with output.open("wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)  # what the parent has opened is the parent's
    end, code = time.monotonic() + seconds, None
    while code is None and time.monotonic() < end:
        time.sleep(0.004)
        done, status = os.waitpid(pid, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if done else None
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if code is None:
        os.waitpid(pid, 0)
    return code


def fate(code: int | None, output: Path) -> str:
    """Return what became of a mutant: ``survived``, ``killed`` or, where the tests do not end, ``time``."""
    if code in (5, BROKEN):
        raise RuntimeError(output.read_text("utf-8", "replace"))
    return "time" if code is None or code == -signal.SIGXCPU else "killed" if code else "survived"


def code_at(whole: CodeType, place: tuple[tuple[str, int], ...]) -> CodeType:
    """Return the code of a function in that of a module."""
    for name, line in place:
        (whole,) = (
            item
            for item in whole.co_consts
            if isinstance(item, CodeType) and (item.co_name, item.co_firstlineno) == (name, line)
        )
    return whole


def functions(found: Any) -> Iterator[FunctionType]:
    """Yield a function, and what decorators have put something around."""
    if isinstance(found, FunctionType):
        yield found
    for name in ("__wrapped__", "__func__", "fget", "fset", "func"):
        inner = getattr(found, name, None)
        if inner is not None and inner is not found:
            yield from functions(inner)


def put(module: str, mutant: Mutant) -> bool:
    """Give the function of this process that differs its new code."""
    live: Any = sys.modules[f"webanalytics.{module.replace('/', '.')}"]
    file = live.__file__
    if not mutant.place:
        return put_values(live, compile(mutant.tree(), file, "exec", dont_inherit=True))
    for name, _ in mutant.place:
        live = vars(live).get(name)
    new = code_at(compile(mutant.tree(), file, "exec", dont_inherit=True, flags=0), mutant.place)
    for function in functions(live):
        old = function.__code__
        if old.co_firstlineno == new.co_firstlineno and old.co_freevars == new.co_freevars:
            function.__code__ = new
            return True
    return False


def put_values(live: Any, code: CodeType) -> bool:
    """Give a module and those that import them the constants that differ, if no more than those do."""
    made = {"__name__": live.__name__, "__file__": live.__file__}
    exec(code, made)
    differ = {
        name: value
        for name, value in made.items()
        if isinstance(value, PLAIN) and repr(value) != repr(vars(live).get(name))
    }
    for name, value in differ.items():
        old = vars(live).get(name)
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith("webanalytics.") and vars(module).get(name) is old:
                setattr(module, name, value)
    return bool(differ)


class Judge:
    """A plugin of pytest that tries mutants in place of running the tests once."""

    def __init__(self, place: Path, module: str, chosen: list[Mutant], fates: Path) -> None:
        self.place, self.module, self.chosen, self.fates = place, module, chosen, fates
        self.output, self.file = place / "output", place / "webanalytics" / f"{module}.py"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try each mutant by the tests that reach it."""
        reached = self.reach(session)
        items = [item for item in session.items if reached.get(item.nodeid, (LONG, []))[0] < LONG]
        items.sort(key=lambda item: reached[item.nodeid][0])
        self.fates.with_suffix(".tests").write_text(json.dumps([item.nodeid for item in items]))
        with self.fates.open("a") as told:
            for number, mutant in enumerate(self.chosen):
                lines = set(mutant.lines)
                some = [
                    item for item in items if not mutant.place or lines.intersection(reached[item.nodeid][1])
                ]
                seconds = sum(reached[item.nodeid][0] for item in some)

                def work(mutant: Mutant = mutant, some: Any = some, seconds: float = seconds) -> int:
                    resource.setrlimit(resource.RLIMIT_CPU, (int(6 + 3 * seconds), int(9 + 3 * seconds)))
                    try:
                        is_put = put(self.module, mutant)
                    except Exception:  # nobody could import it
                        return 1
                    return self.run(session, some) if is_put else OLD

                # processes that tests start read it
                self.file.write_text(ast.unparse(mutant.tree()), "utf-8")
                code = fork(work, self.output, 30 + 6 * seconds) if some else 0
                if code != OLD:
                    row = [number, fate(code, self.output), len(some)]
                    told.write(json.dumps(row) + "\n")
                    told.flush()
        return True

    def reach(self, session: pytest.Session) -> dict[str, tuple[float, list[int]]]:
        """Return of each test that passes how long it takes and which lines of the module it reaches."""
        kept = (
            self.place / f"reached-{'-'.join(sorted(TARGETS[self.module][0])).replace('/', '.')[:200]}.json"
        )
        files = {name: str(self.place / "webanalytics" / f"{name}.py") for name in TARGETS}

        def work() -> int:
            measured = coverage.Coverage(data_file=None, include=[*files.values()], config_file=False)
            measured.start()
            spent, failed = {}, []
            for item in session.items:
                measured.switch_context(item.nodeid)
                start, before = time.monotonic(), session.testsfailed
                # without the next one, what several tests share is torn down: each can be run alone
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if session.testsfailed > before:
                    failed.append(item.nodeid)
                spent[item.nodeid] = time.monotonic() - start
            measured.stop()
            data = measured.get_data()
            found = {name: data.contexts_by_lineno(file) for name, file in files.items()}
            kept.write_text(json.dumps([spent, failed, found]))
            return 0

        if not kept.exists() and fork(work, self.output, 3000) != 0:
            raise RuntimeError(self.output.read_text("utf-8", "replace"))
        spent, failed, found = json.loads(kept.read_text())
        reached: dict[str, tuple[float, list[int]]] = {}
        for line, names in found[self.module].items():
            for name in set(names) - {*failed, ""}:
                reached.setdefault(name, (spent[name], []))[1].append(int(line))
        seconds = sum(item[0] for item in reached.values())
        print(
            f"{self.module}: {len(reached)} of {len(spent)} tests reach it, {seconds:.0f} s; failed: {failed}",
            flush=True,
        )
        return reached

    @staticmethod
    def run(session: pytest.Session, items: list[pytest.Item]) -> int:
        """Run tests until one fails."""
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return 1
        return 0


def load(files: set[str]) -> None:
    """Import what tests import of others, once for all forks."""
    command = [sys.executable, "-c", COLLECT, *sorted(files)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in said.rpartition("|")[2].split():
        if name.partition(".")[0] not in ("__main__", "conftest", "tests", "webanalytics"):
            with suppress(ImportError):
                import_module(name)


def judge(place: Path, module: str, most: int | None) -> tuple[int, Counter[str]]:
    """Return how many mutants a module has, and what became of those that were tried."""
    file, output, fates = place / "webanalytics" / f"{module}.py", place / "output", place / "fates"
    source = file.read_text("utf-8")
    chosen = mutants(source)
    total = len(chosen)
    if most is not None:
        chosen = random.Random(module).sample(chosen, total)[:most]
    quick, later = ([f"tests/{name}.py" for name in names] for names in TARGETS[module])
    quick = [f"webanalytics/{module}.py", *quick]
    options = [*OPTIONS, f"--basetemp={place / 'temporary'}"]
    fates.write_text("")
    code = fork(
        lambda: pytest.main([*quick, *options], [Judge(place, module, chosen, fates)]), place / "told", 36000
    )
    print((place / "told").read_text("utf-8", "replace").partition("\n=")[0], flush=True)
    assert code in (0, 1, 5), code
    quick = json.loads(fates.with_suffix(".tests").read_text())
    became = {
        number: (what, reached) for number, what, reached in map(json.loads, fates.read_text().splitlines())
    }
    told: Counter[str] = Counter()
    limits: dict[int, float] = {}
    try:
        for number, mutant in enumerate(chosen):
            what, reached = became.get(number, ("survived", -1))
            for stage, tests in enumerate((quick, later)):
                if not tests or what != "survived" or (stage == 0 and reached > 0 and mutant.place):
                    continue
                work = lambda tests=tests: pytest.main([*tests, *options, "-x"])  # noqa: E731
                if stage not in limits:  # how long they take with the module as it is
                    file.write_text(source, "utf-8")
                    start = time.monotonic()
                    assert fate(fork(work, output, 1200), output) == "survived", output.read_text("utf-8")
                    limits[stage] = 20 + 4 * (time.monotonic() - start)
                file.write_text(ast.unparse(mutant.tree()), "utf-8")
                what = fate(fork(work, output, limits[stage]), output)
            told[what] += 1
            if what != "killed":
                print(f"{module}:{mutant.lines[0]}  {what} ({reached} tests)  {mutant.change}", flush=True)
    finally:
        file.write_text(source, "utf-8")
    return total, told


def main() -> None:
    """Print the survivors and the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="*", default=list(TARGETS))
    parser.add_argument("--most", type=int, help="a seeded choice of so many mutants of a module, not all")
    arguments = parser.parse_args()
    os.environ.update({"CI": "1", "PYTHONDONTWRITEBYTECODE": "1"})
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        place.chmod(0o755)
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
            total, told = judge(place, module, arguments.most)
            spent = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(
                f"{module}: {total} mutants, {dict(told)}, {spent.ru_utime + spent.ru_stime:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
