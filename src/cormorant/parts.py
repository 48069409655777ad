"""Find a named part: the built-in ones first, then entry points, so that a package can add but never shadow.

Groups: `cormorant.search`, `.target`, `.extract`, `.rank`, `.judge`, `.write`, `.gate`. A part is named `module:attribute` and is
imported when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from cormorant.errors import InvalidArguments

BUILT_IN: dict[str, dict[str, str]] = {
    "search": {
        "library": "cormorant.providers.library:Library",
        "searxng": "cormorant.providers.searxng:Searxng",
        "brave": "cormorant.providers.brave:Brave",
        "brave_context": "cormorant.providers.brave:BraveContext",
        "exa": "cormorant.providers.exa:Exa",
        "tavily": "cormorant.providers.tavily:Tavily",
        "tavily_keyless": "cormorant.providers.tavily:TavilyKeyless",
        "serper": "cormorant.providers.serper:Serper",
        "kagi": "cormorant.providers.kagi:Kagi",
        "perplexity": "cormorant.providers.perplexity:Perplexity",
        "firecrawl": "cormorant.providers.firecrawl:Firecrawl",
        "jina": "cormorant.providers.jina:Jina",
        "parallel": "cormorant.providers.parallel:Parallel",
        "google": "cormorant.providers.google:Google",
        "mediawiki": "cormorant.providers.mediawiki:Mediawiki",
        "wikipedia": "cormorant.providers.mediawiki:Wikipedia",
        "duckduckgo": "cormorant.providers.duckduckgo:DuckDuckGo",
        "ddgs": "cormorant.providers.duckduckgo:Ddgs",
        "exa_keyless": "cormorant.providers.exa:ExaKeyless",
        "anthropic": "cormorant.providers.vendors:Anthropic",
        "openai": "cormorant.providers.vendors:OpenAI",
        "gemini": "cormorant.providers.vendors:Gemini",
        "xai": "cormorant.providers.vendors:XAI",
        "browser": "cormorant.providers.browser:Browser",
    },
    "rank": {
        "words": "cormorant.rank.words:Words",
        "maxsim": "cormorant.rank.maxsim:MaxSim",
        "cohere": "cormorant.rank.api:Api",
        "jina": "cormorant.rank.api:Api",
        "voyage": "cormorant.rank.api:Api",
        "tei": "cormorant.rank.api:Api",
        "llm": "cormorant.rank.llm:Llm",
    },
    "judge": {
        "llm": "cormorant.judges.llm:Llm",
        "nli": "cormorant.judges.nli:Nli",
    },
    "write": {
        "quote": "cormorant.writers.quote:Quote",
        "llm": "cormorant.writers.llm:Llm",
    },
}


def names(role: str) -> list[str]:
    """Every part of that role, built-in ones first in their order, then the installed ones by name."""
    built_in = list(BUILT_IN.get(role, {}))
    return built_in + sorted({found.name for found in entry_points(group=f"cormorant.{role}")} - set(built_in))


def part(role: str, name: str) -> Any:
    """The class (or function) behind a name. Raises: InvalidArguments when there is none."""
    if where := BUILT_IN.get(role, {}).get(name):
        module, attribute = where.split(":")
        return getattr(import_module(module), attribute)
    for found in entry_points(group=f"cormorant.{role}", name=name):
        return found.load()
    raise InvalidArguments(f"no {role} part is called {name!r}", remedy=f"there are: {', '.join(names(role))}")
