"""What one call brought, as it is kept for later: items by url or query, and the JSON they are stored as. Pure.

A held value round-trips: what comes out of a store equals what went in, documents and findings included. Long texts are
taken out of the JSON and named by their SHA-256, so that a page that many calls brought is kept once.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import secrets
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from cormorant.document import Document
from cormorant.errors import MESSAGE_MAX_CHARS, CormorantError, Internal, InvalidArguments, UnknownResponse, UnknownSelector, family
from cormorant.search import Found, Hit, ranked

Kind = Literal["web_search", "web_fetch", "web_answer", "research"]
INLINE_BYTES = 4_096  # shorter texts stay in the JSON: a file and an fsync of their own would cost more than a copy
FORMAT = 1
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Item:
    """One target of a call: a page that was read, a search that was made, or the error that came instead.

    `url` is what was asked for, `final_url` where it ended, `aliases` every other address that led there. `query` is the
    exact text a later call may select it by (the query of a search, the prompt of a fetch). `sha256` is of the bytes as
    they came. An answer keeps its own text as the first item and the pages it read behind it.
    """

    url: str = ""
    final_url: str = ""
    aliases: tuple[str, ...] = ()
    query: str = ""
    document: Document | None = None
    found: Found | None = None
    text: str = ""
    title: str = ""
    status: int = 0
    bytes: int = 0
    sha256: str = ""
    retrieved_at: str = ""
    hops: tuple[str, ...] = ()
    output: str = ""
    extract: str = ""
    truncated: bool = False
    warnings: tuple[str, ...] = ()
    error: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def shown_title(self) -> str:
        return self.title or (self.document.title if self.document else "")

    @property
    def type(self) -> str:
        return self.document.media_type if self.document else ""

    @property
    def body(self) -> str:
        """The text to view: the document's Markdown, else the item's own text."""
        return self.document.markdown if self.document else self.text

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(url for url in (self.url, self.final_url, *self.aliases, *self.hops) if url))

    def failure(self) -> CormorantError | None:
        """The error that came instead of a page, as it was raised."""
        if self.error is None:
            return None
        try:
            kind = family(str(self.error.get("code", "")))
        except KeyError:
            kind = Internal
        known = {name: self.error.get(name) for name in ("hop", "status", "retry_after")}
        return kind(
            str(self.error.get("message", "")),
            remedy=str(self.error.get("hint") or ""),
            url=str(self.error.get("url") or ""),
            retryable=bool(self.error.get("retryable")),
            **known,
        )

    def metadata(self) -> dict[str, Any]:
        """What is known of the item besides its text: the `metadata` of `web_get`."""
        page = self.document
        facts: dict[str, Any] = {
            "final_url": self.final_url,
            "status": self.status,
            "type": self.type,
            "bytes": self.bytes,
            "sha256": self.sha256,
            "retrieved_at": self.retrieved_at,
            "extract": self.extract,
            "byline": page.byline if page else "",
            "site": page.site if page else "",
            "published_at": page.published if page else "",
            "language": page.language if page else "",
            "outcome": page.outcome if page else "",
        }
        return {name: value for name, value in facts.items() if value}


@dataclass(frozen=True)
class Held:
    """What one call brought. A store gives it its `response_id` and `created_at` where they are empty."""

    kind: Kind
    items: tuple[Item, ...] = ()
    response_id: str = ""
    created_at: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)  # the JSON that was answered, where it can't be made again

    @property
    def queries(self) -> tuple[str, ...]:
        """The exact queries a later call may select by, in order."""
        asked = (q for item in self.items for q in _queries_of(item))
        return tuple(dict.fromkeys(asked))

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(hit for item in self.items if item.found for hit in item.found.results)


@dataclass(frozen=True)
class Selected:
    """What a selector picked. `hit` is set when it was one result of a search; `url_index` and `query_index` say where."""

    item: Item
    url_index: int | None = None
    query_index: int | None = None
    hit: Hit | None = None


def new_id() -> str:
    """An id nobody can guess: 32 lowercase hexadecimal digits."""
    return secrets.token_hex(16)


def checked_id(response_id: str) -> str:
    """The id itself. Raises: InvalidArguments when it can't be one."""
    if not isinstance(response_id, str) or not _ID.fullmatch(response_id):
        shown = str(response_id)[:80]
        raise InvalidArguments(
            f'invalid response_id "{shown}": it is 32 lowercase hexadecimal characters',
            remedy="copy it from the response_id line of the earlier result, or re-run the original call",
        )
    return response_id


def unknown(response_id: str, why: str = "nothing is stored under it") -> UnknownResponse:
    """The error of an id that leads nowhere."""
    return UnknownResponse(f"unknown response_id {response_id}: {why}", remedy="re-run the original call to get a new one")


def select(
    held: Held, *, url: str | None = None, url_index: int | None = None, query: str | None = None, query_index: int | None = None
) -> Selected:
    """The item meant: the first selector given, in that order, decides, by exact match alone.

    Without a selector: the first item, or a search's whole list. Raises: UnknownSelector listing those there are.
    """
    if url:
        return _by_url(held, url)
    if url_index is not None:
        return _by_url_index(held, url_index)
    if query:
        return _by_query(held, query)
    if query_index is not None:
        if not 0 <= query_index < len(held.queries):
            raise _no_selector(held, f"query_index {query_index}")
        return _by_query(held, held.queries[query_index])
    if held.kind == "web_search":
        return Selected(_whole(held))
    if not held.items:
        raise unknown(held.response_id, "it holds no item")
    return Selected(held.items[0], url_index=0)


def _by_url(held: Held, url: str) -> Selected:
    for n, hit in enumerate(held.hits):
        if hit.url == url:
            return Selected(_only(held, hit), url_index=n, hit=hit)
    for exact in (lambda item: item.url == url, lambda item: url in item.addresses):  # what was asked before where it led
        for n, item in enumerate(held.items):
            if not item.found and exact(item):
                return Selected(item, url_index=n)
    raise _no_selector(held, f'url "{url[:200]}"')


def _by_url_index(held: Held, index: int) -> Selected:
    hits = held.hits
    if held.kind == "web_search" and 0 <= index < len(hits):
        return Selected(_only(held, hits[index]), url_index=index, hit=hits[index])
    if held.kind != "web_search" and 0 <= index < len(held.items):
        return Selected(held.items[index], url_index=index)
    raise _no_selector(held, f"url_index {index}")


def _by_query(held: Held, query: str) -> Selected:
    if query not in held.queries:
        raise _no_selector(held, f'query "{query[:200]}"')
    at = held.queries.index(query)
    for n, item in enumerate(held.items):
        if query not in _queries_of(item):
            continue
        if item.found and len(_queries_of(item)) > 1:
            item = replace(item, query=query, found=_narrowed(item.found, query))
        return Selected(item, url_index=None if item.found else n, query_index=at)
    raise _no_selector(held, f'query "{query[:200]}"')


def _queries_of(item: Item) -> tuple[str, ...]:
    if item.found:
        return item.found.queries or ((item.found.query,) if item.found.query else ())
    return (item.query,) if item.query else ()


def _narrowed(found: Found, query: str) -> Found:
    hits = ranked(hit for hit in found.results if hit.query == query)
    failed = tuple(error for error in found.errors if error.get("query") == query)
    return replace(found, query=query, queries=(query,), results=hits, errors=failed)


def _whole(held: Held) -> Item:
    """The whole list of a search, also when each of its queries was kept as an item of its own."""
    items = [item for item in held.items if item.found]
    if not items:
        return held.items[0] if held.items else Item(found=Found("", ""))
    first = items[0]
    if len(items) == 1 or first.found is None:
        return first
    errors = tuple(error for item in items if item.found for error in item.found.errors)
    merged = replace(first.found, queries=held.queries, results=ranked(held.hits), errors=errors)
    return replace(first, found=merged)


def _only(held: Held, hit: Hit) -> Item:
    """One result of a search as an item: its text is the page that came with it, else the snippet."""
    return Item(url=hit.url, final_url=hit.url, query=hit.query, title=hit.title, text=hit.content or hit.snippet)


def _no_selector(held: Held, asked: str) -> UnknownSelector:
    lines = list(_selectors(held))
    head = f"no item with {asked} in response {held.response_id}; it has:" if lines else f"response {held.response_id} has no items"
    shown = [head]
    room = MESSAGE_MAX_CHARS - len(head) - 40
    for n, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            shown.append(f"... and {len(lines) - n} more")
            break
        shown.append(line)
    return UnknownSelector("\n".join(shown), remedy="use one of these exactly as it stands there")


def _selectors(held: Held) -> Iterable[str]:
    if held.kind == "web_search":
        yield from (f"url_index={n} url={_shown(hit.url)}" for n, hit in enumerate(held.hits))
    else:
        for n, item in enumerate(held.items):
            failed = f" (failed: {item.error.get('code')})" if item.error else ""
            yield f"url_index={n} url={_shown(item.url)}{failed}" if item.url else f"url_index={n}"
    yield from (f'query_index={n} query="{_shown(query)}"' for n, query in enumerate(held.queries))


def _shown(text: str) -> str:
    return " ".join(text.split()) if len(text) <= 400 else " ".join(text[:400].split()) + "…"


def encoded(held: Held) -> tuple[bytes, dict[str, bytes]]:
    """The JSON of one held value, and the texts it names, by their SHA-256."""
    bodies: dict[str, bytes] = {}
    plain = _plain(held, bodies)
    text = json.dumps({"format": FORMAT, "bodies": list(bodies), "held": plain}, separators=(",", ":"), default=str)
    return text.encode("ascii"), bodies


def bodies_named(head: bytes) -> list[str]:
    """The bodies a stored JSON names. Its beginning is enough, as long as the list is not cut."""
    found = re.match(rb'\{"format":\d+,"bodies":\[([^\]]*)\]', head)
    return re.findall("[0-9a-f]{64}", found[1].decode("ascii")) if found else []


def decoded(text: bytes, load: Callable[[str], bytes]) -> Held:
    """The held value again. `load` brings a body by its SHA-256. Raises: ValueError when it is no such JSON."""
    try:
        data = json.loads(text)
        found: Held = _made(Held, _filled(data["held"], load))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("not a stored result") from error
    return found


def digest(body: bytes) -> str:
    """The name of a body."""
    return hashlib.sha256(body).hexdigest()


def _plain(value: Any, bodies: dict[str, bytes]) -> Any:
    """JSON values: fields that hold their default are left out, long texts become `{"$body": sha256}`."""
    if isinstance(value, str):
        if len(value) * 4 <= INLINE_BYTES:
            return value
        body = value.encode("utf-8", "surrogatepass")  # a page may hold half a surrogate pair; it must come back as it is
        if len(body) <= INLINE_BYTES:
            return value
        name = digest(body)
        bodies[name] = body
        return {"$body": name}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kept = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if not _is_default(f, getattr(value, f.name)))
        return {name: _plain(entry, bodies) for name, entry in kept}
    if isinstance(value, dict):  # a page's own data may have keys like ours: those get one more dollar
        return {f"${key}" if str(key).startswith("$") else key: _plain(entry, bodies) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, bodies) for entry in value]
    return value


def _is_default(of: dataclasses.Field[Any], value: Any) -> bool:
    if of.default is not dataclasses.MISSING:
        return bool(value == of.default and type(value) is type(of.default))
    return of.default_factory is not dataclasses.MISSING and bool(value == of.default_factory())


def _filled(value: Any, load: Callable[[str], bytes]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"$body"}:
            return load(value["$body"]).decode("utf-8", "surrogatepass")
        return {key[1:] if key.startswith("$") else key: _filled(entry, load) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, load) for entry in value]
    return value


Maker = Callable[[Any], Any]


@cache
def _maker(kind: Any) -> Maker | None:
    """How a JSON value becomes what `kind` says: dataclasses and tuples again. None: it is that already."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        inner = _maker(next(arm for arm in get_args(kind) if arm is not type(None)))
        return None if inner is None else lambda value: None if value is None else inner(value)
    if origin is tuple:
        return _tuple_maker(get_args(kind))
    return partial(_made, kind) if isinstance(kind, type) and dataclasses.is_dataclass(kind) else None


def _tuple_maker(arms: tuple[Any, ...]) -> Maker:
    makers = [_maker(arm) for arm in arms if arm is not ...]
    if arms[-1:] != (...,):
        return lambda value: tuple(entry if make is None else make(entry) for make, entry in zip(makers, value, strict=True))
    make = makers[0]
    return tuple if make is None else lambda value: tuple(map(make, value))


@cache
def _makers(kind: type) -> dict[str, Maker | None]:
    hints = get_type_hints(kind)
    return {f.name: _maker(hints[f.name]) for f in dataclasses.fields(kind) if f.init}


def _made(kind: Any, value: dict[str, Any]) -> Any:
    """A dataclass from its fields. One that an older or newer version did not have is passed over."""
    makers = _makers(kind)
    return kind(**{name: entry if (make := makers[name]) is None else make(entry) for name, entry in value.items() if name in makers})
