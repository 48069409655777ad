"""The tools inside agent frameworks. Each test uses the real framework and skips where it is not installed."""

from __future__ import annotations

import json
import sys

import pytest

from cormorant import Web
from cormorant.adapters import langchain, llama_index, needs, openai_agents, pydantic_ai
from cormorant.errors import NotConfigured
from cormorant.tools import TOOLS

pytestmark = pytest.mark.anyio

NAMES = [tool.name for tool in TOOLS if tool.over_mcp]
BAD = {"url": "http://10.0.0.7/"}
LOCAL = {"store": {"path": "memory"}, "search": {"keyless": False}}
FRAMEWORKS = {langchain: "langchain_core", llama_index: "llama_index.core", openai_agents: "agents", pydantic_ai: "pydantic_ai"}


@pytest.mark.parametrize("adapter", FRAMEWORKS, ids=lambda module: module.__name__.rpartition(".")[2])
async def test_a_missing_framework_is_named_with_what_installs_it(adapter, monkeypatch) -> None:
    for name in [FRAMEWORKS[adapter], *(name for name in sys.modules if name.startswith(FRAMEWORKS[adapter] + "."))]:
        monkeypatch.setitem(sys.modules, name, None)
    async with Web(LOCAL) as web:
        with pytest.raises(NotConfigured) as missing:
            adapter.tools(web)
    assert missing.value.remedy.startswith("pip install ")


def test_no_framework_is_imported_before_it_is_used() -> None:
    with pytest.raises(NotConfigured, match="nosuchframework"):
        needs("nosuchframework", "nosuchframework")


async def test_langchain() -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    async with Web(LOCAL) as web:
        found = {tool.name: tool for tool in langchain.tools(web)}
        assert list(found) == NAMES
        assert "url" in found["web_fetch"].args
        said = await found["web_fetch"].ainvoke({"args": BAD, "id": "1", "name": "web_fetch", "type": "tool_call"})
        assert "private_address" in said.content


async def test_a_langchain_agent_calls_them() -> None:
    agents = pytest.importorskip("langchain.agents", reason="langchain is not installed")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools, **_):
            assert [tool.name for tool in tools] == NAMES
            return self

    script = [AIMessage("", tool_calls=[{"name": "web_fetch", "args": BAD, "id": "1"}]), AIMessage("done")]
    async with Web(LOCAL) as web:
        agent = agents.create_agent(Model(messages=iter(script)), langchain.tools(web))
        said = await agent.ainvoke({"messages": [{"role": "user", "content": "read it"}]})
    assert [message.type for message in said["messages"]] == ["human", "ai", "tool", "ai"]
    assert "private_address" in said["messages"][2].content


async def test_llama_index() -> None:
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    async with Web(LOCAL) as web:
        found = {tool.metadata.name: tool for tool in llama_index.tools(web)}
        assert list(found) == NAMES
        assert "url" in found["web_fetch"].metadata.to_openai_tool()["function"]["parameters"]["properties"]
        assert "private_address" in (await found["web_fetch"].acall(**BAD)).content


async def test_a_llama_index_agent_calls_them() -> None:
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.llms.mock import MockFunctionCallingLLM

    async with Web(LOCAL) as web:
        model = MockFunctionCallingLLM()
        agent = FunctionAgent(tools=llama_index.tools(web), llm=model, streaming=False)
        prepared = model._prepare_chat_with_tools(agent.tools, user_msg="read it")
        assert [tool.metadata.name for tool in prepared["tools"]] == NAMES
        handled = await agent._call_tool(None, agent.tools[1], BAD)
    assert "private_address" in handled.content


async def test_openai_agents() -> None:
    pytest.importorskip("agents", reason="openai-agents is not installed")
    async with Web(LOCAL) as web:
        found = {tool.name: tool for tool in openai_agents.tools(web)}
        assert list(found) == NAMES
        assert "private_address" in await found["web_fetch"].on_invoke_tool(None, '{"url": "http://10.0.0.7/"}')


async def test_an_openai_agent_calls_them() -> None:
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    heard: list[str] = []

    class Model(agents.Model):
        async def get_response(self, system_instructions, input, *args, **named):
            heard.extend(str(item["output"]) for item in input if isinstance(item, dict) and item.get("type") == "function_call_output")
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            said = ResponseOutputMessage(id="2", content=[text], role="assistant", status="completed", type="message")
            asked = ResponseFunctionToolCall(name="web_fetch", arguments=json.dumps(BAD), call_id="1", type="function_call")
            return agents.ModelResponse(output=[said if heard else asked], usage=agents.Usage(), response_id=None)

        def stream_response(self, *args, **named):
            raise NotImplementedError

    agents.set_tracing_disabled(True)
    async with Web(LOCAL) as web:
        agent = agents.Agent(name="reader", model=Model(), tools=openai_agents.tools(web))
        assert (await agents.Runner.run(agent, "read it")).final_output == "done"
    assert "private_address" in heard[0]


async def test_pydantic_ai() -> None:
    pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is not installed")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    heard: list[str] = []

    def model(messages, info) -> ModelResponse:
        returned = [part.content for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        heard.extend(returned)
        return ModelResponse(parts=[TextPart("done") if returned else ToolCallPart("web_fetch", BAD)])

    async with Web(LOCAL) as web:
        assert [tool.name for tool in pydantic_ai.tools(web)] == NAMES
        assert pydantic_ai.web_search(web).name == "web_search"
        assert (await Agent(FunctionModel(model), tools=pydantic_ai.tools(web)).run("read it")).output == "done"
    assert "private_address" in heard[0]


async def test_pydantic_ai_searches_with_ours_where_the_model_can_not() -> None:
    pytest.importorskip("pydantic_ai.capabilities", reason="pydantic-ai-slim is not installed")
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import WebSearch
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    offered: list[str] = []

    def model(messages, info) -> ModelResponse:
        offered.extend(tool.name for tool in info.function_tools)
        return ModelResponse(parts=[TextPart("done")])

    async with Web(LOCAL) as web:
        agent = Agent(FunctionModel(model), capabilities=[WebSearch(native=False, local=pydantic_ai.web_search(web))])
        assert (await agent.run("find it")).output == "done"
    assert offered == ["web_search"]
