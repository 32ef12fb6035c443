"""Files with what opens hosts: no secret is an argument, which every user of the machine could see."""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from webanalytics.cli.row_safety import say
from webanalytics.core.access import Access
from webanalytics.core.bot_key import BotKey
from webanalytics.core.proxy import Proxy
from webanalytics.errors import ParameterError
from webanalytics.operations import Operation
from webanalytics.urls import without_user

PASSWORD_VARIABLE = "WEBANALYTICS_PROXY_PASSWORD"  # noqa: S105 - the name of a variable
_FIELDS = (
    *("user", "password", "digest", "token", "headers", "cookies", "certificate", "key", "ca"),
    *("environment", "netrc", "keyring"),
)


def read_access(path: str) -> dict[str, Access]:
    """Return what a TOML file says: a table for each host, with the parameters of `Access`.

    Raises `argparse.ArgumentTypeError` for a file that is not there or says something else; without any value
    of it.
    """
    tables = _tables(path)
    if tables is None:
        raise argparse.ArgumentTypeError("must be a TOML file that can be read")
    if os.name == "posix" and Path(path).stat().st_mode & 0o077:
        say(f"others on this machine may read {path}: chmod 600 keeps it to you")
    return {host: _access(host, table) for host, table in tables.items()}


def _tables(path: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError):  # its text is not shown: it quotes the file
        return None


def _access(host: str, table: Any) -> Access:
    if not isinstance(table, dict) or not set(table) <= set(_FIELDS):
        raise argparse.ArgumentTypeError(
            f'must have a table for each host, such as ["{host}"], with: {", ".join(_FIELDS)}'
        )
    try:
        return _made(host, dict(table))
    except (ParameterError, TypeError) as error:  # the second for a value that is given twice
        said = str(error)
    raise argparse.ArgumentTypeError(f"{host}: {said}")


def _made(host: str, table: dict[str, Any]) -> Access:
    if "environment" in table:
        return Access.from_environment(table.pop("environment"), **table)
    if "netrc" in table:
        file = table.pop("netrc")
        return Access.from_netrc(host.partition(":")[0], None if file is True else file, **table)
    if "keyring" in table:
        return Access.from_keyring(table.pop("keyring"), table.pop("user", ""), **table)
    return Access(**table)


def read_bot_key(path: str) -> BotKey:
    """Return the key of a file that `webanalytics.BotKey.create` wrote."""
    try:
        return BotKey(path)
    except ParameterError as error:
        said = str(error)
    raise argparse.ArgumentTypeError(said)


def read_proxy(text: str) -> Proxy | None:
    """Return the proxy of an argument, its password from the environment.

    Raises `argparse.ArgumentTypeError` for a password in the argument, and for what is no address; without
    the text.
    """
    if ":" in text.rpartition("@")[0].rpartition("/")[2]:
        raise argparse.ArgumentTypeError(f"must have no password, which ${PASSWORD_VARIABLE} holds")
    try:
        return Proxy.with_password(text, os.environ.get(PASSWORD_VARIABLE, ""))
    except ParameterError:
        pass
    raise argparse.ArgumentTypeError("must be env, or an address such as http://user@proxy:3128")


def refuse_passwords(operation: Operation | None, addresses: Iterable[str]) -> None:
    """Raise `ParameterError` for a password in an address that is an argument."""
    if (operation is None or operation.kind != "record") and any(
        without_user(one) != one for one in addresses
    ):
        raise ParameterError.on(
            "input",
            "must hold no password, which every user of the machine can see; --access names a file with it",
        )


PLACES: dict[str, tuple[str, Any]] = {
    "accept_language": ("TEXT", str),
    "access": ("FILE", read_access),
    "archive": ("FILE", str),
    "bot_key": ("FILE", read_bot_key),
    "proxy": ("env|URL", read_proxy),
    "store": ("FOLDER", str),
}
"""Options that are read from what the command line gives: how it calls that, and what reads it."""
