"""How much texts speak of a question, by words alone, comparable among them. Pure.

Three parts over the terms of words.py, weighed by how rare they are in ordinary text (background.py): BM25 of the whole
text, BM25 of its best two neighbouring sentences, and the share of the question that it has at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, sqrt

from cormorant import background, words
from cormorant.passages.sentences import sentences

K1, B, B_WINDOW = 1.2, 0.6, 0.4  # BM25; sentences differ in length for good reasons, so there it weighs less
WINDOW = 2  # sentences read together
COVERED = 0.3  # what the share of the question that a text has weighs against BM25

# Feedback: words that the best texts share, and the question does not have, often are the answer or stand beside it.
FEEDBACK = 0.4  # its weight; chosen on web questions with twenty results each (bench/rerank_quality.py)
FEEDBACK_TEXTS = 8
FEEDBACK_TERMS = 40
SHARPNESS = 7.0  # a text half as good as the best one speaks exp(-SHARPNESS / 2) as loudly
ORDER = 0.3  # how far the given order is believed when choosing the texts to learn from
ORDER_DEPTH = 10
FEWEST_TEXTS = 3  # among fewer there is nothing to share


def bm25(question: str, texts: Sequence[str]) -> list[float]:
    """Each text's score as a share of the most that any text could reach, 0..1; 0 means that it has no term of it."""
    weights = background.weights(question)
    total = sum(weights.values())
    if not total or not texts:
        return [0.0] * len(texts)
    read = [_windows(text, weights) for text in texts]
    mean = sum(len(text) for text in texts) / len(texts) or 1.0
    lengths = [length for windows in read for _, length in windows]
    mean_window = sum(lengths) / (len(lengths) or 1) or 1.0
    scores = []
    for text, windows in zip(texts, read, strict=True):
        counts = _counts(text, weights)
        whole = _sum(counts, weights, len(text) / mean, B)
        best = max((_sum(found, weights, length / mean_window, B_WINDOW) for found, length in windows), default=0.0)
        covered = sum(weights[term] for term in counts)
        scores.append((0.5 * (whole + best) + COVERED * covered) / (total * (1 + COVERED)))
    return scores


def _counts(text: str, weights: Mapping[str, float]) -> Counter[str]:
    return Counter(term for word in words.words(text) for term in words.terms_of(word) if term in weights)


def _windows(text: str, weights: Mapping[str, float]) -> list[tuple[Counter[str], int]]:
    spans = sentences(text)
    counted = [_counts(text[start:end], weights) for start, end in spans]
    return [
        (sum(counted[n : n + WINDOW], Counter()), spans[min(n + WINDOW, len(spans)) - 1][1] - start) for n, (start, _) in enumerate(spans)
    ]


def _sum(counts: Mapping[str, int], weights: Mapping[str, float], length: float, b: float) -> float:
    """BM25 with its saturation scaled to 1."""
    return sum(weights[term] * n / (n + K1 * (1 - b + b * length)) for term, n in counts.items())


def with_feedback(question: str, texts: Sequence[str], scores: Sequence[float]) -> list[float]:
    """The scores with a part for what the best texts share. `texts` come in the order of the engine that found them."""
    top = max(scores, default=0.0)
    if len(texts) < FEWEST_TEXTS or not top:
        return list(scores)
    believed = [(1 - ORDER) * score / top + ORDER * ORDER_DEPTH / (ORDER_DEPTH + place) for place, score in enumerate(scores)]
    counted = [_plain(text) for text in texts]
    learnt = _learnt(question, counted, believed)
    mean = sum(counts.total() for counts in counted) / len(counted) or 1.0
    shared = []
    for counts in counted:
        known = {term: counts[term] for term in learnt if term in counts}
        shared.append(_sum(known, learnt, counts.total() / mean, B))
    most = max(shared, default=0.0) or 1.0
    return [((1 - FEEDBACK) * s + FEEDBACK * top * f / most) if s > 0 else 0.0 for s, f in zip(scores, shared, strict=True)]


def _plain(text: str) -> Counter[str]:
    """Words as they are compared, without stems and grams; pairs of characters where there are no spaces."""
    return Counter(term for word in words.words(text) for term in words.terms_of(word) if term and term[0] not in "~#")


def _learnt(question: str, counted: Sequence[Counter[str]], believed: Sequence[float]) -> dict[str, float]:
    """The terms that the most believed texts share, with their weights."""
    asked = set(words.terms(question))
    best = max(believed)
    found: Counter[str] = Counter()
    for n in sorted(range(len(counted)), key=lambda n: -believed[n])[:FEEDBACK_TEXTS]:
        loud = exp(SHARPNESS * (believed[n] / best - 1)) / sqrt(counted[n].total() or 1)
        for term, times in counted[n].items():
            if term not in asked:
                found[term] += loud * min(times, 3) * background.rarity(term)  # type: ignore[assignment]
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:FEEDBACK_TERMS])
