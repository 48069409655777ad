"""The JSON Schemas of results against real results, field by field: each holds, and no field is left undescribed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cormorant import Web, shapes
from cormorant.errors import NotAllowed
from cormorant.tools import TOOLS, tool
from support_documents import docx
from support_net import answer, serving
from support_server import running
from support_web import LOCAL, PAGES, index, opened

pytestmark = pytest.mark.anyio

TEXT = {"content-type": "text/plain"}


def closed(schema: Any) -> Any:
    """The schema with every object closed: a field that is not described fails."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    shut = {"additionalProperties": False} if "properties" in schema else {}
    return {name: closed(value) for name, value in schema.items()} | shut


def holds(name: str, result: dict[str, Any]) -> None:
    result = json.loads(json.dumps(result))  # as it travels
    schema = tool(name).output_schema()
    Draft202012Validator.check_schema(schema)
    for one in (schema, closed(schema)):
        problems = [f"{list(e.absolute_path)}: {e.message[:200]}" for e in Draft202012Validator(one).iter_errors(result)]
        assert problems == []
    assert not Draft202012Validator(schema).is_valid({name: value for name, value in result.items() if name != "response_id"})


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"url": "/guide"}, id="a page"),
        pytest.param({"url": "/guide", "budget": 200, "links": True}, id="fitted, with links"),
        pytest.param({"url": "/guide", "max_chars": 100}, id="cut, with where to read on"),
        pytest.param({"url": "/guide", "output": "raw"}, id="raw"),
        pytest.param({"url": "/note.txt"}, id="plain text"),
        pytest.param({"url": "/old"}, id="redirected"),
        pytest.param({"urls": ["/guide", "/gone", "/note.txt"]}, id="several, one of which fails"),
        pytest.param({"urls": ["/guide", "/note.txt"], "budget": 300}, id="several within a budget"),
    ],
)
async def test_what_web_fetch_returns(tmp_path, arguments) -> None:
    async with opened(tmp_path) as (web, _, base):
        at = {"url": base + arguments["url"]} if "url" in arguments else {"urls": [base + path for path in arguments["urls"]]}
        holds("web_fetch", (await tool("web_fetch").run(web, arguments | at)).as_dict())


async def test_what_web_fetch_returns_of_a_document_and_of_what_changed() -> None:
    document = docx("<w:p><w:r><w:t>High water at six.</w:t></w:r></w:p>")
    pages = {"/a.docx": answer(200, document), "/note": answer(200, "High water at six.", TEXT), "*": answer(404, "")}
    async with serving(pages) as site, Web(LOCAL) as web:
        read = (await tool("web_fetch").run(web, {"url": site.url("/a.docx", host="127.0.0.1")})).as_dict()
        assert read["document"]["mime"]
        holds("web_fetch", read)
        url = site.url("/note", host="127.0.0.1")
        before = await tool("web_fetch").run(web, {"url": url})
        pages["/note"] = answer(200, "High water at seven.\n\nLow at one.", TEXT)
        after = (await tool("web_fetch").run(web, {"url": url, "refresh": True, "since": before.response_id})).as_dict()
        holds("web_fetch", after)
        assert "changes" in after


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({}, id="the first item"),
        pytest.param({"section": "Install", "budget": 200}, id="a section"),
        pytest.param({"find": ["keeper", "no such words"]}, id="places"),
        pytest.param({"max_chars": 100}, id="cut"),
    ],
)
async def test_what_web_get_returns(tmp_path, arguments) -> None:
    async with opened(tmp_path) as (web, _, base):
        page = await web.fetch(f"{base}/guide")
        holds("web_get", (await tool("web_get").run(web, {"response_id": page.response_id} | arguments)).as_dict())


async def test_what_search_answer_and_research_return(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, _):
        await index(web, tmp_path / "pages")
        found = await tool("web_search").run(web, {"queries": ["harbour wall", "dinghy"], "count": 99})
        assert found.results
        holds("web_search", found.as_dict())
        holds("web_get", (await web.get(found.response_id)).as_dict())
        holds("web_search", (await tool("web_search").run(web, {"query": "dinghy", "include_content": True})).as_dict())
        answered = (await tool("web_answer").run(web, {"query": "When was the harbour wall rebuilt?"})).as_dict()
        assert answered["verdicts"]
        holds("web_answer", answered)
        holds("research", (await tool("research").run(web, {"question": "When was the harbour wall rebuilt?"})).as_dict())


def test_what_an_error_is() -> None:
    made = NotAllowed("no", remedy="cormorant egress allow a.example", url="https://a.example/").as_dict()
    Draft202012Validator(closed(shapes.schema(shapes.Error))).validate(made)


def test_every_schema_is_an_object_at_its_root() -> None:
    assert {one.name: one.output_schema()["type"] for one in TOOLS} == {one.name: "object" for one in TOOLS}


async def test_the_http_server_describes_its_results_by_the_same_schemas(tmp_path) -> None:
    async with serving(PAGES) as site, running(tmp_path) as client:
        listed = {one["name"]: one["output_schema"] for one in (await client.get("/v1/tools")).json()["tools"]}
        assert listed == {one.name: one.output_schema() for one in TOOLS}
        described = (await client.get("/openapi.json")).json()["paths"]["/v1/fetch"]["post"]["responses"]
        assert described["200"]["content"]["application/json"]["schema"] == listed["web_fetch"]
        asked = {"urls": [site.url("/guide", host="127.0.0.1"), site.url("/gone", host="127.0.0.1")]}
        holds("web_fetch", (await client.post("/v1/fetch", json=asked)).json())
        refused = await client.post("/v1/fetch", json={"url": "http://10.0.0.7/"})
        Draft202012Validator(closed(described["4XX"]["content"]["application/json"]["schema"])).validate(refused.json())
