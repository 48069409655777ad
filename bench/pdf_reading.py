#!/usr/bin/env python3
"""PDF reading on real files, beside peers in the same run: speed, words found, and the order of reading.

    python bench/pdf_reading.py FOLDER [--most 40]      # any folder of PDFs; manuals of a Linux distribution do well

No reader of PDFs is the truth, so the readers judge each other: a word counts as there when most of the other readers find it
on those pages, and a run of eight words as in order when one of the others reads it so too. Ours is cut after 200,000 characters;
each file is compared on the pages that it reads whole. CPU time of poppler's `pdftotext` is that of its process.
"""

from __future__ import annotations

import argparse
import logging
import re
import resource
import shutil
import subprocess
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import report
from selection_scores import plain

from cormorant.errors import CormorantError
from cormorant.extract import pdf

WORD = re.compile(r"\w+")
RUN = 8  # words
_PAGE = re.compile(r"^\[page (\d+)\]$", re.M)
Reader = Callable[[Path, int], str]


def words(text: str) -> list[str]:
    """Words in lower case, letters in their plain form; one that a line's end broke is made whole, in every reader's text."""
    text = unicodedata.normalize("NFKC", text).lower().replace("\u00ad", "")
    return WORD.findall(re.sub(r"(?<=[a-z])-\s*\n\s*(?=[a-z])", "", text))


def ours(path: Path) -> tuple[str, int]:
    """Our text of the pages that were read whole, and how many they are."""
    found = pdf.parse(path.read_bytes())
    text = found["markdown"].split("\n\n", 1)[1]
    if not found["truncated"]:
        return text, found["pages"]
    last = max((int(number) for number in _PAGE.findall(text)), default=1)
    return text[: text.rindex(f"[page {last}]")] if last > 1 else "", last - 1


def _poppler(path: Path, pages: int) -> str:
    return subprocess.run(["pdftotext", "-l", str(pages), str(path), "-"], capture_output=True, check=True).stdout.decode(
        "utf-8", "replace"
    )


def _pypdf(path: Path, pages: int) -> str:
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(path).pages[:pages])


def _pdfminer(path: Path, pages: int) -> str:
    from pdfminer.high_level import extract_text

    return str(extract_text(path, maxpages=pages))


def peers() -> dict[str, Reader]:
    found: dict[str, Reader] = {}
    if shutil.which("pdftotext"):
        found["pdftotext"] = _poppler
    for name, module, reader in (("pypdf", "pypdf", _pypdf), ("pdfminer.six", "pdfminer", _pdfminer)):
        try:
            __import__(module)
            found[name] = reader
        except ImportError:
            print(f"{name} is not installed")
    return found


def spent() -> float:
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def runs(text: list[str]) -> set[tuple[str, ...]]:
    return {tuple(text[at : at + RUN]) for at in range(len(text) - RUN + 1)}


def judged(texts: dict[str, list[str]]) -> dict[str, tuple[int, int, int, int]]:
    """For each reader: words it has of those that most others have, those, its runs that another reads too, its runs."""
    bags, sequences = {name: Counter(text) for name, text in texts.items()}, {name: runs(text) for name, text in texts.items()}
    found = {}
    for name, bag in bags.items():
        others = [other for key, other in bags.items() if key != name]
        agreed: Counter[str] = Counter()
        for word in set().union(*others):
            counts = sorted((other[word] for other in others), reverse=True)
            agreed[word] = counts[len(others) // 2]
        known = set().union(*(sequence for key, sequence in sequences.items() if key != name))
        found[name] = ((bag & agreed).total(), agreed.total(), len(sequences[name] & known), len(sequences[name]))
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--most", type=int, default=40, help="files")
    options = asked.parse_args()
    logging.disable(logging.WARNING)  # the peers say much about files that they read all the same
    others = peers()
    sums: dict[str, Counter[str]] = {name: Counter() for name in ("cormorant", *others)}
    files = pages_read = 0
    for path in sorted(options.folder.glob("*.pdf"))[: options.most]:
        began = spent()
        try:
            text, pages = ours(path)
        except CormorantError as error:
            print(f"{path.name}: {error.message}")
            continue
        sums["cormorant"]["seconds"] += spent() - began  # type: ignore[assignment]
        texts = {"cormorant": words(plain(_PAGE.sub("", text)))}
        for name, reader in others.items():
            began = spent()
            try:
                texts[name] = words(reader(path, pages))
            except Exception as error:  # noqa: BLE001 - a peer that fails on a file has found nothing there
                print(f"{path.name}: {name}: {type(error).__name__}")
                texts[name] = []
            sums[name]["seconds"] += spent() - began  # type: ignore[assignment]
        files, pages_read = files + 1, pages_read + pages
        for name, (same, agreed, ordered, in_all) in judged(texts).items():
            sums[name].update({"same": same, "agreed": agreed, "ordered": ordered, "runs": in_all})
    table = [
        {
            "reader": name,
            "words found": round(one["same"] / max(1, one["agreed"]), 4),
            "runs of words read so by another": round(one["ordered"] / max(1, one["runs"]), 4),
            "pages per CPU second": round(pages_read / max(1e-9, one["seconds"]), 1),
        }
        for name, one in sums.items()
    ]
    print(report.table(table))
    print(f"{files} files, {pages_read} pages")
    bars = {key: {str(row["reader"]): float(row[key]) for row in table} for key in list(table[0])[1:]}
    report.save("pdf_reading", {"files": files, "pages": pages_read, "readers": table}, bars=bars)


if __name__ == "__main__":
    main()
