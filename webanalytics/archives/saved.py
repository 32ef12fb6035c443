"""A folder of saved pages, and the table of pages that a desktop crawler exports beside it -> `Index`.

The table is that of Screaming Frog's tab Internal; other tools name the columns alike. Names of files say
little of addresses (slashes and more become underscores), so a file is found by what is left of both.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from webanalytics.archives.answers import Answer, Found
from webanalytics.archives.index import Duplicates, Index, pages_of, plain
from webanalytics.errors import ParameterError, reason
from webanalytics.fetching.content import is_page_type, media_type
from webanalytics.fetching.response import LONGEST_HEADER
from webanalytics.outcomes import ArchivedPage, Fetched, Stored

SUFFIXES = (".html", ".htm", ".xhtml")
"""How the names of saved pages end."""
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "url": ("address", "url"),
    "status": ("status code",),
    "kind": ("content type", "content"),
    "said": ("status",),
    "location": ("redirect url", "redirect uri"),
    "elapsed": ("response time",),
}
"""Columns of the table that are read, and how crawlers call them; also all that begin with X-Robots-Tag."""

_RENDERED = "rendered_"
_WORDS = re.compile(r"[\W_]+")
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table; what a cell does not say is None."""

    url: str
    status: int | None
    kind: str
    said: str
    location: str
    elapsed: float | None
    x_robots_tag: str | None

    @property
    def has_page(self) -> bool:
        """Whether a file may have been saved of it."""
        redirects = self.status is not None and 300 <= self.status < 400
        return self.status is not None and not redirects and is_page_type(media_type(self.kind))


def folder_index(folder: Path, export: Path | None, duplicates: Duplicates) -> Index:
    """Return the pages of a folder and, where there is one, of the table beside it.

    Raises
    ------
    ParameterError
        For a folder or a table that cannot be read.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if export is not None:
        return _listed(list(_rows(export)), _Files(files, folder), export, duplicates)
    pages = [
        ArchivedPage(str(file), Fetched(str(file), source="saved"), Stored(file), name=str(file))
        for file in files
    ]
    return Index(pages, {}, {"pages": len(pages)})


class _Files:
    """Saved pages, found by address."""

    def __init__(self, files: Iterable[Path], folder: Path) -> None:
        self._exact: dict[str, Path] = {}
        self._loose: defaultdict[str, list[Path]] = defaultdict(list)
        for file in sorted(files, key=lambda path: path.name.startswith(_RENDERED)):
            name = file.relative_to(folder).with_suffix("").as_posix()
            self._exact.setdefault(name.removeprefix("original_").rstrip("_"), file)
            self._loose[_key(name)].append(file)

    def __len__(self) -> int:
        return sum(map(len, self._loose.values()))

    def of(self, rows: Iterable[Row]) -> dict[str, Path]:
        """Return the file of each address; where several addresses may have a file, it is nobody's."""
        found: dict[str, Path] = {}
        wanted: defaultdict[str, list[str]] = defaultdict(list)
        for row in rows:
            name = plain(row.url).replace("://", "_").replace("/", "_").rstrip("_")
            if (file := self._exact.get(name)) is not None:
                found[row.url] = file
            else:
                wanted[_key(row.url)].append(row.url)
        taken = set(found.values())
        for key, urls in wanted.items():
            files = [file for file in self._loose.get(key, ()) if file not in taken]
            originals = [file for file in files if not file.name.startswith(_RENDERED)] or files
            if len(urls) == 1 and len(originals) == 1:
                found[urls[0]] = originals[0]
        return found


def _key(name: str) -> str:
    """Return what the address of a page and the name of its file have in common.

    Examples
    --------
    >>> _key("https://www.a.example/tea/green?x=1"), _key("original_https_www.a.example_tea_green_x=1")
    ('www_a_example_tea_green_x_1', 'www_a_example_tea_green_x_1')
    >>> _key("a.example/tea/index"), _key("https://a.example/tea/")
    ('a_example_tea', 'a_example_tea')
    """
    text = plain(name).lower()
    for suffix in SUFFIXES:
        text = text.removesuffix(suffix)
    key = _WORDS.sub("_", text).strip("_")
    for prefix in ("original_", _RENDERED, "https_", "http_"):
        key = key.removeprefix(prefix)
    return key.removesuffix("_index")


def _listed(rows: list[Row], files: _Files, export: Path, duplicates: Duplicates) -> Index:
    """Return the pages of a table, with their files."""
    known = {plain(row.url): row for row in rows}
    with_file = files.of(row for row in known.values() if row.has_page)
    answers = [
        Answer(
            row.url,
            Stored(export),
            f"{row.url} {order}",
            "",
            order,
            status=row.status,
            location=row.location if row.status is not None and 300 <= row.status < 400 else "",
            kind="" if row.status is None else media_type(row.kind),
            has_head=False,
        )
        for order, row in enumerate(rows)
    ]
    index = pages_of(Found(answers=answers, counts=Counter(rows=len(rows))), duplicates)
    made = [_with_file(page, known, with_file) for page in index.pages]
    counts = {
        **index.counts,
        "files": len(files),
        "files_without_row": len(files) - len(set(with_file.values())),
    }
    return Index(made, {}, counts)


def _with_file(page: ArchivedPage, rows: Mapping[str, Row], files: Mapping[str, Path]) -> ArchivedPage:
    first, last = rows[plain(page.url)], rows[plain(page.fetched.final_url or page.url)]
    fetched = replace(
        page.fetched,
        elapsed=first.elapsed,
        content_type=last.kind or None,
        x_robots_tag=last.x_robots_tag,
        source="saved",
    )
    file = files.get(last.url)
    failure: tuple[str, tuple[tuple[str, Any], ...]] | None = page.failure
    if failure is None and last.status is None:
        robots = "robots" in last.said.lower()
        failure = (
            ("robots", ()) if robots else ("archived_unanswered", (("reason", last.said or "no status"),))
        )
    elif failure is None and file is None and last.status is not None and 200 <= last.status < 300:
        failure = ("archived_without_file", ())
    return replace(page, fetched=fetched, body=None if file is None else Stored(file), failure=failure)


def _rows(export: Path) -> Iterator[Row]:
    """Yield the rows of a table that have an address in http or https."""
    try:
        with export.open("rb") as file:
            start = file.read(4)
        encoding = next((name for mark, name in _MARKS if start.startswith(mark)), "utf-8-sig")
        with export.open(encoding=encoding, errors="replace", newline="") as lines:
            head = lines.readline(100_000)
            lines.seek(0)
            table = csv.reader(lines, delimiter=max(",;\t", key=head.count))
            places, robots = _places(next(table, []))
            for cells in table:
                row = _row(cells, places, robots)
                if row.url.lower().startswith(("http://", "https://")):
                    yield row
    except (OSError, csv.Error, UnicodeError) as error:
        said = reason(error) if isinstance(error, OSError) else str(error)
        raise ParameterError(
            f"The `export` parameter must be a table that can be read: {said}.", "export"
        ) from None


def _places(head: list[str]) -> tuple[dict[str, int], list[int]]:
    """Return where the columns are that are read."""
    names = [name.strip().lower() for name in head]
    places = {
        field: next((names.index(name) for name in known if name in names), -1)
        for field, known in COLUMNS.items()
    }
    if min(places["url"], places["status"]) < 0:
        raise ParameterError(
            "The `export` parameter must be a table with the columns Address and Status Code, such as a "
            "desktop crawler's internal_all.csv.",
            "export",
        )
    return places, [place for place, name in enumerate(names) if name.startswith("x-robots-tag")]


def _row(cells: list[str], places: Mapping[str, int], robots: list[int]) -> Row:
    def cell(place: int) -> str:
        return cells[place].strip() if 0 <= place < len(cells) else ""

    number, seconds = cell(places["status"]), cell(places["elapsed"]).replace(",", ".")
    known = number.isascii() and number.isdigit() and 100 <= int(number[:6]) <= 599
    tags = "\n".join(filter(None, map(cell, robots)))
    return Row(
        url=cell(places["url"]),
        status=int(number) if known else None,
        kind=cell(places["kind"])[:LONGEST_HEADER],
        said=cell(places["said"])[:100],
        location=cell(places["location"])[:4_000],
        elapsed=float(seconds) if re.fullmatch(r"\d{1,6}(\.\d{1,9})?", seconds) else None,
        x_robots_tag=tags[:LONGEST_HEADER] if robots else None,
    )
