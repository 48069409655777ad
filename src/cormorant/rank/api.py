"""Rerankers over HTTP: Cohere, Jina, Voyage, and anything self-hosted that answers like text-embeddings-inference.

The address and the key are an operator's settings. `label` names the model, so that an answer says who ranked it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import exp
from typing import Any

from cormorant.errors import NotConfigured, ProviderError, RateLimited
from cormorant.search import Request
from cormorant.settings import Settings

TIMEOUT_S = 15.0
EXCERPT_CHARS = 300
TEXT_MAX_CHARS = 8_000  # of one text; the services cut there or earlier


@dataclass(frozen=True)
class Service:
    """How one service is asked and answers."""

    url: str
    variables: tuple[str, ...]
    model: str
    texts: str = "documents"  # the field that carries the texts
    results: str = "results"  # the field of the answer that carries the scores; empty: the answer is the list
    score: str = "relevance_score"
    top: str = "top_n"


SERVICES = {
    "cohere": Service("https://api.cohere.com/v2/rerank", ("COHERE_API_KEY",), "rerank-v3.5"),
    "jina": Service("https://api.jina.ai/v1/rerank", ("JINA_API_KEY",), "jina-reranker-v2-base-multilingual"),
    "voyage": Service("https://api.voyageai.com/v1/rerank", ("VOYAGE_API_KEY",), "rerank-2.5", results="data", top="top_k"),
    "tei": Service("", (), "", texts="texts", results="", score="score", top=""),
}


class Api:
    """One service, by `cohere::model`, `jina::model`, `voyage::model` or `tei`. Raises NotConfigured without its key or address."""

    def __init__(self, settings: Settings, request: Request, *, name: str = "") -> None:
        kind, _, model = (name or settings.answer.reranker).partition("::")
        if kind not in SERVICES:
            raise NotConfigured(f"no reranking service is called {kind!r}", remedy=f"there are: {', '.join(SERVICES)}")
        self._service = SERVICES[kind]
        self._model = model or self._service.model
        self.label = f"{kind}::{self._model or 'self-hosted'}"
        self._url = settings.search.urls.get(f"rerank-{kind}", "") or self._service.url
        self._request = request
        looked = self._service.variables
        self._key = next((settings.keys[variable] for variable in looked if settings.keys.get(variable)), "")
        if not self._url:
            raise NotConfigured(f"{kind} needs its address", remedy=f"cormorant settings set search.urls.rerank-{kind} http://...")
        if looked and not self._key:
            raise NotConfigured(f"{kind} needs a key, and {looked[0]} is not set", remedy=f"cormorant secret set {looked[0]}")

    async def score(self, question: str, texts: list[str]) -> list[float]:
        """One score per text, 0..1. Raises: ProviderError, RateLimited, Unreachable."""
        if not texts:
            return []
        body: dict[str, Any] = {"query": question, self._service.texts: [text[:TEXT_MAX_CHARS] or " " for text in texts]}
        if self._model:
            body["model"] = self._model
        if self._service.top:
            body[self._service.top] = len(texts)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        reply = await self._request("POST", self._url, headers=headers, json=body, timeout_s=TIMEOUT_S)
        self._check(reply.status, reply.body)
        try:
            payload = json.loads(reply.body)
        except ValueError as error:
            raise ProviderError(f"{self.label} answered with something that is no JSON", remedy="cormorant doctor") from error
        return self._scores(payload, len(texts))

    def _check(self, status: int, body: bytes) -> None:
        if status < 300:
            return
        said = body[: EXCERPT_CHARS * 2].decode("utf-8", "replace")[:EXCERPT_CHARS]
        said = said.replace(self._key, "[redacted]") if self._key else said
        if status == 429:
            raise RateLimited(f"{self.label}: HTTP 429: {said}", remedy="wait, or rank by words", status=429, retryable=True)
        hint = f"check {self._service.variables[0]}" if status in (401, 403) and self._service.variables else "cormorant doctor"
        raise ProviderError(f"{self.label}: HTTP {status}: {said}", remedy=hint, status=status, retryable=status >= 500)

    def _scores(self, payload: Any, count: int) -> list[float]:
        rows: Any = payload.get(self._service.results) if self._service.results and isinstance(payload, dict) else payload
        scores: list[float | None] = [None] * count
        try:
            for row in rows:
                scores[row["index"]] = float(row[self._service.score])
        except (TypeError, KeyError, IndexError, ValueError) as error:
            raise ProviderError(f"{self.label} answered in a shape that is not documented", remedy="cormorant doctor") from error
        known = [score for score in scores if score is not None]
        if not known:
            raise ProviderError(f"{self.label} scored nothing", remedy="cormorant doctor")
        raw = any(score < 0 or score > 1 for score in known)  # a self-hosted model may answer with logits
        return [0.0 if score is None else 1 / (1 + exp(-max(-60.0, min(60.0, score)))) if raw else score for score in scores]
