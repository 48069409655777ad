"""A self-hosted model of natural language inference as the judge, over HTTP.

Asks as the `/predict` of text-embeddings-inference is documented: `{"inputs": [[premise, hypothesis], ...]}` gives for each
pair a list of `{"label", "score"}`. The address is an operator's setting, `search.urls.judge-nli`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import exp
from typing import Any

from cormorant.errors import NotConfigured, ProviderError, RateLimited
from cormorant.search import Request
from cormorant.settings import Settings

TIMEOUT_S = 30.0
EXCERPT_CHARS = 300
AT_ONCE = 32  # pairs in one call: the server's own default for a client's batch
ADDRESS = "judge-nli"
SUPPORTS = ("entailment", "entailed", "supported", "supports", "consistent", "label_1", "1")  # the first that the model has


class Nli:
    """`nli`, or `nli::LABEL` where the model has a name of its own for "supported". Raises NotConfigured without an address."""

    def __init__(self, settings: Settings, request: Request) -> None:
        named = settings.answer.judge.partition("::")[2]
        self._labels = (named.lower(),) if named else SUPPORTS
        self.label = "nli::self-hosted"
        self._request = request
        self._url = settings.search.urls.get(ADDRESS, "")
        if not self._url:
            raise NotConfigured(
                "the judge nli needs its address", remedy=f"cormorant settings set search.urls.{ADDRESS} http://.../predict"
            )

    async def judged(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One share per pair. Raises: ProviderError, RateLimited, Unreachable."""
        found: list[float] = []
        for at in range(0, len(pairs), AT_ONCE):
            found += await self._predicted(pairs[at : at + AT_ONCE])
        return found

    async def _predicted(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        body = {"inputs": [[passage, claim] for claim, passage in pairs], "truncate": True}
        reply = await self._request("POST", self._url, json=body, timeout_s=TIMEOUT_S)
        if reply.status == 429:
            raise RateLimited(f"{self.label}: HTTP 429", remedy="wait, or answer without a judge", status=429, retryable=True)
        if reply.status >= 300:
            said = reply.body[:EXCERPT_CHARS].decode("utf-8", "replace")
            raise ProviderError(
                f"{self.label}: HTTP {reply.status}: {said}", remedy="cormorant doctor", status=reply.status, retryable=reply.status >= 500
            )
        try:
            rows = json.loads(reply.body)
            if len(rows) != len(pairs):
                raise ValueError(f"{len(rows)} predictions for {len(pairs)} pairs")
            return [self._share({str(one["label"]).lower(): float(one["score"]) for one in row}) for row in rows]
        except (TypeError, KeyError, ValueError) as error:
            raise ProviderError(f"{self.label} answered in a shape that is not documented: {error}", remedy="cormorant doctor") from error

    def _share(self, scores: dict[str, Any]) -> float:
        """The share of the label that means "supported"; the only label of a model that has one. Raises: ValueError."""
        label = next((name for name in self._labels if name in scores), next(iter(scores)) if len(scores) == 1 else None)
        if label is None:
            raise ValueError(f"none of its labels ({', '.join(scores)}) means supported: name it as nli::LABEL")
        if all(0 <= score <= 1 for score in scores.values()):
            return float(scores[label])
        if len(scores) == 1:  # a raw score
            return 1 / (1 + exp(-max(-60.0, min(60.0, scores[label]))))
        top = max(scores.values())
        return exp(scores[label] - top) / sum(exp(score - top) for score in scores.values())
