"""Every rule about single pages: a page that triggers it, and one at its very limit that does not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.issues import find_issues
from webanalytics.audits.pages import derived
from webanalytics.audits.rules import (
    RULES,
    accessibility,
    content,
    description,
    directives,
    head,
    headings,
    html,
    images,
    link_elements,
    rules,
    social,
    structured,
    title,
    url,
)
from webanalytics.audits.site import Site

FILES = (
    *(title, description, headings, url, images, content, structured, social, html),
    *(accessibility, directives, head, link_elements),
)
PAGE_RULES = {rule.name for file in FILES for rule in file.RULES}

PLAIN = (
    "The keeper lit the lamp at dusk. He filled the tin with oil and cut the wick. "
    "A storm came in from the sea that night. The boats ran home as fast as they could. "
    "The light was bright and they all saw it. One boat was late and the wind was strong. "
    "The keeper rang the bell again and again. At last the men heard it and turned the boat. "
    "They came into the harbour wet and cold. The baker gave them warm bread and hot tea. "
    "The next day the sky was clear and blue. The keeper went down to the shore to look. "
    "He found a rope, a box and a broken oar. The men were glad to see him there. "
    "They gave him a fish for his good work. He cooked it on the fire with salt and herbs. "
    "His dog sat by the door and watched him eat. When he was full he gave the dog the rest. "
    "Then he cleaned the glass of the lamp with a soft cloth. It has to shine before the sun goes down. "
    "This is how each day goes by on the small island. In the spring the birds come back to the cliff. "
    "They make so much noise that he can hardly sleep. Still he would not live in any other place."
)
HARD = (
    "Several cities are now discussing new rules for the building of large houses near the old harbour. "
    "Many experts consider the proposal fair, although a number of important questions remain open. "
    "Local people expect a decision on the matter before the next general election in the capital. "
) * 3
HARDEST = (
    "Epistemological considerations regarding methodological individualism necessitate comprehensive "
    "interdisciplinary investigation of organisational responsibilities. Institutional heterogeneity "
    "systematically complicates quantitative generalisations concerning macroeconomic destabilisation. "
) * 3
GERMAN = (
    "Der Leuchtturm steht seit vielen Jahren auf einer kleinen Insel vor der Küste. Der Wärter füllt jeden "
    "Abend das Öl nach und putzt das Glas der Lampe. In der Nacht kam ein Sturm, und die Boote fanden nur "
    "durch das Licht den Weg zurück in den Hafen. Am nächsten Morgen war der Himmel wieder klar und blau."
)
SOCIAL = {
    "og:title": "Storm lanterns",
    "og:type": "website",
    "og:url": "https://example.org/lanterns",
    "og:image": "https://example.org/lantern.png",
    "twitter:card": "summary",
}
STRUCTURED = '{"@context": "https://schema.org", "@type": "WebPage", "name": "Lanterns"}'


def page(
    *,
    title: str | None = "Storm lanterns of tin and brass",
    description: str | None = "Storm lanterns of tin and brass, made by hand on our small island since 1921.",
    head: str = "",
    lang: str = ' lang="en"',
    viewport: str | None = "width=device-width, initial-scale=1",
    charset: str = "utf-8",
    icon: bool = True,
    social: dict[str, str] | None = None,
    structured: str = STRUCTURED,
    headings: str = "<h1>The keeper of the lamp</h1>",
    after: str = "<h2>One night</h2>",
    text: str = PLAIN,
) -> str:
    """A page without a fault; each argument changes one part of it."""
    parts = [f'<meta charset="{charset}">'] if charset else []
    if title is not None:
        parts.append(f"<title>{title}</title>")
    if description is not None:
        parts.append(f'<meta name="description" content="{description}">')
    if viewport is not None:
        parts.append(f'<meta name="viewport" content="{viewport}">')
    if icon:
        parts.append('<link rel="icon" href="/favicon.ico">')
    tags = SOCIAL if social is None else social
    parts += [f'<meta property="{name}" content="{value}">' for name, value in tags.items()]
    if structured:
        parts.append(f'<script type="application/ld+json">{structured}</script>')
    return (
        f"<!doctype html><html{lang}><head>{''.join(parts)}{head}</head>"
        f"<body><main><article>{headings}{after}<p>{text}</p></article></main></body></html>"
    )


def social_without(*names: str) -> dict[str, str]:
    return {name: value for name, value in SOCIAL.items() if name not in names}


def linked(data: dict[str, Any]) -> str:
    return json.dumps({"@context": "https://schema.org", **data})


def image(attributes: str) -> str:
    return page(after=f"<h2>One night</h2><img {attributes}>")


def beside(markup: str) -> str:
    """A page with something more in its text."""
    return page(after=f"<h2>One night</h2>{markup}")


def robots(*contents: str) -> str:
    return page(head="".join(f'<meta name="robots" content="{content}">' for content in contents))


def words(count: int) -> str:
    """A text of so many words, the page's own headings among them: `page` has none here."""
    return " ".join([*PLAIN.split()[: count - 1], "end."])


@dataclass(frozen=True)
class Case:
    """A rule, a page with its fault and one that just has it not; addresses and values of columns too."""

    rule: str
    fault: str = field(default_factory=page)
    near: str = field(default_factory=page)
    fault_url: str = ""
    near_url: str = ""
    fault_cells: dict[str, Any] = field(default_factory=dict)
    near_cells: dict[str, Any] = field(default_factory=dict)
    value: float | None = None
    evidence: str = ""


# Arial's advance widths, in thousandths of its size: a digit 556, c and v 500, i 222, t 278, r 333.
CASES = (
    Case("title_missing", page(title=""), page(title="T")),
    Case(
        "title_too_long",
        page(title="0" * 50 + "t"),
        page(title="0" * 50 + "i"),
        value=562,
        evidence="51 characters: 000",
    ),
    Case("title_too_short", page(title="0" * 17 + "c"), page(title="0" * 18), value=199),
    Case(
        "title_same_as_h1",
        page(title="The Keeper of the Lamp"),
        page(title="The keeper of the lamp, a tale"),
        evidence="The keeper of the lamp",
    ),
    Case(
        "title_multiple",
        page(head="<title>Second</title>"),
        page(after="<svg><title>A drawing's title</title></svg>"),
        value=2,
        evidence="Second",
    ),
    Case(
        "title_outside_head",
        page(title=None, after="<title>Storm lanterns</title>"),
        page(after="<svg><title>A drawing's title</title></svg>"),
    ),
    Case("description_missing", page(description=None), page(description="D")),
    Case(
        "description_too_long",
        page(description="0" * 126 + "r"),
        page(description="0" * 126 + "t"),
        value=986,
    ),
    Case(
        "description_too_short",
        page(description="0" * 50 + "vi"),
        page(description="0" * 51 + "i"),
        value=399,
    ),
    Case(
        "description_multiple",
        page(head='<meta name="description" content="Second">'),
        page(head='<meta property="og:description" content="Second">'),
        value=2,
    ),
    Case(
        "description_outside_head",
        page(description=None, after='<meta name="description" content="Late">'),
        page(after='<meta name="rating" content="Late">'),
    ),
    Case("h1_missing", page(headings="<h1> </h1>"), page(headings="<h1>A</h1>"), evidence="h1 without text"),
    Case(
        "h1_multiple",
        page(headings="<h1>First</h1><h1>Second</h1>"),
        page(headings="<h1>First</h1><h1> </h1>"),
        value=2,
        evidence="First | Second",
    ),
    Case(
        "h1_too_long",
        page(headings=f"<h1>{'i' * 71}</h1>"),
        page(headings=f"<h1>{'i' * 70}</h1>"),
        value=71,
    ),
    Case(
        "h1_not_first",
        page(headings="<h2>Before</h2><h1>Main</h1>"),
        page(headings="<p>Before</p><h1>Main</h1>"),
        evidence="h2 Before",
    ),
    Case("h2_missing", page(after="<h3>Part</h3>"), page(after="<h2>Part</h2>")),
    Case("h2_multiple", page(after="<h2>A</h2><h2>B</h2>"), page(after="<h2>A</h2><h3>B</h3>"), value=2),
    Case("h2_too_long", page(after=f"<h2>{'i' * 71}</h2>"), page(after=f"<h2>{'i' * 70}</h2>"), value=71),
    Case(
        "headings_not_sequential",
        page(after="<h2>A</h2><h4>B</h4>"),
        page(after="<h2>A</h2><h3>B</h3><h4>C</h4><h2>D</h2>"),
        value=1,
        evidence="h2 A | h4 B",
    ),
    Case(
        "url_too_long",
        fault_url="https://example.org/" + "a" * 96,
        near_url="https://example.org/" + "a" * 95,
        value=116,
    ),
    Case("url_with_space", fault_url="https://example.org/a%20b", near_url="https://example.org/a-b+c"),
    Case(
        "url_upper_case",
        fault_url="https://example.org/Lamps",
        near_url="https://example.org/l%C3%A4mps?Q=A",
        evidence="/Lamps",
    ),
    Case("url_underscores", fault_url="https://example.org/a_b", near_url="https://example.org/a-b?c_d=1"),
    Case(
        "url_parameters",
        fault_url="https://example.org/list?page=2",
        near_url="https://example.org/list/2?",
        evidence="page=2",
    ),
    Case(
        "url_not_ascii",
        fault_url="https://example.org/l%C3%A4mps-2",
        near_url="https://example.org/l%61mps-2",
        evidence="lämps",
    ),
    Case("url_repeated_slashes", fault_url="https://example.org/a//b", near_url="https://example.org/a/b/"),
    Case(
        "url_repeated_path",
        fault_url="https://example.org/shop/tin/shop/tin/x",
        near_url="https://example.org/shop/tin/shop/2024/01/01/x",
        evidence="/shop/tin/shop/tin/",
    ),
    Case(
        "images_too_large",
        fault_cells={"imageBytes": {"/a.png": 100_001, "/b.png": 250_000, "/c.png": 5}},
        near_cells={"imageBytes": {"/a.png": 100_000, "/b.png": None}},
        value=250,
        evidence="/b.png (250 kB) | /a.png (100 kB)",
    ),
    Case(
        "images_without_alt_attribute",
        image('src="/a.png" width="9" height="9"'),
        image('src="/a.png" width="9" height="9" alt=""'),
        value=1,
        evidence="https://example.org/a.png",
    ),
    Case(
        "images_without_alt_text",
        image('src="/a.png" width="9" height="9" alt=" "'),
        image('src="/a.png" width="9" height="9" alt="" role="presentation"'),
        value=1,
        evidence="https://example.org/a.png",
    ),
    Case(
        "images_alt_too_long",
        image(f'src="/a.png" width="9" height="9" alt="{"a" * 101}"'),
        image(f'src="/a.png" width="9" height="9" alt="{"a" * 100}"'),
        value=101,
    ),
    Case(
        "images_without_size",
        image('src="/a.png" alt="A" width="9"'),
        image('src="/a.png" alt="A" width="9" height="9"'),
        value=1,
    ),
    Case("content_empty", page(headings="", after="", text=""), page(text="A lamp.")),
    Case(
        "content_low",
        page(headings="", after="", text=words(199)),
        page(headings="", after="", text=words(200)),
        value=199,
    ),
    Case("readability_difficult", page(text=HARD), page(text=HARDEST), evidence="Difficult"),
    Case("readability_very_difficult", page(text=HARDEST), page(text=HARD)),
    Case(
        "lorem_ipsum",
        page(text=f"{PLAIN} Lorem ipsum dolor sit amet."),
        page(text=f"{PLAIN} The florem ipsum is no flower."),
        evidence="Lorem ipsum dolor",
    ),
    Case(
        "language_differs",
        page(text=GERMAN, headings="", after=""),
        page(text=GERMAN, headings="", after="", lang=' lang="de-AT"'),
        evidence="declared en, written in de",
    ),
    Case(
        "structured_data_broken",
        page(structured='{"@type": "WebPage",}'),
        page(structured="<!-- " + STRUCTURED + " -->"),
        value=1,
        evidence="block 1 is not valid JSON",
    ),
    Case(
        "structured_data_incomplete",
        page(structured=linked({"@type": "Recipe", "name": "Tea"})),
        page(structured=linked({"@type": "Recipe", "name": "Tea", "image": "/tea.png"})),
        value=1,
        evidence="Recipe: image is missing",
    ),
    Case(
        "structured_data_recommended",
        page(structured=linked({"@type": "ImageObject", "url": "/a.png", "license": "/b"})),
        page(structured=linked({"@type": "ImageObject", "url": "/a.png"})),
        value=4,
        evidence="creditText",
    ),
    Case(
        "structured_data_invalid",
        page(structured=linked({"@type": "WebPage", "datePublished": "22.11.2026"})),
        page(structured=linked({"@type": "WebPage", "datePublished": "2026-11-22"})),
        value=1,
        evidence='WebPage: datePublished "22.11.2026" is not an ISO 8601 date',
    ),
    Case(
        "structured_data_unknown",
        page(structured=linked({"@type": "product", "Pricecurrency": "EUR"})),
        page(structured=linked({"@type": "WebPage", "gr:name": "A"})),
        value=2,
        evidence="did you mean priceCurrency?",
    ),
    Case("structured_data_missing", page(structured=""), page()),
    Case("open_graph_missing", page(social=social_without(*SOCIAL)), page(social={"og:type": "website"})),
    Case(
        "open_graph_incomplete",
        page(social=social_without("og:type", "og:url")),
        page(social=social_without(*SOCIAL)),
        value=2,
        evidence="og:type, og:url",
    ),
    Case("open_graph_image_missing", page(social=social_without("og:image")), page()),
    Case("social_card_missing", page(social=social_without("twitter:card")), page()),
    Case(
        "social_card_without_image",
        page(social=social_without("og:image")),
        page(social={**social_without("og:image"), "twitter:image": "/lantern.png"}),
        evidence="summary",
    ),
    Case("viewport_missing", page(viewport=None), page(viewport="width=1")),
    Case("viewport_without_width", page(viewport="user-scalable=yes"), page(viewport="initial-scale=1")),
    Case(
        "viewport_blocks_zoom",
        page(viewport="width=device-width, maximum-scale=1"),
        page(viewport="width=device-width, maximum-scale=10, user-scalable=yes"),
    ),
    Case(
        "charset_missing",
        fault_cells={"declaredCharset": ""},
        near_cells={"declaredCharset": "", "content_type": "text/html; charset=utf-8"},
    ),
    Case("charset_not_utf8", page(charset="iso-8859-2"), page(charset="UTF-8"), evidence="iso-8859-2"),
    Case("lang_missing", page(lang=""), page(lang=' lang="en"')),
    Case("lang_invalid", page(lang=' lang="en_GB"'), page(lang=' lang="en-GB"'), evidence="en_GB"),
    Case(
        "meta_refresh",
        page(head='<meta http-equiv="refresh" content="5; url=/next">'),
        page(head='<meta name="refresh" content="5; url=/next">'),
        evidence="5; url=/next",
    ),
    Case(
        "meta_refresh_redirect",
        page(head='<meta http-equiv="refresh" content="0; url=/next">'),
        page(head='<meta http-equiv="refresh" content="5; url=/next">'),
        evidence="0; url=/next",
    ),
    Case("favicon_missing", page(icon=False), page(icon=True)),
    Case(
        "links_without_name",
        beside('<a href="/tin"><img src="/a.png" alt="" width="9" height="9"></a>'),
        beside('<a href="/tin"><svg><title>Tin</title></svg></a><a href="/x" hidden></a>'),
        value=1,
        evidence="/tin (img)",
    ),
    Case(
        "links_generic_text",
        beside('<a href="/tin">Read more »</a>'),
        beside(
            '<a href="/tin" aria-label="Read more on tin">Read more</a><a href="#x">more</a>'
            '<a href="/tin">Read more on tin</a>'
        ),
        value=1,
        evidence='"Read more »" /tin',
    ),
    Case(
        "links_not_crawlable",
        beside('<a onclick="go()">Tin</a><a href="javascript:void(0)">Oil</a>'),
        beside('<a name="tin">Tin</a><a href="javascript:;" role="button">Oil</a><a href="#">Up</a>'),
        value=2,
        evidence='Tin (no href) | Oil (href="javascript:void(0)")',
    ),
    Case(
        "internal_nofollow",
        beside('<a href="/tin" rel="NoFollow noopener">Tin</a>'),
        beside('<a href="https://other.example/" rel="nofollow">Tin</a><a href="#a" rel="nofollow">A</a>'),
        value=1,
        evidence="https://example.org/tin",
    ),
    Case(
        "links_to_http",
        beside('<a href="http://example.org/tin">Tin</a>'),
        beside('<a href="http://other.example/tin">Tin</a><a href="//example.org/tin">Tin</a>'),
        value=1,
        evidence="http://example.org/tin",
    ),
    Case(
        "fields_without_label",
        beside('<input name="q"><label for="b"> </label><select id="b"></select>'),
        beside(
            '<label>Tin <input></label><label for="c">Oil</label><textarea id="c"></textarea>'
            '<input aria-label="Wick"><input type="submit"><div style="display: none"><input></div>'
        ),
        value=2,
        evidence='<input name="q"> | <select id="b">',
    ),
    Case(
        "fields_with_placeholder_only",
        beside('<input name="q" placeholder="Search">'),
        beside('<input name="q" placeholder="Search" title="Search">'),
        value=1,
        evidence='<input name="q"> with the placeholder Search',
    ),
    Case(
        "buttons_without_name",
        beside('<button class="x"><svg></svg></button><input type="button">'),
        beside('<button><img src="/a.png" alt="Tin" width="9" height="9"></button><input type="submit">'),
        value=2,
        evidence='<button class="x">',
    ),
    Case(
        "iframes_without_title",
        beside('<iframe src="/map"></iframe>'),
        beside('<iframe src="/map" title="Map"></iframe><iframe src="/pixel" aria-hidden="true"></iframe>'),
        value=1,
        evidence="/map",
    ),
    Case(
        "duplicate_ids_used",
        beside('<p id="a">A</p><p id="a">B</p><p aria-labelledby="b a">C</p>'),
        beside('<p id="a">A</p><p id="A">B</p><p aria-labelledby="a">C</p>'),
        value=1,
        evidence="a",
    ),
    Case(
        "duplicate_ids",
        beside('<p id="a">A</p><p id="a">B</p>'),
        beside('<p id="b">A</p><p id="B">B</p>'),
        value=1,
        evidence="a",
    ),
    Case(
        "headings_empty",
        beside("<h3> <span></span></h3>"),
        beside('<h3><img src="/a.png" alt="Tin" width="9" height="9"></h3><h3 hidden></h3>'),
        value=1,
        evidence="h3",
    ),
    Case(
        "tabindex_positive",
        beside('<p tabindex="1">A</p>'),
        beside('<p tabindex="0">A</p><p tabindex="-1">B</p>'),
        value=1,
        evidence="<p>",
    ),
    Case("doctype_missing", page().replace("<!doctype html>", ""), "<!-- x -->\n" + page()),
    Case(
        "charset_late",
        page().replace("<meta charset", f"<!-- {'x' * 1_000} --><meta charset"),
        page().replace("<meta charset", f"<!-- {'x' * 900} --><meta charset"),
        evidence="utf-8",
    ),
    Case(
        "head_multiple",
        page(head="</head><head>"),
        page(head="<!-- <head> --><script>'<head>'</script>"),
        value=2,
    ),
    Case(
        "head_ended_early",
        page(head="<div>x</div>"),
        page(head="<script>'<div>'</script><style>a</style><noscript><p>x</p></noscript><!-- <p> -->"),
        evidence="<div>",
    ),
    Case(
        "robots_outside_head",
        beside('<meta name="robots" content="index">'),
        robots("index"),
        evidence="robots after the end of the head",
    ),
    Case(
        "title_same_as_description",
        page(title="Storm lanterns of tin", description="Storm  Lanterns of tin"),
        page(title="Storm lanterns of tin", description="Storm lanterns of tin."),
    ),
    Case(
        "images_alt_file_name",
        image('src="/a.png" width="9" height="9" alt="tin-lamp.JPG"'),
        image('src="/a.png" width="9" height="9" alt="The tin lamp.jpg is old"'),
        value=1,
        evidence="tin-lamp.JPG",
    ),
    Case(
        "h1_only_image",
        page(headings='<h1><img src="/a.png" alt="Keeper" width="9" height="9"></h1>'),
        page(headings='<h1>The <img src="/a.png" alt="Keeper" width="9" height="9"></h1>'),
        value=1,
        evidence="Keeper",
    ),
    Case(
        "og_url_differs",
        page(social={**SOCIAL, "og:url": "https://example.org/tin"}),
        page(),
        evidence="og:url https://example.org/tin",
    ),
    Case(
        "open_graph_image_relative",
        page(social={**SOCIAL, "og:image": "//example.org/lantern.png"}),
        page(social={**SOCIAL, "og:image": "HTTPS://example.org/lantern.png"}),
        value=1,
        evidence="//example.org/lantern.png",
    ),
    Case(
        "directives_conflict",
        robots("index, follow", "NOINDEX"),
        robots("index, nofollow"),
        value=1,
        evidence="index and noindex",
    ),
    Case("nosnippet", robots("nosnippet"), robots("max-snippet:20")),
    Case("max_snippet_zero", robots("index, max-snippet: 0"), robots("max-snippet:-1, max-video-preview:0")),
    Case("noimageindex", robots("noimageindex"), robots("max-image-preview:none")),
    Case("noarchive", robots("noarchive"), robots("nocache")),
)


def address(case: Case, kind: str) -> str:
    given = case.fault_url if kind == "fault" else case.near_url
    return given or f"https://example.org/{case.rule.replace('_', '-')}/{kind}"


@pytest.fixture(scope="module")
def issues() -> pd.DataFrame:
    """The issues of all pages of the table, read as pages of a site are."""
    rows = [("https://example.org/good", page(), {})]
    for case in CASES:
        rows.append((address(case, "fault"), case.fault, case.fault_cells))
        rows.append((address(case, "near"), case.near, case.near_cells))
    rows = [(url, html.replace(f'{SOCIAL["og:url"]}"', f'{url}"'), cells) for url, html, cells in rows]
    given = pd.DataFrame({"url": [row[0] for row in rows], "html": [row[1] for row in rows]})
    pages = derived(pd.DataFrame(wa.audit(given)), near_duplicates=None)
    assert pages["status"].eq("ok").all()
    assert pages["url"].is_unique
    for column, default in (("imageBytes", {}), ("declaredCharset", "utf-8"), ("content_type", "")):
        pages[column] = pd.Series([row[2].get(column, default) for row in rows], dtype=object)
    found = find_issues(Site(pages))
    assert found.attrs["webanalytics"]["rules_failed"] == []
    return found[found["rule"].isin(PAGE_RULES)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_rule_speaks_of_the_page_with_the_fault_and_not_of_the_other(
    case: Case, issues: pd.DataFrame
) -> None:
    own = issues[issues["rule"] == case.rule].set_index("url")
    assert address(case, "near") not in own.index
    issue = own.loc[address(case, "fault")]
    assert case.evidence in issue["evidence"]
    if case.value is None:
        assert pd.isna(issue["value"]) or RULES[case.rule].threshold is not None
    else:
        assert issue["value"] == case.value


def test_a_good_page_has_no_issue(issues: pd.DataFrame) -> None:
    assert issues.loc[issues["url"] == "https://example.org/good", "rule"].tolist() == []


def test_the_table_has_every_rule_about_single_pages_once() -> None:
    assert sorted(case.rule for case in CASES) == sorted(PAGE_RULES)


LIMITS = (
    ("readability_difficult", "fleschReadingEase", 49.99, 50.0),
    ("readability_difficult", "fleschReadingEase", 30.0, 29.99),
    ("readability_very_difficult", "fleschReadingEase", 29.99, 30.0),
    ("content_low", "wordCount", 199, 200),
    ("content_low", "wordCount", 1, 0),
    ("title_too_short", "titlePixels", 1, 0),
    ("title_too_long", "titlePixels", 562, 561),
    ("url_too_long", "urlLength", 116, 115),
)


@pytest.mark.parametrize(("rule", "column", "fault", "near"), LIMITS)
def test_limits_are_met_exactly(rule: str, column: str, fault: float, near: float) -> None:
    site = Site(pd.DataFrame({"status": ["ok", "ok"], column: [near, fault]}))
    found = list(RULES[rule].find(site, RULES[rule].threshold))
    assert [(finding.row, finding.value) for finding in found] == [(1, fault)]


def test_many_narrow_letters_are_no_long_title_and_few_wide_ones_are() -> None:
    """Search engines cut by pixels: a width has one issue, whatever the number of characters."""
    titles = {"narrow": "i" * 61, "wide": "W" * 40}
    frame = pd.DataFrame({"url": list(titles), "html": [f"<title>{title}" for title in titles.values()]})
    issues = wa.audit(frame, progress=False).issues
    about = issues[issues["rule"].str.startswith("title_too")]
    assert about[["url", "rule", "evidence"]].values.tolist() == [
        ["wide", "title_too_long", f"40 characters: {'W' * 40}"]
    ]


@pytest.mark.parametrize(
    ("declared", "detected", "differs"),
    [
        ("nb-NO", "no", False),
        ("iw", "he", False),
        ("sr-Latn", "hr", False),
        ("EN_us", "en", False),
        ("gsw", "de", False),
        ("pt", "es", True),
        ("", "es", False),
        ("en", "", False),
    ],
)
def test_languages_that_are_one_or_easily_mixed_up_do_not_differ(
    declared: str, detected: str, differs: bool
) -> None:
    cells = {"status": ["ok"], "lang": [declared], "language": [detected], "text": ["a" * 300]}
    found = list(RULES["language_differs"].find(Site(pd.DataFrame(cells)), None))
    assert bool(found) == differs


@pytest.mark.parametrize(
    ("words", "sentences", "judged"), [(120, 3, True), (120, 2, False), (123, 3, False), (0, 0, False)]
)
def test_a_main_text_without_sentences_is_not_judged(words: int, sentences: int, judged: bool) -> None:
    cells = {"status": "ok", "wordCount": words, "sentenceCount": sentences, "fleschReadingEase": 10.0}
    cells |= {"lang": "en", "language": "de", "text": "Ein Wort nach dem andern. " * 20}
    site = Site(pd.DataFrame([cells]))
    for rule in ("content_low", "readability_very_difficult", "language_differs"):
        assert bool(list(RULES[rule].find(site, RULES[rule].threshold))) is judged


@pytest.mark.parametrize(
    ("scale", "score", "rule", "value"),
    [
        ("LIX (Björnsson 1968, Swedish)", 55.0, "readability_difficult", 40.0),
        ("LIX (Björnsson 1968, Swedish)", 61.0, "readability_very_difficult", 27.0),
        ("Flesch reading ease (Martins et al. 1996, Portuguese)", 42.5, "readability_difficult", 42.5),
        ("Gunning fog index (words of four syllables, Polish)", 14.5, "readability_difficult", 40.0),
        ("LIX (Björnsson 1968, Swedish)", 49.9, None, None),
        ("a scale of another version", 99.0, None, None),
    ],
)
def test_difficulty_goes_by_the_scale_of_the_language(
    scale: str, score: float, rule: str | None, value: float | None
) -> None:
    cells = {"status": "ok", "wordCount": 300, "sentenceCount": 20, "fleschReadingEase": None}
    site = Site(pd.DataFrame([{**cells, "readabilityScore": score, "readabilityScale": scale}]))
    for name in ("readability_difficult", "readability_very_difficult"):
        found = list(RULES[name].find(site, RULES[name].threshold))
        assert [finding.value for finding in found] == ([value] if name == rule else [])
        assert all(scale in finding.evidence for finding in found)


def test_evidence_of_another_language_is_its_longest_line() -> None:
    text = "Jane Doe, staff writer\n" + "Der Zug nach Norden fährt jeden Morgen um acht Uhr ab. " * 6
    cells = {"status": ["ok"], "lang": ["en"], "language": ["de"], "text": [text]}
    (finding,) = RULES["language_differs"].find(Site(pd.DataFrame(cells)), None)
    assert finding.evidence.startswith("declared en, written in de: Der Zug")


def test_texts_without_spaces_between_words_are_not_called_short() -> None:
    site = Site(pd.DataFrame({"status": ["ok"] * 2, "wordCount": [3, 3], "language": ["ja", "en"]}))
    assert [finding.row for finding in RULES["content_low"].find(site, 200)] == [1]


@pytest.mark.parametrize(
    ("viewport", "blocks"),
    [
        ("user-scalable=no", True),
        ("USER-SCALABLE = 0", True),
        ("maximum-scale=1.0", True),
        ("maximum-scale=1.5", True),
        ("maximum-scale=2", False),
        ("user-scalable=1", False),
        ("minimum-scale=1", False),
    ],
)
def test_what_keeps_people_from_zooming(viewport: str, blocks: bool) -> None:
    site = Site(pd.DataFrame({"status": ["ok"], "viewport": [viewport]}))
    assert bool(list(RULES["viewport_blocks_zoom"].find(site, None))) == blocks


def test_pages_that_were_not_read_are_left_alone() -> None:
    pages = derived(wa.audit(pd.DataFrame({"url": ["https://example.org/a"], "html": [None]})))
    assert pages["status"].tolist() == ["error"]
    found = find_issues(Site(pages))
    assert found[found["rule"].isin(PAGE_RULES - {rule.name for rule in url.RULES})].empty


def test_the_frame_of_rules_lists_every_rule_once() -> None:
    listed = rules()
    assert listed["name"].tolist() == list(RULES)
    assert listed["name"].is_unique
    assert (listed["threshold"].notna() == listed["unit"].ne("")).all()
    assert listed["threshold"].dtype == "float64"


@pytest.mark.parametrize("name", sorted(PAGE_RULES))
def test_a_rule_is_told_in_plain_sentences(name: str) -> None:
    rule = RULES[name]
    assert rule.name == name == name.lower()
    assert rule.columns
    for text in (rule.explanation, rule.fix):
        assert text.endswith(".")
        assert 20 < len(text) < 260
        assert "  " not in text


@pytest.mark.parametrize(
    ("lang", "valid"),
    [
        ("english", False),
        ("xx", False),
        ("deutsch", False),
        ("iw", True),
        ("haw", True),
        ("zh-Hant-TW", True),
    ],
)
def test_a_language_is_looked_up_in_the_registry(lang: str, valid: bool) -> None:
    found = list(RULES["lang_invalid"].find(Site(pd.DataFrame({"status": ["ok"], "lang": [lang]})), None))
    assert bool(found) != valid


@pytest.mark.parametrize(
    ("content", "redirects"),
    [
        ("0;url=/b", True),
        ("0; /b", True),
        ("0, url=/b", True),
        (".5;/b", True),
        ("0", False),
        ("30;/b", False),
    ],
)
def test_a_meta_refresh_within_a_second_is_a_redirect(content: str, redirects: bool) -> None:
    site = Site(pd.DataFrame({"status": ["ok"], "refresh": [content]}))
    rules = ("meta_refresh", "meta_refresh_redirect")
    assert [len(list(RULES[name].find(site, None))) for name in rules] == [int(not redirects), int(redirects)]


def test_a_canonical_in_the_body_is_not_obeyed() -> None:
    html = {
        "head": '<head><link rel=canonical href="/b"></head><body><p>Tea',
        "body": '<head></head><body><p>Tea<link rel=canonical href="/b">',
        "ended": '<head><title>Tea</title><p>ends the head<link rel=canonical href="/b"></head>',
    }
    urls = [f"https://a.example/{name}" for name in html]
    audit = wa.audit(pd.DataFrame({"url": urls, "html": list(html.values())}), progress=False)
    assert audit.pages["canonicalState"].tolist() == ["other", "missing", "missing"]
    outside = audit.issues.loc[audit.issues["rule"] == "canonical_outside_head", "url"]
    assert outside.tolist() == urls[1:]


def test_a_saved_file_is_not_judged_by_an_address_that_it_does_not_have(tmp_path: Path) -> None:
    html = '<!doctype html><title>Tea</title><link rel=canonical href="https://a.example/tea"><a href="/cups">Cups</a>'
    file = tmp_path / "tea.html"
    file.write_text(html)
    urls = ["https://a.example/other"]
    named = wa.audit(
        pd.DataFrame({"url": urls, "html": [html.replace('<a href="/cups">Cups</a>', "")]}), progress=False
    )
    saved = wa.audit([file], progress=False)
    rules = {"no_internal_links", "canonicalised"}
    assert rules <= set(named.issues["rule"])
    assert not rules & set(saved.issues["rule"])
