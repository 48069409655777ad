"""Makes src/cormorant/background.txt: how many pages of ordinary web text hold each word.

    python scripts/background.py PAGES.jsonl.xz [--out src/cormorant/background.txt]

PAGES has one JSON object a line with the main text of a page (`text` or `md`) and its `licence`. Only pages whose
licence lets their text be reused are counted, and only words that at least three pages hold are kept, so that nothing
of any one page can be read back. docs/library.md names the data sets.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cormorant import words

LEAST_PAGES = 3
FREE = re.compile(r"^(?:CC-BY|CC0|MIT$|Apache-2\.0$)")  # "MIT (annotations ...; pages remain their publishers')" is not
STEP = 1.15  # counts are kept by the power of this they reach: IDF does not need them more exactly


def pages(path: Path) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            text = row.get("md") or row.get("text") or ""
            if text and FREE.match(row.get("licence") or ""):
                yield text


def terms(text: str) -> set[str]:
    """Words and stems, no character grams."""
    return {term for word in words.words(text) for term in words.terms_of(word)[:2] if not term.startswith("#") and len(term) < 40}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "src" / "cormorant" / "background.txt")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    total = 0
    for text in pages(given.pages):
        counts.update(terms(text))
        total += 1
    levels: dict[int, list[str]] = {}
    for term, count in counts.items():
        if count >= LEAST_PAGES:
            level = LEAST_PAGES
            while level * STEP <= count:
                level = max(level + 1, int(level * STEP))
            levels.setdefault(level, []).append(term)
    lines = [f"{total}"] + [f"{level} {' '.join(sorted(levels[level]))}" for level in sorted(levels, reverse=True)]
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{total} pages, {sum(map(len, levels.values()))} terms, {given.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
