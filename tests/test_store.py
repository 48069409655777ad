"""What was held comes back, under the id and selectors that were given out, from memory and from a folder."""

from __future__ import annotations

import gc
import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import support_hold
from cormorant import errors
from cormorant.document import Document, FileFacts, Finding, Link
from cormorant.search import Found, Hit, Tried
from cormorant.settings import Store as StoreSettings
from cormorant.store import FRONT_ENTRIES, DirectoryStore, MemoryStore, Store, open_store
from cormorant.store import folder as folder_room
from cormorant.store.contract import check
from cormorant.store.folder import HOLDS, Folder
from cormorant.store.held import INLINE_BYTES, Held, Item, bodies_named, decoded, encoded, select

LONG = "# Tides\n\n" + "High water at noon. " * 400

PAGE = Document(
    url="https://harbour.example/tides",
    markdown=LONG,
    title="Tides",
    links=(Link("next", "https://harbour.example/next"),),
    outcome="content",
    signs=("words",),
    coverage=0.5,
    findings=(Finding("hidden_text", None, "ab" * 32), Finding("instruction", (3, 9), "cd" * 32, "kept")),
    file=FileFacts("application/pdf", "tides.pdf", pages=3, warnings=("scan",), pages_without_text=(2,)),
    structured={"$body": "not one of ours", "deep": [{"$$x": None, "n": 1.5}]},
)
FETCHED = Held(
    "web_fetch",
    (
        Item(
            url="http://harbour.example/tides",
            final_url=PAGE.url,
            aliases=("https://harbour.example/t",),
            query="when is high water?",
            document=PAGE,
            status=200,
            bytes=9000,
            sha256="ef" * 32,
            retrieved_at="2026-11-01T10:00:00Z",
            hops=("http://harbour.example/tides",),
        ),
        Item(
            url="https://lost.example/",
            error=errors.HttpError("HTTP 404", status=404, url="https://lost.example/", remedy="look").as_dict(),
        ),
        Item(url=PAGE.url, final_url=PAGE.url, document=replace(PAGE, title="Again", url="")),
    ),
    arguments={"budget": 2000},
)
SEARCHED = Held(
    "web_search",
    (
        Item(
            found=Found(
                query="gulls",
                queries=("gulls", "terns"),
                provider="library",
                results=(
                    Hit("Gulls", "https://birds.example/gull", "They cry.", rank=1, query="gulls", score=0.5),
                    Hit("Terns", "https://birds.example/tern", "They dive.", rank=2, query="terns", content=LONG),
                ),
                tried=(Tried("brave", "rate_limited", "HTTP 429"),),
                errors=({"query": "terns", "code": "timeout", "message": "slow"},),
            )
        ),
    ),
)


@pytest.fixture(params=["memory", "folder", "folder, reopened"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else DirectoryStore(tmp_path / "results")
    if request.param == "folder, reopened":
        made = _Reopened(tmp_path / "results")
    yield made
    await made.aclose()


class _Reopened:
    """A folder whose every read is another process's."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def put(self, held: Held) -> str:
        store = DirectoryStore(self._path)
        try:
            return await store.put(held)
        finally:
            await store.aclose()

    async def get(self, response_id: str) -> Held:
        store = DirectoryStore(self._path)
        try:
            return await store.get(response_id)
        finally:
            await store.aclose()

    async def aclose(self) -> None:
        pass


@pytest.mark.anyio
async def test_every_store_keeps_the_contract(store: Store) -> None:
    await check(store)


@pytest.mark.anyio
async def test_the_contract_tells_a_broken_store() -> None:
    class Forgetful(MemoryStore):
        async def get(self, response_id: str) -> Held:
            return replace(await super().get(response_id), items=())

    with pytest.raises(AssertionError, match="comes back as it went in"):
        await check(Forgetful())


@pytest.mark.anyio
@pytest.mark.parametrize("held", [FETCHED, SEARCHED], ids=lambda held: held.kind)
async def test_what_was_put_comes_back_equal(store: Store, held: Held) -> None:
    response_id = await store.put(held)
    got = await store.get(response_id)
    assert got == replace(held, response_id=response_id, created_at=got.created_at)
    assert got.created_at.endswith("Z")


@pytest.mark.anyio
async def test_the_errors_say_which_id_it_was_and_what_to_do(store: Store) -> None:
    with pytest.raises(errors.UnknownResponse, match="unknown response_id " + "a" * 32) as unknown:
        await store.get("a" * 32)
    with pytest.raises(errors.InvalidArguments, match='invalid response_id "latest"') as invalid:
        await store.get("latest")
    assert "re-run the original call" in unknown.value.remedy
    assert "re-run the original call" in invalid.value.remedy


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda of: st.lists(of) | st.dictionaries(st.text(), of), max_leaves=8
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    markdown=st.text(st.characters(), max_size=50).flatmap(lambda text: st.integers(0, 200).map(lambda n: text * n)),
    structured=st.dictionaries(st.text(), json_values, max_size=4),
    title=st.text(st.characters()),
)
def test_any_text_and_any_data_round_trips(markdown: str, structured: dict[str, object], title: str) -> None:
    held = Held("web_fetch", (Item(document=Document(url="", markdown=markdown, title=title, structured=structured), extra=structured),))
    text, bodies = encoded(held)
    assert decoded(text, bodies.__getitem__) == held
    assert bodies_named(text) == list(bodies)
    assert all(len(body) > INLINE_BYTES for body in bodies.values())


def test_fields_of_another_version_are_passed_over() -> None:
    item = b'{"url":"u","document":{"url":"u","markdown":"m","mood":"good"}}'
    text = b'{"format":1,"bodies":[],"held":{"kind":"research","later":1,"items":[%s]}}' % item
    assert decoded(text, {}.__getitem__) == Held("research", (Item(url="u", document=Document(url="u", markdown="m")),))


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"null", b'{"held":[]}', b'{"held":{"kind":"x","items":[{"document":{}}]}}', b"[" * 5000]
)
def test_what_is_no_stored_result_is_a_value_error(text: bytes) -> None:
    with pytest.raises(ValueError):
        decoded(text, {}.__getitem__)


# Selectors


@pytest.mark.parametrize(
    ("selector", "index"),
    [
        pytest.param({}, 0, id="none: the first"),
        pytest.param({"url_index": 1}, 1, id="index"),
        pytest.param({"url": "http://harbour.example/tides"}, 0, id="as asked"),
        pytest.param({"url": "https://harbour.example/t"}, 0, id="an alias"),
        pytest.param({"url": PAGE.url}, 2, id="what was asked goes before where another ended"),
        pytest.param({"query": "when is high water?"}, 0, id="the prompt"),
        pytest.param({"query_index": 0}, 0, id="the prompt's index"),
        pytest.param({"url": "https://lost.example/", "url_index": 0}, 1, id="url before url_index"),
        pytest.param({"url_index": 2, "query": "when is high water?"}, 2, id="url_index before query"),
        pytest.param({"query": "when is high water?", "query_index": 9}, 0, id="query before query_index"),
        pytest.param({"url": "", "url_index": None, "query": ""}, 0, id="empty ones are none"),
    ],
)
def test_selectors_of_a_fetch(selector: dict[str, object], index: int) -> None:
    picked = select(FETCHED, **selector)  # type: ignore[arg-type]
    assert (picked.item, picked.url_index, picked.hit) == (FETCHED.items[index], index, None)


@pytest.mark.parametrize(
    "selector",
    [
        {"url": "https://harbour.example/tides/"},
        {"url": "HTTPS://harbour.example/t"},
        {"url_index": 3},
        {"url_index": -1},
        {"query": "When is high water?"},
        {"query_index": 1},
        {"query_index": -1},
    ],
    ids=str,
)
def test_only_an_exact_match_counts_and_the_others_are_listed(selector: dict[str, object]) -> None:
    with pytest.raises(errors.UnknownSelector) as caught:
        select(replace(FETCHED, response_id="b" * 32), **selector)  # type: ignore[arg-type]
    assert caught.value.message.splitlines()[1:] == [
        "url_index=0 url=http://harbour.example/tides",
        "url_index=1 url=https://lost.example/ (failed: http_error)",
        "url_index=2 url=https://harbour.example/tides",
        'query_index=0 query="when is high water?"',
    ]


def test_a_search_is_its_whole_list_one_query_of_it_or_one_result() -> None:
    found = SEARCHED.items[0].found
    assert found is not None
    assert select(SEARCHED).item.found == found
    terns = select(SEARCHED, query="terns")
    assert terns.item.found is not None
    assert [(hit.rank, hit.title) for hit in terns.item.found.results] == [(1, "Terns")]
    assert terns.item.found.errors == found.errors
    assert select(SEARCHED, query_index=1) == terns
    one = select(SEARCHED, url="https://birds.example/tern")
    assert (one.url_index, one.hit, one.item.body) == (1, found.results[1], LONG)
    assert select(SEARCHED, url_index=0).item.body == "They cry."
    with pytest.raises(errors.UnknownSelector, match="url_index=1 url=https://birds"):
        select(SEARCHED, url="https://birds.example/auk")


def test_searches_kept_one_by_one_are_one_list_too() -> None:
    items = tuple(Item(found=Found(q, "library", (Hit(q, f"https://{q}.example/", query=q, rank=1),))) for q in ("auk", "skua"))
    held = Held("web_search", items)
    whole = select(held).item.found
    assert whole is not None
    assert [(hit.rank, hit.title) for hit in whole.results] == [(1, "auk"), (2, "skua")]
    assert held.queries == whole.queries == ("auk", "skua")
    assert select(held, query="skua").item == items[1]


def test_a_long_list_of_selectors_stays_one_readable_message() -> None:
    held = Held("web_fetch", tuple(Item(url=f"https://h{n}.example/{'x' * 100}") for n in range(200)))
    with pytest.raises(errors.UnknownSelector) as caught:
        select(held, url_index=200)
    lines = caught.value.message.splitlines()
    assert len(caught.value.message) <= errors.MESSAGE_MAX_CHARS
    assert lines[-1] == f"... and {200 - (len(lines) - 2)} more"


def test_an_error_that_was_stored_can_be_raised_again() -> None:
    failure = FETCHED.items[1].failure()
    assert isinstance(failure, errors.HttpError)
    assert failure.as_dict() == FETCHED.items[1].error
    assert FETCHED.items[0].failure() is None
    assert isinstance(Item(error={"code": "of tomorrow", "message": "m"}).failure(), errors.Internal)


def test_metadata_says_what_is_known() -> None:
    facts = FETCHED.items[0].metadata()
    assert facts["sha256"] == "ef" * 32
    assert facts["final_url"] == PAGE.url
    assert "byline" not in facts


# The folder


@pytest.fixture
async def open_folder(tmp_path: Path) -> AsyncIterator[Callable[..., DirectoryStore]]:
    made: list[DirectoryStore] = []

    def open_(name: str = "results", **options: object) -> DirectoryStore:
        made.append(DirectoryStore(tmp_path / name, **options))  # type: ignore[arg-type]
        return made[-1]

    yield open_
    for store in made:
        await store.aclose()


OpenFolder = Callable[..., DirectoryStore]


def _files(folder: Path, ending: str) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.endswith(ending))


@pytest.mark.anyio
async def test_one_private_file_per_id_and_one_per_long_text(open_folder: OpenFolder, tmp_path: Path) -> None:
    store = open_folder()
    ids = [await store.put(FETCHED) for _ in range(3)]
    folder = tmp_path / "results"
    assert _files(folder, ".json") == sorted(f"{i}.json" for i in ids)
    assert len(_files(folder, ".body")) == 1
    assert _files(folder, "tmp") == []
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


@pytest.mark.anyio
async def test_an_open_folder_is_closed_to_others_or_refused_where_it_holds_other_things(open_folder: OpenFolder, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir(mode=0o755)
    await open_folder("empty").put(SEARCHED)
    assert stat.S_IMODE((tmp_path / "empty").stat().st_mode) == 0o700
    (tmp_path / "home").mkdir(mode=0o755)
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(errors.NotConfigured, match="open to others and holds other files"):
        await open_folder("home").put(SEARCHED)
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o755


@pytest.mark.anyio
async def test_a_closed_session_leaves_its_results(open_folder: OpenFolder) -> None:
    first = open_folder()
    response_id = await first.put(SEARCHED)
    await first.aclose()
    assert (await open_folder().get(response_id)).items == SEARCHED.items


@pytest.mark.anyio
async def test_the_front_holds_few_and_small_ones_and_forgets_nothing(open_folder: OpenFolder, tmp_path: Path) -> None:
    store = open_folder()
    ids = [await store.put(FETCHED) for _ in range(FRONT_ENTRIES + 5)]
    (tmp_path / "results" / f"{ids[0]}.json").unlink()  # so that only memory could answer
    (tmp_path / "results" / f"{ids[-1]}.json").unlink()
    assert (await store.get(ids[-1])).items == FETCHED.items
    with pytest.raises(errors.UnknownResponse):
        await store.get(ids[0])
    assert (await store.get(ids[1])).items == FETCHED.items
    big = await store.put(Held("research", (Item(text="x" * 5 * 1024**2),)))
    (tmp_path / "results" / f"{big}.json").unlink()
    with pytest.raises(errors.UnknownResponse):
        await store.get(big)


@pytest.mark.anyio
@pytest.mark.parametrize("harm", ["cut", "changed", "gone", "linked"])
async def test_a_damaged_result_is_unknown_and_never_half_of_itself(open_folder: OpenFolder, tmp_path: Path, harm: str) -> None:
    response_id = await open_folder().put(FETCHED)
    (body,) = (tmp_path / "results").glob("*.body")
    json_file = tmp_path / "results" / f"{response_id}.json"
    if harm == "cut":
        json_file.write_bytes(json_file.read_bytes()[:-9])
    elif harm == "changed":
        body.write_bytes(body.read_bytes()[:-1] + b"?")
    elif harm == "gone":
        body.unlink()
    else:
        json_file.rename(tmp_path / "elsewhere")
        json_file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(errors.UnknownResponse, match="unknown response_id") as caught:
        await open_folder().get(response_id)
    assert str(tmp_path) not in str(caught.value.as_dict())


@pytest.mark.anyio
async def test_session_then_data_then_older_companion(tmp_path: Path) -> None:
    data, older = DirectoryStore(tmp_path / "data"), DirectoryStore(tmp_path / "chat.web")
    in_data, in_older, in_both = await data.put(SEARCHED), await older.put(SEARCHED), "c" * 32
    await data.put(replace(SEARCHED, response_id=in_both, created_at="data"))
    await older.put(replace(SEARCHED, response_id=in_both, created_at="older"))
    await data.aclose()
    await older.aclose()
    before = sorted(path.name for path in (tmp_path / "chat.web").iterdir())
    store = open_store(StoreSettings(path=str(tmp_path / "data")), session=tmp_path / "chat")
    mine = await store.put(FETCHED)
    assert [path.name for path in (tmp_path / "chat" / "web").glob("*.json")] == [f"{mine}.json"]
    assert (await store.get(in_data)).items == (await store.get(in_older)).items == SEARCHED.items
    assert (await store.get(in_both)).created_at == "data"
    await store.put(replace(SEARCHED, response_id=in_both, created_at="session"))
    assert (await store.get(in_both)).created_at == "session"
    await store.aclose()
    assert sorted(path.name for path in (tmp_path / "chat.web").iterdir()) == before


@pytest.mark.anyio
async def test_the_settings_choose(tmp_path: Path) -> None:
    assert isinstance(open_store(StoreSettings(path="memory")), MemoryStore)
    store = open_store(StoreSettings())
    response_id = await store.put(SEARCHED)
    await store.aclose()
    made = [name for _, _, names in os.walk(os.environ["XDG_DATA_HOME"]) for name in names]
    assert f"{response_id}.json" in made


# Sweeping


async def _closed(store: DirectoryStore, count: int, size: int = 20_000) -> list[str]:
    ids = [await store.put(Held("research", (Item(text=f"{n}" * size),))) for n in range(count)]
    await store.aclose()
    return ids


def _aged(folder: Path, ids: list[str]) -> None:
    """The first is the oldest; no two have the same time."""
    for n, response_id in enumerate(reversed(ids)):
        then = time.time() - 100 * (n + 1)
        os.utime(folder / f"{response_id}.json", (then, then))


@pytest.mark.anyio
async def test_the_least_recently_used_go_first_until_the_rest_fits(open_folder: OpenFolder, tmp_path: Path) -> None:
    ids = await _closed(open_folder(), 10)
    _aged(tmp_path / "results", ids)
    reader = open_folder()
    await reader.get(ids[0])
    await reader.aclose()
    swept = await open_folder(max_bytes=105_000).sweep()
    left = {name.removesuffix(".json") for name in _files(tmp_path / "results", ".json")}
    assert left == {ids[0], *ids[7:]}
    assert swept.ids == swept.bodies == 6
    assert swept.bytes == sum(path.stat().st_size for path in (tmp_path / "results").iterdir() if not path.name.startswith("."))
    assert swept.bytes <= 105_000
    assert (await open_folder().get(ids[9])).items[0].text == "9" * 20_000


@pytest.mark.anyio
async def test_looking_is_not_using(open_folder: OpenFolder, tmp_path: Path) -> None:
    ids = await _closed(open_folder(), 6)
    _aged(tmp_path / "results", ids)
    await open_folder(max_bytes=10**9).sweep()
    await open_folder(max_bytes=65_000).sweep()
    assert {name.removesuffix(".json") for name in _files(tmp_path / "results", ".json")} == set(ids[4:])


@pytest.mark.anyio
async def test_what_is_too_old_goes_by_its_writing_and_not_by_its_reading(open_folder: OpenFolder, tmp_path: Path) -> None:
    ids = await _closed(open_folder(), 3)
    _aged(tmp_path / "results", ids)
    reader = open_folder()
    await reader.get(ids[0])
    await reader.aclose()
    await open_folder(max_bytes=0, max_age_s=150).sweep()
    assert _files(tmp_path / "results", ".json") == [f"{ids[2]}.json"]


@pytest.mark.anyio
async def test_nothing_that_an_open_store_put_or_read_goes(open_folder: OpenFolder, tmp_path: Path) -> None:
    old = await _closed(open_folder(), 3)
    _aged(tmp_path / "results", old)
    writer, reader = open_folder(), open_folder()
    mine = await writer.put(FETCHED)
    await reader.get(old[0])
    await open_folder(max_bytes=1).sweep()
    assert _files(tmp_path / "results", ".json") == sorted([f"{mine}.json", f"{old[0]}.json"])
    await writer.aclose()
    await reader.aclose()
    await open_folder(max_bytes=1).sweep()
    assert _files(tmp_path / "results", ".json") == _files(tmp_path / "results", ".body") == []


@pytest.mark.anyio
async def test_a_shared_body_stays_as_long_as_one_id_names_it(open_folder: OpenFolder, tmp_path: Path) -> None:
    first, second = open_folder(), open_folder()
    gone, kept = await first.put(FETCHED), await second.put(FETCHED)
    await first.aclose()
    await open_folder(max_bytes=1).sweep()
    assert _files(tmp_path / "results", ".json") == [f"{kept}.json"]
    assert gone != kept
    assert (await open_folder().get(kept)).items == FETCHED.items


def test_three_processes_that_sweep_each_other_lose_nothing_they_hold(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    with support_hold.Pool(3) as pool:
        assert pool.starmap(support_hold.hold_under_sweeps, [(str(folder), name, 30) for name in "abc"], chunksize=1) == [0, 0, 0]


@pytest.mark.anyio
async def test_a_program_that_was_stopped_in_a_write_stops_nobody_else_for_ever(
    open_folder: OpenFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_folder(max_bytes=0)  # it sweeps when told, and not beside this test
    kept = await store.put(SEARCHED)
    stopped = Folder(tmp_path / "results")
    (tmp_path / "results" / ".tmp-left").write_bytes(b"")
    with stopped._locked(alone=False):
        with monkeypatch.context() as impatient:
            impatient.setattr(folder_room, "ALONE_S", 0.02)
            await store.sweep()
        assert (tmp_path / "results" / ".tmp-left").exists()
        await store.put(SEARCHED)
    with stopped._locked(alone=True), monkeypatch.context() as impatient:
        impatient.setattr(folder_room, "SHARED_S", 0.02)
        with pytest.raises(errors.NotConfigured, match="keeps the folder locked") as caught:
            await store.put(FETCHED)
    assert caught.value.retryable
    await store.put(FETCHED)
    assert (await open_folder().get(kept)).items == SEARCHED.items


@pytest.mark.anyio
async def test_a_store_that_nobody_closed_lets_go_when_it_is_gone(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "results", max_bytes=0)
    await store.put(SEARCHED)
    assert len(_notes(tmp_path / "results")) == 1
    del store
    gc.collect()
    assert _notes(tmp_path / "results") == []


def _notes(folder: Path) -> list[Path]:
    return list(folder.glob(".live-*"))


@pytest.mark.anyio
async def test_leftovers_of_a_crash_go(open_folder: OpenFolder, tmp_path: Path) -> None:
    store = open_folder()
    kept = await store.put(FETCHED)
    (tmp_path / "results" / ".tmp-1-aa").write_bytes(b"half")
    (tmp_path / "results" / ("0" * 64 + ".body")).write_bytes(b"nobody's")
    (tmp_path / "results" / ".live-dead").write_text("f" * 32 + "\n")
    await store.sweep()
    assert _files(tmp_path / "results", "aa") == _files(tmp_path / "results", "0.body") == []
    assert (await open_folder().get(kept)).items == FETCHED.items
    await open_folder(max_bytes=1).sweep()
    assert len(_files(tmp_path / "results", ".json")) == 1
    assert not (tmp_path / "results" / ".live-dead").exists()


@pytest.mark.anyio
async def test_a_folder_over_its_budget_is_swept_by_writing_alone(open_folder: OpenFolder, tmp_path: Path) -> None:
    old = await _closed(open_folder(), 10)
    _aged(tmp_path / "results", old)
    store = open_folder(max_bytes=150_000)
    for n in range(3):
        await store.put(Held("research", (Item(text=f"new {n}" * 2000),)))
    await store.aclose()
    assert sum(path.stat().st_size for path in (tmp_path / "results").iterdir()) <= 170_000


@pytest.mark.anyio
async def test_programs_that_live_for_one_call_sweep_too(open_folder: OpenFolder, tmp_path: Path) -> None:
    old = await _closed(open_folder(), 10)
    _aged(tmp_path / "results", old)
    hours_ago = time.time() - 7200
    os.utime(tmp_path / "results" / ".swept", (hours_ago, hours_ago))
    store = open_folder(max_bytes=100_000)
    await store.put(SEARCHED)
    await store.aclose()
    assert sum(path.stat().st_size for path in (tmp_path / "results").iterdir()) <= 100_000


def test_a_store_that_stays_open_for_months_holds_its_latest_ids_only(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir(mode=0o700)
    mine, other = Folder(tmp_path / "f"), Folder(tmp_path / "f")
    mine._open()
    for n in range(2 * HOLDS + 1):
        mine._note(f"{n:032x}")
    held = other._held_live()
    assert len(held) == HOLDS
    assert f"{2 * HOLDS:032x}" in held
    mine._note("f" * 32)
    assert "f" * 32 in other._held_live()
    mine.release()
    assert other._held_live() == set()


# Trouble with the disk


AS_NOBODY = """
import asyncio, concurrent.futures.thread, fcntl, os, sys
from cormorant.errors import NotConfigured
from cormorant.store.held import Held
from cormorant.store import DirectoryStore
if os.getuid() == 0:  # after the imports: the interpreter's own files may be closed to others
    os.setgid(65534)
    os.setuid(65534)
try:
    asyncio.run(DirectoryStore(sys.argv[1]).put(Held("research")))
except NotConfigured as error:
    print(error.message, "|", error.remedy, "|", error.code)
"""


def _put_as_nobody(path: Path) -> str:
    done = subprocess.run([sys.executable, "-c", AS_NOBODY, str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert str(path) not in done.stdout
    return done.stdout


@pytest.fixture
def open_way() -> Iterator[Path]:
    """A folder that everybody may enter: pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


def test_a_folder_of_somebody_else_is_refused(open_way: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder that belongs to somebody else")
    (open_way / "theirs").mkdir()
    (open_way / "theirs").chmod(0o777)
    assert "belongs to another user" in _put_as_nobody(open_way / "theirs")


def test_a_folder_that_may_not_be_made_is_refused(open_way: Path) -> None:
    (open_way / "closed").mkdir()
    (open_way / "closed").chmod(0o755 if os.geteuid() == 0 else 0o555)
    assert "may not be written" in _put_as_nobody(open_way / "closed" / "results")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("error", "says"),
    [(28, "no space is left"), (30, "can only be read"), (122, "quota"), (5, "input/output error")],
    ids=["full", "read-only", "quota", "broken"],
)
async def test_a_disk_that_says_no_is_told_and_leaves_nothing_behind(
    open_folder: OpenFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int, says: str
) -> None:
    store = open_folder()
    kept = await store.put(SEARCHED)

    def full(at: int) -> None:
        raise OSError(error, os.strerror(error), str(tmp_path))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(errors.NotConfigured, match=says) as caught:
            await store.put(FETCHED)
    assert str(tmp_path) not in str(caught.value.as_dict())
    assert caught.value.remedy
    assert _files(tmp_path / "results", ".json") == [f"{kept}.json"]
    assert [name for name in os.listdir(tmp_path / "results") if name.startswith(".tmp")] == []
    assert (await store.get(await store.put(FETCHED))).items == FETCHED.items


@pytest.mark.anyio
@pytest.mark.parametrize("what", ["file", "under a file"])
async def test_a_path_that_is_no_folder(tmp_path: Path, what: str) -> None:
    (tmp_path / "file").write_text("")
    store = DirectoryStore(tmp_path / "file" if what == "file" else tmp_path / "file" / "results")
    with pytest.raises(errors.NotConfigured, match="not a folder") as caught:
        await store.put(SEARCHED)
    assert str(tmp_path) not in str(caught.value.as_dict())
    with pytest.raises(errors.UnknownResponse):
        await store.get("d" * 32)


def test_a_system_without_file_locks_is_told_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(errors.NotConfigured, match="no file locks") as caught:
        DirectoryStore(tmp_path / "results")
    assert 'store.path = "memory"' in caught.value.remedy


@pytest.mark.anyio
async def test_data_nested_without_end_is_refused_and_not_a_crash(open_folder: OpenFolder) -> None:
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"in": deep}
    with pytest.raises(errors.TooLarge, match="nested too deep"):
        await open_folder().put(Held("web_fetch", (Item(extra=deep),)))


@pytest.mark.anyio
async def test_memory_keeps_to_its_bytes(tmp_path: Path) -> None:
    store = MemoryStore(max_bytes=100_000)
    ids = [await store.put(Held("research", (Item(text="x" * 30_000),))) for _ in range(4)]
    await store.get(ids[1])
    with pytest.raises(errors.UnknownResponse):
        await store.get(ids[0])
    await store.put(Held("research", (Item(text="x" * 30_000),)))
    assert (await store.get(ids[1])).items
    with pytest.raises(errors.UnknownResponse):
        await store.get(ids[2])
