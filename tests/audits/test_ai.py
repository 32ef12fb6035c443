"""Crawlers, what they may read, and what a site says to them."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd
import pytest
from markdown_it import MarkdownIt
from protego import Protego

import webanalytics as wa
from tests.effort import BUSY_SECONDS, effort_since
from webanalytics.audits.ai.access import signal_faults
from webanalytics.audits.ai.llms import llms_facts
from webanalytics.audits.ai.roster import COLUMNS, PURPOSES, chosen, parse_roster, roster, update_roster
from webanalytics.audits.origin import Origin
from webanalytics.audits.storage.folders import load, save
from webanalytics.cli import main
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.fetching.testing import Reply, SiteServer

ROBOTS = """\
User-agent: *
Content-Signal: search=yes, ai-train=no
Disallow: /closed/

User-agent: GPTBot
User-agent: OAI
Disallow: /

User-agent: ClaudeBot
Disallow: /shop/*?sort=
"""
PATHS = ["/", "/closed/a", "/shop/a", "/shop/a?sort=up"]
HTML = '<title>Lamps</title><meta name=robots content="noai, max-snippet:20"><p>Lamps for the harbour.'


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEBANALYTICS_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def audit() -> wa.Audit:
    pages = pd.DataFrame({"url": [f"https://a.example{path}" for path in PATHS], "html": HTML})
    files = {"https://A.example:443": RobotsCopy(ROBOTS, 200)}
    return wa.Audit(wa.audit(pages, progress=False), Origin(robots_files=files))


def test_the_list_is_whole() -> None:
    known = roster()
    assert len({crawler.token.lower() for crawler in known}) == len(known) > 15
    assert {crawler.purpose for crawler in known} == set(PURPOSES)
    assert all(crawler.source.startswith("https://") for crawler in known)
    assert wa.ai_crawlers().columns.tolist() == list(COLUMNS)


def test_access_agrees_with_an_independent_reader(audit: wa.Audit) -> None:
    frame = audit.ai_access()
    assert len(frame) == len(PATHS) * len(roster())
    theirs = Protego.parse(
        ROBOTS.replace("User-agent: OAI\n", "")
    )  # it would take the prefix for OAI-SearchBot
    for row in frame.itertuples():
        assert row.allowed == theirs.can_fetch(row.url, row.crawler), row
    sure = frame.set_index(["crawler", "url"])
    assert sure.loc[("ClaudeBot", "https://a.example/shop/a?sort=up"), "rule"] == "Disallow: /shop/*?sort="
    assert sure.loc[("ClaudeBot", "https://a.example/shop/a?sort=up"), "line"] == 10
    assert sure.loc[("OAI-SearchBot", "https://a.example/"), "group"] == "*"


def test_sections_add_up(audit: wa.Audit) -> None:
    frame = audit.ai_sections(["GPTBot", "ClaudeBot", "NewBot"])
    shop = frame[frame["section"] == "shop"].set_index("crawler")["share"]
    assert shop.to_dict() == {"NewBot": 1.0, "GPTBot": 0.0, "ClaudeBot": 0.5}
    assert frame["section"].tolist()[0] == ""


def test_without_a_robots_txt_nothing_is_known() -> None:
    pages = pd.DataFrame({"url": ["https://a.example/"], "html": [HTML]})
    for copy in ({}, {"https://a.example": RobotsCopy(None, 503)}):
        audit = wa.Audit(wa.audit(pages, progress=False), Origin(robots_files=copy))
        assert audit.ai_access()["allowed"].isna().all()
        assert audit.ai_sections().empty
    gone = wa.Audit(
        wa.audit(pages, progress=False), Origin(robots_files={"https://a.example": RobotsCopy(None, 404)})
    )
    assert gone.ai_access()["allowed"].all()


def test_what_a_page_says(audit: wa.Audit) -> None:
    row = audit.ai_use().iloc[0]
    assert (row["noai"], row["noimageai"]) == (True, False)
    assert row["content_signal"] == "search=yes, ai-train=no"
    assert row["text_tokens"] == round(len("Lamps for the harbour.") / 4)
    assert not row["script_only"]


@pytest.mark.parametrize("wrong", [[], [5], "a bot", [""], ["*"]])
def test_a_wrong_crawler_names_the_parameter(audit: wa.Audit, wrong: object) -> None:
    with pytest.raises(wa.ParameterError, match="`crawlers` parameter"):
        audit.ai_access(wrong)  # type: ignore[arg-type]


def test_signals() -> None:
    assert signal_faults("ai-train=no, ai-train=yes") == ['"ai-train" has two values']
    assert signal_faults("/blog/ search=yes") == []


HEAD = ",".join(COLUMNS) + "\n"
GOOD = HEAD + "NewBot,New,training,yes,https://new.example/bot,2026-12-01\n"


@pytest.mark.parametrize(
    "content",
    [
        "",
        HEAD,
        "token\nNewBot\n",
        GOOD.replace("training", "fun"),
        GOOD.replace("NewBot", "=cmd()"),
        GOOD.replace("https:", "file:"),
        GOOD.replace("2026-12-01", "soon"),
        GOOD.replace("New,", "New\x1b[31m,"),
        HEAD + GOOD.split("\n")[1] * 20_000,
        "\ud800",
    ],
)
def test_what_is_no_list_is_refused(content: str, own_folder: Path) -> None:
    with pytest.raises(wa.ParameterError, match="`update` parameter"):
        update_roster(content.encode("utf-8", "surrogatepass"))
    assert not list(own_folder.iterdir())


def test_a_newer_list_takes_its_place(own_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = own_folder / "list.csv"
    path.write_text(GOOD)
    assert main(["ai-crawlers", "update", str(path)]) == 0
    assert capsys.readouterr().out.startswith("1 crawlers, 1 of them new;")
    assert [crawler.token for crawler in chosen(None)] == ["NewBot"]
    assert main(["ai-crawlers"]) == 0
    assert "NewBot,New,training" in capsys.readouterr().out
    (own_folder / "ai-crawlers.csv").write_text("nonsense")
    with pytest.raises(wa.ParameterError, match="damaged"):
        roster()
    assert main(["ai-crawlers", "remove"]) == 2


def test_the_list_of_the_package_is_data() -> None:
    assert parse_roster(GOOD.encode())[0].operator == "New"


# ---- llms.txt


def test_llms_txt_of_sites() -> None:
    good = b"# Tea\n\n> About tea\n\n## Docs\n\n- [Green](/green.md): leaves\n"
    with (
        SiteServer({"/llms.txt": good}) as one,
        SiteServer({"/llms.txt": Reply(503)}) as two,
        SiteServer({}) as none,
    ):
        urls = [f"{one.url}/a", f"{one.url}/b", two.url, none.url]
        frame = wa.llms_txt(urls, allow_private=True, retries=0)
        assert [request.target for request in one.requests].count("/llms.txt") == 1
    assert frame["present"].tolist()[0] is True or bool(frame["present"].iloc[0])
    assert frame[["title", "sections", "links"]].iloc[0].tolist() == ["Tea", 1, 1]
    assert frame["status"].tolist() == ["ok", "error", "ok"]
    assert frame["faults"].iloc[0] == []
    assert not frame["present"].iloc[2]


@pytest.mark.parametrize(
    "text",
    [
        *("<!doctype html><p>x", "", "[" * 100_000, "- [a](" * 50_000, "#" * 400_000),
        *(f"#a{' ' * 400_000}b", "- [" + "[a" * 200_000, "- [a](" + "(a" * 200_000, "- [a](a\n" * 50_000),
        *(f"- [a]({'a' * 2_490}\n" * 200, f"- [{'[a]' * 800}\n" * 200),
    ],
)
def test_any_text_is_judged(text: str) -> None:
    start = time.process_time()
    assert llms_facts(text)["faults"]
    assert effort_since(start) < BUSY_SECONDS / 25
    llms_facts(f"# a{' ' * 400_000}b")
    assert effort_since(start) < BUSY_SECONDS / 10


@pytest.mark.parametrize(
    "item",
    [
        *("[Green](https://tea.example/g)", "[Green](https://tea.example/g): leaves", "[Green] (no link)"),
        *("[Green [loose] tea](https://tea.example/g)", r"[Green \] tea](https://tea.example/g)"),
        *("[Green](<https://tea.example/a b>)", "[Green](https://tea.example/a_(b))", "Green", "[Green][1]"),
        *(
            '[Green](https://tea.example/g "Tea (green)")',
            "[Green [loose](x",
            "[Green](https://tea.example/g",
        ),
    ],
)
def test_links_are_those_of_markdown(item: str) -> None:
    """As markdown-it reads them, which follows CommonMark."""
    text = f"# Tea\n\n## Kinds\n\n- {item}\n"
    facts, links = llms_facts(text), MarkdownIt().render(text).count("<a href=")
    assert (facts["links"], facts["faults"]) == (links, [] if links else ["Line 5 is no link."])


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Tea\n\n> A title alone is enough, by llmstxt.org.", "Tea"),
        ("  # Tea ##\n", "Tea"),
        ("# #tea\n", "#tea"),
        ("# Tea\n\n```\n# install\n## all\n- item\n~~~\n```\n\n## Kinds\n- [a](/a)\n", "Tea"),
    ],
)
def test_headings_are_those_of_markdown(text: str, title: str) -> None:
    facts, html = llms_facts(text), MarkdownIt().render(text)
    assert facts["faults"] == []
    assert f"<h1>{facts['title']}</h1>" in html
    assert (facts["title"], facts["sections"]) == (title, html.count("<h2>"))


@pytest.mark.parametrize("wrong", [[], "", "nonsense", [f"https://{n}.example/" for n in range(101)], None])
def test_a_wrong_call_of_llms_txt(wrong: object) -> None:
    with pytest.raises(wa.ParameterError, match="`urls` parameter"):
        wa.llms_txt(wrong)


# ---- what the fetcher has read is kept


def test_lists_of_addresses_are_judged_by_what_was_read(tmp_path: Path) -> None:
    robots = b"User-agent: GPTBot\nDisallow: /\nDisalow: /x\n"
    with SiteServer({"/robots.txt": robots, "/a": HTML.encode(), "/b": HTML.encode()}) as server:
        urls = [f"{server.url}/a", f"{server.url}/b"]
        audit = wa.audit(urls, allow_private=True, progress=False)
        assert [request.target for request in server.requests].count("/robots.txt") == 1
        quiet = wa.audit(urls, allow_private=True, progress=False, robots=False)
        assert [request.target for request in server.requests].count("/robots.txt") == 1
    (problems,) = audit.site.robots.values()
    assert problems == ['Line 3 has an unknown directive: "Disalow".']
    assert "robots_txt_problems" in set(audit.issues["rule"])
    assert audit.ai_access(["GPTBot"])["allowed"].tolist() == [False, False]
    assert not quiet.site.robots_files
    save(audit.raw, audit.origin, tmp_path / "kept")
    _, origin = load(tmp_path / "kept")
    assert origin.robots_files == audit.origin.robots_files
