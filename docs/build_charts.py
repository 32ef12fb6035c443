"""Draws every chart from the sample data into a folder beside this file, for the README."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pandas as pd

import webanalytics as wa
from webanalytics.fetching.testing import sample_site
from webanalytics.notebook import charts

FOLDER = Path(__file__).parent / "charts"
DATA = Path(__file__).parents[1] / "data"


def main() -> None:
    """Write one PNG for each chart."""
    FOLDER.mkdir(exist_ok=True)
    with sample_site() as site, wa.option_context(allow_private=True, progress=False):
        audit = wa.audit(site.pages)
        crawl = wa.crawl(site.url, workers=2)
        pages = audit.pages
        keywords = wa.keywords(pages.loc[pages["language"] == "en", "url"])  # compared within one language
    depths = crawl.pages["crawl_depth"].fillna(5).astype(float).rank(method="first")
    clicks = pd.DataFrame({"url": crawl.pages["url"], "clicks": (900 / depths).round()})  # made up
    clicks["impressions"], clicks["position"] = clicks["clicks"] * 20 + 5, depths.pow(0.8)
    searched = crawl.with_search_data(clicks.drop_duplicates("url"))
    with contextlib.chdir(DATA / "site" / "images"):  # so that names alone are shown
        images = wa.convert(sorted(Path().glob("*.[jp][pn]g")), "webp", progress=False)
    dane = wa.dane(pd.read_csv(DATA / "tlsa-records.csv"), column="record", progress=False)
    phones = wa.phones(pd.read_csv(DATA / "phones.csv", dtype=str)["phone"], progress=False)
    drawn = {
        "clicks_by_cause": charts.clicks_by_cause(searched),
        "pages_against": charts.pages_against(searched, x="content_words", y="position"),
        "crawler_access": charts.crawler_access(audit.ai_sections()),
        "crawl_depth": charts.crawl_depth(crawl),
        "site_map": charts.site_map(crawl),
        "link_flow": charts.link_flow(crawl),
        "keywords": charts.keywords(keywords),
        "keyword_heatmap": charts.keyword_heatmap(keywords),
        "readability": charts.readability(audit),
        "readability_distribution": charts.readability_distribution(audit),
        "reading_time": charts.reading_time(audit),
        "words": charts.words(audit),
        "text_lengths": charts.text_lengths(pages.head(32)),
        "image_sizes": charts.image_sizes(images),
        "issues_by_priority": charts.issues_by_priority(audit),
        "issues_by_section": charts.issues_by_section(audit),
        "tlsa_security": charts.tlsa_security(dane),
        "disposable_by_country": charts.disposable_by_country(phones),
        "disposable_by_month": charts.disposable_by_month(phones),
    }
    assert set(drawn) == set(charts.__all__)  # noqa: S101 - a script: none may be forgotten
    for name, axes in drawn.items():
        axes.figure.savefig(FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
