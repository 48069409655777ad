"""A page that can be had as Markdown says so in its head or in a Link field."""

from __future__ import annotations

import pytest

from cormorant.alternates import markdown_version

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
