"""Main-content selection: kinds of pages that are often read wrongly, each written for this test."""

from __future__ import annotations

import time

import numpy as np
import pytest
from selectolax.lexbor import LexborHTMLParser

import support_pages as pages
from cormorant.extract.html.blocks import cut, prune
from cormorant.extract.html.columns import describe, opinions
from cormorant.extract.html.features import Facts, Table
from cormorant.extract.html.forest import FILE, Forest, load
from cormorant.extract.html.select import Selection, select


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


def read(html: str) -> tuple[str, Selection]:
    """The text that is left, and what was said about it."""
    tree = LexborHTMLParser(html)
    title = tree.css_first("title").text()
    chosen = select(tree.body, title=title, url="https://quayside.example/notes/lock.html")
    return " ".join(tree.body.text(separator=" ").split()), chosen


@pytest.mark.parametrize(
    ("html", "stays", "goes"),
    [
        pytest.param(pages.article(), pages.STORY, ("Weather", "Imprint", "All rights reserved"), id="article"),
        pytest.param(
            pages.page(
                '<div id="privacy-sheet">' + pages.consent("")[5:] + f"<main><h1>Dry dock closed</h1><p>{pages.STORY[0]}</p></main>",
                "Dry dock closed",
            ),
            (pages.STORY[0],),
            ("partners", "We value your privacy"),
            id="consent longer than the story",
        ),
        pytest.param(
            pages.page(
                f"<main><h1>Dry dock closed</h1><p>{pages.STORY[0]}</p><p>{pages.STORY[1]}</p></main>"
                + pages.consent("class=x7 role=dialog", 20)
            ),
            (pages.STORY[0], pages.STORY[1]),
            ("partners",),
            id="consent at the end under a name that says nothing",
        ),
        pytest.param(pages.article(wrapper="contentWithSidebar"), pages.STORY, ("Weather",), id="a wrapper with sidebar in its name"),
        pytest.param(
            pages.page(
                f"<div class=intro><p>Our paper has been printed since 1887.</p></div><main><h1>A winter at the "
                f"lock</h1>{pages.paragraphs()}"
                f"<h2>Afterwards</h2>{pages.paragraphs(pages.STORY[::-1])}</main>"
            ),
            (*pages.STORY, "Afterwards"),
            ("Weather",),
            id="main with the bulk of the text",
        ),
        pytest.param(
            pages.article(
                "".join(
                    pages.section(name, n)
                    for n, name in enumerate(("Release", "Reception", "Related work", "Sponsors", "Legacy", "Comments"))
                )
            ),
            ("Release", "Related work", "In the year 1892", "Sponsors", "In the year 1893", "Legacy", "In the year 1895"),
            ("Weather",),
            id="sections named like clutter",
        ),
        pytest.param(
            pages.article("<div class=authors>Ana Quill and Tom Reed</div>"),
            ("Ana Quill and Tom Reed",),
            ("Weather",),
            id="a line between paragraphs under a name of clutter",
        ),
        pytest.param(
            pages.article(pages.TABLE),
            ("Sill plan", "HT-0107", "Turbine hall", "HT-0344", "Weir crest"),
            ("Weather",),
            id="a data table made of links",
        ),
        pytest.param(
            pages.article(
                '<div class="admonition warning"><p class="admonition-title">Warning</p><p>Never open both leaves at once or '
                "the chamber will scour.</p></div>"
                '<div class="alert alert-info note"><p>Ask the keeper for the key of the hut first.</p></div>'
            ),
            ("Never open both leaves at once", "Ask the keeper for the key"),
            ("Weather",),
            id="admonitions",
        ),
        pytest.param(
            pages.page(
                "<main><h1>Gauge read again</h1><p>The gauge on the east wall was read again on Friday and stands at two metres.</p></main>"
            ),
            ("Gauge read again", "stands at two metres"),
            ("Weather", "Imprint"),
            id="a short story",
        ),
        pytest.param(
            pages.article(after=f'<aside class="related"><h2>You may also like</h2><ul class="cards">{pages.CARDS}</ul></aside>'),
            pages.STORY,
            ("You may also like", "Ten things to see"),
            id="cards of other articles",
        ),
        pytest.param(
            pages.page(
                '<div class="thread"><h1>Leaking seal</h1>' + "".join(pages.post(n) for n in range(1, 9)) + "</div>",
                "Leaking seal - Lock forum",
            ),
            tuple(f"the seal number {n} leaked" for n in range(1, 9)),
            ("Weather",),
            id="all posts of a thread",
        ),
        pytest.param(
            pages.article("<h2>How it is done</h2><pre><code>open_gate(upper=True)\n\n\nwait(30)\nclose_gate()</code></pre>"),
            ("How it is done", "open_gate(upper=True)", "close_gate()"),
            ("Weather",),
            id="code",
        ),
    ],
)
def test_what_stays_and_what_goes(html: str, stays: tuple[str, ...], goes: tuple[str, ...]) -> None:
    text, chosen = read(html)
    assert [one for one in stays if one not in text] == []
    assert [one for one in goes if one in text] == []
    assert chosen.confidence > 0.5


def test_a_page_of_links_alone_has_hardly_any_content() -> None:
    text, chosen = read(pages.page(pages.consent("id=cookie-banner", 1) + "<p><a href=/a>Next</a></p>", "Quayside Post"))
    assert chosen.kept_words <= 8
    assert len(text.split()) <= 8 or chosen.confidence < 0.3


def test_a_table_is_kept_whole_or_not_at_all() -> None:
    for wrapped in (
        pages.article(pages.TABLE),
        pages.page(f"<aside class=widget>{pages.TABLE}</aside><article>{pages.paragraphs()}</article>"),
    ):
        text, _ = read(wrapped)
        assert len({code in text for _, code in pages.PARTS}) == 1


def test_the_same_page_gives_the_same_choice() -> None:
    assert read(pages.article(pages.TABLE)) == read(pages.article(pages.TABLE))


def test_what_is_said_matches_what_is_left() -> None:
    text, chosen = read(pages.article(pages.TABLE))
    assert abs(len(text.split()) - chosen.kept_words) <= 2
    assert 0 < chosen.coverage < 1
    assert chosen.kept_words < chosen.words


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<p>" * 30_000, id="empty paragraphs"),
        pytest.param("<a href=/x>word</a> <b>bold</b><br><br>" * 15_000, id="links and breaks"),
        pytest.param("<h2>head</h2>" * 15_000, id="headings"),
        pytest.param("<div><button>accept cookies</button>consent " * 3_000, id="nested requests for consent"),
        pytest.param("<table><tr><td>1<td>2" * 2_000, id="nested tables"),
    ],
)
def test_pages_made_to_hurt_take_little_time(html: str) -> None:
    tree = LexborHTMLParser(html)
    began = time.process_time()
    select(tree.body)
    assert time.process_time() - began < 5


def test_the_model_ships_with_the_package_and_is_small() -> None:
    assert FILE.is_file()
    assert FILE.stat().st_size < 400_000
    model = load()
    assert len(model.first.roots) > len(model.second.roots) > 0


def test_the_model_was_trained_on_the_columns_that_are_computed() -> None:
    with np.load(FILE, allow_pickle=False) as held:
        trained_on = held["columns"].tobytes().decode().split("\n")
    table = Table(cut(LexborHTMLParser("<p>one</p>").body), Facts(), load().lexicon)
    known = describe(table)
    assert trained_on == known.names
    assert load().second.feature.max() < len(known.names) + len(opinions(table, np.array([0.5])).names)


def test_a_forest_walks_each_row_to_its_leaf() -> None:
    infinite = float("inf")
    forest = Forest(  # x1 <= 2 ? (x0 <= 0 ? -2 : 1) : 3
        feature=np.array([1, 0, 0, 0, 0]),
        threshold=np.array([2, 0, infinite, infinite, infinite], np.float32),
        left=np.array([1, 3, 2, 3, 4]),
        value=np.array([0.0, 0.0, 3.0, -2.0, 1.0]),
        roots=np.array([0]),
        depth=2,
    )
    chances = forest.chances(np.array([[0, 0, 1], [9, 2, 2]], np.float32))
    assert np.allclose(np.log(chances / (1 - chances)), [3, -2, 1])
