"""Sources of settings: command-line options, the environment, a file, the defaults, in this order.

The file is TOML. Its top-level keys are those of the settings; a table ``[plans.NAME]`` changes a
plan or adds one; the table ``[credits]`` holds prices by name of operation::

    port = 9000
    trusted_proxies = ["10.0.0.0/8"]

    [plans.free]
    monthly_credits = 2000

    [credits]
    keywords = 8

An error about a wrong value names the setting, what it accepts and where the value came from,
but never the value, which may be a password.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from webanalytics.errors import ParameterError
from webanalytics.operations import OPERATIONS
from webanalytics.service.settings import PLANS, RECORDS, Plan, ServiceSettings, Setting, unknown_key

PREFIX = "WEBANALYTICS_"
FILE_VARIABLE = PREFIX + "CONFIG"
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
MAX_PRICE = 1_000_000
MAX_CREDITS = 1_000_000_000_000
MAX_REQUESTS = 1_000_000
MAX_UPLOAD = 1_000_000_000
_PLAN_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


def variable(key: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + key.upper()


def flag(key: str) -> str:
    """Return the command-line option of a setting."""
    return "--" + key.replace("_", "-")


def operation_name(given: str, parameter: str = "operations") -> str:
    """Return an operation's name for its name or its path in the service."""
    word = given.strip().lower()
    for operation in OPERATIONS.values():
        if word in (operation.name, operation.path):
            return operation.name
    raise ParameterError.one_of(parameter, OPERATIONS)


def _parse_bool(text: str) -> Any:
    word = text.strip().lower()
    return True if word in TRUE else False if word in FALSE else text


def _parse(setting: Setting, text: str) -> Any:
    """Return the value of a text; text that cannot be converted is left for the check to refuse."""
    if setting.kind is str:
        return text
    if setting.kind is bool:
        return _parse_bool(text)
    try:
        if setting.kind is tuple:
            return tuple(setting.item(part) for part in map(str.strip, text.split(",")) if part)
        if not text.strip() and setting.none:
            return None
        return setting.kind(text)
    except ValueError:
        return text


def _check(setting: Setting, value: Any, source: str) -> Any:
    try:
        return setting.check(value)
    except ParameterError:
        pass  # raised below: the wrong value, maybe a password, is not chained to it
    raise ParameterError(f"{setting.sentence} (given {source}).", setting.key)


def _from_flags(given: Mapping[str, Any]) -> dict[str, Any]:
    values = {}
    for key, value in given.items():
        if key not in RECORDS:
            raise unknown_key(key)
        if value is not None:
            setting = RECORDS[key]
            parsed = _parse(setting, value) if isinstance(value, str) else value
            values[key] = _check(setting, parsed, f"by {flag(key)}")
    return values


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        key: _check(setting, _parse(setting, environment[variable(key)]), f"by {variable(key)}")
        for key, setting in RECORDS.items()
        if variable(key) in environment
    }


def misspelt_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables that look like misspelt settings, with the setting's variable.

    Others with the same prefix are ignored: container platforms set such variables for a service of this
    name.
    """
    known = [variable(key) for key in RECORDS]
    found = {}
    for name in environment:
        if name.startswith(PREFIX) and name not in known:
            for near in difflib.get_close_matches(name, known, n=1, cutoff=0.9):
                found[name] = near
    return found


def _load(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeError):
        problem = "must be a UTF-8 file that can be read"
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at (line \d+, column \d+|end of document)", str(error))
        problem = f"must be a TOML file; {file.name} is not{f' ({place[0]})' if place else ''}"
    raise ParameterError(f"The `config` parameter {problem}.", "config")


def _table(content: Any, name: str, source: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ParameterError(f"The `{name}` parameter must be a table (given {source}).", name)
    return content


def _integer(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


# Field of a plan -> what the sentence says, and whether a value from a file is allowed.
_PLAN_FIELDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "monthly_credits": (f"an integer from 0 to {MAX_CREDITS}", _integer(0, MAX_CREDITS)),
    "bonus_credits": (f"an integer from 0 to {MAX_CREDITS}", _integer(0, MAX_CREDITS)),
    "premium": ("true or false", lambda value: isinstance(value, bool)),
    "requests_a_minute": (
        f"an integer from 0 to {MAX_REQUESTS}, 0 for no throttling",
        _integer(0, MAX_REQUESTS),
    ),
    "upload_bytes": (f"an integer from 1 to {MAX_UPLOAD}", _integer(1, MAX_UPLOAD)),
}


def _plan(name: str, content: Any, source: str) -> Plan:
    """Return a plan: a shipped one with changes, or a new one that gives every field."""
    table = f"plans.{name}"
    given = _table(content, table, source)
    if not _PLAN_NAME.fullmatch(name):
        raise ParameterError.must_be("plans", f"tables named with small letters and digits (given {source})")
    names = [field.name for field in fields(Plan) if field.name != "name"]
    values: dict[str, Any] = asdict(PLANS[name]) if name in PLANS else {"name": name}
    for key, value in given.items():
        parameter = f"{table}.{key}"
        if key not in names:
            raise ParameterError.on(
                parameter, f"(given {source}) does not exist; the fields of a plan are: {', '.join(names)}"
            )
        expects, accepts = _PLAN_FIELDS[key]
        if not accepts(value):
            raise ParameterError.must_be(parameter, f"{expects} (given {source})")
        values[key] = value or None if key == "requests_a_minute" else value
    for key in names:
        if key not in values:
            parameter = f"{table}.{key}"
            raise ParameterError.on(parameter, f"is required for a new plan ({source})")
    return Plan(**values)


def _prices(content: Any, source: str) -> dict[str, int]:
    prices: dict[str, int] = {}
    for given, price in _table(content, "credits", source).items():
        name = operation_name(given, "credits")
        if not _integer(1, MAX_PRICE)(price):
            raise ParameterError.must_be(
                f"credits.{given}", f"an integer from 1 to {MAX_PRICE} (given {source})"
            )
        prices[name] = price
    return prices


def _from_file(file: Path | None) -> tuple[dict[str, Any], dict[str, Plan], dict[str, int]]:
    plans, prices, values = dict(PLANS), {}, {}
    source = f"in {file.name}" if file is not None else ""
    for key, value in (_load(file) if file is not None else {}).items():
        if key == "plans":
            tables = _table(value, key, source).items()
            plans.update({name: _plan(name, content, source) for name, content in tables})
        elif key == "credits":
            prices = _prices(value, source)
        elif key in RECORDS:
            values[key] = _check(RECORDS[key], tuple(value) if isinstance(value, list) else value, source)
        else:
            raise unknown_key(key, f" (given {source})")
    return values, plans, prices


def read_settings(
    flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None = None
) -> ServiceSettings:
    """Return the settings of a service from all sources."""
    if file is None and environment.get(FILE_VARIABLE):
        file = Path(environment[FILE_VARIABLE])
    values, plans, prices = _from_file(file)
    given = {**values, **_from_environment(environment), **_from_flags(flags)}
    return ServiceSettings(given, plans, prices)


def settings_table() -> str:
    """Return the settings as a Markdown table for the documentation: option, default, meaning."""
    rows = ["| Option | Default | Meaning |", "|---|---|---|"]
    for key, setting in RECORDS.items():
        default = setting.show(setting.default).replace("|", "\\|")
        shown = f"`{default}`" if default and setting.default is not None else default
        rows.append(f"| `{flag(key)}` | {shown} | {setting.meaning.replace('|', chr(92) + '|')} |")
    return "\n".join(rows) + "\n"
