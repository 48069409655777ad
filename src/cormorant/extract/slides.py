"""Presentations (PPTX, ODP) to small, clean HTML: a heading a slide, its paragraphs, lists and tables, the speaker's notes. Pure."""

from __future__ import annotations

import re
from html import escape
from xml.etree.ElementTree import Element

from cormorant.extract.archive import Archive, child, given, local, whole
from cormorant.extract.opendocument import Writer

SLIDES_MAX = 1_000
DEPTH_MAX = 8
SPAN_MAX = 60


def pptx(archive: Archive) -> tuple[str, int, list[str]]:
    """The slides as HTML, how many there are, and warnings."""
    part = next((target for target, kind in archive.related("").values() if kind == "officeDocument"), "ppt/presentation.xml")
    related = archive.related(part)
    listed = child(archive.xml(part), "sldIdLst")
    out, hidden, count = [], [], 0
    for number, one in enumerate(listed if listed is not None else (), 1):
        if number > SLIDES_MAX:
            break
        name = related.get(next((value for key, value in one.attrib.items() if key.endswith("}id")), ""), ("", ""))[0]
        slide = archive.xml(name)
        count = number
        if slide is None:
            continue
        if slide.get("show") in ("0", "false"):
            hidden.append(str(number))
            continue
        out.append(_slide(archive, name, slide, number))
    warnings = [f"slide {', '.join(hidden)} is hidden in the presentation and was left out"] if hidden else []
    return "".join(out), count, warnings


def _slide(archive: Archive, name: str, slide: Element, number: int) -> str:
    related = archive.related(name)
    links = {key: target for key, (target, kind) in related.items() if kind == "hyperlink"}
    tree = child(slide, "cSld", "spTree")
    title, body = "", []
    for shape in _shapes(tree):
        kind = _placeholder(shape)
        if kind in ("title", "ctrTitle") and not title:
            title = re.sub(r"<[^>]*>", " ", " ".join(text for text, _, _ in _paragraphs(shape, links))).strip()
        elif kind not in ("dt", "ftr", "sldNum"):
            body.append(_shape(shape, links, listed=kind in ("body", "obj", "")))
    notes = next((target for target, kind in related.values() if kind == "notesSlide"), "")
    spoken = _notes(archive.xml(notes)) if notes else ""
    head = f"Slide {number}" + (f": {title}" if title else "")
    return f"<h2>{head}</h2>{''.join(body)}" + (f"<blockquote><p>Notes: {spoken}</p></blockquote>" if spoken else "")


def _shapes(tree: Element | None) -> list[Element]:
    found: list[Element] = []
    for one in tree if tree is not None else ():
        if local(one) == "grpSp":
            found += _shapes(one)
        elif local(one) in ("sp", "graphicFrame") and not _is_hidden(one):
            found.append(one)
    return found


def _is_hidden(shape: Element) -> bool:
    about = next((one for one in shape.iter() if local(one) == "cNvPr"), None)
    return about is not None and given(about, "hidden") in ("1", "true")


def _placeholder(shape: Element) -> str:
    """The role a shape has in the layout: "" for a shape of its own, "obj" for one without a type."""
    mark = child(shape, "nvSpPr", "nvPr", "ph")
    return "-" if mark is None else given(mark, "type")


def _shape(shape: Element, links: dict[str, str], *, listed: bool) -> str:
    table = next((one for one in shape.iter() if local(one) == "tbl"), None)
    if table is not None:
        return _table(table, links)
    out, depth = [], 0
    for text, level, bullet in _paragraphs(shape, links):
        wanted = level + 1 if (listed and bullet != "none") or bullet == "yes" else 0
        out.append("</li></ul>" * (depth - wanted) if wanted < depth else "")
        if wanted and wanted == min(depth, wanted) and depth:
            out.append(f"</li><li>{text}")
        elif wanted:
            out.append("<ul><li>" * (wanted - depth) + text)
        else:
            out.append(f"<p>{text}</p>")
        depth = wanted
    return "".join(out) + "</li></ul>" * depth


def _paragraphs(shape: Element, links: dict[str, str]) -> list[tuple[str, int, str]]:
    """Each paragraph's text, list level, and whether it says it has a bullet: yes, none, or "" for as the layout has it."""
    body = child(shape, "txBody")
    found = []
    for paragraph in body if body is not None else ():
        if local(paragraph) != "p":
            continue
        text = _runs(paragraph, links)
        about = child(paragraph, "pPr")
        level = given(about, "lvl") if about is not None else ""
        marks = {local(one) for one in about} if about is not None else set()
        bullet = "none" if "buNone" in marks else "yes" if marks & {"buChar", "buAutoNum", "buBlip"} else ""
        if text.strip():
            found.append((text.strip(), whole(level, 0, most=DEPTH_MAX), bullet))
    return found


def _runs(paragraph: Element, links: dict[str, str]) -> str:
    out = []
    for one in paragraph:
        if local(one) == "br":
            out.append("<br>")
        elif local(one) in ("r", "fld"):
            held = child(one, "t")
            text = escape((held.text or "") if held is not None else "", quote=False)
            link = child(one, "rPr", "hlinkClick")
            href = links.get(given(link, "id"), "") if link is not None else ""
            out.append(
                f'<a href="{escape(href)}">{text}</a>' if href.startswith(("http://", "https://", "mailto:")) and text.strip() else text
            )
    return "".join(out)


def _table(table: Element, links: dict[str, str]) -> str:
    rows = []
    for row in (one for one in table if local(one) == "tr"):
        cells = []
        for cell in (one for one in row if local(one) == "tc"):
            if given(cell, "hMerge") in ("1", "true"):
                continue
            span = given(cell, "gridSpan")
            text = "<br>".join(text for text, _, _ in _paragraphs(cell, links))
            cells.append(f'<td colspan="{whole(span, 1, most=SPAN_MAX)}">{text}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    if rows:
        rows[0] = rows[0].replace("<td", "<th").replace("</td>", "</th>")
    return f"<table>{''.join(rows)}</table>"


def _notes(part: Element | None) -> str:
    said = [
        text for shape in _shapes(child(part, "cSld", "spTree")) if _placeholder(shape) == "body" for text, _, _ in _paragraphs(shape, {})
    ]
    return " ".join(said)


def odp(archive: Archive) -> tuple[str, int, list[str]]:
    """The slides of an OpenDocument presentation."""
    content = archive.xml("content.xml")
    writer = Writer(content)
    show = child(content, "body", "presentation")
    pages = [one for one in (show if show is not None else ()) if local(one) == "page"]
    out = []
    for number, page in enumerate(pages[:SLIDES_MAX], 1):
        title, body = "", []
        for frame in page:
            kind = given(frame, "class")
            held = "".join(writer.blocks(box) for box in frame if local(box) in ("text-box", "table")) if local(frame) == "frame" else ""
            if local(frame) == "notes":
                notes = re.sub(r"<[^>]*>", " ", "".join(writer.blocks(box) for box in frame.iter() if local(box) == "text-box")).strip()
                held = f"<blockquote><p>Notes: {notes}</p></blockquote>" if notes else ""
            elif local(frame) in ("custom-shape", "rect", "ellipse", "g"):
                held = writer.blocks(frame)
            if kind == "title" and not title:
                title = re.sub(r"<[^>]*>", " ", held).strip()
            else:
                body.append(held)
        out.append(f"<h2>Slide {number}{': ' + title if title else ''}</h2>{''.join(body)}")
    return "".join(out), len(pages), []
