"""A forward proxy with a password: what reaches it, what it is not asked, and how its failures are named."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import pickle
import socket
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import webanalytics as wa
from webanalytics.core.proxy import Proxy
from webanalytics.fetching.guard import dialled_by_proxy
from webanalytics.fetching.session import _Connector
from webanalytics.fetching.testing import SiteServer

WORD = "Basic " + base64.b64encode(b"ann:pr0xy-word").decode()


class ForwardProxy:
    """Takes one request for each connection, and answers it itself: names of hosts need not exist."""

    def __init__(self, connect: bytes = b"HTTP/1.1 502 Bad Gateway\r\n\r\n") -> None:
        self.connect = connect
        self.heads: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._answer(self._socket.accept()[0])

    def _answer(self, asked: socket.socket) -> None:
        with asked:
            head = b""
            while b"\r\n\r\n" not in head and (more := asked.recv(65_536)):
                head += more
            self.heads.append(text := head.decode("latin-1"))
            if f"Proxy-Authorization: {WORD}" not in text:
                answer = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
            elif text.startswith("CONNECT "):
                answer = self.connect
            else:
                body = b"" if "/robots.txt" in text.partition("\r\n")[0] else b"<title>Tea</title>"
                answer = (
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                    b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
                )
            asked.sendall(answer)

    def close(self) -> None:
        self._socket.close()

    @property
    def lines(self) -> list[str]:
        return [head.partition("\r\n")[0] for head in self.heads]


@pytest.fixture
def proxy() -> Iterator[ForwardProxy]:
    made = ForwardProxy()
    yield made
    made.close()


def fetched(url: str, **options: Any) -> Any:
    return wa.metadata([url], retries=0, **options).iloc[0]


# The target's addresses are not private; neither is looked up here: the second is in no DNS (RFC 6761).
@pytest.mark.parametrize("host", ["93.184.215.14", "tea.invalid"])
def test_http_goes_through_it_with_its_password(proxy: ForwardProxy, host: str) -> None:
    row = fetched(f"http://{host}/tea", proxy=f"http://ann:pr0xy-word@127.0.0.1:{proxy.port}")
    assert (row["status"], row["title"]) == ("ok", "Tea")
    assert proxy.lines == [f"GET http://{host}/robots.txt HTTP/1.1", f"GET http://{host}/tea HTTP/1.1"]


def test_https_is_a_tunnel_that_the_host_does_not_see_the_password_in(proxy: ForwardProxy) -> None:
    row = fetched(
        "https://93.184.215.14/tea",
        proxy=f"http://ann:pr0xy-word@127.0.0.1:{proxy.port}",
        access={"93.184.215.14": wa.Access(token="t0ken-abc")},
        robots=False,
    )
    assert row["error"] == "The proxy does not connect to the server (HTTP 502)."
    assert proxy.lines == ["CONNECT 93.184.215.14:443 HTTP/1.1"]
    assert "t0ken-abc" not in proxy.heads[0]


@pytest.mark.parametrize("login", ["", "ann:wrong@"])
@pytest.mark.parametrize("url", ["http://93.184.215.14/", "https://93.184.215.14/"])
def test_its_407_is_named_as_its_own(proxy: ForwardProxy, url: str, login: str) -> None:
    row = fetched(url, proxy=f"http://{login}127.0.0.1:{proxy.port}")
    asks = "The proxy asks for a user name and a password, or refuses those it was sent"
    assert row["error"] == f"{asks}; `proxy=` takes them."


@pytest.mark.parametrize("url", ["http://93.184.215.14/", "https://93.184.215.14/"])
def test_a_proxy_that_is_not_there(proxy: ForwardProxy, url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    row = fetched(url, proxy=f"http://ann:pr0xy-word@127.0.0.1:{port}")
    assert (row["error"], row["error_type"]) == ("The proxy cannot be reached.", "connection")


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "localhost"])
def test_private_targets_are_refused_before_it_is_asked(proxy: ForwardProxy, host: str) -> None:
    row = fetched(f"http://{host}/", proxy=f"http://ann:pr0xy-word@127.0.0.1:{proxy.port}")
    assert row["error_type"] == "blocked"
    assert proxy.heads == []


def test_names_of_private_addresses_are_refused_too(
    proxy: ForwardProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Names:
        async def resolve(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
            return [{"host": "93.184.215.14"}, {"host": "10.0.0.1"}]

        async def close(self) -> None:
            pass

    monkeypatch.setattr("webanalytics.fetching.fetcher.resolver", Names)
    row = fetched("http://tea.example/", proxy=f"http://ann:pr0xy-word@127.0.0.1:{proxy.port}")
    assert row["error_type"] == "blocked"
    assert proxy.heads == []


def test_of_the_environment(proxy: ForwardProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "http_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", f"http://ann:pr0xy-word@127.0.0.1:{proxy.port}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,.direct.example")
    with SiteServer({"/": b"<title>Here</title>"}) as site:
        assert fetched(site.url, proxy="env", allow_private=True)["title"] == "Here"
    assert proxy.heads == []
    assert fetched("http://93.184.215.14/", proxy="env")["title"] == "Tea"
    found = Proxy.of("env")
    assert found is not None
    assert found.way("http", "a.direct.example", 80) is None
    assert found.way("https", "a.example", 443) is None


@pytest.mark.parametrize(
    "value", ["", "socks4://ann:pr0xy-word@a:1", "http://ann:pr0xy-word@", "http://ann:pr0xy-word@a:99999", 3]
)
def test_wrong_values_are_not_shown(value: Any) -> None:
    with pytest.raises(wa.ParameterError, match="`proxy` parameter must be") as caught:
        wa.metadata(["https://a.example"], proxy=value)
    assert "pr0xy" not in f"{caught.value!r}{caught.value.__context__!r}"


def test_nothing_shows_its_password() -> None:
    with wa.option_context(proxy="http://ann:pr0xy-word@proxy.example:3128"):
        assert repr(wa.options.proxy) == "Proxy('http://proxy.example:3128')"
        assert "pr0xy" not in repr(wa.options)
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(wa.options.proxy)
        with pytest.raises(wa.ParameterError, match="`proxy` parameter must be left out with a hosted"):
            wa.text(["https://a.example/"], backend=wa.Hosted("http://127.0.0.1:1", "k"))


def test_a_name_that_only_a_proxy_may_know(monkeypatch: pytest.MonkeyPatch) -> None:
    class Names:
        known: tuple[str, ...] = ()

        async def resolve(self, host: str, *_: Any, **__: Any) -> list[dict[str, Any]]:
            if host in self.known:
                return [{"host": "93.184.215.14"}]
            raise socket.gaierror(socket.EAI_NONAME, "no such name")

        async def close(self) -> None:
            pass

    monkeypatch.setattr("webanalytics.fetching.fetcher.resolver", Names)
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert fetched("https://tea.example/")["error"] == "The host does not exist."
    monkeypatch.setenv("HTTPS_PROXY", "http://ann:pr0xy-word@proxy.example:3128")
    row = fetched("https://tea.example/")
    assert row["error"] == (
        'The host is not known here, and the environment names a proxy; `proxy="env"` asks through it.'
    )
    assert row["error_type"] == "dns"
    monkeypatch.setattr(Names, "known", ("example.com",))  # names of the public internet are known here
    assert fetched("https://tea.example/")["error"] == "The host does not exist."


def test_a_proxy_that_speaks_tls_is_not_shown_what_is_for_a_host() -> None:
    ours = ssl.create_default_context()

    class Sent:
        ssl = ours

        def __init__(self, proxy: str | None) -> None:
            self.proxy = proxy

        def is_ssl(self) -> bool:
            return True

    async def contexts() -> list[Any]:
        made = _Connector()
        token = dialled_by_proxy.set(True)
        try:
            return [made._get_ssl_context(Sent(proxy)) for proxy in (None, "https://proxy.example:3128")]
        finally:
            dialled_by_proxy.reset(token)
            await made.close()

    to_proxy, to_host = asyncio.run(contexts())
    assert to_proxy is not ours
    assert to_proxy.verify_mode == ssl.CERT_REQUIRED
    assert to_host is ours
