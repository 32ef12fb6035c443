"""Work on a saved audit on the command line: report, sitemap, links it lacks, pages to drop, search data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.logs.table import logs
from webanalytics.audits.words import LANGUAGES
from webanalytics.cli.audit import report_can_be_written
from webanalytics.cli.flags import add_command, add_listed, named_once
from webanalytics.cli.row_safety import can_be_written, shown
from webanalytics.core.strings import counted
from webanalytics.errors import MissingExtraError

BRANDED = ("title", "logo", "intro", "prepared_for", "accent")
"""Flags of ``report`` that are handed on as they are."""
Said = tuple[pd.DataFrame, str]
Table = Callable[[Audit, argparse.Namespace], Said]


def add_saved(commands: Any) -> None:
    """Add the sub-commands ``report``, ``write-sitemap``, ``link-ideas``, ``prune``, ``logs`` and others."""

    def add(run: Any, name: str, *, listed: bool = True) -> None:
        parser = add_command(commands, name)
        parser.add_argument("audit", metavar="AUDIT", help="folder of a saved audit or crawl")
        if listed:
            parser.add_argument("-o", "--output", metavar="FILE", help="write the table to a file")
        parser.set_defaults(run=partial(_on_saved, run) if listed else run)
        add_listed(parser, name, {"--language": LANGUAGES})

    add(run_report, "report", listed=False)
    add(_sitemap, "write-sitemap")
    add(lambda audit, given: (audit.link_ideas(given.to, per_page=given.per_page), ""), "link-ideas")
    add(_prune, "prune")
    add(_search, "search-issues")
    add(_mute, "mute")
    add(_segments, "segments")
    parser = add_command(commands, "mcp", "Clients start it.")
    add_listed(parser, "mcp")
    parser.set_defaults(run=run_mcp)
    parser = add_command(commands, "logs")
    add_listed(parser, "logs")
    parser.set_defaults(run=run_logs)


def run_report(arguments: argparse.Namespace) -> int:
    """Run the sub-command ``report``."""
    report_can_be_written(arguments.output, "output")
    audit: Any = Audit.of(arguments.audit, "audit")
    for path in arguments.search_data:
        audit = audit.with_search_data(path)
    if arguments.logs:
        audit = audit.with_logs(logs(arguments.logs))
    if arguments.since:
        from webanalytics.audits.storage.functions import compare

        audit = compare(Audit.of(arguments.since, "since"), audit)
    given = {name: value for name in BRANDED if (value := getattr(arguments, name)) is not None}
    file = audit.report(arguments.output, language=arguments.language, appendix=arguments.appendix, **given)
    print(f"written to {file}", file=sys.stderr)
    return 0


def _on_saved(run: Table, arguments: argparse.Namespace) -> int:
    """Show the table that is made of a saved audit, and after it what is said of it."""
    can_be_written(arguments.output)
    found, said = run(Audit.of(arguments.audit, "audit"), arguments)
    status = shown(found, arguments.output)
    if said:
        print(said, file=sys.stderr)
    return status


def _sitemap(audit: Audit, arguments: argparse.Namespace) -> Said:
    given = {"base_url": arguments.sitemap_base_url, "compressed": arguments.compressed}
    found = audit.write_sitemap(arguments.folder, **given)
    files, listed = found["file"].nunique(), int(found["file"].notna().sum())
    return found, f"{counted(listed)} in {counted(files, 'file')}, {len(found) - listed:,} left out"


def _prune(audit: Audit, arguments: argparse.Namespace) -> Said:
    limits = {name: getattr(arguments, name) for name in ("thin", "similar", "clicks", "inlinks")}
    found = audit.prune(**limits, whole=arguments.whole)
    counts = found["advice"].value_counts().items()
    return found, ", ".join(f"{advice} {count:,}" for advice, count in counts)


def _search(audit: Audit, arguments: argparse.Namespace) -> Said:
    for path in arguments.exports:
        audit = audit.with_search_data(path)
        print(f"{path}: {counted(len(audit.unmatched), 'row')} of no page of the audit", file=sys.stderr)
    return audit.search_issues(), ""


def _mute(audit: Audit, arguments: argparse.Namespace) -> Said:
    given = {name: getattr(arguments, name) for name in ("rule", "url", "reason", "until")}
    if any(given.values()):
        audit = audit.mute(**given)
        audit.save(arguments.audit)
    return audit.muted, f"{counted(len(audit.muted), 'issue')} muted, {len(audit.issues):,} left"


def _segments(audit: Audit, arguments: argparse.Namespace) -> Said:
    given, parts = arguments.patterns, (one.partition("=")[::2] for one in arguments.patterns)
    one_column = len(given) == 1 and "=" not in given[0]
    audit = audit.segments(given[0] if one_column else named_once(parts, "patterns"))
    audit.save(arguments.audit)
    return audit.scores(), ""


def run_mcp(arguments: argparse.Namespace) -> int:
    """Run the sub-command ``mcp``."""
    try:
        from webanalytics.audits.agents import AgentServer
    except ImportError:
        raise MissingExtraError("mcp", "mcp", "answering agents") from None
    AgentServer(arguments.folder, arguments.allow_host, arguments.allow_private).run()
    return 0


def run_logs(arguments: argparse.Namespace) -> int:
    """Run the sub-command ``logs``."""
    can_be_written(arguments.output)
    found = logs(arguments.files, format=arguments.log_format, verify=arguments.verify)
    print(f"{counted(found.lines, 'line')}, {found.unread_lines:,} unread", file=sys.stderr)
    audit = arguments.audit and Audit.of(arguments.audit, "audit").with_logs(found)
    return shown(audit.log_issues() if audit else found.crawlers(), arguments.output)
