"""The operator's commands: egress lists and proxy, checking an answer again, serving MCP and HTTP, keys, completion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from cormorant.errors import InvalidArguments, NotConfigured
from cormorant.surfaces.cli import emit, emit_json, run_async, tell

if TYPE_CHECKING:
    from cormorant.surfaces.tenants import Keys

JSON = click.option("--json", "as_json", is_flag=True, help="The result as JSON.")


@click.group()
def egress() -> None:
    """Where requests may go.

    \b
    cormorant egress list
    cormorant egress allow docs.python.org .example.org
    cormorant egress block tracker.example
    cormorant egress remove docs.python.org
    cormorant egress test http://10.0.0.7/           each check in order, and the rule that spoke
    """


@egress.command(name="list")
@JSON
def list_egress(as_json: bool) -> None:
    """The lists as they stand."""
    _show_lists(as_json)


def _show_lists(as_json: bool) -> None:
    from cormorant.settings import load

    rules = load().egress
    shown = {
        "allow": None if rules.allow is None else list(rules.allow),
        "block": list(rules.block),
        "allow_ranges": list(rules.allow_ranges),
        "robots": rules.robots,
    }
    if as_json:
        emit_json(shown)
        return
    for key, value in shown.items():
        words = "every public host" if value is None else ", ".join(value) if isinstance(value, list) else value
        emit(f"{key}: {words or '(none)'}")


def _extend(key: str, patterns: tuple[str, ...]) -> None:
    from cormorant.policy import Policy
    from cormorant.settings import load, write

    Policy(allow=patterns)  # a pattern that can't be read fails here, before it is written
    current = getattr(load().egress, key)
    written = write(f"egress.{key}", ",".join(dict.fromkeys([*(current or ()), *patterns])))
    tell(f"egress.{key} = {written.text} in {written.file}")
    if key == "allow" and current is None:
        tell("from now on no other host is reached; cormorant settings unset egress.allow opens all again")


LISTS = click.option("--json", "as_json", is_flag=True, help="The lists as they are then, as JSON.")


@egress.command()
@click.argument("patterns", nargs=-1, required=True)
@LISTS
def allow(patterns: tuple[str, ...], as_json: bool) -> None:
    """Add host patterns to the allow list (x.org: that host; .x.org: and everything under it).

    \b
    cormorant egress allow docs.python.org .example.org
    """
    _extend("allow", patterns)
    if as_json:
        _show_lists(as_json)


@egress.command()
@click.argument("patterns", nargs=-1, required=True)
@LISTS
def block(patterns: tuple[str, ...], as_json: bool) -> None:
    """Add host patterns to the block list, which always wins.

    \b
    cormorant egress block tracker.example
    """
    _extend("block", patterns)
    if as_json:
        _show_lists(as_json)


@egress.command()
@click.argument("patterns", nargs=-1, required=True)
@LISTS
def remove(patterns: tuple[str, ...], as_json: bool) -> None:
    """Take host patterns off both lists.

    \b
    cormorant egress remove docs.python.org
    """
    from cormorant.settings import load, write

    rules, gone = load().egress, False
    for key, current in (("allow", rules.allow or ()), ("block", rules.block)):
        left = [pattern for pattern in current if pattern not in patterns]
        if len(left) < len(current):
            gone = True
            written = write(f"egress.{key}", ",".join(left) or "[]")
            tell(f"egress.{key} = {written.text or '(none)'} in {written.file}")
            if key == "allow" and not left:
                tell("no host is reached now; cormorant settings unset egress.allow opens all public ones")
    if as_json:
        _show_lists(as_json)
    if not gone:
        tell("neither list has that")
        raise SystemExit(1)


@egress.command(name="test")
@click.argument("url")
@JSON
def test_(url: str, as_json: bool) -> None:
    """Show each check URL would pass or fail, without fetching it."""
    from cormorant.surfaces.terminal import open_web

    async def explained() -> list[dict[str, object]]:
        async with open_web() as web:
            return [{"check": check.name, "ok": check.ok, "rule": check.rule} for check in await web.explain(url)]

    checks = run_async(explained())
    if as_json:
        emit_json(checks)
    else:
        for check in checks:
            emit(f"{'ok  ' if check['ok'] else 'no  '} {check['check']}: {check['rule']}")
    if not all(check["ok"] for check in checks):
        raise SystemExit(3)


@egress.command()
def directory() -> None:
    """Print the key directory to publish, so that sites can check signed requests (Web Bot Auth).

    It belongs at /.well-known/http-message-signatures-directory of the address in egress.signing_agent.
    """
    from cormorant.settings import load
    from cormorant.transport.identity import signer_of

    signer = signer_of(load())
    if signer is None:
        raise NotConfigured("requests are not signed", remedy="cormorant settings set egress.signing_key FILE")
    emit_json(signer.directory())


@click.command(name="egress-proxy")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=3128, show_default=True, help="Port to listen on; 0 picks one.")
def egress_proxy(host: str, port: int) -> None:
    """Serve the egress rules to programs that are not ours: a browser, git, a downloader.

    \b
    cormorant egress-proxy --port 3128
    https_proxy=http://127.0.0.1:3128 git clone https://...

    Standard output has one JSON line per decision.
    """
    from cormorant.egress_proxy import EgressProxy
    from cormorant.policy import Policy
    from cormorant.settings import load

    rules = load().egress
    policy = Policy(allow=rules.allow, block=rules.block, allow_ranges=rules.allow_ranges)

    async def serve() -> None:
        import asyncio

        async with EgressProxy(policy, log=emit).serving(host, port) as bound:
            tell(f"egress proxy on {host}:{bound}, Ctrl-C stops it")
            await asyncio.Event().wait()

    run_async(serve())


@click.command()
@click.argument("answer", type=click.File("r"))
@JSON
def recheck(answer: IO[str], as_json: bool) -> None:
    """Fetch the sources of an answer again and say, citation by citation, whether they still support it.

    \b
    cormorant answer 'a question' --json > answer.json
    cormorant recheck answer.json
    """
    from cormorant.surfaces.terminal import open_web

    try:
        given = json.load(answer)
    except ValueError as error:
        raise InvalidArguments("this is no JSON", remedy="give the file that `cormorant answer --json` wrote") from error

    async def compared() -> list[dict[str, Any]]:
        async with open_web() as web:
            return await web.recheck(given)

    rows = run_async(compared())
    if as_json:
        emit_json(rows)
    for row in [] if as_json else rows:
        why = f" -- {row['reason']}" if row["reason"] else ""
        emit(f"[{row['source']}] {row['state'].replace('_', ' ')}: {row['claim']}\n    {row['url']}{why}")
    if not rows:
        tell("the answer has no citation")
    if any(row["state"] not in ("same", "changed_still_supports") for row in rows):
        raise SystemExit(1)


HOW_TO_ADD = """\
Add cormorant to an agent (any other MCP client: run the command `cormorant mcp` over stdio)

  Claude Code    claude mcp add cormorant -- cormorant mcp
  Codex          codex mcp add cormorant -- cormorant mcp
  Cursor         ~/.cursor/mcp.json
                   {"mcpServers": {"cormorant": {"command": "cormorant", "args": ["mcp"]}}}
  VS Code        code --add-mcp '{"name": "cormorant", "command": "cormorant", "args": ["mcp"]}'
  Gemini CLI     gemini mcp add cormorant cormorant mcp"""


@click.command()
@click.option("--structured", type=click.Choice(["off", "auto", "on"]), default="auto", show_default=True, help="Send structuredContent.")
@click.option("--pair", is_flag=True, help="Offer search and fetch, for clients that demand those two names.")
@click.option("--how", is_flag=True, help="Print how to add the server to an agent, and stop.")
@click.option("--record", type=click.Path(dir_okay=False), help="Write everything that comes to this WARC file as well.")
@click.option("--replay", type=click.Path(dir_okay=False), help="Take everything from this WARC file, and nothing from the network.")
def mcp(structured: str, pair: bool, how: bool, record: str | None, replay: str | None) -> None:
    """Serve the tools over MCP on standard input and output.

    \b
    claude mcp add cormorant -- cormorant mcp
    """
    if how:
        emit(HOW_TO_ADD)
        return
    try:
        from cormorant.surfaces.mcp import serve_stdio
    except ModuleNotFoundError as error:
        raise NotConfigured(f"the MCP server needs the package {error.name}", remedy="pip install 'cormorant[mcp]'") from error
    from cormorant.settings import follow
    from cormorant.web import Web

    async def serve() -> None:
        async with Web(follow(), record=record, replay=replay) as web:
            await serve_stdio(web, structured=structured, pair=pair)  # type: ignore[arg-type]

    run_async(serve())


def _server_folder(path: str) -> Path:
    if path:
        return Path(path).expanduser()
    from platformdirs import user_data_path

    return user_data_path("cormorant", appauthor=False) / "server"


@click.command()
@click.option("--host", help="Address to listen on; any other than loopback asks callers for a key.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 picks one.")
def serve(host: str | None, port: int | None) -> None:
    """Serve the tools over HTTP, with live events, MCP at /mcp and a page at /.

    \b
    cormorant serve
    curl -s localhost:8300/v1/fetch -d '{"url": "https://example.com/", "budget": 500}'
    """
    try:
        from cormorant.surfaces.http import serve as serve_http
    except ModuleNotFoundError as error:
        raise NotConfigured(f"the HTTP server needs the package {error.name}", remedy="pip install 'cormorant[serve]'") from error
    from cormorant.settings import Settings, follow

    changes = {name: value for name, value in (("host", host), ("port", port)) if value is not None}

    def as_asked(found: Settings) -> Settings:
        return found.model_copy(update={"server": found.server.model_copy(update=changes)})

    followed = follow(as_asked)
    folder = _server_folder(followed.settings.server.path)
    run_async(serve_http(followed, folder, ready=lambda url: tell(f"cormorant on {url}, Ctrl-C stops it")))


@click.group()
def key() -> None:
    """Keys of the HTTP server, each of one tenant; kept as hashes.

    \b
    cormorant key create alice        prints the key once
    cormorant key list
    cormorant key revoke 1f2e3d4c
    """


def _keys() -> Keys:
    from cormorant.settings import load
    from cormorant.surfaces.tenants import Keys

    return Keys(_server_folder(load().server.path) / "keys.json")


@key.command()
@click.argument("tenant")
@JSON
def create(tenant: str, as_json: bool) -> None:
    """Make a key for TENANT and print it; it can't be shown again.

    \b
    cormorant key create alice
    """
    made, text = _keys().create(tenant)
    if as_json:
        emit_json({"id": made.id, "tenant": tenant, "key": text})
        return
    tell(f"key {made.id} of tenant {tenant}; it is shown this once:")
    emit(text)


@key.command(name="list")
@JSON
def list_keys(as_json: bool) -> None:
    """Which keys there are."""
    rows = [{"id": one.id, "tenant": one.tenant, "created_at": one.created_at} for one in _keys().all()]
    if as_json:
        emit_json(rows)
        return
    for row in rows:
        emit(f"{row['id']}  {row['tenant']}  {row['created_at']}")
    if not rows:
        emit("(no keys)")


@key.command()
@click.argument("key_id")
@JSON
def revoke(key_id: str, as_json: bool) -> None:
    """Take a key back; it stops working at once.

    \b
    cormorant key revoke 1f2e3d4c
    """
    gone = _keys().revoke(key_id)
    if as_json:
        emit_json({"id": gone.id, "tenant": gone.tenant, "revoked": True})
        return
    tell(f"key {gone.id} of tenant {gone.tenant} revoked")


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what makes SHELL complete commands, options and their values.

    \b
    cormorant completion bash > ~/.local/share/bash-completion/completions/cormorant
    cormorant completion zsh > ~/.zfunc/_cormorant      (a folder in $fpath)
    cormorant completion fish > ~/.config/fish/completions/cormorant.fish
    """
    from click.shell_completion import get_completion_class

    from cormorant.surfaces.cli import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise InvalidArguments(f"no completion for {shell}", remedy="bash, zsh or fish")
    script = kind(cli, {}, "cormorant", "_CORMORANT_COMPLETE")
    emit(script.source_template % script.source_vars())  # `source()` would run bash to learn its version
