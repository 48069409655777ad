"""BM25 over the terms of words.py, as a share of the most a text could reach. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from cormorant import words

K1, B = 1.2, 0.6


def bm25(question: str, texts: Sequence[str]) -> list[float]:
    """Each text's BM25 as a share of the most that any text could reach."""
    asked = list(dict.fromkeys(words.terms(question)))
    counted = [Counter(words.terms(text)) for text in texts]
    lengths = [counts.total() for counts in counted]
    mean = sum(lengths) / (len(lengths) or 1) or 1.0
    rarity = {term: log(1 + (len(texts) + 1) / (sum(term in counts for counts in counted) + 0.5)) for term in asked}
    most = sum(rarity.values()) * (K1 + 1) or 1.0
    return [
        sum(rarity[t] * counts[t] * (K1 + 1) / (counts[t] + K1 * (1 - B + B * length / mean)) for t in asked if t in counts) / most
        for counts, length in zip(counted, lengths, strict=True)
    ]
