"""A stored item as it is handed over: the biggest view whose whole text, header and boundary lines included, fits. Pure.

`view.fit` chooses what to show; this room measures what is really said. The text that is counted is the text that is
sent, so a budget holds for everything a model pays for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from cormorant import tokens, view
from cormorant.document import Document
from cormorant.passages import relevance
from cormorant.results import Frame, Page, Stored
from cormorant.store.held import Item
from cormorant.view import View

if TYPE_CHECKING:
    from cormorant.fields import Filled

FRAMES: tuple[Frame, ...] = ("full", "id", "none")
HEADER_TOKENS = 200  # what may stand around one page's text: its addresses, title, summary and the fit note
TRIES = 4  # each takes the overshoot of the one before it off the view's budget

Result = TypeVar("Result", Page, Stored)


@dataclass(frozen=True)
class Shape:
    """How much of a page is asked for, and which part."""

    budget: int | None = None
    view: str | None = None
    section: str | None = None
    query: str | None = None
    max_chars: int | None = None
    offset: int = 0
    counter: str = ""
    max_bytes: int | None = None  # of UTF-8, where the caller named no size: scripts differ in bytes a character

    def of(self, document: Document, envelope: int = 0) -> View:
        """The view of a document that this shape asks for."""
        found = self._of(document, envelope, self.max_chars)
        over = len(found.text.encode("utf-8", "surrogatepass")) > (self.max_bytes or math.inf)
        if not over or self.max_bytes is None:
            return found
        fitting = len(found.text.encode("utf-8", "surrogatepass")[: self.max_bytes].decode("utf-8", "ignore"))
        return self._of(document, envelope, fitting)

    def _of(self, document: Document, envelope: int, max_chars: int | None) -> View:
        return view.fit(
            document,
            budget=self.budget,
            view=self.view,
            section=self.section,
            query=self.query,
            max_chars=max_chars,
            counter=self.counter or tokens.DEFAULT,
            envelope=envelope,
            offset=self.offset,
        )

    def count(self, text: str) -> int:
        return tokens.counter(self.counter or tokens.DEFAULT).count(text)


def fitted(
    item: Item, response_id: str, shape: Shape, *, url_index: int | None = None, links: bool = False, structured: bool = False
) -> Page:
    """The result of a fetch for one item. Raises: InvalidArguments for an unknown view or counter."""
    document = item.document or Document(url=item.final_url, markdown=item.text)
    page = Page(
        response_id=response_id,
        url=item.url,
        final_url=item.final_url or item.url,
        status=item.status,
        type=document.media_type,
        title=document.title or item.title,
        content="",
        output=item.output or "markdown",
        extract=item.extract,
        bytes=item.bytes,
        chars=len(document.markdown),
        byline=document.byline,
        site=document.site,
        published_at=document.published,
        summary=document.summary,
        language=document.language,
        outcome=document.outcome,
        coverage=round(document.coverage, 4),
        findings=tuple(asdict(finding) for finding in document.findings),
        sha256=item.sha256,
        retrieved_at=item.retrieved_at,
        document=asdict(document.file) if document.file else None,
        warnings=item.warnings,
        redirected_to=item.extra.get("redirected_to", ""),
        markdown_version=item.extra.get("markdown_version", ""),
        site_guide=item.extra.get("site_guide", ""),
        content_signals=item.extra.get("content_signals"),
        links=tuple({"text": link.text, "href": link.href} for link in document.links) if links else None,
        structured=document.structured if structured else None,
        image=document.picture,
    )
    return _measured(page, document, shape, lambda found: _said(found, response_id, url_index), item.truncated)


def fitted_data(page: Page, filled: Filled, shape: Shape) -> Page:
    """The page with what a schema brought as its text: with every excerpt, or the data alone, or a line that says how much it is.

    `data`, `evidence` and `missing` are whole in any case; what a budget cuts is the text.
    """
    made = replace(page, filled=filled.as_dict(), warnings=(*page.warnings, *filled.notes), fit=None, truncated=False, next_offset=None)
    texts = [filled.as_text(), filled.as_text(evidence=False)]
    texts.append(f"{len(texts[1]):,} characters of data, more than fits: ask for fewer places, or give a larger budget")
    for text in texts:
        shown = replace(made, content=text, truncated=text != texts[0])
        if len(text) <= (shape.max_chars or math.inf) and (not shape.budget or shape.count(shown.as_text()) <= shape.budget):
            return shown
    return shown


def fitted_stored(item: Item, kind: str, response_id: str, shape: Shape, *, url_index: int | None = None) -> Stored:
    """The result of reading a stored item again."""
    document = item.document or Document(url=item.final_url or item.url, markdown=item.text, title=item.title)
    stored = Stored(
        response_id=response_id,
        kind=kind,
        content="",
        url_index=url_index,
        url=item.final_url or item.url,
        title=item.shown_title,
        query=item.query or None,
        metadata=item.metadata(),
        image=document.picture,
    )
    return _measured(stored, document, shape, lambda found: _said(found, response_id, url_index), item.truncated)


def _said(found: View, response_id: str, url_index: int | None) -> View:
    """The view with the id, and the index where there are several, in the call that brings the rest."""
    named = found.with_id(response_id) if response_id else replace(found, hint="")
    if url_index:
        named = replace(named, hint=named.hint.replace(f"response_id={response_id}", f"response_id={response_id} url_index={url_index}", 1))
    return named


def _measured(result: Result, document: Document, shape: Shape, said: Callable[[View], View], truncated: bool) -> Result:
    """The result with the biggest view whose whole text fits; where the header is too big for the budget it goes first."""
    found: View | None = None
    for frame in FRAMES:
        framed = replace(result, frame=frame)
        envelope = shape.count(framed.as_text()) if shape.budget else 0
        for _ in range(TRIES):
            found = said(shape.of(document, envelope))
            made = replace(framed, content=found.text, fit=found.fit, truncated=found.truncated or truncated, next_offset=found.next_offset)
            over = shape.count(made.as_text()) - shape.budget if shape.budget else 0
            if over <= 0:
                return made
            envelope += over
            if envelope > (shape.budget or 0):
                break
    assert found is not None
    nothing = found.fit | {"view": "stub", "tokens": 0, "left_out": "the page"}
    return replace(result, frame="none", content="", fit=nothing, truncated=True)


def shares(shape: Shape, items: Sequence[Item]) -> list[Shape]:
    """One budget over several pages: divided by how well each answers the query, and never more than a page needs."""
    if shape.budget is None:
        most = shape.max_chars
        return [replace(shape, max_chars=max(1, most // max(1, len(items)))) if most else shape for _ in items]
    texts = [item.body if item.error is None else "" for item in items]
    needs = [shape.count(text) + HEADER_TOKENS for text in texts]
    wanted = [0.1 + relevance(text, shape.query) if shape.query else 1.0 for text in texts]
    given = view.share(shape.budget, wanted, needs)
    return [replace(shape, budget=max(1, tokens_given)) for tokens_given in given]
