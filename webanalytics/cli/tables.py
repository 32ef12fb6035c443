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
import tomllib
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics import sync
from webanalytics.audits.audit import Audit
from webanalytics.cli import audit as audits
from webanalytics.cli.access_files import refuse_passwords
from webanalytics.cli.flags import (
    SCREEN,
    SECRET_VARIABLE,
    SETTING,
    TAKEN,
    add_command,
    add_listed,
    common,
    crawl_flags,
    option_flag,
    setting_flag,
)
from webanalytics.cli.moves import add_moves
from webanalytics.cli.names import SERVICE_COMMANDS, as_flags, root
from webanalytics.cli.row_safety import (
    UNWRITTEN,
    can_be_written,
    keeping,
    kept_on_disk,
    printed,
    say,
    status_of,
    terminable,
    written,
)
from webanalytics.cli.saved import add_saved
from webanalytics.cli.updates import add_crawlers
from webanalytics.cli.watch import add_watch
from webanalytics.core.messages import for_terminal
from webanalytics.core.run_options import RECORDS, option_context
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import AuditInterrupted, HostedError, ParameterError, WriteError
from webanalytics.operations import METADATA, OPERATIONS, Operation, by_function
from webanalytics.runs.backends.hosted import Hosted
from webanalytics.runs.frames.input_files import SUFFIXES, lines_of, read_frame, read_table
from webanalytics.runs.frames.inputs import read_values
from webanalytics.runs.frames.output_files import write_text
from webanalytics.runs.frames.terminal import print_errors, print_table

EXAMPLES: Mapping[str, str] = tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8"))
"""What follows the name of a sub-command in the example of its help."""

MANY = 1_000
"""Rows whose frame takes so long to make that it is said."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser, commands = root()
    audit = add_command(commands, "audit")
    audits.add_compare(commands)
    add_moves(commands)
    add_saved(commands)
    add_watch(commands)
    common(audit, "url", screen=True)
    setting_flag(audit, METADATA.parameter("body"))
    audits.add_flags(audit)
    audit.set_defaults(run=_run_operation, function="audit")
    crawl = add_command(commands, "crawl")
    common(crawl, "start", screen=True)
    setting_flag(crawl, METADATA.parameter("body"))
    crawl_flags(crawl)
    add_listed(crawl, "extract")
    audits.add_issue_flags(crawl)
    crawl.set_defaults(run=_run_operation, function="crawl")
    for operation in OPERATIONS.values():
        _operation_parser(commands, operation)
    sitemap = add_command(commands, "sitemap")
    common(sitemap, "url", "site", hosted=False)
    sitemap.set_defaults(run=_run_operation, function="sitemap")
    for name in ("certificates", "live-tlsa"):
        host = add_command(commands, name)
        common(host, "host", "host", hosted=False)
        host.add_argument("--resolver", metavar="ADDRESS", help="validating resolver that you trust")
        host.add_argument("--ca", metavar="FILE", help="roots that are trusted in place of the system's")
        host.set_defaults(run=_run_operation, function=name.replace("-", "_"))
    add_crawlers(commands)
    demo = add_command(commands, "demo")
    demo.add_argument("folder", nargs="?", default="webanalytics-demo", help="where the files go")
    demo.set_defaults(run=_run_demo)
    site = add_command(commands, "site")
    site.add_argument("--port", type=int, default=8000, help="port to listen on (default: 8000)")
    site.set_defaults(run=_run_site)
    for name in SERVICE_COMMANDS:  # they are listed here and have a parser of their own
        add_command(commands, name)
    for name, command in commands.choices.items():
        command.set_defaults(help=command.format_help)
        example = f"Example: webanalytics {name} {EXAMPLES[name]}".strip() if name in EXAMPLES else ""
        command.description = f"{command.description} {example}".strip()
    return parser


def _operation_parser(commands: Any, operation: Operation) -> None:
    name = operation.function
    extra = "".join(f" {sentence}" for sentence, _ in ACTIONS.get(name, {}).values())
    parser = commands.add_parser(name, help=operation.summary, description=operation.summary + extra)
    taken = [item.keyword for item in operation.settings]
    common(parser, operation.subject, operation.kind, taken=taken, files=bool(operation.column_pattern))
    if name in ACTIONS and operation.kind not in RECORDS["allow_private"].serves:
        group = parser.add_argument_group(f"options of {' and '.join(ACTIONS[name])}")
        option_flag(group, RECORDS["allow_private"], hosted=False)  # of an address that the action fetches
    for parameter in operation.settings:
        setting_flag(parser, parameter)
    if "save_to" in inspect.signature(getattr(sync, name)).parameters:
        parser.add_argument(
            "--save-to", metavar="FOLDER", default="converted", help="folder of the converted files"
        )
    parser.set_defaults(run=_run_operation, function=name)


def _inputs(arguments: argparse.Namespace) -> Any:
    given = list(arguments.inputs)
    if arguments.input is not None:
        if given:
            raise ParameterError.must_be("input", "left out where inputs are given")
        return read_table(_standard_input()) if arguments.input == "-" else read_frame(arguments.input)
    operation = by_function(arguments.function)
    refuse_passwords(operation, [*given, *(getattr(arguments, "sitemap", None) or ())])
    any_text = operation is not None and not operation.column_pattern
    if not any_text and (table := _table(given)) is not None:  # else none is a file
        return table
    if not given and getattr(arguments, "sitemap", None) and arguments.function != "crawl":
        return None
    if not given and not (sys.stdin and sys.stdin.isatty()):
        listed = lines_of(_standard_input())
        given = listed if any_text else [line.strip() for line in listed]
    if not given:
        raise ParameterError.on("input", "is required where no inputs are given")
    is_text = operation is not None and operation.kind == "record" and len(given) == 1
    return given[0] if is_text else given  # which may hold several, as what dig prints of TLSA records does


def _table(given: Sequence[str]) -> pd.DataFrame | None:
    """Return the table that the only input is a file of; raises `ParameterError` for one among others."""
    tables = [text for text in given if text.lower().endswith(SUFFIXES) and "://" not in text]
    missing = next((text for text in tables if not Path(text).exists()), None)
    if missing is not None:
        raise ParameterError.must_be("input", f"a file that is there: no such file: {missing}")
    if tables and len(given) > 1:
        raise ParameterError.must_be("input", f"one file where it is a table, as {tables[0]} is")
    return read_frame(tables[0]) if tables else None


def _standard_input() -> bytes:
    """Return what comes from standard input, which may be closed."""
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def _line_of(path: str, flag: str) -> str:
    try:
        return Path(path).read_text("utf-8-sig").rstrip("\r\n")
    except OSError as error:
        raise ParameterError.must_be(flag, f"a file that can be read: {error.strerror}") from None
    except ValueError:
        raise ParameterError.must_be(flag, "a UTF-8 file") from None


def _backend(arguments: argparse.Namespace) -> Hosted | None:
    if getattr(arguments, "base_url", None) is None:
        return None
    if arguments.backend is not None:
        raise ParameterError.must_be("backend", "left out where `base_url` is given")
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
    raise ParameterError.on(
        "secret", f"is required: name a file with --secret-file, or set {SECRET_VARIABLE}"
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
    can_be_written(arguments.output)
    audits.check(arguments)
    if arguments.function not in ("sitemap", "crawl", "certificates", "live_tlsa"):
        keywords["column"] = arguments.column
    elif isinstance(inputs, pd.DataFrame):
        column = arguments.column or next(iter(inputs.columns), None)
        inputs = read_values(inputs, METADATA, "input", column).tolist()
    with kept_on_disk(inputs, keywords, arguments) as more:
        return _answer(lambda: function(inputs, **keywords, **more), arguments)


def _answer(call: Callable[[], pd.DataFrame | Audit], arguments: argparse.Namespace) -> int:
    """Make a call and write what it returns, or the rows that it had finished; return the exit status."""
    try:
        with warnings.catch_warnings(), terminable():
            warnings.showwarning = _say
            answer = call()
    except (AuditInterrupted, HostedError, WriteError) as error:
        if error.rows is None:
            raise
        cut = isinstance(error, AuditInterrupted)
        status = status_of(error) if cut else UNWRITTEN if isinstance(error, WriteError) else 2
        with keeping(error.rows, told=error.rows >= MANY):
            _say(_without_attributes(error))
            return _finish(error.partial, arguments, status) or status
    with keeping(len(answer), told=False):
        return _finish(answer, arguments, None)


def _finish(answer: pd.DataFrame | Audit, arguments: argparse.Namespace, ended: int | None) -> int:
    audit = answer if isinstance(answer, Audit) and audits.is_wanted(arguments) else None
    frame = answer.raw if isinstance(answer, Audit) else answer
    good = True
    if arguments.output is not None:
        good = written(frame, arguments.output, lambda: audits.write_pages(frame, audit, arguments))
    named = getattr(arguments, "sitemap", None) and isinstance(answer, Audit) and answer.origin.sitemap
    unread = named[named["status"] != "ok"] if isinstance(named, pd.DataFrame) else frame[:0]
    gate = 0
    if audit is not None:
        gate, saved = audits.finish(audit, arguments, complete=ended is None)
        good = good and saved
    else:  # else its summary says so
        for row in unread.itertuples():
            _say(f"{row.sitemap}: {row.error}")
    if audit is None:
        has_table = arguments.output is None or arguments.format is not None
    else:
        has_table = audits.shows(arguments) != SCREEN
    if has_table:  # last, for a pipe may be closed
        good = printed(frame, lambda: _print(frame, arguments.format, raw=arguments.raw)) and good
    if not good:
        return UNWRITTEN
    if ended is not None:
        return ended
    return gate or int(len(unread) > 0 or bool((frame["status"] != "ok").any()))


def _without_attributes(error: BaseException) -> str:
    """Return an error's text with what becomes of the finished rows here, where there is no `partial`."""
    text = str(error).replace("they are in .partial and last_partial()", "what was finished is written")
    return text.replace("rows are in .partial and last_partial()", "rows are written")


def _say(message: Warning | str, *_: Any, **__: Any) -> None:
    say(as_flags(str(message)))


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
        told = {name: frame[name].map(as_flags, na_action="ignore") for name in {"error", "note"} & {*frame}}
        write_text(frame.assign(**told), sys.stdout, kind, raw=raw)


def _update_phones(sources: Sequence[str], arguments: argparse.Namespace) -> int:
    from webanalytics.cli.updates import update_from

    if len(sources) != 1:
        raise ParameterError.must_be("update", "one file or URL")
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
        raise ParameterError.must_be("port", "a free port") from None
    return 0


def run(arguments: Sequence[str]) -> int:
    """Run a sub-command that makes a table, and return the exit status."""
    made = parser()
    parsed, unknown = made.parse_known_args(arguments)
    if unknown:
        known = re.findall(r"--[a-z][a-z-]*", parsed.help())
        flags = (text.partition("=")[0] for text in unknown if text.startswith("--"))
        hint = next((did_you_mean(flag, known) for flag in flags), "")
        made.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    given = {"docs_url": parsed.docs_url} if getattr(parsed, "docs_url", None) is not None else {}
    with option_context(**given):
        return int(parsed.run(parsed))
