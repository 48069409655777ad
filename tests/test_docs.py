"""The documentation has a heading for everything a user can name, and its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cormorant import errors
from cormorant.tools import TOOLS

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
ABSTRACT = {"cormorant_error", "refused", "unreachable", "not_content", "unreadable", "not_held", "backend_failed"}


def headings(page: str) -> set[str]:
    return set(re.findall(r"^#+ `?([^`\n]+?)`?$", (DOCS / page).read_text(), re.M))


def codes() -> list[str]:
    def below(kind: type[errors.CormorantError]) -> list[type[errors.CormorantError]]:
        return [kind, *(leaf for sub in kind.__subclasses__() for leaf in below(sub))]

    ours = {kind("").code for kind in below(errors.CormorantError) if kind.__module__ == "cormorant.errors"}
    return sorted(ours - ABSTRACT)


@pytest.mark.parametrize("code", [*codes(), "unauthorized"])  # the last one is HTTP's own
def test_every_error_has_its_heading_and_its_fix(code: str) -> None:
    assert code in headings("errors.md")
    what, _, fix = (DOCS / "errors.md").read_text().partition(f"### {code}\n")[2].partition("\n#")[0].partition("\n**Fix:** ")
    assert what.strip().endswith(".")
    assert len(fix.split()) >= 3


@pytest.mark.parametrize("tool", TOOLS, ids=lambda t: t.name)
def test_every_tool_and_argument_has_its_place(tool) -> None:
    text = (DOCS / "tools.md").read_text()
    assert tool.name in headings("tools.md")
    section = text.split(f"## {tool.name}\n")[1].split("\n## ")[0]
    for argument in tool.arguments:
        assert f"`{argument.name}`" in section


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_in_the_navigation() -> None:
    nav = (DOCS.parent / "zensical.toml").read_text()
    assert {page.name for page in PAGES} == set(re.findall(r'"([\w-]+\.md)"', nav))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_map_for_models_names_every_page(page: Path) -> None:
    assert page.name == "index.md" or f"]({page.name})" in (DOCS / "llms.txt").read_text()


def python_examples() -> list[tuple[str, str]]:
    return [
        (f"{page.stem}-{n}", code)
        for page in [*PAGES, DOCS.parent / "README.md"]
        for n, code in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S))
    ]


@pytest.mark.parametrize(("name", "code"), python_examples(), ids=lambda v: v if "\n" not in v else "")
def test_every_python_example_compiles(name: str, code: str) -> None:
    compile(code, name, "exec", flags=0x2000)  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT: examples await at the top
