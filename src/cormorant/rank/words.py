"""The reranker that needs no model: BM25 over words, stems and character n-grams."""

from __future__ import annotations

from cormorant.scoring import bm25


class Words:
    """BM25 with scores in 0..1: the share of what a text could reach that it does reach."""

    label = "words::bm25"

    async def score(self, question: str, texts: list[str]) -> list[float]:
        """One score per text; 0 means that it shares no term with the question."""
        return bm25(question, texts)
