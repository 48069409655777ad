"""Main-content selection: kinds of pages that are often read wrongly, each written for this test."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from cormorant.extract.html.blocks import cut, prune
from cormorant.extract.html.select import select


def blocks_of(html: str) -> list[str]:
    return [block.text for block in cut(LexborHTMLParser(html).body).blocks]


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        pytest.param("<p>one <b>two</b> three</p><p>four</p>", ["one two three", "four"], id="inline runs on"),
        pytest.param("<div>one<p>two</p>three</div>", ["one", "two", "three"], id="text beside a block"),
        pytest.param("<a href=/x><div>one</div><div>two</div></a>", ["one", "two"], id="blocks inside a link"),
        pytest.param("<div>one<br>two<br><br>three</div>", ["one two", "three"], id="two breaks part paragraphs"),
        pytest.param("<p>one</p><select><option>two</select><p>three</p>", ["one", "", "three"], id="controls say nothing"),
        pytest.param("<p>one <script>two</script>three</p>", ["one three"], id="scripts are not text"),
    ],
)
def test_a_page_is_cut_where_block_elements_begin_and_end(html: str, texts: list[str]) -> None:
    assert blocks_of(html) == texts


def test_pruning_removes_exactly_the_dropped_blocks() -> None:
    tree = LexborHTMLParser("<div>lead <b>bold</b><p>gone</p><a href=/x>tail<p>stays</p></a></div><ul><li>gone<li>gone</ul>")
    page = cut(tree.body)
    prune(page, [block.text != "gone" for block in page.blocks])
    assert tree.body.html == '<body><div>lead <b>bold</b><a href="/x">tail<p>stays</p></a></div></body>'


def test_ten_thousand_nested_elements_are_walked() -> None:
    tree = LexborHTMLParser("<div>" * 10_000 + "deep")
    assert select(tree.body).words == 1


def test_an_empty_page_has_no_content() -> None:
    chosen = select(LexborHTMLParser("<div></div>").body)
    assert (chosen.kept_words, chosen.confidence) == (0, 0.0)
