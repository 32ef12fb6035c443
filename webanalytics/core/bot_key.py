"""Web Bot Auth: requests signed with a key of one's own, so that sites know who asks (RFC 9421, Ed25519)."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from webanalytics.core.operations.secret import Unpicklable
from webanalytics.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

VALID_SECONDS: Final = 300
_AGENT = re.compile(r"https://[a-z0-9.-]+(?::\d{1,5})?")


class BotKey(Unpicklable):
    """A key that signs each request, as draft-ietf-webbotauth-httpsig-protocol-00 has it; extra ``bot-key``.

    Parameters
    ----------
    file : path
        An Ed25519 key in PEM without a passphrase: what `create` wrote.
    agent : str, optional
        The site on which the bot's owner publishes `directory`, such as ``"https://bot.example.org"``; by
        default the one that the file names.
    """

    def __init__(self, file: str | os.PathLike[str], agent: str | None = None) -> None:
        text, key = _read(file)
        named = re.match(r"agent: (\S+)", text) if agent is None else None
        self.agent = _checked_agent(named[1] if named else agent)
        self._private = key
        self._public = {"crv": "Ed25519", "kty": "OKP", "x": _base64url(key.public_key().public_bytes_raw())}
        shortest = json.dumps(self._public, separators=(",", ":")).encode()
        self.key_id = _base64url(hashlib.sha256(shortest).digest())  # RFC 7638

    @classmethod
    def create(cls, file: str | os.PathLike[str], agent: str) -> Self:
        """Write a new key to a file that only its owner can read, and return it; raises if there is a file.

        Parameters
        ----------
        file : path
            Where it goes.
        agent : str
            The site on which `directory` is to be published.
        """
        ed25519, serialization = _cryptography()
        _checked_agent(agent)
        pem = ed25519.Ed25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        try:
            with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
                out.write(f"agent: {agent}\n".encode() + pem)
        except OSError as error:
            raise ParameterError.must_be(
                "file", f"a new file in an existing folder: {error.strerror}"
            ) from None
        return cls(file)

    def directory(self) -> str:
        """Return the file that the agent publishes at ``/.well-known/http-message-signatures-directory``."""
        key = {**self._public, "kid": self.key_id, "use": "sig", "alg": "EdDSA"}
        return json.dumps({"keys": [key]}, indent=2) + "\n"

    def directory_headers(self, days: int = 365) -> dict[str, str]:
        """Return the headers that the directory is published with: its type, and a signature for days."""
        digest = base64.b64encode(hashlib.sha256(self.directory().encode()).digest()).decode("ascii")
        said = {'"@authority";req': self.agent[8:], '"content-digest"': f"sha-256=:{digest}:"}
        return {
            "Content-Type": "application/http-message-signatures-directory+json",
            "Content-Digest": said['"content-digest"'],
            **self.signature(said, "http-message-signatures-directory", days * 86_400),
        }

    def headers(self, authority: str) -> dict[str, str]:
        """Return the headers that sign a request to a host, with its port unless that is the usual one."""
        said = {'"@authority"': authority, '"signature-agent";key="sig1"': f'"{self.agent}"'}
        return {"Signature-Agent": f'sig1="{self.agent}"', **self.signature(said, "web-bot-auth")}

    def signature(
        self, components: Mapping[str, str], tag: str, seconds: int = VALID_SECONDS
    ) -> dict[str, str]:
        """Return Signature-Input and Signature over some components, by their identifiers."""
        now, nonce = int(time.time()), base64.b64encode(os.urandom(48)).decode("ascii")
        times = f'created={now};expires={now + seconds};keyid="{self.key_id}";alg="ed25519"'
        covered = f'({" ".join(components)});{times};nonce="{nonce}";tag="{tag}"'
        signed = base64.b64encode(self._private.sign(signature_base(components, covered))).decode("ascii")
        return {"Signature-Input": f"sig1={covered}", "Signature": f"sig1=:{signed}:"}

    def __repr__(self) -> str:
        return f"BotKey({self.agent!r}, {self.key_id!r})"


def signature_base(components: Mapping[str, str], covered: str) -> bytes:
    """Return what is signed (RFC 9421 section 2.5)."""
    lines = [f"{name}: {value}" for name, value in components.items()]
    return "\n".join([*lines, f'"@signature-params": {covered}']).encode("ascii")


def _checked_agent(agent: Any) -> str:
    if isinstance(agent, str) and _AGENT.fullmatch(agent):
        return agent
    raise ParameterError.must_be("agent", "a site such as https://bot.example.org")


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtraError("bot-key", "cryptography", "signing requests") from None
    return ed25519, serialization


def _read(file: Any) -> tuple[str, Ed25519PrivateKey]:
    ed25519, serialization = _cryptography()
    try:
        text = Path(file).read_text("ascii")
        pem = text[max(text.find("-----BEGIN"), 0) :].encode("ascii")
        key = serialization.load_pem_private_key(pem, password=None)
        if isinstance(key, ed25519.Ed25519PrivateKey):
            return text, key
    except (OSError, TypeError, ValueError):  # whose words may quote the file
        pass
    raise ParameterError.must_be("file", "an Ed25519 key in PEM without a passphrase, that can be read")
