"""`cormorant doctor`: what this install can do, and why not the rest, for a person; `--json` has all of it for a program."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import click

from cormorant.surfaces.cli import emit, emit_json, run_async
from cormorant.surfaces.screen import columns

WIDTH = 100


@click.command()
@click.option("--probe", is_flag=True, help="Also ask each ready search backend one small question, and try the network.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
def doctor(probe: bool, as_json: bool) -> None:
    """What this install can do, and why not the rest. Keys are named, never shown.

    \b
    cormorant doctor --probe
    """
    from cormorant.surfaces.terminal import open_web

    async def examined() -> dict[str, Any]:
        async with open_web() as web:
            return await web.probe() if probe else web.capabilities()

    found = run_async(examined())
    emit_json(found) if as_json else emit("\n".join(map(_fitted, as_text(found).split("\n"))))


def _fitted(line: str) -> str:
    """The line in the window there is, what does not fit under its value."""
    hanging = " " * (24 if columns() > 60 else 4)
    return "\n".join(wrap(line, columns(), subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)) or line


def as_text(found: dict[str, Any]) -> str:
    """What `capabilities` found, as a page to read."""
    rows = found["providers"]
    lines = [f"cormorant {found['version']}, Python {found['python']}", ""]
    lines += ["Search", f"  asked in this order   {', '.join(found['answers']) or 'nobody'}"]
    lines += [f"  {row['name']:<20}  {_state(row)}" for row in rows if row["ready"]]
    lines += _missing(rows)
    keys = found["keys"]
    lines += ["", "Keys set", f"  {', '.join(keys)}  (cormorant secret list says where)" if isinstance(keys, list) else f"  {keys}"]
    library = found["library"]
    lines += [
        "",
        "Library",
        *([f"  {name:<20}  {count:,} documents" for name, count in library.items()] if isinstance(library, dict) else [f"  {library}"]),
    ]
    lines += ["", "Egress", *(f"  {name:<20}  {_value(value)}" for name, value in found["egress"].items())]
    if "network" in found:
        lines += ["", "Network", *(f"  {place:<20}  {state}" for place, state in found["network"].items())]
    lines += ["", "Installed", *(f"  {name:<28}  {state}" for name, state in found["extras"].items())]
    lines += ["", f"Store  {found['store']}"]
    if found["next"]:
        lines += ["", "Next", *(f"  - {step}" for step in found["next"])]
    return "\n".join(lines)


def _state(row: dict[str, Any]) -> str:
    """One backend that is ready: how it fared lately, and its place."""
    role = "" if row["role"] in ("available", "") else f" ({row['role']})"
    if row["cooling_until"]:
        return f"rests until {row['cooling_until'][:16].replace('T', ' ')}{role}: {row['last_error'] or 'suspicious empty answers'}"
    return f"ready{role}" + (f", last error: {row['last_error']}" if row["last_error"] else "")


def _missing(rows: list[dict[str, Any]]) -> list[str]:
    """Those that are not ready: the ones that only lack a key in a line together, the others with their reason."""
    keyed = [row for row in rows if not row["ready"] and row["role"] == "available" and "needs a key" in (row["why_not"] or "")]
    others = [row for row in rows if not row["ready"] and row not in keyed]
    lines = [f"  {row['name']:<20}  no: {row['why_not']}" for row in others]
    if keyed:
        named = ", ".join(f"{row['name']} ({row['variables'][0]})" for row in keyed)
        lines.append(f"  {'without their key':<20}  {named}")
    return lines


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "(none)"
    return "; ".join(f"{name}: {_value(item)}" for name, item in value.items()) if isinstance(value, dict) else str(value)
