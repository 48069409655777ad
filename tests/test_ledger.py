"""A run's account: nothing is spent past a limit, whoever spends side by side, and every answer can show it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cormorant import errors
from cormorant.ledger import Ledger
from cormorant.settings import Limits


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_was_settled_is_what_the_answer_shows() -> None:
    clock = Clock()
    session = Ledger(clock=clock)
    with session.call() as ledger:
        with ledger.reserve(requests=1, bytes=1000) as taken:
            taken.settle(bytes=400)
        with ledger.reserve(tokens=500) as taken:
            taken.settle(tokens=321)
        clock.now = 1.23456
    expected = {"tokens": 321, "seconds": 1.235, "requests": 1, "bytes": 400, "usd": None}
    assert ledger.as_dict() == session.as_dict() == expected
    with session.call() as ledger:
        ledger.spend(usd=0.0125, tokens=1)
    assert ledger.as_dict() == {"tokens": 1, "seconds": 0, "requests": 0, "bytes": 0, "usd": 0.0125}
    assert session.as_dict() == expected | {"tokens": 322, "usd": 0.0125}


@pytest.mark.parametrize(
    ("limits", "asked", "says"),
    [
        pytest.param(Limits(requests=2), {"requests": 1}, "limit of 2 requests is spent: 2 used, 1 more asked for", id="requests"),
        pytest.param(Limits(bytes=2048), {"bytes": 1}, "limit of 2,048 bytes is spent: 2,048 used, 1 more", id="bytes"),
        pytest.param(Limits(tokens=100), {"tokens": 1}, "limit of 100 tokens", id="tokens"),
        pytest.param(Limits(usd=0.05), {"usd": 0.01}, "limit of 0.05 US dollars is spent: 0.05 used, 0.01 more", id="usd"),
        pytest.param(Limits(seconds=10), {"requests": 1}, "limit of 10 seconds is spent: 10 used", id="seconds"),
    ],
)
def test_the_error_names_the_limit_and_what_raises_it(limits: Limits, asked: dict[str, float], says: str) -> None:
    clock = Clock()
    with Ledger(limits, clock=clock) as ledger:
        with ledger.reserve(requests=2, bytes=2048, tokens=100, usd=0.05) as taken:
            taken.settle(bytes=2048, tokens=100)
        clock.now = 10
        with pytest.raises(errors.BudgetSpent, match=says) as caught:
            ledger.reserve(**asked)  # type: ignore[arg-type]
    (name,) = limits.model_fields_set
    assert f"limits.{name}" in caught.value.remedy


def test_a_reservation_counts_before_it_is_spent() -> None:
    ledger = Ledger(Limits(requests=2, bytes=100))
    first = ledger.reserve(requests=1, bytes=60)
    assert ledger.left("bytes") == 40
    with pytest.raises(errors.BudgetSpent, match="bytes"):
        ledger.reserve(bytes=60)
    assert ledger.left("requests") == 1, "a refused reservation takes nothing"
    first.settle(bytes=10)
    assert ledger.left("bytes") == 90
    ledger.reserve(bytes=90)


def test_work_that_breaks_has_sent_its_request_and_received_nothing() -> None:
    ledger = Ledger()
    with pytest.raises(OSError, match="broken"), ledger.reserve(requests=1, bytes=500, tokens=5, usd=0.5):
        raise OSError("broken")
    spent = ledger.as_dict()
    assert (spent["requests"], spent["bytes"], spent["tokens"], spent["usd"]) == (1, 0, 0, 0.5)


def test_more_than_was_reserved_is_counted_and_stops_what_follows() -> None:
    ledger = Ledger(Limits(tokens=100))
    ledger.reserve(tokens=50).settle(tokens=150)
    assert ledger.as_dict()["tokens"] == 150
    assert ledger.left("tokens") == 0
    with pytest.raises(errors.BudgetSpent):
        ledger.check()


def test_limits_of_the_session_and_of_the_call_both_hold() -> None:
    session = Ledger(Limits(requests=3))
    call = session.call(Limits(requests=2))
    call.reserve(requests=2).settle()
    with pytest.raises(errors.BudgetSpent, match="limit of 2 requests"):
        call.reserve(requests=1)
    other = session.call()
    assert other.left("requests") == 1
    other.reserve(requests=1).settle()
    with pytest.raises(errors.BudgetSpent, match="limit of 3 requests"):
        other.reserve(requests=1)
    assert session.as_dict()["requests"] == 3
    assert other.left("bytes") == math.inf


def test_calls_side_by_side_count_their_time_once() -> None:
    clock = Clock()
    session = Ledger(Limits(seconds=10), clock=clock)
    with session.call() as first:
        clock.now = 2
        with session.call() as second:
            clock.now = 5
        clock.now = 6
    clock.now = 100  # nobody is at work
    assert (first.seconds, second.seconds, session.seconds) == (6, 3, 6)
    assert session.left("seconds") == 4


def test_a_limit_that_is_just_reached_stops_only_what_asks_more_of_it() -> None:
    ledger = Ledger(Limits(requests=1))
    ledger.reserve(requests=1).settle()
    ledger.check()
    ledger.reserve(bytes=10).settle(bytes=10)


def test_misuse_is_an_error_and_not_a_wrong_sum() -> None:
    ledger = Ledger()
    taken = ledger.reserve(requests=1)
    taken.settle()
    with pytest.raises(ValueError, match="once"):
        taken.settle()
    with pytest.raises(ValueError, match="negative"):
        ledger.reserve(bytes=-1)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.booleans())), st.integers(1, 200))
def test_reserved_and_spent_together_never_pass_a_limit(work: list[tuple[int, int, bool]], limit: int) -> None:
    ledger = Ledger(Limits(bytes=limit))
    spent, open_still = 0, 0
    for asked, came, at_once in work:
        try:
            taken = ledger.reserve(bytes=asked)
        except errors.BudgetSpent:
            assert spent + open_still + asked > limit
            continue
        if at_once:
            taken.settle(bytes=min(asked, came))
            spent += min(asked, came)
        else:
            open_still += asked
        assert ledger.as_dict()["bytes"] == spent
        assert ledger.left("bytes") == limit - spent - open_still >= 0
