"""What a page says about itself: title, byline, site, date, summary, language. Pure: reads the tree before it is cleaned.

Every value is a vote of several sources, and placeholders (`{{title}}`, `undefined`) never count. The date is the page's
own: the declared one, or the one beside the title, never that of a card which leads to another page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cormorant.extract.html import dates

MAX_TITLE = 300
MAX_SUMMARY = 500
MAX_BYLINE = 120

ARTICLES = frozenset(
    (
        "article newsarticle blogposting reportagenewsarticle techarticle scholarlyarticle opinionnewsarticle analysisnewsarticle "
        "liveblogposting socialmediaposting discussionforumposting report review recipe howto webpage videoobject qapage "
        "creativework product book podcastepisode aboutpage faqpage itempage medicalwebpage backgroundnewsarticle "
        "reviewnewsarticle"
    ).split()
)
_PLACEHOLDER = re.compile(
    r"\{\{|\}\}|\{%|<%|\$\{"
    r"|^(?:undefined|null|none|nan|n/a|title|author(?: name)?|admin"
    r"|administrator|unknown|default|description|untitled.*|loading.*|\[object object\]|your name|site name|anonymous)$",
    re.I,
)
_SEPARATOR = re.compile(r"\s+(?:[|»·•›]|::|[-–—])\s+|\s*\|\s*")
_BY = re.compile(r"^\s*(?:(?:written|posted|published|story|words|text)\s+)?(?:by|von|par|por|di|door|af|av)\s*:?\s+(?=\S)", re.I)
_BYLINE_END = re.compile(r"\s*(?:[|•·\n]|\s-\s|,?\s+(?:on|updated|published|posted|am|le|el)\s+(?=\d|\w+ \d)|\d{1,2}[./ ]).*$", re.I | re.S)
_WORD = re.compile(r"\w+")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_ELSEWHERE = re.compile(
    r"(?:^|[\s_-])(?:related|recommend\w*|suggest\w*|more|latest|recent|popular|trending|teaser|card|cards|sidebar|widget|footer|nav|menu|comments?|comment-list"
    r"|replies|next|previous|prev|promo|carousel|archive|you-may\w*|read-next|list)(?:$|[\s_-])",
    re.I,
)
_DATE_NAMES = (
    *("article:published_time", "datepublished", "og:published_time", "parsely-pub-date", "sailthru.date", "publishdate", "publish-date"),
    *("publish_date", "pubdate", "publication_date", "article.published", "dc.date.issued", "dcterms.issued", "dc.date", "dcterms.date"),
    *(
        "dcterms.created",
        "dc.date.created",
        "citation_publication_date",
        "citation_date",
        "citation_online_date",
        "date",
        "article:published",
    ),
    *(
        "cxenseparse:recs:publishtime",
        "rnews:datepublished",
        "original-publish-date",
        "created",
        "release_date",
        "og:article:published_time",
    ),
)
_AUTHOR_NAMES = (
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "citation_author",
    "byl",
    "twitter:creator",
)
_BYLINE_NODES = (
    "[rel~=author],[itemprop~=author] [itemprop~=name],[itemprop~=author],.byline .author"
    ",.byline-name,.author-name,.post-author,.entry-author"
    ",.byline,.article-author,.author,[class*=byline],[class*=author-name],[class*=Byline]"
)
_DATE_NODES = (
    "[itemprop~=datePublished],time[pubdate],time[datetime],time,.published,.post-date,.entry-date"
    ",.date,.dateline,.publish-date,[class*=publish]"
)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the page says about itself; "" where it doesn't."""

    title: str = ""
    byline: str = ""
    site: str = ""
    published: str = ""
    summary: str = ""
    language: str = ""


def read(tree: LexborHTMLParser, entities: list[dict[str, Any]], *, url: str) -> Metadata:
    """The metadata of a page; `entities` are its JSON-LD objects (`data.linked`)."""
    metas = _metas(tree)
    heading = _main_heading(tree)
    site = _site(tree, metas, entities)
    title, tail = _title(tree, metas, entities, heading, site)
    main = _main_entity(entities, title, url)
    return Metadata(
        title=title,
        byline=_byline(tree, metas, main, heading, title),
        site=site or tail,
        published=_published(tree, metas, main, heading, url),
        summary=_clipped(
            _first(
                (*_values(metas, "description", "og:description", "twitter:description", "dc.description"), _text(main.get("description")))
            ),
            MAX_SUMMARY,
        ),
        language=_language(tree, metas, main),
    )


def _metas(tree: LexborHTMLParser) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or attributes.get("http-equiv") or ""
        value = " ".join((attributes.get("content") or "").split())
        if name and value:
            found.setdefault(name.strip().lower(), []).append(value)
    return found


def _values(metas: dict[str, list[str]], *names: str) -> Iterator[str]:
    for name in names:
        yield from metas.get(name, ())


def _first(values: Iterable[str]) -> str:
    """The first value that says something."""
    return next((value for value in values if value and not _PLACEHOLDER.search(value)), "")


def _clipped(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"


def words_of(text: str) -> list[str]:
    """The words of a text, for comparing titles."""
    return _WORD.findall(text.lower())


def same_title(one: str, other: str) -> bool:
    """Whether one is the other, or the other with a site name about it."""
    first, second = " ".join(words_of(one)), " ".join(words_of(other))
    if not first or not second:
        return False
    shorter, longer = sorted((first, second), key=len)
    return f" {shorter} " in f" {longer} " and (len(shorter) > 8 or len(shorter) * 2 > len(longer) or longer.startswith(shorter))


def _text(value: Any) -> str:
    """The text of a JSON-LD value: a string, or the name of an object, or the first of a list."""
    if isinstance(value, str):
        return " ".join(re.sub(r"<[^>]+>", " ", value).split()) if len(value) < 5_000 else ""
    if isinstance(value, dict):
        return _text(value.get("name") or value.get("@value"))
    if isinstance(value, list):
        return next((text for one in value[:10] if (text := _text(one))), "")
    return ""


# --- title ----------------------------------------------------------------------------------------------------------


def _main_heading(tree: LexborHTMLParser) -> LexborNode | None:
    headings = [node for node in tree.css("h1")[:12] if node.text(strip=True)]
    outside = [node for node in headings if not _is_elsewhere(node)]
    for node in outside:
        parent = node.parent
        for _ in range(8):
            if parent is None:
                break
            if parent.tag in ("article", "main"):
                return node
            parent = parent.parent
    title = tree.css_first("title")
    named = title.text() if title is not None else ""
    matching = [node for node in outside if same_title(node.text(separator=" "), named)]
    return max(matching, key=lambda node: len(node.text()), default=outside[0] if outside else (headings[0] if headings else None))


def _title(
    tree: LexborHTMLParser, metas: dict[str, list[str]], entities: list[dict[str, Any]], heading: LexborNode | None, site: str
) -> tuple[str, str]:
    """The title without the site's name, and that name."""
    node = tree.css_first("head title") or tree.css_first("title")
    named = _first((" ".join(node.text(separator=" ").split()) if node is not None else "",))
    shared = _first(_values(metas, "og:title", "twitter:title", "dc.title", "citation_title"))
    headed = _heading_text(heading) if heading is not None else ""
    headline = _first(_text(entity.get("headline")) for entity in entities)
    for candidate in (named, shared, headline):
        if headed and _is_part(headed, candidate):
            return _clipped(headed, MAX_TITLE), _tail(named, headed)
    best = shared if shared and (not named or same_title(shared, named)) else named or shared or headline or headed
    bare = _without_site(best, site)
    return _clipped(bare, MAX_TITLE), _tail(named, bare)


def _is_part(headed: str, candidate: str) -> bool:
    """The heading is the whole of a title, or of what stands before or after the site's name."""
    words = words_of(headed)
    parts = [candidate, *_SEPARATOR.split(candidate)]
    joined = [candidate[: found.start()] for found in _SEPARATOR.finditer(candidate)]
    return bool(words) and any(words == words_of(part) for part in (*parts, *joined))


def _heading_text(node: LexborNode) -> str:
    text = " ".join(node.text(separator=" ").split())
    return _first((re.sub(r"\s*[#¶§🔗]\s*$", "", re.sub(r"\s+([,.;:!?])", r"\1", text)),))


def _without_site(title: str, site: str) -> str:
    parts = _SEPARATOR.split(title)
    if len(parts) < 2:
        return title
    last, first = parts[-1], parts[0]
    if (site and same_title(last, site)) or (not site and len(words_of(last)) <= 3 and len(words_of(title)) - len(words_of(last)) >= 3):
        return title[: title.rfind(last)].rstrip(" |»·•›:-–—\t")
    if site and same_title(first, site) and len(parts) > 1:
        return title[len(first) :].lstrip(" |»·•›:-–—\t")
    return title


def _tail(named: str, title: str) -> str:
    """What a `<title>` has besides the title: as a rule the site."""
    parts = _SEPARATOR.split(named)
    if len(parts) < 2 or not title:
        return ""
    last = parts[-1].strip()
    return last if last and not same_title(last, title) and len(words_of(last)) <= 5 else ""


def _site(tree: LexborHTMLParser, metas: dict[str, list[str]], entities: list[dict[str, Any]]) -> str:
    declared = _first(_values(metas, "og:site_name", "application-name", "apple-mobile-web-app-title"))
    if declared:
        return declared
    for entity in entities:
        if "website" in _types(entity) and (name := _first((_text(entity.get("name")),))):
            return name
    return _first(_text(entity.get("publisher")) for entity in entities)


# --- who ------------------------------------------------------------------------------------------------------------


def _types(entity: dict[str, Any]) -> list[str]:
    value = entity.get("@type") or ""
    return [str(one).lower() for one in (value if isinstance(value, list) else [value])]


def _main_entity(entities: list[dict[str, Any]], title: str, url: str) -> dict[str, Any]:
    """The JSON-LD object that is about this page, not about one it links to."""
    articles = [entity for entity in entities if set(_types(entity)) & ARTICLES]
    if not articles:
        return {}
    bare = url.partition("#")[0].rstrip("/")

    def fits(entity: dict[str, Any]) -> int:
        own = [entity.get("url"), entity.get("@id"), entity.get("mainEntityOfPage")]
        own += [one.get("@id") for one in own if isinstance(one, dict)]
        here = any(isinstance(one, str) and one.partition("#")[0].rstrip("/") == bare for one in own)
        headed = same_title(_text(entity.get("headline")) or _text(entity.get("name")), title)
        return (
            3 * here
            + 4 * headed
            + 2 * ("datePublished" in entity)
            + (not set(_types(entity)) & {"webpage", "creativework", "videoobject", "product"})
        )

    return max(articles, key=fits)


def _byline(tree: LexborHTMLParser, metas: dict[str, list[str]], main: dict[str, Any], heading: LexborNode | None, title: str) -> str:
    names = _people(main.get("author") or main.get("creator"))
    for value in _values(metas, *_AUTHOR_NAMES):
        if names:
            break
        names = [name for name in [_name(value)] if name and not value.startswith(("http", "@"))]
    if not names:
        names = _authors_in_text(tree, heading, title)
    return _clipped(", ".join(dict.fromkeys(names)), MAX_BYLINE)


def _people(value: Any) -> list[str]:
    found = value if isinstance(value, list) else [value]
    names = [_name(_text(one)) for one in found[:8]]
    return [name for name in names if name and not name.startswith("http")]


def _name(text: str) -> str:
    text = _BY.sub("", " ".join(text.split()))
    text = _BYLINE_END.sub("", text).strip(" ,;:|-–—")
    if not text or len(text) > MAX_BYLINE or _PLACEHOLDER.search(text) or len(text.split()) > 12 or text.startswith("@"):
        return ""
    return text


def _authors_in_text(tree: LexborHTMLParser, heading: LexborNode | None, title: str) -> list[str]:
    for node in tree.css(_BYLINE_NODES)[:30]:
        if node.tag in ("script", "style", "meta", "link") or _is_elsewhere(node) or (heading is not None and _holds(node, heading)):
            continue
        text = " ".join(node.text(separator=" ").split())
        if len(text) > 200 or not text:
            continue
        name = _name(node.attributes.get("content") or text)
        if (
            name
            and not dates.iso(name)
            and not same_title(name, title)
            and len(name.split()) <= 8
            and not name.lower().startswith(("about", "more", "view all"))
        ):
            return [name]
    return []


def _holds(node: LexborNode, inner: LexborNode) -> bool:
    parent = inner.parent
    for _ in range(30):
        if parent is None:
            return False
        if parent.mem_id == node.mem_id:
            return True
        parent = parent.parent
    return False


# --- when -----------------------------------------------------------------------------------------------------------


def _published(tree: LexborHTMLParser, metas: dict[str, list[str]], main: dict[str, Any], heading: LexborNode | None, url: str) -> str:
    for value in (
        *_values(metas, *_DATE_NAMES),
        _text(main.get("datePublished")),
        _text(main.get("uploadDate")),
        _text(main.get("dateCreated")),
    ):
        if found := dates.iso(value):
            return found
    return _beside(tree, heading) or dates.in_path(url)


def _beside(tree: LexborHTMLParser, heading: LexborNode | None) -> str:
    """The date that stands nearest to the title, counted in steps through the tree."""
    nodes = [node for node in tree.css(_DATE_NODES)[:60] if node.tag not in ("script", "style", "meta", "link") and not _is_elsewhere(node)]
    if heading is not None:
        near = _ancestors(heading)
        nodes.sort(key=lambda node: _distance(node, near))
    for node in nodes:
        attributes = node.attributes
        text = attributes.get("datetime") or attributes.get("content") or node.text(separator=" ")
        if len(text) <= 120 and (found := dates.iso(text) or dates.iso(node.text(separator=" ")[:120])):
            return found
    return _in_lines(heading)


def _ancestors(node: LexborNode) -> dict[int, int]:
    found, depth, parent = {}, 0, node.parent
    while parent is not None and depth < 40:
        depth += 1
        found[parent.mem_id] = depth
        parent = parent.parent
    return found


def _distance(node: LexborNode, near: dict[int, int]) -> int:
    """Steps up from the heading to what holds both, plus steps down to the node; the heading's side counts more."""
    steps, parent = 0, node.parent
    while parent is not None and steps < 40:
        steps += 1
        if parent.mem_id in near:
            return near[parent.mem_id] * 4 + steps
        parent = parent.parent
    return 1_000


def _in_lines(heading: LexborNode | None) -> str:
    """A date in a short line just before or after the title."""
    holder = heading
    for _ in range(2):
        if holder is None:
            return ""
        for following in (True, False):
            node = holder.next if following else holder.prev
            for _ in range(6):
                if node is None:
                    break
                text = (node.text_content if node.is_text_node else node.text(separator=" ")) or ""
                if text.strip():
                    if len(text.strip()) <= 160 and (found := dates.iso(" ".join(text.split()))):
                        return found
                    if len(text.strip()) > 300:
                        break
                node = node.next if following else node.prev
        holder = holder.parent
    return ""


def _is_elsewhere(node: LexborNode) -> bool:
    """Inside navigation, a comment, or a card that leads to another page."""
    at: LexborNode | None = node
    for _ in range(14):
        if at is None or at.tag in ("body", "main"):
            return False
        if at.tag in ("nav", "aside", "footer"):
            return True
        names = at.attributes.get("class")
        if names and at.tag != "article" and _ELSEWHERE.search(names) and at.css_first("h1") is None:
            return True
        at = at.parent
    return False


# --- language -------------------------------------------------------------------------------------------------------


def _language(tree: LexborHTMLParser, metas: dict[str, list[str]], main: dict[str, Any]) -> str:
    html = tree.css_first("html")
    attributes = html.attributes if html is not None else {}
    own = (attributes.get("lang") or attributes.get("xml:lang") or "").strip()
    for value in (own, *_values(metas, "content-language", "og:locale", "dc.language", "language"), _text(main.get("inLanguage"))):
        value = value.split(",")[0].strip()
        if _LANGUAGE.fullmatch(value) and value.lower() not in ("und", "zxx"):
            return _tag(value)
    return ""


def _tag(value: str) -> str:
    """BCP 47 in its usual case: en-US, zh-Hant-TW."""
    parts = re.split("[-_]", value)
    rest = [part.upper() if len(part) == 2 else part.title() if len(part) == 4 and part.isalpha() else part.lower() for part in parts[1:]]
    return "-".join([parts[0].lower(), *rest])
