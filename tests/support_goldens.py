"""Golden pages: `pages/<name>.html` beside `pages/<name>.md`. `python tests/support_goldens.py` writes the `.md` anew."""

from __future__ import annotations

from pathlib import Path

from cormorant.document import Document
from cormorant.extract import document

PAGES = Path(__file__).parent / "pages"
ADDRESS = "https://harbour.example/manual/3/sluice.html"


def read(name: str, extract: str = "auto") -> Document:
    return document((PAGES / f"{name}.html").read_bytes(), url=ADDRESS, content_type="text/html", extract=extract)


def names() -> list[str]:
    return sorted(path.stem for path in PAGES.glob("*.html"))


if __name__ == "__main__":
    for name in names():
        (PAGES / f"{name}.md").write_text(read(name, "full").markdown + "\n", encoding="utf-8")
