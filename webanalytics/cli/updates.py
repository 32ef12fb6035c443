"""Lists that a user may bring up to date: of crawlers, also shown, and of disposable phone numbers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from webanalytics.audits.ai.roster import ai_crawlers, update_roster
from webanalytics.cli.flags import add_command
from webanalytics.cli.row_safety import shown
from webanalytics.core.run_options import resolve
from webanalytics.errors import ParameterError, RowError
from webanalytics.fetching import Fetcher
from webanalytics.records.phones.phone_list import UpdateReport, update
from webanalytics.runs.backends.local import fetch_settings
from webanalytics.runs.boundary import Run, run_plain


def add_crawlers(commands: Any) -> None:
    """Add the sub-command ``ai-crawlers``."""
    more = "'ai-crawlers update FILE|URL' puts a newer list in its place."
    parser = add_command(commands, "ai-crawlers", more)
    parser.add_argument("action", nargs="*", metavar="update FILE|URL", help="a CSV file or its address")
    parser.add_argument(
        "--allow-private", action="store_true", help="the list may be on a private or local host"
    )
    parser.set_defaults(run=run_crawlers)


def run_crawlers(arguments: argparse.Namespace) -> int:
    """Run the sub-command ``ai-crawlers``."""
    action = arguments.action
    if not action:
        return shown(ai_crawlers(), None)
    if action[0] == "update" and len(action) == 2:
        print(update_roster(content_of(action[1], arguments.allow_private)))
    else:
        raise ParameterError.must_be("update", "one file or URL")
    return 0


def update_from(source: str, *, allow_private: bool = False) -> str:
    """Read a list from a file or URL, merge it, and return one sentence about what changed.

    Raises `ParameterError` for a source that cannot be read, or that is not such a list.
    """
    report: UpdateReport = update(content_of(source, allow_private))
    return (
        f"{report.added} numbers added, {report.earlier} seen earlier than known, {report.skipped} skipped; "
        f"{report.total} in all"
    )


def content_of(source: str, allow_private: bool) -> bytes:
    """Return the content of a file or of an address."""
    if "://" not in source:
        try:
            return Path(source).read_bytes()
        except OSError as error:
            raise ParameterError.must_be("update", f"a file that can be read: {error.strerror}") from None

    async def fetch() -> bytes:
        settings = fetch_settings(resolve({"allow_private": allow_private}))
        async with Fetcher(settings) as fetcher:
            return (await fetcher.fetch(source, parameter="update", accept="any")).content

    try:
        return run_plain(fetch, Run())
    except RowError as error:
        raise ParameterError(error.sentence, "update") from None
