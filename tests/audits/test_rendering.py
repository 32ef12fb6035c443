"""Audits and crawls of pages that a browser renders: columns, table, issues, archive, links."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.errors import ParameterError
from webanalytics.fetching.archives.records import Record, records
from webanalytics.fetching.testing import Reply, SiteServer

COLUMNS = {"rendered", "rendered_words", "words_without_scripts", "render_note", "sent_html", "rendering"}
SHELL = (
    b"<!doctype html><html lang=en><title>Shop</title><meta name=robots content=noindex>"
    b"<div id=root></div><script src=/app.js></script>"
)
WORDS = "The keeper lit the lamp at dusk. " * 10
SCRIPT = f"""document.querySelector('meta').content = 'index'; document.getElementById('root').innerHTML =
'<h1>Lanterns</h1><p>{WORDS}</p><a href=/deep>Deep</a>'; console.error('one error')"""
SITE = {
    "/": b"<!doctype html><title>Home</title><p>" + WORDS.encode() + b"<a href=/app>App</a>",
    "/app": SHELL,
    "/app.js": Reply(headers={"Content-Type": "text/javascript"}, body=SCRIPT.encode()),
    "/deep": b"<!doctype html><title>Deep</title><p>" + WORDS.encode(),
    "/away": b"<title>Away</title><div id=root></div><script>location = 'http://localhost:9/'</script>",
}
LOCAL = {"allow_private": True, "retries": 0, "progress": False}


@pytest.mark.browser
@pytest.mark.slow
def test_a_crawl_goes_on_from_the_links_of_the_rendered_page(tmp_path: Path) -> None:
    archive = tmp_path / "site.warc.gz"
    with SiteServer(SITE) as site:
        off = wa.crawl(site.url, **LOCAL)
        audit = wa.crawl(site.url, render="auto", body=True, archive=archive, **LOCAL)
    assert not COLUMNS & set(off.raw.columns)
    assert len(off.pages) == 2
    pages = audit.pages.set_index(audit.pages["url"].str.removeprefix(site.url))
    assert pages["rendered"].to_dict() == {"/": False, "/app": True, "/deep": False}
    # "Lanterns", ten sentences of seven words, "Deep"
    assert pages.loc["/app", ["words_without_scripts", "rendered_words"]].tolist() == [0, 72]
    assert pages.loc["/app", "sent_html"] == SHELL.decode()
    assert "<h1>Lanterns</h1>" in pages.loc["/app", "responseBody"]
    rules = set(audit.issues.loc[audit.issues["url"] == f"{site.url}/app", "rule"])
    assert rules >= {
        "content_only_rendered",
        "links_only_rendered",
        "directives_changed_by_scripts",
        "console_errors",
    }
    table = audit.rendering
    assert set(table["url"]) == {f"{site.url}/app"}
    said = table.set_index("what").loc["robots", ["change", "sent", "rendered"]].tolist()
    assert said == ["changed", "noindex", "index"]
    kinds = [item.kind for item in records(archive) if isinstance(item, Record) and item.url.endswith("/app")]
    assert kinds.count("response") == kinds.count("conversion") == 1
    assert len(wa.audit(archive, progress=False).pages) == 3, "the archive is read as it was sent"


@pytest.mark.browser
@pytest.mark.slow
def test_single_functions_files_and_stores_take_it_too(tmp_path: Path) -> None:
    with SiteServer(SITE) as site:
        text = wa.text([f"{site.url}/app"], render="auto", **LOCAL)
        first = wa.audit([f"{site.url}/app", f"{site.url}/away"], render="all", store=tmp_path / "s", **LOCAL)
        again = wa.audit([f"{site.url}/app", f"{site.url}/away"], render="all", store=tmp_path / "s", **LOCAL)
        asked = [request.target for request in site.requests].count("/app")
        with pytest.raises(ParameterError, match="`render` had another value"):
            wa.audit([f"{site.url}/app"], render="auto", store=tmp_path / "s", **LOCAL)
    assert "The keeper lit the lamp" in text["text"].iloc[0]
    assert asked == 2, "text, and the first audit"
    for name in COLUMNS:
        assert first.raw[name].tolist() == again.raw[name].tolist()
    assert first.raw["rendered"].tolist() == [True, False]
    assert "lead to" in first.raw["render_note"].iloc[1]
    first.save(tmp_path / "saved")
    assert len(wa.load(tmp_path / "saved").rendering) == len(first.rendering) > 0


def test_an_empty_page_says_what_helps() -> None:
    pages = pd.DataFrame({"url": ["https://a.example/"], "html": [SHELL.decode()]})
    issues = wa.audit(pages).issues
    assert 'render="auto"' in issues.loc[issues["rule"] == "content_empty", "evidence"].iloc[0]
    assert 'render="auto"' in wa.text(pages)["note"].iloc[0]


def test_rendering_is_for_pages_that_this_machine_fetches() -> None:
    with pytest.raises(ParameterError, match='`render` parameter must be "off" with a hosted backend'):
        wa.audit(["https://example.org/"], render="all", backend=wa.Hosted("http://127.0.0.1:9", "k"))
    with pytest.raises(ParameterError, match="`render` parameter must be one of: off, auto, all"):
        wa.audit(["https://example.org/"], render="yes")
