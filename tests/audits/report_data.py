"""Made-up audits for tests of the report: as many pages and issues as are asked for, always the same ones."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import lxml.html
import pandas as pd

from webanalytics.audits.report import build
from webanalytics.audits.report.content import read

WORDS = [
    *(
        "lamp",
        "desk",
        "chair",
        "oak",
        "brass",
        "light",
        "garden",
        "kitchen",
        "guide",
        "review",
        "compare",
        "price",
    ),
    *(
        "care",
        "repair",
        "shade",
        "wall",
        "floor",
        "window",
        "paint",
        "small",
        "large",
        "warm",
        "bright",
        "quiet",
    ),
    *("simple", "modern", "winter", "summer", "family", "studio"),
]
SECTIONS = ("products", "blog", "help", "news", "about", "stores", "care", "guides")

RULES = [
    # rule, category, type, priority, threshold, share of pages, title
    ("title_missing", "title", "issue", "high", None, 0.02, "Title missing"),
    ("title_too_long", "title", "opportunity", "medium", 60, 0.4, "Title over 60 characters"),
    ("title_duplicate", "title", "opportunity", "medium", None, 0.2, "Title used by several pages"),
    ("description_missing", "description", "opportunity", "low", None, 0.25, "Description missing"),
    (
        "description_too_short",
        "description",
        "opportunity",
        "low",
        70,
        0.6,
        "Description under 70 characters",
    ),
    ("h1_missing", "headings", "issue", "medium", None, 0.15, "First heading missing"),
    ("h2_not_sequential", "headings", "warning", "low", None, 0.8, "Second heading out of order"),
    ("image_without_alt", "images", "issue", "low", None, 0.9, "Images without an alt attribute"),
    ("image_without_size", "images", "opportunity", "low", None, 0.95, "Images without width and height"),
    ("content_low", "content", "opportunity", "medium", 200, 0.5, "Fewer than 200 words"),
    ("url_parameters", "url", "warning", "low", None, 0.3, "Parameters in the address"),
    ("canonical_missing", "canonical", "warning", "medium", None, 0.7, "Canonical missing"),
    ("response_slow", "response", "opportunity", "low", 1, 0.9, "Slow response"),
    ("mixed_content", "security", "issue", "high", None, 0.1, "Mixed content"),
    ("card_missing", "social", "opportunity", "low", None, 0.95, "No social card"),
    ("lang_missing", "html", "warning", "low", None, 0.9, "Language of the page not declared"),
]
PASSED = [
    ("charset_missing", "html", "Charset not declared"),
    ("hreflang_invalid", "hreflang", "Hreflang code invalid"),
]


@dataclass
class MadeAudit:
    """The three frames of an audit."""

    pages: pd.DataFrame
    issues: pd.DataFrame
    summary: pd.DataFrame


def made_audit(size: int = 60, seed: int = 7) -> MadeAudit:
    """An audit of so many pages with about eight issues each."""
    chance = random.Random(seed)
    pages = pd.DataFrame([_page(chance, number) for number in range(size)])
    for name in ("http_status", "wordCount", "title_pixels", "inlinks", "title_length"):
        pages[name] = pages[name].astype("Int64")
    pages["indexable"] = pages["indexable"].astype("boolean")
    found = [
        _issue(chance, rule, page)
        for page in pages.to_dict("records")
        for rule in RULES
        if page["status"] == "ok" and chance.random() < rule[5]
    ]
    issues = pd.DataFrame(found)
    return MadeAudit(pages, issues, _summary(issues, size))


def _sentence(chance: random.Random, low: int, high: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(low, high))).capitalize()


def _page(chance: random.Random, number: int) -> dict[str, object]:
    section = SECTIONS[min(int(chance.expovariate(0.6)), len(SECTIONS) - 1)]
    title = _sentence(chance, 3, 14)
    description = _sentence(chance, 8, 30)
    url = f"https://www.example.org/{section}/{title.lower().replace(' ', '-')}-{number}"
    good = chance.random() > 0.05
    status = 200 if good else chance.choice([404, 404, 500, None])
    return {
        "url": url,
        "status": "ok" if good else "error",
        "error": None if good else "The `url` parameter must name a page that answers.",
        "title": title if good else None,
        "description": description if good and chance.random() > 0.1 else None,
        "http_status": status,
        "final_url": url,
        "language": ("en", "en", "en", "de", None)[number % 5] if good else None,
        "wordCount": chance.randint(20, 3000) if good else None,
        "elapsed": round(chance.expovariate(2), 3),
        "bytes": chance.randint(4_000, 400_000),
        "og:title": title if good and chance.random() > 0.3 else None,
        "og:description": description if good and chance.random() > 0.5 else None,
        "og:image": f"https://cdn.example.org/images/{number}.jpg"
        if good and chance.random() > 0.3
        else None,
        "og:site_name": "Example Lamps" if good else None,
        "canonical": url if good and chance.random() > 0.5 else None,
        "title_length": len(title) if good else None,
        "title_pixels": round(len(title) * 9.35) if good else None,
        "inlinks": chance.randint(0, 400),
        "indexable": good and chance.random() > 0.1,
        "indexability": "indexable" if good else "not read",
        "section": f"/{section}/",
        "near_duplicate_cluster": chance.choice([None, None, None, number // 3]),
        "lang": (None, "en-GB", "en", "de")[number % 4] if good else None,
        "text": f"{title}. {description}. " * 4 if good else None,
    }


def _issue(chance: random.Random, rule: tuple, page: dict[str, object]) -> dict[str, object]:
    name, category, kind, priority, threshold, _, _ = rule
    value = chance.randint(1, 400) if threshold is not None or chance.random() < 0.5 else None
    evidence = f"{page['title']} and {_sentence(chance, 4, 9)}, {chance.randint(1, 10**6)}"
    return {
        "url": page["url"],
        "rule": name,
        "category": category,
        "type": kind,
        "priority": priority,
        "value": value,
        "threshold": threshold,
        "evidence": evidence,
        "fix": f"Mend what {name.replace('_', ' ')} names.",
    }


def _summary(issues: pd.DataFrame, size: int) -> pd.DataFrame:
    counts = issues["rule"].value_counts() if len(issues) else {}
    rows = [
        {
            "rule": rule[0],
            "rule_title": rule[6],
            "category": rule[1],
            "type": rule[2],
            "priority": rule[3],
            "pages": int(counts.get(rule[0], 0)),
            "share": int(counts.get(rule[0], 0)) / size if size else 0.0,
            "explanation": f"Readers and search engines need this: {rule[6].lower()}.",
        }
        for rule in RULES
    ]
    rows += [
        {
            "rule": name,
            "rule_title": title,
            "category": category,
            "type": "warning",
            "priority": "low",
            "pages": 0,
            "share": 0.0,
        }
        for name, category, title in PASSED
    ]
    return pd.DataFrame(rows)


NOTHING = pd.DataFrame({"url": [], "rule": []})


def shown(pages: pd.DataFrame, issues: pd.DataFrame = NOTHING, **besides: Any) -> Any:
    """The report of some frames as a document."""
    content = read(pages, issues, besides.pop("summary", pd.DataFrame()))
    return lxml.html.fromstring(build.render(content, build.Besides(**besides)))


def texts(elements: list[Any]) -> list[str]:
    return [" ".join(element.text_content().split()) for element in elements]


def rows_of(document: Any, chapter: str) -> list[list[str]]:
    """The cells of the tables of a chapter, their headings first."""
    (section,) = document.xpath(f"//section[@aria-labelledby='{chapter}']")
    return [texts(row.xpath("./th | ./td")) for row in section.iter("tr")]


def readable() -> pd.DataFrame:
    german, english = "Flesch reading ease (Amstad 1978, German)", "average of five grade indices (English)"
    return pd.DataFrame(
        {
            "url": [f"https://a.example/{number}" for number in range(8)],
            "status": ["ok"] * 7 + ["error"],
            "language": ["de", "de", "de", "de", "en", "en", "ja", None],
            "readability_score": [70.0, 40.0, 20.0, 50.0, 8.0, 12.0, None, None],
            "readability_scale": [german] * 4 + [english] * 2 + [None, None],
            "audience": ["middle school", "college", "post-graduate", "high school", "middle school",
                         "high school", None, None],
            "readability_note": [None] * 6 + ["no scale for the language", None],
        }
    )  # fmt: skip
