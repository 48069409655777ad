"""Settings in the environment: our own variables, the names people already have, and each of them as NAME_FILE."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cormorant.errors import InvalidArguments
from cormorant.settings.layers import Layers
from cormorant.settings.model import Settings
from cormorant.settings.names import ALIASES, SECRET_KEYS, SECRETS


def read(layers: Layers, environ: Mapping[str, str]) -> None:
    """Old names first, so that a variable of our own wins over them."""
    for name, key in ALIASES.items():
        if value := _value(environ, name):
            layers.text(key, value, name)
    wanted = str(layers.values.get("search.api_key_env", "")) or environ.get("CORMORANT_SEARCH__API_KEY_ENV", "")
    for name in (*SECRETS, *([wanted] if wanted else [])):
        if value := _value(environ, name):
            layers.set(f"keys.{name}", value, name)
    for name in sorted(environ):
        if not name.startswith("CORMORANT_"):
            continue
        bare = name.removesuffix("_FILE") if name.removesuffix("_FILE") not in environ else name
        key = _key_of(bare, layers)
        if key and (value := _value(environ, bare) if bare != name else environ[name]) is not None and (value or key == "egress.allow"):
            layers.text(key, value, name)


def files(environ: Mapping[str, str]) -> list[Path]:
    """The files that variables name instead of holding a value."""
    ours = (*ALIASES, *SECRETS)
    return [Path(path) for name, path in environ.items() if name.endswith("_FILE") and path and _is_ours(name.removesuffix("_FILE"), ours)]


def _is_ours(name: str, ours: tuple[str, ...]) -> bool:
    return name in ours or name.startswith("CORMORANT_")


def secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """The secrets that stand in the environment, by name, each with the variable it is read from."""
    names = (*SECRETS, *(name for name, key in ALIASES.items() if key in SECRET_KEYS))
    return {
        name: f"the variable {name}" if environ.get(name) else f"the file {name}_FILE names"
        for name in names
        if environ.get(name) or environ.get(f"{name}_FILE")
    }


def _key_of(name: str, layers: Layers) -> str:
    """The setting a variable of ours names, or nothing for a variable that is not about settings."""
    rest = name.removeprefix("CORMORANT_")
    sections = {section.upper() for section in Settings.model_fields}
    if "__" not in rest:
        if rest in sections and rest.lower() in layers.fields:
            return rest.lower()
        section = next((s for s in sections if rest.startswith(f"{s}_")), "")
        if section and f"{section}.{rest[len(section) + 1 :]}".lower() in layers.fields:
            raise InvalidArguments(f"there is no variable {name}", remedy=f"did you mean CORMORANT_{section}__{rest[len(section) + 1 :]}?")
        return ""
    head, *tail = rest.split("__")
    key = ".".join([head.lower(), *(part.lower() for part in tail)])
    if key.startswith("keys."):
        return f"keys.{tail[0]}"
    try:
        return layers.known(key)
    except InvalidArguments as error:
        near = error.remedy
        for known in layers.fields:
            near = near.replace(known, "CORMORANT_" + known.upper().replace(".", "__"))
        raise InvalidArguments(f"there is no setting {key} (from {name})", remedy=near) from error


def _value(environ: Mapping[str, str], name: str) -> str | None:
    """The variable, or the text of the file that NAME_FILE names (how containers are handed secrets)."""
    if value := environ.get(name):
        return value.strip()
    if not (path := environ.get(f"{name}_FILE")):
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArguments(
            f"{name}_FILE names {path}, which can't be read: {error}", remedy="correct the path or its rights"
        ) from error
