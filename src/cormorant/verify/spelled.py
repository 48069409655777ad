"""Numbers written as words: nineteen seventy-four, neunzehnhundertvierundsiebzig, mil novecientos setenta y cuatro. Pure."""

from __future__ import annotations

from functools import lru_cache

from cormorant.verify.units import EVERYDAY, MULTIPLIERS, NUMBER_WORDS

_AND = {"and": "en", "y": "es", "et": "fr", "und": "de", "e": "pt", "و": "ar"}


def spelled(words: list[tuple[int, int, str]], at: int) -> tuple[int, float, bool]:
    """How many words from `at` on spell a number, which, and whether it is more than a small everyday one.

    Every language in which the words make a number is tried; the longest reading wins.
    """
    best = (0, 0.0, False)
    for language in languages(words[at][2]):
        reading = _spelled_in(language, words, at)
        if reading[0] > best[0]:
            best = reading
    return best


def _spelled_in(language: str, words: list[tuple[int, int, str]], at: int) -> tuple[int, float, bool]:
    total = current = 0.0
    taken = parts = 0
    for n in range(at, len(words)):
        if n > at and words[n][0] - words[n - 1][1] > 2:
            break
        word = words[n][2]
        if _AND.get(word) == language and parts and n + 1 < len(words) and _joins(language, current, words[n + 1][2]):
            continue
        size = _value(language, word)
        times = _multiplier(language, word)
        if size is not None:
            if 13 <= current < 100 and 10 <= size < 100 and language == "en":
                current = current * 100 + size  # nineteen seventy-four
            elif language == "ar" and word.startswith("و") and current:
                current += size
            elif (
                current
                and (current % 10 or size >= 10)
                and (current % 100 or size >= 100)
                and not (language == "fr" and current % 100 >= 4)
            ):
                break
            else:
                current = current * size if language == "fr" and current == 4 and size == 20 else current + size
        elif times is not None and (parts or language in ("es", "pt", "tr", "fr", "ar", "ru", "it")):
            if times == 100:
                current = (current or 1) * 100
            else:
                total, current = total + (current or 1) * times, 0
        else:
            break
        parts += 1
        taken = n - at + 1
    if not parts or (parts == 1 and words[at][2] in EVERYDAY):
        return 0, 0.0, False
    return taken, total + current, parts > 1 or total + current > 12


def _joins(language: str, current: float, following: str) -> bool:
    """Whether "and" goes on with the number: "two hundred and fifty", "treinta y cuatro"."""
    size = _value(language, following)
    return (
        size is not None
        and current > 0
        and (current % 100 == 0 or (language != "en" and current % 10 == 0 and size < 10) or language == "ar")
    )


@lru_cache(maxsize=16384)
def languages(word: str) -> tuple[str, ...]:
    """The languages in which the word is a number or a part of one."""
    found = [*NUMBER_WORDS.get(word, ()), *MULTIPLIERS.get(word, ()), *(["de"] if _german(word) else [])]
    if word.startswith("و") and len(word) > 3:
        found.append("ar")
    return tuple(dict.fromkeys(found))


def _value(language: str, word: str) -> float | None:
    value = NUMBER_WORDS.get(word, {}).get(language)
    if value is None and language == "de" and (made := _german(word)):
        return float(made)
    if value is None and language == "ar" and word.startswith("و"):
        value = NUMBER_WORDS.get(word[1:], {}).get("ar")
    return None if value is None else float(value)


def _multiplier(language: str, word: str) -> float | None:
    times = MULTIPLIERS.get(word, {}).get(language)
    return MULTIPLIERS.get(word[1:], {}).get("ar") if times is None and language == "ar" and word.startswith("و") else times


@lru_cache(maxsize=16384)
def _german(word: str) -> int:
    """A German number written as one word, 0 when it is none: `neunzehnhundertvierundsiebzig`."""
    if len(word) < 8 or not word.isascii():
        return 0
    for name, size in (("tausend", 1000), ("hundert", 100)):
        if name in word:
            head, _, tail = word.partition(name)
            first = _german_small(head) if head else 1
            rest = (_german(tail) or _german_small(tail.removeprefix("und"))) if tail else 0
            return first * size + rest if first and (rest or not tail) else 0
    return _german_small(word) if "und" in word else 0


def _german_small(word: str) -> int:
    plain = NUMBER_WORDS.get(word, {}).get("de", 0)
    if plain and plain < 100:
        return plain
    if word == "ein":
        return 1
    head, und, tail = word.partition("und")
    tens = NUMBER_WORDS.get(tail, {}).get("de", 0)
    ones = 1 if head == "ein" else NUMBER_WORDS.get(head, {}).get("de", 0)
    return tens + ones if und and tens >= 20 and 0 < ones < 10 else 0
