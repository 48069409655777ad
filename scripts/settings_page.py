"""Write docs/settings.md from the settings classes. `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from cormorant.settings import ALIASES, SECRETS, Settings, fields

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
INTRO = """# Settings

A setting is looked for in this order, and the first place that has it counts:

1. the call itself, where a tool takes it (`count`, `provider`, `budget` ...)
2. the environment: `CORMORANT_SECTION__NAME`, for example `CORMORANT_FETCH__TIMEOUT=30s`, or one of the names below
3. the profile in force (`profile = "name"` or `CORMORANT_PROFILE`)
4. `cormorant.toml` in the working folder
5. your own file (`cormorant settings set` writes it; on Linux `~/.config/cormorant/settings.toml`)
6. the default

Durations are seconds or `500ms`, `20s`, `5m`, `2h`, `1d`. Sizes are bytes or `64k`, `5MB`, `2GB` (1024 to the kilo).
Lists are `a,b` or `["a", "b"]` in the environment and lists in TOML. A name that does not exist is an error that says
which one you may have meant; a number out of range is moved to the nearest bound, and said.

```sh
cormorant settings list                                   # every setting, its value and where it comes from
cormorant settings set search.count 5                     # in your own file; --project: in ./cormorant.toml
cormorant settings unset search.count
printf %s "$KEY" | cormorant secret set BRAVE_API_KEY     # into your keyring, or a file of its own for you alone
cormorant secret list                                     # which are set and where each lies, never their values
```

`secret set` takes the keyring of the operating system when the package `keyring` is there
(`pip install 'cormorant[keyring]'`) and its backend answers, else the file (mode 0600). `--in keyring`, `--in file` and
the setting `secrets_in` decide it for themselves.

## While a server runs

`cormorant mcp`, `cormorant serve` and a `Web` over `settings.follow()` take in what you change at the start of the next
call: results, sessions, caches and the rest of backends stay. A request on its way ends as it began. If the files can't be
used, the old settings hold; every result says `settings_not_applied` and why, and so does `GET /capabilities`. The
environment, `store`, `library` and where the server listens (`server.host`, `port`, `path`, `hosts`, `origins`,
`concurrency`) count when a program starts; a change of these is said once, `settings_wait`.

```python
from cormorant import Web, settings

async with Web(settings.follow()) as web:       # your files, followed
    ...
```

A `cormorant.toml`:

```toml
[search]
provider = "searxng,brave"        # asked in this order
block_domains = ["pinterest.com"]

[search.urls]
searxng = "http://127.0.0.1:8888"

[egress]
allow = [".python.org", "docs.example.com"]

[models]
default = "openai/gpt-6-luna"

[profiles.ci.egress]              # in force with CORMORANT_PROFILE=ci
allow = []
```

A `cormorant.toml` of somebody else's folder can widen what may be reached. Run `cormorant settings list` there first.
"""
KEYS = """## Names people already have

Each of these is read from the environment as it is, and from the file that the same name with `_FILE` names.
"""
SECRETS_TEXT = """## Secrets

Never shown, logged or written by a surface; they stand in `secrets.toml` beside your settings (mode 0600), or in the
environment, also as `NAME_FILE`. `search.api_key_env` names another variable. A key written into a settings file works
and is remarked upon. A secret that is named like a setting is read as that setting until you delete it.
"""


def page() -> str:
    parts = [INTRO]
    section = ""
    for key, info in fields():
        if key == "keys":
            continue
        head = key.split(".")[0] if "." in key else "top"
        if head != section:
            section = head
            about = (
                (Settings.model_fields[head].annotation.__doc__ or "").strip()
                if head != "top"
                else "Without a section, at the top of the file."
            )
            parts += [f"## {head if head != 'top' else 'At the top'}", "", about, ""]
        parts += [f"### {key}", "", info.description or "", "", f"{_kind(info).capitalize()}. Default: {_default(info)}.", ""]
    parts += [
        KEYS,
        "| variable | setting |",
        "|---|---|",
        *(f"| `{name}` | [`{key}`](#{_anchor(key)}) |" for name, key in ALIASES.items()),
        "",
    ]
    parts += [SECRETS_TEXT, ", ".join(f"`{name}`" for name in SECRETS), ""]
    return "\n".join(parts)


def _anchor(key: str) -> str:
    known = [name for name, _ in fields()]
    return next(name for name in known if key == name or key.startswith(f"{name}.")).replace(".", "")


def _kind(info: FieldInfo) -> str:
    kinds = [kind for kind in (get_args(info.annotation) or (info.annotation,)) if kind is not type(None)]
    origin = get_origin(info.annotation)
    if origin is Literal:
        return "one of " + ", ".join(f"`{value}`" for value in get_args(info.annotation))
    if origin is dict:
        return "a table"
    if origin is tuple or any(get_origin(kind) is tuple for kind in kinds):
        return "a list"
    named = {"Seconds": "a duration", "Bytes": "a size"}
    validators = [type(m).__name__ for m in info.metadata]
    if "BeforeValidator" in validators:
        return named["Seconds"] if info.annotation is float else named["Bytes"]
    return {bool: "true or false", int: "a number", float: "a number", str: "text"}[info.annotation] + _bounds(info)  # type: ignore[index]


def _bounds(info: FieldInfo) -> str:
    low = next((m.ge for m in info.metadata if hasattr(m, "ge")), None)
    high = next((m.le for m in info.metadata if hasattr(m, "le")), None)
    return f" from {low} to {high}" if low is not None and high is not None else f", at least {low}" if low is not None else ""


def _default(info: FieldInfo) -> str:
    value: Any = info.get_default(call_default_factory=True)
    if value is None:
        return "unset"
    if value in ("", (), {}):
        return "empty"
    if isinstance(value, tuple):
        return ", ".join(f"`{one}`" for one in value)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    kind = _kind(info)
    if kind == "a duration":
        return f"`{value:g}s`" if value else "`0`"
    if kind == "a size" and value:
        unit, count = next((u, n) for u, n in (("GB", 1024**3), ("MB", 1024**2), ("KB", 1024), ("", 1)) if value % n == 0)
        return f"`{value // count}{unit}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def main() -> None:
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else "docs/settings.md is old: python scripts/settings_page.py")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
