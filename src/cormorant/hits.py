"""What is done to every list of hits, whichever backend it came from. Pure: the clock is handed in.

Highlights and entities cleaned, tracking parameters cut, redirect wrappers opened, duplicates merged, dates read, and
the filters a caller was promised enforced: a backend's own filter is a hint, ours is the rule.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import ada_url

from cormorant import policy
from cormorant.errors import InvalidArguments
from cormorant.search import Found, Hit, Query, ranked

Applied = Literal["provider", "client", "none"]
DOMAINS_MAX = 100  # of each kind: wanted and excluded
TITLE_MAX_CHARS = 300
SNIPPET_MAX_CHARS = 2_000
PREFERRED = 1.5
FRESH_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
FUSE_K = 60  # reciprocal rank fusion, Cormack et al. 2009

# Parameters that say where a reader came from and never which page is meant.
_TRACKING = re.compile(
    r"(?:utm_\w+|ga_\w+|hsa_\w+|mtm_\w+|pk_(?:campaign|kwd|source|medium)|oly_(?:anon|enc)_id|_hs(?:enc|mi)|__hs\w+|mc_[ce]id|mkt_tok|vero_id|"
    r"[gyt]clid|dclid|gclsrc|gbraid|wbraid|gad_(?:source|campaignid)|fbclid|msclkid|twclid|ttclid|li_fat_id|igshi?d|srsltid|yclid|ymclid|wickedid|"
    r"rb_clickid|s_cid|ref_src|ref_url|cmpid|icid|ncid|sc_cid|_openstat|epik|zanpid|guccounter|guce_referr\w+)",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"</?(?:b|strong|em|i|u|mark|span|font|br|wbr|hl|highlight|p|div|a|sup|sub)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BREAKS = re.compile(r"</?(?:br|p|div|wbr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
# Zero-width, bidi controls, tag characters, private use (some engines mark highlights with them).
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ue000-\uf8ff\U000e0000-\U000e007f]")


def cleaned(text: str, limit: int = SNIPPET_MAX_CHARS) -> str:
    """A title or snippet as a person reads it: no highlight tags, no entities, nothing unseen, one line."""
    text = _MARKUP.sub("", _BREAKS.sub(" ", text))
    for _ in range(2):  # some backends escape twice: &amp;#39;
        if "&" in text:
            text = html.unescape(text)
    text = " ".join(_UNSEEN.sub("", text).split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def page_url(url: str) -> str:
    """The address behind a redirect wrapper, without tracking parameters and text fragments; empty if it is no page."""
    parts = _parsed(url.strip())
    if parts is None:
        return url.strip() if url.startswith("file://") else ""
    opened = _unwrapped(parts)
    parts = _parsed(opened) if opened else parts
    if parts is None or parts.username or parts.password:
        return ""
    if parts.search:
        kept = "&".join(pair for pair in parts.search[1:].split("&") if not _TRACKING.fullmatch(unquote(pair.partition("=")[0])))
        parts.search = f"?{kept}" if kept else ""
    if ":~:" in parts.hash:
        before = parts.hash.partition(":~:")[0]
        parts.hash = before if before != "#" else ""
    return str(parts.href)


def _parsed(url: str) -> ada_url.URL | None:
    try:
        found = ada_url.URL(url)
    except (ValueError, UnicodeError):
        return None
    return found if found.protocol in ("http:", "https:") else None


def _unwrapped(parts: ada_url.URL) -> str:
    """The target of a search engine's own redirect, if this is one."""
    host, path, given = parts.hostname, parts.pathname, dict(parse_qsl(parts.search[1:]))
    if host.endswith("duckduckgo.com") and path in ("/l/", "/l"):
        return given.get("uddg", "")
    if re.fullmatch(r"(?:www\.)?google\.[a-z.]+", host) and path == "/url":
        return given.get("q") or given.get("url", "")
    if host.endswith("bing.com") and path == "/ck/a" and given.get("u", "").startswith("a1"):
        coded = given["u"][2:]
        try:
            return base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return ""


def same_page(url: str) -> str:
    """A key under which the addresses of one page meet: http and https, www, a trailing slash, order of parameters."""
    parts = _parsed(url)
    if parts is None:
        return url
    host = re.sub(r"^(?:www|m|mobile|amp)\.(?=[^.]+\.)", "", parts.hostname.removesuffix("."))
    host = host.replace(".m.wikipedia.org", ".wikipedia.org")
    port = "" if parts.port in ("", "80", "443") else f":{parts.port}"
    query = urlencode(sorted(parse_qsl(parts.search[1:], keep_blank_values=True)))
    path = re.sub(r"/(?:index\.(?:html?|php))?$", "", parts.pathname)
    route = parts.hash if parts.hash.startswith(("#!", "#/")) else ""
    return f"{host}{port}{path}?{query}{route}"


_MONTHS = {name: n for n, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)}
_AGO = re.compile(r"(\d+|an?|one)\s*(second|sec|minute|min|hour|hr|day|week|month|year|s|m|h|d|w|mo|y)s?\s+ago", re.IGNORECASE)
_AGO_S = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hr": 3600, "d": 86_400, "w": 604_800, "mo": 2_629_800, "y": 31_557_600}
_AGO_S |= {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_629_800, "year": 31_557_600}
_ISO = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?)?", re.IGNORECASE)
_MDY = re.compile(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")
_DMY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})")


def iso_date(value: object, now: datetime) -> str:
    """A date as backends write it (ISO, `Nov 3, 2026`, `3 days ago`, seconds since 1970) in ISO 8601, or nothing."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if value > 1e11 else value
        return datetime.fromtimestamp(seconds, UTC).date().isoformat() if 0 < seconds < 4e9 else ""
    if not isinstance(value, str):
        return ""
    text = value.strip()
    if found := _ISO.match(text):
        return _iso(found)
    if found := _AGO.search(text):
        count = int(found[1]) if found[1].isdigit() else 1
        return (now - timedelta(seconds=count * _AGO_S[found[2].lower()])).date().isoformat()
    if text.lower() in ("today", "yesterday"):
        return (now - timedelta(days=text.lower() == "yesterday")).date().isoformat()
    for pattern, order in ((_MDY, (3, 1, 2)), (_DMY, (3, 2, 1))):
        if (found := pattern.search(text)) and (month := _MONTHS.get(found[order[1]][:3].lower())):
            return _day(int(found[order[0]]), month, int(found[order[2]]))
    if re.fullmatch(r"\d{8}(?:\d{6})?", text):
        return _day(int(text[:4]), int(text[4:6]), int(text[6:8]))
    return text if re.fullmatch(r"(?:19|20)\d{2}", text) else ""


def _iso(found: re.Match[str]) -> str:
    if not found[3]:
        return f"{found[1]}-{int(found[2]):02}" if 1 <= int(found[2]) <= 12 else ""
    day = _day(int(found[1]), int(found[2]), int(found[3]))
    zone = (found[5] or "").upper().replace("UTC", "Z")
    return f"{day}T{found[4]}{zone}" if day and found[4] and found[4][:5] != "00:00" else day


def _day(year: int, month: int, day: int) -> str:
    try:
        return datetime(year, month, day, tzinfo=UTC).date().isoformat()
    except ValueError:
        return ""


@lru_cache(maxsize=512)
def domains_of(domains: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Wanted and excluded host patterns. Raises: InvalidArguments naming what is no pattern, or that there are too many."""
    wanted = tuple(dict.fromkeys(d.strip() for d in domains if not d.strip().startswith("-")))
    excluded = tuple(dict.fromkeys(d.strip()[1:].strip() for d in domains if d.strip().startswith("-")))
    bad = []
    for domain in (*wanted, *excluded):
        try:
            policy.pattern(domain)
        except InvalidArguments:
            bad.append(domain)
    if bad:
        raise InvalidArguments(
            f"domains: not a host: {', '.join(repr(d[:100]) for d in bad[:5])}",
            remedy="write hosts such as docs.python.org, or -pinterest.com to exclude",
        )
    if max(len(wanted), len(excluded)) > DOMAINS_MAX:
        raise InvalidArguments(f"domains: at most {DOMAINS_MAX} wanted and {DOMAINS_MAX} excluded", remedy="give fewer, or a parent domain")
    return wanted, excluded


def hosts_of(patterns: Iterable[str]) -> list[str]:
    """The bare hosts of patterns, as backends take them for a hint; addresses and `*` left out."""
    read = [policy.pattern(p) for p in patterns]
    return list(dict.fromkeys(p.host for p in read if p.kind not in ("any", "address")))


def tidied(found: Found, query: Query, *, prefer: Sequence[str] = (), block: Sequence[str] = (), now: datetime) -> Found:
    """The found as it is handed over: cleaned, merged, filtered, ordered, numbered; what was removed is in the notes."""
    wanted, excluded = domains_of(query.domains)
    notes = list(found.notes)
    hits = _merged(_clean(found.results, query.text, now))
    outside = [h for h in hits if wanted and not (h.source and policy.matches(wanted, h.source, wide=True))]
    unwanted = [h for h in hits if h not in outside and h.source and policy.matches(excluded, h.source, wide=True)]
    blocked = [h for h in hits if h.source and policy.matches(block, h.source, wide=True)]
    gone = {h.url for h in (*outside, *unwanted, *blocked)}
    hits = [h for h in hits if h.url not in gone]
    if outside or unwanted:
        notes.append(f"domain_filter: {len(outside) + len(unwanted)} results outside the asked domains removed")
    if blocked:
        notes.append(f"blocked_domains: {len(blocked)} results removed by search.block_domains")
    hits, applied = _fresh(hits, query, found, notes, now)
    hits = _lifted(hits, prefer)[: query.count]
    return replace(found, results=ranked(hits), freshness_applied=applied, notes=tuple(dict.fromkeys(notes)), page=query.page)


def _clean(hits: Iterable[Hit], asked: str, now: datetime) -> list[Hit]:
    kept = []
    for hit in hits:
        url = page_url(str(hit.url or ""))
        if not url:
            continue
        kept.append(
            replace(
                hit,
                url=url,
                title=cleaned(str(hit.title or ""), TITLE_MAX_CHARS) or url,
                snippet=cleaned(str(hit.snippet or "")),
                published_at=iso_date(hit.published_at, now),
                source=urlsplit(url).hostname or "",
                query=hit.query or asked,
                content=hit.content,
            )
        )
    return kept


def _merged(hits: list[Hit]) -> list[Hit]:
    """One hit a page, at its best place; what the first lacks is taken from the later ones."""
    first: dict[str, Hit] = {}
    for hit in hits:
        key = same_page(hit.url)
        if key not in first:
            first[key] = hit
            continue
        held = first[key]
        engines = dict.fromkeys(e for e in (*held.engine.split(", "), *hit.engine.split(", ")) if e)
        first[key] = replace(
            held,
            snippet=held.snippet or hit.snippet,
            published_at=held.published_at or hit.published_at,
            engine=", ".join(engines),
            content=held.content or hit.content,
        )
    return list(first.values())


def _fresh(hits: list[Hit], query: Query, found: Found, notes: list[str], now: datetime) -> tuple[list[Hit], Applied]:
    """Results known to be older than asked go; those without a date stay and are counted."""
    if query.freshness == "none":
        return hits, "none"
    oldest = (now - timedelta(days=FRESH_DAYS[query.freshness] + 1)).date().isoformat()  # a day of slack for time zones
    old = [h for h in hits if h.published_at and h.published_at < oldest[: len(h.published_at)]]
    kept = [h for h in hits if h not in old]
    undated = sum(not h.published_at for h in kept)
    if found.freshness_applied != "provider" or old:
        what = "does not honour it" if found.freshness_applied == "provider" else "does not take it"
        notes.append(f"option_ignored:freshness: {found.provider} {what}; {len(old)} older results removed here, {undated} have no date")
    return kept, "client" if found.freshness_applied != "provider" or old else "provider"


def _lifted(hits: list[Hit], prefer: Sequence[str]) -> list[Hit]:
    """Preferred hosts move up, nobody goes."""
    if not prefer:
        return hits
    worth = {h.url: (PREFERRED if h.source and policy.matches(prefer, h.source, wide=True) else 1.0) / n for n, h in enumerate(hits, 3)}
    return sorted(hits, key=lambda h: -worth[h.url])


def fused(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Several backends' lists as one, by reciprocal rank; the score is the share of the best possible."""
    points: dict[str, float] = {}
    for hits in lists:
        for n, hit in enumerate(hits, 1):
            key = same_page(hit.url)
            points[key] = points.get(key, 0.0) + 1 / (FUSE_K + n)
    best = len(lists) / (FUSE_K + 1)
    merged = _merged([hit for hits in lists for hit in hits])
    return [replace(h, score=round(points[same_page(h.url)] / best, 4)) for h in sorted(merged, key=lambda h: -points[same_page(h.url)])]
