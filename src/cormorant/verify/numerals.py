"""The ways numbers are written: digits of any script, thousands marks, Chinese, Thai and Roman numerals. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from cormorant.verify.units import CJK_DIGITS, CJK_SCALES, THAI_DIGITS, THAI_SCALES

_DIGIT_FORMS = re.compile(r"[^\x00-\x7f]")
CJK = "零〇一二三四五六七八九十百千万萬亿億兆两兩壹贰叁"
THAI = "|".join(sorted([*THAI_DIGITS, *THAI_SCALES], key=len, reverse=True))
MIXED = "十百千万萬億亿兆만억천"


def plain_digits(text: str) -> str:
    """The text with every script's digits and number signs as ASCII ones; as long as before."""
    if text.isascii():
        return text
    return _DIGIT_FORMS.sub(lambda m: _plain_digit(m[0]), text)


@lru_cache(maxsize=4096)
def _plain_digit(char: str) -> str:
    if char.isdecimal():
        return str(int(char))
    return {"٬": ",", "٫": ".", "，": ",", "．": ".", "％": "%", "٪": "%", "：": ":", "＄": "$", "￥": "¥"}.get(char, char)


def readings(number: str) -> tuple[float, ...]:
    """Every value the digits can mean: `1.234` is 1234 to a German and 1.234 to an American."""
    bare = re.sub(r"['’\u00a0\u202f\u2009 ]", "", number)
    if bare.isdigit():
        return (float(bare),)
    commas, points = bare.count(","), bare.count(".")
    if commas and points:
        decimal = max(bare.rfind(","), bare.rfind("."))
        return (float(re.sub(r"[.,]", "", bare[:decimal]) + "." + bare[decimal + 1 :]),)
    separator = "," if commas else "."
    parts = bare.split(separator)
    if len(parts) > 2:
        return (float("".join(parts)),)
    as_decimal = float(".".join(parts))
    if len(parts[1]) == 3 and parts[0] not in ("", "0") and len(parts[0]) <= 3:
        return (float("".join(parts)), as_decimal)
    return (as_decimal,)


def mixed(run: str) -> float:
    """Digits and scales by turns: 3万5千, 1억2천만."""
    total = section = 0.0
    for digits, scale in re.findall(rf"(\d*(?:\.\d+)?)([{MIXED}]?)", run):
        size = CJK_SCALES.get(scale, 1)
        if size >= 10_000:
            total, section = total + (section + float(digits or 0) or 1) * size, 0
        elif digits or scale:
            section += float(digits or 1) * size
    return total + section


def cjk(run: str) -> float | None:
    if all(char in CJK_DIGITS for char in run):
        return float("".join(str(CJK_DIGITS[char]) for char in run))
    total = section = digit = 0.0
    for char in run:
        if char in CJK_DIGITS:
            digit = CJK_DIGITS[char]
        elif CJK_SCALES[char] >= 10_000:
            total = (
                (total + section + digit or 1) * CJK_SCALES[char]
                if CJK_SCALES[char] > 10_000 and total
                else total + (section + digit or 1) * CJK_SCALES[char]
            )
            section = digit = 0
        else:
            section += (digit or 1) * CJK_SCALES[char]
            digit = 0
    return total + section + digit


def thai(run: str) -> float:
    total = digit = 0.0
    for part in re.findall(THAI, run):
        if part in THAI_DIGITS:
            digit = THAI_DIGITS[part]
        elif THAI_SCALES[part] == 10**6:
            total, digit = (total + digit or 1) * 10**6, 0
        else:
            total, digit = total + (digit or 1) * THAI_SCALES[part], 0
    return total + digit


def roman(numeral: str) -> int:
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[char] for char in numeral]
    total = sum(-v if n + 1 < len(values) and v < values[n + 1] else v for n, v in enumerate(values))
    return total if numeral == _to_roman(total) else 0


def _to_roman(value: int) -> str:
    out = ""
    for size, sign in ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        while value >= size:
            out, value = out + sign, value - size
    return out
