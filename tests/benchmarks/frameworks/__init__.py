"""A shop of twelve lanterns in five frameworks, built by their own tools from the npm registry, and served."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from webanalytics.fetching.testing import Reply

FOLDER = Path(__file__).parent
KEPT = os.environ.get("WEBANALYTICS_FRAMEWORKS", "")
"""Folder in which what is built stays for the next time."""
OUTPUT = {"react": "dist", "vue": "dist", "svelte": "dist", "angular": "dist", "next": "out"}
QUIET = {"NEXT_TELEMETRY_DISABLED": "1", "NG_CLI_ANALYTICS": "false", "CI": "1"}
LANTERNS = json.loads((FOLDER / "shared" / "lanterns.json").read_text())


def built(name: str, within: Path) -> Path:
    """Return the folder of what a framework's tools make of its shop."""
    place = Path(KEPT or within, name)
    output = place / OUTPUT[name]
    if not output.is_dir():
        shutil.copytree(FOLDER / name, place, dirs_exist_ok=True)
        shutil.copytree(FOLDER / "shared", place / "public", dirs_exist_ok=True)
        if (place / "vite.config.js").exists():
            (main,) = (place / "src").glob("main.*")
            document = (FOLDER / "vite.html").read_text().replace("MAIN", main.name)
            (place / "index.html").write_text(document)
        for command in (("install", "--no-audit", "--no-fund", "--silent"), ("run", "build")):
            done = subprocess.run(
                ["npm", *command], cwd=place, env={**os.environ, **QUIET}, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{name}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return output


def version(name: str, within: Path) -> str:
    """Return the framework's version that was installed."""
    package = {"angular": "@angular/core", "react": "react-dom"}.get(name, name)
    found = Path(KEPT or within, name, "node_modules", package, "package.json").read_text()
    return str(json.loads(found)["version"])


def pages(output: Path) -> dict[str, bytes | Reply]:
    """Return the site: files by their paths, and the shop's own document for each lantern without a file."""
    found: dict[str, bytes | Reply] = {}
    for file in sorted(output.rglob("*")):
        if file.is_file():
            kept = {"Cache-Control": "max-age=3600"} if file.suffix in (".js", ".css") else {}
            path = "/" + file.relative_to(output).as_posix()
            found[path.removesuffix("index.html")] = Reply(headers=kept, body=file.read_bytes())
    for lantern in LANTERNS:
        found.setdefault(f"/lanterns/{lantern['slug']}", found["/"])
    return found
