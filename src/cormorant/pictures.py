"""What the pages of a session say of the images they show: where one is fetched by itself, that is all there is to read. Pure."""

from __future__ import annotations

import re
from collections import OrderedDict

PER_PAGE = 500
KEPT = 5_000
_IMAGE = re.compile(r"!\[((?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*\])*)\]\(([^)\s]+)\)")  # brackets in balance stand as they are
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


class Shown:
    """The images of the pages read so far, by address, the ones met last kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def note(self, page: str, markdown: str) -> None:
        """Remember the images of a page that say what they show."""
        if "![" not in markdown:
            return
        for at, found in enumerate(_IMAGE.finditer(markdown)):
            if at >= PER_PAGE:
                break
            if alt := " ".join(_ESCAPED.sub(r"\1", found[1]).split()):
                self._kept[found[2]] = (page, alt)
                self._kept.move_to_end(found[2])
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def of(self, *addresses: str) -> str:
        """What a page said of an image, "" when none did."""
        found = next((self._kept[address] for address in addresses if address in self._kept), None)
        return f"Shown on {found[0]} as: {found[1]}" if found else ""
