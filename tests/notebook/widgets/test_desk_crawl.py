"""The desk's crawl: the pages of a site found by following links."""

from __future__ import annotations

import time

import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import SiteServer
from webanalytics.notebook.desk.desk import AuditDesk, app

PAGES = {
    f"/{name}": f"<title>Page {name}</title><p>Text<a href=/{name}x>on</a>".encode() for name in ("", "x")
}


def desk_for(site: str, most: int = 50) -> AuditDesk:
    desk = app()
    desk.form.site.value = site
    desk.form.crawl.value = True
    desk.form.most.value = most
    desk.form.flags["allow_private"].value = True
    return desk


def test_a_site_is_crawled_from_its_address() -> None:
    with SiteServer(PAGES) as site:
        desk = desk_for(site.url)
        assert "that links of the site lead to, at most 50" in desk._note.value
        desk.form.run.click()
        until = time.monotonic() + BUSY_SECONDS
        while desk._background is not None and desk._background.running and time.monotonic() < until:
            time.sleep(0.02)
    audit = desk.audit
    assert isinstance(audit, wa.Audit)
    assert [url.removeprefix(site.url) for url in audit.pages["url"]] == ["/", "/x", "/xx"]
    assert audit.origin.crawl is not None


def test_a_crawl_needs_an_address() -> None:
    with pytest.raises(ParameterError, match="a crawl begins with the address of a site"):
        desk_for("").plan()
    plan = desk_for("https://a.example/").plan()
    assert (plan.site, plan.crawl, plan.calls) == ("https://a.example/", True, ("crawl",))
