"""Sitemaps that an audit writes: what they list and leave out, their limits, and what reads them again."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import lxml.etree as etree
import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.origin import Origin
from webanalytics.audits.work import sitemap_writer
from webanalytics.errors import WriteError
from webanalytics.fetching.testing import SiteServer

OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False}
READ = "2026-11-20T12:00:00+00:00"
NEWS = {
    "@type": "NewsArticle",
    "headline": "Lamps & wicks",
    "datePublished": "2026-11-19T09:00:00+00:00",
    "publisher": {"@type": "Organization", "name": "The Lamp"},
    "video": {
        "@type": "VideoObject",
        "name": "Trimming <a wick>",
        "description": "How it is done.",
        "thumbnailUrl": ["https://a.example/t.jpg"],
        "contentUrl": "https://a.example/v.mp4",
        "duration": "PT1M30S",
        "uploadDate": "2026-11-01",
    },
}


def page(**cells: Any) -> dict[str, Any]:
    return {"status": "ok", "http_status": 200, **cells}


def written(rows: list[dict[str, Any]], folder: Path, **options: Any) -> pd.DataFrame:
    for row in rows:
        row.setdefault("final_url", row["url"])
    audit = wa.Audit(pd.DataFrame(rows), Origin(date=READ))
    return audit.write_sitemap(folder, **options)


def entries(path: Path) -> list[etree._Element]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(etree.fromstring(content))


def inside(entry: etree._Element, name: str) -> list[str]:
    return [part.text or "" for part in entry.iter(f"{{*}}{name}")]


def test_what_is_left_out_says_why(tmp_path: Path) -> None:
    top = "https://a.example"
    rows = [
        page(url=f"{top}/"),
        page(url=f"{top}/cart", robots="noindex"),
        page(url=f"{top}/old", final_url=f"{top}/", redirects=[f"{top}/old"]),
        page(url=f"{top}/print", canonicals=[{"href": "/", "url": f"{top}/"}]),
        {"url": f"{top}/gone", "status": "error", "http_status": 404, "error_type": "http"},
        page(url=f"{top}/{'x' * 2100}"),
    ]
    found = written(rows, tmp_path)
    assert found["url"].tolist() == [row["url"] for row in rows]
    assert found["file"].notna().tolist() == [True, *[False] * 5]
    assert found["reason"].tolist()[1:] == [
        "noindex",
        f"redirects to {top}/",
        "canonicalised",
        wa.Audit(pd.DataFrame(rows)).pages["indexability"][4],
        "longer than 2,047 characters",
    ]
    assert [inside(entry, "loc") for entry in entries(tmp_path / "sitemap.xml")] == [[f"{top}/"]]


@pytest.mark.parametrize(
    ("cells", "lastmod"),
    [
        ({"date": {"published": "2020-01-01", "modified": "2026-02-03"}}, ("2026-02-03", "page")),
        ({"date": {"published": "2020-01-01", "modified": None}}, None),
        ({"date": {"published": None, "modified": "2027-01-01"}}, None),
        (
            {"headers": "Last-Modified: Tue, 03 Mar 2026 10:00:00 GMT", "fetched_at": READ},
            ("2026-03-03T10:00:00Z", "header"),
        ),
        ({"headers": "Last-Modified: Fri, 20 Nov 2026 11:59:58 GMT", "fetched_at": READ}, None),
        ({"headers": "Last-Modified: yesterday", "fetched_at": READ}, None),
    ],
)
def test_dates_are_those_of_changes_and_never_of_the_clock(
    cells: dict[str, Any], lastmod: tuple[str, str] | None, tmp_path: Path
) -> None:
    row = written([page(url="https://a.example/", **cells)], tmp_path).iloc[0]
    assert inside(entries(tmp_path / "sitemap.xml")[0], "lastmod") == ([lastmod[0]] if lastmod else [])
    assert (row["lastmod_from"] if lastmod else None) == (lastmod[1] if lastmod else None)
    assert pd.isna(row["lastmod"]) == (lastmod is None)


def test_news_videos_images_and_languages(tmp_path: Path) -> None:
    address = "https://a.example/news?a=1&b=2"
    picture, icon = {"src": "https://a.example/p.jpg"}, {"src": "https://a.example/i.png", "width": "16"}
    html = (
        f'<html lang=en><title>Lamps</title><link rel=alternate hreflang=de href="{address}&l=de">'
        f'<link rel=alternate hreflang=en href="{address}"><h1>Lamps &amp; wicks</h1>'
        f'<script type="application/ld+json">{json.dumps(NEWS)}</script>'
        f"<p>{'Lamps need oil and a wick that is trimmed. ' * 20}"
        f'<img src="{picture["src"]}"><img src="{icon["src"]}" width=16><img src="javascript:alert(1)">'
    )
    audit = wa.audit(pd.DataFrame({"url": [address], "html": [html]}))
    row = wa.Audit(audit, Origin(date=READ)).write_sitemap(tmp_path).iloc[0]
    (entry,) = entries(tmp_path / "sitemap.xml")
    assert row[["alternates", "images", "videos", "news"]].tolist() == [2, 1, 1, True]
    assert [link.get("hreflang") for link in entry.iter("{*}link")] == ["de", "en"]
    assert inside(entry, "loc") == [address, picture["src"]]
    assert inside(entry, "title") == ["Trimming <a wick>", "Lamps & wicks"]
    assert inside(entry, "duration") == ["90"]
    assert inside(entry, "content_loc") == ["https://a.example/v.mp4"]
    assert [inside(entry, name) for name in ("name", "language")] == [["The Lamp"], ["en"]]
    aged = wa.Audit(audit, Origin(date="2026-11-25T12:00:00+00:00")).write_sitemap(tmp_path)
    assert not aged["news"].any()


def test_images_that_most_pages_have_belong_to_the_layout(tmp_path: Path) -> None:
    logo = {"src": "https://a.example/logo.png"}
    rows = [
        page(url=f"https://a.example/{n}", imgTags=[logo, {"src": f"https://a.example/{n}.jpg"}])
        for n in range(5)
    ]
    assert written(rows, tmp_path)["images"].tolist() == [1] * 5


def test_large_sitemaps_are_split_under_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [page(url=f"https://a.example/{number}") for number in range(7)]
    monkeypatch.setattr(sitemap_writer, "MOST_ENTRIES", 3)
    found = written(rows, tmp_path, compressed=True, base_url="https://a.example/maps")
    assert found["file"].value_counts().to_dict() == {
        "sitemap-1.xml.gz": 3,
        "sitemap-2.xml.gz": 3,
        "sitemap-3.xml.gz": 1,
    }
    index = entries(tmp_path / "sitemap.xml")
    assert [inside(part, "loc")[0] for part in index] == [
        f"https://a.example/maps/sitemap-{number}.xml.gz" for number in (1, 2, 3)
    ]
    monkeypatch.setattr(sitemap_writer, "MOST_ENTRIES", 50_000)
    monkeypatch.setattr(sitemap_writer, "MOST_BYTES", 1_200)
    assert written(rows, tmp_path / "small")["file"].nunique() > 1
    assert all(path.stat().st_size <= 1_200 for path in (tmp_path / "small").iterdir())


def test_each_host_has_its_own_folder_and_none_leads_out(tmp_path: Path) -> None:
    rows = [page(url=url) for url in ("https://a.example/", "http://a.example:8080/", "https://b.example/x")]
    files = written(rows, tmp_path)["file"].tolist()
    assert files == ["a.example/sitemap.xml", "a.example_8080/sitemap.xml", "b.example/sitemap.xml"]
    with pytest.raises(wa.ParameterError, match="`base_url` parameter"):
        written(rows, tmp_path, base_url="https://a.example/")
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError):
        written(rows[:1], tmp_path / "file")


def test_a_host_in_http_and_in_https_has_a_sitemap_of_each(tmp_path: Path) -> None:
    rows = [page(url=url) for url in ("http://a.example/x", "https://a.example/y", "https://b.example/z")]
    found = written(rows, tmp_path)
    assert found["file"].nunique() == 3
    for url, file in zip(found["url"], found["file"], strict=True):
        assert [inside(entry, "loc") for entry in entries(tmp_path / file)] == [[url]]


def test_addresses_are_escaped_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    """RFC 3986 has neither spaces nor letters outside ASCII; the protocol escapes both kinds of quotes."""
    top = "https://a.example"
    wrong = ["mailto:a@b.example", "javascript:1", "", "/relative", "ftp://a.example/"]
    entry = page(
        url=f"{top}/o'clock",
        hreflangs=[{"lang": "de", "url": url} for url in [f"{top}/ä b", *wrong]],
        imgTags=[{"src": url} for url in [f"{top}/ä b.jpg", f"{top}/%C3%A4%20b.jpg", *wrong]],
        jsonld=[NEWS["video"] | {"contentUrl": f"{top}/ä b.mp4", "embedUrl": "https://ä.example/"}],
    )
    row = written([entry], tmp_path).iloc[0]
    (found,) = entries(tmp_path / "sitemap.xml")
    assert row[["alternates", "images", "videos"]].tolist() == [1, 1, 1]
    assert inside(found, "loc") == [f"{top}/o'clock", f"{top}/%C3%A4%20b.jpg"]
    assert [link.get("href") for link in found.iter("{*}link")] == [f"{top}/%C3%A4%20b"]
    assert inside(found, "content_loc") + inside(found, "player_loc") == [
        f"{top}/%C3%A4%20b.mp4",
        "https://xn--4ca.example/",
    ]
    assert "<loc>https://a.example/o&apos;clock</loc>" in (tmp_path / "sitemap.xml").read_text()


@pytest.mark.parametrize(
    ("language", "code"),
    [
        *[("en", "en"), ("en-GB", "en"), ("en_US", "en"), ("DE", "de"), ("haw", "haw")],
        *[("zh-CN", "zh-cn"), ("zh_TW", "zh-tw"), ("zh-Hans", "zh"), ("english", None), ("x-klingon", None)],
    ],
)
def test_news_have_a_code_of_a_language(language: str, code: str | None, tmp_path: Path) -> None:
    """ISO 639 has two or three letters; of Chinese the extension asks for zh-cn and zh-tw."""
    said = {"jsonld": [NEWS], "publisher": "P", "headline": "H", "language": language}
    found = written([page(url="https://a.example/", date={"published": "2026-11-19"}, **said)], tmp_path)
    assert found["news"].tolist() == [code is not None]
    assert inside(entries(tmp_path / "sitemap.xml")[0], "language") == ([code] if code else [])


@pytest.mark.parametrize("date", ["2026-01-01T10:00:00+15:00", "Thu, 01 Jan 2026 10:00:00 +1500"])
def test_a_zone_that_no_schema_has_is_written_in_another_one(date: str, tmp_path: Path) -> None:
    """XML Schema part 2, section 3.2.7: no zone is more than 14 hours from UTC."""
    row = written([page(url="https://a.example/", date={"modified": date})], tmp_path).iloc[0]
    assert row["lastmod"] == "2025-12-31T19:00:00+00:00"


def test_what_is_written_is_read_again_and_breaks_no_rule(tmp_path: Path) -> None:
    body = (
        "<title>Page {n} of lamps</title><h1>{n}</h1><p>Text.<a href=/0>0</a><a href=/1>1</a><a href=/2>2</a>"
    )
    site: dict[str, Any] = {f"/{n}": body.format(n=n).encode() for n in range(3)}
    site["/"] = body.format(n="home").encode()
    with SiteServer(site) as server:
        first = server.url
        listed = wa.crawl(f"{first}/", sitemap=None, **OPTIONS).write_sitemap(tmp_path)
    site["/sitemap.xml"] = (tmp_path / "sitemap.xml").read_bytes().replace(first.encode(), b"{{origin}}")
    with SiteServer(site) as server:
        again = wa.sitemap(f"{server.url}/sitemap.xml", allow_private=True)
        crawled = wa.crawl(f"{server.url}/", sitemap=f"{server.url}/sitemap.xml", **OPTIONS)
        read = [url.replace(server.url, first) for url in again["url"]]
    assert read == listed["url"].tolist()
    assert len(again) == 4
    rules = wa.rules()
    about = set(rules[rules["category"] == "sitemap"]["name"]) - {"sitemap_not_in_robots"}
    assert not about & set(crawled.issues["rule"]), crawled.issues["rule"].tolist()


SCHEMAS = Path(__file__).with_name("schemas")
"""The extensions' elements, with the order, types and limits that their published schemas have."""
CORE = os.environ.get("WEBANALYTICS_SITEMAP_XSD")
"""sitemap.xsd of sitemaps.org, which the npm package `sitemap` has in its folder schema."""


@pytest.mark.skipif(CORE is None, reason="WEBANALYTICS_SITEMAP_XSD does not name the schema of sitemaps")
@pytest.mark.parametrize("compressed", [False, True])
def test_the_published_schema_accepts_what_is_written(
    tmp_path: Path, compressed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap_writer, "MOST_ENTRIES", 3)
    dates = ["2026", "2026-10", "2026-10-05", "2026-10-05T10:00Z", "2026-10-05T10:00:00.5+02:00"]
    dates += ["Tue, 06 Oct 2026 10:00:00 GMT"]
    rows = []
    for number, date in enumerate(dates):
        news = json.loads(json.dumps(NEWS))
        news["video"] |= {"uploadDate": date, "name": "Trimming a wick " * 20}
        url = f"https://a.example/{number}"
        hreflangs = [{"lang": name, "url": f"{url}/{name}"} for name in ("de-AT", "x-default", "en_US")]
        images = [{"src": f"{url}.jpg?a=1&b=ü", "width": "400"}]
        said = {"publisher": "The Lamp", "headline": "Lamps & wicks", "title": "Lamps", "language": "en-GB"}
        known = {"date": {"modified": date, "published": "2026-11-19T09:00+00:00"}, "jsonld": [news]}
        rows.append(page(url=url, imgTags=images, hreflangs=hreflangs, **known, **said))
    listed = written(rows, tmp_path / "out", compressed=compressed)
    assert listed[["alternates", "images", "videos"]].drop_duplicates().values.tolist() == [[2, 1, 1]]
    assert listed["news"].all()
    assert listed["lastmod"].tolist()[:4] == [
        "2026-01-01",
        "2026-10-01",
        "2026-10-05",
        "2026-10-05T10:00:00+00:00",
    ]
    schema = etree.XMLSchema(etree.fromstring(_all_schemas(Path(str(CORE)), tmp_path)))
    files = sorted((tmp_path / "out").glob("sitemap-*"))
    assert len(files) == 2
    for file in files:
        content = gzip.decompress(file.read_bytes()) if compressed else file.read_bytes()
        schema.assertValid(etree.fromstring(content))
        wrong = content.replace(b"<lastmod>2026-", b"<lastmod>26-")
        assert wrong == content or not schema.validate(etree.fromstring(wrong))
    schema = etree.XMLSchema(etree.parse(SCHEMAS / "index.xsd"))
    schema.assertValid(etree.parse(tmp_path / "out" / "sitemap.xml"))


def _all_schemas(core: Path, folder: Path) -> bytes:
    (folder / "sitemap.xsd").write_bytes(core.read_bytes())
    places = {file.name: file for file in SCHEMAS.glob("*.xsd") if file.name != "index.xsd"}
    places["sitemap.xsd"] = folder / "sitemap.xsd"
    spaces = {name: etree.parse(path).getroot().get("targetNamespace") for name, path in places.items()}
    imports = "".join(
        f'<import namespace="{space}" schemaLocation="{places[name].as_uri()}"/>'
        for name, space in spaces.items()
    )
    return f'<schema xmlns="http://www.w3.org/2001/XMLSchema">{imports}</schema>'.encode()
