"""Profiles: which rules apply, with which priorities and limits, and what is said of wrong ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from webanalytics.audits.profiles import PROFILES, Profile, resolve_profile
from webanalytics.audits.rules import RULES
from webanalytics.audits.rules.base import Rule
from webanalytics.errors import ParameterError


def by_name(profile: Profile) -> dict[str, Rule]:
    return {rule.name: rule for rule in profile.rules()}


def test_the_default_applies_every_rule_as_it_is_declared() -> None:
    assert resolve_profile().rules() == tuple(RULES.values())
    assert resolve_profile() == PROFILES["desktop_crawler"]


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_profiles_name_known_rules_and_change_something(name: str) -> None:
    profile = PROFILES[name]
    assert Profile.from_dict(profile.as_dict()) == profile
    for rule, priority in profile.priorities.items():
        assert RULES[rule].priority != priority
        assert rule not in profile.off
    for rule, threshold in profile.thresholds.items():
        assert RULES[rule].threshold != threshold


def test_profiles_differ_in_rules_priorities_and_thresholds() -> None:
    strict, news = by_name(resolve_profile("strict")), by_name(resolve_profile("news"))
    assert list(strict) == list(RULES)
    assert (strict["h1_missing"].priority, strict["content_low"].threshold) == ("high", 300)
    assert "h2_multiple" not in news
    assert (news["open_graph_image_missing"].priority, news["content_low"].threshold) == ("high", 80)


def test_one_threshold_is_changed_and_the_others_stay() -> None:
    rules = by_name(resolve_profile("strict", {"title_too_long": 600, "slow_response": np.float64(0.75)}))
    assert rules["title_too_long"].threshold == 600
    assert rules["slow_response"].threshold == 0.75
    assert rules["content_low"].threshold == 300
    assert RULES["title_too_long"].threshold == 561


FILE = """
off = ["h2_multiple", "lorem_ipsum"]

[thresholds]
title_too_long = 600
slow_response = 2.5

[priorities]
description_missing = "high"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "house.toml"
    path.write_text(FILE, "utf-8")
    return path


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_is_read_as_thresholds_and_as_a_profile(file: Path, kind: Any) -> None:
    limits = resolve_profile("news", kind(file))
    assert limits.name == "news"
    profile = resolve_profile(kind(file))
    assert profile.name == "house"
    for chosen in (limits, profile):
        rules = by_name(chosen)
        assert not {"h2_multiple", "lorem_ipsum"} & set(rules)
        assert (rules["title_too_long"].threshold, rules["slow_response"].threshold) == (600, 2.5)
        assert rules["description_missing"].priority == "high"
    assert "h2_missing" in by_name(profile)
    assert "h2_missing" not in by_name(limits)


def test_a_profile_of_ones_own_starts_from_the_one_it_names(file: Path) -> None:
    file.write_text('profile = "strict"\n' + FILE, "utf-8")
    rules = by_name(resolve_profile(file, {"title_too_long": 700}))
    assert (rules["h1_missing"].priority, rules["title_too_long"].threshold) == ("high", 700)
    with pytest.raises(ParameterError, match="no known table with `profile`"):
        resolve_profile(thresholds=file)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("strickt",), "no known profile with `strickt`; did you mean `strict`"),
        ((7,), "The `profile` parameter must be one of: desktop_crawler, strict, news."),
        (
            ("news", {"title_to_long": 65}),
            "no known rule with `title_to_long`; did you mean `title_too_long`",
        ),
        (("news", {7: 65}), "no known rule with `7`; `webanalytics.rules` lists them."),
        (("zzz",), "no known profile with `zzz`; known are: desktop_crawler, strict, news."),
        (("news", {"x" * 500: 65}), "no known rule with `x{100}`"),
        (("news", {"title_missing": 1}), "must leave out `title_missing`: the rule has no threshold."),
        (
            ("news", {"title_too_long": "65"}),
            "must have a number, at least 0, as the threshold of `title_too_long`",
        ),
        (
            ("news", {"title_too_long": True}),
            "parameter must have a number, at least 0, as the threshold of `title_too_long`",
        ),
        (
            ("news", {"title_too_long": 65}),
            "a number of pixels, not of characters, as the threshold of `title_too_long`",
        ),
        (
            ("news", {"title_too_long": None}),
            "parameter must have a number, at least 0, as the threshold of `title_too_long`",
        ),
        (
            ("news", {"title_too_long": -1}),
            "parameter must have a number, at least 0, as the threshold of `title_too_long`",
        ),
        (
            ("news", {"title_too_long": float("nan")}),
            "parameter must have a number, at least 0, as the threshold of `title_too_long`",
        ),
        (
            ("news", {"title_too_long": np.bool_(True)}),
            "parameter must have a number, at least 0, as the threshold of `title_too_long`",
        ),
        (("news", 65), "`thresholds` parameter names a file that cannot be read"),
        (("no/such.toml",), "`profile` parameter names a file that cannot be read: No such file"),
        (("news", "\0"), "`thresholds` parameter names a file that cannot be read"),
    ],
)
def test_wrong_choices_are_named_with_the_nearest_right_one(
    arguments: tuple[Any, ...], sentence: str
) -> None:
    with pytest.raises(ParameterError, match=sentence):
        resolve_profile(*arguments)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[thresholds", "is not TOML"),
        ("\udcff", "is not TOML"),
        ("treshold = 1", "no known table with `treshold`; did you mean `thresholds`"),
        ("thresholds = 1", "The `thresholds` of a profile must be a table of rules"),
        ("[thresholds]\ntitle_long = 1", "did you mean `title_too_long`"),
        ("[thresholds]\ntitle_too_long = 2024-01-01", "must have a number, at least 0"),
        (
            '[priorities]\nh1_missing = "urgent"',
            "one of these as the priority of `h1_missing`: high, medium, low",
        ),
        ('[priorities]\nh1_mising = "low"', "did you mean `h1_missing`"),
        ("[priorities]\nh1_missing = []", "one of these as the priority of `h1_missing`"),
        ('off = "h1_missing"', "The `off` of a profile must be a list"),
        ("off = 3", "The `off` of a profile must be a list"),
        ('off = ["h1_mising"]', "did you mean `h1_missing`"),
        ("off = [[]]", "no known rule"),
        ("a = " + "[" * 100_000, "is not TOML"),
        ("#" * 1_000_001, "is too large"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "house.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    for arguments in ((path,), ("strict", path)):
        with pytest.raises(ParameterError, match=sentence):
            resolve_profile(*arguments)


def test_a_profile_goes_through_json() -> None:
    profile = resolve_profile("news", {"title_too_long": 600})
    assert Profile.from_dict(json.loads(json.dumps(profile.as_dict()))) == profile
    assert resolve_profile(profile) == profile
    with pytest.raises(ParameterError, match="did you mean `h1_missing`"):
        resolve_profile(Profile("own", off=frozenset(["h1_mising"])))
