"""Durations and sizes as people write them: `20s`, `1.5m`, `500ms`; `5MB`, `64k` (1024 to the kilo). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_UNITS_B = {"b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3, "k": 1024, "m": 1024**2, "g": 1024**3}


def seconds(value: object) -> object:
    """`20s`, `1.5m`, `500ms` as seconds; a number stays itself."""
    return _scaled(value, _UNITS_S)


def size(value: object) -> object:
    """`5MB`, `64k` as bytes (1024); a number stays itself."""
    scaled = _scaled(value, _UNITS_B)
    return int(scaled) if isinstance(scaled, float) else scaled


def as_duration(value: float) -> str:
    """Seconds as a person writes them, with the largest unit that needs no fraction: `90s`, `2m`, `500ms`."""
    return _written(value, _UNITS_S)


def as_size(value: float) -> str:
    """Bytes as a person writes them: `25MB`, `64KB`, `1000B`."""
    return _written(value, {name.upper(): factor for name, factor in _UNITS_B.items() if name.endswith("b")})


def _written(value: float, units: Mapping[str, float]) -> str:
    for unit, factor in sorted(units.items(), key=lambda each: -each[1]):
        if value and (value / factor).is_integer():
            return f"{value / factor:.0f}{unit}"
    return f"{value:g}"


def _scaled(value: object, units: dict[str, float] | dict[str, int]) -> object:
    if not isinstance(value, str):
        return value
    text = value.strip().lower().replace(" ", "")
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(number) :]
    try:
        return float(number) * units[unit] if unit else float(number)
    except (KeyError, ValueError):
        raise ValueError(f"{value!r} is not a number with one of the units {', '.join(units)}") from None


Seconds = Annotated[float, BeforeValidator(seconds)]
Bytes = Annotated[int, BeforeValidator(size)]
