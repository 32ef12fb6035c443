"""The sub-commands ``webanalytics serve`` and ``webanalytics keys``.

Exit status: 0 done, or stopped by a signal after what was under way was finished; 2 the call was
wrong, or the service cannot start.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from webanalytics.errors import MissingExtraError
from webanalytics.service.configuration import (
    FILE_VARIABLE,
    PREFIX,
    flag,
    misspelt_variables,
    read_settings,
    variable,
)
from webanalytics.service.key_commands import add_key_commands
from webanalytics.service.settings import RECORDS, ServiceSettings, Setting

EXTRA = "service"
EXTRA_PACKAGES = {
    "asyncpg": "asyncpg",
    "fsspec": "fsspec",
    "graphql": "graphql-core",
    "limits": "limits",
    "orjson": "orjson",
    "prometheus_client": "prometheus-client",
    "yaml": "PyYAML",
}
"""What the extra installs: module and package name."""

SERVE = (
    "Run the hosted API: every operation over HTTP, with accounts, credits and limits, until a signal. "
    "Example: webanalytics serve --port 8080"
)
KEYS = (
    "Create, list, rotate, revoke and restrict API keys and change plans, also while the service runs. "
    "Example: webanalytics keys create --account anna"
)
_METAVARS = {int: "N", float: "SECONDS", tuple: "LIST", str: "TEXT"}


def add_setting(parser: argparse._ActionsContainer, setting: Setting) -> None:
    """Add the option of a setting; its value is checked with those from other sources."""
    meaning = setting.meaning.replace("%", "%%")
    default = setting.show(setting.default).replace("%", "%%")
    shown = f"{meaning} (default: {default})" if default else meaning
    if setting.kind is bool:
        action = argparse.BooleanOptionalAction
        parser.add_argument(flag(setting.key), dest=setting.key, action=action, default=None, help=shown)
    else:
        metavar = _METAVARS[setting.kind]
        parser.add_argument(flag(setting.key), dest=setting.key, metavar=metavar, help=shown)


def add_config(parser: argparse._ActionsContainer) -> None:
    """Add the option that names the file of settings."""
    meaning = f"TOML file of settings, plans and prices (else the file that {FILE_VARIABLE} names)"
    parser.add_argument("--config", type=Path, metavar="FILE", help=meaning)


def settings_of(arguments: argparse.Namespace) -> ServiceSettings:
    """Return the settings from the command line, the environment and the file together."""
    for wrong, right in misspelt_variables(os.environ).items():
        print(f"webanalytics: {wrong} is not a setting; {right} is.", file=sys.stderr)
    flags = {key: value for key, value in vars(arguments).items() if key in RECORDS}
    return read_settings(flags, os.environ, arguments.config)


def _serve(arguments: argparse.Namespace) -> int:
    from webanalytics.service.server.process import serve

    return serve(settings_of(arguments))


def _keys(arguments: argparse.Namespace) -> int:
    return int(arguments.key_command(arguments, settings_of(arguments)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="webanalytics")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    where = (
        f"Every option can also be given by the environment ({variable('port')}=8080) or in a TOML file; "
        "an option wins over the environment, and the environment over the file. A database URL with a "
        f"password belongs in {PREFIX}DATABASE: other users of the machine can see options."
    )
    serve = commands.add_parser("serve", description=SERVE, epilog=where)
    add_config(serve)
    for heading, settings in groupby(RECORDS.values(), key=lambda setting: setting.group):
        group = serve.add_argument_group(heading)
        for setting in settings:
            add_setting(group, setting)
    serve.set_defaults(run=_serve)
    keys = commands.add_parser("keys", description=KEYS)
    common = argparse.ArgumentParser(add_help=False)
    add_config(common)
    add_setting(common, RECORDS["database"])
    add_key_commands(keys, common)
    keys.set_defaults(run=_keys)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run ``serve`` or ``keys`` and return the exit status."""
    try:
        return _run(_parser().parse_args(arguments))
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in EXTRA_PACKAGES:
            raise
        purpose = f"`webanalytics {arguments[0]}`"
        raise MissingExtraError(EXTRA, EXTRA_PACKAGES[module], purpose) from error


def _run(arguments: argparse.Namespace) -> int:
    from webanalytics.service.accounts.base import AccountsError

    try:
        return int(arguments.run(arguments))
    except AccountsError as error:
        sys.stderr.write(f"webanalytics: {error}\n")  # in one piece: other processes may write too
        return 2
