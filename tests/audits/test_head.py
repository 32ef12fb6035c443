"""The first lines of an audit: the same in each place that shows one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import webanalytics as wa
from webanalytics.audits.origin import Origin
from webanalytics.audits.overview.head import site_of
from webanalytics.cli.audit import print_summary
from webanalytics.errors import IncompleteRunWarning
from webanalytics.fetching.testing import SiteServer
from webanalytics.notebook.widgets import explore
from webanalytics.urls import host_of

LINKS = "".join(f'<a href="/{number}">{number}</a>' for number in range(9)).encode()
SAID = "stopped at 3 of at least 10 pages"


@pytest.fixture(scope="module")
def part() -> wa.Audit:
    """A crawl that stopped at three pages of ten."""
    pages = {f"/{number}": b"<title>Page</title><p>Nothing more." for number in range(9)}
    with (
        SiteServer({"/": b"<title>Start</title>" + LINKS, **pages}) as site,
        pytest.warns(IncompleteRunWarning),
    ):
        return wa.crawl(site.url, max_pages=3, sitemap=None, allow_private=True, progress=False, workers=1)


def _workbook(audit: wa.Audit, folder: Path) -> str:
    book = openpyxl.load_workbook(audit.to_excel(folder / "audit.xlsx"), read_only=True)
    rows = list(book["Overview"].iter_rows(values_only=True))
    book.close()
    return "\n".join(" ".join(map(str, row)) for row in rows)


def _screen(audit: wa.Audit, folder: Path) -> str:
    with (folder / "screen.txt").open("w+") as file:
        print_summary(audit, file)
        file.seek(0)
        return file.read()


def _report(audit: wa.Audit, folder: Path) -> str:
    return (
        audit.report(folder / "report.html").read_text("utf-8").partition("<body")[2].partition("<script")[0]
    )


PLACES: dict[str, Callable[[wa.Audit, Path], str]] = {
    "repr": lambda audit, _: repr(audit),
    "html": lambda audit, _: audit._repr_html_(),
    "command line": _screen,
    "report": _report,
    "workbook": _workbook,
    "explorer": lambda audit, _: str(explore(audit)._content["head"]),
    "saved notebook": lambda audit, _: explore(audit)._repr_html_(),
}


@pytest.mark.parametrize("place", PLACES)
def test_the_site_and_where_a_crawl_stopped_stand_first(part: wa.Audit, place: str, tmp_path: Path) -> None:
    shown = " ".join(re.sub(r"<[^>]+>", " ", PLACES[place](part, tmp_path)).split())
    host = part.raw["url"][0].split("/")[2]
    assert host in shown
    assert SAID in shown
    assert shown.index(SAID) < min(shown.find(f"{part.score:g}") % 100_000, 2_000)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "Der Crawl endete nach 3 von mindestens 10 Seiten."),
        ("fr", "L’exploration s’est arrêtée à 3 pages sur au moins 10."),
        ("es", "El rastreo se detuvo tras 3 de al menos 10 páginas."),
    ],
)
def test_a_report_says_so_in_its_language(part: wa.Audit, language: str, said: str, tmp_path: Path) -> None:
    text = part.report(tmp_path / "r.html", language=language).read_text("utf-8")
    assert said in text
    assert "max_pages" not in text


def test_what_was_not_tried_is_one_line_and_in_no_report(part: wa.Audit, tmp_path: Path) -> None:
    lines = [line for line in PLACES["repr"](part, tmp_path).split("\n\n") if line.startswith("Not tried")]
    assert len(lines) == 1
    assert len(" ".join(lines[0].split())) < 150
    assert re.search(r"<details[^>]*><summary[^>]*>Not tried: \d+ rules", part._repr_html_())
    for language in ("en", "de", "fr", "es"):
        text = part.report(tmp_path / "r.html", language=language).read_text("utf-8")
        assert "Not tried" not in text
        assert "Images too large" not in text or "Images too large" in set(part.issues["rule_title"])


def test_one_rule_that_was_not_tried_is_named() -> None:
    issues = pd.DataFrame()
    issues.attrs["webanalytics"] = {"rules_not_tried": {"image_too_large": ["image_bytes"]}}
    from webanalytics.audits.overview.display import _untried

    line, more = _untried(issues)
    assert line.startswith("Not tried: 1 rule; it needs the sizes of images")
    assert len(more) == 1


@given(
    hosts=st.lists(st.sampled_from(["A.example", "a.example:81", "me@b.example", "c.example"]), max_size=6),
    rest=st.lists(
        st.sampled_from(["", "/", "?a=/b/c", "#d/e", "/f//g?h@i.example", "//j.example/"]), max_size=3
    ),
)
def test_hosts_are_those_of_the_whole_addresses(hosts: list[str], rest: list[str]) -> None:
    urls = [f"https://{host}{end}" for host in hosts for end in rest] + ["//k.example/l", "m.example/n/o"]
    known = Counter(filter(None, map(host_of, urls)))
    first, most = known.most_common(1)[0]
    said = site_of(urls)
    expected = f"{len(known)} hosts" if most * 2 < known.total() else first
    assert said.split(" and ")[0] == expected


def test_hosts_are_named_by_the_one_of_most_pages() -> None:
    urls = ["https://b.example/", "https://a.example/1", "https://a.example/2", None, "https://c.example/"]
    assert site_of(urls) == "a.example and 2 other hosts"
    assert site_of([f"https://{number}.example/" for number in range(91)]) == "91 hosts"
    assert site_of([]) == site_of([None, "nonsense"]) == ""
    assert repr(wa.Audit(pd.DataFrame({"url": ["nonsense"], "status": ["ok"]}), Origin())).startswith(
        "Audit: 1 page"
    )
