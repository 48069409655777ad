"""Random Markdown documents, of our own words, for the tests of views and passages."""

from __future__ import annotations

from hypothesis import strategies as st

SAID = (
    "gate sluice water the a of keeper tide 1974 3.5 Harlow e.g. Ünal 水門 堰を閉める ประตูน้ำ бассейн שער بوابة 👩‍👩‍👧 🇨🇭 "
    "naïve `code` **bold** [link](https://x.example/a?b=c) <b> x²"
)
WORDS = st.sampled_from(SAID.split())
SENTENCE = st.lists(WORDS, min_size=1, max_size=18).map(lambda words: " ".join(words) + ".")
PARAGRAPH = st.lists(SENTENCE, min_size=1, max_size=6).map(" ".join)
HEADING = st.tuples(st.integers(1, 6), st.sampled_from(["Install", "API", "FAQ", "40-90", 'The "end"', "", "Ends…", "水門"])).map(
    lambda made: "#" * made[0] + " " + made[1]
)
ROW = st.lists(WORDS, min_size=2, max_size=2).map(lambda cells: "| " + " | ".join(cell.replace("|", "") for cell in cells) + " |")
TABLE = st.lists(ROW, min_size=1, max_size=15).map(lambda rows: "\n".join(["| name | size |", "|---|---|", *rows]))
CODE = st.tuples(st.sampled_from(["```py\n", "~~~\n", "````\n"]), st.lists(WORDS, max_size=20)).map(
    lambda made: made[0] + "\n".join(["# not a heading", *made[1]]) + "\n" + made[0].strip("py\n")
)
LIST = st.tuples(st.sampled_from(["- ", "1. ", "* "]), st.lists(SENTENCE, min_size=1, max_size=8)).map(
    lambda made: "\n".join(made[0] + line for line in made[1])
)
QUOTE = PARAGRAPH.map(lambda said: "> " + said)
LONG = st.integers(1, 3000).map(lambda size: "x" * size)
ODD = st.sampled_from(
    ["", "---", "```", "|", "| a |\n|---|", "> ", "\u200d", "\ud800", "<div>\n<p>x", "    code", "#", "a\n===", "\x0b", "| a | b |\n|-|-|"]
)
BLOCK = st.one_of(PARAGRAPH, HEADING, TABLE, CODE, LIST, QUOTE, LONG, ODD)
MARKDOWN = st.lists(BLOCK, max_size=14).map("\n\n".join)
TIGHT = st.lists(BLOCK, max_size=14).map("\n".join)
DOCUMENTS = st.one_of(MARKDOWN, TIGHT, st.text(max_size=400))
