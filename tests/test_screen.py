"""What a person sees in a terminal: wrapped text, marks, no escape sequence of a page, completion that completes."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from cormorant.surfaces import screen

PAGE = "<title>Boats</title><main><h1>Boats</h1><p>A dinghy is a small boat that is rowed or sailed.</p></main>"


@pytest.mark.parametrize("pieces", [1, 2, 3, 7, 200], ids=lambda n: f"{n} at a time")
def test_running_text_is_wrapped_at_words_however_it_comes(pieces: int) -> None:
    text = "High water stood at six <source_12> and again at seven, said the keeper. <source_2>\n\nThe end < of it"
    written: list[str] = []
    flow = screen.Flow(written.append, 20)
    for start in range(0, len(text), pieces):
        flow.feed(text[start : start + pieces])
    flow.end()
    shown = "".join(written)
    assert shown.split() == text.replace("<source_12>", "[12]").replace("<source_2>", "[2]").split()
    assert max(len(line.rstrip()) for line in shown.split("\n")) <= 20
    assert shown.endswith("The end < of it\n")


def test_wide_characters_take_two_columns() -> None:
    written: list[str] = []
    flow = screen.Flow(written.append, 8)
    flow.feed("潮汐 潮汐 潮汐\n")
    flow.end()
    assert "".join(written).split("\n")[0].strip() == "潮汐"
    assert screen.cells("e\u0301") == 1


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        (
            'Fit: stub; more: web_get response_id=0f section="A b" budget=500',
            'Fit: stub; more: cormorant get 0f --section "A b" --budget 500',
        ),
        ("web_get response_id=0f query=x", "cormorant get 0f --query x"),
        ("Read one: web_fetch url=...; this list", "Read one: cormorant fetch ADDRESS; this list"),
        ("read more of one: web_get response_id=0f url_index=N", "read more of one: cormorant get 0f --url-index N"),
        ("the tool web_get reads", "the tool web_get reads"),
    ],
)
def test_calls_are_shown_as_they_are_typed_here(said: str, typed: str) -> None:
    assert screen.as_command(said) == typed


def test_the_evidence_names_sources_marks_and_gaps() -> None:
    verdicts = [
        {"claim": "c", "source": 2, "verdict": "exact", "quote": "High water\x1b[2J at six."},
        {"claim": "It was seven.", "source": 2, "verdict": "unsupported", "quote": ""},
    ]
    result = {
        "sources": [{"rank": 1, "title": "A", "url": "https://a.example/"}, {"rank": 2, "title": "B", "url": "https://b.example/"}],
        "sources_used": [2],
        "verdicts": verdicts,
        "not_reached": [
            {"url": "https://c.example/", "code": "not_allowed", "reason": "no", "command": "cormorant egress allow c.example"}
        ],
        "response_id": "0f",
    }
    shown = screen.evidence(result)
    assert "a.example" not in shown
    assert "✓ “High water[2J at six.”" in shown
    assert "? It was seven. (unsupported)" in shown
    assert "cormorant egress allow c.example" in shown
    assert "\x1b" not in shown


def in_terminal(here: Path, *words: str, columns: int, **environment: str) -> str:
    """What the command writes to a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 20, columns, 0, 0))
    homes = {name: str(here / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "PYTHONPATH")}
    command = [sys.executable, "-m", "cormorant", *words]
    env = {**kept, **homes, "TERM": "xterm", "COLUMNS": str(columns), **environment}
    with subprocess.Popen(command, cwd=here, env=env, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE):
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # EIO: the other side has closed
                break
            if not piece:
                break
            seen += piece
    os.close(ours)
    return seen.decode().replace("\r\n", "\n")


def test_an_answer_in_a_terminal(tmp_path) -> None:
    (tmp_path / "boats.html").write_text(PAGE)
    homes = {name: str(tmp_path / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    command = [sys.executable, "-m", "cormorant", "index", "add", "boats.html"]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, **homes}, check=True, capture_output=True, timeout=60)
    plain = in_terminal(tmp_path, "answer", "What is a dinghy?", columns=40, NO_COLOR="1")
    assert "\x1b" not in plain
    assert "[1] Boats" in plain
    assert "✓ “A dinghy is a small boat" in plain
    assert max(len(line) for line in plain.split("\n") if "://" not in line and "cormorant get" not in line) <= 40
    assert "\x1b[1m[1]" in in_terminal(tmp_path, "answer", "What is a dinghy?", columns=120)
    paged = in_terminal(tmp_path, "fetch", "boats.html", columns=120, PAGER="sed s/^/P:/", NO_COLOR="1")
    assert "dinghy" in paged
    assert "P:" not in paged  # it fits, so nothing stands between
    (tmp_path / "long.md").write_text("# Long\n" + "\n\n".join(f"Line {n}" for n in range(60)))
    assert "P:Line 59" in in_terminal(tmp_path, "fetch", "long.md", columns=120, PAGER="sed s/^/P:/", NO_COLOR="1")


HOSTILE = (
    "# Re\x1b]0;owned\x07ad\x1b[2J\n\nA line\x9b31m that\u202e drives the terminal. "
    + "It goes on and on. " * 30
    + "\n\n```\ncode  stays\n```\n"
)


@pytest.mark.parametrize("columns", [60, 200])
def test_what_a_person_sees_fits_the_window_and_drives_nothing(tmp_path, columns) -> None:
    (tmp_path / "trap.md").write_text(HOSTILE)
    for words in (["fetch", "trap.md"], ["fetch", "trap.md", "trap.md", "none.md"], ["fetch", "trap.md", "--body"]):
        seen = in_terminal(tmp_path, *words, columns=columns, NO_COLOR="1", PAGER="cat")
        assert "\x1b" not in seen
        assert "\x9b" not in seen
        assert "code  stays" in seen
        if "--body" not in words:
            assert max(len(line) for line in seen.split("\n") if "cormorant get" not in line and "://" not in line) <= min(columns, 100)
            assert "page text" not in seen  # the boundary is for models


def test_hits_are_numbered_and_wrapped(tmp_path) -> None:
    for n in range(3):
        (tmp_path / f"boats{n}.html").write_text(PAGE.replace("rowed or sailed", f"rowed or sailed by {n + 2} people on a lake, " * 8))
    index_here(tmp_path)
    seen = in_terminal(tmp_path, "search", "dinghy", "--provider", "library", columns=60, NO_COLOR="1", PAGER="cat")
    assert seen.startswith("dinghy  3 results from library\n\n 1  Boats\n    file://")
    assert max(len(line) for line in seen.split("\n") if "://" not in line) <= 60
    assert "{" not in seen


@pytest.mark.parametrize("columns", [60, 200])
@pytest.mark.parametrize("words", [["doctor"], ["--help"], ["egress", "--help"], ["serve", "--help"]], ids=" ".join)
def test_screens_fit_the_window(tmp_path, words, columns) -> None:
    seen = in_terminal(tmp_path, *words, columns=columns, NO_COLOR="1", PAGER="cat")
    assert max(len(line) for line in seen.split("\n") if "curl" not in line and "://" not in line) <= min(columns, 100)


def index_here(tmp_path: Path) -> None:
    homes = {name: str(tmp_path / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    command = [sys.executable, "-m", "cormorant", "index", "add", "."]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, **homes}, check=True, capture_output=True, timeout=60)


def test_an_error_is_wrapped_and_its_command_is_not() -> None:
    from cormorant.surfaces import shown

    said = shown.error("private_address", "the address " + "10.0.0.7 " * 20, "cormorant egress allow " + "10.0.0.7 " * 20)
    lines = said.split("\n")
    assert lines[0].startswith("private_address: the address")
    assert all(line.startswith("  ") for line in lines[1:-1])
    assert lines[-1].startswith("hint: cormorant egress allow 10.0.0.7 ")
    assert len(lines[-1]) > 180


def test_text_is_wrapped_and_code_tables_and_lists_keep_their_form(monkeypatch) -> None:
    from cormorant.surfaces import shown

    monkeypatch.setattr(shown, "columns", lambda: 40)
    monkeypatch.setattr(screen, "columns", lambda: 40)
    long = "word " * 20
    text = f"# {long}\n\n{long}\n\n- {long}\n\n> {long}\n\n```\n{long}\n```\n\n| {long} |\n|---|\n\n    {long}"
    seen = shown.markdown(text).split("\n")
    code = [line for line in seen if len(line) > 40]
    assert code == [long, f"| {long} |", f"    {long}"]
    assert [line for line in seen if line.startswith("- ")] != []
    assert [line for line in seen if line.startswith("  word")] != []
    assert len([line for line in seen if line.startswith("> ")]) > 1


def test_ctrl_c_stops_cleanly_and_gives_the_cursor_back(tmp_path) -> None:
    """A page that never comes, a real terminal, a real Ctrl-C: 130, one word, the cursor shown, nothing left running."""
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    ours, theirs = pty.openpty()
    homes = {name: str(tmp_path / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "PYTHONPATH")}
    env = {**kept, **homes, "TERM": "xterm", "CORMORANT_EGRESS__ALLOW_RANGES": "127.0.0.0/8"}
    command = [sys.executable, "-m", "cormorant", "fetch", address]
    program = subprocess.Popen(command, cwd=tmp_path, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    listening.settimeout(30)
    asked, _ = listening.accept()  # it waits for us now
    os.kill(program.pid, signal.SIGINT)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    assert program.wait(30) == 130
    os.close(ours)
    asked.close()
    listening.close()
    assert seen.rstrip().endswith(b"stopped")
    assert b"Traceback" not in seen
    assert seen.rfind(b"\x1b[?25h") >= seen.rfind(b"\x1b[?25l")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["cormorant", "fe"], "plain,fetch"),
        (["cormorant", "fetch", "--view", "st"], "plain,stub"),
        (["cormorant", "egress", "al"], "plain,allow"),
    ],
)
def test_completion_completes(words: list[str], expected: str) -> None:
    env = {**os.environ, "_CORMORANT_COMPLETE": "bash_complete", "COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run([sys.executable, "-m", "cormorant"], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert expected in done.stdout.split("\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script(shell: str) -> None:
    done = subprocess.run([sys.executable, "-m", "cormorant", "completion", shell], capture_output=True, text=True, timeout=60, check=True)
    assert f"_CORMORANT_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("cormorant fe", "fetch"), ("cormorant egress al", "allow"), ("cormorant fetch --view su", "summary")],
    ids=["a command", "of a group", "a value"],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_real_shell_completes(tmp_path, shell, typed, offered) -> None:
    """The script as the shell itself loads it, asked for what stands before the cursor."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "cormorant").write_text(f'#!/bin/sh\nexec {sys.executable} -m cormorant "$@"\n')
    (bin_ / "cormorant").chmod(0o755)
    script = tmp_path / "_cormorant"
    env = {"PATH": f"{bin_}:/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "TERM": "dumb"}
    made = subprocess.run([str(bin_ / "cormorant"), "completion", shell], env=env, capture_output=True, text=True, timeout=60, check=True)
    script.write_text(made.stdout)
    words = typed.split()
    # zsh completes only in its line editor: stand in for the functions that hand results to it.
    in_zsh = "compadd() { print -r -- $completions; }; _describe() { print -r -- $completions_with_descriptions; }"
    asking = {
        "bash": f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _cormorant_completion cormorant; echo ${{COMPREPLY[@]}}",
        "fish": f"complete --do-complete '{typed}'",
        "zsh": f"{in_zsh}; words=({typed}); CURRENT={len(words)}; _cormorant_completion",
    }[shell]
    load = f"{'compdef() { :; }; ' if shell == 'zsh' else ''}source {script}; "
    done = subprocess.run([shell, "-c", load + asking], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert offered in done.stdout, done.stderr
