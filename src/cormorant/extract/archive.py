"""A document that is a ZIP of XML parts (OOXML, OpenDocument, EPUB), opened with limits. Pure: reads bytes, fetches nothing.

A part is unpacked only when it is asked for, in bounded steps, and all of them together up to 64 MiB. XML with a DOCTYPE
is refused where it declares entities; no entity is ever expanded and no reference followed outside the archive.
"""

from __future__ import annotations

import posixpath
import re
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from io import BytesIO
from urllib.parse import unquote

from cormorant.errors import ExtractionFailed, TooLarge

EXPANDED_MAX_BYTES = 64 * 1024**2
ENTRIES_MAX = 20_000

_DOCTYPE = re.compile(rb"<!DOCTYPE[^>\[]*(\[.*?\])?\s*>", re.S | re.I)


class Archive:
    """The parts of one document by their names."""

    def __init__(self, body: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(BytesIO(body))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise ExtractionFailed(
                "the document is broken: its archive can't be opened", remedy="fetch it again, or look for another copy"
            ) from error
        self.names = frozenset(self._zip.namelist())
        if len(self.names) > ENTRIES_MAX:
            raise TooLarge(f"the document's archive has {len(self.names)} entries, the limit is {ENTRIES_MAX}")
        self._left = EXPANDED_MAX_BYTES

    def bytes_of(self, name: str) -> bytes:
        """A part, unpacked; empty where there is none. Raises: TooLarge past the limit of the whole document."""
        if name not in self.names:
            return b""
        try:
            with self._zip.open(name) as part:
                found = part.read(self._left + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
            # RuntimeError: the part is encrypted
            raise ExtractionFailed(
                f"the document is broken or encrypted: {name} can't be read", remedy="save it without a password"
            ) from error
        self._left -= len(found)
        if self._left < 0:
            raise TooLarge(f"the document unpacks to more than {EXPANDED_MAX_BYTES} bytes", remedy="this looks like a decompression bomb")
        return found

    def xml(self, name: str) -> ElementTree.Element | None:
        """A part as XML; None where there is none. Raises: ExtractionFailed when it is not well-formed."""
        found = self.bytes_of(name)
        if not found:
            return None
        doctype = _DOCTYPE.search(found[:4_096])
        if doctype and doctype[1]:
            raise ExtractionFailed(f"{name} declares entities, which no document needs", remedy="look for another copy")
        try:
            return ElementTree.fromstring(found)  # noqa: S314 entities were refused above, expat loads nothing
        except ElementTree.ParseError as error:
            raise ExtractionFailed(f"the document is broken: {name} is not well-formed XML", remedy="fetch it again") from error

    def related(self, part: str) -> dict[str, tuple[str, str]]:
        """What a part of an Office file refers to: id to (target, kind); inner targets as part names."""
        folder, name = posixpath.split(part)
        found: dict[str, tuple[str, str]] = {}
        for one in self.xml(f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels") or ():
            target = one.get("Target", "")
            if one.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            found[one.get("Id", "")] = (target, one.get("Type", "").rsplit("/", 1)[-1])
        return found


def local(element: ElementTree.Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def given(element: ElementTree.Element, name: str) -> str:
    """An attribute by its name without namespace; "" without one."""
    value = element.get(name)
    if value is not None:
        return value
    return next((value for key, value in element.attrib.items() if key.rsplit("}", 1)[-1] == name), "")


def whole(text: str, otherwise: int, *, most: int = 1_000_000_000) -> int:
    """A count a file gives, never more than `most`; `otherwise` where it is none: files are written by anybody."""
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) <= 12 else otherwise


def child(element: ElementTree.Element | None, *path: str) -> ElementTree.Element | None:
    """The first descendant along a path of local names."""
    for name in path:
        element = next((one for one in element if local(one) == name), None) if element is not None else None
    return element
