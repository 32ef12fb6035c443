"""A hundred thousand spellings of addresses: none fails, and none is dialled as another than was checked."""

from __future__ import annotations

import random
import socket
from urllib.parse import urlsplit

import pytest
from yarl import URL

from webanalytics.fetching.guard import check_redirect, check_url, is_public
from webanalytics.fetching.response import Problem
from webanalytics.urls import address

SCHEMES = [
    *(
        "http://",
        "https://",
        "HTTP://",
        "hTTps://",
        "http:/",
        "http:",
        "//",
        "http:\\\\",
        " https://",
        "ftp://",
    ),
    # what some folding of letters takes for an ASCII one: long s, Kelvin sign, dotless i, full width
    *("http\u017f://", "HTTP\u017f://", "\uff48ttp://", "http\uff1a//", "htt\u0440://", "file\u017f://"),
]
PIECES = [
    *("example", ".", "com", "a", "b.c", "-", "_", "xn--", "xn--n3h", "\u00fc", "\u00df", "\U0001f4a9"),
    *("127.0.0.1", "127.1", "0x7f", "0177", "2130706433", "169.254.169.254", "10.0.0.1", "1.2.3.4", "256"),
    *("[::1]", "[::ffff:127.0.0.1]", "[fe80::1%25eth0]", "[", "]", "::", "%31", "%2e", "%00", "\u3002"),
    *(
        "@",
        ":",
        "#",
        "?",
        "/",
        "\\",
        ":80",
        ":443",
        ":0",
        ":65536",
        ":\u0661",
        ";",
        "&",
        "=",
        " ",
        "\t",
        "\n",
    ),
    *(
        "\x00",
        "\x7f",
        "\u200b",
        "\u00ad",
        "\u2028",
        "\ud800",
        "\u017f",
        "\u212a",
        "\u0131",
        "\uff11",
        "\u2488",
    ),
    *("localhost", ".local", "user:word@", "!", "..", "/../", "/%2e%2e/", "\u0301", "\uff0e", "\u2100"),
]


SOUND = [
    "http://example.com",
    "HTTPS://a.example",
    "https://b\u00fccher.example",
    "http://1.1.1.1",
    "https://x",
]


def spellings(count: int) -> list[str]:
    drawn = random.Random(27)
    return [
        drawn.choice(SOUND if number % 2 else SCHEMES)
        + "".join(drawn.choices(PIECES, k=drawn.randrange(1, 9)))
        for number in range(count)
    ]


def differs(checked: URL) -> bool:
    """Return whether another parser of what is sent sees another host or port, or a host inside."""
    text, host = str(checked), checked.raw_host
    parts, again = urlsplit(text), URL(text)
    try:
        numeric = socket.inet_ntoa(socket.inet_aton(host or ""))
    except (OSError, UnicodeError):
        numeric = host
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    return (
        (parts.hostname, port) != (host, checked.port)
        or (again.raw_host, again.port) != (host, checked.port)
        or (numeric != host and ":" not in (host or ""))
        or ((numeric or "").replace(".", "").isdecimal() and not is_public(numeric or ""))
        or not text.isascii()
        or not text.isprintable()
    )


def test_no_spelling_fails_or_leads_elsewhere() -> None:
    accepted, wrong = 0, []
    for text in spellings(100_000):
        found = address(text)
        assert found is None or found.url.startswith(("http://", "https://")), ascii(text)
        try:
            checked = check_url(text)
        except Problem:
            continue
        accepted += 1
        if differs(checked) or check_url(str(checked)) != checked:
            wrong.append(ascii(text))
    assert wrong == []
    assert accepted > 2_000, "the spellings are not all nonsense"


@pytest.mark.parametrize("scheme", ["http\u017f", "HTTP\u017f", "hTtP\u017f"])
def test_a_long_s_is_no_s(scheme: str) -> None:
    target = f"{scheme}://example.com/"
    with pytest.raises(Problem) as refused:
        check_url(target)
    assert refused.value.key == "invalid_url"
    assert address(target) is None
    # to the URL Standard it is a path
    assert check_redirect(URL("https://a.example/"), f"{scheme}://127.0.0.1/").host == "a.example"
