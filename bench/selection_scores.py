"""How extracted text is compared with a reference: words, runs of four words, snippets. Markdown is reduced to text first."""

from __future__ import annotations

import re
from collections import Counter

WORD = re.compile(r"\w+")
_IMAGE = re.compile(r"!\[[^\]]*\]\((?:[^()]|\([^()]*\))*\)")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?:[^()]|\([^()]*\))*\)")
_RULE = re.compile(r"^\s*\|?[\s:|-]+\|[\s:|-]*$", re.M)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+", re.M)
_FENCE = re.compile(r"^\s*(?:```|~~~).*$", re.M)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>|~])")


def plain(markdown: str) -> str:
    """What a reader of the rendered Markdown reads."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", markdown))
    for marks in (_RULE, _HEADING, _FENCE):
        text = marks.sub("", text)
    text = _ESCAPE.sub(r"\1", text)
    return text.replace("**", "").replace("`", "").replace("|", " ")


def words(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.lower()))


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Runs of four words, case kept."""
    found = WORD.findall(text)
    return Counter(tuple(found[i : i + 4]) for i in range(max(1, len(found) - 3))) if found else Counter()


def squash(text: str) -> str:
    return " ".join(text.split())


def overlap(got: Counter, wanted: Counter) -> tuple[float, float, float]:
    """Precision, recall and F1 of two bags; where nothing is wanted, nothing is right."""
    size, goal = got.total(), wanted.total()
    if not goal:
        return (0.0, 0.0, 0.0) if size else (1.0, 1.0, 1.0)
    same = (got & wanted).total()
    return (same / size, same / goal, 2 * same / (size + goal)) if same else (0.0, 0.0, 0.0)
