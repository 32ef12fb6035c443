"""Servers that begin with TLS, or with STARTTLS as some protocol has it, and show a chain by the name asked for."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from tests.records.hosts.pki import Pki

PROTOCOLS = ("tls", "smtp", "imap", "pop3", "xmpp", "ldap", "postgresql", "mysql")
SILENT, PLAIN, RUDE, CHATTY, LONG, DRIPS = "silent", "plain", "rude", "chatty", "long", "drips"


def lines(at: socket.socket, *script: tuple[bytes, bytes]) -> None:
    """Say the first words; then wait for each of the commands and answer it."""
    for wanted, said in script:
        if wanted:
            received = b""
            while not received.endswith(b"\n"):
                received += at.recv(1)
            assert wanted in received.upper(), received
        at.sendall(said)


def smtp(at: socket.socket) -> None:
    greeting, offer = (
        b"220-mail.example\r\n220 ready\r\n",
        b"250-mail.example\r\n250-SIZE 9\r\n250 STARTTLS\r\n",
    )
    lines(at, (b"", greeting), (b"EHLO", offer), (b"STARTTLS", b"220 go on\r\n"))


def plain(at: socket.socket) -> None:
    lines(at, (b"", b"220 ready\r\n"), (b"EHLO", b"250-mail.example\r\n250 SIZE 9\r\n"))
    at.recv(1)


def imap(at: socket.socket) -> None:
    at.sendall(b"* OK ready\r\n")
    while True:
        tag, command = until(at, b"\n").split()[:2]
        if command.upper() == b"STARTTLS":
            at.sendall(tag + b" OK go on\r\n")
            return
        at.sendall(b"* CAPABILITY IMAP4rev1 STARTTLS\r\n" + tag + b" OK done\r\n")


def pop3(at: socket.socket) -> None:
    lines(at, (b"", b"+OK ready\r\n"), (b"STLS", b"+OK go on\r\n"))


def until(at: socket.socket, mark: bytes) -> bytes:
    received = b""
    while not received.endswith(mark):
        received += at.recv(1) or mark
    return received


def xmpp(at: socket.socket) -> None:
    until(at, b"'>")
    offer = b"<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
    head = b"<?xml version='1.0'?><stream:stream xmlns='jabber:client' id='a' version='1.0'>"
    at.sendall(head + b"<stream:features>" + offer + b"</stream:features>")
    until(at, b"/>")
    at.sendall(b"<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")


def ldap(at: socket.socket) -> None:
    at.recv(2)
    assert b"1.3.6.1.4.1.1466.20037" in at.recv(64)
    at.sendall(b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00")


def postgresql(at: socket.socket) -> None:
    assert struct.unpack("!II", at.recv(8)) == (8, 80877103)
    at.sendall(b"S")


def mysql(at: socket.socket) -> None:
    """Protocol 10, all capabilities: version, connection, challenge."""
    said = (
        b"\x0a8.0.0\0"
        + bytes(4)
        + b"a" * 8
        + b"\0\xff\xff\x2d\x02\0\xff\xff\x15"
        + bytes(10)
        + b"b" * 12
        + b"\0"
    )
    at.sendall(len(said).to_bytes(3, "little") + b"\0" + said)
    asked = at.recv(36)
    assert (asked[:4], int.from_bytes(asked[4:8], "little") & 0x800) == (b"\x20\0\0\x01", 0x800)


def silent(at: socket.socket) -> None:
    at.recv(1)


def rude(at: socket.socket) -> None:
    """Endless lines: nobody may read them all."""
    while True:
        at.sendall(b"220-" + b"a" * 1000 + b"\r\n")


def chatty(at: socket.socket) -> None:
    """What it offers never ends."""
    lines(at, (b"", b"220 ready\r\n"), (b"EHLO", b""))
    while True:
        at.sendall(b"250-SIZE 9\r\n" * 100)


def long(at: socket.socket) -> None:
    """One line of 100 MB."""
    lines(at, (b"", b"220 ready\r\n"), (b"EHLO", b"250-"))
    for _ in range(100):
        at.sendall(b"a" * 1_000_000)


def drips(at: socket.socket) -> None:
    """A greeting that comes letter by letter, and never ends."""
    while True:
        at.sendall(b"2")
        time.sleep(0.05)


GREET: dict[str, Callable[[socket.socket], None]] = {
    **{"tls": lambda at: None, "smtp": smtp, "imap": imap, "pop3": pop3, "xmpp": xmpp, "ldap": ldap},
    **{"postgresql": postgresql, "mysql": mysql, PLAIN: plain, SILENT: silent, RUDE: rude},
    **{CHATTY: chatty, LONG: long, DRIPS: drips},
}


class Servers:
    """One listening socket for each protocol; which chain a name is shown, `shows` says."""

    def __init__(self, pki: Pki) -> None:
        self.shows: dict[str, str] = {}
        self.contexts: Mapping[str, ssl.SSLContext] = {
            label: context(*pki.files[label]) for label in pki.files
        }
        self.asked: list[tuple[str, str | None]] = []  # protocol and name (SNI)
        self.most: dict[str, int] = {}  # connections at one time, by address
        self._any = pki.files["good"]
        self._now: dict[str, int] = {}
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self.ports: dict[str, int] = {}
        for protocol in GREET:
            self.ports[protocol] = self._listen(protocol, ("127.0.0.1", 0))
        self._listen("tls", ("127.0.0.2", self.ports["tls"]))  # another address, another certificate

    def _listen(self, protocol: str, place: tuple[str, int]) -> int:
        listening = socket.create_server(place, backlog=100)
        self._sockets.append(listening)
        threading.Thread(target=self._serve, args=(protocol, listening), daemon=True).start()
        return int(listening.getsockname()[1])

    def _serve(self, protocol: str, listening: socket.socket) -> None:
        while True:
            try:
                at, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(protocol, at), daemon=True).start()

    def _answer(self, protocol: str, at: socket.socket) -> None:
        own = at.getsockname()[0]
        with self._lock:
            self._now[own] = self._now.get(own, 0) + 1
            self.most[own] = max(self.most.get(own, 0), self._now[own])
        try:
            at.settimeout(20)
            GREET[protocol](at)
            first = context(*self._any)
            first.sni_callback = lambda made, sni, _: self._choose(made, protocol, sni, own)
            with first.wrap_socket(at, server_side=True) as secured:
                secured.recv(1)
        except (OSError, AssertionError):
            pass
        finally:
            at.close()
            with self._lock:
                self._now[own] -= 1

    def _choose(self, made: Any, protocol: str, sni: str | None, own: str) -> None:
        self.asked.append((protocol, sni))
        label = "own" if own == "127.0.0.2" else self.shows.get(sni or "", "good")
        made.context = self.contexts[label]

    def close(self) -> None:
        for one in self._sockets:
            one.close()


def context(certificates: Any, key: Any) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificates, key)
    return made
