"""What is indexed of a text and what is looked for: folding, scripts without spaces, pieces, questions. Pure.

Scripts that write no spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) and Korean, which glues particles to words,
are cut into overlapping pairs of characters, so that whatever a person types stands in the index, whichever word
borders a dictionary would have drawn. The last character of a run stands alone as well, so that one character is found
as the beginning of a pair. Everything else is left to SQLite's own tokenizer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from cormorant.document import sections_of

FOLD_VERSION = "1"  # an index folded by another version is folded again when it is opened
PIECE_WORDS = 220  # about 300 tokens: a heading's worth of text, small enough that a long page does not drown
PIECE_MIN_WORDS = 40
PARTS_MAX = 10  # phrases, exclusions and titles of one question, of each: SQLite's parser has a stack
WORDS_MAX = 300
WORD_MAX_CHARS = 200

_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b6-\u17d3"  # of Thai, Lao, Burmese, Khmer
UNSPACED = re.compile(
    "[\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)
_CLUSTER = re.compile(f".[{_MARKS}]*", re.DOTALL)
# Vowel points and cantillation of Hebrew, harakat and tatweel of Arabic, loose accents: written or not, the word is the same.
_POINTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u200b-\u200f\u00ad]"
)
_ARTICLE = re.compile(r"(?<!\w)[وبفك]?ال(?=\w{3})")  # the Arabic article and the particles written onto it
_ARABIC = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ı": "i"})


def folded(text: str) -> str:
    """The text as the index holds it."""
    if text.isascii():
        return text
    return UNSPACED.sub(lambda run: f" {' '.join(pairs(run[0]))} ", _plainer(text))


def _plainer(text: str) -> str:
    text = _POINTS.sub("", unicodedata.normalize("NFKC", text).translate(_ARABIC)).casefold()
    return _ARTICLE.sub("", text) if "ال" in text else text


def pairs(run: str, *, tail: bool = True) -> list[str]:
    """Overlapping pairs of a run of characters; with `tail` the last one alone as well."""
    marks = _CLUSTER.findall(run)
    found = [first + second for first, second in pairwise(marks)]
    return found + marks[-1:] if tail or len(marks) == 1 else found


# Words a question is built with. They help nobody find anything while other words are there.
COMMON = frozenset(
    """
    a about many few after all also am an and any are as at be been before being between both but by can could did do does doing don't else
    ever every for from get had has have having he her him his how i if in into is isn't it its just let like may me might more most
    much must my no not of off on one only or other our out over own please same shall she should so some such tell than that the
    their them then there these they this those to too under until up us use used using very was we were what when where which while
    who whom whose why will with within without would you your der die das ein eine einer eines und oder ist sind war wie wo wann
    warum wer mit von zu im den dem des auf für nicht auch sich es el la los las un una unos unas y o son fue como qué que cuándo
    dónde por para con de del en al se su lo le les une et ou est sont comment quand où pourquoi qui avec pour dans sur du au aux ne
    pas ce cette il gli uno e è sono come cosa quando dove perché chi per nel della di da che non os um uma é são onde porque quem
    com em na het een zijn hoe wat waar wanneer waarom met van op voor niet и в на не что как где когда почему кто это с по для из
    от к у о а но ve bir bu nasıl nerede zaman kim ile için mi mı في من على إلى ما كيف أين متى لماذا هو هي هذا عن
    """.split()  # noqa: SIM905 - a list of words reads as words
)
# Python's `\w` leaves out the vowel signs of Indic and South-East Asian scripts; SQLite is told above not to.
_MARKED = r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
_W = rf"\w{_MARKED}\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"[{_W}][{_W}'’]*(?:[-./:+#][{_W}]+)*[+#]*")
_ASKED = re.compile(r'(?P<minus>-)?(?:(?P<field>site|intitle|title|host):)?(?:"(?P<phrase>[^"]+)"|(?P<word>[^\s"]+))', re.IGNORECASE)
ENDING = 5  # letters that may follow a stem
_SUFFIX = re.compile(r"(?:ations?|ings?|edly|ed|ies|ly|ers?|es|e|s|y)$")


@dataclass(frozen=True)
class Asked:
    """A question as the index understands it. `terms` and `phrases` are folded; `words` are as typed, for snippets."""

    terms: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()  # host patterns, a leading `-` excludes
    words: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()  # neighbours written as one word: `task group` also finds TaskGroup


def asked(text: str) -> Asked:
    """Read what a person or a model typed: words, "phrases", -exclusions, site: and intitle:."""
    text = text.encode("utf-8", "replace").decode().replace("\0", " ")
    phrases: list[str] = []
    excluded: list[str] = []
    titles: list[str] = []
    domains: list[str] = []
    plain: list[str] = []
    for part in _ASKED.finditer(text):
        said = part["phrase"] or part["word"]
        name = (part["field"] or "").lower()
        if name in ("site", "host"):
            domains.append(("-" if part["minus"] else "") + said)
        elif not _WORD.search(said):
            continue
        elif part["minus"] and (part.start() == 0 or text[part.start() - 1].isspace()):
            excluded.append(_as_phrase(said))
        elif name:
            titles.append(_as_phrase(said))
        elif part["phrase"]:
            phrases.append(_as_phrase(said))
        else:
            plain.append(said)
    phrases, excluded, titles = phrases[:PARTS_MAX], excluded[:PARTS_MAX], titles[:PARTS_MAX]
    words = [found[0] for said in plain[:WORDS_MAX] for found in _WORD.finditer(said[:WORD_MAX_CHARS])]
    telling = [
        word for word in words if word.lower().replace("’", "'") not in COMMON and (len(word) > 1 or not word.isascii() or len(words) == 1)
    ]
    kept = telling or words
    terms = list(dict.fromkeys(term for word in kept for term in _terms_of(word)))
    joined = [a + b for a, b in pairwise(kept) if a.isascii() and b.isascii() and a.isalnum() and b.isalnum() and len(a) + len(b) < 30]
    shown = [word for word in kept if word] + [
        phrase["phrase"] for phrase in _ASKED.finditer(text) if phrase["phrase"] and not phrase["minus"]
    ]
    return Asked(tuple(terms), tuple(phrases), tuple(excluded), tuple(titles), tuple(domains), tuple(shown), tuple(joined))


def _as_phrase(said: str) -> str:
    """A phrase whose words follow each other; pairs of an unspaced run do so in the index too."""
    if said.isascii():
        return said
    return UNSPACED.sub(lambda run: f" {' '.join(pairs(run[0], tail=False))} ", _plainer(said)).strip()


def _terms_of(word: str) -> list[str]:
    return _as_phrase(word).split() or [word]


def quoted(term: str) -> str:
    """A term as FTS5 reads it literally. One character of an unspaced script is looked for as the start of a pair."""
    literal = '"' + term.replace('"', '""').replace("\0", "") + '"'
    return literal + "*" if len(_CLUSTER.findall(term)) == 1 and UNSPACED.fullmatch(term) else literal


def forms(term: str) -> str:
    """A term with the forms SQLite's English stemmer does not know: words of other scripts by their beginning."""
    stem = stem_of(term)
    if stem == term or term.isascii():
        return quoted(term)
    return f"({quoted(term)} OR {quoted(stem)}*)"


@lru_cache(maxsize=256)
def finder(words: tuple[str, ...]) -> re.Pattern[str] | None:
    """Where any of the words, or a form of it, stands in a text (not folded)."""
    forms = []
    for word in words:
        for run in UNSPACED.findall(word):
            forms += [re.escape(run), *(re.escape(pair) for pair in pairs(run, tail=False))]
        rest = UNSPACED.sub("", word).strip()
        if rest:
            stem = stem_of(rest)
            ending = rf"[^\W\d_]{{0,{ENDING}}}" if stem.isalpha() and len(stem) > 2 else ""
            forms.append(rf"(?<!\w){re.escape(stem)}{ending}(?!\w)")
    return re.compile("|".join(dict.fromkeys(forms)), re.IGNORECASE) if forms else None


@lru_cache(maxsize=4096)
def stem_of(word: str) -> str:
    """A plain English word without its ending, a longer word of another script without its last two letters."""
    if not word.isascii():
        return word[: max(4, len(word) - 2)] if word.isalpha() and len(word) > 4 and not UNSPACED.search(word) else word
    stem = _SUFFIX.sub("", word) if word.isalpha() and len(word) > 4 else word
    return stem if len(stem) >= 3 else word


def comparable(text: str) -> str:
    """The text in the form in which words are looked for by `places`: case, accents and vowel points do not count."""
    if text.isascii():
        return text.lower()
    text = _POINTS.sub("", unicodedata.normalize("NFKD", text.translate(_ARABIC)).casefold())
    return _ARTICLE.sub("", text) if "ال" in text else text


def places(text: str, term: str, most: int = 20) -> list[int]:
    """Where a term, or a form of it, stands in a comparable text. Plain searching: a pattern takes ten times as long."""
    unspaced = bool(UNSPACED.search(term))
    stem = comparable(stem_of(term))
    loose = ENDING if stem.isalpha() and len(stem) > 2 else 0
    found: list[int] = []
    at = text.find(stem)
    while at >= 0 and len(found) < most:
        end = at + len(stem)
        if unspaced:
            found.append(at)
        elif not (at and text[at - 1].isalnum()):
            stop = end
            while stop < len(text) and stop - end <= loose and text[stop].isalnum():
                stop += 1
            if stop == len(text) or not text[stop].isalnum():
                found.append(at)
        at = text.find(stem, end)
    return found


@dataclass(frozen=True)
class Piece:
    """A stretch of a document that is found by itself: its heading path, its plain text, how much of it is links or a list of names."""

    heading: str
    text: str
    links: float


_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_RULES = re.compile(r"^(?:[ \t]*(?:```|~~~).*|[ \t:|*_-]+)$", re.MULTILINE)
_HEAD = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|>+[ \t]?|[-*+][ \t]+)", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*(?:[-*+][ \t]+)+\S")
_NOISE = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|\\(?=[\\`*_{}\[\]()#+.!|<>~&-])|¶")
_NOTICE = re.compile(r"\A(?:\[document(?: warning)?: [^\n]*\]\n*)+")  # what the reader of a document says of it, not the document
_MARKS_IN = re.compile(r"[*`_\\|¶]")


def plain(markdown: str) -> str:
    """The words of a piece of Markdown without its marks, one block a line."""
    text = _LINK.sub(r"\1", markdown) if "](" in markdown else markdown
    text = _HEAD.sub("", _RULES.sub("", text))
    if _MARKS_IN.search(text):
        text = _NOISE.sub("", text).replace("|", " ")
    return "\n".join(line for line in map(str.strip, text.split("\n")) if line)


def pieces(markdown: str, title: str) -> Iterator[Piece]:
    """The document cut at its headings, long parts at their blocks, tiny neighbours joined."""
    markdown = _NOTICE.sub("", markdown)
    waiting: list[str] = []
    heads: list[str] = []
    for head, text in _parts(markdown, title):
        cut = _cut(text)
        if waiting and (len(cut) != 1 or sum(map(_size, waiting)) + _size(cut[0]) > PIECE_WORDS):
            yield _piece(heads, waiting)
            waiting, heads = [], []
        for stretch in cut[:-1]:
            yield _piece([head], [stretch])
        waiting += cut[-1:]
        heads += [name for name in head.split(" / ") if name and name not in heads]
        if cut and sum(map(_size, waiting)) >= PIECE_MIN_WORDS:
            yield _piece(heads, waiting)
            waiting, heads = [], []
    if waiting or heads or not markdown.strip():
        yield _piece(heads, waiting)


def _cut(text: str) -> list[str]:
    """A part's blocks in stretches of a piece's size; a short rest stays with the stretch before it."""
    stretches: list[list[str]] = []
    size = PIECE_WORDS
    for block in _blocks(text):
        if size + _size(block) > PIECE_WORDS:
            stretches.append([])
            size = 0
        stretches[-1].append(block)
        size += _size(block)
    if len(stretches) > 1 and size < PIECE_MIN_WORDS:
        rest = stretches.pop()
        stretches[-1] += rest
    return ["\n\n".join(stretch) for stretch in stretches]


def _piece(heads: list[str], blocks: list[str]) -> Piece:
    markdown = "\n\n".join(blocks)
    linked = sum(len(link[1]) for link in _LINK.finditer(markdown)) if "](" in markdown else 0
    text = plain(markdown)
    return Piece(" / ".join(heads).replace("\n", " "), text, max(_listed(markdown), min(1.0, linked / (len(text) or 1))))


def _listed(markdown: str) -> float:
    """How much of a piece is a long list of names, as tables of contents and indexes are: their links may be gone."""
    lines = [line for line in markdown.split("\n") if line.strip()]
    names = [line for line in lines if len(line) < 90 and _ITEM.match(line) and line.rstrip()[-1] not in ".!?;:。"]
    return 0.9 * len(names) / len(lines) if len(names) >= 12 else 0.0


def _parts(markdown: str, title: str) -> Iterator[tuple[str, str]]:
    """Heading path and text under it, headings of their own parts left out of the text."""
    lines = markdown.split("\n")
    found = sections_of(markdown)
    if not found or found[0].start > 0:
        yield "", "\n".join(lines[: found[0].start] if found else lines)
    path: list[tuple[int, str]] = []
    for n, section in enumerate(found):
        path = [step for step in path if step[0] < section.level] + [(section.level, plain(section.heading))]
        end = found[n + 1].start if n + 1 < len(found) else len(lines)
        names = [name for _, name in path if name != title]
        yield " / ".join(names[-2:]), "\n".join(lines[section.start + 1 : end])


def _blocks(text: str) -> Iterator[str]:
    """Blocks of a part, none longer than a piece: what is longer is cut at lines, then at words."""
    for block in re.split(r"\n{2,}", text):
        if not block.strip():
            continue
        if _size(block) <= PIECE_WORDS:
            yield block
            continue
        waiting: list[str] = []
        size = 0
        for line in block.split("\n"):
            for stretch in _stretches(line):
                if waiting and size + _size(stretch) > PIECE_WORDS:
                    yield "\n".join(waiting)
                    waiting, size = [], 0
                waiting.append(stretch)
                size += _size(stretch)
        if waiting:
            yield "\n".join(waiting)


def _stretches(line: str) -> Iterator[str]:
    if _size(line) <= PIECE_WORDS:
        yield line
        return
    step = PIECE_WORDS * 6
    start = 0
    while start < len(line):
        end = start + step
        border = max(line.rfind(mark, start + step // 2, end) for mark in (" ", "。", "，", "、")) if end < len(line) else -1
        end = border + 1 if border > start else end
        yield line[start:end]
        start = end


def _size(text: str) -> int:
    """About how many words: spaces count them, and six characters do where a script writes none."""
    return max(text.count(" ") + 1, len(text) // 12)


def snippet(text: str, words: tuple[str, ...], *, chars: int = 300) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The stretch of the text where most of the different words stand, and where they stand in it."""
    pattern = finder(words)
    hits = [(m.start(), m.end(), m[0].lower()) for m in pattern.finditer(text)] if pattern else []
    start = _best_start(hits, chars) if hits else 0
    start = max(0, min(start - chars // 5, len(text) - chars))
    start, end = _to_borders(text, start, min(len(text), start + chars))
    cut = re.sub(r"\s", " ", text[start:end])
    head, tail = ("… " if start else ""), (" …" if end < len(text) else "")
    shift = len(head) - start
    return head + cut + tail, tuple((a + shift, b + shift) for a, b, _ in hits if start <= a and b <= end)


def _best_start(hits: list[tuple[int, int, str]], chars: int) -> int:
    best, best_score, low = hits[0][0], -1.0, 0
    for high, hit in enumerate(hits):
        while hit[1] - hits[low][0] > chars * 3 // 4:
            low += 1
        inside = hits[low : high + 1]
        score = len({word[:5] for _, _, word in inside}) + 0.1 * len(inside)
        if score > best_score:
            best, best_score = hits[low][0], score
    return best


def _to_borders(text: str, start: int, end: int) -> tuple[int, int]:
    """Moved to the nearest border of a sentence, or else of a word."""
    if start:
        near = re.search(r"[.!?。！？\n]\s*", text[max(0, start - 60) : start + 40])
        space = text.find(" ", start, start + 25)
        start = max(0, start - 60) + near.end() if near else space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", end - 25, end)
        end = space if space > start else end
    return start, end
