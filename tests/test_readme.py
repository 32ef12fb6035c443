"""The README and the documentation against the code."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import webanalytics as wa
from webanalytics.audits.rules import RULES
from webanalytics.core.messages import MEANINGS, MESSAGES
from webanalytics.errors import ERROR_TYPES
from webanalytics.fetching.testing import sample_site
from webanalytics.operations import OPERATIONS

ROOT = Path(__file__).parent.parent
README = ROOT.joinpath("README.md").read_text("utf-8")
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 160


@pytest.mark.parametrize("name", [*wa.aio.__all__, "tlsa_record"])
def test_every_function_is_in_the_table_with_its_defaults(name: str) -> None:
    parameters = inspect.signature(getattr(wa, name)).parameters
    found = re.findall(rf"^\| `wa\.{name}\((.*?)\)` \|", README, re.M)
    assert len(found) == 1, (
        f"the table of functions in README.md must have one row that begins | `wa.{name}(...)` |"
    )
    (shown,) = found
    for part in re.findall(r"(\w+)=([^,]+)", shown):
        assert part[0] in parameters, f"README.md: `wa.{name}` has no parameter `{part[0]}`"
        if part[1] != "...":
            assert repr(parameters[part[0]].default).replace("'", '"') == part[1]
    own = [key for key, item in parameters.items() if item.kind is not item.VAR_KEYWORD]
    missing = {key for key in own if key not in shown} - {
        "column",
        "inputs",
        "output_format",
        "protocol",
        "ttl",
    }
    assert missing == set(), f"README.md: the row of `wa.{name}` must name these parameters"


def test_every_error_type_is_explained() -> None:
    guide = ROOT.joinpath("docs/guides/failures.md").read_text("utf-8")
    assert {kind for kind in ERROR_TYPES if f"`{kind}`" not in guide} == set()
    assert set(MEANINGS) == set(ERROR_TYPES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    pages = ("api", "columns", "errors", "options", "paths", "prices", "rules", "settings")
    made = {f"{name}.md" for name in pages}  # when the site is built
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        place = (page.parent / target).resolve()
        if not target.startswith(("http:", "https:")) and not (place.name in made or is_of_a_rule(place)):
            assert place.exists(), target


def is_of_a_rule(page: Path) -> bool:
    """Return whether a page is one of those that the site's build makes of the rules."""
    return page.parent == ROOT / "docs" / "rules" and page.stem in ("index", *wa.rules()["name"])


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "docs",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    api = tmp_path.joinpath("reference/api.html").read_text("utf-8")
    for name in wa.aio.__all__:
        assert f"generated/webanalytics.{name}.html" in api
    rules = tmp_path.joinpath("reference/rules.html").read_text("utf-8")
    assert all(name in rules for name in wa.rules()["name"])
    missing = [rule.name for rule in RULES.values() if not (tmp_path / rule.help).is_file()]
    assert missing == []
    errors = tmp_path.joinpath("reference/errors.html").read_text("utf-8")
    assert all(name in errors for name in (*ERROR_TYPES, *MESSAGES))
    paths = tmp_path.joinpath("reference/paths.html").read_text("utf-8")
    assert all(f"/v1/{operation.path}" in paths for operation in OPERATIONS.values())


@pytest.fixture(scope="module")
def made() -> Any:
    """The script that makes the pictures."""
    spec = importlib.util.spec_from_file_location("build_charts", ROOT / "docs" / "build_charts.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_pictures_of_charts_say_what_charts_say_today(made: Any) -> None:
    """Stale ones are made anew by `python docs/build_charts.py`; a page that was slow may be told otherwise."""
    charts, _ = made.drawn()
    old = {}
    for name, axes in charts.items():
        with Image.open(ROOT / "docs" / "charts" / f"{name}.png") as picture:
            shown = Counter(made.CHANGING.sub("", picture.info.get(made.SHOWS, "")).split())
        said = Counter(made.words(axes).split())
        if ((said - shown) + (shown - said)).total() > 0.1 * (said + shown).total():
            old[name] = said - shown
    assert old == {}


@pytest.mark.parametrize("name", ["report.png", "audit.png"])
def test_pictures_show_what_the_package_says_today(name: str, made: Any) -> None:
    """Stale ones are made anew by `python docs/build_charts.py`."""
    with sample_site() as site, wa.option_context(allow_private=True, progress=False):
        audit = wa.audit(sitemap=site.sitemap)
    with Image.open(ROOT / "docs" / name) as picture:
        assert picture.info[made.SHOWS] == made.shown(audit)
