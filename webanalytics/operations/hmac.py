"""HMAC: keyed-hash message authentication codes (RFC 2104)."""

from __future__ import annotations

from typing import Literal

from webanalytics.operations.base import Field, Operation, Parameter

Algorithm = Literal["sha256", "sha384", "sha512", "sha1", "md5"]
Encoding = Literal["hex", "base64"]

HMAC = Operation(
    name="hmac",
    path="hmac",
    method="POST",
    summary="Compute an HMAC of a message with a secret, output as hex or base64.",
    kind="record",
    subject="message",
    input_column="message",
    parameters=(
        Parameter("message", str, "Message to sign."),
        Parameter("secret", str, "Secret key.", secret=True),
        Parameter("algorithm", Algorithm, "Hash algorithm.", default="sha256"),
        Parameter("encoding", Encoding, "Output encoding.", default="hex"),
    ),
    fields=(
        Field("hmac", str, "The signature, in the requested encoding."),
        Field("algorithm", str, "Hash algorithm used."),
        Field("encoding", str, "Output encoding applied."),
    ),
    credits=2,
)
