"""The list of crawlers on the command line: shown, or replaced by a newer one."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from webanalytics.audits.ai.roster import ai_crawlers, update_roster
from webanalytics.cli.phone_update import content_of
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.output_files import write_text
from webanalytics.runs.frames.terminal import print_table


def add_crawlers(commands: Any) -> None:
    """Add the sub-command ``ai-crawlers``."""
    summary = "List the crawlers of search engines and AI services that audits know."
    parser = commands.add_parser(
        "ai-crawlers",
        help=summary,
        description=f"{summary} 'ai-crawlers update FILE|URL' puts a newer list in its place.",
    )
    parser.add_argument("action", nargs="*", metavar="update FILE|URL", help="a CSV file or its address")
    parser.add_argument(
        "--allow-private", action="store_true", help="the list may be on a private or local host"
    )
    parser.set_defaults(run=run_crawlers)


def run_crawlers(arguments: argparse.Namespace) -> int:
    """Run the sub-command ``ai-crawlers``."""
    action = arguments.action
    if not action:
        show = print_table if sys.stdout.isatty() else _as_csv
        show(ai_crawlers(), sys.stdout)
    elif action[0] == "update" and len(action) == 2:
        print(update_roster(content_of(action[1], arguments.allow_private)))
    else:
        raise ParameterError("The `update` parameter must be one file or URL.", "update")
    return 0


def _as_csv(frame: Any, file: Any) -> None:
    write_text(frame, file, "csv")
