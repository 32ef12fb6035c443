"""Crawls kept in folders, and what hostile folders do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.audits.crawled import at, crawl, link
from webanalytics.audits.storage.crawl_parts import PARTS
from webanalytics.audits.storage.folders import MANIFEST
from webanalytics.runs.frames.link_table import CHECKED, HOSTS, SKIPPED, TRAPS
from webanalytics.runs.frames.schema import frame_of


@pytest.fixture(scope="module")
def made() -> wa.Audit:
    return crawl(
        {
            "/": [link("/a", "Tea \ud800 & 茶"), link("/b", rel=3)],
            "/a": [link("/x.png", kind="image")],
            "/b": [],
        },
        skipped=frame_of(SKIPPED, [{"url": at("/c"), "reason": "depth", "depth": 3, "links": 2}]),
        checked=frame_of(CHECKED, [{"url": "https://x.example/", "verdict": "ok", "http_status": 200}]),
        traps=frame_of(TRAPS, [{"pattern": "/calendar/{n}", "fetched": 3, "example": at("/calendar/1")}]),
        hosts=frame_of(HOSTS, [{"host": "example.org", "pages": 3, "delay": 0.2}]),
        soft_404=frozenset([at("/b")]),
        options={"max_pages": 10, "exclude": ["*.pdf"], "subdomains": False, "delay": 0.2},
        stopped="It reached `max_pages`.",
    )


@pytest.fixture
def folder(made: wa.Audit, tmp_path: Path) -> Path:
    return made.save(tmp_path / "kept")


def test_a_crawl_comes_back_as_it_was(made: wa.Audit, folder: Path) -> None:
    loaded = wa.load(folder)
    kept, given = loaded.origin.crawl, made.origin.crawl
    assert kept is not None
    assert given is not None
    for name in ("skipped", "checked", "traps", "hosts"):
        assert_frame_equal(getattr(kept, name), getattr(given, name))
    for name in ("starts", "soft_404", "options", "stopped"):
        assert getattr(kept, name) == getattr(given, name)
    assert kept.links.urls == given.links.urls
    for name in ("source", "target", "anchor", "rel", "kind", "position"):
        found, expected = getattr(kept.links, name), getattr(given.links, name)
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()
    assert_frame_equal(loaded.pages, made.pages)
    assert len(loaded.issues) == len(made.issues)


def test_an_audit_in_its_place_leaves_no_part_of_the_crawl(made: wa.Audit, folder: Path) -> None:
    wa.Audit(made.raw).save(folder)
    assert wa.load(folder).origin.crawl is None
    assert len(list(folder.glob("*.parquet"))) == 1


def manifest_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return found


def put(folder: Path, manifest: object) -> None:
    (folder / MANIFEST).write_text(json.dumps(manifest))


def changed(path: str, value: object) -> Callable[[Path], None]:
    """Return a change of a value of the manifest, by its path."""

    def change(folder: Path) -> None:
        manifest = manifest_of(folder)
        part: Any = manifest
        *parents, last = path.split("/")
        for name in parents:
            part = part[name]
        part[last] = value
        put(folder, manifest)

    return change


def rewritten(part: str, column: str, value: object) -> Callable[[Path], None]:
    """Return a change of the first cell of a part's column, with the digest that belongs to it."""

    def change(folder: Path) -> None:
        manifest = manifest_of(folder)
        file = folder / manifest["parts"][part]["file"]
        found = parquet.read_table(file)
        place = found.column_names.index(column)
        cells = found.column(column).to_pylist()
        field = found.schema.field(place)
        cells[0] = value
        parquet.write_table(found.set_column(place, field, pa.array(cells, field.type)), file)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        named = file.rename(folder / f"{part}-{digest[:32]}.parquet")
        manifest["parts"][part] = {"file": named.name}
        put(folder, manifest)

    return change


@pytest.mark.parametrize(
    "change",
    [
        rewritten("links", "source", -1),
        rewritten("links", "target", 4),
        rewritten("links", "anchor", 2**31 - 1),
        rewritten("links", "kind", 200),
        rewritten("links", "position", 8),
        rewritten("links", "rel", 8),
        rewritten("addresses", "text", None),
        rewritten("addresses", "text", at("/a")),
        rewritten("anchors", "text", None),
        changed("crawl/starts", "https://a.example/"),
        changed("crawl/starts", [1]),
        changed("crawl/soft_404", None),
        changed("crawl/options", []),
        changed("crawl/options/include", [["deep"]]),
        changed("crawl/stopped", 1),
        changed("crawl/kinds", ["link"]),
        changed("crawl", None),
        changed("format", 3),
        *(changed(f"parts/{name}", {"file": "../x"}) for name in PARTS),
        lambda folder: put(
            folder, {**manifest_of(folder), "parts": {"pages": manifest_of(folder)["parts"]["pages"]}}
        ),
    ],
)
def test_a_changed_crawl_is_refused(folder: Path, change: Callable[[Path], None]) -> None:
    change(folder)
    with pytest.raises(wa.ParameterError, match="holds a saved audit"):
        wa.load(folder)


def test_parts_of_each_other_are_refused(folder: Path) -> None:
    manifest = manifest_of(folder)
    parts = manifest["parts"]
    parts["skipped"], parts["traps"] = parts["traps"], parts["skipped"]
    put(folder, manifest)
    with pytest.raises(wa.ParameterError):
        wa.load(folder)


def test_many_links_are_kept_small(tmp_path: Path) -> None:
    pages = {f"/{place}": [f"/{other}" for other in range(300)] for place in range(300)}
    audit = crawl(pages)
    saved = audit.save(tmp_path / "kept")
    part = manifest_of(saved)["parts"]["links"]["file"]
    assert (saved / part).stat().st_size < 90_000 * 4
    assert np.array_equal(wa.load(saved).links["target"].cat.codes, audit.links["target"].cat.codes)
    assert isinstance(audit.links, pd.DataFrame)
