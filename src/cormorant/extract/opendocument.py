"""OpenDocument text (ODT) to small, clean HTML: headings, lists, tables, links, notes. Pure; deleted and hidden text stays out."""

from __future__ import annotations

from html import escape
from xml.etree.ElementTree import Element

from cormorant.extract.archive import Archive, child, given, local, whole

_DROPPED = frozenset(
    {
        "tracked-changes",
        "sequence-decls",
        "variable-decls",
        "user-field-decls",
        "table-of-content-source",
        "annotation",
        "annotation-end",
        "forms",
    }
    | {
        "hidden-text",
        "hidden-paragraph",
        "bookmark",
        "bookmark-start",
        "bookmark-end",
        "soft-page-break",
        "script",
        "desc",
        "title",
        "notes",
    }
)


def odt(archive: Archive) -> str:
    """The whole text."""
    content = archive.xml("content.xml")
    writer = Writer(content)
    text = child(content, "body", "text")
    return (writer.blocks(text) if text is not None else "") + writer.notes_html()


class Writer:
    """Writes OpenDocument content out as HTML. Styles decide which lists are numbered and which spans are hidden."""

    def __init__(self, content: Element | None) -> None:
        self.notes: list[str] = []
        self.ordered: set[str] = set()
        self.hidden: set[str] = set()
        self.marks: dict[str, list[str]] = {}
        styles = child(content, "automatic-styles")
        for style in styles if styles is not None else ():
            self._learn(style)

    def _learn(self, style: Element) -> None:
        name = given(style, "name")
        if local(style) == "list-style" and any(local(level) == "list-level-style-number" for level in style):
            self.ordered.add(name)
        about = child(style, "text-properties")
        if about is None:
            return
        if given(about, "display") == "none":
            self.hidden.add(name)
        tags = [
            tag for key, value, tag in (("font-weight", "bold", "strong"), ("font-style", "italic", "em")) if given(about, key) == value
        ]
        if given(about, "text-line-through-style") not in ("", "none"):
            tags.append("del")
        if tags and given(style, "family") == "text":
            self.marks[name] = tags

    def blocks(self, parent: Element) -> str:
        """Everything below an element that stands on its own: paragraphs, headings, lists, tables, sections."""
        out = []
        for one in parent:
            name = local(one)
            if name in _DROPPED or given(one, "display") in ("none", "condition"):
                continue
            if name == "h":
                level = given(one, "outline-level")
                out.append(self._wrapped(f"h{max(1, whole(level, 1, most=6))}", one))
            elif name == "p":
                out.append(self._wrapped("p", one))
            elif name == "list":
                out.append(self._list(one))
            elif name == "table":
                out.append(self._table(one))
            else:
                out.append(self.blocks(one))
        return "".join(out)

    def _wrapped(self, tag: str, element: Element) -> str:
        if given(element, "style-name") in self.hidden:
            return ""
        text = self.inline(element).strip()
        return f"<{tag}>{text}</{tag}>" if text else ""

    def _list(self, element: Element) -> str:
        tag = "ol" if given(element, "style-name") in self.ordered else "ul"
        items = "".join(f"<li>{self.blocks(item)}</li>" for item in element if local(item) in ("list-item", "list-header"))
        return f"<{tag}>{items}</{tag}>"

    def _table(self, table: Element) -> str:
        rows = [f"<tr>{self._cells(row)}</tr>" for row in table.iter() if local(row) == "table-row"]
        if rows:
            rows[0] = rows[0].replace("<td", "<th").replace("</td>", "</th>")
        return f"<table>{''.join(rows)}</table>"

    def _cells(self, row: Element) -> str:
        out = []
        for cell in row:
            if local(cell) == "table-cell":
                span, down = given(cell, "number-columns-spanned"), given(cell, "number-rows-spanned")
                wide, high = (whole(value, 1, most=60) for value in (span, down))
                out.append(f'<td colspan="{wide}" rowspan="{high}">{self.blocks(cell)}</td>')
        return "".join(out)

    def inline(self, element: Element) -> str:
        """The running text of an element."""
        out = [escape(element.text or "", quote=False)]
        for one in element:
            out.append(self._piece(one))
            out.append(escape(one.tail or "", quote=False))
        return "".join(out)

    def _piece(self, one: Element) -> str:
        name = local(one)
        if name in _DROPPED:
            return ""
        if name == "s":
            count = given(one, "c")
            return " " * whole(count, 1, most=100)
        if name == "tab":
            return " "
        if name == "line-break":
            return "<br>"
        if name == "note":
            body = child(one, "note-body")
            self.notes.append(" ".join(self.inline(part).strip() for part in body) if body is not None else "")
            return f"[{len(self.notes)}]"
        text = self.inline(one)
        if name == "a":
            href = given(one, "href")
            return f'<a href="{escape(href)}">{text}</a>' if href.startswith(("http://", "https://", "mailto:")) and text.strip() else text
        if name == "span":
            style = given(one, "style-name")
            if style in self.hidden:
                return ""
            for tag in self.marks.get(style, ()) if text.strip() else ():
                text = f"<{tag}>{text}</{tag}>"
        return text

    def notes_html(self) -> str:
        """The notes, numbered as they were cited."""
        return "".join(f"<p>[{number}] {note}</p>" for number, note in enumerate(self.notes, 1))
