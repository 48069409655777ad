"""Bytes to type and text: what servers say, what bytes are, and who is believed."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cormorant.errors import ExtractionFailed, UnsupportedType
from cormorant.extract import sniff
from cormorant.extract.decode import charset_of, media_type, text_of

URL = "https://site.example/page"
PAGE = b"<!doctype html><title>T</title><p>Text"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


@pytest.mark.parametrize(
    ("body", "declared", "url", "found"),
    [
        pytest.param(PAGE, "text/html; charset=utf-8", URL, "text/html", id="as declared"),
        pytest.param(PAGE, "Text/HTML ;charset=utf-8", URL, "text/html", id="case and spaces"),
        pytest.param(PAGE, "", URL, "text/html", id="no type: by content"),
        pytest.param(PAGE, "nonsense", URL, "text/html", id="broken type: by content"),
        pytest.param(b"  <!-- c --> <?x?>\n" + PAGE, "", URL, "text/html", id="comments in front"),
        pytest.param(PAGE, "text/plain", URL, "text/plain", id="HTML sent as text stays text"),
        pytest.param(PAGE, "application/octet-stream", URL, "text/html", id="octet-stream: by content"),
        pytest.param(PAGE, "application/json", URL, "text/html", id="an error page instead of JSON"),
        pytest.param(PAGE, "application/pdf", "https://site.example/a.pdf", "text/html", id="an error page instead of a PDF"),
        pytest.param(PAGE, "image/png", URL, "text/html", id="an error page instead of a picture"),
        pytest.param(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "text/html", URL, "application/pdf", id="PDF named as HTML"),
        pytest.param(b"%PDF-1.7\n", "text/plain", URL, "application/pdf", id="PDF named as text"),
        pytest.param(b"\r\n  %PDF-1.7\n", "", URL, "application/pdf", id="PDF behind blanks"),
        pytest.param(b"junk header\n%PDF-1.7\n", "application/pdf", URL, "application/pdf", id="PDF behind junk, named so"),
        pytest.param(b"A file begins with %PDF-1.7", "text/plain", URL, "text/plain", id="a text about PDF"),
        pytest.param(
            b"\x00\x01\x02broken",
            "application/octet-stream",
            "https://site.example/x.pdf?v=1",
            "application/pdf",
            id="a broken file named .pdf",
        ),
        pytest.param(b'\xef\xbb\xbf{"a": 1}', "application/json", URL, "application/json", id="JSON with BOM"),
        pytest.param(b'{"a": [1, 2]}', "", URL, "application/json", id="JSON without a type"),
        pytest.param(b'{"a": [1, 2]}', "text/html", URL, "application/json", id="JSON named as HTML"),
        pytest.param(b"{a brace begins this sentence}", "", URL, "text/plain", id="a brace is not JSON"),
        pytest.param(b'{"version": "https://jsonfeed.org/version/1.1"}', "application/json", URL, "application/feed+json", id="JSON Feed"),
        pytest.param(b'<?xml version="1.0"?><rss version="2.0"/>', "text/xml", URL, "application/rss+xml", id="RSS as XML"),
        pytest.param(b"<rss version='2.0'></rss>", "text/html", URL, "application/rss+xml", id="RSS as HTML"),
        pytest.param(b'<feed xmlns="http://www.w3.org/2005/Atom"/>', "application/xml", URL, "application/atom+xml", id="Atom"),
        pytest.param(b'<?xml version="1.0"?><note/>', "text/xml", URL, "text/xml", id="other XML"),
        pytest.param(b'<?xml version="1.0"?><note/>', "", URL, "application/xml", id="XML without a type"),
        pytest.param(b'<?xml version="1.0"?><!DOCTYPE html><html xmlns="x"/>', "application/xml", URL, "text/html", id="XHTML as XML"),
        pytest.param(b'<svg xmlns="x"/>', "image/svg+xml", URL, "image/svg+xml", id="SVG"),
        pytest.param(b"a,b\n1,2\n", "application/csv", URL, "text/csv", id="an alias"),
        pytest.param(b"# Notes\n", "", "https://site.example/README.md", "text/markdown", id="no type: by extension"),
        pytest.param(b"plain words", "", URL, "text/plain", id="no type: plain"),
        pytest.param(b"body { color: red }", "text/css", URL, "text/css", id="any text/*"),
        pytest.param(b"let a = 1", "application/javascript", URL, "application/javascript", id="source code"),
        pytest.param(PNG, "text/plain", URL, "image/png", id="a picture named as text"),
        pytest.param(b"\xff\xd8\xff\xe0\x00\x10JFIF", "", URL, "image/jpeg", id="JPEG"),
        pytest.param(b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/png", URL, "image/webp", id="a picture of another kind"),
        pytest.param(b"GIF89a is the name of a format", "text/plain", URL, "text/plain", id="a text about GIF"),
        pytest.param("words".encode("utf-16"), "text/plain", URL, "text/plain", id="UTF-16 with its mark is no binary"),
        pytest.param("plain words".encode("utf-16-le"), "text/plain", URL, "text/plain", id="UTF-16 without its mark"),
        pytest.param(b"<html><body>a\x00b</body></html>", "text/html", URL, "text/html", id="a page with a stray NUL"),
        pytest.param(b"", "text/html", URL, "text/html", id="empty, declared"),
        pytest.param(b"", "", URL, "text/html", id="empty"),
    ],
)
def test_what_a_body_is(body: bytes, declared: str, url: str, found: str) -> None:
    assert media_type(body, declared, url) == found


@pytest.mark.parametrize(
    ("body", "declared", "named"),
    [
        pytest.param(b"RIFF\x00\x01\x02gate\x00", "text/plain", "application/octet-stream (sent as text/plain)", id="binary named as text"),
        pytest.param(b"\x00\x00\x01\xba", "video/mpeg", "video/mpeg", id="video"),
        pytest.param(b"ID3\x04\x00\x00", "audio/mpeg", "audio/mpeg", id="audio"),
        pytest.param(b"\x1f\x8b\x08\x00", "application/gzip", "application/gzip", id="gzip"),
        pytest.param(b"\x7fELF\x02\x01", "", "application/x-elf", id="program without a type"),
        pytest.param(b"MZ\x90\x00", "text/html", "portable-executable (sent as text/html)", id="program named as HTML"),
        pytest.param(b"wOF2\x00\x01", "font/woff2", "font/woff2", id="font"),
        pytest.param(bytes(range(200)), "", "application/octet-stream", id="noise"),
        pytest.param(b"PK\x05\x06" + bytes(18), "application/zip", "application/zip", id="empty archive"),
    ],
)
def test_what_is_refused_is_named(body: bytes, declared: str, named: str) -> None:
    with pytest.raises(UnsupportedType) as caught:
        media_type(body, declared, URL)
    assert named in caught.value.message
    assert caught.value.remedy


def test_office_files_are_told_from_archives() -> None:
    stored = b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/epub+zipPK"
    assert media_type(stored, "application/zip", URL) == sniff.EPUB
    with pytest.raises(ExtractionFailed, match="encrypted"):
        media_type(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "", URL)
    with pytest.raises(UnsupportedType, match="application/msword"):
        media_type(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"), "", URL)


# --- charsets -----------------------------------------------------------------------------------------------------

RUSSIAN = "Лодки проходят по одной, а паром ждёт у нижних ворот."
JAPANESE = "水門は毎朝六時に開きます。利用者は受付で名前を書いてください。"
CHINESE = "水闸每天早上六点开放。请在接待处写下您的名字。"
KOREAN = "수문은 매일 아침 여섯 시에 열립니다."
GERMAN = "Der Fährmann öffnet die Schleuse, größere Boote warten draußen."


def html(text: str, head: str = "") -> str:
    return f"<html><head>{head}<title>T</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("text", "encoding", "header", "head", "charset"),
    [
        pytest.param(RUSSIAN, "utf-8", "", "", "utf-8", id="nothing declared, valid UTF-8"),
        pytest.param(RUSSIAN, "utf-8-sig", "text/html; charset=koi8-r", "", "utf-8", id="a mark beats the header"),
        pytest.param(RUSSIAN, "utf-16", "text/html; charset=utf-8", "", "utf-16le", id="UTF-16 by its mark"),
        pytest.param(RUSSIAN, "utf-16-be", "text/html", "", "utf-16be", id="UTF-16 without a mark"),
        pytest.param(RUSSIAN, "utf-32", "text/html", "", "utf-32le", id="UTF-32 by its mark"),
        pytest.param(RUSSIAN, "koi8-r", "text/html; charset=koi8-r", "", "koi8-r", id="header"),
        pytest.param(RUSSIAN, "cp1251", 'text/html; charset="windows-1251"', "", "windows-1251", id="header in quotes"),
        pytest.param(RUSSIAN, "cp1251", "text/html", '<meta charset="cp1251">', "windows-1251", id="meta"),
        pytest.param(
            JAPANESE,
            "cp932",
            "text/html",
            '<META content="text/html; charset=Shift_JIS" http-equiv="content-type">',
            "shift_jis",
            id="meta in any order",
        ),
        pytest.param(
            RUSSIAN,
            "cp1251",
            "text/html",
            '<!-- <meta charset="koi8-r"> --><meta charset="cp1251">',
            "windows-1251",
            id="meta in a comment",
        ),
        pytest.param(
            RUSSIAN, "cp1251", "text/html", f"<script>{'x' * 4000}</script><meta charset=cp1251>", "windows-1251", id="meta far down"
        ),
        pytest.param(RUSSIAN, "utf-8", "text/html", '<meta charset="utf-16">', "utf-8", id="a meta that can't be true"),
        pytest.param(CHINESE + "朱镕基", "gb18030", "text/html; charset=gb2312", "", "gbk", id="gb2312 is its superset"),
        pytest.param(GERMAN + " 5 €", "cp1252", "text/html; charset=iso-8859-1", "", "windows-1252", id="latin-1 is windows-1252"),
        pytest.param("①髙" + JAPANESE, "cp932", "text/html; charset=shift_jis", "", "shift_jis", id="Shift_JIS with Windows characters"),
        pytest.param(RUSSIAN, "cp1251", "text/html", "", "windows-1251", id="detected: Russian"),
        pytest.param(RUSSIAN, "koi8-r", "text/html", "", "koi8-r", id="detected: KOI8"),
        pytest.param(GERMAN, "cp1252", "text/html", "", "windows-1252", id="detected: German"),
        pytest.param(JAPANESE, "euc-jp", "text/html", "", "euc-jp", id="detected: EUC-JP"),
        pytest.param(JAPANESE, "iso2022_jp", "text/html", "", "iso-2022-jp", id="detected: escapes that look like ASCII"),
        pytest.param(KOREAN, "cp949", "text/html", "", "euc-kr", id="detected: short Korean"),
        pytest.param(CHINESE, "gb18030", "text/html", "", "gb18030", id="detected: Chinese"),
    ],
)
def test_charsets(text: str, encoding: str, header: str, head: str, charset: str) -> None:
    found = text_of(html(text, head).encode(encoding), header, "text/html")
    assert text in found.text
    assert found.charset == charset
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("text", "encoding", "header", "head", "charset"),
    [
        pytest.param(GERMAN, "utf-8", "text/html; charset=iso-8859-1", "", "utf-8", id="UTF-8 declared as Latin-1"),
        pytest.param(RUSSIAN, "utf-8", "text/html", "<meta charset=windows-1251>", "utf-8", id="UTF-8 declared as Cyrillic"),
        pytest.param(CHINESE, "utf-8", "text/html; charset=gbk", "", "utf-8", id="UTF-8 declared as Chinese"),
        pytest.param(RUSSIAN, "cp1251", "text/html; charset=utf-8", "", "windows-1251", id="Cyrillic declared as UTF-8"),
        pytest.param(
            JAPANESE, "cp932", "text/html; charset=utf-8", "<meta charset=shift_jis>", "shift_jis", id="a header contradicted by the page"
        ),
        pytest.param(
            RUSSIAN,
            "cp1251",
            "text/html; charset=iso-8859-1",
            "<meta charset=windows-1251>",
            "windows-1251",
            id="a server's default header",
        ),
    ],
)
def test_a_declaration_the_bytes_contradict_is_overruled_and_said(text: str, encoding: str, header: str, head: str, charset: str) -> None:
    found = text_of(html(text, head).encode(encoding), header, "text/html")
    assert text in found.text
    assert found.charset == charset
    assert f"read as {charset}" in found.warnings[0].lower()


@pytest.mark.parametrize(
    ("body", "media", "said"),
    [
        pytest.param(
            b'<?xml version="1.0" encoding="windows-1251"?><a>' + RUSSIAN.encode("cp1251") + b"</a>",
            "text/xml",
            RUSSIAN,
            id="prolog",
        ),
        pytest.param("<a>Reptile’s tail</a>".encode(), "text/xml", "Reptile’s tail", id="UTF-8 without one"),
        pytest.param(
            b'<?xml version="1.0" encoding="ISO-8859-1"?><a>' + "Größe".encode("latin-1"), "application/xhtml+xml", "Größe", id="XHTML"
        ),
        pytest.param('<?xml version="1.0"?><a>ü</a>'.encode("utf-16"), "application/xml", "ü", id="UTF-16"),
    ],
)
def test_xml_says_its_charset_in_the_prolog(body: bytes, media: str, said: str) -> None:
    assert said in text_of(body, media, media).text


def test_unknown_labels_are_ignored() -> None:
    assert text_of(RUSSIAN.encode(), "text/html; charset=utf-7", "text/html").text == RUSSIAN
    assert text_of(RUSSIAN.encode(), "text/html; charset=x-nonsense", "text/html").text == RUSSIAN
    assert charset_of("text/html; Charset = 'UTF-8'") == "UTF-8"


def test_undecodable_bytes_are_replaced_with_a_warning() -> None:
    found = text_of("Größe und Höhe".encode() + b"\xff\xfe und mehr", "text/plain; charset=utf-8", "text/plain")
    assert found.text.startswith("Größe und Höhe\ufffd")
    assert "undecodable" in found.warnings[0]
    assert "utf-8" in found.warnings[0]


def test_a_replacement_character_of_the_page_itself_is_no_warning() -> None:
    assert text_of("Größe \ufffd".encode(), "text/plain", "text/plain").warnings == ()


@pytest.mark.parametrize("cut", range(1, 12))
@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "cp932", "euc-kr", "utf-16"])
def test_a_cut_body_ends_at_a_character(encoding: str, cut: int) -> None:
    text = {"euc-kr": KOREAN, "cp932": JAPANESE}.get(encoding, CHINESE)
    found = text_of(text.encode(encoding)[:-cut], f"text/plain; charset={encoding}", "text/plain")
    assert "\ufffd" not in found.text
    assert text.startswith(found.text)
    assert len(text) - len(found.text) <= cut


def test_a_latin_letter_at_the_very_end_is_no_half_character() -> None:
    assert text_of("café".encode("latin-1"), "text/plain", "text/plain").text == "café"


@given(
    st.binary(max_size=400),
    st.sampled_from(["", "text/html; charset=utf-8", "text/html; charset=big5", "text/xml", "text/html; charset=iso-2022-jp"]),
)
def test_nothing_makes_it_fail(body: bytes, header: str) -> None:
    found = text_of(body, header, "text/html")
    found.text.encode("utf-8")  # no lone surrogates
    assert found == text_of(body, header, "text/html")


@given(st.text(alphabet=st.characters(blacklist_categories=("Cs",), blacklist_characters="\ufeff"), min_size=1, max_size=200))
def test_utf_8_comes_back_whole(text: str) -> None:
    body = ("é" + text).encode()
    assert text_of(body, "text/plain; charset=utf-8", "text/plain").text == "é" + text


def test_every_collected_exchange_about_charsets(cases: Path) -> None:
    for line in (cases / "bugs/cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["op"] != "fetch" or case["kind"] != "charset":
            continue
        exchange = json.loads((cases / "bugs" / case["input"]["files"]["exchange"]).read_text())["exchanges"][0]
        header, body = exchange["response"]["headers"]["content-type"], base64.b64decode(exchange["response"]["body_b64"])
        text = text_of(body, header, media_type(body, header, URL)).text
        for check in case["expect"]:
            if check["c"] == "says":
                assert check["v"] in text, case["id"]
            elif check["c"] == "not_contains":
                assert check["v"] not in text, case["id"]
