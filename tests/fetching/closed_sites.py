"""Hosts behind locks, a forward proxy with a password (HTTP or SOCKS5) and a certificate authority of their own.

No name of theirs is in any DNS (RFC 6761): the proxy alone knows them, and serves them itself.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import secrets
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self

PROXY_USER, PROXY_PASSWORD = "pia", "pr0xy-word"


class Asked(NamedTuple):
    """A request as a host received it, and whether it came with a client certificate."""

    host: str
    method: str
    target: str
    headers: dict[str, str]
    certified: bool = False


Lock = Callable[[Asked], "list[str] | None"]
"""None where the request may pass, else the challenges of the 401."""


def no_lock(asked: Asked) -> list[str] | None:
    return None


def header_lock(name: str, value: str, challenge: str = "Basic realm=x") -> Lock:
    return lambda asked: None if asked.headers.get(name) == value else [challenge]


def basic_lock(user: str, password: str) -> Lock:
    word = base64.b64encode(f"{user}:{password}".encode()).decode()
    return header_lock("authorization", f"Basic {word}")


def cookie_lock(name: str, value: str) -> Lock:
    return lambda asked: (
        None if f"{name}={value}" in asked.headers.get("cookie", "").split("; ") else ["Cookie"]
    )


def certificate_lock(asked: Asked) -> list[str] | None:
    return None if asked.certified else ["Certificate"]


class DigestLock:
    """A server's side of RFC 7616, which believes a nonce for a few requests and each count of it once."""

    def __init__(self, user: str, password: str, algorithm: str = "SHA-256", uses: int = 10**9) -> None:
        self.user, self.password, self.algorithm, self.uses = user, password, algorithm, uses
        self.counts: dict[str, set[int]] = {}
        self.refused: list[str] = []

    def __call__(self, asked: Asked) -> list[str] | None:
        text = asked.headers.get("authorization", "")
        stale = ""
        if text.startswith("Digest "):
            said = {
                key: quoted or plain
                for key, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,]+))', text)
            }
            why = self.fault(said, asked)
            if why is None:
                return None
            self.refused.append(why)
            stale = ", stale=true" if why == "stale" else ""
        nonce = secrets.token_hex(8)
        self.counts[nonce] = set()
        return [
            f'Digest realm="tea, \\"green\\"", qop="auth,auth-int", algorithm={self.algorithm}, nonce="{nonce}", opaque="o"{stale}'
        ]

    def fault(self, said: Mapping[str, str], asked: Asked) -> str | None:
        digest = {"SHA-256": hashlib.sha256, "MD5": hashlib.md5}[self.algorithm]

        def hashed(text: str) -> str:
            return digest(text.encode()).hexdigest()

        if said["uri"] != asked.target or said["username"] != self.user or said["opaque"] != "o":
            return "words"
        first = hashed(f'{self.user}:tea, \\"green\\":{self.password}')
        second = hashed(f"{asked.method}:{said['uri']}")
        right = hashed(f"{first}:{said['nonce']}:{said['nc']}:{said['cnonce']}:{said['qop']}:{second}")
        if right != said["response"] or said["qop"] != "auth":
            return "response"
        counts = self.counts.get(said["nonce"])
        if counts is None or len(counts) >= self.uses:
            return "stale"
        if int(said["nc"], 16) in counts:
            return "replayed"
        counts.add(int(said["nc"], 16))
        return None


class Authority:
    """A certificate authority, whose certificates are files of a folder."""

    def __init__(self, folder: Path, name: str = "Tea CA") -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec

        self.folder, self._key = folder, ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.ca = self._issue("ca", self._key, is_ca=True)
        self.certificate, self.key = self.issue("client")

    def issue(self, *names: str) -> tuple[Path, Path]:
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        place = self.folder / f"{names[0]}.key"
        place.write_bytes(key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()))
        return self._issue(names[0], key, names), place

    def _issue(self, file: str, key: Any, names: tuple[str, ...] = (), is_ca: bool = False) -> Path:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization

        now = datetime.now(UTC)
        subject = self._name if is_ca else x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, file)])
        signer = self._key.public_key()
        made = (
            x509.CertificateBuilder(self._name, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=2))
            .add_extension(x509.BasicConstraints(is_ca, None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), critical=False)
        )
        if names:
            made = made.add_extension(
                x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), False
            )
        place = self.folder / f"{file}.pem"
        place.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return place


Page = bytes | tuple[int, str]
"""A body of HTML, or the status and the address of a redirect."""


class ClosedSites:
    """Hosts by name: their locks and their pages. Use it as a context manager."""

    def __init__(
        self,
        hosts: Mapping[str, tuple[Lock, Mapping[str, Page]]],
        authority: Authority | None = None,
        *,
        socks: bool = False,
    ) -> None:
        self.hosts, self.socks = hosts, socks
        self.asked: list[Asked] = []
        self.lines: list[str] = []
        self._tls = None
        if authority is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*authority.issue(*hosts))
            self._tls.load_verify_locations(authority.ca)
            self._tls.verify_mode = ssl.CERT_OPTIONAL
            self._tls.set_alpn_protocols(["http/1.1"])

    def __enter__(self) -> Self:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)  # else the thread that accepts keeps it open
        self._socket.close()

    @property
    def proxy(self) -> str:
        kind = "socks5" if self.socks else "http"
        return f"{kind}://{PROXY_USER}:{PROXY_PASSWORD}@127.0.0.1:{self.port}"

    def carried(self, host: str, *names: str) -> set[tuple[str, ...]]:
        """Which of some headers the requests to a host had."""
        return {
            tuple(name for name in names if name in one.headers) for one in self.asked if one.host == host
        }

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._socket.accept()[0],), daemon=True).start()

    def _serve(self, raw: socket.socket) -> None:
        with contextlib.suppress(OSError, ssl.SSLError), raw:
            host, secure, head = self._by_socks(raw) if self.socks else self._by_connect(raw)
            if secure and self._tls is not None:
                with self._tls.wrap_socket(raw, server_side=True) as wrapped:
                    self._answer_all(wrapped, host, certified=bool(wrapped.getpeercert()))
            elif host:
                self._answer_all(raw, host, head, certified=False)

    def _by_socks(self, raw: socket.socket) -> tuple[str, bool, str]:
        """RFC 1928 and RFC 1929."""
        count = raw.recv(2)[1]
        if 2 not in raw.recv(count):
            raw.sendall(b"\x05\xff")
            return "", False, ""
        raw.sendall(b"\x05\x02")
        user = raw.recv(raw.recv(2)[1]).decode()
        password = raw.recv(raw.recv(1)[0]).decode()
        good = (user, password) == (PROXY_USER, PROXY_PASSWORD)
        raw.sendall(b"\x01\x00" if good else b"\x01\x01")
        if not good:
            return "", False, ""
        kind = raw.recv(4)[3]
        host = raw.recv(raw.recv(1)[0]).decode() if kind == 3 else socket.inet_ntoa(raw.recv(4))
        port = int.from_bytes(raw.recv(2), "big")
        self.lines.append(f"{host}:{port}")
        known = host in self.hosts
        raw.sendall(bytes([5, 0 if known else 4, 0, 1, 0, 0, 0, 0, 0, 0]))
        return (host if known else ""), port == 443, ""

    def _by_connect(self, raw: socket.socket) -> tuple[str, bool, str]:
        head = _head(raw)
        line, _, rest = head.partition("\r\n")
        self.lines.append(line)
        word = base64.b64encode(f"{PROXY_USER}:{PROXY_PASSWORD}".encode()).decode()
        if f"Proxy-Authorization: Basic {word}" not in rest:
            raw.sendall(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            return "", False, ""
        method, target, _ = line.split(" ")
        if method != "CONNECT":
            return target.split("/")[2], False, head
        host = target.partition(":")[0]
        if host not in self.hosts:
            raw.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return "", False, ""
        raw.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return host, True, ""

    def _answer_all(self, stream: socket.socket, host: str, head: str = "", *, certified: bool) -> None:
        while head := head or _head(stream):
            line, *lines = head.split("\r\n")
            method, target, _ = line.split(" ")
            if target.startswith("http://"):
                target = "/" + target.split("/", 3)[3]
            pairs = (item.partition(":") for item in lines if ":" in item)
            asked = Asked(host, method, target, {a.lower(): b.strip() for a, _, b in pairs}, certified)
            self.asked.append(asked)
            stream.sendall(self._answer(asked))
            head = ""

    def _answer(self, asked: Asked) -> bytes:
        lock, pages = self.hosts[asked.host]
        challenges = lock(asked)
        if challenges is not None:
            fields = "".join(f"WWW-Authenticate: {one}\r\n" for one in challenges)
            return f"HTTP/1.1 401 Unauthorized\r\n{fields}Content-Length: 0\r\n\r\n".encode()
        page = pages.get(asked.target)
        if isinstance(page, tuple):
            return f"HTTP/1.1 {page[0]} Moved\r\nLocation: {page[1]}\r\nContent-Length: 0\r\n\r\n".encode()
        status, body = ("404 Not Found", b"") if page is None else ("200 OK", page)
        kind = (
            "text/plain"
            if asked.target.endswith(".txt")
            else "application/xml"
            if asked.target.endswith(".xml")
            else "text/html"
        )
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        return head + (b"" if asked.method == "HEAD" else body)


def _head(stream: socket.socket) -> str:
    """The head of the next request, "" after the last."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        byte = stream.recv(1)
        if not byte:
            return ""
        data += byte
    return data.decode("latin-1").removesuffix("\r\n\r\n")
