"""Numbers written as words: nineteen seventy-four, neunzehnhundertvierundsiebzig, mil novecientos setenta y cuatro. Pure."""

from __future__ import annotations

from functools import lru_cache

from cormorant.verify.units import EVERYDAY, MULTIPLIERS, NUMBER_WORDS, ORDINAL_LANGUAGES, ORDINALS

_AND = {"and": "en", "y": "es", "et": "fr", "und": "de", "e": "pt", "و": "ar"}
# What hundreds, thousands and the joint of ones and tens are called where a number is one word.
_IN_ONE_WORD = {"de": ("tausend", "hundert", "und", "ein"), "nl": ("duizend", "honderd", "en", "een")}


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


def ordinal(words: list[tuple[int, int, str]], at: int) -> tuple[int, float]:
    """How many words from `at` on make an ordinal of more than one word, or a long one, and which: twenty-third, on ikinci."""
    word = words[at][2]
    for ending in ("ste", "sten", "ster", "stes", "stem"):
        if word.endswith(ending) and len(word) > 10:
            for language in _IN_ONE_WORD:
                if made := _one_word(word.removesuffix(ending), language):
                    return 1, float(made)
    for language, tens in NUMBER_WORDS.get(word, {}).items():
        following = words[at + 1] if at + 1 < len(words) and words[at + 1][0] - words[at][1] <= 1 else None
        if (
            following
            and tens % 10 == 0
            and tens < 100
            and language in ORDINAL_LANGUAGES.get(following[2], ())
            and ORDINALS[following[2]] < 10
        ):
            return 2, float(tens + ORDINALS[following[2]])
    return 0, 0.0


@lru_cache(maxsize=16384)
def languages(word: str) -> tuple[str, ...]:
    """The languages in which the word is a number or a part of one."""
    found = [*NUMBER_WORDS.get(word, ()), *MULTIPLIERS.get(word, ()), *(name for name in _IN_ONE_WORD if _one_word(word, name))]
    if word.startswith("و") and len(word) > 3:
        found.append("ar")
    return tuple(dict.fromkeys(found))


def _value(language: str, word: str) -> float | None:
    value = NUMBER_WORDS.get(word, {}).get(language)
    if value is None and language in _IN_ONE_WORD and (made := _one_word(word, language)):
        return float(made)
    if value is None and language == "ar" and word.startswith("و"):
        value = NUMBER_WORDS.get(word[1:], {}).get("ar")
    return None if value is None else float(value)


def _multiplier(language: str, word: str) -> float | None:
    times = MULTIPLIERS.get(word, {}).get(language)
    return MULTIPLIERS.get(word[1:], {}).get("ar") if times is None and language == "ar" and word.startswith("و") else times


@lru_cache(maxsize=16384)
def _one_word(word: str, language: str) -> int:
    """A German or Dutch number written as one word, 0 when it is none: `neunzehnhundertvierundsiebzig`."""
    thousand, hundred, joint, _ = _IN_ONE_WORD[language]
    if len(word) < 8 or not word.isascii():
        return 0
    for name, size in ((thousand, 1000), (hundred, 100)):
        if name in word:
            head, _, tail = word.partition(name)
            first = _below_hundred(head, language) if head else 1
            rest = (_one_word(tail, language) or _below_hundred(tail.removeprefix(joint), language)) if tail else 0
            return first * size + rest if first and (rest or not tail) else 0
    return _below_hundred(word, language) if joint in word else 0


def _below_hundred(word: str, language: str) -> int:
    _, _, joint, one = _IN_ONE_WORD[language]
    plain = NUMBER_WORDS.get(word, {}).get(language, 0)
    if plain and plain < 100:
        return plain
    if word == one:
        return 1
    for at in (n for n in range(1, len(word)) if word.startswith(joint, n)):
        ones = 1 if word[:at] == one else NUMBER_WORDS.get(word[:at], {}).get(language, 0)
        tens = NUMBER_WORDS.get(word[at + len(joint) :], {}).get(language, 0)
        if tens >= 20 and 0 < ones < 10:
            return tens + ones
    return 0
