"""Finding nodes, above all those that are about to be removed. Pure.

The tree library returns a node once for each selector of a list that it matches, and a removed node takes its descendants
with it, whose handles then point at freed memory. So whoever removes asks here.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from selectolax.lexbor import LexborNode


def unique(root: LexborNode, selector: str) -> list[LexborNode]:
    """Every match once, in document order for each selector."""
    return list({node.mem_id: node for node in root.css(selector)}.values())


def outermost(root: LexborNode, selector: str) -> list[LexborNode]:
    """Every match once, none inside another: safe to remove one after the other."""
    found = {node.mem_id: node for node in root.css(selector)}
    known: dict[int, bool] = {}
    return [node for node in found.values() if not _covered(node, found, known)]


def _covered(node: LexborNode, found: dict[int, LexborNode], known: dict[int, bool]) -> bool:
    """Whether an ancestor is among those found; what is learnt about the ancestors on the way is kept."""
    path: list[int] = []
    parent = node.parent
    answer = False
    while parent is not None:
        key = parent.mem_id
        if key in found:
            answer = True
            break
        if key in known:
            answer = known[key]
            break
        path.append(key)
        parent = parent.parent
    known.update(dict.fromkeys(path, answer))
    return answer


def remove(root: LexborNode, selector: str) -> None:
    """All matches leave the tree, with what is in them."""
    for node in outermost(root, selector):
        node.decompose()


def is_inside(node: LexborNode, others: Container[int]) -> bool:
    """Whether one of these is an ancestor."""
    parent = node.parent
    while parent is not None:
        if parent.mem_id in others:
            return True
        parent = parent.parent
    return False


def mentions(source: str, words: Iterable[str]) -> bool:
    """Whether a source holds one of these words of small ASCII letters, however it writes them.

    A look through a whole source costs as much as several selectors: ask the tree first.
    """
    lowered = source.encode("utf-8", "surrogatepass").lower()  # bytes: `str.lower` goes letter by letter outside ASCII
    return any(word.encode() in lowered for word in words)
