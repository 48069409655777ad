"""Whole pages against their golden Markdown, and one page with everything on it, checked as a Markdown reader sees it."""

from __future__ import annotations

from functools import cache

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from support_goldens import PAGES, names, read


@pytest.mark.parametrize("name", names())
def test_a_page_becomes_its_golden_markdown(name: str) -> None:
    assert read(name, "full").markdown + "\n" == (PAGES / f"{name}.md").read_text("utf-8")


@cache
def tokens() -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(read("fidelity", "full").markdown)


def shown(token: Token) -> str:
    return "".join(" " if child.type in ("softbreak", "hardbreak", "html_inline") else child.content for child in token.children or [])


def headings() -> list[tuple[str, str]]:
    return [(token.tag, shown(tokens()[at + 1])) for at, token in enumerate(tokens()) if token.type == "heading_open"]


def listings() -> list[tuple[str, str]]:
    return [(token.info, token.content) for token in tokens() if token.type == "fence"]


def rows() -> list[list[str]]:
    found: list[list[str]] = []
    for at, token in enumerate(tokens()):
        if token.type == "tr_open":
            found.append([])
        elif token.type in ("td_open", "th_open"):
            found[-1].append(shown(tokens()[at + 1]))
    return found


def links() -> list[tuple[str, str]]:
    found = []
    for token in tokens():
        for at, child in enumerate(token.children or []):
            if child.type == "link_open":
                found.append(((token.children or [])[at + 1].content, str(child.attrGet("href"))))
            elif child.type == "image":
                found.append((child.content, str(child.attrGet("src"))))
    return found


def items() -> list[tuple[int, str]]:
    found, depth, pending = [], 0, False
    for token in tokens():
        depth += (token.type in ("bullet_list_open", "ordered_list_open")) - (token.type in ("bullet_list_close", "ordered_list_close"))
        if token.type == "list_item_open":
            pending = True
        elif token.type == "inline" and pending:
            found.append((depth, shown(token)))
            pending = False
    return found


HEADINGS = [
    *(("h1", "Working the sluice"), ("h2", "Installing"), ("h2", "Tables"), ("h3", "Left"), ("h3", "Right"), ("h2", "Lists")),
    *(("h2", "Formulas"), ("h2", "Pictures"), ("h2", "Questions"), ("h3", "What if the gate jams?")),
]
LISTINGS = [
    ("python", "def fill(gate):\n    if gate.shut:\n        gate.open()\n\n\n    return gate\n"),
    ("ruby", "gate = Gate.new\ngate.shut!\n"),
    ("ts", "const a = 1\n\nconst b = `x`\n"),
    ("markdown", "# Notes\n\n```toml\nkey = 1\n```\n"),
    ("sh", "brew install sluice\n"),
    ("sh", "apt install sluice\n"),
    ("sh", "gate shut\n"),
]
ROWS = [
    ["Day", "Hours", "Note"],
    ["Monday", "09:15-12:40 14:05-18:20", "Lower Upper"],
    ["Tuesday", "07:50", "fill|drain"],
    ["Tuesday", "11:10", "all hours"],
    ["Sunday", "", "shut"],
    ["Crew", "14"],
    ["Draught", "2.1 m"],
]
LINKS = [
    ("the tide table", "https://harbour.example/manual/3/tides.html"),
    ("key list", "https://harbour.example/manual/2/keys.pdf"),
    ("the plan", "https://cdn.example/plan.svg"),
    ("the odd page", "https://files.example/a%29b/page"),
    ("all hours", "https://harbour.example/manual/3/hours.html"),
    ("North gate at low water", "https://harbour.example/manual/3/img/gate.webp"),
    ("The quay", "https://harbour.example/manual/3/img/l.jpg"),
]
ITEMS = [
    *(
        (1, "Pump room"),
        (2, "Spare seal"),
        (2, "Rope"),
        (3, "Hemp"),
        (3, "Wire"),
        (1, "Stores: the old ones first."),
        (1, "Shut the gate."),
    ),
    *(
        (1, "Wait."),
        (1, "[x] Grease the pins"),
        (1, "[ ] Paint the leaf"),
        (1, "Sill: The floor of the chamber."),
        (1, "Apron: The stone before it."),
    ),
]
TEXTS = [
    *(
        "By Ines Doyle on 4 May 2026",
        "The sluice has two leaves.  \nThe upper one is **heavy**",
        "*light*",
        "~~red~~",
        "tide_gate_level, [brackets], 2 * 3",
    ),
    *("List\\<Gate>", "10^6 Pa", "H2O.[^1]", "twice.[^2]", "[^1]: Measured in 1904.\n", "[^2]: Once in 1904, once in 1911."),
    *(
        "> **Warning**\n>\n> Never open both leaves at once.",
        "> **info**\n>\n> Ask the keeper first.",
        "**Mac**\n\n```sh",
        "**Linux**\n\n```sh",
    ),
    *(
        "`int | None`",
        "``a`b``",
        "`Ctrl`",
        "`Gate`",
        "Opening hours\n\n| Day",
        "    4. Hemp\n    5. Wire",
        "$Q = C_d A \\sqrt{2gh}$",
        "$$\n\\frac{a}{b} \\leq c^{2}\n$$",
    ),
    *(
        "$x_1 + x_2$",
        "The north gate.",
        "🙂",
        "Call the keeper.",
        "Who pays for damage?\n\nThe owner of the boat.",
        "> Wind over tide  \n> makes the bar.",
    ),
    *("First block\n\nSecond block", "The quay is open, 👩\u200d🚒 says."),
]
ABSENT = [
    *(
        "¶",
        "gate is free",
        "never shown",
        "Accept all",
        "cookies",
        "News",
        "Shop",
        "recycled",
        "base64",
        "pixel.gif",
        "Q=CdA2gh",
        "↩",
        "Copy",
        "\u200b",
    ),
    *("\u202e", "tide\\_gate", "\\[brackets", "footnotes", "<svg"),
]


@pytest.mark.parametrize("wanted", HEADINGS, ids=str)
def test_headings(wanted: tuple[str, str]) -> None:
    assert wanted in headings()


@pytest.mark.parametrize("wanted", LISTINGS, ids=str)
def test_listings_byte_for_byte_with_their_language(wanted: tuple[str, str]) -> None:
    assert wanted in listings()


@pytest.mark.parametrize("wanted", ROWS, ids=str)
def test_rows(wanted: list[str]) -> None:
    assert wanted in rows()


@pytest.mark.parametrize("wanted", LINKS, ids=str)
def test_links_and_pictures(wanted: tuple[str, str]) -> None:
    assert wanted in links()


@pytest.mark.parametrize("wanted", ITEMS, ids=str)
def test_items_at_their_depth(wanted: tuple[int, str]) -> None:
    assert wanted in items()


@pytest.mark.parametrize("wanted", TEXTS)
def test_texts(wanted: str) -> None:
    assert read("fidelity", "full").markdown.count(wanted) == 1


@pytest.mark.parametrize("unwanted", ABSENT)
def test_what_is_no_content_is_not_there(unwanted: str) -> None:
    assert unwanted not in read("fidelity", "full").markdown


def test_nothing_is_said_twice() -> None:
    assert [shown(token) for token in tokens() if token.type == "inline"].count("The north gate.") == 1
    assert len(listings()) == len(LISTINGS)
