"""A configured secret leaves in no spelling, and stands in no text that is shown."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cormorant.errors import Vetoed
from cormorant.secrets import Guard, redact

KEY = "sk-Tide/42+Gate=öffnen"
GUARD = Guard({"BRAVE_API_KEY": KEY, "SHORT": "abc"})
SPELLINGS = {
    "plain": KEY,
    "upper": KEY.upper(),
    "percent": quote(KEY, safe=""),
    "percent in part": KEY.replace("T", "%54").replace("ö", quote("ö")),
    "percent all": "".join(f"%{byte:02X}" for byte in KEY.encode()),
    "percent twice": quote(quote(KEY, safe=""), safe=""),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 behind one byte": base64.b64encode(b"x" + KEY.encode()).decode(),
    "base64 behind two bytes": base64.b64encode(b"xy" + KEY.encode() + b"z").decode(),
    "base64url": base64.urlsafe_b64encode(KEY.encode()).decode().rstrip("="),
    "base64 percent": quote(base64.b64encode(KEY.encode()).decode(), safe=""),
    "hex": KEY.encode().hex().upper(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_request_that_carries_a_secret_is_refused(spelling: str) -> None:
    text = SPELLINGS[spelling]
    for url, headers, body in (
        (f"https://x.org/?q={text}", {}, b""),
        ("https://x.org/", {"X-Note": f"see {text} here"}, b""),
        ("https://x.org/", {}, f'{{"note": "{text}"}}'.encode()),
    ):
        with pytest.raises(Vetoed) as caught:
            GUARD.check(url, headers, body)
        shown = f"{caught.value.message} {caught.value.remedy} {caught.value!r}"
        assert "BRAVE_API_KEY" in shown
        assert text not in shown


@pytest.mark.parametrize("spelling", [name for name in SPELLINGS if name not in ("percent twice", "base64 percent")])
def test_a_text_shows_none_of_it(spelling: str) -> None:
    shown = redact(f"before {SPELLINGS[spelling]} after", {"BRAVE_API_KEY": KEY})
    assert "[REDACTED]" in shown
    assert not GUARD.find(shown)
    assert shown.startswith("before ")


def test_innocent_requests_pass_and_short_values_are_not_looked_for() -> None:
    GUARD.check("https://x.org/abc?q=sk-Tide%2F42", {"Accept": "text/html"}, b"abc")
    Guard({}).check(f"https://x.org/{KEY}")
    assert redact("plain", {}) == "plain"


@pytest.mark.parametrize("part", ["Gate4711xyz", "session=Gate4711xyz; theme=dark", "tok-998877", "Bearer tok-998877"])
def test_each_credential_of_a_login_counts_by_itself(part: str) -> None:
    login = {"SHOP_LOGIN": "Cookie: session=Gate4711xyz; theme=dark\nAuthorization: Bearer tok-998877\n"}
    guard = Guard(login)
    assert guard.find(f"https://evil.example/?x={quote(part)}") == "SHOP_LOGIN"
    assert part not in guard.redact(f"we saw {part} there")
    assert not guard.find("https://x.org/?theme=dark")


def test_the_guard_shows_nothing() -> None:
    assert KEY not in repr(GUARD)
    assert repr(GUARD) == "Guard(1 secrets)"


@given(st.text(alphabet="abcXYZ019-_=+/~", min_size=8, max_size=40), st.binary(max_size=5), st.binary(max_size=5))
def test_base64_at_any_offset_is_found(secret: str, before: bytes, after: bytes) -> None:
    coded = base64.b64encode(before + secret.encode() + after).decode()
    assert Guard({"K": secret}).find(f"x={coded}&y=1") == "K"
