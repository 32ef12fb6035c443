"""Work on a saved audit on the command line: report, sitemap, links it lacks, pages to drop, search data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.logs.table import logs
from webanalytics.audits.words import LANGUAGES
from webanalytics.cli.flags import add_command
from webanalytics.core.strings import counted
from webanalytics.errors import MissingExtraError
from webanalytics.runs.frames.output_files import write_frame, write_text
from webanalytics.runs.frames.terminal import print_table

BESIDES = (  # flags of ``report``
    ("search-data", "export of a search engine, for a chapter on it; may be repeated: queries after pages"),
    ("logs", "access log of the server, for a chapter on it; may be repeated"),
)
LIMITS = (
    ("thin", 200.0, "words of content below which a page is thin"),
    ("similar", 0.8, "similarity from which on two pages are about the same"),
    ("clicks", 1.0, "clicks from which on a page is neither merged nor removed"),
    ("inlinks", 10.0, "pages linking to a page, from which on it is neither merged nor removed"),
)
BRANDED = (
    ("title", "TEXT", "headline (default: the site's host)"),
    ("logo", "FILE", "PNG, JPEG or SVG picture for its head"),
    ("intro", "TEXT", "what stands below the headline"),
    ("prepared-for", "NAME", "whom it is for"),
    ("accent", "COLOUR", "colour of links and lines, such as #0b5d6b"),
)
"""Flags of ``report`` that are handed on as they are."""
MUTED = (
    ("rule", "RULE", "rule whose issues are set aside (default: all)"),
    ("url", "URL", "address of a page, or pattern of addresses (default: all)"),
    ("reason", "TEXT", "why, which is shown wherever the audit is"),
    ("until", "DATE", "the last day, such as 2026-12-31 (default: without end)"),
)
Said = tuple[pd.DataFrame, str]
Table = Callable[[Audit, argparse.Namespace], Said]


def add_saved(commands: Any) -> None:
    """Add the sub-commands ``report``, ``write-sitemap``, ``link-ideas``, ``prune``, ``logs`` and others."""

    def add(run: Any, name: str, summary: str, output: str = "") -> argparse.ArgumentParser:
        parser = add_command(commands, name, summary)
        parser.add_argument("audit", metavar="AUDIT", help="folder of a saved audit or crawl")
        if output:
            parser.add_argument("-o", "--output", metavar="FILE", help=output)
        parser.set_defaults(run=partial(_on_saved, run) if output else run)
        return parser

    table = "write the table to a file"
    summary = "Write the report of a saved audit, as HTML or PDF, or of what changed since another."
    parser = add(run_report, "report", summary)
    meaning = "file to write: .html, or .pdf where Chromium or Chrome is installed"
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help=meaning)
    parser.add_argument("--since", metavar="AUDIT", help="folder of an earlier audit: say what changed since")
    for name, meaning in BESIDES:
        parser.add_argument(f"--{name}", metavar="FILE", action="append", default=[], help=meaning)
    for name, metavar, meaning in BRANDED:
        parser.add_argument(f"--{name}", metavar=metavar, help=meaning)
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="its language (default: en)")
    parser.add_argument("--appendix", action="store_true", help="print all pages, and all pages of each rule")
    summary = "Write the sitemap that a site should have, and say what was left out and why."
    parser = add(_sitemap, "write-sitemap", summary, table)
    parser.add_argument("folder", metavar="FOLDER", help="where sitemap.xml goes")
    meaning = "where the folder is served (default: the top of the pages' host)"
    parser.add_argument("--base-url", metavar="URL", dest="sitemap_base_url", help=meaning)
    parser.add_argument("--compressed", action="store_true", help="write the files with pages as .xml.gz")
    summary = "List words in the text of pages that name another page and lead nowhere yet."
    parser = add(_ideas, "link-ideas", summary, table)
    meaning = "page that should be linked to; may be repeated (default: all that may be indexed)"
    parser.add_argument("--to", metavar="URL", action="append", help=meaning)
    meaning = "most ideas for each page (default: 5)"
    parser.add_argument("--per-page", type=int, metavar="N", default=5, help=meaning)
    summary = "Say what to do with each page: keep, improve, merge, redirect, noindex or remove."
    parser = add(_prune, "prune", summary, table)
    for name, default, meaning in LIMITS:
        parser.add_argument(
            f"--{name}", type=float, metavar="N", default=default, help=f"{meaning} (default: {default:g})"
        )
    meaning = "take pages that the search data does not have as pages without clicks"
    parser.add_argument("--whole", action="store_true", help=meaning)
    summary = "List what an audit and an export of a search engine know only together."
    parser = add(_search, "search-issues", summary, table)
    meaning = (
        "export of Search Console or Bing Webmaster Tools: .csv .tsv .gz .zip .xlsx; queries after pages"
    )
    parser.add_argument("exports", metavar="FILE", nargs="+", help=meaning)
    summary = "Set issues of a saved audit aside with a reason, and list those that are."
    parser = add(_mute, "mute", summary, table)
    for name, metavar, meaning in MUTED:
        parser.add_argument(f"--{name}", metavar=metavar, help=meaning)
    summary = "Name the parts of a saved audit's site, and score each; its report goes by them."
    parser = add(_segments, "segments", summary, table)
    meaning = "part and pattern of its addresses, the first that matches counts; or one column of the pages"
    parser.add_argument("patterns", metavar="NAME=PATTERN", nargs="+", help=meaning)
    summary = "Answer agents about saved audits, over the Model Context Protocol."
    parser = add_command(commands, "mcp", summary, "Clients start it.")
    parser.add_argument("folder", metavar="FOLDER", help="folder of saved audits; nothing else is read")
    meaning = "host whose pages agents may have fetched; may be given several times (default: none)"
    parser.add_argument("--allow-host", metavar="HOST", action="append", default=[], help=meaning)
    parser.add_argument("--allow-private", action="store_true", help="these may be private or local hosts")
    parser.set_defaults(run=run_mcp)
    summary = "Say which crawlers asked a server for what, by its access logs."
    parser = add_command(commands, "logs", summary)
    parser.add_argument("files", metavar="FILE", nargs="+", help="access logs, also .gz and .zst")
    meaning = "combined, common, vhost_combined, w3c, alb, json, or a LogFormat (default: by the first lines)"
    parser.add_argument("--log-format", metavar="FORMAT", help=meaning)
    meaning = "dns, or a folder with the ranges of crawlers: tell them from those that only say so"
    parser.add_argument("--verify", metavar="HOW", help=meaning)
    meaning = "list what a saved audit and the logs know only together"
    parser.add_argument("--audit", metavar="AUDIT", help=meaning)
    parser.add_argument("-o", "--output", metavar="FILE", help=table)
    parser.set_defaults(run=run_logs)


def run_report(arguments: argparse.Namespace) -> int:
    """Run the sub-command ``report``."""
    audit: Any = Audit.of(arguments.audit, "audit")
    for path in arguments.search_data:
        audit = audit.with_search_data(path)
    if arguments.logs:
        audit = audit.with_logs(logs(arguments.logs))
    if arguments.since:
        from webanalytics.audits.storage.functions import compare

        audit = compare(Audit.of(arguments.since, "since"), audit)
    named = [name.replace("-", "_") for name, *_ in BRANDED]
    given = {name: value for name in named if (value := getattr(arguments, name)) is not None}
    file = audit.report(arguments.output, language=arguments.language, appendix=arguments.appendix, **given)
    print(f"written to {file}", file=sys.stderr)
    return 0


def _on_saved(run: Table, arguments: argparse.Namespace) -> int:
    """Show the table that is made of a saved audit, and after it what is said of it."""
    found, said = run(Audit.of(arguments.audit, "audit"), arguments)
    show(found, arguments)
    if said:
        print(said, file=sys.stderr)
    return 0


def _sitemap(audit: Audit, arguments: argparse.Namespace) -> Said:
    given = {"base_url": arguments.sitemap_base_url, "compressed": arguments.compressed}
    found = audit.write_sitemap(arguments.folder, **given)
    files, listed = found["file"].nunique(), int(found["file"].notna().sum())
    return found, f"{counted(listed)} in {counted(files, 'file')}, {len(found) - listed:,} left out"


def _ideas(audit: Audit, arguments: argparse.Namespace) -> Said:
    return audit.link_ideas(arguments.to, per_page=arguments.per_page), ""


def _prune(audit: Audit, arguments: argparse.Namespace) -> Said:
    limits = {name: getattr(arguments, name) for name, *_ in LIMITS}
    found = audit.prune(**limits, whole=arguments.whole)
    counts = found["advice"].value_counts().items()
    return found, ", ".join(f"{advice} {count:,}" for advice, count in counts)


def _search(audit: Audit, arguments: argparse.Namespace) -> Said:
    for path in arguments.exports:
        audit = audit.with_search_data(path)
        print(f"{path}: {counted(len(audit.unmatched), 'row')} of no page of the audit", file=sys.stderr)
    return audit.search_issues(), ""


def _mute(audit: Audit, arguments: argparse.Namespace) -> Said:
    given = {name: getattr(arguments, name) for name, *_ in MUTED}
    if any(given.values()):
        audit = audit.mute(**given)
        audit.save(arguments.audit)
    return audit.muted, f"{counted(len(audit.muted), 'issue')} muted, {len(audit.issues):,} left"


def _segments(audit: Audit, arguments: argparse.Namespace) -> Said:
    given, parts = arguments.patterns, (one.partition("=") for one in arguments.patterns)
    patterns = given[0] if len(given) == 1 and "=" not in given[0] else {a: b for a, _, b in parts}
    audit = audit.segments(patterns)
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
    found = logs(arguments.files, format=arguments.log_format, verify=arguments.verify)
    print(f"{counted(found.lines, 'line')}, {found.unread_lines:,} unread", file=sys.stderr)
    audit = arguments.audit and Audit.of(arguments.audit, "audit").with_logs(found)
    show(audit.log_issues() if audit else found.crawlers(), arguments)
    return 0


def show(found: pd.DataFrame, arguments: argparse.Namespace) -> None:
    """Write a table where ``--output`` says, else print it: as a table on a terminal, as CSV into a pipe."""
    if arguments.output:
        print(f"written to {write_frame(found, Path(arguments.output))}", file=sys.stderr)
    elif sys.stdout.isatty():
        print_table(found, sys.stdout)
    else:
        write_text(found, sys.stdout, "csv")
