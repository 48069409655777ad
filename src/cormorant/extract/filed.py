"""What a child process found in a file (a PDF, an Office document), as a Document. Pure."""

from __future__ import annotations

from typing import Any

from cormorant.document import Document, FileFacts, Finding, Link
from cormorant.extract.instructions import suspicious


def document_of(found: dict[str, Any], *, url: str, media_type: str, extractor: str, unnamed: str = "document") -> Document:
    """The Document of a file at `url`; `unnamed` is what it is called when its address names nothing."""
    name = url.split("#")[0].split("?")[0].rstrip("/").rsplit("/", 1)[-1] or unnamed
    warnings = tuple(found["warnings"])
    findings = [Finding(kind, tuple(span) if span else None, digest, note) for kind, span, digest, note in found["findings"]]
    return Document(
        url=url,
        markdown=found["markdown"],
        title=found["title"] or name,
        byline=found["author"],
        published=found["published"],
        language=found.get("language", ""),
        links=tuple(Link(text, href) for text, href in found["links"]),
        extractor=extractor,
        findings=(*findings, *suspicious(found["markdown"])),
        warnings=warnings,
        media_type=media_type,
        file=FileFacts(media_type, name, found["pages"], found["truncated"], warnings, tuple(found.get("pages_without_text", ()))),
    )
