"""robots.txt: every line of RFC 9309 as a table, and the ten-minute keep with a scripted server behind it."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cormorant import errors
from cormorant.address import Url, parse
from cormorant.robots import KEEP_FAILED_S, KEEP_S, MAX_BYTES, Keep, Robots

SITE = "https://harbour.example"


def test_the_collected_decisions(cases: Path) -> None:
    wrong = []
    for line in (cases / "robots.jsonl").read_text().splitlines():
        row = json.loads(line)
        # `google-literal` rows want percent-encoding compared byte for byte; RFC 9309 2.2.2 says otherwise, other rows
        # of the same file ask for what it says, and the two contradict each other on the same input.
        expected = not row["allow"] if row["cls"] == "google-literal" else row["allow"]
        if Robots(row["robots"]).allows(row["ua"], row["url"]) != expected:
            wrong.append(row["id"])
    assert wrong == []


@pytest.mark.parametrize(
    ("rule", "path", "matches"),
    [
        pytest.param("/", "/any/thing", True, id="everything"),
        pytest.param("/gulls", "/gulls.html", True, id="a prefix"),
        pytest.param("/gulls", "/Gulls", False, id="paths keep their case"),
        pytest.param("gulls", "/gulls", False, id="no slash, no match"),
        pytest.param("*gulls", "/a/gulls", True, id="a star first"),
        pytest.param("/*.pdf$", "/a/b.pdf", True, id="the end"),
        pytest.param("/*.pdf$", "/a/b.pdf?x=1", False, id="the end is the query's end"),
        pytest.param("/a*b$", "/ab", True, id="a star is nothing too"),
        pytest.param("/a*ab$", "/ab", False, id="pieces do not overlap"),
        pytest.param("/a*b*b$", "/ab", False, id="each piece has its own place"),
        pytest.param("/a$b", "/a$b", True, id="a dollar inside is a dollar"),
        pytest.param("/a%24", "/a$", True, id="an escaped dollar is a dollar"),
        pytest.param("/a-%2A.html", "/a-*.html", True, id="an escaped star is a star"),
        pytest.param("/a-%2A.html", "/a-b.html", False, id="and nothing else"),
        pytest.param("/a*$", "/abc", True, id="a star before the end"),
        pytest.param("/%7ejo", "/~jo", True, id="unreserved, escaped in the rule"),
        pytest.param("/~jo", "/%7Ejo", True, id="unreserved, escaped in the address"),
        pytest.param("/m%c3%bcnze", "/münze", True, id="hex in either case"),
        pytest.param("/münze", "/m%C3%BCnze", True, id="raw in the rule"),
        pytest.param("/a b", "/a%20b", True, id="a space"),
        pytest.param('/a"b', "/a%22b", True, id="a character no address may hold"),
        pytest.param("/a/b", "/a%2Fb", False, id="an escaped slash is no slash in a path"),
        pytest.param("/a?u=http://x", "/a?u=http%3A%2F%2Fx", True, id="and is one in a query"),
        pytest.param("/a?u=http%3A%2F%2Fx", "/a?u=http://x", True, id="the other way round"),
        pytest.param("/*%2Fx", "/a?u=%2Fx", True, id="an escaped slash behind a star"),
        pytest.param("/*/x", "/a?u=/x", True, id="a slash behind a star"),
        pytest.param("/a:b", "/a%3Ab", True, id="a colon either way"),
        pytest.param("/%zz", "/%zz", True, id="a broken escape stays"),
    ],
)
def test_one_rule_against_one_path(rule: str, path: str, matches: bool) -> None:
    assert Robots(f"User-agent: *\nDisallow: {rule}\n").allows("cormorant", SITE + path) is not matches


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        pytest.param("User-agent: cormorant\nDisallow: /", False, id="by name"),
        pytest.param("User-agent: CORMORANT\nDisallow: /", False, id="in any case"),
        pytest.param("User-agent: cormorant/2.1\nDisallow: /", False, id="with a version"),
        pytest.param("User-agent: cormorants\nDisallow: /", True, id="not a longer name"),
        pytest.param("User-agent: corm\nDisallow: /", True, id="not a shorter name"),
        pytest.param("User-agent: cormorant2\nDisallow: /", True, id="not a name with a digit"),
        pytest.param("User-agent: *\nDisallow: /\nUser-agent: cormorant\nAllow: /", True, id="its own group before the general one"),
        pytest.param("User-agent: cormorant\nDisallow:\n\nUser-agent: *\nDisallow: /", True, id="its own group even when it says nothing"),
        pytest.param(
            "User-agent: cormorant\nAllow: /x\nUser-agent: other\nDisallow: /\nUser-agent: cormorant\nDisallow: /p",
            False,
            id="groups merge",
        ),
        pytest.param("User-agent: cormorant\n\n\nDisallow: /", False, id="blank lines mean nothing"),
        pytest.param(
            "User-agent: cormorant\nCrawl-delay: 1\nFoo: bar\nUser-agent: gull\nDisallow: /", False, id="other lines end no group"
        ),
        pytest.param("Disallow: /\nUser-agent: gull\nDisallow: /", True, id="rules without a group"),
        pytest.param("User-agent: *\nDisallow: /p\nAllow: /p", True, id="allow wins ties"),
        pytest.param("User-agent: *\nAllow: /\nDisallow: /p", False, id="the longest wins"),
        pytest.param("User-agent: *\nDissallow: /", False, id="a mistyped disallow"),
        pytest.param("User-agent *\nDisallow /", False, id="no colon"),
        pytest.param("User-agent: *\nDisallow: / # all of it", False, id="a comment behind"),
        pytest.param("User-agent: *\rDisallow: /", False, id="old Mac lines"),
        pytest.param("User-agent: *\r\nDisallow: /\r\n", False, id="DOS lines"),
        pytest.param("\ufeffUser-agent: *\nDisallow: /", False, id="a byte order mark"),
        pytest.param("ï»¿User-agent: *\nDisallow: /", False, id="a byte order mark read as Latin-1"),
        pytest.param(b"\xef\xbbUser-agent: *\nDisallow: /", False, id="half a byte order mark"),
        pytest.param(b"\x00\xff\xfe{}\nUser-agent: *\nDisallow: /", False, id="rubbish before"),
        pytest.param("", True, id="empty"),
    ],
)
def test_who_is_meant_and_what_counts(body: str | bytes, allowed: bool) -> None:
    assert Robots(body).allows("cormorant", f"{SITE}/p") is allowed


def test_only_the_first_500_kib_count_and_no_half_line() -> None:
    head = "User-agent: *\nAllow: /\n#"
    room = MAX_BYTES - len(head) - len("\nDisallow: /pri")
    body = head + "x" * room + "\nDisallow: /private\nDisallow: /late\n"
    assert Robots(body).allows("cormorant", f"{SITE}/private")
    assert Robots(body).allows("cormorant", f"{SITE}/late")
    assert not Robots(body[: len(head)] + "\nDisallow: /late\n").allows("cormorant", f"{SITE}/late")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("User-agent: *\nDisallow: /" + "*a" * 8000 + "b$\n", id="stars"),
        pytest.param("User-agent: *\n" + "Disallow: /*a*b\n" * 30_000, id="many rules"),
        pytest.param("User-agent: x\n" * 17_000 + "Disallow: /y\n" * 17_000, id="many names times many rules"),
        pytest.param("".join(f"User-agent: a{n}\n" for n in range(15_000)) + "Disallow: /y\n" * 17_000, id="many different names"),
    ],
)
def test_no_file_takes_long(body: str) -> None:
    began = time.process_time()
    assert Robots(body).allows("cormorant", f"{SITE}/{'a' * 16_000}")
    assert time.process_time() - began < 2


@given(st.text(alphabet="/*ab$", max_size=10), st.text(alphabet="/ab", max_size=14))
def test_one_pass_finds_what_trying_everything_finds(rule: str, path: str) -> None:
    """The matcher takes the leftmost place for each piece; a regular expression tries them all."""
    body, end = (rule[:-1], "$") if rule.endswith("$") else (rule, "")
    pattern = "".join(".*" if letter == "*" else "%24" if letter == "$" else re.escape(letter) for letter in f"/{body}")
    expected = re.match(pattern + end, f"/{path}") is not None
    assert Robots(f"User-agent: *\nDisallow: /{rule}\n").allows("cormorant", f"{SITE}/{path}") is not expected


@given(st.text(alphabet="/*$ab%2F?:", max_size=12), st.text(alphabet="/ab%2F?:*$", max_size=12))
def test_the_longer_spelling_never_decides_otherwise(rule: str, path: str) -> None:
    """A rule that forbids exactly this address, written as it is, forbids it; and nothing raises."""
    robots = Robots(f"User-agent: *\nDisallow: /{rule}\n")
    assert robots.allows("cormorant", f"{SITE}/{path}") in (True, False)
    literal = path.replace("*", "%2A").replace("$", "%24")
    if "#" not in path and literal == literal.strip():
        assert not Robots(f"User-agent: *\nDisallow: /{literal}\n").allows("cormorant", f"{SITE}/{path}")


def test_what_else_a_file_says() -> None:
    robots = Robots(
        "Content-Signal: ai-train=no\nSitemap: https://harbour.example/map.xml\n"
        "User-agent: *\nContent-Signal: search=yes, ai-input=no\nCrawl-delay: 2.5\nDisallow: /x\n"
        "User-agent: gull\nCrawl-delay: soon\nDisallow: /y\n"
    )
    assert robots.sitemaps == ("https://harbour.example/map.xml",)
    assert robots.content_signals("cormorant") == {"ai-train": False, "search": True, "ai-input": False}
    assert robots.content_signals("gull") == {"ai-train": False}
    assert robots.crawl_delay("cormorant") == 2.5
    assert robots.crawl_delay("gull") is None
    rule = robots.rule_for("cormorant", f"{SITE}/x/y")
    assert rule is not None
    assert (str(rule), rule.line) == ("Disallow: /x", 6)


class Clock:
    """Time that moves when the test says so, or when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


class Server:
    """Answers robots.txt as scripted, and counts."""

    def __init__(self, answer: tuple[int | None, bytes] | errors.CormorantError) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, url: str) -> tuple[int | None, bytes]:
        self.asked.append(url)
        await self.gate.wait()
        if isinstance(self.answer, errors.CormorantError):
            raise self.answer
        return self.answer


PAGE = parse(f"{SITE}/nets/mending?knot=3#top")
FORBID = b"User-agent: cormorant\nDisallow: /nets/\n"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param((200, FORBID), '"Disallow: /nets/" (line 2 of https://harbour.example/robots.txt)', id="a rule"),
        pytest.param((404, FORBID), "", id="missing allows"),
        pytest.param((401, FORBID), "", id="every 4xx allows"),
        pytest.param((429, b""), "", id="429 too"),
        pytest.param((503, b""), "answered 503", id="5xx forbids"),
        pytest.param((None, b""), "did not answer", id="silence forbids"),
        pytest.param((302, b""), "answered 302", id="a redirect nobody followed forbids"),
        pytest.param(errors.Timeout("slow"), "could not be read (timeout)", id="a timeout forbids"),
        pytest.param(errors.Network("reset"), "could not be read (network)", id="a network error forbids"),
        pytest.param(errors.Redirect("six hops", status=302), "could not be read (redirect)", id="too many redirects forbid"),
        pytest.param(errors.HttpError("gone", status=410), "", id="an error that carries 4xx allows"),
        pytest.param(errors.HttpError("down", status=500), "answered 500", id="an error that carries 5xx forbids"),
    ],
)
async def test_what_a_download_means(answer: tuple[int | None, bytes] | errors.CormorantError, says: str) -> None:
    keep = Keep(Server(answer))
    if not says:
        await keep.check(PAGE)
        return
    with pytest.raises(errors.Robots) as caught:
        await keep.check(PAGE)
    assert says in caught.value.message
    assert "/nets/mending?knot=3" in caught.value.message
    assert f"{SITE}/robots.txt" in caught.value.message
    assert caught.value.url == PAGE.href
    assert caught.value.remedy


@pytest.mark.anyio
async def test_the_file_itself_may_always_be_read() -> None:
    server = Server((200, b"User-agent: *\nDisallow: /\n"))
    await Keep(server).check(parse(f"{SITE}/robots.txt?v=2"))
    assert server.asked == []


@pytest.mark.anyio
@pytest.mark.parametrize("answer", [errors.PrivateAddress("10.0.0.1"), errors.BudgetSpent("requests")])
async def test_a_refusal_of_the_file_reaches_the_caller_and_is_not_kept(answer: errors.CormorantError) -> None:
    server = Server(answer)
    keep = Keep(server)
    for _ in range(2):
        with pytest.raises(type(answer)):
            await keep.check(PAGE)
    assert len(server.asked) == 2


@pytest.mark.anyio
@pytest.mark.parametrize("failed", [errors.Dns("no such name"), errors.Tls("expired")])
async def test_a_host_that_is_not_there_is_said_and_not_blamed_on_its_rules(failed: errors.CormorantError) -> None:
    keep = Keep(Server(failed))
    for _ in range(2):
        with pytest.raises(type(failed), match=str(failed)) as caught:
            await keep.check(PAGE)
        assert caught.value.url == PAGE.href


@pytest.mark.anyio
async def test_it_is_kept_ten_minutes_per_origin() -> None:
    clock, server = Clock(), Server((200, b""))
    keep = Keep(server, clock=clock)
    await keep.check(PAGE)
    clock.now += KEEP_S - 1
    await keep.check(parse(f"{SITE}/elsewhere"))
    assert len(server.asked) == 1
    await keep.check(parse("https://harbour.example:8443/x"))
    await keep.check(parse("http://harbour.example/x"))
    assert server.asked[1:] == ["https://harbour.example:8443/robots.txt", "http://harbour.example/robots.txt"]
    clock.now += 2
    await keep.check(PAGE)
    assert len(server.asked) == 4


@pytest.mark.anyio
async def test_a_failure_is_kept_for_a_minute_only() -> None:
    clock, server = Clock(), Server((503, b""))
    keep = Keep(server, clock=clock)
    for _ in range(2):
        with pytest.raises(errors.Robots):
            await keep.check(PAGE)
    assert len(server.asked) == 1
    clock.now += KEEP_FAILED_S + 1
    server.answer = (200, b"")
    await keep.check(PAGE)


async def _settle(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("never came about")


@pytest.mark.anyio
async def test_one_request_in_flight_and_a_caller_who_gives_up_takes_nothing_from_the_others() -> None:
    server = Server((200, FORBID))
    server.gate.clear()
    keep = Keep(server)
    waiting = [asyncio.create_task(keep.check(PAGE)) for _ in range(5)]
    await _settle(lambda: len(server.asked) == 1)
    waiting[0].cancel()
    await asyncio.wait(waiting[:1])
    server.gate.set()
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(end) for end in ended] == [asyncio.CancelledError, *[errors.Robots] * 4]
    assert len(server.asked) == 1


@pytest.mark.anyio
async def test_when_everybody_gives_up_the_request_ends_and_the_next_caller_asks_anew() -> None:
    server = Server((200, b""))
    server.gate.clear()
    keep = Keep(server)
    waiting = asyncio.create_task(keep.check(PAGE))
    await _settle(lambda: len(server.asked) == 1)
    waiting.cancel()
    await asyncio.wait([waiting])
    server.gate.set()
    await keep.check(PAGE)
    assert len(server.asked) == 2


@pytest.mark.anyio
async def test_the_number_of_origins_kept_is_bounded() -> None:
    server = Server((404, b""))
    keep = Keep(server)
    for n in range(600):
        await keep.check(parse(f"https://h{n}.example/"))
    await keep.check(parse("https://h599.example/"))
    assert len(server.asked) == 600
    await keep.check(parse("https://h0.example/"))
    assert len(server.asked) == 601


@pytest.mark.anyio
async def test_the_room_that_large_files_take_is_bounded_too() -> None:
    server = Server((200, b"User-agent: *\nDisallow: /x\n#" + b"x" * 400_000))
    keep = Keep(server)
    for n in range(15):
        await keep.check(parse(f"https://h{n}.example/"))
    await keep.check(parse("https://h14.example/"))
    assert len(server.asked) == 15
    await keep.check(parse("https://h0.example/"))
    assert len(server.asked) == 16


@pytest.mark.anyio
async def test_a_crawl_delay_is_waited_for_within_the_deadline() -> None:
    clock, server = Clock(), Server((200, b"User-agent: *\nCrawl-delay: 3\nDisallow: /x\n"))
    keep = Keep(server, clock=clock, sleep=clock.sleep)
    turns: Callable[[Url, float], Awaitable[float]] = keep.wait_turn
    assert await turns(PAGE, 10) == 0
    assert await turns(PAGE, 10) == 3
    assert clock.now == 1003
    with pytest.raises(errors.RateLimited) as caught:
        await turns(PAGE, 1)
    assert caught.value.retry_after == 3
    clock.now += 3
    assert await turns(PAGE, 1) == 0
    assert await turns(parse("https://other.example/"), 1) == 0
