"""What a call returns, and how it reads as text. Pure.

Every result is a frozen value with two faces: `as_dict()`, the JSON of every surface, and `as_text()`, complete and best
for a model. A page's own words stand between two boundary lines that the page can't forge.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from cormorant import forms
from cormorant.document import Picture, bounded
from cormorant.errors import CormorantError, Refused, Unreachable

IMAGE_INLINE_BYTES = 256 * 1024  # a larger image is named in a result, and not carried by it
Frame = Literal["full", "id", "none"]  # how much stands around a body; the fit note is in `fit` in any case


@dataclass(frozen=True)
class Page:
    """One page, fitted: the result of `web_fetch` for one address."""

    response_id: str
    url: str
    final_url: str
    status: int
    type: str
    title: str
    content: str
    truncated: bool = False
    output: str = "markdown"
    extract: str = ""
    bytes: int = 0
    chars: int = 0
    cached: bool = False
    byline: str = ""
    site: str = ""
    published_at: str = ""
    summary: str = ""
    language: str = ""
    outcome: str = "content"
    coverage: float = 1.0
    findings: tuple[dict[str, Any], ...] = ()
    sha256: str = ""
    retrieved_at: str = ""
    fit: dict[str, Any] | None = None
    document: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    redirected_to: str = ""
    markdown_version: str = ""  # where the page says it can be had as Markdown
    site_guide: str = ""  # the llms.txt that the page names
    content_signals: dict[str, bool] | None = None  # what robots.txt says the content may be used for
    next_offset: int | None = None
    links: tuple[dict[str, str], ...] | None = None
    structured: dict[str, Any] | None = None
    filled: dict[str, Any] | None = None  # by the schema that was given: data, evidence, missing, complete, model
    citation: str = ""
    changes: dict[str, Any] | None = None
    matches: dict[str, Any] | None = None
    image: Picture | None = None
    frame: Frame = "full"

    def as_dict(self) -> dict[str, Any]:
        """The JSON of `web_fetch`. Empty texts are null; what was not asked for is left out."""
        shown: dict[str, Any] = {
            "response_id": self.response_id,
            "url": self.url,
            "final_url": self.final_url,
            "status": self.status,
            "type": self.type,
            "title": self.title,
            "content": self.content,
            "truncated": self.truncated,
            "output": self.output,
            "extract": self.extract,
            "bytes": self.bytes,
            "chars": self.chars,
            "cached": self.cached,
            "byline": self.byline or None,
            "site": self.site or None,
            "published_at": self.published_at or None,
            "summary": self.summary or None,
            "language": self.language or None,
            "outcome": self.outcome,
            "coverage": self.coverage,
            "findings": list(self.findings),
            "sha256": self.sha256,
            "retrieved_at": self.retrieved_at,
            "fit": self.fit,
            "document": self.document,
            "warnings": list(self.warnings),
        }
        asked = {
            "redirected_to": self.redirected_to,
            "markdown_version": self.markdown_version,
            "site_guide": self.site_guide,
            "content_signals": self.content_signals,
            "next_offset": self.next_offset,
            "links": None if self.links is None else list(self.links),
            "structured": self.structured,
            "citation": self.citation,
            "changes": self.changes,
            "matches": self.matches,
            "image": image_dict(self.image),
        }
        return shown | (self.filled or {}) | {name: value for name, value in asked.items() if value not in (None, "")}

    def as_text(self) -> str:
        """Header block, a blank line, the body between its boundary lines."""
        return _framed(self.header(), bounded(self.content) if self.content else "")

    def cited(self, style: str) -> Page:
        """The page with how it is cited: `apa`, `mla`, `bibtex` or `csl`. Raises: InvalidArguments."""
        return replace(self, citation=forms.citation(self.as_dict(), style))

    def header(self) -> str:
        """`response_id:` and what is known of the page; empty lines left out."""
        if self.frame != "full":
            return f"response_id: {self.response_id}" if self.frame == "id" else ""
        rows = [
            ("response_id", self.response_id),
            ("URL", self.final_url if self.final_url == self.url else f"{self.url} -> {self.final_url}"),
            ("Title", _line(self.title)),
            ("Byline", _line(self.byline)),
            ("Summary", _line(self.summary, 200)),
            ("Site", _line(self.site)),
            ("Published", self.published_at),
            ("Extract", self.extract),
            ("As Markdown", self.markdown_version),
            ("Site guide", self.site_guide),
            ("Outcome", self.outcome if self.outcome != "content" else ""),
            ("Citation", self.citation),
            ("Fit", fit_line(self.fit)),
        ]
        lines = [f"{name}: {value}" for name, value in rows if value]
        lines += [f"[document warning: {_line(w, 500)}]" if self.document else f"[warning: {_line(w, 500)}]" for w in self.warnings]
        return "\n".join(lines)


@dataclass(frozen=True)
class Item:
    """One target of several: fetched, or the error that stopped it."""

    url_index: int
    url: str
    page: Page | None = None
    error: CormorantError | None = None
    tokens: int = 0

    def as_dict(self) -> dict[str, Any]:
        if self.page is None:
            return {"url_index": self.url_index, "url": self.url, "ok": False, "error": self.error.as_dict() if self.error else {}}
        page = self.page
        facts = {"url_index": self.url_index, "url": self.url, "final_url": page.final_url, "title": page.title, "type": page.type}
        more = {"content": page.content, "fit": page.fit} if page.content else {}
        more |= {"citation": page.citation} if page.citation else {}
        return facts | {"tokens": self.tokens, "ok": True} | more | (page.filled or {})


@dataclass(frozen=True)
class Pages:
    """Several targets under one response_id; one that failed does not fail the others."""

    response_id: str
    items: tuple[Item, ...]
    note: str = ""

    @property
    def count(self) -> int:
        return len(self.items)

    def as_dict(self) -> dict[str, Any]:
        return {"response_id": self.response_id, "count": self.count, "items": [item.as_dict() for item in self.items], "note": self.note}

    def as_text(self) -> str:
        parts = [f"response_id: {self.response_id}\n{self.count} targets. {self.note}".rstrip()]
        for item in self.items:
            if item.page is None:
                parts.append(f"[{item.url_index}] {item.url}" + (f"\nError: {error_text(item.error)}" if item.error else ""))
                continue
            page, fit = item.page, fit_line(item.page.fit)
            head = f"[{item.url_index}] {_line(page.title) or page.final_url}\n{page.final_url}" + (f"\nFit: {fit}" if fit else "")
            parts.append(f"{head}\n{bounded(page.content)}" if page.content else f"{head}\n{item.tokens} tokens")
        return "\n\n".join(parts)


@dataclass(frozen=True)
class Stored:
    """What `web_get` brings back of a stored call."""

    response_id: str
    kind: str
    content: str
    url_index: int | None = None
    url: str = ""
    title: str = ""
    query: str | None = None
    truncated: bool = False
    fit: dict[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    next_offset: int | None = None
    matches: dict[str, Any] | None = None
    changes: dict[str, Any] | None = None
    image: Picture | None = None
    frame: Frame = "full"

    def as_dict(self) -> dict[str, Any]:
        shown = {
            "response_id": self.response_id,
            "kind": self.kind,
            "url_index": self.url_index,
            "url": self.url or None,
            "title": self.title,
            "query": self.query,
            "content": self.content,
            "truncated": self.truncated,
            "fit": self.fit,
            "metadata": self.metadata,
        }
        asked = {
            "next_offset": self.next_offset,
            "matches": self.matches,
            "changes": self.changes,
            "image": image_dict(self.image),
        }
        return shown | {name: value for name, value in asked.items() if value is not None}

    def as_text(self) -> str:
        body = bounded(self.content) if self.content and self.kind == "web_fetch" else self.content
        if self.frame != "full":
            return _framed(f"response_id: {self.response_id}" if self.frame == "id" else "", body)
        rows = [
            ("response_id", self.response_id),
            ("URL", self.url),
            ("Title", _line(self.title)),
            ("Query", self.query),
            ("Fit", fit_line(self.fit)),
        ]
        return _framed("\n".join(f"{name}: {value}" for name, value in rows if value), body)


def image_dict(image: Picture | None) -> dict[str, Any] | None:
    """An image in JSON; one that is too large for a message without its data."""
    if image is None:
        return None
    facts, original = asdict(image.facts), asdict(image.original) if image.original else None
    return {**facts, "name": image.name, "original": original, "data": image.base64 if image.facts.bytes <= IMAGE_INLINE_BYTES else None}


def _framed(header: str, body: str) -> str:
    return f"{header}\n\n{body}" if header and body else header or body


def fit_line(fit: dict[str, Any] | None) -> str:
    """The fit note in one line, e.g. `section, 1870 of 9120 tokens (o200k_base); left out: ...; more: ...`."""
    if not fit:
        return ""
    line = f"{fit['view']}, {fit['tokens']} of {fit['page_tokens']} tokens ({fit['counter']})"
    line += f"; left out: {_line(fit['left_out'], 300)}" if fit.get("left_out") else ""
    return line + (f"; more: {_line(fit['hint'], 300)}" if fit.get("hint") else "")


def error_text(error: CormorantError) -> str:
    """One error in one line: whether it was refused or unreachable, its code, why, and what would allow it."""
    kind = "refused: " if isinstance(error, Refused) else "unreachable: " if isinstance(error, Unreachable) else ""
    return f"{kind}{error.code}: {error.message}" + (f" -- {error.remedy}" if error.remedy else "")


def _line(text: str, most: int = 1_000) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
