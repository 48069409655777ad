"""Spreadsheets (XLSX, ODS, XLS) to rows of text, a sheet at a time, at most 200 rows by 40 columns each. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import BytesIO
from math import isfinite
from xml.etree.ElementTree import Element

from cormorant.errors import ExtractionFailed, NotConfigured
from cormorant.extract.archive import Archive, child, given, local, whole

ROWS_MAX = 200
COLUMNS_MAX = 40
SHEETS_MAX = 50
CELL_MAX_CHARS = 4_000

_DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})  # ECMA-376 18.8.30
_TIME_FORMATS = frozenset({18, 19, 20, 21, 45, 46, 47})


@dataclass(slots=True)
class Sheet:
    """One sheet: its rows as text, and how many there are in the file."""

    name: str
    rows: list[list[str]] = field(default_factory=list)
    row_count: int = 0
    column_count: int = 0
    hidden: bool = False

    def trimmed(self) -> Sheet:
        """Without the empty rows and cells around it."""
        for row in self.rows:
            while row and not row[-1]:
                row.pop()
        while self.rows and not self.rows[-1]:
            self.rows.pop()
        return self

    def warnings(self) -> list[str]:
        """What of it is not shown."""
        found = []
        if self.row_count > ROWS_MAX:
            found.append(f"sheet {self.name!r} has {self.row_count} rows, the first {ROWS_MAX} are shown")
        if self.column_count > COLUMNS_MAX:
            found.append(f"sheet {self.name!r} has {self.column_count} columns, the first {COLUMNS_MAX} are shown")
        return found


# --- XLSX ---------------------------------------------------------------------------------------------------------


def xlsx(archive: Archive) -> list[Sheet]:
    """The sheets of an Excel file in their order."""
    part = next((target for target, kind in archive.related("").values() if kind == "officeDocument"), "xl/workbook.xml")
    workbook = archive.xml(part)
    related = archive.related(part)
    strings = _shared_strings(archive.xml(_of_kind(related, "sharedStrings")))
    formats = _number_formats(archive.xml(_of_kind(related, "styles")))
    about = child(workbook, "workbookPr")
    epoch = datetime(1904, 1, 1) if about is not None and given(about, "date1904") in ("1", "true") else datetime(1899, 12, 30)
    found = []
    for one in list(child(workbook, "sheets") if child(workbook, "sheets") is not None else ())[:SHEETS_MAX]:  # type: ignore[arg-type]
        target = related.get(given(one, "id"), ("", ""))[0]
        sheet = Sheet(given(one, "name"), hidden=given(one, "state") in ("hidden", "veryHidden"))
        if not sheet.hidden and "chartsheet" not in target:
            _fill(sheet, archive.xml(target), strings, formats, epoch)
        found.append(sheet.trimmed())
    return found


def _of_kind(related: dict[str, tuple[str, str]], kind: str) -> str:
    return next((target for target, each in related.values() if each == kind), "")


def _shared_strings(part: Element | None) -> list[str]:
    return [_rich(one) for one in part if local(one) == "si"] if part is not None else []


def _rich(element: Element) -> str:
    """Text with its runs joined; phonetic hints left out."""
    out = []
    for one in element:
        if local(one) == "t":
            out.append(one.text or "")
        elif local(one) == "r":
            out.append("".join(each.text or "" for each in one if local(each) == "t"))
    return "".join(out)


def _number_formats(styles: Element | None) -> list[str]:
    """For each cell style: date, time, percent, or "" for a plain value."""
    codes = {given(one, "numFmtId"): given(one, "formatCode") for one in (child(styles, "numFmts") or ())}
    return [_kind_of_format(given(one, "numFmtId"), codes) for one in (child(styles, "cellXfs") or ())]


def _kind_of_format(key: str, codes: dict[str, str]) -> str:
    number = whole(key, 0)
    code = re.sub(r'"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]', "", codes.get(key, "")).lower()
    if key not in codes:
        return "time" if number in _TIME_FORMATS else "date" if number in _DATE_FORMATS else "percent" if number in (9, 10) else ""
    if re.search(r"[yd]|mmm", code):
        return "date"
    if re.search(r"h|s|\[m", code) and "general" not in code:
        return "time"
    return "percent" if "%" in code else ""


def _fill(sheet: Sheet, part: Element | None, strings: list[str], formats: list[str], epoch: datetime) -> None:
    data = child(part, "sheetData")
    last = 0
    for row in data if data is not None else ():
        number = max(1, whole(given(row, "r"), last + 1))
        cells = _cells(row, strings, formats, epoch)
        if any(cells.values()):
            sheet.row_count = max(sheet.row_count, number)
            sheet.column_count = max(sheet.column_count, *(place + 1 for place, text in cells.items() if text))
        if number <= ROWS_MAX and cells:
            while len(sheet.rows) < number:
                sheet.rows.append([])
            wide = min(COLUMNS_MAX, max(cells) + 1)
            sheet.rows[number - 1] = [cells.get(place, "") for place in range(wide)]
        last = number


def _cells(row: Element, strings: list[str], formats: list[str], epoch: datetime) -> dict[int, str]:
    found: dict[int, str] = {}
    for cell in row:
        place = _column(given(cell, "r")) if given(cell, "r") else max(found, default=-1) + 1
        found[place] = _value(cell, strings, formats, epoch)[:CELL_MAX_CHARS]
    return found


def _column(reference: str) -> int:
    place = 0
    for letter in re.match(r"[A-Z]*", reference.upper())[0]:  # type: ignore[index]
        place = place * 26 + ord(letter) - 64
    return place - 1


def _value(cell: Element, strings: list[str], formats: list[str], epoch: datetime) -> str:
    kind = given(cell, "t")
    if kind == "inlineStr":
        inline = child(cell, "is")
        return _rich(inline) if inline is not None else ""
    held = child(cell, "v")
    text = (held.text or "") if held is not None else ""
    if kind == "s":
        place = whole(text, len(strings))
        return strings[place] if place < len(strings) else ""
    if kind == "b":
        return "TRUE" if text == "1" else "FALSE"
    if kind in ("str", "e", "d"):
        return text
    style = given(cell, "s")
    place = whole(style, 0)
    return _number(text, formats[place] if place < len(formats) else "", epoch)


def _number(text: str, kind: str, epoch: datetime) -> str:
    try:
        value = float(text)
    except ValueError:
        return text
    if not isfinite(value):
        return text
    if kind == "percent":
        return f"{value * 100:.10g}%"
    if kind in ("date", "time") and 0 <= value < 2_958_466:
        moment = epoch + timedelta(seconds=round(value * 86_400))
        if kind == "time" and value < 1:
            return moment.strftime("%H:%M:%S")
        return moment.strftime("%Y-%m-%d") if value == int(value) else moment.strftime("%Y-%m-%d %H:%M:%S")
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.15g}"


# --- ODS ----------------------------------------------------------------------------------------------------------


def ods(archive: Archive) -> list[Sheet]:
    """The sheets of an OpenDocument spreadsheet."""
    book = child(archive.xml("content.xml"), "body", "spreadsheet")
    hidden = _hidden_styles(archive.xml("content.xml"))
    found = []
    for table in [one for one in (book if book is not None else ()) if local(one) == "table"][:SHEETS_MAX]:
        sheet = Sheet(given(table, "name"), hidden=given(table, "style-name") in hidden)
        if not sheet.hidden:
            for row, repeated in _ods_rows(table):
                cells = list(_ods_cells(row))
                if any(cells):
                    sheet.row_count = len(sheet.rows) + repeated if len(sheet.rows) < ROWS_MAX else sheet.row_count + repeated
                    sheet.column_count = max(sheet.column_count, len(cells))
                for _ in range(min(repeated, ROWS_MAX - len(sheet.rows), ROWS_MAX if any(cells) else 1_000)):
                    sheet.rows.append(cells[:COLUMNS_MAX])
        found.append(sheet.trimmed())
    return found


def _hidden_styles(content: Element | None) -> frozenset[str]:
    styles = child(content, "automatic-styles")
    return frozenset(
        given(style, "name")
        for style in (styles if styles is not None else ())
        if (about := child(style, "table-properties")) is not None and given(about, "display") == "false"
    )


def _ods_rows(table: Element) -> Iterator[tuple[Element, int]]:
    for one in table:
        name = local(one)
        if name == "table-row":
            yield one, _repeats(one, "number-rows-repeated")
        elif name in ("table-header-rows", "table-row-group", "table-rows"):
            yield from _ods_rows(one)


def _ods_cells(row: Element) -> Iterator[str]:
    held: list[str] = []
    for cell in row:
        if local(cell) not in ("table-cell", "covered-table-cell"):
            continue
        text = "\n".join("".join(part.itertext()) for part in cell if local(part) == "p")
        repeated = _repeats(cell, "number-columns-repeated")
        # A sheet ends with one empty cell repeated a thousand times.
        held += [text[:CELL_MAX_CHARS]] * min(repeated, 1_024 if text else COLUMNS_MAX + 1)
    while held and not held[-1]:
        held.pop()
    yield from held


def _repeats(element: Element, name: str) -> int:
    return max(1, whole(given(element, name), 1))


# --- XLS ----------------------------------------------------------------------------------------------------------


def xls(body: bytes) -> list[Sheet]:
    """The sheets of an Excel 97-2003 file. Raises: NotConfigured without the package that reads them."""
    try:
        import python_calamine
    except ImportError as error:
        raise NotConfigured(
            "reading an .xls file needs the optional package python-calamine", remedy="pip install 'cormorant[documents]'"
        ) from error
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(BytesIO(body))
        return [_xls_sheet(book, about) for about in book.sheets_metadata[:SHEETS_MAX]]
    except python_calamine.PasswordError as error:
        raise ExtractionFailed("the spreadsheet is encrypted and needs a password", remedy="save it without a password") from error
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise ExtractionFailed(
            "the spreadsheet is broken: it can't be opened", remedy="fetch it again, or look for another copy"
        ) from error


def _xls_sheet(book: object, about: object) -> Sheet:
    import python_calamine

    visible = python_calamine.SheetVisibleEnum.Visible
    sheet = Sheet(about.name, hidden=about.visible != visible)  # type: ignore[attr-defined]
    if sheet.hidden:
        return sheet
    held = book.get_sheet_by_name(about.name)  # type: ignore[attr-defined]
    sheet.row_count, sheet.column_count = held.total_height, held.total_width
    sheet.rows = [[_shown(value) for value in row[:COLUMNS_MAX]] for row in held.to_python(skip_empty_area=False, nrows=ROWS_MAX)]
    return sheet.trimmed()


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and isfinite(value):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.15g}"
    if isinstance(value, datetime) and (value.hour, value.minute, value.second) == (0, 0, 0):
        return value.strftime("%Y-%m-%d")
    return str(value)[:CELL_MAX_CHARS]
