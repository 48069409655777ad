#!/usr/bin/env python3
"""Trains the model that chooses main content, and says how good it is on sites it has not seen.

    python bench/train_selection.py PACK.jsonl.xz                       # figures by cross-validation -> bench/results/selection.json
    python bench/train_selection.py PACK.jsonl.xz --write               # and the model on all pages -> src/cormorant/extract/html/model.npz
    python bench/train_selection.py PACK.jsonl.xz --folds /tmp/folds    # and one model per fold, for bench/extraction_quality.py

A line of the pack is a page: `html`, `url`, `source`, `type`, and either its reference `text` (or Markdown, `md`) or lists of
snippets that it `must` and `mustnot` give. Folds are by site, so that no page is judged by a model that saw its site. Pages are
taken as the pipeline hands them to `select`. Everything is seeded: the same pack gives the same file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import math
import pickle
import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import lightgbm
import numpy as np
from selection_labels import align
from selection_scores import overlap, plain, shingles, squash, words

from cormorant.extract import document, html
from cormorant.extract.html.blocks import Page, cut
from cormorant.extract.html.columns import Columns, describe, opinions
from cormorant.extract.html.features import SHORT, Facts, Table
from cormorant.extract.html.forest import FILE
from cormorant.extract.html.lexicon import Lexicon, name_words, text_words
from cormorant.extract.html.select import Selection, kind_of, threshold

FOLDS = 5
ROUNDS = (180, 100)  # trees of the first and of the second forest
ROWS = 300_000  # rows trained on; rows of little weight are sampled, and weigh the more
PARAMETERS = {
    "objective": "cross_entropy",  # labels are shares
    "learning_rate": 0.08,
    "num_leaves": 24,
    "max_depth": 7,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 10.0,
    "max_bin": 127,
    "seed": 7,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}
SOURCE_WEIGHT = {"wcxb": 1.0, "scrapinghub": 1.0, "mozilla": 0.7, "defuddle": 0.15}
SNIPPET_WEIGHT = 0.08  # a page with snippets for labels weighs this much for each block that one of them speaks of
SECOND_LEVEL = frozenset(("co", "com", "org", "net", "gov", "ac", "edu", "gob", "go", "or", "ne"))


@dataclass
class Labelled:
    """A page of the pack, cut and labelled: for each block the share of it that belongs, and how much that is to be trusted."""

    id: str
    source: str
    type: str
    site: str
    fold: int
    facts: Facts
    page: Page
    reference: str | None
    must: list[str]
    mustnot: list[str]
    share: Any
    trust: Any
    words: Any


def site_of(row: dict[str, Any]) -> str:
    """The name a site goes by under whatever suffix: `bbc` for www.bbc.co.uk."""
    if row["source"] == "mozilla":  # addresses were taken out; the name of the page begins with the site's
        return re.sub(r"-\d+$", "", row["id"].split("/")[1]).replace("-", "")
    host = urlsplit(row.get("url") or "").hostname or ""
    if not host or host == "example.com":
        return "page:" + row["id"]
    parts = host.split(".")
    if len(parts) > 2 and len(parts[-1]) == 2 and parts[-2] in SECOND_LEVEL:
        return parts[-3]
    return parts[-2] if len(parts) > 1 else host


def fold_of(site: str) -> int:
    return int.from_bytes(hashlib.sha256(site.encode()).digest()[:2]) % FOLDS


def pack_rows(pack: Path) -> list[dict[str, Any]]:
    with lzma.open(pack, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _seen_by_select(row: dict[str, Any]) -> tuple[Page, Facts]:
    """The page as `select` gets it."""
    got: list[tuple[Page, Facts]] = []

    def taken(root: Any, *, title: str = "", url: str = "") -> Selection:
        page = cut(root)
        page.kids.clear()  # nodes of the tree, which ends with it
        got.append((page, Facts(title, url, kind_of(root))))
        return Selection(0.0, 0.0, 0, 0)

    kept, html.select = html.select, taken
    try:
        source = row["html"]
        document(source.encode(), url=row.get("url") or "https://example.com/")
        if not got or sum(block.words for block in got[0][0].blocks) < 100:
            # Some forums keep their threads where scripts are off. Those are pages like any other, and good to learn from.
            opened = re.sub(r"</?noscript[^>]*>", "", source, flags=re.I)
            if len(opened) < len(source):
                document(opened.encode(), url=row.get("url") or "https://example.com/")
    finally:
        html.select = kept
    return max(got, key=lambda one: sum(block.words for block in one[0].blocks))


def _by_snippets(texts: list[str], must: list[str], mustnot: list[str]) -> tuple[list[float], list[float]]:
    share, trust = [0.0] * len(texts), [0.0] * len(texts)
    flat = [squash(text) for text in texts]
    for label, snippets in ((0.0, mustnot), (1.0, must)):
        for snippet in map(squash, snippets):
            hits = [i for i, text in enumerate(flat) if snippet in text] if len(snippet) >= 4 else []
            if label:  # a short one that stands in several places doesn't say which is meant
                hits = hits[:1] if len(hits) == 1 or len(snippet) > 40 else []
            for i in hits:
                share[i], trust[i] = label, 1.0
    return share, trust


def labelled(row: dict[str, Any]) -> Labelled:
    page, facts = _seen_by_select(row)
    texts = [block.text for block in page.blocks]
    reference = row["text"] if "text" in row else (plain(row["md"]) if "md" in row else None)
    must, mustnot = row.get("must") or [], row.get("mustnot") or []
    if reference is not None:
        share, trust = align(texts, reference), [1.0] * len(texts)
        wanted = sum(words(reference).values())
        if wanted > 30 and sum(s * b.words for s, b in zip(share, page.blocks, strict=True)) < 0.3 * wanted:
            trust = [0.0] * len(texts)  # what is wanted is not in the tree: nothing to learn here
    else:
        share, trust = _by_snippets(texts, must, mustnot)
    counted = np.array([block.words for block in page.blocks], np.float32)
    site = site_of(row)
    return Labelled(
        row["id"], row["source"], row.get("type", ""), site, fold_of(site), facts, page, reference, must, mustnot,
        np.array(share, np.float32), np.array(trust, np.float32) * (counted > 0), counted,
    )  # fmt: skip


def gather(pack: Path, cache: Path | None) -> list[Labelled]:
    if cache and cache.exists():
        return pickle.loads(cache.read_bytes())
    pages = [labelled(row) for row in pack_rows(pack)]
    if cache:
        cache.write_bytes(pickle.dumps(pages))
    return pages


def lexicon_of(pages: list[Labelled], min_sites: int = 4) -> Lexicon:
    """For each word of names and short texts, how much more often than others what bears it is content; each site has one voice."""
    names: dict[str, list[Any]] = defaultdict(lambda: [0.0, 0.0, set()])
    texts: dict[str, list[Any]] = defaultdict(lambda: [0.0, 0.0, set()])
    for page in pages:
        weight = page.trust * page.words
        covered = np.concatenate(([0.0], np.cumsum(weight)))
        right = np.concatenate(([0.0], np.cumsum(weight * page.share)))
        named: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        said: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for element in page.page.elements:
            inside = covered[element.end] - covered[element.first]
            if inside > 0:
                for word in name_words(element.names):
                    named[word][0] += inside
                    named[word][1] += right[element.end] - right[element.first]
        for block, share, trust in zip(page.page.blocks, page.share, page.trust, strict=True):
            if trust and block.words <= SHORT:
                for word in dict.fromkeys(text_words(block.text)):
                    said[word][0] += 1
                    said[word][1] += share
        for found, into, most in ((named, names, 1.0), (said, texts, 2.0)):
            for word, (count, good) in found.items():
                voice = min(1.0, math.log1p(count) / 3) if into is names else min(most, count)
                into[word][0] += voice
                into[word][1] += voice * good / count
                into[word][2].add(page.site)
    return Lexicon(_odds(names, 0.4, min_sites), _odds(texts, 0.25, min_sites))


def _odds(found: dict[str, list[Any]], prior: float, min_sites: int) -> dict[str, float]:
    out = {}
    for word, (count, good, sites) in found.items():
        if len(sites) >= min_sites and len(word) <= 24:
            share = (good + prior * 3) / (count + 3)
            odds = math.log(share / (1 - share)) - math.log(prior / (1 - prior))
            out[word] = max(-127, min(127, round(odds * 16))) / 16  # as it is kept in the file
    return out


def weights_of(page: Labelled) -> Any:
    weight = page.trust * (page.words + 3) ** 0.6
    whole = SOURCE_WEIGHT.get(page.source) or min(1.0, SNIPPET_WEIGHT * float((page.trust > 0).sum()))
    return weight / (weight.sum() + 1e-9) * whole


def sampled(weights: list[Any], rows: int) -> list[tuple[Any, Any]]:
    """Which rows of each page are trained on, and how much each weighs then: light ones by lot, none lost on average."""
    chance = np.random.default_rng(3)
    every = np.concatenate(weights)
    low, high = 1e-9, 1.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if np.minimum(1, every / middle).sum() > rows else (low, middle)
    out = []
    for weight in weights:
        odds = np.minimum(1, weight / high)
        taken = np.flatnonzero(chance.random(len(weight)) < odds)
        out.append((taken, weight[taken] / odds[taken]))
    return out


@dataclass
class Data:
    """The pages with their rows of features."""

    pages: list[Labelled]
    tables: list[Table]
    columns: list[str]
    rows: list[Any]
    sample: list[tuple[Any, Any]]

    def fit(self, rows: list[Any], rounds: int, without: int | None = None) -> lightgbm.Booster:
        """A forest on every page, or on those outside one fold."""
        chosen = [i for i, page in enumerate(self.pages) if page.fold != without and len(self.sample[i][0])]
        x = np.concatenate([rows[i][self.sample[i][0]] for i in chosen])
        y = np.concatenate([self.pages[i].share[self.sample[i][0]] for i in chosen])
        w = np.concatenate([self.sample[i][1] for i in chosen])
        return lightgbm.train(PARAMETERS, lightgbm.Dataset(x, y, weight=w * len(w) / w.sum()), num_boost_round=rounds)


def prepare(pages: list[Labelled], lexicons: dict[int, Lexicon]) -> Data:
    tables = [Table(page.page, page.facts, lexicons[page.fold]) for page in pages]
    known = [describe(table) if table.n else Columns(0) for table in tables]
    rows = [columns.values.T.copy() for columns in known]
    return Data(pages, tables, known[0].names, rows, sampled([weights_of(page) for page in pages], ROWS))


def out_of_fold(data: Data, rows: list[Any], rounds: int) -> tuple[list[Any], list[lightgbm.Booster]]:
    """For each page what a forest says that never saw its site."""
    said: list[Any] = [np.zeros(len(part)) for part in rows]
    forests = []
    for fold in range(FOLDS):
        forest = data.fit(rows, rounds, without=fold)
        forests.append(forest)
        for i, page in enumerate(data.pages):
            if page.fold == fold and len(rows[i]):
                said[i] = forest.predict(rows[i], num_threads=1)
    return said, forests


def with_second(data: Data, said: list[Any]) -> list[Any]:
    return [np.hstack([r, opinions(t, p).values.T]) if len(r) else r for r, t, p in zip(data.rows, data.tables, said, strict=True)]


def flattened(forest: lightgbm.Booster) -> dict[str, Any]:
    """The trees as arrays: children side by side, a leaf its own left child behind a threshold that nothing passes."""
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    value: list[float] = []
    roots, depth = [], 0

    def grow() -> int:
        feature.append(0)
        threshold.append(math.inf)
        left.append(len(left))
        value.append(0.0)
        return len(feature) - 1

    for tree in forest.dump_model()["tree_info"]:
        roots.append(grow())
        waiting = [(tree["tree_structure"], roots[-1], 0)]
        while waiting:
            node, at, level = waiting.pop(0)
            depth = max(depth, level)
            if "split_feature" not in node:
                value[at] = node["leaf_value"]
                continue
            child = grow()
            grow()
            feature[at], threshold[at], left[at] = node["split_feature"], node["threshold"], child
            waiting += [(node["left_child"], child, level + 1), (node["right_child"], child + 1, level + 1)]
    return {
        "feature": np.array(feature, np.uint16), "threshold": np.array(threshold, np.float32), "left": np.array(left, np.uint32),
        "value": np.array(value, np.float32), "roots": np.array(roots, np.uint32), "depth": np.array(depth),
    }  # fmt: skip


def write(file: Path, lexicon: Lexicon, first: lightgbm.Booster, second: lightgbm.Booster, columns: list[str]) -> None:
    parts = {
        f"{stage}_{name}": part for stage, forest in (("first", first), ("second", second)) for name, part in flattened(forest).items()
    }
    for name, odds, held in (("names", "name_odds", lexicon.names), ("texts", "text_odds", lexicon.texts)):
        known = sorted(held)
        parts[name] = np.frombuffer("\n".join(known).encode(), np.uint8)
        parts[odds] = np.array([round(held[word] * 16) for word in known], np.int8)
    parts["columns"] = np.frombuffer("\n".join(columns).encode(), np.uint8)  # a test compares them with what is computed today
    np.savez_compressed(file, **parts)


def figures(pages: list[Labelled], said: list[Any]) -> dict[str, Any]:
    """How good the choice is, on the words of the blocks (before rendering): per source, and per page type where there are types."""
    scores: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    hits = Counter[str]()
    for page, chances in zip(pages, said, strict=True):
        keep = chances >= threshold(chances, page.words.astype(float)) if len(chances) else []
        text = "\n".join(block.text for block, kept in zip(page.page.blocks, keep, strict=True) if kept)
        if page.reference is None:
            flat = squash(text)
            hits["right"] += sum(squash(snippet) in flat for snippet in page.must)
            hits["wrong"] += sum(squash(snippet) in flat for snippet in page.mustnot)
            hits["wanted"] += len(page.must)
            continue
        of = shingles if page.source == "scrapinghub" else words
        score = overlap(of(text), of(page.reference))
        scores[page.source].append(score)
        if page.source == "wcxb":
            scores[f"wcxb {page.type}"].append(score)
    out: dict[str, Any] = {}
    for name, found in sorted(scores.items()):
        p, r, f = (sum(score[i] for score in found) / len(found) for i in range(3))
        out[name] = {
            "pages": len(found),
            "precision": round(p, 4),
            "recall": round(r, 4),
            "f1": round(2 * p * r / (p + r) if name == "scrapinghub" else f, 4),
        }
    types = [one["f1"] for name, one in out.items() if name.startswith("wcxb ")]
    if types:
        out["wcxb macro over types"] = {"f1": round(sum(types) / len(types), 4)}
    if hits["wanted"]:
        out["trafi snippets"] = {"f1": round(2 * hits["right"] / (hits["right"] + hits["wrong"] + hits["wanted"]), 4)}
    return out


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("pack", type=Path)
    asked.add_argument("--write", action="store_true", help="train on all pages and write the model that is shipped")
    asked.add_argument("--folds", type=Path, help="a folder for one model per fold")
    asked.add_argument("--cache", type=Path, help="a file that keeps the cut pages between runs")
    options = asked.parse_args()
    began = time.monotonic()

    def tell(what: str, found: object = "") -> None:
        print(f"{time.monotonic() - began:6.0f} s  {what}", found if isinstance(found, str) else json.dumps(found), flush=True)

    pages = gather(options.pack, options.cache)
    tell(f"{len(pages)} pages, {sum(len(page.page.blocks) for page in pages)} blocks")
    data = prepare(pages, {fold: lexicon_of([page for page in pages if page.fold != fold]) for fold in range(FOLDS)})
    tell(f"{len(data.columns)} features")
    first, firsts = out_of_fold(data, data.rows, ROUNDS[0])
    found = {"first forest": figures(pages, first)}
    tell("first forest", found["first forest"])
    seconds_rows = with_second(data, first)
    second, seconds = out_of_fold(data, seconds_rows, ROUNDS[1])
    found["both forests"] = figures(pages, second)
    tell("both forests", found["both forests"])
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    (results / "selection.json").write_text(json.dumps(found, indent=1) + "\n")
    if options.folds:
        options.folds.mkdir(parents=True, exist_ok=True)
        for fold in range(FOLDS):
            write(
                options.folds / f"fold{fold}.npz",
                lexicon_of([page for page in pages if page.fold != fold]),
                firsts[fold],
                seconds[fold],
                data.columns,
            )
    if options.write:
        # The rows keep their out-of-fold lexicon and first opinions: on pages it has seen, a forest is surer than it ever will be again.
        write(FILE, lexicon_of(pages), data.fit(data.rows, ROUNDS[0]), data.fit(seconds_rows, ROUNDS[1]), data.columns)
        tell(f"wrote {FILE} ({FILE.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
