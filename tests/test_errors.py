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
    "invalid_arguments": 422, "not_allowed": 403, "private_address": 403, "robots": 403, "provenance": 403, "vetoed": 403, "unsupported_type": 415,
    "too_large": 413, "http_error": 502, "rate_limited": 503, "soft_404": 502, "timeout": 504, "redirect": 502, "extraction_failed": 422,
    "no_provider": 503, "provider_error": 502, "unknown_response": 404, "unknown_selector": 404, "budget_spent": 429, "replay_miss": 404,
    "cancelled": 499, "internal": 500,
}  # fmt: skip
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


@pytest.mark.parametrize(("code", "status"), HTTP.items())
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
