"""Every recipe of the cookbook runs, against pages on this machine, and prints what it says."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from cormorant.settings import of
from support_net import answer, serving
from support_server import running

pytestmark = pytest.mark.anyio

TEXT = (Path(__file__).parents[1] / "docs" / "cookbook.md").read_text()
RECIPES = re.findall(r"^## (\d+)\. ([^\n]+)\n.*?^```python\n(.*?)^```", TEXT, re.M | re.S)
INSTALL = "<h2>Install</h2><p>To install it, run the installer and restart the gauge.</p>"
GUIDE = f"<title>Guide</title><main><h1>Guide</h1>{INSTALL}<h2>Use</h2>{'<p>Read the tide at six each day.</p>' * 90}</main>"
PRINTS = {
    "1": "run the installer",
    "2": "Install",
    "3": "A dinghy is a small boat",
    "4": "['Boats']",
    "5": "private_address",
    "6": "cormorant egress allow elsewhere.example",
    "7": "addresses with a query stay here",
    "8": "small boat",
    "9": "{",
    "10": "tool_end",
}


def test_there_are_ten() -> None:
    assert [number for number, _, _ in RECIPES] == list(PRINTS)


@pytest.mark.parametrize(("number", "code"), [(number, code) for number, _, code in RECIPES], ids=[title for _, title, _ in RECIPES])
async def test_the_recipe_runs(number, code, tmp_path, capsys) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "boats.md").write_text("# Boats\n\nA dinghy is a small boat that is rowed or sailed.\n")
    own = {"egress": {"allow_ranges": ["127.0.0.0/8"]}, "store": {"path": "memory"}, "search": {"keyless": False}}
    page = answer(200, GUIDE, {"content-type": "text/html"})
    async with serving({"/robots.txt": answer(404, ""), "*": page}) as site, running(tmp_path) as http:
        names = {
            "settings": of(own | {"library": {"path": str(tmp_path / "own.db")}}),
            "url": site.url("/guide", host="127.0.0.1"),
            "folder": str(tmp_path / "pages"),
            "server": str(http.base_url),
        }
        exec("from cormorant import Web", names)
        ran = eval(compile(code, f"recipe {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
        if inspect.isawaitable(ran):
            await ran
    assert PRINTS[number] in capsys.readouterr().out


def test_the_map_for_models_leads_to_pages_that_are_there() -> None:
    docs = Path(__file__).parents[1] / "docs"
    pages = re.findall(r"\]\(([^)]+)\)", (docs / "llms.txt").read_text())
    assert len(pages) > 10
    assert all((docs / page).is_file() for page in pages)
