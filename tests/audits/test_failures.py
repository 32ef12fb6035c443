"""Why pages failed: one row for each reason, with the option that changes it."""

from __future__ import annotations

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.overview.failures import COLUMNS, failures
from webanalytics.core.messages import ADVICE
from webanalytics.core.run_options import RECORDS
from webanalytics.fetching.testing import Reply, SiteServer, sample_site

LOCAL = {"allow_private": True, "progress": False, "retries": 0}
PAGES = {"/": b"<title>x", "/a": Reply(404), "/b": Reply(404), "/c": Reply(500)}


def test_reasons_are_grouped_and_counted() -> None:
    with SiteServer(PAGES) as site:
        urls = [f"{site.url}{path}" for path in PAGES]
        found = wa.audit([*urls, "nonsense", None], **LOCAL).failures()
    assert list(found.columns) == list(COLUMNS)
    rows = found[["reason", "error_type", "pages", "url", "error_key"]].astype(object)
    assert rows.where(rows.notna(), None).values.tolist() == [
        ["The page answered HTTP 404.", "http", 2, urls[1], "status"],
        ["The page answered HTTP 500.", "http", 1, urls[3], "status"],
        ["The address is not a valid URL in http or https format.", "invalid", 1, "nonsense", "invalid_url"],
        ["The `url` parameter is required.", "invalid", 1, None, "required"],
    ]
    assert found["option"].isna().all()


def test_the_option_that_changes_it_is_named() -> None:
    with sample_site() as site:
        audit = wa.audit(site.pages[:3], progress=False)
    row = audit.failures().iloc[0]
    assert (row["reason"], row["option"], row["pages"]) == (
        "The host is not public.",
        "allow_private=True",
        3,
    )
    assert audit.raw["error"].unique().tolist() == [
        "The host is not public; `allow_private=True` lets it through."
    ]
    assert "3 addresses: The host is not public: `allow_private=True` lets it through" in " ".join(
        repr(audit).split()
    )
    html = audit._repr_html_() or ""
    assert "allow_private=True</code> lets it through" in html


@pytest.mark.parametrize("key", ADVICE)
def test_each_option_exists(key: str) -> None:
    assert ADVICE[key].option.partition("=")[0] in RECORDS
    assert f"`{ADVICE[key].option}`" in ADVICE[key].effect


def test_frames_of_files_and_of_other_servers() -> None:
    frame = pd.DataFrame(
        {
            "url": ["a", "b", "c", "d"],
            "status": ["error"] * 4,
            "error": [
                "The `url` parameter names a page that the site's robots.txt forbids fetching.",
                "Out of order.",
                None,
                "The page did not arrive within 30 seconds; `timeout=` sets how long to wait.",
            ],
            "error_type": ["robots", "service", "tls", "timeout"],
        }
    )
    found = failures(frame).set_index("url")
    assert found["option"].fillna("").to_dict() == {"a": "robots=False", "b": "", "c": "", "d": "timeout="}
    assert found.loc["b", "reason"] == "Out of order."
    assert found.loc["c", "reason"].startswith("The server's certificate is not valid")
    assert found.loc["d", "reason"] == "The page did not arrive within 30 seconds."


def test_no_failures() -> None:
    for audit in (
        wa.audit([], progress=False),
        wa.audit(pd.DataFrame({"url": ["a"], "html": ["<p>"]}), progress=False),
    ):
        found = audit.failures()
        assert (len(found), list(found.columns)) == (0, list(COLUMNS))
        assert "Not read" not in repr(audit)


@pytest.mark.parametrize(
    ("kind", "reason", "option"),
    [
        ("robots", "The site's robots.txt forbids the page.", "robots=False"),
        ("blocked", "The address is private, loopback or reserved, or its port is not allowed.", None),
        ("timeout", "The server or the analysis took longer than its limit.", None),
        ("of another version", "The page was not read, and no reason is known.", None),
    ],
)
def test_a_failure_without_a_sentence_is_told_by_its_type(kind: str, reason: str, option: str | None) -> None:
    """An option is named only where it changes every failure of the type."""
    found = failures(pd.DataFrame({"url": ["u"], "status": ["error"], "error_type": [kind]})).iloc[0]
    assert found["reason"] == reason
    assert found["option"] == option if option else pd.isna(found["option"])
