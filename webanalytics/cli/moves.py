"""Moving a site on the command line: a map of redirects, and the check of it after the launch."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from webanalytics import sync
from webanalytics.audits.moves.server_files import form_of
from webanalytics.cli.flags import add_command, add_listed
from webanalytics.cli.names import as_flags
from webanalytics.cli.row_safety import can_be_written, shown
from webanalytics.errors import ParameterError
from webanalytics.operations import METADATA
from webanalytics.runs.frames.input_files import SUFFIXES, lines_of, read_frame
from webanalytics.runs.frames.inputs import read_values
from webanalytics.urls import address, is_archive

BAD = frozenset(("fails", "not redirected", "elsewhere"))
"""Verdicts after which the exit status is 1."""


def add_moves(commands: Any) -> None:
    """Add the sub-commands ``redirect-map`` and ``check-redirects``."""
    parser = add_command(commands, "redirect-map")
    add_listed(parser, "redirect-map")
    parser.set_defaults(run=run_map)
    more = "Exit status 1: an address does not lead where it should."
    parser = add_command(commands, "check-redirects", more)
    add_listed(parser, "check-redirects")
    parser.set_defaults(run=run_check)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {} if arguments.allow_private is None else {"allow_private": arguments.allow_private}


def _source(text: str, parameter: str) -> Any:
    path = Path(text)
    if address(text) or is_archive(text) or not path.is_file():
        return text
    try:
        if path.suffix.lower() in SUFFIXES:
            return read_values(read_frame(path), METADATA, "input").dropna().tolist()
        return [line.strip() for line in lines_of(path.read_bytes())]
    except ParameterError as error:  # of the table, or of its columns
        raise error.of(parameter) from None


def run_map(arguments: argparse.Namespace) -> int:
    """Run the sub-command ``redirect-map``."""
    for name in arguments.output:
        can_be_written(name, table=form_of(Path(name)) is None)
    given = {} if arguments.sure is None else {"sure": arguments.sure}
    old, new = _source(arguments.old, "old"), _source(arguments.new, "new")
    plan = sync.redirect_map(old, new, **given, **_options(arguments))
    decisions = ("sure", "look") if arguments.with_look else ("sure",)
    for name in arguments.output:
        print(f"written to {plan.write(name, decisions=decisions)}", file=sys.stderr)
    if sys.stdout.isatty() or arguments.output:
        print(as_flags(repr(plan)))
    else:
        return shown(plan.table, None)
    return 0


def run_check(arguments: argparse.Namespace) -> int:
    """Run the sub-command ``check-redirects``."""
    can_be_written(arguments.output)
    can_be_written(arguments.report, "report", table=False)
    if not Path(arguments.plan).is_file():
        raise ParameterError.must_be("plan", "a file")
    old = None if arguments.old is None else _source(arguments.old, "old")
    given = {"site": arguments.site, "old": old, "report": arguments.report}
    found = sync.check_redirects(arguments.plan, **given, **_options(arguments))
    status = shown(found, arguments.output)
    counts = found["verdict"].value_counts()
    print(", ".join(f"{count:,} {verdict}" for verdict, count in counts.items()), file=sys.stderr)
    return status or int(bool(BAD & set(counts.index)))
