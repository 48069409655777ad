"""The collected failures about views, outlines, pages and estimates, through thin adapters."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from cormorant import tokens
from cormorant.blocks import blocks
from cormorant.document import Document
from cormorant.view import View, fit

OPS = ("view", "outline", "slice", "page_all", "estimate")


def expanded(value: Any) -> Any:
    """`{"$repeat": ["ab", 3]}` stands for `ababab`."""
    if isinstance(value, dict) and "$repeat" in value:
        return value["$repeat"][0] * value["$repeat"][1]
    return {key: expanded(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def checker(cases: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("cases_checker", cases / "bugs" / "check.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(asked: dict[str, Any]) -> View:
    known = {key: asked[key] for key in ("budget", "view", "section", "query", "max_chars", "offset") if key in asked}
    return fit(Document("https://site.example/page", asked["markdown"]), **known)


def view_of(asked: dict[str, Any]) -> dict[str, Any]:
    view = shown(asked)
    made = tokens.counter()
    unclosed = sum(
        1 for block in blocks(view.text) if block.kind == "fence" and not view.text[block.start : block.end].rstrip().endswith(block.closer)
    )
    return {
        "text": view.text,
        "truncated": view.truncated,
        "next_offset": view.next_offset,
        "open_fences": unclosed,
        "out_tokens": max(view.cost, made.count(view.text + "\n" + view.note)),
        "fit": view.fit,
    }


def outline_of(asked: dict[str, Any]) -> dict[str, Any]:
    return {"headings": [section.heading for section in Document("", asked["markdown"]).sections]}


def page_all(asked: dict[str, Any]) -> dict[str, Any]:
    texts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        assert len(texts) < 100
        view = shown(asked | {"offset": offset})
        texts.append(view.text)
        offset = view.next_offset
    said = "\n".join(texts)
    lines = [line for line in asked["markdown"].split("\n") if line.strip()]
    body = [line for line in lines if lines.count(line) == 1 and line[0] not in "#`~" and not set(line) <= set("|-: ")]
    rows = [line for line in body if not line.startswith("| Part | ")]
    return {
        "missing_lines": [line for line in lines if line not in said and not all(piece in said for piece in line.split(". "))],
        "duplicated_body_lines": [line for line in rows if said.count(line + "\n") > 1],
        "calls": len(texts),
    }


def estimate(asked: dict[str, Any]) -> dict[str, Any]:
    return {"tokens": tokens.counter().count(asked["text"])}


ADAPTERS = {"view": view_of, "outline": outline_of, "slice": view_of, "page_all": page_all, "estimate": estimate}


def test_every_collected_case_about_views(cases: Path) -> None:
    check = checker(cases)
    failed = []
    listed = [json.loads(line) for line in (cases / "bugs" / "cases.jsonl").read_text().splitlines()]
    ours = [case for case in listed if case["op"] in OPS]
    assert ours
    for case in ours:
        asked = expanded(json.loads((cases / "bugs" / case["input"]["files"]["input"]).read_text()))
        failed += [(case["id"], wanted) for ok, wanted in check.check(case, ADAPTERS[case["op"]](asked)) if not ok]
    assert failed == []
