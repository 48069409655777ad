"""What the layers of settings say, one over the other: each value with where it came from, read as its setting's type.

A later layer wins. An unknown key is an error that names the nearest ones, a renamed key and a number out of range are
noted.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, get_args, get_origin

from pydantic import BeforeValidator, ValidationError
from pydantic.fields import FieldInfo

from cormorant.errors import InvalidArguments
from cormorant.settings import units
from cormorant.settings.model import Settings, fields
from cormorant.settings.names import RENAMED, SECRET_KEYS


class Layers:
    """What the layers said so far, flat: a later layer wins."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.notes: list[str] = []
        self.fields = dict(fields())

    def known(self, key: str) -> str:
        """The setting's own name. Raises: InvalidArguments with the nearest ones."""
        if key in RENAMED:
            self.notes.append(f"{key} is now called {RENAMED[key]}")
            return RENAMED[key]
        if key in self.fields or self._of_dict(key):
            return key
        last = key.rsplit(".", 1)[-1]
        same_name = [known for known in self.fields if known.rsplit(".", 1)[-1] == last]
        near = (same_name + difflib.get_close_matches(key, self.fields, n=3, cutoff=0.6))[:3]
        hint = f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else "cormorant settings list shows every setting"
        raise InvalidArguments(f"there is no setting {key}", remedy=hint)

    def _of_dict(self, key: str) -> bool:
        return any(key.startswith(f"{known}.") and get_origin(info.annotation) is dict for known, info in self.fields.items())

    def set(self, key: str, value: Any, origin: str) -> None:
        key = self.known(key)
        if key == "search.provider" and isinstance(value, list | tuple):
            value = ",".join(map(str, value))
        if isinstance(value, str) and (info := self.fields.get(key)) is not None and _is_list(info):
            value = from_text(key, value, info, origin)
        if isinstance(value, dict) and key != "profiles":
            for name, item in value.items():
                self.set(f"{key}.{name}", item, origin)
            return
        self.values[key], self.origins[key] = self._clamped(key, value), origin

    def table(self, table: Mapping[str, Any], origin: str, prefix: str = "") -> None:
        for name, value in table.items():
            key = prefix + str(name)
            if isinstance(value, Mapping) and key in Settings.model_fields and key not in self.fields:
                self.table(value, origin, f"{key}.")
                continue
            try:
                if key in Settings.model_fields and key not in self.fields:
                    raise InvalidArguments(f"{key} is a section and no setting", remedy=f"write its settings under [{key}]")
                near = difflib.get_close_matches(key, Settings.model_fields)
                if isinstance(value, Mapping) and key not in self.fields and near:
                    raise InvalidArguments(f"there is no section {key}", remedy=f"did you mean [{near[0]}]?")
                self.set(key, value, origin)
            except InvalidArguments as error:
                raise InvalidArguments(f"{error.message} (in {origin})", remedy=error.remedy) from error
            if key.startswith(SECRET_KEYS) or RENAMED.get(key) in SECRET_KEYS:
                self.notes.append(f"{key} in {origin} is a secret in a settings file: `cormorant secret set NAME` keeps it apart")

    def text(self, key: str, text: str, origin: str) -> None:
        """A value as the environment or a command line has it."""
        key = self.known(key)
        self.set(key, from_text(key, text, self.fields.get(key), origin), origin)

    def _clamped(self, key: str, value: Any) -> Any:
        info = self.fields.get(key)
        if info is None or isinstance(value, bool) or not isinstance(value, int | float | str):
            return value
        try:
            number = float(value)
        except ValueError:
            return value
        low = next((m.ge for m in info.metadata if hasattr(m, "ge")), None)
        high = next((m.le for m in info.metadata if hasattr(m, "le")), None)
        bound = low if low is not None and number < low else high if high is not None and number > high else None
        if bound is None:
            return value
        self.notes.append(f"{key} = {value} is out of range; {bound} is used")
        return bound

    def overlay_profile(self, name: str) -> None:
        """Lays a named set of settings over what the files said. Raises: InvalidArguments."""
        profiles = self.values.get("profiles", {})
        if name not in profiles:
            near = difflib.get_close_matches(name, profiles, n=1)
            known = f"there are: {', '.join(sorted(profiles)) or 'none'}"
            raise InvalidArguments(f"there is no profile {name}", remedy=f"did you mean {near[0]}?" if near else known)
        self.table(profiles[name], f"profile {name}")

    def validated(self) -> Settings:
        """The settings as one frozen value. Raises: InvalidArguments naming the setting and where it came from."""
        nested: dict[str, Any] = {}
        for key, value in self.values.items():
            *heads, last = path_of(key, self.fields)
            table = nested
            for head in heads:
                table = table.setdefault(head, {})
            table[last] = value
        try:
            return Settings.model_validate(nested)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            key = ".".join(str(part) for part in first["loc"])
            setting = next((known for known in sorted(self.values, key=len, reverse=True) if key.startswith(known)), key)
            shown = "" if setting.startswith(SECRET_KEYS) else f", not {str(first['input'])[:80]!r}"
            message = first["msg"].removeprefix("Value error, ")
            raise InvalidArguments(
                f"{setting}: {message}{shown} ({self.origins.get(setting, 'unknown')})",
                remedy="cormorant settings list shows what each one takes",
            ) from None


def _kinds(info: FieldInfo | None) -> set[Any]:
    """The types a setting may have, without what they hold."""
    if info is None:
        return set()
    return {get_origin(kind) or kind for kind in (*get_args(info.annotation), info.annotation)}


def _is_list(info: FieldInfo) -> bool:
    return tuple in _kinds(info)


def from_text(key: str, text: str, info: FieldInfo | None, origin: str) -> Any:
    """A value as a person or a variable writes it, in the shape its setting has. Raises: InvalidArguments."""
    kinds = _kinds(info)
    if not kinds & {tuple, dict}:
        return text
    if text.strip().lower() in ("null", "none") and type(None) in kinds:
        return None
    if text.strip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except ValueError as error:
            raise InvalidArguments(f"{key} is no JSON ({origin})", remedy='write a,b or ["a", "b"]') from error
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if dict in kinds:
        pairs = (part.partition("=") for part in parts)
        return {name.strip(): value.strip() for name, _, value in pairs}
    if not parts and type(None) in kinds:
        raise InvalidArguments(f"{key} is empty ({origin})", remedy="write [] for none at all, or take the variable away")
    return parts


def to_text(value: Any, info: FieldInfo) -> str:
    """A value as a person would write it: what `from_text` reads back."""
    readers = {part.func for part in info.metadata if isinstance(part, BeforeValidator)}
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return units.as_duration(value) if units.seconds in readers else units.as_size(value) if units.size in readers else str(value)
    if isinstance(value, Mapping):
        plain = all(isinstance(item, str) for item in value.values())
        return ",".join(f"{name}={item}" for name, item in value.items()) if plain else json.dumps(value)
    return ",".join(value) if isinstance(value, tuple | list) else str(value)


def path_of(key: str, known: Mapping[str, Any]) -> list[str]:
    """The steps to a setting; what follows a table's own name is one key, whatever dots it holds."""
    for name in known:
        if key.startswith(f"{name}."):
            return [*name.split("."), key[len(name) + 1 :]]
    return key.split(".")
