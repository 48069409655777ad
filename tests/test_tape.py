"""A session that was recorded plays again byte for byte, with nobody on the other side."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from cormorant import CormorantError, Web
from cormorant.errors import InvalidArguments, NotConfigured, ReplayMiss
from support_canary import CANARY
from support_net import answer, serving
from support_web import GUIDE, LOCAL, index, opened

SESSION = [
    ("a page", lambda web, site: web.fetch(f"{site}/guide", budget=600, query="installer")),
    ("the same page again, from the session's cache", lambda web, site: web.fetch(f"{site}/guide", view="summary")),
    ("a redirect", lambda web, site: web.fetch(f"{site}/old")),
    ("a redirect written in the page", lambda web, site: web.fetch(f"{site}/refresh")),
    ("a status", lambda web, site: web.fetch(f"{site}/gone")),
    ("a page that is none", lambda web, site: web.fetch(f"{site}/soft")),
    ("robots.txt says no", lambda web, site: web.fetch(f"{site}/secret")),
    ("a redirect into the network", lambda web, site: web.fetch(f"{site}/inside")),
    ("a name nobody has", lambda web, site: web.fetch("http://nowhere.example/")),
    ("a file", lambda web, site: web.fetch("./note.txt")),
    ("several at once", lambda web, site: web.fetch([f"{site}/note.txt", f"{site}/missing", f"{site}/guide"])),
    ("a search", lambda web, site: web.search("varnish a dinghy")),
    ("a search that nobody answers", lambda web, site: web.search("tides", provider="brave")),
    ("a search with its pages", lambda web, site: web.search("storm", include_content=True)),
    ("an answer", lambda web, site: web.answer("When was the harbour wall rebuilt?")),
    ("research", lambda web, site: web.research("What is a dinghy?", steps=3)),
]


async def nowhere(host: str, port: int) -> list[str]:
    return []


async def told(web: Web, site: str) -> list[str]:
    """Everything a session brings, errors too, as text."""
    found = []
    for name, call in SESSION:
        try:
            result = await call(web, site)
            found.append(f"{name}\n{result.as_text()}\n{json.dumps(result.as_dict(), default=str)}")
        except CormorantError as error:
            found.append(f"{name}\n{json.dumps(error.as_dict())}")
    return found


async def recorded(folder: Path, tape: Path) -> tuple[list[str], str]:
    (folder / "note.txt").write_text("Varnish before spring.")
    async with opened(folder, record=tape, workspace=folder, resolve=nowhere) as (web, _, site):
        await index(web, folder / "docs")
        return await told(web, site), site


@pytest.mark.parametrize("name", ["session.warc.gz", "session.warc"])
async def test_a_session_plays_again_byte_for_byte(tmp_path, name) -> None:
    tape = tmp_path / name
    first, site = await recorded(tmp_path, tape)
    away = tmp_path / "elsewhere"
    away.mkdir()
    settings = LOCAL | {"library": {"path": str(away / "library.db")}, "store": {"path": str(away / "results")}}
    # Nothing of the first session is left: the site is gone, the library and the folder are empty.
    for _ in range(2):
        async with Web(settings, replay=tape, workspace=away, resolve=nowhere) as web:
            assert await told(web, site) == first


async def test_what_the_tape_does_not_hold_is_said(tmp_path) -> None:
    tape = tmp_path / "session.warc.gz"
    async with opened(tmp_path, record=tape) as (web, _, site):
        await web.fetch(f"{site}/note.txt")
    async with Web(LOCAL, replay=tape) as web:
        with pytest.raises(ReplayMiss, match=r"the tape holds no GET http://127\.0\.0\.1:[0-9]+/guide"):
            await web.fetch(f"{site}/guide")
        with pytest.raises(ReplayMiss, match="no search for"):
            await web.search("tides")


async def test_the_same_question_gets_its_answers_in_order(tmp_path) -> None:
    tape = tmp_path / "session.warc.gz"
    bodies = iter(["high water", "low water"])
    async with serving({"/robots.txt": answer(404), "/now": lambda _: answer(200, next(bodies), {"content-type": "text/plain"})}) as server:
        url = server.url("/now", host="127.0.0.1")
        async with Web(LOCAL, record=tape) as web:
            first = [(await web.fetch(url, refresh=True)).content for _ in range(2)]
    assert first == ["high water", "low water"]
    async with Web(LOCAL, replay=tape) as web:
        again = [(await web.fetch(url, refresh=True)).content for _ in range(3)]
    assert again == [*first, "low water"]


async def test_a_tape_goes_on_where_it_ended(tmp_path) -> None:
    tape = tmp_path / "session.warc.gz"
    for path in ("/guide", "/note.txt"):
        async with opened(tmp_path, record=tape) as (web, _, site):
            await web.fetch(f"{site}{path}")
            last = f"{site}{path}"
    async with Web(LOCAL, replay=tape) as web:
        assert "High water at six" in (await web.fetch(last)).content


async def test_no_secret_is_on_the_tape(tmp_path) -> None:
    tape = tmp_path / "session.warc.gz"
    echo = answer(
        200, gzip.compress(f"<main><p>The key is {CANARY}.</p>".encode()), {"content-encoding": "gzip", "content-type": "text/html"}
    )
    asked = answer(200, GUIDE, [("content-type", "text/html"), ("set-cookie", "session=a-visitor-known-by-this; Path=/")])
    async with serving({"/robots.txt": answer(404), "/echo": echo, "/guide": asked}) as server, Web(LOCAL, record=tape) as web:
        page = await web.fetch(server.url("/echo", host="127.0.0.1"))
        assert CANARY in page.content
        await web.fetch(server.url("/guide", host="127.0.0.1"))
        with pytest.raises(CormorantError):
            await web.fetch(server.url(f"/?key={CANARY}", host="127.0.0.1"))
    written = gzip.decompress(tape.read_bytes())
    assert b"The key is [REDACTED]" in written
    assert CANARY.encode() not in written
    assert b"a-visitor-known-by-this" not in written
    assert tape.stat().st_mode & 0o777 == 0o600


async def test_what_a_crash_left_half_written_is_passed_over(tmp_path) -> None:
    tape = tmp_path / "session.warc.gz"
    async with opened(tmp_path, record=tape) as (web, _, site):
        await web.fetch(f"{site}/guide")
        whole = tape.stat().st_size
        await web.fetch(f"{site}/note.txt")
    tape.write_bytes(tape.read_bytes()[: whole + 40])
    async with Web(LOCAL, replay=tape) as web:
        assert (await web.fetch(f"{site}/guide")).title == "Tide guide"
        with pytest.raises(ReplayMiss):
            await web.fetch(f"{site}/note.txt")


async def test_other_tools_can_read_a_tape(tmp_path) -> None:
    archive = pytest.importorskip("warcio.archiveiterator")
    tape = tmp_path / "session.warc.gz"
    async with opened(tmp_path, record=tape) as (web, _, site):
        await web.fetch(f"{site}/old")
    with tape.open("rb") as file:
        kinds = [
            (
                record.rec_type,
                record.rec_headers.get_header("WARC-Target-URI"),
                record.http_headers and record.http_headers.get_statuscode(),
            )
            for record in archive.ArchiveIterator(file)
        ]
    assert kinds[0][0] == "warcinfo"
    assert ("response", f"{site}/old", "301") in kinds
    assert ("response", f"{site}/guide", "200") in kinds
    assert [url for kind, url, _ in kinds if kind == "request"] == [f"{site}/robots.txt", f"{site}/old", f"{site}/guide"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        pytest.param({"record": "a.warc", "replay": "b.warc"}, "recorded or replayed, not both", id="both"),
        pytest.param({"replay": "missing.warc.gz"}, "can't be played", id="no such file"),
        pytest.param({"replay": "other.txt"}, "can't be played", id="no tape"),
        pytest.param({"record": "."}, "can't be written", id="a folder"),
    ],
)
def test_what_can_be_no_tape_is_said(tmp_path, monkeypatch, options, says) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.txt").write_text("just words\n")
    with pytest.raises(InvalidArguments, match=says):
        Web(LOCAL, **options)


def test_without_the_extra_the_error_names_it(monkeypatch, tmp_path) -> None:
    monkeypatch.setitem(sys.modules, "warcio", None)
    for part in [name for name in sys.modules if name.startswith("warcio.")]:
        monkeypatch.delitem(sys.modules, part)
    with pytest.raises(NotConfigured, match="extra `tape`"):
        Web(LOCAL, record=tmp_path / "tape.warc.gz")
