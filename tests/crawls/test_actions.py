"""A crawl that is logged in asks for nothing that logs out, deletes or fills a basket."""

from __future__ import annotations

from typing import Any

import pytest

import webanalytics as wa
from webanalytics.crawls.scope import WORDS, does
from webanalytics.fetching.testing import Reply, SiteServer

DO_IT = {
    "logout": [
        "/logout", "/user/logout?next=/", "/Account/LogOff", "/account/signOut", "/wp-login.php?action=logout&n=1",
        "/sign_out", "/log-out/", "/users/sign-out.html", "/index.php?route=account/logout", "/abmelden",
        "/d%C3%A9connexion", "/?logout", "/oidc/endsession", "/customer/account/logout/", "/user-logout",
        "/odhlasit-se", "/odhl%C3%A1si%C5%A5-sa", "/logg-ut", "/log-ud", "/kirjaudu-ulos", "/odjava", "/kijelentkezes",
        "/terminar-sessao", "/logi-valja", "/log-keluar", "/dang-xuat", "/deautentificare",
    ],
    "delete": [
        "/posts/7/delete", "/delete.php?id=7", "/?action=delete&id=7", "/items/7?_method=delete", "/deleteItem/7",
        "/admin/bulk-delete-selected-items", "/remove_item/7", "/?op=remove", "/node/7/destroy", "/unsubscribe/abc",
        "/cancel-order?id=7", "/?do=del", "/trash/7", "/l%C3%B6schen/7", "/comment_delete", "/?remove_item=abc",
    ],
    "basket": [
        "/?add-to-cart=7", "/cart/add/7", "/cart/add?id=7", "/checkout/cart/add/uenc/x/product/7", "/addToCart?id=7",
        "/cart?add=7", "/basket/update", "/?action=add_to_wishlist", "/in-den-warenkorb/7", "/buy-now/7",
        "/cart.php?action=add&id=7", "/product/7/add-to-basket",
    ],
}  # fmt: skip
HARMLESS = [
    "/", "/blog/outdoor", "/blog-outdoor", "/catalogoutlet", "/login", "/signin", "/how-to-delete-a-post",
    "/guides/how-to-log-out-of-everything", "/removal-services", "/deleted-scenes", "/cart", "/basket-weaving",
    "/cancellation-policy", "/casa-del-mar", "/del-monte", "/trash-cans", "/docs/removedfeatures", "/hotels/delray",
    "/clear-glass", "/empty-nest", "/add-on-services", "/shopping", "/bags/leather", "/dropdown", "/killer-whales",
]  # fmt: skip


@pytest.mark.parametrize("name", WORDS)
def test_what_such_addresses_look_like(name: str) -> None:
    assert [path for path in DO_IT[name] if not does(name, f"https://a.example{path}")] == []


@pytest.mark.parametrize("name", WORDS)
def test_ordinary_addresses(name: str) -> None:
    assert [path for path in HARMLESS if does(name, f"https://delete.example{path}")] == []


def shop() -> SiteServer:
    links = "".join(
        f"<a href={path}>x</a>"
        for path in ("/tea", "/out", "/logout", "/cart/add/7", "/reset", "/post/7/delete")
    )
    page = f"<title>T</title>{links}<img src=/logout?pixel><p>words".encode()
    found: dict[str, Any] = {
        "/": page,
        "/tea": b"<title>Tea</title>",
        "/robots.txt": b"Sitemap: {{origin}}/sitemap.xml",
    }
    found |= {"/out": Reply(302, {"Location": "/user/logout"}), "/user/logout": b"<title>Bye</title>"}
    found |= dict.fromkeys(("/logout", "/cart/add/7", "/reset", "/post/7/delete"), b"<title>Done</title>")
    sitemap = b"<urlset><url><loc>{{origin}}/logout</loc></url></urlset>"
    return SiteServer(found | {"/sitemap.xml": sitemap, "/logout?pixel": b"x"})


def crawled(start: str = "/", **more: Any) -> tuple[dict[str, bool], dict[str, tuple[str, str]]]:
    """Which paths were asked for, each with whether a cookie was sent; and what was skipped, and why."""
    with shop() as site:
        host = site.url.removeprefix("http://")
        more.setdefault("access", {host: wa.Access(cookies={"session": "c00kie-val"})})
        found = wa.crawl(site.url + start, allow_private=True, **more)
        skipped = found.skipped[found.skipped["reason"] != "external"]
        asked = {request.target: "cookie" in request.headers for request in site.requests}
    return asked, {
        url.removeprefix(site.url): (reason, detail)
        for url, reason, detail in skipped[["url", "reason", "detail"]].itertuples(index=False)
    }


ACTIONS = {"/logout", "/cart/add/7", "/post/7/delete", "/user/logout"}


def test_a_crawl_that_is_logged_in() -> None:
    asked, skipped = crawled(resources="check")
    assert skipped == {
        "/logout": ("action", "logout"),
        "/cart/add/7": ("action", "basket"),
        "/post/7/delete": ("action", "delete"),
        "/user/logout": ("action", "logout"),
    }
    assert asked.keys() & ACTIONS == {"/user/logout"}
    assert not asked["/user/logout"]  # a redirect leads there, so that it is asked as by anybody
    assert not asked["/logout?pixel"]
    assert asked["/"]
    assert asked["/tea"]
    assert asked["/reset"]


def test_the_list_can_be_changed() -> None:
    asked, skipped = crawled(avoid=["logout", r"/reset$"])
    assert skipped["/reset"] == ("action", "/reset$")
    assert asked.keys() >= {"/cart/add/7", "/post/7/delete"}
    asked, skipped = crawled(avoid=["actions", "/reset"])
    assert skipped.keys() == {*ACTIONS, "/reset"}
    asked, skipped = crawled(avoid=None)
    assert skipped == {}
    assert all(asked[path] for path in ACTIONS)


def test_a_start_is_asked_for_whatever_it_looks_like() -> None:
    asked, _ = crawled("/logout")
    assert asked["/logout"]


def test_without_access_nothing_is_left_out() -> None:
    for access in (None, {"elsewhere.example": wa.Access(token="t0ken-abc")}):
        asked, skipped = crawled(access=access)
        assert skipped == {}
        assert asked.keys() >= ACTIONS


@pytest.mark.parametrize("avoid", [3, ["("], [""], {"a": 1}, b"x"])
def test_wrong_values(avoid: Any) -> None:
    with pytest.raises(wa.ParameterError, match="`avoid` parameter"):
        wa.crawl("https://a.example/", avoid=avoid)
