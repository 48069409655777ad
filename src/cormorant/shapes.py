"""The JSON of every result, field by field: what `as_dict()` gives and every surface sends. Pure.

`schema(Page)` is its JSON Schema, the one that MCP lists as `outputSchema` and HTTP describes. Later versions may add
fields, so the schemas are open; a `NotRequired` field stands there only when there is something to say.
"""

from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
    dict: {"type": "object"},
    Any: {},
}


class Error(TypedDict):
    """One error, the same on every surface."""

    code: str
    message: str
    hint: str
    url: str | None
    hop: int | None
    status: int | None
    retryable: bool
    retry_after: float | None


class Fit(TypedDict):
    """What was handed over of a text, what was left out, and the call that brings it."""

    view: str
    budget: int | None
    counter: str
    page_tokens: int
    tokens: int
    left_out: str
    hint: str


class Finding(TypedDict):
    kind: str
    span: list[int] | None
    sha256: str
    note: str


class File(TypedDict):
    mime: str
    name: str
    pages: int | None
    truncated: bool
    warnings: list[str]
    pages_without_text: list[int]


class Link(TypedDict):
    text: str
    href: str


class Needle(TypedDict):
    needle: str
    count: int
    mode: str


class Match(TypedDict):
    needle: str
    span: list[int]
    line: int
    text: str
    context: str


class Matches(TypedDict):
    needles: list[Needle]
    matches: list[Match]
    next_offset: int | None


class Change(TypedDict):
    op: Literal["added", "removed", "changed", "moved"]
    old_span: list[int] | None
    new_span: list[int] | None
    old: str
    new: str


class Changes(TypedDict):
    added: int
    removed: int
    changed: int
    moved: int
    same: int
    blocks: list[Change]
    more: int


class ImageFacts(TypedDict):
    mime: str
    width: int
    height: int
    bytes: int


class Image(ImageFacts):
    """An image in a result: `data` in Base64, `None` where it is too large for a message."""

    name: str
    original: ImageFacts | None
    data: str | None


class Evidence(TypedDict):
    """What one value of `data` stands on; `span` is null where only the page's data says it."""

    path: str
    quote: str
    span: list[int] | None
    source: Literal["json-ld", "microdata", "opengraph", "table", "text"]


class Missing(TypedDict):
    """Why a place of `data` is null."""

    path: str
    reason: str


class Page(TypedDict):
    """`web_fetch` of one address."""

    response_id: str
    url: str
    final_url: str
    status: int
    type: str
    title: str
    content: str
    truncated: bool
    output: str
    extract: str
    bytes: int
    chars: int
    cached: bool
    byline: str | None
    site: str | None
    published_at: str | None
    summary: str | None
    language: str | None
    outcome: str
    coverage: float
    findings: list[Finding]
    sha256: str
    retrieved_at: str
    fit: Fit | None
    document: File | None
    warnings: list[str]
    redirected_to: NotRequired[str]
    markdown_version: NotRequired[str]
    site_guide: NotRequired[str]
    content_signals: NotRequired[dict[str, bool]]
    next_offset: NotRequired[int]
    links: NotRequired[list[Link]]
    structured: NotRequired[dict[str, Any]]
    citation: NotRequired[str]
    data: NotRequired[Any]
    evidence: NotRequired[list[Evidence]]
    missing: NotRequired[list[Missing]]
    complete: NotRequired[bool]
    model: NotRequired[str | None]
    changes: NotRequired[Changes]
    matches: NotRequired[Matches]
    image: NotRequired[Image]
    native: NotRequired[Any]


class Item(TypedDict):
    """One of several addresses: read, or the error that stopped it."""

    url_index: int
    url: str
    ok: bool
    final_url: NotRequired[str]
    title: NotRequired[str]
    type: NotRequired[str]
    tokens: NotRequired[int]
    content: NotRequired[str]
    fit: NotRequired[Fit | None]
    error: NotRequired[Error]


class Pages(TypedDict):
    """`web_fetch` of several addresses."""

    response_id: str
    count: int
    items: list[Item]
    note: str
    native: NotRequired[Any]


class Stored(TypedDict):
    """`web_get`."""

    response_id: str
    kind: str
    url_index: int | None
    url: str | None
    title: str
    query: str | None
    content: str
    truncated: bool
    fit: Fit | None
    metadata: dict[str, Any]
    next_offset: NotRequired[int]
    matches: NotRequired[Matches]
    changes: NotRequired[Changes]
    image: NotRequired[Image]


class Hit(TypedDict):
    rank: int
    title: str
    url: str
    snippet: str
    published_at: str | None
    source: str
    engine: str
    score: float
    query: str
    content_kind: str
    content: NotRequired[str]


class Tried(TypedDict):
    provider: str
    code: str
    message: str


class Failed(TypedDict):
    query: str
    code: str
    message: str


class Found(TypedDict):
    """`web_search`."""

    response_id: str
    query: str
    queries: list[str]
    provider: str
    page: int
    count: int
    results: list[Hit]
    freshness_applied: Literal["provider", "client", "none"]
    tried: list[Tried]
    errors: list[Failed]
    notes: list[str]
    native: NotRequired[Any]


class Passage(TypedDict):
    id: str
    span: list[int]
    link: str
    score: float


class Source(TypedDict):
    rank: int
    title: str
    url: str
    snippet: str
    rerank_score: float
    used_in_response: bool
    content_kind: str
    sha256: str
    published_at: str | None
    passages: list[Passage]


class Verdict(TypedDict):
    """One cited claim held against one source."""

    claim: str
    source: int
    verdict: Literal["exact", "close", "mismatch", "unsupported"]
    score: float
    span: list[int] | None
    quote: str
    reason: str
    link: NotRequired[str]
    judged: NotRequired[str]


class Gap(TypedDict):
    """What was asked for and not read, why, and what would allow it."""

    url: str
    code: str
    reason: str
    command: str


class Ledger(TypedDict):
    tokens: int
    seconds: float
    requests: int
    bytes: int
    usd: float | None


class Answer(TypedDict):
    """`web_answer`."""

    query: str
    response: str
    sources: list[Source]
    sources_used: list[int]
    verdicts: list[Verdict]
    not_reached: list[Gap]
    model: str
    reranker: str
    judge: str | None
    total_results: int
    reranked_results: int
    execution_id: str
    reflection: str | None
    response_id: str
    ledger: Ledger
    provider: str
    warnings: list[str]
    notes: list[str]
    native: NotRequired[Any]


class Cited(TypedDict):
    url: str
    title: str
    rank: NotRequired[int]
    content_kind: NotRequired[str]


class Report(TypedDict):
    """`research`."""

    answer: str
    sources: list[Cited]
    not_reached: list[Gap]
    stopped: str | None
    usage: dict[str, Any]
    verdicts: list[Verdict]
    response_id: str
    notes: list[str]
    model: NotRequired[str]


class Known(TypedDict):
    url: str
    title: str
    source: str


class SiteMap(TypedDict):
    """`web_map`: the pages of a site that its sitemaps and one of its pages name."""

    url: str
    count: int
    links: list[Known]
    sitemaps: list[str]
    truncated: bool
    not_reached: list[Gap]
    notes: list[str]


def schema(*shapes: type) -> dict[str, Any]:
    """The JSON Schema of a result, or of one that has any of these shapes: self-contained, an object at its root."""
    found = [_schema(shape) for shape in shapes]
    return found[0] if len(found) == 1 else {"type": "object", "anyOf": found}


def _schema(kind: Any) -> dict[str, Any]:
    if is_typeddict(kind):
        fields = {name: _schema(hint) for name, hint in get_type_hints(kind).items()}
        return {"type": "object", "properties": fields, "required": [name for name in fields if name in kind.__required_keys__]}
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is list:
        return {"type": "array", "items": _schema(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1])} if inner[1] is not Any else {"type": "object"}
    if origin in (Union, UnionType):
        either = [_schema(one) for one in inner]
        plain = all(one.keys() == {"type"} for one in either)
        return {"type": [one["type"] for one in either]} if plain else {"anyOf": either}
    return _SCALARS[kind]
