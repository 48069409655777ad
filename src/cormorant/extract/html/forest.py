"""The trained model: two forests of regression trees and a lexicon, read from one data file and evaluated with numpy. Pure.

All trees are walked at once, one level per step, for a few blocks at a time: an array of trees by blocks holds the node each
pair has reached. A node's right child follows its left one, and a leaf is its own left child behind a threshold nothing passes,
so a step is four look-ups and two additions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from cormorant.extract.html.columns import describe, opinions
from cormorant.extract.html.features import Table
from cormorant.extract.html.lexicon import Lexicon

FILE = Path(__file__).with_name("model.npz")
CHUNK = 64  # blocks walked at a time, so that the arrays of trees by blocks stay in the processor's cache


@dataclass(frozen=True)
class Forest:
    """Trees as flat arrays. `feature`, `threshold`, `left` and `value` have one entry per node, `roots` one per tree."""

    feature: Any
    threshold: Any
    left: Any
    value: Any
    roots: Any
    depth: int

    def chances(self, columns: Any) -> Any:
        """The probability for each block, given one row for each feature."""
        import numpy as np

        blocks = columns.shape[1]
        out = np.empty(blocks, dtype=np.float64)
        for start in range(0, blocks, CHUNK):
            out[start : start + CHUNK] = self._sums(np.ascontiguousarray(columns[:, start : start + CHUNK]))
        return 1.0 / (1.0 + np.exp(-out))

    def _sums(self, columns: Any) -> Any:
        import numpy as np

        width = columns.shape[1]
        flat, index, row = columns.ravel(), np.arange(width), self.feature * width
        node = np.broadcast_to(self.roots[:, None], (len(self.roots), width))
        for _ in range(self.depth):
            passed = flat.take(row.take(node) + index) > self.threshold.take(node)
            node = self.left.take(node) + passed
        return self.value.take(node).sum(axis=0)


@dataclass(frozen=True)
class Model:
    """What decides: a first forest on what is known of each block, a second on that and on the first one's opinion of its surroundings."""

    lexicon: Lexicon
    first: Forest
    second: Forest

    def chances(self, table: Table) -> Any:
        """For each block of the page the probability that it is main content."""
        import numpy as np

        known = describe(table).values
        return self.second.chances(np.vstack([known, opinions(table, self.first.chances(known)).values]))


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
