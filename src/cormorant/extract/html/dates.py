"""Dates as pages write them, to ISO 8601, as exact as they were written. Pure: no clock, so nothing relative is guessed."""

from __future__ import annotations

import re
from datetime import date, datetime

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero ene gennaio gen janeiro januari stycznia января jänner",
            "february feb februar février fevrier févr febrero febbraio fevereiro fev februari lutego февраля",
            "march mar mars märz maerz marzo março marco maart marca марта",
            "april apr avril avr abril abr aprile kwietnia апреля",
            "may mai mayo maggio mag maio mei maja мая",
            "june jun juni juin junio giugno giu junho czerwca июня",
            "july jul juli juillet juil julio luglio lug julho lipca июля",
            "august aug août aout agosto ago augustus sierpnia августа",
            "september sep sept septembre septiembre settembre set setembro września сентября",
            "october oct oktober okt octobre octubre ottobre ott outubro out października октября",
            "november nov novembre noviembre novembro listopada ноября",
            "december dec dezember dez décembre decembre diciembre dic dicembre dezembro grudnia декабря",
        ),
        start=1,
    )
    for name in names.split()
}
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|[+-]\d{2}:?\d{2}|UTC|GMT)?)?", re.I)
_COMPACT = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?:T?\d{4,6}Z?)?(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})[/.年](\d{1,2})[/.月](\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(
    r"(?<![\w.])(\d{1,2})(?:st|nd|rd|th|er|\.)?\s+(?:de\s+|of\s+)?([^\W\d_]{3,12})\.?,?\s+(?:de\s+)?(\d{4})(?!\d)", re.I
)
_MONTH_FIRST = re.compile(r"(?<!\w)([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)", re.I)
_DOTTED = re.compile(r"(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)")
_RFC = re.compile(r"\w{3},\s+(\d{1,2})\s+(\w{3})\s+(\d{4})\s+(\d{2}):(\d{2}):(\d{2})\s+(GMT|UTC|[+-]\d{4})", re.I)
_IN_PATH = re.compile(r"/((?:19|20)\d{2})[/-](\d{1,2})[/-](\d{1,2})(?:/|-|_|$|\.)")
_EPOCH = re.compile(r"1\d{9}(?:\d{3})?")


def iso(text: str) -> str:
    """The first date in a text as `2026-03-04` or `2026-03-04T08:00:00+00:00`; "" when there is none."""
    text = text.strip()[:400]
    if found := _RFC.search(text):
        return _stamp(found[3], str(_MONTHS.get(found[2].lower(), 0)), found[1], found[4], found[5], found[6], found[7])
    if found := _ISO.search(text):
        return _stamp(*found.groups())
    if found := _YEAR_FIRST.search(text):
        return _stamp(found[1], found[2], found[3])
    for found in _DAY_FIRST.finditer(text):
        if month := _MONTHS.get(found[2].lower()):
            return _stamp(found[3], str(month), found[1])
    for found in _MONTH_FIRST.finditer(text):
        if month := _MONTHS.get(found[1].lower()):
            return _stamp(found[3], str(month), found[2])
    if found := _DOTTED.search(text):
        return _stamp(found[3], found[2], found[1])
    if found := _COMPACT.fullmatch(text):
        return _stamp(found[1], found[2], found[3])
    return ""


def in_path(url: str) -> str:
    """The date in an address such as `/2026/03/04/title`."""
    found = _IN_PATH.search(url)
    return _stamp(found[1], found[2], found[3]) if found else ""


def _stamp(
    year: str,
    month: str,
    day: str,
    hour: str | None = None,
    minute: str | None = None,
    second: str | None = None,
    zone: str | None = None,
) -> str:
    try:
        when = date(int(year), int(month), int(day))
        if not 1900 <= when.year <= 2200:
            return ""
        if hour is None:
            return when.isoformat()
        moment = datetime(when.year, when.month, when.day, int(hour), int(minute or 0), int(second or 0))
    except ValueError:
        return ""
    offset = "" if not zone else "+00:00" if zone.upper() in ("Z", "UTC", "GMT") else zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
    return moment.isoformat() + offset
