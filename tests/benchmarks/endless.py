"""Peak memory of crawls of sites without end: pages of 5,000 fresh links each, and a shop of ten million addresses.

The pages are made when they are asked for, by a server in a process of its own; so is each crawl. The peak is that of
the largest process of a crawl. Of ten million addresses of the shop, 5,000 filters on each of 2,000 products, none is listed.
"""

from __future__ import annotations

import random
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from zlib import crc32

from tests.benchmarks.crawl import served_apart
from tests.benchmarks.site_walks import run

FRESH = 5_000
"""Links of a page to addresses that no other page has."""
PRODUCTS = 2_000
SITES = {"own": 200, "other": 200, "shop": PRODUCTS + 500}
"""Kinds of sites, and how many pages are fetched of each."""
OURS = """
import json, sys, webanalytics as wa
if __name__ == "__main__":
    most = int(sys.argv[2])
    audit = wa.crawl(sys.argv[1], max_pages=most, allow_private=True, progress=False, workers=2, timeout=120, parse_timeout=120)
    skipped = audit.skipped
    said = {"rows": len(audit.raw), "stopped": audit.origin.crawl.stopped, "skipped": len(skipped)}
    said["addresses"] = int(skipped["addresses"].sum())
    said["products"] = int(audit.raw["url"].str.contains("/p/").sum())
    print(json.dumps(said))
"""


def page(kind: str, path: str) -> str:
    """Return a page: prose of its own and fresh links, to pages of the site, of other sites or to filters."""
    chance = random.Random(path)
    prose = " ".join("".join(chance.choices("aeioulmnrst", k=chance.randint(3, 9))) for _ in range(120))
    name = f"{crc32(path.encode()):x}" if path != "/" else "home"
    if kind == "own":
        links = [f"/page/{name}-{number}" for number in range(FRESH)]
    elif kind == "other":
        links = [f"https://o{number % 40}.example/{name}/{number}" for number in range(FRESH)] + [
            f"/page/{name}-{number}" for number in range(3)
        ]
    elif path == "/":
        links = [f"/p/{number}" for number in range(PRODUCTS)]
    else:
        links = [f"/list?brand={name}&colour={number % 70}&size={number // 70}" for number in range(FRESH)]
    return f"<title>{name}</title><h1>{name}</h1><p>{prose}</p>" + "".join(
        f'<a href="{link}">{place}</a> ' for place, link in enumerate(links)
    )


def serve(kind: str) -> None:
    """Serve a site until standard input ends; for a process of its own."""

    class Pages(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            missing = self.path.endswith((".txt", ".xml")) or "no-such-page" in self.path
            body = b"" if missing else page(kind, self.path).encode()
            self.send_response(404 if missing else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


def report() -> str:
    """Return what each crawl fetched, and its peak memory."""
    lines = [
        f"{'site':8} {'pages':>6} {'products':>8} {'addresses':>11} {'rows of skipped':>15} {'CPU s':>6} {'MB':>6}"
    ]
    for kind, most in SITES.items():
        with served_apart(f"from tests.benchmarks.endless import serve; serve({kind!r})") as url:
            said, spent, peak = run(sys.executable, OURS, url, str(most))
        lines.append(
            f"{kind:8} {said['rows']:6,} {said['products']:8,} {said['addresses']:11,} {said['skipped']:15,} "
            f"{spent:6.0f} {peak:6.0f}"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)
