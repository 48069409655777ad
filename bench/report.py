"""Results of a benchmark: one JSON file and one picture each, made the same way everywhere. Not a benchmark itself."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
OURS, PEER = "#0b7285", "#adb5bd"
WIDTH, BAR, GAP, LABEL = 720, 18, 8, 230


def save(name: str, result: Mapping[str, Any], *, bars: Mapping[str, Mapping[str, float]] | None = None, unit: str = "") -> None:
    """Write `results/NAME.json`, and `NAME.svg` with one group of bars per chart title (`{title: {label: value}}`)."""
    RESULTS.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": machine, **result}, indent=1, ensure_ascii=False) + "\n")
    if bars:
        (RESULTS / f"{name}.svg").write_text(picture(bars, unit))


def picture(charts: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """Horizontal bars; ours in colour. Plain SVG that reads in light and dark."""
    rows: list[str] = []
    y = 10
    for title, bars in charts.items():
        rows.append(f'<text x="10" y="{y + 14}" class="title">{escape(title)}</text>')
        y += 26
        most = max(bars.values(), default=1) or 1
        for label, value in bars.items():
            colour = OURS if "cormorant" in label else PEER
            width = max(1.0, (WIDTH - LABEL - 110) * value / most)
            rows.append(f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(label)}</text>')
            rows.append(f'<rect x="{LABEL}" y="{y}" width="{width:.1f}" height="{BAR}" rx="3" fill="{colour}"/>')
            rows.append(f'<text x="{LABEL + width + 6:.1f}" y="{y + 13}">{_shown(value)}{escape(unit)}</text>')
            y += BAR + GAP
        y += 12
    style = "text{font:13px system-ui,sans-serif;fill:#343a40}.title{font-weight:600}@media(prefers-color-scheme:dark){text{fill:#dee2e6}}"
    body = "\n".join(rows)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img"><style>{style}</style>\n{body}\n</svg>\n'


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as aligned text, for the terminal."""
    if not rows:
        return ""
    columns = list(rows[0])
    cells = [[str(column) for column in columns], *([_shown(row.get(c, "")) for c in columns] for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(columns))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells)


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
