"""The command line before any sub-command is imported: its summary and its light commands."""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path
from typing import Any

from webanalytics._version import __version__

DESCRIPTION = (
    "SEO audits of pages and sites, and metadata, text, keywords, readability and more: as tables, or as a "
    "service."
)

SERVICE_COMMANDS = ("serve", "keys")
"""Sub-commands that import neither pandas nor charts."""
SUMMARIES_FILE = Path(__file__).with_name("summaries.toml")
SUMMARIES: dict[str, str] = tomllib.loads(SUMMARIES_FILE.read_text("utf-8"))
"""What each sub-command does, for a help that loads none of them."""


def root() -> tuple[argparse.ArgumentParser, Any]:
    """Return the parser of the command line, and what its sub-commands are added to."""
    parser = argparse.ArgumentParser(prog="webanalytics", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"webanalytics {__version__}")
    return parser, parser.add_subparsers(dest="command", required=True, metavar="COMMAND")


def as_flags(text: str) -> str:
    """Return text in which options are named as the command line has them.

    >>> as_flags("`robots=False` fetches it, `timeout=` sets it, `allow_private=True` lets it in")
    '--no-robots fetches it, --timeout sets it, --allow-private lets it in'
    >>> as_flags('`redo="failed"` asks again')
    '--redo failed asks again'
    >>> as_flags("`webanalytics.crawl` makes one")
    'webanalytics crawl makes one'
    >>> as_flags("The crawl left out 7: they are in `.skipped`."), as_flags("and 5 more rules: .summary()")
    ('The crawl left out 7.', 'and 5 more rules')
    >>> as_flags("It stopped at 5 of 9 pages: the others are in `.skipped`. `max_pages=` sets the limit.")
    'It stopped at 5 of 9 pages. --max-pages sets the limit.'
    >>> as_flags("or in national format with `region`.")
    'or in national format with --region.'
    """
    text = re.sub(r"(: (they|the\s+others)\s+are\s+in|,\s+see)\s+`\.skipped`", "", text)
    text = text.replace("with `region`", "with --region")
    text = re.sub(r"^(and [\d,]+ more [a-z ]+): \.\w+(\(\))?$", r"\1", text, flags=re.MULTILINE)
    named = re.sub(r'`([a-z_]+)=(True|False|"[a-z]+")?`', _flag, text)
    return re.sub(r"`webanalytics\.([a-z]+)`", r"webanalytics \1", named)


def _flag(found: re.Match[str]) -> str:
    name, value = found[1].replace("_", "-"), found[2] or ""
    if value.startswith('"'):
        return f"--{name} {value.strip(chr(34))}"
    return ("--no-" if value == "False" else "--") + name
