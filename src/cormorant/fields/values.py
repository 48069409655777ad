"""Text as a value of the type that is wanted, or the reason why it is none. Pure.

The fence stands here: a figure of another unit, one that can be read in two ways, a struck or former price, a word under a
denial are no values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from cormorant.address import parse
from cormorant.errors import InvalidArguments
from cormorant.fields import names
from cormorant.fields.wanted import Wanted
from cormorant.verify.numerals import plain_digits
from cormorant.verify.polarity import denied, negators
from cormorant.verify.quantities import Quantity, quantities
from cormorant.verify.reading import Token, tokens
from cormorant.verify.units import MONEY
from cormorant.words import folded

TEXT_MAX_CHARS = 2_000
DECIMAL_COMMA = frozenset("de fr es it pt nl ru uk pl tr sv da nb no fi cs sk sl hr sr bg ro hu el id vi".split())
CALENDAR = frozenset(("year", "month", "day", "weekday", "decade", "clock"))
_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_STRUCK = re.compile(r"~~.*?~~", re.S)
_MARKS = re.compile(r"(?<!\\)(?:\*\*|__|`)|\\(?=[\\`*_{}\[\]()#+.!|<>~-])")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\(([^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
_EMAIL = re.compile(r"[^\s@<>()\[\]:;,]+@[^\s@<>()\[\]:;,]+\.[^\s@<>()\[\]:;,.]{2,}")
_BEFORE = re.compile(  # what names a price of before, right in front of it
    r"(?:\bwas|\bbefore|\bformerly|\blist price|\bregular price|\brrp|\bmsrp|\bsrp|instead of|statt|\buvp|vorher|bisher|\bavant|au lieu de"
    r"|\bantes|anterior|invece di|\bprima|раньше|вместо|было|eski fiyat|原价|原價|定価|通常価格|정가|ราคาเดิม|पहले|كان)\s*:?\s*\W{0,4}$",
    re.I,
)
_DAYS_FIRST = re.compile(r"(?<![\d.])(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)")
YES = frozenset(
    folded(word)
    for word in "yes true ja oui sí si sim да evet نعم हाँ हां 是 有 はい 예 ใช่ ✓ ✔ ✅ instock limitedavailability onlineonly".split()
)
NO = frozenset(
    folded(word)
    for word in "no false nein non não нет hayır لا नहीं 否 无 無 いいえ 아니요 ไม่ ✗ ✘ ❌ outofstock soldout discontinued backorder".split()
)
GONE = re.compile(
    r"sold out|out of stock|unavailable|discontinued|ausverkauft|vergriffen|agotad[oa]|épuisée?|rupture de stock|esaurit[oa]|esgotad[oa]"
    r"|закончил|tükendi|نفد|售罄|缺货|缺貨|売り切れ|品切れ|품절|หมด",
    re.I,
)


@dataclass(frozen=True)
class NoValue(Exception):
    """Why a text is not the value that is wanted."""

    reason: str


def value_of(raw: Any, wanted: Wanted, *, language: str = "", base: str = "", head: str = "", declared: bool = False) -> Any:
    """`raw` (text as the page has it, or a JSON scalar) as the wanted type. `head` is the label it stands under; in `declared` data
    a point in a number is a decimal point, whatever the language. Raises: NoValue."""
    if declared and isinstance(raw, str) and wanted.kind in ("number", "integer") and _PLAIN.fullmatch(raw.strip()):
        raw = float(raw)
    made = _typed(raw, wanted, language.split("-")[0].lower() if language else "", language, base, head)
    if wanted.enum:
        made = _of_enum(made, raw, wanted)
    _check_bounds(made, wanted)
    return made


def _typed(raw: Any, wanted: Wanted, tongue: str, language: str, base: str, head: str) -> Any:
    if wanted.kind == "boolean":
        return _boolean(raw)
    if wanted.kind in ("number", "integer"):
        number = _number(raw, wanted, tongue, head)
        if wanted.kind == "integer" and number != int(number):
            raise NoValue(f"{_short(raw)} is no whole number")
        return int(number) if wanted.kind == "integer" else number
    if isinstance(raw, bool):
        raise NoValue("a yes or no where text is wanted")
    text = plain_text(str(raw))
    if not text:
        raise NoValue("the page has nothing in its place")
    match wanted.format:
        case "date":
            return _date(text, tongue, language)
        case "date-time":
            return _moment(text)
        case "uri" | "url" | "uri-reference":
            return _uri(str(raw), base)
        case "email":
            if found := _EMAIL.search(text.removeprefix("mailto:")):
                return found[0]
            raise NoValue(f"{_short(raw)} is no e-mail address")
    return text[:TEXT_MAX_CHARS]


def plain_text(text: str) -> str:
    """Markdown without its marks, in one line; what is struck out is not said."""
    text = _LINK.sub(r"\1", _STRUCK.sub(" ", text))
    return " ".join(_MARKS.sub("", text).split())


# ---- numbers ----------------------------------------------------------------------------------------------------------


def _number(raw: Any, wanted: Wanted, tongue: str, head: str) -> float:
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return float(raw)
    text = str(raw) if names.asks_for_former(wanted) else _STRUCK.sub(" ", str(raw))
    text = plain_text(text.replace("~~", " "))
    if _PLAIN.fullmatch(text):
        if (other := names.unit_said(head)) and (asked := names.unit_of(wanted)) and other != asked:
            raise NoValue(f"{_short(raw)} stands under {head!r}, which is another unit")
        if not re.fullmatch(r"[-+]?[1-9]\d{0,2}\.\d{3}", text) or (tongue and tongue not in DECIMAL_COMMA):
            return float(text)
    found = [q for q in quantities(text) if q.kind not in CALENDAR or (q.kind == "year" and wanted.kind == "integer")]
    found = [q for q in found if not (q.weak and any(not other.weak for other in found))]
    if not names.asks_for_former(wanted):
        found = [q for q in found if not _BEFORE.search(text[: q.start])]
    numbers = {number_in(q, wanted, tongue, head) for q in found}
    if not numbers:
        raise NoValue(f"{_short(raw)} has no figure")
    if len(numbers) > 1:
        raise NoValue(f"{_short(raw)} has several figures")
    return numbers.pop()


def number_in(quantity: Quantity, wanted: Wanted, tongue: str, head: str = "") -> float:
    """The figure as a number in the unit that is wanted. Raises: NoValue for another unit, or one that reads in two ways."""
    asked = names.unit_of(wanted)
    stated = _unit(quantity) or names.unit_said(head)
    if asked and stated and not _same_unit(asked, stated):
        raise NoValue(f"{quantity.raw!r} is in another unit")
    if not asked and stated and _is_price(wanted) and stated[0] not in MONEY:
        raise NoValue(f"{quantity.raw!r} is no amount of money")
    readings = quantity.bare or quantity.values
    if len(readings) == 1:
        return readings[0]
    if stated and stated[0] in MONEY and any(reading == int(reading) for reading in readings):
        return max(readings)  # no currency has thousandths: 1.299 € are whole euros
    if tongue:
        comma = "," in quantity.raw
        whole = comma != (tongue in DECIMAL_COMMA)
        return max(readings) if whole else min(readings)
    raise NoValue(f"{quantity.raw!r} can be {readings[0]:g} or {readings[1]:g}")


def _unit(quantity: Quantity) -> tuple[str, float] | None:
    return None if quantity.kind in ("count", *CALENDAR) else (quantity.kind, quantity.factor)


def _same_unit(asked: tuple[str, float], stated: tuple[str, float]) -> bool:
    return asked[0] == stated[0] and abs(asked[1] - stated[1]) <= 1e-6 * max(asked[1], stated[1])


def _is_price(wanted: Wanted) -> bool:
    return names.kind_of(" ".join(names.parts(wanted.name))) == "price"


# ---- the rest ---------------------------------------------------------------------------------------------------------


def _boolean(raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    word = folded(re.sub(r"[\W_]+", "", str(raw).rsplit("/", 1)[-1])) or str(raw).strip()
    if word in YES or word in NO:
        return word in YES
    raise NoValue(f"{_short(raw)} says neither yes nor no")


def _date(text: str, tongue: str, language: str) -> str:
    text = plain_digits(text)
    if found := re.search(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)", text):
        return _day(int(found[1]), int(found[2]), int(found[3]), text)
    if found := _DAYS_FIRST.search(text):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        if (
            first > 12
            or found[2] == "."
            or (tongue and tongue != "en")
            or language.lower() in ("en-gb", "en-au", "en-nz", "en-ie", "en-in")
        ):
            return _day(year, second, first, text)
        if second > 12 or language.lower() == "en-us" or first == second:
            return _day(year, first, second, text)
        raise NoValue(f"{_short(text)} can be read day first or month first")
    found_all = quantities(text)
    parts = {kind: {q.values[0] for q in found_all if q.kind == kind and len(q.values) == 1} for kind in ("year", "month", "day")}
    if any(len(values) != 1 for values in parts.values()):
        raise NoValue(f"{_short(text)} names no single day")
    return _day(int(parts["year"].pop()), int(parts["month"].pop()), int(parts["day"].pop()), text)


def _day(year: int, month: int, day: int, text: str) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        raise NoValue(f"{_short(text)} is no day of the calendar") from None


def _moment(text: str) -> str:
    try:
        made = datetime.fromisoformat(text)
    except ValueError:
        raise NoValue(f"{_short(text)} is no date with a time and a zone") from None
    if made.tzinfo is None or len(text) <= 10:
        raise NoValue(f"{_short(text)} has no time zone")
    return text.replace(" ", "T", 1)


def _uri(raw: str, base: str) -> str:
    found = _LINK.search(raw)
    try:
        return parse(found[2] if found else raw.strip(), base or None).href
    except InvalidArguments:
        raise NoValue(f"{_short(raw)} is no address") from None


def _of_enum(made: Any, raw: Any, wanted: Wanted) -> Any:
    if made in wanted.enum:
        return made
    said = _letters(str(raw).rsplit("/", 1)[-1]), _letters(str(made))
    for option in wanted.enum:
        if isinstance(option, str) and _letters(option) in said:
            return option
    raise NoValue(f"{_short(raw)} is none of {', '.join(map(str, wanted.enum))}")


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", folded(text))


def _check_bounds(made: Any, wanted: Wanted) -> None:
    bounds = wanted.bounds
    if isinstance(made, int | float) and not isinstance(made, bool):
        low = (bounds.least is None or made >= bounds.least) and (bounds.above is None or made > bounds.above)
        high = (bounds.most is None or made <= bounds.most) and (bounds.below is None or made < bounds.below)
        if not (low and high):
            raise NoValue(f"{made:g} is out of the schema's bounds")
    if isinstance(made, str) and not (bounds.shortest or 0) <= len(made) <= (bounds.longest if bounds.longest is not None else len(made)):
        raise NoValue(f"{_short(made)} is shorter or longer than the schema allows")


def borne_out(made: Any, quote: str, wanted: Wanted, *, language: str = "") -> str:
    """Why a quote of the page does not bear a value out; empty when it does."""
    tongue = language.split("-")[0].lower()
    if isinstance(made, bool):
        against = bool(any(sure for _, _, sure in negators(quote)) or GONE.search(quote))
        return "" if made != against else f"the excerpt {'denies' if made else 'does not deny'} it"
    if isinstance(made, int | float):
        return _figure_in(float(made), quote, wanted, tongue)
    if wanted.format in ("date", "date-time"):
        try:
            said = _date(plain_text(quote), tongue, language)
        except NoValue as why:
            return why.reason
        return "" if str(made).startswith(said) else f"the excerpt says {said}"
    if wanted.enum:
        return _words_in(" ".join(names.parts(str(made))) or str(made), quote)
    return _words_in(str(made), quote)


def _figure_in(made: float, quote: str, wanted: Wanted, tongue: str) -> str:
    shown = quote if names.asks_for_former(wanted) else _STRUCK.sub(" ", quote)
    shown = plain_text(shown.replace("~~", " "))
    why = "the excerpt does not have the figure"
    for quantity in quantities(shown):
        if quantity.kind in CALENDAR and not (quantity.kind == "year" and wanted.kind == "integer"):
            continue
        try:
            number = number_in(quantity, wanted, tongue)
        except NoValue as other:
            why = other.reason if any(abs(made - v) < 1e-9 for v in (*quantity.bare, *quantity.values)) else why
            continue
        if abs(number - made) > 1e-9 * max(1.0, abs(made)):
            continue
        if not names.asks_for_former(wanted) and _is_price(wanted) and _BEFORE.search(shown[: quantity.start]):
            why = "the excerpt gives it as the price of before"
            continue
        return ""
    return why


def _words_in(said: str, quote: str) -> str:
    """Whether the quote has these words in a row and does not deny them."""
    text = plain_text(quote)
    wanted_tokens, there = [t.norm for t in tokens(said)], tokens(text)
    size = len(wanted_tokens)
    norms = [t.norm for t in there]
    places = [n for n in range(len(norms) - size + 1) if norms[n : n + size] == wanted_tokens] if size else []
    if not places:
        return "" if not size and said.strip() in text else "the excerpt does not have these words"
    return "" if any(not _denies(text, there, n, n + size) for n in places) else "the excerpt denies it"


def _denies(text: str, there: Sequence[Token], first: int, last: int) -> bool:
    """Whether a denial that stands before these words, and is none of them, reaches them in its own part of the sentence."""
    reached = denied(text, there, soft=False)
    before = any(sure and end <= there[first].start for _, end, sure in negators(text))
    return before and bool(reached & set(range(first, last)))


def _short(raw: Any) -> str:
    text = " ".join(str(raw).split())
    return repr(text if len(text) <= 60 else text[:59] + "…")


__all__ = ["NoValue", "borne_out", "plain_text", "value_of"]
