"""Take the names of schema.org's vocabulary from npm's ``schema-dts`` for the package.

Usage, with the package unpacked into a folder (``npm pack schema-dts``)::

    python data/build_schema_org.py path/to/package

Writes ``schema-org.csv`` and ``schema-org.LICENSE.txt`` into ``webanalytics/page/data``: names of types
with their parents, of properties, and of the members of enumerations; no descriptions.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).parents[1] / "webanalytics" / "analysis" / "data"
NOTICE = """schema-org.csv: the names of the types, properties and enumeration members of schema.org.

Taken from the declarations of the npm package {name} {version} by data/build_schema_org.py: names alone, and
which type is a more specific one of which. The vocabulary is that of https://schema.org, whose content
is under the Creative Commons Attribution-ShareAlike License 3.0. The npm package's licence follows.

"""
_INTERFACE = re.compile(r"^(?:export )?interface (\w+?)(?:Base|Leaf) extends [^{]+\{(.*?)^\}", re.M | re.S)
_PROPERTY = re.compile(r'^    "([A-Za-z0-9-]+)"\??:', re.M)
_TYPE = re.compile(r'"@type": "(?:https?://schema\.org/)?(\w+)"')
_UNION = re.compile(r"^export type (\w+)(<[^;]*?>)? = ([^\n]*);$", re.M)
_OTHERS = re.compile(r"\w+_\w+|\w+Leaf|With\w+")
_MEMBER = re.compile(r'"https?://schema\.org/(\w+)"')


def names(declarations: str) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and parents (of a type) or enumeration (of a member), sorted.

    A type is declared as the union of its own shape and of the types directly below it.
    """
    known: dict[str, str] = {}
    properties: set[str] = set()
    for name, body in _INTERFACE.findall(declarations):
        properties.update(_PROPERTY.findall(body))
        if kind := _TYPE.search(body):
            known[name] = kind[1]
    unions = [(name, union) for name, _, union in _UNION.findall(declarations)]
    # Data types and roles have no interface; names with an underscore are those of other vocabularies.
    known |= {name: name for name, _ in unions if name not in known and not _OTHERS.fullmatch(name)}
    parents: dict[str, set[str]] = {kind: set() for kind in known.values()}
    rows = {("property", name, "") for name in properties}
    for name, union in unions:
        if name in known:
            rows |= {("member", member, known[name]) for member in _MEMBER.findall(union)}
            for child in re.sub(r'"[^"]*"|<[^>]*>', "", union).replace("|", " ").split():
                if child in known and child != name:
                    parents[known[child]].add(known[name])
    rows |= {("type", kind, " ".join(sorted(above))) for kind, above in parents.items()}
    return iter(sorted(rows))


def build(package: Path) -> list[tuple[str, str, str]]:
    """Convert an unpacked npm package; return the rows that were written."""
    about = json.loads((package / "package.json").read_text("utf-8"))
    rows = list(names((package / "dist" / "schema.d.ts").read_text("utf-8")))
    with (TARGET / "schema-org.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("kind", "name", "of"))
        writer.writerows(rows)
    licence = (package / "LICENSE").read_text("utf-8")
    (TARGET / "schema-org.LICENSE.txt").write_text(NOTICE.format(**about) + licence, "utf-8")
    return rows


if __name__ == "__main__":
    written = build(Path(sys.argv[1]))
    for sort in ("type", "property", "member"):
        print(f"{sort}: {sum(row[0] == sort for row in written):,}")
