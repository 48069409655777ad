"""One reading of a URL: the WHATWG vectors, and the few things this project refuses on top."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cormorant.address import parse
from cormorant.errors import InvalidArguments


def test_every_vector_of_the_web_platform_tests_decides_as_a_browser_does(cases: Path) -> None:
    wrong = []
    rows = [row for row in json.loads((cases / "urltestdata.json").read_text()) if isinstance(row, dict)]
    for row in rows:
        wanted = None if row.get("failure") or row["protocol"] not in ("http:", "https:") else row["href"]
        if wanted and (row["username"] or row["password"]):
            wanted = None  # refused by us, whatever a browser does
        try:
            found = parse(row["input"], row.get("base"))
        except InvalidArguments:
            got = None
        else:
            got = found.href
            assert found.port == int(row["port"] or {"http": 80, "https": 443}[found.scheme])
            bare_query = "?" if not row["search"] and "?" in row["href"].partition("#")[0] else ""  # goes on the request line
            assert found.target == row["pathname"] + row["search"] + bare_query
        if got != wanted:
            wrong.append((row["input"], row.get("base"), wanted, got))
    assert not wrong
    assert len(rows) > 800


@pytest.mark.parametrize(
    ("text", "host", "authority"),
    [
        pytest.param("https://EXAMPLE.com:443/", "example.com", "example.com", id="case and default port"),
        pytest.param("http://example.com.:80/", "example.com", "example.com", id="root dot"),
        pytest.param("https://bücher.example/", "xn--bcher-kva.example", "xn--bcher-kva.example", id="u-label"),
        pytest.param("http://0x7f.1:8080/", "127.0.0.1", "127.0.0.1:8080", id="odd IPv4"),
        pytest.param("http://[::FFFF:7f00:1]/", "::ffff:7f00:1", "[::ffff:7f00:1]", id="IPv6"),
        pytest.param("https:example.com", "example.com", "example.com", id="no slashes"),
    ],
)
def test_the_host_has_one_spelling(text: str, host: str, authority: str) -> None:
    found = parse(text)
    assert (found.host, found.authority) == (host, authority)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        pytest.param("example.com/page", "https://example.com/page", id="no scheme"),
        pytest.param("file:///etc/passwd", "http", id="file"),
        pytest.param("http://user:pw@example.com/", "@", id="userinfo"),
        pytest.param("http://user@example.com/", "@", id="user"),
        pytest.param("http://", "absolute", id="no host"),
        pytest.param("", "absolute", id="empty"),
        pytest.param("//example.com/", "https://example.com/ ?", id="no base"),
        pytest.param("localhost:8000", "http://localhost:8000 ?", id="this machine"),
        pytest.param("example.com:8443/x", "http://example.com:8443/x ?", id="a port reads as a scheme"),
        pytest.param("[::1]:80/x", "http://[::1]:80/x ?", id="an address with its port"),
        pytest.param("tel:123", "an http:// or https://", id="another scheme"),
        pytest.param("http://exa mple.com/", "absolute", id="space in host"),
    ],
)
def test_what_is_no_web_address_is_refused_with_a_hint(text: str, remedy: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        parse(text)
    assert remedy in caught.value.remedy
    assert "pw" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "ambiguous"),
    [
        ("http://a.org\\@b.org/", True),
        ("http://a.org\\.b.org/", True),
        ("http://a.org/\\@b.org", False),
        ("http:\\\\a.org\\x", False),
        ("http://a.org/x?y=\\@b", False),
        ("http://a.org?\\@b.org", False),
    ],
)
def test_a_text_that_other_parsers_read_as_another_host_is_marked(text: str, ambiguous: bool) -> None:
    assert parse(text).ambiguous is ambiguous


@given(st.text(max_size=60), st.sampled_from(["", "http://", "https://a.org/", "http://[", "//"]))
def test_parsing_is_idempotent(text: str, before: str) -> None:
    try:
        once = parse(before + text, "https://base.example/dir/page")
    except InvalidArguments:
        return
    again = parse(once.href)
    assert (again.href, again.host, again.port, again.target) == (once.href, once.host, once.port, once.target)
    assert once.href.isascii()
    assert not set(once.target) & set("\r\n\t \0")
