"""Files of logs -> whole lines in blocks -> counts: memory grows with addresses, not with lines."""

from __future__ import annotations

import glob
import gzip
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from webanalytics.audits.logs.agents import OTHER, Agent, Verify, named
from webanalytics.audits.logs.formats import FORMATS, Format, Row, of_header, of_template, unescaped
from webanalytics.errors import MissingExtraError, ParameterError

BLOCK, LONGEST = 1_000_000, 1_000_000
"""Bytes that are read at once; those that are kept of a line that goes on over blocks."""
MOST, KEPT, TRIED = 1_000_000, 1_000, 50
"""Rows of counts that are kept; unread lines that are told; lines by which the format of a file is found."""
LEAST_WORK, MOST_TIMES = 250_000_000, 200
"""Bytes that any file may inflate to, and how many times its size a larger one may."""
SPENT = f"the file inflates over {MOST_TIMES} times its size, and is not read from here on"
REST = b"/\xe2\x80\xa6"
"""The address of what is summed up."""
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_PLAIN, _ODD = re.compile(rb"[!#-~]*+"), re.compile(rb"[^!#-~]")


class Counts:
    """The counts of all lines."""

    def __init__(self, verify: Verify | None, keep: bool) -> None:
        # by host, address, crawler, whether it is who it says, status, and where from:
        # hits, bytes, seconds, hits of which these are known, first and last day
        self.hits: dict[tuple[bytes, bytes, Agent, bool | None, int, bytes], list[Any]] = {}
        self.days: Counter[tuple[str, str, int]] = Counter()
        self.unread: list[tuple[str, int, str]] = []
        self.lines = self.left = self.summed = 0
        self._verify, self._keep = verify, keep
        self._verdicts: dict[tuple[Agent, str], bool | None] = {}

    def add(self, rows: Sequence[Row], unit: float, places: Iterable[int]) -> list[int]:
        """Count rows; returns the places of those that are none."""
        bad, days, verdict = [], [], None
        if self._verify:
            seen = {(named(row[9]), row[1].decode("latin-1")) for row in rows}
            self._verdicts |= self._verify(seen - self._verdicts.keys())
        for place, row in zip(places, rows, strict=True):
            host, address, day, time, request, query, status, size, seconds, agent = row
            when = day_of(day, time)
            if not (when and status.isdigit()):
                bad.append(place)
                continue
            who, code = named(agent), int(status[:3])
            if self._verify:
                verdict = self._verdicts[who, address.decode("latin-1")]
            key = (host, target(request, query), who, verdict, code, address if self._keep else b"")
            found = self.hits.get(key)
            if found is None:
                if len(self.hits) >= MOST:
                    self.summed += 1
                    who = Agent("others", OTHER) if who.purpose == OTHER else who
                    key = (b"", REST + b"?" * (b"?" in key[1]), who, verdict, code, b"")
                found = self.hits.setdefault(key, [0, 0, 0.0, 0, when, when])
            found[0] += 1
            found[1] += int(size[:15]) if size.isdigit() else 0
            with suppress(ValueError):  # "-" and, of a load balancer that has no answer, -1 are no times
                if 0 <= (took := float(seconds or "-")) < math.inf:
                    found[2] += took * unit
                    found[3] += 1
            if when > found[5]:
                found[5] = when
            elif when < found[4]:
                found[4] = when
            days.append((when, who.purpose, code))
        self.days.update(days)
        return bad

    def leave(self, file: str, line: int, reason: str) -> None:
        """Tell of a line that is no row."""
        self.left += 1
        if len(self.unread) < KEPT:
            self.unread.append((file, line, reason))


@lru_cache(maxsize=20_000)
def day_of(day: bytes, time: bytes) -> str:
    """Return the day of a moment in UTC, '' for none.

    >>> day_of(b"31/Dec/2025:23:30", b" -0100"), day_of(b"", b"1767225600.5"), day_of(b"2026-01-01", b"00:05")
    ('2026-01-01', '2026-01-01', '2026-01-01')
    """
    text = f"{day.decode('latin-1')} {time.decode('latin-1').strip()}".strip()
    try:
        if text.replace(".", "", 1).isdecimal():
            return datetime.fromtimestamp(float(text), UTC).date().isoformat()
        if text[2:3] == "/":
            text = f"{text[7:11]}-{_MONTHS.index(text[3:6]) + 1:02}-{text[:2]}T{text[12:].replace(' ', '')}"
        moment = datetime.fromisoformat(text.replace("/", "-"))  # Caddy writes 2026/11/24, too
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


@lru_cache(maxsize=50_000)
def target(request: bytes, query: bytes) -> bytes:
    r"""Return the address that a request line asks for, as it was sent; empty for none.

    >>> target(b'GET /a\\x22b\\"c HTTP/1.1', b""), target(b"/a", b"b=1"), target(b"\\x16\\x03", b"-")
    (b'/a%22b%22c', b'/a?b=1', b'')
    """
    parts = unescaped(request).split(b" ")
    asked = parts[0] if len(parts) == 1 else parts[1] if len(parts) < 4 else b" ".join(parts[1:-1])
    if request[:1] == b"-" or (asked[:1] != b"/" and asked[:4].lower() != b"http"):
        return b""
    if query not in (b"", b"-") and b"?" not in asked:
        asked += b"?" + query.removeprefix(b"?")
    return asked if _PLAIN.fullmatch(asked) else _ODD.sub(lambda sign: b"%%%02X" % sign[0][0], asked)


def paths_of(source: Any) -> list[Path]:
    """Return the files of a path, a pattern of paths, or several of them; raises `ParameterError`."""
    several = source if isinstance(source, (list, tuple)) and source else [source]
    if not all(isinstance(one, (str, os.PathLike)) for one in several):
        raise ParameterError.must_be("source", 'a file, a pattern such as "access.log*", or a list of them')
    found: dict[str, None] = {}
    for name in map(os.fspath, several):
        own = [path for path in [name, *sorted(glob.glob(name))] if Path(path).is_file()]  # noqa: PTH207
        if not own:
            raise ParameterError.must_be("source", f"files that exist: {name!r} is none")
        found |= dict.fromkeys(own)
    return list(map(Path, found))


def _opened(path: Path) -> IO[bytes]:
    if path.suffix.lower() != ".zst":
        return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("archives", "zstandard", "reading .zst files") from None
    opened: IO[bytes] = zstandard.open(path, "rb")
    return opened


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the whole lines of a file, some megabytes at a time; raises `OSError` for one that is damaged."""
    rest, ended, left = b"", True, max(LEAST_WORK, MOST_TIMES * path.stat().st_size)
    with _opened(path) as file:
        while ended:
            try:
                block = file.read(BLOCK)
            except Exception as error:  # of any library
                raise OSError from error
            if (left := left - len(block)) < 0:
                raise OSError(SPENT)
            whole, _, begun = (rest + block).rpartition(b"\n") if block else (rest, b"", b"")
            rest, ended = begun[:LONGEST], bool(block)
            if whole:
                yield whole.removeprefix(b"\xef\xbb\xbf")


def format_of(path: Path, asked: str | None) -> Format:
    """Return the format of a file; raises `ParameterError` where there is none."""
    if asked and ("%" in asked or "$" in asked):
        return of_template("own", asked)
    if asked not in (None, "w3c", *FORMATS):
        raise ParameterError.one_of(
            "format", [*FORMATS, "w3c", "a LogFormat of Apache", "a log_format of nginx"]
        )
    try:
        lines = [line for line in next(_blocks(path), b"").split(b"\n")[: 4 * TRIED] if line.strip()]
    except OSError:
        raise ParameterError.must_be("source", f"files that can be read, and {path.name} is none") from None
    header = next((line for line in lines if line.startswith(b"#Fields:")), None)
    rows = [line for line in lines if not line.startswith(b"#")][:TRIED]
    if header and asked in (None, "w3c"):
        return of_header(header, bool(rows) and b"\t" in rows[0])
    sample = b"\n".join(rows)
    best = FORMATS.get(asked or "") or max(FORMATS.values(), key=lambda one: len(one.rows(sample)))
    if rows and not (asked or best.rows(sample)):
        said = "as a LogFormat of Apache or log_format of nginx: its first lines are of no known format"
        raise ParameterError.must_be("format", f"how {path.name} is written, {said}")
    return best


def read_file(path: Path, form: Format, counts: Counts) -> None:
    """Count the lines of a file."""
    number = 0
    try:
        for block in _blocks(path):
            comments = form.name == "w3c" and b"#" in block
            for part in re.split(rb"(?m)^(#[^\n]*)(?:\n|\Z)", block) if comments else (block,):
                if comments and part.startswith(b"#"):
                    form = of_header(part, form.tabs) if part.startswith(b"#Fields:") else form
                    number += 1
                elif part:
                    number += _count(path.name, number, part.removesuffix(b"\n"), form, counts)
    except OSError as error:
        reason = SPENT if SPENT in error.args else "the file cannot be read from here on"
        counts.leave(path.name, number + 1, reason)


def _count(file: str, before: int, part: bytes, form: Format, counts: Counts) -> int:
    """Count the lines of a part of a file; returns how many there are."""
    size, rows = part.count(b"\n") + 1, form.rows(part)
    counts.lines += size
    left: list[tuple[int, bytes]] = [] if len(rows) == size else list(enumerate(part.split(b"\n")))
    bad = [] if left else counts.add(rows, form.unit, range(size))
    # another one may have begun in the middle of a file
    for one in (form, *FORMATS.values()) if left else ():
        if not one.rows(b"\n".join(line for _, line in left)):
            continue
        tried = [(place, line, one.rows(line)) for place, line in left]
        fitting = {place: row[0] for place, _, row in tried if row}
        bad += counts.add(list(fitting.values()), one.unit, fitting)
        left = [(place, line) for place, line, row in tried if not row]
    for place in bad:
        counts.leave(file, before + place + 1, "no time or status that is known")
    for place, line in left:
        counts.leave(file, before + place + 1, f"not of the format {form.name}" if line.strip() else "empty")
    return size
