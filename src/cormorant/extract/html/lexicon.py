"""What names and short texts say: words of class, id and short blocks, looked up in a lexicon that was learned with the model. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Whole words of class and id whose share of the page's words tells what kind of page it is. A name alone decides nothing.
NAME_GROUPS = (
    "comment comments commentlist disqus respond reply replies discussion responses",
    "author byline meta metadata date category categories published time bio avatar authorbox posted",
    "item card cards grid tile tiles product products result results listing listings collection catalog",
    "message messages answer question thread threads forum topic topics postbody bbcode msg conversation posts viewtopic",
    "price review reviews rating ratings stars spec specs specification specifications faq testimonial testimonials",
    "login account cart search filter filters sort toolbar signin register wishlist checkout basket facet facets refine swatch quantity",
)
NAMES_READ = 200  # characters of class and id; what follows is utility classes
NAMES_KEPT = 20_000  # then the memory of names starts anew
_WORD_BITS = {word: 1 << bit for bit, group in enumerate(NAME_GROUPS) for word in group.split()}
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_LOWER_WORD = re.compile(r"[^\W\d_]+|[$€£©]")


def name_words(names: str) -> tuple[str, ...]:
    """The words of a class and id, lower case: `contentWithSidebar` is content, with and sidebar."""
    return tuple(dict.fromkeys(map(str.lower, _NAME_WORD.findall(names[:NAMES_READ]))))


def text_words(text: str) -> list[str]:
    """The words of a short block that the lexicon of texts knows it by."""
    return _LOWER_WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class Named:
    """What the class and id of an element say."""

    shape: str  # the first class without its digits, so that `post-12` and `post-13` are alike
    bits: int  # which of NAME_GROUPS
    score: float


UNNAMED = Named("", 0, 0.0)


@dataclass(frozen=True)
class Lexicon:
    """Log odds that a block is main content, by a word in the names around it or in its own short text."""

    names: dict[str, float]
    texts: dict[str, float]
    known: dict[str, Named] = field(default_factory=dict, compare=False)

    def of_names(self, names: str) -> Named:
        """What the names of an element say, remembered."""
        found = self.known.get(names)
        if found is None:
            words = name_words(names)
            bits = 0
            for word in words:
                bits |= _WORD_BITS.get(word, 0)
            found = Named(_DIGITS.sub("", names.split(" ", 1)[0]), bits, sum(self.names.get(word, 0.0) for word in words))
            if len(self.known) >= NAMES_KEPT:
                self.known.clear()
            self.known[names] = found
        return found

    def of_words(self, words: list[str]) -> float:
        """The mean over the words of a short text that are known."""
        known = [self.texts[word] for word in words if word in self.texts]
        return sum(known) / len(known) if known else 0.0
