"""Pages for tests of rules: one without a fault, each part of which can be changed, and what a case holds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

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
STRUCTURED = '{"@context": "https://schema.org", "@type": "AboutPage", "name": "Lanterns"}'


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
