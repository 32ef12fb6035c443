"""Profiles: which rules an audit applies, how much each matters, and its thresholds.

A profile is plain data. A user's own file has the same parts, in TOML::

    profile = "strict"          # what it starts from, desktop_crawler where it names none
    off = ["h2_multiple"]       # rules that are not applied

    [thresholds]
    title_too_long = 600

    [priorities]
    social_card_missing = "medium"
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from webanalytics.audits.rules import REMOVED, RULES
from webanalytics.audits.rules.base import Rule
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError
from webanalytics.thresholds import PRIORITIES, Priority

DEFAULT_PROFILE = "desktop_crawler"

PARTS = ("thresholds", "priorities", "off")
"""What a profile changes."""

FEW = 10
"""Up to this many names, an error lists all of them instead of the nearest one."""

MAX_FILE = 1_000_000
"""Largest file of thresholds that is read, in bytes."""

FEWEST_PIXELS = 160
"""Least width that a text may be limited to: fewer pixels are meant as characters."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Profile:
    """A choice of rules with their priorities and thresholds."""

    name: str  # or that of the file it was read from
    off: frozenset[str] = frozenset()  # rules that are not applied
    priorities: Mapping[str, Priority] = field(default_factory=dict)  # that differ from those of the rules
    thresholds: Mapping[str, float] = field(default_factory=dict)  # that differ from those of the rules

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules that apply, with the profile's priorities and thresholds, in their fixed order.

        Examples
        --------
        >>> {rule.name: rule for rule in PROFILES["strict"].rules()}["h1_missing"].priority
        'high'
        """
        return tuple(
            replace(
                rule,
                priority=self.priorities.get(name, rule.priority),
                threshold=self.thresholds.get(name, rule.threshold),
            )
            for name, rule in RULES.items()
            if name not in self.off
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the profile as data that JSON can hold.

        Examples
        --------
        >>> Profile("plain").as_dict()
        {'name': 'plain', 'off': [], 'priorities': {}, 'thresholds': {}}
        """
        return {
            "name": self.name,
            "off": sorted(self.off),
            "priorities": dict(self.priorities),
            "thresholds": dict(self.thresholds),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Profile:
        """Return the profile that `as_dict` described; raises `ParameterError` for anything else."""
        parts = {name: data[name] for name in PARTS if name in data}
        return _changed(cls(str(data.get("name", ""))), parts, "profile")


_READ = tomllib.loads((Path(__file__).parent / "data" / "profiles.toml").read_text("utf-8"))

PROFILES: dict[str, Profile] = {DEFAULT_PROFILE: Profile(DEFAULT_PROFILE)} | {
    name: Profile(name, **{**parts, "off": frozenset(parts.get("off", ()))}) for name, parts in _READ.items()
}
"""The profiles that come with the package, by name."""


def resolve_profile(
    profile: str | os.PathLike[str] | Profile | None = None,
    thresholds: Mapping[str, float] | str | os.PathLike[str] | None = None,
) -> Profile:
    """Return a profile with the user's changes; raises `ParameterError`, naming the nearest known name.

    Examples
    --------
    >>> chosen = resolve_profile("strict", {"title_too_long": 600})
    >>> chosen.thresholds["title_too_long"], chosen.thresholds["content_low"]
    (600.0, 300)
    >>> resolve_profile(thresholds={"title_to_long": 600})
    Traceback (most recent call last):
    webanalytics.errors.ParameterError: The `thresholds` parameter names no known rule with `title_to_long`; \
did you mean `title_too_long`?
    """
    chosen = _base(DEFAULT_PROFILE if profile is None else profile)
    if thresholds is None:
        return chosen
    if isinstance(thresholds, Mapping):
        return _changed(chosen, {"thresholds": thresholds}, "thresholds")
    return _changed(chosen, _read(thresholds, "thresholds"), "thresholds")


def _base(profile: str | os.PathLike[str] | Profile) -> Profile:
    if isinstance(profile, Profile):
        return Profile.from_dict(without(profile, REMOVED).as_dict())
    if isinstance(profile, os.PathLike) or (isinstance(profile, str) and profile.endswith(".toml")):
        changes = _read(profile, "profile")
        base = changes.pop("profile", DEFAULT_PROFILE)
        return replace(_changed(_known_profile(base), changes, "profile"), name=Path(profile).stem)
    return _known_profile(profile)


def without(profile: Profile, names: Set[str]) -> Profile:
    """Return a profile that was checked earlier without some rules, which have been removed since."""
    return replace(
        profile,
        off=profile.off - names,
        priorities={name: value for name, value in profile.priorities.items() if name not in names},
        thresholds={name: value for name, value in profile.thresholds.items() if name not in names},
    )


def _known_profile(name: object) -> Profile:
    if not isinstance(name, str):
        raise ParameterError.one_of("profile", PROFILES)
    _check_name(name, PROFILES, "profile", "profile")
    return PROFILES[name]


def _changed(profile: Profile, changes: Mapping[str, Any], parameter: str) -> Profile:
    """Return the profile with other thresholds, priorities and rules turned off."""
    for part in changes:
        _check_name(part, PARTS, parameter, "table")
    thresholds, priorities = (
        _table(changes.get(part, _NOTHING), part, parameter) for part in ("thresholds", "priorities")
    )
    return replace(
        profile,
        off=profile.off | frozenset(_off(changes.get("off", ()), parameter)),
        priorities={
            **profile.priorities,
            **{name: _priority(name, priorities[name], parameter) for name in priorities},
        },
        thresholds={
            **profile.thresholds,
            **{name: _threshold(name, thresholds[name], parameter) for name in thresholds},
        },
    )


def _table(table: object, part: str, parameter: str) -> Mapping[str, Any]:
    if not isinstance(table, Mapping):
        raise ParameterError(f"The `{part}` of a profile must be a table of rules.", parameter)
    for name in table:
        _check_name(name, RULES, parameter, "rule")
    return table


def _off(names: object, parameter: str) -> Iterable[str]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ParameterError("The `off` of a profile must be a list of names of rules.", parameter)
    kept = list(names)
    for name in kept:
        _check_name(name, RULES, parameter, "rule")
    return kept


def _priority(name: str, value: object, parameter: str) -> Priority:
    for priority in PRIORITIES:
        if value == priority:
            return priority
    raise ParameterError.on(
        parameter, f"must have one of these as the priority of `{name}`: {', '.join(PRIORITIES)}"
    )


def _threshold(name: str, value: object, parameter: str) -> float:
    if RULES[name].threshold is None:
        raise ParameterError.on(parameter, f"must leave out `{name}`: the rule has no threshold")
    if hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()  # a NumPy scalar
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise ParameterError.on(parameter, f"must have a number, at least 0, as the threshold of `{name}`")
    if RULES[name].unit == "pixels" and value < FEWEST_PIXELS and name.endswith("_too_long"):
        raise ParameterError.on(
            parameter,
            f"must have a number of pixels, not of characters, as the threshold of `{name}`: 60 characters "
            "take about 560 pixels",
        )
    return float(value)


def _check_name(name: object, known: Iterable[str], parameter: str, kind: str) -> None:
    names = list(known)
    if name in names:
        return
    text = str(name)[:100]
    few = f"; known are: {', '.join(names)}." if len(names) < FEW else "; `webanalytics.rules` lists them."
    hint = did_you_mean(text, names, cutoff=0.4) or few
    raise ParameterError(f"The `{parameter}` parameter names no known {kind} with `{text}`{hint}", parameter)


def _read(path: str | os.PathLike[str], parameter: str) -> dict[str, Any]:
    """Return the content of a TOML file."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_FILE + 1)
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not the name of a file"
        raise ParameterError.on(parameter, f"names a file that cannot be read: {reason}") from error
    if len(content) > MAX_FILE:
        raise ParameterError.on(parameter, "names a file that is too large")
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ParameterError.on(parameter, f"names a file that is not TOML: {error}") from error
