"""The reranker that needs no model: BM25 with the rarity of words in ordinary text, and what the best results share."""

from __future__ import annotations

from cormorant.passages.scoring import bm25, with_feedback
from cormorant.search import Request
from cormorant.settings import Settings


class Words:
    """Scores in 0..1: the share of what a text could reach that it does reach.

    The texts are taken to come in the engine's order: among like scores the earlier ones say what good texts share.
    """

    label = "words::bm25"

    def __init__(self, settings: Settings | None = None, request: Request | None = None) -> None:
        """Takes what every reranker is given, and needs none of it."""

    async def score(self, question: str, texts: list[str]) -> list[float]:
        """One score per text; 0 means that it has no term of the question."""
        return with_feedback(question, texts, bm25(question, texts))
