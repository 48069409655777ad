"""Names that are read besides our own: of variables people have already, of secrets, of settings that were renamed."""

from __future__ import annotations

# Names people already have. `keys` are secrets: they are kept apart and never shown.
ALIASES = {
    "WEB_SEARCH_BACKEND": "search.provider",
    "WEB_SEARCH_URL": "search.url",
    "WEB_SEARCH_KEY": "search.key",
    "SEARXNG_URL": "search.urls.searxng",
    "FIRECRAWL_API_URL": "search.urls.firecrawl",
    "SECURE_BROWSER_BASE_URL": "search.urls.browser",
    "GOOGLE_CSE_ID": "search.engine_id",
    "WHITELISTED_DOMAINS": "search.prefer_domains",
    "BLACKLISTED_DOMAINS": "search.block_domains",
    "RHO_SSRF_ALLOW_RANGES": "egress.allow_ranges",
}
SECRETS = (
    "BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY", "EXA_API_KEY", "TAVILY_API_KEY", "SERPER_API_KEY", "KAGI_API_KEY", "PERPLEXITY_API_KEY",
    "JINA_API_KEY", "FIRECRAWL_API_KEY", "PARALLEL_API_KEY", "GOOGLE_CSE_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY",
    "GOOGLE_API_KEY", "XAI_API_KEY", "COHERE_API_KEY", "VOYAGE_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "SEARXNG_TOKEN",
    "SECURE_BROWSER_SECRET",
)  # fmt: skip
RENAMED = {"search.api_key": "search.key", "search.backend": "search.provider", "search.base_url": "search.url"}
SECRET_KEYS = ("search.key", "keys")
