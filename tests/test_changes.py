"""What changed on a page: every block is accounted for, and the spans cut what they say from either text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cormorant.changes import changes

OLD = """# Ferry

The ferry leaves at noon from the east pier.

| day | fare |
|---|---|
| Mon | 5 |
| Tue | 6 |

- bring water
- bring bread

```
ferry --at noon
```

A long closing paragraph about the history of the pier.
"""


LEAVES = "The ferry leaves at noon from the east pier."


def ops(old: str, new: str) -> list[tuple[str, str, str]]:
    return [(change.op, change.old, change.new) for change in changes(old, new).blocks]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        pytest.param((OLD, OLD), [], id="nothing"),
        pytest.param((" at noon from", "  at noon\nfrom"), [], id="spaces and line ends"),
        pytest.param(("east pier", "west pier"), [("changed", LEAVES, LEAVES.replace("east", "west"))], id="a paragraph"),
        pytest.param(("| Tue | 6 |", "| Tue | 7 |"), [("changed", "| Tue | 6 |", "| Tue | 7 |")], id="one row"),
        pytest.param(("| Tue | 6 |\n", ""), [("removed", "| Tue | 6 |", "")], id="a row less"),
        pytest.param(("- bring bread\n", "- bring bread\n- bring a hat\n"), [("added", "", "- bring a hat")], id="an item more"),
        pytest.param(("--at noon", "--at two"), [("changed", "```\nferry --at noon\n```", "```\nferry --at two\n```")], id="code"),
        pytest.param(("# Ferry\n", "# Ferry\n\nNo boats today.\n"), [("added", "", "No boats today.")], id="a paragraph more"),
    ],
)  # fmt: skip
def test_one_edit_is_one_change(edit: tuple[str, str], expected: list[tuple[str, str, str]]) -> None:
    assert ops(OLD, OLD.replace(*edit)) == expected


def test_a_block_that_moved_did_not_go_and_come() -> None:
    closing = "A long closing paragraph about the history of the pier.\n"
    moved = changes(OLD, closing + "\n" + OLD.replace(closing, ""))
    assert [(change.op, change.new) for change in moved.blocks] == [("moved", closing.strip())]
    assert moved.as_dict()["moved"] == 1


def test_everything_new_and_everything_gone() -> None:
    assert [op for op, _, _ in ops("", "One.\n\nTwo.")] == ["added", "added"]
    assert [op for op, _, _ in ops("One.\n\nTwo.", "")] == ["removed", "removed"]
    assert ops("", "") == []


def test_the_dict_is_bounded_and_says_what_it_left_out() -> None:
    old = "\n\n".join(f"Paragraph {n} says something." for n in range(150))
    shown = changes(old, "x" * 5000).as_dict(max_blocks=20, max_chars=50)
    assert len(shown["blocks"]) == 20
    assert shown["more"] == 131
    assert shown["added"] + shown["removed"] == 151
    assert max(len(block["new"]) for block in shown["blocks"]) <= 50
    assert changes(OLD, OLD).as_dict() == {"added": 0, "removed": 0, "changed": 0, "moved": 0, "same": 10, "blocks": [], "more": 0}


def test_it_reads_well() -> None:
    text = changes(OLD, OLD.replace("| 6 |", "| 7 |").replace("- bring bread\n", "")).text()
    assert text == "~ was: | Tue | 6 |\n~ now: | Tue | 7 |\n- - bring bread"
    assert changes(OLD, OLD).text() == "(nothing changed)"


BLOCK = st.sampled_from(
    ["# One", "# Two", "A short line.", "Another line, longer than that one.", "- item", "- other item", "| a | b |", "```\ncode\n```", "1"]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(BLOCK, max_size=14), st.lists(BLOCK, max_size=14))
def test_every_block_is_accounted_for_and_every_span_cuts_its_text(old_blocks: list[str], new_blocks: list[str]) -> None:
    old, new = "\n\n".join(old_blocks), "\n\n".join(new_blocks)
    found = changes(old, new)
    for change in found.blocks:
        assert change.old_span is None or old[slice(*change.old_span)] == change.old
        assert change.new_span is None or new[slice(*change.new_span)] == change.new
    gone = [change for change in found.blocks if change.old_span]
    come = [change for change in found.blocks if change.new_span]
    assert len({change.old_span for change in gone}) == len(gone)
    assert len({change.new_span for change in come}) == len(come)
    units_old, units_new = changes("", old), changes("", new)
    assert found.same + len(gone) == len(units_old.blocks)
    assert found.same + len(come) == len(units_new.blocks)
    assert changes(old, old).blocks == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            [f"line {n % 50}" for n in range(10_000)], [f"line {n * 7 % 50}" for n in range(10_000)], id="few different blocks, shuffled"
        ),
        pytest.param([f"line {n}" for n in range(10_000)], [f"line {n}" for n in reversed(range(10_000))], id="turned round"),
        pytest.param(["same"] * 10_000, ["same"] * 9_000 + ["other"] * 1_000, id="one block again and again"),
        pytest.param([f"line {n}" for n in range(10_000)], [f"line {n}" for n in range(0, 10_000, 2)], id="every other one"),
    ],
)
def test_long_pages_take_no_time(old: list[str], new: list[str]) -> None:
    began = time.process_time()
    changes("\n\n".join(old), "\n\n".join(new))
    assert time.process_time() - began < 4
