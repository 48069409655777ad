"""Draw the README's picture: a real run of the demo's commands, as a terminal would show it.

python scripts/picture.py            writes docs/images/answer.svg and docs/images/fit.svg
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile

from demo import CORMORANT, OWN_QUESTION, ROOT, build_own_docs, longest_page
from rich.console import Console
from rich.text import Text

IMAGES = ROOT / "docs" / "images"
COLUMNS = 100
LINES = 34


def shown(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run([CORMORANT, *words], env=environment, capture_output=True, text=True, check=True)
    return f"$ cormorant {shlex.join(words)}\n{done.stdout.rstrip()}"


def draw(name: str, text: str) -> None:
    """One terminal window as SVG, without any font or style from elsewhere."""
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), color_system="truecolor")  # noqa: SIM115
    for line in text.splitlines()[:LINES]:
        style = "bold" if line.startswith("$ ") else "cyan" if line.startswith("## ") else ""
        styled = Text(line[: COLUMNS * 3], style=style)
        styled.highlight_regex(r"\b(exact|close)(?=:)", "green")
        styled.highlight_regex(r"\b(mismatch|unsupported)(?=:)", "red")
        console.print(styled)
    picture = console.export_svg(title=name)
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.S)
    IMAGES.mkdir(parents=True, exist_ok=True)
    (IMAGES / f"{name}.svg").write_text(picture)


def main() -> None:
    folder = build_own_docs()
    with tempfile.TemporaryDirectory() as kept:
        environment = {**os.environ, "CORMORANT_LIBRARY__PATH": f"{kept}/library.db", "CORMORANT_STORE__PATH": f"{kept}/results"}
        subprocess.run([CORMORANT, "index", "add", str(folder)], env=environment, check=True, stdout=subprocess.DEVNULL, cwd=folder)
        clean = re.compile(r"file://\S*/site/")
        draw("answer", clean.sub("file:///site/", shown(environment, "answer", OWN_QUESTION)))
        page = longest_page(folder)
        done = subprocess.run(
            [CORMORANT, "fetch", f"./{page.relative_to(folder)}", "--budget", "400"],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        draw("fit", clean.sub("file:///site/", f"$ cormorant fetch ./{page.relative_to(folder)} --budget 400\n{done.stdout}"))


if __name__ == "__main__":
    sys.exit(main())
