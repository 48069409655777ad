"""The local index beside tantivy and plain FTS5, in the same run: adding, asking, and finding what was meant.

    python bench/library_index.py [--documents 100000] [--questions 300]
    python bench/library_index.py --packs FOLDER       real questions instead: which paragraph of many answers

Documents are made of invented words that are as unevenly common as real ones (Zipf), 40 to 400 words each. A question is
three to six words of one document, common ones among them; who answers should put that document first. CPU seconds are
those of the whole process, so that threads count. Writers are four processes adding to one file at once.

Packs are files NAME.dev.jsonl.gz of pages with questions (`text`, `questions` with `gold_spans`) or of paragraphs with
questions (`context`, `qas`). Everybody holds the paragraphs; the score is the mean reciprocal rank of the one that answers.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

import tantivy
from report import save, table

from cormorant.document import Document
from cormorant.library import Library

VOCABULARY = 60_000
BATCH = 200
PUNCTUATION = re.compile(r"""["'()?!:;,.^*+\[\]{}/\\~-]""")  # some of it is syntax to some of them
SYLLABLES = ["ka", "lo", "mi", "ter", "ran", "do", "ves", "pu", "na", "shi", "gor", "el", "tu", "bra", "fen", "os"]


def vocabulary(dice: random.Random) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(dice.choices(SYLLABLES, k=dice.randint(2, 5)))] = None
    return list(words)


def documents(count: int) -> Iterator[tuple[str, str, str]]:
    """Address, title and text; the same for everybody."""
    dice = random.Random(7)
    words = vocabulary(dice)
    shares = list(accumulate(1 / (rank + 5) for rank in range(VOCABULARY)))
    for n in range(count):
        chosen = dice.choices(words, cum_weights=shares, k=dice.randint(40, 400))
        text = ". ".join(" ".join(chosen[at : at + 12]) for at in range(0, len(chosen), 12))
        yield f"https://x.example/{n}", " ".join(chosen[:4]), text


def questions(count: int, documents_count: int) -> list[tuple[str, str]]:
    dice = random.Random(11)
    wanted = set(dice.sample(range(documents_count), count))
    found = []
    for n, (url, _, text) in enumerate(documents(documents_count)):
        if n in wanted:
            found.append((url, " ".join(dice.sample(text.replace(".", "").split(), k=dice.randint(3, 6)))))
    return found


class Ours:
    name = "cormorant"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ours.sqlite"
        self.library = Library(self.path)

    def add(self, rows: list[tuple[str, str, str]]) -> None:
        self.library.add([Document(url=url, markdown=text, title=title) for url, title, text in rows])

    def finish(self) -> None:
        """Every batch was committed."""

    def ask(self, question: str) -> list[str]:
        return [hit.url for hit in self.library.search(question).hits]


class Plain:
    """One FTS5 row a document, any word, BM25: what one writes first. It keeps no document and shows no snippet."""

    name = "plain FTS5"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "plain.sqlite"
        self.db = sqlite3.connect(self.path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("CREATE VIRTUAL TABLE t USING fts5(url UNINDEXED, title, body, tokenize='porter unicode61')")

    def add(self, rows: list[tuple[str, str, str]]) -> None:
        self.db.execute("BEGIN IMMEDIATE")
        self.db.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        self.db.execute("COMMIT")

    def finish(self) -> None:
        """Every batch was committed."""

    def ask(self, question: str) -> list[str]:
        either = " OR ".join(f'"{word}"' for word in question.split())
        return [row[0] for row in self.db.execute("SELECT url FROM t WHERE t MATCH ? ORDER BY rank LIMIT 8", (either,))]


class Tantivy:
    name = "tantivy"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tantivy"
        self.path.mkdir()
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("url", stored=True, tokenizer_name="raw")
        schema.add_text_field("title", stored=True, tokenizer_name="en_stem")
        schema.add_text_field("body", stored=True, tokenizer_name="en_stem")
        self.index = tantivy.Index(schema.build(), path=str(self.path))
        self.writer = self.index.writer(heap_size=100_000_000, num_threads=1)

    def add(self, rows: list[tuple[str, str, str]]) -> None:
        for url, title, text in rows:
            self.writer.add_document(tantivy.Document(url=url, title=title, body=text))

    def finish(self) -> None:
        """One commit at the end: its best case. Ours commits every batch."""
        self.writer.commit()
        self.writer.wait_merging_threads()
        self.index.reload()

    def ask(self, question: str) -> list[str]:
        searcher = self.index.searcher()
        query, _ = self.index.parse_query_lenient(question.lower(), ["title", "body"])
        return [searcher.doc(address)["url"][0] for _, address in searcher.search(query, 8).hits]


def size_mb(path: Path) -> float:
    files = [path] if path.is_file() else list(path.rglob("*"))
    files += [path.with_name(path.name + "-wal")] if path.is_file() else []
    return sum(f.stat().st_size for f in files if f.is_file()) / 1e6


def measure(
    make: Callable[[Path], Ours | Plain | Tantivy], folder: Path, count: int, asked: list[tuple[str, str]]
) -> dict[str, float | str]:
    engine = make(folder)
    spent, batch = 0.0, []
    for row in documents(count):
        batch.append(row)
        if len(batch) == BATCH:
            spent += _timed(lambda: engine.add(batch))  # noqa: B023 - called at once
            batch = []
    spent += _timed(lambda: engine.add(batch)) + _timed(engine.finish)
    times, first, among = [], 0, 0
    for url, question in asked:
        answers: list[str] = []
        times.append(_timed(lambda: answers.extend(engine.ask(question))) * 1000)  # noqa: B023
        first += answers[:1] == [url]
        among += url in answers
    times.sort()
    return {
        "engine": engine.name,
        "add_cpu_ms": spent / count * 1000,
        "ask_p50_cpu_ms": statistics.median(times),
        "ask_p95_cpu_ms": times[int(len(times) * 0.95)],
        "meant_first": first / len(asked),
        "meant_among_8": among / len(asked),
        "size_mb": size_mb(engine.path),
    }


def _timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def paragraphs(file: Path) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
    """Paragraphs as documents, and the questions with the paragraph that answers each."""
    rows, asked = [], []
    for n, line in enumerate(gzip.decompress(file.read_bytes()).decode().split("\n")):
        if not line:
            continue
        page = json.loads(line)
        if "context" in page:
            rows.append((f"https://x.example/{n}", "", page["context"]))
            asked += [(rows[-1][0], question["q"]) for question in page["qas"]]
            continue
        at = 0
        for k, text in enumerate(page["text"].split("\n")):
            if len(text) > 80:
                url = f"https://x.example/{n}-{k}"
                rows.append((url, "", text))
                spans = [(q["question"], q["gold_spans"][0][0]) for q in page["questions"] if q["gold_spans"]]
                asked += [(url, question) for question, start in spans if at <= start < at + len(text)]
            at += len(text) + 1
    random.Random(1).shuffle(asked)
    return rows, asked


def on_packs(folder: Path, count: int) -> None:
    results = []
    for file in sorted(folder.glob("*.dev.jsonl.gz")):
        name = file.name.removesuffix(".dev.jsonl.gz")
        if not name.startswith(("squad_pages", "covidqa", "xquad")):
            continue
        rows, asked = paragraphs(file)
        row: dict[str, float | str] = {"pack": name, "paragraphs": len(rows), "questions": len(asked[:count])}
        for make in (Ours, Tantivy, Plain):
            with tempfile.TemporaryDirectory() as where:
                engine = make(Path(where))
                engine.add(rows)
                engine.finish()
                answers = [(url, engine.ask(PUNCTUATION.sub(" ", question))) for url, question in asked[:count]]
                row[engine.name] = statistics.mean(1 / (found.index(url) + 1) if url in found else 0.0 for url, found in answers)
        results.append(row)
    print(table(results))
    bars = {str(row["pack"]): {name: float(row[name]) for name in ("cormorant", "tantivy", "plain FTS5")} for row in results}
    save("library_questions", {"mean_reciprocal_rank": results}, bars=bars)


WRITER = """
import sys
sys.path.insert(0, sys.argv[3])
from itertools import islice
from library_index import documents
from cormorant.document import Document
from cormorant.library import Library
library = Library(sys.argv[1])
start = int(sys.argv[2])
for url, title, text in islice(documents(start + 250), start, start + 250):
    library.add(Document(url=url, markdown=text, title=title))
"""


def four_writers(folder: Path) -> dict[str, float]:
    path = folder / "four.sqlite"
    began = time.perf_counter()
    here = str(Path(__file__).parent)
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(n * 250), here]) for n in range(4)]
    failed = sum(process.wait() != 0 for process in running)
    took = time.perf_counter() - began
    with Library(path) as library:
        return {
            "writers": 4,
            "documents": library.collections().get("default", 0),
            "failed_writers": failed,
            "documents_per_s": 1000 / took,
        }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--packs", type=Path)
    given = parser.parse_args()
    if given.packs:
        on_packs(given.packs, given.questions)
        return
    asked = questions(given.questions, given.documents)
    with tempfile.TemporaryDirectory() as name:
        rows = [measure(make, Path(name), given.documents, asked) for make in (Ours, Tantivy, Plain)]
        writers = four_writers(Path(name))
    print(table(rows))
    print(writers)
    bars = {
        "adding, CPU ms a document": {str(row["engine"]): float(row["add_cpu_ms"]) for row in rows},
        "asking, median CPU ms": {str(row["engine"]): float(row["ask_p50_cpu_ms"]) for row in rows},
        "the document meant is first": {str(row["engine"]): float(row["meant_first"]) for row in rows},
    }
    save("library_index", {"documents": given.documents, "questions": given.questions, "engines": rows, "four_writers": writers}, bars=bars)


if __name__ == "__main__":
    main()
