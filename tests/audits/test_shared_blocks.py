"""The content of pages: what each has of its own, without the blocks that most pages of its site have."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.sites import WORDS, prose
from webanalytics.audits.audit import Audit
from webanalytics.audits.content.shared_blocks import SharedBlocks, difference
from webanalytics.audits.content.words import words_in
from webanalytics.fetching.testing import SiteServer

MENU = [f"Menu entry {number}" for number in range(40)]
SENTENCE = (
    "A complete list of all releases stands on a single page, and a chronology of them is there as well, for those "
    "who want to know what was changed in each of them and when."
)


def html(*blocks: str, menu: bool = True, lang: str = "en", head: str = "") -> str:
    shown = "".join(f"<p>{block}</p>" for block in blocks)
    nav = "".join(f"<li><a href=/m>{entry}</a></li>" for entry in MENU) if menu else ""
    return f'<!doctype html><html lang="{lang}"><title>{blocks[0][:40]}</title>{head}<ul>{nav}</ul><main>{shown}</main>'


def audit(pages: dict[str, str]) -> Audit:
    urls = [f"https://site.example/{path}" for path in pages]
    return wa.audit(pd.DataFrame({"url": urls, "html": list(pages.values())}), workers=1, progress=False)


def named(made: Audit, rule: str) -> set[str]:
    issues = made.issues
    found = issues.loc[issues["rule"] == rule, "url"]
    return {url.removeprefix("https://site.example/") for url in found}


def blocks_of(texts: dict[str, str]) -> SharedBlocks:
    return SharedBlocks([f"https://site.example/{path}" for path in texts], list(texts.values()))


def own(shared: SharedBlocks, path: str, text: str) -> str | None:
    return shared.content(f"https://site.example/{path}", text, "", "").text


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    """Forty pages with texts of their own below one menu."""
    return {f"p{number}": html(f"Page {number}", prose(f"page {number}", 400)) for number in range(40)}


# ---------------------------------------------------------------- which blocks are shared


def test_what_most_pages_have_is_no_content() -> None:
    texts = {f"{n}": f"Menu\nMost\nLantern {n}" if n < 3 else f"Menu\nLantern {n}" for n in range(5)}
    shared = blocks_of(texts)
    assert [own(shared, path, text) for path, text in texts.items()] == [f"Lantern {n}" for n in range(5)]
    half = blocks_of(
        {f"{n}": f"Menu\nHalf\nLantern {n}" if n < 2 else f"Menu\nLantern {n}" for n in range(4)}
    )
    assert own(half, "0", "Menu\nHalf\nLantern 0") == "Half\nLantern 0"


def test_pages_with_one_text_count_once() -> None:
    texts = {f"copy{n}": "Menu\nOur lantern\nOf brass" for n in range(30)}
    texts |= {f"{n}": f"Menu\nLantern {n}" for n in range(4)}
    assert own(blocks_of(texts), "copy1", texts["copy1"]) == "Our lantern\nOf brass"


def test_a_section_has_blocks_of_its_own() -> None:
    texts = {f"shop/{n}": f"Menu\nAdd to basket\nLamp {n}" for n in range(10)}
    texts |= {f"blog/{n}": f"Menu\nBy the keeper\nPost {n}" for n in range(9)}
    texts |= {f"{n}": f"Menu\nPage {n}" for n in range(20)}
    shared = blocks_of(texts)
    assert own(shared, "shop/3", texts["shop/3"]) == "Lamp 3"
    assert own(shared, "blog/3", texts["blog/3"]) == "By the keeper\nPost 3", "nine pages are too few"
    assert own(shared, "3", "Menu\nAdd to basket\nPage 3") == "Add to basket\nPage 3"


def test_the_sample_does_not_depend_on_the_order_of_pages() -> None:
    texts = {f"{n}": f"Menu\n{'Even' if n % 2 else 'Odd'}\nLamp {n}" for n in range(1000)}
    mixed = list(texts.items())
    random.Random(7).shuffle(mixed)
    first, second = blocks_of(texts), blocks_of(dict(mixed))
    assert first._shared == second._shared
    assert own(first, "1", texts["1"]) in ("Even\nLamp 1", "Lamp 1")


def test_of_two_pages_the_main_text_is_the_content() -> None:
    shared = blocks_of({"a": "Menu\nLamp", "b": "Menu\nWick"})
    said = ("https://site.example/a", "Menu\nLamp", "Lamp")
    assert shared.content(*said, "")[:2] == ("Lamp", "main")
    assert shared.content(*said, "fragment")[:2] == ("Lamp", "main"), (
        "all that is shown would hide thin pages"
    )
    assert shared.content(None, "Menu\nLamp", "", "")[:2] == ("Menu\nLamp", "visible")
    assert shared.content(None, None, "Lamp", None)[:2] == ("Lamp", "main")
    assert shared.content(None, None, None, None).text is None


def test_a_text_that_stands_in_data_alone_is_content() -> None:
    texts = {f"{n}": f"Menu\nLamp {n}" for n in range(5)}
    said = "This lamp burns for thirty hours. " * 9
    content = blocks_of(texts).content("https://site.example/1", texts["1"], said, "by_scripts")
    assert (content.text, content.origin) == (said, "main")


def test_pages_written_from_one_draft_keep_it() -> None:
    draft = [prose(f"draft {n}", 40) for n in range(6)]
    pages = {f"city{n}": html(f"Lamps in city {n}", *draft) for n in range(12)}
    made = audit(pages)
    assert set(made.pages["content_origin"]) == {"own"}
    assert (made.pages["content_words"] >= 240).all(), "without them nothing would be left of the pages"
    assert named(made, "near_duplicate") == set(pages)


def test_what_several_sections_share_is_no_draft() -> None:
    """A footer is longer than the thin pages of one section, and so the most of their main texts."""
    footer = prose("footer", 40)
    texts = {f"{part}/{n}": f"{part} name{n}\n{footer}" for part in ("tools", "books") for n in range(12)}
    assert own_of_main(blocks_of(texts), "tools/1", texts["tools/1"]) == "tools name1"
    draft = {path: text for path, text in texts.items() if path.startswith("tools")}
    more = {f"books/{n}": prose(f"book {n}", 40) for n in range(12)}
    assert own_of_main(blocks_of(draft | more), "tools/1", texts["tools/1"]) == texts["tools/1"]


def own_of_main(shared: SharedBlocks, path: str, text: str) -> str | None:
    return shared.content(f"https://site.example/{path}", text, text, "").text


def test_words_are_what_white_space_parts_and_letters_or_digits_have() -> None:
    texts = ("a - b2 — c's std::map", "", "...", "東京 tea", "std::map<東京>, std::map")
    assert [words_in(text) for text in texts] == [4, 0, 0, 3, 5]


def test_the_difference_begins_shortly_before_it() -> None:
    one, other = prose("one", 60), prose("one", 60).replace(".", "!")
    here = difference(f"Head\n{one}", f"Head\n{other}")
    assert ". " in here.partition(", there ")[0]
    assert "! " in here.partition(", there ")[2]
    assert difference("Head\nMore", "Head") == 'Here "More", there nothing'
    assert difference("Head", "Head\nMore") == 'Here nothing, there "More"'
    lamps = " ".join(["Lamps"] * 20)
    here, there = difference(f"{lamps} of brass", lamps).split(", there ")
    assert here.removeprefix("Here ") != there, "one goes on where the other ends"


# ---------------------------------------------------------------- what rules say by it


def test_pages_that_share_one_sentence_are_no_duplicates(site: dict[str, str]) -> None:
    notes = {
        f"release/{n}": html(
            f"Release {n}", SENTENCE, *(f"Fixed {WORDS[n]} {WORDS[-m]} {n * m}" for m in range(9))
        )
        for n in range(20)
    }
    assert named(audit({**site, **notes}), "duplicate_page") == set()


def test_one_text_at_two_addresses_is_a_duplicate_whatever_stands_around_it(site: dict[str, str]) -> None:
    text = prose("twice", 300)
    pages = {
        "a/tea": html("Tea", text),
        "print/tea": html("Tea", text, menu=False),
        "b": html("Tea", text + " And more of it than there."),
        "short": html("Tea at last"),
        "brief": html("Tea at last"),
    }
    made = audit({**site, **pages})
    assert named(made, "duplicate_page") == {"a/tea", "print/tea"}
    assert made.pages.set_index("url")["content_hash"].groupby(level=0).first().value_counts().iloc[0] == 2


def test_copies_in_two_sections_with_blocks_of_their_own_are_duplicates() -> None:
    page = html("Tea", "By the keeper", "Add to basket", prose("twice", 100))
    pages = {f"blog/{n}": html(f"Post {n}", "By the keeper", prose(f"post {n}", 90)) for n in range(12)}
    pages |= {f"shop/{n}": html(f"Lamp {n}", "Add to basket", prose(f"lamp {n}", 90)) for n in range(12)}
    assert named(audit({**pages, "blog/tea": page, "shop/tea": page}), "duplicate_page") == {
        "blog/tea",
        "shop/tea",
    }


def test_pages_of_other_languages_are_no_duplicates(site: dict[str, str]) -> None:
    text = prose("untranslated", 100)
    pages = {path: html("Tea", text, lang=path) for path in ("en-GB", "en-US", "de")}
    assert named(audit({**site, **pages}), "duplicate_page") == set()
    unknown = html("Tea", text).replace(' lang="en"', "")
    assert named(audit({**site, **pages, "none": unknown}), "duplicate_page") == {"en-GB", "none"}


def test_of_two_pages_all_that_is_shown_must_be_equal() -> None:
    text = prose("twice", 60)
    pages = {"one": html("Tea", text), "two": html("Tea", text) + "<footer>Printed in 1921</footer>"}
    made = audit(pages)
    assert set(made.pages["content_origin"]) == {"main"}
    assert named(made, "duplicate_page") == set()
    assert named(made, "near_duplicate") == {"one", "two"}
    assert named(audit({**pages, "two": pages["one"]}), "duplicate_page") == {"one", "two"}


def test_pages_that_show_little_before_scripts_run_are_no_duplicates() -> None:
    read = audit({path: html("Tea", prose("shell", 40), menu=False) for path in ("one", "two")})
    assert named(read, "duplicate_page") == named(read, "content_low") == {"one", "two"}
    made = Audit(read.raw.assign(content_note="by_scripts"))
    assert named(made, "duplicate_page") == named(made, "near_duplicate") == set()
    assert named(made, "content_low") == set(), "nobody knows what scripts bring to a page alone"


def test_a_page_of_a_site_that_scripts_complete_is_thin_with_a_word_on_them(site: dict[str, str]) -> None:
    read = audit({**site, "thin": html("Thin page", "Only a few words stand here and nothing else")})
    made = Audit(read.raw.assign(content_note="by_scripts"))
    low = made.issues[made.issues["rule"] == "content_low"]
    assert low["url"].tolist() == ["https://site.example/thin"]
    assert low["evidence"].str.startswith("Next to nothing is shown before scripts run").all()


def test_near_duplicates_are_shown_with_what_differs(site: dict[str, str]) -> None:
    text = prose("near", 200).split(". ")
    changed = [*text[:9], "This part alone is another one", *text[10:]]
    pages = {"one": html("Tea", ". ".join(text)), "two": html("Tea", ". ".join(changed))}
    made = audit({**site, **pages})
    issues = made.issues[made.issues["rule"] == "near_duplicate"]
    assert named(made, "near_duplicate") == {"one", "two"}
    evidence = dict(zip(issues["url"], issues["evidence"], strict=True))
    assert "this part alone" in evidence["https://site.example/one"].lower().partition("there ")[2]
    assert evidence["https://site.example/one"].endswith("on https://site.example/two")


def test_thin_pages_are_those_with_few_words_of_their_own(site: dict[str, str]) -> None:
    rows = "".join(f"<tr><td>{WORDS[n % 40]}<td>{n}" for n in range(150))
    pages = {
        "thin": html("Thin page", "Only a few words stand here and nothing else"),
        "table": f"<title>Table</title><ul>{''.join(f'<li>{e}' for e in MENU)}</ul><table>{rows}</table>",
        "nothing": html("Menu entry 1"),
    }
    made = audit({**site, **pages})
    assert named(made, "content_low") == {"thin", "nothing"}
    assert named(made, "content_empty") == set()
    values = made.issues[made.issues["rule"] == "content_low"].set_index("url")["value"]
    assert values["https://site.example/thin"] == 11
    assert named(audit({"thin": pages["thin"]}), "content_low") == {"thin"}, "a page alone has its main text"


def test_filler_is_found_wherever_it_is_shown() -> None:
    filler = "Lorem ipsum dolor sit amet"
    pages = {
        "aside": html("Tea", prose("a", 200)) + f"<aside>{filler}</aside>",
        "footer": html("Tea", prose("b", 200)) + f"<footer>{filler}</footer>",
        "hidden": html("Tea", prose("c", 200)) + f"<div hidden>{filler}</div>",
    }
    assert named(audit(pages), "lorem_ipsum") == {"aside", "footer"}


def test_an_answer_without_a_body_is_an_empty_page() -> None:
    pages = {"/": b"<title>T</title><a href=/e>e</a>", "/e": b""}
    with SiteServer(pages) as server:
        made = wa.crawl(server.url, allow_private=True, workers=1, progress=False)
        issues = made.issues
        empty = issues[issues["rule"] == "content_empty"]
        assert empty["url"].tolist() == [f"{server.url}/e"]
        assert empty["evidence"].tolist() == ["The body of the answer is empty."]


def test_keywords_are_those_of_the_pages_and_not_of_their_menu(site: dict[str, str]) -> None:
    made = audit(site)
    assert "menu entry" not in set(made.keywords(by="site")["keyword"])
    part = made.select(made.pages["url"].str.endswith("p1"))
    assert "menu entry" not in set(part.keywords()["keyword"]), "a part knows what the whole site shares"


def test_pages_in_a_folder_have_the_same_contents(site: dict[str, str], tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"url": [f"https://site.example/{path}" for path in site], "html": list(site.values())}
    )
    held = wa.audit(frame, workers=1, progress=False)
    stored = wa.audit(frame, workers=1, progress=False, store=tmp_path / "rows")
    names = ["content_words", "content_origin", "content_hash", "text_share"]
    assert stored.pages[names].astype(object).equals(held.pages[names].astype(object))
    assert stored.issues["rule"].tolist() == held.issues["rule"].tolist()
