"""``webanalytics keys``: create, list, rotate, revoke and restrict API keys, and change their plan.

A new key is the only thing on standard output, so that ``KEY=$(webanalytics keys create)`` holds it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from webanalytics import loops
from webanalytics.core.strings import table_lines
from webanalytics.errors import ParameterError, choice
from webanalytics.service.configuration import operation_name
from webanalytics.service.settings import ServiceSettings, read_networks

if TYPE_CHECKING:
    from webanalytics.service.accounts.base import Key, KeyRow
    from webanalytics.service.accounts.store import Accounts
    from webanalytics.service.settings import Network

T = TypeVar("T")
PREFIX_LENGTH = 8
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d{1,6})([smhdw])")
_PREFIX = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}")
COLUMNS = ("key", "account", "plan", "credits", "operations", "ip", "expires", "state", "last_used")


def parse_duration(text: str, parameter: str) -> float:
    """Return the seconds of a duration such as ``90s``, ``24h`` or ``30d``."""
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None:
        raise ParameterError.must_be(parameter, "a duration such as 90s, 24h or 30d")
    return float(int(match[1]) * _UNITS[match[2]])


def parse_expiry(text: str, now: float) -> float:
    """Return the Unix time of a duration from now, a date (00:00 UTC) or a time."""
    word = text.strip()
    if _DURATION.fullmatch(word.lower()):
        moment = now + parse_duration(word, "expires")
    else:
        try:
            given = datetime.fromisoformat(word)
        except ValueError:
            raise ParameterError.must_be(
                "expires", "a duration such as 30d or a date such as 2027-01-31"
            ) from None
        moment = (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()
    if moment <= now:
        raise ParameterError("The `expires` parameter must lie in the future.", "expires")
    return moment


def parse_networks(text: str) -> tuple[Network, ...]:
    """Return the networks of a list such as ``10.0.0.0/8,2001:db8::1``."""
    try:
        networks = read_networks(part for part in text.split(",") if part.strip())
    except ValueError:
        networks = ()
    if not networks:
        raise ParameterError.must_be("ip", "a list of IP addresses or networks such as 10.0.0.0/8")
    return networks


def parse_operations(text: str) -> frozenset[str]:
    """Return the names of the operations of a list such as ``hmac,websitetotext``."""
    return frozenset(operation_name(part) for part in text.split(","))


def parse_prefix(text: str) -> str:
    """Return the prefix of a key, for the prefix or for the whole key."""
    word = text.strip().lower()
    if not _PREFIX.fullmatch(word):
        raise ParameterError.must_be(
            "prefix", f"the first {PREFIX_LENGTH} characters of a key, as `webanalytics keys list` shows them"
        )
    return word[:PREFIX_LENGTH]


def moment(seconds: float | None) -> str:
    """Return a Unix time as ISO 8601, empty for None."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def state(key: Key, now: float) -> str:
    """Return the state of a key at a moment: active, expired, revoked, or about to be revoked."""
    found = key.state(now)
    if found == "active" and key.revoked is not None:
        return f"revoked from {moment(key.revoked)}"
    return found


def _operations(key: Key) -> str:
    return "all" if key.operations is None else ",".join(sorted(key.operations))


def _networks(key: Key) -> str:
    return ",".join(map(str, key.networks)) or "any"


def key_rows(rows: Sequence[KeyRow], now: float) -> list[dict[str, Any]]:
    """Return the displayed values of each key, by column."""
    return [
        {
            "key": row.key.prefix,
            "account": row.account_name,
            "plan": row.key.plan,
            "credits": row.credits,
            "operations": _operations(row.key),
            "ip": _networks(row.key),
            "expires": moment(row.key.expires) or "never",
            "state": state(row.key, now),
            "last_used": moment(row.last_used) or "never",
        }
        for row in rows
    ]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as aligned columns; names that could break a line are shown escaped."""
    texts = ([str(row[column]) for column in COLUMNS] for row in rows)
    cells = ([text if text.isprintable() else ascii(text)[1:-1] for text in row] for row in texts)
    headings = [column.replace("_", " ") for column in COLUMNS]
    return "\n".join(table_lines(headings, cells)) + "\n"


def _run(
    settings: ServiceSettings, work: Callable[[Accounts], Coroutine[Any, Any, T]], *, create: bool = False
) -> T:
    from webanalytics.service.accounts import SQLITE, open_accounts

    file = settings.database.removeprefix(SQLITE)
    if not create and file != settings.database and not Path(file).exists():
        absent = f"there is no file {file} (`webanalytics keys create` makes it)"
        raise ParameterError.on("database", f"must name a database that exists; {absent}")

    async def with_accounts() -> T:
        accounts = await open_accounts(settings.database, settings)
        try:
            return await work(accounts)
        finally:
            await accounts.close()

    return loops.run(with_accounts())


def _report(key: Key, what: str) -> None:
    expires = f"until {moment(key.expires)}" if key.expires is not None else "without expiry"
    print(
        f"Key {key.prefix}... on the plan {key.plan} {what}: operations {_operations(key)}, "
        f"from {_networks(key)}, {expires}.",
        file=sys.stderr,
    )


def _show_once(api_key: str, key: Key) -> None:
    print(api_key)
    _report(key, "works")
    print("It is stored hashed and cannot be shown again.", file=sys.stderr)


def _create(arguments: argparse.Namespace, settings: ServiceSettings) -> int:
    if arguments.plan is not None:
        choice("plan", arguments.plan, settings.plans)
    operations = parse_operations(arguments.operations) if arguments.operations else None
    networks = parse_networks(arguments.ip) if arguments.ip else ()
    expires = parse_expiry(arguments.expires, time.time()) if arguments.expires else None

    made = {"account": arguments.account, "plan": arguments.plan, "operations": operations}
    made |= {"networks": networks, "expires": expires}
    _show_once(*_run(settings, lambda accounts: accounts.create_key(**made), create=True))
    return 0


def _list(arguments: argparse.Namespace, settings: ServiceSettings) -> int:
    rows = key_rows(_run(settings, lambda accounts: accounts.list_keys()), time.time())
    print(json.dumps(rows, indent=2) if arguments.format == "json" else table(rows).rstrip("\n"))
    return 0


def _rotate(arguments: argparse.Namespace, settings: ServiceSettings) -> int:
    prefix = parse_prefix(arguments.prefix)
    keep = parse_duration(arguments.keep, "keep") if arguments.keep else 0.0
    _show_once(*_run(settings, lambda accounts: accounts.rotate_key(prefix, keep)))
    until = f"until {moment(time.time() + keep)}" if keep else "no longer"
    print(f"The key {prefix}... works {until}.", file=sys.stderr)
    return 0


def _revoke(arguments: argparse.Namespace, settings: ServiceSettings) -> int:
    prefix = parse_prefix(arguments.prefix)
    key = _run(settings, lambda accounts: accounts.revoke_key(prefix))
    print(f"The key {key.prefix}... is revoked.", file=sys.stderr)
    return 0


async def _find(accounts: Accounts, prefix: str) -> KeyRow:
    for row in await accounts.list_keys():
        if row.key.prefix == prefix:
            return row
    raise ParameterError.must_be("prefix", f"that of a key; no key begins with {prefix}")


def _restrict(arguments: argparse.Namespace, settings: ServiceSettings) -> int:
    prefix = parse_prefix(arguments.prefix)
    changes = _changes(arguments)

    async def work(accounts: Accounts) -> Key:
        key = (await _find(accounts, prefix)).key
        kept = {"operations": key.operations, "networks": key.networks, "expires": key.expires}
        return await accounts.restrict_key(prefix, **{**kept, **changes})

    _report(_run(settings, work), "works from now on with")
    return 0


def _plan(arguments: argparse.Namespace, settings: ServiceSettings) -> int:
    prefix = parse_prefix(arguments.prefix)
    choice("plan", arguments.plan, settings.plans)

    async def work(accounts: Accounts) -> tuple[str, int]:
        account = (await _find(accounts, prefix)).account_name
        return account, await accounts.change_plan(account, arguments.plan)

    account, left = _run(settings, work)
    print(f"The account {account} has the plan {arguments.plan} and {left:,} credits now.", file=sys.stderr)
    return 0


def _changes(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the given restrictions, by their names in the accounts."""
    changes: dict[str, Any] = {}
    if arguments.operations:
        given = arguments.operations
        changes["operations"] = None if given == "all" else parse_operations(given)
    if arguments.ip:
        changes["networks"] = () if arguments.ip == "any" else parse_networks(arguments.ip)
    if arguments.expires:
        given = arguments.expires
        changes["expires"] = None if given == "never" else parse_expiry(given, time.time())
    if not changes:
        raise ParameterError.must_be("restrict", "followed by --operations, --ip or --expires")
    return changes


def _restrictions(parser: argparse.ArgumentParser, every: str, anywhere: str, never: str) -> None:
    meaning = f"operations it may call, with commas{every}"
    parser.add_argument("--operations", metavar="LIST", help=meaning)
    meaning = f"addresses and networks calls may come from, with commas{anywhere}"
    parser.add_argument("--ip", metavar="LIST", help=meaning)
    meaning = f"duration such as 30d, or date such as 2027-01-31 (00:00 UTC){never}"
    parser.add_argument("--expires", metavar="WHEN", help=meaning)


def add_key_commands(keys: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Add ``create``, ``list``, ``rotate`` and the others to the parser of ``keys``."""
    commands = keys.add_subparsers(dest="keys", required=True, metavar="COMMAND")

    def add(name: str, meaning: str, run: Callable[..., int], prefix: bool = True) -> argparse.ArgumentParser:
        parser = commands.add_parser(name, help=meaning, description=meaning, parents=[common])
        parser.set_defaults(key_command=run)
        if prefix:
            parser.add_argument("prefix", help=f"first {PREFIX_LENGTH} characters of the key")
        return parser

    create = add("create", "Create a key, and print it: it is shown this once.", _create, prefix=False)
    create.add_argument("--account", metavar="NAME", help="account it belongs to; a new one by default")
    create.add_argument("--plan", help="plan of a new account (default: free)")
    _restrictions(create, "; all by default", "; anywhere by default", "; never by default")
    shown = add("list", "List the keys.", _list, prefix=False)
    shown.add_argument("--format", choices=("table", "json"), default="table", help="what to print")
    rotate = add("rotate", "Replace a key by a new one, and print it.", _rotate)
    meaning = "how long the old key works on, such as 24h (default: not at all)"
    rotate.add_argument("--keep", metavar="DURATION", help=meaning)
    add("revoke", "Revoke a key at once.", _revoke)
    restrict = add("restrict", "Change what a key may be used for; what is not named stays.", _restrict)
    _restrictions(restrict, ", or all", ", or any", ", or never")
    plan = add("plan", "Move the account of a key, with all its keys, to another plan.", _plan)
    plan.add_argument("plan", help="name of the plan")
