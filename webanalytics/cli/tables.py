"""The sub-commands that make tables: one per operation, made from its declaration."""

from __future__ import annotations

import argparse
import getpass
import inspect
import io
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics import sync
from webanalytics._version import __version__
from webanalytics.audits.audit import Audit
from webanalytics.cli import audit as audits
from webanalytics.cli import crawl as crawls
from webanalytics.cli.access_files import PLACES, refuse_passwords
from webanalytics.cli.crawlers import add_crawlers
from webanalytics.cli.moves import add_moves
from webanalytics.cli.names import DESCRIPTION, SERVICE_COMMANDS, as_flags
from webanalytics.cli.row_safety import (
    UNWRITTEN,
    can_be_written,
    keeping,
    printed,
    say,
    status_of,
    terminable,
    written,
)
from webanalytics.cli.row_spool import kept_on_disk
from webanalytics.core.messages.visible import for_terminal
from webanalytics.core.run_options import RECORDS, Setting, option_context, options_for
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import AuditInterrupted, HostedError, ParameterError, WriteError
from webanalytics.operations import METADATA, OPERATIONS, Operation, Parameter, by_function
from webanalytics.runs.backends.hosted import Hosted
from webanalytics.runs.backends.hosted.backend import KEY_VARIABLE
from webanalytics.runs.frames.input_files import SUFFIXES, read_csv, read_frame
from webanalytics.runs.frames.output_files import FORMATS, write_text, wrong_suffix
from webanalytics.runs.frames.terminal import print_errors, print_table

SECRET_VARIABLE = "WEBANALYTICS_SECRET"  # noqa: S105 - the name of a variable
TAKEN = ("format",)
"""Settings of operations whose flags are called otherwise: the command line has such a flag itself."""
SETTING = "setting_"
"""What the names of their values begin with."""
MANY = 1_000
"""Rows whose frame takes so long to make that it is said."""
TEXT_FORMATS = ("table", "csv", "tsv", "json", "jsonl")


def _option_flag(parser: argparse._ArgumentGroup, option: Setting, hosted: bool) -> None:
    flag, key = "--" + option.key.replace("_", "-"), option.key
    api = "; with --base-url, requests under way at once, at most 8 by default"
    meaning = f"{option.meaning} (default: {option.default}{api if hosted and key == 'concurrency' else ''})"
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


def _setting_flag(parser: argparse.ArgumentParser, parameter: Parameter) -> None:
    flag, key = "--" + parameter.keyword.replace("_", "-"), parameter.keyword
    if key in TAKEN:
        flag, key = f"--text-{key}", f"{SETTING}{key}"
    if parameter.secret:  # arguments are seen by every user of the machine: never a secret
        meaning = f"file that holds the secret (else ${SECRET_VARIABLE}, else a prompt)"
        parser.add_argument("--secret-file", metavar="FILE", help=meaning)
    elif parameter.shape.kind == "boolean":
        parser.add_argument(flag, dest=key, action=argparse.BooleanOptionalAction, help=parameter.meaning)
    elif _takes_list(parameter):
        parser.add_argument(flag, dest=key, nargs="*", metavar="WORD", help=parameter.meaning)
    else:
        kind = {"integer": int, "number": float}.get(parameter.shape.kind, str)
        default = (
            ""
            if parameter.required or parameter.default_here is None
            else f" (default: {parameter.default_here})"
        )
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


def _takes_list(parameter: Parameter) -> bool:
    return any(part.kind == "list" for part in (parameter.shape, *parameter.shape.alternatives))


def _common(
    parser: argparse.ArgumentParser,
    what: str,
    kind: str = "page",
    hosted: bool = True,
    taken: Collection[str] = (),
) -> None:
    meaning = "one or more, or one file with a table of them; see also --input"
    parser.add_argument("inputs", nargs="*", metavar=what.upper(), help=meaning)
    meaning = f"table of inputs: {' '.join(SUFFIXES)}; - is CSV from standard input"
    parser.add_argument("-i", "--input", metavar="FILE", help=meaning)
    parser.add_argument("-c", "--column", help="column of --input that holds the inputs")
    _output_flags(parser)
    group = parser.add_argument_group("options of the run")
    for option in options_for(kind).values():
        if option.key != "backend" and option.key not in taken:
            _option_flag(group, option, hosted)
    if hosted:
        _hosted_flags(parser)


def _hosted_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("hosted API, or another backend")
    meaning = "name of a backend that an installed package has"
    group.add_argument("--backend", metavar="NAME", help=meaning)
    meaning = "address of a hosted API that does the work in the place of this machine"
    group.add_argument("--base-url", metavar="URL", help=meaning)
    # arguments are seen by every user of the machine: never a key
    meaning = f"file that holds the API key (else ${KEY_VARIABLE}, else a prompt)"
    group.add_argument("--api-key-file", metavar="FILE", help=meaning)


def _output_flags(parser: argparse.ArgumentParser) -> None:
    meaning = f"file to write; the suffix names the format: {', '.join('.' + kind for kind in FORMATS)}"
    parser.add_argument("-o", "--output", metavar="FILE", help=meaning)
    meaning = "what to print: a table on a terminal, csv into a pipe"
    parser.add_argument("-f", "--format", choices=TEXT_FORMATS, help=meaning)
    meaning = "write CSV and TSV without the apostrophe before what a spreadsheet would take for a formula"
    parser.add_argument("--raw", action="store_true", help=meaning)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="webanalytics", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"webanalytics {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    audit = commands.add_parser(
        "audit", help="Metadata, text, readability and keywords of pages, and their issues."
    )
    audits.add_compare(commands)
    add_moves(commands)
    _common(audit, "url")
    _setting_flag(audit, METADATA.parameter("body"))
    audits.add_flags(audit)
    audit.set_defaults(run=_run_operation, function="audit")
    crawl = commands.add_parser("crawl", help="Audit the pages of a site, found by following links.")
    _common(crawl, "start")
    _setting_flag(crawl, METADATA.parameter("body"))
    crawls.add_flags(crawl)
    audits.add_extract(crawl)
    audits.add_issue_flags(crawl)
    crawl.set_defaults(run=_run_operation, function="crawl")
    for operation in OPERATIONS.values():
        _operation_parser(commands, operation)
    sitemap = commands.add_parser("sitemap", help="Read a sitemap, or an index of them, into a list of URLs.")
    _common(sitemap, "url", "site", hosted=False)
    sitemap.set_defaults(run=_run_operation, function="sitemap")
    add_crawlers(commands)
    demo = commands.add_parser("demo", help="Serve the sample site, audit it and write tables and charts.")
    demo.add_argument("folder", nargs="?", default="webanalytics-demo", help="where the files go")
    demo.set_defaults(run=_run_demo)
    site = commands.add_parser("site", help="Serve the sample site on this machine until Ctrl-C.")
    site.add_argument("--port", type=int, default=8000, help="port to listen on (default: 8000)")
    site.set_defaults(run=_run_site)
    for name, summary in SERVICE_COMMANDS.items():  # they are listed here and have a parser of their own
        commands.add_parser(name, help=summary)
    for command in commands.choices.values():
        command.set_defaults(usage=command.format_usage)
    return parser


def _operation_parser(commands: Any, operation: Operation) -> None:
    name = operation.function
    extra = "".join(f" {sentence}" for sentence, _ in ACTIONS.get(name, {}).values())
    parser = commands.add_parser(name, help=operation.summary, description=operation.summary + extra)
    _common(parser, operation.subject, operation.kind, taken=[item.keyword for item in operation.settings])
    if name in ACTIONS and operation.kind not in RECORDS["allow_private"].serves:
        group = parser.add_argument_group(f"options of {' and '.join(ACTIONS[name])}")
        _option_flag(group, RECORDS["allow_private"], hosted=False)  # of an address that the action fetches
    for parameter in operation.settings:
        _setting_flag(parser, parameter)
    if "save_to" in inspect.signature(getattr(sync, name)).parameters:
        parser.add_argument(
            "--save-to", metavar="FOLDER", default="converted", help="folder of the converted files"
        )
    parser.set_defaults(run=_run_operation, function=name)


def _inputs(arguments: argparse.Namespace) -> Any:
    given = list(arguments.inputs)
    if arguments.input is not None:
        if given:
            raise ParameterError("The `input` parameter must be left out where inputs are given.", "input")
        return read_csv(sys.stdin) if arguments.input == "-" else read_frame(arguments.input)
    operation = by_function(arguments.function)
    refuse_passwords(operation, [*given, *(getattr(arguments, "sitemap", None) or ())])
    if operation is None or operation.column_pattern:  # else any text is an input, none a file
        tables = [text for text in given if text.lower().endswith(SUFFIXES) and "://" not in text]
        missing = next((text for text in tables if not Path(text).exists()), None)
        if missing is not None:
            raise ParameterError(
                f"The `input` parameter must be a file that is there: no such file: {missing}.", "input"
            )
        if tables and len(given) == 1:
            return read_frame(given[0])
    if not given and getattr(arguments, "sitemap", None) and arguments.function != "crawl":
        return None
    if not given and not sys.stdin.isatty():
        given = [line.strip() for line in sys.stdin if line.strip()]
    if not given:
        raise ParameterError("The `input` parameter is required where no inputs are given.", "input")
    return given


def _line_of(path: str, flag: str) -> str:
    try:
        return Path(path).read_text("utf-8").rstrip("\r\n")
    except OSError as error:
        raise ParameterError(
            f"The `{flag}` parameter must be a file that can be read: {error.strerror}.", flag
        ) from None
    except ValueError:
        raise ParameterError(f"The `{flag}` parameter must be a UTF-8 file.", flag) from None


def _backend(arguments: argparse.Namespace) -> Hosted | None:
    if getattr(arguments, "base_url", None) is None:
        return None
    if arguments.backend is not None:
        raise ParameterError("The `backend` parameter must be left out where `base_url` is given.", "backend")
    path = arguments.api_key_file
    return Hosted(arguments.base_url, None if path is None else _line_of(path, "api-key-file"))


def _secret(arguments: argparse.Namespace) -> str:
    if arguments.secret_file is not None:
        return _line_of(arguments.secret_file, "secret-file")
    if SECRET_VARIABLE in os.environ:
        return os.environ[SECRET_VARIABLE]
    try:
        if _has_terminal():
            return getpass.getpass("Secret: ")
    except EOFError:
        pass
    raise ParameterError(
        f"The `secret` parameter is required: name a file with --secret-file, or set {SECRET_VARIABLE}.",
        "secret",
    )


def _has_terminal() -> bool:
    """Return whether the user can be prompted; messages may come from a pipe while there is a terminal."""
    if sys.stdin is not None and sys.stdin.isatty():
        return True
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except (OSError, AttributeError):  # Windows has neither
        return False
    return True


def _keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments that the command line sets."""
    _, *others = inspect.signature(getattr(sync, arguments.function)).parameters
    names = {*(key for key, item in RECORDS.items() if item.serves), *others} - {"column", *TAKEN}
    given = {key: value for key, value in vars(arguments).items() if key in names and value is not None}
    settings = {key: getattr(arguments, f"{SETTING}{key}", None) for key in TAKEN}
    given |= {key: value for key, value in settings.items() if value is not None}
    operation = by_function(arguments.function)
    for item in operation.settings if operation else ():
        texts = given.get(item.keyword)
        if texts in ("true", "false") and any(part.kind == "boolean" for part in item.shape.alternatives):
            given[item.keyword] = texts == "true"
        plain = any(part.kind == "string" for part in item.shape.alternatives)
        if plain and isinstance(texts, list) and len(texts) == 1:  # the text itself may be meant
            (given[item.keyword],) = texts
    if "secret_file" in arguments:
        given["secret"] = _secret(arguments)
    backend = _backend(arguments)
    if backend is not None:
        given["backend"] = backend
    given |= audits.keywords(arguments)
    return given | {"sitemap": None} if getattr(arguments, "no_sitemap", None) else given


def _run_operation(arguments: argparse.Namespace) -> int:
    first, *others = arguments.inputs or [""]
    if first in ACTIONS.get(arguments.function, {}):
        return ACTIONS[arguments.function][first][1](others, arguments)
    function: Callable[..., pd.DataFrame | Audit] = getattr(sync, arguments.function)
    inputs, keywords = _inputs(arguments), _keywords(arguments)
    _check_output(arguments)
    audits.check(arguments)
    if arguments.function not in ("sitemap", "crawl"):
        keywords["column"] = arguments.column
    elif isinstance(inputs, pd.DataFrame):
        inputs = inputs[arguments.column or inputs.columns[0]].tolist()
    with kept_on_disk(inputs, keywords, arguments) as more:
        return _answer(lambda: function(inputs, **keywords, **more), arguments)


def _answer(call: Callable[[], pd.DataFrame | Audit], arguments: argparse.Namespace) -> int:
    """Make a call and write what it returns, or the rows that it had finished; return the exit status."""
    try:
        with warnings.catch_warnings(), terminable():
            warnings.showwarning = _say
            answer = call()
    except AuditInterrupted as interrupt:
        status = status_of(interrupt)
        with keeping(interrupt.rows, told=interrupt.rows >= MANY):
            _say(_without_attributes(interrupt))
            return _finish(interrupt.partial, arguments, status) or status
    except (HostedError, WriteError) as error:
        if error.rows is None:
            raise
        status = UNWRITTEN if isinstance(error, WriteError) else 2
        with keeping(error.rows, told=error.rows >= MANY):
            _say(_without_attributes(error))
            return _finish(error.partial, arguments, status) or status
    with keeping(len(answer), told=False):
        return _finish(answer, arguments, None)


def _finish(answer: pd.DataFrame | Audit, arguments: argparse.Namespace, ended: int | None) -> int:
    """Write what is wanted, and return the exit status; `ended` is the one of a call that ended early."""
    audit = answer if isinstance(answer, Audit) and audits.is_wanted(arguments) else None
    frame = answer.raw if isinstance(answer, Audit) else answer
    good = True
    if audit is None or arguments.output is not None or arguments.format is not None:
        good = _write(frame, audit, arguments)
    gate = 0
    if audit is not None:
        gate, saved = audits.finish(audit, arguments, complete=ended is None)
        good = good and saved
    if not good:
        return UNWRITTEN
    if ended is not None:
        return ended
    return gate or int(bool((frame["status"] != "ok").any()))


def _without_attributes(error: BaseException) -> str:
    """Return an error's text with what becomes of the finished rows here, where there is no `partial`."""
    text = str(error).replace("they are in .partial and last_partial()", "they are written")
    return text.replace("rows are in .partial and last_partial()", "rows are written")


def _say(message: Warning | str, *_: Any, **__: Any) -> None:
    say(as_flags(str(message)))


def _check_output(arguments: argparse.Namespace) -> None:
    """Refuse a file that cannot be written before any work is done."""
    if arguments.output is None:
        return
    path = Path(arguments.output)
    if path.suffix.lower().lstrip(".") not in FORMATS:
        raise wrong_suffix(path)
    can_be_written(path)


def _write(frame: pd.DataFrame, audit: Audit | None, arguments: argparse.Namespace) -> bool:
    """Write and print the table; return whether it is where it was asked for."""
    good = True
    if arguments.output is not None:
        good = written(frame, arguments.output, lambda: audits.write_pages(frame, audit, arguments))
    if arguments.output is None or arguments.format is not None:
        good = printed(frame, lambda: _print(frame, arguments.format, raw=arguments.raw)) and good
    return good


def _print(frame: pd.DataFrame, kind: str | None, *, raw: bool) -> None:
    kind = kind or ("table" if sys.stdout.isatty() else "csv")
    if kind == "table":
        print_table(frame, sys.stdout)
        print_errors(frame, sys.stdout, as_flags)
    elif sys.stdout.isatty():
        made = io.StringIO(newline="")
        write_text(frame, made, kind, raw=raw)
        sys.stdout.write(for_terminal(made.getvalue()))
    else:
        write_text(frame, sys.stdout, kind, raw=raw)


def _update_phones(sources: Sequence[str], arguments: argparse.Namespace) -> int:
    from webanalytics.cli.phone_update import update_from

    if len(sources) != 1:
        raise ParameterError("The `update` parameter must be one file or URL.", "update")
    print(update_from(sources[0], allow_private=bool(arguments.allow_private)))
    return 0


ACTIONS: dict[str, dict[str, tuple[str, Callable[[Sequence[str], argparse.Namespace], int]]]] = {
    "phones": {
        "update": ("'phones update FILE|URL' merges a newer list of disposable numbers.", _update_phones)
    }
}
"""Actions of sub-commands besides answering, by their first argument, with a description."""


def _run_demo(arguments: argparse.Namespace) -> int:
    from webanalytics.cli.demo import run_demo

    return run_demo(Path(arguments.folder))


def _run_site(arguments: argparse.Namespace) -> int:
    from webanalytics.fetching.testing import sample_site

    try:
        with sample_site(port=arguments.port) as site:
            print(f"the sample site is at {site.url}; its pages are listed in {site.sitemap}", flush=True)
            threading.Event().wait()
    except (OSError, OverflowError):
        raise ParameterError("The `port` parameter must be a free port.", "port") from None
    return 0


def run(arguments: Sequence[str]) -> int:
    """Run a sub-command that makes a table, and return the exit status."""
    parser = _parser()
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:
        known = re.findall(r"--[a-z][a-z-]*", parsed.usage())
        flags = (text.partition("=")[0] for text in unknown if text.startswith("--"))
        hint = next((did_you_mean(flag, known) for flag in flags), "")
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    given = {"docs_url": parsed.docs_url} if getattr(parsed, "docs_url", None) is not None else {}
    with option_context(**given):
        return int(parsed.run(parsed))
