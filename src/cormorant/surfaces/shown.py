"""Results as a person at a terminal reads them: wrapped, numbered, with what can be typed next. Pure but for the width.

A pipe never gets these forms: it gets what every other surface gives (`as_text`). Colours are few and hold on light and
dark grounds: bold for what to look at, dim for what may be passed over, red for what failed.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from typing import Any

from cormorant.crawl import SiteMap
from cormorant.errors import CormorantError
from cormorant.results import Page, Pages, Stored
from cormorant.search import Found
from cormorant.surfaces.screen import WIDEST, as_command, cells, columns, inert, style, wrapped

_FENCE = re.compile(r"\s*(```|~~~)")
_LIST = re.compile(r"(\s*(?:[-*+•]|\d+[.)])\s+|\s*>\s?)(.*)")
_AS_IT_IS = re.compile(r"\s*\||\s{4,}\S|\s*$|\[\^?[^\]]+\]:")  # tables, indented code, references


def markdown(text: str) -> str:
    """Markdown with its paragraphs wrapped at words; code, tables and references stay as they are, headings are bold."""
    lines: list[str] = []
    fenced = False
    for line in inert_lines(text):
        if _FENCE.match(line):
            fenced = not fenced
            lines.append(style(line, dim=True))
        elif fenced or _AS_IT_IS.match(line) or cells(line) <= columns():
            lines.append(style(line, bold=True) if line.startswith("#") and not fenced else line)
        elif found := _LIST.match(line):
            hanging = " " * len(found[1]) if ">" not in found[1] else found[1]
            lines.append(wrapped(found[2], indent=hanging).replace(hanging, found[1], 1))
        else:
            lines.append(wrapped(line, indent=""))
    return "\n".join(lines)


def inert_lines(text: str) -> Iterator[str]:
    """The lines of a page's text, without what could drive the terminal."""
    return (inert(line) for line in text.split("\n"))


def page(found: Page | Stored) -> str:
    """Title, address and what is known of a page, its text, and how to read on."""
    fit = found.fit or {}
    final = found.final_url if isinstance(found, Page) else found.url
    facts: list[Any] = []
    if isinstance(found, Page):
        facts = [found.byline, found.site, found.published_at[:10], found.extract if found.extract != "plain" else "", found.outcome]
    facts = [" ".join(str(fact).split()) for fact in facts if fact and fact != "content"]
    if fit.get("page_tokens"):
        whole = fit["tokens"] == fit["page_tokens"]
        facts.append(f"{fit['tokens']:,} tokens" if whole else f"{fit['view']}, {fit['tokens']:,} of {fit['page_tokens']:,} tokens")
    head = [style(wrapped(found.title or final, indent=""), bold=True), style(inert(final), dim=True)]
    head += [style(wrapped(" · ".join(facts), indent=""), dim=True)] if facts else []
    head += [style(wrapped(f"warning: {warning}", indent=""), fg="red") for warning in getattr(found, "warnings", ())]
    tail = [wrapped(f"left out: {fit['left_out']}", indent="")] if fit.get("left_out") else []
    tail.append(as_command(inert(fit["hint"])) if fit.get("hint") else f"cormorant get {found.response_id}")
    return "\n".join([*head, "", markdown(found.content), "", *(style(line, dim=True) for line in tail)])


def hits(found: Found) -> str:
    """Numbered results, each with its address and the words that matched."""
    asked = "; ".join(found.queries) if len(found.queries) > 1 else found.query
    said = f"{found.count} results from {found.provider}" if found.results else f"nothing found by {found.provider or 'anybody'}"
    lines = [f"{style(inert(asked), bold=True)}  {style(said, dim=True)}"]
    for hit in found.results:
        lines += ["", f"{style(f'{hit.rank:>2}', bold=True)}  {style(inert(hit.title or hit.url), bold=True)}"]
        published = f"  {hit.published_at[:10]}" if hit.published_at else ""
        lines.append(style(f"    {inert(hit.url)}{published}", dim=True))
        lines += [wrapped(hit.snippet)] if hit.snippet else []
        lines += ["", markdown(hit.content)] if hit.content else []
    lines += ["", *(style(wrapped(note, indent=""), dim=True) for note in found.notes)] if found.notes else []
    for error in found.errors:
        lines.append(style(wrapped(f"{error.get('query', '')}: {error.get('code')}: {error.get('message', '')}", indent=""), fg="red"))
    if found.results:
        lines += ["", style("cormorant fetch ADDRESS reads one", dim=True)]
    return "\n".join(lines)


def pages(found: Pages) -> str:
    """Several targets: what each brought, or why not."""
    lines: list[str] = []
    for item in found.items:
        number = style(f"{item.url_index:>2}", bold=True)
        if item.page is None:
            lines += [f"{number}  {style(inert(item.url), bold=True)}"]
            lines += [wrapped(_said(item.error))] if item.error else []
        else:
            title = " ".join((item.page.title or item.page.final_url).split())
            lines += [f"{number}  {style(inert(title), bold=True)}  {style(f'{item.tokens:,} tokens', dim=True)}"]
            lines += [style(f"    {inert(item.page.final_url)}", dim=True)]
            lines += ["", markdown(item.page.content)] if item.page.content else []
        lines.append("")
    ok = sum(item.page is not None for item in found.items)
    failed = len(found.items) - ok
    lines.append(style(f"{ok} read{f', {failed} failed' if failed else ''}", dim=True))
    lines += [style(as_command(inert(note)), dim=True) for note in found.note.split("; ")]
    return "\n".join(lines)


def _said(error: CormorantError) -> str:
    return f"{error.code}: {error.message}" + (f" ({error.remedy})" if error.remedy else "")


def error(code: str, message: str, remedy: str) -> str:
    """What was asked and why not, then what allows it. A command is never wrapped: it is there to be copied."""
    width = max(20, min(shutil.get_terminal_size().columns, WIDEST))
    lines = [wrapped(line, indent="  ", width=width) for line in f"{code}: {message}".split("\n")]
    if remedy:
        said = f"  hint: {inert(remedy)}"
        lines += [said if remedy.startswith("cormorant ") else wrapped(said, indent="  ", width=width)]
    return "\n".join([lines[0].removeprefix("  "), *lines[1:]]).replace("\n  hint: ", "\nhint: ")


def text_of(result: Any) -> str:
    """The form of a result for a terminal."""
    if isinstance(result, Page | Stored):
        return page(result)
    if isinstance(result, Found):
        return hits(result)
    if isinstance(result, Pages):
        return pages(result)
    if isinstance(result, SiteMap):
        rows = ((inert(link["url"]), inert(link["title"])) for link in result.links)
        return "\n".join(url + (style(f"  {title}", dim=True) if title else "") for url, title in rows)
    return "\n".join(inert_lines(result.as_text()))
