"""The explorer below the desk, in JupyterLab: sorting, filtering, choosing, issues, columns, pictures of every tab."""

from __future__ import annotations

import io
import re

import pytest
from PIL import Image

from tests.notebook.browser.desk_page import (
    DESK,
    TABS,
    audit,
    column,
    count,
    key_of,
    numbers,
    open_tab,
    pages_table,
    press,
)
from tests.notebook.browser.lab import Lab
from webanalytics.fetching.testing import Reply, SampleSite, SiteServer

HOSTILE = b"""<!doctype html><html lang=en>
<title>&lt;img src=x onerror=window.hacked=1&gt; tea</title>
<meta name=description content="<script>window.hacked=2</script>">
<meta property="og:image" content="{{origin}}/picture.png">
<link rel=canonical href="javascript:window.hacked=3">
<h1>&lt;b onclick=hacked()&gt;bold&lt;/b&gt;</h1><p>Tea and cake on the lawn, and more tea."""


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
    texts = [column(notebook, key) for key in ("url", "title", "description", "h1")]
    shown = [" ".join(cells) for cells in zip(*texts, strict=True)]
    assert 0 < len(shown) < len(site.pages)
    assert all("lantern" in text.lower() for text in shown)
    assert count(notebook).inner_text() == f"{len(shown)} of {len(site.pages)} addresses"
    search.fill("")
    notebook.output().locator(".wa-panel[data-tab=pages]").get_by_role(
        "button", name="Column filters"
    ).click()
    pages_table(notebook).get_by_label("Filter by Words").fill("100-200")
    assert all(100 <= value <= 200 for value in numbers(column(notebook, "wordCount")))
    pages_table(notebook).get_by_label("Filter by Words").fill("")
    pages_table(notebook).get_by_label("Filter by Status").select_option("error")
    assert set(column(notebook, "status")) == {"error"}
    assert count(notebook).inner_text() == f"2 of {len(site.pages)} addresses"
    notebook.shot("desk-filters")
    pages_table(notebook).get_by_label("Filter by Status").select_option("ok")
    open_tab(notebook, "Failures")
    notebook.output().get_by_role("button", name="Show row", exact=False).last.click()
    chosen = pages_table(notebook).locator("tbody tr[aria-selected=true]")
    assert "error" in chosen.inner_text()
    open_tab(notebook, "Overview")
    # what to fix first leads to the issue and its pages
    notebook.output().get_by_role(
        "button", name=re.compile("Hreflang without return link on 8 pages")
    ).click()
    found = notebook.output().get_by_role("grid", name="Pages with the issue Hreflang without return link")
    found.wait_for()
    assert found.locator("tbody tr[data-row]").count() == 8
    assert "Why:" in notebook.output().locator(".wa-rule").inner_text()


def test_choosing_a_row_by_keyboard_tells_python(lab: Lab, site: SampleSite) -> None:
    notebook = lab(DESK)
    audit(notebook, site.pages, "Overview")
    notebook.output().get_by_role("tab", name="Overview").press("b")  # JupyterLab's key for a new cell
    assert notebook.page.locator(".jp-Notebook .jp-Cell").count() == 1
    notebook.output().get_by_role("tab", name="Overview").press("ArrowRight")
    assert notebook.output().get_by_role("tab", name="Issues").get_attribute("aria-selected") == "true"
    notebook.page.keyboard.press("ArrowRight")
    assert notebook.output().get_by_role("tab", name="To do").get_attribute("aria-selected") == "true"
    notebook.page.keyboard.press("ArrowRight")
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
    assert notebook.output().get_by_role("tab", name="Failures").get_attribute("aria-selected") == "true"


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
        pages_table(notebook).locator("tbody tr[data-row='0'] td").nth(1).evaluate("node => node.click()")
        shown = notebook.output().locator(".wa-panel[data-tab=pages] .wa-page")
        shown.locator(".wa-issues li").first.wait_for(state="attached")
        assert "<b onclick=hacked()>bold</b>" in (shown.locator(".wa-outline").text_content() or "")
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


def test_issues_by_rule_and_page(lab: Lab) -> None:
    hostile = "<img src=x onerror=hacked=1>"
    source = (
        "import pandas as pd, webanalytics as wa\n"
        "from webanalytics.notebook.widgets import explore\n"
        f"titles = ['Tea', {hostile.replace('<', '&lt;')!r}, 'Cups and cans', 'Green tea ' * 8]\n"
        "html = [f'<!doctype html><html lang=en><title>{t}</title><h1>Tea</h1><p>Tea' for t in titles]\n"
        "pages = pd.DataFrame({'url': [f'https://a.example/{i}' for i in range(4)], 'html': html})\n"
        "audit = wa.audit(pages, progress=False, thresholds={'title_too_short': 300})\n"
        "e = explore(audit)\ne"
    )
    notebook = lab(source)
    panel = notebook.output().locator(".wa-panel[data-tab=issues]")
    notebook.output().get_by_role("tab", name="Overview").press("ArrowRight")
    rules = panel.get_by_role("grid", name="Issues, fix first", exact=True)
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

    panel.get_by_role("searchbox", name="Filter Issues, fix first").fill("title too short")
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
    widths = notebook.execute("print(*audit.pages['title_pixels'][:3])").split()
    assert lines.all_inner_texts() == [
        f"https://a.example/{row}\t{widths[row]}\t300\t{len(text)} characters: {text}"
        for row, text in enumerate(["Tea", hostile, "Cups and cans"])
    ]
    lines.first.focus()
    notebook.page.keyboard.press("ArrowDown")
    notebook.page.keyboard.press("Enter")
    shown = panel.locator(".wa-page")
    shown.get_by_text(re.compile(r"^Issues \(\d+\)$")).wait_for()
    assert f"28 characters: {hostile}" in shown.inner_text()
    assert fix in shown.locator(".wa-issues").inner_text()
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

    notebook.execute("e.frame = pd.DataFrame({'a': [1]})")
    tab.wait_for(state="hidden")
    assert notebook.output().get_by_role("tab", name="Overview").get_attribute("aria-selected") == "true"
    assert notebook.output().get_by_role("button", name="Issues CSV").count() == 0
    assert notebook.output().get_by_role("button", name="Report (HTML)").count() == 0
    notebook.output().get_by_role("tab", name="Overview").press("ArrowRight")
    assert notebook.output().get_by_role("tab", name="Pages").get_attribute("aria-selected") == "true"


def test_a_page_shows_its_issues_first_and_its_fields_last(lab: Lab, site: SampleSite) -> None:
    notebook = lab(
        "import webanalytics as wa\nfrom webanalytics.notebook.widgets import explore\n"
        f"audit = wa.audit({site.pages!r}, allow_private=True, progress=False)\n"
        "e = explore(audit)\ne"
    )
    overview = notebook.output().locator(".wa-panel[data-tab=overview]")
    first = overview.get_by_label("Fix first", exact=True).locator(".wa-finding-title")
    first.first.wait_for()
    assert first.all_inner_texts() == notebook.execute(
        "found = audit.causes(); print(*found[found['points'] > 0]['cause'].head(10), sep='|')"
    ).strip().split("|")  # fmt: skip
    assert f"{float(notebook.execute('print(audit.score)')):g}\nof 100" in overview.inner_text()
    open_tab(notebook, "Pages")
    heads = pages_table(notebook).locator("thead tr").first.locator("th")
    keys = heads.evaluate_all("cells => cells.map(cell => cell.dataset.key)")
    wanted = ["url", "status", "score", "high", "medium", "low", "title", "description", "h1", "indexable"]
    assert keys[:10] == wanted
    first = pages_table(notebook).locator("tbody tr[data-row='0']")
    first.locator("td").nth(6).click()
    page = notebook.output().locator(".wa-panel[data-tab=pages] .wa-page")
    page.get_by_text(re.compile(r"^Issues \(\d+\)$")).wait_for()
    order = ["Issues of the page", "Search result", "Social card", "Headings", "Text", "Keywords", "Links"]
    assert page.locator("section").evaluate_all("nodes => nodes.map(n => n.ariaLabel)") == order
    assert page.locator("> :last-child").get_attribute("class") == "wa-fields"
    assert not page.locator("> :last-child table").is_visible()
    title = page.locator(".wa-meter").first.get_attribute("aria-label")
    pixels, characters = notebook.execute(
        "p = audit.pages.iloc[0]; print(p['title_pixels'], p['title_length'])"
    ).split()
    assert title == f"Title: {pixels} pixels of 200 to 561, {characters} characters: fits"


LONG = {
    "https://a.example/" + "\u65e5\u672c\u8a9e\u306e\u9577\u3044\u9053/" * 6: "\u706f\u53f0\u3068\u63d0\u706f"
    * 9,
    "https://a.example/products/lamps/" + "a-name-that-does-not-end-" * 9 + "x.html": "Long title " * 12,
    "https://a.example/b": "Tea",
}


@pytest.mark.parametrize("width", [1300, 700])
def test_columns_hold_what_is_in_them(lab: Lab, width: int) -> None:
    notebook = lab(
        "import pandas as pd, webanalytics as wa\nfrom webanalytics.notebook.widgets import explore\n"
        f"given = {LONG!r}\n"
        "html = [f'<title>{t}</title><h1>{t}</h1><p>Tea' for t in given.values()]\n"
        "e = explore(wa.audit(pd.DataFrame({'url': list(given), 'html': html}), progress=False))\ne",
        width=width,
    )
    notebook.output().get_by_role("tab", name="Issues (").wait_for()
    open_tab(notebook, "Pages")
    table = pages_table(notebook)
    # headings and numbers are never cut; a long text is, within its column, and nothing leaves the widget
    cut = "nodes => nodes.filter(n => n.scrollWidth > n.clientWidth + 1).map(n => n.innerText)"
    assert table.locator("thead .wa-sort bdi").evaluate_all(cut) == []
    assert table.locator("tbody td.wa-number").evaluate_all(cut) == []
    short = table.locator("tbody tr[data-row='2'] td")
    assert short.evaluate_all(cut) == []
    widths = table.locator("tbody tr[data-row='0'] td").evaluate_all("nodes => nodes.map(n => n.clientWidth)")
    assert max(widths) <= 0.62 * width
    address = table.locator("tbody tr[data-row='1'] td").first
    assert address.evaluate_all(cut) == []
    assert address.inner_text().startswith("https://a.example/")
    assert address.inner_text().endswith("x.html")
    assert address.locator("a").get_attribute("href") == list(LONG)[1]
    wide = "node => node.scrollWidth <= node.clientWidth + 1"
    assert notebook.output().locator(".wa-explorer").evaluate(wide)
    scroller = notebook.output().locator(".wa-panel[data-tab=pages] .wa-scroll")
    assert not scroller.evaluate(wide)
    left = address.evaluate("node => node.getBoundingClientRect().left")
    scroller.evaluate("node => { node.scrollLeft = 300; }")
    moved = address.evaluate("node => node.getBoundingClientRect().left")
    assert (moved == left) == (width == 1300)  # the address stays in sight where there is room for it
    for theme in ("Light", "Dark"):
        notebook.theme(f"JupyterLab {theme}")
        notebook.shot(f"columns-{width}-{theme.lower()}")


def test_keywords_of_the_site_where_the_audit_knows_them(lab: Lab) -> None:
    hostile = "<img src=x onerror=hacked=1>"
    notebook = lab(
        "import pandas as pd, webanalytics as wa\nfrom webanalytics.notebook.widgets import explore\n"
        "class Knowing(wa.Audit):\n"
        "    def keywords(self, by):\n"
        f"        return pd.DataFrame({{'keyword': ['tea', {hostile!r}], 'best_page': ['javascript:hacked=2'] * 2}})\n"
        "    def cannibalisation(self):\n"
        "        return pd.DataFrame({'keyword': []})\n"
        "pages = pd.DataFrame({'url': ['https://a.example/'], 'html': ['<title>Tea</title><p>Tea']})\n"
        "e = explore(Knowing(wa.audit(pages, progress=False).raw))\ne"
    )
    open_tab(notebook, "Keywords")
    table = notebook.output().get_by_role("grid", name="Keywords of the site")
    table.wait_for()
    assert table.locator("tbody tr[data-row] td:first-child").all_inner_texts() == ["tea", hostile]
    assert table.locator("a, img").count() == 0
    rivals = notebook.output().get_by_label("Pages that compete for the same keywords", exact=True)
    assert "None were found." in rivals.inner_text()
    assert notebook.page.evaluate("window.hacked") is None


def test_a_hundred_thousand_rows_come_when_a_tab_is_opened(lab: Lab) -> None:
    notebook = lab(
        "import pandas as pd\nfrom webanalytics.notebook.widgets import explore\n"
        "n = 100_000\n"
        "frame = pd.DataFrame({'url': [f'https://a.example/{i}' for i in range(n)], 'status': 'ok',\n"
        "  'title': [f'Title {i * 7919 % n}' for i in range(n)], 'description': 'Tea ' * 30,\n"
        "  'wordCount': [i * 31 % 997 for i in range(n)]})\n"
        "frame['error_type'] = None\n"
        "e = explore(frame)\ne"
    )
    first = "[...document.querySelectorAll('.wa-panel[data-tab=pages] tbody tr[data-row]')].map(row => row.textContent)"
    assert "https://a.example/0" in notebook.page.evaluate(first)[0], "rows are there before any is asked for"
    open_tab(notebook, "Pages")
    assert "100,000 pages" in count(notebook).inner_text()
    assert pages_table(notebook).locator("tbody tr[data-row]").count() < 60
    assert pages_table(notebook).get_attribute("aria-rowcount") == "100001"
    notebook.page.wait_for_function(
        "node => node.textContent === '100,000 pages'", arg=count(notebook).element_handle()
    )
    press_or_type = """(selector) => { const node = document.querySelector(selector);
        if (node.tagName === 'INPUT') { node.value = 'title 77'; node.dispatchEvent(new Event('input')); } else node.click(); }"""
    panel = ".wa-panel[data-tab=pages]"
    notebook.page.evaluate(press_or_type, f"{panel} th[data-key=title] button")
    assert column(notebook, "title")[:3] == ["Title 0", "Title 1", "Title 2"]
    notebook.page.evaluate(press_or_type, f"{panel} input[type=search]")
    assert count(notebook).inner_text() == "1,111 of 100,000 pages"
    notebook.output().locator(f"{panel} .wa-scroll").evaluate(
        "node => { node.scrollTop = node.scrollHeight; }"
    )
    pages_table(notebook).get_by_text("Title 77999", exact=True).wait_for()


def test_who_types_a_filter_types_on_when_columns_come(lab: Lab) -> None:
    notebook = lab(
        "import time\nfrom pathlib import Path\nimport pandas as pd\n"
        "from webanalytics.notebook.explorer import explorer as module\nmade = module.column\n"
        "def column(*of):\n"
        "    while not Path('typed').exists():\n        time.sleep(0.05)\n"
        "    return made(*of)\n"
        "module.column = column\n"
        "n = 6_000\n"
        "frame = pd.DataFrame({'url': [f'https://a.example/{i}' for i in range(n)], 'status': 'ok',\n"
        "  'title': [f'Title {i}' for i in range(n)], 'wordCount': range(n)})\n"
        "module.explore(frame)"
    )
    open_tab(notebook, "Pages")
    notebook.output().locator(".wa-panel[data-tab=pages]").get_by_role(
        "button", name="Column filters"
    ).click()
    field = notebook.output().get_by_role("textbox", name="Filter by Title")
    field.press_sequentially("title 59")
    assert "still coming" in count(notebook).inner_text()
    notebook.path.with_name("typed").touch()
    notebook.page.wait_for_function(
        "node => node.textContent === '111 of 6,000 pages'", arg=count(notebook).element_handle()
    )
    notebook.page.keyboard.type("99")
    assert field.input_value() == "title 5999"
    assert column(notebook, "title") == ["Title 5999"]


def test_pictures_of_every_tab(lab: Lab, site: SampleSite) -> None:
    notebook = lab(DESK, height=2200)
    notebook.shot("desk-before")
    audit(notebook, site.pages, "Overview")
    notebook.output().get_by_role("heading", name="What to fix first").wait_for()
    notebook.output().locator(".jupyter-widget-Collapse-header", has_text="Options").click()
    notebook.execute("desk.explorer.selected = 3")
    for theme in ("Light", "Dark"):
        notebook.theme(f"JupyterLab {theme}")
        for name in TABS:
            open_tab(notebook, name)
            panel = notebook.output().locator(f".wa-panel[data-tab={key_of(name)}]")
            assert panel.is_visible()
            if name == "Readability":
                panel.locator(".wa-picture img").wait_for()
            if name == "To do":
                panel.get_by_role("heading", name="Links to add").wait_for()
            if name == "Issues":
                panel.get_by_role("grid", name="Issues, fix first", exact=True).wait_for()
            if name in ("Pages", "Metadata", "Keywords"):
                panel.get_by_role("link", name=site.pages[3]).last.wait_for()
            if name != "To do":  # whose picture is that of the desk with search data
                notebook.shot(f"desk-{key_of(name)}-{theme.lower()}")
    wide = "node => node.scrollWidth <= node.clientWidth + 1"
    assert notebook.output().locator(".wa-explorer").evaluate(wide)
