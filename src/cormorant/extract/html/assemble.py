"""Blocks of Markdown that are finished, and how they stand below one another. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_INTERRUPTS = re.compile(r"(?:[-*+]|1[.)]) ")  # another number may not follow a paragraph without a blank line (CommonMark 5.3)
_DEEP = "\n" + 60 * " "  # a list that far in goes no further: nobody counts, and the text would grow with the square of the depth
_LATER_LINES = re.compile(r"\n(?=[^\n])")


@dataclass(slots=True)
class Block:
    """`kind`: p, heading, code, list, item, quote, table, rule, note, math. `raw`: the code inside a fence; a formula on one line."""

    kind: str
    text: str
    raw: str = ""


def joined(blocks: list[Block]) -> str:
    """Blocks one below the other, a blank line between, none between items of one list."""
    out: list[str] = []
    before = ""
    for block in blocks:
        if not block.text:
            continue
        if out:
            out.append("\n" if before == "item" and block.kind == "item" else "\n\n")
        out.append(block.text)
        before = block.kind
    return "".join(out)


def item(blocks: list[Block], mark: str) -> str:
    """A list item: the mark, then its blocks indented to the mark's width; a list inside follows without a blank line."""
    pad = " " * len(mark)
    out: list[str] = []
    before = ""
    for block in blocks:
        if not block.text:
            continue
        if out:
            tight = (
                block.kind in ("list", "item") and before in ("p", "heading", "list", "item") and _INTERRUPTS.match(block.text) is not None
            )
            out.append(f"\n{pad}" if tight else f"\n\n{pad}")
        deep = block.kind in ("list", "item") and _DEEP in block.text
        out.append(block.text if deep else _LATER_LINES.sub("\n" + pad, block.text))
        before = block.kind
    return mark + "".join(out) if out else ""


def quoted(text: str) -> str:
    """Every line behind `>`."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def one_list(blocks: list[Block]) -> list[Block]:
    """The blocks of a list as one: what stands between items without being one belongs to the item before."""
    items: list[Block] = []
    lead: list[Block] = []
    for block in blocks:
        if block.kind == "item":
            items.append(block)
        elif items:
            pad = " " * (len(items[-1].text) - len(items[-1].text.lstrip("-0123456789. "))) or "  "
            pad = pad if len(pad) <= 6 else "  "
            glue = "\n" if block.kind == "list" else "\n\n"
            items[-1].text += glue + pad + re.sub(r"\n(?=[^\n])", "\n" + pad, block.text)
        else:
            lead.append(block)
    return [*lead, Block("list", joined(items))] if items else lead


def definition_blocks(blocks: list[Block], *, plain: bool) -> list[Block]:
    """`- **term**: meaning` where meanings are short, else the term in bold and its blocks below it."""
    simple = all(block.kind in ("term", "definition") and block.raw == "simple" for block in blocks)
    found: list[Block] = []
    terms: list[str] = []
    for block in blocks:
        text = block.text
        if block.kind == "term":
            text = text.removesuffix(":") if simple and not plain else text  # javadoc and Sphinx set the colon themselves
            terms.append(text if plain or text.startswith(("**", "`")) or "\n" in text or block.raw != "simple" else f"**{text}**")
            continue
        if not simple:
            found += [Block("p", term) for term in terms] + [Block("p", text)]
        elif terms:
            found.append(Block("item", item([Block("p", f"{', '.join(terms)}: {text}")], "- ")))
        elif found:
            found[-1].text += "\n\n  " + text.replace("\n", "\n  ") if found[-1].kind == "item" else ""
        else:
            found.append(Block("p", text))
        terms = []
    found += [Block("p", term) for term in terms]
    if simple and found and all(block.kind == "item" for block in found):
        return [Block("list", joined(found))]
    return found
