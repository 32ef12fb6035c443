"""HMAC: keyed-hash message authentication codes (RFC 2104)."""

from __future__ import annotations

from typing import Literal

from webanalytics.core.operations.model import Docs, Field, Operation, Parameter

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
    analysis="webanalytics.records.hmac.signature:analyse",
    column_names=("message", "messages", "text", "payload", "body"),
    table=(("message", "message"), ("hmac", "hmac")),
    title="HMAC",
    example="webanalytics.records.hmac:example.json",
    docs=Docs(
        summary="Sign messages with a secret key.",
        inputs="Messages; signed as UTF-8.",
        settings={"secret": "Secret key, used as UTF-8. It is in no frame, log or error."},
        returns="``message``, ``status``, ``hmac``, ``algorithm``, ``encoding``, ``error``, ``error_type``.",
        notes="RFC 2104; test vectors in RFC 2202 and RFC 4231.",
        examples="""
>>> import webanalytics as wa
>>> wa.hmac("what do ya want for nothing?", secret="Jefe").loc[0, "hmac"]
'5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
""",
    ),
)
