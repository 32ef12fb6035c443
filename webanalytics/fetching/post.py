"""What leaves this machine as a message, through the guard of the network: JSON, and mail."""

from __future__ import annotations

import io
import smtplib
import socket
import ssl
import time
from collections.abc import Mapping
from email.message import EmailMessage
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from webanalytics.fetching.exchange import resolver
from webanalytics.fetching.guard import check_url, is_own, is_public
from webanalytics.fetching.pace import FetchSettings
from webanalytics.fetching.response import Problem
from webanalytics.fetching.session import open_session

SECONDS = 30.0
LARGEST = 1_000_000
"""Bytes of an answer that are read."""
MOST_SAID = 65_536
"""Bytes that a mail server may say, before TLS and after."""


class NotSentError(Exception):
    """A message was not taken; the sentence names neither address nor password."""


async def post_json(url: str, content: Any, key: str, *, private: bool) -> None:
    """Send JSON to an address, which must answer below 300; redirects are not followed."""
    status, _ = await ask_json(url, content, {"Idempotency-Key": key}, private=private)
    if status >= 300:
        raise NotSentError(f"it answered HTTP {status}")


async def ask_json(url: str, content: Any, headers: Mapping[str, str], *, private: bool) -> tuple[int, bytes]:
    """Send JSON to an address, and return the status and the content of its answer."""
    names = resolver()
    try:
        checked = check_url(url, allow_private=private)
        seconds = aiohttp.ClientTimeout(total=SECONDS)
        async with open_session(FetchSettings(allow_private=private), names) as session:
            sent = session.post(
                checked, json=content, headers=headers, allow_redirects=False, timeout=seconds
            )
            async with sent as answer:
                said = b""
                while len(said) < LARGEST and (part := await answer.content.read(LARGEST)):
                    said += part
                return answer.status, said
    except (Problem, aiohttp.ClientError, OSError, ValueError) as error:  # whose text may name the address
        raise NotSentError(f"it could not be reached: {type(error).__name__}") from None
    finally:
        await names.close()


class _Answers(io.RawIOBase):
    """What a mail server says, within the time and the bytes of the whole exchange."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock, self._until, self._room = sock, until, MOST_SAID

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._until - time.monotonic()
        if left <= 0 or self._room <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        size = self._sock.recv_into(buffer)
        self._room -= size
        return size


class _Mail(smtplib.SMTP):
    """Connects to addresses that the guard allows, and hears so much alone: smtplib reads on without end."""

    private, until, file = False, 0.0, None

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None:
            self.until = self.until or time.monotonic() + SECONDS
            self.file = io.BufferedReader(_Answers(self.sock, self.until))  # type: ignore[arg-type]
        return super().getreply()

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        for family, *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            name = str(address[0])
            if self.private or (is_public(name) and not is_own(family, name)):
                return socket.create_connection((name, port), timeout)
        raise PermissionError


class _MailTls(smtplib.SMTP_SSL, _Mail):
    """The same, encrypted from the first byte."""


def send_mail(
    message: EmailMessage, server: str, tls: str, login: tuple[str, str] | None, *, private: bool
) -> None:
    """Give a message to a mail server, ``host:port``; ``tls`` is "starttls", "tls" or "none"."""
    context = ssl.create_default_context()
    mail = _MailTls(timeout=SECONDS, context=context) if tls == "tls" else _Mail(timeout=SECONDS)
    try:
        parts = urlsplit(f"//{server}")
        host, port = parts.hostname or "", parts.port or (465 if tls == "tls" else 587)
        mail.private, mail._host = private, host  # type: ignore[attr-defined]  # the name of the certificate
        mail.connect(host, port)
        if tls == "starttls":
            mail.starttls(context=context)
        if login is not None:
            mail.login(*login)
        mail.send_message(message)
        mail.quit()
    except (OSError, smtplib.SMTPException, ValueError) as error:  # whose text may quote what was sent
        raise NotSentError(f"the mail server did not take it: {type(error).__name__}") from None
    finally:
        mail.close()
