"""A page that supplies every field of the specification, and images, for the service's tests."""

from __future__ import annotations

import io

from PIL import Image

OPEN_GRAPH = {
    "og:url": "https://shop.example/lantern",
    "og:locale": "en_GB",
    "og:locale:alternate": "fr_FR",
    "og:title": "Brass lantern",
    "og:type": "product",
    "og:description": "A lantern of brass.",
    "og:determiner": "a",
    "og:site_name": "Lantern shop",
    "og:image": "https://shop.example/lantern.jpg",
    "og:image:secure_url": "https://shop.example/lantern.jpg",
    "og:image:type": "image/jpeg",
    "og:image:width": "1200",
    "og:image:height": "630",
    "og:image:alt": "The lantern at night",
}

CARD = {
    "title": "Card title",
    "description": "Card description",
    "image": "https://shop.example/card.jpg",
    "image:alt": "A card",
    "card": "summary_large_image",
    "site": "@shop",
    "site:id": "11",
    "url": "https://shop.example/card",
    "account_id": "22",
    "creator": "@maker",
    "creator:id": "33",
    "player": "https://shop.example/player",
    "player:width": "640",
    "player:height": "360",
    "player:stream": "https://shop.example/stream.mp4",
    **{
        f"app:{part}:{platform}": f"{part} for {platform}" if part != "url" else f"shop://{platform}"
        for part in ("name", "id", "url")
        for platform in ("iphone", "ipad", "googleplay")
    },
}

PLATFORMS = {"iphone": "handset", "ipad": "tablet", "googleplay": "store"}
"""How the specification calls the platforms of the tags."""


def card_name(tag: str) -> str:
    """Return the specification's name of a card tag."""
    for platform, name in PLATFORMS.items():
        tag = tag.replace(f":{platform}", f":{name}")
    return f"card:{tag}"


PARAGRAPHS = (
    "The keeper of the lighthouse carries a brass lantern up the winding stairs every evening. "
    "Visitors from the village bring bread, cheese and news of ships that passed the harbour.",
    "When the storm comes, the lantern burns through the night, and the keeper writes the names of the "
    "ships into a heavy book. Nobody has counted the pages of that book, but there are many of them.",
    "In the morning the keeper polishes the brass with a soft cloth and sleeps until the bells of the "
    "village ring at noon. Then the long work of the day begins again, as it did the day before.",
)

RICH_PAGE = f"""<!DOCTYPE html>
<html lang="en-GB"><head><meta charset="utf-8">
<title>Brass lanterns for lighthouses</title>
<link rel="canonical" href="/lantern">
<link rel="icon" href="/favicon.ico" sizes="16x16">
<meta name="image" content="/lantern.jpg">
<meta name="author" content="Ada Keeper">
<meta name="description" content="Lanterns, made by hand.">
<meta name="keywords" content="lantern, brass">
<meta name="source" content="The Lantern Gazette">
<meta name="robots" content="index, follow">
<meta name="viewport" content="width=device-width">
<meta name="theme-color" content="#aa7700">
<meta name="application-name" content="Lanterns">
<meta property="article:published_time" content="2026-03-04">
{"".join(f'<meta property="{name}" content="{value}">' for name, value in OPEN_GRAPH.items())}
{"".join(f'<meta name="twitter:{name}" content="{value}">' for name, value in CARD.items())}
<script type="application/ld+json">
{{"@context": "https://schema.org", "@type": "Product", "name": "Lantern", "offers":
{{"@type": "Offer", "price": "49.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}}}}
</script>
</head><body><main><h1>Brass lanterns</h1>
{"".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)}
<h2>Care</h2><img src="/lantern.jpg" alt="A lantern" width="600" height="400">
</main></body></html>""".encode()

AWKWARD_TEXT = 'tab\there, "quoted", comma, \u0001control\u001b \u0085 line \U0001f3ee lantern <b>&amp; more'

AWKWARD_PAGE = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Say "yes", 1,000 times '
    "\U0001f3ee &lt;b&gt; \x01\x1f</title>"
    '<meta name="description" content="one, two; &quot;three&quot;&#10;four \x0b\U0001f468\u200d\U0001f4bb">'
    "</head><body><main><h1>- yes: no</h1>"
    + "".join(
        f'<p>{paragraph} \x02 "so", he said;\n\nthen\tnothing \U0001f680.</p>' for paragraph in PARAGRAPHS
    )
    + "</main></body></html>"
).encode()


def image(format_name: str = "png", size: tuple[int, int] = (40, 20)) -> bytes:
    """Return a picture of one colour."""
    buffer = io.BytesIO()
    Image.new("RGB", size, (200, 120, 0)).save(buffer, format_name)
    return buffer.getvalue()
