"""Folders of checkpoints: whose they are, what is in them, and what comes of hostile ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import webanalytics as wa
from tests.runs.hosted.running import HMAC, Account, parts, picture, watched
from tests.service.live import Server
from webanalytics.core.outcomes import digest
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import SiteServer
from webanalytics.runs.storage import journal
from webanalytics.runs.storage.checkpoint import PART
from webanalytics.runs.storage.store import Store

SECRET = "a secret that nobody may read"
MESSAGE = "a message that nobody may read"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def made(folder: Path) -> Path:
    """A checkpoint of two messages."""
    wa.hmac([MESSAGE, "b"], secret=SECRET, store=folder)
    return folder


def again(folder: Path, messages: Any = (MESSAGE, "b"), **more: Any) -> Any:
    return wa.hmac(list(messages), **{"secret": SECRET, "store": folder} | more)


def refused(call: Callable[[], Any]) -> str:
    """Return why a call is refused; nothing else may come of it."""
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.parameter == "store"
    assert SECRET not in str(caught.value)
    return str(caught.value)


def test_another_operation_is_refused(made: Path) -> None:
    assert "'hmac', and this call has 'dane'" in refused(lambda: wa.dane(["x"], store=made))
    assert "this call has 'audit'" in refused(lambda: wa.audit([], store=made))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"algorithm": "sha512"}, "`algorithm`"),
        ({"encoding": "base64"}, "`encoding`"),
        ({"secret": "other-one"}, "`secret`"),
    ],
)
def test_other_parameters_are_refused_by_name(made: Path, change: dict[str, str], name: str) -> None:
    sentence = refused(lambda: again(made, **change))
    assert sentence == f"The `store` parameter must be a folder of this same call: {name} had another value."


def test_several_other_parameters_are_all_named(folder: Path) -> None:
    wa.convert([picture(1)], "webp", store=folder)
    sentence = refused(lambda: wa.convert([picture(1)], "png", max_width=7, quality=3, store=folder))
    assert "`output_format`, `quality`, `max_width` had" in sentence


def test_another_backend_is_refused(
    made: Path, hosted: Callable[..., wa.Hosted], server: Server, pro: str, folder: Path, tmp_path: Path
) -> None:
    assert "backend 'local'" in refused(lambda: again(made, backend=hosted()))
    HMAC(["a"], backend=hosted(), store=tmp_path / "hosted")
    sentence = refused(lambda: HMAC(["a"], backend=wa.Hosted(server.base, pro), store=tmp_path / "hosted"))
    assert server.base in sentence
    assert pro not in sentence


def test_another_key_of_the_same_service_is_not_refused(server: Server, folder: Path) -> None:
    keys = [server.key(), server.key()]
    frames = [HMAC(["a"], backend=wa.Hosted(server.base, key), store=folder) for key in keys]
    assert frames[1].attrs["credits"]["used"] == 0


def test_another_folder_of_files_is_refused(folder: Path, tmp_path: Path) -> None:
    wa.convert([picture(1)], "webp", save_to=tmp_path / "a", store=folder)
    assert "`save_to` had another value" in refused(
        lambda: wa.convert([picture(1)], "webp", save_to=tmp_path / "b", store=folder)
    )
    assert "`save_to` had another value" in refused(lambda: wa.convert([picture(1)], "webp", store=folder))


def test_a_folder_that_another_user_has_made_is_refused_unless_asked(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: (made / "run.json").stat().st_uid + 1)
    why = refused(lambda: again(made))
    assert "of your own: another user has made this one, which WEBANALYTICS_FOREIGN_STORE=1 allows" in why
    monkeypatch.setenv("WEBANALYTICS_FOREIGN_STORE", "1")
    assert again(made)["error"].isna().all()
    monkeypatch.setenv("WEBANALYTICS_FOREIGN_STORE", "")
    empty = made.parent / "empty"
    empty.mkdir()
    assert again(empty)["error"].isna().all(), "nothing of anybody is in it"


def test_a_strangers_folder_is_refused_and_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    assert "is empty, or that the same call has made" in refused(lambda: again(folder))
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"null", b"[]", b"7", b"\xff\xfe", b"{}", b'{"call": [], "salt": "00", "identity": "x", "format": 2}',
        b'{"call": {}, "salt": "zz", "identity": "x", "format": 2}', b'{"call": {}, "salt": 5, "identity": "x", "format": 2}',
        b'{"call": {}, "salt": "00", "identity": 5, "format": 2}', b'{"call": {}, "salt": "00", "identity": "x", "format": 1}',
        b"[" * 100_000, b"1" * 10_000,
    ],
)  # fmt: skip
def test_an_unreadable_manifest_is_refused(made: Path, content: bytes) -> None:
    (made / "run.json").write_bytes(content)
    assert "whose run.json can be read" in refused(lambda: again(made))


@pytest.mark.parametrize("call", [{"operation": 7}, {"operation": "hmac", "backend": "local"},
    {"operation": "hmac", "backend": "local", "parameters": 7},
    {"operation": "hmac", "backend": "local", "parameters": {"hmac": [1]}, "extra": None},
    {"operation": "hmac", "backend": "local", "parameters": {"hmac": {"secret": {"scrypt": 3}}}}])  # fmt: skip
def test_a_manifest_of_another_form_is_refused(made: Path, call: Any) -> None:
    path = made / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"call": call}))
    refused(lambda: again(made))


def test_a_torn_part_is_refused_by_name_and_can_be_taken_away(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again(made, [MESSAGE, "b", "c"])
    _, second = parts(made)
    second.write_bytes(second.read_bytes()[:-30])
    assert f"{second.name} cannot; without it its rows are done again" in refused(lambda: again(made))
    second.unlink()
    with watched(monkeypatch) as watch:
        assert (again(made, [MESSAGE, "b", "c"])["status"] == "ok").all()
    assert watch.subjects == ["c"]


def _part(folder: Path, **columns: Any) -> str:
    """Write a part with one row for MESSAGE, its columns as they are unless given, and return its name."""
    row: dict[str, Any] = {
        "key": digest(MESSAGE), "operation": "hmac", "status": "ok", "error": None, "error_type": None, "error_key": None,
        "data": '{"hmac": "odd", "algorithm": "sha256", "encoding": "hex"}', "blob_field": None, "fetched": None, "blob": None,
    } | columns  # fmt: skip
    types = {"blob": pa.large_binary()}
    schema = pa.schema([(name, types.get(name, pa.large_string())) for name in row])
    table = pa.table({name: [value] for name, value in row.items()}, schema=schema)
    return Store(folder, "run.json", PART).write_part("part-000009", table)


def test_a_crafted_part_may_say_odd_things(made: Path) -> None:
    _part(made)
    assert again(made)["hmac"].iloc[0] == "odd"


@pytest.mark.parametrize("data", [{"path": 5}, {"path": "/etc/passwd"}, {"path": "../x"}, {"path": "a\0b"}])
def test_a_crafted_path_is_never_opened(folder: Path, tmp_path: Path, data: dict[str, Any]) -> None:
    out = tmp_path / "out"
    wa.convert([picture(1)], "webp", save_to=out, store=folder)
    _part(folder, key=digest(picture(1)), operation="convert", data=json.dumps(data))
    try:
        got = wa.convert([picture(1)], "webp", save_to=out, store=folder)
    except ParameterError:
        return
    assert Path(got.loc[0, "path"]).parent == out


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a privilege there")
@pytest.mark.parametrize("pattern", [".lock", "part-*.parquet"])
def test_links_in_the_folder_are_not_followed(made: Path, tmp_path: Path, pattern: str) -> None:
    target = tmp_path / "precious"
    target.write_bytes(b"precious")
    (link,) = made.glob(pattern)
    link.unlink()
    link.symlink_to(target)
    refused(lambda: again(made))
    assert target.read_bytes() == b"precious"


def test_a_link_in_the_place_of_a_temporary_file_is_not_followed(made: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_bytes(b"precious")
    (made / f".part-000002-{os.getpid()}.tmp").symlink_to(target)
    again(made, ["new"])
    assert target.read_bytes() == b"precious"


HOLDER = """
import sys, time
from webanalytics.runs.backends.base import RunSpec
from webanalytics.runs.storage.checkpoint import Checkpoint
from webanalytics.operations import HMAC
from webanalytics.core.operations.secret import Secret
spec = RunSpec(("hmac",), {"hmac": HMAC.check_settings({"secret": sys.argv[2]})})
store = Checkpoint(sys.argv[1], spec, "local", {})
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")
def test_a_folder_in_use_is_refused_until_its_user_is_gone(made: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(HOLDER), str(made), SECRET]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        assert "that no other run is using" in refused(lambda: again(made))
        process.kill()
    assert (again(made)["status"] == "ok").all()


def test_a_file_is_no_folder(folder: Path) -> None:
    folder.write_text("x")
    assert "File exists" in refused(lambda: again(folder))
    assert "Not a directory" in refused(lambda: again(folder / "below"))


def test_a_path_that_no_file_can_have_is_refused() -> None:
    refused(lambda: again(Path("a\0b")))


def test_a_folder_that_is_read_only_is_refused(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made.chmod(0o555)
    real = os.open

    def as_a_user(path: Any, flags: int, *more: Any, **named: Any) -> int:  # root may write everywhere
        if flags & os.O_CREAT and Path(path).parent == made:
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *more, **named)

    if os.access(made, os.W_OK):
        monkeypatch.setattr(os, "open", as_a_user)
    try:
        assert "can be written to: Permission denied" in refused(lambda: again(made))
    finally:
        made.chmod(0o755)


def test_a_refused_call_leaves_the_rows_of_the_last_interrupted_one(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def boom(groups: int) -> None:
        raise RuntimeError

    with watched(monkeypatch) as watch:
        watch.after = boom
        with pytest.raises(RuntimeError):
            wa.hmac(["kept"], secret="k")
    before = wa.last_partial()
    refused(lambda: again(made, secret="other"))
    assert wa.last_partial() is before


def test_no_secret_message_or_key_is_in_any_file(folder: Path, server: Server, tmp_path: Path) -> None:
    account = Account.new(server)
    again(folder)
    again(tmp_path / "hosted", backend=wa.Hosted(server.base, account.key))
    files = [path for path in (*folder.rglob("*"), *(tmp_path / "hosted").rglob("*")) if path.is_file()]
    assert len(files) >= 4
    for path in files:
        content = path.read_bytes()
        for word in (SECRET, MESSAGE, account.key):
            assert word.encode() not in content
            assert word.encode().hex().encode() not in content
    kept = json.loads((folder / "run.json").read_text())["call"]["parameters"]["hmac"]
    assert kept.keys() == {"secret", "algorithm", "encoding"}
    assert list(kept["secret"]) == ["scrypt"]
    other = json.loads((tmp_path / "hosted" / "run.json").read_text())["call"]["parameters"]["hmac"]
    assert other["secret"] != kept["secret"]  # each folder has its own salt


def test_the_fingerprint_is_scrypt(made: Path) -> None:
    """Computed with another implementation (the cryptography package)."""
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    kept = json.loads((made / "run.json").read_text())
    derived = Scrypt(bytes.fromhex(kept["salt"]), 64, 2**14, 8, 1).derive(SECRET.encode())
    assert kept["call"]["parameters"]["hmac"]["secret"]["scrypt"] == derived.hex()


def test_pyarrow_is_asked_for_where_it_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(wa.errors.MissingExtraError, match="parquet"):
        again(folder)


def test_what_is_no_copy_of_a_robots_txt_is_left_out(tmp_path: Path) -> None:
    """A line that a killed run has cut off, and lines that somebody has changed."""
    page = {"/1": b"<title>One</title>", "/robots.txt": b"User-agent: *\nDisallow: /2\n"}
    options: dict[str, Any] = {"allow_private": True, "progress": False, "store": tmp_path / "kept"}
    with SiteServer(page) as site:
        wa.audit([f"{site.url}/1"], **options)
        log = tmp_path / "kept" / journal.ROBOTS_FILE
        whole = log.read_bytes()
        log.write_bytes(
            b'[]\n{"origin": 5}\n{"origin": "https://a.example", "text": 1}\nnonsense\n' + whole + whole[:40]
        )
        again = wa.audit([f"{site.url}/1"], **options)
    assert again.origin.robots_files.keys() == {site.url}
    assert again.origin.robots_files[site.url].text == "User-agent: *\nDisallow: /2\n"
