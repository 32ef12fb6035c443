"""``webanalytics serve`` and ``webanalytics keys``, run as a user runs them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import uuid
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.effort import PROCESS_SECONDS
from tests.service.supervised import Serving, start
from webanalytics.cli import main
from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.operations import OPERATIONS
from webanalytics.service.accounts.base import Key
from webanalytics.service.configuration import flag
from webanalytics.service.key_commands import parse_duration, parse_expiry, parse_networks, state, table
from webanalytics.service.settings import RECORDS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEBANALYTICS_DATABASE", f"sqlite:///{tmp_path}/accounts.db")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def keys(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["keys", *arguments]) == 0
    shown = capsys.readouterr()
    return shown.out, shown.err


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    return {row["key"]: row for row in json.loads(keys(capsys, "list", "--format", "json")[0])}


def test_a_new_key_is_all_there_is_on_standard_output(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, told = keys(capsys, "create", "--plan", "pro", "--account", "shop")
    assert uuid.UUID(shown.strip()).version == 4
    assert shown.count("\n") == 1
    assert shown.strip() not in told
    row = listed(capsys)[shown[:8]]
    assert row == {
        "key": shown[:8],
        "account": "shop",
        "plan": "pro",
        "credits": 250_000,
        "operations": "all",
        "ip": "any",
        "expires": "never",
        "state": "active",
        "last_used": "never",
    }
    assert all(shown.strip().encode() not in file.read_bytes() for file in folder.iterdir())


def test_restrictions_are_given_changed_and_lifted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = (
        "--operations",
        "hmac,websitetotext",
        "--ip",
        "10.0.0.0/8,2001:db8::1",
        "--expires",
        "2127-01-31",
    )
    prefix = keys(capsys, "create", *given)[0][:8]
    row = listed(capsys)[prefix]
    assert (row["plan"], row["operations"], row["ip"], row["expires"]) == (
        "free",
        "hmac,text",
        "10.0.0.0/8,2001:db8::1/128",
        "2127-01-31T00:00:00Z",
    )
    keys(capsys, "restrict", prefix, "--operations", "dane")
    row = listed(capsys)[prefix]
    assert (row["operations"], row["ip"]) == ("dane", "10.0.0.0/8,2001:db8::1/128")
    keys(capsys, "restrict", prefix, "--operations", "all", "--ip", "any", "--expires", "never")
    row = listed(capsys)[prefix]
    assert (row["operations"], row["ip"], row["expires"]) == ("all", "any", "never")


def test_the_account_of_a_key_moves_to_another_plan(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys(capsys, "create", "--account", "other")
    first = keys(capsys, "create", "--account", "shop")[0].strip()
    second = keys(capsys, "create", "--account", "shop")[0].strip()
    shown, told = keys(capsys, "plan", second[:8], "starter")
    # free has 1,000 credits and 500 once; starter has 25,000, so 24,000 are added
    assert (shown, told) == ("", "The account shop has the plan starter and 25,500 credits now.\n")
    rows = listed(capsys)
    assert [(rows[key[:8]]["plan"], rows[key[:8]]["credits"]) for key in (first, second)] == [
        ("starter", 25_500)
    ] * 2
    assert [row["plan"] for row in rows.values() if row["account"] == "other"] == ["free"]
    keys(capsys, "plan", first, "free")  # the whole key will do; what was granted stays for this month
    row = listed(capsys)[first[:8]]
    assert (row["plan"], row["credits"]) == ("free", 25_500)


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["rotate", "12345678"],
        ["revoke", "12345678"],
        ["restrict", "12345678", "--ip", "any"],
        ["plan", "12345678", "pro"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_only_create_makes_a_database(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(["keys", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == (
        "webanalytics: The `database` parameter must name a database that exists; "
        f"there is no file {folder}/accounts.db (`webanalytics keys create` makes it).\n"
    )
    assert list(folder.iterdir()) == []


def test_a_rotated_key_can_work_on_for_a_while(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = keys(capsys, "create", "--account", "shop")[0].strip()
    second = keys(capsys, "rotate", first[:8], "--keep", "24h")[0].strip()
    rows = listed(capsys)
    assert str(rows[first[:8]]["state"]).startswith("revoked from 20")
    assert (rows[second[:8]]["state"], rows[second[:8]]["account"]) == ("active", "shop")
    keys(capsys, "rotate", second)  # the whole key will do
    assert listed(capsys)[second[:8]]["state"] == "revoked"
    keys(capsys, "revoke", first[:8])
    assert listed(capsys)[first[:8]]["state"] == "revoked"


def test_the_table_is_aligned_and_has_one_line_a_key(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "a longer name"):
        keys(capsys, "create", "--account", name)
    head, *rows = keys(capsys, "list")[0].splitlines()
    assert head.split("  ")[0] == "key"
    assert len(rows) == 2
    assert {row.index("free") for row in rows} == {head.index("plan")}
    odd = table([dict.fromkeys(listed(capsys)[rows[0][:8]], "a\x1b[31m\nb")])
    assert odd.count("\n") == 2
    assert "\x1b" not in odd


WRONG = [
    (["create", "--plan", "gold"], "The `plan` parameter must be one of: free, starter, pro, mega."),
    (
        ["create", "--operations", "hmacs"],
        f"The `operations` parameter must be one of: {', '.join(OPERATIONS)}.",
    ),
    (["create", "--ip", "10.0.0.1/8"], "The `ip` parameter must be a list of IP addresses or networks"),
    (["create", "--ip", " , "], "The `ip` parameter must be a list of IP addresses or networks"),
    (["create", "--expires", "soon"], "The `expires` parameter must be a duration such as 30d or a date"),
    (["create", "--expires", "2020-01-01"], "The `expires` parameter must lie in the future."),
    (["revoke", "1234567"], "The `prefix` parameter must be the first 8 characters of a key"),
    (["revoke", "12345678"], "parameter must be the first 8 characters of a key"),
    (
        ["restrict", "12345678", "--ip", "any"],
        "The `prefix` parameter must be that of a key; no key begins with 12345678.",
    ),
    (
        ["plan", "12345678", "pro"],
        "The `prefix` parameter must be that of a key; no key begins with 12345678.",
    ),
    (["plan", "1234567", "pro"], "The `prefix` parameter must be the first 8 characters of a key"),
    (["plan", "12345678", "gold"], "The `plan` parameter must be one of: free, starter, pro, mega."),
    (
        ["restrict", "12345678"],
        "The `restrict` parameter must be followed by --operations, --ip or --expires.",
    ),
    (
        ["rotate", "12345678", "--keep", "long"],
        "The `keep` parameter must be a duration such as 90s, 24h or 30d.",
    ),
    (["list", "--database", "mysql://u:hunter2@h/d"], "The `database` parameter must be sqlite:///FILE or "),
    (["list", "--config", "none.toml"], "The `config` parameter must be a UTF-8 file that can be read."),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
def test_a_wrong_call_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    keys(capsys, "create")
    assert main(["keys", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("webanalytics: ")
    assert sentence in shown.err
    assert shown.err.count("\n") == 1
    assert "hunter2" not in shown.err


def test_a_database_that_cannot_be_opened_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keys", "list", "--database", "sqlite:////none/accounts.db"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_store_of_images_that_is_unknown_is_one_sentence(folder: Path) -> None:
    command = ["-m", "webanalytics", "serve", "--port", "0", "--workers", "1"]
    done = start([*command, "--images", "zz://user:hunter2@x"])
    _, told = done.communicate(timeout=PROCESS_SECONDS)
    assert done.returncode == 2
    assert {line for line in told.splitlines() if not line.startswith("{")} == {
        "webanalytics: The `images` parameter must be a folder or URL that fsspec can open; zz is unknown."
    }
    assert "hunter2" not in told
    assert "Traceback" not in told


def test_durations_and_dates() -> None:
    assert [parse_duration(text, "keep") for text in ("90s", "2m", "24h", "30d", "1w")] == [
        90,
        120,
        86_400,
        2_592_000,
        604_800,
    ]
    assert parse_expiry("1970-01-02", 0.0) == 86_400
    assert parse_expiry("1970-01-01T02:00:00+01:00", 0.0) == 3600
    for text in ("", "d", "1.5d", "-1d", "30 d", "9999999d"):
        with pytest.raises(ParameterError, match="`keep`"):
            parse_duration(text, "keep")
    assert [str(network) for network in parse_networks("192.0.2.7, ::1")] == ["192.0.2.7/32", "::1/128"]


@pytest.mark.parametrize(
    ("expires", "revoked", "expected"),
    [
        (None, None, "active"),
        (100.0, None, "expired"),
        (101.0, None, "active"),
        (None, 100.0, "revoked"),
        (50.0, 60.0, "revoked"),
        (None, 160.0, "revoked from 1970-01-01T00:02:40Z"),
    ],
)
def test_states_of_a_key(expires: float | None, revoked: float | None, expected: str) -> None:
    assert state(Key(1, 1, "f47ac10b", "free", expires=expires, revoked=revoked), 100.0) == expected


def test_help_names_every_setting_with_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--help"])
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    for record in RECORDS.values():
        assert flag(record.key) in shown
        assert record.meaning in shown
    for group in {record.group for record in RECORDS.values()}:
        assert f" {group}: --" in shown
    assert "(default: 80, 95)" in shown


def test_the_commands_need_neither_pandas_nor_charts() -> None:
    code = (
        "import sys\n"
        "from webanalytics.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(sorted({'pandas', 'matplotlib', 'numpy', 'ipywidgets'} & set(sys.modules)), file=sys.stderr)\n"
    )
    for arguments in (["serve", "--help"], ["keys", "--help"], ["serve", "--port", "x"]):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
        assert done.stderr.splitlines()[-1] == "[]", arguments


def test_a_missing_extra_is_named_and_keys_in_sqlite_need_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys(capsys, "create")
    code = (
        "import sys\n"
        "for name in ('asyncpg', 'fsspec', 'graphql', 'limits', 'orjson', 'prometheus_client', 'yaml'):\n"
        "    sys.modules[name] = None\n"
        "from webanalytics.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, "keys", "list"], capture_output=True, text=True)
    assert done.returncode == 0
    done = subprocess.run([sys.executable, "-c", code, "serve"], capture_output=True, text=True)
    assert done.returncode == 2
    assert re.fullmatch(
        r'webanalytics: `webanalytics \w+` needs \S+: in the clone, pip install "\.\[service\]"\n',
        done.stderr,
    )
    assert issubclass(MissingExtraError, ImportError)


def test_a_misspelt_variable_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keys(capsys, "create")
    monkeypatch.setenv("WEBANALYTICS_ALOW_PRIVATE", "1")
    assert main(["keys", "list"]) == 0
    assert (
        "WEBANALYTICS_ALOW_PRIVATE is not a setting; WEBANALYTICS_ALLOW_PRIVATE is."
        in capsys.readouterr().err
    )


def ask(server: Serving, key: str) -> dict[str, Any]:
    client = HTTPConnection("127.0.0.1", server.port, timeout=30)
    client.request("GET", "/v1/disposablephone?phone=%2B12085813945", headers={"x-api-key": key})
    found: dict[str, Any] = json.loads(client.getresponse().read())
    client.close()
    return found


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_key_made_while_the_service_runs_works_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, loop: str
) -> None:
    monkeypatch.setenv("WEBANALYTICS_LOOP", loop)
    process = start(["-m", "webanalytics", "serve", "--port", "0", "--workers", "1"])
    try:
        server = Serving(process)
        key = keys(capsys, "create", "--plan", "pro")[0].strip()
        for _ in range(4):
            found = ask(server, key)
            assert found["data"]["isDisposable"] is True
        assert listed(capsys)[key[:8]]["credits"] == 250_000 - 4
        keys(capsys, "revoke", key[:8])
        found = ask(server, key)
        assert found["error"] == "API key has been revoked."
        status, log = server.stop(signal.SIGINT)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    assert status == 0
    assert key not in log
    requests = [json.loads(line) for line in log.splitlines() if '"event":"request"' in line]
    assert [line["status"] for line in requests] == [200, 200, 200, 200, 403]
    assert [line["key"] for line in requests[:4]] == [key[:8]] * 4
