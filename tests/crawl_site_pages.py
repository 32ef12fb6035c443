"""The pages of the made-up site for crawlers, written from its tables: ``python -m tests.crawl_site_pages``.

The tables in ``data/crawl-site`` are the site, and nothing in them was computed by a crawler. What is written of them
is `PAGES`, which `webanalytics.fetching.testing.crawl_site` serves.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TypeAlias

from webanalytics.fetching.testing.server import Reply

FOLDER = Path(__file__).parents[1] / "data" / "crawl-site"
PAGES = FOLDER / "pages.json"

Row: TypeAlias = dict[str, str]

_EVERY_PAGE = "*"
_SECTIONS = ("header", "nav", "main", "aside", "footer")
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0"
    "f01f0005000201a5f1e1f90000000049454e44ae426082"
)
_PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
_ROBOTS = b"""User-agent: *
Disallow: /private/
Allow: /private/open
Crawl-delay: 0

Sitemap: {{origin}}/sitemap.xml
"""
_WORDS = tuple(
    re.findall(
        "[a-z]+",
        "lantern wick flame brass copper glass chimney oil candle harbour keeper tower evening winter "
        "storm bridge handle hook shelf workshop bench solder rivet polish cloth paper shade reflector "
        "signal window street garden cellar stair ladder rope boat fog rain wind morning light shadow "
        "colour green amber ruby clear smoke soot trim fill hang store clean repair measure cut bend "
        "join cast spin press turn warm cool bright dim steady ",
    )
)
_HTML = {"Content-Type": "text/html; charset=utf-8"}


@dataclass(frozen=True)
class Places:
    """The origins that stand for the words of the tables."""

    own: str
    elsewhere: str
    closed: str

    def url(self, text: str) -> str:
        """Return the address that a word and a path of the tables stand for."""
        name, colon, path = text.partition(":")
        origin = {"elsewhere": self.elsewhere, "closed": self.closed}.get(name)
        return origin + path if colon and origin else self.own + text


def table(name: str) -> list[Row]:
    """Return the rows of a table of the site as they stand."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def links_of_pages() -> dict[str, list[Row]]:
    """Return the links of each page in the order of its document."""
    own: dict[str, list[Row]] = defaultdict(list)
    common: list[Row] = []
    for row in table("links"):
        (common if row["source"] == _EVERY_PAGE else own[row["source"]]).append(row)
    for page in table("pages"):
        if page["status"] == "200" and page["how"] != "pdf":
            rows = [{**row, "source": page["path"]} for row in common] + own[page["path"]]
            own[page["path"]] = sorted(rows, key=lambda row: _ORDER.index(row["position"]))
    return dict(own)


_ORDER = ("http", "head", *_SECTIONS)


def _replies(places: Places) -> dict[str, bytes | Reply]:
    pages: dict[str, bytes | Reply] = {"/robots.txt": Reply(200, {"Content-Type": "text/plain"}, _ROBOTS)}
    for row in table("pages"):
        pages[row["path"]] = _reply(row, places)
    for kind in ("stylesheet", "script", "image", "icon"):
        for row in table("checked"):
            if row["kind"] == kind and row["verdict"] == "ok":
                body = _PIXEL if row["url"].endswith(".png") else b"/* nothing */"
                pages[row["url"]] = Reply(200, {}, body)
    hidden = [row["url"] for row in table("skipped") if row["url"].startswith("/")]
    for path in hidden:
        pages[path] = Reply(200, _HTML, _plain(f"Not to be fetched: {path}", path).encode())
    listed = [
        row["path"] for row in table("pages") if row["via"] in ("start", "sitemap") or row["depth"] == "2"
    ]
    entries = "".join(f"<url><loc>{{{{origin}}}}{escape(path)}</loc></url>" for path in listed)
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    pages["/sitemap.xml"] = Reply(200, {"Content-Type": "application/xml"}, sitemap.encode())
    return pages


def _reply(row: Row, places: Places) -> Reply:
    status, path = int(row["status"]), row["path"]
    links = links_of_pages().get(path, [])
    if 300 <= status < 400:
        return Reply(status, {"Location": places.url(links[0]["target"])})
    if row["how"] == "pdf":
        return Reply(200, {"Content-Type": "application/pdf"}, _PDF)
    if status != 200:
        return Reply(status, _HTML, _plain(f"Error {status}", path).encode())
    headers = dict(_HTML)
    if row["x_robots"]:
        headers["X-Robots-Tag"] = row["x_robots"]
    in_header = [link for link in links if link["position"] == "http"]
    if in_header:
        headers["Link"] = ", ".join(_header_link(link, places) for link in in_header)
    return Reply(200, headers, _html(row, links, places).encode())


def _header_link(link: Row, places: Places) -> str:
    rel = {"hreflang": "alternate", "prev": "prev"}.get(link["kind"], link["kind"])
    language = f'; hreflang="{link["how"]}"' if link["kind"] == "hreflang" else ""
    return f'<{places.url(link["target"])}>; rel="{rel}"{language}'


def _plain(title: str, path: str) -> str:
    heading = f"<title>{escape(title)}</title><h1>{escape(title)}</h1>"
    return f"<!doctype html><html lang=en>{heading}{made_up_text(path)}"


def _html(row: Row, links: list[Row], places: Places) -> str:
    head = "".join(_in_head(link, places) for link in links if link["position"] == "head")
    base = f'<base href="{{{{origin}}}}{row["base"]}">' if row["base"] else ""
    robots = f'<meta name="robots" content="{row["robots"]}">' if row["robots"] else ""
    text = "<p>There is nothing here any more.</p>" if row["how"] == "soft" else made_up_text(row["path"])
    sections = []
    for section in _SECTIONS:
        inside = "".join(
            f"<p>{_in_body(link, places)}</p>\n" for link in links if link["position"] == section
        )
        about = f"<h1>{escape(row['title'])}</h1>\n{text}" if section == "main" else ""
        if inside or about:
            sections.append(f"<{section}>{about}{inside}</{section}>")
    return (
        f'<!doctype html><html lang="{row["lang"] or "en"}"><head><meta charset="utf-8">{base}'
        f"<title>{escape(row['title'])}</title>{robots}{head}</head>\n<body>{''.join(sections)}</body></html>"
    )


def _in_head(link: Row, places: Places) -> str:
    url = escape(places.url(link["target"]))
    match link["kind"]:
        case "script":
            return f'<script src="{url}" defer></script>'
        case "refresh":
            return f'<meta http-equiv="refresh" content="5; url={url}">'
        case "hreflang":
            return f'<link rel="alternate" hreflang="{link["how"]}" href="{url}">'
    return f'<link rel="{link["kind"]}" href="{url}">'


def _in_body(link: Row, places: Places) -> str:
    url, anchor, how = escape(places.url(link["target"])), escape(link["anchor"]), link["how"]
    match link["kind"], how:
        case "image", "srcset":
            size = "1x" if "small" in url else "2x"
            return f'<img srcset="{url} {size}" alt="{anchor}">'
        case "image", "picture":
            return f'<picture><source srcset="{url} 1200w"><img alt="{anchor}"></picture>'
        case "image", _:
            return f'<img src="{url}" alt="{anchor}">'
        case "frame", _:
            return f'<iframe src="{url}" title="Frame"></iframe>'
        case "form", _:
            return f'<form action="{url}" method="get"><input name="q" aria-label="Words"></form>'
        case _, "area":
            return f'<map name="m"><area shape="default" href="{url}" alt="{anchor}"></map>'
        case _, "image":
            return f'<a href="{url}"><img src="data:," alt="{anchor}"></a>'
        case _, "label":
            return f'<a href="{url}" aria-label="{anchor}"></a>'
        case _, "relative":
            url = url.rpartition("/")[2]
        case _, "fragment":
            anchor, _, fragment = anchor.partition("#")
            url = f"{url}#{fragment}"
    rel = f' rel="{link["rel"]}"' if link["rel"] else ""
    return f'<a href="{url}"{rel}>{anchor}</a>'


def made_up_text(path: str) -> str:
    """Return three paragraphs that no other page has."""
    words = random.Random(path)
    sentences = [" ".join(words.choices(_WORDS, k=12)).capitalize() + "." for _ in range(15)]
    return "".join(f"<p>{' '.join(sentences[at : at + 5])}</p>" for at in (0, 5, 10))


def pages() -> str:
    """Return the content of `PAGES`."""
    entries = []
    for path, reply in _replies(Places("{{origin}}", "{{elsewhere}}", "{{closed}}")).items():
        answer = reply if isinstance(reply, Reply) else Reply(body=reply)
        body = answer.body.decode("latin-1")
        entries.append({"path": path, "status": answer.status, "headers": dict(answer.headers), "body": body})
    return json.dumps(entries, indent=0) + "\n"


if __name__ == "__main__":
    PAGES.write_text(pages(), "ascii")
