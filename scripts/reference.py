"""Write docs/tools.md and docs/cli.md from the one list of tools and the commands' own help. `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.testing import CliRunner

from cormorant.shapes import schema
from cormorant.surfaces.cli import COMMANDS, cli
from cormorant.tools import ALIASES, TOOLS, Argument

DOCS = Path(__file__).parents[1] / "docs"
WHAT = {
    "query": "The question, or the words to look for. On web_fetch: a heading or line range it names, else the passages that answer it.",
    "queries": "Several questions at once, at most ten; one that fails does not fail the others.",
    "count": "Results per query.",
    "page": "Page of results, from 1.",
    "freshness": "Only results from the last day, week, month or year; the result says whether the backend or we applied it.",
    "language": "BCP 47, such as `en-US`.",
    "safe_search": "How strictly results are filtered.",
    "domains": "Only these hosts and what is below them; a leading `-` excludes one.",
    "provider": "The backend to ask, instead of the configured one.",
    "include_content": "Also read each result's page, within the egress rules.",
    "url": "The address to read. On web_get: the address of a stored item, exactly.",
    "urls": "Several addresses, at most 20; one that fails does not fail the others.",
    "section": "The part under a heading with the headings below it, or a line range such as `40-90`.",
    "view": "The biggest view allowed: full, section, passages, summary or stub.",
    "budget": "Tokens the whole result may cost, its header included.",
    "max_chars": "Characters at most.",
    "offset": "Where to go on reading, from an earlier result's `next_offset`.",
    "output": "Markdown, plain text, the source as it was sent, or `pretty`: JSON indented, CSV as a table.",
    "extract": "auto, readability (an article or an error), or full.",
    "max_bytes": "Bytes read of the page; what is past them is cut and said.",
    "prompt": "What the page is wanted for; kept with the result as an exact selector.",
    "links": "Also list the page's links.",
    "structured": "Also give the page's own data: JSON-LD, microdata, OpenGraph, Dublin Core.",
    "schema": "A JSON Schema: the page comes as `data` by it, each value with the excerpt it stands on, each null with the reason.",
    "cite": "Also give a citation string of the page.",
    "style": "How citations are written: `web_citation` tags, footnotes, Markdown links, plain `[n]`, or not at all.",
    "form": "In another host's form: Anthropic `search_result` blocks, OpenAI `search`/`fetch` JSON, LangChain or LlamaIndex documents.",
    "refresh": "Fetch again instead of using this session's copy.",
    "max_age": "Seconds a response kept from an earlier session may be old; unset leaves that to the site (RFC 9111).",
    "since": "A `response_id`: say what changed on the page since then.",
    "response_id": "The id an earlier result carries.",
    "url_index": "Which item of a stored call, from 0.",
    "query_index": "Which query of a stored call, from 0.",
    "find": "Texts to look for in the stored page; literal first, then without case, then fuzzy.",
    "question": "What to find out.",
    "steps": "Searches and pages read, at most.",
    "searches": "Searches at most.",
    "fetches": "Pages read at most.",
    "tokens": "Tokens read at most.",
    "seconds": "Wall time at most.",
    "search": "Only addresses with these words in them or in their title.",
    "limit": "Addresses at most.",
    "pages": "Pages read at most.",
    "depth": "Links followed from the first page.",
    "include": "Only pages whose path is like one of these: `/docs/*`, or `/docs` with all below it.",
    "exclude": "No pages whose path is like one of these.",
    "scrape": "Whether the hits' pages are read: auto reads those the egress policy allows.",
}


def tools_page() -> str:
    parts = ["# The tools", "", "One list, the same on every surface: the command line, MCP, HTTP and Python.", ""]
    for tool in TOOLS:
        parts += [f"## {tool.name}", "", tool.sentence, "", "| argument | type | what |", "|---|---|---|"]
        parts += [f"| `{a.name}` | {_type(a)} | {WHAT[a.name]} |" for a in tool.arguments]
        for shape in tool.returns:
            parts += ["", f"JSON result{_of(shape, tool.returns)}: {_fields(shape)}."]
        if tool.aliases:
            parts += ["", f"Also answers to {', '.join(f'`{name}`' for name in tool.aliases)}."]
        parts.append("")
    parts += ["## Other spellings", "", "camelCase is snake_case, and the names other products use are read too:", ""]
    for ours in sorted(set(ALIASES.values())):
        theirs = ", ".join(f"`{name}`" for name, meant in ALIASES.items() if meant == ours)
        parts.append(f"- `{ours.removeprefix('-')}`{' with each entry excluded' if ours.startswith('-') else ''}: {theirs}")
    return "\n".join(parts) + "\n"


def _of(shape: type, shapes: tuple[type, ...]) -> str:
    """Which of several results it is, as its docstring says."""
    return f", {(shape.__doc__ or '').partition('` ')[2].rstrip('.')}" if len(shapes) > 1 else ""


def _fields(shape: type) -> str:
    found = schema(shape)
    always = ", ".join(f"`{name}`" for name in found["required"])
    at_times = ", ".join(f"`{name}`" for name in found["properties"] if name not in found["required"])
    return always + (f"; where there is something to say, {at_times}" if at_times else "")


def _type(argument: Argument) -> str:
    if argument.choices:
        return ", ".join(f"`{choice}`" for choice in argument.choices)
    bounds = "" if argument.most is None else f", {argument.least} to {argument.most:,}"
    return {"strings": "list of strings"}.get(argument.kind, argument.kind) + bounds


def cli_page() -> str:
    parts = ["# On the command line", "", _help([]), ""]
    parts += [
        "Exit codes: 0 ok, 1 nothing found, 2 usage, 3 refused, 4 unreachable, 5 not content, 6 backend failed. Results go to",
        "standard output, progress and errors to standard error, so that a pipe gets results alone.",
        "",
    ]
    for name in COMMANDS:
        parts += [f"## {name}", "", _help([name]), ""]
        command = cli.get_command(click.Context(cli), name)
        if isinstance(command, click.Group):
            for sub in command.list_commands(click.Context(command)):
                parts += [f"### {name} {sub}", "", _help([name, sub]), ""]
    return "\n".join(parts)


def _help(words: list[str]) -> str:
    shown = CliRunner().invoke(cli, [*words, "--help"], prog_name="cormorant", terminal_width=100)
    return f"```text\n{shown.output.rstrip()}\n```"


def main() -> int:
    stale = []
    for name, text in (("tools.md", tools_page()), ("cli.md", cli_page())):
        path = DOCS / name
        if "--check" in sys.argv:
            stale += [name] if not path.exists() or path.read_text() != text else []
        else:
            path.write_text(text)
    if stale:
        print(f"out of date: {', '.join(stale)}; run python scripts/reference.py")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
