"""The report as a document for a client: whose it is, in plain words, in a language, and on paper."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import Any

import lxml.html
import pandas as pd
import pytest
from PIL import Image

import webanalytics as wa
from tests.audits.report_data import made_audit
from webanalytics.audits.report import Brand, build, pdf, write_report
from webanalytics.audits.report.content import read
from webanalytics.audits.report.gaps import plain
from webanalytics.cli import main
from webanalytics.errors import ParameterError

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><script>alert(1)</script><rect/></svg>'


def picture(kind: str, size: tuple[int, int] = (8, 8)) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", size, "red").save(made, kind)
    return made.getvalue()


def branded(**given: Any) -> Any:
    audit = made_audit(12)
    brand = Brand.of("report.html", **given)
    content = read(audit.pages, audit.issues, audit.summary)
    return lxml.html.fromstring(build.render(content, title=None, brand=brand))


@pytest.mark.parametrize(
    ("logo", "kind"), [(picture("PNG"), "png"), (picture("JPEG"), "jpeg"), (SVG, "svg+xml")]
)
def test_a_logo_is_embedded_as_a_picture_alone(logo: bytes, kind: str) -> None:
    document = branded(logo=logo)
    (shown,) = document.iter("img")
    head, _, data = shown.get("src").partition(",")
    assert head == f"data:image/{kind};base64"
    assert base64.b64decode(data) == logo
    assert "img-src data:" in document.xpath("//meta[@http-equiv]/@content")[0]
    assert not [script for script in document.iter("script") if "alert(1)" in (script.text or "")]


@pytest.mark.parametrize(
    "logo",
    [
        b"GIF89a" + bytes(20),
        b"<html/>",
        b"",
        bytes(1_000_001),
        picture("PNG", (5_001, 2)),
        "nowhere.png",
        7,
        b'<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>',
    ],
)
def test_what_is_no_logo_is_refused(logo: Any) -> None:
    with pytest.raises(ParameterError, match="`logo`"):
        Brand.of("report.html", logo=logo)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("accent", ["#fd0", "#ffffff", "#000000", "#0b5d6b", "#7a1f5c", "#808080"])
def test_an_accent_can_be_read_in_both_themes(accent: str) -> None:
    light, dark = re.findall(r"--accent: (#[0-9a-f]{6})", Brand.of("r.html", accent=accent).style)
    for colour, ground in ((light, "#f7f8f8"), (dark, "#1b2025")):
        pair = sorted((luminance(colour), luminance(ground)))
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accent", "red"),
        ("accent", "#12"),
        ("accent", "#fff;}"),
        ("language", "pl"),
        ("intro", 1),
        ("prepared_for", b"x"),
    ],
)
def test_what_cannot_be_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"`{name}`"):
        Brand.of("report.html", **{name: value})


def test_texts_of_the_head_are_text() -> None:
    document = branded(intro="<b>One</b>\n\nTwo", prepared_for="A & <i>B</i>")
    assert [part.text_content() for part in document.find_class("intro")] == ["<b>One</b>", "Two"]
    assert document.find_class("client")[0].text_content() == "Prepared for A & <i>B</i>"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The host is not public; `allow_private=True` lets it through.", "The host is not public."),
        ("It left out 7: they are in `.skipped`. `max_pages=` sets the limit.", "It left out 7."),
        (
            "a refused 2 of 3 (4 more such hosts: see .failures()): so.",
            "a refused 2 of 3 (4 more such hosts): so.",
        ),
        ("2 rows are of no page: see .unmatched.", "2 rows are of no page."),
    ],
)
def test_sentences_lose_their_python(said: str, told: str) -> None:
    assert plain(said) == told


def test_an_unknown_part_is_refused_before_any_work(tmp_path: Path) -> None:
    audit = wa.Audit(pd.DataFrame({"url": ["https://a.example/"], "status": ["ok"], "title": ["Tea"]}))
    with pytest.raises(ParameterError, match="did you mean `title`"):
        audit.report(tmp_path / "r.html", titel="x")
    assert not list(tmp_path.iterdir())


def test_without_a_browser_a_pdf_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBANALYTICS_BROWSER", str(tmp_path / "none"))
    with pytest.raises(ParameterError, match=r"must end in \.html"):
        Brand.of(tmp_path / "r.pdf")


@pytest.mark.browser
def test_a_hundred_pages_are_at_most_twenty_of_paper(tmp_path: Path) -> None:
    audit = made_audit(100)
    file = tmp_path / "r.pdf"
    write_report(file, audit.pages, audit.issues, audit.summary, brand=Brand.of(file, logo=picture("PNG")))
    content = file.read_bytes()
    assert content.startswith(b"%PDF-")
    assert 2 <= max(map(int, re.findall(rb"/Count (\d+)", content))) <= 20


@pytest.mark.browser
def test_printing_that_breaks_off_is_told(tmp_path: Path) -> None:
    with pytest.raises(wa.errors.BackendError, match="could not be printed"):
        pdf.printed(b"", "/bin/false")


def test_the_command_line_reports_a_saved_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"url": ["https://a.example/"], "status": ["ok"], "title": ["Tea"]}
    wa.Audit(pd.DataFrame(rows)).save(tmp_path / "one")
    wa.Audit(pd.DataFrame({**rows, "title": [""]})).save(tmp_path / "two")
    out = tmp_path / "r.html"
    command = [
        "report",
        str(tmp_path / "two"),
        "-o",
        str(out),
        "--language",
        "fr",
        "--prepared-for",
        "Thé SA",
    ]
    assert main(command) == 0
    assert "written to" in capsys.readouterr().err
    text = out.read_text("utf-8")
    assert '<html lang="fr">' in text
    assert "Préparé pour <bdi>Thé SA</bdi>" in text
    assert main([*command, "--since", str(tmp_path / "one")]) == 0
    assert "<title>Comparaison de a.example" in out.read_text("utf-8")
    assert main([*command, "--accent", "red"]) == 2
