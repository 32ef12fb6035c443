"""Cases of the rules about structured data, previews, heads, links, directives and accessibility."""

from __future__ import annotations

from tests.audits.rule_pages import (
    SOCIAL,
    STRUCTURED,
    Case,
    beside,
    image,
    linked,
    page,
    robots,
    social_without,
)

CASES = (
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
    Case(
        "structured_data_missing",
        page(structured=linked({"@type": "Organization", "name": "Lamps"})),
        page(structured=linked({"@type": "Product", "name": "Lamp", "offers": []})),
        evidence="The page reads as an article: no Article, but Organization",
    ),
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
        fault_cells={"declared_charset": ""},
        near_cells={"declared_charset": "", "content_type": "text/html; charset=utf-8"},
    ),
    Case("charset_not_utf8", page(charset="iso-8859-2"), page(charset="UTF-8"), evidence="iso-8859-2"),
    Case(
        "charset_wrong",
        fault_cells={"charset_mislabelled": "iso-8859-1", "headers": "Content-Type: text/html"},
        near_cells={"charset_mislabelled": "", "headers": "Content-Type: text/html"},
        evidence="declared as iso-8859-1",
    ),
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
        beside(
            '<a href="https://other.example/" rel="nofollow">Tin</a><a href="#a" rel="nofollow">A</a>'
            '<a href="?replytocom=7#respond" rel="nofollow">Reply</a>'
        ),
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
        beside(
            '<input name="q"><label for="b"> </label><select id="b"></select>'
            '<input type="checkbox" id="c"><input type="checkbox" id="d" name="d"><label for="d"></label>'
        ),
        beside(
            '<label>Tin <input></label><label for="c">Oil</label><textarea id="c"></textarea>'
            '<input aria-label="Wick"><input type="submit"><div style="display: none"><input></div>'
            '<input type="checkbox" id="menu"><label for="menu"><svg></svg></label>'
            '<input type="checkbox" class="md-nav__toggle md-toggle" id="__toc">'  # Material for MkDocs
        ),
        value=4,
        evidence='<input name="q"> | <select id="b"> | <input type="checkbox" id="c"> | <input type="checkbox" name="d">',
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
        beside(
            '<button><img src="/a.png" alt="Tin" width="9" height="9"></button><input type="submit">'
            '<button role="switch" title aria-checked="false"></button>'  # VitePress
        ),
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
    Case("noodp", robots("index, NOODP"), robots("index, follow")),
)
