"""One result in every host's own citation form. Pure: plain results in, plain JSON out.

Takes the results as dicts (`Found.as_dict()`, `Answer.as_dict()`, a fetched page), so that any surface and any tape can use it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cormorant.errors import InvalidArguments

Result = Mapping[str, Any]
FORMS = ("anthropic", "openai", "langchain", "llamaindex")
BLOCK_MAX_CHARS = 8_000  # of one source in a search_result block; models cite by block


def search_result_blocks(result: Result) -> list[dict[str, Any]]:
    """Anthropic `search_result` content blocks: each passage is a text block, so that the model cites it by itself."""
    return [
        {
            "type": "search_result",
            "source": row["url"],
            "title": row.get("title") or row["url"],
            "content": [{"type": "text", "text": text[:BLOCK_MAX_CHARS]} for text in _texts(row)],
            "citations": {"enabled": True},
        }
        for row in _rows(result)
        if _texts(row)
    ]


def openai_search(result: Result) -> dict[str, Any]:
    """What OpenAI's connectors expect of a `search` tool: results with id, title and url."""
    return {"results": [{"id": identity(row["url"]), "title": row.get("title") or row["url"], "url": row["url"]} for row in _rows(result)]}


def openai_fetch(page: Result) -> dict[str, Any]:
    """What they expect of a `fetch` tool: id, title, text, url and metadata."""
    url = page.get("final_url") or page.get("url") or ""
    known = ("published_at", "byline", "site", "language", "sha256", "retrieved_at", "type")
    return {
        "id": identity(url),
        "title": page.get("title") or url,
        "text": page.get("content") or "",
        "url": url,
        "metadata": {name: page[name] for name in known if page.get(name)},
    }


def openai_content(payload: Mapping[str, Any]) -> list[dict[str, str]]:
    """Either of the two as MCP content: one text item that holds the JSON, as their connectors read it."""
    return [{"type": "text", "text": json.dumps(payload, ensure_ascii=False)}]


@dataclass(frozen=True)
class Formed:
    """A result with itself in another host's form: its JSON has that as `native`, its text is nothing else."""

    result: Any
    form: str

    def as_dict(self) -> dict[str, Any]:
        own: dict[str, Any] = self.result.as_dict()
        return own | {"native": formed(own, self.form)}

    def as_text(self) -> str:
        return json.dumps(formed(self.result.as_dict(), self.form), ensure_ascii=False, indent=2)


def formed(result: Result, form: str) -> Any:
    """A result in the form of another host: `anthropic`, `openai`, `langchain` or `llamaindex`. Raises: InvalidArguments."""
    match form:
        case "anthropic":
            return search_result_blocks(result)
        case "openai":
            return openai_fetch(result) if "content" in result else openai_search(result)
        case "langchain":
            return langchain_documents(result)
        case "llamaindex":
            return llamaindex_documents(result)
    raise InvalidArguments(f"no form is called {form!r}", remedy=f"there are: {', '.join(FORMS)}")


def identity(url: str) -> str:
    """A stable id for an address: the same in every run."""
    return sha256(url.encode("utf-8", "replace")).hexdigest()[:16]


def langchain_documents(result: Result) -> list[dict[str, Any]]:
    """LangChain documents as plain dicts: `Document(**entry)` makes one."""
    return [
        {"id": identity(row["url"]), "page_content": "\n\n".join(_texts(row)), "metadata": _metadata(row), "type": "Document"}
        for row in _rows(result)
    ]


def llamaindex_documents(result: Result) -> list[dict[str, Any]]:
    """LlamaIndex documents as plain dicts: `Document(**entry)` makes one."""
    return [{"id_": identity(row["url"]), "text": "\n\n".join(_texts(row)), "metadata": _metadata(row)} for row in _rows(result)]


def _rows(result: Result) -> Sequence[Mapping[str, Any]]:
    """The entries of a search, the sources of an answer, or the page itself."""
    if "results" in result:
        return [row for row in result["results"] if row.get("url")]
    if "items" in result:
        return [{**row, "url": row.get("final_url") or row["url"]} for row in result["items"] if row.get("ok")]
    if "sources" in result:
        return [_quoted(row, result.get("verdicts", ())) for row in result["sources"] if row.get("url")]
    return [{**result, "url": result.get("final_url") or result.get("url")}] if result.get("url") or result.get("final_url") else []


def _quoted(source: Mapping[str, Any], verdicts: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """A source of an answer with the quotes that its citations rest on."""
    quotes = dict.fromkeys(v["quote"] for v in verdicts if v.get("source") == source.get("rank") and v.get("quote"))
    return {**source, "passages": [{"text": quote} for quote in quotes]} if quotes else source


def _texts(row: Mapping[str, Any]) -> list[str]:
    passages = [p["text"] for p in row.get("passages", ()) if p.get("text")]
    whole = row.get("content") or row.get("snippet") or ""
    return passages or ([whole] if whole.strip() else [])


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    known = ("title", "rank", "score", "rerank_score", "published_at", "engine", "content_kind", "sha256", "used_in_response")
    return {"source": row["url"], **{name: row[name] for name in known if row.get(name) is not None}}


# ---- citation strings ------------------------------------------------------------------------------------------------


def citation(page: Result, style: str) -> str:
    """How the page is cited: `apa`, `mla`, `bibtex` or `csl` (CSL-JSON), from its own metadata. Raises: InvalidArguments."""
    if style not in _STYLES:
        raise InvalidArguments(f"no citation style is called {style!r}", remedy=f"there are: {', '.join(_STYLES)}")
    return _STYLES[style](_facts(page))


def _facts(page: Result) -> dict[str, str]:
    return {
        "url": str(page.get("final_url") or page.get("url") or ""),
        "title": " ".join(str(page.get("title") or "").split()),
        "author": " ".join(str(page.get("byline") or "").split()),
        "site": " ".join(str(page.get("site") or "").split()),
        "published": str(page.get("published_at") or "")[:10],
        "read": str(page.get("retrieved_at") or "")[:10],
    }


_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


def _day(iso: str, order: str) -> str:
    """2026-03-05 as `2026, March 5` (ymd) or `5 Mar. 2026` (dmy); less exact dates as they are."""
    parts = iso.split("-")
    if not iso or not parts[0].isdigit():
        return ""
    year, month, day = (*parts, "", "")[:3]
    name = _MONTHS[int(month) - 1] if month.isdigit() and 1 <= int(month) <= 12 else ""
    if order == "ymd":
        return f"{year}, {name} {int(day)}" if name and day.isdigit() else f"{year}, {name}" if name else year
    short = name if len(name) <= 4 else f"{name[:4] if name == 'September' else name[:3]}."
    return f"{int(day)} {short} {year}" if name and day.isdigit() else f"{short} {year}" if name else year


def _sentence(parts: Iterable[str]) -> str:
    return " ".join(part if part.endswith((".", "?", "!", "…", '."')) else f"{part}." for part in parts if part)


def _apa(facts: Mapping[str, str]) -> str:
    date = f"({_day(facts['published'], 'ymd') or 'n.d.'})"
    site = facts["site"] if facts["site"] != facts["author"] else ""
    lead = [facts["author"], date, facts["title"]] if facts["author"] else [facts["title"], date]
    return f"{_sentence([*lead, site])} {facts['url']}".strip()


def _mla(facts: Mapping[str, str]) -> str:
    where = ", ".join(part for part in (facts["site"], _day(facts["published"], "dmy"), facts["url"]) if part)
    read = f"Accessed {_day(facts['read'], 'dmy')}" if facts["read"] else ""
    title = f'"{facts["title"]}."' if facts["title"] else ""
    return _sentence([facts["author"], title, where, read])


def _bibtex(facts: Mapping[str, str]) -> str:
    year = facts["published"][:4]
    word = next((w for w in facts["title"].lower().split() if w.isalpha() and len(w) > 3), "page")
    fields = {"title": facts["title"], "author": facts["author"], "year": year, "howpublished": facts["site"]}
    fields |= {"url": facts["url"], "urldate": facts["read"]}
    lines = [f"  {name} = {{{_tex(value) if name != 'url' else value}}}" for name, value in fields.items() if value]
    return f"@online{{{_tex(word)}{year},\n" + ",\n".join(lines) + "\n}"


def _tex(text: str) -> str:
    return "".join(f"\\{char}" if char in "&%$#_{}" else char for char in text)


def _csl(facts: Mapping[str, str]) -> str:
    item: dict[str, Any] = {"id": identity(facts["url"]), "type": "webpage", "title": facts["title"], "URL": facts["url"]}
    if facts["author"]:
        item["author"] = [{"literal": facts["author"]}]
    if facts["site"]:
        item["container-title"] = facts["site"]
    for name, key in (("issued", "published"), ("accessed", "read")):
        parts = [int(part) for part in facts[key].split("-") if part.isdigit()]
        if parts:
            item[name] = {"date-parts": [parts]}
    return json.dumps(item, ensure_ascii=False)


_STYLES = {"apa": _apa, "mla": _mla, "bibtex": _bibtex, "csl": _csl}
STYLES = tuple(_STYLES)
