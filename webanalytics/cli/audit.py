"""The command line of audits: sitemaps, reports, gates for continuous integration, and comparisons."""

from __future__ import annotations

import argparse
import runpy
import shutil
import sys
import traceback
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.excel import checked_rules
from webanalytics.audits.overview.display import as_text, audit_overview, counted
from webanalytics.cli.flags import SCREEN, add_command, add_listed, named_once
from webanalytics.cli.names import as_flags
from webanalytics.cli.row_safety import tried
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.output_files import write_frame
from webanalytics.runs.frames.terminal import print_table
from webanalytics.thresholds import PRIORITIES

GATE = 3
"""Exit status if there are issues of the named priority or a higher one."""

LEVELS = PRIORITIES[::-1]
ALL_OF_IT = "All of it: --report report.html or -o audit.xlsx."
_OWN = ("rules", "profile", "thresholds", "report", "save", "fail_on")
_OF_WORKBOOK = ("columns", "only_rules")
_KEYWORDS = ("sitemap", "profile", "thresholds", "image_sizes", "resources", "extract")
"""Flags that are arguments of `webanalytics.audit`."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that only the sub-command ``audit`` has."""
    add_listed(add_issue_flags(parser), "audit")
    add_listed(parser, "extract")


def add_issue_flags(parser: argparse.ArgumentParser) -> Any:
    """Add the flags about issues, which crawls have too, and return their group."""
    group = parser.add_argument_group("issues")
    add_listed(group, "issues", {"--fail-on": LEVELS}, gate=GATE)
    return group


def add_compare(commands: Any) -> None:
    """Add the sub-command ``compare``."""
    parser = add_command(commands, "compare")
    add_listed(parser, "compare", {"--fail-on-new": LEVELS}, gate=GATE)
    parser.set_defaults(run=run_compare)


def is_wanted(arguments: argparse.Namespace) -> bool:
    """Return whether issues are looked for: where they are shown, and where flags ask for what needs them."""
    asked = any(getattr(arguments, name, None) for name in (*_OWN, *_OF_WORKBOOK))
    return asked or shows(arguments) == SCREEN


def shows(arguments: argparse.Namespace) -> str | None:
    """Return what standard output gets: a terminal the first screen, a pipe the table that no file has."""
    if arguments.format is not None:
        return str(arguments.format)
    return SCREEN if sys.stdout.isatty() or arguments.output is not None else None


def keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `webanalytics.audit` that only it has."""
    given = {name: getattr(arguments, name, None) for name in _KEYWORDS}
    if given["extract"]:
        given["extract"] = named_once(map(_selector, given["extract"]), "extract")
    return {name: value for name, value in given.items() if value}


def _selector(text: str) -> tuple[str, Any]:
    """Return name and selector of an own column.

    >>> _selector("price=.price::text"), _selector("tags[]=//a[@rel='tag']")
    (('price', '.price::text'), ('tags', ["//a[@rel='tag']"]))
    """
    name, equals, selector = text.partition("=")
    if not equals:
        raise ParameterError.must_be("extract", "of the form NAME=SELECTOR")
    return (name[:-2], [selector]) if name.endswith("[]") else (name, selector)


def add_rules(paths: Iterable[str]) -> None:
    """Run the files that add rules of the user's own."""
    for path in paths:
        try:
            runpy.run_path(path)
        except OSError as error:
            raise ParameterError.on("rules", f"names a file that cannot be read: {error.strerror}") from None
        except Exception:
            traceback.print_exc()
            raise ParameterError.on("rules", f"names a file that fails: {path}") from None


def check(arguments: argparse.Namespace) -> None:
    """Refuse files that cannot be written, before any page is fetched, and add the user's rules."""
    add_rules(getattr(arguments, "rules", None) or ())
    checked_rules(getattr(arguments, "only_rules", None), "only_rules")
    for name in ("report", "save"):
        path = getattr(arguments, name, None)
        if path and not Path(path).absolute().parent.is_dir():
            raise ParameterError.must_be(name, "in an existing folder")
        if path and name == "report":
            report_can_be_written(path, name)


def report_can_be_written(path: str, flag: str) -> None:
    """Refuse, before any work, a report in a form that is not known, or in PDF without a browser."""
    from webanalytics.audits.report.pdf import printer

    try:
        printer(path)
    except ParameterError as error:
        raise error.of(flag) from None


def write_pages(frame: pd.DataFrame, audit: Audit | None, arguments: argparse.Namespace) -> Path:
    """Write the table of pages; a workbook of a call about issues has a sheet for each part."""
    path = Path(arguments.output)
    if audit is not None and path.suffix.lower() == ".xlsx":
        columns, rules = (getattr(arguments, name, None) for name in _OF_WORKBOOK)
        return audit.to_excel(path, columns="all" if columns == ["all"] else columns, rules=rules)
    return write_frame(frame, path, raw=arguments.raw)


def finish(audit: Audit, arguments: argparse.Namespace, *, complete: bool = True) -> tuple[int, bool]:
    """Write the report and the saved audit if wanted, and print the summary.

    Return the exit status, and whether all was written.
    """
    good = True
    if arguments.save and not complete:  # a whole audit may be there
        print("webanalytics: the audit is not kept, for it is not complete", file=sys.stderr)
    elif arguments.save:
        good = tried(lambda: audit.save(arguments.save), "the audit is kept in")
    if arguments.report:
        good = tried(lambda: audit.report(arguments.report), "the report is in") and good
    # a table has standard output for itself
    hint = "" if arguments.report or arguments.output else ALL_OF_IT
    print_summary(audit, sys.stdout if shows(arguments) == SCREEN else sys.stderr, hint)
    return _gate(audit.issues, arguments.fail_on, "issues", "fail-on"), good


def print_summary(audit: Audit, file: IO[str], hint: str = ALL_OF_IT) -> None:
    """Print the score, what to fix first, and why pages failed, each with the flag that changes it."""
    overview = replace(audit_overview(audit), hint=hint)
    width = shutil.get_terminal_size((110, 40)).columns
    print(as_flags(as_text(overview, width)), file=file)


def _gate(issues: pd.DataFrame, lowest: str | None, what: str, flag: str) -> int:
    if lowest is None:
        return 0
    named = LEVELS[LEVELS.index(lowest) :]
    counts = issues["priority"].value_counts()
    found = [(name, int(counts.get(name, 0))) for name in reversed(named)]
    total = sum(count for _, count in found)
    if total:
        several = ", ".join(f"{count} {name}" for name, count in found if count)
        print(f"webanalytics: --{flag} {lowest}: {counted(str(total), what)} ({several})", file=sys.stderr)
    return GATE if total else 0


def run_compare(arguments: argparse.Namespace) -> int:
    """Run the sub-command ``compare``."""
    from webanalytics.audits.storage.functions import compare

    check(arguments)
    comparison = compare(arguments.before, arguments.after, again=arguments.again)
    if arguments.report:
        print(f"the report is in {comparison.report(arguments.report)}", file=sys.stderr)
    if arguments.output:
        print(f"the workbook is {comparison.to_excel(arguments.output)}", file=sys.stderr)
    print(as_flags(as_text(comparison.overview(hint=False))))
    if arguments.by:
        print_table(comparison.scores(arguments.by), sys.stdout)
    new = comparison.issues[comparison.issues["change"].isin(("worse", "added"))]
    return _gate(new, arguments.fail_on_new, "new issues", "fail-on-new")
