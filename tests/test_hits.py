"""What every list of hits goes through: cleaning, merging, dates and the filters a caller was promised."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cormorant.errors import InvalidArguments
from cormorant.hits import cleaned, domains_of, fused, iso_date, page_url, same_page, tidied
from cormorant.search import Found, Hit, Query

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def found(*hits: Hit, **more) -> Found:
    return Found("q", "test", tuple(hits), **more)


def tidy(query: Query, *hits: Hit, prefer=(), block=(), **more) -> Found:
    return tidied(found(*hits, **more), query, prefer=prefer, block=block, now=NOW)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("A <strong>b</strong> <em class='hit'>c</em>", "A b c"),
        ("Tom &amp; Jerry&#39;s", "Tom & Jerry's"),
        ("Tom &amp;#39;s", "Tom 's"),
        ("one<br/>two\n\tthree", "one two three"),
        ("List<String> and a < b > c", "List<String> and a < b > c"),
        ("write &lt;div&gt; here", "write <div> here"),
        ("\ue000lit\ue001 zero\u200bwidth \u202eoverride\U000e0041", "lit zerowidth override"),
        ("", ""),
    ],
)
def test_titles_and_snippets_read_as_a_person_sees_them(raw, clean):
    assert cleaned(raw) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("https://x.example/a?utm_source=n&id=7&fbclid=z", "https://x.example/a?id=7"),
        ("https://x.example/a?gclid=1", "https://x.example/a"),
        ("https://x.example/a?q=utm_source&ref=home", "https://x.example/a?q=utm_source&ref=home"),
        ("https://x.example/a?b=%2F+c&c", "https://x.example/a?b=%2F+c&c"),
        ("https://x.example/a#:~:text=hello", "https://x.example/a"),
        ("https://x.example/a#part:~:text=hello", "https://x.example/a#part"),
        ("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fx.example%2Fa%3Futm_medium%3D1&rut=2", "https://x.example/a"),
        ("https://www.google.com/url?q=https://x.example/a&sa=U", "https://x.example/a"),
        ("https://www.bing.com/ck/a?!&&p=1&u=a1aHR0cHM6Ly94LmV4YW1wbGUvYQ&ntb=1", "https://x.example/a"),
        ("javascript:alert(1)", ""),
        ("https://user:pw@x.example/", ""),
        ("//x.example/a", ""),
        ("not a url", ""),
        ("file:///srv/a.html", "file:///srv/a.html"),
    ],
)
def test_addresses_lose_tracking_and_wrappers_and_nothing_else(raw, clean):
    assert page_url(raw) == clean


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://www.x.example/a/", "https://x.example/a", True),
        ("https://x.example/a?b=1&c=2", "https://x.example/a?c=2&b=1", True),
        ("https://x.example/a#top", "https://x.example/a#end", True),
        ("https://x.example/index.html", "https://x.example/", True),
        ("https://en.m.wikipedia.org/wiki/Tide", "https://en.wikipedia.org/wiki/Tide", True),
        ("https://x.example/A", "https://x.example/a", False),
        ("https://x.example/a?id=1", "https://x.example/a?id=2", False),
        ("https://x.example:8080/", "https://x.example/", False),
        ("https://x.example/#/one", "https://x.example/#/two", False),
        ("https://www.example/", "https://example/", False),
    ],
)
def test_when_two_addresses_are_one_page(one, other, same):
    assert (same_page(one) == same_page(other)) is same


@pytest.mark.parametrize(
    ("raw", "iso"),
    [
        ("2026-11-01", "2026-11-01"),
        ("2026-11-01T10:30:00Z", "2026-11-01T10:30:00Z"),
        ("2026-11-01T10:30:00.123+02:00", "2026-11-01T10:30:00+02:00"),
        ("2026-11-01T00:00:00", "2026-11-01"),
        ("2026-11-01 10:30:00", "2026-11-01T10:30:00"),
        ("2026-11", "2026-11"),
        ("2026", "2026"),
        ("Nov 3, 2026", "2026-11-03"),
        ("November 3rd, 2026", "2026-11-03"),
        ("3 November 2026", "2026-11-03"),
        ("Tue, 03 Nov 2026 10:00:00 GMT", "2026-11-03"),
        ("3 days ago", "2026-11-27"),
        ("an hour ago", "2026-11-30"),
        ("2 weeks ago", "2026-11-16"),
        ("yesterday", "2026-11-29"),
        ("20261103", "2026-11-03"),
        (1793664000, "2026-11-03"),
        (1793664000000, "2026-11-03"),
        ("2026-13-45", ""),
        ("soon", ""),
        (None, ""),
        (True, ""),
        ("", ""),
    ],
)
def test_dates_become_iso(raw, iso):
    assert iso_date(raw, NOW) == iso


def test_duplicates_are_merged_at_their_best_place():
    result = tidy(
        Query("q"),
        Hit("A", "http://www.x.example/a?utm_source=1", "", engine="one"),
        Hit("B", "https://y.example/"),
        Hit("A again", "https://x.example/a/", "text", "2026-11-01", engine="two"),
    )
    assert [(h.rank, h.title) for h in result.results] == [(1, "A"), (2, "B")]
    first = result.results[0]
    assert (first.snippet, first.published_at, first.engine, first.source, first.query) == (
        "text",
        "2026-11-01",
        "one, two",
        "www.x.example",
        "q",
    )


PAGES = tuple(
    Hit(u, f"https://{u}/")
    for u in ("python.org", "docs.python.org", "notpython.org", "python.org.evil.example", "pinterest.com", "de.pinterest.com")
)


@pytest.mark.parametrize(
    ("domains", "kept"),
    [
        (("python.org",), ["python.org", "docs.python.org"]),
        (("=python.org",), ["python.org"]),
        (("*.python.org",), ["docs.python.org"]),
        (("https://python.org/3/",), None),
        (("PYTHON.org.",), ["python.org", "docs.python.org"]),
        (("-pinterest.com",), ["python.org", "docs.python.org", "notpython.org", "python.org.evil.example"]),
        (("python.org", "-docs.python.org"), ["python.org"]),
        (("nothing.example",), []),
    ],
)
def test_domains_filter_strictly_whatever_the_backend_did(domains, kept):
    if kept is None:
        with pytest.raises(InvalidArguments):
            tidy(Query("q", domains=domains), *PAGES)
        return
    result = tidy(Query("q", domains=domains), *PAGES)
    assert [h.source for h in result.results] == kept
    assert any(f"domain_filter: {len(PAGES) - len(kept)}" in note for note in result.notes)


def test_invalid_domains_are_named_and_too_many_refused():
    with pytest.raises(InvalidArguments, match="'a b'"):
        domains_of(("a b", "-", "ok.example"))
    with pytest.raises(InvalidArguments, match="at most 100"):
        domains_of(tuple(f"x{n}.example" for n in range(101)))
    assert len(domains_of(tuple([f"x{n}.example" for n in range(100)] + [f"-y{n}.example" for n in range(100)]))[1]) == 100


def test_blocked_hosts_go_and_preferred_ones_rise():
    result = tidy(Query("q"), *PAGES, prefer=("python.org.evil.example",), block=("pinterest.com",))
    assert [h.source for h in result.results] == ["python.org", "docs.python.org", "python.org.evil.example", "notpython.org"]
    assert any("blocked_domains: 2" in note for note in result.notes)


@pytest.mark.parametrize(("applied", "then"), [("provider", "client"), ("none", "client")])
def test_what_is_older_than_asked_goes_and_it_is_said(applied, then):
    result = tidy(
        Query("q", freshness="week"),
        Hit("new", "https://a.example/", published_at="2 days ago"),
        Hit("old", "https://b.example/", published_at="2011-01-01"),
        Hit("undated", "https://c.example/"),
        freshness_applied=applied,
    )
    assert [h.title for h in result.results] == ["new", "undated"]
    assert result.freshness_applied == then
    assert any(note.startswith("option_ignored:freshness") for note in result.notes)


def test_freshness_a_backend_honoured_is_not_noted():
    result = tidy(Query("q", freshness="day"), Hit("new", "https://a.example/", published_at="1 hour ago"), freshness_applied="provider")
    assert (result.freshness_applied, result.notes) == ("provider", ())


def test_the_count_asked_for_is_kept():
    assert tidy(Query("q", count=2), *PAGES).count == 2


def test_two_lists_are_fused_by_rank():
    a = [Hit("1", "https://a.example/1"), Hit("2", "https://a.example/2")]
    b = [Hit("2", "http://www.a.example/2"), Hit("3", "https://a.example/3")]
    result = fused([a, b])
    assert [h.title for h in result] == ["2", "1", "3"]
    assert result[0].score > result[1].score
    assert 0 < result[0].score <= 1
