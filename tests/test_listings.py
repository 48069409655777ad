"""What catalogues and agents read about us: the MCP registry's entry, the Agent Skill, and the lines that add the server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import cormorant
from cormorant.surfaces.cli import COMMANDS
from cormorant.surfaces.cli_operator import HOW_TO_ADD
from cormorant.tokens import counter

ROOT = Path(__file__).parents[1]
SKILLS = sorted((ROOT / "examples" / "skill").glob("*/SKILL.md"))


def test_the_registry_entry_is_what_the_registry_takes() -> None:
    """Its schema of 2025-12-11, and what its publisher checks of a PyPI package: the README names the entry."""
    entry = json.loads((ROOT / "server.json").read_text())
    assert entry["$schema"].endswith("/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 3 <= len(entry["name"]) <= 200
    assert 1 <= len(entry["description"]) <= 100
    assert 1 <= len(entry["title"]) <= 100
    (package,) = entry["packages"]
    assert entry["version"] == cormorant.__version__ == package["version"]
    assert (package["registryType"], package["identifier"], package["transport"]) == ("pypi", "cormorant", {"type": "stdio"})
    assert package["runtimeHint"]  # has to be there beside runtimeArguments
    for argument in (*package["runtimeArguments"], *package["packageArguments"]):
        assert argument["type"] in ("named", "positional")
        assert argument["value"]
        assert ("name" in argument) == (argument["type"] == "named")
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text()


def test_the_skill_is_what_agents_load() -> None:
    """The Agent Skills specification: a folder of the skill's name, and a front matter with these keys and lengths."""
    (file,) = SKILLS
    _, front, body = file.read_text().split("---\n", 2)
    facts = dict(line.split(": ", 1) for line in front.splitlines())
    assert facts.keys() <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert facts["name"] == file.parent.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", facts["name"])
    assert len(facts["name"]) <= 64
    assert len(facts["description"]) <= 1024
    assert "Use when" in facts["description"]
    assert len(facts["compatibility"]) <= 500
    assert counter("o200k_base").count(body) < 5_000
    assert len(body.splitlines()) < 500


def test_the_skill_names_commands_that_exist() -> None:
    assert set(re.findall(r"`cormorant (\w+)", SKILLS[0].read_text())) <= set(COMMANDS)


def test_the_lines_that_add_the_server_are_the_same_everywhere() -> None:
    lines = re.findall(r"^  \S.{13,14}((?:claude|codex|gemini|code) .+)$", HOW_TO_ADD, re.M)
    assert [line.split()[0] for line in lines] == ["claude", "codex", "code", "gemini"]
    for page in ("README.md", "docs/mcp.md"):
        text = (ROOT / page).read_text()
        assert [line for line in lines if line not in text] == []
    added = json.loads(next(line for line in lines if line.startswith("code ")).split("'")[1])
    assert [added["command"], *added["args"]] == ["cormorant", "mcp"]
