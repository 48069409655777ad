"""A model vendor's own search: what is attached to a turn, and how its stream is told, read by a real client library."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cormorant.choice import attached, hosted_activity, hosted_tools, streamed_activity
from cormorant.models import LanguageModel
from cormorant.settings import of
from support_net import answer, serving

pytestmark = pytest.mark.anyio
ANSWER = "High water is at six."
SOURCES = [{"type": "url", "url": "https://a.example/1"}, {"type": "url", "url": "https://a.example/2"}]
SEARCH = {"id": "ws_1", "type": "web_search_call", "status": "in_progress"}
SEARCHED = SEARCH | {"status": "completed", "action": {"type": "search", "query": "tides harlow", "sources": SOURCES}}
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
TEXT = {"type": "output_text", "text": ANSWER, "annotations": []}
RESPONSE = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "in_progress", "output": [],
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
}  # fmt: skip
OPENAI = [
    {"type": "response.created", "response": RESPONSE},
    {"type": "response.output_item.added", "output_index": 0, "item": SEARCH},
    {"type": "response.web_search_call.in_progress", "output_index": 0, "item_id": "ws_1"},
    {"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_1"},
    {"type": "response.web_search_call.completed", "output_index": 0, "item_id": "ws_1"},
    {"type": "response.output_item.done", "output_index": 0, "item": SEARCHED},
    {"type": "response.output_item.added", "output_index": 1, "item": MESSAGE},
    {"type": "response.content_part.added", "output_index": 1, "item_id": "msg_1", "content_index": 0, "part": TEXT | {"text": ""}},
    {"type": "response.output_text.delta", "output_index": 1, "item_id": "msg_1", "content_index": 0, "delta": ANSWER, "logprobs": []},
    {"type": "response.output_item.done", "output_index": 1, "item": MESSAGE | {"status": "completed", "content": [TEXT]}},
    {"type": "response.completed", "response": RESPONSE | {"status": "completed"}},
]
CLAUDE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None, "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip
PAGE = {"type": "web_search_result", "url": "https://a.example/1", "title": "Tides", "encrypted_content": "x", "page_age": None}
USE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [PAGE, PAGE | {"url": "https://a.example/2"}]}
FAILED = RESULT | {"content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}}


def anthropic(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "message_start", "message": CLAUDE},
        {"type": "content_block_start", "index": 0, "content_block": USE},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"query": "tides'}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ' harlow"}'}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": result},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": ANSWER}},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


@asynccontextmanager
async def vendor(events: list[dict[str, Any]]) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """A vendor that streams these events, and the bodies it was sent."""
    numbered = [event | {"sequence_number": n} for n, event in enumerate(events)]
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in numbered)
    sent: list[dict[str, Any]] = []

    def reply(request: Any) -> bytes:
        sent.append(json.loads(request.raw.partition(b"\r\n\r\n")[2]))
        return answer(200, body, {"content-type": "text/event-stream"})

    async with serving({"*": reply}) as server:
        yield server.url("", host="127.0.0.1").rstrip("/"), sent


CASES = [
    pytest.param("openai/gpt-6-luna", "OPENAI_API_KEY", OPENAI, ["tides harlow", "2 results"], id="openai"),
    pytest.param("xai/grok-4.3", "XAI_API_KEY", OPENAI, ["tides harlow", "2 results"], id="xai"),
    pytest.param("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY", anthropic(RESULT), ["tides harlow", "2 results"], id="anthropic"),
    pytest.param("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY", anthropic(FAILED), ["tides harlow", "max_uses_exceeded"], id="refused"),
]


@pytest.mark.parametrize(("name", "key", "events", "said"), CASES)
async def test_a_hosted_search_is_told_while_the_model_streams(name: str, key: str, events: list[dict[str, Any]], said: list[str]) -> None:
    direct = pytest.importorskip("pydantic_ai.direct", reason="the extra `llm` is not installed")
    from pydantic_ai.messages import ModelRequest, PartDeltaEvent, PartStartEvent
    from pydantic_ai.models import ModelRequestParameters

    base = "/v1" if not name.startswith("anthropic") else ""
    async with vendor(events) as (url, sent):
        model = LanguageModel(of({"answer": {"model": name, "model_url": url + base}, "keys": {key: "sk-test-1"}}))
        tools = hosted_tools(model.provider, model.name)
        settings, native = attached(tools)
        told, text = [], ""
        async with (
            model.opened(hosted=bool(tools)) as opened,
            direct.model_request_stream(
                opened,
                [ModelRequest.user_text_prompt("When is high water?")],
                model_settings=settings,
                model_request_parameters=ModelRequestParameters(native_tools=native),
            ) as stream,
        ):
            async for event in stream:
                if (activity := streamed_activity(event)) is not None:
                    told.append(activity)
                if isinstance(event, PartStartEvent):
                    text += getattr(event.part, "content", "") if event.part.part_kind == "text" else ""
                elif isinstance(event, PartDeltaEvent):
                    text += getattr(event.delta, "content_delta", "")
    assert [activity.data for activity in told] == [{"name": "web_search", "detail": detail} for detail in said]
    assert all(activity.event == "hosted_tool_activity" for activity in told)
    assert text == ANSWER
    assert [tool["type"] for tool in sent[0]["tools"]] == [tool.definition["type"] for tool in tools]


@pytest.mark.parametrize(
    ("name", "events", "said"),
    [
        ("openai", OPENAI, ["searching", "tides harlow"]),
        ("anthropic", anthropic(RESULT), ["searching", "2 results"]),
        ("anthropic", anthropic(FAILED), ["searching", "max_uses_exceeded"]),
    ],
    ids=["openai", "anthropic", "anthropic refused"],
)
def test_the_same_streams_told_without_any_library(name: str, events: list[dict[str, Any]], said: list[str]) -> None:
    told = [activity for event in events if (activity := hosted_activity(name, event)) is not None]
    assert [(activity.name, activity.detail) for activity in told] == [("web_search", detail) for detail in said]


def test_what_was_attached_is_gone_when_the_provider_changes() -> None:
    turns = [("openai", "gpt-6-luna"), ("ollama", "qwen"), ("anthropic", "claude-haiku-4-5")]
    assert [[tool.provider for tool in hosted_tools(*turn)] for turn in turns] == [["openai"], [], ["anthropic"]]


def test_what_one_caller_does_to_a_definition_is_no_other_s() -> None:
    hosted_tools("openai", "gpt-6-luna")[0].definition["type"] = "broken"
    assert hosted_tools("openai", "gpt-6-luna")[0].definition == {"type": "web_search"}


@pytest.mark.parametrize(
    ("provider", "model", "kinds"),
    [
        ("openai", "gpt-6-luna", ["web_search"]),
        ("openai", "gpt-3.5-turbo", []),
        ("anthropic", "claude-sonnet-4-5", ["web_search_20250305"]),
        ("anthropic", "claude-2.1", []),
        ("xai", "grok-4.3", ["web_search", "x_search"]),
        ("gemini", "gemini-3.5-flash-lite", ["google_search"]),
        ("mistral", "large", []),
    ],
)
def test_hosted_tools_belong_to_the_turn_s_provider(provider, model, kinds):
    tools = hosted_tools(provider, model)
    assert [tool.definition.get("type") or next(iter(tool.definition)) for tool in tools] == kinds
    assert all(tool.provider == provider for tool in tools)


ON_X = {"type": "custom_tool_call", "name": "x_keyword_search", "input": '{"query": "tides"}'}  # as xAI streams it
DONE = {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "tides"}}


@pytest.mark.parametrize(
    ("provider", "event", "said"),
    [
        ("openai", {"type": "response.web_search_call.searching"}, ("web_search", "searching")),
        ("openai", {"type": "response.output_item.done", "item": DONE}, ("web_search", "tides")),
        ("openai", {"type": "response.output_text.delta", "delta": "x"}, None),
        ("xai", {"type": "response.output_item.done", "item": DONE | {"type": "x_search_call"}}, ("x_search", "tides")),
        (
            "xai",
            {
                "type": "response.output_item.done",
                "item": {"type": "custom_tool_call", "name": "x_keyword_search", "input": '{"query": "tides"}'},
            },
            ("x_search", "tides"),
        ),
        ("xai", {"type": "response.output_item.done", "item": {"type": "custom_tool_call", "name": "own_tool", "input": "{}"}}, None),
        (
            "anthropic",
            {
                "type": "content_block_start",
                "content_block": {"type": "server_tool_use", "name": "web_search", "input": {"query": "tides"}},
            },
            ("web_search", "tides"),
        ),
        (
            "anthropic",
            {"type": "content_block_start", "content_block": {"type": "web_search_tool_result", "content": [{}, {}]}},
            ("web_search", "2 results"),
        ),
        (
            "anthropic",
            {
                "type": "content_block_start",
                "content_block": {"type": "web_search_tool_result", "content": {"error_code": "max_uses_exceeded"}},
            },
            ("web_search", "max_uses_exceeded"),
        ),
        ("anthropic", {"type": "content_block_start", "content_block": {"type": "text"}}, None),
        ("gemini", {"candidates": [{"groundingMetadata": {"webSearchQueries": ["tides", "harlow"]}}]}, ("google_search", "tides; harlow")),
        ("gemini", {"candidates": [{"content": {}}]}, None),
        ("mistral", {"type": "anything"}, None),
    ],
)
def test_what_a_vendor_s_stream_says_of_its_own_tools_is_an_event(provider, event, said):
    activity = hosted_activity(provider, event)
    assert (activity and (activity.name, activity.detail)) == said
    assert activity is None or activity.event == "hosted_tool_activity"
