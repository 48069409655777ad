"""A page that can be had as Markdown says so in its head or in a Link field."""

from __future__ import annotations

import pytest

from cormorant.alternates import markdown_version, site_guide

PAGE = "https://a.example/docs/guide"


@pytest.mark.parametrize(
    ("headers", "body", "found"),
    [
        pytest.param(
            {}, '<link rel="alternate" type="text/markdown" href="guide.md">', "https://a.example/docs/guide.md", id="in the head"
        ),
        pytest.param(
            {},
            "<LINK HREF=/g.md TYPE='text/markdown; charset=utf-8' REL='alternate nofollow'>",
            "https://a.example/g.md",
            id="any spelling",
        ),
        pytest.param({"link": '</g.md>; rel="alternate"; type="text/markdown"'}, "", "https://a.example/g.md", id="a Link field"),
        pytest.param(
            {"link": "</a>; rel=next, <g.md>; rel=alternate; type=text/markdown"}, "", "https://a.example/docs/g.md", id="second of two"
        ),
        pytest.param({}, '<link rel="alternate" type="application/rss+xml" href="feed">', "", id="a feed"),
        pytest.param({}, '<link rel="stylesheet" type="text/markdown" href="x">', "", id="another relation"),
        pytest.param({}, '<link rel="alternate" type="text/markdown" href="javascript:x">', "", id="no web address"),
        pytest.param({}, '<link rel="alternate" type="text/markdown" href="guide">', "", id="itself"),
        pytest.param({}, " " * 70_000 + '<link rel="alternate" type="text/markdown" href="x.md">', "", id="far down"),
        pytest.param({}, "<link " * 5_000, "", id="unclosed tags"),
    ],
)
def test_the_markdown_version_of_a_page(headers, body, found) -> None:
    assert markdown_version(PAGE, headers, body.encode()) == found


@pytest.mark.parametrize(
    ("headers", "body", "found"),
    [
        pytest.param({"link": '</llms.txt>; rel="llms-txt"'}, "", "https://a.example/llms.txt", id="a Link field"),
        pytest.param({}, '<link rel="help" href="/llms.txt">', "https://a.example/llms.txt", id="in the head, by its name"),
        pytest.param({}, '<link rel="llms-txt" href="guide.txt">', "https://a.example/docs/guide.txt", id="by its relation"),
        pytest.param({}, '<link rel="stylesheet" href="/all.css">', "", id="none"),
    ],
)
def test_the_guide_of_a_site(headers, body, found) -> None:
    assert site_guide(PAGE, headers, body.encode()) == found
