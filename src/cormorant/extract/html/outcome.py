"""Is this page content at all? Judged on the parsed tree, before any text is selected. Pure.

A server that answers 200 with a bot check, a sign-in form or "page not found" would otherwise become evidence. Every
diagnosis needs two things: a sign (a vendor's mark, a title, a form) and the absence of a page around it, so that an
article about captchas is an article and a short page is a page. The most definitive diagnosis wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from selectolax.lexbor import LexborNode

from cormorant.address import Url, parse
from cormorant.errors import InvalidArguments
from cormorant.extract.html import walls

LONG = 350  # words outside links, menus and sheets: a page with more is content, whatever else stands on it
SURE = 700  # words outside links, found before anything is looked at closely
SHORT = 120  # below this a title may decide
EXPLAINED = 40  # words below a title that says how something works
SIGN_MAX_CHARS = 120
WORDS_PER_CONSENT = 60  # a sheet speaks of little else; a page that is wrapped in a box named so does not
NOSCRIPT_PAGE = 60  # words in <noscript>: a forum that keeps its threads there has no need of a script

_DEAD = "script, style, noscript, template, svg, select, textarea, datalist, object, head"
_CHROME = ", ".join(
    [
        *("nav", "header", "footer", "aside", "dialog"),
        *(f"[role={role}]" for role in ("navigation", "banner", "contentinfo", "dialog", "alertdialog", "menu")),
    ]
)
_NOT_RUNNING = frozenset(
    {"script", "style", "noscript", "template", "title", "a", "button", "option", "textarea", "label", "nav", "head", "svg"}
)
_MOUNTS = ", ".join(  # where the usual frameworks hang a page that they draw themselves
    [
        *(
            f"#{name}"
            for name in ("root", "app", "__next", "__nuxt", "___gatsby", "svelte", "main-app", "application", "react-root", "q-app")
        ),
        *("app-root", "ion-app", "[ng-app]", "[data-reactroot]", "[ng-version]"),
    ]
)
_NAME_FIELD = "input[type=email i], input[type=text i], input[type=tel i], input:not([type])"
_CONSENT_TALK = ("cookie", "consent", "privacy", "partner", "gdpr", "datenschutz", "einwilligung")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`code` is `content` or a code of errors.NotContent; `signs` are what spoke for it, fit to be shown."""

    code: str
    signs: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Facts:
    """What the diagnoses look at, gathered in one walk."""

    root: LexborNode
    url: str
    asked: str
    title: str
    headings: tuple[str, ...]
    main: str  # visible text outside menus, sheets and links
    everything: str  # visible text, all of it
    consent: str  # the text of consent sheets
    links: int  # words in links of the main part
    words: int

    @cached_property
    def marks(self) -> str:
        """Addresses and ids of scripts, frames and forms, where vendors sign."""
        return _marks(self.root)

    @property
    def top(self) -> tuple[str, ...]:
        """Title and headings: where a page says what it is."""
        return (self.title, *self.headings)

    @property
    def explains(self) -> bool:
        """Whether this is a text about walls: its title says that it explains, and sentences follow."""
        return self.words >= EXPLAINED and walls.EXPLAINS.search(self.title) is not None


def judge(root: LexborNode, *, url: str, title: str = "", asked: str = "") -> Outcome:
    """What a page answered with 200 is. `url` is the final address, `asked` the one that was asked for.

    Scripts must still be in the tree: vendors sign there.
    """
    if _is_long(root):
        return Outcome("content")
    facts = _gather(root, url, title, asked)
    if facts.words > LONG:
        return Outcome("content")
    for code, diagnosis in _DIAGNOSES:
        if signs := diagnosis(facts):
            return Outcome(code, tuple(sign[:SIGN_MAX_CHARS] for sign in signs))
    return Outcome("content")


def _is_long(root: LexborNode) -> bool:
    """Whether the page has so much running text that no diagnosis can hold: most pages are settled here."""
    words = 0
    texts = []
    for node in root.traverse(include_text=True):
        if not node.is_text_node:
            continue
        text = node.text_content or ""
        if len(text) > 20 and node.parent is not None and node.parent.tag not in _NOT_RUNNING:
            texts.append(text)
            words += len(text.split())
            if words >= SURE:
                running = "\n".join(texts).lower()
                return sum(map(running.count, _CONSENT_TALK)) * WORDS_PER_CONSENT < words
    return False


def count(text: str) -> int:
    """Words, where scripts without spaces count two characters as one."""
    dense = len(_CJK.findall(text))
    return len(_WORD.findall(_CJK.sub(" ", text) if dense else text)) + dense // 2


# --- gathering ----------------------------------------------------------------------------------------------------


def _gather(root: LexborNode, url: str, title: str, asked: str) -> _Facts:
    body = root.css_first("body")
    body = body if body is not None else root
    dead = _inside(root.css(_DEAD))
    sheets = [node for node in root.css(walls.CONSENT_SHEETS) if _is_consent(node)]
    sheet = _inside(sheets)
    chrome = _inside(node for node in root.css(_CHROME) if not _belongs_to_article(node))
    linked = _inside(root.css("a[href], button"))
    everything: list[str] = []
    main: list[str] = []
    consent: list[str] = []
    links: list[str] = []
    for node in body.traverse(include_text=True):
        if not node.is_text_node or node.mem_id in dead:
            continue
        text = node.text_content or ""
        if not text.strip():
            continue
        everything.append(text)
        if node.mem_id in sheet:
            consent.append(text)
        elif node.mem_id not in chrome:
            (links if node.mem_id in linked else main).append(text)
    main_text = _joined(main)
    heads = [head for head in root.css("h1, h2, [role=heading]")[:12] if head.mem_id not in sheet and head.mem_id not in dead]
    headings = tuple(text for head in heads if (text := _joined([head.text(separator=" ")])))
    found = root.css_first("title")
    title = title or (found.text().strip() if found is not None else "")
    everything_text, links_count = _joined(everything), count(_joined(links))
    return _Facts(
        root,
        url,
        asked,
        _joined([title]),
        headings,
        main_text,
        everything_text,
        _joined(consent),
        links_count,
        count(main_text),
    )


def _joined(texts: list[str]) -> str:
    return " ".join(" ".join(texts).split())


def _inside(nodes: Iterable[LexborNode]) -> set[int]:
    found: set[int] = set()
    for node in nodes:
        if node.mem_id not in found:
            found.update(each.mem_id for each in node.traverse(include_text=True))
    return found


def _belongs_to_article(node: LexborNode) -> bool:
    if node.tag not in ("header", "footer", "aside"):
        return False
    at = node.parent
    while at is not None:
        if at.tag in ("article", "main") or (at.is_element_node and at.attributes.get("role") == "main"):
            return True
        at = at.parent
    return False


def _is_consent(node: LexborNode) -> bool:
    """A box that is named like a consent sheet counts as one when its text speaks of cookies too."""
    if node.tag in ("html", "body", "main", "article"):
        return False
    text = node.text(separator=" ")[:20_000]
    return walls.CONSENT_WORDS.count(text) * WORDS_PER_CONSENT >= max(1, count(text))


def _marks(root: LexborNode) -> str:
    found = []
    for node in root.css("script, iframe, form, link, input, [id*=captcha i], [id*=challenge i], [class*=captcha i], [class*=challenge i]"):
        attributes = node.attributes
        found += [value for name in ("src", "action", "href", "id", "class", "name", "data-sitekey") if (value := attributes.get(name))]
        if node.tag == "script" and not attributes.get("src"):
            found.append(node.text()[:2_000])
    return "\n".join(found)


# --- diagnoses, the most definitive first -------------------------------------------------------------------------


def _challenge(facts: _Facts) -> list[str]:
    if facts.words > 200 or facts.explains:
        return []
    phrase = next((found for text in facts.top if (found := walls.CHALLENGE_TITLES.search(text))), None)
    phrase = phrase or walls.CHALLENGE_PHRASES.search(facts.everything[:6_000])
    mark = walls.CHALLENGE_MARKS.search(facts.marks) if phrase else None
    if phrase and (mark or facts.words + facts.links < SHORT):
        return [f'says "{phrase[0]}"', *([f"carries {mark[0]}"] if mark else [])]
    strong = walls.CHALLENGE_ALONE.search(facts.marks) if facts.words < 40 and facts.links < 20 else None
    if strong:
        return [f"carries {strong[0]}", f"{facts.words} words of text"]
    return []


def _parked(facts: _Facts) -> list[str]:
    host = _host(facts.url)
    if not host or facts.words > 250:
        return []
    own = re.compile(rf"(?<![\w.-]){re.escape(host)}(?![\w-]|\.\w)", re.I)
    if not (own.search(" ".join(facts.top)) or own.search(facts.everything)):
        return []
    phrase = walls.PARKED_PHRASES.search(f"{facts.title} {facts.everything[:8_000]}")
    mark = walls.PARKED_MARKS.search(facts.marks) if facts.words < 60 else None
    if found := phrase or mark:
        return [f"names its own host {host}", f'says "{found[0]}"' if phrase else f"carries {found[0]}"]
    return []


def _redirected_to_login(facts: _Facts) -> list[str]:
    here, asked = _url(facts.url), _url(facts.asked)
    if (
        here is None
        or asked is None
        or here.href == asked.href
        or not walls.LOGIN_PATHS.search(here.target)
        or walls.LOGIN_PATHS.search(asked.target)
    ):
        return []
    if facts.words > 200 and not _passwords(facts.root):
        return []
    return [f"redirected to {here.target.split('?')[0]}"]


def _soft_404(facts: _Facts) -> list[str]:
    if facts.explains and walls.EXPLAINED_WALLS.search(facts.title):
        return []
    if facts.words > SHORT * 1.5 or count(_noscript(facts.root)) >= 4 * NOSCRIPT_PAGE:
        return []
    said = [(place, found) for place, text in _places(facts) if (found := walls.MISSING_TITLES.search(text))]
    body = walls.MISSING_PHRASES.search(facts.main[:1_500])
    signs = [f'{place} says "{found[0].strip()}"' for place, found in said[:2]]
    if said and (body or len(said) > 1 or facts.words < 60):
        return [*signs, *([f'text says "{body[0]}"'] if body else [])]
    if body and facts.words < 40 and body.start() < 120:
        return [f'text says "{body[0]}"', f"{facts.words} words of text"]
    return []


def _places(facts: _Facts) -> list[tuple[str, str]]:
    return [("the title", facts.title), *(("a heading", heading) for heading in facts.headings[:3])]


def _consent(facts: _Facts) -> list[str]:
    # A heading with a sentence below it is a page, however short; loose words are what is left of a menu.
    if (facts.words >= 8 and facts.headings) or facts.words + facts.links >= 40:
        return []
    if count(facts.consent) >= 15:
        return [f"{count(facts.consent)} words of consent text, {facts.words} of others"]
    at = walls.CONSENT_HOSTS.search(facts.url)
    phrase = walls.CONSENT_TITLES.search(" ".join(facts.top))
    if at and (phrase or walls.CONSENT_WORDS.search(facts.everything)):
        return [f"stands at {at[0]}"]
    return []


def _consent_page(facts: _Facts) -> list[str]:
    """A page that is a consent sheet without being named one: nothing but that in title and text."""
    phrase = next((found for text in facts.top if (found := walls.CONSENT_TITLES.search(text))), None)
    dense = walls.CONSENT_WORDS.count(facts.main)
    at = walls.CONSENT_HOSTS.search(facts.url)
    if at and dense >= 2 and dense * 30 >= facts.words:
        return [f"stands at {at[0]}", f"{dense} mentions of consent in {facts.words} words"]
    if phrase and dense >= 3 and dense * 14 >= facts.words:
        return [f'says "{phrase[0]}"', f"{dense} mentions of consent in {facts.words} words"]
    return []


def _login(facts: _Facts) -> list[str]:
    passwords = _passwords(facts.root)
    said = next((found for text in facts.top if (found := walls.LOGIN_TITLES.search(text))), None)
    phrase = walls.LOGIN_PHRASES.search(facts.main[:3_000])
    if passwords and said and facts.words < 150:
        return ["a password field", f'says "{said[0]}"']
    if passwords and walls.LOGIN_PATHS.search(_target(facts.url)) and facts.words < 150:
        return ["a password field", f"stands at {_target(facts.url).split('?')[0]}"]
    if said and facts.words < 40 and walls.LOGIN_PATHS.search(_target(facts.url)) and facts.root.css_first(_NAME_FIELD) is not None:
        return ["a field for a name", f'says "{said[0]}"', f"stands at {_target(facts.url).split('?')[0]}"]
    if phrase and facts.words < 80 and (passwords or said or facts.words < 30):
        return [f'says "{phrase[0]}"', f"{facts.words} words of text"]
    return []


def _passwords(root: LexborNode) -> bool:
    return root.css_first("input[type=password i]") is not None


def _paywall(facts: _Facts) -> list[str]:
    phrase = walls.PAYWALL_PHRASES.search(facts.everything)
    if not phrase or (facts.explains and walls.EXPLAINED_WALLS.search(facts.title)):
        return []
    if facts.words < 250:
        return [f'says "{phrase[0]}"', f"{facts.words} words of text"]
    closed = walls.NOT_FREE.search(facts.root.html or "")
    return [f'says "{phrase[0]}"', "its metadata says it is not free"] if closed else []


def _needs_javascript(facts: _Facts) -> list[str]:
    scripts = len(facts.root.css("script[src], script[type=module]")) + sum(
        len(s.text()) > 400 for s in facts.root.css("script:not([src])")[:20]
    )
    seen = facts.words + facts.links
    asks = walls.SCRIPT_PHRASES.search(facts.everything)
    if asks and (seen < 40 or (seen < 80 and (scripts or not facts.headings))):
        return [f'says "{asks[0]}"']
    outside = _noscript(facts.root)
    built = walls.BUILT_BY_SCRIPT.search(facts.root.html or "") if seen == 0 and not scripts else None
    if built:
        return [f"built by a script ({built[0]}) and no text"]
    if not scripts or seen >= 30 or count(outside) >= NOSCRIPT_PAGE:
        return []
    mount = next((node for node in facts.root.css(_MOUNTS) if count(node.text()) < 20), None)
    asks = walls.SCRIPT_PHRASES.search(outside)
    if mount is not None:
        return [f"<{mount.tag} id={mount.id or ''}> waits for a script", *([f'says "{asks[0]}"'] if asks else [])]
    if asks:
        return [f'says "{asks[0]}"', f"{seen} words of text"]
    if seen == 0 and count(facts.everything) == 0 and not _pictures(facts.root):
        return [f"{scripts} scripts and no text"]
    if walls.LOADING.search(facts.everything):
        return [f'says only "{facts.everything.strip()}"']
    return []


def _noscript(root: LexborNode) -> str:
    """What stands in `<noscript>`; the tree holds it as markup when it was parsed as by a browser."""
    return re.sub(r"<[^>]*>", " ", " ".join(node.text(separator=" ") for node in root.css("noscript")))


def _empty(facts: _Facts) -> list[str]:
    if _WORD.search(facts.everything) or _pictures(facts.root):
        return []
    outside = _noscript(facts.root)
    return ["no text at all"] if count(outside) < NOSCRIPT_PAGE else []


def _pictures(root: LexborNode) -> bool:
    return root.css_first("img[src], picture, video, audio, object, embed, iframe[src], frame[src], svg text, math") is not None


_DIAGNOSES = (
    ("challenge", _challenge),
    ("parked", _parked),
    ("login_required", _redirected_to_login),
    ("soft_404", _soft_404),
    ("consent", _consent),
    ("login_required", _login),
    ("consent", _consent_page),
    ("paywall", _paywall),
    ("needs_javascript", _needs_javascript),
    ("empty_page", _empty),
)


# --- errors that are really something else ------------------------------------------------------------------------


def of_error(status: int, headers: dict[str, str], body: bytes | str) -> str:
    """What an error response really is: `challenge`, `rate_limited`, `origin_down`, `login_required`, or "" for just an error."""
    named = {name.lower(): value.lower() for name, value in headers.items()}
    text = body if isinstance(body, str) else body[:65_536].decode("utf-8", "replace")
    text = text[:65_536]
    if status in walls.ORIGIN_DOWN and ("cloudflare" in named.get("server", "") or "cf-ray" in named or walls.ORIGIN_TEXT.search(text)):
        return "origin_down"
    if named.get("cf-mitigated") == "challenge" or "x-datadome" in named or named.get("x-amzn-waf-action") in ("challenge", "captcha"):
        return "challenge"
    if status in (401, 403, 405, 406, 429, 503) and (walls.CHALLENGE_ALONE.search(text) or walls.CHALLENGE_PHRASES.search(_words_of(text))):
        return "challenge"
    if status == 429:
        return "rate_limited"
    return "login_required" if status in (401, 407) else ""


def _words_of(html: str) -> str:
    bare = re.sub(r"<(script|style)\b.*?</\1\s*>", " ", html, flags=re.S | re.I)
    return " ".join(re.sub(r"<[^>]*>", " ", bare).split())


# --- not the page that was asked for ------------------------------------------------------------------------------


def moved(asked: Url, final: Url) -> str:
    """Where a redirect ended up when that is not the page asked for: `home`, `search`, `login`, or "".

    A deep link that ends at the front page, at a search form or at a sign-in page has lost what it pointed at.
    """
    if _bare(asked) == _bare(final) or _is_home(asked):
        return ""
    if walls.LOGIN_PATHS.search(final.target) and not walls.LOGIN_PATHS.search(asked.target):
        return "login"
    if _is_home(final):
        return "home"
    return "search" if walls.SEARCH_PATHS.search(final.target) and not walls.SEARCH_PATHS.search(asked.target) else ""


def _bare(url: Url) -> tuple[str, str]:
    return url.host.removeprefix("www."), url.target.rstrip("/")


def _is_home(url: Url) -> bool:
    """The front page, in any language and under its usual names."""
    return bool(
        re.fullmatch(r"/(?:[a-z]{2}(?:[-_][a-z]{2})?/?)?(?:(?:index|default|home)(?:\.\w+)?/?)?(?:\?.*)?", url.target, re.I)
    ) and not re.search(r"[?&](?:p|id|page_id|article|story|item)=", url.target)


def _url(text: str) -> Url | None:
    try:
        return parse(text) if text else None
    except InvalidArguments:
        return None


def _target(text: str) -> str:
    found = _url(text)
    return found.target if found else ""


def _host(text: str) -> str:
    found = _url(text)
    return found.host.removeprefix("www.") if found else ""
