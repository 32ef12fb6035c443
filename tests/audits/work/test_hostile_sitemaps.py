"""Sitemaps of sites that mean harm: what they say of dates and addresses ends neither an audit nor its files."""

from __future__ import annotations

import time
from datetime import UTC
from pathlib import Path
from typing import Any

import lxml.etree as etree
import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS, effort_since
from webanalytics.audits.directives.sitemap_dates import day_of, moment_of
from webanalytics.audits.origin import Origin
from webanalytics.fetching.testing import SiteServer

READ = "2026-11-20T12:00:00+00:00"
TOP = "https://a.example"
BEYOND = [
    "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
    "Mon, 01 Jan 2001 00:00:00 +9999999999999999999",
    "Mon, 99999999999999999999 Jan 2001 00:00:00 GMT",
    "Mon, 01 Jan 2001 99999999999999999999:00:00 GMT",
    "0001-01-01T00:00:00+14:00",
    "0001-01-01",
    "9999-12-31T23:59:59-14:00",
    "31 Dec 9999 23:59:59 -0900",
    "2026-01-01T00:00:00+99:99",
    "9" * 10_000,
]


@pytest.mark.parametrize("date", BEYOND)
def test_dates_that_no_calendar_has_are_none(date: str) -> None:
    assert moment_of(date) is None
    assert day_of(date) == date


@pytest.mark.parametrize("date", ["0002-01-01T00:00:00+14:00", "9998-12-31T23:59:59-14:00"])
def test_the_first_and_the_last_date_have_one_in_each_zone(date: str) -> None:
    moment = moment_of(date)
    assert moment is not None
    assert moment.astimezone(UTC) == moment


def written(folder: Path, *rows: dict[str, Any]) -> tuple[pd.DataFrame, list[str]]:
    """Write a sitemap; the table, and the addresses in its files."""
    known = [{"status": "ok", "http_status": 200, "final_url": row["url"], **row} for row in rows]
    table = wa.Audit(pd.DataFrame(known), Origin(date=READ)).write_sitemap(folder)
    files = [etree.parse(path) for path in sorted(folder.rglob("*.xml"))]
    return table, [part.text or "" for file in files for part in file.iter("{*}loc")]


@pytest.mark.parametrize("date", BEYOND)
def test_a_site_with_such_a_date_has_its_sitemap(date: str, tmp_path: Path) -> None:
    header = {"headers": f"Last-Modified: {date}", "fetched_at": READ}
    said = {
        "date": {"modified": date, "published": date},
        "publisher": "x",
        "headline": "y",
        "language": "en",
    }
    video = {"@type": "VideoObject", "name": "n", "description": "d", "uploadDate": date}
    video |= {"thumbnailUrl": f"{TOP}/t.jpg", "contentUrl": f"{TOP}/v.mp4", "duration": f"PT{'9' * 30}S"}
    pages = [{"url": f"{TOP}/1", **header}, {"url": f"{TOP}/2", **said, "jsonld": [video]}]
    table, addresses = written(tmp_path, *pages)
    assert table["lastmod"].isna().all()
    assert addresses == [page["url"] for page in pages]


@pytest.mark.parametrize("date", BEYOND[:8])
def test_a_crawl_of_such_a_sitemap_tells_its_issues(date: str) -> None:
    body = b"<title>Lamps of brass and glass</title><h1>Lamps</h1><p>Text.<a href=/>home</a>"
    entry = f"<url><loc>{{{{origin}}}}/</loc><lastmod>{date}</lastmod></url>"
    listed = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entry}</urlset>'.encode()
    with SiteServer({"/": body, "/sitemap.xml": listed}) as server:
        crawled = wa.crawl(
            f"{server.url}/", sitemap=f"{server.url}/sitemap.xml", allow_private=True, progress=False
        )
    assert "sitemap_date_invalid" in set(crawled.issues["rule"])


def test_spaces_in_a_header_are_read_once(tmp_path: Path) -> None:
    def cost(size: int) -> float:
        start = time.process_time()
        header = f"Last-Modified: a{' ' * size}b\nServer: x"
        written(tmp_path, {"url": f"{TOP}/", "headers": header, "fetched_at": READ})
        return effort_since(start)

    cost(10)
    assert cost(200_000) < BUSY_SECONDS / 10, "a quadratic search takes minutes"
    later = f"X: y\nlast-modified:   {' ' * 100}Tue, 03 Mar 2026 10:00:00 GMT  \r\nServer: x"
    table, _ = written(tmp_path, {"url": f"{TOP}/", "headers": later, "fetched_at": READ})
    assert table["lastmod"].tolist() == ["2026-03-03T10:00:00Z"]


@pytest.mark.parametrize("host", ["..", ".", "a\x00b", "%2e%2e", "..:8080", ""])
def test_an_address_without_a_host_is_left_out(host: str, tmp_path: Path) -> None:
    table, addresses = written(tmp_path / "out", {"url": f"https://{host}/"}, {"url": f"{TOP}/"})
    assert addresses == [f"{TOP}/"]
    assert table.set_index("url").loc[f"https://{host}/", "reason"] == "not an address of the web"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# What each address comes back as, by the URL Standard's path percent-encode set and RFC 3986.
ODD = {
    "/\x00": "/%00",
    "/&amp;<x>": "/&amp;%3Cx%3E",
    "/\"'": "/%22'",
    "/]]>": "/]]%3E",
    "/\r\n</loc>": "/%0D%0A%3C/loc%3E",
    "/<!--": "/%3C!--",
    "/\x85\x7f": "/%C2%85%7F",
    "/\ufffe\uffff": "/%EF%BF%BE%EF%BF%BF",
    "/a\u2028b": "/a%E2%80%A8b",
}


@pytest.mark.parametrize("path", ODD)
def test_signs_that_no_file_of_xml_holds(path: str, tmp_path: Path) -> None:
    _, addresses = written(tmp_path, {"url": TOP + path})
    assert addresses == [TOP + ODD[path]]
