"""HTML to a Document: parse, clean, select, render, and say whether it is content at all."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from cormorant.document import Document, Finding, Link
from cormorant.errors import ExtractionFailed
from cormorant.extract.html import code, data, hidden, islands, math, metadata, notes, tables
from cormorant.extract.html.clean import clean, furniture
from cormorant.extract.html.links import Addresses
from cormorant.extract.html.markdown import markdown
from cormorant.extract.html.outcome import Outcome, judge
from cormorant.extract.html.parse import Page, parse, refresh_of
from cormorant.extract.html.select import select
from cormorant.extract.html.unfold import unfold
from cormorant.extract.invisible import visible

MAX_LINKS = 2_000
ARTICLE_CONFIDENCE = 0.3  # below it a page has no main content to speak of
PROSE_WORDS = 20
LINKED_SHARE = 0.3
SHELL_WORDS = 80  # a page with fewer words may be a shell whose text waits in a script's data
SHELL = frozenset({"needs_javascript", "empty_page"})


@dataclass(frozen=True, slots=True)
class Body:
    """What a page's body came to: its text, and how it was got."""

    text: str = ""
    extractor: str = "full"
    coverage: float = 1.0
    findings: tuple[Finding, ...] = ()
    links: tuple[Link, ...] = ()


def read(text: str, *, url: str, media_type: str = "text/html", extract: str = "auto", output: str = "markdown") -> Document:
    """The page as Markdown (or plain text), with what is known about it.

    Raises: ExtractionFailed when `readability` is asked and the page has no main content.
    """
    page = parse(text, url)
    entities = data.linked(page.tree)
    about = metadata.read(page.tree, entities, url=url)
    outcome = judge(page.tree.root, url=url, title=about.title) if page.tree.root is not None else Outcome("empty_page")
    structured = data.structured(page.tree, entities, text)
    plain = output == "text"
    shell = outcome.code in SHELL or _few_words(page)
    island = islands.best(page.tree) if shell else None
    refresh = refresh_of(page, bare=shell)
    body = _body(page, text, about.title, extract, plain=plain)
    if island is not None and island.words >= 2 * islands.count(body.text) and island.words > 3:
        body = _body(parse(island.html, url), island.html, about.title, "full", plain=plain, extractor=f"data: {island.kind}")
        outcome = Outcome("content") if outcome.code in SHELL else outcome
    if extract == "readability" and not body.text and outcome.code == "content":
        raise ExtractionFailed(
            "no article was found on this page (try extract='full')", url=url, remedy="extract='full' returns the whole page"
        )
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
        outcome=outcome.code,
        signs=outcome.signs,
        extractor=body.extractor,
        coverage=round(body.coverage, 4),
        findings=body.findings,
        warnings=page.warnings,
        media_type=media_type,
        structured=structured,
        refresh=refresh,
    )


def _few_words(page: Page) -> bool:
    """Whether the body has hardly any text of its own. Stops counting as soon as it has."""
    words = 0
    for node in page.tree.body.traverse(include_text=True) if page.tree.body is not None else ():
        text = node.text_content if node.is_text_node else ""
        if text and not text.isspace() and node.parent is not None and node.parent.tag not in ("script", "style", "noscript", "template"):
            words += islands.count(text)
            if words > SHELL_WORDS:
                return False
    return True


def _body(page: Page, source: str, title: str, extract: str, *, plain: bool, extractor: str = "") -> Body:
    """One way through the passes. Their order matters: what hidden text looks like (a closed tab, the readable copy of a
    formula, a line number) is put right before hidden text goes, and all of it before content is chosen."""
    root = page.tree.body
    if root is None:
        return Body(extractor=extractor or "full")
    addresses = Addresses(page.base, page.url)
    code.rewrite(page.tree, source)
    math.rewrite(page.tree, source)
    unfold(page.tree, source)
    tables.rewrite(page.tree)
    findings = hidden.strip(root)
    clean(page.tree)
    links = _links(root, addresses)
    footnotes = notes.take(page.tree, root)
    won, coverage = "full", 1.0
    if extract == "full":
        furniture(root)
    else:
        chosen = select(root, title=title, url=page.url)
        article = chosen.kept_words > 0 and chosen.confidence >= ARTICLE_CONFIDENCE
        if not article and extract == "auto":  # the tree is spent: the whole page needs a new one
            return _body(parse(source, page.url), source, title, "full", plain=plain)
        won, coverage = "readability", chosen.coverage
        if extract == "readability" and not (article and _has_prose(root)):
            return Body("", won, 0.0, tuple(findings), links)
    footnotes.put_back(root)
    text = tidy(markdown(root, addresses, title=title, plain=plain))
    return Body(text, extractor or won, coverage, (*findings, *hidden.suspicious(text)), links)


def _has_prose(root: LexborNode) -> bool:
    """More than a list of links: some text that leads nowhere."""
    words = len(root.text(separator=" ").split())
    linked = sum(len(node.text(separator=" ").split()) for node in root.css("a[href]"))
    return words - linked >= PROSE_WORDS or (words - linked) > LINKED_SHARE * words


def _links(root: LexborNode, addresses: Addresses) -> tuple[Link, ...]:
    """The links of the whole page in order, each address once, with the first text it has."""
    found: dict[str, str] = {}
    for node in root.css("a[href]"):
        href = addresses.absolute(node.attributes.get("href") or "")
        if not href.startswith("http") or found.get(href):
            continue
        if len(found) >= MAX_LINKS and href not in found:
            break
        found[href] = " ".join((node.text() or "").split())[:200]
    return tuple(Link(visible(text)[0], href) for href, text in found.items())


def tidy(text: str) -> str:
    """No characters that nobody sees, nothing blank at the edges."""
    return visible(text)[0].strip("\n")
