"""Reading a tool's arguments: other products' spellings, lenient values, clamps that are noted, errors that name the field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cormorant.errors import InvalidArguments
from cormorant.tokens import counter
from cormorant.tools import ALIASES, TOOLS, tool

MCP_TOKENS = 700  # o200k tokens of all tools together: name, description, input schema


@pytest.mark.parametrize(
    ("name", "given", "read"),
    [
        pytest.param("web_search", {"query": " tide ", "count": "8"}, {"query": "tide", "count": 8}, id="a number as text"),
        pytest.param("web_search", {"query": "x", "numResults": 3}, {"query": "x", "count": 3}, id="numResults"),
        pytest.param("web_search", {"query": "x", "num_results": 3.0}, {"query": "x", "count": 3}, id="a whole float"),
        pytest.param("web_search", {"query": "x", "recencyFilter": "week"}, {"query": "x", "freshness": "week"}, id="recencyFilter"),
        pytest.param("web_search", {"query": "x", "time_range": "pd"}, {"query": "x", "freshness": "day"}, id="brave's pd"),
        pytest.param("web_search", {"query": "x", "freshness": "Month"}, {"query": "x", "freshness": "month"}, id="a choice in capitals"),
        pytest.param(
            "web_search", {"query": "x", "domainFilter": "a.org, b.org"}, {"query": "x", "domains": ["a.org", "b.org"]}, id="a comma list"
        ),
        pytest.param(
            "web_search",
            {"query": "x", "include_domains": ["a.org"], "exclude_domains": ["b.org"]},
            {"query": "x", "domains": ["a.org", "-b.org"]},
            id="include and exclude are one list",
        ),
        pytest.param("web_search", {"queries": '["a", "b"]'}, {"queries": ["a", "b"]}, id="a list as JSON text"),
        pytest.param(
            "web_search",
            {"query": "x", "includeContent": "true"},
            {"query": "x", "include_content": True},
            id="camelCase and a boolean as text",
        ),
        pytest.param("web_fetch", {"url": ["https://a.org/"]}, {"url": "https://a.org/"}, id="a list of one address"),
        pytest.param("web_fetch", {"url": '["https://a.org/"]'}, {"url": "https://a.org/"}, id="its JSON text"),
        pytest.param(
            "web_fetch", {"url": ["https://a.org/", "https://b.org/"]}, {"urls": ["https://a.org/", "https://b.org/"]}, id="a list of two"
        ),
        pytest.param("web_fetch", {"url": "https://a.org/x,y"}, {"url": "https://a.org/x,y"}, id="a comma in an address"),
        pytest.param("web_fetch", {"url": "u", "max_length": 5}, {"url": "u", "max_chars": 5}, id="max_length"),
        pytest.param("web_fetch", {"url": "u", "extract": "raw"}, {"url": "u", "extract": "full"}, id="extract raw"),
        pytest.param("web_get", {"responseId": "0" * 32, "urlIndex": "1"}, {"response_id": "0" * 32, "url_index": 1}, id="camelCase ids"),
        pytest.param("web_get", {"response_id": "a", "find": "x"}, {"response_id": "a", "find": ["x"]}, id="one needle"),
        pytest.param("web_fetch", {"url": "u", "budget": None}, {"url": "u"}, id="null is not given"),
    ],
)
def test_arguments_are_read(name, given, read) -> None:
    found, notes = tool(name).read(given)
    assert found == read
    assert notes == []


@pytest.mark.parametrize(
    ("name", "given", "field", "used"),
    [
        pytest.param("web_search", {"query": "x", "count": 99}, "count", 20, id="too many"),
        pytest.param("web_search", {"query": "x", "count": 0}, "count", 1, id="too few"),
        pytest.param("web_fetch", {"url": "u", "budget": 10**9}, "budget", 50_000, id="a huge budget"),
    ],
)
def test_out_of_range_is_clamped_and_noted(name, given, field, used) -> None:
    found, notes = tool(name).read(given)
    assert found[field] == used
    assert len(notes) == 1
    assert field in notes[0]


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        pytest.param("web_search", {"query": "x", "count": "many"}, "count", id="no number"),
        pytest.param("web_search", {"query": {"text": "x"}}, "query", id="an object for a string"),
        pytest.param("web_search", {"query": "x", "freshness": "decade"}, "freshness", id="no such choice"),
        pytest.param("web_fetch", {"url": "u", "onlyMainContent": True}, "onlyMainContent", id="an unknown key"),
        pytest.param("web_get", {}, "response_id", id="required"),
        pytest.param("web_answer", {"query": "  "}, "query", id="blank"),
        pytest.param("web_search", {"query": "x", "count": True}, "count", id="a boolean is no number"),
    ],
)
def test_what_cannot_be_read_names_the_field(name, given, says) -> None:
    with pytest.raises(InvalidArguments) as raised:
        tool(name).read(given)
    assert says in raised.value.message
    assert raised.value.remedy


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(InvalidArguments) as raised:
        tool("web_fetch").read({"url": "u", "sections": "x"})
    assert "did you mean section?" in raised.value.remedy


SAMPLES = {"integer": (3, 3), "strings": (["a.org"], ["a.org"]), "string": ("day", "day"), "boolean": (True, True)}


def spellings() -> list[Any]:
    """Every alias, and the camelCase of every name, on every tool that has the argument."""
    found = []
    for one in TOOLS:
        for argument in one.arguments:
            head, *rest = argument.name.split("_")
            camel = head + "".join(word.title() for word in rest)
            theirs = [camel, *(alias for alias, ours in ALIASES.items() if ours == argument.name)]
            found += [pytest.param(one, argument, name, id=f"{one.name} {name}") for name in theirs if name != argument.name]
    return found


@pytest.mark.parametrize(("one", "argument", "spelled"), spellings())
def test_every_spelling_of_every_argument_is_read(one, argument, spelled) -> None:
    given, read = (argument.choices[-1],) * 2 if argument.choices else SAMPLES[argument.kind]
    needed = {name: "x" for name in one.required if name != argument.name}
    assert one.read({spelled: given} | needed)[0][argument.name] == read


@pytest.mark.parametrize("alias", [name for name, ours in ALIASES.items() if ours.startswith("-")])
def test_every_spelling_of_excluded_domains_is_read(alias) -> None:
    assert tool("web_search").read({"query": "x", alias: ["b.org", "-c.org"]})[0]["domains"] == ["-b.org", "-c.org"]


@pytest.mark.parametrize("name", ["oz0_web.search", "oz0_web.fetch", "fetch_content", "get_search_content", "fetch", "search"])
def test_other_products_tool_names_work(name) -> None:
    assert tool(name) in TOOLS


def test_an_unknown_tool_lists_ours() -> None:
    with pytest.raises(InvalidArguments, match="web_dive") as raised:
        tool("web_dive")
    assert "web_fetch" in raised.value.remedy


def test_the_tools_cost_a_model_little() -> None:
    said = [json.dumps({"name": t.name, "description": t.sentence, "inputSchema": t.schema()}) for t in TOOLS if t.over_mcp]
    assert sum(counter("o200k_base").count(text) for text in said) <= MCP_TOKENS


@pytest.mark.parametrize("url", ["", [], "[]", " "], ids=repr)
def test_an_empty_address_is_no_address(url) -> None:
    assert tool("web_get").read({"response_id": "0", "url": url})[0] == {"response_id": "0"}
    assert "urls" not in tool("web_fetch").read({"url": url})[0]


def test_several_addresses_where_one_is_meant_are_said() -> None:
    with pytest.raises(InvalidArguments, match="url should be one address"):
        tool("web_get").read({"response_id": "0", "url": ["https://a.example/", "https://b.example/"]})
