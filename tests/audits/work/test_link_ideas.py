"""Links that a site lacks: what is named, what is linked already, and what names nothing."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS, effort_since
from webanalytics.fetching.testing import SiteServer

OIL = "Lamp oil is refined paraffin; it is poured into the tank before the wick is lit. "


def audit(pages: dict[str, tuple[str, str]], **columns: Any) -> wa.Audit:
    html = [
        f"<html lang=en><title>{title}</title><h1>{title}</h1><p>{text}" for title, text in pages.values()
    ]
    urls = [f"https://a.example{path}" for path in pages]
    return wa.audit(pd.DataFrame({"url": urls, "html": html, **columns}))


def pairs(found: pd.DataFrame) -> list[tuple[str, str, str]]:
    short = [found[name].str.removeprefix("https://a.example") for name in ("source", "target")]
    return list(zip(*short, found["anchor"], strict=True))


def test_a_page_is_found_by_its_title_without_the_name_of_the_site() -> None:
    found = audit(
        {
            "/oil": ("Lamp oil | Lamps Ltd", OIL * 3),
            "/care": ("Care", "Before the wick is lit, fill the tank with lamp oil that is refined. " + OIL),
            "/paint": ("Paint", "Oil paint dries in a week, and a lamp does not hasten it much at all."),
        }
    ).link_ideas()
    assert pairs(found) == [("/care", "/oil", "lamp oil")]
    assert found.loc[0, "sentence"] == "Before the wick is lit, fill the tank with lamp oil that is refined."
    assert {"wick", "tank", "refined"} <= set(found.loc[0, "words"])
    assert 0.1 < found.loc[0, "similarity"] <= 1


@pytest.mark.parametrize(
    ("text", "title", "why"),
    [
        ("<a href=/oil>Lamp oil</a> must be refined before the wick is lit.", "Lamp oil", "a link already"),
        ("<h2>Lamp oil</h2><p>The tank and the wick are of brass, which lasts.", "Lamp oil", "a heading"),
        ("Buy a lamp. Oil for the tank and the wick is sold by the litre.", "Lamp oil", "two sentences"),
        ("lamp(oil) fills the tank before the wick is lit, in any order.", "Lamp oil", "program code"),
        ("It is about the tank and the wick, and what is poured into it.", "It is about", "stop words"),
        ("In 2024 the tank was refined, and the wick was lit before that.", "2024", "a number"),
    ],
)
def test_what_is_no_idea(text: str, title: str, why: str) -> None:
    found = audit({"/oil": (title, OIL * 3), "/care": ("Care", text + OIL.replace("Lamp oil", "It"))})
    assert not pairs(found.link_ideas()), why


def test_pages_that_may_not_be_indexed_or_speak_otherwise_are_left_alone() -> None:
    hidden = OIL + "<meta name=robots content=noindex>"
    german = "Das Lampenöl, lamp oil auf Englisch, wird in den Tank gefüllt, bevor der Docht brennt. " * 3
    found = audit(
        {
            "/oil": ("Lamp oil", OIL * 3),
            "/hidden": ("Hidden", f"Fill the tank with lamp oil before the wick is lit. {hidden}"),
            "/de": ("Deutsch", german),
        }
    )
    assert not len(found.link_ideas())


def test_menus_are_no_links_and_what_others_say_is_a_name() -> None:
    menu = "<nav><a href=/oil>Lamp oil</a><a href=/care>Care</a><a href=/shop>Shop</a></nav>"
    calls = "<p>Use <a href=/oil>refined paraffin</a> for the tank before the wick is lit."
    site = {
        "/": f"<title>Start</title>{menu}<p>Welcome.",
        "/oil": f"<title>Lamp oil</title>{menu}<p>{OIL * 3}",
        "/care": f"<title>Care</title>{menu}{calls}",
        "/shop": f"<title>Shop</title>{menu}{calls} It is sold by the litre.",
        "/faq": f"<title>Questions</title>{menu}<p>May refined paraffin stay in the tank when the wick is lit?",
        "/wick": f"<title>Wicks</title>{menu}<p>Does lamp oil rise in the wick, or is it poured into the tank?",
    }
    site["/"] += "<a href=/faq>Questions</a><a href=/wick>Wicks</a>"
    with SiteServer({path: html.encode() for path, html in site.items()}) as server:
        crawl = wa.crawl(f"{server.url}/", sitemap=None, allow_private=True, progress=False)
        found = crawl.link_ideas(to=f"{server.url}/oil")
        origin = server.url
    assert sorted(zip(found["source"].str.removeprefix(origin), found["anchor"], strict=True)) == [
        ("/faq", "refined paraffin"),
        ("/wick", "lamp oil"),
    ]
    assert found["target_inlinks"].eq(5).all()
    assert found["target_depth"].eq(1).all()


@pytest.mark.parametrize("options", [{"to": "https://b.example/"}, {"to": []}, {"to": 5}, {"per_page": 0}])
def test_wrong_calls(options: Any) -> None:
    with pytest.raises(wa.ParameterError, match=f"`{next(iter(options))}` parameter"):
        audit({"/oil": ("Lamp oil", OIL)}).link_ideas(**options)


def test_at_most_so_many_for_a_page_and_clicks_where_they_are_known() -> None:
    cares = {
        f"/care{n}": (f"Care {n}", f"Tank {n} is filled with lamp oil before the wick is lit. {OIL[9:]}")
        for n in range(4)
    }
    pages = {"/oil": ("Lamp oil", OIL * 3), **cares}
    clicks = pd.DataFrame({"url": ["https://a.example/oil"], "clicks": [12]})
    found = audit(pages).with_columns(clicks).link_ideas(per_page=2)
    assert len(found) == 2
    assert found["target_clicks"].tolist() == [12, 12]


def test_a_page_with_a_chapter_of_its_own_on_it_needs_no_link() -> None:
    care = "Before the wick is lit, fill the tank with lamp oil that is refined. " + OIL[9:]
    pages = {"/oil": ("Lamp oil", OIL * 3), "/care": ("Care", care)}
    assert pairs(audit(pages).link_ideas()) == [("/care", "/oil", "lamp oil")]
    pages["/care"] = ("Care", f"{care}<h2>Which lamp oil to buy</h2><p>That from the chemist.")
    assert not len(audit(pages).link_ideas())


def test_names_of_programs_are_no_words_of_a_sentence() -> None:
    calls = "<p>The tank is filled by <a href=/oil>{}</a> before the wick is lit."
    found = {}
    for name in ("fill_tank", "fill tank"):
        site = {
            "/": "<title>Start</title><a href=/oil>1</a><a href=/a>2</a><a href=/b>3</a><a href=/c>4</a>",
            "/oil": f"<title>Lamps</title><p>{OIL * 3}",
            "/a": f"<title>One</title>{calls.format(name)}",
            "/b": f"<title>Two</title>{calls.format(name)} It is sold by the litre.",
            "/c": "<title>Three</title><p>Do you fill tank and lamp with refined paraffin before the wick is lit?",
        }
        with SiteServer({path: f"<html lang=en>{html}".encode() for path, html in site.items()}) as server:
            crawl = wa.crawl(f"{server.url}/", sitemap=None, allow_private=True, progress=False, workers=1)
            found[name] = crawl.link_ideas(to=f"{server.url}/oil")["anchor"].tolist()
    assert found == {"fill_tank": [], "fill tank": ["fill tank"]}


SAID = "Read what is told of {} in the tank, before the wick is lit. "


@pytest.mark.parametrize(
    ("places", "anchors"),
    [
        (["lamp oil"], ["lamp oil"]),
        (["lamp oil", "<a href=/x>lamp oil</a>"], []),
        (["<a href=/x>lamp oil</a>", "<a href=/x>lamp oil</a>"], []),
        (["<a href=/x>lamp oil</a>", "<a href=/oil>the same</a>"], []),
        (["lamp oil", "<a href=/x>the lamp</a>"], ["lamp oil"]),
    ],
)
def test_words_that_are_a_link_somewhere_on_the_page_are_no_idea(
    places: list[str], anchors: list[str]
) -> None:
    """HTML Standard, section 4.5.1: no link stands in another one."""
    site = {
        "/": "<title>Start</title><a href=/oil>1</a><a href=/care>2</a><a href=/x>3</a>",
        "/oil": f"<title>Lamp oil</title><p>{OIL * 3}",
        "/care": f"<title>Care</title><p>{''.join(map(SAID.format, places))}",
        "/x": "<title>Others</title><p>Others.",
    }
    with SiteServer({path: f"<html lang=en>{html}".encode() for path, html in site.items()}) as server:
        crawl = wa.crawl(f"{server.url}/", sitemap=None, allow_private=True, progress=False)
        assert crawl.link_ideas()["anchor"].tolist() == anchors


def test_words_are_told_as_they_stand_in_any_language() -> None:
    text = SAID.format("Lamp Oil").replace("Read", "In İstanbul read")
    found = audit({"/oil": ("Lamp oil", OIL * 3), "/care": ("Care", text)}).link_ideas()
    assert found[["anchor", "sentence"]].values.tolist() == [["Lamp Oil", text.strip()]]


@pytest.mark.parametrize("kind", ["names that begin alike", "one name again and again"])
def test_time_grows_with_the_site_alone(kind: str) -> None:
    if kind == "names that begin alike":
        said = "This is how the tank is lit, and how it was lit, and how it will be lit by {0} of us. " * 3
        pages = {f"/{n}": (f"How to mend lamp{n}", said.format(n)) for n in range(2_000)}
    else:
        pages = {"/oil": ("Lamp oil", OIL * 3), "/care": ("Care", "lamp oil " * 10_000)}
    known = audit(pages)
    assert len(known.pages)
    start = time.process_time()
    assert not len(known.link_ideas())
    assert effort_since(start) < BUSY_SECONDS / 4, "each name at each place takes minutes"
