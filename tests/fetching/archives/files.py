"""Archives for tests, written byte by byte from ISO 28500 and RFC 9112: nothing of the package is used."""

from __future__ import annotations

import gzip
import uuid
from pathlib import Path

DATE = "2026-11-22T10:00:00Z"


def record(
    kind: str, block: bytes, url: str = "", content_type: str = "", date: str = DATE, **more: str
) -> bytes:
    """Return a WARC record; underscores of further fields stand for hyphens."""
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
        "WARC-Date": date,
        "WARC-Target-URI": url,
        "Content-Type": content_type,
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    fields.setdefault("Content-Length", str(len(block)))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    return b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Return an HTTP answer."""
    lines = [f"HTTP/1.1 {status}", *(headers or ("Content-Type: text/html",))]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def response(url: str, body: bytes, *headers: str, status: str = "200 OK", **more: str) -> bytes:
    """Return the record of a page."""
    block = answer(body, *headers, status=status)
    return record("response", block, url, "application/http; msgtype=response", **more)


def page(name: str, text: str = "") -> bytes:
    """Return the record of a small page of a.example."""
    return response(f"https://a.example/{name}", title(text or name))


def title(text: str) -> bytes:
    return f"<title>{text}</title><p>{text}".encode()


def chunked(body: bytes, size: int = 7) -> bytes:
    """Return a body in chunks."""
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def write(path: Path, *records: bytes) -> str:
    """Write records to a file, each in a gzip member of its own if the name asks for it."""
    zipped = path.suffix == ".gz"
    path.write_bytes(b"".join(map(gzip.compress, records)) if zipped else b"".join(records))
    return str(path)
