"""Whether two figures are one, can be one, or stand in each other's place. Pure."""

from __future__ import annotations

import re

from cormorant.verify.quantities import Quantity
from cormorant.verify.units import MONEY

CONVERTED = 0.012  # relative difference that a rounded unit conversion may make
ROUNDED = 0.06  # what "about" allows
BOUNDED = 0.35  # how far "over 5,000" may lie below the true figure
DEGREES_ROUNDED = 0.6
_LOOSE = {"count"}
_CALENDAR = {"year", "month", "day", "weekday", "decade", "clock"}


def same(claimed: Quantity, stated: Quantity) -> bool:
    """Whether the page's figure bears the claim's out."""
    if not comparable(claimed, stated) or contrary_bounds(claimed, stated) or (claimed.per and stated.per and claimed.per != stated.per):
        return False
    if claimed.kind == stated.kind == "temperature":
        return any(abs(a - b) <= DEGREES_ROUNDED for a in claimed.values for b in stated.values)
    tolerance = CONVERTED if claimed.kind == stated.kind and (claimed.factor != stated.factor) else 1e-9
    if claimed.bound == "~" or stated.bound == "~":
        tolerance = max(tolerance, ROUNDED)
    elif claimed.scaled and not stated.scaled:
        tolerance = max(tolerance, _rounding(claimed))
    loose = claimed.kind != stated.kind and "count" in (claimed.kind, stated.kind)
    for a in claimed.bare or claimed.values if loose else claimed.values:
        for b in stated.bare or stated.values if loose else stated.values:
            if abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-12):
                return True
            if claimed.bound == ">" and a < b <= a * (1 + BOUNDED):
                return True
            if claimed.bound == "<" and a > b >= a * (1 - BOUNDED):
                return True
    if claimed.kind == "decade":
        return any(a <= b < a + 10 for a in claimed.values for b in stated.values)
    return False


def contrary_bounds(claimed: Quantity, stated: Quantity) -> bool:
    """At least four is not at most four."""
    return {claimed.bound, stated.bound} == {"<", ">"} and bool(set(claimed.values) & set(stated.values))


def _rounding(quantity: Quantity) -> float:
    """The relative slack of a round figure with two or more digits: 4.9 million stands for 4,873,000."""
    digits = len(re.sub(r"\D", "", re.split(r"[^\d.,]", quantity.raw)[0]))
    return 0.6 * 10.0 ** (1 - digits) if digits >= 2 else 1e-9


def comparable(a: Quantity, b: Quantity) -> bool:
    """Whether the two could be the same figure: the same kind, or one of them only a number."""
    if a.kind == b.kind:
        return True
    if {a.kind, b.kind} <= {"year", "decade"}:
        return True
    if a.kind in _LOOSE or b.kind in _LOOSE:
        return (
            "month" not in (a.kind, b.kind)
            and "weekday" not in (a.kind, b.kind)
            and not (MONEY & {a.kind, b.kind} and a.scaled != b.scaled)
        )
    return {a.kind, b.kind} == {"gbp", "mass"}  # pounds


def rival(claimed: Quantity, stated: Quantity) -> bool:
    """Whether the page's figure stands where the claim's ought to: the same kind of figure with another value, or the same
    number of something else."""
    if same(claimed, stated):
        return False
    if claimed.kind == stated.kind:
        return True
    kinds = {claimed.kind, stated.kind}
    if kinds <= MONEY:
        return True
    return not kinds & _CALENDAR and bool(set(claimed.bare) & set(stated.bare))
