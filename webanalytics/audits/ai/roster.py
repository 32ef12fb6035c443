"""The crawlers of search engines and AI services, as data: each with its purpose, its source and a date.

The list in the package is of the day of its release; operators add and rename crawlers, so a user may put a
newer one in its place.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import pandas as pd

from webanalytics.errors import ParameterError
from webanalytics.files import written_whole
from webanalytics.records.phones.phone_list import data_folder
from webanalytics.runs.frames.schema import frame_of

Purpose = Literal["search", "user", "training"]
"""What a crawler reads pages for: an index of a search, the request of a user, the training of models."""

Obedience = Literal["yes", "may not", "token only", "unknown"]
"""Whether it obeys robots.txt, as its operator says; "token only" is a name that no crawler has, by which
a crawler of another name is told what its operator may use the page for."""

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
FILE = "ai-crawlers.csv"
COLUMNS = ("token", "operator", "purpose", "robots", "source", "date")
MOST = 500
"""Crawlers of a list."""
LARGEST = 200_000
"""Bytes of a list."""
_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{1,60}")
_DATE = re.compile(r"20\d\d-[01]\d-[0-3]\d")


class Crawler(NamedTuple):
    """One crawler."""

    token: str  # what a robots.txt calls it (RFC 9309 section 2.2.1)
    operator: str  # who runs it
    purpose: Purpose  # what it reads pages for
    robots: Obedience  # whether it obeys robots.txt, as its operator says
    source: str  # where its operator says so
    date: str  # of which day the entry is


def parse_roster(content: bytes) -> tuple[Crawler, ...]:
    r"""Return the crawlers of a list in CSV, or raise `ParameterError`.

    Examples
    --------
    >>> head = b"token,operator,purpose,robots,source,date\n"
    >>> parse_roster(head + b"ABot,A,search,yes,https://a.example/,2026-01-31")[0].token
    'ABot'
    """
    try:
        text = content[: LARGEST + 1].decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise _refused("a CSV file in UTF-8") from None
    if len(content) > LARGEST or not 0 < len(rows) <= MOST:
        raise _refused(f"a list of at most {MOST} crawlers")
    return tuple(_crawler(number, row) for number, row in enumerate(rows, 2))


def _crawler(number: int, row: Mapping[str | None, object]) -> Crawler:
    cells = {name: row.get(name) for name in COLUMNS}
    texts = {name: cell.strip() for name, cell in cells.items() if isinstance(cell, str)}
    if len(texts) < len(COLUMNS) or None in row:
        raise _refused(f"a list with the columns {', '.join(COLUMNS)} (line {number})")
    good = (
        _TOKEN.fullmatch(texts["token"])
        and texts["purpose"] in PURPOSES
        and texts["robots"] in get_args(Obedience)
        and texts["source"].startswith(("https://", "http://"))
        and _DATE.fullmatch(texts["date"])
        and all(len(text) < 300 and text.isprintable() for text in texts.values())
    )
    if not good:
        raise _refused(
            f"a list whose purposes are {', '.join(PURPOSES)} and whose rest is whole (line {number})"
        )
    return Crawler(**texts)  # type: ignore[arg-type]  # checked above


def _refused(what: str) -> ParameterError:
    return ParameterError.must_be("update", what)


def user_file() -> Path:
    """Return where the user's own list stands."""
    return data_folder() / FILE


@lru_cache(maxsize=4)
def _read(path: Path | None, _changed: float) -> tuple[Crawler, ...]:
    if path is not None:
        return parse_roster(path.read_bytes())
    return parse_roster((resources.files("webanalytics.audits") / "data" / FILE).read_bytes())


def roster() -> tuple[Crawler, ...]:
    """Return the crawlers of the user's own list, else those of the package."""
    own = user_file()
    try:
        return _read(own, own.stat().st_mtime)
    except OSError:
        return _read(None, 0.0)
    except ParameterError as error:
        raise ParameterError(
            f"The list of crawlers in {own} is damaged: delete the file.", "update"
        ) from error


def update_roster(content: bytes) -> str:
    """Put a list in the place of the one that is used, and say what changed."""
    before, after = {crawler.token for crawler in roster()}, parse_roster(content)
    tokens = {crawler.token for crawler in after}
    path = user_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise ParameterError.on("update", f"cannot be kept in {path}: {error.strerror}") from None
    return f"{len(after)} crawlers, {len(tokens - before)} of them new; {len(before - tokens)} are gone"


def chosen(crawlers: Iterable[str] | None) -> tuple[Crawler, ...]:
    """Return the crawlers with these tokens, all of them for None; one not on the list is taken as it is.

    Raises
    ------
    ParameterError
        For something else than tokens.
    """
    known = roster()
    if crawlers is None:
        return known
    listed = list(crawlers) if isinstance(crawlers, Iterable) else []
    names = [crawlers] if isinstance(crawlers, str) else listed
    if not names or not all(isinstance(name, str) and _TOKEN.fullmatch(name) for name in names):
        raise ParameterError.must_be("crawlers", 'product tokens such as "GPTBot", or None for all')
    by_name = {crawler.token.lower(): crawler for crawler in known}
    return tuple(
        by_name.get(name.lower()) or Crawler(name, "", "search", "unknown", "", "")
        for name in dict.fromkeys(names)
    )


def ai_crawlers() -> pd.DataFrame:
    """Return the crawlers of search engines and AI services that audits judge robots.txt for.

    Returns
    -------
    pandas.DataFrame
        ``token`` (what robots.txt calls it), ``operator``, ``purpose`` (search, user or training), ``robots``
        (whether it obeys robots.txt, as its operator says: yes, may not, token only, unknown), ``source`` and
        ``date``.

    Notes
    -----
    The list is that of the package, or the one that ``webanalytics ai-crawlers update FILE|URL`` has put in
    its place: a CSV file with the same columns.

    Examples
    --------
    >>> crawlers = ai_crawlers().set_index("token")
    >>> crawlers.loc["GPTBot", ["operator", "purpose"]].tolist()
    ['OpenAI', 'training']
    """
    return frame_of(dict.fromkeys(COLUMNS, "string"), (row._asdict() for row in roster()))
