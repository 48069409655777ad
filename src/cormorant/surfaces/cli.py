"""The command line. stdout carries results and nothing else; progress and errors go to stderr.

Importing this module brings click alone: each command imports what it needs when it runs, because agents shell out a
lot and pay the start every time.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Coroutine
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cormorant import __version__
from cormorant.errors import CormorantError, InvalidArguments, NotConfigured

if TYPE_CHECKING:
    from cormorant.tools import Argument, Tool

SECTIONS = {  # how the help groups them, by the first of each
    "search": "Find and read",
    "index": "Your own pages",
    "mcp": "Serve agents and programs",
    "egress": "Rules and settings",
}
COMMANDS = {  # name -> (module, attribute, one line of help); the tools come first
    "search": ("", "web_search", "Find sources for a question."),
    "fetch": ("", "web_fetch", "Read a page or document as Markdown."),
    "get": ("", "web_get", "Read more of an earlier result."),
    "answer": ("", "web_answer", "Answer a question with checked citations."),
    "research": ("", "research", "Find out, step by step, with sources."),
    "map": ("", "web_map", "List the pages of a site."),
    "crawl": ("", "web_crawl", "Read a page and those it leads to."),
    "recheck": ("cormorant.surfaces.cli_operator", "recheck", "Whether an answer's sources still support it."),
    "index": ("cormorant.surfaces.cli_index", "index", "Keep your own pages searchable."),
    "mcp": ("cormorant.surfaces.cli_operator", "mcp", "Serve the tools to an agent over MCP."),
    "serve": ("cormorant.surfaces.cli_operator", "serve", "Serve the tools over HTTP, with live events."),
    "key": ("cormorant.surfaces.cli_operator", "key", "Keys of the HTTP server."),
    "egress": ("cormorant.surfaces.cli_operator", "egress", "Where requests may go, and why not."),
    "egress-proxy": ("cormorant.surfaces.cli_operator", "egress_proxy", "Serve the egress rules to other programs."),
    "settings": ("cormorant.surfaces.cli_settings", "settings", "Show and change settings."),
    "secret": ("cormorant.surfaces.cli_settings", "secret", "Keep a key, read from standard input."),
    "doctor": ("cormorant.surfaces.cli_doctor", "doctor", "What this install can do, and why not the rest."),
    "completion": ("cormorant.surfaces.cli_operator", "completion", "Completion for bash, zsh or fish."),
}
RESERVED = {  # names that are kept free, and what does their work today
    "browser": ("no browser is part of this version", "cormorant fetch reads pages without one; data in their scripts is read too"),
    "replay": ("a recorded session is played by the command that is to see it", "cormorant fetch URL --replay FILE"),
}
SHORT = {"setting": "settings", "secrets": "secret"}
EXAMPLES = {
    "web_search": ("cormorant search 'http caching headers'", "cormorant search sqlite wal --domains sqlite.org --count 3 --json"),
    "web_fetch": (
        "cormorant fetch https://example.com/guide",
        "cormorant fetch https://example.com/guide --budget 1000 --query 'how to install'",
        "cat urls.txt | cormorant fetch - --json",
        "cormorant fetch https://example.com/map.png -o map.png",
        "cormorant fetch ./report.pdf --section Results --body",
        "cormorant fetch https://example.com/kettle --schema product.json --json",
    ),
    "web_get": ("cormorant get 0123456789abcdef0123456789abcdef --section API", "cormorant get ID --find timeout --budget 500"),
    "research": ("cormorant research 'how do asyncio task groups differ from gather, and since when?' --fetches 6",),
    "web_map": (
        "cormorant map https://docs.example.com/",
        "cormorant map https://docs.example.com/ --search install --limit 10 | cormorant fetch - --budget 4000",
    ),
    "web_crawl": (
        "cormorant crawl https://docs.example.com/ --pages 50 --include '/guide/*'",
        "cormorant crawl https://docs.example.com/ --depth 1 --budget 8000",
    ),
    "web_answer": ("cormorant answer 'what does asyncio.TaskGroup do on an exception?'",),
}

HELP = {  # what a person wants to read beside an option; a model pays for every word, so its schema has less
    "count": "Results per query",
    "page": "Page of results",
    "freshness": "Not older than that",
    "language": "Language of the results, such as en-US",
    "safe_search": "How strictly results are filtered",
    "domains": "Only this host and what is below it; -HOST leaves it out",
    "provider": "Search backend to ask (cormorant doctor lists them)",
    "include_content": "Read each result's page too.",
    "query": "What you want to know: picks the passages that answer it",
    "section": "One part of the page: a heading, or lines 40-90",
    "view": "The biggest view to show",
    "budget": "Tokens the result may cost",
    "max_chars": "Characters at most",
    "offset": "Go on at this character",
    "output": "Markdown, plain text, the source as it was sent, or pretty: JSON indented, CSV as a table",
    "extract": "auto, the article alone, or everything",
    "max_bytes": "Bytes to read of the page",
    "prompt": "What the page is for; kept with the result",
    "links": "List the page's links too.",
    "structured": "The page's own data too: JSON-LD, microdata, OpenGraph, Dublin Core.",
    "schema": "JSON by this JSON Schema, a file or the JSON itself: each value with the excerpt it stands on",
    "cite": "How the page is cited",
    "style": "How citations look in the answer's JSON, and in its text",
    "form": "In another host's form, as JSON",
    "refresh": "Fetch again, whatever was kept.",
    "max_age": "Seconds a kept page may be old",
    "since": "The id of an earlier result: say what changed",
    "url": "The address of one item of a stored call",
    "url_index": "Which item of a stored call, from 0",
    "query_index": "Which query of a stored call, from 0",
    "find": "Text to look for in the stored page",
    "scrape": "Whether the hits' pages are read",
    "steps": "Searches and pages read, at most",
    "searches": "Searches at most",
    "fetches": "Pages read at most",
    "tokens": "Tokens read at most",
    "seconds": "Time at most",
    "search": "Only those with these words in address or title",
    "limit": "Addresses at most",
    "pages": "Pages at most",
    "depth": "Links to follow from the first page",
    "include": "Only paths like this ('/docs/*')",
    "exclude": "No paths like this",
}


class Commands(click.Group):
    """Commands by name, imported when they are asked for; a bare address is `fetch`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = SHORT.get(cmd_name, cmd_name)
        if cmd_name in RESERVED:
            return click.Command(
                cmd_name, callback=lambda: _refuse(cmd_name), context_settings={"ignore_unknown_options": True}, params=[_ANYTHING]
            )
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        if module:
            command: click.Command = getattr(import_module(module), attribute)
            return command
        from cormorant.tools import BY_NAME

        return tool_command(cmd_name, BY_NAME[attribute])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and "://" in args[0]:
            args = ["fetch", *args]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        sections: list[tuple[str, list[tuple[str, str]]]] = []
        for name, (_, _, line) in COMMANDS.items():
            if name in SECTIONS:
                sections.append((SECTIONS[name], []))
            sections[-1][1].append((name.ljust(width), line))
        for title, rows in sections:
            with formatter.section(title):
                formatter.write_dl(rows)


_ANYTHING = click.Argument(["rest"], nargs=-1, expose_value=False)


def _refuse(name: str) -> None:
    why, remedy = RESERVED[name]
    raise NotConfigured(f"cormorant {name}: {why}", remedy=remedy)


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="cormorant")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Web access for people and agents: search, fetch, read, answer.

    \b
    cormorant https://example.com/page  a page as Markdown
    cormorant answer 'a question'       an answer, checked
    cormorant index add ./docs          your pages, searchable
    cormorant mcp                       the same for an agent
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def tool_command(name: str, tool: Tool) -> click.Command:
    """The command of one tool, made from its arguments."""
    params: list[click.Parameter] = [_parameter(argument) for argument in tool.arguments if argument.name not in ("urls", "queries")]
    params.append(click.Option(["--json", "as_json"], is_flag=True, help="The result as JSON."))
    if tool.method in ("fetch", "get"):
        params.append(click.Option(["--body"], is_flag=True, help="The page's text alone, without the header."))
        save = click.Path(dir_okay=False, writable=True)
        params.append(click.Option(["-o", "--save"], type=save, metavar="FILE", help="Write the page's text, or the image, to this file."))
    if tool.method in ("answer", "research"):
        params.append(click.Option(["--stream"], is_flag=True, help="Every event as a JSON line {event, data}."))
    if tool.method == "research":
        agent = click.Path(exists=True, dir_okay=False)
        params.append(click.Option(["--agent"], type=agent, metavar="FILE", help="An agent file: its model, tools, budgets, instructions."))
    if tool.open_world:
        tape = click.Path(dir_okay=False)
        params.append(click.Option(["--record"], type=tape, help="Write everything that comes to this WARC file as well."))
        params.append(click.Option(["--replay"], type=tape, help="Take everything from this WARC file, and nothing from the network."))
    examples = "\n".join(("\b", "Examples:", *(f"  {line}" for line in EXAMPLES[tool.name])))
    return click.Command(
        name,
        params=params,
        callback=lambda **given: _run_tool(tool, given),
        help=f"{tool.sentence}\n\n{examples}",
        short_help=COMMANDS[name][2],
    )


def _parameter(argument: Argument) -> click.Parameter:
    if argument.positional:
        return click.Argument([argument.name], nargs=-1, required=True)
    kind: Any = click.Choice(argument.choices, case_sensitive=False) if argument.choices else click.STRING
    flag = "--" + argument.name.replace("_", "-")
    said = HELP.get(argument.name, argument.help)
    if argument.kind == "boolean":
        return click.Option([flag, argument.name], is_flag=True, default=None, help=said)
    if argument.kind == "integer":
        bounds = "" if argument.most is None else f"{argument.least} to {argument.most:,}"
        return click.Option(
            [flag, argument.name], type=click.STRING, metavar="N", help=", ".join(part for part in (said, bounds) if part) + "."
        )
    if argument.kind == "object":
        return click.Option([flag, argument.name], metavar="FILE", help=f"{said}.")
    if argument.kind == "strings":
        return click.Option([flag, argument.name], multiple=True, type=kind, help=f"{said}; may be repeated.".lstrip("; "))
    return click.Option([flag, argument.name], type=kind, help=f"{said}." if said else "")


def _run_tool(tool: Tool, given: dict[str, Any]) -> None:
    as_json, body, stream = (given.pop(key, False) for key in ("as_json", "body", "stream"))
    options = {"agent": given.pop("agent")} if given.get("agent") else {}
    given.pop("agent", None)
    tape = {key: given.pop(key, None) for key in ("record", "replay")}
    save = given.pop("save", None)
    arguments = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    arguments = {name: value for name, value in arguments.items() if value not in (None, [], "")}
    _place_positional(tool, arguments)
    arguments |= {a.name: _from_file(str(arguments[a.name])) for a in tool.arguments if a.kind == "object" and a.name in arguments}
    from cormorant.surfaces.terminal import run_tool

    code = run_async(run_tool(tool, arguments, as_json=as_json, body=body, stream=stream, tape=tape, options=options, save=save))
    if code:
        raise SystemExit(code)


def _from_file(given: str) -> str:
    """The text of a file, or JSON that was written on the command line itself."""
    if given.lstrip().startswith("{"):
        return given
    try:
        return Path(given).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArguments(f"{given} can't be read: {error}", remedy="give a file with a JSON Schema, or the JSON itself") from error


def _place_positional(tool: Tool, arguments: dict[str, Any]) -> None:
    """Words of a question are one query; several addresses are several targets; `-` reads them from standard input."""
    name = next(a.name for a in tool.arguments if a.positional)
    words = arguments.get(name, [])
    if words == ["-"]:
        lines = [line.strip() for line in sys.stdin.read().splitlines()]
        words = [line for line in lines if line and not line.startswith("#")]
        if not words:
            raise InvalidArguments("nothing on standard input", remedy=f"printf '%s\\n' VALUE | cormorant {tool.method} -")
        if tool.method == "search" and len(words) > 1:
            arguments.pop(name)
            arguments["queries"] = words
            return
    if not any(word.strip() for word in words):
        raise InvalidArguments(f"cormorant {tool.method} needs {name.upper()}, and it is empty", remedy=EXAMPLES[tool.name][0])
    if tool.method == "fetch":
        arguments[name] = words if len(words) > 1 else words[0]
    else:
        arguments[name] = " ".join(words)


def run_async(work: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end; Ctrl-C cancels the work, which cleans up, and then ends the program."""
    import asyncio

    return asyncio.run(work)


def emit(text: str) -> None:
    """One result on stdout."""
    click.echo(text)


def emit_json(value: Any) -> None:
    """One result on stdout, as JSON that a person can read too."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def tell(text: str, *, err: bool = True) -> None:
    """A line for the person, on stderr."""
    click.echo(text, err=err)


def fail(error: CormorantError, *, as_json: bool = False) -> int:
    """Show one error; returns the exit code."""
    if as_json:
        emit_json({"error": error.as_dict()})
    text = "\n".join((f"{error.code}: {error.message}", f"hint: {error.remedy}" if error.remedy else "")).rstrip()
    if sys.stderr.isatty():  # a pipe gets each on a line of its own, for whoever matches on it
        from cormorant.surfaces import shown

        text = shown.error(error.code, error.message, error.remedy)
        for label, how in ((f"{error.code}:", {"fg": "red", "bold": True}), ("hint:", {"bold": True})):
            text = text.replace(label, click.style(label, **how) if not os.environ.get("NO_COLOR") else label, 1)
    tell(text)
    return error.exit_code


def misused(error: click.ClickException) -> InvalidArguments:
    """What click has to say about a command line, in our one shape: what was wrong, then what would be right."""
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else "cormorant"
    hint = f"{path} --help"
    said = error.format_message().rstrip(".")
    if isinstance(error, click.MissingParameter) and error.param is not None:
        said = f"{path} needs {error.param.make_metavar(ctx).rstrip('.') if ctx else error.param.name}"
        lines = (line.strip() for line in (ctx.command.help or "").splitlines()) if ctx else ()
        hint = next((line for line in lines if line.startswith(f"{path} ")), hint)
    elif found := re.match(r"No such command '([^']*)'", said):
        hint = _meant(found[1], ctx) or hint
        said = f"there is no command {found[1]!r}" + (f" in {path}" if path != "cormorant" else "")
    elif isinstance(error, click.NoSuchOption):
        said = f"{path} has no option {error.option_name}"
        hint = f"did you mean {' or '.join(sorted(error.possibilities))}?" if error.possibilities else hint
    return InvalidArguments(said[:1].lower() + said[1:] if not said.startswith("cormorant") else said, remedy=hint)


def _meant(word: str, ctx: click.Context | None) -> str:
    """The command that was probably meant: one spelled nearly so, or `fetch` for what looks like an address or a file."""
    from difflib import get_close_matches

    group = ctx.command if ctx and isinstance(ctx.command, click.Group) else cli
    path = ctx.command_path if ctx else "cormorant"
    if near := get_close_matches(word, [*group.list_commands(ctx or click.Context(cli)), *SHORT], n=1):
        return f"did you mean {path} {near[0]}?"
    if os.path.exists(word) and group is cli:
        return f"did you mean cormorant fetch {word if word.startswith(('.', '/')) else './' + word}?"
    if re.match(r"[\w-]+(\.[\w-]+)+(:\d+)?(/|$)", word) and group is cli:
        return f"did you mean cormorant https://{word}?"
    return f"did you mean cormorant answer {word!r}?" if " " in word and group is cli else ""


def main(argv: list[str] | None = None) -> None:
    """The entry point: exit codes of the contract, never a traceback for what a caller did."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _ran(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left: nothing more to say, and no noise
        code = 0
    sys.exit(code)


def _ran(arguments: list[str]) -> int:
    """Run the command; whatever it raises becomes words on stderr and an exit code."""
    try:
        done = cli.main(args=arguments, prog_name="cormorant", standalone_mode=False)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        tell("stopped")
        return 130
    except click.ClickException as error:
        return fail(misused(error), as_json="--json" in arguments)
    except CormorantError as error:
        return fail(error, as_json="--json" in arguments)
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get("CORMORANT_DEBUG"):
            raise
        tell(f"internal: {type(error).__name__}: {error}\nhint: this is a bug of ours; run again with CORMORANT_DEBUG=1 for the details")
        return 6
    return done if isinstance(done, int) else 0


if __name__ == "__main__":
    main()
