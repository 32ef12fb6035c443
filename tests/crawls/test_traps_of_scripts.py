"""Sites whose pages are all queries of a few scripts: what is endless there is left, and no page is lost."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode

import pytest

from tests.crawls.simulated import Made, Write, crawl, words

MENU = "Menu\nSearch\nRegister\nLog in\nPowered by scripts"


def query_of(path: str) -> tuple[str, dict[str, str]]:
    where, _, query = path.partition("?")
    return where, dict(parse_qsl(query))


def lines(name: str, numbers: Iterable[int]) -> str:
    return "\n".join([MENU, *(words((name, number), 6) for number in numbers)])


def wiki(path: str) -> Made | None:
    """Return a wiki whose articles, forms, old versions and lists are all one script, as MediaWiki has them.

    Each article is linked from the one before alone.
    """
    found = re.fullmatch(r"/w\?title=(?:List_)?(\d+)(&.*)?", path)
    if not found:
        return None
    article, number = f"/w?title={found[1]}", int(found[1])
    forms = [f"{article}&action=edit&section={section}" for section in range(12)]
    others = [f"/w?title=List_{number}", f"{article}&action=edit", f"{article}&oldid=7{number}", "/w?title=0"]
    if found[2] or "List" in path:
        kind = (found[2] or "&List")[1:5]
        return Made([article, *others], f"{kind}\nYou have no permission to do this, and the list is empty.")
    return Made([*forms, *others, f"/w?title={number + 1}"], words(path) if number < 300 else "No such page")


def forum(path: str) -> Made | None:
    """Return a forum of 900 topics, with orders of its lists and an address for each post, as phpBB has them."""
    where, asked = query_of(path)
    if where == "/":
        return Made([f"/viewforum.php?f={number}" for number in range(3)], words("home"))
    if where == "/viewforum.php":
        number, start = int(asked["f"]), int(asked.get("start", 0))
        topics = range(number * 300 + start, number * 300 + min(start + 25, 300))
        lists = [f"/viewforum.php?f={number}&start={at}" for at in range(0, 300, 25)]
        orders = [f"/viewforum.php?f={number}&sd={a}&sk={b}&start={start}" for a in "ad" for b in "atrs"]
        found = [f"/viewtopic.php?f={number}&t={topic}" for topic in topics]
        return Made(
            [*lists, *orders, *found, *(f"/viewtopic.php?p={10 * t + 9}" for t in topics)], lines("t", topics)
        )
    if where == "/viewtopic.php":
        topic = int(asked["t"]) if "t" in asked else int(asked["p"]) // 10
        posts = [f"/viewtopic.php?p={10 * topic + post}" for post in range(10)]
        forms = [f"/posting.php?mode={mode}&t={topic}" for mode in ("reply", "quote", "report")]
        text = lines("t", [topic]) + "\n".join(words(("post", topic, post), 30) for post in range(10))
        return Made([*posts, *forms, f"/viewtopic.php?f={topic // 300}&t={topic}&view=print", "/"], text)
    return Made(["/"], f"{MENU}\nYou must log in to post") if where == "/posting.php" else None


def catalogue(path: str) -> Made | None:
    """Return a shop of 800 products, each list under orders, sizes and pages, as OpenCart has them."""
    where, asked = query_of(path)
    script = "/index.php?route="
    lists = [f"{script}product/category&path={number}" for number in range(8)]
    if where == "/":
        return Made(lists, words("home"))
    if asked.get("route") == "product/category":
        number, page, size = int(asked["path"]), int(asked.get("page", 1)), int(asked.get("limit", 20))
        products = range(number * 100 + (page - 1) * size, number * 100 + min(page * size, 100))
        here = "&".join(
            f"{name}={asked[name]}" for name in ("route", "path", "sort", "order") if name in asked
        )
        more = [f"/index.php?{here}&page={at}" for at in range(1, 6)]
        more += [f"/index.php?{here}&limit={at}" for at in (20, 25, 50, 75, 100)]
        more += [
            f"{lists[number]}&sort={a}&order={b}" for a in ("name", "price", "model") for b in ("ASC", "DESC")
        ]
        found = [f"{script}product/product&path={number}&product_id={product}" for product in products]
        return Made([*lists, *more, *found], lines("p", products))
    if asked.get("route") == "product/product":
        product = int(asked["product_id"])
        around = [
            f"{script}product/product&product_id={product * 7 % 800}",
            f"{script}compare&product_id={product}",
        ]
        around += [f"{script}product/maker&maker_id=0"] * (product == 799)
        return Made([*lists, *around], lines("p", [product]) + "\n" + words(("about", product), 25))
    if asked.get("route") == "product/maker":  # known of the last product alone, and of each other
        maker = int(asked["maker_id"]) + 1
        return Made([f"{script}product/maker&maker_id={maker}"] * (maker < 40), words(path))
    return Made(lists, f"{MENU}\nCompare")


WIKI = [f"/w?title={number}" for number in range(300)]
TOPICS = [f"/viewtopic.php?f={topic // 300}&t={topic}" for topic in range(900)]
PRODUCTS = [
    f"/index.php?route=product/product&path={number // 100}&product_id={number}" for number in range(800)
]
MAKERS = [f"/index.php?route=product/maker&maker_id={number}" for number in range(40)]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("site", "pages"),
    [(wiki, WIKI), (forum, TOPICS), (catalogue, PRODUCTS + MAKERS)],
    ids=["wiki", "forum", "catalogue"],
)
def test_pages_beside_an_endless_family_of_their_script_are_all_read(
    site: Write, pages: list[str], seed: int
) -> None:
    def whole(path: str) -> Made | None:
        return Made(["/w?title=0"], words("home")) if path == "/" and site is wiki else site(path)

    found = crawl(whole, seed=seed)
    known = {frozenset(query_of(path)[1].items()) for path in found.rows}
    assert [path for path in pages if frozenset(query_of(path)[1].items()) not in known] == []
    assert found.traps
    # its forms, orders and addresses of posts would be several times as many
    assert found.fetched < 4 * len(pages)
    for row in found.traps:
        said = (
            "have the same lines without" if row["kind"] == "parameter" else "have no line that others lack"
        )
        assert said in row["evidence"]


@pytest.mark.parametrize("seed", range(3))
def test_a_list_whose_orders_are_closed_is_read_to_its_last_page(seed: int) -> None:
    orders = ["sort=name", "sort=price", "sort=new", "sort=best"]
    views = ["view=list", "view=big", "view=grid"]
    ways = [*orders, *views, *(f"{order}&{view}" for order in orders for view in views)]

    def shop(path: str) -> Made:
        where, asked = query_of(path)
        if where == "/":
            return Made(["/lamps"], words("home"))
        if where != "/lamps":
            return Made(["/lamps"], lines("p", [int(where[2:])]) + "\n" + words(("about", where), 25))
        page = int(asked.pop("page", 1))
        products = range(20 * page - 20, 20 * page)
        kept = "".join(f"&{name}={value}" for name, value in asked.items())
        # From the second page "back" leads to the first, which is the list itself.
        around = [f"/lamps?page={number}{kept}" for number in (page - 1, page + 1) if 1 <= number <= 20]
        found = [f"/p{number}" for number in products]
        return Made([*found, *(f"/lamps?{way}" for way in ways), *around], lines("p", products))

    found = crawl(shop, seed=seed)
    assert {f"/p{number}" for number in range(400)} <= set(found.rows)
    assert [row["kind"] for row in found.traps] == ["filters"]
    assert found.fetched < 550  # 19 ways to see 20 pages of them would be 380 more


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("paging", ["page", "p", "start"])
@pytest.mark.parametrize("facet", ["facet", ""], ids=["repeated", "named"])
def test_a_list_whose_filters_are_closed_is_read_to_its_last_page(facet: str, paging: str, seed: int) -> None:
    remainders = {"red": 5, "col": 4, "siz": 3}

    def shop(path: str) -> Made:
        where, _, query = path.partition("?")
        asked = parse_qsl(query)
        if where == "/":
            return Made(["/lamps"], words("home"))
        if where != "/lamps":
            return Made(["/lamps"], lines("p", [int(where[2:])]) + "\n" + words(("about", where), 25))
        step = 20 if paging == "start" else 1
        at = next((int(value) // step for name, value in asked if name == paging), int(step == 1))
        first = (at - (step == 1)) * 20
        filters = [(name, value) for name, value in asked if name != paging]
        shown = [
            number
            for number in range(800)
            if all(number // 2 % remainders[value[:3]] == int(value[3:]) for _, value in filters)
        ]
        ways = [
            urlencode([*(pair for pair in filters if pair[0] != name), (facet or name, f"{name}{value}")])
            for name, count in remainders.items()
            for value in range(count)
        ]
        more = [urlencode([*filters, (paging, (at + 1) * step)])] * (first + 20 < len(shown))
        found = shown[first : first + 20]
        links = [*(f"/p{number}" for number in found), *(f"/lamps?{way}" for way in [*ways, *more])]
        return Made(links, lines("p", found))

    found = crawl(shop, seed=seed)
    assert {f"/p{number}" for number in range(800)} <= set(found.rows)
    assert [row["kind"] for row in found.traps] == ["filters"]
    assert found.fetched < 1.3 * 800  # 60 combinations of filters would be over 900 more, repeated no end
