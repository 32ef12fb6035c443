"""``--access FILE``: what opens hosts comes from a file, and no sentence has a value of it."""

from __future__ import annotations

import os
from base64 import b64decode
from pathlib import Path

import pytest

from webanalytics.cli import main
from webanalytics.cli.access_files import read_access, read_proxy
from webanalytics.fetching.testing import SiteServer


def test_a_file_opens_its_hosts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "access.toml"
    with SiteServer({"/": b"<title>Tea</title>"}) as site:
        host = site.url.removeprefix("http://")
        file.write_text(f'["{host}"]\ntoken = "t0ken-abc"\nheaders = {{ X-Key = "he4der" }}\n')
        assert main(["metadata", site.url, "--access", str(file), "--allow-private"]) == 0
    assert {request.headers.get("authorization") for request in site.requests} == {"Bearer t0ken-abc"}
    assert {request.headers.get("x-key") for request in site.requests} == {"he4der"}
    said = capsys.readouterr()
    assert "t0ken" not in said.out + said.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "must be a TOML file that can be read"),
        ("[a]\npassword = s3cret-word", "must be a TOML file that can be read"),
        ('["a.example"]\npasword = "s3cret-word"', "with: user, password, digest, token, headers, cookies,"),
        ('["a.example"]\npassword = "s3cret-word"', "a.example: The `user` parameter is required"),
        ('["a.example/x"]\ntoken = "s3cret-word"', "must have keys such as example.org"),
    ],
)
def test_wrong_files(text: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "access.toml"
    if text is not None:
        file.write_text(text)
    try:
        status = main(["metadata", "https://a.example/", "--access", str(file)])
    except SystemExit as ended:
        status = int(str(ended.code))
    shown = capsys.readouterr().err
    assert status == 2
    assert said in " ".join(shown.split())
    assert "s3cret" not in shown


def test_a_proxy_takes_its_password_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBANALYTICS_PROXY_PASSWORD", "pr0xy:w@rd")
    found = read_proxy("http://ann@proxy.example:3128")
    assert repr(found) == "Proxy('http://proxy.example:3128')"
    way = None if found is None else found.way("https", "a.example", 443)
    assert way is not None
    assert b64decode(way.headers["Proxy-Authorization"].removeprefix("Basic ")) == b"ann:pr0xy:w@rd"


@pytest.mark.parametrize(
    "text", ["http://ann:s3cret-word@proxy:1", "ann:s3cret-word@proxy:1", "ftp://s3cret-word"]
)
def test_a_password_is_no_argument(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["metadata", "https://a.example/", "--proxy", text])
    assert "s3cret" not in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
def test_a_file_that_others_may_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "access.toml"
    file.write_text('["a.example"]\nuser = "ann"\npassword = "p4ss"\n')
    told = f"webanalytics: others on this machine may read {file}: chmod 600 keeps it to you\n"
    for mode, said in ((0o644, told), (0o600, "")):
        file.chmod(mode)
        assert list(read_access(str(file))) == ["a.example"]
        assert capsys.readouterr().err == said
