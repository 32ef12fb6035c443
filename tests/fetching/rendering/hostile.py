"""A page that reaches for its neighbours by every way that a browser has, and something that listens there."""

from __future__ import annotations

import asyncio
import socket
import threading
from types import TracebackType
from typing import Self

MEANS = {
    "img": "new Image().src = T + '/img'",
    "picture": "add('<picture><source srcset=' + T + '/picture><img src=' + T + '/picture2></picture>')",
    "css": "add('<div style=\"background:url(' + T + '/css)\">x</div>')",
    "css import": "add('<style>@import \"' + T + '/import.css\"; @font-face {font-family:f;src:url(' + T + '/font)} p {font-family:f}</style>')",
    "style sheet": "add('<link rel=stylesheet href=' + T + '/sheet>')",
    "script": "const s = document.createElement('script'); s.src = T + '/script'; document.head.append(s)",
    "module": "import(T + '/module').catch(() => 0)",
    "frame": "add('<iframe src=' + T + '/frame></iframe>')",
    "object": "add('<object data=' + T + '/object></object><embed src=' + T + '/embed>')",
    "video": "add('<video autoplay src=' + T + '/video></video><audio autoplay src=' + T + '/audio></audio>')",
    "preconnect": "add('<link rel=preconnect href=' + T + '><link rel=dns-prefetch href=' + T + '>')",
    "preload": "add('<link rel=preload as=fetch href=' + T + '/preload><link rel=prefetch href=' + T + '/prefetch>')",
    "speculation": "const s = document.createElement('script'); s.type = 'speculationrules'; s.textContent ="
    " JSON.stringify({prerender: [{urls: [T + '/prerender'], eagerness: 'immediate'}], prefetch: [{urls: [T + '/speculated'],"
    " eagerness: 'immediate'}]}); document.head.append(s)",
    "fetch": "fetch(T + '/fetch', {mode: 'no-cors'}).catch(() => 0)",
    "fetch with preflight": "fetch(T + '/put', {method: 'PUT', headers: {'X-A': '1'}}).catch(() => 0)",
    "fetch, kept alive": "fetch(T + '/alive', {mode: 'no-cors', keepalive: true, method: 'POST', body: 'x'}).catch(() => 0)",
    "XMLHttpRequest": "const x = new XMLHttpRequest(); x.open('GET', T + '/xhr'); x.send()",
    "sendBeacon": "navigator.sendBeacon(T + '/beacon', 'x')",
    "EventSource": "new EventSource(T + '/events')",
    "WebSocket": "new WebSocket(T.replace('http', 'ws') + '/socket')",
    "WebSocket, encrypted": "new WebSocket(T.replace('http', 'wss') + '/socket')",
    "WebTransport": "new WebTransport(T.replace('http', 'https') + '/transport').ready.catch(() => 0)",
    "https": "fetch(T.replace('http', 'https') + '/tls', {mode: 'no-cors'}).catch(() => 0)",
    "WebRTC": "const c = new RTCPeerConnection({iceServers: [{urls: 'stun:' + H}, {urls: 'turn:' + H + '?transport=tcp',"
    " username: 'a', credential: 'b'}]}); c.createDataChannel('d'); c.createOffer().then(o => c.setLocalDescription(o))",
    "WebRTC of a frame": "const f = document.createElement('iframe'); document.body.append(f); const c = new"
    " f.contentWindow.RTCPeerConnection({iceServers: [{urls: 'stun:' + H}]}); c.createDataChannel('d');"
    " c.createOffer().then(o => c.setLocalDescription(o))",
    "worker": "new Worker(URL.createObjectURL(new Blob([`fetch('${T}/worker', {mode: 'no-cors'}).catch(() => 0);"
    " new WebSocket('${T.replace('http', 'ws')}/worker'); importScripts('${T}/imported')`])))",
    "shared worker": "new SharedWorker(URL.createObjectURL(new Blob([`fetch('${T}/shared', {mode: 'no-cors'})`])))",
    "service worker": "navigator.serviceWorker.register('/worker.js?' + encodeURIComponent(T)).catch(() => 0)",
    "form": "add('<iframe name=n></iframe><form target=n method=post action=' + T + '/form></form>');"
    " document.querySelector('form:last-of-type').submit()",
    "window.open": "window.open(T + '/open')",
    "download": "const a = document.createElement('a'); a.href = T + '/download'; a.download = 'x'; a.click()",
    "ping": "const a = document.createElement('a'); a.href = '#x'; a.ping = T + '/ping'; document.body.append(a); a.click()",
    "meta refresh": "add('<iframe srcdoc=\"<meta http-equiv=refresh content=0;url=' + T + '/refresh>\"></iframe>')",
    "redirect": "fetch('/to?' + encodeURIComponent(T), {mode: 'no-cors'}).catch(() => 0);"
    " add('<iframe src=/to?' + encodeURIComponent(T) + '></iframe>')",
    "SVG": "add('<svg><image href=' + T + '/svg /><use href=' + T + '/use.svg#a /></svg>')",
    "policy report": "add('<iframe src=/reports?' + encodeURIComponent(T) + '></iframe>')",
    "navigation": "setTimeout(() => { location.href = T + '/navigated' }, 1500)",
}
"""Ways to the network, in scripts; ``T`` is where to, ``H`` its host and port."""

FRAME = """<!doctype html><title>hostile</title><body><p>A page of some words that reaches out.</p><script>
const add = html => document.body.insertAdjacentHTML('beforeend', html);
const [T, H] = [%r, %r];
try { %s } catch (error) { console.error('way failed: ' + error) }
</script>"""


def page(means: str, target: str) -> bytes:
    """The page that tries one way to one target."""
    return (FRAME % (target, target.partition("://")[2], MEANS[means])).encode()


class Canary:
    """Listens on loopback, by TCP on both families and by UDP; remembers who comes."""

    def __enter__(self) -> Self:
        self.arrived: list[bytes] = []
        self._sockets: list[socket.socket] = []
        first = self._listening(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.port = first.getsockname()[1]
        self._listening(socket.AF_INET6, socket.SOCK_STREAM, ("::1", self.port))
        self._listening(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", self.port))
        self._threads = [threading.Thread(target=self._hear, args=(item,)) for item in self._sockets]
        self._done = False
        for thread in self._threads:
            thread.start()
        return self

    def _listening(self, family: int, kind: int, address: tuple[str, int]) -> socket.socket:
        made = socket.socket(family, kind)
        made.settimeout(0.1)
        made.bind(address)
        if kind == socket.SOCK_STREAM:
            made.listen()
        self._sockets.append(made)
        return made

    def _hear(self, made: socket.socket) -> None:
        while not self._done:
            try:
                if made.type == socket.SOCK_DGRAM:
                    self.arrived.append(b"UDP " + made.recv(200))
                    continue
                other, _ = made.accept()
                other.settimeout(0.3)
                with other:
                    try:
                        self.arrived.append(other.recv(200) or b"a connection")
                        other.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
                    except OSError:
                        self.arrived.append(b"a connection")
            except OSError:
                continue

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done = True
        for thread in self._threads:
            thread.join()
        for made in self._sockets:
            made.close()


async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pages: dict[str, bytes]) -> None:
    """Answer one request for a page, a redirect or a worker."""
    with_target = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
    from urllib.parse import unquote

    path, _, target = with_target.partition("?")
    head, body = "Content-Type: text/html", pages.get(path, b"<title>other</title><p>words")
    if path == "/to":
        head = f"Location: {unquote(target)}/redirected"
    elif path == "/worker.js":
        head, body = (
            "Content-Type: text/javascript",
            f"fetch('{unquote(target)}/sw', {{mode: 'no-cors'}})".encode(),
        )
    elif path == "/reports":
        head += f"\r\nContent-Security-Policy: script-src 'none'; report-uri {unquote(target)}/report"
        body = b"<script>1</script>"
    status = "302 Found" if path == "/to" else "200 OK"
    writer.write(
        f"HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        + body
    )
    await writer.drain()
    writer.close()
