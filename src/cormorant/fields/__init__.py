"""A page as JSON by a JSON Schema, where every value stands in an excerpt that stands in the page.

Data in the page (JSON-LD, microdata, OpenGraph), its tables and its labelled lines are read without a model; a model reads the
text for what is still open. A value without such an excerpt, of another unit, struck out, denied, or of another thing is null,
with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anyio.to_thread import run_sync as in_thread  # a long page must not hold up other calls

from cormorant.document import Document
from cormorant.errors import CormorantError
from cormorant.fields.filling import ABSENT, Draft, Evidence, filled
from cormorant.fields.reading import Model, read
from cormorant.fields.records import records
from cormorant.fields.wanted import Wanted, wanted

__all__ = ["Evidence", "Filled", "Model", "Wanted", "fill", "wanted"]


@dataclass(frozen=True)
class Filled:
    """The data, what each value of it stands on, and why each null is one (`missing`: path and reason)."""

    data: Any
    evidence: tuple[Evidence, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    complete: bool = True  # nothing that the schema requires is null
    model: str = ""
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "data": self.data,
            "evidence": [one.as_dict() for one in self.evidence],
            "missing": [{"path": path, "reason": reason} for path, reason in self.missing],
            "complete": self.complete,
            "model": self.model or None,
        }

    def as_text(self, *, evidence: bool = True) -> str:
        """The data as JSON, then a line for each value's excerpt and for each null's reason."""
        lines = [json.dumps(self.data, ensure_ascii=False, indent=1)]
        if evidence:
            lines += [""] if self.evidence else []
            lines += [f"{one.path} ({one.source}): {' '.join(one.quote.split())}" for one in self.evidence]
        lines += [""] if self.missing else []
        lines += [f"{path or '/'} is null: {reason}" for path, reason in self.missing]
        return "\n".join(lines)


async def fill(schema: Mapping[str, Any] | Wanted, document: Document, *, model: Model | None = None) -> Filled:
    """The document by the schema. A model in trouble is a note; what needs none is there. Raises: InvalidArguments."""
    tree = schema if isinstance(schema, Wanted) else wanted(schema)
    draft = Draft(document)
    data = await in_thread(lambda: filled(tree, records(document), draft))
    notes: tuple[str, ...] = ()
    asked = model is not None and any(True for _ in _nulls(tree, data, ""))
    if model is not None and asked:
        try:
            data = await read(tree, data, draft, model)
        except CormorantError as error:
            notes = (f"the text was not read by {model.label}: {error.message}",)
    nulls = dict(_nulls(tree, data, ""))
    reasons = {path: _why(path, draft) for path in nulls}
    evidence = sorted(draft.evidence, key=lambda one: _order(one.path))
    complete = not any(required for required in nulls.values())
    return Filled(data, tuple(evidence), tuple(reasons.items()), complete, model.label if model and asked and not notes else "", notes)


def _why(path: str, draft: Draft) -> str:
    """The reason of a place, or of the nearest place around or below it that has one."""
    if path in draft.reasons:
        return draft.reasons[path]
    below = [why for key, why in draft.reasons.items() if key.startswith(f"{path}/") and why != ABSENT]
    return below[0] if below else draft.reasons.get("", ABSENT)


def _nulls(tree: Wanted, data: Any, path: str, *, required: bool = True) -> Iterator[tuple[str, bool]]:
    """Each null of the data, and whether the schema requires a value there."""
    if data is None:
        yield path, required and not tree.nullable
    elif tree.kind == "object":
        for place in tree.properties:
            step = place.name.replace("~", "~0").replace("/", "~1")
            yield from _nulls(place, data.get(place.name), f"{path}/{step}", required=place.name in tree.required)
    elif tree.kind == "array" and tree.items:
        for n, row in enumerate(data):
            yield from _nulls(tree.items, row, f"{path}/{n}")


def _order(path: str) -> list[tuple[int, str]]:
    return [(int(step), "") if step.isdigit() else (-1, step) for step in path.split("/")]
