"""Work on a saved audit on the command line."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.cli import main


@pytest.fixture
def saved(tmp_path: Path) -> str:
    texts = ["A brass lamp has a wick of cotton.", "Trim the wick of a brass lamp with sharp scissors."]
    html = [
        f"<title>{name}</title><p>{text}" for name, text in zip(["Brass lamp", "Wicks"], texts, strict=True)
    ]
    html.append("<title>Cart</title><meta name=robots content=noindex>")
    urls = [f"https://a.example/{name}" for name in ("lamp", "wick", "cart")]
    wa.audit(pd.DataFrame({"url": urls, "html": html})).save(tmp_path / "saved")
    return str(tmp_path / "saved")


def test_a_sitemap_is_written(saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["write-sitemap", saved, str(tmp_path / "out")]) == 0
    out, said = capsys.readouterr()
    assert out.splitlines()[3].startswith("https://a.example/cart,,noindex,")
    assert said == "2 pages in 1 file, 1 left out\n"
    assert (tmp_path / "out" / "sitemap.xml").read_text().count("<loc>") == 2


def test_ideas_for_links_are_listed(saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["link-ideas", saved, "--to", "https://a.example/lamp"]) == 0
    assert (
        capsys.readouterr()
        .out.splitlines()[1]
        .startswith("https://a.example/lamp,https://a.example/wick,brass lamp,")
    )
    assert main(["link-ideas", saved, "-o", str(tmp_path / "ideas.csv")]) == 0
    assert len(pd.read_csv(tmp_path / "ideas.csv")) == 1
    assert main(["link-ideas", saved, "--to", "https://b.example/"]) == 2
    assert main(["link-ideas", str(tmp_path)]) == 2


def test_what_to_do_with_pages_is_listed(
    saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prune", saved, "--thin", "5"]) == 0
    out, said = capsys.readouterr()
    assert out.splitlines()[0].startswith("url,advice,target,reasons,content_words")
    assert said == "keep 3\n"
    assert main(["prune", saved, "-o", str(tmp_path / "pages.csv")]) == 0
    assert len(pd.read_csv(tmp_path / "pages.csv")) == 3
    assert main(["prune", saved, "--similar", "2"]) == 2


def test_search_data_are_joined(saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Seiten.csv").write_text(
        "Häufigste Seiten,Klicks,Impressionen\n/cart,7,90\n/gone,1,2\n", "utf-8"
    )
    assert main(["search-issues", saved, str(tmp_path / "Seiten.csv")]) == 0
    out, said = capsys.readouterr()
    assert out.splitlines()[1].startswith("https://a.example/cart,noindex,7,90,")
    assert said == f"{tmp_path / 'Seiten.csv'}: 1 row of no page of the audit\n"
    assert main(["search-issues", saved, str(tmp_path / "none.csv")]) == 2


def test_a_report_has_chapters_on_search_data_and_logs(saved: str, tmp_path: Path) -> None:
    (tmp_path / "Pages.csv").write_text("Page,Clicks,Impressions\nhttps://a.example/lamp,7,90\n")
    line = '::1 - - [24/Nov/2026:09:00:00 +0000] "GET /lamp HTTP/1.1" 200 9 "-" "Googlebot/2.1"\n'
    (tmp_path / "access.log").write_text(line)
    report = tmp_path / "report.html"
    given = ["--search-data", str(tmp_path / "Pages.csv"), "--logs", str(tmp_path / "access.log")]
    assert main(["report", saved, "-o", str(report), *given]) == 0
    text = report.read_text("utf-8")
    assert all(f'aria-labelledby="{name}"' in text for name in ("search", "logs", "advice"))


def test_comparisons_go_by_parts_of_the_site(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", saved, saved, "--by", "section"]) == 0
    assert "score_before" in capsys.readouterr().out
    assert main(["compare", saved, saved, "--by", "nothing"]) == 2


def test_issues_are_set_aside_and_stay_so(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = len(wa.load(saved).issues)
    given = ["--rule", "title_too_short", "--url", "/cart", "--reason", "A cart", "--until", "2100-12-31"]
    assert main(["mute", saved, *given]) == 0
    out, said = capsys.readouterr()
    assert out.splitlines()[0] == "rule,rule_title,priority,url,evidence,reason,until"
    assert "https://a.example/cart" in out
    assert "A cart,2100-12-31" in out
    assert said == f"1 issue muted, {before - 1:,} left\n"
    assert main(["mute", saved]) == 0  # lists them, and changes nothing
    assert capsys.readouterr() == (out, said)
    assert wa.load(saved).muted["url"].tolist() == ["https://a.example/cart"]
    assert main(["mute", saved, "--rule", "title_too_short"]) == 2
    assert "The `reason` parameter must be a text" in capsys.readouterr().err
    assert main(["mute", saved, "--rule", "titel", "--reason", "x"]) == 2
    assert len(wa.load(saved).issues) == before - 1


def test_parts_of_a_site_are_named_and_stay_so(
    saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["segments", saved, "light=/lamp", "money=/cart*"]) == 0
    rows = [line.split(",")[:2] for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["segment", "pages"]
    assert sorted(rows[1:]) == [["light", "1"], ["money", "1"], ["other", "1"]]
    assert sorted(wa.load(saved).pages["segment"]) == ["light", "money", "other"]
    assert main(["report", saved, "-o", str(tmp_path / "report.html")]) == 0
    assert 'aria-labelledby="segments"' in (tmp_path / "report.html").read_text("utf-8")
    assert main(["segments", saved, "light=/lamp"]) == 0  # in place of those before
    assert sorted(wa.load(saved).pages["segment"]) == ["light", "other", "other"]
    assert main(["segments", saved, "light"]) == 2


@pytest.mark.parametrize(
    ("command", "name", "parameter"),
    [
        (["report", "{saved}", "-o"], "r.doc", "output"),
        (["compare", "{saved}", "{saved}", "--report"], "c.csv", "report"),
        (["audit", "https://a.example/", "--report"], "report", "report"),
        (["check-redirects", "{plan}", "--report"], "r.pdf", "report"),
    ],
)
def test_a_report_in_another_form_is_refused_before_work(
    saved: str,
    tmp_path: Path,
    command: list[str],
    name: str,
    parameter: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text("old,new\nhttps://a.example/,https://b.example/\n")
    given = [part.format(saved=saved, plan=plan) for part in command]
    assert main([*given, str(tmp_path / name)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"webanalytics: The `{parameter}` parameter must be a file that ends in .html")
    assert not (tmp_path / name).exists()
