"""The trained model: two forests of regression trees and a lexicon, read from one data file and evaluated with numpy. Pure.

All trees are walked at once, one level per step, for every block of a page: an array of blocks by trees holds the node each
pair has reached. A node's right child follows its left one, and a leaf is its own left child behind a threshold nothing passes,
so a step is three look-ups and an addition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from cormorant.extract.html.features import Lexicon, Table, second_stage

FILE = Path(__file__).with_name("model.npz")
CHUNK = 2_000  # blocks walked at a time, so that the array of blocks by trees stays small on huge pages


@dataclass(frozen=True)
class Forest:
    """Trees as flat arrays. `feature`, `threshold`, `left` and `value` have one entry per node, `roots` one per tree."""

    feature: Any
    threshold: Any
    left: Any
    value: Any
    roots: Any
    depth: int

    def chances(self, rows: Any) -> Any:
        """The probability for each row of features."""
        import numpy as np

        out = np.empty(len(rows), dtype=np.float64)
        for start in range(0, len(rows), CHUNK):
            part = np.ascontiguousarray(rows[start : start + CHUNK])
            out[start : start + CHUNK] = self._sums(part, np)
        return 1.0 / (1.0 + np.exp(-out))

    def _sums(self, rows: Any, np: Any) -> Any:
        n, width = rows.shape
        flat = rows.ravel()
        base = (np.arange(n) * width)[:, None]
        node = np.broadcast_to(self.roots, (n, len(self.roots)))
        for _ in range(self.depth):
            passed = flat.take(self.feature.take(node) + base) > self.threshold.take(node)
            node = self.left.take(node) + passed
        return self.value.take(node).sum(axis=1)


@dataclass(frozen=True)
class Model:
    """What decides: a first forest on what is known of each block, a second on that and on the first one's opinion of its surroundings."""

    lexicon: Lexicon
    first: Forest
    second: Forest

    def chances(self, table: Table) -> Any:
        """For each block of the page the probability that it is main content."""
        import numpy as np

        rows = table.compute()
        opinion = self.first.chances(rows)
        return self.second.chances(np.hstack([rows, second_stage(table, opinion)]))


def _lexicon_part(words: Any, odds: Any) -> dict[str, float]:
    return dict(zip(bytes(words).decode().split("\n"), (odds / 16.0).tolist(), strict=True))


@lru_cache(maxsize=8)
def load(file: Path = FILE) -> Model:
    """The model of a data file, read once per process."""
    import numpy as np

    with np.load(file, allow_pickle=False) as held:
        parts = {name: held[name] for name in held.files}

    def forest(stage: str) -> Forest:
        whole = {name: parts[f"{stage}_{name}"] for name in ("feature", "threshold", "left", "value", "roots", "depth")}
        as_index = {name: whole[name].astype(np.int64) for name in ("feature", "left", "roots")}
        return Forest(**as_index, threshold=whole["threshold"], value=whole["value"].astype(np.float64), depth=int(whole["depth"]))

    lexicon = Lexicon(_lexicon_part(parts["names"], parts["name_odds"]), _lexicon_part(parts["texts"], parts["text_odds"]))
    return Model(lexicon, forest("first"), forest("second"))
