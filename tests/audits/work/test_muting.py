"""Muted issues: set aside with a reason, shown as muted, and back when their time is over."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.origin import Mute

URLS = [f"https://a.example{path}" for path in ("/", "/shop/tea", "/shop/cups", "/shopping")]
REASON = "The shop gets new titles in spring"


@pytest.fixture
def audit() -> wa.Audit:
    html = ["<title>Tea</title><p>Tea from the harbour", *["<p>Tea, cups and no title at all"] * 3]
    return wa.audit(pd.DataFrame({"url": URLS, "html": html}))


def pairs(issues: pd.DataFrame) -> set[tuple[str, str]]:
    return set(zip(issues["rule"], issues["url"], strict=True))


def test_muted_issues_are_set_aside_everywhere_and_told(audit: wa.Audit, tmp_path: Path) -> None:
    quiet = audit.mute(rule="title_missing", url="/shop/*", reason=REASON, until="2999-12-31")
    expected = {("title_missing", URLS[1]), ("title_missing", URLS[2])}
    assert pairs(quiet.muted) == expected
    assert pairs(quiet.issues) == pairs(audit.issues) - expected
    assert list(quiet.muted) == ["rule", "rule_title", "priority", "url", "evidence", "reason", "until"]
    assert quiet.pages["issues_high"].tolist() == [
        high - (url in URLS[1:3]) for url, high in zip(URLS, audit.pages["issues_high"].tolist(), strict=True)
    ]
    # `title_missing` is of high priority: 20 points on two of four pages
    costs = dict(zip(*audit.summary()[["rule", "priority"]].to_numpy().T, strict=True))
    assert costs["title_missing"] == "high"
    assert quiet.score == pytest.approx((audit.score or 0) + 2 * 20 / 4)
    assert quiet.summary().set_index("rule").loc["title_missing", "pages"] == 1
    assert quiet.causes().set_index("rule").loc["title_missing", "pages"] == 1
    assert len(audit.muted) == 0
    assert ("title_missing", URLS[1]) in pairs(audit.issues)
    said = f"2 issues are muted: {REASON} (2, until 2999-12-31)."
    assert said in " ".join(repr(quiet).split())
    assert said in quiet._repr_html_()
    assert said in quiet.report(tmp_path / "report.html").read_text("utf-8")
    assert len(quiet.parts()["Muted"]) == 2
    assert "Muted" not in audit.parts()


def test_parts_profiles_and_columns_keep_what_is_muted(audit: wa.Audit) -> None:
    quiet = audit.mute(rule="title_missing", reason=REASON)
    assert pairs(quiet.select(URLS[1]).muted) == {("title_missing", URLS[1])}
    assert pairs(audit.select(URLS[1]).mute(rule="title_missing", reason=REASON).muted) == {
        ("title_missing", URLS[1])
    }
    assert len(quiet.with_profile("strict").muted) == 3
    assert len(quiet.segments({"shop": "/shop/*"}).muted) == 3


def test_it_is_kept_when_saved(audit: wa.Audit, tmp_path: Path) -> None:
    quiet = audit.mute(url="*/cups", reason=REASON).mute(rule="h1_missing", reason="No room", until=date.max)
    folder = quiet.save(tmp_path / "saved")
    again = wa.load(folder)
    assert again.origin.mutes == quiet.origin.mutes
    assert again.score == quiet.score
    pd.testing.assert_frame_equal(again.muted, quiet.muted)
    manifest = json.loads((folder / "audit.json").read_text("utf-8"))
    assert manifest["mutes"][1]["until"] == "9999-12-31"


@pytest.mark.parametrize(
    "damage", [{"until": "soon"}, {"url": "("}, {"reason": 1}, {"more": ""}, {"rule": []}]
)
def test_a_damaged_list_is_refused(audit: wa.Audit, tmp_path: Path, damage: dict[str, Any]) -> None:
    folder = audit.mute(rule="h1_missing", reason=REASON).save(tmp_path / "saved")
    path = folder / "audit.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["mutes"][0] |= damage
    path.write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(wa.ParameterError, match="folder"):
        wa.load(folder)


def test_it_ends_after_its_last_day(audit: wa.Audit) -> None:
    today = datetime.now(UTC).date()
    assert len(audit.mute(rule="title_missing", reason=REASON, until=today + timedelta(1)).muted) == 3
    over = audit.mute(rule="title_missing", reason=REASON, until=today - timedelta(2))
    assert len(over.muted) == 0
    assert over.score == audit.score
    assert f"Muted until {today - timedelta(2)}, and not any more: {REASON}." in " ".join(repr(over).split())


def test_an_address_is_one_page_and_not_what_is_of_its_host() -> None:
    urls = ["http://a.example/", "http://a.example/tea"]
    audit = wa.audit(pd.DataFrame({"url": urls, "html": ["<p>Tea", "<p>Cups"]}))
    quiet = audit.mute(url="HTTP://A.example/", reason=REASON)
    assert set(quiet.muted["url"]) == {urls[0]}
    assert ("http_page", "http://a.example") in pairs(quiet.issues)
    assert pairs(audit.mute(rule="http_page", reason=REASON).muted) == {("http_page", "http://a.example")}


def test_a_comparison_does_not_call_muted_issues_fixed_or_new(audit: wa.Audit) -> None:
    quiet = audit.mute(rule="title_missing", reason=REASON)
    for before, after in ((audit, quiet), (quiet, audit)):
        found = wa.compare(before, after).issues
        assert set(found.loc[found["rule"] == "title_missing", "change"]) == {"unchecked"}
    assert "title_missing" not in set(wa.compare(quiet, quiet).issues["rule"])


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"reason": " ", "rule": "h1_missing"}, "reason"),
        ({"reason": REASON}, "rule"),
        ({"reason": REASON, "rule": "h1_mising"}, "rule"),
        ({"reason": REASON, "url": "("}, "url"),
        ({"reason": REASON, "rule": "h1_missing", "until": "soon"}, "until"),
    ],
)
def test_wrong_calls(audit: wa.Audit, given: dict[str, Any], parameter: str) -> None:
    with pytest.raises(wa.ParameterError) as refused:
        audit.mute(**given)
    assert refused.value.parameter == parameter


def test_without_a_reason_nothing_is_muted(audit: wa.Audit) -> None:
    with pytest.raises(TypeError):
        audit.mute(rule="h1_missing")  # type: ignore[call-arg]
    assert Mute("why").until is None
