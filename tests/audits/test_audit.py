"""What `wa.audit` returns: the pages' frame, and what is found in it."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
import time
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.audits.saved import HOME, HOSTILE, PAGES, audit
from tests.audits.sites import HOST, frame, page
from tests.effort import BUSY_SECONDS
from tests.fetching.refusal_pages import CHALLENGES
from webanalytics.audits.function import interrupted
from webanalytics.audits.origin import Origin
from webanalytics.audits.overview import display as showing
from webanalytics.audits.pages import DERIVED, FOUND
from webanalytics.fetching.testing import Reply, SiteServer, sample_site
from webanalytics.runs.boundary import Run, current_run, run_plain

LOCAL = {"allow_private": True, "progress": False}


@pytest.fixture(scope="module")
def made() -> wa.Audit:
    return audit()


def rules_of(audit: wa.Audit, url: str) -> set[str]:
    return set(audit.issues.loc[audit.issues["url"] == url, "rule"])


def test_it_has_the_frame_of_the_pages(made: wa.Audit) -> None:
    assert not isinstance(made, pd.DataFrame)
    assert len(made) == len(made.pages) == len(made.raw) == len(PAGES)
    assert made.raw["url"].tolist() == list(PAGES)
    assert made.raw.attrs["webanalytics"]["operation"] == "audit"
    assert not set(DERIVED) & set(made.raw.columns)
    assert_frame_equal(made.raw, audit().raw, check_exact=False, rtol=1)


def test_pages_are_the_frame_with_derived_columns_and_its_index() -> None:
    labelled = audit(index=["one", "two", "three", "four"])
    assert type(labelled.pages) is pd.DataFrame
    assert labelled.pages.index.tolist() == ["one", "two", "three", "four"]
    assert set(labelled.pages.columns) == {*labelled.raw.columns, *DERIVED, *FOUND}
    first = ["url", "status", "score", "issues_high", "issues_medium", "issues_low", "title", "description"]
    assert list(labelled.pages.columns[:10]) == [*first, "h1_count", "indexable"]
    assert list(labelled.raw.columns[:4]) == ["url", "status", "title", "description"]
    rare = (
        "og:",
        "card:",
        "favicons",
        "theme-color",
        "application-name",
        "responseBody",
        "error_key",
        "headers",
        "certificate",
    )
    places = [labelled.pages.columns.get_loc(name) for name in labelled.raw.columns if name.startswith(rare)]
    assert min(places) == len(labelled.pages.columns) - len(places), "what is rarely read comes last"
    assert labelled.pages.loc["two", "title_length"] == len("Old lamps")
    assert labelled.pages is labelled.pages, "worked out once"
    assert labelled.site.pages.index.tolist() == [0, 1, 2, 3]


def test_issues_and_summary(made: wa.Audit) -> None:
    assert "h1_multiple" in rules_of(made, f"{HOME}old")
    assert "h1_multiple" not in rules_of(made, HOME)
    counts = made.issues["rule"].value_counts()
    summary = made.summary().set_index("rule")
    assert summary["pages"].to_dict() == counts.to_dict()
    assert summary.loc["h1_multiple", "share"] == 1 / len(PAGES)
    assert made.issues is made.issues, "found once"


def test_a_profile_and_thresholds_decide_what_is_an_issue(tmp_path: Path) -> None:
    url, pages = f"{HOME}old", {f"{HOME}old": "<title>Old lamps</title><h1>Old</h1><h1>Older</h1>"}
    assert "title_too_short" in rules_of(audit(pages), url)
    assert "title_too_short" not in rules_of(audit(pages, thresholds={"title_too_short": 9}), url)
    (tmp_path / "own.toml").write_text("[thresholds]\ntitle_too_short = 9\n")
    by_file = audit(pages, profile="strict", thresholds=tmp_path / "own.toml")
    assert "title_too_short" not in rules_of(by_file, url)
    again = by_file.with_profile()
    assert "title_too_short" in rules_of(again, url)
    assert again.site is by_file.site, "nothing is worked out twice"
    viewport = [
        frame.issues.set_index("rule").loc["viewport_missing", "priority"] for frame in (again, by_file)
    ]
    assert viewport == ["medium", "high"]


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"profile": "none"}, "profile"),
        ({"thresholds": {"none": 1}}, "thresholds"),
        ({"thresholds": "none.toml"}, "thresholds"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_a_wrong_argument_is_told_before_any_fetch(arguments: dict[str, object], parameter: str) -> None:
    with SiteServer({"/": b"x"}) as site:
        with pytest.raises(wa.ParameterError) as error:
            wa.audit(f"{site.url}/", **LOCAL, **arguments)
        assert error.value.parameter == parameter
        assert not site.requests


def test_urls_or_a_sitemap_are_required() -> None:
    with pytest.raises(wa.ParameterError, match="`urls` parameter is required where no `sitemap`"):
        wa.audit()


def test_copies_and_pickles_are_audits_that_know_the_same(made: wa.Audit) -> None:
    chosen = Origin(pd.DataFrame({"url": [HOME], "status": ["ok"]}), {"https://lamps.example": ["Odd."]})
    whole = wa.Audit(made, chosen)
    for other in (copy.copy(whole), copy.deepcopy(whole), pickle.loads(pickle.dumps(whole))):
        assert type(other) is wa.Audit
        assert_frame_equal(other.raw, whole.raw)
        assert other.raw.attrs == whole.raw.attrs
        assert other.site.robots == chosen.robots
        assert_frame_equal(other.issues, whole.issues)
    one = copy.deepcopy(whole)
    one.raw.loc[0, "title"] = "changed"
    assert whole.raw.loc[0, "title"] != "changed"


def test_changed_pages_are_looked_at_anew() -> None:
    made = audit()
    assert "title_missing" not in rules_of(made, HOME)
    changed = wa.Audit(made.pages.assign(title="", note="x"))
    assert "title_missing" in rules_of(changed, HOME)
    assert "note" in changed.pages
    assert "title_missing" not in rules_of(made, HOME)


def test_nothing_of_it_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = audit()
        _ = made.pages, made.issues, made.summary(), made.site, repr(made), made._repr_html_()


class Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_it_shows_itself(made: wa.Audit) -> None:
    text = repr(made)
    counted = made.issues[made.issues["type"] != "warning"]
    high = int((counted["priority"] == "high").sum())
    assert text.splitlines()[0].startswith(
        f"Audit of lamps.example: 4 pages, 4 ok, 0 failed, {high} high faults,"
    )
    assert str(made) == text
    assert f"Score: {made.score:g} of 100" in text
    first = made.causes()["cause"].iloc[0]
    assert first in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 110
    reader = Reader()
    reader.feed(made._repr_html_())
    folded = {"details", "summary", "ul", "li"}
    assert reader.tags <= {"div", "span", "code", "table", "thead", "tbody", "tr", "th", "td", *folded}
    assert first in reader.text
    assert "report" in reader.text


def test_what_it_shows_is_escaped_and_acts_on_no_terminal(made: wa.Audit) -> None:
    sitemap = pd.DataFrame(
        {
            "url": [None],
            "sitemap": [f"https://x.example/{HOSTILE}"],
            "status": ["error"],
            "error": ["\x1b[2Jbad"],
        }
    )
    odd = wa.Audit(made, Origin(sitemap, {f"https://y.example{HOSTILE}": ["odd " * 500]}))
    html, text = odd._repr_html_(), repr(odd)
    assert HOSTILE not in html
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html + text
    assert max(map(len, text.splitlines())) < 400


def test_a_large_audit_shows_itself_in_no_time(made: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webanalytics.audits.audit.MOST_PAGES", 3)
    large = wa.Audit(made)
    assert "Issues are looked for when asked" in repr(large)
    assert "issues" not in (large._known or {})
    assert len(large.issues)
    assert "high faults" in repr(large)


def test_notes_are_few(made: wa.Audit) -> None:
    robots = {f"https://{number}.example": ["It is missing."] for number in range(50)}
    text = repr(wa.Audit(made, Origin(robots=robots)))
    assert text.count("It is missing.") == showing.MOST_NOTES
    assert "45 more such notes" in text


def test_no_pages_and_failed_pages_are_audits_too() -> None:
    empty = wa.audit([], progress=False)
    assert (len(empty.pages), len(empty.issues), len(empty.summary())) == (0, 0, 0)
    assert repr(empty) == "Audit: 0 pages, 0 ok, 0 failed"
    assert "<table" not in empty._repr_html_()
    with SiteServer({}) as site:
        failed = wa.audit([f"{site.url}/none", "nonsense"], **LOCAL)
    assert repr(failed).startswith(f"Audit of {site.url[7:]}: 1 page, 0 ok, 1 failed, 1 missing")
    assert "client_error" in rules_of(failed, f"{site.url}/none")


@pytest.fixture
def listed_site():
    sitemap = "".join(f"<url><loc>{{{{origin}}}}/{name}</loc></url>" for name in ("a", "b", "a", "closed"))
    pages: dict[str, bytes | Reply] = {
        "/sitemap.xml": f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{sitemap}</urlset>'.encode(),
        "/robots.txt": Reply(
            200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /closed\nNonsense\n"
        ),
        "/empty.xml": b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>',
        "/a": b"<title>A</title><img src='/one.png'><img src='/large.png'><img src='/none.png'><a href='/c'>c</a>",
        "/b": b"<title>B</title><img src='/one.png'><img src='data:image/png;base64,AAAA'>",
        "/c": b"<title>C</title><meta name=robots content=noindex>",
        "/one.png": Reply(200, {"Content-Type": "image/png"}, b"\x89PNG" + b"x" * 996),
        "/large.png": Reply(200, {"Content-Type": "image/png"}, b"\x89PNG" + b"x" * 120_000),
    }
    with SiteServer(pages) as site:
        yield site


def asked(site: SiteServer) -> list[str]:
    return sorted(request.target for request in site.requests)


def test_a_sitemap_is_audited_with_its_robots(listed_site: SiteServer) -> None:
    found = wa.audit(sitemap=f"{listed_site.url}/sitemap.xml", **LOCAL)
    assert [url.removeprefix(listed_site.url) for url in found.raw["url"]] == ["/a", "/b", "/closed"]
    assert found.raw["error_type"].tolist()[2] == "robots"
    assert found.site.sitemap is not None
    assert len(found.site.sitemap) == 4
    (problems,) = found.site.robots.values()
    assert any("Line 3" in problem for problem in problems)
    assert found.pages["in_sitemap"].tolist() == [True, True, True]
    assert asked(listed_site).count("/sitemap.xml") == 1
    assert asked(listed_site).count("/a") == 1


def test_further_urls_come_first_and_none_twice(listed_site: SiteServer) -> None:
    more = pd.Series([f"{listed_site.url}/c", f"{listed_site.url}/b"], index=["x", "y"])
    found = wa.audit(more, sitemap=[f"{listed_site.url}/sitemap.xml"], **LOCAL)
    assert [url.removeprefix(listed_site.url) for url in found.raw["url"]] == ["/c", "/b", "/a", "/closed"]
    assert found.pages["in_sitemap"].tolist() == [False, True, True, True]
    table = pd.DataFrame({"page": [f"{listed_site.url}/c"], "other": [1]})
    found = wa.audit(table, sitemap=f"{listed_site.url}/sitemap.xml", column="page", **LOCAL)
    assert len(found) == 4


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Reply(404), None),
        (Reply(400), None),
        (Reply(500), "answers HTTP 500: search engines may stop reading"),
        (Reply(200, {}, b"<!doctype html><title>x</title>"), "It is a web page"),
        (Reply(200, {"Content-Type": "text/plain"}, b"#" * 700_000), "larger than 500 KiB"),
    ],
)
def test_a_robots_txt_that_cannot_be_read(reply: Reply, sentence: str | None) -> None:
    from webanalytics.audits.requests.sources import all_problems, read_robots
    from webanalytics.core.run_options import resolve

    with SiteServer({"/robots.txt": reply}) as site:
        files = asyncio.run(read_robots([site.url], resolve({"allow_private": True, "retries": 0})))
        found = all_problems(files)
    if sentence is None:
        assert found == {site.url: []}, "search engines take it as if there were none, and that is no fault"
    else:
        assert sentence in found[site.url][0]


@pytest.mark.parametrize("reply", [Reply(401), Reply(403), Reply(429), CHALLENGES["Cloudflare"]])
def test_a_robots_txt_that_is_refused_to_us_has_no_fault(reply: Any) -> None:
    from webanalytics.audits.requests.sources import all_problems, read_robots
    from webanalytics.core.run_options import resolve

    with SiteServer({"/robots.txt": reply}) as site:
        files = asyncio.run(read_robots([site.url], resolve({"allow_private": True, "retries": 0})))
    assert all_problems(files) == {site.url: []}


def test_a_host_that_does_not_answer_is_no_fault_of_its_robots_txt() -> None:
    from webanalytics.audits.requests.sources import all_problems, read_robots
    from webanalytics.core.run_options import resolve

    with SiteServer({}) as site:
        gone = site.url
    found = all_problems(asyncio.run(read_robots([gone], resolve({"allow_private": True, "retries": 0}))))
    assert found == {gone: []}


@pytest.mark.parametrize(
    ("path", "sentence"), [("/none.xml", "HTTP 404"), ("/a", "sitemap"), ("/empty.xml", "sitemap")]
)
def test_a_sitemap_without_pages_is_a_wrong_argument(
    listed_site: SiteServer, path: str, sentence: str
) -> None:
    with pytest.raises(wa.ParameterError, match=f"The `sitemap` parameter .*{sentence}"):
        wa.audit(sitemap=listed_site.url + path, **LOCAL)
    with pytest.raises(wa.ParameterError, match="The `sitemap` parameter must be the URL"):
        wa.audit(sitemap=[], **LOCAL)


def test_a_site_without_a_sitemap_is_sent_to_the_crawl(listed_site: SiteServer) -> None:
    with pytest.raises(wa.ParameterError, match=r"must be a sitemap .*`webanalytics.crawl` finds the pages"):
        wa.audit(sitemap=f"{listed_site.url}/a", **LOCAL)


INTERRUPTED = "The audit was interrupted: it stopped at 2 of 500 pages."


def test_where_an_audit_stopped_is_said_in_pages() -> None:
    assert interrupted(pd.DataFrame({"url": ["a", "b"]}), 500) == INTERRUPTED


def test_what_an_interrupted_audit_has_is_not_judged_as_a_whole() -> None:
    """Of pages that were not read nobody knows what they link to."""
    pages = [page("/", links=[]), page("/a", links=[]), page("/b", links=[f"{HOST}/"])]
    whole = wa.Audit(frame(*pages))
    assert set(whole.issues.loc[whole.issues["rule"] == "no_inlinks", "url"]) == {f"{HOST}/a", f"{HOST}/b"}
    part = wa.Audit(whole.raw, Origin(stopped=INTERRUPTED))
    assert "no_inlinks" not in set(part.issues["rule"])
    assert INTERRUPTED in repr(part)


def test_a_stopped_audit_says_so_in_its_report_and_folder(made: wa.Audit, tmp_path: Path) -> None:
    part = wa.Audit(made.raw, Origin(stopped=INTERRUPTED))
    assert INTERRUPTED in part.report(tmp_path / "r.html", keywords=None, cannibalisation=None).read_text(
        "utf-8"
    )
    assert wa.load(part.save(tmp_path / "kept")).origin.stopped == INTERRUPTED


def test_pages_with_their_html_have_no_sitemap(listed_site: SiteServer) -> None:
    with pytest.raises(wa.ParameterError, match="`urls` parameter must be addresses where a `sitemap`"):
        wa.audit(
            pd.DataFrame({"url": ["x"], "html": ["y"]}), sitemap=f"{listed_site.url}/sitemap.xml", **LOCAL
        )


def test_sizes_of_images_are_had_when_they_are_asked_for(listed_site: SiteServer) -> None:
    urls = [f"{listed_site.url}/a", f"{listed_site.url}/b", f"{listed_site.url}/missing"]
    assert "image_bytes" not in wa.audit(urls, **LOCAL).raw
    assert "/one.png" not in asked(listed_site)
    found = wa.audit(urls, image_sizes=True, **LOCAL)
    origin = listed_site.url
    assert found.raw["image_bytes"].iloc[0] == {f"{origin}/one.png": 1_000, f"{origin}/large.png": 120_004}
    assert found.raw["image_bytes"].iloc[1] == {f"{origin}/one.png": 1_000}
    assert pd.isna(found.raw["image_bytes"].iloc[2])
    assert asked(listed_site).count("/one.png") == 1
    assert "images_too_large" in rules_of(found, urls[0])
    assert "images_too_large" not in rules_of(found, urls[1])
    assert found.raw.attrs["webanalytics"]["operation"] == "audit"


def test_of_an_enormous_image_only_a_part_is_read(
    listed_site: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webanalytics.audits.requests.sources.LARGEST_IMAGE", 5_000)
    found = wa.audit([f"{listed_site.url}/a"], image_sizes=True, **LOCAL)
    assert found.raw["image_bytes"].iloc[0][f"{listed_site.url}/large.png"] == 5_000


def test_what_an_interrupted_run_has_is_an_audit() -> None:
    pages = {f"/{number}": b"<title>x</title>" for number in range(3)}
    with SiteServer({**pages, "/slow": Reply(delay=30)}) as site:
        urls = [f"{site.url}/{name}" for name in ("0", "1", "2", "slow")]
        run = Run()
        token = current_run.set(run)

        def stop() -> None:
            deadline = time.monotonic() + BUSY_SECONDS
            while time.monotonic() < deadline and (run.partial is None or run.partial.rows < 3):
                time.sleep(0.05)
            run.emit(interrupt)

        def interrupt() -> None:
            raise KeyboardInterrupt

        watcher = threading.Thread(target=stop)
        watcher.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                run_plain(lambda: wa.aio.audit(urls, profile="strict", **LOCAL), run)
        finally:
            current_run.reset(token)
            watcher.join()
        caught = run.interrupted()
    assert caught is not None
    assert type(caught.partial) is wa.Audit
    assert caught.partial.raw["url"].tolist() == urls[:3]
    assert caught.partial.origin.profile is not None
    assert len(caught.partial.issues)
    assert type(pickle.loads(pickle.dumps(caught)).partial) is wa.Audit


def test_rules_are_listed_as_a_frame() -> None:
    listed = wa.rules()
    assert len(listed) >= 60
    assert listed["name"].is_unique
    assert {"name", "category", "type", "priority", "threshold", "explanation", "fix"} <= set(listed.columns)


def test_the_sample_site_from_its_sitemap_to_its_report(tmp_path: Path) -> None:
    with sample_site() as site:
        found = wa.audit(sitemap=site.sitemap, timeout=3, **LOCAL)
    assert len(found) > 20
    assert {"sitemap_failing", "title_missing"} <= set(found.summary()["rule"])
    written = found.report(tmp_path / "report.html", title="Lanterns")
    assert written == tmp_path / "report.html"
    assert "Lanterns" in written.read_text("utf-8")


def test_a_sitemap_that_was_read_before_is_audited_as_by_its_address(tmp_path: Path) -> None:
    with sample_site() as site:
        options = {**LOCAL, "timeout": 3}
        by_address = wa.audit(sitemap=site.sitemap, **options)
        rows = wa.sitemap(site.sitemap, allow_private=True)
        by_frame = wa.audit(rows, **options)
        part = wa.audit(rows.head(3), **options)
    assert by_frame.raw["url"].tolist() == by_address.raw["url"].tolist()
    found = [frame.issues.drop(columns="value") for frame in (by_frame, by_address)]  # times differ
    pd.testing.assert_frame_equal(*found)
    assert {"sitemap_failing"} <= set(by_frame.issues["rule"])
    assert by_frame.site.robots == by_address.site.robots
    assert part.raw["url"].tolist() == rows["url"].tolist()[:3]
    assert part.site.sitemap is not None


def test_a_sitemap_frame_without_pages_is_a_wrong_call(listed_site: SiteServer) -> None:
    rows = wa.sitemap(f"{listed_site.url}/empty.xml", allow_private=True)
    with pytest.raises(wa.ParameterError, match="The `urls` parameter must be a sitemap that lists pages"):
        wa.audit(rows, **LOCAL)
    assert len(wa.audit(rows.assign(url=f"{listed_site.url}/a"), column="url", **LOCAL)) == 1


def test_a_rule_is_found_by_its_name() -> None:
    assert (
        wa.rules().loc["title_too_long", "title"]
        == wa.rules().set_index("name").loc["title_too_long", "title"]
    )
    summary = audit().summary()
    assert wa.rules().loc[summary["rule"], "title"].tolist() == summary["rule_title"].tolist()


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_its_text_keeps_to_the_width_of_the_terminal(
    made: wa.Audit, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = repr(made).splitlines()
    assert max(map(len, lines)) <= min(columns, 110)
    assert "[title_too_short]" in " ".join(repr(made).split()), "the rule's id stands behind its cause"
