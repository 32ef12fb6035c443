"""Measures of the link graph, against networkx and against tables written by hand."""

from __future__ import annotations

import random
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.crawled import HOST, at, crawl, failed, link, page
from tests.audits.sites import moved
from webanalytics.audits.graph.metrics import by_end, clicks, distinct, least, pagerank, scaled
from webanalytics.audits.graph.verdicts import verdict
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.link_table import CHECKED
from webanalytics.runs.frames.schema import frame_of


def random_edges(seed: int, nodes: int, edges: int) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.random.default_rng(seed)
    source = numbers.integers(0, nodes, edges).astype(np.int32)
    return source, (numbers.zipf(1.5, edges) % nodes).astype(np.int32)


def reference(graph: nx.DiGraph) -> dict[object, float]:
    """PageRank as the dominant eigenvector of the matrix that networkx makes of a graph."""
    values, vectors = np.linalg.eig(np.asarray(nx.google_matrix(graph, alpha=0.85)).T)
    vector = np.real(vectors[:, np.argmax(np.real(values))])
    return dict(zip(graph, (vector / vector.sum()).tolist(), strict=True))


@pytest.mark.parametrize(("seed", "nodes", "edges"), [(1, 5, 4), (2, 40, 60), (3, 300, 2_000), (4, 300, 250)])
def test_pagerank_is_that_of_networkx(seed: int, nodes: int, edges: int) -> None:
    source, target = distinct(*random_edges(seed, nodes, edges), nodes)
    away = source != target
    source, target = source[away], target[away]
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
    found = pagerank(source, target, nodes)
    assert found == pytest.approx(list(reference(graph).values()), abs=1e-8)
    unlinked = [node for node in range(nodes) if not graph.in_degree(node)]
    assert found[unlinked] == pytest.approx(least(source, found))
    scale = scaled(found, least(source, found))
    assert scale.max() == pytest.approx(100)
    assert scale[unlinked] == pytest.approx(0, abs=1e-4)
    assert (np.argsort(scale, kind="stable") == np.argsort(found, kind="stable")).all()


@pytest.mark.parametrize("seed", range(5))
def test_clicks_are_the_shortest_ways_of_networkx(seed: int) -> None:
    nodes = 200
    source, target = random_edges(seed, nodes, 350)
    free = np.full(nodes, -1, np.int32)
    free[150:] = np.random.default_rng(seed).integers(0, nodes, 50)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    for one, other in zip(source.tolist(), target.tolist(), strict=True):
        graph.add_edge(one, other, weight=1)
    for one, other in enumerate(free.tolist()):
        if other >= 0:
            graph.add_edge(one, other, weight=0)
    lengths = nx.multi_source_dijkstra_path_length(graph, {0, 7})
    found = clicks(source, target, nodes, np.array([0, 7], np.int32), free)
    assert found.tolist() == [lengths.get(node, -1) for node in range(nodes)]


def test_edges_of_several_nodes() -> None:
    ends = by_end(np.array([2, 0, 2, -1, 1], np.int32), 4)
    assert ends.of_all(np.array([2, 3, 1])).tolist() == [0, 2, 4]
    assert ends.of_all(np.array([], np.int64)).tolist() == []


SHOP = {
    "/": ["/a", link("/a", "again"), "/old", "https://other.example/x", link("/nofollow", "N", rel=1)],
    "/a": ["/", "/b", link("/a", "itself"), link("/pic.png", kind="image")],
    "/b": ["/a", link("/lost", kind="canonical")],
    "/nofollow": ["/deep"],
    "/old": [link("/stop", kind="redirect"), link("/b", kind="redirect")],
    "/stop": [link("/b", kind="redirect")],
    "/lost": ["/a"],
}
"""A site whose figures are counted by hand below."""


@pytest.fixture(scope="module")
def shop() -> wa.Audit:
    pages = {path: targets for path, targets in SHOP.items() if path != "/old"}
    pages["/old"] = [link("/stop", kind="redirect")]
    rows = [page(path) for path in ("/", "/a", "/b", "/nofollow", "/deep", "/lost")]
    return crawl(pages, *rows, moved("/old", "/stop", "/b"), page("/only-in-the-sitemap"))


def test_the_figures_of_a_site_are_those_counted_by_hand(shop: wa.Audit) -> None:
    names = ["crawl_depth", "inlinks", "inlinks_all", "inlinks_followed", "outlinks", "outlinks_external"]
    found = shop.pages.set_index(shop.pages["url"].str.removeprefix(HOST))[names]
    none = None
    expected = {
        "/": [0, 1, 1, 1, 3, 1],
        "/a": [1, 3, 4, 3, 2, 0],
        "/b": [1, 2, 2, 2, 1, 0],  # by the redirect of /old, which costs no click
        "/nofollow": [none, 1, 1, 0, 1, 0],
        "/deep": [none, 1, 1, 1, 0, 0],
        "/lost": [none, 0, 0, 0, 1, 0],
        "/old": [1, 1, 1, 1, 1, 0],
        "/only-in-the-sitemap": [none, 0, 0, 0, 0, 0],
    }
    shown = {
        path: [None if pd.isna(value) else int(value) for value in row]
        for path, row in zip(found.index, found.astype(object).to_numpy().tolist(), strict=True)
    }
    assert {path: shown[path][:4] for path in shown} == {path: row[:4] for path, row in expected.items()}
    read = [path for path in expected if path != "/old"]
    assert {path: shown[path] for path in read} == {path: expected[path] for path in read}


def test_pages_say_where_they_were_found_and_orphans_are_named(shop: wa.Audit) -> None:
    pages = shop.pages.set_index(shop.pages["url"].str.removeprefix(HOST))
    assert pages["found_on"].dropna().str.removeprefix(HOST).to_dict() == {
        "/a": "/",
        "/b": "/a",
        "/old": "/",
        "/nofollow": "/",
        "/deep": "/nofollow",
        "/lost": "/b",
    }
    assert pages.index[pages["orphan"]].tolist() == ["/lost", "/only-in-the-sitemap"]


def test_the_link_score_of_a_site_is_that_of_networkx() -> None:
    pages = {"/": ["/a", "/a", "/old"], "/a": ["/"], "/b": ["/", "/copy"], "/copy": ["/b"]}
    pages["/old"] = [link("/b", kind="redirect")]
    copied = {"canonicals": [{"href": at("/a"), "url": at("/a")}], "canonical": at("/a")}
    rows = [page(path) for path in ("/", "/a", "/b")]
    audit = crawl(pages, *rows, moved("/old", "/b"), page("/copy", **copied))
    found = audit.pages.set_index("url")["pagerank"]
    # /old is /b, what links to the copy links to /a, and the copy itself has no score
    graph = nx.DiGraph([("/", "/a"), ("/", "/b"), ("/a", "/"), ("/b", "/"), ("/b", "/a")])
    for path, score in reference(graph).items():
        assert found[at(path)] == pytest.approx(score, abs=1e-8)
    assert pd.isna(found[at("/copy")])
    assert audit.pages.set_index("url")["link_score"].max() == pytest.approx(100)


@pytest.mark.parametrize("seed", [5, 13, 19, 23])
def test_the_pagerank_of_sites_with_chains_of_canonicals_is_that_of_networkx(seed: int) -> None:
    made = random.Random(seed)
    names = ["/", *(f"/p{number}" for number in range(1, 15))]
    leads = {path: made.choice(names) for path in names[1:] if made.random() < 0.4}
    leads |= {"/p1": "/p2", "/p2": "/p3", "/p3": "/p4"}
    leads.pop("/p4", None)
    ways = {path: made.choices([*names, "/old"], k=4) for path in names}
    rows = [moved("/old", "/p1")]
    for path in names:
        to = at(leads.get(path, path))
        rows.append(page(path, canonicals=[{"href": to, "url": to}], canonical=to))
    found = crawl({**ways, "/old": [link("/p1", kind="redirect")]}, *rows).pages.set_index("url")["pagerank"]

    def last(path: str) -> str:
        path = "/p1" if path == "/old" else path
        for _ in names:
            path = leads.get(path, path)
        return path

    graph = nx.DiGraph()
    graph.add_nodes_from(path for path in names if leads.get(path, path) == path)
    ends = {(path, last(target)) for path in graph for target in ways[path]}
    graph.add_edges_from((path, to) for path, to in sorted(ends) if to in graph and to != path)
    for path, score in reference(graph).items():
        assert found[at(path)] == pytest.approx(score, abs=1e-8)


def test_links_are_a_tidy_frame(shop: wa.Audit) -> None:
    links = shop.links
    assert len(links) == sum(len(targets) for targets in SHOP.values()) - 1
    first = links.iloc[4]
    assert (first["source"], first["target"], first["anchor"]) == (at("/"), at("/nofollow"), "N")
    assert (first["rel"], first["kind"], first["position"]) == ("nofollow", "link", "body")
    assert (first["internal"], first["followed"], first["crawled"], first["target_status"]) == (
        (True, False, True, 200)
    )
    old = links[links["target"] == at("/old")].iloc[0]
    assert (old["target_status"], old["target_final_url"]) == (200, at("/b"))
    other = links[links["target"] == "https://other.example/x"].iloc[0]
    assert not other["internal"]
    assert pd.isna(other["target_status"])
    joined = links.merge(shop.pages, left_on="target", right_on="url")
    assert len(joined) == len(links[links["target"].isin(shop.pages["url"])])


def test_the_links_of_some_rows_are_those_of_the_whole_audit(shop: wa.Audit) -> None:
    part = shop.select(shop.raw["url"] == at("/a"))
    assert set(part.links["source"]) == {at("/a")}
    assert len(part.links) == len(SHOP["/a"])
    assert part.pages["inlinks"].tolist() == [3]


def test_every_shortest_way_is_told_with_its_anchors() -> None:
    pages = {
        "/": [link("/a", "A"), link("/b", "B"), link("/c", "C", rel=1)],
        "/a": [link("/end", "from a"), link("/end", "again")],
        "/b": [link("/hop", "from b"), "/"],
        "/c": ["/end"],
        "/hop": [link("/end", kind="redirect", position="http")],
        "/end": ["/"],
    }
    audit = crawl(pages, moved("/hop", "/end"), *(page(path) for path in ("/", "/a", "/b", "/c", "/end")))
    paths = audit.paths(at("/end"))
    shown = {
        number: list(zip(way["url"].str.removeprefix(HOST), way["anchor"].fillna(""), strict=True))
        for number, way in paths.groupby("path")
    }
    assert shown == {
        1: [("/", ""), ("/a", "A"), ("/end", "from a")],
        2: [("/", ""), ("/b", "B"), ("/hop", "from b"), ("/end", "")],
    }
    assert audit.paths(at("/end"), most=1)["path"].nunique() == 1
    assert audit.paths(at("/"))["step"].tolist() == [0]
    assert audit.paths(at("/c")).empty  # by nofollow alone


def test_ways_are_those_of_networkx() -> None:
    source, target = random_edges(9, 60, 240)
    graph = nx.DiGraph(zip(source.tolist(), target.tolist(), strict=True))
    pages: dict[str, list[str]] = {"/0": []}
    for one, other in zip(source.tolist(), target.tolist(), strict=True):
        pages.setdefault(f"/{one}", []).append(f"/{other}")
    audit = crawl(pages, starts=["/0"])
    for end in set(graph) - {0}:
        if not nx.has_path(graph, 0, end):
            continue
        expected = {tuple(way) for way in nx.all_shortest_paths(graph, 0, end)}
        paths = audit.paths(at(f"/{end}"), most=1_000)
        found = {tuple(int(url.rsplit("/", 1)[1]) for url in way["url"]) for _, way in paths.groupby("path")}
        assert found == expected


def test_what_is_gone_is_told_from_what_refused_us() -> None:
    outside = [
        ("https://x.example/gone", "gone", 410),
        ("https://x.example/busy", "refused", 429),
        ("https://x.example/fine", "ok", 200),
    ]
    rows = [
        {"url": url, "kind": "external", "verdict": said, "http_status": code} for url, said, code in outside
    ]
    pages = {
        "/": [*(link(url, "Elsewhere") for url, _, _ in outside), link("/404", "Old"), link("/soft", "Soft")],
        "/a": [link("/404", "Older", position="footer"), link("/403", "Private")],
    }
    audit = crawl(
        pages,
        failed("/404", "status", status=404),
        failed("/403", "status", status=403),
        failed("/nobody-links-here", "status", status=500),
        checked=frame_of(CHECKED, rows),
        soft_404=frozenset([at("/soft")]),
    )
    broken = audit.broken_links
    shown = [
        (url.removeprefix(HOST), said, "" if pd.isna(source) else source.removeprefix(HOST), anchor)
        for url, said, source, anchor in zip(
            broken["url"], broken["verdict"], broken["source"], broken["anchor"].fillna(""), strict=True
        )
    ]
    assert shown == [
        ("/404", "gone", "/", "Old"),
        ("/404", "gone", "/a", "Older"),
        ("https://x.example/gone", "gone", "/", "Elsewhere"),
        ("/soft", "soft 404", "/", "Soft"),
        ("/nobody-links-here", "failed", "", ""),
    ]
    assert broken["position"].tolist()[1] == "footer"


@pytest.mark.parametrize(
    ("status", "kind", "expected"),
    [
        (404, "http", "gone"),
        (410, "http", "gone"),
        (None, "dns", "failed"),
        *((status, "refused", "refused") for status in (401, 403, 407, 429, 451, 999)),
        (503, "refused", "refused"),  # a challenge
        (None, "timeout", "blocked"),
        (400, "http", "failed"),
        (500, "http", "failed"),
        (None, "connection", "failed"),
        (None, "tls", "failed"),
        (200, None, "ok"),
        (200, "not_html", "ok"),
    ],
)
def test_verdicts(status: int | None, kind: str | None, expected: str) -> None:
    assert verdict(status, kind) == expected


def test_only_a_host_that_does_not_exist_is_gone() -> None:
    assert verdict(None, "dns", "unknown_host") == "gone"
    assert verdict(None, "dns", "lookup_failed") == "failed"
    assert verdict(None, "timeout", "host_given_up") == "blocked"
    assert verdict(503, "robots", "robots_unreadable") == "blocked"


def test_an_audit_of_given_pages_says_what_it_does_not_know() -> None:
    links = {"links": [at("/b"), at("/missing")]}
    made = crawl({"/": []}, page("/", **links), page("/b"), failed("/missing", "status", status=404))
    audit = wa.Audit(made.raw)
    assert audit.links[["source", "target"]].astype(str).to_numpy().tolist()[1:3] == [
        [at("/"), at("/b")],
        [at("/"), at("/missing")],
    ]
    assert audit.broken_links[["url", "source"]].to_numpy().tolist() == [[at("/missing"), at("/")]]
    assert "crawl_depth" not in audit.pages
    for name in ("skipped", "traps", "hosts"):
        with pytest.raises(ParameterError, match=rf"`{name}` is known of a crawl alone"):
            getattr(audit, name)
    with pytest.raises(ParameterError, match="`paths` is known of a crawl alone"):
        audit.paths(at("/"))


@pytest.mark.parametrize("most", [0, 1_001, True, "1"])
def test_wrong_arguments_of_paths_are_told(shop: wa.Audit, most: object) -> None:
    with pytest.raises(ParameterError, match="`most`"):
        shop.paths(at("/a"), most=most)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="`url`"):
        shop.paths("https://never.example/seen")


def test_a_crawl_that_stopped_early_names_no_orphans() -> None:
    rows = page("/"), page("/a")
    assert crawl({"/": []}, *rows).pages["orphan"].tolist() == [False, True]
    assert crawl({"/": []}, *rows, stopped="It reached `max_pages`.").pages["orphan"].isna().all()


def test_texts_that_no_table_can_hold_are_shown(tmp_path: Path) -> None:
    audit = crawl({"/": [link("/a", "Tea \ud800"), link("/a", "Tea ?")], "/a": []})
    assert audit.links["anchor"].tolist() == ["Tea ?", "Tea ?"]
    assert wa.load(audit.save(tmp_path / "kept")).links["anchor"].tolist() == ["Tea ?", "Tea ?"]
