"""The list of disposable phone numbers: the one in the package and the user's newer additions.

The list is kept as two numpy arrays, numbers in rising order and the day each was first seen, in an
``.npz`` file of differences split into byte planes, which compress to a fraction and load in
milliseconds. Additions of the user lie in a file of the same form in the user's data folder.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import logging
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webanalytics.errors import ParameterError
from webanalytics.files import written_whole

PACKAGED_FILE: Final = "phones.npz"
USER_FILE: Final = "phones.npz"
EPOCH: Final = dt.date(1970, 1, 1)
LARGEST: Final = 10**18
"""Any number is smaller; the published list has one with more digits than E.164 allows."""

Numbers = NDArray[np.uint64]
Days = NDArray[np.int32]

_log = logging.getLogger(__name__)
_NUMBER = re.compile(r"\+?([1-9][0-9]{1,14})")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BROKEN_FILE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


@dataclass(frozen=True)
class PhoneList:
    """Disposable numbers and the day each was first seen."""

    numbers: Numbers  # digits of the numbers, without the plus sign, in strictly rising order
    days: Days  # days since 1970-01-01
    source: str  # where the list comes from, with its version

    def __len__(self) -> int:
        return len(self.numbers)

    def find(self, numbers: Numbers) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return which numbers are in the list, and the position of each one that is."""
        positions = np.searchsorted(self.numbers, numbers)
        positions[positions == len(self.numbers)] = 0
        return (self.numbers[positions] == numbers if len(self) else np.zeros(len(numbers), bool)), positions

    def first_seen(self, positions: NDArray[np.intp]) -> NDArray[np.object_]:
        """Return the dates at some positions as ``YYYY-MM-DD`` strings."""
        return self._dates[self.days[positions] - self._first_day]

    @cached_property
    def _first_day(self) -> int:
        return int(np.min(self.days)) if len(self) else 0

    @cached_property
    def _dates(self) -> NDArray[np.object_]:
        last = int(np.max(self.days)) if len(self) else 0
        return np.arange(self._first_day, last + 1).astype("datetime64[D]").astype(str).astype(object)

    def merged(self, other: PhoneList) -> PhoneList:
        """Return both lists as one; a number in both keeps the earlier date."""
        numbers = np.concatenate([self.numbers, other.numbers])
        days = np.concatenate([self.days, other.days])
        order = np.lexsort((days, numbers))
        numbers, days = numbers[order], days[order]
        first = np.ones(len(numbers), dtype=bool)
        first[1:] = numbers[1:] != numbers[:-1]
        return PhoneList(numbers[first], days[first], self.source)


class UpdateReport(NamedTuple):
    """What an update changed."""

    added: int
    earlier: int
    skipped: int
    total: int
    path: Path


def load() -> PhoneList:
    """Return the list in use: the package's, with the user's additions if there are any.

    A user file that cannot be read is left out with a logged warning.

    Examples
    --------
    >>> position = load().find(np.array([12085813945], dtype=np.uint64))[1]
    >>> load().first_seen(position)[0]
    '2024-01-30'
    """
    path = user_file()
    try:
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
    except OSError:
        stamp = None
    return packaged() if stamp is None else _merged_with_user_file(path, stamp)


@lru_cache(maxsize=1)
def packaged() -> PhoneList:
    """Return the list inside the package."""
    file = resources.files("webanalytics.records.phones") / "data" / PACKAGED_FILE
    return from_bytes(file.read_bytes())


@lru_cache(maxsize=1)
def _merged_with_user_file(path: Path, _stamp: tuple[int, int]) -> PhoneList:
    """Merge both lists, again whenever the user's file has changed."""
    try:
        return packaged().merged(from_bytes(path.read_bytes()))
    except _BROKEN_FILE as error:
        _log.warning("ignoring the list of phone numbers in %s: %s", path, error)
        return packaged()


def user_file() -> Path:
    """Return the file of the user's additions, whether or not it exists."""
    return data_folder() / USER_FILE


def data_folder() -> Path:
    """Return the user's data folder: ``WEBANALYTICS_DATA``, or the platform's default."""
    if chosen := os.environ.get("WEBANALYTICS_DATA"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "webanalytics"


def update(
    source: Mapping[str, str] | bytes | str | Path,
    *,
    folder: Path | None = None,
    today: dt.date | None = None,
    limit: int = 64_000_000,
) -> UpdateReport:
    """Merge a newer list into the user's additions.

    A list is a mapping of numbers to the date first seen, its path or its content: a JSON object
    (``{"12085813945": "2024-01-30"}``), a JSON array of numbers, or lines of ``number,date`` or ``number``.
    Without a number in it nothing is changed.
    """
    day = today or dt.datetime.now(dt.UTC).date()
    newer, skipped = _read_entries(_entries(source, limit), day)
    path = (folder or data_folder()) / USER_FILE
    own = _own_list(path)
    before = packaged().merged(own)
    after = before.merged(newer)
    known, positions = before.find(newer.numbers)
    earlier = int(np.count_nonzero(newer.days[known] < before.days[positions[known]]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path, durable=True, mode=0o600) as temporary:
        temporary.write_bytes(to_bytes(own.merged(newer)))
    return UpdateReport(len(after) - len(before), earlier, skipped, len(after), path)


def _own_list(path: Path) -> PhoneList:
    try:
        return from_bytes(path.read_bytes())
    except FileNotFoundError:
        pass
    except _BROKEN_FILE as error:
        _log.warning("replacing the broken list of phone numbers in %s: %s", path, error)
    return _phone_list({})


def _entries(source: object, limit: int) -> Iterable[tuple[object, object]]:
    if isinstance(source, Mapping):
        return source.items()
    if isinstance(source, str | Path):
        source = _read_file(Path(source), limit)
    if not isinstance(source, bytes) or len(source) > limit:
        raise ParameterError.must_be("source", f"a list of at most {limit} bytes")
    text = source.decode("utf-8-sig", "replace").strip()
    return _json_entries(text) if text[:1] in ("{", "[") else _line_entries(text)


def _read_file(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except (OSError, ValueError):
        raise ParameterError.must_be("source", "the path of a readable file") from None


def _json_entries(text: str) -> Iterable[tuple[object, object]]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise ParameterError.must_be("source", "a list in valid JSON or CSV") from None
    if isinstance(content, dict):
        return content.items()
    return ((number, None) for number in content)


def _line_entries(text: str) -> Iterator[tuple[object, object]]:
    for line in text.splitlines():
        number, _, date = line.replace(";", ",").replace("\t", ",").partition(",")
        if number.strip():
            yield number.strip().strip('"'), date.strip().strip('"') or None


def _read_entries(entries: Iterable[tuple[object, object]], today: dt.date) -> tuple[PhoneList, int]:
    days: dict[int, int] = {}
    skipped = 0
    for number, date in entries:
        matched = _NUMBER.fullmatch(str(number).strip())
        day = _day(date, today)
        if matched is None or day is None:
            skipped += 1
            continue
        digits = int(matched[1])
        days[digits] = min(day, days.get(digits, day))
    if not days:
        raise ParameterError.must_be("source", "a list with at least one phone number")
    return _phone_list(days), skipped


def _day(date: object, today: dt.date) -> int | None:
    if date is None:
        return (today - EPOCH).days
    if not isinstance(date, str) or not _DATE.fullmatch(date[:10]):
        return None
    try:
        day = (dt.date.fromisoformat(date[:10]) - EPOCH).days
    except ValueError:
        return None
    return day if 0 <= day <= (today - EPOCH).days + 1 else None


def _phone_list(days: Mapping[int, int]) -> PhoneList:
    numbers = sorted(days)
    seen = np.array([days[one] for one in numbers], dtype=np.int32)
    return PhoneList(np.array(numbers, dtype=np.uint64), seen, "user")


def to_bytes(phones: PhoneList) -> bytes:
    """Return a list as the content of a file.

    >>> one = PhoneList(np.array([4712345678], np.uint64), np.array([19000], np.int32), "test")
    >>> from_bytes(to_bytes(one)).numbers.tolist()
    [4712345678]
    """
    steps = np.diff(phones.numbers, prepend=np.uint64(0)).astype("<u8")
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        steps=_planes(steps),
        days=_planes(phones.days.astype("<u2")),
        source=np.frombuffer(phones.source.encode(), dtype=np.uint8),
    )
    return buffer.getvalue()


def from_bytes(content: bytes, limit: int = 64_000_000) -> PhoneList:
    """Read a list from what `to_bytes` returned, which may unpack to `limit` bytes."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > limit:
            raise ValueError(f"more than {limit} bytes when unpacked")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        steps = _from_planes(arrays["steps"], "<u8")
        days = _from_planes(arrays["days"], "<u2").astype(np.int32)
        source = arrays["source"].tobytes().decode("utf-8", "replace")
    numbers = np.cumsum(steps, dtype=np.uint64)
    in_order = len(numbers) == 0 or bool(
        numbers[0] > 0 and numbers[-1] < LARGEST and np.all(numbers[1:] > numbers[:-1])
    )
    if len(numbers) != len(days) or not in_order:
        raise ValueError("numbers and dates do not fit each other")
    return PhoneList(numbers, days, source)


def _planes(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the bytes of integers ordered by significance: like bytes side by side compress well."""
    return np.ascontiguousarray(values.view(np.uint8).reshape(-1, values.dtype.itemsize).T)


def _from_planes(planes: NDArray[Any], dtype: str) -> NDArray[Any]:
    if planes.dtype != np.uint8 or planes.ndim != 2 or planes.shape[0] != np.dtype(dtype).itemsize:
        raise ValueError("not the byte planes of a list")
    return np.ascontiguousarray(planes.T).view(dtype).reshape(-1)
