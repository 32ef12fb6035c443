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
    "further elements": "add('<embed type=application/pdf src=' + T + '/a.pdf><iframe src=' + T + '/b.pdf></iframe><object type="
    "application/pdf data=' + T + '/c.pdf></object><link rel=manifest crossorigin=use-credentials href=' + T + '/manifest><link"
    " rel=icon href=' + T + '/icon><link rel=modulepreload href=' + T + '/m.js><video controls><source src=' + T + '/v><track"
    " default src=' + T + '/t.vtt></video><svg><filter id=f><feImage href=' + T + '/f /></filter><rect filter=url(#f) width=9"
    " height=9 /></svg><div style=\"filter:url(' + T + '/f.svg#a);mask:url(' + T + '/m.svg#a);cursor:url(' + T + '/c),auto\">x"
    "</div><a id=z attributionsrc=' + T + '/a href=#>x</a>'); document.getElementById('z').click()",
    "import map and worklets": "const s = document.createElement('script'); s.type = 'importmap'; s.textContent ="
    " JSON.stringify({imports: {x: T + '/map.js'}}); document.head.append(s); const m = document.createElement('script');"
    " m.type = 'module'; m.textContent = 'import \"x\"'; document.head.append(m); new AudioContext().audioWorklet"
    ".addModule(T + '/worklet').catch(() => 0); CSS.paintWorklet?.addModule(T + '/paint').catch(() => 0)",
    "further fetches": "self.fetchLater?.(T + '/later', {activateAfter: 0}); fetch(T + '/local', {targetAddressSpace: 'local'})"
    ".catch(() => 0); fetch(T + '/manual', {mode: 'no-cors', redirect: 'manual'}).catch(() => 0); const x = new"
    " XMLHttpRequest(); x.open('GET', T.replace('://', '://a:b@') + '/user'); x.send()",
    "documents of its own": "const call = `<script>fetch('${T}/own', {mode: 'no-cors'}); new WebSocket('${T.replace('http', 'ws')}"
    "/own')</` + 'script>'; const f = (set) => { const one = document.createElement('iframe'); set(one); document.body.append(one);"
    " return one }; f(one => { one.src = 'data:text/html,' + encodeURIComponent(call) }); f(one => { one.srcdoc = call });"
    " f(one => { one.src = URL.createObjectURL(new Blob([call], {type: 'text/html'})) }); f(() => 0).contentDocument.write(call);"
    " f(one => { one.src = `data:text/xml,<?xml-stylesheet type='text/xsl' href='${T}/x.xsl'?><a/>` });"
    " new Worker(URL.createObjectURL(new Blob([`new Worker(URL.createObjectURL(new Blob(['fetch(\"${T}/nested\")'])))`])))",
    "further WebRTC": "const call = `<script>const c = new RTCPeerConnection({iceServers: [{urls: 'stun:${H}'}]});"
    " c.createDataChannel('d'); c.createOffer().then(o => c.setLocalDescription(o))</` + 'script>'; const f = (name, text) =>"
    " { const one = document.createElement('iframe'); one.sandbox = 'allow-scripts'; one[name] = text; document.body.append(one) };"
    " f('srcdoc', call); f('src', 'data:text/html,' + encodeURIComponent(call)); const w = open('about:blank');"
    " w?.document.write(call)",
    "older elements": "add('<input type=image src=' + T + '/input><table background=' + T + '/table><tr><td>x</table><link"
    " rel=prerender href=' + T + '/prerendered><iframe srcdoc=\"<frameset><frame src=' + T + '/frameset></frameset>\"></iframe>"
    "<ul style=\"list-style-image:url(' + T + '/list)\"><li>x</ul><p style=\"background:image-set(url(' + T + '/set) 1x);"
    "border-image:url(' + T + '/border) 1;float:left;shape-outside:url(' + T + '/shape)\">x</p><fencedframe></fencedframe>"
    "<portal src=' + T + '/portal></portal><div style=\"--a:url(' + T + '/variable);content:var(--a)\">x</div>')",
    "headers": "add('<iframe src=/headers?' + encodeURIComponent(T) + '></iframe>')",
    "further interfaces": "const quiet = made => { try { made()?.catch?.(() => 0) } catch {} }; quiet(() => new WebSocketStream("
    "T.replace('http', 'ws') + '/stream').opened); quiet(() => new PaymentRequest([{supportedMethods: T + '/pay'}], {total: {label:"
    " 'x', amount: {currency: 'EUR', value: '1'}}}).canMakePayment()); quiet(() => navigator.credentials.get({identity: {providers:"
    " [{configURL: T + '/identity', clientId: 'x'}]}})); quiet(() => sharedStorage.worklet.addModule(T + '/shared')); quiet(() =>"
    " navigator.joinAdInterestGroup({owner: T, name: 'x', updateURL: T + '/group'}, 9)); quiet(() => new ReportingObserver(() => 0)"
    ".observe()); quiet(() => document.startViewTransition()); quiet(() => new FontFace('f', `url(${T}/face)`).load()); quiet(() => "
    "import(T + '/data.json', {with: {type: 'json'}})); quiet(() => import(T + '/sheet.css', {with: {type: 'css'}})); quiet(() => {"
    " const one = new Audio(T + '/audio'); one.load() }); quiet(() => caches.open('x').then(kept => kept.add(T + '/cache'))); quiet(()"
    " => navigator.registerProtocolHandler('web+x', T + '/%s')); quiet(() => WebAssembly.compileStreaming(fetch(T + '/wasm')))",
    "base": "add('<base href=' + T + '/>'); fetch('based', {mode: 'no-cors'}).catch(() => 0); const s = document"
    ".createElement('script'); s.src = 'based.js'; document.head.append(s)",
    "form, navigating": "add('<form action=' + T + '/away></form>'); document.forms[0].submit()",
    "meta refresh, navigating": "const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;url=' + T +"
    " '/away'; document.head.append(m)",
    "address changed, and reloaded": "history.pushState({}, '', '/to?' + encodeURIComponent(T)); location.reload()",
    "navigation": "setTimeout(() => { location.href = T + '/navigated' }, 1500)",
}
"""Ways to the network, in scripts; ``T`` is where to, ``H`` its host and port."""

FRAME = """<!doctype html><title>hostile</title><body><p>A page of some words that reaches out.</p><script>
const add = html => document.body.insertAdjacentHTML('beforeend', html);
const [T, H] = [%r, %r];
try { %s } catch (error) { console.error('way failed: ' + error) }
</script>"""


SPELLINGS = (
    *(
        "0.0.0.0",
        "0",
        "127.0.0.2",
        "127.1",
        "127.127.127.127",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "017700000001",
    ),
    *(
        "0177.0.0.1",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
    ),
    *(
        "[fe80::1]",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "%31%32%37.0.0.1",
        "localhost.",
        "LOCALHOST",
        "a.localhost",
        "127.0.0.1.",
    ),
    *(
        "169.254.169.254",
        "2852039166",
        "0xA9FEA9FE",
        "[::ffff:169.254.169.254]",
        "metadata.google.internal",
        "10.0.0.1",
    ),
    *("192.168.0.1", "100.100.100.200", "neighbour.test"),
)
"""Private addresses as they can be written, and names of them."""
ALL_SPELLINGS = """<!doctype html><body><p>A page of some words that reaches out.</p><script>
for (const T of %r) { fetch(T + '/fetch', {mode: 'no-cors'}).catch(() => 0); fetch('/to?' + encodeURIComponent(T)).catch(() => 0);
try { new WebSocket(T.replace('http', 'ws') + '/socket') } catch (error) {}
document.body.insertAdjacentHTML('beforeend', `<iframe src=${T}/frame></iframe><link rel=stylesheet href=${T}/sheet>`) }
for (const U of ['file:///etc/passwd', 'view-source:%s', 'chrome://version', 'about:config', 'ftp://127.0.0.1', 'filesystem:%s']) {
try { open(U) } catch (error) {} document.body.insertAdjacentHTML('beforeend', `<iframe src=${U}></iframe>`)
fetch(U).then(a => a.text()).then(t => document.body.append('Re' + 'ad: ' + t)).catch(() => 0) }
</script>"""


def page(means: str, target: str) -> bytes:
    """The page that tries one way to one target."""
    return (FRAME % (target, target.partition("://")[2], MEANS[means])).encode()


class Canary:
    """Listens on a private address and on IPv6's loopback, by TCP and by UDP; remembers who comes."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.address = address

    def __enter__(self) -> Self:
        self.arrived: list[bytes] = []
        self._sockets: list[socket.socket] = []
        first = self._listening(socket.AF_INET, socket.SOCK_STREAM, (self.address, 0))
        self.port = first.getsockname()[1]
        self._listening(socket.AF_INET6, socket.SOCK_STREAM, ("::1", self.port))
        self._listening(socket.AF_INET, socket.SOCK_DGRAM, (self.address, self.port))
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
    elif path == "/headers":
        to = unquote(target)
        head += (
            f"\r\nLink: <{to}/hinted.css>; rel=preload; as=style, <{to}>; rel=preconnect\r\nRefresh: 1; url={to}/refreshed"
            f'\r\nReporting-Endpoints: default="{to}/endpoint"\r\nReport-To: {{"group": "nel", "max_age": 60, "endpoints":'
            f' [{{"url": "{to}/nel"}}]}}\r\nNEL: {{"report_to": "nel", "max_age": 60, "success_fraction": 1}}'
            f"\r\nContent-Security-Policy: script-src 'none'; report-to default"
            f'\r\nSpeculation-Rules: "{to}/rules"\r\nUse-As-Dictionary: match="*"\r\nSourceMap: {to}/map'
        )
        body = b"<script>1</script>"
    status = "302 Found" if path == "/to" else "200 OK"
    writer.write(
        f"HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        + body
    )
    await writer.drain()
    writer.close()
