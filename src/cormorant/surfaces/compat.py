"""Routes that people already call elsewhere: `/v2/scrape`, `/v2/search` and `/v2/map` in the form of Firecrawl, `GET /r/URL`.

They are the same tools under the same rules; what has no counterpart here (actions, proxies, credits) is left out, and
named in `warning` where the caller asked for it. Off where the server listens beyond loopback (`server.host`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from cormorant.errors import CormorantError, InvalidArguments

Call = Callable[[Request, str, dict[str, Any]], Awaitable[Any]]  # request, tool, arguments -> the tool's result
Read = Callable[[Request], Awaitable[dict[str, Any]]]

FORMATS = ("markdown", "links", "summary", "rawHtml")
FRESHNESS = {"qdr:h": "day", "qdr:d": "day", "qdr:w": "week", "qdr:m": "month", "qdr:y": "year"}
READ = {"formats", "url", "onlyMainContent", "timeout", "maxAge"}
READ |= {"query", "limit", "scrapeOptions", "tbs", "includeDomains", "excludeDomains", "search"}
# What happens anyway, and so is not named as left out.
DEFAULTS: dict[str, list[Any]] = {"sources": [["web"], [{"type": "web"}]], "sitemap": ["include"], "storeInCache": [True, False]}
UNSEEN = {"origin", "integration"}  # who calls, said for their statistics


def add_compat(app: FastAPI, call: Call, read: Read) -> None:
    """Add the routes; `call` runs a tool for whoever asks."""

    async def answered(request: Request, work: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]) -> Response:
        try:
            body = await read(request)
            async with asyncio.timeout(_seconds(body)):
                shown = await work(body)
        except TimeoutError:
            return JSONResponse({"success": False, "error": f"not done within {body['timeout']} ms", "code": "timeout"}, status_code=504)
        except CormorantError as error:
            said = {"success": False, "error": f"{error.message}{f' ({error.remedy})' if error.remedy else ''}", "code": error.code}
            return JSONResponse(said, status_code=error.http)
        ignored = sorted(name for name in set(body) - READ - UNSEEN if body[name] not in DEFAULTS.get(name, []))
        return JSONResponse({"success": True, **shown} | ({"warning": f"not done here: {', '.join(ignored)}"} if ignored else {}))

    @app.post("/v2/scrape", include_in_schema=False)
    async def scrape(request: Request) -> Response:
        async def work(body: dict[str, Any]) -> dict[str, Any]:
            return {"data": await scraped(request, call, _text(body, "url"), body)}

        return await answered(request, work)

    @app.post("/v2/search", include_in_schema=False)
    async def search(request: Request) -> Response:
        async def work(body: dict[str, Any]) -> dict[str, Any]:
            asked = {"query": _text(body, "query"), "count": body.get("limit", 5), "freshness": FRESHNESS.get(str(body.get("tbs")), "none")}
            asked |= {"domains": body.get("includeDomains"), "exclude_domains": body.get("excludeDomains")}
            found = (await call(request, "web_search", asked)).as_dict()
            hits = [
                {"url": hit["url"], "title": hit["title"], "description": hit["snippet"], "position": hit["rank"]}
                for hit in found["results"]
            ]
            options = body.get("scrapeOptions")
            if isinstance(options, dict) and options.get("formats"):
                for hit in hits:
                    try:
                        hit |= await scraped(request, call, hit["url"], options)
                    except CormorantError as error:  # one page that can't be read does not lose the others
                        hit["metadata"] = {"sourceURL": hit["url"], "error": f"{error.code}: {error.message}"}
            return {"data": {"web": hits}}

        return await answered(request, work)

    @app.post("/v2/map", include_in_schema=False)
    async def map_(request: Request) -> Response:
        async def work(body: dict[str, Any]) -> dict[str, Any]:
            asked = {"url": _text(body, "url"), "search": body.get("search"), "limit": body.get("limit", 5_000)}
            found = (await call(request, "web_map", asked)).as_dict()
            return {"links": [{"url": link["url"]} | ({"title": link["title"]} if link["title"] else {}) for link in found["links"]]}

        return await answered(request, work)

    @app.get("/r/{address:path}", include_in_schema=False)
    async def reader(request: Request) -> Response:
        page = await call(request, "web_fetch", {"url": _address(request)})
        headers = {"x-response-id": page.response_id}
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse(page.as_dict(), headers=headers)
        rows = (("Title", page.title), ("URL", page.final_url), ("Published", page.published_at))
        head = "\n".join(f"{name}: {' '.join(value.split())}" for name, value in rows if value)
        return PlainTextResponse(f"{head}\n\n{page.content}\n", media_type="text/markdown; charset=utf-8", headers=headers)


async def scraped(request: Request, call: Call, url: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """One page in the formats asked for. Raises: CormorantError."""
    formats = _formats(body)
    extract = "full" if body.get("onlyMainContent") is False else "auto"
    asked: dict[str, Any] = {"url": url, "extract": extract, "links": "links" in formats, "max_chars": 200_000}
    if isinstance(age := body.get("maxAge"), int):  # milliseconds; 0 asks for the page as it is now
        asked |= {"max_age": age // 1_000, "refresh": age == 0}
    page = await call(request, "web_fetch", asked)
    facts = page.as_dict()
    shown: dict[str, Any] = {"markdown": facts["content"]} if "markdown" in formats else {}
    if "links" in formats:
        shown["links"] = [link["href"] for link in facts.get("links") or ()]
    if "summary" in formats:
        shown["summary"] = (await call(request, "web_get", {"response_id": facts["response_id"], "view": "summary", "budget": 500})).content
    if "rawHtml" in formats:
        shown["rawHtml"] = (await call(request, "web_fetch", {"url": url, "output": "raw", "max_chars": 200_000})).content
    names = {"title": "title", "language": "language", "url": "final_url", "statusCode": "status", "contentType": "type"}
    shown["metadata"] = {name: facts[ours] for name, ours in names.items() if facts[ours]} | {"sourceURL": url}
    return shown


def _formats(body: Mapping[str, Any]) -> set[str]:
    given = body.get("formats") or ["markdown"]
    if not isinstance(given, list):
        raise InvalidArguments("formats should be a list", remedy='{"formats": ["markdown"]}')
    named = {str(one.get("type")) if isinstance(one, dict) else str(one) for one in given}
    if unknown := named - set(FORMATS):
        raise InvalidArguments(f"no such format here: {', '.join(sorted(unknown))[:200]}", remedy=f"there are {', '.join(FORMATS)}")
    return named


def _seconds(body: Mapping[str, Any]) -> float | None:
    """The caller's own deadline, which is given in milliseconds."""
    given = body.get("timeout")
    return given / 1_000 if isinstance(given, int) and given > 0 else None


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidArguments(f"{name} is missing", remedy=f'{{"{name}": "..."}}')
    return value


def _address(request: Request) -> str:
    """The address after `/r/`, as it was sent: its own escapes and query belong to it."""
    raw = request.scope.get("raw_path") or request.url.path.encode()
    address = raw.decode("latin-1").partition("/r/")[2]
    if address.lower().startswith(("http%3a", "https%3a")):
        address = unquote(address)
    for scheme in ("http:/", "https:/"):  # some clients and proxies make one slash of two
        if address.startswith(scheme) and not address.startswith(scheme + "/"):
            address = scheme + "/" + address.removeprefix(scheme)
    query = request.scope["query_string"].decode("latin-1")
    return (address if "://" in address else f"https://{address}") + (f"?{query}" if query else "")
