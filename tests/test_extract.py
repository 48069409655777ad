"""From bytes to a Document by the one public door: kinds, modes, shells, refreshes, hostile input, sameness."""

from __future__ import annotations

import json
import time

import pytest

from cormorant.document import Document
from cormorant.errors import ExtractionFailed, InvalidArguments, UnsupportedType
from cormorant.extract import document

URL = "https://site.example/docs/page"
PROSE = "The keeper walks the wall twice a day and writes the reading of every gauge in a bound book. "
HTML = "text/html; charset=utf-8"


def read(page: str, **options: str) -> Document:
    return document(page.encode("utf-8", "surrogatepass"), url=URL, content_type=HTML, **options)


ARTICLE = f"""<!DOCTYPE html><html lang=en><head><title>The wall | Quay</title></head><body>
<nav><a href=/>Home</a> <a href=/news>News</a></nav><main><article><h1>The wall</h1><p>{PROSE * 3}</p><p>{PROSE * 2}</p>
<h2>Gauges</h2><p>{PROSE * 3}</p></article></main><footer>Printed on recycled paper.</footer></body></html>"""


def test_an_article_is_read_without_what_surrounds_it() -> None:
    page = read(ARTICLE)
    assert page.extractor == "readability"
    assert page.markdown.startswith("# The wall\n\nThe keeper walks")
    assert "Home" not in page.markdown
    assert "recycled" not in page.markdown
    assert (page.title, page.site, page.language, page.outcome) == ("The wall", "Quay", "en", "content")
    assert 0.5 < page.coverage <= 1
    assert [section.heading for section in page.sections] == ["The wall", "Gauges"]


def test_the_same_bytes_give_the_same_document() -> None:
    assert read(ARTICLE) == read(ARTICLE)


@pytest.mark.parametrize("mode", ["full", "raw"])
def test_full_keeps_every_part_of_the_body_but_the_site_furniture(mode: str) -> None:
    page = read(f"<body><nav>Menu</nav><div class=promo><p>Offers today</p></div><p>{PROSE}</p></body>", extract=mode)
    assert page.extractor == "full"
    assert "Offers today" in page.markdown
    assert "Menu" not in page.markdown


def test_readability_says_so_when_there_is_no_article() -> None:
    links = "".join(f"<li><a href=/{n}>Item {n}</a></li>" for n in range(30))
    page = f"<body><nav><ul>{links}</ul></nav></body>"
    with pytest.raises(ExtractionFailed, match="extract='full'"):
        read(page + "<!-- " + " -->", extract="readability")


def test_raw_output_is_the_source() -> None:
    assert read(ARTICLE, output="raw").markdown == ARTICLE


@pytest.mark.parametrize("options", [{"extract": "best"}, {"output": "html"}])
def test_an_unknown_option_is_named(options: dict[str, str]) -> None:
    with pytest.raises(InvalidArguments, match=next(iter(options.values()))):
        read(ARTICLE, **options)


def test_a_film_is_no_text() -> None:
    with pytest.raises(UnsupportedType, match="video/mp4"):
        document(b"\0\0\0\x18ftypmp42" + b"\0" * 100, url=URL, content_type="video/mp4")


SHELL = """<!DOCTYPE html><html><head><title>The wall</title>{head}</head>
<body><div id="{mount}"></div>{body}<script src="/app.js"></script></body></html>"""


def shell(body: str = "", *, head: str = "", mount: str = "root") -> Document:
    return read(SHELL.format(head=head, body=body, mount=mount))


def test_json_ld_text_is_read_when_the_page_is_a_shell() -> None:
    held = json.dumps({"@type": "NewsArticle", "headline": "The wall", "articleBody": f"{PROSE}\n\n{PROSE * 2}"})
    page = shell(head=f'<script type="application/ld+json">{held}</script>')
    assert page.outcome == "content"
    assert page.extractor == "data: json-ld"
    assert page.markdown.count("The keeper walks") == 3
    assert "\n\n" in page.markdown


def test_next_data_is_read_when_the_page_is_a_shell() -> None:
    held = {
        "props": {
            "pageProps": {
                "nav": [{"title": "Offers of the day for you"}],
                "post": {"title": "The wall", "body": f"<p>{PROSE}</p><h2>Gauges</h2>"},
            }
        }
    }
    page = shell(f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(held)}</script>', mount="__next")
    assert "## Gauges" in page.markdown
    assert "Offers" not in page.markdown
    assert page.outcome == "content"


def test_rich_text_trees_keep_headings_lists_and_code() -> None:
    blocks = [
        {"type": "heading", "level": 2, "children": [{"text": "Gauges"}]},
        {"type": "paragraph", "children": [{"text": PROSE}, {"text": "Mind it.", "bold": True}]},
        {
            "type": "bulleted-list",
            "children": [{"type": "list-item", "children": [{"text": "upper"}]}, {"type": "list-item", "children": [{"text": "lower"}]}],
        },
    ]
    state = json.dumps({"article": {"content": blocks}})
    page = shell(f"<script>window.__INITIAL_STATE__ = {state};</script>")
    assert "## Gauges" in page.markdown
    assert "**Mind it.**" in page.markdown
    assert "- upper\n- lower" in page.markdown


def test_a_flight_stream_is_read_when_the_page_is_a_shell() -> None:
    rows = '0:["$","main",null,{"children":["$L1",["$","p",null,{"children":"' + PROSE + '"}]]}]\n1:["$","h2",null,{"children":"Gauges"}]\n'
    pushes = "".join(f"<script>self.__next_f.push([1,{json.dumps(part)}])</script>" for part in (rows[:40], rows[40:]))
    page = shell("<script>(self.__next_f=self.__next_f||[]).push([0])</script>" + pushes, mount="__next")
    assert page.extractor == "data: next flight"
    assert page.markdown.startswith("## Gauges\n\nThe keeper walks")


def test_nuxt_values_that_point_at_one_another_are_followed() -> None:
    values = [{"data": 1}, {"post": 2}, {"title": 3, "content": 4}, "The wall", f"<p>{PROSE}</p>"]
    page = shell(f'<script id="__NUXT_DATA__" type="application/json">{json.dumps(values)}</script>', mount="__nuxt")
    assert "The keeper walks" in page.markdown


def test_discourse_posts_are_read_with_who_wrote_them() -> None:
    topic = {
        "title": "The wall",
        "post_stream": {
            "posts": [{"username": "ana", "cooked": f"<p>{PROSE}</p>"}, {"username": "tom", "cooked": "<p>Quite so, and thanks.</p>"}]
        },
    }
    held = json.dumps({"topic_7": json.dumps(topic)}).replace("&", "&amp;").replace('"', "&quot;")
    page = shell(f'<div id="data-preloaded" data-preloaded="{held}"></div>')
    assert (
        page.markdown.index("**ana**")
        < page.markdown.index("The keeper")
        < page.markdown.index("**tom**")
        < page.markdown.index("Quite so")
    )


def test_apollo_state_behind_json_parse_is_read() -> None:
    held = json.dumps(json.dumps({"Post:1": {"__typename": "Post", "title": "The wall", "text": PROSE * 2}}))
    assert "The keeper walks" in shell(f"<script>window.__APOLLO_STATE__ = JSON.parse({held})</script>").markdown


def test_a_shell_without_data_needs_a_browser() -> None:
    page = shell("<noscript>You need to enable JavaScript to run this app.</noscript>")
    assert page.outcome == "needs_javascript"
    assert page.signs


def test_data_never_replaces_what_the_page_shows() -> None:
    held = json.dumps({"@type": "Article", "articleBody": "Something else entirely that nobody can see on this page at all. " * 30})
    page = read(ARTICLE.replace("</head>", f'<script type="application/ld+json">{held}</script></head>'))
    assert "Something else" not in page.markdown


REFRESHES = [
    pytest.param('<head><meta content="0;url=/new" http-equiv=refresh></head>', "https://site.example/new", id="attributes in any order"),
    pytest.param("<META HTTP-EQUIV=Refresh CONTENT=\"1; URL='/new'\">", "https://site.example/new", id="quotes inside"),
    pytest.param(
        "<noscript><meta http-equiv=refresh content='0;url=/new'></noscript>", "https://site.example/new", id="noscript of a bare page"
    ),
    pytest.param(
        "<script>window.location.replace('https://other.example/x')</script>", "https://other.example/x", id="a script that only moves on"
    ),
    pytest.param("<meta http-equiv=refresh content=600>", "", id="reloads itself"),
    pytest.param("<meta http-equiv=refresh content='0;url=page'>", "", id="leads back here"),
    pytest.param("<meta http-equiv=refresh content='0;url=javascript:x()'>", "", id="no address"),
    pytest.param(
        f"<noscript><meta http-equiv=refresh content='0;url=/new'></noscript><p>{PROSE * 8}</p>", "", id="noscript of a page with text"
    ),
]


@pytest.mark.parametrize(("page", "target"), REFRESHES)
def test_where_a_page_sends_its_reader(page: str, target: str) -> None:
    assert read(f"<html>{page}</html>").refresh == target


HOSTILE = {
    "20,000 nested elements": "<div>" * 20_000 + "deep" + "</div>" * 20_000,
    "200,000 unclosed elements": "<div>" * 200_000 + "deep",
    "200,000 unclosed bold": "<b>" * 200_000 + "deep",
    "2,000 nested lists": "<ul><li>deep" * 2_000,
    "2,000 nested tables": "<table><tr><td>deep" * 2_000,
    "20,000 nested quotes": "<blockquote>" * 20_000 + "deep",
    "spans of a thousand million": "<table><tr><td colspan=1000000000>deep</td><td rowspan=1000000000>b</td></tr><tr><td>c</table>",
    "thousands of row spans": "<table>" + "<tr><td rowspan=65534>deep</td></tr>" * 2_000 + "</table>",
    "NULs": "<p>de\0ep</p>" + "\0" * 100_000,
    "lone surrogates, reserved characters": "<p>deep \ud800 &#xD800; &#xFDD0;&#xFDD6;x&#xFDD7;99&#xFDD8; &#xFDD9;7&#xFDDA; &#x110000;</p>",
    "an attribute of 3 MB": "<p title='" + "x" * 3_000_000 + "'>deep</p>",
    "200,000 attributes": "<p " + " ".join(f"a{n}=b" for n in range(200_000)) + ">deep</p><p>deep</p>",
    "quotes that never close": "deep" + '<a "' * 100_000,
    "150,000 brackets": "<p>deep " + "[" * 100_000 + "](" * 50_000,
    "100,000 ticks": "<p>deep " + "`" * 100_000,
    "200,000 stars": "<p>deep " + "*a " * 200_000,
    "200,000 underscores": "<p>deep " + "_a_" * 200_000,
    "comments that never end": "deep" + "<!--" * 100_000,
    "scripts that never end": "<p>deep</p>" + "<script>" * 100_000,
    "a set of 100,000 pictures": "<p>deep</p><img alt=x srcset='" + "a 1w, " * 100_000 + "'>",
    "data nested 50,000 deep": "<p>deep</p><script type='application/json'>" + '{"a":' * 50_000 + "1" + "}" * 50_000 + "</script>",
    "lists of nothing in JSON-LD": "<p>deep</p><script type='application/ld+json'>" + "[" * 100_000 + "</script>",
    "MathML 3,000 deep": "<p>deep</p><math>" + "<msup><mi>x</mi>" * 3_000,
    "3,000 footnotes": "deep"
    + "".join(f"<p>x<sup><a href='#n{n}'>{n}</a></sup></p>" for n in range(3_000))
    + "".join(f"<p id=n{n}>note {n}" for n in range(3_000)),
    "nested code": "<p>deep " + "<code>" * 5_000,
    "nested superscripts": "<p>deep " + "<sup>" * 5_000 + "2",
    "1,900 lists in one another": "<ul><li>deep" * 1_900 + "</li></ul>" * 1_900,
    "10,000 sheets that ask for consent": "<p>deep</p>" + '<div class="cookie-consent">We use cookies</div>' * 10_000,
    "2,000 rules about one class of 5,000": "<p>deep</p><style>"
    + "".join(f".a{{display:none}}.a{{display:block;top:{n}px}}div .a{{visibility:hidden}}" for n in range(700))
    + "</style>"
    + "<p class=a>x</p>" * 5_000,
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_input_made_to_hurt_is_read_quickly_or_cut(body: str) -> None:
    started = time.process_time()
    page = read(f"<html><body>{body}", extract="full")
    assert time.process_time() - started < 4  # generous for a loaded machine; quadratic work takes minutes here
    assert "deep" in page.markdown or page.warnings
    page.markdown.encode()


def test_a_page_of_too_many_elements_is_cut_with_a_warning() -> None:
    page = read("<body>" + "<p>word</p>" * 50_000, extract="full")
    assert "elements" in page.warnings[0]
    assert page.markdown.count("word") > 30_000


def test_a_page_that_nests_too_deep_keeps_its_text() -> None:
    page = read("<body>" + "<div>" * 9_000 + f"<p>{PROSE}</p>" + "</div>" * 9_000 + "<p>after it</p>", extract="full")
    assert PROSE.strip() in page.markdown
    assert "after it" in page.markdown
    assert "nested deeper" in page.warnings[0]


@pytest.mark.parametrize("how", ['style="display:none"', "hidden", "class=gone"])
def test_a_formula_nobody_sees_is_not_read(how: str) -> None:
    page = f"<style>.gone{{display:none}}</style><main><p>Seen.</p><p><math {how}><mtext>Obey me now</mtext></math></p></main>"
    read = document(page.encode(), url="https://a.example/", content_type="text/html", extract="full")
    assert "Seen." in read.markdown
    assert "Obey" not in read.markdown
    assert read.findings
