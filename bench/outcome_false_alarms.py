"""How often an ordinary page is taken for a wall: the outcome judged on every labelled page of a pack.

    python bench/outcome_false_alarms.py PACK.jsonl.xz [--show] [--min-words 1] [--json FILE]

The pack has one JSON object a line with `html`, `url`, `source` and the wanted text (`text`, `md` or snippets in `must`).
A page counts as ordinary when text is wanted of it and stands in its source. Left out are pages of which nothing is
wanted, and saved shells (the wanted text is nowhere in the HTML), since a wall is the right answer there. Prints the
share of false alarms, by code and by source, and what the judging costs a page.
"""

from __future__ import annotations

import argparse
import collections
import json
import lzma
import re
import time
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from cormorant.extract.html.hidden import strip
from cormorant.extract.html.outcome import judge


def wanted_words(row: dict) -> int:
    """How many words the pack wants of a page."""
    text = row.get("text") or row.get("md") or " ".join(row.get("must") or [])
    return len(text.split())


def is_there(row: dict) -> bool:
    """Whether the wanted text stands in the page's source at all; a saved shell had it from a script that is gone."""
    words = re.findall(r"\w{5,}", row.get("text") or row.get("md") or " ".join(row.get("must") or ""))[:200]
    return not words or sum(word in row["html"] for word in words) >= 0.6 * len(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pack", type=Path)
    parser.add_argument("--show", action="store_true", help="print each false alarm with its signs")
    parser.add_argument("--min-words", type=int, default=1)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    given = parser.parse_args()
    pages = alarms = shells = 0
    codes: collections.Counter[str] = collections.Counter()
    sources: collections.Counter[str] = collections.Counter()
    spent = {"parse": 0.0, "judge": 0.0, "strip": 0.0}
    with lzma.open(given.pack, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if wanted_words(row) < given.min_words:
                continue
            if not is_there(row):
                shells += 1
                continue
            pages += 1
            marks = [time.process_time()]
            root = LexborHTMLParser(row["html"], scripting=True).root
            marks.append(time.process_time())
            found = judge(root, url=row["url"], asked=row["url"])
            marks.append(time.process_time())
            strip(root)
            marks.append(time.process_time())
            for name, start, end in zip(spent, marks, marks[1:], strict=False):
                spent[name] += end - start
            if found.code != "content":
                alarms += 1
                codes[found.code] += 1
                sources[row["source"]] += 1
                if given.show:
                    print(f"{found.code:16} {wanted_words(row):5} words wanted  {row['url'][:80]}  {'; '.join(found.signs)}")
    figures = {
        "pages": pages,
        "shells_left_out": shells,
        "false_alarms": alarms,
        "share": round(alarms / max(1, pages), 5),
        "by_code": dict(codes.most_common()),
        "by_source": dict(sources.most_common()),
        "ms_per_page": {name: round(1000 * seconds / max(1, pages), 3) for name, seconds in spent.items()},
    }
    print(json.dumps(figures, indent=2))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
