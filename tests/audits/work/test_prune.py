"""What to do with each page: nothing without a reason, nothing lost that has visitors or links."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.fetching.testing import Reply, SiteServer

LAMPS = " ".join(f"Lamp {number} hangs at pier {number} and burns {number} hours." for number in range(40))
ROPES = " ".join(
    f"Rope {number} holds {number} boats since {1900 + number}, spliced twice." for number in range(40)
)
MORE = " ".join(f"Wick {number} of lamp {number} is trimmed in week {number}." for number in range(8))


def page(text: str, head: str = "", links: str = "") -> str:
    return f"<html lang=en><title>{text[:9]}</title>{head}<p>{text}</p>{links}"


def audit(pages: dict[str, str], **columns: Any) -> wa.Audit:
    urls = [f"https://a.example{path}" for path in pages]
    made = wa.audit(pd.DataFrame({"url": urls, "html": list(pages.values())}))
    return made.with_columns(pd.DataFrame({"url": urls, **columns})) if columns else made


def advice(found: pd.DataFrame) -> list[tuple[str, str, str]]:
    short = [found[name].fillna("").str.removeprefix("https://a.example") for name in ("url", "target")]
    return list(zip(short[0], found["advice"], short[1], strict=True))


SITE = {"/ropes": page(ROPES), "/old": page("Prices follow."), "/lamps": page(LAMPS), "/soon": page("Soon.")}


def test_a_thin_page_is_removed_only_where_its_clicks_are_known() -> None:
    without = audit(SITE).prune()
    assert advice(without)[1:4:2] == [("/old", "improve", ""), ("/soon", "improve", "")]
    assert without["clicks"].isna().all()
    found = audit(SITE, clicks=[3, 0, 4, None]).prune()
    assert advice(found) == [
        ("/ropes", "keep", ""),
        ("/old", "remove", ""),
        ("/lamps", "keep", ""),
        ("/soon", "improve", ""),  # a missing number is not 0
    ]
    assert found.loc[1, "reasons"] == "2 words of content and no clicks from search, and no page links to it."
    assert found["content_words"].tolist()[1::2] == [2, 1]
    sure = audit(SITE, clicks=[3, 0, 4, None]).prune(whole=True)
    assert sure["advice"].tolist() == ["keep", "remove", "keep", "remove"]
    assert sure.loc[3, "clicks"] == 0
    kept = audit(SITE, clicks=[3, 0, 4, 0], impressions=[9, 5, 9, 0]).prune()
    assert kept["advice"].tolist() == ["keep", "improve", "keep", "remove"]  # /old is shown to searchers


def test_plain_texts_are_no_pages_to_prune() -> None:
    """As the sources that documentation has beside each of its pages."""
    pages = {
        "/": page(ROPES, links="<a href=/ropes.txt>source</a>").encode(),
        "/ropes.txt": Reply(200, {"Content-Type": "text/plain"}, ROPES.encode()),
    }
    with SiteServer(pages) as site:
        audit = wa.crawl(f"{site.url}/", allow_private=True)
    assert sorted(audit.pages["url"]) == [f"{site.url}/", f"{site.url}/ropes.txt"]
    assert audit.prune()["url"].tolist() == [f"{site.url}/"]


def test_pages_with_clicks_or_many_links_are_never_removed() -> None:
    links = "".join(f"<a href={path}>{path}</a>" for path in SITE)
    linked = audit({path: html + links for path, html in SITE.items()}, clicks=[3, 0, 4, 0])
    assert set(linked.prune(inlinks=2).set_index("url").loc[["https://a.example/old"], "advice"]) == {
        "noindex"
    }
    for clicks in (1, 2, 50):
        found = audit(SITE, clicks=[0, clicks, 0, clicks]).prune(similar=0.01)
        assert not set(found["advice"][1::2]) & {"remove", "noindex", "merge into"}


def test_near_duplicates_lead_to_the_one_with_more_clicks_or_links() -> None:
    twins = {
        "/b": page(LAMPS),
        "/a": page(LAMPS + " It is new."),
        "/ropes": page(ROPES),
        "/x": page(MORE * 5),
    }
    assert advice(audit(twins, clicks=[0, 7, 1, 1]).prune())[:2] == [
        ("/b", "redirect to", "/a"),
        ("/a", "keep", ""),
    ]
    assert advice(audit(twins, clicks=[8, 7, 1, 1]).prune())[:2] == [
        ("/b", "keep", ""),
        ("/a", "redirect to", "/b"),
    ]
    twins["/ropes"] = page(ROPES, links="<a href=/b>Lamps</a>")
    found = audit(twins).prune()
    assert advice(found)[1] == ("/a", "redirect to", "/b")
    assert "which has more links to it (1, not 0)" in found.loc[1, "reasons"]


def test_nothing_leads_to_a_page_that_goes() -> None:
    twins = {"/b": page(LAMPS[:200]), "/a": page(LAMPS[:200]), "/ropes": page(ROPES), "/x": page(MORE * 5)}
    assert advice(audit(twins).prune())[0] == ("/b", "redirect to", "/a")
    assert audit(twins, clicks=[0, 0, 1, 1]).prune()["advice"].tolist()[:2] == ["remove", "remove"]


def test_versions_of_a_page_for_other_countries_stay() -> None:
    head = "<link rel=alternate hreflang=en-us href=/us><link rel=alternate hreflang=en-gb href=/gb>"
    pages = {"/us": page(LAMPS, head), "/gb": page(LAMPS, head), "/ropes": page(ROPES), "/x": page(MORE * 5)}
    assert set(audit(pages, clicks=[5, 0, 1, 1]).prune()["advice"]) == {"keep"}


def test_a_page_about_the_same_is_merged_into_one_that_stays() -> None:
    pages = {
        "/ropes": page(ROPES),
        "/lamps": page(LAMPS + MORE),
        "/wicks": page(LAMPS[:900] + MORE),
        "/x": page("Bye. "),
    }
    site = audit(pages, clicks=[5, 5, 0, 5])
    found = site.prune(similar=0.5)
    assert advice(found)[2] == ("/wicks", "merge into", "/lamps")
    assert 0.5 <= found.loc[2, "similarity"] < 1
    assert "lamp" in found.loc[2, "reasons"]
    assert set(site.prune(similar=1)["advice"]) <= {"keep", "improve"}
    assert advice(site.select("https://a.example/wicks").prune(similar=0.5)) == [advice(found)[2]]


def test_what_is_not_read_or_not_indexed_has_no_advice_to_go() -> None:
    pages = pd.DataFrame({"url": [f"https://a.example{path}" for path in SITE], "html": list(SITE.values())})
    pages.loc[1, "html"] = page("Prices.", "<meta name=robots content=noindex>")
    raw = wa.audit(pages).raw.assign(clicks=0)
    raw.loc[3, ["status", "error"]] = "error"
    found = wa.Audit(raw).prune()
    assert found["url"].tolist() == pages["url"].tolist()[:3]
    assert found.loc[1, ["advice", "indexability"]].tolist() == ["keep", "noindex"]
    assert "noindex" in found.loc[1, "reasons"]


@pytest.mark.parametrize("given", [{"thin": 0}, {"similar": 1.5}, {"clicks": True}, {"inlinks": "many"}])
def test_wrong_limits(given: dict[str, Any]) -> None:
    with pytest.raises(wa.ParameterError) as refused:
        audit(SITE).prune(**given)
    assert refused.value.parameter == next(iter(given))


def test_what_is_not_known_of_a_page_is_not_told_as_zero() -> None:
    found = audit({"/a": page(LAMPS), "/b": page(LAMPS)}, clicks=[3, None]).prune()
    assert advice(found) == [("/a", "keep", ""), ("/b", "redirect to", "/a")]
    assert found.loc[1, "reasons"] == "Nearly the same text as https://a.example/a."
    # clicks alone tell nothing of impressions: the page of three clicks was shown, the first one may have been
    known = audit(SITE, clicks=[0, "7", 3, None]).prune(whole=True)
    assert known["advice"].tolist() == ["keep", "improve", "keep", "remove"]
    assert known["impressions"].fillna(-1).tolist() == [-1, -1, -1, 0]
    assert known["clicks"].fillna(-1).tolist() == [0, -1, 3, 0]


def test_a_number_without_end_is_none() -> None:
    found = audit(SITE, clicks=[3, 0, float("inf"), 0.0]).prune()
    assert found["advice"].tolist() == ["keep", "remove", "keep", "remove"]
    assert found["clicks"].isna().tolist() == [False, False, True, False]


def test_later_pages_of_a_list_stay() -> None:
    links = "".join(f'<li><h3><a href="/n/{n}">Note {n} on lamps and wicks</a></h3></li>' for n in range(12))
    notes = f"<html lang=en><title>Notes</title><h1>Notes</h1><ul>{links}</ul>"
    pages = {"/notes": page(ROPES), "/notes/page/2/": notes, "/page/3": page("Soon.")}
    found = audit(pages, clicks=[3, 0, 0]).prune()
    assert advice(found) == [
        ("/notes", "keep", ""),
        ("/notes/page/2/", "keep", ""),
        ("/page/3", "remove", ""),
    ]
    assert "list" in found.loc[1, "reasons"]
