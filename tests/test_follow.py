"""A running program takes in what its operator changes, between two calls, and loses nothing of its session."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from cormorant import Web, settings
from cormorant.errors import InvalidArguments, NoProvider, NotAllowed
from cormorant.settings import live
from cormorant.surfaces.tenants import follow_tenant
from support_backends import serving as backend
from support_net import answer, serving

pytestmark = pytest.mark.anyio
HTML = {"content-type": "text/html"}
PAGE = answer(
    200, "<title>Tides</title><main><h1>Tides</h1><p>High water at the pier is at six in the morning, said the keeper.</p></main>", HTML
)
ROWS = {"results": [{"title": f"T{n}", "url": f"https://{n}.example/", "content": "High water"} for n in ("one", "two")]}


@pytest.fixture
def file() -> Path:
    """The operator's own file."""
    path = Path(os.environ["XDG_CONFIG_HOME"], "cormorant", "settings.toml")
    path.parent.mkdir(parents=True)
    return path


def replaced(path: Path, text: str) -> None:
    """As an editor or `settings set` writes: the new file takes the place of the old one."""
    draft = path.with_name("draft")
    draft.write_text(text)
    os.replace(draft, path)


def toml(search: str = "", egress: str = "", rest: str = "") -> str:
    return f'[search]\nkeyless = false\n{search}\n[egress]\nallow_ranges = ["127.0.0.0/8"]\n{egress}\n{rest}\n'


async def test_a_call_follows_the_file_and_the_session_stays(file):
    with backend() as sim:
        sim.play(ROWS)
        async with serving({"/tides": PAGE, "*": answer(404, "no")}) as site:
            url = site.url("/tides", host="127.0.0.1")
            replaced(file, toml(f'url = "{sim.url}"'))
            async with Web(settings.follow()) as web:
                found = await web.search("tides")
                page = await web.fetch(url, budget=500)
                spent = web.ledger.as_dict()["requests"]
                web.finder.health.failed("brave", NoProvider("down", retry_after=600))
                replaced(file, toml(f'url = "{sim.url}"\nblock_domains = ["one.example"]', rest="[limits]\nrequests = 50"))
                assert [hit.source for hit in (await web.search("tides")).results] == ["two.example"]
                again = await web.fetch(url, budget=500)
                stored = await web.get(found.response_id)
                assert web.ledger.as_dict()["requests"] == spent + 1, "the account goes on, under its new limit"
                assert web.ledger.left("requests") == 50 - spent - 1
                assert web.finder.health.rests("brave")
    assert again.cached
    assert again.content == page.content
    assert "one.example" in stored.content
    assert site.targets.count("/tides") == 1


@pytest.mark.parametrize("egress", ['allow = ["docs.example"]', 'block = ["127.0.0.1"]'])
async def test_a_host_that_is_no_longer_allowed_is_not_even_read_from_the_cache(file, egress):
    async with serving({"*": PAGE}) as site:
        url = site.url("/tides", host="127.0.0.1")
        replaced(file, toml())
        async with Web(settings.follow()) as web:
            await web.fetch(url)
            replaced(file, toml(egress=egress))
            with pytest.raises(NotAllowed):
                await web.fetch(url)
            replaced(file, toml())
            assert (await web.fetch(url)).cached
    assert site.targets.count("/tides") == 1


async def test_a_request_carries_what_the_settings_say_now(file):
    async with serving({"*": PAGE}) as site:
        replaced(file, toml(egress='user_agent = "First/1"\nrobots = "ignore"'))
        async with Web(settings.follow()) as web:
            await web.fetch(site.url("/a", host="127.0.0.1"))
            replaced(file, toml(egress='user_agent = "Second/2"\nrobots = "ignore"'))
            await web.fetch(site.url("/b", host="127.0.0.1"))
    assert [request.headers["user-agent"] for request in site.requests] == ["First/1", "Second/2"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("[search]\ncuont = 3\n", "search.count", id="an unknown key"),
        pytest.param("[search\n", "is not TOML", id="no TOML"),
        pytest.param("[egress]\nallow = ['a b']\n", "a b", id="a pattern that is none"),
        pytest.param(
            "[egress]\nsigning_key = '/nowhere.pem'\nsigning_agent = 'https://a.example'\n", "nowhere.pem", id="a key file that is gone"
        ),
        pytest.param("[egress]\nproxy = 'gopher://x'\n", "egress.proxy", id="a proxy that is none"),
        pytest.param("[egress]\naudit = '/nowhere/audit.log'\n", "audit", id="a log that can't be written"),
    ],
)
async def test_settings_that_can_not_be_used_change_nothing_and_are_said(text, says, file):
    with backend() as sim:
        sim.play(ROWS)
        good = toml(f'url = "{sim.url}"\nblock_domains = ["one.example"]')
        replaced(file, good)
        async with Web(settings.follow()) as web:
            assert (await web.search("tides")).count == 1
            replaced(file, text)
            for _ in range(2):  # as long as the file is as it is
                found = await web.search("tides")
                assert found.count == 1
                (note,) = [note for note in found.notes if note.startswith("settings_not_applied")]
                assert says in note
            assert says in web.capabilities()["settings"]["not applied"]
            assert any(note.startswith("settings_not_applied") for note in (await web.get(found.response_id)).metadata["notes"])
            replaced(file, toml(f'url = "{sim.url}"'))
            found = await web.search("tides")
            assert (found.count, found.notes, web.capabilities()["settings"]) == (2, (), "followed")


async def test_what_counts_at_the_start_only_is_said_once(file, tmp_path):
    replaced(file, toml())
    async with serving({"*": PAGE}) as site, Web(settings.follow()) as web:
        page = await web.fetch(site.url("/a", host="127.0.0.1"))
        replaced(file, toml(rest=f'[store]\npath = "{tmp_path / "elsewhere"}"\n[server]\nport = 9999'))
        warned = (await web.fetch(site.url("/b", host="127.0.0.1"))).warnings
        assert [w for w in warned if w.startswith("settings_wait: store.path, server.port ")]
        assert not [w for w in (await web.fetch(site.url("/c", host="127.0.0.1"))).warnings if "settings" in w]
        assert web.capabilities()["settings"] == {"wait for the next start": ["store.path", "server.port"]}
        assert (await web.get(page.response_id)).content
    assert not (tmp_path / "elsewhere").exists()


async def test_a_new_key_is_guarded_from_the_call_on_in_which_it_counts(file):
    replaced(file, toml())
    async with Web(settings.follow()) as web:
        settings.write_secret("BRAVE_API_KEY", "k-brave-secret", place="file")
        with pytest.raises(Exception, match="BRAVE_API_KEY"):
            await web.search("send k-brave-secret to them")
        assert web.finder.providers()[2].ready
        settings.unset_secret("BRAVE_API_KEY")
        with pytest.raises(NoProvider):
            await web.search("tides")


async def test_a_policy_that_a_program_gave_stays_whatever_the_file_says(file):
    from cormorant import Policy

    replaced(file, toml())
    async with Web(settings.follow(), policy=Policy(allow=("docs.example",))) as web:
        replaced(file, toml(egress='allow = ["127.0.0.1"]'))
        with pytest.raises(NotAllowed):
            await web.fetch("http://127.0.0.1:9/")


def test_half_a_file_is_never_taken_for_the_whole(file, monkeypatch):
    """A shell empties a file before it writes; an empty allow list that was there must not be open in between."""
    file.write_text("[egress]\nallow = []\n")
    followed, taken = settings.follow(), []

    def apply(found):
        taken.append(found.egress.allow)
        return ()

    monkeypatch.setattr(live, "SETTLE_S", 600.0)
    file.write_text("")
    assert followed.pause_s() > 0
    followed.look(apply)
    file.unlink()
    followed.look(apply)
    assert taken == []
    assert followed.settings.egress.allow == ()
    file.write_text("[egress]\nallow = ['a.example']\n")
    monkeypatch.setattr(live, "SETTLE_S", 0.0)
    followed.look(apply)
    assert taken == [("a.example",)]


def test_a_look_at_files_that_have_not_changed_reads_none_of_them(file, monkeypatch):
    replaced(file, toml())
    followed = settings.follow()
    monkeypatch.setattr(followed, "_read", lambda: pytest.fail("read again"))
    followed.look(lambda found: ())
    assert followed.notes() == ()


def test_files_that_can_not_be_used_at_the_start_are_an_error(file):
    replaced(file, "[search]\ncuont = 3\n")
    with pytest.raises(InvalidArguments, match=r"search\.cuont"):
        settings.follow()


def test_a_file_that_a_variable_names_is_followed_too(file, monkeypatch, tmp_path):
    key = tmp_path / "key"
    replaced(key, "k-1")
    monkeypatch.setenv("BRAVE_API_KEY_FILE", str(key))
    followed = settings.follow()
    replaced(key, "k-2")
    seen = []
    followed.look(lambda found: seen.append(found.keys["BRAVE_API_KEY"]) or ())
    assert seen == ["k-2"]


async def test_a_tenant_s_own_file_is_followed_and_nobody_else_s(file, tmp_path):
    replaced(file, toml(egress='allow = ["127.0.0.1"]'))  # the operator's own, which is no tenant's
    home = tmp_path / "tenants" / "alice"
    home.mkdir(parents=True)
    async with serving({"*": PAGE}) as site, Web(follow_tenant(tmp_path / "tenants", "alice")) as web:
        url = site.url("/tides", host="127.0.0.1")
        with pytest.raises(NotAllowed):
            await web.fetch(url)
        replaced(home / "cormorant.toml", '[egress]\nallow = ["127.0.0.1"]\nallow_ranges = ["127.0.0.0/8"]\n')
        page = await web.fetch(url)
        replaced(home / "cormorant.toml", "[egress\n")
        assert any("cormorant.toml" in warning for warning in (await web.fetch(url)).warnings)
        os.remove(home / "cormorant.toml")
        with pytest.raises(NotAllowed):
            await web.fetch(url)
        assert (await web.get(page.response_id)).content
    assert (home / "results").is_dir()


def own_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "PYTHONPATH") or name.startswith("XDG_")}


async def test_an_mcp_server_follows_its_files_between_two_calls(file, tmp_path):
    def text(result) -> str:
        return result.content[0].text

    with backend() as sim:
        sim.play(ROWS)
        replaced(file, toml(f'url = "{sim.url}"'))
        server = StdioServerParameters(command=sys.executable, args=["-m", "cormorant", "mcp"], env=own_environment(), cwd=str(tmp_path))
        async with Client(server) as client:
            first = text(await client.call_tool("web_search", {"query": "tides"}))
            assert "https://one.example/" in first
            replaced(file, toml(f'url = "{sim.url}"\nblock_domains = ["one.example"]'))
            second = text(await client.call_tool("web_search", {"query": "tides"}))
            assert "https://one.example/" not in second
            assert "https://two.example/" in second
            replaced(file, "[search]\ncuont = 3\n")
            third = text(await client.call_tool("web_search", {"query": "tides"}))
            assert "https://one.example/" not in third
            assert "settings_not_applied" in third
            assert "search.count" in third
            kept = text(await client.call_tool("web_get", {"response_id": first.split("response_id: ")[1][:32]}))
            assert "https://one.example/" in kept
            replaced(file, toml('provider = "disabled"'))
            assert "web_search" not in {tool.name for tool in (await client.list_tools()).tools}


async def test_an_http_server_follows_its_files_between_two_calls(file, tmp_path):
    with backend() as sim:
        sim.play(ROWS)
        replaced(file, toml(f'url = "{sim.url}"'))
        command = [sys.executable, "-m", "cormorant", "serve", "--port", "0"]
        with subprocess.Popen(command, cwd=tmp_path, env=own_environment(), stderr=subprocess.PIPE, text=True) as program:  # noqa: ASYNC220
            try:
                base = (await asyncio.to_thread(program.stderr.readline)).split()[2].rstrip(",")
                async with httpx2.AsyncClient(base_url=base, timeout=20, trust_env=False) as client:

                    async def found() -> dict:
                        return (await client.post("/v1/search", json={"query": "tides"})).json()

                    first = await found()
                    assert first["count"] == 2
                    replaced(file, toml(f'url = "{sim.url}"\nblock_domains = ["one.example"]', rest='[server]\nhosts = ["here.example"]'))
                    second = await found()
                    assert [row["source"] for row in second["results"]] == ["two.example"]
                    assert any(note.startswith("settings_wait: server.hosts") for note in second["notes"])
                    replaced(file, "[search\n")
                    assert (await found())["count"] == 1
                    shown = (await client.get("/capabilities")).json()
                    assert "is not TOML" in shown["settings"]["not applied"]
                    kept = (await client.post("/v1/get", json={"response_id": first["response_id"]})).json()
                    assert "one.example" in json.dumps(kept)
                    replaced(file, toml(rest="[server]\nrequire_key = true"))
                    assert (await client.post("/v1/search", json={"query": "tides"})).status_code == 401
            finally:
                program.terminate()
                await asyncio.to_thread(program.wait, 20)
