"""Settings: where they come from, which wins, and what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.errors import ParameterError
from webanalytics.operations import OPERATIONS
from webanalytics.service.configuration import (
    flag,
    misspelt_variables,
    operation_name,
    read_settings,
    settings_table,
    variable,
)
from webanalytics.service.settings import PLANS, RECORDS, Plan, ServiceSettings, mask, mask_all


def write(folder: Path, text: str) -> Path:
    file = folder / "service.toml"
    file.write_text(text)
    return file


def test_defaults_stand_where_nothing_is_given() -> None:
    settings = read_settings({}, {})
    assert settings.values == {key: record.default for key, record in RECORDS.items()}
    assert settings.plans == PLANS
    assert settings.credits == {}


def test_every_default_is_a_value_that_its_setting_takes() -> None:
    for record in RECORDS.values():
        assert record.check(record.default) == record.default


def test_options_win_over_the_environment_and_it_over_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, "port = 1\nworkers = 1\nqueue = 1\n")
    settings = read_settings(
        {"port": "3", "workers": None}, {"WEBANALYTICS_PORT": "2", "WEBANALYTICS_WORKERS": "2"}, file
    )
    assert (settings.port, settings.workers, settings.queue) == (3, 2, 1)


def test_the_environment_may_name_the_file_and_an_option_another(tmp_path: Path) -> None:
    file = write(tmp_path, "port = 1\n")
    other = tmp_path / "other.toml"
    other.write_text("port = 2\n")
    environment = {"WEBANALYTICS_CONFIG": str(file)}
    assert read_settings({}, environment).port == 1
    assert read_settings({}, environment, other).port == 2


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("port", "9000", 9000),
        ("workers", "", None),
        ("workers", "4", 4),
        ("allow_private", "yes", True),
        ("robots", "0", False),
        ("read_timeout", "2.5", 2.5),
        ("read_timeout", "2", 2.0),
        ("ports", "80, 443,", (80, 443)),
        ("trusted_proxies", "10.0.0.0/8,2001:db8::1", ("10.0.0.0/8", "2001:db8::1")),
        ("trusted_proxies", "", ()),
        ("notices", "50", (50,)),
        ("images", "", ""),
        ("images", "s3://bucket/folder", "s3://bucket/folder"),
    ],
)
def test_texts_are_read_as_the_setting_s_kind(key: str, text: str, value: Any) -> None:
    for settings in (read_settings({key: text}, {}), read_settings({}, {variable(key): text})):
        found = getattr(settings, key)
        assert found == value
        assert type(found) is type(value)


WRONG: list[tuple[str, str]] = [
    ("port", "65536"),
    ("port", "-1"),
    ("port", "80.5"),
    ("port", "eighty"),
    ("port", ""),
    ("port", "tcp://10.0.0.1:80"),
    ("workers", "0"),
    ("allow_private", "maybe"),
    ("read_timeout", "nan"),
    ("read_timeout", "inf"),
    ("read_timeout", "0"),
    ("ports", "80,http"),
    ("ports", "0"),
    ("trusted_proxies", "10.0.0.1/8"),
    ("trusted_proxies", "proxy"),
    ("database", "mysql://user:hunter2@host/name"),
    ("database", "sqlite://"),
    ("rate_limit_storage", "hunter2"),
    ("notice_webhook", "ftp://hunter2"),
    ("base_url", "https://host/?a=1"),
    ("log_level", "loud"),
    ("user_agent", "a\nb"),
    ("user_agent", ""),
    ("host", ""),
    ("images", "x" * 3000),
    ("notices", "80,101"),
]


@pytest.mark.parametrize(("key", "text"), WRONG)
def test_a_wrong_value_is_one_sentence_with_its_place_and_without_itself(key: str, text: str) -> None:
    for given_by, arguments in (
        (f"given by {flag(key)}", ({key: text}, {})),
        (f"given by {variable(key)}", ({}, {variable(key): text})),
    ):
        with pytest.raises(ParameterError) as raised:
            read_settings(*arguments)
        sentence = str(raised.value)
        assert sentence.startswith(f"The `{key}` parameter must be ")
        assert sentence.endswith(f"({given_by}).")
        assert "hunter2" not in sentence
        assert raised.value.parameter == key
        assert raised.value.__cause__ is None
        assert raised.value.__context__ is None


FILES = {
    "port = '80'": "The `port` parameter must be an integer from 0 to 65535 (given in service.toml).",
    "port = 80.0": "The `port` parameter must be an integer from 0 to 65535 (given in service.toml).",
    "port = true": "The `port` parameter must be an integer from 0 to 65535 (given in service.toml).",
    "allow_private = 1": "The `allow_private` parameter must be true or false (given in service.toml).",
    "ports = [80, '443']": "The `ports` parameter must be a list of integers from 1 to 65535 (given in service.toml).",
    "prot = 80": "The `prot` parameter (given in service.toml) does not exist; the settings are: ",
    "[server]\nport = 80": "The `server` parameter (given in service.toml) does not exist; the settings are: ",
    "port = 1\nqueue == 2": "The `config` parameter must be a TOML file; service.toml is not (at line 2, column 8).",
    "port = 'hunter2": "The `config` parameter must be a TOML file; service.toml is not (",
    "plans = 1": "The `plans` parameter must be a table (given in service.toml).",
    "[plans]\nfree = 1": "The `plans.free` parameter must be a table (given in service.toml).",
    "[plans.free]\nupload = 1": "The `plans.free.upload` parameter (given in service.toml) does not exist; "
    "the fields of a plan are: monthly_credits, bonus_credits, premium, requests_a_minute, upload_bytes.",
    "[plans.free]\npremium = 1": "The `plans.free.premium` parameter must be true or false (given in service.toml).",
    "[plans.free]\nmonthly_credits = -1": "The `plans.free.monthly_credits` parameter must be an integer from 0 to ",
    "[plans.new]\npremium = true": "The `plans.new.monthly_credits` parameter is required for a new plan (in service.toml).",
    "[plans.'A b']": "The `plans` parameter must be tables named with small letters and digits (given in service.toml).",
    "[credits]\nhmac = 0": "The `credits.hmac` parameter must be an integer from 1 to 1000000 (given in service.toml).",
    "[credits]\nnone = 1": "The `credits` parameter must be one of: " + ", ".join(OPERATIONS) + ".",
}


@pytest.mark.parametrize("text", FILES)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(ParameterError) as raised:
        read_settings({}, {}, write(tmp_path, text))
    assert str(raised.value).startswith(FILES[text])
    assert "hunter2" not in str(raised.value)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"host = '\xe9'")
    for name in ("none.toml", "latin.toml", "."):
        with pytest.raises(ParameterError, match="The `config` parameter must be a UTF-8 file"):
            read_settings({}, {}, tmp_path / name)


def test_plans_and_prices_come_from_the_file(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        [plans.free]
        monthly_credits = 7
        requests_a_minute = 0

        [plans.school]
        monthly_credits = 1
        bonus_credits = 2
        premium = true
        requests_a_minute = 3
        upload_bytes = 4

        [credits]
        keywordextractor = 8
        hmac = 1
        """,
    )
    settings = read_settings({}, {}, file)
    assert settings.plans["free"] == Plan("free", 7, 500, False, None, 10_000_000)
    assert settings.plans["school"] == Plan("school", 1, 2, True, 3, 4)
    assert settings.plans["pro"] == PLANS["pro"]
    assert settings.credits == {"keywords": 8, "hmac": 1}
    assert PLANS["free"].monthly_credits == 1000, "the shipped plans stay as they are"


def test_unknown_options_are_refused_with_the_list() -> None:
    with pytest.raises(
        ParameterError, match=r"The `prot` parameter does not exist; the settings are: allow_private, "
    ):
        read_settings({"prot": "1"}, {})
    with pytest.raises(ParameterError, match="`prot`"):
        ServiceSettings({"prot": 1})


def test_misspelt_variables_are_reported_and_others_left_alone() -> None:
    environment = {
        "WEBANALYTICS_ALOW_PRIVATE": "1",
        "WEBANALYTICS_SECRET": "x",
        "WEBANALYTICS_SERVICE_HOST": "10.0.0.1",  # as Kubernetes names the variables of a service
        "WEBANALYTICS_PORT_8080_TCP": "tcp://10.0.0.1:8080",
        "PORT": "1",
    }
    assert misspelt_variables(environment) == {"WEBANALYTICS_ALOW_PRIVATE": "WEBANALYTICS_ALLOW_PRIVATE"}


def test_changed_settings_keep_the_others_and_the_plans(tmp_path: Path) -> None:
    file = write(tmp_path, "queue = 7\n[plans.free]\nmonthly_credits = 7\n[credits]\nhmac = 3\n")
    settings = read_settings({}, {}, file)
    changed = settings.replace(port=1)
    assert (changed.port, changed.queue) == (1, 7)
    assert (changed.plans, changed.credits) == (settings.plans, settings.credits)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://shop:hunter2@db/credits", "postgresql://shop:***@db/credits"),
        (
            "postgresql://shop:hunter2@db:5432/credits?sslmode=require",
            "postgresql://shop:***@db:5432/credits?***",
        ),
        ("postgresql://db/credits?password=hunter2", "postgresql://db/credits?***"),
        ("postgresql://shop:hunt/er2@db/credits", "postgresql://***"),
        ("postgresql://shop:hunter2?@db/credits", "postgresql://***"),
        ("redis://:hunter2@cache:6379/0", "redis://:***@cache:6379/0"),
        ("sqlite:///webanalytics.db", "sqlite:///webanalytics.db"),
        ("sqlite:////var/lib/webanalytics.db", "sqlite:////var/lib/webanalytics.db"),
        ("memory://", "memory://"),
        ("/var/lib/images", "/var/lib/images"),
        ("", ""),
    ],
)
def test_passwords_in_urls_are_masked(url: str, shown: str) -> None:
    assert mask(url) == shown


@given(
    st.text(st.characters(exclude_characters="*", exclude_categories=("C", "Z")), min_size=6),
    st.text(st.characters(categories=("Ll", "Nd")), min_size=1),
)
def test_no_password_is_shown_whatever_is_in_it(password: str, user: str) -> None:
    secret = f"\u2603{password}\u2603"  # a mark that nothing else in the URL has
    for url in (f"postgresql://{user}:{secret}@db/name", f"postgresql://{user}@db/name?password={secret}"):
        assert "\u2603" not in mask(url)
        assert "\u2603" not in mask_all(url)
        assert "\u2603" not in repr(ServiceSettings({"images": url}))


def test_settings_show_no_password() -> None:
    given = {
        "database": "postgresql://u:hunter2@h/d",
        "rate_limit_storage": "redis://:hunter2@h/0",
        "notice_webhook": "https://hooks.example/hunter2",
        "images": "ftp://u:hunter2@h/d",
    }
    shown = repr(ServiceSettings(given))
    assert "hunter2" not in shown
    assert "port=" not in shown, "what is as usual is left out"


def test_operations_are_known_by_name_and_path() -> None:
    for operation in OPERATIONS.values():
        assert (
            operation_name(operation.name) == operation_name(f" {operation.path.upper()}") == operation.name
        )
    with pytest.raises(ParameterError) as raised:
        operation_name("hmacs")
    assert str(raised.value) == f"The `operations` parameter must be one of: {', '.join(OPERATIONS)}."


def test_the_table_has_a_row_for_every_setting() -> None:
    rows = settings_table().splitlines()[2:]
    assert len(rows) == len(RECORDS)
    for row, record in zip(rows, RECORDS.values(), strict=True):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[0] == f"`{flag(record.key)}`"
        assert cells[2] == record.meaning
    assert "| `--workers` | one per processor | Worker processes for analysis. |" in rows
