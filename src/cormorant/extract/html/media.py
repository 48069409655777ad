"""Films, recordings, players and embedded documents: where each can be had, and what it is called. Pure."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from selectolax.lexbor import LexborNode

_YOUTUBE = re.compile(r"https?://(?:www\.)?youtube(?:-nocookie)?\.com/embed/(?!videoseries)([\w-]+)")
_PLAYERS = re.compile(
    r"https?://(?:www\.)?(?:youtube(?:-nocookie)?\.com/embed/|player\.vimeo\.com/video/|dailymotion\.com/embed/|loom\.com/embed/"
    r"|fast\.wistia\.(?:net|com)/embed/|player\.twitch\.tv/|player\.bilibili\.com/|embed\.ted\.com/|streamable\.com/e/"
    r"|open\.spotify\.com/embed/|w\.soundcloud\.com/player|embed\.podcasts\.apple\.com/"
    r"|codepen\.io/[^/]+/embed/|codesandbox\.io/embed/|stackblitz\.com/|jsfiddle\.net/|replit\.com/)"
)
_DOCUMENT = re.compile(r"\.(?:pdf|docx|xlsx|pptx)(?:$|[?#])", re.I)
_VIEWERS = re.compile(r"https?://(?:docs\.google\.com/(?:gview|viewer)|view\.officeapps\.live\.com/op/)")  # the document is in their query
ATTRIBUTES = ("src", "data-src", "data")


def of(node: LexborNode) -> tuple[str, str] | None:
    """The address to have it at, and its label; `None` for a frame that shows neither a player nor a document."""
    attributes = node.attributes
    title = " ".join((attributes.get("title") or attributes.get("aria-label") or attributes.get("playlabel") or "").split())
    tag = node.tag or ""
    if number := attributes.get("videoid"):
        host = "vimeo.com/" if "vimeo" in tag else "www.youtube.com/watch?v="
        return f"https://{host}{number}", title.removeprefix("Play: ") or "video"
    source = next((value for name in ATTRIBUTES if (value := (attributes.get(name) or "").strip())), "")
    if tag in ("video", "audio"):
        source = source or next((one.attributes.get("src") or "" for one in node.css("source")), "")
        return (source, title or tag) if source and not source.startswith(("blob:", "data:")) else None
    source = "https:" + source if source.startswith("//") else source
    if _VIEWERS.match(source):
        query = parse_qs(urlsplit(source).query)
        source = next(iter(query.get("url", query.get("src", [""]))))
        return (source, title or _name(source)) if source else None
    if found := _YOUTUBE.match(source):
        return f"https://www.youtube.com/watch?v={found[1]}", title or "video"
    if _PLAYERS.match(source):
        return source, title or "video"
    return (source, title or _name(source)) if _DOCUMENT.search(source) else None


def _name(source: str) -> str:
    return source.partition("?")[0].rstrip("/").rpartition("/")[2] or "document"
