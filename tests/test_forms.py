"""One result in every host's own citation form."""

from __future__ import annotations

import json

import pytest

from cormorant import forms
from cormorant.errors import InvalidArguments
from cormorant.tools import tool
from support_web import index, opened
from test_cli import run

FOUND = {
    "results": [
        {
            "rank": 1,
            "title": "Gates",
            "url": "https://a.example/1",
            "snippet": "Built in 1974.",
            "score": 0.9,
            "published_at": "2026-11-01",
        },
        {"rank": 2, "title": "", "url": "https://b.example/2", "snippet": "", "score": None},
    ]
}
PAGE = {
    "url": "https://a.example/1",
    "final_url": "https://a.example/one",
    "title": "Gates & Locks_1",
    "content": "Built in 1974.",
    "byline": "Ada Brandt",
    "site": "The Lock Keeper",
    "published_at": "2026-03-05T10:00:00Z",
    "retrieved_at": "2026-09-30T12:00:00Z",
}


def test_anthropic_blocks() -> None:
    assert forms.search_result_blocks(FOUND) == [
        {
            "type": "search_result",
            "source": "https://a.example/1",
            "title": "Gates",
            "content": [{"type": "text", "text": "Built in 1974."}],
            "citations": {"enabled": True},
        }
    ]


def test_passages_are_blocks_of_their_own() -> None:
    answer = {"sources": [{"url": "u", "title": "t", "snippet": "s", "passages": [{"text": "one"}, {"text": "two"}]}]}
    assert [part["text"] for part in forms.search_result_blocks(answer)[0]["content"]] == ["one", "two"]
    cited = {"sources": [{"rank": 1, "url": "u", "snippet": "s"}], "verdicts": [{"source": 1, "quote": "said so"}]}
    assert [part["text"] for part in forms.search_result_blocks(cited)[0]["content"]] == ["said so"]


def test_openai_search_and_fetch() -> None:
    found = forms.openai_search(FOUND)
    assert [sorted(row) for row in found["results"]] == [["id", "title", "url"]] * 2
    page = forms.openai_fetch(PAGE)
    assert sorted(page) == ["id", "metadata", "text", "title", "url"]
    assert page["url"] == "https://a.example/one"
    assert page["metadata"]["byline"] == "Ada Brandt"
    (item,) = forms.openai_content(page)
    assert json.loads(item["text"]) == page


def test_documents() -> None:
    first = forms.langchain_documents(FOUND)[0]
    assert first["page_content"] == "Built in 1974."
    assert first["metadata"]["source"] == "https://a.example/1"
    assert forms.llamaindex_documents(FOUND)[0]["id_"] == first["id"] == forms.identity("https://a.example/1")


@pytest.mark.parametrize(
    ("style", "wanted"),
    [
        ("apa", "Ada Brandt. (2026, March 5). Gates & Locks_1. The Lock Keeper. https://a.example/one"),
        ("mla", 'Ada Brandt. "Gates & Locks_1." The Lock Keeper, 5 Mar. 2026, https://a.example/one. Accessed 30 Sept. 2026.'),
    ],
)
def test_citation_strings(style: str, wanted: str) -> None:
    assert forms.citation(PAGE, style) == wanted


def test_bibtex_and_csl() -> None:
    entry = forms.citation(PAGE, "bibtex")
    assert entry.startswith("@online{gates2026,")
    assert "title = {Gates \\& Locks\\_1}" in entry
    item = json.loads(forms.citation(PAGE, "csl"))
    assert item["issued"] == {"date-parts": [[2026, 3, 5]]}
    assert item["author"] == [{"literal": "Ada Brandt"}]


@pytest.mark.parametrize("style", ["apa", "mla", "bibtex", "csl"])
def test_a_page_that_says_little_is_cited_all_the_same(style: str) -> None:
    assert "https://a.example/" in forms.citation({"url": "https://a.example/"}, style)


def test_an_unknown_style_is_an_error() -> None:
    with pytest.raises(InvalidArguments, match="harvard"):
        forms.citation(PAGE, "harvard")


@pytest.mark.anyio
async def test_every_form_and_style_is_an_argument_of_the_tools(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, base):
        await index(web, tmp_path / "pages")
        searched = await tool("web_search").run(web, {"query": "dinghy", "provider": "library", "form": "openai"})
        fetched = await tool("web_fetch").run(web, {"url": f"{base}/guide", "form": "anthropic", "cite": "mla"})
        several = await tool("web_fetch").run(web, {"urls": [f"{base}/guide", f"{base}/note.txt"], "form": "llamaindex"})
        answered = await tool("web_answer").run(web, {"query": "What is a dinghy?", "style": "footnote", "form": "langchain"})
    assert json.loads(searched.as_text()) == searched.as_dict()["native"]
    assert set(searched.as_dict()["native"]["results"][0]) == {"id", "title", "url"}
    (block,) = fetched.as_dict()["native"]
    assert block["type"] == "search_result"
    assert block["source"] == f"{base}/guide"
    assert "1974" in block["content"][0]["text"]
    assert f"{base}/guide" in fetched.as_dict()["citation"]
    assert [row["metadata"]["source"] for row in several.as_dict()["native"]] == [f"{base}/guide", f"{base}/note.txt"]
    assert "small boat" in answered.as_dict()["native"][0]["page_content"]
    assert "[^1]" in answered.as_dict()["response"]
    assert "\n[^1]: [" in answered.as_dict()["response"]


@pytest.mark.anyio
async def test_the_text_of_an_answer_has_the_style_that_was_asked_for(tmp_path) -> None:
    async with opened(tmp_path) as (web, _, _base):
        await index(web, tmp_path / "pages")
        plain = await web.answer("What is a dinghy?")
        linked = await web.answer("What is a dinghy?", style="link")
    assert "[1]" in plain.as_text()
    assert "web_citation" not in plain.as_text()
    assert "[\\[1\\]](<" in linked.as_text()
    assert linked.response.strip() in linked.as_text()


def test_the_command_line_prints_forms_and_citations(tmp_path) -> None:
    (tmp_path / "gate.html").write_text("<title>Gates</title><main><h1>Gates</h1><p>The gate was built in 1974.</p></main>")
    blocks = json.loads(run(tmp_path, "fetch", "./gate.html", "--form", "anthropic").stdout)
    assert blocks[0]["title"] == "Gates"
    assert "Citation: Gates. (n.d.)." in run(tmp_path, "fetch", "./gate.html", "--cite", "apa").stdout
    assert run(tmp_path, "fetch", "./gate.html", "--cite", "harvard").returncode == 2


def test_blocks_are_what_the_vendors_own_types_take() -> None:
    types = pytest.importorskip("anthropic.types", reason="it comes with the extra `llm`")
    pydantic = pytest.importorskip("pydantic")
    for block in forms.search_result_blocks(FOUND):
        pydantic.TypeAdapter(types.SearchResultBlockParam).validate_python(block)
