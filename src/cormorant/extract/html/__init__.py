"""HTML to a Document: parse, clean, select, render, and say whether it is content at all."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from cormorant.document import Document, Finding, Link
from cormorant.errors import ExtractionFailed
from cormorant.extract.html import code, data, hidden, math, metadata, notes
from cormorant.extract.html.clean import clean, furniture
from cormorant.extract.html.links import Addresses
from cormorant.extract.html.markdown import markdown
from cormorant.extract.html.parse import Page, parse
from cormorant.extract.html.select import Selection, select
from cormorant.extract.html.unfold import unfold
from cormorant.extract.invisible import visible

MAX_LINKS = 2_000
ARTICLE_CONFIDENCE = 0.3  # below it a page has no main content to speak of
SHELL_WORDS = 60  # a page with fewer words may be a shell whose text waits in a script's data

_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(slots=True)
class Body:
    """What became of a page's body on the way to its text."""

    text: str = ""
    extractor: str = "full"
    coverage: float = 1.0
    confidence: float = 0.0
    findings: tuple[Finding, ...] = ()
    links: tuple[Link, ...] = ()


def read(text: str, *, url: str, media_type: str = "text/html", extract: str = "auto", output: str = "markdown") -> Document:
    """The page as Markdown (or plain text), with what is known about it.

    Raises: ExtractionFailed when `readability` is asked and the page has no main content.
    """
    page = parse(text, url)
    entities = data.linked(page.tree)
    about = metadata.read(page.tree, entities, url=url)
    body = _read_body(page, text, about.title, extract, plain=output == "text")
    if extract == "readability" and not body.text:
        raise ExtractionFailed("no article was found on this page (try extract='full')", url=url, remedy="extract='full' returns the whole page")
    return Document(
        url=url,
        markdown=body.text,
        title=visible(about.title)[0],
        byline=visible(about.byline)[0],
        site=visible(about.site)[0],
        published=about.published,
        summary=visible(about.summary)[0],
        language=about.language,
        links=body.links,
        extractor=body.extractor,
        coverage=round(body.coverage, 4),
        findings=body.findings,
        warnings=page.warnings,
        media_type=media_type,
    )


def _read_body(page: Page, source: str, title: str, extract: str, *, plain: bool) -> Body:
    root = page.tree.body
    if root is None:
        return Body()
    addresses = Addresses(page.base, page.url)
    lowered = source.lower()
    code.rewrite(page.tree, lowered)
    math.rewrite(page.tree, lowered)
    unfold(page.tree, lowered)
    findings = hidden.strip(root)
    clean(page.tree)
    links = _links(root, addresses)
    footnotes = notes.take(page.tree, root)
    chosen = _chosen(root, title, page.url, extract)
    footnotes.put_back(root)
    text = tidy(markdown(root, addresses, title=title, plain=plain))
    findings += hidden.suspicious(text)
    return Body(text, chosen[0], chosen[1], chosen[2], tuple(findings), links)


def _chosen(root: LexborNode, title: str, url: str, extract: str) -> tuple[str, float, float]:
    """Main content kept, the rest removed: which way won, what share it kept, how sure it was."""
    if extract != "full":
        backup = root.html or "" if extract == "auto" else ""
        chosen: Selection = select(root, title=title, url=url)
        if chosen.confidence >= ARTICLE_CONFIDENCE and chosen.kept_words:
            return "readability", chosen.coverage, chosen.confidence
        if extract == "readability":
            root.inner_html = ""
            return "readability", 0.0, chosen.confidence
        root.inner_html = backup
    furniture(root)
    return "full", 1.0, 0.0


def _links(root: LexborNode, addresses: Addresses) -> tuple[Link, ...]:
    """The links of the whole page in order, each address once."""
    found: dict[str, str] = {}
    for node in root.css("a[href]"):
        href = addresses.absolute(node.attributes.get("href") or "")
        if not href.startswith("http") or (href in found and found[href]):
            continue
        found[href] = " ".join((node.text() or "").split())[:200]
        if len(found) >= MAX_LINKS:
            break
    return tuple(Link(visible(text)[0], href) for href, text in found.items())


def tidy(text: str) -> str:
    """No characters nobody sees, no runs of blank lines outside a fence, nothing at the edges."""
    return visible(text)[0].strip("\n")
