"""The grammar of robots.txt against independent readers, and its cost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from tests.effort import Steps, effort_since
from webanalytics.fetching import robots_rules
from webanalytics.fetching.robots import parse
from webanalytics.fetching.robots_rules import (
    Decision,
    RobotsFile,
    Rule,
    RuleSet,
    canonical,
    path_of,
)

AT = "https://example.com"


def by_force(pattern: str, path: str) -> bool:
    """Whether a pattern matches, by trying every way: the definition, in exponential time."""
    if not pattern:
        return True
    if pattern == "$":
        return not path
    if pattern[0] == "*":
        return any(by_force(pattern[1:], path[start:]) for start in range(len(path) + 1))
    return bool(path) and pattern[0] == path[0] and by_force(pattern[1:], path[1:])


def judged(rules: list[Rule], path: str) -> bool:
    """Whether a path is allowed, by the sentence of RFC 9309 section 2.2.2."""
    found = [(len(rule.pattern), rule.allow) for rule in rules if by_force(rule.pattern, path)]
    return max(found, default=(0, True))[1]


PATTERNS = st.text("ab*", max_size=7).map("/{}".format)
PATTERN = st.builds(lambda text, end: text + end, PATTERNS | st.just("*a"), st.sampled_from(["", "$"]))
RULES = st.lists(st.builds(Rule, st.booleans(), PATTERN, st.just(1)), max_size=8)


@settings(max_examples=300, deadline=None)
@given(RULES, st.lists(st.text("ab", max_size=9).map("/{}".format), min_size=1, max_size=6))
def test_rules_mean_what_trying_every_way_says(rules: list[Rule], paths: list[str]) -> None:
    compiled = RuleSet(rules)
    for path in paths:
        assert compiled.decide_path(path).allowed is judged(rules, path), (rules, path)


NAMES = ["alpha", "beta", "gamma-bot", "*"]
LINES = st.one_of(
    st.builds("Disallow: {}".format, PATTERN),
    st.builds("Allow: {}".format, PATTERN),
    st.just("Disallow:"),
    st.just("Sitemap: https://example.com/s.xml"),
    st.just("# words"),
    st.just(""),
)
GROUPS = st.builds(
    lambda name, lines: "\n".join([f"User-agent: {name}", *lines, "Disallow:"]),
    st.sampled_from(NAMES),
    st.lists(LINES, max_size=6),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(GROUPS, max_size=5).map("\n".join), st.text("ab", max_size=9), st.sampled_from(NAMES[:3]))
def test_sane_files_mean_what_protego_says(text: str, path: str, agent: str) -> None:
    # A group of rules alone: Protego lets a crawl-delay and a blank group end a list of names.
    url = f"{AT}/{path}"
    own, theirs = RobotsFile(text), Protego.parse(text)
    assert own.rules(agent).decide(url).allowed is theirs.can_fetch(url, agent)
    assert own.sitemaps == list(theirs.sitemaps)


def test_names_are_whole_tokens() -> None:
    file = RobotsFile("User-agent: OAI\nDisallow: /\n\nUser-agent: Googlebot\nDisallow: /g\n")
    assert file.chosen("OAI-SearchBot") is None  # Protego takes the prefix for it
    assert file.rules("OAI-SearchBot").decide(f"{AT}/").allowed
    assert file.chosen("googlebot") == "googlebot"
    assert file.chosen("Googlebot-News") is None
    assert RobotsFile("User-agent: Googlebot/2.1\nDisallow: /").rules("googlebot").decide(AT).allowed is False


@pytest.mark.parametrize(
    ("name", "chosen"), [("*", "*"), ("* all", "*"), ("*\t", "*"), ("*bot", None), ("**", None)]
)
def test_a_star_is_for_all_where_nothing_is_behind_it(name: str, chosen: str | None) -> None:
    """RFC 9309 section 2.2.1; Google's parser asks for a space or the end of the line behind the star."""
    assert RobotsFile(f"User-agent: {name}\nDisallow: /").chosen("webanalytics") == chosen


def test_groups_of_one_crawler_add_up_and_other_lines_do_not_part_them() -> None:
    text = (
        "User-agent: a\nCrawl-delay: 3\nSitemap: /s\nUser-agent: b\nDisallow: /x\nUser-agent: A\nDisallow: /y"
    )
    file = RobotsFile(text)
    seen = [[file.rules(name).decide(f"{AT}/{path}").allowed for path in "xyz"] for name in "ab"]
    assert seen == [[False, False, True], [False, True, True]]
    assert (file.crawl_delay("a"), file.crawl_delay("b")) == (3.0, 0.0)


def test_a_delay_goes_to_the_names_above_it_once() -> None:
    file = RobotsFile(
        "User-agent: a\nCrawl-delay: x\nCrawl-delay: 3\nUser-agent: b\nCrawl-delay: 5\nAllow: /\n"
        "User-agent: c\nDisallow: /\nUser-agent: d\nUser-agent: a\nCrawl-delay: 7\nCrawl-delay: 9"
    )
    assert [file.crawl_delay(name) for name in "abcd"] == [3.0, 5.0, 0.0, 7.0]


def test_many_names_with_many_delays_take_time_in_proportion() -> None:
    with Steps() as steps:
        file = RobotsFile(
            "".join(f"User-agent: a{number}\n" for number in range(500)) + "Crawl-delay: 1\n" * 500
        )
    assert file.crawl_delay("a499") == 1.0
    assert steps.count < 50 * 1_000, "each name has one delay, and each line is read once"


def test_the_deciding_line_is_known() -> None:
    file = RobotsFile("# hi\r\nUser-agent: *\r\nDisallow: /a\r\nAllow: /a/b\r\n")
    decision = file.rules("x").decide(f"{AT}/a/b?c")
    assert (decision.allowed, str(decision.rule)) == (True, "line 4: Allow: /a/b")
    assert file.rules("x").decide(f"{AT}/q") == Decision(True)


# RFC 9309 sections 2.2.2 and 2.2.3.
@pytest.mark.parametrize(
    ("pattern", "path", "match"),
    [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", True),
        ("/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http://foo.bar", True),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%E3%83%84", "/foo/bar/ツ", True),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", True),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-b.html", False),
        ("/path/foo-%24", "/path/foo-$", True),
        ("/path/foo-$", "/path/foo-$", False),
        ("/a$b", "/a$b", True),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%2fb", "/a/b", False),
        ("/fish*.php$", "/fish.php?x", False),
        ("/Fish", "/fish", False),
        ("fish", "/fish", False),
        ("/", "", True),
        ("/robots.txt", "/robots.txt", False),
    ],
)
def test_escapes_and_special_characters(pattern: str, path: str, match: bool) -> None:
    assert RuleSet([Rule(False, pattern, 1)]).decide(AT + path).allowed is not match


@given(st.text(max_size=40))
def test_one_form_is_enough(path: str) -> None:
    assert canonical(canonical(path)) == canonical(path)
    assert canonical(path).isascii()


# ---- what it costs

SIZE = 500 * 1024


def filled(line: str) -> bytes:
    return ("User-agent: *\n" + f"{line}\n" * (SIZE // len(line))).encode()[:SIZE]


def distinct(shape: str) -> bytes:
    """A file of rules in one shape, each with a number of its own."""
    text, number = ["User-agent: *"], 0
    while sum(map(len, text[-1:])) and number * len(shape) < SIZE:
        text.append(shape.format(f"{number:05d}"))
        number += 1
    return "\n".join(text).encode()[:SIZE]


HOSTILE = {
    "stars": filled("Disallow: /*aaaaaaaaaaaaaaaaaaaaaaaab"),
    "many stars": filled("Disallow: /" + "*a" * 200 + "b"),
    "one pattern": b"User-agent: *\nDisallow: /" + b"*a" * 250_000 + b"b",
    "different ones": distinct("Disallow: /*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{0}b"),
    "near misses": distinct("Disallow: /*{0}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
    "slow for a search": distinct("Disallow: /*" + "a" * 40 + "{0}" + "a" * 40),
    "in the wrong order": distinct("Disallow: /*0*1*2*3*4*{0}*a*b*c*0"),
    "without stars": distinct("Disallow: /" + "a" * 30 + "{0}"),
    "of all lengths": b"User-agent: *\n" + b"".join(b"Disallow: /%s\n" % (b"a" * n) for n in range(900)),
}
ADDRESSES = {
    "a": f"{AT}/" + "a" * 8000,
    "mixed": f"{AT}/" + ("a" * 40 + "12345" + "a" * 40 + "0b") * 92,
    "digits": f"{AT}/" + "0123456789abc" * 620,
}


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("name", HOSTILE)
def test_one_address_costs_milliseconds(name: str, address: str) -> None:
    rules = parse(HOSTILE[name], "webanalytics/1.0", 30)
    url = ADDRESSES[address]
    efforts = []
    for _ in range(3):
        began = time.process_time()
        rules.decide(url)
        efforts.append(effort_since(began))
    assert min(efforts) < 0.05  # some milliseconds, with room for a slow day; it was seconds


def test_what_takes_too_long_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = parse(HOSTILE["slow for a search"], "webanalytics/1.0", 30)
    decision = rules.decide(ADDRESSES["mixed"])
    assert (decision.allowed, decision.decided) == (False, False)
    assert rules.decide(f"{AT}/page").allowed  # addresses of a usual length are judged
    monkeypatch.setattr(robots_rules, "MOST_PATTERNS", 10)
    bounded = RobotsFile(HOSTILE["different ones"]).rules("x")
    beginning = f"{AT}/" + "a" * 30
    assert [bounded.decide(f"{beginning}{number:05d}b").allowed for number in (0, 9, 10, 1000)] == [
        False,
        False,
        True,
        True,
    ]


def test_thousands_of_real_rules_leave_usual_addresses_exact() -> None:
    text = "User-agent: *\n" + "".join(
        f"Disallow: /*?*sort={n}&\nAllow: /shop/{n}/*/x$\n" for n in range(2500)
    )
    rules = RobotsFile(text).rules("x")
    long = f"{AT}/shop/2400/" + "very-long-name/" * 20 + "x"
    assert rules.decide(long).decided
    assert str(rules.decide(long).rule) == "line 4803: Allow: /shop/2400/*/x$"
    assert rules.decide(f"{AT}/list?page=2&sort=77&by=3").allowed is False
    assert path_of(f"{AT}/list?page=2#x") == "/list?page=2"
