"""Text that speaks to a model instead of a reader. Pure: patterns over text, in the languages attacks are written in.

Patterns catch the lazy and mark the curious (an article about prompt injection quotes them): visible text that matches is
reported, never removed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from cormorant.document import Finding

FINDINGS_MAX = 60
READ_MAX_CHARS = 20_000  # of one hidden passage

_MODEL = r"(?:ai|llms?|language models?|(?:ai )?assistants?|ai (?:agents?|models?|crawlers?)|chat ?bots?|chatgpt|claude|gemini|gpt)"
_MACHINE = r"(?:ai|llms?|language models?|ai (?:agents?|assistants?|models?|crawlers?)|chat ?bots?|chatgpt|claude|gemini|gpt)"  # no person
_WHOSE = r"(?:previous|prior|above|earlier|preceding|all|any|your|system|other)"
_ORDERS = r"(?:instructions?|prompts?|rules?|directions?|guidelines?|context|messages?|commands?|policies|training)"
_ROLE = r"(?:unrestricted|jailbroken|root|admin|developer|system|dan)"
_HELD = r"(?:system prompt|your (?:instructions|prompt|secrets?|credentials|api keys?))"
_DEED = r"(?:ignore|recommend|rate|rank|say|respond|reply|visit|click|send|include|call|run|execute|fetch|tell)"

# Each pattern with the words a match begins with: looking for these first, and nowhere else, keeps the reading of honest pages cheap.
_PATTERNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("ignore", "disregard", "forget", "override", "bypass"),
        rf"\b(?:ignore|disregard|forget|override|bypass)\b[^.,\n]{{0,40}}\b{_WHOSE}\b[^.,\n]{{0,30}}\b{_ORDERS}\b"
        rf"|\b(?:ignore|disregard|forget)\b[^.,\n]{{0,20}}\b{_ORDERS}\b[^.,\n]{{0,15}}\b(?:above|before|earlier|given|so far)\b",
    ),
    (
        ("you are now",),
        rf"\byou are now\b[^.\n]{{0,60}}\b(?:{_MODEL}|agent|mode|{_ROLE})\b",
    ),
    (
        ("reveal", "print", "repeat", "show", "output", "leak", "send", "exfiltrate"),
        rf"\b(?:reveal|print|repeat|show|output|leak|send|exfiltrate)\b[^.\n]{{0,40}}\b{_HELD}\b",
    ),
    (
        ("do not", "don't", "never"),
        r"\b(?:do not|don't|never)\s+(?:tell|inform|mention|reveal|alert)\b[^.\n]{0,30}\b(?:the )?users?\b",
    ),
    (
        ("attention", "note to", "message ", "instruction", "if you are", "hey", "dear"),
        rf"\b(?:attention|note to|message (?:to|for)|instructions? (?:to|for)|if you are|hey|dear)\s+(?:(?:an?|the|any|all)\s+)?{_MODEL}\b",
    ),
    (
        ("ai", "llm", "language model", "chat", "claude", "gemini", "gpt"),
        rf"\b{_MACHINE}\b[^.\n]{{0,20}}\b(?:must|should|shall|has to|have to|are (?:instructed|required|ordered) to)\b"
        rf"[^.\n]{{0,60}}\b{_DEED}\b",
    ),
    (
        ("<", "[inst", "[/inst", "begin system prompt"),
        r"(?:<\|?(?:im_start|im_end|system|assistant|endoftext|start_header_id)\|?>|\[/?INST\]|<</?SYS>>|\bBEGIN SYSTEM PROMPT\b)",
    ),
    (
        ("new", "updated", "important", "urgent", "hidden", "real", "actual"),
        rf"\b(?:new|updated|important|urgent|hidden|real|actual)\s+(?:system\s+)?instructions?"
        rf"\s*(?::|for (?:(?:the|any|all)\s+)?{_MODEL}\b)",
    ),
    (
        ("call", "use", "invoke", "run", "execute"),
        r"\b(?:call|use|invoke|run|execute)\b[^.\n]{0,20}\b\w+\s+(?:tool|function)\b"
        r"[^.\n]{0,80}\b(?:passwords?|tokens?|secrets?|api keys?|cookies?|credentials?)\b",
    ),
    (
        ("act", "behave", "respond", "pretend"),
        rf"\b(?:act|behave|respond|pretend)\s+as\s+(?:if you (?:are|were)\s+)?(?:(?:an?|the)\s+)?{_ROLE}\b",
    ),
    (
        ("as a",),
        rf"\bas an? {_MODEL}\b[^.\n]{{0,40}}\byou (?:must|should|will|need)\b",
    ),
    (
        ("ignor", "vergiss", "oubliez", "olvida", "dimentica", "negeer"),
        r"\b(?:ignoriere|ignorieren sie|vergiss|ignorez|oubliez|ignora|olvida|ignore|dimentica|negeer)\b[^.\n]{0,40}"
        r"\b(?:anweisungen|instructions|instrucciones|instruções|istruzioni|instructies)\b",
    ),
    (
        ("игнорируй", "забудь", "не обращай"),
        r"(?:игнорируй(?:те)?|забудь(?:те)?|не обращай(?:те)? внимания)[^.\n]{0,50}(?:инструкци|указани|команд)",
    ),
    (
        ("忽略", "无视", "無視", "忽視", "忘记", "忘記"),
        r"(?:忽略|无视|無視|忽視|忘记|忘記)[^。\n]{0,20}(?:指令|指示|提示|说明|說明)",
    ),
    (
        ("指示", "命令", "プロンプト"),
        r"(?:指示|命令|プロンプト)[^。\n]{0,12}(?:無視|忘れ)",
    ),
    (
        ("지시", "명령", "프롬프트"),
        r"(?:지시|명령|프롬프트)[^.\n]{0,16}(?:무시|잊)",
    ),
    (
        ("تجاهل",),
        r"تجاهل[^.\n]{0,40}(?:التعليمات|الأوامر)",
    ),
)
_ASCII_PATTERNS = tuple((words, pattern) for words, pattern in _PATTERNS if words[0].isascii())
# A role that speaks, at the start of a line: the words stand behind what marks the line.
_SPEAKERS = ("system", "assistant", "developer")
_SPEAKING = (
    r"(?m:^[^\w\n]{0,4}(?:system|assistant|developer (?:prompt|message|note))"
    r"\s*(?:prompt|message|instruction|override|note)?\s*:\s+\S)"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when a text first holds one of its words."""
    return re.compile(pattern, re.I)


def finding(kind: str, text: str, span: tuple[int, int] | None = None, note: str = "") -> Finding:
    """A finding about a text; the text itself is only hashed."""
    return Finding(kind, span, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), note)


def instructs(text: str, *, whole: bool = False) -> bool:
    """Whether a text reads like an instruction to a model. Only its beginning is read unless `whole`."""
    return len(text) > 8 and next(_matches(text if whole else text[:READ_MAX_CHARS]), None) is not None


def suspicious(markdown: str) -> list[Finding]:
    """Visible text that reads like an instruction to a model: kept where it stands, with its span in the Markdown."""
    spans: list[tuple[int, int]] = []
    for match in sorted(_matches(markdown), key=lambda match: match.span()):
        if not spans or match.start() >= spans[-1][1]:
            spans.append(match.span())
    return [finding("instruction", markdown[start:end], (start, end)) for start, end in spans[:FINDINGS_MAX]]


def _matches(text: str) -> Iterator[re.Match[str]]:
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose small form is longer: places would shift
        lowered = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    for words, pattern in _PATTERNS if not text.isascii() else _ASCII_PATTERNS:
        yield from islice(_beginning(words, pattern, text, lowered), FINDINGS_MAX)
    if any(word in lowered for word in _SPEAKERS):
        yield from islice(_compiled(_SPEAKING).finditer(text), FINDINGS_MAX)


def _beginning(words: tuple[str, ...], pattern: str, text: str, lowered: str) -> Iterator[re.Match[str]]:
    """What `finditer` would find, tried at the places of the words alone: a search that minds no case looks at every letter."""
    end = 0
    for at in sorted(at for word in words for at in _places(word, lowered)):
        if at >= end and (found := _compiled(pattern).match(text, at)):
            end = found.end()
            yield found


def _places(word: str, lowered: str) -> Iterator[int]:
    at = lowered.find(word)
    while at >= 0:
        yield at
        at = lowered.find(word, at + 1)
