"""What kind of sentence a question wants: one that defines its subject, or steps and the commands for them. Pure.

Told by the form of the question in a dozen languages; a question whose form is not known wants whatever bears on it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cormorant import words

SUBJECT_WORDS = 4  # a longer subject is a question about something, not for what it is

_ARTICLE = r"(?:(?:an?|the|der|die|das|eine?|el|la|los|las|une?|una?|le|les|l['’]|il|lo)\s+)?"
_DEFINES = re.compile(
    rf"(?:(?:what|who) (?:is|are|was|were|does) {_ARTICLE}(?P<en>.+?)(?: (?:mean|do))?"
    rf"|(?:was|wer) (?:ist|sind|war|waren|bedeutet) {_ARTICLE}(?P<de>.+)"
    rf"|¿?(?:qu[eé]|qui[eé]n) (?:es|son|fue|fueron|significa) {_ARTICLE}(?P<es>.+)"
    rf"|qu['’]est[- ]ce qu(?:e |['’]){_ARTICLE}(?P<fr>.+)|qui (?:est|était|sont) {_ARTICLE}(?P<qui>.+)"
    rf"|(?:che cos['’]?\s?[èe]|cos['’]è|chi (?:è|era)) {_ARTICLE}(?P<it>.+)"
    r"|(?:что|кто) так(?:ое|ой|ая|ие) (?P<ru>.+)|(?P<tr>.+?) (?:nedir|kimdir)"
    r"|(?:什么是|何謂|甚麼是)(?P<zh>.+)|(?P<ja>.+?)(?:是什么|是誰|是谁|とは何ですか|とは))\s*[?？؟]*\s*",
    re.IGNORECASE,
)
_STEPS = re.compile(
    r"\bhow (?:do|can|could|should|to|would)\b|\b(?:which|what) (?:command|option|flag|setting)\b"
    r"|\bwie (?:kann|erstelle|mache?|installier|\w+ (?:ich|man))\b|\bc[oó]mo (?:puedo|se|\w+o)\b"
    r"|\bcomment (?:\w+er|puis-je|on|faire)\b|\bcome (?:posso|si|\w+re)\b|\bкак (?:мне |можно |\w+ть\b)|\bnasıl\b"
    r"|如何|怎么|怎樣|怎样|どうやって|方法",
    re.IGNORECASE,
)
# What joins a subject to what it is, in the languages where a short word or a sign does.
_IS = re.compile(
    r"[\s`*\"'”’]*(?:\([^()]{0,80}\))?[\s`*\"'”’]*(?:is|are|was|were|means?|refers|ist|sind|war|waren|bedeutet|es|son|fue|est|sont|était"
    r"|è|era|sono|[—–:-]|это|является|是|とは)(?:\W|$)",
    re.IGNORECASE,
)
_BEFORE = re.compile(rf"[\W_]*{_ARTICLE}[\W_]*", re.IGNORECASE)


@dataclass(frozen=True)
class Wanted:
    """`subject` is what a definition is asked of, as folded words; empty where the question asks something else."""

    subject: tuple[str, ...] = ()
    steps: bool = False

    def defined_by(self, said: str) -> float:
        """0..1: how much a sentence reads as the definition: it opens with the subject, and says what that is."""
        if not self.subject:
            return 0.0
        at = _BEFORE.match(said)
        rest = said[at.end() :] if at else said
        opening = [(found.group(), found.end()) for found in re.finditer(r"\w+", rest[:200])][: len(self.subject)]
        if [_stem(word) for word, _ in opening] != [_stem(word) for word in self.subject]:
            return 0.0
        return 1.0 if _IS.match(rest[opening[-1][1] :]) else 0.3


def wanted(question: str) -> Wanted:
    """What kind of sentence answers the question."""
    found = _DEFINES.fullmatch(question.strip())
    subject = next((part for part in found.groups() if part), "") if found else ""
    said = re.findall(r"\w+", subject)
    return Wanted(tuple(said) if len(said) <= SUBJECT_WORDS else (), bool(_STEPS.search(question)))


def _stem(word: str) -> str:
    return words.stem(words.folded(word))
