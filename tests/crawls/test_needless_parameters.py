"""Parameters that change nothing but the order of lines are tried, and then left; what they name elsewhere is not."""

from __future__ import annotations

import re
from itertools import chain
from urllib.parse import quote, unquote

import pytest

from tests.crawls.simulated import Made, crawl, words


def named_links(path: str) -> Made | None:
    """Return 200 pages whose links say where they stand, and a list in pages."""
    where, _, query = path.partition("?")
    if where == "/list":
        number = int(query.removeprefix("page=") or 1)
        around = [f"/list?page={place}" for place in range(1, 31)]
        return Made([*around, f"/of{number}"], words(("list", number)))
    if not (found := re.fullmatch(r"/(?:p(\d+)|of\d+)?", where)):
        return None
    number = int(found[1] or 0)
    links = [f"/p{(number + 1 + 37 * place) % 200}?ref={(number + place) % 7}" for place in range(6)]
    return Made([*links, f"/p{(number + 1) % 200}", "/list", "/?=4f2a"], words(where))


def named_items(path: str) -> Made | None:
    """Return the same, and a shop far from the start whose items are asked for by the same name."""
    if path.startswith("/items"):
        return Made([], words(path) if "?" in path else "No item was asked for")
    return Made([f"/items?ref={item}" for item in range(60)]) if path == "/of30" else named_links(path)


@pytest.mark.parametrize("seed", range(3))
def test_a_parameter_that_changes_nothing_is_fetched_twice_for_a_page_at_most(seed: int) -> None:
    wanted = {f"/p{number}" for number in range(1, 200)} | {f"/of{number}" for number in range(1, 30)}
    wanted |= {f"/list?page={page}" for page in range(1, 31)}
    found = crawl(named_links, seed=seed)
    assert wanted <= set(found.rows)
    assert [(row["pattern"], row["kind"]) for row in found.traps] == [("ref=…", "parameter")]
    assert len([row for row in found.rows if "ref=" in row]) < 2 * 200 + 16
    assert found.dropped < 200
    assert len(crawl(named_links, seed=seed, traps="off").rows) > 1_000
    items = crawl(named_items, seed=seed)
    assert wanted | {f"/items?ref={item}" for item in range(60)} <= set(items.rows)


FOLDERS = [f"/{one}{other}/" for one in "abcdef" for other in "klmnopqr"]


def sorted_folders(path: str) -> Made | None:
    """Return folders with their files by name, date or size as Apache lists them: eight orders of each."""
    where, _, query = path.partition("?")
    if where == "/":
        return Made(FOLDERS, "All folders")
    if where not in FOLDERS:
        return Made(["/"], words(where))
    files = [f"{where}{name}" for name in ("tea", "cup", "pot", "leaf")]
    lines = [words(("line", name)) for name in files]
    turn = "NMSD".find(query[2:3]) % 4
    lines = (lines[turn:] + lines[:turn])[:: -1 if query.endswith("D") else 1]
    asked = [f"{where}?C={column};O={order}" for column in "NMSD" for order in "AD"]
    return Made([*asked, "/", *files], "\n".join(lines))


@pytest.mark.parametrize("seed", range(3))
def test_orders_of_the_same_lines_are_fetched_twice_for_a_page_at_most(seed: int) -> None:
    found = crawl(sorted_folders, seed=seed)
    assert {*FOLDERS, *(f"{folder}pot" for folder in FOLDERS)} <= set(found.rows)
    assert [(row["pattern"], row["kind"]) for row in found.traps] == [("C=…", "parameter")]
    assert len([row for row in found.rows if "?C=" in row]) < len(FOLDERS) * 4


def ways_back(path: str) -> Made | None:
    """Return pages with a link to log in that names them, and forms to log in and sign up that hand that on.

    A viewer has one text for all its documents, to which it leads.
    """
    where, _, query = path.partition("?")
    if where in ("/login", "/join"):
        return Made([f"/{'join' if where == '/login' else 'login'}?{quote(unquote(query), safe='=')}"], where)
    if where == "/view":
        return Made([unquote(query.removeprefix("file="))], "The document is below")
    if not (found := re.fullmatch(r"/(?:p(\d+))?", where)):
        return Made([], words(where)) if where.startswith("/doc") else None
    number = int(found[1] or 0)
    return Made(
        [
            f"/login?next={where}",
            f"/view?file=/doc{number}",
            *(f"/p{number * 3 + more}" for more in (1, 2, 3)),
        ]
        if number < 100
        else [f"/login?next={where}"],
        words(where),
    )


@pytest.mark.parametrize("seed", range(3))
def test_forms_that_hand_on_where_to_go_back_to_are_left(seed: int) -> None:
    found = crawl(ways_back, seed=seed)
    assert {f"/p{number}" for number in range(1, 300)} | {f"/doc{number}" for number in range(100)} <= set(
        found.rows
    )
    assert ("next=…", "parameter") in {(row["pattern"], row["kind"]) for row in found.traps}
    assert len([row for row in found.rows if "next=" in row]) < 40


def threads(path: str) -> Made | None:
    """Return 60 threads of three pages with eight posts each, and an address for each post.

    The list of the threads leads to the last post of each.
    """
    where, _, query = path.partition("?")
    if where == "/":
        last = [(f"/t{number}?post={number * 24 + 24}", f"/t{number}") for number in range(60)]
        return Made([*chain(*last)], "All threads")
    asked = int(query.rpartition("=")[2] or 1)
    page = (asked - 1) % 24 // 8 + 1 if query.startswith("post=") else asked
    first = int(where[2:]) * 24 + (page - 1) * 8
    posts = [f"{where}?post={post}" for post in range(first + 1, first + 9)]
    return Made([*posts, *(f"{where}?page={number}" for number in (2, 3))], words((where, page)))


@pytest.mark.parametrize("seed", range(3))
def test_addresses_of_posts_that_show_a_page_of_their_thread_are_left(seed: int) -> None:
    found = crawl(threads, seed=seed)
    assert {f"/t{number}{page}" for number in range(60) for page in ("", "?page=2", "?page=3")} <= set(
        found.rows
    )
    assert ("post=…", "parameter") in {(row["pattern"], row["kind"]) for row in found.traps}
    assert len([row for row in found.rows if "post=" in row]) < 60 * 24 / 2
