"""Draws every chart from the sample data, and photographs its report and its audit, for the README."""

from __future__ import annotations

import contextlib
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.text import Text
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import webanalytics as wa
from webanalytics.fetching.rendering.browser import executable
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.fetching.testing import sample_site
from webanalytics.notebook import charts

FOLDER = Path(__file__).parent / "charts"
DATA = Path(__file__).parents[1] / "data"


PORT = 8123
"""Where the sample site is served, as the pictures show it."""
SHOWS = "Shows"
"""Name of the text in a picture that says what it shows: a test compares it with what is said today."""
ROBOTS = """
User-agent: GPTBot
User-agent: CCBot
User-agent: meta-externalagent
Disallow: /

User-agent: Google-Extended
User-agent: ClaudeBot
Disallow: /blog/
Disallow: /docs/
Disallow: /news/

User-agent: *
Disallow: /offers/
"""
"""Made up, as that of the sample site does not tell crawlers apart."""
CHANGING = re.compile(r"\S*\d\S*")
"""Numbers and ports, which differ from run to run and from machine to machine."""


def shown(audit: wa.Audit) -> str:
    """Return what an audit says is to be fixed, without what differs between runs: ports, slow answers."""
    causes = audit.causes()
    lines = (
        causes.loc[causes["rule"] != "slow_response", ["priority", "cause"]].astype(str).agg(" ".join, axis=1)
    )
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1", "\n".join(sorted(lines)))


def photograph(page: Path, picture: Path, size: tuple[int, int], shows: str) -> None:
    """Write what a browser shows of a page, and what that is."""
    with TemporaryDirectory() as folder:
        made = Path(folder, "made.png")
        look = [f"--user-data-dir={folder}/profile", f"--screenshot={made}"]
        look += [f"--window-size={size[0]},{size[1]}", "--hide-scrollbars"]
        subprocess.run(  # noqa: S603 - a browser that is found, and files of ours
            [executable(), "--headless", "--no-sandbox", *look, page.as_uri()],
            check=True,
            capture_output=True,
            timeout=600,
        )
        about = PngInfo()
        about.add_text(SHOWS, shows)
        with Image.open(made) as image:
            image.convert("RGB").quantize(256).save(picture, pnginfo=about, optimize=True)


def pictures() -> None:
    """Take the pictures of the report and of an audit in a notebook."""
    with sample_site(port=PORT) as site, wa.option_context(allow_private=True, progress=False):
        audit = wa.audit(sitemap=site.sitemap)
        with TemporaryDirectory() as folder:
            report = audit.report(Path(folder, "report.html"))
            page = Path(folder, "audit.html")
            style = "<meta charset=utf-8><style>body { font: 15px sans-serif; margin: 1.5rem }</style>"
            page.write_text(f"{style}{audit._repr_html_()}", "utf-8")
            photograph(Path(report), FOLDER.parent / "report.png", (1400, 1250), shown(audit))
            photograph(page, FOLDER.parent / "audit.png", (1160, 900), shown(audit))


def chapters(audit: wa.Audit) -> None:
    """Take the picture of what a report says of search results, and nothing else of it."""
    hidden = "header, footer, .filtered, main > :not([aria-labelledby=search])"
    with TemporaryDirectory() as folder:
        page = Path(audit.report(Path(folder, "report.html")))
        text = re.sub(r"<meta http-equiv[^>]*>", "", page.read_text("utf-8"))  # which allows no further style
        page.write_text(
            text.replace("</head>", f"<style>{hidden} {{ display: none }}</style></head>"), "utf-8"
        )
        photograph(page, FOLDER.parent / "report-search.png", (1200, 840), "")


def words(axes: Axes) -> str:
    """Return the words of a chart, without what differs between runs."""
    texts = (text.get_text() for text in axes.figure.findobj(Text))
    return " ".join(sorted(" ".join(CHANGING.sub("", text) for text in texts).split()))


def main() -> None:
    """Write one PNG for each chart, and the pictures."""
    pictures()
    FOLDER.mkdir(exist_ok=True)
    made, searched = drawn()
    chapters(searched)
    for name, axes in made.items():
        axes.figure.savefig(FOLDER / f"{name}.png", metadata={SHOWS: words(axes)})


def drawn() -> tuple[dict[str, Axes], wa.Audit]:
    """Draw every chart, and return them by name, with the crawl whose search data the report tells."""
    with sample_site() as site, wa.option_context(allow_private=True, progress=False):
        audit = wa.audit(site.pages)
        crawl = wa.crawl(site.url, workers=2)
        pages = audit.pages
        keywords = wa.keywords(pages.loc[pages["language"] == "en", "url"])  # compared within one language
    depths = crawl.pages["crawl_depth"].fillna(5).astype(float).rank(method="first")
    clicks = pd.DataFrame({"url": crawl.pages["url"], "clicks": (900 / depths).round()})  # made up
    clicks["impressions"], clicks["position"] = clicks["clicks"] * 20 + 5, depths.pow(0.8)
    searched = crawl.with_search_data(clicks.drop_duplicates("url"))
    robots = {origin: RobotsCopy(ROBOTS, 200) for origin in audit.origin.robots_files}
    told_apart = replace(audit.origin, robots_files=robots)
    with contextlib.chdir(DATA / "site" / "images"):  # so that names alone are shown
        images = wa.convert(sorted(Path().glob("*.[jp][pn]g")), "webp", progress=False)
    dane = wa.dane(pd.read_csv(DATA / "tlsa-records.csv"), column="record", progress=False)
    phones = wa.phones(pd.read_csv(DATA / "phones.csv", dtype=str)["phone"], progress=False)
    made = {
        "clicks_by_cause": charts.clicks_by_cause(searched),
        "pages_against": charts.pages_against(searched, x="content_words", y="position"),
        "crawler_access": charts.crawler_access(wa.Audit(audit.raw, told_apart)),
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
    assert set(made) == set(charts.__all__)  # noqa: S101 - a script: none may be forgotten
    for axes in made.values():
        axes.figure.draw_without_rendering()  # which makes the words of the scales
    return made, searched


if __name__ == "__main__":
    main()
