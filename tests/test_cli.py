"""The command line as a person meets it: results on stdout, words on stderr, exit codes of the contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support_canary import CANARY

PAGE = (
    "<title>Boats</title><main><h1>Boats</h1><p>A dinghy is a small boat that is rowed or sailed.</p><h2>Care</h2><p>Varnish it.</p></main>"
)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "boats.html").write_text(PAGE)
    (tmp_path / "pages" / "tides.md").write_text("# Tides\n\nHigh water is at six in the morning.\n")
    return tmp_path


def run(here: Path, *words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    homes = {name: str(here / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "PYTHONPATH")} | {"COHERE_API_KEY": CANARY}
    command = [sys.executable, "-W", "error", "-m", "cormorant", *words]
    return subprocess.run(
        command, cwd=here, env={**kept, **homes, **environment}, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


def test_version_and_help_bring_nothing_heavy(here) -> None:
    assert run(here, "--version").stdout.startswith("cormorant, version ")
    probe = (
        "import sys, cormorant.surfaces.cli; print([m for m in ('pydantic', 'rich', 'selectolax', 'mcp', 'asyncio') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    helped = run(here, "--help")
    assert "Usage: cormorant" in helped.stdout
    assert max(len(line) for line in helped.stdout.splitlines()) <= 100


@pytest.mark.parametrize(
    "command",
    [
        *("search", "fetch", "get", "answer", "research", "map", "crawl", "recheck", "index"),
        *("egress", "egress-proxy", "settings", "secret", "doctor", "mcp", "serve", "key", "completion"),
    ],
)
def test_every_command_has_help_with_an_example(here, command) -> None:
    helped = run(here, command, "--help")
    assert helped.returncode == 0
    assert "Usage: cormorant" in helped.stdout
    assert command in ("doctor", "secret") or "cormorant " in helped.stdout.split("\n", 1)[1]


def test_a_file_is_read_into_markdown(here) -> None:
    read = run(here, "fetch", "./pages/boats.html")
    assert read.returncode == 0
    assert read.stderr == ""
    assert read.stdout.startswith("response_id: ")
    assert "# Boats" in read.stdout
    body = run(here, "fetch", "./pages/boats.html", "--section", "Care", "--body")
    assert body.stdout.strip().endswith("Varnish it.")
    assert "response_id" not in body.stdout


def test_a_result_is_read_again_by_its_id(here) -> None:
    page = json.loads(run(here, "fetch", "./pages/boats.html", "--json").stdout)
    again = run(here, "get", page["response_id"], "--find", "dinghy", "--json")
    assert json.loads(again.stdout)["matches"]["needles"][0]["count"] == 1


def test_the_main_job(here) -> None:
    added = run(here, "index", "add", "pages")
    assert added.returncode == 0
    assert added.stdout.strip() == "2 added"
    assert run(here, "index", "add", "pages").stdout.strip() == "2 unchanged"
    assert "boats.html" in run(here, "index", "list", "--collection", "default").stdout
    assert "Boats" in run(here, "index", "search", "dinghy").stdout
    found = run(here, "search", "dinghy", "--json")
    assert json.loads(found.stdout)["provider"] == "library"
    answered = run(here, "answer", "What", "is", "a", "dinghy?")
    assert answered.returncode == 0
    assert "## Answer" in answered.stdout
    assert "small boat" in answered.stdout
    assert "exact" in answered.stdout
    events = [json.loads(line) for line in run(here, "answer", "What is a dinghy?", "--stream").stdout.splitlines()]
    assert events[0] == {"event": "tool_update", "data": {"phase": "WEB_SEARCH", "status": "started", "query": "What is a dinghy?"}}
    assert events[-1]["event"] == "tool_end"


def test_research_at_the_terminal(here) -> None:
    run(here, "index", "add", "pages")
    told = run(here, "research", "What", "is", "a", "dinghy?")
    assert told.returncode == 0
    assert "small boat" in told.stdout
    assert told.stdout.index("## Answer") < told.stdout.index("## Sources") < told.stdout.index("## Not reached")
    lines = [json.loads(line) for line in run(here, "research", "What is a dinghy?", "--stream").stdout.splitlines()]
    assert lines[0] == {"event": "agent_processing_started", "data": {"query": "What is a dinghy?"}}
    assert [line["event"] for line in lines].count("agent_processing_complete") == 1
    assert lines[-1]["event"] == "agent_processing_complete"
    Path(here, "terse.md").write_text("---\nname: terse\ntools: [web/serach]\n---\n")
    wrong = run(here, "research", "What is a dinghy?", "--agent", "terse.md")
    assert wrong.returncode == 2
    assert "did you mean web/search?" in wrong.stderr


def test_lists_of_addresses_come_from_standard_input(here) -> None:
    read = run(here, "fetch", "-", "--json", stdin="# mine\n./pages/boats.html\n\n./pages/tides.md\n./pages/none.html\n")
    items = json.loads(read.stdout)["items"]
    assert [item["ok"] for item in items] == [True, True, False]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        pytest.param(("fetch",), 2, "cormorant fetch needs URL\nhint: cormorant fetch https://", id="nothing to fetch"),
        pytest.param(("fetch", ""), 2, "it is empty\nhint: cormorant fetch https://", id="an empty address"),
        pytest.param(("fecth", "x"), 2, "there is no command 'fecth'\nhint: did you mean cormorant fetch?", id="a mistyped command"),
        pytest.param(("index", "serch"), 2, "hint: did you mean cormorant index search?", id="a mistyped command of a group"),
        pytest.param(("a.example/page",), 2, "hint: did you mean cormorant https://a.example/page?", id="an address without its scheme"),
        pytest.param(("./pages/boats.html",), 2, "hint: did you mean cormorant fetch ./pages/boats.html?", id="a file"),
        pytest.param(("what is it",), 2, "hint: did you mean cormorant answer 'what is it'?", id="a question"),
        pytest.param(("fetch", "x", "--budgt", "3"), 2, "hint: did you mean --body or --budget?", id="a mistyped option"),
        pytest.param(("fetch", "x", "--view", "big"), 2, "is not one of 'full', 'section'", id="no such view"),
        pytest.param(("fetch", "-"), 2, "nothing on standard input", id="an empty list"),
        pytest.param(("browser", "serve", "--port", "1"), 6, "no browser is part of this version", id="a name kept free"),
        pytest.param(("replay", "x.warc"), 6, "cormorant fetch URL --replay FILE", id="another name kept free"),
        pytest.param(("fetch", "file:///etc/passwd"), 2, "only http(s) schemes", id="a file address"),
        pytest.param(("fetch", "http://169.254.169.254/"), 3, "never reached", id="metadata"),
        pytest.param(("map", "http://10.0.0.7/"), 3, "cormorant egress allow 10.0.0.7", id="a map of a private site"),
        pytest.param(("crawl", "pages/boats.html"), 2, "not a URL", id="a crawl of a file"),
        pytest.param(("fetch", "ftp://a.example/"), 2, "only http(s) schemes", id="ftp"),
        pytest.param(("fetch", "http://10.0.0.7/"), 3, "cormorant egress allow 10.0.0.7", id="private"),
        pytest.param(("http://localhost/",), 3, "localhost", id="the short form"),
        pytest.param(("fetch", "../outside.html"), 3, "outside the folder", id="outside the folder"),
        pytest.param(("get", "0" * 32), 1, "unknown response_id", id="an unknown id"),
        pytest.param(("get", "nonsense"), 2, "response_id", id="no id at all"),
        pytest.param(("search", "x", "--freshness", "decade"), 2, "decade", id="no such choice"),
        pytest.param(("search", "x", "--provider", "nosuch"), 2, "nosuch", id="no such provider"),
        pytest.param(("dive",), 2, "there is no command 'dive'", id="no such command"),
        pytest.param(("settings", "set", "egress.alow", "x.org"), 2, "egress.allow", id="a mistyped setting"),
        pytest.param(("egress", "allow", "not a host"), 2, "host pattern", id="no pattern"),
        pytest.param(("egress", "test", "http://10.0.0.7/"), 3, "", id="egress test"),
    ],
)
def test_what_goes_wrong_says_what_to_do(here, words, code, says) -> None:
    done = run(here, *words)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert done.stdout == "" or words[0] == "egress"


def test_the_bare_command_shows_the_help(here) -> None:
    assert run(here).returncode == 0
    assert run(here).stdout == run(here, "--help").stdout
    assert max(len(line) for line in run(here).stdout.splitlines()) <= 72


def test_a_clamped_value_is_said(here) -> None:
    done = run(here, "search", "dinghy", "--count", "99", "--provider", "library")
    assert "note: count 99 is out of range, 20 was used" in done.stderr


def test_an_error_is_json_where_json_was_asked_for(here) -> None:
    for words, code in (
        (("fetch", "http://10.0.0.7/"), "private_address"),
        (("search",), "invalid_arguments"),
        (("fetsh",), "invalid_arguments"),
    ):
        done = run(here, *words, "--json")
        assert json.loads(done.stdout)["error"]["code"] == code
        assert done.returncode in (2, 3)


def test_what_changes_something_says_what_it_is_then_as_json(here) -> None:
    def said(*words: str, stdin: str = "") -> dict:
        done = run(here, *words, "--json", stdin=stdin)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert said("egress", "allow", "a.example")["allow"] == ["a.example"]
    assert said("egress", "block", "b.example")["block"] == ["b.example"]
    assert said("egress", "remove", "a.example")["allow"] == []
    assert said("settings", "set", "search.count", "3")["value"] in (3, "3")
    assert said("settings", "unset", "search.count")["origin"] == "default"
    assert said("secret", "set", "BRAVE_API_KEY", stdin="a-key-of-mine")["name"] == "BRAVE_API_KEY"
    assert said("secret", "unset", "BRAVE_API_KEY") == {"name": "BRAVE_API_KEY", "in": []}
    made = said("key", "create", "alice")
    assert made["key"].startswith("cmt_")
    assert said("key", "revoke", made["id"]) == {"id": made["id"], "tenant": "alice", "revoked": True}
    assert said("key", "list") == []


def test_every_command_with_a_result_can_give_it_as_json() -> None:
    import click

    from cormorant.surfaces.cli import cli

    def leaves(command: click.Command, path: str, ctx: click.Context) -> list[str]:
        if isinstance(command, click.Group):
            return [
                leaf
                for name in command.list_commands(ctx)
                for leaf in leaves(command.get_command(ctx, name), f"{path} {name}".strip(), ctx)
            ]
        return [] if any("--json" in option.opts for option in command.params) else [path]

    ctx = click.Context(cli)
    assert set(leaves(cli, "", ctx)) == {
        "serve",
        "mcp",
        "egress-proxy",
        "completion",
        "egress directory",
    }  # servers, a script, JSON already


def test_nothing_found_is_said_and_is_exit_code_1(here) -> None:
    run(here, "index", "add", "pages")
    found = run(here, "search", "xylophone", CORMORANT_SEARCH__KEYLESS="false")
    assert found.returncode == 1
    assert "(no results)" in found.stdout


def test_settings_are_set_shown_and_taken_back(here) -> None:
    assert run(here, "settings", "set", "search.count", "3").returncode == 0
    shown = {row["key"]: row for row in json.loads(run(here, "settings", "--json").stdout)}
    assert shown["search.count"]["value"] in (3, "3")
    assert shown["search.count"]["origin"] != "default"
    run(here, "settings", "unset", "search.count")
    assert {row["key"]: row["value"] for row in json.loads(run(here, "settings", "--json").stdout)}["search.count"] in (8, "8")


def test_secrets_are_kept_and_never_shown(here) -> None:
    assert run(here, "secret", "set", "BRAVE_API_KEY", stdin="canary-93d1\n").returncode == 0
    for words in (("settings",), ("doctor",), ("doctor", "--json"), ("settings", "--json")):
        done = run(here, *words)
        assert "canary-93d1" not in done.stdout + done.stderr
    assert "BRAVE_API_KEY" in run(here, "doctor").stdout


def test_egress_lists_are_kept_in_the_project(here) -> None:
    assert run(here, "egress", "allow", "docs.python.org").returncode == 0
    assert "docs.python.org" in run(here, "egress", "list").stdout
    done = run(here, "fetch", "https://elsewhere.example/")
    assert done.returncode == 3
    assert "not allowed by policy" in done.stderr


@pytest.mark.parametrize("words", ["settings", "--help", "search --json", "fetch pages/long.md", "fetch pages/long.md --json"])
def test_a_reader_who_leaves_early_makes_no_noise(here, words) -> None:
    (here / "pages" / "long.md").write_text("# Long\n\n" + "A line of the log.\n\n" * 9000)
    command = f"{sys.executable} -m cormorant {words} | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=here, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_an_answer_is_checked_again_against_its_sources(here) -> None:
    run(here, "index", "add", "pages")
    (here / "answer.json").write_text(run(here, "answer", "What is a dinghy?", "--json").stdout)
    same = run(here, "recheck", "answer.json")
    assert same.returncode == 0, same.stderr
    assert "same: A dinghy is a small boat" in same.stdout
    (here / "pages" / "boats.html").write_text(PAGE.replace("small boat", "large ship"))
    run(here, "index", "add", "pages")
    changed = run(here, "recheck", "answer.json", "--json")
    assert changed.returncode == 1
    assert json.loads(changed.stdout)[0]["state"] == "no_longer_supports"
    assert run(here, "recheck", "pages/tides.md").returncode == 2


def test_the_key_directory_of_signed_requests_is_printed(here) -> None:
    pytest.importorskip("cryptography")
    unsigned = run(here, "egress", "directory")
    assert unsigned.returncode == 6
    assert "egress.signing_key" in unsigned.stderr
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (here / "key.pem").write_bytes(key)
    signing = {"CORMORANT_EGRESS__SIGNING_KEY": "key.pem", "CORMORANT_EGRESS__SIGNING_AGENT": "https://agent.example"}
    (published,) = json.loads(run(here, "egress", "directory", **signing).stdout)["keys"]
    assert published["crv"] == "Ed25519"
    assert "d" not in published
