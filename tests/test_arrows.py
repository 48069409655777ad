"""A room imports only rooms below it. The table is the architecture."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "cormorant"
ROOMS = [  # top to bottom; a room imports from lower lines only, and from itself
    ("surfaces", "adapters"),
    ("blocking",),
    ("web",),
    ("session",),
    ("backends",),
    ("capabilities", "fetching", "fitting"),
    ("research", "drift", "crawl"),
    ("answer",),
    ("choice",),
    ("client", "providers", "rank", "judges", "writers"),
    ("fields",),
    ("verify", "library", "github"),
    ("parts", "extract", "models"),
    ("egress_proxy", "robots", "tape"),
    ("cache",),
    ("transport",),
    ("store", "view"),
    ("passages", "hits", "hosted", "tools"),
    ("tokens", "search", "gates", "ledger", "audit", "events", "find", "changes", "results", "secrets"),
    ("citations", "forms", "sse"),
    ("blocks",),
    ("policy",),
    ("document", "alternates", "background", "pictures"),
    ("address", "settings", "shapes", "words"),
    ("errors",),
]
DEPTH = {room: depth for depth, line in enumerate(ROOMS) for room in line}
FILES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def rooms_imported(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = (node.module or "").split(".")
            if module[0] == "cormorant":
                found |= {module[1]} if len(module) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("cormorant.")}
    return {room for room in found if not room.startswith("__")}


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_imports_point_down(file: Path) -> None:
    room = room_of(file)
    if room.startswith("__"):
        return
    for imported in rooms_imported(ast.parse(file.read_text())) - {room}:
        assert DEPTH[imported] > DEPTH[room], f"{room} imports {imported}"


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_every_module_says_what_it_is_for(file: Path) -> None:
    assert ast.get_docstring(ast.parse(file.read_text()))
