"""The calls of the contract: every function, on good and bad inputs of every kind."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from webanalytics.fetching.testing import Reply, SampleSite, SiteServer

AS_THE_SERVICE = {"lossless": False, "keep_smaller": False, "measure": False}
TLSA = "_443._tcp.example.org. 3600 IN TLSA 3 1 1 " + "ab" * 32
LONG_TEXT = " ".join(f"The keeper of lantern {number} writes a long letter home." for number in range(60))

ODD_PAGES: Mapping[str, bytes | Reply] = {
    "/empty": b"",
    "/blank": b"<!doctype html><html><body>  \n </body></html>",
    "/script-only": b"<script>document.write('words')</script>",
    "/plain": Reply(200, {"Content-Type": "text/plain; charset=utf-8"}, LONG_TEXT.encode()),
    "/picture": Reply(200, {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n" + b"\0" * 64),
    "/document": Reply(200, {"Content-Type": "application/pdf"}, b"%PDF-1.7 no page"),
    "/gone": Reply(410, {}, b"<p>gone"),
    "/forbidden": Reply(403, {}, b"<p>no"),
    "/failing": Reply(500, {}, b"<p>broken"),
    "/away": Reply(503, {"Retry-After": "0"}, b"<p>later"),
    "/circle": Reply(302, {"Location": "/circle"}),
    "/nowhere": Reply(302, {"Location": "ftp://127.0.0.1/x"}),
    "/no-target": Reply(302, {}),
    "/moved": Reply(301, {"Location": "/plain"}),
    "/chinese": (
        "<html lang=zh><title>灯塔</title><p>" + "灯塔的守护者每天晚上都拿着一盏黄铜灯爬上楼梯。" * 20
    ).encode(),
    "/thai": (
        "<html lang=th><title>ประภาคาร</title><p>" + "คนเฝ้าประภาคารถือตะเกียงทองเหลืองขึ้นบันไดทุกเย็น " * 20
    ).encode(),
    "/odd-characters": "<title>a\x01b &#0; \ud83c\udf89</title><p>\x0b words \x85 and \u202e more words".encode(
        "utf-8", "surrogatepass"
    ),
    "/wrong-charset": b"<meta charset=utf-8><title>\xff\xfe caf\xe9</title><p>caf\xe9 words words words",
    "/lone-surrogate": b'<title>&#xD800; title</title><script type="application/ld+json">{"name": "\\ud800 x"}</script><p>words',
}


@dataclass(frozen=True)
class Material:
    """What the calls are about."""

    site: SampleSite
    odd: SiteServer
    folder: Path

    def pages(self, *paths: str) -> list[str]:
        return [self.site.url + path for path in paths]

    def picture(self, name: str, kind: str = "png", size: tuple[int, int] = (60, 40), **more: Any) -> Path:
        path = self.folder / name
        if not path.exists():
            Image.linear_gradient("L").resize(size).convert("RGB").save(path, kind, **more)
        return path


@dataclass(frozen=True)
class Case:
    """One call: the function, what it is about, the inputs, and the other arguments."""

    function: str
    name: str
    inputs: Callable[[Material], Any]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.function}-{self.name}"


def _bad_urls(material: Material) -> list[Any]:
    odd = material.odd.url
    return [
        None, float("nan"), pd.NA, 7, 7.5, True, "", "   ", b"http://bytes.example/", ["list"],
        "no url", "http://", "http:///path", "https://exa mple.com/", "ftp://example.org/", "javascript:alert(1)",
        "http://[::1", "http://127.0.0.1:99999/", "//example.org/",
        "http://no-such-host.invalid/", "http://127.0.0.1:1/", "http://a" + "b" * 70 + ".example/",
        "http://example.org/" + "x" * 9000, "http://exa\u0000mple.org/", "http://\ud800.example/",
        f"{odd}/gone", f"{odd}/forbidden", f"{odd}/failing", f"{odd}/away", f"{odd}/circle",
        f"{odd}/nowhere", f"{odd}/no-target", f"{odd}/picture", f"{odd}/document", f"{odd}/missing",
        f"{odd}/plain",
    ]  # fmt: skip


def _odd_pages(material: Material) -> list[Any]:
    wanted = ("/empty", "/blank", "/script-only", "/plain", "/moved", "/chinese", "/thai",
              "/odd-characters", "/wrong-charset", "/lone-surrogate")  # fmt: skip
    return [material.odd.url + path for path in wanted]


def _odd_index(material: Material) -> pd.Series:
    urls = [*material.pages("/about", "/about", "/shop/ferry-lamp"), None]
    return pd.Series(urls, index=["b", "a", "a", "z"], name="pages")


def _frame(material: Material) -> pd.DataFrame:
    urls = material.pages("/about", "/basket")
    return pd.DataFrame({"note": ["x", "y"], "where": urls}, index=pd.Index([10, 10], name="id"))


PAGE_INPUTS: dict[str, tuple[Callable[[Material], Any], dict[str, Any]]] = {
    "sample site": (lambda m: m.site.pages, {}),
    "bad URLs": (_bad_urls, {}),
    "odd pages": (_odd_pages, {}),
    "odd index": (_odd_index, {}),
    "column of a DataFrame": (_frame, {"column": "where"}),
    "several levels": (
        lambda m: pd.Series(
            m.pages("/about", "/fr/"), index=pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["p", "q"])
        ),
        {},
    ),
    "nothing": (lambda m: [], {}),
    "nothing good": (lambda m: [None, 3, "no url"], {}),
    "one": (lambda m: m.pages("/shop/")[0], {}),
    "generator": (lambda m: iter(m.pages("/shop/", "/shop/")), {}),
}


def _records(_: Material) -> list[Any]:
    return [
        TLSA, TLSA, None, float("nan"), 7, b"bytes", "", "  ", "no record", TLSA.replace("TLSA", "A"),
        "_25._tcp.mail.example.org. TLSA 2 0 2 " + "cd" * 64, "_443._tcp.example.org. IN TLSA 3 1 1 abc",
        "example.org. 60 IN TLSA 0 0 1 " + "0f" * 32, "_443._tcp.example.org. 3600 IN TLSA 9 8 7 ab",
        "_443._tcp.example.org. 3600 IN TYPE52 \\# 35 030101" + "ab" * 32, "x" * 70_000,
        "_443._tcp.example.org. 3600 IN TLSA ( 3 1 1\n ; comment\n " + "ab" * 32 + " )",
        "_443._udp.\u00fc.example. 3600 IN TLSA 3 0 0 " + "ee" * 20, "\ud800 TLSA", "_1._tcp.a. TLSA 3 1 1 \0",
    ]  # fmt: skip


def _messages(_: Material) -> list[Any]:
    return [
        "one", "two", "two", "", " one ", None, float("nan"), 7, 1.5, b"bytes", ["list"], "\u706f\u5854",
        "\ud800", "\0\x01\x1f", "a" * 100_000, "\u706f" * 50_000, '"quoted" \\ line\nend', "\U0001f389",
    ]  # fmt: skip


def _numbers(_: Material) -> list[Any]:
    return [
        "+12085813945", "+12085813945", 12085813945, "+12125550123", "+44 20 7946 0958", "0171 123456", None,
        float("nan"), 1.5, True, "", "no number", "+", "+1", "+999999999999999999", "12085813945",
        "+\uff11\uff12\uff10\uff18\uff15\uff18\uff11\uff13\uff19\uff14\uff15", b"+12085813945", "+1 208 581 3945 ext. 5",
        "tel:+12085813945", "\ud800+1", "00442079460958",
    ]  # fmt: skip


def _images(material: Material) -> list[Any]:
    png = material.picture("a.png")
    content = png.read_bytes()
    noisy = material.folder / "large.png"
    if not noisy.exists():
        Image.effect_noise((1300, 1200), 90).save(noisy)
    (material.folder / "broken.png").write_bytes(content[: len(content) // 2])
    (material.folder / "text.png").write_text("no picture")
    (material.folder / "nothing.png").write_bytes(b"")
    data_url = "data:image/png;base64," + base64.b64encode(content).decode()
    return [
        png, str(png), content, bytearray(content), data_url, "data:image/png;base64,!!!", "data:,",
        material.picture("b.jpg", "jpeg"), material.picture("c.gif", "gif"), material.picture("d.webp", "webp"),
        material.picture("e.tiff", "tiff"), material.folder / "broken.png", material.folder / "text.png",
        material.folder / "nothing.png", material.folder / "missing.png", "missing.png", material.folder,
        *material.pages("/images/wick.jpg", "/images/icon.svg", "/images/gone.jpg", "/about"),
        "http://no-such-host.invalid/a.png", "http://", "ftp://example.org/a.png", "x:y", None, 7, b"", b"GIF89a", "",
        _animation(), noisy, noisy.read_bytes(),
    ]  # fmt: skip


def _animation() -> bytes:
    frames = [Image.new("RGB", (20, 10), (shade, 0, 0)) for shade in (0, 90, 180)]
    file = io.BytesIO()
    frames[0].save(file, "gif", save_all=True, append_images=frames[1:], duration=80)
    return file.getvalue()


def _few_images(material: Material) -> pd.Series:
    paths = [material.picture("a.png"), material.picture("b.jpg", "jpeg"), material.picture("c.gif", "gif")]
    return pd.Series([*map(str, paths), str(paths[0])], index=["x", "y", "y", "z"])


def _pages_of(function: str) -> list[Case]:
    # a service counts the words of whole pages; locally that is a choice
    same = {"source": "page"} if function == "keywords" else {}
    return [Case(function, name, inputs, {**same, **more}) for name, (inputs, more) in PAGE_INPUTS.items()]


CASES: list[Case] = [
    *(case for function in ("metadata", "text", "readability", "keywords", "audit") for case in _pages_of(function)),
    Case("metadata", "body", lambda m: m.pages("/about", "/ja/tayori", "/basket"), {"body": True}),
    Case("audit", "body", lambda m: m.pages("/about", "/ja/tayori", "/basket"), {"body": True}),
    Case("dane", "good and bad", _records),
    Case("dane", "nothing", lambda m: []),
    Case("dane", "one", lambda m: TLSA),
    Case("dane", "odd index", lambda m: pd.Series([TLSA, None, "x"], index=["q", "q", "p"])),
    Case("hmac", "good and bad", _messages, {"secret": "k\u00e9y \u706f"}),
    Case("hmac", "sha512 in base64", _messages, {"secret": "k", "algorithm": "sha512", "encoding": "base64"}),
    Case("hmac", "md5", lambda m: ["a", "b"], {"secret": "k", "algorithm": "md5"}),
    Case("hmac", "nothing", lambda m: [], {"secret": "k"}),
    Case("hmac", "many", lambda m: [f"message {number}" for number in range(701)], {"secret": "k"}),
    Case("hmac", "column", lambda m: pd.DataFrame({"text": ["a", None], "id": [1, 2]}), {"secret": "k", "column": "text"}),
    Case("phones", "good and bad", _numbers),
    Case("phones", "region", _numbers, {"region": "DE"}),
    Case("phones", "without details", _numbers, {"details": False}),
    Case("phones", "nothing", lambda m: []),
    Case("phones", "one", lambda m: "+12085813945"),
    Case("phones", "integers with a gap", lambda m: pd.Series([12085813945, None], index=[5, 5])),
    Case("convert", "good and bad", _images, {**AS_THE_SERVICE, "output_format": "webp"}),
    Case("convert", "jpg of quality 40", _few_images, {**AS_THE_SERVICE, "output_format": "jpg", "quality": 40}),
    Case("convert", "narrower", _few_images, {**AS_THE_SERVICE, "output_format": "png", "max_width": 25}),
    Case("convert", "lower", _few_images, {**AS_THE_SERVICE, "output_format": "tiff", "max_height": 9, "max_width": 4000}),
    Case("convert", "animation", lambda m: [_animation()], {**AS_THE_SERVICE, "output_format": "gif"}),
    Case("convert", "nothing", lambda m: [], {"output_format": "webp"}),
    Case("convert", "column", lambda m: pd.DataFrame({"image": _few_images(m).tolist(), "id": range(4)}),
         {**AS_THE_SERVICE, "output_format": "webp", "column": "image"}),
]  # fmt: skip
