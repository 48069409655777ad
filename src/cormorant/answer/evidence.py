"""What an answer may rest on: pages that were read, snippets that stand in for those that were not. Pure.

Cuts each page to its passages for the question, joins the reranker's scores with the engine's order, keeps the best and
numbers them. Every passage has an id, its character span in the page's text and a link that opens the page at it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from cormorant import tokens
from cormorant.address import parse
from cormorant.blocks import Block, blocks, closing, opening
from cormorant.citations import Source, canonical, fragment_link
from cormorant.document import Document
from cormorant.errors import CormorantError, InvalidArguments
from cormorant.passages import Passage, Ranked
from cormorant.search import Hit

_PICTURE = re.compile(r"!\[[^\]]*\]\((https?://[^)\s]+)")
RANK_TOKENS = 400  # of a page's best passages, what a reranker reads
ENGINE_WEIGHT = 0.15  # of the engine's order in the fused one
PRIOR_DEPTH = 10  # the engine's prior falls to a half by this rank


@dataclass(frozen=True)
class Evidence:
    """One page or snippet. `text` is the whole of it, which spans and checks refer to."""

    hit: Hit
    url: str
    title: str
    text: str
    read: bool
    document: Document | None = None
    passages: tuple[Passage, ...] = ()
    score: float = 0.0
    number: int = 0

    @property
    def content_kind(self) -> str:
        return "source_page" if self.read else "snippet"

    @property
    def published(self) -> str:
        return (self.document.published if self.document else "") or self.hit.published_at

    @property
    def picture(self) -> str:
        """The address of the picture that the page shows for itself, or of its first one; empty without any."""
        shown = (self.document.structured.get("opengraph") or {}).get("image") if self.document else ""
        shown = shown[0] if isinstance(shown, list) else shown
        first = _PICTURE.search(self.text) if self.read else None
        try:
            return parse(str(shown or (first[1] if first else "")), self.url).href if shown or first else ""
        except InvalidArguments:
            return ""

    @property
    def source(self) -> Source:
        """What a writer sees of it: the passages under the number it is cited by."""
        shown = "\n\n".join(map(self._excerpt, self.passages)) or self.text
        return Source(self.number, self.url, self.title, shown, self.read, self.score, self.published, self.text)

    def _excerpt(self, passage: Passage) -> str:
        """The passage as it reads by itself: rows keep the head of their table, code its fences."""
        said = passage.text
        for block in self._blocks:
            if block.start < passage.end and passage.start < block.end:
                said = opening(self.text, block, passage.start) + said
                end = closing(block, passage.end)
                said += f"\n{end}" if end and passage.end > block.head else ""
        return said

    @cached_property
    def _blocks(self) -> list[Block]:
        return [block for block in blocks(self.text) if block.kind in ("fence", "table")]

    def as_dict(self, *, used: bool) -> dict[str, Any]:
        """Its entry under `sources` in the result."""
        return self.short(used=used) | {
            "content_kind": self.content_kind,
            "sha256": sha256(self.text.encode("utf-8", "replace")).hexdigest(),
            "published_at": self.published or None,
            "passages": [self._shown(passage) for passage in self.passages],
        }

    def _shown(self, passage: Passage) -> dict[str, Any]:
        link = fragment_link(self.url, passage.text)
        return {"id": passage.id, "span": [passage.start, passage.end], "link": link, "score": round(passage.score, 4)}

    def short(self, *, used: bool) -> dict[str, Any]:
        """Its entry in the events, as SHAPES has it."""
        return {
            "rank": self.number,
            "title": self.title,
            "url": self.url,
            "snippet": self.hit.snippet,
            "rerank_score": round(self.score, 4),
            "used_in_response": used,
        }


def hole(url: str, error: CormorantError) -> dict[str, Any]:
    """An entry of `not_reached`: the address, why, and what would allow it."""
    return {"url": url, "code": error.code, "reason": error.message, "command": error.remedy}


def evidence_of(hits: Sequence[Hit], pages: Mapping[str, Document]) -> list[Evidence]:
    """One entry per page in the engine's order; a hit without a page stands on its own text, one without text falls out."""
    found: dict[str, Evidence] = {}
    for hit in hits:
        page = pages.get(hit.url)
        text = page.markdown if page else hit.content or hit.snippet
        if not text.strip():
            continue
        url = (page.url if page else "") or hit.url
        title = hit.title or (page.title if page else "") or url
        key = canonical(url)
        if key not in found or (page is not None and not found[key].read):
            found[key] = Evidence(hit, url, title, text, page is not None, page)
    return list(found.values())


def to_rank(evidence: Evidence, ranked: Ranked, counter: str) -> str:
    """The text a reranker judges a page by: its title and its best passages."""
    best = ranked.fill(RANK_TOKENS, counter, document=evidence.url)
    return "\n".join([evidence.title, *(passage.text for passage in best)])


def fused(evidence: Sequence[Evidence], scores: Sequence[float] | None, *, keep: int) -> list[Evidence]:
    """The best `keep`, numbered from 1: the scores joined with the engine's order; what has no bearing at all is dropped.

    Without scores (the reranker was skipped) the engine's order stands.
    """
    if scores is None:
        return [replace(e, number=n) for n, e in enumerate(evidence[:keep], 1)]
    top = max(scores, default=0.0)
    judged = []
    for place, (entry, score) in enumerate(zip(evidence, scores, strict=True)):
        prior = PRIOR_DEPTH / (PRIOR_DEPTH + place)
        joint = (1 - ENGINE_WEIGHT) * score + ENGINE_WEIGHT * prior * top
        judged.append((-joint, place, replace(entry, score=score)))
    relevant = [row for row in judged if row[2].score > 0] or judged
    return [replace(entry, number=n) for n, (_, _, entry) in enumerate(sorted(relevant, key=lambda row: row[:2])[:keep], 1)]


def with_passages(kept: Sequence[Evidence], ranked: Mapping[str, Ranked], *, budget: int, counter: str) -> list[Evidence]:
    """Each kept page with the passages the writer will see; what a short page leaves of its share goes to the others."""
    filled: dict[int, Evidence] = {}
    left, waiting = budget, len(kept)
    for entry in sorted(kept, key=lambda e: len(e.text)):
        share = max(1, left // waiting)
        passages = tuple(ranked[entry.url].fill(share, counter, document=entry.url))
        filled[entry.number] = replace(entry, passages=passages)
        left -= min(share, _tokens(passages, counter))
        waiting -= 1
    return [filled[entry.number] for entry in kept]


def _tokens(passages: Sequence[Passage], name: str) -> int:
    counter = tokens.counter(name)
    return sum(counter.count(passage.text) for passage in passages)
