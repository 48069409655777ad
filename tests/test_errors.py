"""One tree, one shape, codes that never change."""

from __future__ import annotations

import pytest

from cormorant import errors

CODES = [
    "invalid_arguments",
    "not_allowed",
    "private_address",
    "robots",
    "provenance",
    "vetoed",
    "unsupported_type",
    "too_large",
    "http_error",
    "rate_limited",
    "challenge",
    "login_required",
    "paywall",
    "consent",
    "soft_404",
    "needs_javascript",
    "parked",
    "empty_page",
    "network",
    "dns",
    "tls",
    "timeout",
    "redirect",
    "extraction_failed",
    "no_provider",
    "provider_error",
    "provider_misconfigured",
    "unknown_response",
    "unknown_selector",
    "budget_spent",
    "replay_miss",
    "cancelled",
    "internal",
]
HTTP = {
    403: "not_allowed private_address robots provenance vetoed",
    404: "unknown_response unknown_selector replay_miss",
    413: "too_large",
    415: "unsupported_type",
    422: "invalid_arguments extraction_failed",
    429: "budget_spent",
    499: "cancelled",
    500: "internal",
    502: "http_error soft_404 challenge login_required paywall consent needs_javascript parked empty_page redirect network dns tls "
    "provider_error provider_misconfigured",
    503: "rate_limited no_provider",
    504: "timeout",
}
EXIT = {
    "invalid_arguments": 2,
    "not_allowed": 3,
    "robots": 3,
    "vetoed": 3,
    "network": 4,
    "timeout": 4,
    "challenge": 5,
    "soft_404": 5,
    "provider_error": 6,
}


@pytest.mark.parametrize("code", CODES)
def test_every_code_of_the_contract_has_its_class(code) -> None:
    assert errors.family(code)("why").code == code


@pytest.mark.parametrize(("code", "status"), [(code, status) for status, codes in HTTP.items() for code in codes.split()])
def test_http_status(code, status) -> None:
    assert errors.family(code).http == status


@pytest.mark.parametrize(("code", "exit_code"), EXIT.items())
def test_exit_code(code, exit_code) -> None:
    assert errors.family(code).exit_code == exit_code


def test_the_json_shape() -> None:
    error = errors.RateLimited("asked too often", remedy="wait", url="https://a.org/", hop=1, status=429, retryable=True, retry_after=7)
    assert error.as_dict() == {
        "code": "rate_limited", "message": "asked too often", "hint": "wait", "url": "https://a.org/", "hop": 1, "status": 429,
        "retryable": True, "retry_after": 7,
    }  # fmt: skip


def test_a_message_is_one_line_and_bounded() -> None:
    assert errors.Network("a\nb\t c").message == "a b c"
    assert len(errors.Network("x" * 9_000).message) == 2_000


def test_selectors_keep_their_lines() -> None:
    assert errors.UnknownSelector("there are:\n- a\n- b").message.count("\n") == 2
