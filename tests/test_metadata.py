"""What a page says about itself: title, byline, site, date, summary, language; and what must not be taken for it."""

from __future__ import annotations

import pytest

from cormorant.document import Document
from cormorant.extract import document
from cormorant.extract.html import dates

TEXT = "<p>" + "The gate was rebuilt in the spring after two winters of slow repair work on the wall. " * 4 + "</p>"


def read(head: str = "", body: str = "<h1>The gate</h1>", url: str = "https://site.example/a", attributes: str = "") -> Document:
    page = f"<!DOCTYPE html><html {attributes}><head>{head}</head><body><main>{body}{TEXT}</main></body></html>"
    return document(page.encode(), url=url, content_type="text/html; charset=utf-8", extract="full")


TITLES = [
    pytest.param("<title>The gate | The Quay</title>", "<h1>The gate</h1>", "The gate", id="heading is the title before the bar"),
    pytest.param("<title>The Quay - The gate</title>", "<h1>The gate</h1>", "The gate", id="site stands first"),
    pytest.param("<title>The gate</title>", "<h1><a href='/'>The Quay</a></h1><h1>The gate</h1>", "The gate", id="the heading that fits"),
    pytest.param("<title>The gate and the wall - Quay</title>", "<p>x</p>", "The gate and the wall", id="short site name goes"),
    pytest.param("<meta property='og:title' content='The gate'>", "<p>x</p>", "The gate", id="only og:title"),
    pytest.param("<title>{{ page.title }}</title>", "<h1>The gate</h1>", "The gate", id="placeholder is no title"),
    pytest.param("<title>undefined</title><meta property='og:title' content='The gate'>", "", "The gate", id="undefined is no title"),
    pytest.param("", "<h1>The <em>old</em> gate<a href='#x'>¶</a></h1>", "The old gate", id="heading alone, without its mark"),
    pytest.param("<title>A - B tests in practice</title>", "", "A - B tests in practice", id="a dash is not always a border"),
]


@pytest.mark.parametrize(("head", "body", "title"), TITLES)
def test_the_title(head: str, body: str, title: str) -> None:
    assert read(head, body).title == title


BYLINES = [
    pytest.param("<meta name='author' content='Ana Quill'>", "", "Ana Quill", id="meta"),
    pytest.param("", "<h1>T</h1><p class='byline'>By Ana Quill | 3 May 2026</p>", "Ana Quill", id="byline class"),
    pytest.param("", "<h1>T</h1><a rel='author' href='/ana'>Ana Quill</a>", "Ana Quill", id="rel author"),
    pytest.param(
        "<meta name='author' content='{{author}}'>", "<h1>T</h1><span class='author'>Ana Quill</span>", "Ana Quill", id="placeholder"
    ),
    pytest.param("<meta property='article:author' content='https://s.example/ana'>", "", "", id="an address is no name"),
    pytest.param(
        '<script type="application/ld+json">{"@type":"NewsArticle","author":[{"name":"Ana Quill"},{"name":"Tom Reed"}]}</script>',
        "",
        "Ana Quill, Tom Reed",
        id="JSON-LD, two people",
    ),
    pytest.param("", "<h1>T</h1><aside><p class='author'>Someone Else</p></aside>", "", id="not from the side column"),
    pytest.param("", "<h1>T</h1><div class='comment'><span class='author'>Troll</span></div>", "", id="not from a comment"),
]


@pytest.mark.parametrize(("head", "body", "byline"), BYLINES)
def test_the_byline(head: str, body: str, byline: str) -> None:
    assert read(head, body).byline == byline


PUBLISHED = [
    pytest.param("<meta property='article:published_time' content='2026-03-04T08:00:00Z'>", "", "2026-03-04T08:00:00+00:00", id="meta"),
    pytest.param(
        '<script type="application/ld+json">{"@type":"BlogPosting","datePublished":"2026-03-04"}</script>', "", "2026-03-04", id="JSON-LD"
    ),
    pytest.param("", "<h1>T</h1><time datetime='2026-03-04'>4 March</time>", "2026-03-04", id="time"),
    pytest.param("", "<h1>T</h1><p class='date'>March 4, 2026</p>", "2026-03-04", id="written out"),
    pytest.param("", "<h1>T</h1><p>4. März 2026</p>", "2026-03-04", id="in German, beside the title"),
    pytest.param(
        "",
        "<div class='card'><time datetime='2019-01-01'>x</time></div><h1>T</h1><time datetime='2026-03-04'>x</time>",
        "2026-03-04",
        id="not the card's",
    ),
    pytest.param("", "<h1>T</h1><footer><time datetime='2019-01-01'>x</time></footer>", "", id="not the footer's"),
    pytest.param("<meta name='date' content='yesterday'>", "", "", id="nothing relative"),
    pytest.param(
        '<script type="application/ld+json">[{"@type":"Article","headline":"Other","datePublished":"2019-01-01"},'
        '{"@type":"Article","headline":"The gate","datePublished":"2026-03-04"}]</script><title>The gate</title>',
        "<h1>The gate</h1>",
        "2026-03-04",
        id="the object that is about this page",
    ),
]


@pytest.mark.parametrize(("head", "body", "published"), PUBLISHED)
def test_the_date(head: str, body: str, published: str) -> None:
    assert read(head, body).published == published


def test_the_date_in_the_address_comes_last() -> None:
    assert read(url="https://site.example/2026/03/04/gate").published == "2026-03-04"
    assert read("<meta name='date' content='2026-01-02'>", url="https://site.example/2026/03/04/gate").published == "2026-01-02"


DATES = [
    ("2026-03-04T08:00:00.123+0100", "2026-03-04T08:00:00+01:00"),
    ("2026-03-04 08:00", "2026-03-04T08:00:00"),
    ("Wed, 04 Mar 2026 08:00:00 GMT", "2026-03-04T08:00:00+00:00"),
    ("Posted on March 4th, 2026 at noon", "2026-03-04"),
    ("le 4 mars 2026", "2026-03-04"),
    ("4 de marzo de 2026", "2026-03-04"),
    ("04.03.2026", "2026-03-04"),
    ("2026年3月4日", "2026-03-04"),
    ("20260304", "2026-03-04"),
    ("2026-13-40", ""),
    ("5 minutes ago", ""),
    ("", ""),
]


@pytest.mark.parametrize(("text", "wanted"), DATES)
def test_dates_are_read_as_exact_as_they_are(text: str, wanted: str) -> None:
    assert dates.iso(text) == wanted


LANGUAGES = [
    ("lang='en_us'", "", "en-US"),
    ("lang=zh-hant-tw", "", "zh-Hant-TW"),
    ("", "<meta property='og:locale' content='de_AT'>", "de-AT"),
    ("", "", ""),
]


@pytest.mark.parametrize(("attributes", "head", "language"), LANGUAGES)
def test_the_language(attributes: str, head: str, language: str) -> None:
    assert read(head, attributes=attributes).language == language


def test_site_and_summary() -> None:
    page = read("<meta property='og:site_name' content='The Quay'><meta name='description' content='All about   the gate.'>")
    assert (page.site, page.summary) == ("The Quay", "All about the gate.")
    assert read("<title>The gate | The Quay</title>").site == "The Quay"


def test_links_are_absolute_and_of_the_whole_page() -> None:
    page = read(body="<nav><a href='/n'>News</a></nav><a href='b?x=1#y'>B</a><a href='/n'>again</a><a href='mailto:x@y.example'>m</a>")
    assert [(link.text, link.href) for link in page.links] == [("News", "https://site.example/n"), ("B", "https://site.example/b?x=1#y")]


def test_structured_data_by_vocabulary() -> None:
    head = (
        '<meta property="og:type" content="article"><meta property="og:image" content="/1.png"><meta property="og:image" content="/2.png">'
        '<meta name="DC.creator" content="Ana"><script type="application/ld+json">{"@graph":[{"@type":"Article","headline":"T"}]}</script>'
    )
    body = (
        '<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Hinge</b><div itemprop="offers" itemscope'
        ' itemtype="https://schema.org/Offer"><meta itemprop="price" content="4.50"></div></div>'
    )
    assert read(head, body).structured == {
        "json_ld": [{"@type": "Article", "headline": "T"}],
        "opengraph": {"type": "article", "image": ["/1.png", "/2.png"]},
        "dublin_core": {"creator": "Ana"},
        "microdata": [{"type": "Product", "name": "Hinge", "offers": {"type": "Offer", "price": "4.50"}}],
    }
