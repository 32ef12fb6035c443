"""The guide and the commands, over the servers of the tests."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from tests.records.hosts.conftest import World
from webanalytics.cli import main

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "certificates.md"


def test_every_snippet_of_the_guide_runs(
    world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    coming = tmp_path / "next.pem"
    coming.write_bytes(world.pki.chains["next"][0].pem)
    code = "\n".join(re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL))
    places = {
        '"example.org:25"': repr(world.at("good.example", "smtp")),
        '"example.org"': repr(world.at("rolling.good.example")),
        '"imap://mail.example.org"': repr(world.at("imap.good.example", "imap")),
        '"127.0.0.1"': f'"127.0.0.1:{world.dns.port}", ca={str(world.pki.ca)!r}',
        "wa.certificates([": f'wa.certificates(resolver="127.0.0.1:{world.dns.port}", hosts=[',
        '"next.pem"': repr(str(coming)),
    }
    for written, here in places.items():
        assert written in code
        code = code.replace(written, here)
    names: dict[str, object] = {}
    with wa.option_context(allow_private=True):
        exec(code, names)
    shown, found = names["shown"], names["found"]
    assert isinstance(shown, pd.DataFrame)
    assert isinstance(found, pd.DataFrame)
    assert shown["server"].tolist() == [
        "rolling.good.example",
        "imap.good.example",
        "m1.good.example",
        "m2.good.example",
    ]
    assert found["verdict"].tolist() == ["match", "mismatch"]
    assert capsys.readouterr().out.startswith("_25._tcp.mail.example.org. 3600 IN TLSA 3 1 1 ")


def test_the_guide_names_every_verdict_and_fault() -> None:
    text = GUIDE.read_text("utf-8")
    said = (wa.live_tlsa.__doc__ or "") + (wa.certificates.__doc__ or "")
    for word in re.findall(
        r'"((?:no (?!host)|un|mis|in|bo|match|expired|not|self|name|inc)[a-z -]*)"', re.sub(r"\s+", " ", said)
    ):
        assert f"`{word}`" in text, word


def test_the_commands(world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    common = [
        "--resolver",
        f"127.0.0.1:{world.dns.port}",
        "--ca",
        str(world.pki.ca),
        "--allow-private",
        "-f",
        "csv",
    ]
    assert main(["live-tlsa", world.at("rolling.good.example"), *common]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=False))["verdict"] == "match"
    table = tmp_path / "hosts.csv"
    table.write_text(f"host\n{world.at('none.good.example')}\nno host\n")
    made = tmp_path / "made.parquet"
    assert main(["certificates", "--input", str(table), *common[:-2], "-o", str(made)]) == 1
    assert pd.read_parquet(made)["status"].tolist() == ["ok", "error"]
    assert main(["certificates", "a.example", "--resolver", "nobody"]) == 2
    assert "The `resolver` parameter must be the address of a resolver" in capsys.readouterr().err
