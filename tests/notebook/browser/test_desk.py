"""The audit desk, as an analyst uses it in JupyterLab."""

from __future__ import annotations

import re
from pathlib import Path

import openpyxl
import pandas as pd

from tests.notebook.browser.desk_page import DESK, allow_loopback, audit, count, fill, open_tab, press
from tests.notebook.browser.lab import Lab
from webanalytics.fetching.testing import SampleSite, SiteServer

KEY = "22bce1bb-4929-4c08-a13f-6061b2c16adc"


def test_stopping_midway_keeps_the_rows_and_the_kernel_answers_meanwhile(lab: Lab) -> None:
    pages = {f"/{number}": f"<title>Page {number}</title><p>Tea".encode() for number in range(60)}
    with SiteServer(pages, delay=0.5) as server:
        notebook = lab(DESK)
        fill(notebook, [server.url + path for path in pages])
        limit = notebook.output().get_by_role("spinbutton", name="… from one host")
        limit.fill("2")
        limit.blur()
        press(notebook, "Run")
        notebook.output().get_by_text(re.compile(r"[1-9]\d* of 60 answers")).wait_for()
        assert notebook.execute("print(6 * 7, desk._background.running)") == "42 True\n"
        notebook.shot("desk-running")
        press(notebook, "Stop")
        notebook.output().get_by_text("Stopped at").first.wait_for()
        notebook.shot("desk-stopped")
        open_tab(notebook, "Pages")
        rows = int(notebook.execute("print(len(desk.frame))"))
        assert 0 < rows < 60
        assert count(notebook).inner_text() == f"{rows} page{'s' if rows > 1 else ''}"
        seen = len(server.requests)
        notebook.page.wait_for_timeout(1200)
        assert len(server.requests) <= seen + 2  # those that were on their way
        assert notebook.output().get_by_role("button", name="Run", exact=True).is_enabled()


def test_downloads(lab: Lab, tmp_path: Path) -> None:
    titles = {"/a": "Tea", "/b": '=HYPERLINK("http://evil.example")', "/c": "Gr\u00fcner Tee \u8336"}
    pages = {
        path: f"<meta charset=utf-8><title>{title}</title><p>Tea".encode() for path, title in titles.items()
    }
    with SiteServer(pages) as server:
        notebook = lab(DESK)
        audit(notebook, [server.url + path for path in pages])
        files = {}
        for name in ("CSV", "Parquet", "Excel", "Issues CSV", "Report (HTML)"):
            with notebook.page.expect_download() as download:
                press(notebook, name)
            files[name] = tmp_path / download.value.suggested_filename
            download.value.save_as(files[name])
    suggested = [path.name for path in files.values()]
    assert suggested == ["audit.csv", "audit.parquet", "audit.xlsx", "audit-issues.csv", "audit-report.html"]
    issues = pd.read_csv(files["Issues CSV"])
    assert set(issues["url"]) <= {server.url, *(server.url + path for path in pages)}  # some are of the host
    assert "title_too_short" in set(issues["rule"])
    wanted = list(titles.values())
    csv = pd.read_csv(files["CSV"])
    assert csv["title"].tolist() == [wanted[0], "'" + wanted[1], wanted[2]]
    parquet = pd.read_parquet(files["Parquet"])
    assert parquet["title"].tolist() == wanted
    assert parquet["url"].str.startswith("http://").all()
    book = openpyxl.load_workbook(files["Excel"])
    assert {"Summary", "Issues", "Pages"} <= set(book.sheetnames)
    assert book["Issues"].max_row == len(issues) + 1
    sheet = book["Pages"]
    head = [cell.value for cell in sheet[1]]
    cells = [row[head.index("title")] for row in sheet.iter_rows(min_row=2)]
    assert [(cell.value, cell.data_type) for cell in cells] == [(title, "s") for title in wanted]


def test_uploading_a_csv(lab: Lab, site: SampleSite, tmp_path: Path) -> None:
    notebook = lab(DESK)
    table = tmp_path / "links.csv"
    table.write_text(
        "name;page;image\n" + "".join(f"n{row};{url};{url}x\n" for row, url in enumerate(site.pages[:3]))
    )
    button = notebook.output().locator("button.widget-upload", has_text="Upload CSV")
    with notebook.page.expect_file_chooser() as chooser:
        button.click()
    chooser.value.set_files(table)
    notebook.output().get_by_text("3 URLs taken from the file").wait_for()
    assert notebook.output().locator(".widget-textarea textarea").input_value() == "\n".join(site.pages[:3])
    table.write_text("first,second\n" + "".join(f"{url},{url}\n" for url in site.pages[:2]))
    with notebook.page.expect_file_chooser() as chooser:
        button.click()
    chooser.value.set_files(table)
    notebook.output().get_by_text("Which column of the file holds the URLs?").wait_for()
    notebook.output().get_by_label("Column that holds the URLs").select_option("second")
    notebook.output().get_by_text("2 URLs taken from the file").wait_for()
    assert "first,second" not in notebook.save()


def test_the_key_is_in_no_saved_notebook(lab: Lab, site: SampleSite) -> None:
    notebook = lab(DESK)
    press(notebook, "Hosted API")
    notebook.output().get_by_placeholder("https://api.example.com").fill("http://127.0.0.1:9")
    key = notebook.output().get_by_label("API key")
    key.fill(KEY)
    assert KEY not in notebook.save()
    key.blur()
    notebook.page.wait_for_function(
        "() => document.querySelector('input[aria-label^=API]').placeholder.startsWith('kept in the kernel')"
    )
    area = notebook.output().locator(".widget-textarea textarea")
    area.fill(site.pages[0])
    area.blur()
    notebook.shot("desk-hosted")
    assert notebook.execute("plan = desk.plan(); print(plan.options['backend'])").startswith(
        "Hosted('http://127.0.0.1:9'"
    )
    assert KEY not in notebook.save()
    assert KEY not in notebook.execute("print(desk, desk.form.key, plan, desk.form.key.secret)")


def test_failures_are_no_success(lab: Lab) -> None:
    notebook = lab(DESK)
    area = notebook.output().locator(".widget-textarea textarea")
    area.fill("\n".join(f"http://127.0.0.1:9/{number}" for number in range(14)))
    area.blur()
    press(notebook, "Run")
    status = notebook.output().get_by_text("14 pages failed, none was read.")
    status.wait_for()
    bar = notebook.output().locator(".progress-bar")
    assert "progress-bar-danger" in (bar.get_attribute("class") or "")
    why = notebook.output().get_by_role("note").filter(has_text="Why pages failed")
    assert "Private and loopback addresses too" in why.inner_text()
    assert "allow_private=True" in why.inner_text()
    overview = notebook.output().locator(".wa-panel[data-tab=overview]")
    assert overview.get_by_label("Failures", exact=True).count() == 0  # the desk has said it
    assert "No page could be read, so there is nothing to judge." in overview.inner_text()
    for theme in ("Light", "Dark"):
        notebook.theme(f"JupyterLab {theme}")
        notebook.shot(f"desk-failed-{theme.lower()}")
    notebook.output().locator(".jupyter-widget-Collapse-header", has_text="Options").click()
    notebook.output().get_by_label("Private and loopback addresses too").check()
    press(notebook, "Run")
    why.filter(has_text="allow_private=True").wait_for(state="detached")
    status.wait_for()
    why.wait_for()  # now nothing listens at that port


def test_a_site_by_its_sitemap_and_its_report(lab: Lab, tmp_path: Path) -> None:
    sitemap = "<urlset>" + "".join(f"<url><loc>{{{{origin}}}}/{n}</loc></url>" for n in "abc") + "</urlset>"
    pages = {f"/{n}": f"<!doctype html><title>{n}</title><p>Tea".encode() for n in "abc"}
    pages |= {"/robots.txt": b"Sitemap: {{origin}}/map.xml", "/map.xml": sitemap.encode()}
    with SiteServer(pages) as server:
        notebook = lab(DESK)
        field = notebook.output().get_by_placeholder(
            "https://example.org/ or https://example.org/sitemap.xml"
        )
        field.fill(f"{server.url}/a")
        field.blur()
        allow_loopback(notebook)
        report = notebook.output().get_by_role("button", name="Report", exact=True)
        assert report.is_disabled()
        press(notebook, "Run")
        notebook.output().get_by_text("3 pages read.").wait_for()
        assert "map.xml, which robots.txt names." in notebook.execute("print(desk.message)")
        assert "progress-bar-success" in (
            notebook.output().locator(".progress-bar").get_attribute("class") or ""
        )
        report.click()
        notebook.output().get_by_text("Report written: audit-127.0.0.1-").wait_for()
        with notebook.page.expect_download() as download:
            notebook.output().get_by_role("link", name="Download it").click()
        download.value.save_as(tmp_path / "report.html")
        assert "Title too short" in (tmp_path / "report.html").read_text("utf-8")
        notebook.shot("desk-report")
        notebook.output().get_by_role("link", name="Open the report").click()
        viewer = notebook.page.frame_locator(".jp-HTMLViewer iframe")
        viewer.get_by_role("heading", name="Audit of 127.0.0.1").wait_for()
        # JupyterLab runs no script of a file before somebody trusts it, and says so
        notebook.console_errors[:] = [
            text for text in notebook.console_errors if "inline" not in text and "allow-scripts" not in text
        ]


def test_search_data_and_what_to_do(lab: Lab, tmp_path: Path) -> None:
    oil = "Lamp oil is refined paraffin; it is poured into the tank before the wick is lit. " * 3
    care = (
        "Before the wick is lit, fill the tank with lamp oil. It is refined paraffin, which does not smell."
    )
    bodies = {
        "/": "<title>Lamps of brass and glass for the house</title><p>Lamps.",
        "/oil": f"<title>Lamp oil</title><h1>Lamp oil</h1><p>{oil}",
        "/care": f"<title>How to care for a lamp</title><h1>Care</h1><p>{care}",
        "/prices": "<title>Prices</title><meta name=robots content=noindex><p>All prices of lamps.",
    }
    pages = {path: f"<!doctype html><html lang=en>{body}".encode() for path, body in bodies.items()}
    with SiteServer(pages) as server:
        notebook = lab(DESK, height=2200)
        audit(notebook, [server.url + path for path in pages], "To do")
        panel = notebook.output().locator(".wa-panel[data-tab=to-do]")
        panel.get_by_role("heading", name="Links to add").wait_for()
        links = panel.get_by_role("region", name="Links to add")
        assert links.locator("tbody tr[data-row='0'] td").all_inner_texts()[:2] == [
            f"{server.url}/care",
            "lamp oil",
        ]
        table = tmp_path / "Pages.csv"
        rows = [
            ("/prices", "1,270", "20,400", 3.1),
            ("/oil", "310", "9,050", 5.2),
            ("/care", "12", "800", 14.9),
        ]
        table.write_text(
            "Top pages,Clicks,Impressions,CTR,Position\n"
            + "".join(
                f'{server.url}{path},"{clicks}","{seen}",6%,{place}\n' for path, clicks, seen, place in rows
            )
            + "https://b.example/,1,9,11%,4\n"
        )
        with notebook.page.expect_file_chooser() as chooser:
            notebook.output().get_by_role("button", name="Search data").click()
        chooser.value.set_files(table)
        notebook.output().get_by_text("Search data of 3 pages, 1 row of no page").wait_for()
        needs = panel.get_by_role("region", name="Pages that need work")
        needs.wait_for()
        panel.get_by_role("heading", name="Links to add").wait_for()
        assert needs.locator("tbody tr[data-row='0'] td").all_inner_texts()[:3] == [
            f"{server.url}/prices",
            "noindex",
            "1,270",
        ]
        for theme in ("Light", "Dark"):
            notebook.theme(f"JupyterLab {theme}")
            notebook.shot(f"desk-to-do-{theme.lower()}")
        assert "Top pages" not in notebook.save()
