"""Small documents made by hand: what the readers are tested with. Nothing here needs a library."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass, field
from io import BytesIO

CONTENT_TYPES = b'<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
CORE = '<p xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Gate book</dc:title><dc:creator>Ana Quill</dc:creator></p>'
OFFICE_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(parts: dict[str, str | bytes]) -> bytes:
    """A ZIP archive of these parts, in their order; a `mimetype` part is stored first and uncompressed."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), text, compress_type=kind)
    return out.getvalue()


def relations(**targets: tuple[str, str]) -> str:
    """An OOXML relations part: id=(kind, target)."""
    inner = "".join(
        f'<Relationship Id="{key}" Type="{OFFICE_RELATION}/{kind}" Target="{target}"'
        + (' TargetMode="External"' if "://" in target else "")
        + "/>"
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inner}</Relationships>'


def docx(body: str, **parts: str) -> bytes:
    """A Word file with this body; other parts by their name in `word/`."""
    w = f'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="{OFFICE_RELATION}"'
    return zipped(
        {
            "[Content_Types].xml": CONTENT_TYPES,
            "_rels/.rels": relations(r1=("officeDocument", "word/document.xml")),
            "word/document.xml": f"<w:document {w}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(h1=("hyperlink", "https://harlow.example/gate")),
            "docProps/core.xml": CORE,
            **{f"word/{name}.xml": text.replace(">", f" {w}>", 1) for name, text in parts.items()},
        }
    )


def odf(kind: str, content: str) -> bytes:
    """An OpenDocument file of a kind: text, spreadsheet, presentation."""
    names = ("office", "text", "table", "style", "fo", "draw", "presentation", "xlink")
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {spaces}>{content}</office:document-content>",
            "META-INF/manifest.xml": "<manifest/>",
        }
    )


@dataclass
class Pdf:
    """A PDF written by hand: text at places, pictures as filled boxes, links, bookmarks."""

    width: int = 595
    height: int = 842
    compress: bool = False
    pages: list[list[str]] = field(default_factory=list)
    links: dict[int, list[tuple[tuple[float, float, float, float], str]]] = field(default_factory=dict)
    bookmarks: list[tuple[str, int, int]] = field(default_factory=list)  # title, page from 0, level from 0
    info: str = ""
    rotate: int = 0

    def page(self) -> Pdf:
        """Begins a page."""
        self.pages.append([])
        return self

    def text(self, x: float, y: float, text: str, size: float = 11, font: str = "F1") -> Pdf:
        """A line of text, `y` counted from the bottom. Fonts: F1 Helvetica, F2 bold, F3 Courier."""
        shown = text.encode("cp1252").decode("latin-1").replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        self.pages[-1].append(f"BT /{font} {size} Tf {x} {y} Td ({shown}) Tj ET")
        return self

    def lines(self, x: float, y: float, lines: list[str], size: float = 11, leading: float = 13, font: str = "F1") -> Pdf:
        """Lines below each other."""
        for n, line in enumerate(lines):
            self.text(x, y - n * leading, line, size, font)
        return self

    def picture(self, x: float, y: float, wide: float, high: float) -> Pdf:
        """A grey box, as a scan would cover the page."""
        self.pages[-1].append(f"0.8 g {x} {y} {wide} {high} re f 0 g")
        return self

    def bytes(self) -> bytes:
        """The file."""
        objects: list[bytes] = []

        def add(body: str | bytes) -> int:
            objects.append(body.encode("latin-1") if isinstance(body, str) else body)
            return len(objects)

        names = ("Helvetica", "Helvetica-Bold", "Courier")
        fonts = [add(f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>") for name in names]
        resources = "<< /Font << " + " ".join(f"/F{n} {one} 0 R" for n, one in enumerate(fonts, 1)) + " >> >>"
        first = len(objects) + 1
        tree = first + 2 * len(self.pages)  # each page takes two objects
        for number, parts in enumerate(self.pages):
            data = "\n".join(parts).encode("latin-1")
            packed = zlib.compress(data) if self.compress else data
            how = "/Filter /FlateDecode " if self.compress else ""
            stream = add(f"<< {how}/Length {len(packed)} >>\nstream\n".encode() + packed + b"\nendstream")
            notes = " ".join(
                f"<< /Type /Annot /Subtype /Link /Rect [{' '.join(map(str, box))}] /Border [0 0 0] /A << /S /URI /URI ({href}) >> >>"
                for box, href in self.links.get(number, [])
            )
            add(
                f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {self.width} {self.height}] /Rotate {self.rotate} "
                f"/Resources {resources} /Contents {stream} 0 R /Annots [{notes}] >>"
            )
        kids = " ".join(f"{first + 2 * n + 1} 0 R" for n in range(len(self.pages)))
        assert add(f"<< /Type /Pages /Count {len(self.pages)} /Kids [{kids}] >>") == tree
        outlines = self._outlines(add, first)
        root = add(f"<< /Type /Catalog /Pages {tree} 0 R {outlines} >>")
        about = add(f"<< {self.info} >>")
        out, places = b"%PDF-1.4\n", []
        for number, body in enumerate(objects, 1):
            places.append(len(out))
            out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
        table = "".join(f"{place:010} 00000 n \n" for place in places)
        trailer = f"trailer\n<< /Size {len(objects) + 1} /Root {root} 0 R /Info {about} 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
        return out + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()

    def _outlines(self, add: object, first: int) -> str:
        """Bookmarks as one chain for each level-0 title with its level-1 titles below."""
        if not self.bookmarks:
            return ""
        heads: list[tuple[str, int, list[tuple[str, int]]]] = []
        for title, page, level in self.bookmarks:
            if level == 0:
                heads.append((title, page, []))
            else:
                heads[-1][2].append((title, page))
        total = len(self.bookmarks)
        base = first + 2 * len(self.pages) + 1  # the object after the page tree
        top = base + total
        at, out = base, []
        starts = []
        for _, _, subs in heads:
            starts.append(at)
            at += 1 + len(subs)
        for n, (title, page, subs) in enumerate(heads):
            chain = (f"/Prev {starts[n - 1]} 0 R " if n else "") + (f"/Next {starts[n + 1]} 0 R " if n + 1 < len(heads) else "")
            below = f"/First {starts[n] + 1} 0 R /Last {starts[n] + len(subs)} 0 R /Count {len(subs)} " if subs else ""
            out.append(f"<< /Title ({title}) /Parent {top} 0 R {chain}{below}/Dest [{first + 2 * page + 1} 0 R /XYZ 0 {self.height} 0] >>")
            for m, (sub, where) in enumerate(subs):
                here = starts[n] + 1 + m
                chain = (f"/Prev {here - 1} 0 R " if m else "") + (f"/Next {here + 1} 0 R " if m + 1 < len(subs) else "")
                out.append(
                    f"<< /Title ({sub}) /Parent {starts[n]} 0 R {chain}/Dest [{first + 2 * where + 1} 0 R /XYZ 0 {self.height} 0] >>"
                )
        for body in out:
            add(body)  # type: ignore[operator]
        add(f"<< /Type /Outlines /First {starts[0]} 0 R /Last {starts[-1]} 0 R /Count {len(heads)} >>")  # type: ignore[operator]
        return f"/Outlines {top} 0 R"
