"""Signed requests: against RFC 9421, against another implementation, and by a verifier of the tests' own."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import pickle
import re
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import webanalytics as wa
from webanalytics.cli import main
from webanalytics.core import bot_key
from webanalytics.core.bot_key import signature_base
from webanalytics.fetching.testing import Reply, SiteServer

# RFC 9421, appendix B.1.4: test-key-ed25519, a private key that everybody knows.
RFC_KEY = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----
"""
RFC_PUBLIC = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"


@pytest.fixture
def rfc(tmp_path: Path) -> wa.BotKey:
    (tmp_path / "rfc.pem").write_text(RFC_KEY)
    return wa.BotKey(tmp_path / "rfc.pem", agent="https://signature-agent.test")


def test_appendix_b_2_6_of_the_rfc(rfc: wa.BotKey) -> None:
    said = {
        '"date"': "Tue, 20 Apr 2021 02:07:55 GMT",
        '"@method"': "POST",
        '"@path"': "/foo",
        '"@authority"': "example.com",
        '"content-type"': "application/json",
        '"content-length"': "18",
    }
    covered = f'({" ".join(said)});created=1618884473;keyid="test-key-ed25519"'
    base = signature_base(said, covered)
    assert base.decode().splitlines()[-1] == (
        '"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"'
    )
    assert base64.b64encode(rfc._private.sign(base)).decode() == (
        "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
    )


# Appendix E.2 of draft-ietf-webbotauth-httpsig-protocol-00: a request, and the answer with a directory.
@pytest.mark.parametrize(
    ("said", "parameters", "signature"),
    [
        (
            {
                '"@authority"': "example.com",
                '"signature-agent";key="agent2"': '"https://signature-agent.test"',
            },
            ';created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600'
            ';nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="'
            ';tag="web-bot-auth"',
            "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==",
        ),
        (
            {
                '"@authority";req': "signature-agent.test",
                '"content-digest"': "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:",
            },
            ';created=1735689600;expires=4889289600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"'
            ';tag="http-message-signatures-directory"',
            "l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==",
        ),
    ],
)
def test_appendix_e_2_of_the_draft(
    rfc: wa.BotKey, said: dict[str, str], parameters: str, signature: str
) -> None:
    covered = f"({' '.join(said)}){parameters}"
    assert base64.b64encode(rfc._private.sign(signature_base(said, covered))).decode() == signature
    assert rfc.key_id in parameters


def verify(headers: dict[str, str], authority: str, directory: dict[str, Any], now: float) -> str:
    """A verifier as RFC 9421 section 3.2 and the draft have it; returns the nonce."""
    label, covered = headers["signature-input"].split("=", 1)
    inside, parameters = re.fullmatch(r"\((.*?)\);(.*)", covered).groups()  # type: ignore[union-attr]
    said = dict(part.split("=", 1) for part in parameters.split(";"))
    assert int(said["created"]) <= now < int(said["expires"]) <= int(said["created"]) + 86_400
    assert said["tag"] == '"web-bot-auth"'
    values = {
        '"@authority"': authority,
        '"signature-agent";key="sig1"': headers["signature-agent"].removeprefix("sig1="),
    }
    assert set(inside.split(" ")) == set(values)
    lines = [f"{name}: {values[name]}" for name in inside.split(" ")]
    signed = "\n".join([*lines, f'"@signature-params": {covered}'])
    key = next(key for key in directory["keys"] if f'"{key["kid"]}"' == said["keyid"])
    public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key["x"] + "="))
    sent = headers["signature"]
    assert sent.startswith(f"{label}=:")
    public.verify(base64.b64decode(sent.removeprefix(f"{label}=:").removesuffix(":")), signed.encode())
    return said["nonce"]


def test_every_request_is_signed_for_its_own_host(tmp_path: Path) -> None:
    key = wa.BotKey.create(tmp_path / "bot.pem", "https://bot.example.org")
    directory = json.loads(key.directory())
    with SiteServer({"/": b"<title>B</title>"}) as other:
        pages = {"/": b"<title>A</title><a href=/x>x</a>", "/x": Reply(302, {"Location": other.url + "/"})}
        with SiteServer(pages) as site:
            wa.crawl(site.url, bot_key=key, allow_private=True)
    nonces = []
    for server in (site, other):
        authority = server.url.removeprefix("http://")
        assert server.requests
        for request in server.requests:
            assert request.headers["signature-agent"] == 'sig1="https://bot.example.org"'
            nonces.append(verify(request.headers, authority, directory, time.time()))
            with pytest.raises(InvalidSignature):
                verify(request.headers, "elsewhere.example", directory, time.time())
    assert len(set(nonces)) == len(nonces)


def test_the_directory(rfc: wa.BotKey) -> None:
    assert json.loads(rfc.directory())["keys"] == [
        {"kty": "OKP", "crv": "Ed25519", "x": RFC_PUBLIC, "kid": rfc.key_id, "use": "sig", "alg": "EdDSA"}
    ]
    headers = rfc.directory_headers(days=30)
    assert headers["Content-Type"] == "application/http-message-signatures-directory+json"
    covered = headers["Signature-Input"].removeprefix("sig1=")
    assert covered.startswith('("@authority";req "content-digest");created=')
    assert covered.endswith(';tag="http-message-signatures-directory"')
    digest = base64.b64encode(hashlib.sha256(rfc.directory().encode()).digest()).decode()
    lines = ['"@authority";req: signature-agent.test', f'"content-digest": sha-256=:{digest}:']
    base = "\n".join([*lines, f'"@signature-params": {covered}'])
    public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(RFC_PUBLIC + "="))
    public.verify(base64.b64decode(headers["Signature"][6:-1]), base.encode())


def test_the_file_is_its_owners_alone_and_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "bot.pem"
    made = wa.BotKey.create(file, "https://bot.example.org")
    assert file.stat().st_mode & 0o077 == 0
    assert wa.BotKey(file).key_id == made.key_id
    before = file.read_bytes()
    with pytest.raises(wa.ParameterError, match="`file` parameter must be a new file"):
        wa.BotKey.create(file, "https://bot.example.org")
    assert file.read_bytes() == before


@pytest.mark.parametrize("agent", ["bot.example.org", "http://bot.example.org", 'https://a"b', None, 3])
def test_wrong_agents(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "rfc.pem").write_text(RFC_KEY)
    with pytest.raises(wa.ParameterError, match="`agent`"):
        wa.BotKey(tmp_path / "rfc.pem", agent=agent)
    with pytest.raises(wa.ParameterError, match="`agent`"):
        wa.BotKey.create(tmp_path / "new.pem", agent)
    assert not (tmp_path / "new.pem").exists()


@pytest.mark.parametrize("text", ["", "s3cret-word", RFC_KEY.replace("MC4C", "XXXX"), None])
def test_wrong_files_are_named_and_not_shown(text: str | None, tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    if text is not None:
        file.write_text(text)
    with pytest.raises(wa.ParameterError, match="`file` parameter must be an Ed25519 key") as caught:
        wa.BotKey(file, agent="https://a.example")
    assert "s3cret" not in f"{caught.value!r}{caught.value.__context__ or ''}"


def test_nothing_shows_or_copies_it(rfc: wa.BotKey) -> None:
    with wa.option_context(bot_key=rfc):
        shown = f"{wa.options!r}{rfc!r}{rfc}"
    assert "signature-agent.test" in shown
    assert not re.search(r"BEGIN|J\+DYvh6|n4Ni-Hp", shown)
    assert copy.deepcopy(rfc) is rfc
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(rfc)
    with pytest.raises(wa.ParameterError, match="`bot_key` parameter must be left out with a hosted"):
        wa.text(["https://a.example/"], bot_key=rfc, backend=wa.Hosted("http://127.0.0.1:1", "k"))
    with pytest.raises(wa.ParameterError, match="`bot_key` parameter must be a"):
        wa.text(["https://a.example/"], bot_key="bot.pem")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wa.BotKey.create(tmp_path / "bot.pem", "https://bot.example.org")
    with SiteServer({"/": b"<title>Tea</title>"}) as site:
        assert main(["metadata", site.url, "--bot-key", str(tmp_path / "bot.pem"), "--allow-private"]) == 0
    assert {request.headers["signature-agent"] for request in site.requests} == {
        'sig1="https://bot.example.org"'
    }
    with pytest.raises(SystemExit):
        main(["metadata", site.url, "--bot-key", str(tmp_path / "none.pem")])
    assert "must be an Ed25519 key in PEM" in " ".join(capsys.readouterr().err.split())


def test_it_needs_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    with pytest.raises(ImportError, match=r"signing requests needs cryptography: .*\[bot-key\]"):
        bot_key.BotKey.create(tmp_path / "bot.pem", "https://bot.example.org")
