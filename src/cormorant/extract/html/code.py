"""Listings: their text byte for byte, without line numbers and buttons, and the language their markup names. Pure."""

from __future__ import annotations

import re
import textwrap
from itertools import pairwise

from selectolax.lexbor import LexborHTMLParser, LexborNode

from cormorant.extract.html.nodes import mentions, outermost, unique

_LANGUAGES = frozenset(
    (
        "abap actionscript ada agda apache apex apl applescript arduino arm asciidoc asm asp aspnet assembly astro autohotkey awk "
        "bash bat batch bibtex brainfuck c c# c++ cfg clj cljs clojure cmake cmd cobol coffee coffeescript conf console cpp "
        "crystal cs csharp css csv cuda cypher cython d dart delphi diff django docker dockerfile dos dot ejs elisp elixir elm "
        "erb erl erlang excel f# fish forth fortran fs fsharp gherkin git glsl go golang gradle graphql groovy h haml handlebars "
        "haskell haxe hbs hcl hlsl hs html http idl idris ini ino ipython ipython3 java javascript jinja jinja2 jl js json json5 "
        "jsonc jsonl jsonnet jsp jsx julia kotlin kt kts latex lean lean4 less lisp llvm log lua make makefile markdown "
        "mathematica matlab md mdx mermaid mips mongodb mysql nasm nginx nim nix nohup objc objective-c objectivec ocaml odin "
        "pascal patch perl pgsql php phtml pl plpgsql plsql postgres postgresql postscript powershell ps1 prisma prolog promql "
        "properties proto protobuf ps pug puppet purescript py py3 pycon python python2 python3 q qml r racket raku rb rego rest "
        "robotframework rs rst ruby rust sas sass scala scheme scm scss sh shell shell-session shellscript smalltalk smali sml "
        "solidity sparql sql sqlite ssh stan svelte swift systemverilog tcl terraform tex tf thrift toml ts tsql tsx turtle twig "
        "txt typescript v vala vb vba vbnet verilog vhdl vim viml vue vyper wasm wat wgsl wolfram xhtml xml xquery xsl yaml yml "
        "zig zsh"
    ).split()
)
_NOT_A_LANGUAGE = frozenset(
    (
        "none plain plaintext text txt nohighlight no-highlight default auto undefined null unknown code source raw other false "
        "true block inline wrap generic nocode plain-text textonly basic"
    ).split()
)
_SAME = {
    "c++": "cpp",
    "c#": "csharp",
    "f#": "fsharp",
    "python3": "python",
    "py3": "python",
    "python2": "python",
    "ipython": "python",
    "ipython3": "python",
    "html-basic": "html",
    "shellscript": "shell",
    "golang": "go",
    "objective-c": "objectivec",
}
_PREFIXED = re.compile(
    r"(?:^|[\s{.])(?:language|lang|highlight-source|highlight-text|source|src|brush|prettyprint-lang|code-lang|syntax|hljs-language)"
    r"[-:]\s*([\w+#.-]+)",
    re.I,
)
_HIGHLIGHT_NAME = re.compile(r"(?:^|\s)(?:highlight|hl|code|codehilite|listing)-([\w+#]+)", re.I)
_HIGHLIGHTERS = re.compile(
    r"(?:^|[\s_-])(?:hljs|highlight|highlighter-rouge|sourcecode|codehilite|prettyprint|prism|shiki|chroma|syntax\w*|code\w*|listing\w*"
    r"|example|src|pre|snippet)(?:$|[\s_-])",
    re.I,
)
_LANGUAGE_ATTRIBUTES = (
    *("data-lang", "data-language", "data-code-language", "data-code-lang", "data-highlight-language", "data-enlighter-language"),
    *("data-canonical-lang", "data-syntax", "data-source-language", "data-programming-language", "syntax", "lang", "language"),
)
DONE = "data-fence"
_CLIMB = 6  # how far above <pre> a highlighter puts its wrapper

_NUMBER_CLASS = re.compile(
    r"(?:^|[\s_-])(?:lineno[s]?|line-?num(?:ber)?s?(?:-rows)?|ln|lnt|lnum|gutter|nums?|hljs-ln-(?:numbers|n)|blob-num|linenodiv|rowno"
    r"|line_?numbers?|react-syntax-highlighter-line-number)(?:$|[\s_-])",
    re.I,
)
_LINE_CLASS = re.compile(
    r"(?:^|\s)(?:line|code-line|token-line|view-line|cm-line|CodeMirror-line|ace_line|ec-line|codeline|loc|row)(?:$|\s)"
)
_POPUP_CLASS = re.compile(r"(?:^|\s)twoslash-(?:popup|meta|completion)-[\w-]+")  # what a pointer over a name would show
_SET_AS_LINE = re.compile(r"display\s*:\s*(?:block|flex|grid|table-row)", re.I)
_CHROME_CLASS = re.compile(
    r"(?:^|[\s_-])(?:copy\w*|clipboard\w*|toolbar|code-?header|btn|button|tooltip|sr-only|visually-hidden)(?:$|[\s_-])", re.I
)
_BLOCKS = frozenset(["div", "p", "li", "tr", "ol", "ul", "figure", "section", "dd", "dt"])
_SKIPPED = frozenset(["button", "script", "style", "svg", "noscript", "textarea", "select"])
_NUMBERS = re.compile(r"[\s\d.:|\u00a0]*")
_TICKS = re.compile("`{3,}")


def rewrite(tree: LexborHTMLParser, source: str) -> None:
    """Every listing becomes one `<pre data-language="...">` with nothing but its text.

    Runs first of all: the wrappers that name the language, and the gutters that number the lines, don't survive selection.
    """
    body = tree.body
    if body is None:
        return
    made_here: set[int] = set()  # the mark is ours to set: a page that sets it is read like any other
    tables = body.css("table")
    if tables and mentions(source, ("<pre", "<code", "blob-code", "crayon-code")):
        for table in tables:
            if len(table.css("table")) > 1:  # a listing holds no table that it could take with it
                continue
            changes = _changes(table)
            if changes or is_listing(table):
                made = tree.create_node("pre")
                _fill(made, changes or text_of(table), "diff" if changes else language_of(table))
                before = table.prev
                parent = table.parent
                table.replace_with(made)
                placed = before.next if before is not None else parent.first_child if parent is not None else None
                if placed is not None:
                    made_here.add(placed.mem_id)
    for inner in body.css("pre > pre"):  # mdBook: a listing that can be run, in one that can't
        outer = inner.parent
        if outer is not None and outer.text(strip=True) == inner.text(strip=True):
            outer.unwrap()
    for node in body.css("pre"):
        if node.mem_id not in made_here and len(node.css("pre")) == 1:
            _fill(node, text_of(node), language_of(node))
    for node in outermost(body, _LISTINGS):
        layers = unique(node, _EDITOR_LAYERS)
        if len(layers) > 1:
            continue
        text, language = text_of(layers[0] if layers else node), language_of(node)
        made = tree.create_node("pre")
        _fill(made, text if layers else textwrap.dedent(text), language)  # Doxygen sets a space behind each line's number
        node.replace_with(made)


def _fill(node: LexborNode, text: str, language: str) -> None:
    while (child := node.first_child) is not None:
        child.remove()
    if text:
        node.insert_child(text)
    bar = _bar_above(node)
    if bar is not None:
        language = language or _normal(_said_without_buttons(bar))
        bar.decompose()
    node.attrs[DONE] = language


def _bar_above(node: LexborNode) -> LexborNode | None:
    """The bar above a listing that says its language, and holds a button or two: the fence says the same."""
    holder: LexborNode | None = node
    for _ in range(3):
        if holder is None or holder.tag in ("body", "article", "main", "section") or _has_other_listing(holder):
            return None
        before = holder.prev
        while before is not None and (before.tag == "button" or (before.is_text_node and not (before.text_content or "").strip())):
            before = before.prev
        if before is not None:
            return before if before.tag in ("div", "span", "header") and _said_without_buttons(before) in _LANGUAGES else None
        holder = holder.parent
    return None


def _said_without_buttons(node: LexborNode) -> str:
    buttons = "".join(button.text() for button in node.css("button"))
    text = node.text()
    return (text.replace(buttons, "") if buttons else text).strip().lower() if len(text) < 80 else ""


def fenced(text: str, language: str) -> str:
    """A fence longer than any inside it."""
    longest = max(map(len, _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def span(text: str) -> str:
    """An inline code span, its ticks longer than any inside (CommonMark 6.1)."""
    text = " ".join(text.split())
    if not text:
        return ""
    longest = max(map(len, re.findall("`+", text)), default=0)
    room = " " if text[0] == "`" or text[-1] == "`" else ""
    ticks = "`" * (longest + 1)
    return f"{ticks}{room}{text}{room}{ticks}"


def is_listing(table: LexborNode) -> bool:
    """A table of two columns, the first with nothing but line numbers, the second with code."""
    rows = table.css("tr")[:4]
    if not rows:
        return False
    for row in rows:
        cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
        if len(cells) != 2 or not _NUMBERS.fullmatch(cells[0].text()):
            return False
        numbers = cells[0].attributes
        numbered = bool(cells[0].text(strip=True)) or "data-line-number" in numbers or _NUMBER_CLASS.search(numbers.get("class") or "")
        coded = cells[1].css_first("pre,code") or re.search(r"(?:^|[\s_-])code", cells[1].attributes.get("class") or "")
        if not (numbered and coded):
            return False
    return True


def _changes(table: LexborNode) -> str:
    """A table of changed lines as a diff: a column for each side's numbers, and the sign of each line in an attribute; else ""."""
    if table.css_first("td.blob-code-addition,td.blob-code-deletion") is None:
        return ""
    lines = []
    for cell in table.css("td.blob-code"):
        signed = cell.css_first("[data-code-marker]") or cell
        lines.append((signed.attributes.get("data-code-marker") or "") + signed.text().strip("\n"))
    return "\n".join(lines)


_EDITOR_LAYERS = ".cm-content,.CodeMirror-code,.view-lines,.ace_text-layer"
_EDITORS = ".monaco-editor,.ace_editor,.CodeMirror,.cm-editor"  # an editor: its lines, and beside them its gutter
_LISTINGS = f"{_EDITORS},{_EDITOR_LAYERS},.notion-code-block [data-content-editable-leaf],div.fragment:has(> div.line)"
_TOKENS = re.compile(r"(?:^|[\s_-])(?:token|hljs|number|num-literal|mi|mf|il|m|kc|constant|literal|nu0)(?:$|[\s_-])")


def _numbered(node: LexborNode) -> set[int]:
    """Elements that number the lines, whatever their class: the first of each row, 1, 2, 3 and so on."""
    found: list[tuple[int, int]] = []
    for row in node.css("div,li,tr,span,p"):
        first = row.first_child
        while first is not None and first.is_text_node and not (first.text_content or "").strip():
            first = first.next
        if first is None or not first.is_element_node or first.next is None:
            continue
        text = first.text(strip=True)
        if text.isdigit() and len(text) < 6 and not _TOKENS.search(first.attributes.get("class") or ""):
            found.append((int(text), first.mem_id))
    return {key for _, key in found} if is_sequence([number for number, _ in found]) else set()


def text_of(node: LexborNode) -> str:
    """The text of a listing as a person would copy it."""
    if node.tag == "pre" and (layer := node.css_first(_EDITOR_LAYERS)) is not None:
        node = layer
    numbered = _numbered(node)
    out: list[str] = []
    swallow = False  # a line element has just ended: the newline written behind it is the same one
    stack = [(node.iter(include_text=True), -1)]
    while stack:
        children, started = stack[-1]
        for child in children:
            tag = child.tag
            if tag == "-text":
                text = child.text_content or ""
                if swallow and text.startswith("\n"):
                    text = text[1:]
                swallow = swallow and not text
                out.append(text)
                continue
            if tag == "br":
                if not swallow:
                    out.append("\n")
                swallow = False
                continue
            names = child.attributes.get("class") or ""
            if tag in _SKIPPED or child.mem_id in numbered or _is_chrome(child, names):
                continue
            is_line = tag in _BLOCKS or _is_named_line(names) or _is_set_as_line(child)
            if is_line and out and not _ends_line(out):
                out.append("\n")
            swallow = False
            stack.append((child.iter(include_text=True), len(out) if is_line else -1))
            break
        else:
            stack.pop()
            if started >= 0:
                if not any(out[started:]) or not _ends_line(out):
                    out.append("\n")
                swallow = True
    return _trimmed("".join(out))


def _is_named_line(names: str) -> bool:
    """Prism sets the text behind the sign of a changed line as a token, `token line`."""
    return bool(names) and _LINE_CLASS.search(names) is not None and "token" not in names.split()


def _is_set_as_line(node: LexborNode) -> bool:
    """An inline element that a style, or a twin right beside it, makes a line of its own."""
    if node.tag == "code":
        parent = node.parent
        return (
            parent is not None and parent.tag == "pre" and any(twin is not None and twin.tag == "code" for twin in (node.next, node.prev))
        )
    return bool(_SET_AS_LINE.search(node.attributes.get("style") or ""))


def _ends_line(out: list[str]) -> bool:
    for piece in reversed(out):
        if piece:
            return piece.endswith("\n")
    return True


def _trimmed(text: str) -> str:
    """Blank lines around a listing are the markup's, everything inside is the author's."""
    text = text.replace("\u00a0", " ")
    text = re.sub(r"\A(?:[ \t]*\n)+", "", text)
    return re.sub(r"\s+\Z", "", text)


def _is_chrome(node: LexborNode, names: str) -> bool:
    """Line numbers, and the buttons a page puts into its listings."""
    tag = node.tag
    if names:
        if _POPUP_CLASS.search(names):
            return True
        if _NUMBER_CLASS.search(names) and _NUMBERS.fullmatch(node.text()):
            return True
        if _CHROME_CLASS.search(names) and tag != "code" and "\n" not in node.text().strip():
            return True
    if tag == "td":
        return bool(_NUMBERS.fullmatch(node.text())) and node.next is not None and not (node.prev and node.prev.tag == "td")
    attributes = node.attributes
    if "data-line-number" in attributes or "data-linenumber" in attributes:
        return bool(_NUMBERS.fullmatch(node.text())) and tag != "div"
    return attributes.get("aria-hidden") == "true" and bool(_NUMBERS.fullmatch(node.text())) and bool(node.text(strip=True))


def language_of(node: LexborNode) -> str:
    """The language a listing's own markup, or that of its wrappers, names; "" when none does."""
    candidates = [*(node.css("code,pre,[data-lang],[data-language]")[:6] if node.tag != "code" else []), node]
    own = len(candidates)
    parent = node.parent
    for _ in range(_CLIMB):
        if parent is None or parent.tag in ("body", "html", "article", "main") or _has_other_listing(parent):
            break
        candidates.append(parent)
        parent = parent.parent
    for depth, candidate in enumerate(candidates):
        if found := _named_by(candidate, close=depth < own):
            return "" if found in _NOT_A_LANGUAGE else found
    return _labelled(node)


def _labelled(node: LexborNode) -> str:
    """The language a bar above the listing shows, where no markup names it."""
    holder = node if node.tag == "pre" and node.css_first(_EDITOR_LAYERS) is not None else node.parent
    for _ in range(2):
        if holder is None or holder.tag in ("body", "article", "main", "section") or _has_other_listing(holder):
            return ""
        labels = (
            holder.css("[class*=lang],[class*=Lang],[class*=header],[class*=title],[class*=label]")
            if holder is not node
            else holder.css("div,span")
        )
        for label in labels[:40]:
            text = label.text(strip=True).lower()
            if 1 < len(text) < 20 and text in _LANGUAGES:
                return _normal(text)
        holder = holder.parent
    return ""


def _has_other_listing(node: LexborNode) -> bool:
    """A wrapper of two listings says nothing about one of them, unless one of them is the gutter, or holds the other."""
    listings = [listing for listing in node.css("pre")[:6] if not _NUMBERS.fullmatch(listing.text())]
    return sum(1 for listing in listings if not any(inner.mem_id != listing.mem_id for inner in listing.css("pre"))) > 1


def _named_by(node: LexborNode, *, close: bool) -> str:
    attributes = node.attributes
    for name in _LANGUAGE_ATTRIBUTES:
        value = (attributes.get(name) or "").strip().lower()
        human = name in ("lang", "language", "syntax")  # on a wrapper, `lang="pl"` is Polish and not Perl
        if value and (not human or (close and value in _LANGUAGES)) and (found := _normal(value)):
            return found
    names = " ".join(filter(None, (attributes.get("class"), attributes.get("data-syntaxhighlighter-params"))))
    if not names:
        return ""
    for match in _PREFIXED.finditer(names):
        if found := _normal(match[1]):
            return found
    for match in _HIGHLIGHT_NAME.finditer(names):
        if match[1].lower() in _LANGUAGES | _NOT_A_LANGUAGE:
            return _normal(match[1])
    if close or _HIGHLIGHTERS.search(names):
        for token in names.lower().split():
            if token in _LANGUAGES and (len(token) > 1 or _HIGHLIGHTERS.search(names)):
                return _normal(token)
    return ""


def _normal(name: str) -> str:
    name = name.strip(" .;,\"'{}").lower()
    for prefix in ("source-", "text-", "language-", "lang-"):
        name = name.removeprefix(prefix)
    if name.startswith("diff-"):  # Prism's `diff-js`: changes, and what they are changes of
        name = "diff"
    if not re.fullmatch(r"[\w+#.-]{1,30}", name) or name.isdigit():
        return ""
    return _SAME.get(name, name)


def is_sequence(numbers: list[int]) -> bool:
    """1, 2, 3: line numbers and not data."""
    return len(numbers) > 1 and all(later == earlier + 1 for earlier, later in pairwise(numbers))
