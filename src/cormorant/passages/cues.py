"""What kind of answer a question asks for, and whether a sentence has one: a number, a date, a name. Pure.

A cue only lifts a sentence a little; a question word that is not known gives none.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Cue = Callable[[str, int, int], bool]  # text, start, end -> whether the sentence has what is asked

_HOW_MANY = re.compile(
    r"\bhow (?:many|much|long|old|far|tall|large|big|often|high|fast|deep|heavy)\b|\bpercentage\b|\bnumber of\b|\bamount\b"
    r"|\bwie ?viele?\b|\bcu[aá]nt[oa]s?\b|\bcombien\b|\bquant[oiae]s?\b|\bсколько\b|\bkaç\b|\bكم\b|多少|几|幾|いくつ|何人|กี่|เท่าไ|เท่าใด",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\bwhen\b|\b(?:what|which|in what) (?:year|date|month|century|decade|day)\b|\bwann\b|\bcu[aá]ndo\b|\bqué año\b|\bquand\b|\bquando\b"
    r"|\bкогда\b|\bкаком году\b|\bne zaman\b|\bhangi yıl|\bمتى\b|何时|何時|什么时候|哪一?年|いつ|เมื่อใด|เมื่อไ|ปีใด|ปีไหน",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"\bwho(?:m|se)?\b|\bwer\b|\bwen\b|\bwem\b|\bqui[eé]n(?:es)?\b|\bqui\b|\bchi\b|\bquem\b|\bкто\b|\bкого\b|\bkim(?:in)?\b", re.IGNORECASE
)
_WHERE = re.compile(r"\bwhere\b|\bwo\b|\bd[oó]nde\b|\boù\b|\bdove\b|\bonde\b|\bгде\b|\bnerede\b", re.IGNORECASE)

_NUMBER = re.compile(
    r"\d|[〇一二三四五六七八九十百千万億]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|half|hundred|thousand|million|billion)s?\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b1\d{3}\b|\b20\d\d\b|\d年|\d{4}|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b|\bcentur|\bJahrhundert|\bsiglo\b|\bвек"
)
_NAME = re.compile(r"(?<=[\w,;:)] )[^\W\d_a-zà-öø-ÿа-яё][a-zà-öø-ÿа-яё]+")


def cue(question: str) -> Cue | None:
    """The test that a sentence with the answer should pass, or None when the question does not say."""
    for asks, has in ((_HOW_MANY, _NUMBER), (_WHEN, _DATE), (_WHO, _NAME), (_WHERE, _NAME)):
        if asks.search(question):
            return lambda text, start, end, has=has: has.search(text, start, end) is not None  # type: ignore[misc]
    return None
