"""The operator's commands as a person uses them: what they say, what they change, and what they never show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cormorant import Web, capabilities
from cormorant import settings as s
from cormorant.settings.layers import from_text, to_text
from cormorant.surfaces.cli_doctor import as_text
from support_backends import serving as backend
from support_net import answer, serving
from test_cli import run


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("fetch.timeout", 90.0, "90s"), ("fetch.timeout", 120.0, "2m"), ("fetch.timeout", 0.5, "500ms"),
        ("fetch.timeout", 0.0001, "0.0001"), ("store.max_age", 0.0, "0"), ("store.max_age", 86400.0, "1d"),
        ("fetch.max_bytes", 2 * 1024**2, "2MB"), ("fetch.max_bytes", 1000, "1000B"), ("limits.usd", 0.25, "0.25"),
        ("search.count", 8, "8"), ("fetch.cache", True, "true"), ("egress.allow", None, "null"),
        ("egress.block", ("a.org", ".b.org"), "a.org,.b.org"), ("search.urls", {"searxng": "http://x"}, "searxng=http://x"),
    ],
)  # fmt: skip
def test_a_value_is_shown_as_one_would_write_it(key, value, text) -> None:
    info = dict(s.fields())[key]
    assert to_text(value, info) == text
    section, name = key.split(".")
    back = from_text(key, text, info, "here")
    assert getattr(getattr(s.of({section: {name: back}}), section), name) == value


def test_every_default_reads_back_as_itself() -> None:
    for row in s.describe():
        if row.key not in ("keys", "search.key", "profiles"):
            read = from_text(row.key, row.text, dict(s.fields())[row.key], "here") if row.text else row.value
            table = {row.key.partition(".")[0]: {row.key.partition(".")[2]: read}} if "." in row.key else {row.key: read}
            assert s.of(table) == s.Settings(), row.key


def test_setting_says_what_was_kept_and_where(here) -> None:
    done = run(here, "settings", "set", "search.count", "99")
    assert done.returncode == 0
    assert "search.count = 20 in " in done.stderr
    assert "note: search.count = 99 is out of range; 20 is used" in done.stderr
    done = run(here, "settings", "set", "search.count", "3", CORMORANT_SEARCH__COUNT="4")
    assert "note: CORMORANT_SEARCH__COUNT says otherwise and wins here" in done.stderr
    done = run(here, "settings", "unset", "search.count")
    assert "search.count unset; it is 8 now (default)" in done.stderr
    assert "was not set there" in run(here, "settings", "unset", "search.count").stderr


def test_a_table_can_be_set_whole_or_by_name(here) -> None:
    assert run(here, "settings", "set", "search.urls", "searxng=http://a.example,brave=http://b.example").returncode == 0
    assert run(here, "settings", "set", "search.urls.brave", "http://c.example").returncode == 0
    listed = run(here, "settings", "list", "search.urls").stdout
    assert "searxng=http://a.example,brave=http://c.example" in listed


def test_a_word_finds_settings_and_says_what_they_mean(here) -> None:
    found = run(here, "settings", "list", "fuse")
    assert found.stdout.splitlines()[0].split() == ["search.fuse", "1"]
    assert "reciprocal rank" in found.stdout
    nothing = run(here, "settings", "list", "no-such-word")
    assert (nothing.returncode, nothing.stdout) == (1, "(no such setting)\n")


def test_what_the_files_are_doing_wrong_is_noted_in_the_list(here) -> None:
    (here / "cormorant.toml").write_text("[search]\napi_key = 'k-plain-secret'\n")
    listed = run(here, "settings")
    assert "secret set" in listed.stderr
    assert "k-plain-secret" not in listed.stdout + listed.stderr


def test_a_host_can_be_taken_off_again(here) -> None:
    run(here, "egress", "allow", "a.example", "b.example")
    assert "egress.allow = b.example in " in run(here, "egress", "remove", "a.example").stderr
    last = run(here, "egress", "remove", "b.example")
    assert "no host is reached now" in last.stderr  # not: every host
    assert json.loads(run(here, "egress", "list", "--json").stdout)["allow"] == []
    assert run(here, "egress", "remove", "a.example").returncode == 1


def test_the_library_is_listed_for_a_person(here) -> None:
    (here / "docs").mkdir()
    (here / "docs" / "tides.md").write_text("# Tides\n\nHigh water is at six.\n")
    run(here, "index", "add", "docs")
    assert run(here, "index", "list").stdout == "default  1 document\n"
    (line,) = run(here, "index", "list", "--collection", "default").stdout.splitlines()
    assert line.endswith("/docs/tides.md  (Tides, 31 bytes)")


def test_doctor_with_nothing_set_says_who_would_answer_and_what_to_do(here) -> None:
    shown = run(here, "doctor").stdout
    assert "asked in this order   duckduckgo, exa_keyless, tavily_keyless, wikipedia" in shown
    assert "brave (BRAVE_API_KEY)" in shown
    assert "cormorant index add ./docs" in shown.partition("\nNext\n")[2]
    assert max(map(len, shown.splitlines())) <= 140
    found = json.loads(run(here, "doctor", "--json").stdout)
    assert {"version", "answers", "providers", "search", "keys", "library", "egress", "settings", "extras", "next"} <= found.keys()
    row = next(row for row in found["providers"] if row["name"] == "brave")
    assert (row["ready"], row["variables"]) == (False, ["BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"])


@pytest.mark.parametrize(
    ("environment", "answers", "says"),
    [
        ({"BRAVE_API_KEY": "k"}, ["brave", "duckduckgo", "exa_keyless", "tavily_keyless", "wikipedia"], "index add"),
        (
            {"BRAVE_API_KEY": "k", "EXA_API_KEY": "k", "CORMORANT_SEARCH__KEYLESS": "false"},
            ["brave", "exa"],
            "pin one: cormorant settings set",
        ),
        ({"BRAVE_API_KEY": "k", "WEB_SEARCH_BACKEND": "brave"}, ["brave"], "index add"),
        ({"BRAVE_API_KEY": "k", "EXA_API_KEY": "k", "WEB_SEARCH_BACKEND": "exa,brave,kagi"}, ["exa", "brave"], "index add"),
        ({"WEB_SEARCH_BACKEND": "disabled"}, [], "search is disabled"),
        ({"WEB_SEARCH_BACKEND": "brvae"}, [], "nobody can search"),
        ({"CORMORANT_SEARCH__KEYLESS": "false"}, [], "nobody can search"),
    ],
    ids=["a key", "two keys", "pinned", "a chain", "disabled", "misspelt", "keyless off"],
)
def test_doctor_names_who_is_asked(here, environment, answers, says) -> None:
    found = json.loads(run(here, "doctor", "--json", **environment).stdout)
    assert found["answers"] == answers
    assert any(says in step for step in found["next"])


@pytest.mark.anyio
async def test_a_probe_says_what_the_network_reaches_and_how_each_backend_fared(tmp_path, monkeypatch) -> None:
    with backend() as sim:
        sim.play({"error": "no"}, 401)
        async with serving({"*": answer(200, "here")}) as site:
            monkeypatch.setattr(capabilities, "PLACES", (site.url("/", host="127.0.0.1"), "http://10.0.0.7/"))
            given = {
                "search": {"urls": {"brave": sim.url}, "provider": "brave", "keyless": False},
                "keys": {"BRAVE_API_KEY": "k-brave-secret"},
                "egress": {"allow_ranges": ["127.0.0.0/8"], "robots": "ignore"},
                "store": {"path": "memory"},
            }
            async with Web(given) as web:
                found = await web.probe()
    public, private = found["network"].values()
    assert public == "reached"
    assert private.startswith("private_address")
    shown = as_text(found)
    assert "brave" in shown
    assert "401" in shown
    assert "k-brave-secret" not in shown + json.dumps(found)
