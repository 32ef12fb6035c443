"""Addresses as evidence shows them: without passwords and tokens, since reports are passed on."""

from __future__ import annotations

import re
from functools import lru_cache

MASK = "…"

# What stands before an @ in front of the host; or, where the address was cut, what is no port.
_USER = re.compile(r"(https?://)[^\s/?#@<>\"']{1,500}@", re.IGNORECASE)
_CUT_USER = re.compile(
    r"(https?://)(?!\[)[^\s/?#@:<>\"',]+:(?!\d{1,5}(?:[\s/?#<>\"',.…)|]|$))[^\s/?#@<>\"']+", re.IGNORECASE
)
_NAMED = re.compile(
    r"((?:^|[?&;#])(?:[\w.-]*(?:token|secret|password|passwd|signature|credential|api[_-]?key|sessionid|sessid)"
    r"|pwd|pass|sig|sid|auth|jwt|session|key|code)=)[^&\s#|<>\"')…]{6,}",
    re.IGNORECASE,
)
_OPAQUE = re.compile(
    r"([?&;][^=&\s]{1,80}=)(?=[\w~.-]*\d)(?=[\w~.-]*[a-z])([\w~-]{6})[\w~-]{26,}", re.IGNORECASE | re.ASCII
)


@lru_cache(maxsize=4_096)  # pages of a site repeat what is found on them
def without_secrets(text: str) -> str:
    """Return a text whose addresses show no user information, and of tokens at most the beginning.

    Hidden are what RFC 3986 (section 3.2.1) calls user information, values of parameters that are called like
    keys, and values of 32 letters and digits or more.

    Examples
    --------
    >>> without_secrets("https://me:pass@a.example/?token=abcdef123 and https://a.example:8080/?q=tea")
    'https://…@a.example/?token=… and https://a.example:8080/?q=tea'
    >>> list(map(without_secrets, ("https://a.example/?i=0123456789abcdef0123456789abcdef", "key=s3cr3t")))
    ['https://a.example/?i=012345…', 'key=…']
    """
    if "=" in text:
        text = _OPAQUE.sub(rf"\1\2{MASK}", _NAMED.sub(rf"\1{MASK}", text))
    if "://" in text:
        if "@" in text:
            text = _USER.sub(rf"\1{MASK}@", text)
        if text.count(":") > text.count("://"):  # of a user or a port
            text = _CUT_USER.sub(rf"\1{MASK}", text)
    return text
