"""HMAC against the vectors of RFC 2202 and RFC 4231, the openssl command, and for secrecy."""

from __future__ import annotations

import base64
import copy
import json
import logging
import pickle
import shutil
import subprocess
import traceback

import pytest

import webanalytics as wa
from webanalytics.core.operations.secret import MASK, Secret
from webanalytics.errors import ParameterError, RowError
from webanalytics.operations import HMAC
from webanalytics.records.hmac import signature as hmac

LARGE_KEY = b"Test Using Larger Than Block-Size Key - Hash Key First"

# RFC 2202: MD5 keys of cases 1, 3 and 5 have 16 octets, SHA-1 keys 20.
RFC_2202 = [
    ("md5", b"\x0b" * 16, b"Hi There", "9294727a3638bb1c13f48ef8158bfc9d"),
    ("md5", b"Jefe", b"what do ya want for nothing?", "750c783e6ab0b503eaa86e310a5db738"),
    ("md5", b"\xaa" * 16, b"\xdd" * 50, "56be34521d144c88dbb8c733f0e8b3f6"),
    ("md5", bytes(range(1, 26)), b"\xcd" * 50, "697eaf0aca3a3aea3a75164746ffaa79"),
    ("md5", b"\x0c" * 16, b"Test With Truncation", "56461ef2342edc00f9bab995690efd4c"),
    ("md5", b"\xaa" * 80, LARGE_KEY, "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd"),
    ("sha1", b"\x0b" * 20, b"Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
    ("sha1", b"Jefe", b"what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    ("sha1", b"\xaa" * 20, b"\xdd" * 50, "125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
    ("sha1", bytes(range(1, 26)), b"\xcd" * 50, "4c9007f4026250c6bc8414f9bf50c86c2d7235da"),
    ("sha1", b"\x0c" * 20, b"Test With Truncation", "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"),
    ("sha1", b"\xaa" * 80, LARGE_KEY, "aa4ae5e15272d00e95705637ce8a3b55ed402112"),
]
RFC_4231 = [
    ("sha256", b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (
        "sha384",
        b"\x0b" * 20,
        b"Hi There",
        "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6",
    ),
    (
        "sha512",
        b"\x0b" * 20,
        b"Hi There",
        "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
        "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
    ),
    (
        "sha256",
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
    (
        "sha384",
        b"Jefe",
        b"what do ya want for nothing?",
        "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
    ),
    (
        "sha512",
        b"Jefe",
        b"what do ya want for nothing?",
        "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
        "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
    ),
    (
        "sha256",
        b"\xaa" * 20,
        b"\xdd" * 50,
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
    ),
    (
        "sha256",
        b"\xaa" * 131,
        LARGE_KEY,
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
    (
        "sha384",
        b"\xaa" * 131,
        LARGE_KEY,
        "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df163f44952",
    ),
    (
        "sha512",
        b"\xaa" * 131,
        LARGE_KEY,
        "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
        "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
    ),
]
VECTORS = RFC_2202 + RFC_4231


@pytest.mark.parametrize(("algorithm", "key", "message", "expected"), VECTORS)
def test_vectors_of_the_rfcs(algorithm, key, message, expected):
    assert hmac.analyse(message, key, algorithm) == {
        "hmac": expected,
        "algorithm": algorithm,
        "encoding": "hex",
    }
    encoded = hmac.analyse(message, key, algorithm, "base64")
    assert base64.b64decode(encoded["hmac"], validate=True).hex() == expected


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the openssl command is not installed")
@pytest.mark.parametrize("algorithm", HMAC.parameter("algorithm").choices)
def test_same_as_openssl_for_text_beyond_ascii(algorithm):
    message, secret = "Grüße, 世界 🌍\r\n", "pässwörd 鍵"
    command = [
        "openssl",
        "dgst",
        f"-{algorithm}",
        "-mac",
        "HMAC",
        "-macopt",
        f"hexkey:{secret.encode().hex()}",
    ]
    answer = subprocess.run(command, input=message.encode(), capture_output=True, check=True).stdout
    assert hmac.analyse(message, secret, algorithm)["hmac"] == answer.decode().split()[-1]


@pytest.mark.parametrize("message", ["lone \ud800", None, 3, float("nan"), ["a"]])
def test_a_message_that_cannot_be_signed_is_a_row(message):
    with pytest.raises(RowError, match=r"^The `message` parameter must be [^.]+\.$") as caught:
        hmac.analyse(message, "key")
    assert caught.value.error_type == "invalid"


@pytest.mark.parametrize(
    ("parameters", "named", "sentence"),
    [
        ({"algorithm": "sha3"}, "algorithm", "must be one of: sha256, sha384, sha512, sha1, md5."),
        ({"algorithm": "SHA256"}, "algorithm", "must be one of"),
        ({"encoding": "base32"}, "encoding", "must be one of: hex, base64."),
    ],
)
def test_wrong_parameters(parameters, named, sentence):
    with pytest.raises(ParameterError) as caught:
        wa.hmac("message", secret="key", **parameters)
    assert caught.value.parameter == named
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ("hunter2-\ud800", "must be text that UTF-8 can encode."),
        (31337, "must be a string or bytes."),
        (None, "must be a string or bytes."),
        ("", "must not be empty."),
    ],
)
def test_a_bad_secret_is_named_and_not_shown(secret, said):
    with pytest.raises(ParameterError, match=said) as caught:
        hmac.analyse("message", secret)
    assert caught.value.parameter == "secret"
    assert caught.value.__context__ is None, "a UnicodeEncodeError in the chain would carry the secret"
    for shown in ("hunter2", "31337"):
        assert shown not in "".join(traceback.format_exception_only(caught.value))


def test_the_secret_is_not_among_the_local_variables_of_an_error():
    with pytest.raises(RowError) as caught:
        hmac.analyse("lone \ud800", "hunter2-secret")
    inside = caught.value.__traceback__.tb_next  # this test's own frame names the secret
    report = traceback.TracebackException(type(caught.value), caught.value, inside, capture_locals=True)
    text = "".join(report.format())
    assert "secret" in text
    assert "hunter2" not in text


def test_a_secret_shows_itself_nowhere(caplog):
    secret = Secret("hunter2")
    with caplog.at_level(logging.INFO):
        logging.getLogger("test").info("key %s %r", secret, secret)
    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret:>20}",
        repr([secret]),
        caplog.text,
    ]
    assert not any("hunter2" in text for text in shown)
    assert all(MASK in text for text in shown)
    assert len(repr(Secret("x"))) == len(repr(Secret("x" * 99))), "the mask must not tell the length"


def test_a_secret_cannot_be_stored_or_changed():
    secret = Secret("hunter2")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(secret, protocol)
    with pytest.raises(TypeError):
        json.dumps(secret)
    with pytest.raises(TypeError):
        hash(secret)
    with pytest.raises(AttributeError):
        secret._value = b"other"
    with pytest.raises(AttributeError):
        del secret._value
    assert copy.deepcopy(secret) is copy.copy(secret) is secret
    assert not hasattr(secret, "__dict__")


def test_secrets_compare_by_value():
    assert Secret("key") == Secret(b"key") == Secret(Secret("key"))
    assert Secret("key") != Secret("kez")
    assert Secret("key") != "key"
    assert (Secret("key") == "key") is False
    with pytest.raises(TypeError, match="Secret cannot be pickled"):
        Secret("key").__getstate__()  # what copies of slots would be made of
    assert Secret("käy").reveal() == b"k\xc3\xa4y"
    assert hmac.analyse("m", Secret("key")) == hmac.analyse("m", "key")
