"""How MCP clients in use say hello, as their logs, tests and trackers show it in public; versions are those of the log.

Names and capabilities also by the npm package mcp-client-capabilities 0.0.14 (Apify, Apache-2.0). Extra keys, capabilities
of the wrong type and ids from 0 on are what they really send.
"""

from __future__ import annotations

from typing import Any

UI = {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}


def _hello(protocol: str, capabilities: dict[str, Any], **client: str) -> dict[str, Any]:
    return {"protocolVersion": protocol, "capabilities": capabilities, "clientInfo": client}


HELLOS = {  # by the `initialize` handshake
    "Claude Desktop, early": _hello("2024-11-05", {}, name="claude-ai", version="0.1.0"),
    "Claude Desktop": _hello("2025-06-18", {"extensions": UI}, name="claude-ai", version="0.1.0"),
    "Claude Code 1": _hello("2025-06-18", {"roots": {}}, name="claude-code", version="1.0.61"),
    "Claude Code 2": _hello(
        "2025-11-25",
        {"roots": {"listChanged": True}, "elicitation": {}},
        name="claude-code",
        title="Claude Code",
        version="2.1.221",
        description="Anthropic's agentic coding tool",
        websiteUrl="https://claude.com/claude-code",
    ),
    "Cursor, early": _hello(
        "2024-11-05",
        {"tools": True, "prompts": False, "resources": True, "logging": False, "roots": {"listChanged": False}},
        name="cursor-vscode",
        version="1.0.0",
    ),
    "Cursor": _hello("2025-11-25", {"roots": {"listChanged": False}}, name="cursor-vscode", version="1.0.0"),
    "VS Code": _hello(
        "2025-11-25",
        {
            "roots": {"listChanged": True},
            "sampling": {},
            "elicitation": {"form": {}, "url": {}},
            "tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}}},
            "extensions": UI,
        },
        name="Visual Studio Code",
        version="1.140.0",
    ),
    "Codex": _hello("2025-06-18", {"elicitation": {"form": {}, "url": {}}}, name="codex-mcp-client", title="Codex", version="0.145.0"),
    "Gemini CLI": _hello("2025-06-18", {"roots": {"listChanged": True}}, name="gemini-cli-mcp-client", version="0.0.1"),
    "Zed": _hello("2025-03-26", {}, name="Zed", version="1.21.0+stable.362"),
    "Windsurf": _hello("2025-03-26", {}, name="windsurf-client", version="1.0.0"),
    "Goose": _hello(
        "2025-11-25",
        {"extensions": UI, "roots": {}, "sampling": {}, "elicitation": {}},
        name="goose-desktop",
        version="0.0.0",
    ),
    "ChatGPT, by handshake": _hello("2025-06-18", {}, name="openai-mcp", version="1.0.0"),
    "opencode": _hello("2025-06-18", {}, name="opencode", version="0.5.13"),
    "the official TypeScript client, 2025-11-25": _hello("2025-11-25", {}, name="mcp", version="0.1.0"),
    "one from the future": _hello("2099-01-01", {"x": {"y": 1}}, name="next", version="9"),
    "one that wants structure": _hello("2025-06-18", {"experimental": {"cormorant/structured": {}}}, name="code", version="1"),
}

META = "io.modelcontextprotocol/"
MODERN = {  # since 2026-07-28 there is no hello: every request says who asks
    "ChatGPT": {
        META + "clientInfo": {"name": "openai-mcp", "version": "1.0.0"},
        META + "protocolVersion": "2026-07-28",
        META + "clientCapabilities": {"extensions": UI, "experimental": {"openai/visibility": {"enabled": True}}},
        "openai/userAgent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0.0.0",
        "openai/userLocation": {"city": "Oslo", "country": "NO", "latitude": "59.9"},
    },
    "Goose": {
        META + "clientInfo": {"name": "goose-cli", "version": "1.50.0"},
        META + "protocolVersion": "2026-07-28",
        META + "clientCapabilities": {"sampling": {}, "elicitation": {}},
        "agent-session-id": "20260914_1",
    },
    "one without a name": {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}},
    "one that wants structure": {
        META + "protocolVersion": "2026-07-28",
        META + "clientCapabilities": {"extensions": {"cormorant/structured": {}}},
    },
}
