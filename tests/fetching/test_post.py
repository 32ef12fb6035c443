"""Mail that leaves by servers that behave, and by some that never end."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from tests.records.hosts.pki import made
from webanalytics.fetching import post
from webanalytics.fetching.post import NotSentError, send_mail

MESSAGE = EmailMessage()
MESSAGE["From"], MESSAGE["To"], MESSAGE["Subject"] = "watch@a.example", "seo@a.example", "1 new"
MESSAGE.set_content("noindex")


class Peer:
    """One end of a connection, which counts what it says."""

    sent = 0

    def __init__(self, at: socket.socket) -> None:
        self.at = at

    def say(self, words: bytes) -> None:
        self.at.sendall(words)
        Peer.sent += len(words)

    def hear(self) -> bytes:
        heard = b""
        while not heard.endswith(b"\n"):
            if not (piece := self.at.recv(1)):
                raise ConnectionError
            heard += piece
        return heard


@contextmanager
def serving(answer: Callable[[Peer], None]) -> Iterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    Peer.sent = 0

    def one() -> None:
        try:
            at, _ = listening.accept()
            with at:
                answer(Peer(at))
        except OSError:
            return

    thread = threading.Thread(target=one, daemon=True)
    thread.start()
    yield f"localhost:{listening.getsockname()[1]}"
    listening.close()
    thread.join(20)
    assert not thread.is_alive()


def greets_for_ever(peer: Peer) -> None:
    while True:
        peer.say(b"220-" + b"a" * 1000 + b"\r\n")


def offers_for_ever(peer: Peer) -> None:
    peer.say(b"220 ready\r\n")
    peer.hear()
    while True:
        peer.say(b"250-SIZE 9\r\n" * 100)


def one_line_of_100_mb(peer: Peer) -> None:
    peer.say(b"220 ready\r\n")
    peer.hear()
    peer.say(b"250-")
    for _ in range(100):
        peer.say(b"a" * 1_000_000)


def drips(peer: Peer) -> None:
    while True:
        peer.say(b"220-a\r\n")
        time.sleep(0.05)


def drips_one_line(peer: Peer) -> None:
    while True:
        peer.say(b"2")
        time.sleep(0.05)


def says_nothing(peer: Peer) -> None:
    peer.hear()


@pytest.mark.parametrize(
    "answer", [greets_for_ever, offers_for_ever, one_line_of_100_mb, drips, drips_one_line, says_nothing]
)
def test_a_mail_server_without_end_is_left(
    answer: Callable[[Peer], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post, "SECONDS", 0.5)
    heard: list[int] = []
    read = post._Answers.readinto

    def counted(self: post._Answers, buffer: object) -> int:
        heard.append(read(self, buffer))
        return heard[-1]

    monkeypatch.setattr(post._Answers, "readinto", counted)
    with serving(answer) as server, pytest.raises(NotSentError):
        send_mail(MESSAGE, server, "starttls", None, private=True)
    assert sum(heard) < 2 * post.MOST_SAID
    assert Peer.sent < 20_000_000, "the rest of it is in the buffers of the system"


SAID = {
    b"EHLO": b"250-mail\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n",
    **{b"STARTTLS": b"220 go on\r\n", b"DATA": b"354 go on\r\n", b"AUTH": b"235 yes\r\n"},
}


@pytest.mark.parametrize("tls", ["starttls", "tls"])
@pytest.mark.parametrize("name", ["localhost", "other.example"])
def test_mail_goes_encrypted_to_whom_the_certificate_names(
    tls: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = made("Root", authority=True, days=900)
    own = made("mail", root, (name,))
    key = own.key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "own.pem").write_bytes(key + own.pem)
    (tmp_path / "root.pem").write_bytes(root.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "root.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "own.pem")
    open_words, secret_words = list[bytes](), list[bytes]()

    def answer(peer: Peer) -> None:
        now, words = peer, open_words
        try:
            if tls == "tls":
                now, words = Peer(context.wrap_socket(peer.at, server_side=True)), secret_words
            now.say(b"220-mail\r\n220 ready\r\n")
            while not (words and words[-1].startswith((b"quit", b"QUIT"))):
                words.append(now.hear())
                verb = words[-1].split()[0].upper()
                now.say(SAID.get(verb, b"250 yes\r\n"))
                if verb == b"STARTTLS":
                    now, words = Peer(context.wrap_socket(peer.at, server_side=True)), secret_words
                elif verb == b"DATA":
                    while words[-1] != b".\r\n":
                        words.append(now.hear())
                    now.say(b"250 taken\r\n")
        finally:
            now.at.close()

    with serving(answer) as server:
        if name == "other.example":
            with pytest.raises(NotSentError, match="SSLCertVerificationError"):
                send_mail(MESSAGE, server, tls, ("watch", "secret"), private=True)
        else:
            send_mail(MESSAGE, server, tls, ("watch", "secret"), private=True)
    assert (b"noindex\r\n" in secret_words) is (name == "localhost")
    plain = b"".join(open_words)
    assert b"AUTH" not in plain
    assert b"noindex" not in plain
