"""Pages that are a shell: what they would show is in the data a framework left for its own start. Pure: reads the tree.

Next (`__NEXT_DATA__` and the flight stream), Nuxt, Apollo and other states, Discourse, JSON-LD, and the page a forum keeps in
`<noscript>`. Each gives HTML, which then is read like any page. What is prose in a heap of JSON is found by the shape of
its strings and the names of their keys; names of menus, settings and other pages are passed over.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cormorant.extract.html import data, flight

MAX_CHARS = 8_000_000
MAX_DEPTH = 60
MAX_NODES = 200_000
MAIN_SHARE = 0.6  # the object with this share of all prose is what the page is about

_WORD = re.compile(r"[^\W_]+")
_DENSE = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MARKUP = re.compile(r"<(?:p|div|h[1-6]|ul|ol|li|br|table|blockquote|pre|figure|section|article|em|strong|a)\b[^>]*>", re.I)
_SKIPPED_KEYS = re.compile(
    r"^(?:seo|css|styles?|class(?:name)?s?|scripts?|config\w*|env|i18n|translations?|messages|locales?|labels?|strings|footer\w*|header|nav\w*|menus?"
    r"|sidebar|related\w*|recommend\w*|cookies?|consent|banners?|ads?|advert\w*|tracking|analytics|url|href|src\w*|images?|icons?|schema|query|tokens?|id"
    r"|__typename|alt|slug|path|permalink|buildid|assetprefix|gip|gsp|meta\w*|og\w*|twitter\w*|keywords|copyright|legal|errors?|flags|features|experiments"
    r"|placeholder|tooltip|aria\w*|svg|query\w*|operationname|newsletter\w*|social\w*|theme|fonts?|nextpage|prevpage|author\w*bio|bio)$",
    re.I,
)
_TITLE_KEYS = re.compile(r"^(?:title|heading|headline|question|subtitle|subheading|name)$", re.I)
_SUMMARY_KEYS = re.compile(r"^(?:description|summary|excerpt|dek|standfirst|teaser|abstract|lead|intro)$", re.I)
_NOT_PROSE = re.compile(
    r"^\s*(?:https?:|/|data:|\{|\[|function\b|\(|@|#|\.|var\b|const\b|import\b|query\b|fragment\b|<svg|<\?xml|<script|<style)", re.I
)
_STATE = re.compile(
    r"(?:window|self|globalThis)(?:\.|\[[\"'])(__\w+__|\w*(?:STATE|DATA|PRELOAD\w*|INITIAL\w*|BOOTSTRAP\w*|CONTEXT|remixContext)\w*)(?:[\"']\])?\s*=\s*"
    # SolidStart, TanStack, SvelteKit
    r"|_\$HY\.r\[[^\]\n]{1,80}\]\s*=\s*|\$_TSR\.router\s*=\s*|\bdata\s*[=:]\s*(?=\[\s*(?:null\s*,\s*)*\{\s*\"?type\"?\s*:\s*\"data\")",
    re.I,
)
_STREAMED = re.compile(r"streamController\.enqueue\(\s*")
_HELD_ATTRIBUTES = (
    "data-page",
    "data-props",
    "data-react-props",
    "data-initial-state",
    "data-state",
    "props",
    "wire:snapshot",
    "wire:initial-data",
)
_HOLDERS = ", ".join("[" + name.replace(":", r"\:") + "^='{']" for name in _HELD_ATTRIBUTES)
_STRING = re.compile(r'"((?:[^"\\\n]|\\.){60,})"')
_NEEDS_SCRIPT = re.compile(
    r"(?:enable|turn on|requires?|activate|without|disabled).{0,40}javascript|javascript.{0,40}(?:enable|disabled|required|needed)", re.I
)
_LEAVES = {"paragraph": "p", "blockquote": "blockquote", "quote": "blockquote", "list-item": "li", "listitem": "li", "list_item": "li"}
_LEAVES |= {
    "bulletlist": "ul",
    "bulleted-list": "ul",
    "unordered-list": "ul",
    "bullet_list": "ul",
    "ul": "ul",
    "orderedlist": "ol",
    "ordered-list": "ol",
}
_LEAVES |= {
    "ordered_list": "ol",
    "numbered-list": "ol",
    "codeblock": "pre",
    "code_block": "pre",
    "code": "pre",
    "table": "table",
    "tablerow": "tr",
    "tablecell": "td",
}
_LEAVES |= {"block": "p", "normal": "p", "p": "p", "li": "li", "ol": "ol"}


@dataclass(frozen=True, slots=True)
class Island:
    """HTML made of a page's data, which kind of data, and how many words it has."""

    html: str
    kind: str
    words: int


def best(tree: LexborHTMLParser) -> Island | None:
    """The data that says most; JSON-LD's own text wins where it says about as much."""
    found = [island for island in _all(tree) if island.words]
    most = max((island.words for island in found), default=0)
    return next((island for island in found if island.words * 2 >= most), None)


def _all(tree: LexborHTMLParser) -> Iterator[Island]:
    yield _island(_of_linked(data.linked(tree)), "json-ld")
    yield _island(_of_discourse(tree), "discourse")
    yield _island(_of_json_scripts(tree), "json state")
    yield _island(flight.html_of(tree), "next flight")
    yield _island(_of_states(tree), "script state")
    yield _island(_of_streams(tree), "react router stream")
    yield _island(_of_attributes(tree), "json in attributes")
    yield _island(_of_noscript(tree), "noscript")


def _island(markup: str, kind: str) -> Island:
    return Island(markup, kind, count(re.sub(r"<[^>]*>", " ", markup)))


def count(text: str) -> int:
    """Words; scripts without spaces count two characters as one."""
    dense = len(_DENSE.findall(text))
    return len(_WORD.findall(_DENSE.sub(" ", text) if dense else text)) + dense // 2


# --- sources --------------------------------------------------------------------------------------------------------


def _of_linked(entities: list[dict[str, Any]]) -> str:
    out: list[str] = []
    for entity in entities[:50]:
        body = entity.get("articleBody") or entity.get("text") or entity.get("reviewBody")
        if isinstance(body, str) and count(body) > 3:
            out.append(_headed(entity.get("headline") or entity.get("name")) + as_html(body))
        questions = entity.get("mainEntity")
        for question in questions if isinstance(questions, list) else [questions]:
            if not isinstance(question, dict):
                continue
            answer = question.get("acceptedAnswer")
            answer = answer[0] if isinstance(answer, list) and answer else answer
            if isinstance(answer, dict) and isinstance(answer.get("text"), str):
                out.append(_headed(question.get("name"), "h3") + as_html(answer["text"]))
        out += _recipe(entity)
        if isinstance(entity.get("description"), str) and not body and {"Product", "JobPosting", "Event"} & {str(entity.get("@type"))}:
            out.append(_headed(entity.get("name") or entity.get("title")) + as_html(entity["description"]))
    return "".join(dict.fromkeys(out))


def _recipe(entity: dict[str, Any]) -> list[str]:
    ingredients, steps = entity.get("recipeIngredient"), entity.get("recipeInstructions")
    if not isinstance(ingredients, list) and not isinstance(steps, list):
        return []
    texts = [step if isinstance(step, str) else str(step.get("text") or step.get("name") or "") for step in _steps(steps)]
    listed = "".join(f"<li>{html.escape(str(one))}</li>" for one in ingredients or [])
    ordered = "".join(f"<li>{html.escape(text)}</li>" for text in texts if text)
    return [_headed(entity.get("name")) + (f"<ul>{listed}</ul>" if listed else "") + (f"<ol>{ordered}</ol>" if ordered else "")]


def _steps(value: Any) -> Iterator[Any]:
    for step in value if isinstance(value, list) else []:
        if isinstance(step, dict) and isinstance(step.get("itemListElement"), list):
            yield from (one for one in step["itemListElement"] if isinstance(one, (str, dict)))
        elif isinstance(step, (str, dict)):
            yield step


def _headed(text: Any, tag: str = "h2") -> str:
    return f"<{tag}>{html.escape(text)}</{tag}>" if isinstance(text, str) and text.strip() else ""


def _of_discourse(tree: LexborHTMLParser) -> str:
    node: LexborNode | None = tree.css_first("[data-preloaded]")
    held = data.parsed((node.attributes.get("data-preloaded") or "")[:MAX_CHARS]) if node is not None else None
    out: list[str] = []
    for key, value in held.items() if isinstance(held, dict) else ():
        topic = data.parsed(value) if str(key).startswith("topic_") and isinstance(value, str) else None
        stream = topic.get("post_stream") if isinstance(topic, dict) else None
        posts = stream.get("posts") if isinstance(stream, dict) else None
        if not isinstance(posts, list) or not isinstance(topic, dict):
            continue
        out.append(_headed(topic.get("title"), "h1"))
        for post in posts:
            if isinstance(post, dict) and isinstance(post.get("cooked"), str):
                out.append(f"<article><p><strong>{html.escape(str(post.get('username') or ''))}</strong></p>{post['cooked']}</article>")
    return "".join(out)


def _of_json_scripts(tree: LexborHTMLParser) -> str:
    """`<script type="application/json">`: Next's own, Nuxt's (a list of values that point at one another), and others."""
    out: list[str] = []
    for node in tree.css('script[type="application/json" i],script[type="qwik/json" i],script#__NEXT_DATA__'):
        text = node.text() or ""
        held = data.parsed(text) if len(text) < MAX_CHARS else None
        if node.attributes.get("id") == "__NUXT_DATA__" or (isinstance(held, list) and "data-nuxt-data" in node.attributes):
            held = _revived(held)
        if isinstance(held, (dict, list)):
            out.append(prose(held))
    return max(out, key=count, default="")


def _of_states(tree: LexborHTMLParser) -> str:
    """`window.__APOLLO_STATE__ = {...}` and its kin; where it is no JSON but a script, the long strings in it."""
    out: list[str] = []
    for node in tree.css("script:not([src])"):
        text = node.text() or ""
        if len(text) > MAX_CHARS or len(text) < 60:
            continue
        for found in _STATE.finditer(text):
            held = _decoded(text, found.end())
            if isinstance(held, (dict, list)):
                out.append(prose(held))
            elif not found[1] or "__NUXT__" in found[1] or "STATE" in found[1].upper() or "DATA" in found[1].upper():
                strings = (data.parsed(f'"{match[1]}"') for match in _STRING.finditer(text, found.end()))
                out.append(prose([one for one in strings if isinstance(one, str)]))
            if held is not None:
                break
    return max(out, key=count, default="")


def _decoded(text: str, start: int) -> Any:
    """The JSON value that begins there, also behind `JSON.parse(`."""
    rest = text[start:]
    if found := re.match(r"JSON\.parse\(\s*(?:decodeURIComponent\(\s*)?", rest):
        inner = rest[found.end() :]
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(inner) if inner[:1] == '"' else (None, 0)
        except (ValueError, RecursionError):
            return None
        return data.parsed(value) if isinstance(value, str) else None
    try:
        return json.JSONDecoder(strict=False).raw_decode(rest.replace(":undefined", ":null"))[0]
    except (ValueError, RecursionError):
        return None


def _of_streams(tree: LexborHTMLParser) -> str:
    """What React Router writes piece by piece: one long list whose objects name their keys and values by their places in it."""
    pieces: list[str] = []
    for node in tree.css("script:not([src])"):
        text = node.text() or ""
        for found in _STREAMED.finditer(text) if len(text) < MAX_CHARS else ():
            try:
                piece, _ = json.JSONDecoder(strict=False).raw_decode(text, found.end())
            except (ValueError, RecursionError):
                continue
            pieces += [piece] if isinstance(piece, str) else []
    held = _revived(data.parsed("".join(pieces).partition("\n")[0])) if pieces else None
    return prose(held) if isinstance(held, (dict, list)) else ""


def _of_attributes(tree: LexborHTMLParser) -> str:
    """The properties of a component in an attribute of the element it fills: Inertia, Livewire, Astro and their kin."""
    out: list[str] = []
    for node in tree.css(_HOLDERS):
        for name in _HELD_ATTRIBUTES:
            value = node.attributes.get(name) or ""
            held = data.parsed(value) if value.startswith("{") and len(value) < MAX_CHARS else None
            if isinstance(held, dict):
                out.append(prose(_unwrapped(held, 0) if node.tag == "astro-island" else held))
    return max(out, key=count, default="")


def _unwrapped(value: Any, depth: int) -> Any:
    """Astro's properties: every value in a pair with the number of its kind, 0 for what it is and 1 for a list."""
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, list) and len(value) == 2 and value[0] in (0, 1) and not isinstance(value[0], bool):
        return [_unwrapped(one, depth + 1) for one in value[1]] if isinstance(value[1], list) else _unwrapped(value[1], depth + 1)
    return {name: _unwrapped(one, depth + 1) for name, one in value.items()} if isinstance(value, dict) else value


def _of_noscript(tree: LexborHTMLParser) -> str:
    out = [text for node in tree.css("noscript") if len(text := node.text() or "") < MAX_CHARS]
    longest = max(out, key=len, default="")
    words = count(re.sub(r"<[^>]*>", " ", longest))
    return longest if words >= 20 and not (words < 60 and _NEEDS_SCRIPT.search(longest)) else ""


def _revived(values: Any) -> Any:
    """Nuxt's payload, and React Router's: every number in it is the place of a value in one long list."""
    if not isinstance(values, list) or not values:
        return None
    budget = [MAX_NODES]

    def value(index: Any, depth: int) -> Any:
        budget[0] -= 1
        if budget[0] < 0 or depth > MAX_DEPTH or not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(values):
            return None
        held = values[index]
        if isinstance(held, dict):
            return {_named(values, key): value(place, depth + 1) for key, place in held.items()}
        if isinstance(held, list):
            if held and isinstance(held[0], str):
                return value(held[1], depth + 1) if len(held) == 2 else None
            return [value(place, depth + 1) for place in held]
        return held

    return value(0, 0)


def _named(values: list[Any], key: str) -> str:
    """The name of a property, which React Router's stream writes as the place of the name."""
    place = int(key[1:]) if re.fullmatch(r"_\d{1,7}", key) else -1
    return values[place] if 0 <= place < len(values) and isinstance(values[place], str) else key


# --- prose in JSON --------------------------------------------------------------------------------------------------


def prose(held: Any) -> str:
    """The HTML of what is text in a JSON value: of the object that has most of it."""
    budget = [MAX_NODES]
    weights: dict[int, int] = {}
    total = _weighed(held, "", 0, budget, weights)
    if not total:
        return ""
    at: Any = held
    while True:
        inner = at.values() if isinstance(at, dict) else at if isinstance(at, list) else ()
        heavy = next((one for one in inner if isinstance(one, (dict, list)) and weights.get(id(one), 0) >= MAIN_SHARE * total), None)
        if heavy is None or _rich_tag(at) or _rich_tag(heavy):
            break
        if isinstance(at, dict) and any(_TITLE_KEYS.match(key) and isinstance(text, str) and text.strip() for key, text in at.items()):
            break  # a title beside the text belongs to it
        at = heavy
    return "".join(dict.fromkeys(_pieces(at, "", 0)))


def _weighed(value: Any, key: str, depth: int, budget: list[int], weights: dict[int, int]) -> int:
    """Words of prose in a value; noted for each object by its identity, which holds while the value is held."""
    budget[0] -= 1
    if depth > MAX_DEPTH or budget[0] < 0 or (key and _SKIPPED_KEYS.match(key)):
        return 0
    if isinstance(value, str):
        return count(value) if _is_prose(value) else 0
    if isinstance(value, dict):
        total = sum(_weighed(one, str(name), depth + 1, budget, weights) for name, one in value.items())
    elif isinstance(value, list):
        total = sum(_weighed(one, "", depth + 1, budget, weights) for one in value)
    else:
        return 0
    weights[id(value)] = total
    return total


def _is_prose(text: str) -> bool:
    if len(text) < 12 or (_NOT_PROSE.match(text) and not _MARKUP.search(text[:2_000])):
        return False
    if text.startswith(("<svg", "<script", "<style")):
        return False
    dense = len(_DENSE.findall(text[:400]))
    return dense > 8 or (" " in text.strip() and count(text[:2_000]) >= 5)


def _pieces(value: Any, key: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH or (key and _SKIPPED_KEYS.match(key)):
        return
    if isinstance(value, str):
        if _is_prose(value):
            yield as_html(value)
    elif isinstance(value, list):
        for one in value:
            yield from _pieces(one, "", depth + 1)
    elif isinstance(value, dict):
        if _rich_tag(value):
            yield _rich(value, depth)
            return
        yield from _fields(value, depth)


def _fields(value: dict[str, Any], depth: int) -> Iterator[str]:
    """An object's title first, then its text; a summary only where there is no text."""
    body = [
        piece
        for name, one in value.items()
        if not _TITLE_KEYS.match(name) and not _SUMMARY_KEYS.match(name)
        for piece in _pieces(one, name, depth + 1)
    ]
    summary = [piece for name, one in value.items() if _SUMMARY_KEYS.match(name) for piece in _pieces(one, name, depth + 1)]
    if body or summary:
        for name, one in value.items():
            if _TITLE_KEYS.match(name) and isinstance(one, str) and 0 < len(one.strip()) < 300 and not _NOT_PROSE.match(one):
                yield f"<h2>{html.escape(one.strip())}</h2>"
                break
    longer = count("".join(body)) > 40
    yield from body if longer else [*summary, *body]


def _rich_tag(value: Any) -> str:
    """The element for a node of a rich-text tree (Contentful, ProseMirror, Slate, Portable Text); "" for other objects."""
    if not isinstance(value, dict) or not isinstance(value.get("children") or value.get("content") or value.get("c"), list):
        return ""
    kind = value.get("nodeType") or value.get("type") or value.get("_type") or value.get("tag")
    if not isinstance(kind, str):
        return ""
    kind = kind.lower()
    if found := re.search(r"heading[-_]?(\d)|^h([1-6])$", kind):
        return f"h{found[1] or found[2]}"
    if kind == "heading":
        attributes = value.get("attrs")
        level = value.get("level") or (attributes.get("level") if isinstance(attributes, dict) else None) or value.get("depth")
        return f"h{level}" if level in (1, 2, 3, 4, 5, 6) else "h2"
    style = value.get("style")
    if kind == "block" and isinstance(style, str) and re.fullmatch(r"h[1-6]|blockquote", style):
        return style
    return _LEAVES.get(kind, "div" if kind in ("doc", "document", "root") else "")


def _rich(value: dict[str, Any], depth: int) -> str:
    tag = _rich_tag(value)
    inner = value.get("children") or value.get("content") or value.get("c")
    return f"<{tag}>{''.join(_rich_child(one, depth + 1) for one in inner or [])}</{tag}>"


def _rich_child(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return html.escape(value)
    if not isinstance(value, dict) or depth > MAX_DEPTH:
        return ""
    if _rich_tag(value):
        return _rich(value, depth)
    for name in ("text", "value", "v"):
        if isinstance(value.get(name), str):
            text = html.escape(value[name])
            kinds = {str(mark.get("type")) if isinstance(mark, dict) else str(mark) for mark in value.get("marks") or [] if mark}
            text = f"<strong>{text}</strong>" if kinds & {"bold", "strong"} or value.get("bold") is True else text
            return f"<code>{text}</code>" if "code" in kinds or value.get("code") is True else text
    inner = value.get("children") or value.get("content")
    text = "".join(_rich_child(one, depth + 1) for one in inner) if isinstance(inner, list) else ""
    address = value.get("url") or value.get("href") or (value["data"].get("uri") if isinstance(value.get("data"), dict) else None)
    return f'<a href="{html.escape(address)}">{text}</a>' if isinstance(address, str) and text else text


def as_html(text: str) -> str:
    """A string of the data as HTML: as it is where it has markup, else its paragraphs."""
    if _MARKUP.search(text):
        return text
    if re.search(r"&lt;(?:p|div|br|h\d)\b", text):
        return html.unescape(text)
    parts = (part.strip() for part in re.split(r"\n\s*\n|\r\n\s*\r\n", text))
    return "".join(f"<p>{html.escape(part)}</p>".replace("\n", "<br>") for part in parts if part)
