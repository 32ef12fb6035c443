"""An audit of 99 real saved pages, served on loopback."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import webanalytics as wa
from webanalytics.fetching.testing import Reply, SiteServer


def f_score(texts: dict[str, str], segments: dict[str, dict[str, Any]]) -> float:
    """Return the F-score over strings that a text must and must not hold."""
    found = missed = wrong = 0
    for name, expected in segments.items():
        hits = sum(part in texts[name] for part in expected["with"])
        found += hits
        missed += len(expected["with"]) - hits
        wrong += sum(part in texts[name] for part in expected["without"])
    precision, recall = found / (found + wrong), found / (found + missed)
    return 2 * precision * recall / (precision + recall)


def test_every_page_has_its_row_in_order(
    corpus_pages: dict[str, bytes],
    corpus_segments: dict[str, dict[str, Any]],
    corpus_metadata: dict[str, dict[str, Any]],
) -> None:
    html = {"Content-Type": "text/html"}
    with SiteServer(
        {f"/{name}": Reply(headers=html, body=body) for name, body in corpus_pages.items()}
    ) as server:
        urls = [f"{server.url}/{quote(name)}" for name in corpus_pages]
        frame = wa.audit(urls, allow_private=True, robots=False, per_host=32)
    assert frame.raw["url"].tolist() == urls
    assert frame.raw["status"].tolist() == ["ok"] * 99
    texts = dict(zip(corpus_pages, frame.raw["text"], strict=True))
    # 0.8988 is what the standard mode of trafilatura 2.3.1 reaches on these pages
    assert f_score(texts, corpus_segments) >= 0.8988
    titles = dict(zip(corpus_pages, frame.raw["title"], strict=True))
    same = sum(titles[name] == " ".join(read["title"].split()) for name, read in corpus_metadata.items())
    assert same >= 95
    assert frame.raw["wordCount"].gt(0).all()
    assert frame.raw["keywords"].map(len).gt(0).all()
