"""The audit desk and the explorer, as an analyst uses them in JupyterLab."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pandas as pd
import pytest
from PIL import Image

from tests.browser.lab import Lab, Notebook
from webanalytics.testing import Reply, SampleSite, SiteServer, sample_site

if TYPE_CHECKING:
    from playwright.sync_api import Locator

DESK = "from webanalytics.widgets import app\ndesk = app()\ndesk"
TABS = ("Overview", "Pages", "Readability", "Keywords", "Metadata", "Issues", "Errors")
KEY = "22bce1bb-4929-4c08-a13f-6061b2c16adc"
HOSTILE = b"""<!doctype html><html lang=en>
<title>&lt;img src=x onerror=window.hacked=1&gt; tea</title>
<meta name=description content="<script>window.hacked=2</script>">
<meta property="og:image" content="{{origin}}/picture.png">
<link rel=canonical href="javascript:window.hacked=3">
<h1>&lt;b onclick=hacked()&gt;bold&lt;/b&gt;</h1><p>Tea and cake on the lawn, and more tea."""


@pytest.fixture(scope="module")
def site() -> Iterator[SampleSite]:
    """The sample site, which the notebook's kernel fetches from."""
    with sample_site() as server:
        yield server


def pages_table(notebook: Notebook) -> Locator:
    return notebook.output().locator(".wa-panel[data-tab=pages] table.wa-table")


def column(notebook: Notebook, key: str) -> list[str]:
    """The cells of one column of the rows that are drawn, from the top."""
    keys = (
        pages_table(notebook).locator("thead th").evaluate_all("cells => cells.map(cell => cell.dataset.key)")
    )
    place = keys.index(key) + 1
    return pages_table(notebook).locator(f"tbody tr[data-row] td:nth-child({place})").all_inner_texts()


def count(notebook: Notebook) -> Locator:
    return notebook.output().locator(".wa-panel[data-tab=pages] .wa-count")


def fill(notebook: Notebook, urls: list[str]) -> None:
    """Type URLs and allow the loopback address that the test's site has."""
    area = notebook.output().locator(".widget-textarea textarea")
    area.fill("\n".join(urls))
    area.blur()
    notebook.output().locator(".jupyter-widget-Collapse-header").click()
    notebook.output().get_by_label("Private and loopback addresses too").check()


def press(notebook: Notebook, name: str) -> None:
    notebook.output().get_by_role("button", name=name, exact=True).click()


def open_tab(notebook: Notebook, name: str) -> None:
    notebook.output().get_by_role("tab", name=name).click()


def audit(notebook: Notebook, urls: list[str], tab: str = "Pages") -> None:
    """Run the desk over URLs to its end and open a tab."""
    fill(notebook, urls)
    press(notebook, "Run")
    notebook.output().get_by_text("Done:").wait_for()
    open_tab(notebook, tab)


def numbers(cells: list[str]) -> list[float]:
    return [float(cell.replace(",", "")) for cell in cells if cell != "–"]


def test_sorting_and_filtering_the_pages(lab: Lab, site: SampleSite) -> None:
    notebook = lab(DESK)
    audit(notebook, site.pages)
    heading = pages_table(notebook).locator("th[data-key=wordCount]")
    assert heading.get_attribute("aria-sort") == "none"
    given = column(notebook, "url")
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    words = numbers(column(notebook, "wordCount"))
    assert words == sorted(words)
    assert len(words) > 10
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    words = numbers(column(notebook, "wordCount"))
    assert words == sorted(words, reverse=True)
    heading.get_by_role("button").click()
    assert column(notebook, "url") == given

    search = notebook.output().get_by_role("searchbox", name="Filter Pages", exact=True)
    search.fill("lantern")
    shown = [
        " ".join(cells) for cells in zip(column(notebook, "url"), column(notebook, "title"), strict=True)
    ]
    assert 0 < len(shown) < len(site.pages)
    assert all("lantern" in text.lower() for text in shown)
    assert count(notebook).inner_text() == f"{len(shown)} of {len(site.pages)} pages"
    search.fill("")
    notebook.output().locator(".wa-panel[data-tab=pages]").get_by_role(
        "button", name="Column filters"
    ).click()
    pages_table(notebook).get_by_label("Filter by Words").fill("100-200")
    assert all(100 <= value <= 200 for value in numbers(column(notebook, "wordCount")))
    pages_table(notebook).get_by_label("Filter by Words").fill("")
    pages_table(notebook).get_by_label("Filter by Status").select_option("error")
    assert set(column(notebook, "status")) == {"error"}
    assert count(notebook).inner_text() == f"2 of {len(site.pages)} pages"
    notebook.shot("desk-filters")
    pages_table(notebook).get_by_label("Filter by Status").select_option("ok")
    open_tab(notebook, "Errors")
    notebook.output().get_by_role("button", name="Show row", exact=False).last.click()
    chosen = pages_table(notebook).locator("tbody tr[aria-selected=true]")
    assert "error" in chosen.inner_text()
    open_tab(notebook, "Overview")
    notebook.output().get_by_role("button", name="Title duplicate").click()
    titles = column(notebook, "title")
    assert len(titles) > 1
    assert all(titles.count(title) > 1 for title in titles)


def test_choosing_a_row_by_keyboard_tells_python(lab: Lab, site: SampleSite) -> None:
    notebook = lab(DESK)
    audit(notebook, site.pages, "Overview")
    notebook.output().get_by_role("tab", name="Overview").press("b")  # JupyterLab's key for a new cell
    assert notebook.page.locator(".jp-Notebook .jp-Cell").count() == 1
    notebook.output().get_by_role("tab", name="Overview").press("ArrowRight")
    assert notebook.output().get_by_role("tab", name="Pages").get_attribute("aria-selected") == "true"
    first = pages_table(notebook).locator("tbody tr[data-row='0']")
    first.focus()
    notebook.page.keyboard.press("b")
    assert notebook.page.locator(".jp-Notebook .jp-Cell").count() == 1
    for _ in range(3):
        notebook.page.keyboard.press("ArrowDown")
    notebook.page.keyboard.press("Enter")
    chosen = pages_table(notebook).locator("tbody tr[aria-selected=true]")
    assert chosen.get_attribute("data-row") == "3"
    notebook.output().locator(".wa-panel[data-tab=pages] .wa-page-title").wait_for()
    assert (
        notebook.execute("print(desk.explorer.selected, desk.explorer.selected_row['url'])")
        == f"3 {site.pages[3]}\n"
    )
    notebook.execute("desk.explorer.selected = 1")
    open_tab(notebook, "Metadata")
    title = notebook.output().locator(".wa-panel[data-tab=metadata] .wa-serp-title")
    title.get_by_text("About Lumenvik").wait_for()
    notebook.page.keyboard.press("End")
    assert notebook.output().get_by_role("tab", name="Errors").get_attribute("aria-selected") == "true"


def test_another_column_is_had_on_request(lab: Lab, site: SampleSite) -> None:
    notebook = lab(DESK)
    audit(notebook, site.pages[:5])
    menu = notebook.output().locator(".wa-panel[data-tab=pages] .wa-menu")
    menu.locator("summary").click()
    menu.get_by_label("charset", exact=True).check()
    pages_table(notebook).locator("th[data-key=charset]").wait_for()
    assert set(column(notebook, "charset")) == {"utf-8"}
    menu.get_by_label("Title", exact=True).uncheck()
    assert pages_table(notebook).locator("th[data-key=title]").count() == 0


def test_what_pages_say_is_text(lab: Lab) -> None:
    stream = io.BytesIO()
    Image.new("RGB", (4, 2), "teal").save(stream, "png")
    picture = Reply(200, {"Content-Type": "image/png"}, stream.getvalue())
    with SiteServer({"/": HOSTILE, "/robots.txt": b"", "/picture.png": picture}) as server:
        notebook = lab(DESK)
        asked: list[str] = []
        notebook.page.on("request", lambda request: asked.append(request.url))
        audit(notebook, [f"{server.url}/"])
        assert column(notebook, "title") == ["<img src=x onerror=window.hacked=1> tea"]
        for name in TABS:
            open_tab(notebook, name)
        open_tab(notebook, "Metadata")
        preview = notebook.output().locator(".wa-panel[data-tab=metadata]")
        assert preview.locator(".wa-serp-text").inner_text() == "<script>window.hacked=2</script>"
        assert preview.locator(".wa-card-address").inner_text() == f"{server.url}/picture.png"
        assert notebook.output().locator("img[onerror], [onclick], script").count() == 0
        links = (
            notebook.output()
            .locator(".wa-explorer a")
            .evaluate_all("nodes => nodes.map(n => [n.protocol, n.rel])")
        )
        assert links
        assert all(link == ["http:", "noopener noreferrer"] for link in links)
        notebook.page.wait_for_timeout(300)
        assert notebook.page.evaluate("window.hacked") is None
        assert [url for url in asked if url.startswith(server.url)] == []
        assert all(request.target in ("/", "/robots.txt") for request in server.requests)
        notebook.shot("desk-hostile")
        press(notebook, "Load image")
        preview.locator(".wa-card-image img").wait_for()
        notebook.page.wait_for_function(
            "() => document.querySelector('.wa-card-image img').naturalWidth === 4"
        )
        (request,) = [request for request in server.requests if request.target == "/picture.png"]
        assert "referer" not in {name.lower() for name in request.headers}


def test_stopping_midway_keeps_the_rows_and_the_kernel_answers_meanwhile(lab: Lab) -> None:
    pages = {f"/{number}": f"<title>Page {number}</title><p>Tea".encode() for number in range(60)}
    with SiteServer(pages, delay=0.5) as server:
        notebook = lab(DESK)
        fill(notebook, [server.url + path for path in pages])
        limit = notebook.output().get_by_role("spinbutton", name="Fetches under way at once from one host.")
        limit.fill("2")
        limit.blur()
        press(notebook, "Run")
        notebook.output().get_by_text(re.compile(r"[1-9]\d* of 60 answers")).wait_for()
        assert notebook.execute("print(6 * 7, desk._background.running)") == "42 True\n"
        notebook.shot("desk-running")
        press(notebook, "Stop")
        notebook.output().get_by_text("Stopped:").wait_for()
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
        for name in ("CSV", "Parquet", "Excel", "Issues CSV"):
            with notebook.page.expect_download() as download:
                press(notebook, name)
            files[name] = tmp_path / download.value.suggested_filename
            download.value.save_as(files[name])
    suggested = [path.name for path in files.values()]
    assert suggested == ["audit.csv", "audit.parquet", "audit.xlsx", "audit-issues.csv"]
    issues = pd.read_csv(files["Issues CSV"])
    assert set(issues["url"]) <= {server.url + path for path in pages}
    assert "title_too_short" in set(issues["rule"])
    wanted = list(titles.values())
    csv = pd.read_csv(files["CSV"])
    assert csv["title"].tolist() == [wanted[0], "'" + wanted[1], wanted[2]]
    parquet = pd.read_parquet(files["Parquet"])
    assert parquet["title"].tolist() == wanted
    assert parquet["url"].str.startswith("http://").all()
    book = openpyxl.load_workbook(files["Excel"])
    assert book.sheetnames == ["Summary", "Issues", "Pages"]
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
    button = notebook.output().locator("button.widget-upload")
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
    notebook.output().locator(".widget-dropdown select").select_option("second")
    notebook.output().get_by_text("2 URLs taken from the file").wait_for()
    assert "first,second" not in notebook.save()


def test_the_key_is_in_no_saved_notebook(lab: Lab, site: SampleSite) -> None:
    notebook = lab(DESK)
    press(notebook, "Hosted API")
    notebook.output().get_by_placeholder("https://api.example.com").fill("http://127.0.0.1:9")
    key = notebook.output().locator("input[type=password]")
    key.fill(KEY)
    assert KEY not in notebook.save()
    key.blur()
    notebook.page.wait_for_function(
        "() => document.querySelector('input[type=password]').placeholder.startsWith('kept in the kernel')"
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


def test_issues_by_rule_and_page(lab: Lab) -> None:
    hostile = "<img src=x onerror=hacked=1>"
    source = (
        "import pandas as pd, webanalytics as wa\n"
        "from webanalytics.widgets import explore\n"
        f"titles = ['Tea', {hostile.replace('<', '&lt;')!r}, 'Cups and cans', 'Green tea ' * 8]\n"
        "html = [f'<!doctype html><html lang=en><title>{t}</title><h1>Tea</h1><p>Tea' for t in titles]\n"
        "pages = pd.DataFrame({'url': [f'https://a.example/{i}' for i in range(4)], 'html': html})\n"
        "audit = wa.audit(pages, progress=False)\n"
        "e = explore(audit)\ne"
    )
    notebook = lab(source)
    panel = notebook.output().locator(".wa-panel[data-tab=issues]")
    notebook.output().get_by_role("tab", name="Overview").press("End")
    notebook.page.keyboard.press("ArrowLeft")
    rules = panel.get_by_role("grid", name="Rules", exact=True)
    rules.wait_for()
    total = int(notebook.execute("print(len(audit.issues))"))
    tab = notebook.output().get_by_role("tab", name="Issues")
    assert (tab.inner_text(), tab.get_attribute("aria-selected")) == (f"Issues ({total})", "true")

    group = panel.get_by_role("group", name="Priority", exact=True)
    assert group.get_by_role("button", name="All").get_attribute("aria-pressed") == "true"
    group.get_by_role("button", name="Medium").click()
    assert group.get_by_role("button", name="Medium").get_attribute("aria-pressed") == "true"
    assert set(rules.locator("tbody tr[data-row] td:first-child").all_inner_texts()) == {"medium"}
    panel.get_by_role("button", name="Clear filters").first.click()
    assert group.get_by_role("button", name="All").get_attribute("aria-pressed") == "true"
    rules.locator("th[data-key=priority] button").click()
    order = rules.locator("tbody tr[data-row] td:first-child").all_inner_texts()
    assert order == sorted(order, key=["high", "medium", "low"].index)
    assert len(set(order)) == 3

    panel.get_by_role("searchbox", name="Filter Rules").fill("title too short")
    rules.locator("tbody tr[data-row]").focus()
    notebook.page.keyboard.press("Enter")
    pages = panel.get_by_role("grid", name="Pages with the issue Title too short")
    pages.wait_for()
    explanation, fix = notebook.execute(
        "r = wa.rules().set_index('name').loc['title_too_short']; print(r['explanation'], r['fix'], sep='|')"
    ).strip().split("|")  # fmt: skip
    assert explanation in panel.locator(".wa-rule").inner_text()
    assert fix in panel.locator(".wa-rule").inner_text()
    lines = pages.locator("tbody tr[data-row]")
    assert lines.all_inner_texts() == [
        f"https://a.example/{row}\t{len(text)}\t30\t{text}"
        for row, text in enumerate(["Tea", hostile, "Cups and cans"])
    ]
    lines.first.focus()
    notebook.page.keyboard.press("ArrowDown")
    notebook.page.keyboard.press("Enter")
    shown = panel.locator(".wa-page")
    shown.get_by_text("All issues of this page").wait_for()
    assert f"Evidence: {hostile}" in shown.inner_text()
    assert shown.locator(".wa-issues li").count() == int(
        notebook.execute("print((audit.issues['url'] == 'https://a.example/1').sum())")
    )
    assert notebook.output().locator("img[onerror]").count() == 0
    assert notebook.page.evaluate("window.hacked") is None
    assert notebook.execute("print(e.selected, e.selected_row['url'])") == "1 https://a.example/1\n"
    for theme in ("Light", "Dark"):
        notebook.theme(f"JupyterLab {theme}")
        notebook.shot(f"issues-rule-{theme.lower()}")
    open_tab(notebook, "Pages")
    assert pages_table(notebook).locator("tr[aria-selected=true]").get_attribute("data-row") == "1"
    notebook.execute("e.selected = 2")
    open_tab(notebook, "Issues")
    chosen = pages.locator("tr[aria-selected=true]")
    assert chosen.inner_text().startswith("https://a.example/2")
    assert shown.inner_text() == ""

    notebook.execute("e.frame = audit.copy()")
    tab.wait_for(state="hidden")
    assert notebook.output().get_by_role("tab", name="Overview").get_attribute("aria-selected") == "true"
    assert notebook.output().get_by_role("button", name="Issues CSV").count() == 0
    notebook.output().get_by_role("tab", name="Metadata").press("ArrowRight")
    assert notebook.output().get_by_role("tab", name="Errors").get_attribute("aria-selected") == "true"


def test_ten_thousand_rows_are_quick(lab: Lab) -> None:
    notebook = lab(
        "import pandas as pd\nfrom webanalytics.widgets import explore\n"
        "n = 10_000\n"
        "frame = pd.DataFrame({'url': [f'https://a.example/{i}' for i in range(n)], 'status': 'ok',\n"
        "  'title': [f'Title {i * 7919 % n}' for i in range(n)], 'description': 'Tea ' * 30,\n"
        "  'wordCount': [i * 31 % 997 for i in range(n)]})\n"
        "frame['error_type'] = None\n"
        "e = explore(frame)\ne"
    )
    open_tab(notebook, "Pages")
    assert count(notebook).inner_text() == "10,000 pages"
    assert pages_table(notebook).locator("tbody tr[data-row]").count() < 60
    assert pages_table(notebook).get_attribute("aria-rowcount") == "10001"
    measure = """(selector) => { const node = document.querySelector(selector), start = performance.now();
        if (node.tagName === 'INPUT') { node.value = 'title 77'; node.dispatchEvent(new Event('input')); } else node.click();
        return performance.now() - start; }"""
    panel = ".wa-panel[data-tab=pages]"
    assert notebook.page.evaluate(measure, f"{panel} th[data-key=title] button") < 1000
    assert column(notebook, "title")[:3] == ["Title 0", "Title 1", "Title 2"]
    assert notebook.page.evaluate(measure, f"{panel} input[type=search]") < 1000
    assert count(notebook).inner_text() == "111 of 10,000 pages"
    notebook.output().locator(f"{panel} .wa-scroll").evaluate(
        "node => { node.scrollTop = node.scrollHeight; }"
    )
    pages_table(notebook).get_by_text("Title 7799", exact=True).wait_for()


def test_pictures_of_every_tab(lab: Lab, site: SampleSite) -> None:
    notebook = lab(DESK, height=2200)
    notebook.shot("desk-before")
    audit(notebook, site.pages, "Overview")
    notebook.output().locator(".jupyter-widget-Collapse-header").click()
    notebook.execute("desk.explorer.selected = 3")
    for theme in ("Light", "Dark"):
        notebook.theme(f"JupyterLab {theme}")
        for name in TABS:
            open_tab(notebook, name)
            panel = notebook.output().locator(f".wa-panel[data-tab={name.lower()}]")
            assert panel.is_visible()
            if name == "Readability":
                panel.locator(".wa-picture img").wait_for()
            if name == "Issues":
                panel.get_by_role("grid", name="Rules", exact=True).wait_for()
            if name in ("Metadata", "Keywords"):
                panel.get_by_role("link", name=site.pages[3]).last.wait_for()
            notebook.shot(f"desk-{name.lower()}-{theme.lower()}")
    wide = "node => node.scrollWidth <= node.clientWidth + 1"
    assert notebook.output().locator(".wa-explorer").evaluate(wide)
