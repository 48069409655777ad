"""Faces of the one tool list: terminal, MCP, HTTP. Each imports its own framework; nobody imports them."""
