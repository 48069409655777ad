"""A language model by its name: where its API is, which key it takes, and how its failures read.

Any OpenAI-compatible API, Anthropic, Gemini, xAI or Ollama. The library that speaks to them comes with the extra `llm`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cormorant.errors import CormorantError, NotConfigured, ProviderError, RateLimited, Timeout
from cormorant.policy import Policy
from cormorant.settings import Settings
from cormorant.transport import Streaming, Transport
from cormorant.transport.identity import options_of

if TYPE_CHECKING:
    from pydantic_ai.models import Model


class Stream(Protocol):
    """Opens a response that is read while it comes, and is told the tokens that the model says it cost."""

    def __call__(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> AbstractAsyncContextManager[Streaming]: ...

    def spend(self, tokens: int) -> None: ...


T = TypeVar("T")

REMEDY = "pip install 'cormorant[llm]'"
TIMEOUT_S = 120.0
EXCERPT_CHARS = 300
FRAMING = frozenset({"host", "connection", "content-length", "accept-encoding", "transfer-encoding"})  # the transport's own
DECODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})  # no longer true of the bytes handed on
# provider -> where its API is, the variables its key is looked for in. All but Anthropic speak the OpenAI chat API.
PROVIDERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "openai": ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "anthropic": ("https://api.anthropic.com", ("ANTHROPIC_API_KEY",)),
    "gemini": ("https://generativelanguage.googleapis.com/v1beta/openai/", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    "google": ("https://generativelanguage.googleapis.com/v1beta/openai/", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    "xai": ("https://api.x.ai/v1", ("XAI_API_KEY",)),
    "ollama": ("http://127.0.0.1:11434/v1", ()),
    "compatible": ("", ()),
}
HOSTED_OVER_RESPONSES = ("openai", "xai")  # whose own tools run under the Responses API only


class LanguageModel:
    """The model that `answer.model` or the alias `default` names. Raises NotConfigured when it, its key or its address is missing."""

    def __init__(self, settings: Settings, name: str = "", *, stream: Stream | None = None) -> None:
        self._stream = stream
        self.provider, self.name = _named(settings, name)
        self.label = f"{self.provider}::{self.name}"
        self._settings = settings
        self._key, self._looked = _key(settings, self.provider)

    @asynccontextmanager
    async def opened(self, *, hosted: bool = False) -> AsyncIterator[Model]:
        """The model behind an HTTP client whose every request goes over our transport: pinned, counted, seen by gates.

        `hosted`: over the API under which the vendor's own tools run (`hosted.attached` attaches them).
        """
        import httpx2

        base = self._settings.answer.model_url or PROVIDERS[self.provider][0]
        async with AsyncExitStack() as closing:
            stream: Callable[..., AbstractAsyncContextManager[Streaming]] | None = self._stream
            if stream is None:  # used by itself, outside a Web
                own = await closing.enter_async_context(Transport(Policy(), options=options_of(self._settings)))
                stream = partial(own.stream, trusted=True, purpose="write")
            carrier = _carrier(stream)
            client = await closing.enter_async_context(httpx2.AsyncClient(transport=carrier, trust_env=False, timeout=TIMEOUT_S))
            if self.provider == "anthropic":
                from pydantic_ai.models.anthropic import AnthropicModel
                from pydantic_ai.providers.anthropic import AnthropicProvider

                yield AnthropicModel(self.name, provider=AnthropicProvider(api_key=self._key, base_url=base, http_client=client))
            else:
                from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
                from pydantic_ai.providers.openai import OpenAIProvider

                kind = OpenAIResponsesModel if hosted and self.provider in HOSTED_OVER_RESPONSES else OpenAIChatModel
                yield kind(self.name, provider=OpenAIProvider(base_url=base, api_key=self._key or "none", http_client=client))

    async def made(self, kind: type[T], rules: str, asked: str | Sequence[Any]) -> T:
        """One value of a pydantic type, which the model makes by calling a tool. Raises: ProviderError, RateLimited, Timeout."""
        _, _, errors = library()
        from pydantic_ai import Agent

        try:
            async with self.opened() as model:
                agent = Agent(model, output_type=kind, instructions=rules, retries=1)
                run = await agent.run(asked, model_settings=self.how(model))
            self.spent(run.usage)
        except (errors.AgentRunError, TimeoutError) as failed:
            raise self.failure(failed) from failed
        output: T = run.output
        return output

    @staticmethod
    def how(model: Model, **more: Any) -> Any:
        """The settings of a request: the likeliest words, where the model lets anybody choose."""
        profile: Any = model.profile
        fixed = profile.get("openai_supports_reasoning") or profile.get("anthropic_disallows_sampling_settings")
        return {"timeout": TIMEOUT_S, **({} if fixed else {"temperature": 0.0}), **more}

    def spent(self, usage: Any) -> None:
        """Puts what the model says a call cost into the account of the run."""
        if self._stream is not None:
            self._stream.spend(usage.input_tokens + usage.output_tokens)

    def failure(self, error: Exception) -> CormorantError:
        """The error of our tree that a failure of the library is, without the key in it."""
        _, _, errors = library()
        if (ours := _ours_behind(error)) is not None:
            return ours
        if isinstance(error, errors.ModelHTTPError):
            return self._status(error.status_code, str(error.body or error.message))
        if isinstance(error, TimeoutError):
            return Timeout(f"{self.label} did not answer in time", remedy="raise the deadline, or use a faster model")
        return ProviderError(self._plain(f"{self.label} failed: {error}"), remedy="cormorant doctor")

    def _status(self, status: int, body: str) -> CormorantError:
        said = self._plain(body)[:EXCERPT_CHARS]
        if status == 429:
            return RateLimited(f"{self.label}: HTTP 429: {said}", remedy="wait, or use another model", status=429, retryable=True)
        hint = f"check {' or '.join(self._looked)}" if status in (401, 403) and self._looked else "cormorant doctor"
        return ProviderError(f"{self.label}: HTTP {status}: {said}", remedy=hint, status=status, retryable=status >= 500)

    def _plain(self, text: str) -> str:
        return text.replace(self._key, "[redacted]") if self._key else text


def _ours_behind(error: BaseException | None) -> CormorantError | None:
    """The error of our tree that a library's error was raised from, if any."""
    while error is not None:
        if isinstance(error, CormorantError):
            return error
        error = error.__cause__
    return None


def _carrier(stream: Callable[..., AbstractAsyncContextManager[Streaming]]) -> Any:
    """An httpx transport over ours: the vendors' libraries speak through it and open no connection of their own."""
    import httpx2

    class Body(httpx2.AsyncByteStream):
        def __init__(self, opened: AbstractAsyncContextManager[Streaming], response: Streaming) -> None:
            self._opened, self._response = opened, response

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self._response.chunks():
                yield chunk

        async def aclose(self) -> None:
            await self._opened.__aexit__(None, None, None)

    class Carrier(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            body = await request.aread()
            headers = {name: value for name, value in request.headers.items() if name not in FRAMING}
            opened = stream(request.method, str(request.url), headers=headers, body=body, timeout_s=TIMEOUT_S)
            try:
                response = await opened.__aenter__()
            except CormorantError as error:  # the library knows its own errors; ours travels inside and comes out in `failure`
                raise httpx2.ConnectError(str(error), request=request) from error
            plain = {name: value for name, value in response.headers.items() if name not in DECODED}
            return httpx2.Response(response.status, headers=plain, stream=Body(opened, response), request=request)

    return Carrier()


def library() -> tuple[Any, Any, Any]:
    """The parts of pydantic-ai that are used. Raises: NotConfigured."""
    try:
        from pydantic_ai import direct, exceptions, messages
    except ImportError as missing:
        raise NotConfigured("a language model needs pydantic-ai", remedy=REMEDY) from missing
    return direct, messages, exceptions


def _named(settings: Settings, asked: str) -> tuple[str, str]:
    """The provider and model that `answer.model` or the alias `default` names. Raises: NotConfigured."""
    asked = asked or settings.answer.model or settings.models.get("default", "")
    for _ in range(4):  # an alias may name another one
        asked = settings.models.get(asked, asked)
    provider, _, name = asked.partition("/")
    if not asked:
        raise NotConfigured("no model is configured", remedy="cormorant settings set answer.model openai/gpt-6-luna")
    if provider not in PROVIDERS or not name:
        known = ", ".join(PROVIDERS)
        raise NotConfigured(f"{asked!r} names no known provider", remedy=f"write provider/model, with one of: {known}")
    if provider == "compatible" and not settings.answer.model_url:
        raise NotConfigured("a compatible model needs its address", remedy="cormorant settings set answer.model_url http://...")
    return provider, name


def _key(settings: Settings, provider: str) -> tuple[str, tuple[str, ...]]:
    """The key, and the variables looked at. Raises: NotConfigured when a vendor's own API would be called without one."""
    looked = PROVIDERS[provider][1]
    key = next((settings.keys[name] for name in looked if settings.keys.get(name)), "")
    if looked and not key and not settings.answer.model_url:
        raise NotConfigured(f"{provider} needs a key, and {' or '.join(looked)} is not set", remedy=f"cormorant secret set {looked[0]}")
    return key, looked
