"""The writer that needs no model: the sentences that answer best, each with its citation. Pure but for being async."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from cormorant.citations import Source
from cormorant.passages import sentences
from cormorant.scoring import bm25

SENTENCES = 5


class Quote:
    """Quotes at most `sentences` sentences. Writes nothing when no sentence bears on the question."""

    label = "quote::extractive"

    def __init__(self, sentences: int = SENTENCES) -> None:
        self.sentences = sentences

    async def write(self, question: str, sources: Sequence[Source]) -> AsyncIterator[str]:
        """The answer in pieces, a sentence at a time, each followed by `<source_N>`."""
        pool = [(source.number, start, source.text[start:end]) for source in sources for start, end in sentences(source.text)]
        scores = bm25(question, [text for _, _, text in pool])
        best = sorted(range(len(pool)), key=lambda n: -scores[n])[: self.sentences]
        for n in sorted((n for n in best if scores[n] > 0), key=lambda n: pool[n][:2]):
            yield f"{pool[n][2]} <source_{pool[n][0]}>\n"
