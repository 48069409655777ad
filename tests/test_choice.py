"""Which backend answers, who is asked next, who rests, and what is said when nobody answers."""

from __future__ import annotations

import json
import logging
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from cormorant.choice import KEYLESS, Finder
from cormorant.document import Document
from cormorant.errors import CormorantError, InvalidArguments, Network, NoProvider, NotConfigured, ProviderError
from cormorant.library import Library
from cormorant.search import Query
from cormorant.settings import of
from support_backends import Simulator, request, serving

pytestmark = pytest.mark.anyio
ROW = {"title": "Tides", "url": "https://a.example/", "content": "High water"}
SEARXNG = {"results": [ROW]}
BRAVE = {"web": {"results": [{"title": "Brave tides", "url": "https://b.example/", "description": "Low water"}]}}


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def world(tmp_path: Path, clock: Clock):
    """Makes finders over simulated backends, an empty library and no public network."""
    with ExitStack() as stack:
        sims = {
            name: stack.enter_context(serving())
            for name in ("searxng", "brave", "duckduckgo", "exa_keyless", "tavily_keyless", "wikipedia")
        }
        sims["searxng"].play(SEARXNG)
        sims["brave"].play(BRAVE)
        for name in KEYLESS:
            sims[name].play("nothing here", 500)
        library = stack.enter_context(Library(tmp_path / "library.sqlite"))

        def make(search: dict | None = None, keys: dict | None = None, **more) -> Finder:
            urls = {name: sim.url for name, sim in sims.items() if name != "searxng"}
            search = {"urls": urls, **(search or {})}
            settings = of({"search": search, "keys": keys or {}})
            return Finder(settings, request=more.pop("request", request), library=library, state=tmp_path / "health.json", now=clock)

        make.sims = sims  # type: ignore[attr-defined]
        make.library = library  # type: ignore[attr-defined]
        yield make


async def offline(method: str, url: str, **_: object):
    raise Network(f"could not connect to {url}", url=url)


KEY = {"BRAVE_API_KEY": "key-1"}


@pytest.mark.parametrize(
    ("search", "keys", "provider", "answers"),
    [
        pytest.param({"provider": "brave", "url": "{searxng}"}, KEY, "auto", None, id="a url belongs to the pinned backend"),
        pytest.param({"provider": "searxng", "url": "{searxng}"}, KEY, "auto", "searxng", id="pinned wins over what is ready"),
        pytest.param({"url": "{searxng}"}, {}, "auto", "searxng", id="only a url: searxng"),
        pytest.param({}, KEY, "auto", "brave", id="only a key: its backend"),
        pytest.param({"key": "key-1"}, {}, "auto", "brave", id="only WEB_SEARCH_KEY: brave"),
        pytest.param({"url": "{searxng}"}, KEY, "auto", "searxng", id="several ready: the first in order"),
        pytest.param({"url": "{searxng}"}, KEY, "brave", "brave", id="the call's own choice"),
        pytest.param({"provider": "brave"}, KEY, "auto", "brave", id="configured by name"),
        pytest.param({"provider": " Brave "}, KEY, "auto", "brave", id="names in any case"),
        pytest.param({}, KEY, "BRAVE", "brave", id="the call's names in any case"),
        pytest.param({"provider": ""}, KEY, "auto", "brave", id="an empty name is auto"),
        pytest.param({"provider": "disabled"}, KEY, "auto", "disabled", id="disabled"),
    ],
)
async def test_who_answers(world, search, keys, provider, answers):
    search = {k: v.format(searxng=world.sims["searxng"].url) for k, v in search.items()}
    finder = world(search, keys)
    if answers == "disabled":
        assert finder.settings.search.disabled
        with pytest.raises(NoProvider, match="disabled"):
            await finder.search(Query("tides"), provider)
        return
    found = await finder.search(Query("tides"), provider)
    assert found.provider == (answers or "brave")
    assert found.results[0].rank == 1
    assert found.queries == ("tides",)


async def test_several_ready_and_none_pinned_warns_once_naming_all(world, caplog):
    finder = world({"url": world.sims["searxng"].url}, KEY)
    with caplog.at_level(logging.WARNING, logger="cormorant.search"):
        await finder.search(Query("tides"))
        await finder.search(Query("tides"))
    (record,) = caplog.records
    assert "searxng" in record.getMessage()
    assert "brave" in record.getMessage()


@pytest.mark.parametrize(("name", "error"), [("brvae", InvalidArguments), ("exa", NotConfigured), ("brave,brvae", InvalidArguments)])
async def test_an_unknown_or_unready_provider_names_the_ready_ones(world, name, error):
    finder = world({}, KEY)
    with pytest.raises(error) as caught:
        await finder.search(Query("tides"), name)
    assert "brave" in f"{caught.value.message} {caught.value.remedy}"


async def test_a_pinned_backend_is_never_silently_replaced(world):
    world.sims["searxng"].answers = [(500, {}, "down")]
    finder = world({"provider": "searxng", "url": world.sims["searxng"].url}, KEY)
    for _ in range(4):  # also when it keeps failing
        with pytest.raises(ProviderError):
            await finder.search(Query("tides"))
    assert world.sims["brave"].seen == []


@pytest.mark.parametrize("provider", ["auto", "searxng,brave"])
async def test_a_chain_goes_on_and_says_whom_it_tried(world, provider):
    world.sims["searxng"].answers = [(429, {"retry-after": "120"}, "slow down")]
    search = (
        {"url": world.sims["searxng"].url}
        if provider == "auto"
        else {"provider": provider, "urls": {n: s.url for n, s in world.sims.items()}}
    )
    found = await world(search, KEY).search(Query("tides"))
    assert found.provider == "brave"
    assert [(t.provider, t.code) for t in found.tried] == [("searxng", "rate_limited")]
    assert "[asked before: searxng (rate_limited)]" in found.as_text().splitlines()


async def test_an_empty_answer_is_an_answer(world):
    world.sims["searxng"].answers = [(200, {}, {"results": []})]
    found = await world({"url": world.sims["searxng"].url}, KEY).search(Query("tides"))
    assert (found.provider, found.results, found.tried) == ("searxng", (), ())
    assert world.sims["brave"].seen == []


async def test_a_failing_backend_rests_and_others_know(world, clock):
    sim: Simulator = world.sims["searxng"]
    sim.answers = [(500, {}, "down")]
    search = {"url": sim.url}
    for _ in range(2):
        await world(search, KEY).search(Query("tides"))
    assert len(sim.seen) == 2
    found = await world(search, KEY).search(Query("tides"))  # another process reads the same file
    assert len(sim.seen) == 2
    assert [(t.provider, t.code) for t in found.tried] == [("searxng", "cooling_down")]
    row = next(r for r in world(search, KEY).providers() if r.name == "searxng")
    assert row.cooling_until
    assert row.state.startswith("resting until")
    assert "500" in row.last_error
    clock.now += timedelta(minutes=11)
    await world(search, KEY).search(Query("tides"))  # the probe; it fails again
    assert len(sim.seen) == 3
    clock.now += timedelta(minutes=11)
    await world(search, KEY).search(Query("tides"))
    assert len(sim.seen) == 3, "the second rest is twice as long"
    clock.now += timedelta(minutes=11)
    sim.answers = [(200, {}, SEARXNG)]
    assert (await world(search, KEY).search(Query("tides"))).provider == "searxng"


@pytest.mark.parametrize("works", [True, False])
async def test_after_a_rest_one_search_is_the_probe_for_all(world, clock, works):
    sim: Simulator = world.sims["searxng"]
    sim.answers = [(500, {}, "down")]
    finder, other = world({"url": sim.url}, KEY), world({"url": sim.url}, KEY)  # another process
    for _ in range(2):
        await finder.search(Query("tides"))
    sim.seen.clear()
    clock.now += timedelta(minutes=11)
    sim.answers = [(200, {}, SEARXNG) if works else (500, {}, "down")]
    assert finder.health.may_ask("searxng"), "this one is the probe"
    assert {found.provider for found in [await other.search(Query("tides")), await finder.search(Query("tides"))]} == {"brave"}
    assert sim.seen == []
    clock.now += timedelta(minutes=2)  # the probe never came back: somebody else may try
    assert (await other.search(Query("tides"))).provider == ("searxng" if works else "brave")
    assert (await finder.search(Query("tides"))).provider == ("searxng" if works else "brave")
    assert len(sim.seen) == (2 if works else 1)


async def test_three_suspicious_empties_let_a_backend_rest(world):
    sim = world.sims["searxng"]
    sim.answers = [(200, {}, {"results": []})]
    finder = world({"url": sim.url}, KEY)
    assert [(await finder.search(Query("tides"))).provider for _ in range(4)] == ["searxng", "searxng", "searxng", "brave"]


async def test_when_everybody_rests_the_first_is_asked_all_the_same(world):
    sim = world.sims["searxng"]
    sim.answers = [(500, {}, "down")]
    finder = world({"provider": "searxng,brave", "urls": {n: s.url for n, s in world.sims.items()}}, KEY)
    world.sims["brave"].answers = [(500, {}, "down")]
    for _ in range(2):
        with pytest.raises(NoProvider):
            await finder.search(Query("tides"))
    sim.answers = [(200, {}, SEARXNG)]
    assert (await finder.search(Query("tides"))).provider == "searxng"


@pytest.mark.parametrize("text", ["", "{", '{"searxng": {"unknown": 1}}', "[]"])
async def test_a_damaged_health_file_is_an_empty_one(world, tmp_path, text):
    (tmp_path / "health.json").write_text(text)
    assert (await world({"url": world.sims["searxng"].url}).search(Query("tides"))).provider == "searxng"


async def test_the_health_file_is_private_and_holds_no_key(world, tmp_path):
    world.sims["brave"].answers = [(401, {}, {"error": "bad key key-1"})]
    with pytest.raises(CormorantError):
        await world({"provider": "brave"}, KEY).search(Query("tides"))
    path = tmp_path / "health.json"
    assert path.stat().st_mode & 0o077 == 0
    assert "key-1" not in path.read_text()
    assert json.loads(path.read_text())["brave"]["failures"] == 1


async def test_with_nothing_set_the_library_answers(world):
    world.library.add(Document(url="file:///docs/tides.html", markdown="# Tides\n\nLow water at Harlow is at noon.", title="Tides"))
    found = await world().search(Query("low water harlow"))
    assert found.provider == "library"
    assert [hit.url for hit in found.results] == ["file:///docs/tides.html"]
    assert all(not sim.seen for sim in world.sims.values())


async def test_with_nothing_set_and_little_in_the_library_the_public_is_asked(world):
    world.library.add(Document(url="file:///docs/tides.html", markdown="# Tides\n\nLow water at Harlow is at noon.", title="Tides"))
    world.sims["wikipedia"].answers = [(200, {}, {"query": {"search": [{"title": "Zeppelin", "snippet": "an <b>airship</b>"}]}})]
    found = await world().search(Query("zeppelin airship history"))
    assert found.provider == "wikipedia"
    assert [t.provider for t in found.tried] == ["library", "duckduckgo", "exa_keyless", "tavily_keyless"]
    assert found.results[0].snippet == "an airship"


async def test_keyless_off_asks_nobody_outside(world):
    with pytest.raises(NoProvider, match="no search provider answered"):
        await world({"keyless": False}).search(Query("tides"))
    assert all(not sim.seen for sim in world.sims.values())


async def test_offline_is_said_in_one_line(world):
    with pytest.raises(NoProvider) as caught:
        await world(request=offline).search(Query("tides"))
    error = caught.value
    assert error.message.startswith("no search provider answered: offline")
    assert "\n" not in error.message
    assert "WEB_SEARCH_URL" in error.remedy
    assert "cormorant index add" in error.remedy


@pytest.mark.parametrize("how", ["search", "probe"])
async def test_being_offline_is_held_against_no_backend(world, how):
    away = world(request=offline)
    for _ in range(3):
        if how == "probe":
            await away.probe()
        else:
            with pytest.raises(NoProvider, match="offline"):
                await away.search(Query("tides"))
    assert not [row.name for row in away.providers() if row.cooling_until]
    world.sims["duckduckgo"].answers = [(200, {}, "<div class='result'><a class='result__a' href='https://a.example/'>Tides</a></div>")]
    found = await world().search(Query("tides"))
    assert (found.provider, [t for t in found.tried if t.provider != "library"]) == ("duckduckgo", [])


async def test_a_network_that_swallows_everything_is_given_up_in_time(world):
    async def silent(method: str, url: str, **_: object):
        await anyio.sleep(60)

    with anyio.fail_after(10), pytest.raises(NoProvider, match="offline"):
        await world({"keyless_timeout": 0.2}, request=silent).search(Query("tides"))


async def test_a_network_that_swallows_the_first_leaves_time_for_the_last(world):
    world.sims["wikipedia"].answers = [(200, {}, {"query": {"search": [{"title": "Tide", "snippet": "High water"}]}})]

    async def partly(method: str, url: str, **more: object):
        if not url.startswith(world.sims["wikipedia"].url):
            await anyio.sleep(60)
        return await request(method, url, **more)

    with anyio.fail_after(20):
        found = await world({"keyless_timeout": 4}, request=partly).search(Query("tides"))
    assert found.provider == "wikipedia"
    assert [t.code for t in found.tried] == ["timeout"] * 3


async def test_a_slow_backend_before_the_public_ones_costs_them_no_time(world, monkeypatch):
    world.sims["wikipedia"].answers = [(200, {}, {"query": {"search": [{"title": "Tide", "snippet": "High water"}]}})]
    since, passed = anyio.current_time, [0.0]
    monkeypatch.setattr(anyio, "current_time", lambda: since() + passed[0])

    async def slow(method: str, url: str, **more: object):
        if url.startswith(world.sims["searxng"].url):
            passed[0] = 600.0
            raise Network("no answer")
        return await request(method, url, **more)

    found = await world({"url": world.sims["searxng"].url}, request=slow).search(Query("tides"))
    assert found.provider == "wikipedia"


async def test_offline_with_a_weak_library_gives_what_there_is_and_says_so(world):
    world.library.add(Document(url="file:///docs/tides.html", markdown="# Tides\n\nLow water at Harlow is at noon.", title="Tides"))
    found = await world(request=offline).search(Query("water zeppelin airship history"))
    assert found.provider == "library"
    assert [hit.url for hit in found.results] == ["file:///docs/tides.html"]
    assert any(note.startswith("offline") for note in found.notes)


async def test_several_queries_run_and_one_failing_fails_no_other(world):
    def answer(seen):
        return (
            (500, {}, "down")
            if "bad" in seen.params["q"]
            else (200, {}, {"results": [ROW | {"url": f"https://a.example/{seen.params['q']}"}]})
        )

    world.sims["searxng"].answer = answer
    finder = world({"provider": "searxng", "url": world.sims["searxng"].url})
    found = await finder.search([Query("one"), Query("bad"), Query("two")])
    assert [(hit.query, hit.rank) for hit in found.results] == [("one", 1), ("two", 2)]
    assert found.queries == ("one", "bad", "two")
    assert [(e["query"], e["code"]) for e in found.errors] == [("bad", "provider_error")]
    with pytest.raises(ProviderError):
        await finder.search([Query("bad"), Query("bad 2")])


@pytest.mark.parametrize("how", ["setting", "call"])
async def test_two_backends_can_be_fused(world, how):
    world.sims["brave"].answers = [
        (200, {}, {"web": {"results": [{"title": "T", "url": "http://www.a.example/"}, {"title": "B", "url": "https://b.example/"}]}})
    ]
    finder = world({"url": world.sims["searxng"].url, "fuse": 2 if how == "setting" else 1}, KEY)
    found = await finder.search(Query("tides"), "auto" if how == "setting" else "searxng+brave")
    assert found.provider == "searxng+brave"
    assert [hit.source for hit in found.results] == ["a.example", "b.example"]
    assert 0 < found.results[1].score < found.results[0].score <= 1


async def test_a_failed_half_of_a_fusion_is_named(world):
    world.sims["brave"].answers = [(500, {}, "down")]
    found = await world({"url": world.sims["searxng"].url, "fuse": 2}, KEY).search(Query("tides"))
    assert found.provider == "searxng"
    assert any(note.startswith("partial_provider_failure: brave") for note in found.notes)
    assert [(t.provider, t.code) for t in found.tried] == [("brave", "provider_error")]
    assert found.errors[0]["provider"] == "brave"


async def test_a_fusion_leaves_a_resting_backend_alone_and_says_so(world):
    world.sims["brave"].answers = [(500, {}, "down")]
    finder = world({"url": world.sims["searxng"].url, "fuse": 2}, KEY)
    for _ in range(2):
        await finder.search(Query("tides"))
    world.sims["brave"].seen.clear()
    found = await finder.search(Query("tides"))
    assert (found.provider, world.sims["brave"].seen) == ("searxng", [])
    assert [(t.provider, t.code) for t in found.tried] == [("brave", "cooling_down")]
    assert any(note.startswith("partial_provider_failure: brave") for note in found.notes)


@pytest.mark.parametrize("query", [Query(" "), Query("x", domains=("a b",))])
async def test_what_can_not_be_asked_is_refused_before_anybody_is_asked(world, query):
    with pytest.raises(InvalidArguments):
        await world({"url": world.sims["searxng"].url}).search(query)
    assert world.sims["searxng"].seen == []


async def test_settings_filters_hold_for_every_answer(world):
    rows = [{"title": f"{n}", "url": f"https://{n}.example/"} for n in ("one", "two", "three")]
    world.sims["searxng"].answers = [(200, {}, {"results": rows})]
    search = {"url": world.sims["searxng"].url, "block_domains": ["one.example"], "prefer_domains": ["three.example"]}
    found = await world(search).search(Query("x"))
    assert [hit.source for hit in found.results] == ["three.example", "two.example"]


async def test_doctor_sees_every_backend_and_no_value(world):
    rows = {r.name: r for r in world({}, KEY).providers()}
    assert rows["brave"].ready
    assert "EXA_API_KEY" in rows["exa"].why_not
    assert "index add" in rows["library"].why_not
    assert rows["searxng"].why_not
    assert rows["duckduckgo"].ready
    assert "key-1" not in str(rows)


async def test_a_probe_asks_each_ready_backend_once_and_says_who_failed(world):
    world.sims["brave"].answers = [(401, {}, "no")]
    rows = {row.name: row for row in await world({"url": world.sims["searxng"].url}, KEY | {"OPENAI_API_KEY": "k"}).probe()}
    assert [len(world.sims[name].seen) for name in ("searxng", "brave", "wikipedia")] == [1, 2, 1]  # brave has two endpoints
    assert "401" in rows["brave"].last_error
    assert rows["searxng"].last_error == ""
    assert rows["openai"].last_error == ""
