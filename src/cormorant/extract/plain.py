"""Text that is no page: plain text, Markdown, CSV, JSON, XML, source code. Returned as it is; tables and layout on request. Pure."""

from __future__ import annotations

import csv
import io
import json
import re

from cormorant.document import Document, Finding
from cormorant.extract.instructions import finding, suspicious
from cormorant.extract.invisible import visible

TABLE_MAX_ROWS = 200
TABLE_MAX_COLUMNS = 40
TITLE_MAX_CHARS = 200

_HEADING = re.compile(r" {0,3}#{1,2}[ \t]+(\S.*?)[ \t#]*$", re.M)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.S)
_FRONT_TITLE = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.M)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")


def read(text: str, *, url: str, media_type: str, output: str = "markdown") -> Document:
    """A text as a Document. `output="raw"` keeps it character for character; otherwise unseen characters go.

    CSV, JSON and XML stay as they are: a model reads them well, and what was asked for is the source. `pretty` indents
    JSON and sets CSV as a table.
    """
    if output == "raw":
        return Document(url=url, markdown=text, extractor="raw", media_type=media_type)
    body, findings, warnings = clean(text)
    if output == "pretty":
        body, cut = _laid_out(body, media_type)
        warnings += cut
    title = _title(body) if media_type in ("text/markdown", "text/plain") else ""
    return Document(
        url=url,
        markdown=body,
        title=title,
        extractor="plain",
        media_type=media_type,
        outcome="content" if body.strip() else "empty_page",
        signs=() if body.strip() else ("no text at all",),
        findings=tuple(findings),
        warnings=tuple(warnings),
    )


def clean(text: str) -> tuple[str, list[Finding], list[str]]:
    """The text with plain line ends and without characters nobody sees, what was found in it, and warnings."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text, gone = visible(text)
    findings = [finding(kind, chars, note=f"{len(chars)} characters") for kind, chars in sorted(gone.items())]
    text, controls = _CONTROLS.subn("", text)
    warnings = [f"{controls} control characters left out"] if controls else []
    return text, [*findings, *suspicious(text)], warnings


def _title(text: str) -> str:
    """The title a Markdown text gives itself: front matter, else the first heading of the top levels."""
    front = _FRONT_MATTER.match(text)
    if front and (named := _FRONT_TITLE.search(front[1])):
        return named[1][:TITLE_MAX_CHARS]
    head = _HEADING.search(text[front.end() if front else 0 :][:5_000])
    return head[1][:TITLE_MAX_CHARS] if head else ""


def _laid_out(text: str, media_type: str) -> tuple[str, list[str]]:
    """A source as a person would lay it out to read it, and what was cut of it."""
    if media_type in ("text/csv", "text/tab-separated-values"):
        return table(text, media_type=media_type)
    return (pretty_json(text), []) if media_type.endswith(("/json", "+json")) else (text, [])


def pretty_json(text: str) -> str:
    """JSON with two spaces of indentation, keys in their order. What is no JSON comes back as it was."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def table(
    text: str, *, media_type: str = "text/csv", max_rows: int = TABLE_MAX_ROWS, max_columns: int = TABLE_MAX_COLUMNS
) -> tuple[str, list[str]]:
    """CSV as a GFM table, the first row as its head, and warnings where rows or columns were cut."""
    delimiter = "\t" if media_type == "text/tab-separated-values" else _delimiter(text)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        return text, [f"not read as a table: {error}"]
    return markdown_table(rows, max_rows=max_rows, max_columns=max_columns)


def markdown_table(rows: list[list[str]], *, max_rows: int = TABLE_MAX_ROWS, max_columns: int = TABLE_MAX_COLUMNS) -> tuple[str, list[str]]:
    """Rows as a GFM table, the first as its head; short rows are filled up. Warnings say what was cut."""
    if not rows:
        return "", []
    warnings = []
    width = max(len(row) for row in rows)
    if len(rows) > max_rows:
        warnings.append(f"{len(rows)} rows, the first {max_rows} shown")
    if width > max_columns:
        warnings.append(f"{width} columns, the first {max_columns} shown")
        width = max_columns
    lines = [[cell_text(cell) for cell in row[:width]] + [""] * (width - len(row)) for row in rows[:max_rows]]
    lines.insert(1, ["---"] * width)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines), warnings


def plain_table(rows: list[list[str]]) -> str:
    """The same rows and columns without marks, cells parted by bars."""
    return "\n".join(" | ".join(" ".join(cell.split()) for cell in row[:TABLE_MAX_COLUMNS]) for row in rows[:TABLE_MAX_ROWS])


def cell_text(cell: str) -> str:
    """A value as one table cell: on one line, its pipes escaped."""
    return " ".join(cell.split()).replace("\\", "\\\\").replace("|", "\\|")


def _delimiter(text: str) -> str:
    """The separator that cuts the first lines into the same number of cells, more than one."""
    lines = [line for line in text[:20_000].split("\n")[:20] if line.strip()]
    best, score = ",", 0.0
    for mark in (",", ";", "\t", "|"):
        widths = [len(row) for row in csv.reader(lines, delimiter=mark)]
        common = max(set(widths), key=widths.count, default=1)
        agreed = widths.count(common) / max(1, len(widths)) if common > 1 else 0.0
        if agreed > score:
            best, score = mark, agreed
    return best
