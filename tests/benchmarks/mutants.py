"""Mutation testing of what must not break: ``python -m tests.benchmarks.mutants [MODULE ...]``.

Each mutant changes one comparison, condition, constant, sum, return, call or raise of a module, or one word of a statement
of SQL. The tests of its rooms are collected once and run once to see which lines each reaches; each mutant is
then tried in a fork, where the function that differs gets its new code, by the tests that reach it, the quickest first.
So are constants and default values; what else stands outside of functions is tried in forks that import the module
anew. Rules that both databases share are tried with SQLite alone. What survives is printed to be read:
`docs/measurements/mutants.md` says of each what became of it.
"""

from __future__ import annotations

import argparse
import ast
import json
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
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import coverage
import pytest

from tests.benchmarks.mutations import Mutant, mutants, put

ROOT = Path(__file__).parents[2]
RULES = (
    "service/test_charging",
    "service/test_key_rules",
    *(f"service/test_accounts_{name}" for name in ("credits", "idempotency")),
)
STORES = (*RULES, *(f"service/test_accounts_{name}" for name in ("keys", "concurrency", "sqlite")))
SEVERAL = tuple(f"service/test_accounts_{name}" for name in ("machine", "processes", "concurrency"))
SCHEMA = "service/test_accounts_schema"
PACES = tuple(f"fetching/test_{name}" for name in ("pace", "gates", "slots", "retry"))
CRAWLED = tuple(f"fetching/test_{name}" for name in ("limits", "giving_up", "turning_hosts"))
HOSTS = tuple(f"fetching/test_{name}" for name in ("guard", "ports", "address_spellings", "urls", "fetcher"))
ACCESS = (
    "core/test_access",
    "core/test_access_rules",
    "fetching/test_access",
    "fetching/test_closed_sites",
    "cli/test_access_files",
)
OPENED = tuple(f"core/test_{name}" for name in ("access_by_host", "access", "digest"))
SECRETS = ("records/hmac/test_hmac", "fetching/test_no_secret", "core/operations/test_declarations")
# Each module with the tests that ought to notice, and those that start servers, for what survives the others.
TARGETS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "fetching/guard": ((*HOSTS, "fetching/test_proxy"), ()),
    "core/access": ((*ACCESS, "fetching/test_no_secret"), ()),
    "core/access_by_host": (OPENED, (*ACCESS[2:], "crawls/test_actions")),
    "core/proxy": (("core/test_proxy", "fetching/test_proxy", "cli/test_access_files"), ()),
    "core/operations/secret": (SECRETS, ()),
    **{f"service/accounts/{name}": (RULES, SEVERAL) for name in ("charges", "base")},
    "service/accounts/store": (("service/test_store", "service/test_readiness"), STORES),
    "service/accounts/writer": (("service/test_writer", STORES[5]), SEVERAL),
    "service/accounts/sqlite": (("service/test_store", "service/test_writer", *STORES[4:]), SEVERAL),
    **{
        f"service/accounts/{name}": (("service/test_postgres", SCHEMA), (*STORES, *SEVERAL))
        for name in ("postgres", "schema")
    },
    "service/accounts/keys": (
        ("service/test_key_rules", "service/test_accounts_keys"),
        (SCHEMA, "service/test_auth", "service/test_commands"),
    ),
    "service/payment": (
        ("service/test_payment", "service/test_held_credits"),
        ("service/test_together", "service/test_spec_errors"),
    ),
    **dict.fromkeys(("fetching/pace", "fetching/gates"), (PACES, CRAWLED)),
}
BROKEN = 70  # what a fork ends with that could not run the tests
LONG = 1.0  # seconds of a processor; longer tests are of servers and processes, for what survives the others
OLD = 71  # and one whose mutant stands where no code can be put
DATABASES = frozenset(
    ("service/accounts/postgres", "service/accounts/schema")
)  # which PostgreSQL's tests tell more of
OPTIONS = ("-q", "-n", "0", "-s", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
COLLECT = (
    "import sys, pytest; pytest.main([*sys.argv[1:], '--co', '-q', '-n', '0']); print('|', *sys.modules)"
)


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


def processor() -> float:
    """Return the seconds of a processor that this process and those that it has waited for have taken."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def fate(code: int | None, output: Path) -> str:
    """Return what became of a mutant: ``survived``, ``killed`` or, where the tests do not end, ``time``."""
    if code in (5, BROKEN):
        raise RuntimeError(output.read_text("utf-8", "replace"))
    return "time" if code is None or code == -signal.SIGXCPU else "killed" if code else "survived"


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
                    resource.setrlimit(resource.RLIMIT_CPU, (int(1 + 4 * seconds), int(3 + 4 * seconds)))
                    try:
                        is_put = put(self.module, mutant)
                    except Exception:  # nobody could import it
                        return 1
                    return self.run(session, some) if is_put else OLD

                # processes that tests start read it
                self.file.write_text(ast.unparse(mutant.tree()), "utf-8")
                code = fork(work, self.output, 60 + 30 * seconds) if some else 0  # others use the machine too
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
                start, before = processor(), session.testsfailed
                # without the next one, what several tests share is torn down: each can be run alone
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if session.testsfailed > before:
                    failed.append(item.nodeid)
                spent[item.nodeid] = processor() - start
            measured.stop()
            data = measured.get_data()
            found = {name: data.contexts_by_lineno(file) for name, file in files.items()}
            kept.write_text(json.dumps([spent, failed, found]))
            return 0

        if not kept.exists() and fork(work, self.output, 3000) != 0:
            raise RuntimeError(self.output.read_text("utf-8", "replace"))
        spent, failed, found = json.loads(kept.read_text())
        reached: dict[str, tuple[float, list[int]]] = {
            name: (seconds, []) for name, seconds in spent.items() if name not in failed
        }
        for line, names in found[self.module].items():
            for name in reached.keys() & set(names):
                reached[name][1].append(int(line))
        seconds = sum(item[0] for item in reached.values())
        count = sum(bool(lines) for _, lines in reached.values())
        print(
            f"{self.module}: {count} of {len(spent)} tests reach it, {seconds:.0f} s; failed: {failed}",
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


def judge(
    place: Path, module: str, most: int | None, lines: list[int], quickly: bool
) -> tuple[int, Counter[str]]:
    """Return how many mutants a module has, and what became of those that were tried."""
    file, output, fates = place / "webanalytics" / f"{module}.py", place / "output", place / "fates"
    source = file.read_text("utf-8")
    chosen = mutants(source)
    total = len(chosen)
    chosen = [mutant for mutant in chosen if not lines or mutant.lines[0] in lines]
    if most is not None:
        chosen = random.Random(module).sample(chosen, len(chosen))[:most]
    quick, later = ([f"tests/{name}.py" for name in names] for names in TARGETS[module])
    quick = [f"webanalytics/{module}.py", *quick, *(() if module in DATABASES else ("-k", "not postgresql"))]
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
            for stage, tests in enumerate((quick, () if quickly else later)):
                seen = stage == 0 and (reached > 0 or (quickly and reached == 0))
                if not tests or what != "survived" or seen:
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
    parser.add_argument("--lines", type=int, nargs="+", help="those of these lines alone: survivors, again")
    parser.add_argument("--quickly", action="store_true", help="leave out tests that take seconds")
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
        if not arguments.quickly:
            load({f"tests/{name}.py" for module in arguments.modules for name in sum(TARGETS[module], ())})
        if DATABASES.intersection(arguments.modules) or not arguments.quickly:
            import_module("tests.service.postgres").running()  # once for all forks
        for module in arguments.modules:
            total, told = judge(place, module, arguments.most, arguments.lines or [], arguments.quickly)
            spent = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(
                f"{module}: {total} mutants, {dict(told)}, {spent.ru_utime + spent.ru_stime:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
