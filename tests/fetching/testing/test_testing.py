"""The loopback server and the sample site it serves."""

from __future__ import annotations

import gzip
import http.client
import json
import math
import re
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import urlopen

import lxml.etree
import lxml.html
import pytest

from webanalytics.fetching.testing import Reply, SampleSite, SiteServer, sample_site


def connect(server: SiteServer, timeout: float = 5) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=timeout)


def test_serves_bytes_and_replies() -> None:
    pages = {"/": b"<p>home", "/teapot": Reply(418, {"x-kind": "pot"}, b"short and stout")}
    with SiteServer(pages) as server:
        connection = connect(server)
        connection.request("GET", "/")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"<p>home")
        assert answer.getheader("Content-Type") == "text/html"
        connection.request("GET", "/teapot")  # on the same connection: keep-alive
        answer = connection.getresponse()
        assert (answer.status, answer.reason, answer.getheader("X-Kind")) == (418, "I'm a Teapot", "pot")
        assert answer.read() == b"short and stout"
        connection.close()


def test_head_has_the_length_but_no_body() -> None:
    with SiteServer({"/": b"12345"}) as server:
        connection = connect(server)
        connection.request("HEAD", "/")
        answer = connection.getresponse()
        assert (answer.getheader("Content-Length"), answer.read()) == ("5", b"")
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"12345"
        connection.close()


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("/a b", "/a%20b"),
        ("/a%20b", "/a%20b"),
        ("/caf\u00e9", "/caf%c3%a9"),
        ("/x,y", "/x%2Cy"),
        ("/p", "/p?utm=1"),
        ("/p?a=1&b=2", "/p?a=1&b=2"),
        ("/", "http://anything.example/"),
    ],
)
def test_paths_are_found_in_any_encoding(stored: str, asked: str) -> None:
    with SiteServer({stored: b"here"}) as server:
        connection = connect(server)
        connection.request("GET", asked)
        assert connection.getresponse().read() == b"here"
        connection.close()


def test_a_query_of_its_own_comes_before_the_path() -> None:
    with SiteServer({"/list": b"all", "/list?page=2": b"second"}) as server:
        assert urlopen(server.url + "/list?page=2").read() == b"second"
        assert urlopen(server.url + "/list?page=3").read() == b"all"


def test_unknown_path_is_404_with_the_given_body() -> None:
    with SiteServer({}, not_found=b"gone fishing") as server, pytest.raises(HTTPError) as caught:
        urlopen(server.url + "/x")
    assert caught.value.code == 404
    assert caught.value.read() == b"gone fishing"
    caught.value.close()


def test_origin_is_put_into_bodies_and_headers() -> None:
    pages = {
        "/old": Reply(301, {"Location": "{{origin}}/new"}),
        "/new": '<a href="{{origin}}/old">旧'.encode("shift_jis"),
    }
    with SiteServer(pages) as server, urlopen(server.url + "/old") as answer:
        assert answer.url == server.url + "/new"
        assert answer.read() == f'<a href="{server.url}/old">旧'.encode("shift_jis")


def test_a_sequence_of_replies_is_taken_in_turn() -> None:
    with SiteServer({"/": [Reply(503), Reply(503), b"ready"]}) as server:
        statuses = []
        for _ in range(4):
            connection = connect(server)
            connection.request("GET", "/")
            statuses.append(connection.getresponse().status)
            connection.close()
    assert statuses == [503, 503, 200, 200]


def test_other_methods_are_refused_and_the_connection_closed() -> None:
    with SiteServer({"/": b"x"}) as server:
        connection = connect(server)
        connection.request("POST", "/", body=b"GET /smuggled HTTP/1.1\r\n\r\n")
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Connection")) == (405, "close")
        connection.close()
        assert [request.target for request in server.requests] == ["/"]


def test_remembers_requests_and_their_headers() -> None:
    with SiteServer({"/": b"x"}) as server:
        connection = connect(server)
        connection.request("GET", "/?q=1", headers={"User-Agent": "tester/1"})
        connection.getresponse().read()
        connection.close()
        (request,) = server.requests
    assert (request.method, request.target, request.headers["user-agent"]) == ("GET", "/?q=1", "tester/1")


def test_pipelined_and_divided_requests_are_answered_in_order() -> None:
    with SiteServer({"/1": Reply(body=b"one", delay=0.05), "/2": b"two"}) as server:
        address = urlsplit(server.url)
        with socket.create_connection((address.hostname, address.port), timeout=5) as connection:
            connection.sendall(b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HT")
            time.sleep(0.02)
            connection.sendall(b"TP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            received = b""
            while piece := connection.recv(4096):
                received += piece
    assert re.findall(rb"one|two", received) == [b"one", b"two"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [(b"nonsense\r\n\r\n", b"400"), (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000, b"431")],
)
def test_broken_requests_are_refused(sent: bytes, status: bytes) -> None:
    with SiteServer({"/": b"x"}) as server:
        address = urlsplit(server.url)
        with socket.create_connection((address.hostname, address.port), timeout=5) as connection:
            connection.sendall(sent)
            assert connection.recv(4096).startswith(b"HTTP/1.1 " + status)


def test_delays_run_side_by_side() -> None:
    with SiteServer({"/": b"x"}, delay=0.15) as server, ThreadPoolExecutor(16) as pool:
        begin = time.perf_counter()
        bodies = list(pool.map(lambda _: urlopen(server.url + "/").read(), range(16)))
        seconds = time.perf_counter() - begin
        assert bodies == [b"x"] * 16
        assert seconds >= 0.15
        assert 2 <= server.peak <= 16


def test_a_page_may_never_answer() -> None:
    with SiteServer({"/": Reply(delay=math.inf)}) as server:
        connection = connect(server, timeout=0.2)
        connection.request("GET", "/")
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()


def test_stop_frees_the_port_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    server = SiteServer({"/": Reply(delay=math.inf)})
    server.start()
    assert [thread.name for thread in set(threading.enumerate()) - before] == ["webanalytics-site"]
    with pytest.raises(RuntimeError):
        server.start()
    connection = connect(server)
    connection.request("GET", "/")
    server.stop()
    server.stop()
    connection.close()
    assert set(threading.enumerate()) <= before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", urlsplit(server.url).port), timeout=1)


def test_port_in_use_is_an_os_error() -> None:
    with SiteServer({}) as server, pytest.raises(OSError):
        SiteServer({}, port=urlsplit(server.url).port).start()


# The sample site


@pytest.fixture(scope="module")
def site() -> SampleSite:
    with sample_site() as running:
        yield running


def fetch(url: str) -> tuple[int, str, bytes]:
    try:
        with urlopen(url) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read()


def documents(site: SampleSite) -> dict[str, lxml.html.HtmlElement]:
    """Path to tree, decoded by the charset that the manifest names, of the pages that are files."""
    trees = {}
    for entry in site.manifest:
        if "location" not in entry:
            body = fetch(site.url + entry["path"])[2]
            trees[entry["path"]] = lxml.html.document_fromstring(body.decode(entry["charset"], "strict"))
    return trees


def test_site_has_what_it_promises(site: SampleSite) -> None:
    assert len(site.pages) == len(set(site.pages)) >= 24
    assert len({entry["language"] for entry in site.manifest if "language" in entry}) >= 6
    charsets = {entry["charset"] for entry in site.manifest if "charset" in entry}
    assert {"utf-8", "windows-1252", "shift_jis", "euc-jp", "windows-1251"} <= charsets
    assert any(not entry["faults"] for entry in site.manifest)
    assert all(page.startswith(site.url + "/") for page in site.pages)


def test_pages_are_stored_in_their_charsets(site: SampleSite) -> None:
    for entry in site.manifest:
        if entry.get("charset", "utf-8") != "utf-8":
            body = fetch(site.url + entry["path"])[2]
            body.decode(entry["charset"], "strict")
            with pytest.raises(UnicodeDecodeError):
                body.decode("utf-8", "strict")


def test_every_page_answers_as_the_manifest_says(site: SampleSite) -> None:
    for entry in site.manifest:
        connection = connect(site)
        connection.request("GET", urlsplit(site.url + entry["path"])._replace(scheme="", netloc="").geturl())
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        assert answer.status == entry.get("status", 200)
        assert b"{{origin}}" not in body
        if "location" in entry:
            assert answer.getheader("Location").startswith(site.url + "/")
        else:
            assert answer.getheader("Content-Type") == entry["type"]


def test_only_the_announced_links_are_broken(site: SampleSite) -> None:
    targets: dict[str, str] = {}
    for path, tree in documents(site).items():
        places = tree.xpath("//@href | //@src | //meta[@property='og:image']/@content")
        targets |= {urljoin(site.url + path, place): path for place in places}
    own = {target: path for target, path in targets.items() if target.startswith(site.url)}
    broken = {urlsplit(target).path for target in own if fetch(target)[0] != 200}
    assert broken == {"/shop/ferry-lamp", "/docs/burner"}


def test_faults_are_on_the_pages_that_list_them(site: SampleSite) -> None:
    trees = documents(site)
    listed = {
        path: set(entry["faults"])
        for entry in site.manifest
        if (path := entry["path"]) in trees and "status" not in entry
    }
    titles = {path: tree.findtext(".//title") for path, tree in trees.items()}
    descriptions = {
        path: tree.xpath("string(//meta[@name='description']/@content)") for path, tree in trees.items()
    }
    repeated = {title for title, count in Counter(titles.values()).items() if count > 1}
    found = {
        "title-missing": {path for path in listed if titles[path] is None},
        "title-duplicate": {path for path in listed if titles[path] in repeated},
        "title-too-long": {path for path in listed if len(titles[path] or "") > 60},
        "description-missing": {path for path in listed if not descriptions[path]},
        "description-too-long": {path for path in listed if len(descriptions[path]) > 160},
        "h1-missing": {path for path in listed if not trees[path].xpath("//h1")},
        "h1-multiple": {path for path in listed if len(trees[path].xpath("//h1")) > 1},
        "image-alt-missing": {path for path in listed if trees[path].xpath("//img[not(@alt)]")},
        "viewport-missing": {path for path in listed if not trees[path].xpath("//meta[@name='viewport']")},
        "lang-missing": {path for path in listed if not trees[path].get("lang")},
        "noindex": {
            path
            for path in listed
            if trees[path].xpath("//meta[@name='robots'][contains(@content,'noindex')]")
        },
        "canonical-multiple": {
            path for path in listed if len(trees[path].xpath("//link[@rel='canonical']")) > 1
        },
        "canonical-missing": {path for path in listed if not trees[path].xpath("//link[@rel='canonical']")},
        "meta-refresh": {path for path in listed if trees[path].xpath("//meta[@http-equiv='refresh']")},
        "lorem-ipsum": {path for path in listed if "Lorem ipsum" in trees[path].text_content()},
        "mixed-content": {
            path
            for path in listed
            if any(
                src.startswith("http://") and not src.startswith(site.url)
                for src in trees[path].xpath("//@src")
            )
        },
    }
    for fault, paths in found.items():
        assert paths == {path for path, faults in listed.items() if fault in faults}, fault
        assert paths, fault


def test_structured_data_is_broken_on_one_page_only(site: SampleSite) -> None:
    broken = set()
    for path, tree in documents(site).items():
        for block in tree.xpath("//script[@type='application/ld+json']/text()"):
            try:
                json.loads(block)
            except ValueError:
                broken.add(path)
    assert broken == {"/shop/workbench-lamp"}


def test_robots_and_sitemaps(site: SampleSite) -> None:
    robots = fetch(site.url + "/robots.txt")[2].decode()
    assert f"Sitemap: {site.sitemap}" in robots
    assert "Disallow: /basket" in robots
    names = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    index = lxml.etree.fromstring(fetch(site.sitemap)[2])
    children = index.xpath("s:sitemap/s:loc/text()", namespaces=names)
    assert children == [site.url + "/sitemap-pages.xml.gz", site.url + "/sitemap-blog.xml"]
    _, kind, packed = fetch(children[0])
    assert kind == "application/gzip"
    listed = lxml.etree.fromstring(gzip.decompress(packed)).xpath("s:url/s:loc/text()", namespaces=names)
    listed += lxml.etree.fromstring(fetch(children[1])[2]).xpath("s:url/s:loc/text()", namespaces=names)
    assert len(listed) == len(set(listed)) > 24
    assert set(listed) < set(site.pages)


def test_site_may_be_slow() -> None:
    with sample_site(delay=0.1) as site:
        begin = time.perf_counter()
        fetch(site.pages[0])
        assert time.perf_counter() - begin >= 0.1
