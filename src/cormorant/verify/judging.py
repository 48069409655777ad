"""Coverage and fences joined into one score and a ruling. Pure.

The score is a sum of explainable parts, fitted by hand on public sets of checked claims (claims of Wikipedia sentences
against the pages they cite, dialogue replies against their knowledge, page sentences with a changed number, name or
negation); bench/verify_quality.py measures it there against simpler ways.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import exp

from cormorant.verify.alignment import Alignment, Difference, laid_against
from cormorant.verify.coverage import Claim, Coverage, claim_of, coverage, ordered_run
from cormorant.verify.fences import differences
from cormorant.verify.lexicon import PERSONAL
from cormorant.verify.reading import Page, clean, page
from cormorant.verify.verdict import Ruling, Verdict

FIGURES = ("number", "date", "unit")
# What speaks for a claim. Coverage alone (the mean of anywhere, around the best sentence, in a few places) is 1.0 at most.
IN_PAIRS = 0.1  # neighbouring words that are together on the page too
IN_ONE_RUN = 0.2  # the longest stretch taken word by word
IN_ORDER = 0.1  # the same words in the same order
FIGURES_AGREE = 0.06  # it has figures, and the page has them all
# What speaks against it, each.
FIGURE_OTHER, FIGURE_MISSING = 0.25, 0.1
NAME_OTHER, NAME_MISSING = 0.2, 0.05
TURNED = 0.5  # denied, or more for less
TALK = 0.1  # a word of the speaker about himself that the page does not have; three count at most
QUESTION = 0.1
COUNTED = 2  # differences of one sort that count
# A raw sum of MIDDLE is an even chance; it doubles its odds every SLOPE * ln 2.
MIDDLE, SLOPE = 0.72, 0.11
HOLDS = 0.5  # from this score on a claim without a difference is close
ABOUT = 0.4  # how far the page must carry a claim to contradict it
ALONE = 0.7  # a sentence that carries this much is quoted alone
LEAST = 0.15  # under this share of the claim no sentence is worth quoting
FALLEN = 0.35  # the most a contradicted claim can score


def judge(text: str, index: int, source: str) -> Verdict:
    """The verdict on one claim."""
    claim, read = claim_of(clean(text)), page(source)
    if not claim.tokens or not read.sentences:
        return Verdict(text, index, "unsupported", 0.0, None, "", "nothing to compare")
    found = coverage(claim, read)
    against = differences(found)
    if found.best is None:
        objections = _objections(against, source)
        return Verdict(text, index, "unsupported", 0.0, None, "", "the page says nothing of this", objections)
    aligned = laid_against(found)
    score = 1 / (1 + exp(-(_raw(found, aligned, against) - MIDDLE) / SLOPE))
    verbatim = _verbatim(claim, read) is not None
    ruling = _ruling(found, against, score, verbatim=verbatim)
    score = _settled(ruling, score)
    span: tuple[int, int] | None = _span(claim, found, aligned, verbatim=verbatim)
    if ruling == "unsupported" and found.share(None) < LEAST:
        span = None
    quote = source[span[0] : span[1]] if span else ""
    reason = _reason(ruling, against, found)
    return Verdict(text, index, ruling, round(score, 6), span, quote, reason, _objections(against, quote or source))


def _objections(against: Sequence[Difference], said: str) -> tuple[str, ...]:
    """What no judge may overrule: every difference but a name that is not there in its own script, and the page is in another."""
    elsewhere = [d for d in against if d.missing and d.kind == "name" and _script(d.claimed) != _script(said)]
    return tuple(sorted({d.kind for d in against if d not in elsewhere}))


def _script(text: str) -> str:
    """The writing most letters of the text are of, by the first word of their Unicode names: LATIN, CYRILLIC, CJK, ..."""
    scripts = Counter(unicodedata.name(char, "").partition(" ")[0] for char in text[:200] if char.isalpha())
    return scripts.most_common(1)[0][0] if scripts else ""


def _raw(found: Coverage, aligned: Alignment, against: Sequence[Difference]) -> float:
    best = found.best or 0
    anywhere, around, places = found.share(None), found.share([best - 1, best, best + 1]), found.share(found.places)
    mine, theirs = [t.norm for t in found.claim.tokens], [t.norm for t in aligned.sentence.tokens]
    order, run = ordered_run(mine, theirs)
    raw = (anywhere + around + places) / 3 + IN_PAIRS * _pairs(found) + IN_ONE_RUN * run + IN_ORDER * order
    if found.claim.quantities and not any(d.kind in FIGURES for d in against):
        raw += FIGURES_AGREE
    raw -= FIGURE_OTHER * _count(against, FIGURES, missing=False)
    raw -= FIGURE_MISSING * _count(against, FIGURES, missing=True)
    raw -= NAME_OTHER * _count(against, ("name",), missing=False) + NAME_MISSING * _count(against, ("name",), missing=True)
    raw -= TURNED * _count(against, ("negation", "direction"), missing=False)
    raw -= TALK * min(3, sum(t.raw.lower() in PERSONAL and t.norm not in found.page.where for t in found.claim.tokens))
    return raw - (QUESTION if found.claim.text.rstrip().endswith(("?", "？", "؟")) else 0.0)


def _count(against: Sequence[Difference], kinds: tuple[str, ...], *, missing: bool) -> int:
    return min(COUNTED, sum(d.kind in kinds and d.missing == missing for d in against))


def _pairs(found: Coverage) -> float:
    """The share of the claim's neighbouring content words that some sentence of the page has together."""
    words = [token.norm for token in found.claim.tokens if not token.is_function]
    pairs = list(pairwise(words))
    where = found.page.where
    together = sum(any(n in where.get(right, ()) for n in where.get(left, ())) for left, right in pairs)
    return together / len(pairs) if pairs else 1.0


def _verbatim(claim: Claim, read: Page) -> int | None:
    """Whether the page has the claim word by word (case, marks and digit forms aside)."""
    words = "|" + "|".join(token.norm for token in claim.tokens) + "|"
    at = read.flat.find(words)
    return at if at >= 0 else None


def _ruling(found: Coverage, against: Sequence[Difference], score: float, *, verbatim: bool) -> Ruling:
    sure = [d for d in against if not d.missing]
    figures = [d for d in against if d.missing and d.kind in FIGURES]
    if verbatim and not sure:
        return "exact"
    about = found.share(found.places)
    if sure and about >= ABOUT:
        return "mismatch"
    if figures or sure or score < HOLDS:
        return "unsupported"
    return "close"


def _settled(ruling: Ruling, score: float) -> float:
    """The score kept in step with the ruling: no contradicted claim scores above one that holds."""
    if ruling == "exact":
        return 1.0
    if ruling == "close":
        return min(score, 0.99)
    return FALLEN * score if ruling == "mismatch" else min(score, HOLDS - 0.01)


def _span(claim: Claim, found: Coverage, aligned: Alignment, *, verbatim: bool) -> tuple[int, int]:
    """The sentence that speaks to the claim, or the neighbours too where they carry much that it does not."""
    sentences = found.page.sentences
    best = found.best or 0
    if verbatim or aligned.matched >= 0.7:
        return aligned.sentence.start, aligned.sentence.end
    own = found.share([best])
    start, end = best, best
    for n in found.places[1:]:
        if own < ALONE and abs(n - best) <= 2 and found.share([best, n]) - own >= 0.12:
            start, end = min(start, n), max(end, n)
    return sentences[start].start, sentences[end].end


def _reason(ruling: Ruling, against: Sequence[Difference], found: Coverage) -> str:
    if ruling == "mismatch":
        return next(d.reason for d in against if not d.missing)
    if ruling == "unsupported":
        told = next((d.reason for d in against), "")
        return told or f"the page carries {found.share(found.places):.0%} of it"
    return ""
