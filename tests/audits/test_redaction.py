"""Evidence shows no secret of an address."""

from __future__ import annotations

import pytest

from tests.audits.sites import page, site
from webanalytics.audits.findings import plain
from webanalytics.audits.issues import find_issues
from webanalytics.audits.redaction import without_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:s3cret@a.example/x", "https://…@a.example/x"),
        ("https://s3cret@a.example/x", "https://…@a.example/x"),
        ("see http://u:p@a.example, http://b.example", "see http://…@a.example, http://b.example"),
        ("https://user:s3cretthatwascuto", "https://…"),
        ("https://a.example/?access_token=abcdef&q=tea", "https://a.example/?access_token=…&q=tea"),
        ("https://a.example/?X-Amz-Signature=abcdef0123#x", "https://a.example/?X-Amz-Signature=…#x"),
        ("https://a.example/b;jsessionid=ABCDEF0123", "https://a.example/b;jsessionid=…"),
        ("/?id=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "/?id=eyJhbG…"),
    ],
)
def test_secrets_are_hidden(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example:8080/x?q=tea",
        "https://[::1]:8080/x",
        "https://a.example/@me?page=2",
        "mail me@a.example",
        "https://a.example/?q=storm-lanterns-made-of-tin-and-brass-by-hand",
        "https://a.example/storm-lanterns-2021-0123456789abcdef0123456789abcdef",
        "max-age=31536000; includeSubDomains",
        "https://a.example/?key=tea",
    ],
)
def test_other_addresses_stay_as_they_are(text: str) -> None:
    assert without_secrets(text) == text
    assert plain(text) == text


def test_evidence_of_issues_hides_them() -> None:
    images = ["https://me:hunter2@a.example/lamp.png?token=0123456789"]
    issues = find_issues(site(page("/a", images_without_alt=images)))
    (evidence,) = issues.loc[issues["rule"] == "images_without_alt_attribute", "evidence"]
    assert evidence == "https://…@a.example/lamp.png?token=…"
