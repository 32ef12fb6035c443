"""Messages reach those they are for, once: webhooks that fail at first, mail, secrets, the guard of the network."""

from __future__ import annotations

import asyncio
import json
import socket
import socketserver
import threading
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.audits.history.nights import Watch, page, site
from webanalytics.audits.history import messages
from webanalytics.errors import ParameterError
from webanalytics.fetching.post import NotSentError, post_json

NOINDEX = '[[alert]]\nwhen = "noindex"\n'
SECRET = "T0PSECRETTOKEN"


class Hook(ThreadingHTTPServer):
    """A webhook that answers with these statuses, then with 204."""

    def __init__(self, *statuses: int) -> None:
        self.statuses, self.got = list(statuses), list[tuple[str, dict[str, str], Any]]()
        super().__init__(("127.0.0.1", 0), Taking)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/{SECRET}"


class Taking(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.got.append((self.path, dict(self.headers), body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 204)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


class Post(socketserver.ThreadingTCPServer):
    """A mail server, as RFC 5321 has it; it takes what it is given, unless it is told to refuse."""

    allow_reuse_address, daemon_threads = True, True

    def __init__(self) -> None:
        self.mails, self.said, self.refuses = list[bytes](), list[str](), False
        super().__init__(("127.0.0.1", 0), Session)
        self.place = f"127.0.0.1:{self.server_address[1]}"


class Session(socketserver.StreamRequestHandler):
    server: Post

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline().decode().strip():
            self.server.said.append(line)
            verb = line.upper().split(" ")[0]
            if verb == "EHLO":
                self.wfile.write(b"250-here\r\n250 AUTH PLAIN\r\n")
            elif verb == "AUTH":
                self.wfile.write(b"235 yes\r\n")
            elif verb == "DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = []
                while (part := self.rfile.readline()) != b".\r\n":
                    lines.append(part)
                self.server.mails.append(b"".join(lines))
                self.wfile.write(b"250 taken\r\n")
            else:
                self.wfile.write(b"550 no\r\n" if self.server.refuses and verb == "RCPT" else b"250 yes\r\n")
            if verb == "QUIT":
                return


def serving(server: Any) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def hook() -> Iterator[Hook]:
    yield from serving(Hook(500, 429))


@pytest.fixture
def post() -> Iterator[Post]:
    yield from serving(Post())


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "WAITS", (0.0, 0.0, 0.0))


def two_nights(watched: Watch) -> tuple[int, list[str]]:
    assert watched.run(site()) == (0, [])
    return watched.run(site({"/shop/p4": page("/shop/p4", robots="noindex")}))


def everything(folder: Path) -> bytes:
    return b"".join(
        path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".parquet"
    )


def test_a_webhook_that_fails_twice_gets_the_message_once(
    tmp_path: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOOK", hook.url)
    watched = Watch(tmp_path, NOINDEX, to='[[to]]\nkind = "webhook"\nurl = "$HOOK"\n')
    assert two_nights(watched) == (1, ["new noindex 1 (/shop/* 1)"])
    assert len(hook.got) == 3
    ids = {headers["Idempotency-Key"] for _, headers, _ in hook.got}
    assert ids == {hook.got[2][2]["id"]}, "the tries of a message have one id"
    assert hook.got[2][2]["subject"] == "Lamps: 1 new"
    assert watched.run(site({"/shop/p4": page("/shop/p4", robots="noindex")})) == (0, [])
    assert len(hook.got) == 3
    assert SECRET.encode() not in everything(tmp_path)
    assert SECRET not in "".join(capfd.readouterr())


def test_what_nobody_takes_waits_for_the_next_run(
    tmp_path: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    hook.statuses = [500, 302, 503]
    monkeypatch.setenv("HOOK", hook.url)
    watched = Watch(tmp_path, NOINDEX, to='[[to]]\nkind = "slack"\nurl = "$HOOK"\n')
    assert two_nights(watched) == (4, ["new noindex 1 (/shop/* 1)"]), "the file has it, the webhook has not"
    assert "slack: it answered HTTP 503" in capfd.readouterr().err
    assert [entry["to"] for entry in watched.state["outbox"]] == ["slack"]
    assert {path for path, *_ in hook.got} == {f"/{SECRET}"}, "no redirect was followed"
    assert SECRET.encode() not in everything(tmp_path)
    changed = site({"/shop/p4": page("/shop/p4", robots="noindex")})
    assert watched.run(changed) == (0, []), "the file is not told twice"
    assert len(hook.got) == 4
    assert hook.got[3][2]["text"].startswith("Lamps: 1 new\nNew: noindex")
    assert watched.state["outbox"] == []


def test_what_waits_stays_in_its_order_and_is_asked_for_once_a_run(
    tmp_path: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    hook.statuses = [500] * 6
    monkeypatch.setenv("HOOK", hook.url)
    watched = Watch(tmp_path, NOINDEX, to='[[to]]\nkind = "webhook"\nurl = "$HOOK"\n')
    assert two_nights(watched)[0] == 4
    assert watched.run(site())[0] == 4
    assert len(hook.got) == 6, "three tries of the first message in each run, none of the one behind it"
    assert len(watched.state["outbox"]) == 2
    # another recipient before it is no other name for it
    text = watched.config.read_text()
    watched.config.write_text(text.replace("[[to]]", '[[to]]\nkind = "stdout"\n[[to]]', 1))
    assert watched.run(site()) == (0, [])
    assert [body["subject"] for *_, body in hook.got[6:]] == ["Lamps: 1 new", "Lamps: 1 resolved"]
    hook.statuses = [500] * 3
    watched.run(site({"/shop/p4": page("/shop/p4", robots="noindex")}))
    watched.config.write_text(text.replace('kind = "webhook"\nurl = "$HOOK"', 'kind = "stdout"'))
    capfd.readouterr()
    unchanged = site({"/shop/p4": page("/shop/p4", robots="noindex")})
    assert watched.run(unchanged)[0] == 4
    assert "a message is lost: webhook is no recipient any more" in capfd.readouterr().err
    assert watched.run(unchanged) == (0, [])


def test_mail(tmp_path: Path, post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIL_PASSWORD", SECRET)
    to = (
        f'[[to]]\nkind = "mail"\nserver = "{post.place}"\ntls = "none"\nfrom = "watch@a.example"\n'
        'to = ["seo@a.example", "boss@a.example"]\nuser = "watch"\npassword = "$MAIL_PASSWORD"\n'
    )
    watched = Watch(tmp_path, NOINDEX, to=to)
    assert two_nights(watched)[0] == 1
    (mail,) = [message_from_bytes(raw, policy=default) for raw in post.mails]
    assert (mail["Subject"], mail["To"]) == ("Lamps: 1 new", "seo@a.example, boss@a.example")
    assert f"{watched.url}/shop/p4: noindex" in mail.get_content()
    assert sum(line.upper().startswith("RCPT") for line in post.said) == 2
    assert any(line.startswith("AUTH") for line in post.said)
    assert SECRET.encode() not in everything(tmp_path)


def test_a_mail_server_that_refuses_or_is_private(post: Post) -> None:
    post.refuses = True
    content = messages.message("A", "2026-11-01", [], [])
    to = {"kind": "mail", "server": post.place, "tls": "none", "from": "a@a.example", "to": "b@a.example"}
    with pytest.raises(NotSentError, match="did not take it"):
        messages._send(content, to, True)
    asked = len(post.said)
    with pytest.raises(NotSentError, match="did not take it: PermissionError"):
        messages._send(content, to, False)
    assert len(post.said) == asked, "a private server is not dialled"
    with pytest.raises(NotSentError, match="did not take it"):  # it offers no encryption
        messages._send(content, to | {"tls": "starttls"}, True)
    assert not post.mails


def test_a_private_webhook_is_not_asked(hook: Hook) -> None:
    for url in (hook.url, hook.url.replace("127.0.0.1", "localhost"), "file:///etc/passwd"):
        with pytest.raises(NotSentError, match="could not be reached"):
            asyncio.run(post_json(url, {}, "1", private=False))
    assert not hook.got


def test_no_answer_says_nothing_of_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(NotSentError) as caught:
        asyncio.run(post_json(f"http://127.0.0.1:{port}/{SECRET}", {}, "1", private=True))
    assert SECRET not in f"{caught.value!r} {caught.value}"
    assert caught.value.__suppress_context__


def test_words_of_pages_are_no_markup() -> None:
    group = {"what": "title", "when": "changed", "count": 1, "templates": {}}
    bad = "<!channel> <http://evil.example|here> `x` ``` @everyone & [a](http://b)"
    content = messages.message("A", "2026-11-01", [group | {"examples": [{"where": "/", "said": bad}]}], [])
    slack = messages.form("slack", content)
    assert "<" not in slack["text"]
    assert "&lt;!channel&gt;" in slack["text"]
    assert slack["mrkdwn"] is False
    discord = messages.form("discord", content)
    assert discord["content"].count("`") == 6
    assert discord["allowed_mentions"] == {"parse": []}
    (part,) = messages.form("teams", content)["attachments"]
    assert part["content"]["body"][0]["inlines"][0]["type"] == "TextRun", "which has no Markdown"


MAIL = {"kind": "mail", "server": "a", "from": "b@b.example", "to": "c@c.example"}


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ({"kind": "pigeon"}, "have a kind"),
        ({"kind": "slack", "url": "https://hooks.slack.com/x"}, "must name a variable as its url"),
        ({"kind": "webhook", "url": "$NOT_THERE"}, r"names \$NOT_THERE"),
        (
            {"kind": "mail", "server": "a", "from": "b", "to": "c", "password": "open"},
            "variable as its password",
        ),
        ({"kind": "mail", "server": "a"}, "have server and from and to"),
        ({"kind": "webhook", "url": "ftp://a.example/"}, "have an address as its url"),
        ({"kind": "webhook", "url": 5}, "text in one line as its url"),
        ({"kind": "file", "path": "a", "mode": "w"}, "not have 'mode'"),
        (MAIL | {"from": "a@b.example\nBcc: c@d.example"}, "text in one line as its from"),
        (MAIL | {"to": ["a@b.example", "c@d.example\r\nSubject: x"]}, "text in one line as its to"),
        (MAIL | {"tls": "no"}, "as its tls one of starttls, tls, none"),
    ],
)
def test_wrong_recipients(to: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        messages.checked(to, Path())
    assert "open" not in str(caught.value).replace("opened", "")
    assert "hooks.slack" not in str(caught.value)
