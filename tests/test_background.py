"""The background table: common words weigh little, telling ones much, in whatever form they stand."""

from __future__ import annotations

import pytest

from cormorant import background


@pytest.mark.parametrize(
    ("common", "rare"), [("the", "harbour"), ("how", "python"), ("water", "tidewater"), ("and", "zugzwang"), ("the", "潮汐")]
)
def test_a_telling_word_weighs_more(common, rare):
    weights = background.weights(f"{common} {rare}")
    terms = [term for term in weights if not term.startswith(("#", "~"))]
    assert weights[terms[0]] < weights[terms[-1]]


def test_a_word_weighs_as_its_commonest_form():
    assert background.weights("tables")["tables"] == pytest.approx(min(background.rarity("tables"), background.rarity("~tabl")))


def test_grams_weigh_a_share_and_every_term_has_a_weight():
    from cormorant.words import terms

    weights = background.weights("lighthouse keepers")
    assert set(weights) == set(terms("lighthouse keepers"))
    assert 0 < weights["#ligh"] < weights["lighthouse"]


def test_nothing_asked_weighs_nothing():
    assert background.weights("?!") == {}


def test_the_table_holds_no_word_of_fewer_than_three_pages():
    pages, counts = background._table()
    assert pages > 1000
    assert min(counts.values()) >= 3
    assert max(counts.values()) <= pages
