"""Flags of the sub-commands that make tables, made from the declarations of parameters and options."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from webanalytics.cli.access_files import PLACES
from webanalytics.cli.names import SUMMARIES
from webanalytics.core.run_options import Setting, options_for
from webanalytics.crawls.scope import FOLLOWED, MAX_SEQUENCE, PAGE_KINDS, External, Handling, Resources
from webanalytics.errors import ParameterError
from webanalytics.operations import Parameter
from webanalytics.runs.backends.hosted.backend import KEY_VARIABLE
from webanalytics.runs.frames.input_files import SUFFIXES
from webanalytics.runs.frames.output_files import FORMATS

SECRET_VARIABLE = "WEBANALYTICS_SECRET"  # noqa: S105 - the name of a variable
TAKEN = ("format",)
"""Settings of operations whose flags are called otherwise: the command line has such a flag itself."""
SETTING = "setting_"
"""What the names of their values begin with."""
TEXT_FORMATS = ("table", "csv", "tsv", "json", "jsonl")
SCREEN = "summary"
"""The format that is no table: score, what to fix first, and what could not be read."""


def add_command(commands: Any, name: str, more: str = "") -> argparse.ArgumentParser:
    """Add a sub-command of its own; its help may go on, such as with what its exit status says."""
    if name not in SUMMARIES:
        raise ValueError(f"cli/summaries.toml must say what `{name}` does.")
    said = f"{SUMMARIES[name]} {more}".strip()
    parser: argparse.ArgumentParser = commands.add_parser(name, help=SUMMARIES[name], description=said)
    return parser


def option_flag(parser: argparse._ArgumentGroup, option: Setting, hosted: bool) -> None:
    """Add the flag of an option."""
    flag, key = "--" + option.key.replace("_", "-"), option.key
    api = "; with --base-url, requests under way at once, at most 8 by default"
    default = option.none if option.default is None else option.default
    meaning = f"{option.meaning} (default: {default}{api if hosted and key == 'concurrency' else ''})"
    if key == "redo":
        parser.add_argument(flag, dest=key, choices=("missing", "failed"), help=meaning)
    elif key in PLACES:
        metavar, kind = PLACES[key]
        parser.add_argument(flag, dest=key, metavar=metavar, type=kind, help=option.meaning)
    elif option.kind is tuple:
        meaning = f"{option.meaning} (default: {option.none}; separated by commas)"
        parser.add_argument(flag, dest=key, type=numbers, metavar="N,N", help=meaning)
    elif isinstance(option.default, bool) or key == "progress":
        parser.add_argument(flag, dest=key, action=argparse.BooleanOptionalAction, help=option.meaning)
    elif isinstance(option.default, str):
        parser.add_argument(flag, dest=key, metavar="TEXT", help=meaning)
    else:
        kind = float if isinstance(option.default, float) else int
        parser.add_argument(flag, dest=key, type=kind, metavar="N", help=meaning)


def numbers(text: str) -> tuple[int, ...]:
    """Return the integers of a list with commas; named as errors of the command line call them."""
    return tuple(int(part) for part in text.split(","))


def setting_flag(parser: argparse.ArgumentParser, parameter: Parameter) -> None:
    """Add the flag of an operation's own parameter; a secret is read from a file."""
    flag, key = "--" + parameter.keyword.replace("_", "-"), parameter.keyword
    if key in TAKEN:
        flag, key = f"--text-{key}", f"{SETTING}{key}"
    if parameter.secret:  # arguments are seen by every user of the machine: never a secret
        meaning = f"file that holds the secret (else ${SECRET_VARIABLE}, else a prompt)"
        parser.add_argument("--secret-file", metavar="FILE", help=meaning)
    elif parameter.shape.kind == "boolean":
        parser.add_argument(flag, dest=key, action=argparse.BooleanOptionalAction, help=parameter.meaning)
    elif any(part.kind == "list" for part in (parameter.shape, *parameter.shape.alternatives)):
        parser.add_argument(flag, dest=key, nargs="*", metavar="WORD", help=parameter.meaning)
    else:
        kind = {"integer": int, "number": float}.get(parameter.shape.kind, str)
        none = parameter.required or parameter.default_here is None
        default = "" if none else f" (default: {parameter.default_here})"
        known = (*parameter.choices, *parameter.more)
        choices = f" One of: {', '.join(known)}." if known else ""
        parser.add_argument(
            flag,
            dest=key,
            type=kind,
            metavar=parameter.keyword.upper(),
            required=parameter.required,
            help=parameter.meaning + choices + default,
        )


def common(
    parser: argparse.ArgumentParser,
    what: str,
    kind: str = "page",
    hosted: bool = True,
    taken: Collection[str] = (),
    screen: bool = False,
    files: bool = True,
) -> None:
    """Add inputs, output (`SCREEN` too), and the options that do something for inputs of this kind."""
    meaning = f"one or more{', or one file with a table of them' * files}; see also --input"
    parser.add_argument("inputs", nargs="*", metavar=what.upper(), help=meaning)
    parser.usage = f"%(prog)s [options] [{what.upper()} ...]"
    meaning = f"table of inputs: {' '.join(SUFFIXES)}; - is CSV from standard input"
    parser.add_argument("-i", "--input", metavar="FILE", help=meaning)
    parser.add_argument("-c", "--column", help="column of --input that holds the inputs")
    _output_flags(parser, screen)
    groups = [parser.add_argument_group("options of the run")]
    if hosted:
        groups.append(parser.add_argument_group("hosted API, or another backend"))
        _hosted_flags(groups[-1])
    for option in options_for(kind).values():
        if option.key != "backend" and option.key not in taken:
            apart = option.key == "budget" or (kind == "record" and option.key in _OF_REQUESTS)
            shown = replace(option, **_OF_REQUESTS[option.key]) if kind == "record" and apart else option
            option_flag(groups[-1] if apart else groups[0], shown, hosted and not apart)


_OF_REQUESTS: dict[str, dict[str, Any]] = {
    "concurrency": {"meaning": "Requests under way at once.", "default": 8},
    "retries": {"meaning": "Further tries of a request after 429, 500, 503 and broken connections."},
    "budget": {},
}
"""Options that do something for records only where a hosted API does the work."""


def _hosted_flags(group: argparse._ArgumentGroup) -> None:
    meaning = "name of a backend that an installed package has"
    group.add_argument("--backend", metavar="NAME", help=meaning)
    meaning = "address of a hosted API that does the work in the place of this machine"
    group.add_argument("--base-url", metavar="URL", help=meaning)
    # arguments are seen by every user of the machine: never a key
    meaning = f"file that holds the API key (else ${KEY_VARIABLE}, else a prompt)"
    group.add_argument("--api-key-file", metavar="FILE", help=meaning)


def _output_flags(parser: argparse.ArgumentParser, screen: bool) -> None:
    meaning = f"file to write; the suffix names the format: {', '.join('.' + kind for kind in FORMATS)}"
    parser.add_argument("-o", "--output", metavar="FILE", help=meaning)
    shown = "the summary (score, what to fix first)" if screen else "a table"
    meaning = f"what to print: {shown} on a terminal, csv into a pipe"
    choices = (*[SCREEN] * screen, *TEXT_FORMATS)
    parser.add_argument("-f", "--format", choices=choices, help=meaning)
    meaning = "write CSV and TSV without the apostrophe before what a spreadsheet would take for a formula"
    parser.add_argument("--raw", action="store_true", help=meaning)


def crawl_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that only ``crawl`` has: the parameters of `webanalytics.crawl`."""
    group = parser.add_argument_group("what is crawled")
    choices = {
        "--external": get_args(External),
        "--resources": get_args(Resources),
        "--traps": get_args(Handling),
        "--follow": PAGE_KINDS,
    }
    add_listed(group, "crawl", choices, sequence=MAX_SEQUENCE, followed=", ".join(FOLLOWED))


_LISTED: Mapping[str, Mapping[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("flags.toml").read_text("utf-8")
)


def names_of(text: str) -> list[str]:
    """Return the names of a list with commas; named as errors of the command line call them."""
    return [name.strip() for name in text.split(",")]


def named_once(pairs: Iterable[tuple[str, Any]], parameter: str) -> dict[str, Any]:
    """Return pairs of a repeated flag by name; raises `ParameterError` for a name of two of them."""
    listed = list(pairs)
    if len(dict(listed)) < len(listed):
        raise ParameterError.on(parameter, "must give each name once")
    return dict(listed)


_NAMED = {"int": int, "float": float, "names": names_of, "boolean": argparse.BooleanOptionalAction}


def add_listed(
    parser: argparse._ActionsContainer,
    command: str,
    choices: Mapping[str, Collection[str]] | None = None,
    **said: object,
) -> None:
    """Add the arguments of a sub-command that `flags.toml` lists; ``said`` fills in what their help names."""
    for flags, known in _LISTED[command].items():
        how = {
            key: _NAMED.get(value, value) if key in ("action", "type") else value
            for key, value in known.items()
        }
        if choices and flags in choices:
            how["choices"] = choices[flags]
        parser.add_argument(*flags.split(", "), **how | {"help": known["help"].format(**said)})
