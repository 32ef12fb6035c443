"""The flags of the sub-command ``crawl``, which are the parameters of `webanalytics.crawl`."""

from __future__ import annotations

import argparse
from typing import get_args

from webanalytics.crawls.scope import FOLLOWED, MAX_SEQUENCE, PAGE_KINDS, External, Handling, Resources


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that only this sub-command has."""
    group = parser.add_argument_group("what is crawled")
    add = group.add_argument
    add("--max-pages", type=int, metavar="N", help="most pages that are fetched (default: 10000)")
    add("--max-depth", type=int, metavar="N", help="most clicks from a start (default: no limit)")
    meaning = (
        "fetch only addresses in which this regular expression is found, or which a pattern that begins "
    )
    add("--include", metavar="PATTERN", action="append", help=f"{meaning}with * fits; may be repeated")
    add("--exclude", metavar="PATTERN", action="append", help="do not fetch such addresses; may be repeated")
    flag = argparse.BooleanOptionalAction
    add("--subdomains", action=flag, help="take other hosts of the same domain as part of the site")
    meaning = "keep, drop, tracking, or the name of a parameter to drop; may be repeated (default: keep)"
    add("--query", metavar="NAME", action="append", help=meaning)
    add("--nofollow", action=flag, help="follow links that say nofollow, ugc or sponsored too")
    choices = get_args(External)
    add("--external", choices=choices, help="what to do with links to elsewhere (default: list)")
    choices = get_args(Resources)
    add("--resources", choices=choices, help="what to do with images, scripts and the like (default: ignore)")
    meaning = "leave endless families of addresses (default), only report them, or do not look for them"
    add("--traps", choices=get_args(Handling), help=meaning)
    meaning = f"most pages of a sequence of numbers that bring nothing new (default: {MAX_SEQUENCE})"
    add("--max-sequence", type=int, metavar="N", help=meaning)
    meaning = "sitemap whose pages are crawled too, instead of those of the site; may be repeated"
    add("--sitemap", metavar="URL", action="append", help=meaning)
    meaning = "look for no sitemap"
    add("--no-sitemap", dest="no_sitemap", action="store_true", default=None, help=meaning)
    meaning = (
        "on hosts that --access opens, do not follow what looks like logout, delete, basket or a pattern; "
    )
    add(
        "--avoid",
        metavar="WORD",
        action="append",
        help=f"{meaning}may be repeated (default: actions, all three)",
    )
    meaning = f"kind of links to follow; may be repeated (default: {', '.join(FOLLOWED)})"
    add("--follow", metavar="KIND", action="append", choices=PAGE_KINDS, help=meaning)
