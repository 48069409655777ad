"""Search, read, rank, write, verify: what each stage leaves, and what happens when one fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import anyio
import pytest

from cormorant.answer import NO_ANSWER, NO_EVIDENCE, NO_RESULTS, Answer, Options, Reflection, answer
from cormorant.citations import Source
from cormorant.document import Document
from cormorant.errors import CormorantError, NotAllowed, ProviderError, Robots, Timeout, Vetoed
from cormorant.events import Event, HostedActivity
from cormorant.rank.words import Words
from cormorant.search import Found, Hit, Query
from cormorant.writers.quote import Quote

pytestmark = pytest.mark.anyio

GATE = "# Gates\n\nThe gate at Norwell was built in 1974 by Ada Brandt. It weighs 31 tonnes."
PINS = "Bronze pins of the gate last 12 years. Steel pins last 7 years."
QUESTION = "When was the gate at Norwell built?"


class Scripted:
    """A writer that says what it is told to, and remembers what it was shown."""

    label = "scripted::model"

    def __init__(self, *pieces: str | Event | CormorantError) -> None:
        self.pieces = pieces
        self.shown: list[Sequence[Source]] = []

    async def write(self, question: str, sources: Sequence[Source]) -> AsyncIterator[str | Event]:
        self.shown.append(sources)
        for piece in self.pieces:
            if isinstance(piece, CormorantError):
                raise piece
            yield piece


class Made:
    """One run: the answer or the error, and every event."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.answer: Answer | None = None
        self.error: CormorantError | None = None
        self.read: list[str] = []

    @property
    def names(self) -> list[str]:
        return [str(e.data.get("phase") or e.data.get("output_key") or e.event) + ":" + str(e.data.get("status", "")) for e in self.events]

    @property
    def result(self) -> Mapping[str, Any]:
        assert self.answer is not None
        return self.answer.as_dict()

    @property
    def partials(self) -> str:
        return "".join(e.data["content"] for e in self.events if e.event == "tool_partial_update")


async def run(
    pages: Mapping[str, str | CormorantError],
    *,
    writer: Any = None,
    reranker: Any = None,
    snippets: Mapping[str, str] | None = None,
    options: Options | None = None,
    search_error: CormorantError | None = None,
    **more: Any,
) -> Made:
    made = Made()

    async def search(query: Query) -> Found:
        if search_error:
            raise search_error
        hits = tuple(Hit(f"Title of {url}", url, (snippets or {}).get(url, "")) for url in pages)
        return Found(query.text, "canned", hits)

    async def read(url: str, budget: int) -> Document:
        made.read.append(url)
        page = pages[url]
        if isinstance(page, CormorantError):
            raise page
        return Document(url, page)

    async def emit(event: Event) -> None:
        made.events.append(event)

    try:
        made.answer = await answer(
            QUESTION, search=search, read=read, reranker=reranker or Words(), writer=writer or Quote(), emit=emit, options=options, **more
        )
    except CormorantError as error:
        made.error = error
    return made


ONE, TWO, DEAD = "https://a.example/1", "https://b.example/2", "https://dead.example/3"


async def test_events_come_in_their_order_and_shapes() -> None:
    made = await run({ONE: GATE, TWO: PINS})
    kinds = [(e.event, e.data.get("phase"), e.data.get("status"), e.data.get("output_key")) for e in made.events]
    assert kinds[:9] == [
        ("tool_update", "WEB_SEARCH", "started", None),
        ("tool_update", "WEB_SEARCH", "completed", "sources"),
        ("tool_update", "SCRAPING_URLS", "started", None),
        ("tool_update", "SCRAPING_URLS", "completed", None),
        ("tool_update", "RERANKING", "started", None),
        ("tool_update", "RERANKING", "completed", None),
        ("tool_update", None, None, "reranked_results"),
        ("tool_update", None, None, "sources"),
        ("tool_update", "GENERATION", "started", None),
    ]
    assert kinds[-2] == ("tool_update", "GENERATION", "completed", None)
    assert kinds[-1][0] == "tool_end"
    assert {kind[0] for kind in kinds[9:-2]} == {"tool_partial_update"}
    data = [e.data for e in made.events]
    assert data[0] == {"phase": "WEB_SEARCH", "status": "started", "query": QUESTION}
    assert data[1]["data"]["results_count"] == 2
    assert list(data[1]["data"]["sources"][0]) == ["rank", "title", "url", "snippet", "engine", "score"]
    assert data[2]["data"] == {"url_count": 2}
    assert data[3]["data"] == {"scraped_count": 2}
    assert data[5]["data"] == {"reranked_count": 2}
    assert data[6] == {"reranked_results": len(made.result["sources"]), "output_key": "reranked_results"}
    assert list(data[7]["sources"][0]) == ["rank", "title", "url", "snippet", "rerank_score", "used_in_response"]
    assert data[7]["sources"][0]["used_in_response"] is False
    assert data[-1] == made.result


async def test_the_result_has_every_field() -> None:
    result = (await run({ONE: GATE, TWO: PINS})).result
    wanted = (
        "query response sources sources_used verdicts not_reached model reranker total_results reranked_results execution_id"
        " reflection response_id ledger"
    )
    assert set(wanted.split()) <= set(result)
    assert result["query"] == QUESTION
    assert result["model"] == "quote::extractive"
    assert result["reranker"] == "words::bm25"
    assert result["total_results"] == 2
    assert result["execution_id"].startswith("call_")
    assert 1 in result["sources_used"]
    assert result["sources"][0]["used_in_response"] is True
    assert "1974" in result["response"]
    assert f'<web_citation url="{ONE}"' in result["response"]


async def test_partials_joined_are_the_answer_before_citations() -> None:
    made = await run({ONE: GATE}, writer=Scripted("Built in 19", "74 <sour", "ce_1>. Odd <source_", "7>."))
    assert made.partials == "Built in 1974 <source_1>. Odd."
    assert made.answer is not None
    assert made.answer.text == made.partials


async def test_a_page_that_can_not_be_read_is_not_reached_and_its_snippet_stands_in() -> None:
    refusal = NotAllowed('host "dead.example" is not allowed by policy', remedy="cormorant egress allow dead.example")
    made = await run({DEAD: refusal, TWO: PINS}, snippets={DEAD: "The gate at Norwell was built in 1974."})
    assert made.result["not_reached"] == [
        {"url": DEAD, "code": "not_allowed", "reason": refusal.message, "command": "cormorant egress allow dead.example"}
    ]
    kinds = {source["url"]: source["content_kind"] for source in made.result["sources"]}
    assert kinds[DEAD] == "snippet"
    assert "1974" in made.result["response"]
    assert made.events[3].data["data"] == {"scraped_count": 1}


async def test_a_page_that_failed_without_a_snippet_is_no_source() -> None:
    made = await run({ONE: GATE, DEAD: Robots("disallowed")}, writer=Scripted("Built in 1974 <source_1>, see <source_2>."))
    assert [source["url"] for source in made.result["sources"]] == [ONE]
    assert made.result["sources_used"] == [1]
    assert made.result["response"].count("web_citation") == 2
    assert made.result["warnings"] == ["unknown_source"]


async def test_no_results_means_no_generation() -> None:
    writer = Scripted("invented")
    made = await run({}, writer=writer)
    assert made.result["response"] == NO_RESULTS == made.partials
    assert made.result["sources"] == []
    assert writer.shown == []
    assert [e.data.get("phase") for e in made.events if "phase" in e.data] == ["WEB_SEARCH", "WEB_SEARCH"]
    assert made.events[-1].event == "tool_end"


async def test_nothing_readable_means_no_generation() -> None:
    writer = Scripted("invented")
    made = await run({DEAD: Robots("disallowed")}, writer=writer)
    assert made.result["response"] == NO_EVIDENCE
    assert writer.shown == []
    assert made.result["not_reached"][0]["code"] == "robots"


async def test_an_empty_page_is_not_reached() -> None:
    made = await run({ONE: "  \n", TWO: GATE})
    assert [entry["code"] for entry in made.result["not_reached"]] == ["empty_page"]


async def test_a_writer_that_says_nothing_is_an_honest_answer() -> None:
    made = await run({ONE: GATE}, writer=Scripted())
    assert made.result["response"] == NO_ANSWER
    assert made.result["sources_used"] == []


async def test_without_scraping_the_stage_is_not_told() -> None:
    made = await run({ONE: GATE}, snippets={ONE: "The gate was built in 1974."}, options=Options(scrape="off"))
    assert made.read == []
    assert "SCRAPING_URLS" not in str([e.data for e in made.events])
    assert made.result["sources"][0]["content_kind"] == "snippet"
    assert any("scrape is off" in note for note in made.result["notes"])


async def test_auto_does_not_try_what_the_policy_refuses() -> None:
    def allowed(url: str) -> CormorantError | None:
        return NotAllowed("no", remedy="cormorant egress allow dead.example") if url == DEAD else None

    made = await run({ONE: GATE, DEAD: GATE}, allowed=allowed)
    assert made.read == [ONE]
    assert [entry["url"] for entry in made.result["not_reached"]] == [DEAD]
    forced = await run({ONE: GATE, DEAD: GATE}, allowed=allowed, options=Options(scrape="on"))
    assert forced.read == [ONE, DEAD]


async def test_two_addresses_of_one_page_are_one_source() -> None:
    made = await run({ONE: GATE, f"{ONE}#part": GATE})
    assert len(made.result["sources"]) == 1


async def test_every_cited_claim_has_a_verdict_with_its_span() -> None:
    said = "The gate at Norwell was built in 1974 <source_1>. It weighs 13 tonnes <source_1>. Steel pins last 7 years <source_2>."
    made = await run({ONE: GATE, TWO: PINS}, writer=Scripted(said))
    verdicts = made.result["verdicts"]
    assert [(v["source"], v["verdict"] in ("exact", "close")) for v in verdicts] == [(1, True), (1, False), (2, True)]
    assert verdicts[1]["verdict"] == "mismatch"
    pages = {source["rank"]: {ONE: GATE, TWO: PINS}[source["url"]] for source in made.result["sources"]}
    for verdict in verdicts:
        assert pages[verdict["source"]][slice(*verdict["span"])] == verdict["quote"]


async def test_a_false_sentence_is_marked_or_dropped() -> None:
    said = "Built in 1974 by Ada Brandt <source_1>. The gate weighs 13 tonnes <source_1>. Nothing else is known."
    marked = await run({ONE: GATE}, writer=Scripted(said))
    assert "[contradicts its source]" in marked.result["response"]
    dropped = await run({ONE: GATE}, writer=Scripted(said), options=Options(unsupported="drop"))
    assert "13 tonnes" not in dropped.result["response"]
    assert dropped.result["response"].endswith("Nothing else is known.")
    assert dropped.partials == said


async def test_an_answer_of_nothing_but_false_sentences_says_that_there_is_none() -> None:
    made = await run({ONE: GATE}, writer=Scripted("The gate weighs 13 tonnes <source_1>."), options=Options(unsupported="drop"))
    assert made.result["response"] == NO_ANSWER
    assert made.result["sources_used"] == []


async def test_reflection_is_kept_apart() -> None:
    writer = Scripted(Reflection("Let me think. "), "Built in 1974 <source_1>.", Reflection("Done."))
    plain = await run({ONE: GATE}, writer=writer)
    assert plain.result["reflection"] == "Let me think. Done."
    assert "think" not in plain.result["response"] + plain.partials
    shown = await run({ONE: GATE}, writer=writer, options=Options(include_reflection=True))
    assert shown.result["response"].startswith("Let me think.")


async def test_a_model_s_own_search_is_told_as_an_event() -> None:
    made = await run({ONE: GATE}, writer=Scripted(HostedActivity("web_search", "gates"), "Built in 1974 <source_1>."))
    assert [e.data for e in made.events if e.event == "hosted_tool_activity"] == [{"name": "web_search", "detail": "gates"}]


@pytest.mark.parametrize("stage", ["search", "write", "write late", "finish"])
async def test_a_failure_ends_in_exactly_one_error_event(stage: str) -> None:
    error = ProviderError("the backend is down")
    if stage == "search":
        made = await run({ONE: GATE}, search_error=error)
    elif stage == "finish":

        async def finish(made: Answer) -> Answer:
            raise Vetoed("gate x said no")

        made = await run({ONE: GATE}, finish=finish)
    else:
        made = await run({ONE: GATE}, writer=Scripted(*(["Built in"] if stage == "write late" else []), error))
    assert made.error is not None
    ends = [e for e in made.events if e.event in ("tool_end", "error")]
    assert [e.event for e in ends] == ["error"]
    assert made.events[-1].data == {"message": made.error.message, "code": made.error.code}


async def test_a_reranker_that_fails_is_skipped_and_said() -> None:
    class Broken:
        label = "api::x"

        async def score(self, question: str, texts: list[str]) -> list[float]:
            raise ProviderError("HTTP 500")

    made = await run({ONE: GATE, TWO: PINS}, reranker=Broken())
    assert [source["url"] for source in made.result["sources"]] == [ONE, TWO]
    assert any("reranking was skipped" in note for note in made.result["notes"])


class Stuck:
    label = "stuck::x"

    def __init__(self, *first: str) -> None:
        self.first = first

    async def score(self, question: str, texts: list[str]) -> list[float]:
        await anyio.sleep_forever()
        return []

    async def write(self, question: str, sources: Sequence[Source]) -> AsyncIterator[str]:
        for piece in self.first:
            yield piece
        await anyio.sleep_forever()


async def test_every_stage_has_a_deadline() -> None:
    late = await run({ONE: GATE}, reranker=Stuck(), options=Options(rank_s=0.02))
    assert any("reranking was skipped" in note for note in late.result["notes"])
    cut = await run({ONE: GATE}, writer=Stuck("Built in 1974 <source_1>. And"), options=Options(write_s=0.05))
    assert cut.partials == "Built in 1974 <source_1>. And"
    assert any("stops where it was" in note for note in cut.result["notes"])
    silent = await run({ONE: GATE}, writer=Stuck(), options=Options(write_s=0.02))
    assert isinstance(silent.error, Timeout)


async def test_a_slow_page_does_not_hold_the_others() -> None:
    async def read(url: str, budget: int) -> Document:
        if url == DEAD:
            await anyio.sleep_forever()
        return Document(url, GATE)

    async def search(query: Query) -> Found:
        return Found(query.text, "canned", (Hit("a", DEAD), Hit("b", ONE)))

    made = await answer(QUESTION, search=search, read=read, reranker=Words(), writer=Quote(), options=Options(read_s=0.05))
    assert [entry["code"] for entry in made.not_reached] == ["timeout"]
    assert made.sources_used == (1,)


async def test_reading_is_bounded() -> None:
    at_once = most = 0

    async def read(url: str, budget: int) -> Document:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await anyio.lowlevel.checkpoint()
        at_once -= 1
        return Document(url, GATE)

    async def search(query: Query) -> Found:
        return Found(query.text, "canned", tuple(Hit("t", f"https://h{n}.example/") for n in range(20)))

    await answer(QUESTION, search=search, read=read, reranker=Words(), writer=Quote(), options=Options(concurrency=3))
    assert most <= 3


async def test_cancellation_reaches_the_stage_and_emits_nothing_more() -> None:
    events: list[Event] = []

    async def emit(event: Event) -> None:
        events.append(event)

    async def search(query: Query) -> Found:
        await anyio.sleep_forever()
        raise AssertionError

    with anyio.move_on_after(0.02):
        await answer(QUESTION, search=search, read=None, reranker=Words(), writer=Quote(), emit=emit)
    assert [e.event for e in events] == ["tool_update"]


async def test_the_writer_sees_numbered_passages_within_its_budget() -> None:
    long = "\n\n".join(f"Paragraph {n} tells of the gate at Norwell and its year {1900 + n}." for n in range(90))
    writer = Scripted("x")
    await run({ONE: long, TWO: PINS}, writer=writer, options=Options(budget=300))
    (sources,) = writer.shown
    assert [source.number for source in sources] == [1, 2]
    assert sum(len(source.text) for source in sources) < 300 * 8


async def test_passages_have_id_span_and_link() -> None:
    source = (await run({ONE: GATE})).result["sources"][0]
    passage = source["passages"][0]
    assert GATE[slice(*passage["span"])].startswith(("#", "The gate"))
    assert passage["link"].startswith(f"{ONE}#:~:text=")
    assert passage["id"]
    assert len(source["sha256"]) == 64


async def test_the_same_answer_in_another_style() -> None:
    made = await run({ONE: GATE}, writer=Scripted("Built in 1974 <source_1>."))
    assert made.answer is not None
    assert made.answer.cited("plain") == "Built in 1974 [1]."
    assert made.answer.cited("footnote").endswith(f"(<{ONE}>)")


async def test_an_excerpt_of_code_or_of_a_table_still_reads_as_that() -> None:
    """A stretch of a listing without its fence would be quoted as prose, and a row without its head says nothing."""
    rows = "\n".join(f"| gate {n} | {1900 + n} |" for n in range(400))
    listing = "\n".join(f"open_gate({n})  # the gate at Norwell was built" for n in range(400))
    page = f"# Gates\n\n```python\n{listing}\n```\n\n| name | built |\n|---|---|\n{rows}\n\nThe gate at Norwell was built in 1974."
    writer = Scripted("x")
    await run({ONE: page}, writer=writer, options=Options(budget=400))
    (shown,) = (source.text for source in writer.shown[0])
    assert shown.count("```") % 2 == 0
    code = "".join(shown.split("```")[1::2])
    assert code.count("open_gate") == shown.count("open_gate") > 0
    assert "| gate" not in shown or "| name | built |" in shown
