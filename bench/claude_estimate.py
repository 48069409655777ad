"""The prices of `claude_estimate`, and by how much it overcounts, against an open reconstruction of Claude's tokenizer.

    python bench/claude_estimate.py FOLDER [--fit]

FOLDER has one text file or more for each kind (`english.txt`, `thai-2.txt`, ...: the kind is the name up to a `-` or
`.`); each is cut into pieces of 1,500 characters. Needs `ctok` (Python 3.12) and, for `--fit`, scipy. Prints estimate
divided by count for each kind; with `--fit` also the cheapest prices by which every estimate is at least 1.03 times the
count.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from pathlib import Path

from ctok import token_count
from puretiktoken._pretokenize import pretokenize_o200k

from cormorant import tokens
from cormorant.tokens.estimates import PRICES, script

PIECE_CHARS = 1_500
FRAME_V3, FRAME_V48 = 7, 6  # tokens that frame one message, by ctok's own account
ASKED = 1.03


def count(text: str) -> int:
    return max(token_count(text) - FRAME_V3, token_count(text, "4.8") - FRAME_V48)


def pieces(folder: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(folder.iterdir()):
        text = file.read_text(errors="replace")
        found[re.split(r"[-.]", file.name)[0]] += [text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS)]
    return {kind: [piece for piece in cut if len(piece) >= 80] for kind, cut in found.items()}


def features(text: str) -> list[int]:
    """For each price its tokens, units and capitals in `text`, in the order of `PRICES`."""
    sums = {name: [0, 0, 0] for name in PRICES}
    size = tokens._O200K.of_word
    for word in pretokenize_o200k(text):
        bare = word.strip()
        name = script(bare)
        sums[name][0] += size(word)
        sums[name][1] += len(word.encode("utf-8", "surrogatepass")) if PRICES[name].bytes else len(bare)
        sums[name][2] += sum(map(str.isupper, bare)) if name == "latin" else 0
    return [number for three in sums.values() for number in three]


def fitted(rows: list[list[int]], counts: list[int]) -> list[float]:
    import numpy as np
    from scipy.optimize import linprog

    share = np.array(rows, float) / np.array(counts, float)[:, None]
    bounds = [(0.3 if n % 3 == 0 else 0.0, 4.0) for n in range(share.shape[1])]
    return list(linprog(share.sum(0), A_ub=-share, b_ub=-np.full(len(counts), ASKED), bounds=bounds).x)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--fit", action="store_true")
    options = asked.parse_args()
    found = pieces(options.folder)
    estimate = tokens.counter("claude_estimate").count
    for kind, texts in found.items():
        ratios = [estimate(text) / count(text) for text in texts]
        print(f"{kind:14} {len(texts):5} texts  mean {sum(ratios) / len(ratios):.2f}  least {min(ratios):.2f}  most {max(ratios):.2f}")
    if options.fit:
        texts = [text for kind in found.values() for text in kind]
        prices = fitted([features(text) for text in texts], [count(text) for text in texts])
        for n, name in enumerate(PRICES):
            print(name, [round(1000 * price) for price in prices[3 * n : 3 * n + 3]])


if __name__ == "__main__":
    main()
