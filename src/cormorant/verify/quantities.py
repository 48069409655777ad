"""Numbers, dates and measures of a sentence, as values that compare across spellings, scripts and units. Pure.

"1,200 km", "1.200 Kilometer", "١٢٠٠ كم", "1200公里" and "twelve hundred kilometres" are one quantity; 1974 as a year, "1974年",
"๒๕๑๗" (Buddhist era, behind พ.ศ.) and "昭和49年" are one year. Where a spelling is ambiguous (1.234) every reading counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from cormorant.verify.lexicon import AMBIGUOUS_MONTHS, APPROXIMATE, AT_LEAST, AT_MOST, LOWER_DAYS, MONTHS, WEEKDAYS
from cormorant.verify.numerals import CJK, MIXED, THAI, cjk, mixed, plain_digits, readings, roman, thai
from cormorant.verify.spelled import languages, ordinal, spelled
from cormorant.verify.units import (
    AMBIGUOUS_UNITS,
    CJK_SCALES,
    NUMBER_WORDS,
    ORDINALS,
    PARTS,
    POUNDS,
    SCALES,
    SHARE_ARTICLES,
    SHARE_RUNS,
    SHARES,
    SIGNS,
    TIMES,
    UNITS,
)
from cormorant.words import folded

Bound = Literal["=", "~", ">", "<"]
BUDDHIST_ERA = 543
ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}


@dataclass(frozen=True, slots=True)
class Quantity:
    """One figure. `values` are its possible readings in the base unit of `kind`; a weak one is a small number in words."""

    start: int
    end: int
    kind: str
    values: tuple[float, ...]
    raw: str
    bound: Bound = "="
    weak: bool = False
    scaled: bool = False  # "5 million": a round figure
    factor: float = 1.0  # of its unit to the base unit
    bare: tuple[float, ...] = ()  # the number before its unit
    per: str = ""  # what it is reckoned by: an hour, a kilogram


# Letters of scripts that put spaces between words, with the vowel signs that Python does not count as letters.
_RUNS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
LETTER = (
    rf"(?:[^\W\d_{_RUNS}]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0971-\u09e5\u0a01-\u0dff\u200c\u200d])"
)
_NUMBER = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+(?:,\d+)?(?!\d)|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)"
    r"|\d{1,3}(?:['’\u00a0\u202f\u2009 ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
)
_FIGURES = (
    rf"(?P<reference>\[\s*\d{{1,3}}\s*\])"
    rf"|(?P<iso>(?<!\d)\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d))"
    rf"|(?P<dmy>(?<![\d.])\d{{1,2}}(?P<sep>[-/.])\d{{1,2}}(?P=sep)(?:\d{{4}}|\d{{2}})(?!\.?\d)|(?<![\d.])\d{{1,2}}\.\s\d{{1,2}}\.\s\d{{4}}(?!\.?\d))"
    rf"|(?P<clock>(?<!\d)\d{{1,2}}:\d{{2}}(?!\d))"
    rf"|(?P<mixed>\d+(?:\.\d+)?[{MIXED}]+(?:\d+[{MIXED}]*)+(?![\d.,]))"
    rf"|(?P<hundredths>百分之(?:\d+(?:\.\d+)?|[{CJK}]+))"
    rf"|(?P<parts>[{CJK}\d]{{1,3}}(?:分之|分の)[{CJK}\d]{{1,3}})"
    rf"|(?P<number>{_NUMBER})"
    rf"|(?P<cjk>[{CJK}]+)"
    rf"|(?P<thai>(?:{THAI})+)"
    rf"|(?P<roman>\b[IVXLC]{{2,7}}(?:e|ème)?\b)"
    rf"|(?P<word>LETTER+(?:['’]LETTER+)?)"
)
_FIGURE = re.compile(_FIGURES.replace("LETTER", LETTER))
_FIGURE_FAST = re.compile(_FIGURES.replace("LETTER", rf"[^\W\d_{_RUNS}]"))  # no vowel signs: three times as fast
_VOWEL_SIGNS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff]")
_ORDINAL_TAIL = re.compile(
    r"(?:st|nd|rd|th|º|ª|°(?![CcFf])|er|ère|ème|e|é|\.º|\.ª|-?(?:й|я|е|го|м|ый|ой|ая|ое|х|му)|['’]?(?:inci|ıncı|uncu|üncü|nci|ncı|ncu|ncü))(?![^\W\d_])"
)
_DECADE_TAIL = re.compile(
    r"['’]?s(?![^\W\d_])|er(?:\s+Jahre?n?)?(?![^\W\d_])|-?(?:е|х)(?:\s+год\w*)(?![^\W\d_])|年代|년대|['’]?(?:lar|ler|lı|li)(?:da|de)?(?![^\W\d_])"
)
_GAP = re.compile(r"[\s\u00a0\u202f-]{0,2}")
_WORD = re.compile(rf"[°]?{LETTER}+[²³]?(?:/{LETTER}+)?|[%‰°$€£¥₽₺₹฿₩٪]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_COUNTED = "年月日个個名人米公里元岁歳歲点分次本枚台回匹頭階度世紀倍件座家条章位天小时間時種つ号万億亿千百"
_AREA_WORDS = {
    "square",
    "sq",
    "quadrat",
    "cuadrado",
    "cuadrados",
    "carre",
    "carres",
    "квадратных",
    "квадратного",
    "квадратные",
    "кв",
    "kare",
    "مربع",
    "مربعا",
    "वर्ग",
    "quadrati",
    "quadrados",
}
_CUBIC_WORDS = {"cubic", "cubico", "cubicos", "cube", "cubes", "кубических", "куб", "مكعب", "घन", "kubik"}
DEGREES = {
    "degree",
    "degrees",
    "grad",
    "degres",
    "grados",
    "gradi",
    "graus",
    "градусов",
    "градуса",
    "градус",
    "derece",
    "درجة",
    "डिग्री",
    "องศา",
}
_YEAR_WORDS = {"год", "года", "году", "годом", "годы", "г", "гг", "yili", "yilinda", "yilindan", "عام", "سنة", "में", "सन", "ปี", "yil"}
_RANGE = re.compile(r"\s*[-–—~〜至到]\s*$")
_TURKISH = re.compile("[ığşİĞŞçöü]|dir\\b")
_TURKISH_ENDINGS = ("dir", "tir", "dur", "tur", "lik", "luk", "ye", "ya", "den", "dan", "de", "da", "nin", "si", "yi")
_OF_MONEY = re.compile(
    r"\b(?:cost|costs|paid|pay|price|priced|worth|spent|spend|sold|bought|budget|fund\w*|sterling|donat\w*|invest\w*|raised)\b|£", re.I
)
_SIGNED = re.compile(r"(?:^|[\s(（])[-−–]$")
_HUNDREDTHS = re.compile(r"(?:ร้อยละ|\byüzde|\byuzde|%)\s?$", re.I)  # before the number, where others have it behind
_UNSPACED_UNITS = sorted((name for name in UNITS if _UNSPACED.match(name)), key=len, reverse=True)


def quantities(text: str) -> list[Quantity]:
    """Every figure of the text, in order."""
    plain = plain_digits(text)
    found: list[Quantity] = []
    words: list[tuple[int, int, str]] = []
    taken = 0
    figure = _FIGURE if _VOWEL_SIGNS.search(plain) else _FIGURE_FAST
    for match in figure.finditer(plain):
        if match.start() < taken:
            continue
        if match.lastgroup == "word":
            words.append((match.start(), match.end(), _folded(match[0])))
            continue
        found += _figure(match, plain)
        taken = max(taken, found[-1].end if found else 0)
    found += _named(words, plain)
    found += [
        Quantity(at, at + len(run), "percent", (share,), run, weak=True, factor=100.0, bare=(share / 100,))
        for run, share in SHARE_RUNS.items()
        if (at := plain.find(run)) >= 0
    ]
    found.sort(key=lambda q: q.start)
    return _dated([_bounded(q, plain) for q in found])


def _figure(match: re.Match[str], text: str) -> Iterator[Quantity]:
    start, end = match.span()
    if match["iso"]:
        year, month, day = (int(part) for part in re.split(r"[-/.]", match["iso"]))
        yield from _date(start, end, match[0], [year], [month], [day])
    elif match["dmy"]:
        first, second, year = (int(part) for part in re.split(r"[-/.]\s?", match["dmy"]))
        years = [year] if year > 99 else [1900 + year, 2000 + year]
        days = [n for n in (first, second) if 1 <= n <= 31]
        months = [n for n in (first, second) if 1 <= n <= 12]
        yield from _date(start, end, match[0], years, months, days)
    elif match["clock"]:
        hours, minutes = match["clock"].split(":")
        yield Quantity(start, end, "clock", (int(hours) * 60.0 + int(minutes), (int(hours) + 12) * 60.0 + int(minutes)), match[0])
    elif match["mixed"]:
        yield _measured(start, end, (mixed(match["mixed"]),), text, grouped=True)
    elif match["number"]:
        yield _measured(start, end, readings(match["number"]), text, grouped=not match["number"].isdigit())
    elif match["hundredths"]:
        said = match["hundredths"].removeprefix("百分之")
        value = float(said) if said[0].isdigit() else cjk(said)
        if value is not None:
            yield Quantity(start, end, "percent", (value,), match[0], bare=(value,))
    elif match["parts"]:
        whole, part = (float(n) if n.isdigit() else cjk(n) or 0.0 for n in re.split("分之|分の", match["parts"]))
        if whole and 0 < part < whole:
            yield Quantity(start, end, "percent", (100 * part / whole,), match[0], factor=100.0, bare=(part / whole,))
    elif match["cjk"]:
        value = cjk(match["cjk"])
        counted = text[end : end + 1] in _COUNTED or (text[max(0, start - 1) : start] in "第约約" and start > 0)
        if value is not None and (len(match["cjk"]) > 1 or counted) and match["cjk"] not in ("万一", "一一"):
            yield _measured(start, end, (value,), text, grouped=len(match["cjk"]) != 4)
    elif match["thai"]:
        value = thai(match["thai"])
        if len(match["thai"]) > 4:
            yield _measured(start, end, (value,), text, grouped=True)
    elif match["roman"]:
        value = roman(match["roman"].rstrip("eèm"))
        if value:
            yield Quantity(start, end, "count", (float(value),), match[0], weak=True)


def _date(start: int, end: int, raw: str, years: list[int], months: list[int], days: list[int]) -> Iterator[Quantity]:
    for kind, values in (("year", years), ("month", months), ("day", days)):
        if values:
            yield Quantity(start, end, kind, tuple(map(float, values)), raw)


def _measured(start: int, end: int, values: tuple[float, ...], text: str, *, grouped: bool, weak: bool = False) -> Quantity:
    """The number with what stands around it: sign, currency, scale word, unit, ordinal or decade ending."""
    raw_start, raw_end = start, end
    before = text[max(0, start - 7) : start]
    if _SIGNED.search(before):
        values = tuple(-v for v in values)
    money = next((sign for sign in SIGNS if before.rstrip(" \u00a0").endswith(sign)), "")
    year_like = not grouped and len(values) == 1 and 1000 <= values[0] <= 2999 and values[0] == int(values[0])
    era = next((base for name, base in ERAS.items() if before.endswith(name)), 0)
    if year_like or (era and text[end : end + 1] == "年"):
        if not weak and values[0] % 10 == 0 and (tail := _DECADE_TAIL.match(text, end)):
            return Quantity(start, tail.end(), "decade", values, text[start : tail.end()])
    elif values[0] % 10 == 0 and values[0] < 100 and (tail := _DECADE_TAIL.match(text, end)):
        return Quantity(start, tail.end(), "decade", (1900 + values[0], 1800 + values[0], 2000 + values[0]), text[start : tail.end()])
    end, scale, scaled = _scale(end, text, money=bool(money))
    hundredths = _HUNDREDTHS.search(before)
    kind, factor, end = ("", 1.0, end) if money or hundredths else _unit(end, text)
    if money or hundredths:
        kind, factor = UNITS[money] if money else ("percent", 1.0)
    if era and text[raw_end : raw_end + 1] == "年":
        return Quantity(start, raw_end + 1, "year", tuple(v + era for v in values), text[start : raw_end + 1])
    if year_like and not scaled and not money and (not kind or _is_year(raw_end, text, kind)):
        shift = -BUDDHIST_ERA if values[0] >= 2400 and ("พ.ศ" in text or "ปี" in before or re.search(r"[\u0e00-\u0e7f]", text)) else 0
        if values[0] + shift <= 2100:
            return Quantity(raw_start, raw_end, "year", tuple(v + shift for v in values), text[raw_start:raw_end])
    if not kind and (tail := _ORDINAL_TAIL.match(text, end)):
        return Quantity(start, tail.end(), "count", values, text[start : tail.end()])
    if dated := _cjk_date(raw_end, text, values):
        return Quantity(start, raw_end + 1, dated, values, text[start : raw_end + 1])
    bare = tuple(v * scale for v in values)
    kind, bare, factor = _in_celsius(kind, bare, factor)
    return Quantity(
        start,
        end,
        kind or "count",
        tuple(v * factor for v in bare),
        text[start:end],
        weak=weak,
        scaled=scaled,
        factor=factor,
        bare=bare,
        per=_per(end, kind, text),
    )


_PER = re.compile(
    r"\s?(?:/\s?|(?:per|an?|each|every|pro|par|por|al|cada|jede[nrs]?|je|в|na|alla|à l['’]|a la|à la)\s)(?P<unit>[^\W\d_]{2,})", re.I
)


def _per(end: int, kind: str, text: str) -> str:
    """The unit that a figure is reckoned by, behind it: "3 dollars per hour"."""
    found = _PER.match(text, end)
    dimension, factor = UNITS.get(folded(found["unit"]), ("", 0.0)) if found else ("", 0.0)
    return f"{dimension} {factor:g}" if dimension in ("time", "mass", "length", "volume", "area") and dimension != kind else ""


_KELVIN = {"temperature_c": (0.0, 1.0), "temperature_f": (32.0, 1 / 1.8), "temperature_k": (273.15, 1.0)}  # zero point and step


def _in_celsius(kind: str, values: tuple[float, ...], factor: float) -> tuple[str, tuple[float, ...], float]:
    if kind not in _KELVIN:
        return kind, values, factor
    zero, step = _KELVIN[kind]
    return "temperature", tuple((value - zero) * step for value in values), 1.0


def _cjk_date(end: int, text: str, values: tuple[float, ...]) -> str:
    """月 and 日 behind a number are a date, not a duration, unless a counter says otherwise."""
    sign, after = text[end : end + 1], text[end + 1 : end + 2]
    if sign in ("月", "월") and 1 <= values[0] <= 12:
        return "month"
    if sign in ("日", "일") and 1 <= values[0] <= 31 and after not in ("間", "间", "간"):
        return "day"
    return ""


def _is_year(end: int, text: str, kind: str) -> bool:
    """A year word behind a year number ("1974 года", "1974年") makes it no duration."""
    return kind == "time" and (
        (text[end : end + 1] in "年년" and text[end + 1 : end + 2] not in "間间간") or bool(_word_at(end, text) in _YEAR_WORDS)
    )


def _word_at(end: int, text: str) -> str:
    gap = _GAP.match(text, end)
    word = _WORD.match(text, gap.end() if gap else end)
    return folded(word[0]) if word else ""


def _scale(end: int, text: str, *, money: bool) -> tuple[int, float, bool]:
    """A scale word behind the number: "5 million", "3万", "$5m"."""
    scale, scaled = 1.0, False
    while text[end : end + 1] in CJK_SCALES and text[end : end + 1]:
        scale *= CJK_SCALES[text[end]]
        end, scaled = end + 1, True
    if scaled:
        return end, scale, True
    gap = _GAP.match(text, end)
    at = gap.end() if gap else end
    for name in ("ล้าน", "แสน", "หมื่น", "พัน"):
        if text.startswith(name, at):
            return at + len(name), {"ล้าน": 1e6, "แสน": 1e5, "หมื่น": 1e4, "พัน": 1e3}[name], True
    word = _WORD.match(text, at)
    if word is None:
        return end, 1.0, False
    name = folded(word[0])
    if money and name in ("m", "b") and at == end:
        return word.end(), 1e6 if name == "m" else 1e9, True
    if name == "k" and at > end:
        return end, 1.0, False
    if name in SCALES and not (name == "bin" and text[end : end + 1] not in " \u00a0"):
        return word.end(), SCALES[name], True
    return end, 1.0, False


def _unit(end: int, text: str) -> tuple[str, float, int]:
    """The unit behind the number: its dimension, its factor, and where it ends."""
    gap = _GAP.match(text, end)
    at = gap.end() if gap else end
    at += next((len(of) for of in ("de ", "of ", "d'", "d’") if text.startswith(of, at)), 0)  # "millones de dólares", "millions d'euros"
    if _UNSPACED.match(text, at):
        for name in _UNSPACED_UNITS:
            if text.startswith(name, at) or (folded(text[at : at + 8]).startswith(name) and not text[at].isascii()):
                dimension, factor = UNITS[name]
                return dimension, factor, at + len(name)
        return "", 1.0, end
    word = _WORD.match(text, at)
    if word is not None and len(word[0]) == 1 and text[word.end() : word.end() + 1] in ("'", "’"):
        return "", 1.0, end  # "dal 2003 l'isola" has no litres
    if word is not None and folded(word[0]) in DEGREES:
        gap = _GAP.match(text, word.end())
        word = _WORD.match(text, gap.end() if gap else word.end()) or word
    if word is None:
        return "", 1.0, end
    name, area = folded(word[0]), 1
    if name in _AREA_WORDS or name in _CUBIC_WORDS:
        area = 2 if name in _AREA_WORDS else 3
        gap = _GAP.match(text, word.end())
        inner = _WORD.match(text, gap.end() if gap else word.end())
        if inner is None:
            return "", 1.0, end
        word, name = inner, folded(inner[0])
    name = name if name in UNITS else _without_ending(name, text)
    if name not in UNITS or (name in AMBIGUOUS_UNITS and at - end != 0 and len(name) == 1):
        return "", 1.0, end
    dimension, factor = UNITS[name]
    if name in POUNDS and (text[max(0, end - 1) : end].isalpha() or _OF_MONEY.search(text)):
        dimension, factor = "gbp", 1.0  # "4.2 million pounds" are not weighed
    after = _WORD.match(text, word.end() + 1)
    if area == 1 and dimension == "length" and after and folded(after[0]) in _AREA_WORDS | _CUBIC_WORDS:
        area, word = (2 if folded(after[0]) in _AREA_WORDS else 3), after
    if area > 1 and dimension == "length":
        return ("area" if area == 2 else "volume"), factor**area * (1000.0 if area == 3 else 1.0), word.end()
    return dimension, factor, word.end()


def _without_ending(name: str, text: str) -> str:
    """A Turkish unit without its endings: metredir, kilometrelik."""
    if not _TURKISH.search(text):
        return name
    return next((name.removesuffix(end) for end in _TURKISH_ENDINGS if name.endswith(end) and name.removesuffix(end) in UNITS), name)


def _named(words: list[tuple[int, int, str]], text: str) -> list[Quantity]:
    """Numbers, ordinals, months and weekdays that are words."""
    found: list[Quantity] = []
    at = 0
    while at < len(words):
        start, end, word = words[at]
        if not _speaks_of_numbers(word):
            at += 1
            continue
        if share := _share(words, at):
            last, value = words[at + share[0] - 1][1], share[1]
            found.append(Quantity(start, last, "percent", (value,), text[start:last], weak=True, factor=100.0, bare=(value / 100,)))
            at += share[0]
            continue
        taken, value = ordinal(words, at)
        if taken:
            last = words[at + taken - 1][1]
            found.append(Quantity(start, last, "count", (value,), text[start:last], bare=(value,)))
            at += taken
            continue
        taken, value, strong = spelled(words, at)
        if taken:
            last = words[at + taken - 1][1]
            year = strong and 1000 <= value <= 2100 and _reads_as_year([w for _, _, w in words[at : at + taken]])
            made = _measured(start, last, (value,), text, grouped=not year, weak=not strong)
            found.append(made)
            at += taken
            continue
        if word in ORDINALS:
            found.append(Quantity(start, end, "count", (float(ORDINALS[word]),), text[start:end], weak=True))
        elif word in TIMES:
            found.append(Quantity(start, end, "times", (TIMES[word],), text[start:end], weak=True))
        elif word in MONTHS and _is_month(start, end, word, text):
            found.append(Quantity(start, end, "month", (float(MONTHS[word]),), text[start:end]))
        elif word in WEEKDAYS and len(word) > 3 and (text[start].isupper() or not text[start].isascii() or text[start:end] in LOWER_DAYS):
            found.append(Quantity(start, end, "weekday", (float(WEEKDAYS[word]),), text[start:end], weak=True))
        at += 1
    return found


def _share(words: list[tuple[int, int, str]], at: int) -> tuple[int, float] | None:
    """A share in words from `at` on, in hundredths, and how many words it takes: half, two thirds, ein Viertel."""
    word = words[at][2]
    many = max(NUMBER_WORDS.get(word, {}).values(), default=SHARE_ARTICLES.get(word, 0.0))
    following = words[at + 1] if at + 1 < len(words) and words[at + 1][0] - words[at][1] <= 2 else None
    part = PARTS.get(following[2], 0.0) if following else 0.0
    if many and 0 < many * part < 100:
        return 2, many * part
    return (1, SHARES[word]) if SHARES.get(word, 0.0) > 33 else None


_folded = lru_cache(maxsize=65_536)(folded)


@lru_cache(maxsize=65_536)
def _speaks_of_numbers(word: str) -> bool:
    return bool(
        word in ORDINALS
        or word in MONTHS
        or word in WEEKDAYS
        or word in TIMES
        or word in SHARES
        or word in SHARE_ARTICLES
        or languages(word)
    ) or word.endswith(("ste", "sten", "ster", "stes", "stem"))


def _reads_as_year(spelled: list[str]) -> bool:
    return len(spelled) == 1 or not {"thousand", "million", "hundred"} & set(spelled[1:2])


def _is_month(start: int, end: int, word: str, text: str) -> bool:
    """May and March are also words: those count beside a number or behind "in", and only with a capital."""
    if word not in AMBIGUOUS_MONTHS and (not text[start].isascii() or text[start].isupper() or len(word) > 4):
        return True
    near_number = re.search(r"\d[\s.,]*(?:de\s+)?$", text[max(0, start - 8) : start]) or re.match(
        r"[\s.,]*(?:de[l]?\s+)?\d", text[end : end + 8]
    )
    return bool(near_number) or (
        text[start].isupper()
        and bool(re.search(r"\b(?:[Ii]n|[Oo]f|[Ss]ince|[Uu]ntil|[Ee]n|[Ii]m|[Ll]ast|[Tt]his)\s$", text[max(0, start - 6) : start]))
    )


def _bounded(quantity: Quantity, text: str) -> Quantity:
    """The quantity with the word before it that widens it: about, over, at most."""
    if quantity.kind in ("year", "month", "day", "weekday"):
        return quantity
    before = re.split(r"[\d,;.)]", text[max(0, quantity.start - 24) : quantity.start].rstrip(" \u00a0$€£¥"))[-1]
    words = re.findall(r"[^\W\d_]+|[~≈]", before)[-2:]
    tail = [folded(word) for word in words]
    run = before[-2:]
    bound: Bound = "="
    if any(w in APPROXIMATE for w in tail[-1:]) or run[-1:] in ("~", "≈", "约", "約", "近") or run in ("大约", "大約", "およ", "ประ"):
        bound = "~"
    elif (
        any(w in AT_LEAST for w in tail)
        or run in ("超过", "超過")
        or text[quantity.end : quantity.end + 2] in ("以上", "多人", "余年")
        or text[quantity.end : quantity.end + 1] in ("+", "多", "余")
    ):
        bound = ">"
    elif any(w in AT_MOST for w in tail) or run in ("不足", "低于") or text[quantity.end : quantity.end + 2] in ("以下", "未満"):
        bound = "<"
    return replace(quantity, bound=bound) if bound != "=" else quantity


def _dated(found: list[Quantity]) -> list[Quantity]:
    """Numbers beside a month are days or years; the short end of a range of years is a year."""
    out = list(found)
    for n, quantity in enumerate(out):
        if quantity.kind != "count" or len(quantity.values) != 1 or (quantity.weak and quantity.values[0] > 31):
            continue
        previous = out[n - 1] if n else None
        following = out[n + 1] if n + 1 < len(out) else None
        value = quantity.values[0]
        beside = [
            q
            for q in (previous, following)
            if q and q.kind == "month" and min(abs(q.start - quantity.end), abs(quantity.start - q.end)) <= 4
        ]
        if beside and 1 <= value <= 31:
            out[n] = replace(quantity, kind="day", weak=False)
        elif previous and previous.kind == "year" and value < 100 and 0 < quantity.start - previous.end <= 3 and len(quantity.raw) == 2:
            century = previous.values[0] - previous.values[0] % 100
            if century + value > previous.values[0]:
                out[n] = replace(quantity, kind="year", values=(century + value,))
    return out
