"""Word files (DOCX) to small, clean HTML: headings, lists, tables, links, notes. Pure; deleted and hidden text stays out."""

from __future__ import annotations

import re
from html import escape
from xml.etree.ElementTree import Element

from cormorant.document import Finding
from cormorant.extract.archive import Archive, child, given, local, whole
from cormorant.extract.instructions import finding

DEPTH_MAX = 8  # Word itself has nine levels
SPAN_MAX = 60

_SKIPPED = frozenset(
    {"del", "moveFrom", "instrText", "delText", "pPr", "rPr", "sectPr", "tblPr", "trPr", "tcPr", "tblGrid", "Fallback", "proofErr"}
)


class Word:
    """One file being written out."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.part = next((target for target, kind in archive.related("").values() if kind == "officeDocument"), "word/document.xml")
        self.links = {key: target for key, (target, kind) in archive.related(self.part).items() if kind == "hyperlink"}
        folder = self.part.rsplit("/", 1)[0] if "/" in self.part else "word"
        self.levels = _heading_levels(archive.xml(f"{folder}/styles.xml"))
        self.ordered = _ordered_lists(archive.xml(f"{folder}/numbering.xml"))
        self.notes = {**_notes(archive.xml(f"{folder}/footnotes.xml"), "f"), **_notes(archive.xml(f"{folder}/endnotes.xml"), "e")}
        self.cited: list[str] = []
        self.hidden: list[str] = []
        self._field = ""

    def html(self) -> str:
        """The whole file."""
        document = self.archive.xml(self.part)
        body = child(document, "body")
        parts = [self._blocks(body)] if body is not None else []
        for number, key in enumerate(self.cited, 1):
            note = self.notes.get(key)
            if note is not None:
                parts.append(f"<p>[{number}] {self._inside(note)}</p>")
        return "".join(parts)

    def findings(self) -> list[Finding]:
        """Text that Word would not show."""
        return [finding("display", text, note="hidden text of the document") for text in self.hidden if len(text.split()) >= 3]

    def _blocks(self, parent: Element) -> str:
        out: list[str] = []
        lists: list[str] = []  # the tags of the lists that are open
        for block in _flattened(parent):
            if local(block) == "tbl":
                out.append(self._close(lists, 0) + self._table(block))
                continue
            text = self._inside(block).strip()
            if not text:
                continue
            level, number = self._place(block)
            if level:
                out.append(self._close(lists, 0) + f"<h{level}>{text}</h{level}>")
            elif number is not None:
                out.append(self._item(lists, number, text))
            else:
                out.append(self._close(lists, 0) + f"<p>{text}</p>")
        out.append(self._close(lists, 0))
        return "".join(out)

    def _place(self, paragraph: Element) -> tuple[int, tuple[str, int] | None]:
        """The heading level of a paragraph (0: none), or the list and depth it belongs to."""
        about = child(paragraph, "pPr")
        style = child(about, "pStyle")
        outline = child(about, "outlineLvl")
        name = given(style, "val") if style is not None else ""
        level = self.levels.get(name, 0)
        if outline is not None and whole(given(outline, "val"), 9) < 9:
            level = whole(given(outline, "val"), 9) + 1
        if level:
            return min(level, 6), None
        number, depth = child(about, "numPr", "numId"), child(about, "numPr", "ilvl")
        if number is not None and given(number, "val") != "0":
            deep = given(depth, "val") if depth is not None else "0"
            return 0, (given(number, "val"), whole(deep, 0, most=DEPTH_MAX))
        if re.match(r"List(?:Bullet|Number|Paragraph)", name) and name != "ListParagraph":
            return 0, (name, max(0, whole(name[-1], 1) - 1))
        return 0, None

    def _item(self, lists: list[str], number: tuple[str, int], text: str) -> str:
        name, depth = number
        tag = "ol" if self.ordered.get((name, depth)) or name.startswith("ListNumber") else "ul"
        out = self._close(lists, depth + 1)
        if len(lists) == depth + 1:
            if lists[-1] == tag:
                return f"{out}</li><li>{text}"
            out += self._close(lists, depth)
        while len(lists) <= depth:
            lists.append(tag)
            out += f"<{tag}><li>"
        return out + text

    @staticmethod
    def _close(lists: list[str], depth: int) -> str:
        out = ""
        while len(lists) > depth:
            out += f"</li></{lists.pop()}>"
        return out

    def _table(self, table: Element) -> str:
        rows = []
        for row in (one for one in _flattened(table) if local(one) == "tr"):
            cells = []
            for cell in (one for one in _flattened(row) if local(one) == "tc"):
                wide = child(cell, "tcPr", "gridSpan")
                span = given(wide, "val") if wide is not None else "1"
                inner = self._blocks(cell)
                inner = re.sub(r"^<p>(.*?)</p>$", r"\1", inner) if inner.count("<p>") == 1 else inner
                cells.append(f'<td colspan="{whole(span, 1, most=SPAN_MAX)}">{inner}</td>')
            rows.append(f"<tr>{''.join(cells)}</tr>")
        if rows:
            rows[0] = rows[0].replace("<td", "<th").replace("</td>", "</th>")
        return f"<table>{''.join(rows)}</table>"

    def _inside(self, element: Element) -> str:
        """The inline content of a paragraph, run by run."""
        out = []
        for one in element:
            name = local(one)
            if name in _SKIPPED:
                if name == "instrText":
                    self._field += one.text or ""
                continue
            if name == "r":
                out.append(self._run(one))
            elif name == "hyperlink":
                out.append(self._linked(self.links.get(given(one, "id"), ""), self._inside(one)))
            elif name == "fldSimple":
                out.append(self._linked(_address(given(one, "instr")), self._inside(one)))
            elif name == "p":
                out.append(self._inside(one) + " ")
            else:
                out.append(self._inside(one))
        return "".join(out)

    def _run(self, run: Element) -> str:
        about = child(run, "rPr")
        text = "".join(map(self._piece, run))
        if about is not None and any(_on(child(about, name)) for name in ("vanish", "webHidden")):
            if child(about, "vanish") is not None and text.strip():
                self.hidden.append(re.sub(r"<[^>]*>", " ", text))
            return ""
        if not text.strip() or about is None:
            return text
        for name, tag in (("b", "strong"), ("i", "em"), ("strike", "del")):
            if _on(child(about, name)):
                text = f"<{tag}>{text}</{tag}>"
        raised = child(about, "vertAlign")
        if raised is not None and given(raised, "val") in ("superscript", "subscript"):
            tag = given(raised, "val")[:3]
            text = f"<{tag}>{text}</{tag}>"
        return text

    def _piece(self, one: Element) -> str:
        name = local(one)
        if name == "t":
            return escape(one.text or "", quote=False)
        if name in ("br", "cr"):
            return "<br>" if given(one, "type") not in ("page", "column") else " "
        if name in ("tab", "ptab"):
            return " "
        if name == "noBreakHyphen":
            return "-"
        if name == "instrText":
            self._field += one.text or ""
        elif name == "fldChar":
            return self._field_mark(given(one, "fldCharType"))
        elif name in ("footnoteReference", "endnoteReference"):
            return self._cite(("f" if name[0] == "f" else "e") + given(one, "id"))
        elif name in ("drawing", "pict", "AlternateContent", "object"):
            return self._drawn(one)
        return ""

    def _field_mark(self, kind: str) -> str:
        """A field is: begin, its instruction, separate, what it shows, end. Only links matter."""
        if kind == "begin":
            self._field = ""
            return ""
        href = _address(self._field)
        if kind == "separate":
            return f'<a href="{escape(href)}">' if href else ""
        closed, self._field = ("</a>" if href else ""), ""
        return closed

    def _cite(self, key: str) -> str:
        if key not in self.notes:
            return ""
        if key not in self.cited:
            self.cited.append(key)
        return f"[{self.cited.index(key) + 1}]"

    def _drawn(self, drawing: Element) -> str:
        """Text boxes hold text; a picture at most a description, which is not the document's text."""
        texts = [self._inside(box) for box in drawing.iter() if local(box) == "txbxContent" and not _in_fallback(drawing, box)]
        return " ".join(text for text in texts if text.strip())

    @staticmethod
    def _linked(href: str, text: str) -> str:
        return f'<a href="{escape(href)}">{text}</a>' if href.startswith(("http://", "https://", "mailto:")) and text.strip() else text


def _in_fallback(drawing: Element, box: Element) -> bool:
    return any(box in set(fallback.iter()) for fallback in drawing.iter() if local(fallback) == "Fallback")


def _flattened(parent: Element) -> list[Element]:
    """Blocks, with content controls and tracked insertions opened."""
    found: list[Element] = []
    for one in parent:
        name = local(one)
        if name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
            found += _flattened(one)
        elif name in ("p", "tbl", "tr", "tc"):
            found.append(one)
    return found


def _on(switch: Element | None) -> bool:
    return switch is not None and given(switch, "val") not in ("0", "false", "off", "none")


def _address(instruction: str) -> str:
    found = re.match(r"\s*HYPERLINK\s+\"?((?:https?|mailto):[^\s\"]+)", instruction)
    return found[1] if found else ""


def _heading_levels(styles: Element | None) -> dict[str, int]:
    """The heading level of each paragraph style, inherited from what it is based on."""
    own: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in styles if styles is not None else ():
        key, name, base = given(style, "styleId"), child(style, "name"), child(style, "basedOn")
        outline = child(style, "pPr", "outlineLvl")
        named = given(name, "val").lower() if name is not None else ""
        if found := re.fullmatch(r"heading (\d)", named):
            own[key] = int(found[1])
        elif named == "title":
            own[key] = 1
        elif outline is not None and whole(given(outline, "val"), 9) < 9:
            own[key] = whole(given(outline, "val"), 9) + 1
        if base is not None:
            based[key] = given(base, "val")
    for key in based:
        at, steps = key, 0
        while at not in own and at in based and steps < 10:
            at, steps = based[at], steps + 1
        if at in own:
            own[key] = own[at]
    return own


def _ordered_lists(numbering: Element | None) -> dict[tuple[str, int], bool]:
    """Whether a list is numbered, by its id and depth."""
    kinds: dict[str, dict[int, bool]] = {}
    found: dict[tuple[str, int], bool] = {}
    for one in numbering if numbering is not None else ():
        if local(one) == "abstractNum":
            levels = kinds.setdefault(given(one, "abstractNumId"), {})
            for level in (each for each in one if local(each) == "lvl"):
                form = child(level, "numFmt")
                levels[whole(given(level, "ilvl"), 0)] = form is not None and given(form, "val") not in ("bullet", "none")
        elif local(one) == "num":
            base = child(one, "abstractNumId")
            for depth, numbered in kinds.get(given(base, "val") if base is not None else "", {}).items():
                found[given(one, "numId"), depth] = numbered
    return found


def _notes(part: Element | None, prefix: str) -> dict[str, Element]:
    return {prefix + given(note, "id"): note for note in part if given(note, "type") == ""} if part is not None else {}
