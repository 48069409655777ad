"""Pages that other software read wrongly, each with what ought to come out: the collected extraction failures."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cormorant.document import Document
from cormorant.errors import CormorantError
from cormorant.extract import document

BUGS = Path(os.environ.get("CORMORANT_CASES", Path(__file__).parents[2] / "shared" / "cases")) / "bugs"


def collected() -> list[dict[str, Any]]:
    listing = BUGS / "cases.jsonl"
    lines = listing.read_text(encoding="utf-8").splitlines() if listing.is_file() else []
    return [case for line in lines if (case := json.loads(line))["op"] == "extract"]


@pytest.fixture(scope="module")
def checker(cases: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("collected_check", cases / "bugs" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_result(page: Document) -> dict[str, Any]:
    """Our Document under the names the cases use."""
    return {
        "ok": page.outcome == "content",
        "text": page.markdown,
        "outcome": page.outcome,
        "meta": {
            "title": page.title,
            "author": page.byline,
            "site": page.site,
            "date": page.published[:10],
            "description": page.summary,
            "language": page.language,
        },
        "links": [link.href for link in page.links],
        "warnings": list(page.warnings),
    }


def read(case: dict[str, Any]) -> dict[str, Any]:
    source = case["input"]
    body = (BUGS / source["files"]["html"]).read_bytes()
    try:
        return as_result(document(body, url=source["url"], content_type=source["content_type"], **source["call"]))
    except CormorantError as error:
        return {"ok": False, "text": "", "error": {"code": error.code}}


@pytest.mark.parametrize("case", collected(), ids=lambda case: case["id"])
def test_the_collected_failure_is_read_right(case: dict[str, Any], checker: ModuleType) -> None:
    result = read(case)
    wrong = [wanted for held, wanted in checker.check(case, result) if not held]
    assert not wrong, f"{case['right']}\n{wrong}\n{result['text']}"


def test_the_cases_are_there_or_the_folder_is_missing(cases: Path) -> None:
    assert collected(), f"no extraction cases under {cases}"
