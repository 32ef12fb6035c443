"""How a secure connection begins: look-ups, the words before TLS, and the certificates that are shown."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_address
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from webanalytics._version import how_to_install
from webanalytics.errors import ParameterError
from webanalytics.fetching.guard import SocketFactory
from webanalytics.fetching.response import Problem

if TYPE_CHECKING:
    from webanalytics.core.outcomes import Certificate

MOST_WORDS = 8_192  # bytes that a server may say before TLS
FAULTS: Final = {  # what OpenSSL's findings are called here; others keep its words
    **{2: "incomplete chain", 20: "incomplete chain", 21: "incomplete chain"},
    **{9: "not yet valid", 10: "expired", 18: "self-signed", 19: "untrusted root"},
    **dict.fromkeys((62, 64), "name mismatch"),
}
_AD, _CD, _RD, _DO = 0x20, 0x10, 0x100, 0x8000  # of a question: validate; do not; ask others; show signatures


class Answer(NamedTuple):
    """What was answered to one question."""

    records: tuple[Any, ...] = ()  # those of the type asked for
    name: str = (
        ""  # whose they are, the end of the aliases (CNAME); "" where the name asked for does not exist
    )
    dnssec: str = "indeterminate"  # or secure, insecure, bogus
    note: str | None = None  # why it is bogus, as the resolver says (RFC 8914)


class Names:
    """Asks a resolver, and takes its word on what is signed: one that the user named, or that runs here."""

    def __init__(self, resolver: str | None) -> None:
        try:
            import cryptography  # noqa: F401
            from dns import resolver as library
            from dns.asyncresolver import Resolver
        except ImportError:
            said = f"The `hosts` parameter needs libraries for DNS and certificates: {how_to_install('dane')}"
            raise ParameterError(said, "hosts") from None
        try:
            parts = urlsplit(f"//{resolver}")
            self._resolvers = [Resolver(configure=resolver is None) for _ in range(2)]
            for one, flag in zip(self._resolvers, (_AD, _CD), strict=True):
                if resolver is not None:
                    one.nameservers, one.port = [str(ip_address(parts.hostname or ""))], parts.port or 53
                one.use_edns(0, _DO, 1232)
                one.flags, one.cache, one.timeout, one.lifetime = _RD | flag, library.Cache(), 1.0, 3.0
        except (library.NoResolverConfiguration, ValueError):
            raise ParameterError.must_be(
                "resolver", "the address of a resolver, such as 127.0.0.1:5353"
            ) from None
        servers = [str(server) for server in one.nameservers]
        # On the way from any other, anybody may have set the AD bit. Whether it validates, the root shows.
        trusted = resolver is not None or all(ip_address(server).is_loopback for server in servers)
        self._who = f"resolver {servers[0]} port {one.port}" if trusted else None

    async def judge(self) -> str | None:
        """Return who says what is signed; None where nobody does that can be trusted."""
        return self._who and (self._who if (await self._asked(".", "SOA")).response.flags & _AD else None)

    async def ask(self, name: str, kind: str) -> Answer:
        """Return the records of a type that a name has, or raise `Problem`."""
        from dns import exception, resolver

        bogus, said, end, records = False, None, "", ()
        try:
            try:
                found = await self._asked(name, kind)
            except resolver.NoNameservers as failure:  # is there an answer that is not signed well?
                error, response = failure.kwargs["errors"][-1][3:]
                if isinstance(error, exception.FormError):  # such as a digest of another length than it has
                    raise Problem("malformed_dns") from None
                known = () if response is None else response.extended_errors()
                said = ", ".join(one.code.name.replace("_", " ").lower() for one in known)
                bogus, found = True, await self._asked(name, kind, which=1)
            end, response = found.canonical_name.to_text(omit_final_dot=True).lower(), found.response
            records = tuple(found.rrset or ())
        except resolver.NXDOMAIN as answer:
            response = next(iter(answer.kwargs["responses"].values()))
        except exception.DNSException:
            raise Problem("lookup_failed") from None
        judged = ("secure" if response.flags & _AD else "insecure") if await self.judge() else "indeterminate"
        return Answer(records, end, "bogus" if bogus else judged, said)

    async def _asked(self, name: str, kind: str, which: int = 0) -> Any:
        from dns.resolver import LifetimeTimeout

        resolve = partial(self._resolvers[which].resolve, f"{name.rstrip('.')}.", kind)
        try:
            return await resolve(raise_on_no_answer=False, search=False)
        except LifetimeTimeout:  # datagrams that got lost, or hold what cannot be read
            return await resolve(raise_on_no_answer=False, search=False, tcp=True)


class Way(NamedTuple):
    """What is said before TLS: nothing but the request for it."""

    port: int  # the usual one
    steps: tuple[tuple[bytes, bytes], ...] = ()  # words, and the pattern of the answer that lets us go on
    refusal: bytes = rb"(?!)"  # the pattern of any other answer


def _xmpp(port: int, kind: bytes) -> Way:
    head = b"<?xml version='1.0'?><stream:stream xmlns='jabber:%s' to='{host}' version='1.0' " % kind
    head += b"xmlns:stream='http://etherx.jabber.org/streams'>"
    steps = ((head, rb"(?s:xmpp-tls.*</stream:features>)"), (_XMPP, rb"<proceed[^>]*>"))
    return Way(port, steps, rb"</stream:features>|<failure|</stream:stream>")


_XMPP = b"<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"  # RFC 6120 section 5
_LDAP = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037"  # RFC 4511 section 4.14
_MYSQL = b"\x20\0\0\x01\0\x8a\0\0\0\0\0\x01\x2d" + bytes(23)  # 32 bytes as packet 1: TLS is wanted
_OFFERED = rb"^250 STARTTLS\r?\n|^250-STARTTLS\r?\n(?:250-.*\n)*250 .*\n"
_READY = rb"^220 .*\n"
_SMTP = ((b"", _READY), (b"EHLO [127.0.0.1]\r\n", _OFFERED), (b"STARTTLS\r\n", _READY))  # RFC 3207
WAYS: Final = MappingProxyType(
    {
        **{"https": Way(443), "tls": Way(443)},
        **{"smtp": Way(25, _SMTP, rb"^\d{3} .*\n"), "submission": Way(587, _SMTP, rb"^\d{3} .*\n")},
        "imap": Way(143, ((b"", rb"^\* OK.*\n"), (b"a STARTTLS\r\n", rb"^a OK.*\n")), rb"^(a|\* BYE) .*\n"),
        "pop3": Way(110, ((b"", rb"^\+OK.*\n"), (b"STLS\r\n", rb"^\+OK.*\n")), rb"^-.*\n"),
        **{"xmpp": _xmpp(5222, b"client"), "xmpp-server": _xmpp(5269, b"server")},
        "ldap": Way(389, ((_LDAP, rb"\x0a\x01\x00"),), rb"\x0a\x01"),
        "postgresql": Way(5432, ((b"\0\0\0\x08\x04\xd2\x16\x2f", rb"^S"),), rb"^[^S]"),
        "mysql": Way(3306, ((b"", rb"(?s:^...\0\n.{30})"), (_MYSQL, b""))),
    }
)
USUAL: Final = {way.port: name for name, way in WAYS.items()}


class Shown(NamedTuple):
    """What a server shows at one address, in DER."""

    sent: tuple[bytes, ...]  # the chain as the server sends it, its own certificate first
    trusted: tuple[bytes, ...]  # the chain up to a known root, () where none leads there
    code: int  # what OpenSSL finds wrong with it, 0 for nothing
    fault: str  # the same in its words
    version: str  # of TLS


def contexts(ca: str | os.PathLike[str] | None) -> list[ssl.SSLContext]:
    """Return how chains are checked against the system's roots, or those of a file, and how they are not."""
    try:
        both = [ssl.create_default_context(cafile=None if ca is None else os.fspath(ca)) for _ in range(2)]
    except (OSError, TypeError, ValueError):
        raise ParameterError.must_be("ca", "a file of certificates in PEM") from None
    for context in both:
        context.check_hostname = False  # names are compared later
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # which Python 3.13 sets, 3.12 does not
    both[1].verify_mode = ssl.CERT_NONE
    return both


def fault_of(code: int, words: str) -> str:
    """Return what OpenSSL finds wrong with a certificate, in words of this package where there are any."""
    return FAULTS.get(code, words or "not valid")


def certificate_of(said: Any) -> Certificate | None:
    """Return a certificate as `ssl.SSLSocket.getpeercert` describes it; None where it says nothing.

    >>> issuer = ((("organizationName", "Let's Encrypt"),), (("commonName", "R11"),))
    >>> dates = {"notBefore": "Nov  1 00:00:00 2026 GMT", "notAfter": "Jan 30 00:00:00 2027 GMT"}
    >>> certificate_of({"issuer": issuer, **dates})["issuer"]
    "Let's Encrypt, R11"
    """
    try:
        names = {kind: text for part in said["issuer"] for kind, text in part}
        seconds = (ssl.cert_time_to_seconds(said[name]) for name in ("notBefore", "notAfter"))
        begin, end = (datetime.fromtimestamp(one, UTC).isoformat() for one in seconds)
    except (KeyError, OverflowError, TypeError, ValueError):
        return None
    issuer = ", ".join(names[kind] for kind in ("organizationName", "commonName") if kind in names)
    return {"issuer": issuer[:200], "not_before": begin, "not_after": end}


async def shown(place: Any, trust: Any, free: bool, seconds: float, retries: int) -> Shown:
    """Return what a server shows at a place: address, port, protocol and the name asked for."""
    try:
        async with asyncio.timeout(seconds):
            try:
                return await _dial(place, free, trust[0])
            except ssl.SSLCertVerificationError as error:
                found = await _dial(place, free, trust[1])
                return found._replace(code=error.verify_code, fault=error.verify_message)
    except TimeoutError:
        raise Problem("connect_timeout", seconds=f"{seconds:g}") from None
    except ssl.SSLError:
        raise Problem("handshake") from None
    except OSError:
        if retries:
            return await shown(place, trust, free, seconds, retries - 1)
        raise Problem("interrupted") from None


async def _dial(place: Any, free: bool, context: Any) -> Shown:
    address, port, protocol, name = place
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        opened = SocketFactory(free)((family, socket.SOCK_STREAM, 0, "", (address, port)))
    except PermissionError:
        raise Problem("private") from None
    try:
        await asyncio.get_running_loop().sock_connect(opened, (address, port))
    except BaseException as error:
        opened.close()
        if isinstance(error, TimeoutError) or not isinstance(error, OSError):
            raise
        raise Problem("refused") from None
    reader, writer = await asyncio.open_connection(sock=opened)
    try:
        await _ask_for_tls(reader, writer, WAYS[protocol], name)
        await writer.start_tls(context, server_hostname=name)
        secured: Any = writer.get_extra_info("ssl_object")
        inner = getattr(secured, "_sslobj", secured)  # before Python 3.13 it alone has these; 2 is DER
        both = inner.get_unverified_chain(), inner.get_verified_chain()
        sent, trusted = (tuple(one.public_bytes(2) for one in chain or ()) for chain in both)
        return Shown(sent, trusted if context.verify_mode else (), 0, "", secured.version() or "")
    finally:
        writer.transport.abort()


async def _ask_for_tls(reader: Any, writer: Any, way: Way, host: str) -> None:
    for words, wanted in way.steps:
        answer, received = re.compile(b"(?m)(?P<yes>%s)|%s" % (wanted, way.refusal)), b""
        writer.write(words.replace(b"{host}", host.encode()))
        while not (found := answer.search(received)) and len(received) < MOST_WORDS:
            received += (piece := await reader.read(MOST_WORDS))
            if not piece:
                raise ConnectionError
        if found is None or found["yes"] is None:
            raise Problem("no_starttls")
