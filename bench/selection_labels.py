"""Which blocks of a page the reference text is made of: both as words, aligned in order, each reference word claimed once.

A page says the same thing in several places (title, breadcrumb, card, footer) and the reference has it once; alignment in
reading order decides which of the places is meant.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict

WORD = re.compile(r"\w+")
SEED = 3  # words in a row that make a candidate place
MAX_PLACES = 8


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


class Reference:
    """The reference text, indexed by runs of SEED words, with what has been claimed."""

    def __init__(self, text: str) -> None:
        self.words: list[str] = []
        self.line_starts: set[int] = set()
        for line in text.split("\n"):
            self.line_starts.add(len(self.words))
            self.words += words_of(line)
        self.line_starts.add(len(self.words))
        self.claimed = bytearray(len(self.words))
        self.places: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self.of_word: dict[str, list[int]] = defaultdict(list)
        for i, word in enumerate(self.words):
            self.of_word[word].append(i)
            if i + SEED <= len(self.words):
                self.places[tuple(self.words[i : i + SEED])].append(i)

    def candidates(self, words: list[str]) -> list[tuple[int, float]]:
        """Where a block may stand, and the share of its seeds found there."""
        votes: dict[int, int] = defaultdict(int)
        for k in range(len(words) - SEED + 1):
            for at in self.places.get(tuple(words[k : k + SEED]), ())[:50]:
                votes[at - k] += 1
        merged: dict[int, int] = defaultdict(int)
        for start in votes:  # a word more or less inside shifts the rest
            merged[start] = sum(votes.get(start + shift, 0) for shift in range(-4, 5))
        best = sorted(merged.items(), key=lambda pair: -pair[1])[:MAX_PLACES]
        seeds = len(words) - SEED + 1
        return [(max(0, start), min(1.0, count / seeds)) for start, count in best if count >= 0.5 * seeds]

    def claim(self, words: list[str], start: int) -> None:
        at = start
        for word in words:
            for i in range(at, min(at + 5, len(self.words))):
                if self.words[i] == word:
                    self.claimed[i] = 1
                    at = i + 1
                    break

    def free_share(self, words: list[str]) -> float:
        """The share of a block's seeds that occur where nothing is claimed; claims them."""
        found = 0
        taken: list[int] = []
        for k in range(len(words) - SEED + 1):
            at = next((i for i in self.places.get(tuple(words[k : k + SEED]), ()) if not any(self.claimed[i : i + SEED])), -1)
            if at >= 0:
                found += 1
                taken.append(at)
        share = found / max(1, len(words) - SEED + 1)
        if share >= 0.5:
            for at in taken:
                for i in range(at, at + SEED):
                    self.claimed[i] = 1
        return share

    def short(self, words: list[str], low: int, high: int) -> bool:
        """Whether a short block stands, unclaimed, between two places, or anywhere on a line of its own; claims it."""
        n = len(words)
        starts = self.of_word.get(words[0], [])
        fits = [i for i in starts if self.words[i : i + n] == words and not any(self.claimed[i : i + n])]
        inside = [i for i in fits if low <= i and i + n <= high + 2]
        alone = [i for i in fits if i in self.line_starts and i + n in self.line_starts]
        chosen = next((i for i in inside if i in alone), None)
        if chosen is None:
            chosen = inside[0] if inside and (high - low < 60) else (alone[0] if alone else None)
        if chosen is None:
            return False
        self.claimed[chosen : chosen + n] = b"\1" * n
        return True


def _in_order(candidates: list[list[tuple[int, float]]], sizes: list[int]) -> dict[int, int]:
    """The heaviest choice of places that keeps the order of the page: block number -> place."""
    tails: list[tuple[int, float]] = []  # (place, best weight of a chain ending at or before it), both rising
    links: dict[int, tuple[int, int, int]] = {}
    ends: dict[int, int] = {}
    serial = 0
    for number, places in enumerate(candidates):
        new: list[tuple[int, float, int]] = []
        for place, share in places:
            at = bisect_left(tails, (place + 1,)) - 1
            before, weight = (ends[tails[at][0]], tails[at][1]) if at >= 0 else (-1, 0.0)
            links[serial] = (number, place, before)
            new.append((place + max(1, int(sizes[number] * 0.7)) - 1, weight + share * sizes[number], serial))
            serial += 1
        for place, weight, mark in new:
            at = bisect_left(tails, (place,))
            if (at < len(tails) and tails[at][0] == place and tails[at][1] >= weight) or (at > 0 and tails[at - 1][1] >= weight):
                continue
            while at < len(tails) and tails[at][1] <= weight:
                del tails[at]
            tails.insert(at, (place, weight))
            ends[place] = mark
    chosen: dict[int, int] = {}
    mark = ends[tails[-1][0]] if tails else -1
    while mark >= 0:
        number, place, mark = links[mark]
        chosen[number] = place
    return chosen


def align(texts: list[str], reference_text: str) -> list[float]:
    """For each block the share of it that the reference has."""
    reference = Reference(reference_text)
    blocks = [words_of(text) for text in texts]
    candidates = [reference.candidates(words) if len(words) >= SEED + 1 else [] for words in blocks]
    places = _in_order(candidates, [len(words) for words in blocks])
    labels = [0.0] * len(blocks)
    for number, place in places.items():
        reference.claim(blocks[number], place)
        labels[number] = next(share for at, share in candidates[number] if at == place)
    for number, words in enumerate(blocks):
        if len(words) > SEED and number not in places:
            labels[number] = reference.free_share(words)
    after = [len(reference.words)] * (len(blocks) + 1)
    for number in range(len(blocks) - 1, -1, -1):
        after[number] = places.get(number, after[number + 1])
    low = 0
    for number, words in enumerate(blocks):
        if number in places:
            low = places[number] + int(len(words) * 0.7)
        elif 0 < len(words) <= SEED:
            labels[number] = float(reference.short(words, low, after[number]))
    return labels
