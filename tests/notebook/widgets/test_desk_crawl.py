"""The desk's crawl: the pages of a site found by following links."""

from __future__ import annotations

import re
import time

import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.notebook.widgets.desks import until
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import Reply, SiteServer
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


def test_a_stopped_crawl_says_of_how_many_pages_as_its_audit_does() -> None:
    """What the sitemap lists is known, though a crawl takes it up little by little."""
    listed = "".join(f"<url><loc>{{{{origin}}}}/p{number}</loc></url>" for number in range(90))
    pages = {f"/p{number}": f"<title>Page {number}</title><p>Text".encode() for number in range(90)}
    pages |= {"/": b"<title>Start</title>", "/sitemap.xml": f"<urlset>{listed}</urlset>".encode()}
    said: list[str] = []
    with SiteServer(pages, delay=0.1) as site:
        desk = desk_for(site.url, 500)
        desk.form.numbers["per_host"].value = 2
        desk.form.run.click()
        until(lambda: said.append(desk.message) or desk.form.bar.value >= 4)  # type: ignore[func-returns-value]
        desk.form.stop.click()
        assert desk.join(BUSY_SECONDS)
    assert re.search(r"\d of at least \d+ answers", " ".join(said))
    assert desk.audit is not None
    assert desk.explorer is not None
    known = re.search(r"stopped at (\d+ of at least (\d+) pages)", repr(desk.audit))
    assert known is not None
    assert desk.message == f"Stopped at {known[1]}."
    assert (desk.form.bar.value, desk.form.bar.max) == (len(desk.audit), int(known[2]))


def test_who_refused_is_said_once_and_by_the_fields_of_the_form() -> None:
    with SiteServer({"/": Reply(401)}) as site:
        desk = desk_for(site.url)
        desk.form.run.click()
        assert desk.join(BUSY_SECONDS)
    assert desk.explorer is not None
    assert desk._failures.value.count("refused 1 of 1 addresses") == 1
    assert desk._failures.value.count("access=") == 1
    assert "fill in “Passwords and proxies”" in desk._failures.value
    assert desk.explorer._content["head"]["notes"] == []


def test_a_crawl_needs_an_address() -> None:
    with pytest.raises(ParameterError, match="a crawl begins with the address of a site"):
        desk_for("").plan()
    plan = desk_for("https://a.example/").plan()
    assert (plan.site, plan.crawl, plan.calls) == ("https://a.example/", True, ("crawl",))
