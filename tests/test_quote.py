"""The writer without a model: best sentences, each cited, none twice, honest when nothing answers."""

from __future__ import annotations

import pytest

from cormorant.answer.standing import standings
from cormorant.citations import Source, cited
from cormorant.verify import verify
from cormorant.writers.quotable import shown
from cormorant.writers.quote import Quote
from cormorant.writers.wanted import Wanted, wanted

pytestmark = pytest.mark.anyio

GATE = Source(
    1,
    "https://a.example/gate",
    "The gate",
    "# The gate at Norwell\n\nThe gate at Norwell was built in **1974** by [Ada Brandt](https://a.example/brandt). It weighs 31 tonnes.\n\n"
    "The town has a market on Tuesdays. Visitors park by the mill.",
    score=0.9,
)
PINS = Source(
    2, "https://b.example/pins", "Pins", "Bronze pins last 12 years. The gate at Norwell was built in 1974 by Ada Brandt.", score=0.5
)
OTHER = Source(3, "https://c.example/bread", "Bread", "Rye bread keeps for a week. Wheat bread does not.", score=0.0)


async def written(question: str, *sources: Source, sentences: int = 5) -> str:
    return "".join([piece async for piece in Quote(sentences).write(question, sources)])


async def test_the_best_sentence_is_quoted_with_its_source() -> None:
    text = await written("When was the gate at Norwell built?", GATE, OTHER, sentences=1)
    assert text == "The gate at Norwell was built in 1974 by Ada Brandt. <source_1>"


async def test_what_two_sources_say_is_said_once_with_both() -> None:
    text = await written("When was the gate at Norwell built?", GATE, PINS)
    assert text.count("1974") == 1
    assert cited(text) == [1, 2]


async def test_nothing_is_said_when_nothing_answers() -> None:
    assert await written("Which comet passed the sun in March?", GATE, OTHER) == ""
    assert await written("When was it?") == ""
    assert await written("", GATE) == ""


async def test_words_that_only_ask_do_not_decide_whether_a_short_question_is_answered() -> None:
    rules = Source(
        1, "https://a.example/rules", "Rules", "## Lists\n\nHosts on this list are allowed: `ferry allow HOST` adds one.\n", score=1.0
    )
    assert (
        await written("How do I allow a host?", rules, OTHER) == "Hosts on this list are allowed: `ferry allow HOST` adds one. <source_1>"
    )
    how = Source(1, "https://a.example/how", "How", "## How I do it\n\nHow do I do a thing? As I do: a host knows how.\n", score=1.0)
    assert await written("How do I allow a host?", how, OTHER) == ""


async def test_headings_and_marks_are_not_quoted() -> None:
    text = await written("What is the gate at Norwell?", GATE)
    assert "#" not in text
    assert "](" not in text
    assert "**" not in text


async def test_the_best_sentence_leads_and_the_others_of_its_page_follow_in_its_order() -> None:
    page = Source(1, "u", "t", "The lock opened in 1974.\n\nThe lock was closed in 1990. The lock is 12 metres wide.", score=1.0)
    text = await written("lock opened closed wide metres", page)
    assert text.index("12 metres") < text.index("1974") < text.index("1990")


async def test_every_piece_is_a_sentence_with_its_marker() -> None:
    pieces = [piece async for piece in Quote(3).write("gate pins Norwell years", [GATE, PINS])]
    assert pieces
    assert all(piece.rstrip().endswith(">") for piece in pieces)


async def test_what_it_quotes_holds() -> None:
    pages = {1: GATE.text, 2: PINS.text}
    text = await written("Who built the gate at Norwell, and how long do pins last?", GATE, PINS)
    found = standings(text, pages)
    assert found
    assert all(standing.holds for standing in found)
    assert verify([("The gate at Norwell was built in 1974 by Ada Brandt.", 0)], [GATE.text])[0].verdict == "exact"


@pytest.mark.parametrize(
    ("question", "page", "part"),
    [
        ("¿Cuándo se inauguró el puente?", "El puente se inauguró en 1931. El molino es de piedra.", "1931"),
        ("青石大桥哪一年通车？", "青石大桥于1974年建成通车。图书馆藏书三百万册。", "1974"),
        ("Когда построена обсерватория?", "Обсерватория построена в 1903 году. Город стоит на реке.", "1903"),
        ("متى افتتح الجسر؟", "افتتح الجسر عام ١٩٧٤. تقع المدينة على النهر.", "١٩٧٤"),
        ("Wann wurde die Mühle errichtet?", "Die Mühle wurde 1789 errichtet. Der Bach ist kalt.", "1789"),
        ("Kale ne zaman onarıldı?", "Kale 1453 yılında onarıldı. Çarşı kalabalıktır.", "1453"),
    ],
)
async def test_dates_and_numbers_are_kept_in_any_script(question: str, page: str, part: str) -> None:
    assert part in await written(question, Source(1, "u", "t", page, score=1.0), sentences=1)


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        ("- **Bold** and [a link](https://x.example/a_(b) \"t\") here", "Bold and a link here"),
        ("> 1. quoted [^3] item [12]", "quoted item"),
        ("| Year | Tonnes |", "Year · Tonnes"),
        ("![alt](https://x.example/i.png) text", "text"),
        ("snake_case and a*b stay", "snake_case and a*b stay"),
        ("5 \\* 3", "5 * 3"),
    ],
)  # fmt: skip
def test_markdown_is_shown_as_it_is_read(raw: str, wanted: str) -> None:
    assert shown(raw) == wanted


async def test_code_is_neither_quoted_as_a_sentence_nor_changed_inside_one() -> None:
    page = (
        "# Tides\n\nCall `tide.__aexit__()` when the gauge stops, and *never* before.\n\n"
        "```sh\ntide gauge stop --when the gauge stops\n```\n\n- `tide.gauge`\n"
    )
    said = "".join(
        [piece async for piece in Quote().write("When the gauge stops, what is called?", [Source(1, "https://a.example/", "T", page)])]
    )
    assert said == "Call `tide.__aexit__()` when the gauge stops, and never before. <source_1>"


FILLER = " ".join(f"The keeper of pier {n} painted the gates and closed the ledger." for n in range(12))


@pytest.mark.parametrize(
    ("page", "question", "has", "lacks"),
    [
        pytest.param(
            "# Lock\n\n## 3. How long is the lock at Brimley\n\nThe lock at Brimley is 58 metres long.",
            "How long is the lock at Brimley?",
            "58 metres",
            "3. How",
            id="a numbered heading",
        ),
        pytest.param(
            "- [The lock at Brimley and its length](a.html)\n- [3.1. Length of the lock](b.html)\n\nThe lock at Brimley is 58 metres long.",
            "How long is the lock at Brimley?",
            "58 metres",
            "its length",
            id="links of a menu",
        ),
        pytest.param(
            "**7.4. Length of the lock at Brimley**\n\nThe lock at Brimley is 58 metres long.",
            "How long is the lock at Brimley?",
            "58 metres",
            "Length of",
            id="a heading set in bold",
        ),
        pytest.param(
            "How long is the lock at Brimley?\n\nIt measures 58 metres between its gates.",
            "How long is the lock at Brimley?",
            "58 metres",
            "How long",
            id="a question that the page asks itself",
        ),
        pytest.param(
            "The lock at Brimley holds two boats and its chamber is 58 metres long between\nthe gates, which were built of oak.",
            "How long is the lock at Brimley?",
            "58 metres long between the gates, which were built of oak.",
            "\n",
            id="a sentence over two lines",
        ),
        pytest.param(
            "The lock at Brimley is long (eg. 58 metres between its gates) and narrow.",
            "How long is the lock at Brimley?",
            "58 metres between its gates) and narrow.",
            "zzz",
            id="a short form inside brackets",
        ),
    ],
)
async def test_what_stands_on_a_page_and_says_nothing_is_not_quoted(page: str, question: str, has: str, lacks: str) -> None:
    text = await written(question, Source(1, "https://a.example/", "Locks", f"{page}\n\n{FILLER}"))
    assert has in text
    assert lacks not in text


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("Who wrote the novel Moby Dick?", f"Some of the examples were written by Ada Brandt. {FILLER}"),
        ("What is the capital of Australia?", f"A capital letter begins every name in the ledger. {FILLER}"),
        ("Wer schrieb den Roman Moby Dick?", "Die Tore wurden im Jahr 1974 gestrichen, und wer sie sah, der lobte den Meister."),
        ("¿Cuál es la capital de Australia?", "La puerta de la esclusa fue construida en 1974 y es de roble."),
        ("Кто написал роман о белом ките?", "Ворота шлюза были построены в 1974 году, и о них знает Ада Брандт."),
        ("澳大利亚的首都是什么？", "诺维尔的闸门建于1974年，由布兰特建造，重三十一吨。"),
    ],
)
async def test_a_page_that_shares_a_word_with_a_question_does_not_answer_it(question: str, page: str) -> None:
    assert await written(question, Source(1, "https://a.example/", "Locks", page)) == ""


async def test_a_torn_line_is_not_what_an_answer_begins_with() -> None:
    page = f"of the lock at Brimley and its length of 58 metres and more\n\n{FILLER}\n\nThe lock at Brimley has a length of 58 metres."
    text = await written("What is the length of the lock at Brimley?", Source(1, "https://a.example/", "Locks", page))
    assert text.startswith("The lock at Brimley has a length of 58 metres.")


DOCS = """# Tide gauge

The tide gauge is a float in a pipe that writes the height of the water. It was bought from a clockmaker.

## Installing

Put the float into its pipe. Then run this:

```sh
gauge install --pipe 3
```

Leave the lid open until the float has settled for an hour.

## Settings

### `gauge.pause`

Seconds between two readings.

`gauge.read(pipe, times=1)`

Gives the height of the water in a pipe, in millimetres.

The kinds of alarm are:

- flood, which rings all bells
- ebb, which rings one bell
- silence, which rings nobody

| Pipe | Material | Depth in metres |
|---|---|---|
| northern pipe | oak | 7 |
| southern pipe | bronze | 9 |
"""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        pytest.param(
            "What is the tide gauge?",
            "The tide gauge is a float in a pipe that writes the height of the water. <source_1>",
            id="the sentence that defines it",
        ),
        pytest.param("How do I install the gauge?", "Then run this:\n\n```sh\ngauge install --pipe 3\n```\n<source_1>", id="its command"),
        pytest.param(
            "How many seconds does gauge.pause set?", "`gauge.pause`: Seconds between two readings. <source_1>", id="the entry it is under"
        ),
        pytest.param(
            "What does gauge.read give?",
            "`gauge.read(pipe, times=1)`: Gives the height of the water in a pipe, in millimetres. <source_1>",
            id="the name set as code above it",
        ),
        pytest.param(
            "Which kinds of alarm are there?",
            "The kinds of alarm are: <source_1>\n\n- flood, which rings all bells <source_1>\n- ebb, which rings one bell <source_1>",
            id="the list that a line leads into",
        ),
        pytest.param(
            "How deep is the southern pipe?", "southern pipe · Material: bronze · Depth in metres: 9 <source_1>", id="a row with its heads"
        ),
    ],
)
async def test_a_part_that_can_not_be_read_alone_takes_with_it_what_it_needs(question: str, first: str) -> None:
    text = await written(question, Source(1, "https://a.example/", "Tide gauge", DOCS, score=1.0))
    assert text.startswith(first)
    assert all(standing.holds for standing in standings(text, {1: DOCS}))


async def test_a_sentence_that_leans_on_the_one_before_brings_it() -> None:
    page = f"{FILLER}\n\nThe mill at Norwell has a wheel of oak. It was rebuilt in 1974 by the carpenter Ada Brandt after a flood."
    said = await written("Who was the carpenter that rebuilt in 1974 after the flood?", Source(1, "u", "Mills", page, score=1.0))
    assert "The mill at Norwell has a wheel of oak. <source_1> It was rebuilt in 1974" in said
    assert said.count("wheel of oak") == 1


async def test_a_question_is_not_answered_by_itself() -> None:
    page = f'Ask `gauge "How deep is the pipe?"` for a reading.\n\n{FILLER}\n\nThe pipe is 7 metres deep.'
    assert (await written("How deep is the pipe?", Source(1, "u", "Pipes", page, score=1.0))).startswith("The pipe is 7 metres deep.")


async def test_what_the_writer_is_shown_of_a_page_does_not_hide_what_stands_beside_it() -> None:
    """A source's text may be passages; headings and the sentence before come from the page."""
    seen = Source(1, "u", "Tide gauge", "Seconds between two readings.", score=1.0, page=DOCS)
    assert (await written("How many seconds does gauge.pause set?", seen)).startswith("`gauge.pause`: Seconds")


@pytest.mark.parametrize(
    ("question", "subject", "steps"),
    [
        ("What is a dinghy?", ("dinghy",), False),
        ("What does functools.lru_cache do?", ("functools", "lru_cache"), False),
        ("Was ist ein Pegel?", ("Pegel",), False),
        ("¿Qué es una esclusa?", ("esclusa",), False),
        ("Qu'est-ce que la marée ?", ("marée",), False),
        ("Что такое шлюз?", ("шлюз",), False),
        ("闸门是什么？", ("闸门",), False),
        ("What is the depth of the water in the northern pipe?", (), False),
        ("When was the gate built?", (), False),
        ("How do I install the gauge?", (), True),
        ("Wie kann ich den Pegel ablesen?", (), True),
    ],
)
def test_the_form_of_a_question_tells_what_it_wants(question: str, subject: tuple[str, ...], steps: bool) -> None:
    assert wanted(question) == Wanted(subject, steps)
