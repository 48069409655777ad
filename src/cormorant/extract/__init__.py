"""Bytes to a Document, by media type. Pure CPU: no network, no clock, the same bytes in give the same Document out."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

from cormorant.document import EXTRACTS, OUTPUTS, Document
from cormorant.errors import InvalidArguments
from cormorant.extract.decode import media_type, text_of
from cormorant.extract.sniff import FEEDS, HTML, OFFICE

MAX_BYTES = 20_000_000  # of a text; nobody reads more, and memory is finite
ALIASES = {"raw": "full"}  # `extract: raw` is what other tools call the whole page


def document(body: bytes, *, url: str, content_type: str = "", extract: str = "auto", output: str = "markdown") -> Document:
    """Read a body as the page at `url`.

    `extract`: `readability` the main content or an error, `full` everything visible, `auto` the first of these that
    holds. `output`: `markdown`, `text` (no marks), `raw` (the source as it was sent), `pretty` (Markdown,
    and JSON indented, CSV as a table).

    Raises: UnsupportedType, ExtractionFailed, TooLarge, InvalidArguments.
    """
    extract = _one_of(ALIASES.get(extract, extract), EXTRACTS, "extract")
    output = _one_of(output, OUTPUTS, "output")
    kind = media_type(body, content_type, url)
    if kind == "application/pdf":
        return cast(Document, _part("pdf").read(body, url=url, output=output))
    if kind in OFFICE:
        return cast(Document, _part("office").read(body, url=url, media_type=kind, output=output))
    if kind.startswith("image/") and kind != "image/svg+xml":
        return cast(Document, _part("picture").read(body, url=url, media_type=kind))
    found = text_of(body[:MAX_BYTES], content_type, kind)
    warnings = found.warnings
    if len(body) > MAX_BYTES:
        warnings = (*warnings, f"the body has {len(body)} bytes; what follows the first {MAX_BYTES} was left out")
    if output == "raw":
        read = Document(url=url, markdown=found.text, extractor="raw", media_type=kind)
    elif kind in HTML:
        read = page_reader().read(found.text, url=url, media_type=kind, extract=extract, output=output)
    elif kind in FEEDS:
        read = _part("feed").read(found.text, url=url, media_type=kind, output=output)
    else:
        read = _part("plain").read(found.text, url=url, media_type=kind, output=output)
    return replace(read, warnings=(*warnings, *read.warnings)) if warnings else read


def _one_of(value: str, known: tuple[str, ...], name: str) -> str:
    if value not in known:
        raise InvalidArguments(f"{name} can't be {value!r}", remedy=f"{name} is one of {', '.join(known)}")
    return value


def _part(name: str) -> Any:
    """A reader, imported when it is first needed: a server that lists its tools, or reads back what is stored, needs none."""
    return import_module(f"cormorant.extract.{name}")


def page_reader() -> Any:
    """The reader of HTML, `cormorant.extract.html`. The package is asked for first, whatever part of it is wanted: a thread
    that imports a part while another imports the package waits for it both ways, and Python ends that with a KeyError."""
    return _part("html")


def at_hand() -> bool:
    """Whether a page can be read at once, without loading its reader first."""
    return "cormorant.extract.html" in sys.modules
