"""The backend keeps the contract of cormorant: `pytest examples/almanac/tests`, with the package installed."""

from __future__ import annotations

import anyio
import pytest
from almanac_search import Almanac

from cormorant import parts
from cormorant.errors import NotConfigured
from cormorant.providers.contract import check_all, playing
from cormorant.search import Found
from cormorant.settings import of

ROW = {"name": "Tides", "link": "https://a.example/", "about": "High water"}
SETTINGS = of({"search": {"urls": {"almanac": "http://127.0.0.1:9000"}}})


@pytest.mark.parametrize(("body", "status"), [([ROW], 200), ([], 200), ("down", 503), ("no", 401)])
def test_the_contract_is_kept(body, status):
    answers = anyio.run(check_all, Almanac(SETTINGS, playing(body, status)))
    assert all(isinstance(answer, Found) == (status == 200) for answer in answers)


def test_what_is_missing_is_said():
    with pytest.raises(NotConfigured, match="address"):
        Almanac(of(None), playing([]))


def test_cormorant_finds_it_by_its_entry_point():
    assert parts.part("search", "almanac") is Almanac
