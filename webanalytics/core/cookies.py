"""Cookies that open hosts: of a mapping, of a ``cookies.txt``, or exported by a browser as JSON."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from webanalytics.errors import ParameterError

NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
"""A token of RFC 9110: names of headers and of cookies."""
_VALUE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e\x20\",]{0,4096}")


class Cookie(NamedTuple):
    """A cookie, and where it goes: anywhere on its host, or where a file of a browser says."""

    name: str
    value: str
    domain: str = ""
    below: bool = False
    path: str = "/"
    secure: bool = False
    expires: int = 0

    def fits(self, scheme: str, host: str, path: str) -> bool:
        """Return whether it goes with a request (RFC 6265 section 5.4)."""
        on_host = self.domain in ("", host) or (self.below and host.endswith(f".{self.domain}"))
        folder = self.path if self.path.endswith("/") else f"{self.path}/"
        below = path == self.path or path.startswith(folder)
        lasts = not self.expires or self.expires > time.time()
        return on_host and below and lasts and (scheme == "https" or not self.secure)


def cookies_of(given: Any) -> tuple[Cookie, ...]:
    """Return the cookies of a mapping or a file; raises `ParameterError`, without a value of them."""
    if isinstance(given, Mapping):
        found: list[Cookie] | None = [Cookie(name, value) for name, value in given.items()]
        expected = "map names to values of cookies"
    else:
        found = _of_file(given)
        expected = (
            "be a mapping, a cookies.txt (lines of seven fields with tabs) or a browser's export in JSON"
        )
    if found is None or not all(map(_is_sound, found)):  # raised out here: errors quote the file
        raise ParameterError(f"The `cookies` parameter must {expected}.", "cookies")
    return tuple(found)


def _is_sound(cookie: Cookie) -> bool:
    texts = all(isinstance(item, str) for item in (cookie.name, cookie.value, cookie.domain, cookie.path))
    return texts and bool(NAME.fullmatch(cookie.name) and _VALUE.fullmatch(cookie.value))


def _of_file(path: Any) -> list[Cookie] | None:
    try:
        text = Path(path).read_text("utf-8-sig")
        return list(_exported(text) if text.lstrip()[:1] in ("[", "{") else _netscape(text))
    except (OSError, TypeError, ValueError, KeyError, AttributeError, RecursionError):
        return None


def _netscape(text: str) -> Iterator[Cookie]:
    for line in text.splitlines():
        fields = line.removeprefix("#HttpOnly_")
        if fields.strip() and not fields.startswith("#"):
            domain, below, path, secure, expires, name, value = fields.split("\t")
            host = domain.removeprefix(".").lower()
            yield Cookie(name, value, host, below == "TRUE", path or "/", secure == "TRUE", int(expires))


def _exported(text: str) -> Iterator[Cookie]:
    """Yield what extensions of browsers and Playwright export: a list of objects."""
    read = json.loads(text)
    for item in read["cookies"] if isinstance(read, dict) else read:
        domain = item["domain"].lower()
        below = not item["hostOnly"] if "hostOnly" in item else domain.startswith(".")
        expires = int(item.get("expirationDate") or item.get("expires") or 0)
        place = (domain.removeprefix("."), below, item.get("path") or "/", item.get("secure") is True)
        yield Cookie(item["name"], item["value"], *place, max(expires, 0))
