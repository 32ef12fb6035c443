"""Hosts as they are now, on the command line: their TLSA records and certificates."""

from __future__ import annotations

import argparse
from typing import Any

from webanalytics import sync
from webanalytics.cli.flags import add_command, option_flag
from webanalytics.cli.saved import show
from webanalytics.core.run_options import options_for

COMMANDS = {
    "live-tlsa": "Say whether the TLSA records of hosts match the certificates that they show today.",
    "certificates": "Get the certificates that hosts show today: names, issuer, days left, and what is wrong.",
}


def add_hosts(commands: Any) -> None:
    """Add the sub-commands ``live-tlsa`` and ``certificates``."""
    for name, summary in COMMANDS.items():
        parser = add_command(commands, name, summary, "Exit status 1: a host has faults, or does not answer.")
        meaning = "such as example.org, example.org:25 or imap://mail.example.org"
        parser.add_argument("hosts", metavar="HOST", nargs="+", help=meaning)
        meaning = "address of a validating resolver that you trust (default: the system's)"
        parser.add_argument("--resolver", metavar="ADDRESS", help=meaning)
        parser.add_argument("--ca", metavar="FILE", help="roots that are trusted in place of the system's")
        parser.add_argument("-o", "--output", metavar="FILE", help="write the table to a file")
        for option in options_for("host").values():
            option_flag(parser.add_argument_group("options"), option, hosted=False)
        parser.set_defaults(run=run, function=name.replace("-", "_"))


def run(arguments: argparse.Namespace) -> int:
    """Run the sub-commands."""
    keys = ("resolver", "ca", *options_for("host"))
    given = {key: value for key in keys if (value := getattr(arguments, key)) is not None}
    found = getattr(sync, arguments.function)(arguments.hosts, **given)
    show(found, arguments)
    good = found["verdict"] == "match" if "verdict" in found else found["faults"].map(len, "ignore") == 0
    return int(not good.all())
