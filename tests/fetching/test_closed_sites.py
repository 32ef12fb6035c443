"""Three hosts (open, Basic, a cookie's session) behind a forward proxy with a password and a private CA."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from tests.fetching.closed_sites import (
    Authority,
    ClosedSites,
    DigestLock,
    Lock,
    basic_lock,
    certificate_lock,
    cookie_lock,
    header_lock,
    no_lock,
)
from webanalytics.cli import main

OPEN, STAGING, SHOP = "www.tea.invalid", "staging.tea.invalid", "shop.tea.invalid"
NOT_ACCEPTED = (
    "The page does not accept the password, token or cookies that were sent (HTTP 401); `access=` sets them."
)
CARRIED = ("authorization", "cookie", "x-key")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


def pages(host: str) -> dict[str, Any]:
    words = " ".join(f"{host} {number}" for number in range(30))
    return {
        "/": f"<title>Tea of {host}</title><a href=/b>b</a><img src=/i.png><p>{words}".encode(),
        "/b": f"<title>B of {host}</title><p>Other {words}<a href=/c>c</a>".encode(),
        "/c": (302, f"https://{OPEN}/from-{host.partition('.')[0]}"),
        "/i.png": b"x",
        "/robots.txt": f"Sitemap: https://{host}/sitemap.xml\n".encode(),
        "/sitemap.xml": f"<urlset><url><loc>https://{host}/listed</loc></url></urlset>".encode(),
        "/listed": f"<title>Listed of {host}</title><p>List {words}".encode(),
    }


def opened(lock: Lock, authority: Authority, **more: Any) -> ClosedSites:
    """The three hosts; of the second, the lock is given."""
    locks = {OPEN: no_lock, STAGING: lock, SHOP: cookie_lock("session", "c00kie-val")}
    return ClosedSites({host: (one, pages(host)) for host, one in locks.items()}, authority, **more)


def crawled(sites: ClosedSites, authority: Authority, access: dict[str, wa.Access], *starts: str) -> Any:
    known = {
        OPEN: wa.Access(ca=authority.ca),
        SHOP: wa.Access(cookies={"session": "c00kie-val"}, ca=authority.ca),
    }
    return wa.crawl(
        starts or [f"https://{host}/" for host in (OPEN, STAGING, SHOP)],
        access=known | access,
        proxy=sites.proxy,
        retries=0,
        resources="check",
        sitemap=[f"https://{host}/sitemap.xml" for host in (OPEN, STAGING, SHOP)],
    )


Way = tuple[Lock, Callable[[Path, pytest.MonkeyPatch], dict[str, Any] | wa.Access]]


def of_cookies(name: str, text: str) -> Callable[[Path, pytest.MonkeyPatch], dict[str, Any]]:
    def made(folder: Path, _: pytest.MonkeyPatch) -> dict[str, Any]:
        (folder / name).write_text(text)
        return {"cookies": folder / name}

    return made


def of_netrc(folder: Path, _: pytest.MonkeyPatch, **more: Any) -> wa.Access:
    (folder / "netrc").write_text(f"machine {STAGING} login ann password s3cret-word\n")
    return wa.Access.from_netrc(STAGING, folder / "netrc", **more)


def of_environment(_: Path, patch: pytest.MonkeyPatch, **more: Any) -> wa.Access:
    patch.setenv("STAGING_USER", "ann")
    patch.setenv("STAGING_PASSWORD", "s3cret-word")
    return wa.Access.from_environment("STAGING", **more)


def of_keyring(_: Path, patch: pytest.MonkeyPatch, **more: Any) -> wa.Access:
    kept = {("staging", "ann"): "s3cret-word"}
    ring = types.SimpleNamespace(get_password=lambda service, user: kept.get((service, user)))
    patch.setitem(sys.modules, "keyring", ring)
    return wa.Access.from_keyring("staging", "ann", **more)


EXPORTED = [
    {"name": "session", "value": "c00kie-val", "domain": ".tea.invalid", "path": "/", "hostOnly": False},
    {"name": "other", "value": "x", "domain": "elsewhere.invalid", "expirationDate": 1.5},
]
WAYS: dict[str, Any] = {
    "basic": (basic_lock("ann", "s3cret-word"), {"user": "ann", "password": "s3cret-word"}),
    "digest": (DigestLock("ann", "s3cret-word"), {"user": "ann", "password": "s3cret-word", "digest": True}),
    "md5": (DigestLock("ann", "s3cret-word", "MD5"), {"user": "ann", "password": "s3cret-word"}),
    "stale": (
        DigestLock("ann", "s3cret-word", uses=2),
        {"user": "ann", "password": "s3cret-word", "digest": True},
    ),
    "token": (header_lock("authorization", "Bearer t0ken-abc"), {"token": "t0ken-abc"}),
    "headers": (header_lock("x-key", "he4der-val"), {"headers": {"X-Key": "he4der-val"}}),
    "cookies": (cookie_lock("session", "c00kie-val"), {"cookies": {"session": "c00kie-val"}}),
    "cookies.txt": (
        cookie_lock("session", "c00kie-val"),
        of_cookies("cookies.txt", f"{STAGING}\tFALSE\t/\tTRUE\t0\tsession\tc00kie-val\n"),
    ),
    "export": (cookie_lock("session", "c00kie-val"), of_cookies("cookies.json", json.dumps(EXPORTED))),
    "playwright": (
        cookie_lock("session", "c00kie-val"),
        of_cookies("state.json", json.dumps({"cookies": [EXPORTED[0] | {"expires": -1}], "origins": []})),
    ),
    "netrc": (basic_lock("ann", "s3cret-word"), of_netrc),
    "environment": (basic_lock("ann", "s3cret-word"), of_environment),
    "keyring": (basic_lock("ann", "s3cret-word"), of_keyring),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in(
    way: str, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, given = WAYS[way]
    if way in ("netrc", "environment", "keyring"):
        access = given(tmp_path, monkeypatch, ca=authority.ca)
    else:
        values = given if isinstance(given, dict) else given(tmp_path, monkeypatch)
        access = wa.Access(**values, ca=authority.ca)
    with opened(lock, authority) as sites:
        found = crawled(sites, authority, {STAGING: access})
    for host in (OPEN, STAGING, SHOP):
        titles = found.pages.loc[found.pages["url"].str.startswith(f"https://{host}/"), "title"].dropna()
        assert set(titles) == {f"{word} of {host}" for word in ("Tea", "B", "Listed")}
    asked = {one.target for one in sites.asked if one.host == STAGING}
    assert asked >= {"/", "/b", "/c", "/i.png", "/robots.txt", "/sitemap.xml", "/listed"}
    # to the open host, also where a page of the others redirects there, nothing goes
    assert {"/from-staging", "/from-shop"} <= {one.target for one in sites.asked if one.host == OPEN}
    assert sites.carried(OPEN, *CARRIED) == {()}
    assert sites.carried(SHOP, *CARRIED) == {("cookie",)}
    assert {one.certified for one in sites.asked} == {False}


def test_a_client_certificate_goes_to_its_host_alone(authority: Authority) -> None:
    access = wa.Access(certificate=authority.certificate, key=authority.key, ca=authority.ca)
    with opened(certificate_lock, authority) as sites:
        found = crawled(sites, authority, {STAGING: access})
    assert f"B of {STAGING}" in set(found.pages["title"])
    assert {(one.host, one.certified) for one in sites.asked} == {
        (OPEN, False),
        (STAGING, True),
        (SHOP, False),
    }


def test_a_login_in_an_address(authority: Authority) -> None:
    with opened(basic_lock("ann@tea", "s3cret/word"), authority) as sites:
        access = {"*.tea.invalid": wa.Access(ca=authority.ca)}
        login = "ann%40tea:s3cret%2Fword"
        found = wa.text(
            [
                f"http://{login}@{STAGING}/",
                f"http://{STAGING}/b",
                f"http://other:login@{STAGING}/",
                f"http://{OPEN}/",
            ],
            access=access,
            proxy=sites.proxy,
        )
        audit = wa.audit(
            [f"http://{login}@{STAGING}/"], proxy=sites.proxy, resources="check", image_sizes=True, retries=0
        )
        crawl = wa.crawl(f"http://{login}@{STAGING}/", proxy=sites.proxy, resources="check")
        named = wa.audit(sitemap=f"http://{login}@{STAGING}/sitemap.xml", proxy=sites.proxy, retries=0)
        listed = wa.sitemap(f"http://{login}@{STAGING}/robots.txt", proxy=sites.proxy)
    assert found["status"].tolist() == ["ok", "ok", "error", "ok"]
    assert (
        found["error"][2]
        == "The address holds a user name or a password that cannot be used; `access=` takes them."
    )
    assert found["url"].tolist() == [
        f"http://{STAGING}/",
        f"http://{STAGING}/b",
        f"http://{STAGING}/",
        f"http://{OPEN}/",
    ]
    assert audit.pages["title"].tolist() == [f"Tea of {STAGING}"]
    assert audit.pages["broken_resources"].tolist() == [[]]
    assert set(crawl.pages["title"].dropna()) >= {f"Tea of {STAGING}", f"B of {STAGING}"}
    assert sites.carried(OPEN, *CARRIED) == {()}
    assert named.pages["url"].tolist() == [f"https://{STAGING}/listed"]
    assert listed["sitemap"].tolist() == [f"https://{STAGING}/sitemap.xml"]
    for frame in (found, audit.pages, crawl.pages, crawl.skipped, crawl.links, named.pages, listed):
        assert "s3cret" not in frame.to_csv()
        assert "ann%40" not in frame.to_csv()
    assert "s3cret" not in f"{crawl.origin} {audit.origin} {crawl.raw.attrs}"


def test_a_wrong_password_is_asked_with_once_for_each_page(authority: Authority) -> None:
    lock = DigestLock("ann", "s3cret-word")
    access = {STAGING: wa.Access(user="ann", password="wrong", digest=True)}
    with opened(lock, authority) as sites:
        row = wa.text([f"http://{STAGING}/"], access=access, proxy=sites.proxy, robots=False).iloc[0]
    assert row["error"] == NOT_ACCEPTED
    assert [("authorization" in one.headers) for one in sites.asked] == [False, True]
    assert lock.refused == ["response"]


def test_a_private_authority_is_not_believed_of_other_hosts(authority: Authority) -> None:
    with opened(no_lock, authority) as sites:
        access = {STAGING: wa.Access(ca=authority.ca)}
        rows = wa.text(
            [f"https://{STAGING}/", f"https://{OPEN}/"], access=access, proxy=sites.proxy, robots=False
        )
    assert rows["error_type"].fillna("").tolist() == ["", "tls"]
    assert {one.host for one in sites.asked} == {STAGING}


def test_through_socks(authority: Authority) -> None:
    with opened(basic_lock("ann", "s3cret-word"), authority, socks=True) as sites:
        access = {STAGING: wa.Access(user="ann", password="s3cret-word", ca=authority.ca)}
        found = crawled(sites, authority, access)
        no_tls = wa.text([f"https://{OPEN}/", "http://10.0.0.1/"], proxy=sites.proxy, robots=False)
        port = sites.port
        denied = wa.text(
            [f"http://{OPEN}/", "http://unknown.tea.invalid/"],
            proxy=f"socks5://ann:no@127.0.0.1:{port}",
            robots=False,
        )
        unknown = wa.text(["http://unknown.tea.invalid/"], proxy=sites.proxy, robots=False)
    gone = wa.text([f"http://{OPEN}/"], proxy=f"socks5://127.0.0.1:{port}", robots=False, retries=0)
    assert f"B of {STAGING}" in set(found.pages["title"])
    assert set(sites.lines) == {*(f"{host}:443" for host in (OPEN, STAGING, SHOP)), "unknown.tea.invalid:80"}
    assert no_tls["error_type"].tolist() == ["tls", "blocked"]
    assert denied["error"].unique().tolist() == [
        "The proxy asks for a user name and a password, or refuses those it was sent; `proxy=` takes them."
    ]
    assert unknown["error"].tolist() == ["The proxy does not connect to the server (SOCKS 4)."]
    assert gone["error"].tolist() == ["The proxy cannot be reached."]


def test_socks_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webanalytics.core.proxy.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"a SOCKS proxy needs aiohttp-socks: .*\[socks\]") as caught:
        wa.text(["https://a.example/"], proxy="socks5://ann:pr0xy-word@a.example")
    assert "pr0xy-word" not in str(caught.value)


def test_the_command_line(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    of_environment(tmp_path, monkeypatch)
    monkeypatch.setenv("WEBANALYTICS_PROXY_PASSWORD", "pr0xy-word")
    file = tmp_path / "access.toml"
    file.write_text(
        f'["{STAGING}"]\nenvironment = "STAGING"\nca = "{authority.ca}"\n'
        f'["{SHOP}"]\ncookies = {{ session = "c00kie-val" }}\nca = "{authority.ca}"\n'
        f'certificate = "{authority.certificate}"\nkey = "{authority.key}"\n'
    )
    with opened(basic_lock("ann", "s3cret-word"), authority) as sites:
        proxy = sites.proxy.replace(":pr0xy-word", "")
        urls = [f"https://{STAGING}/", f"https://{SHOP}/"]
        assert main(["metadata", *urls, "--access", str(file), "--proxy", proxy]) == 0
    said = capsys.readouterr()
    assert f"Tea of {STAGING}" in said.out
    assert {one.certified for one in sites.asked if one.host == SHOP} == {True}


def test_no_password_is_an_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metadata", "https://ann:s3cret-word@a.example/"]) == 2
    said = capsys.readouterr()
    assert "--access" in said.err
    assert "s3cret" not in said.err + said.out


@pytest.fixture
def sites(authority: Authority) -> Iterator[ClosedSites]:
    with opened(basic_lock("ann", "s3cret-word"), authority) as made:
        yield made


@pytest.mark.parametrize(
    ("words", "said"), [("phone", "Android 10; K"), ("desktop", "Windows NT 10.0"), ("Tea/1", "Tea/1")]
)
def test_who_asks_and_for_which_language(sites: ClosedSites, words: str, said: str) -> None:
    wa.text([f"http://{OPEN}/"], user_agent=words, accept_language="de-CH, de;q=0.9", proxy=sites.proxy)
    agents = {one.headers["user-agent"] for one in sites.asked}
    assert all(said in agent for agent in agents)
    assert all(("webanalytics/" in agent) == (words != "Tea/1") for agent in agents)
    assert {one.headers.get("accept-language") for one in sites.asked} == {"de-CH, de;q=0.9"}
