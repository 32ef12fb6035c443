"""Search data beside an audit: exports as they are written, totals, matching, and what only both know."""

from __future__ import annotations

import gzip
import re
import time
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import effort_since
from tests.limits import limited
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import SiteServer
from webanalytics.runs.frames.input_files import read_frame

TOP = "https://a.example"
# Headers and numbers as Search Console writes them: name of the file, headers, and the row of a page with
# 1,234 clicks and 56,789 impressions at 8.5.
LANGUAGES = {
    "en": ("Pages.csv", "Top pages,Clicks,Impressions,CTR,Position", '"1,234","56,789",2.17%,8.5'),
    "de": (
        "Seiten.csv",
        "Häufigste Seiten;Klicks;Impressionen;Klickrate;Durchschnittliche Position",
        "1.234;56.789;2,17 %;8,5",
    ),
    "fr": (
        "Pages.csv",
        "Pages les plus populaires,Clics,Impressions,CTR,Position moyenne",
        '1\u202f234,56\xa0789,"2,17\xa0%","8,5"',
    ),
    "es": (
        "Páginas.csv",
        "Páginas principales,Clics,Impresiones,CTR,Posición",
        '1.234,56.789,"2,17 %","8,5"',
    ),
    "it": ("Pagine.csv", "Pagine principali,Clic,Impressioni,CTR,Posizione", '1.234,56.789,"2,17%","8,5"'),
    "pt": (
        "Páginas.csv",
        "Páginas principais,Cliques,Impressões,CTR,Posição",
        '1.234,56.789,"2,17%","8,5"',
    ),
    "nl": (
        "Pagina's.csv",
        "Populairste pagina's,Klikken,Vertoningen,CTR,Positie",
        '1.234,56.789,"2,17%","8,5"',
    ),
    "ru": (
        "Страницы.csv",
        "Самые популярные страницы,Клики,Показы,CTR,Позиция",
        '1\xa0234,56\xa0789,"2,17 %","8,5"',
    ),
    "ja": ("ページ.csv", "上位のページ,クリック数,表示回数,CTR,掲載順位", '"1,234","56,789",2.17%,8.5'),
}
QUERIES = {
    "en": "Top queries,Clicks,Impressions,CTR,Position",
    "de": "Häufigste Suchanfragen;Klicks;Impressionen;Klickrate;Durchschnittliche Position",
    "fr": "Requêtes les plus fréquentes,Clics,Impressions,CTR,Position moyenne",
    "es": "Consultas principales,Clics,Impresiones,CTR,Posición",
    "it": "Query più frequenti,Clic,Impressioni,CTR,Posizione",
    "pt": "Principais consultas,Cliques,Impressões,CTR,Posição",
    "nl": "Populairste zoekopdrachten,Klikken,Vertoningen,CTR,Positie",
    "ru": "Самые популярные запросы,Клики,Показы,CTR,Позиция",
    "ja": "上位のクエリ,クリック数,表示回数,CTR,掲載順位",
}


def site(*paths: str, **cells: Any) -> wa.Audit:
    rows = [{"url": f"{TOP}{path}", "final_url": f"{TOP}{path}", "status": "ok"} for path in paths]
    return wa.Audit(pd.DataFrame(rows).assign(http_status=200, **cells))


def joined(audit: wa.Audit, text: str, path: Path) -> wa.Audit:
    path.write_text(text, encoding="utf-8")
    return audit.with_search_data(path)


def total(audit: wa.Audit, name: str = "clicks") -> int:
    left = audit.unmatched[name].sum() if len(audit.unmatched) else 0
    return int(audit.pages[name].sum() + left)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", [".csv", ".csv.gz", ".zip"])
def test_exports_in_nine_languages(language: str, kind: str, tmp_path: Path) -> None:
    name, head, cells = LANGUAGES[language]
    mark = ";" if ";" in head else ","
    small = mark.join(["2", "30", "6.67%", "1"])
    content = f"\ufeff{head}\r\n{TOP}/tea{mark}{cells}\r\n{TOP}/gone{mark}{small}\r\n".encode()
    path = tmp_path / f"{name.removesuffix('.csv')}{kind}"
    if kind == ".zip":
        with zipfile.ZipFile(path, "w") as archive:  # as it is downloaded: all tables of the report
            archive.writestr("Filter.csv", "Filter,Value\r\nSearch type,Web\r\n")
            archive.writestr("x.csv", f"{QUERIES[language]}\r\n#tea{mark}{cells}\r\n")
            archive.writestr(name, content)
    else:
        path.write_bytes(gzip.compress(content) if kind.endswith("gz") else content)
    found = site("/", "/tea").with_search_data(path)
    row = found.pages.iloc[1]
    assert (row["clicks"], row["impressions"], row["position"]) == (1234, 56_789, 8.5)
    assert row["ctr"] == pytest.approx(1234 / 56_789)
    assert found.pages.iloc[0][["clicks", "impressions", "ctr", "position"]].isna().all()
    assert found.unmatched[["url", "clicks"]].values.tolist() == [[f"{TOP}/gone", 2]]
    assert (total(found), total(found, "impressions")) == (1236, 56_819)


def test_analytics_with_comments_and_paths(tmp_path: Path) -> None:
    text = (
        "# ----\n# Landing page\n# Start date: 20261001\n# ----\nLanding page + query string,Sessions,Views\n"
        "/tea?utm_source=mail,7,9\n/tea?page=2&gclid=x,1,1\n(not set),3,3\n/,20,30\n# \n# Second table\nDay,Sessions\n1,31\n"
    )
    found = joined(site("/", "/tea", "/tea?page=2"), text, tmp_path / "ga4.csv")
    assert found.pages["sessions"].tolist() == [20, 7, 1]
    assert found.unmatched["url"].tolist() == ["(not set)"]
    assert (total(found, "sessions"), total(found, "views")) == (31, 43)
    with pytest.raises(ParameterError, match="clicks of a search engine"):
        found.search_issues()
    two_hosts = wa.Audit(pd.DataFrame({"url": [f"{TOP}/", "https://b.example/"], "status": "ok"}))
    assert len(joined(two_hosts, text, tmp_path / "ga4.csv").unmatched) == 4


def test_workbooks_and_bing(tmp_path: Path) -> None:
    queries = pd.DataFrame(
        {"Top queries": ["tea"], "Clicks": [1], "Impressions": [2], "CTR": [0.5], "Position": [1.5]}
    )
    pages = pd.DataFrame(
        {
            "Top pages": [f"{TOP}/tea"],
            "Clicks": [5],
            "Impressions": [80],
            "CTR": [0.0625],
            "Position": [3.125],
        }
    )
    with pd.ExcelWriter(tmp_path / "export.xlsx") as book:
        queries.to_excel(book, sheet_name="Queries", index=False)
        pages.to_excel(book, sheet_name="Pages", index=False)
    row = site("/tea").with_search_data(tmp_path / "export.xlsx").pages.iloc[0]
    assert (row["clicks"], row["position"]) == (5, 3.125)
    text = f'"Page","Impressions","Clicks","CTR","Avg. impression position","Avg. click position"\n"{TOP}/tea","80","5","6.25%","3.1","2.0"\n'
    assert joined(site("/tea"), text, tmp_path / "bing.csv").pages["position"].tolist() == [3.1]


def test_addresses_match_from_the_strictest_form_to_the_loosest() -> None:
    pages = ["/a", "/a/", "/B", "/c?x=1", "/d"]
    given = {
        "/a": 1, "/a/": 2, "/A": 4, "/b/": 8, "/B/?utm_source=m&gclid=2": 16, "/c?x=1&fbclid=3": 32, "/c": 64, "/d#part": 128,
    }  # fmt: skip
    rows = {f"{TOP}{path}": clicks for path, clicks in given.items()}
    rows |= {
        "http://a.example/d": 256,
        "sc-domain:a.example/d/": 512,
        "A.example/d": 1024,
        "https://b.example/d": 2048,
    }
    frame = pd.DataFrame(
        {"page": rows.keys(), "clicks": rows.values(), "impressions": 2, "position": rows.values()}
    )
    found = site(*pages).with_search_data(frame)
    assert found.pages["clicks"].tolist() == [1 + 4, 2, 8 + 16, 32, 128 + 256 + 512 + 1024]
    assert found.unmatched["clicks"].tolist() == [64, 2048]
    assert total(found) == sum(rows.values())
    # positions are means by impressions, here of equal weight
    assert found.pages["position"].tolist()[2] == (8 + 16) / 2
    # rows that stand for one page get the numbers once
    twice = wa.Audit(pd.concat([site("/d").raw] * 2, ignore_index=True)).with_search_data(frame)
    assert total(twice) == sum(rows.values())


def test_a_page_view_wins_over_sums_of_queries(tmp_path: Path) -> None:
    queries = pd.DataFrame(
        {
            "page": [f"{TOP}/", f"{TOP}/", f"{TOP}/gone"],
            "query": ["tea", "NA", "tea"],
            "clicks": [1, 2, 4],
            "impressions": [10, 20, 40],
            "position": [1.0, 4.0, 9.0],
        }
    )
    pages = pd.DataFrame({"page": [f"{TOP}/"], "clicks": [24], "impressions": [300]})
    alone = site("/", "/b").with_search_data(queries)
    assert (alone.pages["clicks"].tolist()[0], set(alone.pages["clicks_from"])) == (3, {"queries"})
    assert alone.pages["position"].tolist()[0] == (10 * 1.0 + 20 * 4.0) / 30
    assert total(alone) == 7
    assert "no impressions" not in set(alone.search_issues()["fact"])
    both = site("/", "/b").with_search_data(pages).with_search_data(queries)
    assert (both.pages["clicks"].tolist()[0], set(both.pages["clicks_from"])) == (24, {"page view"})
    assert both.search_queries["query"].tolist() == ["tea", "NA"]
    assert both.unmatched["clicks"].tolist() == [4]
    assert both.select(f"{TOP}/").search_queries.equals(both.search_queries)
    with pytest.raises(ParameterError, match="`clicks`, `impressions`"):
        both.with_search_data(pages)
    both.save(tmp_path / "saved")
    assert wa.load(tmp_path / "saved").pages["clicks"].tolist()[0] == 24


def test_what_only_both_know() -> None:
    long = "Brass lamps and the oil that they burn, told at such length that no line holds it"
    pages = pd.DataFrame(
        [
            {"url": "/closed", "robots": "noindex"},
            {"url": "/old", "final_url": f"{TOP}/new", "redirects": [f"{TOP}/old"]},
            {"url": "/new", "title": long, "elapsed": 3.25},
            {"url": "/gone", "status": "error", "http_status": 404, "error_type": "http"},
            {"url": "/print", "canonicals": [{"href": "/new", "url": f"{TOP}/new"}]},
            {"url": "/unseen"},
            {"url": "/quiet", "robots": "noindex"},
            {"url": "/rare", "title": long},
        ]
    )
    pages["url"] = TOP + pages["url"]
    pages["final_url"] = pages["final_url"].fillna(pages["url"])
    pages = pages.fillna({"status": "ok", "http_status": 200})
    clicks = {"/closed": 50, "/old": 40, "/new": 30, "/gone": 20, "/print": 10, "/quiet": 0, "/rare": 0}
    data = pd.DataFrame(
        {"page": clicks.keys(), "clicks": clicks.values(), "impressions": [60, 50, 900, 30, 20, 5, 3]}
    )
    audit = wa.Audit(pages).with_search_data(data)
    found = audit.search_issues()
    assert found[["url", "fact", "clicks"]].fillna(-1).values.tolist() == [
        [f"{TOP}/closed", "noindex", 50],
        [f"{TOP}/old", "redirects", 40],
        [f"{TOP}/new", "slow", 30],
        [f"{TOP}/new", "title cut", 30],
        [f"{TOP}/gone", "fails", 20],
        [f"{TOP}/print", "canonicalised", 10],
        [f"{TOP}/unseen", "no impressions", -1],
    ]
    told = found.set_index("fact")["evidence"]
    assert told["redirects"] == f"Redirects to {TOP}/new."
    assert told["fails"] == "Answers HTTP 404."
    assert told["slow"] == "Read in 3.2 seconds."
    assert found["fix"].str.endswith(".").all()
    assert audit.select(f"{TOP}/gone").search_issues()["fact"].tolist() == ["fails"]
    # the profile's limits hold here too
    loose = audit.with_profile(thresholds={"title_too_long": 5000, "slow_response": 9})
    assert not {"slow", "title cut"} & set(loose.search_issues()["fact"])
    # an export that ends at 1,000 rows says nothing of the others
    more = pd.DataFrame({"page": [f"/x{number}" for number in range(993)], "clicks": 0, "impressions": 1})
    cut = wa.Audit(pages).with_search_data(pd.concat([data, more]))
    assert "no impressions" not in set(cut.search_issues()["fact"])
    causes = audit.causes().set_index("rule")
    assert causes.loc["noindex", "clicks"] == 50
    assert "clicks" not in wa.Audit(pages).causes()


def test_what_only_search_results_know_and_the_order_by_clicks() -> None:
    pages = {
        "url": [f"{TOP}/a", f"{TOP}/b", f"{TOP}/c"],
        "html": ["<title>A</title>", "<title>B</title>", "<title>C</title><h1>C</h1>"],
    }
    audit = wa.audit(pd.DataFrame(pages), progress=False)
    rows = {
        "page": ["/a", "/c", "/lost", "/dull", "", None, "Total"],  # the last three are no addresses
        "clicks": [5, 90, 40, 0, 135, 135, 135],
        "impressions": [9, 99, 50, 0, 9, 158, 158],
    }
    found = audit.with_search_data(pd.DataFrame(rows))
    alone = found.search_issues().query("fact == 'not in the audit'")
    assert alone[["url", "clicks", "impressions"]].values.tolist() == [["/lost", 40, 50]]
    assert "not in the audit" not in set(found.select([f"{TOP}/a"]).search_issues()["fact"])
    for table in (found.summary(by="clicks"), found.causes(by="clicks")):
        assert table["clicks"].is_monotonic_decreasing
        assert table.set_index("rule").loc[["viewport_missing", "h1_missing"], "clicks"].tolist() == [95, 5]
    assert set(found.summary(by="clicks")["rule"]) == set(audit.summary()["rule"])
    for wrong in (audit.summary, audit.causes):
        with pytest.raises(ParameterError, match=r"`(audit|by)`"):
            wrong(by="clicks")


def test_what_robots_txt_kept_a_crawl_from_is_no_page_that_lacks_links() -> None:
    pages = {
        "/": b"<title>Home</title><a href=/closed/1>One</a>",
        "/robots.txt": b"User-agent: *\nDisallow: /closed/\n",
    }
    with SiteServer(pages) as server:
        crawl = wa.crawl(server.url, allow_private=True, workers=1, progress=False, sitemap=None)
    rows = {"page": [f"{server.url}/closed/1", f"{server.url}/none"], "clicks": [7, 5]}
    facts = crawl.with_search_data(pd.DataFrame(rows)).search_issues().set_index("url")["fact"]
    assert facts.tolist() == ["blocked by robots.txt", "not in the audit"]


def test_orphans_and_deep_pages_of_a_crawl() -> None:
    audit = site("/far", "/lost")
    depths = pd.DataFrame({"crawl_depth": pd.array([7, None], "Int64"), "orphan": [False, True]})
    found = audit.with_search_data(pd.DataFrame({"page": ["/far", "/lost"], "clicks": [2, 1]}))
    found.site.pages[["crawl_depth", "orphan"]] = depths
    found.site.forget("crawl_depth", "orphan")
    assert found.search_issues()[["fact", "evidence"]].values.tolist() == [
        ["deep", "7 clicks from the start."],
        ["orphan", "No other page of the crawl links here."],
    ]


def test_queries_that_several_pages_are_shown_for() -> None:
    shown = [
        ("/a", "tea", 9, 100),
        ("/b", "tea", 3, 90),
        ("/c", "tea", 0, 11),
        ("/a", "lamp", 5, 50),
        ("/b", "lamp", 0, 9),
    ]
    rows = pd.DataFrame(shown, columns=["page", "query", "clicks", "impressions"])
    found = site("/a", "/b", "/c").with_search_data(rows).search_issues()
    assert found[["url", "evidence"]].values.tolist() == [
        [f"{TOP}/a", f'"tea" (100 impressions) shows {TOP}/b too.'],
        [f"{TOP}/b", f'"tea" (90 impressions) shows {TOP}/a too.'],
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Top queries,Clicks\ntea,1\n",
        "Top pages,Users\n/,1\n",
        f"Top pages,Last 28 days Clicks,Previous 28 days Clicks\n{TOP}/,1,2\n",
        f"Top pages,Clicks,Clicks\n{TOP}/,1,2\n",
    ],
)
def test_what_has_no_pages_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(
        ParameterError, match="`source` parameter must be one export with a column of addresses"
    ):
        joined(site("/"), text, tmp_path / "x.csv")


def test_sources_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK no archive")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"Page,Clicks\n" * 9)[:-9])
    (tmp_path / "x.pdf").write_bytes(b"")
    for source in (tmp_path / "none.csv", tmp_path / "x.zip", tmp_path / "x.csv.gz", tmp_path / "x.pdf", 7):
        with pytest.raises(ParameterError, match="`source`"):
            site("/").with_search_data(source)


def test_headers_and_cells_are_data_alone(tmp_path: Path) -> None:
    head = '"=cmd()|Page","<script>alert(1)</script>","Clicks","score","{0}`url`"'
    text = f'{head}\n"{TOP}/tea","=1+1","=SUM(A:A)","99","x"\n"=HYPERLINK(""x/"")","","3","",""\n'
    found = joined(site("/tea"), text, tmp_path / "x.csv")
    assert set(found.raw.columns) - set(site("/tea").raw.columns) == {"clicks", "clicks_from"}
    assert found.pages["clicks"].isna().all()  # a formula is no number
    assert found.unmatched["url"].tolist() == ['=HYPERLINK("x/")']


def test_200_000_rows_are_joined_soon() -> None:
    audit = site(*(f"/page-{number}" for number in range(2000)))
    rows = pd.DataFrame(
        {"page": [f"{TOP}/Page-{number % 4000}/?utm_id={number}" for number in range(200_000)]}
    )
    start = time.process_time()
    found = audit.with_search_data(rows.assign(clicks="1,000", impressions="2,000", position="1.5"))
    assert effort_since(start) < 20
    assert found.pages["clicks"].tolist() == [50_000] * 2000
    assert len(found.unmatched) == 100_000


def test_a_row_that_stands_for_the_page_where_it_ends_has_that_pages_clicks() -> None:
    row = {"url": f"{TOP}/old", "final_url": f"{TOP}/new", "redirects": [f"{TOP}/old"], "status": "ok"}
    audit = wa.Audit(pd.DataFrame([row]))
    found = audit.with_search_data(pd.DataFrame({"page": [f"{TOP}/new"], "clicks": [7]}))
    assert found.pages["clicks"].tolist() == [7]
    assert found.search_issues().empty  # nobody knows that people click the old address


def test_a_loose_form_is_that_of_the_page_rather_than_of_its_redirect() -> None:
    moved = {"url": f"{TOP}/tea", "final_url": f"{TOP}/tea/", "redirects": [f"{TOP}/tea"], "status": "ok"}
    audit = wa.Audit(
        pd.DataFrame([moved, {"url": f"{TOP}/tea/", "final_url": f"{TOP}/tea/", "status": "ok"}])
    )
    rows = {"page": ["http://a.example/tea/", f"{TOP}/tea"], "clicks": [7, 2]}
    assert audit.with_search_data(pd.DataFrame(rows)).pages["clicks"].tolist() == [2, 7]


def test_a_page_and_not_its_redirect_speaks_for_an_address() -> None:
    """The redirect stands before the page, as where a crawl finds it first."""
    moved = {"url": f"{TOP}/old", "final_url": f"{TOP}/tea", "redirects": [f"{TOP}/old"], "status": "ok"}
    pages = [
        {"url": url, "final_url": url, "status": "ok", "title": ""} for url in (f"{TOP}/tea", f"{TOP}/b")
    ]
    queries = pd.DataFrame(
        {"page": [f"{TOP}/tea", f"{TOP}/b"], "query": "tea", "impressions": 20, "clicks": 1}
    )
    counts = pd.DataFrame({"page": [f"{TOP}/old", f"{TOP}/tea"], "clicks": [2, 7]})
    audit = wa.Audit(pd.DataFrame([moved, *pages])).with_search_data(counts)
    assert audit.summary(by="clicks").set_index("rule")["clicks"]["title_missing"] == 7
    shown = audit.with_search_data(queries).search_issues()
    assert shown["url"][shown["fact"] == "query on several pages"].tolist() == [f"{TOP}/tea", f"{TOP}/b"]


def test_two_tables_of_pages_are_not_mixed(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name in ("a.csv", "b.csv"):
            archive.writestr(name, "Top pages,Clicks\n/,1\n")
    with pytest.raises(ParameterError, match="one export"):
        site("/").with_search_data(tmp_path / "x.zip")


def test_clicks_of_a_cause_are_those_of_its_pages_or_of_its_host() -> None:
    audit = site("/a", "/b", headers="Content-Type: text/html")
    clicks = pd.DataFrame({"url": [f"{TOP}/a", f"{TOP}/b"], "clicks": [3.0, None]})
    causes = audit.with_columns(clicks).causes()
    of_host = causes[causes["rule"] == "hsts_missing"]
    assert of_host["clicks"].tolist() == [3]
    assert of_host["examples"].tolist() == [TOP]


def test_files_that_inflate_out_of_proportion_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webanalytics.runs.frames.input_files.LEAST_INFLATED", 1_000_000)
    lines = b"Page,Clicks\n" + b"https://a.example/,1\n" * 200_000
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(lines))
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.csv", "b.csv"):
            archive.writestr(name, lines)
    pd.DataFrame({"Page": ["https://a.example/"], "Clicks": [3]}).to_excel(
        tmp_path / "good.xlsx", index=False
    )
    with (
        zipfile.ZipFile(tmp_path / "good.xlsx") as good,
        zipfile.ZipFile(tmp_path / "x.xlsx", "w", zipfile.ZIP_DEFLATED) as bad,
        zipfile.ZipFile(tmp_path / "far.xlsx", "w", zipfile.ZIP_DEFLATED) as far,
    ):
        for name in good.namelist():
            content, end = good.read(name), b"</sheetData>"
            last = b'<row r="5000"><c r="XFD5000" t="inlineStr"><is><t>a</t></is></c></row>'
            is_sheet = name.endswith("sheet1.xml")
            bad.writestr(name, content.replace(end, last * 60_000 + end) if is_sheet else content)
            far.writestr(name, content.replace(end, last + end) if is_sheet else content)
    audit = site("/")
    for name in ("x.csv.gz", "x.zip", "x.xlsx"):
        with limited(memory=20_000_000), pytest.raises(wa.ParameterError, match="without compression"):
            audit.with_search_data(tmp_path / name)
    with limited(memory=20_000_000), pytest.raises(wa.ParameterError, match=r"`input` .*without compression"):
        read_frame(tmp_path / "x.xlsx")
    assert read_frame(tmp_path / "far.xlsx").values.tolist() == [["https://a.example/", "3"]]
    found = audit.with_search_data(tmp_path / "far.xlsx")  # whose cells would be 80 million
    assert found.pages["clicks"].tolist() == [3]


@pytest.mark.parametrize("cell", ["1.2K", "1,234 (5 %)", "<10", "-3", "=2"])
def test_a_count_that_is_no_number_is_said_and_not_left_out(cell: str, tmp_path: Path) -> None:
    with pytest.raises(
        wa.ParameterError, match=f"numbers in its column `Clicks`, and not '{re.escape(cell)}'"
    ):
        joined(site("/tea"), f'Page,Clicks\n{TOP}/tea,"{cell}"\n', tmp_path / "pages.csv")


def test_numbers_that_count_nothing_are_missing() -> None:
    frame = pd.DataFrame({"Page": [f"{TOP}/tea"], "Clicks": [-1], "Views": [7]})
    assert site("/tea").with_search_data(frame).pages[["clicks", "views"]].values.tolist() == [[pd.NA, 7]]


@pytest.mark.parametrize("cell", ["-", "n/a", ""])
def test_a_count_that_is_left_open_is_missing(cell: str, tmp_path: Path) -> None:
    kept = joined(site("/tea"), f"Page,Clicks,Views\n{TOP}/tea,{cell},7\n", tmp_path / "pages.csv").pages
    assert kept[["clicks", "views"]].values.tolist() == [[pd.NA, 7]]
