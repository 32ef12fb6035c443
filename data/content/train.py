"""Train the models that say what the content of a page is, from pages whose content people wrote down.

It needs CatBoost besides the package, and the Web Content eXtraction Benchmark (WCXB, Murrough Foley 2026,
CC BY 4.0): a folder with ``html/ID.html.gz``, ``ground-truth/ID.json`` and ``types.json``.

    python data/content/train.py WCXB --report   # cross-validated by host, writes nothing
    python data/content/train.py WCXB            # trains on all pages, writes the data file
    python data/content/train.py WCXB --types    # trains the types of pages alone, keeps the others
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
import tempfile
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from catboost import CatBoostClassifier, Pool

import webanalytics.page
from webanalytics.page.content.content import (
    chosen,
    complete,
    content_document,
    known_texts,
    leads_elsewhere,
)
from webanalytics.page.content.features import block_features, weights_of
from webanalytics.page.content.model import TYPES, confidence_features
from webanalytics.page.content.page_features import page_features
from webanalytics.page.page import Page
from webanalytics.page.visible_text import blocks_of

TARGET = Path(webanalytics.page.__file__).parent / "data" / "content-model.npz"
FOLDS = 4
WORD = re.compile(r"\w+")
SHINGLE = 3
LABEL = 6  # words up to which a block is looked for as a whole
CONTROLS = re.compile(rb"""(?i)aria-controls|(?<=role=)tabpanel|(?<=role=["'])tabpanel""")
"""What tells that a hidden part is opened by a control."""
COMMON: dict[str, Any] = {"thread_count": 2, "verbose": False, "random_seed": 1, "allow_writing_files": False}
BLOCK: dict[str, Any] = {
    **{
        "iterations": 160,
        "depth": 6,
        "learning_rate": 0.1,
        "leaf_estimation_iterations": 1,
        "loss_function": "CrossEntropy",
    },
    **{"border_count": 64, "l2_leaf_reg": 5, "rsm": 0.3},
}
PAGE: dict[str, Any] = {
    **{"iterations": 250, "depth": 5, "learning_rate": 0.06, "loss_function": "MultiClass"},
    **{"rsm": 0.3, "border_count": 32},
}
CONFIDENCE: dict[str, Any] = {
    **{"iterations": 80, "depth": 4, "learning_rate": 0.05, "loss_function": "Logloss"},
    **{"l2_leaf_reg": 10, "border_count": 32},
}


class Sample:
    """A page with its measures and its truth."""

    def __init__(self, page: Page, truth: str, kind: str, fold: int, small: bool = False) -> None:
        self.kind, self.fold, self.small = kind, fold, small
        self.taught = self
        blocks = blocks_of(content_document(page))
        self.truth = Counter(WORD.findall(truth.lower()))
        self.texts, self.linked = blocks.texts, blocks.linked
        self.empty = not blocks.texts
        if self.empty:
            return
        measured, self.names = block_features(blocks, known_texts(page), page.title)
        self.elsewhere = leads_elsewhere(blocks, dict(zip(self.names, measured, strict=True)))
        self.page, self.page_names = page_features(page, blocks, measured[:, ~self.elsewhere], self.names)
        self.weights, self.blocks = weights_of(measured), blocks
        self.table = measured.T
        words = [WORD.findall(text.lower()) for text in blocks.texts]
        self.words = [Counter(found) for found in words]
        self.labels = np.array(_labels(words, truth))
        size = max(self.truth.total(), 30)
        self.cost = np.sqrt(np.maximum([found.total() for found in self.words], 0.5) / size)

    def chosen(self, chances: Any, kinds: Any) -> Any:
        """Return what the package chooses of its blocks."""
        column = dict(zip(self.names, self.table.T, strict=True))
        return chosen(np.where(self.elsewhere, 0, chances), kinds, self.blocks, self.weights, column)

    def score(self, keep: Any) -> float:
        """Return the word F1 of some blocks, with what completes them."""
        keep = keep.copy()
        complete(self.blocks, keep, dict(zip(self.names, self.table.T, strict=True)))
        found: Counter[str] = Counter()
        for number in np.flatnonzero(keep):
            found.update(self.words[number])
        common = (found & self.truth).total()
        return 2 * common / (found.total() + self.truth.total()) if common else 0.0


def read(folder: Path, name: str, kind: str) -> list[Sample]:
    """Return a page of the benchmark, and a small one with a few of its blocks."""
    stored = json.loads((folder / f"ground-truth/{name}.json").read_text("utf-8"))
    url, truth = stored["url"], stored["ground_truth"]["main_content"]
    fold = int(hashlib.md5(_site(url).encode()).hexdigest(), 16) % FOLDS
    # The address may not be known: it is left out of every other page.
    with gzip.open(folder / f"html/{name}.html.gz") as file:
        markup = file.read()
    page, closed = (Page(html, url if int(name) % 2 else "") for html in (markup, CONTROLS.sub(b"x", markup)))
    found = [Sample(page, truth, kind, fold)]
    # What controls open is chosen from as the rest is, but not learnt from: most types are read better so.
    if len(blocks_of(content_document(closed)).texts) < len(found[0].texts):
        found[0].taught = Sample(closed, truth, kind, fold)
    if kind in ("article", "documentation", "service") and not found[0].empty:
        found.extend(_small(found[0], page.title, random.Random(int(name))))
    return [sample for sample in found if not sample.empty]


def _small(sample: Sample, title: str, chance: random.Random) -> list[Sample]:
    """Return a page as people write it to try something: a few paragraphs, and maybe a menu and a footer."""
    rows = list(zip(sample.texts, sample.labels.tolist(), sample.linked, strict=True))
    paragraphs = [text for text, label, linked in rows if label > 0.9 and len(text) > 40 and not linked]
    menu = [text for text, label, linked in rows if label < 0.1 and linked and len(text) < 40]
    if not paragraphs:
        return []
    start = chance.randrange(len(paragraphs))
    chosen = paragraphs[start : start + chance.randint(1, 5)]
    kept = "\n".join([title, *chosen])
    parts = [f"<h1>{escape(title)}</h1>" if chance.random() < 0.6 else ""]
    parts.extend(f"<p>{escape(text)}</p>" for text in chosen)
    body = "".join(parts)
    around = chance.choice(("", "", "article", "main", "div", "section"))
    body = f"<{around}>{body}</{around}>" if around else body
    if menu and chance.random() < 0.5:
        links = "".join(
            f"<li><a href=/{number}>{escape(text)}</a>"
            for number, text in enumerate(menu[: chance.randint(1, 8)])
        )
        body = f"<nav><ul>{links}</ul></nav>{body}" if chance.random() < 0.5 else f"<ul>{links}</ul>{body}"
    if menu and chance.random() < 0.3:
        body += f"<footer><p>{escape(menu[-1])}</p></footer>"
    head = f"<title>{escape(title)}</title>" if chance.random() < 0.7 else ""
    return [
        Sample(
            Page(f"<html><head>{head}</head><body>{body}</body></html>"),
            kept,
            sample.kind,
            sample.fold,
            small=True,
        )
    ]


def _site(url: str) -> str:
    """Return the domain that pages of one site share."""
    parts = urlsplit(url).netloc.lower().split(":")[0].split(".")
    return ".".join(
        parts[-3:] if len(parts) > 2 and len(parts[-2]) <= 3 and len(parts[-1]) == 2 else parts[-2:]
    )


def _labels(blocks: list[list[str]], truth: str) -> list[float]:
    """Return of each block which share of it is content, -1 for one without words."""
    words = WORD.findall(truth.lower())
    whole = f" {' '.join(words)} "
    shingles = {tuple(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1)}
    times = Counter(" ".join(block) for block in blocks)
    found = []
    for block in blocks:
        text = " ".join(block)
        if not block:
            found.append(-1.0)
        elif len(block) <= LABEL:
            # One of several that are alike is as likely content as they stand in the truth.
            found.append(min(1.0, whole.count(f" {text} ") / times[text]))
        elif f" {text} " in whole:
            found.append(1.0)
        else:
            parts = [tuple(block[at : at + SHINGLE]) for at in range(len(block) - SHINGLE + 1)]
            found.append(sum(part in shingles for part in parts) / len(parts))
    return found


def fit_blocks(samples: list[Sample], tables: list[Any]) -> CatBoostClassifier:
    labels = np.concatenate([sample.labels for sample in samples])
    cost = np.concatenate([sample.cost for sample in samples])
    # Half of the shortest blocks, which are many and count little, stand for all of them.
    short = cost < np.median(cost)
    left_out = short & (np.random.default_rng(1).random(len(labels)) < 0.5)
    cost = np.where(short, 2 * cost, cost)
    known = (labels >= 0) & ~left_out
    model = CatBoostClassifier(**COMMON, **BLOCK)
    model.fit(Pool(np.concatenate(tables)[known], labels[known], weight=cost[known]))
    return model


def fit_pages(samples: list[Sample]) -> CatBoostClassifier:
    tables, kinds = np.stack([sample.page for sample in samples]), [TYPES.index(s.kind) for s in samples]
    # Many pages have no structured data: each stands for one without, too, and counts half as much.
    bare, names = tables.copy(), samples[0].page_names
    bare[:, [name.startswith(("kind_", "og_")) for name in names]] = 0
    weights = np.repeat([1.0, 0.5], len(samples))
    model = CatBoostClassifier(**COMMON, **PAGE)
    model.fit(np.concatenate([tables, bare]), kinds * 2, sample_weight=weights)
    return model


def fit_confidence(rows: list[Any], scores: list[float]) -> CatBoostClassifier:
    model = CatBoostClassifier(**COMMON, **CONFIDENCE)
    model.fit(np.stack(rows), [score > 0.8 for score in scores])
    return model


def of_folds(samples: list[Sample], train: Any, ask: Any) -> list[Any]:
    """Return what models answer on samples of which they have seen no page of the same site."""
    found: list[Any] = [None] * len(samples)
    for fold in range(FOLDS):
        model = train([number for number, sample in enumerate(samples) if sample.fold != fold])
        for number, sample in enumerate(samples):
            if sample.fold == fold:
                found[number] = ask(model, number)
    return found


def trees_of(model: CatBoostClassifier) -> dict[str, Any]:
    """Return the arrays of a model, as `webanalytics.page.content.model` reads them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        stored = json.loads(path.read_text("utf-8"))
    depth = max(len(tree["splits"] or ()) for tree in stored["oblivious_trees"])
    scale, bias = stored["scale_and_bias"]
    outputs = len(bias)
    columns, borders, leaves = [], [], []
    place = {
        row["flat_feature_index"]: row["feature_index"] for row in stored["features_info"]["float_features"]
    }
    assert all(flat == index for flat, index in place.items())
    for tree in stored["oblivious_trees"]:
        splits = tree["splits"] or []
        missing = depth - len(splits)
        columns.append([split["float_feature_index"] for split in splits] + [0] * missing)
        borders.append([split["border"] for split in splits] + [np.inf] * missing)
        values = np.array(tree["leaf_values"]).reshape(-1, outputs) * scale
        leaves.append(np.concatenate([values, np.zeros(((1 << depth) - len(values), outputs))]))
    return {
        "columns": np.array(columns, dtype=np.uint16),
        "borders": np.array(borders, dtype=np.float32),
        "leaves": np.array(leaves, dtype=np.float16),
        "bias": np.array(bias, dtype=np.float32),
    }


def arrays_of(models: dict[str, CatBoostClassifier]) -> dict[str, Any]:
    """Return the arrays of several models by the name of each and of its part."""
    return {
        f"{name}_{part}": array for name, model in models.items() for part, array in trees_of(model).items()
    }


def write(arrays: dict[str, Any]) -> None:
    """Write the data file."""
    np.savez_compressed(TARGET, **arrays)
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")


def table_of(samples: list[Sample], scores: list[float]) -> str:
    """Return the mean by type, and with the share of articles in the whole development half."""
    pairs = [(sample.kind, score) for sample, score in zip(samples, scores, strict=True) if not sample.small]
    small = np.mean([score for sample, score in zip(samples, scores, strict=True) if sample.small])
    by = {kind: [score for other, score in pairs if other == kind] for kind in TYPES}
    others = [score for kind in TYPES if kind != "article" for score in by[kind]]
    mixed = (793 * np.mean(by["article"]) + 704 * np.mean(others)) / 1497
    parts = " ".join(f"{kind} {np.mean(found):.3f}" for kind, found in by.items())
    mean = np.mean([score for _, score in pairs])
    return f"mean {mean:.4f}, as in the whole half {mixed:.4f}: {parts}; small pages {small:.3f}"


def main() -> None:
    """Train, and report or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--types", action="store_true")
    arguments = parser.parse_args()
    kinds = json.loads((arguments.folder / "types.json").read_text("utf-8"))
    samples = [sample for name, kind in kinds.items() for sample in read(arguments.folder, name, kind)]

    def large(numbers: list[int]) -> list[int]:
        return [number for number in numbers if not samples[number].small]

    def pages(numbers: list[int]) -> Any:
        return fit_pages([samples[number].taught for number in large(numbers)])

    kinds_of = of_folds(samples, pages, lambda model, at: model.predict_proba(samples[at].page[None])[0])
    right = [
        TYPES[int(np.argmax(kind))] == sample.kind
        for kind, sample in zip(kinds_of, samples, strict=True)
        if not sample.small
    ]
    print(sum(len(sample.labels) for sample in samples), "blocks", len(samples), "pages", flush=True)
    print(f"type of the page: {np.mean(right):.3f}", flush=True)
    if arguments.types:
        with np.load(TARGET) as stored:
            kept = dict(stored)
        write(kept | arrays_of({"page": pages(list(range(len(samples))))}))
        return
    tables, taught = (
        [
            np.hstack([sample.table, np.repeat(kind[None].astype(np.float32), len(sample.table), axis=0)])
            for sample, kind in zip(of_all, kinds_of, strict=True)
        ]
        for of_all in (samples, [sample.taught for sample in samples])
    )

    def blocks(numbers: list[int]) -> Any:
        return fit_blocks([samples[n].taught for n in numbers], [taught[n] for n in numbers])

    def ask(model: Any, at: int) -> Any:
        return model.predict_proba(tables[at])[:, 1].astype(np.float32)

    chances = of_folds(samples, blocks, ask)
    decided = [
        sample.chosen(found, kind) for sample, found, kind in zip(samples, chances, kinds_of, strict=True)
    ]
    scores = [sample.score(keep) for sample, (keep, *_) in zip(samples, decided, strict=True)]
    print("content:", table_of(samples, scores), flush=True)
    rows = [
        confidence_features(kind, found, keep, sample.weights, expected)
        for kind, sample, (keep, found, expected, _) in zip(kinds_of, samples, decided, strict=True)
    ]
    sure = of_folds(
        samples,
        lambda numbers: fit_confidence(
            [rows[n] for n in large(numbers)], [scores[n] for n in large(numbers)]
        ),
        lambda model, at: float(model.predict_proba(rows[at][None])[0, 1]),
    )
    whole = large(list(range(len(samples))))
    for low in np.arange(0, 1, 0.1):
        inside = [scores[number] > 0.8 for number in whole if low <= sure[number] < low + 0.1]
        if inside:
            print(f"confidence {low:.1f}: {len(inside)} pages, F1 above 0.8 {np.mean(inside):.3f}")
    high = [scores[number] > 0.8 for number in whole if sure[number] >= 0.8]
    print(f"confidence 0.8 and more: {len(high)} pages, F1 above 0.8 {np.mean(high):.3f}", flush=True)
    if arguments.report:
        return
    everything = list(range(len(samples)))
    trained = {
        "page": pages(everything),
        "block": blocks(everything),
        "confidence": fit_confidence([rows[n] for n in whole], [scores[n] for n in whole]),
    }
    arrays = arrays_of(trained)
    arrays["block_names"], arrays["page_names"] = np.array(samples[0].names), np.array(samples[0].page_names)
    write(arrays)


if __name__ == "__main__":
    main()
