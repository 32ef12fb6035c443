"""Maps of redirects: by address, by canonical, by text; and beside redirects that people wrote."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.moves.relaunches import relaunch
from webanalytics.audits.moves.plan import RedirectMap

SUBJECTS = {
    "lamps": "Brass lamps burn oil with a wick, and the glass must be cleaned of soot.",
    "tea": "Green tea is brewed with water that has cooled, in a pot of clay.",
    "bikes": "A bicycle has two wheels, a chain and brakes; tyres need air each month.",
    "bread": "Bread rises when yeast meets flour and warmth; bake it for an hour.",
}
WRITTEN = ("ftcdocs", "ubuntu-server-documentation", "landscape-documentation")


def pages(host: str, texts: Mapping[str, str], **columns: Any) -> pd.DataFrame:
    urls = [f"https://{host}.example{path}" for path in texts]
    return pd.DataFrame({"url": urls, "text": [f"{text} " * 5 for text in texts.values()], **columns})


def found(plan: wa.RedirectMap, *names: str) -> list[list[Any]]:
    return plan.table[list(names)].astype(object).where(plan.table[list(names)].notna(), None).values.tolist()


def test_pages_are_found_again_by_their_words() -> None:
    old = pages("old", {f"/{name}.php": text for name, text in SUBJECTS.items()})
    new = pages("new", {f"/n{number}": text for number, text in enumerate(SUBJECTS.values())})
    plan = wa.redirect_map(old, new)
    assert found(plan, "new", "decision", "method") == [
        [f"https://new.example/n{number}", "sure", "text"] for number in range(4)
    ]
    assert {"green", "brewed", "cooled", "clay"} & set(plan.table.loc[1, "words"])
    assert not {"lamps", "yeast"} & set(plan.table.loc[1, "words"])


def test_merges_and_splits_are_told() -> None:
    both = f"{SUBJECTS['lamps']} {SUBJECTS['bikes']}"
    old = pages("old", {"/goods": both, "/tea-1": SUBJECTS["tea"], "/tea-2": SUBJECTS["tea"]})
    texts = {"/light": f"{SUBJECTS['lamps']} We sell them.", "/ride": f"{SUBJECTS['bikes']} We mend them."}
    copies = {"/leaves": SUBJECTS["tea"], "/leaves-again": SUBJECTS["tea"], "/bread": SUBJECTS["bread"]}
    table = wa.redirect_map(old, pages("new", texts | copies)).table.set_index("old")
    split = table.loc["https://old.example/goods"]
    (other,) = {"https://new.example/light", "https://new.example/ride"} - {split["new"]}
    assert split["note"].endswith(f"another part of it is on {other}")
    merged = table.loc[["https://old.example/tea-1", "https://old.example/tea-2"], "note"]
    assert merged.str.contains("two pages are as near").all()  # a copy is no other part
    assert not merged.str.contains("another part").any()


def test_what_has_no_counterpart_is_gone_and_never_the_home_page() -> None:
    old = pages("old", {"/jobs": "We look for carpenters who like wood.", "/start": SUBJECTS["tea"]})
    new = pages("new", {"/": SUBJECTS["tea"], "/bread": SUBJECTS["bread"]})
    plan = wa.redirect_map(old, new)
    assert found(plan, "new", "decision") == [[None, "gone"], ["https://new.example/", "look"]]
    assert plan.table.loc[1, "note"] == "the home page stands for no other page"


def test_addresses_and_canonicals_come_first() -> None:
    old = pages("old", {"/tea": SUBJECTS["tea"], "/tea?print=1": SUBJECTS["tea"], "/b/": SUBJECTS["bikes"]})
    old["canonical_url"] = [None, "https://old.example/tea", None]
    new = pages("new", {"/tea": SUBJECTS["tea"], "/b": SUBJECTS["bikes"]})
    plan = wa.redirect_map(old, new)
    assert found(plan, "new", "method", "decision") == [
        ["https://new.example/tea", "same address", "sure"],
        ["https://new.example/tea", "canonical", "sure"],
        ["https://new.example/b", "same address", "sure"],
    ]
    assert plan.table["note"].tolist()[:2] == ["one of 2 old pages that lead here"] * 2


def test_an_address_that_means_something_else_today_is_looked_at() -> None:
    old = pages("old", {"/news": SUBJECTS["tea"]})
    new = pages("new", {"/news": SUBJECTS["bikes"], "/drinks": SUBJECTS["tea"], "/x": SUBJECTS["bread"]})
    plan = wa.redirect_map(old, new)
    assert found(plan, "new", "second", "decision") == [
        ["https://new.example/news", "https://new.example/drinks", "look"]
    ]


def test_addresses_that_changed_places_are_looked_at_however_much_their_pages_share() -> None:
    shared = " ".join(f"w{number}" for number in range(100))
    goods = {name: f"{SUBJECTS[name]} {shared}" for name in ("tea", "bread")}
    old = pages("old", {"/item-1": goods["tea"], "/item-2": goods["bread"]})
    new = pages("new", {"/item-1": goods["bread"], "/item-2": goods["tea"]})
    plan = wa.redirect_map(old, new)
    assert plan.table["decision"].tolist() == ["look", "look"]
    assert plan.table["second"].tolist() == ["https://new.example/item-2", "https://new.example/item-1"]
    stays = wa.redirect_map(old, new.assign(text=new["text"].tolist()[::-1]))
    assert stays.table["decision"].tolist() == ["sure", "sure"]


def test_what_is_to_be_looked_at_comes_first_wherever_a_map_is_shown() -> None:
    old = ["https://old.example/a", "https://old.example/b<i>"]
    table = wa.redirect_map(old, ["https://new.example/a"]).table
    shown = RedirectMap(
        table.assign(decision=["sure", "look"], new=["https://new.example/a"] * 2, score=None)
    )
    for text in (repr(shown), shown._repr_html_()):
        assert "nan" not in text.lower()
        assert "/b" in text
    assert "<i>" not in shown._repr_html_()
    assert "old.example/a" not in shown._repr_html_()


def test_a_new_page_that_failed_once_is_there_for_its_address_and_one_that_is_missing_is_not() -> None:
    replies = {"/": b"<a href=/a>A</a> <a href=/b>B</a>", "/a": wa.testing.Reply(503)}
    with wa.testing.SiteServer(replies) as server:
        new = wa.crawl(server.url, allow_private=True, progress=False, retries=0)
        old = pages("old", {"/a": SUBJECTS["tea"], "/b": SUBJECTS["bread"]})
        assert found(wa.redirect_map(old, new), "new", "decision") == [
            [f"{server.url}/a", "sure"],
            [None, "gone"],
        ]
    failed = pages("new", {"/a": ""}, status="error", http_status=503)
    with pytest.raises(wa.ParameterError, match="`new`"):
        wa.redirect_map(old, failed)


def test_a_page_that_stays_on_its_host_has_its_own_text_however_near_another_one_is() -> None:
    site = pages("a", {"/tea": SUBJECTS["tea"], "/tea-again": SUBJECTS["tea"], "/bread": SUBJECTS["bread"]})
    plan = wa.redirect_map(site, site)
    assert found(plan, "new", "decision") == [[url, "sure"] for url in site["url"]]
    assert plan.table["score"].notna().all()


def test_a_page_that_names_another_one_as_canonical_takes_the_place_of_its_own_address_alone() -> None:
    old = pages("old", {"/p-1": SUBJECTS["tea"], "/p-2": SUBJECTS["bread"], "/p-2?red=1": SUBJECTS["bread"]})
    texts = {"/t": SUBJECTS["tea"], "/p-2": SUBJECTS["bread"], "/bikes": SUBJECTS["bikes"]}
    new = pages("new", {path + more: text for path, text in texts.items() for more in ("?red=1", "")})
    new["canonical_url"] = [url.removesuffix("?red=1") for url in new["url"]]
    assert found(wa.redirect_map(old, new), "new", "decision", "note") == [
        ["https://new.example/t", "sure", None],
        ["https://new.example/p-2", "sure", None],
        ["https://new.example/p-2?red=1", "sure", None],
    ]
    each_other = [new["url"][number ^ 1] for number in range(6)]
    for wrong in (["https://new.example/"] * 6, each_other):  # then none of them is a copy
        home = pages("new", {"/": "Welcome."})
        plan = wa.redirect_map(old, pd.concat([home, new.assign(canonical_url=wrong)]))
        assert plan.table["new"].str.contains("/t|/p-2").all()


def test_what_an_error_says_is_not_the_page() -> None:
    says = "Nothing is here; look at the start page or ask us. " * 9
    old = pd.DataFrame({"url": ["https://a.example/x"], "text": [says], "status": ["error"]})
    new = pd.DataFrame({"url": ["https://a.example/help"], "text": [says]})
    assert found(wa.redirect_map(old, new), "decision") == [["gone"]]


def test_what_leads_to_a_login_stays_at_its_address() -> None:
    old = pages("a", {"/account": "", "/tea": SUBJECTS["tea"]}, status=["error", "ok"], http_status=200)
    old["final_url"] = ["https://a.example/login?next=/account", "https://a.example/tea"]
    assert found(wa.redirect_map(old, old), "new", "method")[0] == [
        "https://a.example/account",
        "same address",
    ]


def test_languages_are_kept_apart() -> None:
    old = pages("old", {"/a": SUBJECTS["tea"]}, language=["de"])
    new = pages("new", {"/en": SUBJECTS["tea"], "/de": "Bier und Brot"}, language=["en", "de"])
    assert found(wa.redirect_map(old, new), "new") == [[None]]


def test_pages_of_few_words_go_by_title_and_address() -> None:
    old = pd.DataFrame({"url": ["https://o.example/p/red-chair-42"], "title": ["Red chair"], "text": ["Buy"]})
    new = pd.DataFrame(
        {
            "url": ["https://n.example/shop/red-chair", "https://n.example/shop/blue-table"],
            "title": ["Red chair", "Blue table"],
            "text": ["Buy", "Buy"],
        }
    )
    plan = wa.redirect_map(old, new)
    assert found(plan, "new", "method") == [["https://n.example/shop/red-chair", "title and address"]]


@pytest.mark.parametrize("kind", ["shop", "club"])
def test_a_relaunch_with_addresses_and_texts_written_anew(kind: str) -> None:
    """Merged pages, other folders, languages, case and programs: all are found, and what is gone is gone."""
    old, new, truth = relaunch(kind)
    table = wa.redirect_map(old, new, progress=False).table
    assert (
        dict(zip(table["old"], table["new"].astype(object).where(table["new"].notna(), None), strict=True))
        == truth
    )
    assert (table["decision"] == "sure").sum() >= 10
    merged = table["note"].fillna("").str.contains("old pages that lead here")
    assert merged.sum() == {"shop": 3, "club": 4}[kind]


@pytest.mark.parametrize("kind", ["shop", "club"])
def test_nothing_is_sure_where_no_page_has_a_counterpart(kind: str) -> None:
    old, new, truth = relaunch(kind)
    left = new[~new["url"].isin([url for url in truth.values() if url])]
    decisions = wa.redirect_map(old, left, progress=False).table["decision"]
    assert "sure" not in set(decisions)
    assert (decisions == "gone").mean() > 0.9


def test_addresses_are_the_same_in_other_case_and_of_another_program() -> None:
    old = [f"https://o.example{path}" for path in ("/Tea/Green.php", "/index.html", "/a.html?id=7", "/TEA")]
    new = [f"https://n.example{path}" for path in ("/tea/green/", "/", "/A?id=7", "/tea", "/TEA")]
    assert found(wa.redirect_map(old, new), "new", "method") == [
        [f"https://n.example{path}", "same address"] for path in ("/tea/green/", "/", "/A?id=7", "/TEA")
    ]


def test_lists_of_addresses_are_enough() -> None:
    old = ["https://o.example/garden/roses-in-winter.html", "https://o.example/contact"]
    new = ["https://n.example/roses-in-winter/", "https://n.example/contact", "https://n.example/about"]
    assert found(wa.redirect_map(old, new), "new") == [
        ["https://n.example/roses-in-winter/"],
        ["https://n.example/contact"],
    ]


def test_corrections_by_hand_win() -> None:
    old = pages("old", {"/a": SUBJECTS["tea"], "/b": SUBJECTS["bread"]})
    plan = wa.redirect_map(old, pages("new", {"/t": SUBJECTS["tea"], "/r": SUBJECTS["bread"]}))
    fixed = plan.fix({"https://old.example/a": None, "https://OLD.example/b": "https://new.example/t"})
    assert found(fixed, "new", "decision", "method") == [
        [None, "gone", "by hand"],
        ["https://new.example/t", "sure", "by hand"],
    ]
    assert plan.table["method"].tolist() == ["text", "text"]
    both = plan.fix({"https://old.example/b": "https://new.example/t"})
    assert both.table["note"].tolist() == ["one of 2 old pages that lead here"] * 2
    assert both.fix({"https://old.example/b": None}).table["note"].isna().all()
    for wrong in ({"https://old.example/zzz": None}, {"https://old.example/a": "no address"}):
        with pytest.raises(wa.ParameterError, match="`targets`"):
            plan.fix(wrong)


def test_a_model_of_the_user_takes_the_place_of_words() -> None:
    old, new = pages("old", {"/a": "one", "/b": "two"}), pages("new", {"/x": "zwei", "/y": "eins"})
    numbers = {"one": (1, 0), "eins": (1, 0.1), "two": (0, 1), "zwei": (0.1, 1)}
    plan = wa.redirect_map(
        old, new, embed=lambda texts: np.array([numbers[text.split()[0]] for text in texts])
    )
    assert found(plan, "new") == [["https://new.example/y"], ["https://new.example/x"]]
    with pytest.raises(wa.ParameterError, match="`embed`"):
        wa.redirect_map(old, new, embed=lambda texts: [1])


TWICE = pd.DataFrame([["https://a.example/"] * 2], columns=["url", "url"])


@pytest.mark.parametrize("wrong", [7, [1], pd.DataFrame({"a": [1]}), TWICE, "no-such-folder", []])
def test_a_wrong_side_is_a_wrong_call(wrong: object) -> None:
    with pytest.raises(wa.ParameterError, match="`new`"):
        wa.redirect_map(["https://a.example/"], wrong)


def test_audits_saved_audits_and_sitemaps(tmp_path: Path) -> None:
    html = {"/tea": SUBJECTS["tea"], "/gone": ""}
    replies = {path: f"<title>T</title><p>{text * 4}".encode() for path, text in html.items() if text}
    listed = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{{origin}}/tea</loc></url></urlset>"
    with wa.testing.SiteServer(replies | {"/sitemap.xml": listed.encode()}) as server:
        audit = wa.audit([server.url + path for path in html], allow_private=True, progress=False)
        saved = audit.save(tmp_path / "old")
        by_sitemap = wa.redirect_map(saved, f"{server.url}/sitemap.xml", allow_private=True)
    assert found(by_sitemap, "method") == [["same address"], [None]]
    moved = wa.redirect_map(audit, pages("new", {"/green": SUBJECTS["tea"], "/r": SUBJECTS["bread"]}))
    assert found(moved, "new") == [["https://new.example/green"], [None]]


def test_texts_are_what_pages_show_without_what_the_site_shares() -> None:
    """A reference in a menu: its main text is the heading alone, and every page has the same footer."""

    def side(host: str) -> pd.DataFrame:
        html = [
            f"<title>Page</title><h1>Page</h1><nav><p>{f'{text} ' * 4}</nav><footer>{SUBJECTS['bread'] * 9}</footer>"
            for text in list(SUBJECTS.values())[:3]
        ]
        return pd.DataFrame(
            {"url": [f"https://{host}.example/{host}{row}" for row in range(3)], "html": html}
        )

    plan = wa.redirect_map(side("a"), wa.audit(side("b"), progress=False), progress=False)
    assert found(plan, "new", "method") == [[f"https://b.example/b{row}", "text"] for row in range(3)]


def _folder() -> Path | None:
    corpus = os.environ.get("WEBANALYTICS_CORPUS")
    folder = Path(corpus).parent / "redirects" if corpus else None
    return folder if folder and folder.is_dir() else None


@pytest.mark.skipif(_folder() is None, reason="the redirects are not beside the folder WEBANALYTICS_CORPUS")
def test_redirects_that_people_wrote() -> None:
    """Of 79, at least 68 are found first, and whatever is called sure is right."""
    first = sure = 0
    for name in WRITTEN:
        stored = json.loads(gzip.decompress((_folder() or Path()).joinpath(f"{name}.json.gz").read_bytes()))
        sides = [
            pd.DataFrame(
                {
                    "url": [f"https://{side}.example/{path}" for path in stored[side]],
                    "html": [page["html"] for page in stored[side].values()],
                }
            )
            for side in ("old", "new")
        ]
        table = wa.redirect_map(*sides, progress=False).table
        truth = [f"https://new.example/{page['redirects_to']}" for page in stored["old"].values()]
        right = table["new"].fillna(table["second"]) == truth
        assert right[(table["decision"] == "sure") & (table["method"] == "text")].all()
        first += int(right.sum())
        sure += int((table["decision"] == "sure").sum())
    assert first >= 68
    assert sure >= 50
