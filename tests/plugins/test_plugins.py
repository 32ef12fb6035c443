"""A package from elsewhere, installed: it has all that the package's own operations, rules and backends have."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.live import Server
from webanalytics.cli.tables import parser
from webanalytics.core.operations.model import TAKEN
from webanalytics.fetching.testing import SiteServer
from webanalytics.operations import OPERATIONS

EXAMPLE = Path(__file__).parent / "example"
DOCS = Path(__file__).parents[2] / "docs"
ENTRY_POINTS = """\
[webanalytics.operations]
slugify = lanterns.operations:slugify
headline = lanterns.operations:headline
[webanalytics.rules]
lantern_in_title = lanterns.rules:lantern_in_title
[webanalytics.backends]
lighthouse = lanterns.backends:Lighthouse
broken = lanterns.backends:Broken
"""
BROKEN = """\
[webanalytics.operations]
nowhere = lanterns.nowhere:nothing
hmac = lanterns.operations:hmac
ladder = lanterns.operations:ladder
other = lanterns.operations:slugify
slugify = lanterns.operations:slugify
[webanalytics.rules]
title_missing = lanterns.rules:lantern_in_title
"""


def install(folder: Path, name: str, entry_points: str) -> None:
    """Write what an installer writes of a package."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(entry_points)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages with the example."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    install(folder, "lanterns", ENTRY_POINTS)
    return folder


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    pages = {
        "/": b"<title>Lantern</title><h1>Light</h1><a href=/a>a</a>",
        "/a": b"<title>A</title><a href=/b>b</a>",
        "/b": b"<title>B</title>",
    }
    with SiteServer(pages) as running:
        yield running


def ran(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where the packages of a folder are installed."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "WEBANALYTICS_PROGRESS": "0"}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment
    )


def said(folder: Path, code: str, *arguments: str) -> list[str]:
    """Return the lines that code prints; nothing may be warned of."""
    done = ran(folder, "-W", "error::RuntimeWarning", "-c", f"import webanalytics as wa\n{code}", *arguments)
    return done.stdout.splitlines()


def test_functions_and_accessors(installed: Path, site: SiteServer) -> None:
    code = """
import asyncio, inspect, os, sys, pandas as pd
assert "lanterns" not in sys.modules
print(wa.slugify(["Old Town", "!"], separator="_")["slug"].tolist()[0], wa.slugify("!").loc[0, "error"])
print(asyncio.run(wa.aio.slugify("Old Town")).loc[0, "slug"], "slugify" in dir(wa), "slugify" in dir(wa.aio))
frame = pd.DataFrame({"n": [1], "title": ["New Town"]})
print(frame.web.slugify().loc[0, "slug"], frame["title"].web.slugify().loc[0, "words"])
print(list(inspect.signature(wa.slugify).parameters)[:2], "lanterns.rules" in sys.modules)
read = wa.headline(sys.argv[1], allow_private=True, workers=1)
print(read.loc[0, "headline"], read.loc[0, "process"] != os.getpid())
"""
    assert said(installed, code, f"{site.url}/") == [
        "old_town The `title` parameter must be a text with letters.",
        "old-town True True",
        "new-town 2",
        "['titles', 'separator'] False",
        "Light True",
    ]


def test_the_rule(installed: Path) -> None:
    code = """
import sys, pandas as pd
audit = wa.audit(pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>A lantern</title>"]}))
found = audit.issues
print("lanterns.operations" in sys.modules, found.loc[found["rule"] == "lantern_in_title", "rule_title"].tolist())
print(wa.rules().loc["lantern_in_title", "fix"], wa.rules().index[-1])
"""
    assert said(installed, code) == [
        "False ['Title with a lantern']",
        "Put it out. lantern_in_title",
    ]


def test_a_rule_that_is_imported_first_and_one_that_the_user_has(installed: Path) -> None:
    code = """
import lanterns.rules
print(len(wa.rules()) - wa.rules().index.isin(["lantern_in_title"]).sum() > 200, lanterns.rules.lantern_in_title)
"""
    assert said(installed, code) == ["True <rule lantern_in_title: Title with a lantern>"]
    code = """
@wa.rule(title="Mine")
def lantern_in_title(pages):
    return pages["title"].isna()
print(wa.rules().loc["lantern_in_title", "title"])
"""
    assert said(installed, code) == ["Mine"]


def test_the_command_line(installed: Path, site: SiteServer) -> None:
    done = ran(installed, "-m", "webanalytics", "slugify", "Old Town", "--separator", "_", "-f", "json")
    assert json.loads(done.stdout)[0]["slug"] == "old_town"
    assert "Make a slug of a title." in ran(installed, "-m", "webanalytics", "--help").stdout
    wanted = ("metadata", f"{site.url}/", "--allow-private", "--backend", "lighthouse", "-f", "json")
    assert json.loads(ran(installed, "-m", "webanalytics", *wanted).stdout)[0]["title"] == "Lantern"


def test_a_backend_by_its_name(installed: Path, site: SiteServer) -> None:
    code = """
import sys
from lanterns.backends import Lighthouse
with wa.option_context(backend="lighthouse"):
    print(wa.metadata(sys.argv[1], allow_private=True).attrs["webanalytics"]["backend"])
wa.use("lighthouse")
print(type(wa.options.backend).__name__, wa.options.backend is wa.options.backend, Lighthouse.waves)
crawled = wa.crawl(sys.argv[1], allow_private=True, sitemap=None)
print(sorted(crawled.pages["title"]), Lighthouse.waves)
for name in ("tower", "broken"):
    try:
        wa.slugify("a", backend=name)
    except wa.ParameterError as error:
        print(error)
"""
    assert said(installed, code, f"{site.url}/") == [
        "lighthouse",
        "Lighthouse True [1]",
        "['A', 'B', 'Lantern'] [1, 1, 1, 1]",
        "The `backend` parameter must be a backend, or the name of an installed one: broken, lighthouse.",
        "The `backend` parameter must be a backend that works: 'broken' of lanterns cannot be made: OSError: no oil",
    ]


def test_the_service_and_its_client(installed: Path, tmp_path: Path) -> None:
    with Server(tmp_path, environment={"PYTHONPATH": str(installed)}) as server:
        key = server.key(plan="pro")
        assert server.post("/v1/slugify", key, title="Old Town").data == {"slug": "old-town", "words": 2}
        batch = server.post("/v1/slugify/batch", key, inputs=[{"title": "a b"}, {"title": "!"}]).data
        assert (batch["succeeded"], batch["failed"]) == (1, 1)
        paths = server.call("GET", "/v1/openapi.json").json["paths"]
        assert {"/v1/slugify", "/v1/slugify/batch", "/v1/headline"} <= paths.keys()
        code = """
import sys
print(wa.slugify(["Old Town"], backend=wa.Hosted(sys.argv[1], sys.argv[2])).loc[0, "slug"])
"""
        assert said(installed, code, server.base, key) == ["old-town"]


def test_the_documentation(installed: Path) -> None:
    code = """
import sys
sys.path.insert(0, sys.argv[1])
import rule_pages, tables
from webanalytics.audits.rules import RULES
print("   slugify" in tables.api(), "## slugify" in tables.columns(), "/v1/slugify" in tables.prices())
print("`POST /v1/slugify/batch`" in tables.paths(), "rules/lantern_in_title.md" in tables.rules())
print(rule_pages.page(RULES["lantern_in_title"], {}))
"""
    lines = said(installed, code, str(DOCS))
    assert lines[:3] == ["True True True", "True True", "# Title with a lantern"]
    heads = [line for line in lines if line.startswith("## ")]
    assert heads == ["## Why it matters", "## How to fix it"]


def test_what_is_broken_or_taken_is_a_warning_and_the_rest_works(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(installed, tmp_path, dirs_exist_ok=True)
    install(tmp_path, "more", BROKEN)
    code = "import webanalytics as wa; print(wa.slugify('a b').loc[0, 'slug'], len(wa.hmac('a', secret='k')), len(wa.rules()) > 9)"
    done = ran(tmp_path, "-c", code)
    assert done.stdout == "a-b 1 True\n"
    warned = [line.partition("RuntimeWarning: ")[2] for line in done.stderr.splitlines()]
    assert sorted(filter(None, warned)) == [
        "The operation 'hmac' of the package more is left out: there is an operation hmac already.",
        "The operation 'ladder' of the package more is left out: the name crawl is taken.",
        "The operation 'nowhere' of the package more is left out: ModuleNotFoundError: No module named "
        "'lanterns.nowhere'",
        "The operation 'other' of the package more is left out: its operation is called 'slugify', and both "
        "names must be the same.",
        "The operation 'slugify' of the package more is left out: lanterns has one of this name.",
        "The rule 'title_missing' of the package more is left out: its rule is called 'lantern_in_title', and "
        "both names must be the same.",
    ]


def test_what_fails_while_it_runs_costs_its_own_row_and_ends_no_program(
    installed: Path, tmp_path: Path
) -> None:
    shutil.copytree(installed, tmp_path, dirs_exist_ok=True)
    (tmp_path / "lanterns" / "dark.py").write_text(
        "import sys\nfrom lanterns.analysis import slugify as made\n"
        "def slugify(title, separator):\n    return made(title, separator) if title != 'bad' else {}[title]\n"
        "def ending():\n    sys.exit(3)\n"
    )
    operations = tmp_path / "lanterns" / "operations.py"
    operations.write_text(
        operations.read_text().replace("lanterns.analysis:slugify", "lanterns.dark:slugify")
    )
    install(tmp_path, "more", "[webanalytics.backends]\nending = lanterns.dark:ending\n")
    code = """
import webanalytics as wa
print(wa.slugify(["a b", "bad", "c"])[["slug", "error_type"]].fillna("").values.tolist())
try:
    wa.slugify("a", backend="ending")
except wa.ParameterError as error:
    print(error)
"""
    assert ran(tmp_path, "-c", code).stdout.splitlines() == [
        "[['a-b', ''], ['', 'parse'], ['c', '']]",
        "The `backend` parameter must be a backend that works: 'ending' of more cannot be made: SystemExit: 3",
    ]


def test_the_names_of_commands_are_known() -> None:
    import webanalytics as wa

    (commands,) = (action for action in parser()._actions if action.dest == "command")
    functions = {operation.function for operation in OPERATIONS.values()}
    assert commands.choices is not None
    words = {name for name in commands.choices if "-" not in name}  # which no function is called
    assert words - functions <= TAKEN | set(wa.__all__)
