"""What research hands over: the answer with its claims checked and marked, the sources it uses, what was not reached. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from cormorant.answer import NO_ANSWER, NO_EVIDENCE, NO_RESULTS, Answer
from cormorant.answer.evidence import Evidence
from cormorant.answer.unsourced import unsourced
from cormorant.citations import MARKER, linked, prose_parts


@dataclass(frozen=True)
class Report:
    """What was found out. `stopped` names the bound that ended the search, or is None. `[n]` is the n-th of `sources`."""

    answer: str
    sources: tuple[dict[str, Any], ...] = ()
    not_reached: tuple[dict[str, Any], ...] = ()
    stopped: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    verdicts: tuple[dict[str, Any], ...] = ()
    response_id: str = ""
    notes: tuple[str, ...] = ()
    model: str = ""

    @property
    def sources_used(self) -> tuple[int, ...]:
        """The numbers that the answer cites."""
        return tuple(range(1, len(self.sources) + 1))

    def as_dict(self) -> dict[str, Any]:
        return {
            "answer": self.answer,
            "sources": list(self.sources),
            "not_reached": list(self.not_reached),
            "stopped": self.stopped,
            "usage": self.usage,
            "verdicts": list(self.verdicts),
            "response_id": self.response_id,
            "notes": list(self.notes),
            "model": self.model,
        }

    def as_text(self) -> str:
        """Answer, Sources and Not reached, for a person or a model."""
        lines = [f"response_id: {self.response_id}"] if self.response_id else []
        lines += ["## Answer", "", self.answer, "", "## Sources", ""]
        for n, source in enumerate(self.sources, 1):
            lines.append(f"[{n}] {source['title'] or source['url']}\n    {source['url']}")
            lines += [f"    {_quoted(verdict)}" for verdict in self.verdicts if verdict["source"] == n]
        lines += [] if self.sources else ["(none)"]
        lines += ["", "## Not reached", ""]
        for gap in self.not_reached:
            lines.append(f"- {gap['url']}: {gap['code']}: {gap['reason']}" + (f" -- {gap['command']}" if gap["command"] else ""))
        lines += [] if self.not_reached else ["(nothing)"]
        lines += [f"[stopped by the limit of {self.stopped}]"] if self.stopped else []
        lines += [f"[{note}]" for note in self.notes]
        return "\n".join(lines)


def _quoted(verdict: dict[str, Any]) -> str:
    quote = " ".join(str(verdict["quote"]).split())
    return f'{verdict["verdict"]}: "{quote}"' if quote else f"{verdict['verdict']}: {verdict['claim']}"


def settled(made: Answer, *, claims_need_sources: bool) -> tuple[str, tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]:
    """The checked answer's text, sources and verdicts, numbered in the order in which the text cites them.

    `claims_need_sources` marks those that cite nothing.
    """
    text = made.checked
    if claims_need_sources and text.strip() not in (NO_ANSWER, NO_EVIDENCE, NO_RESULTS):
        text = unsourced(text, {entry.number: entry.text for entry in made.sources})
    order = {number: n for n, number in enumerate(_first_cited(text), 1)}
    kept = sorted((entry for entry in made.sources if entry.number in order), key=lambda entry: order[entry.number])
    renumbered = _each_marker(text, lambda number: f"<source_{order[number]}>" if number in order else "")
    said = linked(renumbered, [replace(entry, number=order[entry.number]).source for entry in kept], "plain")
    verdicts = tuple(verdict | {"source": order[verdict["source"]]} for verdict in made.verdicts if verdict["source"] in order)
    return said, tuple(_shown(entry, n) for n, entry in enumerate(kept, 1)), verdicts


def _first_cited(text: str) -> list[int]:
    """The numbers that the prose cites, each once, as it comes to them."""
    return list(dict.fromkeys(int(n) for is_prose, part in prose_parts(text) if is_prose for n in MARKER.findall(part)))


def _each_marker(text: str, put: Callable[[int], str]) -> str:
    return "".join(MARKER.sub(lambda m: put(int(m[1])), part) if is_prose else part for is_prose, part in prose_parts(text))


def _shown(entry: Evidence, number: int) -> dict[str, Any]:
    return {"rank": number, "url": entry.url, "title": entry.title, "content_kind": entry.content_kind}
