"""Print ``requirements.txt`` for Binder: every third-party package at the version a clean resolve gives.

Usage, from the repository's root, with Python 3.12: ``python binder/pin.py > binder/requirements.txt``

Binder's own image brings JupyterLab and ipywidgets with what these need; pins of those would fight with it
and are left out. What webanalytics itself needs is pinned even where the image has it, too.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("parquet", "excel", "cjk", "dane", "service", "polars", "archives")
"""What the notebooks use beyond the core: files, Asian words, certificates, a server of their own."""

JUPYTER = frozenset({"ipywidgets", "ipykernel", "jupyterlab", "notebook", "jupyter-server"})
HEADER = """\
# Made by binder/pin.py; do not edit. JupyterLab and ipywidgets are in Binder's image.
# Nothing here names a local path, so that the layer with these is built once and kept.
"""


def resolved() -> dict[str, dict[str, Any]]:
    """Return the metadata of all packages of a clean resolve, by name."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    command += ["--report", "-", f"{ROOT}[{','.join(EXTRAS)}]"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own command
    report = json.loads(done.stdout)
    return {canonicalize_name(item["metadata"]["name"]): item["metadata"] for item in report["install"]}


def needed(package: dict[str, Any], extras: frozenset[str]) -> Iterator[Requirement]:
    """Yield what a package needs here with these extras."""
    for line in package.get("requires_dist", ()):
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def reached(packages: dict[str, dict[str, Any]], name: str, extras: frozenset[str], seen: set[str]) -> None:
    """Collect the packages that one needs, without those that only Jupyter brings."""
    for requirement in needed(packages[name], extras):
        other = canonicalize_name(requirement.name)
        if other not in JUPYTER and other in packages and other not in seen:
            seen.add(other)
            reached(packages, other, frozenset(requirement.extras), seen)


def main() -> None:
    """Print the file."""
    here = f"python-{sys.version_info.major}.{sys.version_info.minor}"
    if here != (ROOT / "binder" / "runtime.txt").read_text().strip():
        sys.exit("run this with the Python that binder/runtime.txt names")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["name"]
    packages, seen = resolved(), set[str]()
    reached(packages, canonicalize_name(project), frozenset(EXTRAS), seen)
    versions = {name: re.sub(r"\+.*", "", packages[name]["version"]) for name in seen}
    print(HEADER + "\n".join(f"{name}=={versions[name]}" for name in sorted(seen)))


if __name__ == "__main__":
    main()
