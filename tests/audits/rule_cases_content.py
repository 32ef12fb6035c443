"""Cases of the rules about titles, descriptions, headings, addresses, images and texts."""

from __future__ import annotations

from tests.audits.rule_pages import GERMAN, HARD, HARDEST, PLAIN, Case, image, page, words

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
        page(headings="<h1>First</h1><h1>Second</h1><h1>First</h1>"),
        page(headings="<h1>First</h1><h1> </h1>"),
        value=3,
        evidence="First (2 times) | Second",
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
        fault_cells={"image_bytes": {"/a.png": 100_001, "/b.png": 250_000, "/c.png": 5}},
        near_cells={"image_bytes": {"/a.png": 100_000, "/b.png": None}},
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
        page(
            text=f"{PLAIN}</p><p>Lorem ipsum generator</p><p>The florem ipsum is no flower.</p><pre>"
            "box { Lorem ipsum dolor } print('Lorem ipsum dolor') [lorem ipsum dolor]</pre>"
        ),
        evidence="Lorem ipsum dolor",
    ),
    Case(
        "language_differs",
        page(text=GERMAN, headings="", after=""),
        page(text=GERMAN, headings="", after="", lang=' lang="de-AT"'),
        evidence="declared en, written in de",
    ),
)
