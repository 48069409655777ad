"""The local index: what goes in is found, what is taken out is not, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cormorant.document import Document
from cormorant.errors import InvalidArguments, ProviderError, Timeout
from cormorant.library import Library


def page(url: str, markdown: str, title: str = "", **more: str) -> Document:
    return Document(url=url, markdown=markdown, title=title or url, **more)


@pytest.fixture
def library(tmp_path: Path):
    with Library(tmp_path / "library.sqlite") as library:
        yield library


def urls(library: Library, text: str, **more) -> list[str]:
    return [hit.url for hit in library.search(text, **more).hits]


TIDES = page(
    "https://harbour.example/tides",
    "# Tides\n\nThe pilot boat leaves at noon.\n\n## Low water\n\nLow water at Harlow falls six hours after high water. See [the table](https://harbour.example/t?x=zebra).",
    "Tides at Harlow",
    published="2026-11-20",
)
BREAD = page(
    "https://kitchen.example/bread", "# Bread\n\nKnead the dough for ten minutes. `TaskGroup` has nothing to do with it.", "Baking bread"
)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        pytest.param("low water harlow", ["https://harbour.example/tides"], id="words"),
        pytest.param("When is low water at Harlow?", ["https://harbour.example/tides"], id="a question"),
        pytest.param("kneading doughs", ["https://kitchen.example/bread"], id="other forms of the words"),
        pytest.param('"pilot boat"', ["https://harbour.example/tides"], id="phrase"),
        pytest.param('"boat pilot"', [], id="phrase in the wrong order"),
        pytest.param("the -water -dough", [], id="everything excluded"),
        pytest.param("bread tides -dough", ["https://harbour.example/tides"], id="exclusion"),
        pytest.param("site:harbour.example water", ["https://harbour.example/tides"], id="site"),
        pytest.param("site:example dough water", ["https://harbour.example/tides", "https://kitchen.example/bread"], id="site of both"),
        pytest.param("-site:harbour.example water dough", ["https://kitchen.example/bread"], id="not that site"),
        pytest.param("intitle:bread", ["https://kitchen.example/bread"], id="title"),
        pytest.param("intitle:dough", [], id="not in the title"),
        pytest.param("task group", ["https://kitchen.example/bread"], id="two words for a joined name"),
        pytest.param("zebra", [], id="addresses of links are no text"),
        pytest.param("HARLOW", ["https://harbour.example/tides"], id="case"),
        pytest.param("hárlow", ["https://harbour.example/tides"], id="accents"),
        pytest.param('water" OR (NEAR * ^ :', ["https://harbour.example/tides"], id="the index's own syntax is only text"),
        pytest.param("\x00 water", ["https://harbour.example/tides"], id="NUL"),
        pytest.param("unobtainium", [], id="nothing"),
        pytest.param("?!", [], id="no word at all"),
    ],
)
def test_what_a_person_types_is_found(library, asked, found):
    library.add([TIDES, BREAD])
    assert sorted(urls(library, asked)) == sorted(found)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        pytest.param("我们在北京大学学习自然语言处理。", "北京大学", id="Chinese"),
        pytest.param("我们在北京大学学习自然语言处理。", "大学", id="Chinese, inside a word"),
        pytest.param("我们在北京大学学习自然语言处理。", "北京大学的自然语言处理怎么样", id="Chinese question"),
        pytest.param("冬天的水", "水", id="one character at the end"),
        pytest.param("水是生命", "水", id="one character at the beginning"),
        pytest.param("東京都の水道料金について", "水道料金", id="Japanese"),
        pytest.param("コンピュータの歴史", "ｺﾝﾋﾟｭｰﾀ", id="Japanese, half width"),
        pytest.param("학교에서 공부합니다", "학교", id="Korean without its particle"),
        pytest.param("น้ำประปาในกรุงเทพมหานคร", "กรุงเทพ", id="Thai"),
        pytest.param("น้ำประปาในกรุงเทพมหานคร", "ประปา", id="Thai, inside a run"),
        pytest.param("नमस्ते दुनिया में हिन्दी", "हिन्दी", id="Hindi keeps its vowel signs"),
        pytest.param("مَدْرَسَةٌ كبيرة", "مدرسة", id="Arabic with and without vowels"),
        pytest.param("שָׁלוֹם עולם", "שלום", id="Hebrew with and without points"),
        pytest.param("Die Straße am Müller-Platz", "STRASSE muller", id="German"),
        pytest.param("Ｆｕｌｌ ｗｉｄｔｈ", "full width", id="full width Latin"),
        pytest.param("Москва — столица", "МОСКВА", id="Russian"),
    ],
)
def test_every_script_is_found_as_typed(library, text, asked):
    library.add([page("https://x.example/1", text, "t"), page("https://x.example/2", "nothing of that kind", "other")])
    assert urls(library, asked) == ["https://x.example/1"]


def test_a_thai_question_ranks_the_page_that_answers_first(library):
    library.add([page("https://x.example/1", "ร้านอาหารเปิดเก้าโมง", "ร้าน"), page("https://x.example/2", "สถานีรถไฟอยู่ใกล้โรงพยาบาล", "สถานี")])
    assert urls(library, "สถานีรถไฟอยู่ที่ไหน")[0] == "https://x.example/2"


def test_a_hit_shows_where_its_words_stand(library):
    library.add(
        page("https://x.example/", "filler text " * 200 + "\n\nThe quay opens at dawn and closes at dusk.\n\n" + "other text " * 200)
    )
    (hit,) = library.search("quay closing").hits
    assert "quay opens at dawn" in hit.snippet
    assert len(hit.snippet) < 400
    assert [hit.snippet[a:b].lower() for a, b in hit.marks] == ["quay", "closes"]


def test_headings_and_title_weigh_more_than_body(library):
    body = "word " * 50
    library.add(
        [
            page("https://x.example/body", f"# One\n\n{body} anchorage {body}", "One"),
            page("https://x.example/heading", f"# Two\n\n## Anchorage\n\n{body}{body}", "Two"),
            page("https://x.example/title", f"# Anchorage\n\n{body}{body}", "Anchorage"),
        ]
    )
    assert urls(library, "anchorage")[-1] == "https://x.example/body"


def test_a_long_page_is_found_by_the_part_that_answers(library):
    parts = "\n\n".join(f"## Part {n}\n\n" + "lorem ipsum dolor " * 80 for n in range(40))
    library.add(page("https://x.example/long", f"# Long\n\n{parts}\n\n## Mooring\n\nMoor at the north buoy."))
    (hit,) = library.search("where to moor").hits
    assert hit.heading == "Long / Mooring"
    assert "north buoy" in hit.snippet


def test_pages_follow_each_other_without_gap_or_repeat(library):
    library.add([page(f"https://x.example/{n}", f"buoy number {n} " + "text " * n) for n in range(25)])
    seen = [url for number in (1, 2, 3, 4) for url in urls(library, "buoy", count=8, page=number)]
    assert len(seen) == len(set(seen)) == 25


def test_changed_documents_replace_and_removed_ones_vanish(library):
    assert library.add([TIDES, BREAD]).added == 2
    assert library.add([TIDES, BREAD]).unchanged == 2
    assert library.add(page(TIDES.url, "Now only about lighthouses.", "Lights")).changed == 1
    assert urls(library, "harlow") == []
    assert urls(library, "lighthouse") == [TIDES.url]
    assert library.remove(TIDES.url) == 1
    assert library.remove(TIDES.url) == 0
    assert urls(library, "lighthouse") == []
    assert library.db.execute("SELECT count(*) FROM pieces").fetchone()[0] == 1
    library.db.execute("INSERT INTO words(words) VALUES ('integrity-check')")


@pytest.mark.parametrize(
    ("asked", "gone"),
    [("https://x.example/a/*", 2), ("https://x.example/*", 3), ("https://x.example/a_*", 0), ("https://x.example/a/1", 1)],
)
def test_everything_below_an_address_can_be_removed(library, asked, gone):
    library.add([page(f"https://x.example/{path}", f"page {path}") for path in ("a/1", "a/2", "b")] + [TIDES])
    assert library.remove(asked) == gone
    assert library.collections() == {"default": 4 - gone}


def test_collections_are_apart(library):
    library.add(TIDES, collection="sea")
    library.add([BREAD, TIDES], collection="land")
    assert library.collections() == {"land": 2, "sea": 1}
    assert urls(library, "dough", collection="sea") == []
    assert urls(library, "dough", collection="land") == [BREAD.url]
    assert urls(library, "harlow") == [TIDES.url], "the same page in two collections is one hit"
    assert library.remove(collection="land") == 2
    assert [held.url for held in library.documents()] == [TIDES.url]
    with pytest.raises(InvalidArguments):
        library.remove()


def test_how_much_of_a_question_a_hit_covers_is_known(library):
    library.add([TIDES, BREAD])
    assert library.search("low water harlow").hits[0].covered == 1.0
    assert library.search("water zeppelin airship history").hits[0].covered < 0.5


def test_a_phrase_in_passing_is_no_search_for_it(library):
    library.add([TIDES, BREAD])
    found = library.search('when do they "leave the pilot" boat at noon')
    assert [hit.url for hit in found.hits] == [TIDES.url]
    assert found.notes[0].startswith("phrase_relaxed")


def test_freshness_looks_at_the_date_of_the_document(library):
    library.add(
        [
            TIDES,
            page("https://x.example/old", "Low water long ago.", "Old", published="2019-01-01"),
            page("https://x.example/", "low water undated"),
        ]
    )
    now = datetime(2026, 11, 25, tzinfo=UTC)
    assert urls(library, "low water", freshness="week", now=now) == [TIDES.url]
    assert urls(library, "low water", freshness="day", now=now) == []
    assert len(urls(library, "low water", now=now)) == 3


def test_documents_without_a_date_are_left_out_of_a_fresh_search_and_it_is_said(library):
    library.add([TIDES, page("https://b.example/", "Low water at the bell buoy.")])
    now = datetime(2026, 11, 22, tzinfo=UTC)
    assert library.search("low water", freshness="week", now=now).notes == (
        "undated: 1 of the library's documents without a date left out",
    )
    assert library.search("low water", freshness="week", now=now, collection="other").notes == ()
    assert library.search("low water").notes == ()


@pytest.mark.parametrize(
    "notice", ["[document: PDF, 1 page, no OCR]\n\n", "[document: Word document]\n[document warning: one image left out]\n\n"]
)
def test_what_a_reader_says_of_a_document_is_no_part_of_it(library, notice):
    library.add(page("https://b.example/a.pdf", f"{notice}The wreck lies near the bell buoy."))
    (hit,) = library.search("wreck").hits
    assert hit.snippet == "The wreck lies near the bell buoy."
    assert urls(library, "OCR") == urls(library, "warning image") == []
    assert library.document("https://b.example/a.pdf").markdown.startswith("[document")


def test_domains_filter_strictly(library):
    library.add([TIDES, BREAD, page("file:///srv/notes.md", "water and dough", "Notes")])
    assert urls(library, "water dough", domains=["harbour.example"]) == [TIDES.url]
    assert urls(library, "water dough", domains=["=example"]) == []
    assert urls(library, "water dough", domains=["-.example"]) == ["file:///srv/notes.md"]
    with pytest.raises(InvalidArguments, match="not a host pattern"):
        library.search("water", domains=["a b"])


def test_near_copies_are_shown_once(library):
    text = "# Notice\n\n" + " ".join(f"word{n % 37} about the harbour wall and its repair" for n in range(60))
    library.add(
        [
            page("https://x.example/a", text),
            page("https://x.example/b", text + " printed today"),
            page("https://x.example/c", "harbour repair elsewhere"),
        ]
    )
    found = library.search("harbour wall repair")
    assert sorted(hit.url for hit in found.hits) in (
        ["https://x.example/a", "https://x.example/c"],
        ["https://x.example/b", "https://x.example/c"],
    )
    assert "near copies" in found.notes[0]


def test_copies_that_differ_in_a_number_are_both_shown(library):
    text = "# Notice\n\n" + " ".join(f"word{n % 37} about the harbour wall and its repair" for n in range(20))
    library.add([page("https://x.example/a", text + " in 1974"), page("https://x.example/b", text + " in 1982")])
    assert len(library.search("harbour wall repair").hits) == 2


def test_the_stored_copy_is_given_back(library):
    document = page(
        "https://x.example/", "# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\ud800", "A", byline="Ann", language="en", published="2020-01-02"
    )
    library.add(document)
    held = library.document("https://x.example/")
    assert held.markdown.startswith("# A\n\n| a | b |")
    assert (held.title, held.byline, held.language, held.published) == ("A", "Ann", "en", "2020-01-02")
    assert library.document("https://x.example/other") is None


def test_all_of_one_call_or_none(library):
    with pytest.raises(AttributeError):
        library.add([TIDES, None])
    assert library.collections() == {}


WRITER = """
import sys
from cormorant.document import Document
from cormorant.library import Library
library = Library(sys.argv[1])
for n in range(int(sys.argv[3])):
    url = f"https://x.example/{sys.argv[2]}/{n}"
    library.add(Document(url=url, markdown=f"page {n} of writer {sys.argv[2]} about harbours " * 30, title=f"{n}"))
    print(url, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, str(count)], stdout=subprocess.PIPE, text=True)


def test_four_writers_at_once_lose_nothing(tmp_path):
    path = tmp_path / "library.sqlite"
    running = [writer(path, str(n), 15) for n in range(4)]
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0
    with Library(path) as library:
        assert library.collections() == {"default": 60}
        assert library.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        library.db.execute("INSERT INTO words(words) VALUES ('integrity-check')")


def test_killed_at_any_moment_what_was_acknowledged_is_there(tmp_path):
    path = tmp_path / "library.sqlite"
    acknowledged = []
    for turn in range(3):
        process = writer(path, str(turn), 10_000)
        acknowledged += [process.stdout.readline().strip() for _ in range(5 + turn * 7)]
        os.kill(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait(timeout=30)
    with Library(path) as library:
        assert set(acknowledged) <= {held.url for held in library.documents()}
        assert library.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert urls(library, "harbours")


@pytest.mark.parametrize("content", [b"no database at all, but text of some length" * 20, None])
def test_a_file_that_is_no_library_is_named(tmp_path, content):
    path = tmp_path / "library.sqlite"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(InvalidArguments, match=r"library\.sqlite"):
        Library(path).search("x")


def test_a_file_that_stays_locked_is_waited_for_and_then_said(library):
    library.add(TIDES)
    other = sqlite3.connect(library.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    library.db.execute("PRAGMA busy_timeout = 50")
    with pytest.raises(Timeout, match="another process") as caught:
        library.add(BREAD)
    assert caught.value.retryable
    assert urls(library, "harlow") == [TIDES.url], "reading goes on"
    other.execute("ROLLBACK")
    other.close()
    assert library.add(BREAD).added == 1


def test_a_damaged_file_is_an_error_of_ours(library):
    library.add([TIDES, BREAD])
    library.db.execute("DROP TABLE pieces")
    with pytest.raises(ProviderError, match="library"):
        library.search("harlow")
    with pytest.raises(ProviderError, match="library"):
        library.add(page("https://x.example/", "more"))


def test_an_index_of_an_older_fold_is_folded_again(library):
    library.add([TIDES, BREAD])
    library.db.execute("UPDATE meta SET value = '0' WHERE key = 'fold'")
    library.db.execute("INSERT INTO words(words) VALUES ('delete-all')")
    assert urls(library, "harlow") == []
    with Library(library.path) as again:
        assert urls(again, "harlow") == [TIDES.url]


def test_an_index_of_a_newer_release_is_left_alone(tmp_path):
    path = tmp_path / "library.sqlite"
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(InvalidArguments, match="newer"):
        Library(path)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    with Library(tmp_path_factory.mktemp("library") / "library.sqlite") as library:
        library.add([TIDES, BREAD, page("https://x.example/zh", "我们在北京大学学习", "北京")])
        yield library


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.sampled_from("ab水京\"-:*()^.'น้ำ\x00\ud800 site:intitle:NOT OR NEAR"), max_size=60))
def test_nothing_a_person_types_breaks_the_search(filled, text):
    found = filled.search(text)
    assert all(hit.url for hit in found.hits)


@pytest.mark.parametrize(
    "text", ['"a b" ' * 3000, "-x " * 3000, "intitle:x " * 3000, "word " * 20_000, "x" * 200_000, "水" * 5_000, '"' * 1001]
)
def test_a_question_of_any_size_is_answered(filled, text):
    filled.search(text)
