"""What an operator may set: file and environment in, one frozen value out. Read once, by a surface.

Precedence: environment over project file (`cormorant.toml`) over user file over default. Every setting is
`CORMORANT_SECTION__NAME` in the environment; the names people already have (BRAVE_API_KEY, SEARXNG_URL, ...) work too,
each also as `NAME_FILE`. Durations are `20s`, `5m` or seconds; sizes `5MB` (1024) or bytes.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from cormorant.errors import InvalidArguments
from cormorant.settings import files
from cormorant.settings.files import PROJECT_FILE

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_UNITS_B = {"b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3, "k": 1024, "m": 1024**2, "g": 1024**3}


def seconds(value: object) -> object:
    """`20s`, `1.5m`, `500ms` as seconds; a number stays itself."""
    return _scaled(value, _UNITS_S)


def size(value: object) -> object:
    """`5MB`, `64k` as bytes (1024); a number stays itself."""
    scaled = _scaled(value, _UNITS_B)
    return int(scaled) if isinstance(scaled, float) else scaled


def _scaled(value: object, units: dict[str, float] | dict[str, int]) -> object:
    if not isinstance(value, str):
        return value
    text = value.strip().lower().replace(" ", "")
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(number) :]
    try:
        return float(number) * units[unit] if unit else float(number)
    except (KeyError, ValueError):
        raise ValueError(f"{value!r} is not a number with one of the units {', '.join(units)}") from None


Seconds = Annotated[float, BeforeValidator(seconds)]
Bytes = Annotated[int, BeforeValidator(size)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Egress(_Section):
    """Where requests may go."""

    allow: tuple[str, ...] | None = Field(
        None, description="Host patterns that may be reached; unset means every public host, [] means none."
    )
    block: tuple[str, ...] = Field((), description="Host patterns that are never reached; wins over allow.")
    allow_ranges: tuple[str, ...] = Field((), description="CIDRs exempt from the private-address check; metadata addresses stay refused.")
    robots: Literal["obey", "ignore"] = Field("obey", description="Whether robots.txt is obeyed.")
    user_agent: str = Field("", description="The User-Agent sent; empty means Cormorant/VERSION with a contact address.")
    accept_language: str = Field("en, *;q=0.5", description="The Accept-Language sent.")
    proxy: str = Field("", description="A forward proxy for every request; names are then resolved there, not here.")
    no_proxy: tuple[str, ...] = Field((), description="Host patterns that are reached without the proxy.")
    ca_bundle: str = Field("", description="A PEM file of certificate authorities to trust instead of the built-in list.")
    public_only_headers: tuple[str, ...] = Field(
        ("Cormorant-Egress-Public-Only",), description="Headers that tell an egress proxy to refuse private addresses."
    )
    logins: dict[str, str] = Field(
        {}, description="Logged-in pages: host to the name of a secret that holds header lines; sent over https to that host alone."
    )
    signing_key: str = Field("", description="A PEM file with an Ed25519 key; requests are signed with it (Web Bot Auth).")
    signing_agent: str = Field("", description="The https address under which the key directory of that key is published.")
    audit: str = Field("", description="A file that gets a JSON line for every request that was allowed or refused; secrets are taken out.")
    provenance: Literal["off", "strict"] = Field("off", description="strict: only URLs seen in user text, a result or a page are fetched.")


class Fetch(_Section):
    """How a page is fetched."""

    timeout: Seconds = Field(20.0, description="Total deadline of one fetch.", gt=0)
    connect_timeout: Seconds = Field(5.0, description="Deadline of one connection.", gt=0)
    max_bytes: Bytes = Field(2 * 1024**2, description="Decoded bytes read of a text page; more is cut and marked.", gt=0, le=10 * 1024**2)
    document_max_bytes: Bytes = Field(25 * 1024**2, description="A larger document (PDF, Office) is an error, never cut.", gt=0)
    max_chars: int = Field(20_000, description="Characters returned when neither budget, view nor section is asked.", gt=0)
    concurrency: int = Field(8, description="Fetches at once.", ge=1)
    per_host: int = Field(2, description="Fetches at once to one host.", ge=1)
    cache: bool = Field(True, description="Whether a page fetched before in this session is reused.")
    http_cache: bool = Field(
        True, description="Whether responses are kept across sessions as RFC 9111 lets a private cache; never with store.path = memory."
    )
    follow_redirects: bool = Field(True, description="Whether redirects are followed (at most five).")


class Search(_Section):
    """Which backend searches, and what is filtered."""

    provider: str = Field("auto", description="auto, disabled, or the name of a provider (a list `a,b` is a chain).")
    url: str = Field("", description="Base URL of the configured backend (WEB_SEARCH_URL); alone it means searxng.")
    urls: dict[str, str] = Field(
        {}, description="Base URLs by provider, e.g. urls.searxng (SEARXNG_URL), urls.firecrawl (FIRECRAWL_API_URL)."
    )
    key: str = Field("", description="Key of the configured backend (WEB_SEARCH_KEY).", repr=False)
    api_key_env: str = Field("", description="Name of the variable that holds the key.")
    count: int = Field(8, description="Results per query.", ge=1, le=20)
    language: str = Field("", description="Default language, BCP 47.")
    safe_search: Literal["off", "moderate", "strict"] = Field("moderate", description="Default safe search.")
    prefer_domains: tuple[str, ...] = Field((), description="Hosts lifted in rank; others stay.")
    block_domains: tuple[str, ...] = Field((), description="Hosts dropped from every result list.")
    keyless: bool = Field(True, description="Whether public keyless search is tried when nothing else is configured.")
    timeout: Seconds = Field(15.0, description="Deadline of one backend call.", gt=0)
    keyless_timeout: Seconds = Field(
        8.0, description="Deadline of public keyless search, all of its backends together, so that being offline is known soon.", gt=0
    )
    fuse: int = Field(1, description="Backends of the chain asked at once; 2 or more answers are fused by reciprocal rank.", ge=1, le=4)
    model: str = Field("", description="provider/model for searching with a model vendor's own search; empty means its cheap one.")
    engine_id: str = Field("", description="Search engine id (cx) of Google Programmable Search (GOOGLE_CSE_ID).")


class Answering(_Section):
    """How an answer is made."""

    scrape: Literal["auto", "on", "off"] = Field("auto", description="auto: read the hits whose hosts the egress policy allows.")
    reranker: str = Field("words", description="Name of the reranker.")
    writer: str = Field("auto", description="quote (no model), llm, or auto: llm when a model is configured.")
    model: str = Field("", description="provider/model of the writer, e.g. openai/gpt-5-mini.")
    model_url: str = Field(
        "", description="Base URL of the writer's model where it is not the vendor's own, e.g. http://127.0.0.1:8080/v1."
    )
    keep: int = Field(5, description="Sources kept after reranking.", ge=1, le=20)
    sentences: int = Field(5, description="Sentences the extractive writer quotes at most.", ge=1, le=20)
    budget: int = Field(8_000, description="Tokens of evidence the writer sees.", ge=100)
    unsupported: Literal["mark", "drop"] = Field("mark", description="What happens to a sentence its source does not support.")
    include_reflection: bool = Field(False, description="Whether a model's reflection stands in front of the response.")


class Store(_Section):
    """Where results are kept."""

    path: str = Field("", description="Folder of the store; empty means the user's data folder; `memory` keeps nothing on disk.")
    max_bytes: Bytes = Field(2 * 1024**3, description="Size of the folder before the oldest results go; 0 is unbounded.", ge=0)
    max_age: Seconds = Field(0.0, description="Age at which a result goes; 0 is never.", ge=0)


class Library(_Section):
    """The local index."""

    path: str = Field("", description="File of the index; empty means the user's data folder.")


class Limits(_Section):
    """Limits of one run; 0 is none."""

    tokens: int = Field(0, description="Tokens handed over.", ge=0)
    seconds: Seconds = Field(0.0, description="Wall time.", ge=0)
    requests: int = Field(0, description="Requests sent.", ge=0)
    bytes: Bytes = Field(0, description="Bytes received.", ge=0)
    usd: float = Field(0.0, description="Money spent on backends.", ge=0)


class Server(_Section):
    """The HTTP server."""

    host: str = Field("127.0.0.1", description="Address to listen on; any other than loopback asks callers for a key.")
    port: int = Field(8300, description="Port to listen on; 0 picks one.", ge=0, le=65535)
    path: str = Field("", description="Folder of keys, executions and tenants; empty means the user's data folder.")
    hosts: tuple[str, ...] = Field((), description="Other names this server is called by; a request for any other name is refused.")
    origins: tuple[str, ...] = Field((), description="Origins whose pages may call, besides the server's own.")
    require_key: bool = Field(False, description="Whether a key is asked for on loopback too.")
    concurrency: int = Field(32, description="Calls of one tenant at once; more wait.", ge=1)
    queue: int = Field(1_000, description="Runs of one tenant going on or waiting; more are refused.", ge=1)
    timeout: Seconds = Field(300.0, description="Deadline of one call.", gt=0)


class Settings(_Section):
    """Everything, frozen. `load()` makes one from files and environment; `Settings()` is the defaults alone."""

    egress: Egress = Egress()
    fetch: Fetch = Fetch()
    search: Search = Search()
    answer: Answering = Answering()
    store: Store = Store()
    library: Library = Library()
    limits: Limits = Limits()
    server: Server = Server()
    models: dict[str, str] = Field({}, description="Model aliases: `default` and your own names, each a provider/model.")
    profile: str = Field("", description="Name of the profile in force; its settings lie over the files and under the environment.")
    profiles: dict[str, dict[str, Any]] = Field({}, description="Named sets of settings, each shaped like this file.")
    keys: dict[str, str] = Field({}, description="Secrets by the name of their variable; never shown.", repr=False)

    def secrets(self) -> dict[str, str]:
        """Every secret value by its name: what must never leave in a request, nor stand in a log or an error."""
        return {name: value for name, value in {**self.keys, "search.key": self.search.key}.items() if value}


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
__all__ = ["PROJECT_FILE", "Loaded", "Row", "Settings", "describe", "load", "of", "read", "unset", "unset_secret", "write", "write_secret"]
SECRET_KEYS = ("search.key", "keys")
MASK = "(set)"


@dataclass(frozen=True)
class Loaded:
    """Settings with where each came from and what the operator should know (deprecated, clamped, a secret in a file)."""

    settings: Settings
    origins: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One setting as `settings list` and the docs show it; the value of a secret is never in it."""

    key: str
    value: Any
    default: Any
    origin: str
    description: str


def load(environ: Mapping[str, str] | None = None, cwd: str | Path | None = None) -> Settings:
    """The settings in force. Raises: InvalidArguments for an unknown key or a value that can't be read."""
    return read(environ, cwd).settings


def read(environ: Mapping[str, str] | None = None, cwd: str | Path | None = None) -> Loaded:
    """As `load`, with the origin of every setting and notes for the operator. Raises: InvalidArguments."""
    environ = os.environ if environ is None else environ
    taken = _Taken()
    secrets = files.read_toml(files.secrets_file(environ))
    if secrets and files.is_open_to_others(files.secrets_file(environ)):
        taken.notes.append(f"{files.secrets_file(environ)} can be read by others: chmod 600 it")
    for name, value in secrets.items():
        if name in ALIASES and ALIASES[name] not in SECRET_KEYS:
            taken.text(ALIASES[name], str(value), f"the secret {name}")
            taken.notes.append(
                f"the secret {name} is read as the setting {ALIASES[name]}: `cormorant settings set {ALIASES[name]} ...` and delete it"
            )
        else:
            taken.set(ALIASES.get(name, f"keys.{name}"), str(value), "secrets file")
    project = Path(cwd if cwd is not None else Path.cwd()) / files.PROJECT_FILE
    for path in (files.user_file(environ), project):
        taken.table(files.read_toml(path), str(path))
    if name := environ.get("CORMORANT_PROFILE") or str(taken.values.get("profile", "")):
        _overlay_profile(taken, name)
    _from_environment(taken, environ)
    return Loaded(_validated(taken), dict(taken.origins), tuple(taken.notes))


def of(value: Settings | Mapping[str, Any] | None) -> Settings:
    """Settings from what a program hands over: a mapping is checked as a file would be. Raises: InvalidArguments."""
    if isinstance(value, Settings):
        return value
    if value is not None and not isinstance(value, Mapping):
        raise InvalidArguments(f"settings are Settings or a mapping, not {type(value).__name__}")
    taken = _Taken()
    taken.table(value or {}, "the settings given")
    return _validated(taken)


def describe(environ: Mapping[str, str] | None = None, cwd: str | Path | None = None) -> list[Row]:
    """Every setting with its value, default, origin and meaning, in the order of the sections; secrets masked."""
    loaded = read(environ, cwd)
    rows = []
    for key, info in fields():
        value: Any = loaded.settings
        for name in key.split("."):
            value = getattr(value, name)
        if key in SECRET_KEYS:
            value = dict.fromkeys(sorted(value), MASK) if isinstance(value, dict) else MASK if value else ""
        origin = loaded.origins.get(key) or ", ".join(sorted({o for k, o in loaded.origins.items() if k.startswith(f"{key}.")}))
        rows.append(Row(key, value, info.get_default(call_default_factory=True), origin or "default", info.description or ""))
    return rows


def write(key: str, value: str, *, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """Sets one setting in a file (the user's by default) and says which file. Raises: InvalidArguments."""
    taken = _Taken()
    key = taken.known(key)
    if key.startswith(SECRET_KEYS):
        raise InvalidArguments(f"{key} is a secret and no setting", remedy="cormorant secret set NAME reads it from stdin")
    taken.text(key, value, "the value given")
    _validated(taken)
    file = Path(path) if path else files.user_file(os.environ if environ is None else environ)
    if taken.values[key] is None:  # TOML has no null: what is unset is not written
        files.drop(file, tuple(_path(key, taken.fields)))
    else:
        files.put(file, tuple(_path(key, taken.fields)), taken.values[key])
    return file


def unset(key: str, *, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> bool:
    """Takes one setting out of a file; whether it stood there. Raises: InvalidArguments for an unknown key."""
    taken = _Taken()
    key = taken.known(key)
    file = Path(path) if path else files.user_file(os.environ if environ is None else environ)
    return files.drop(file, tuple(_path(key, taken.fields)))


def write_secret(name: str, value: str, *, environ: Mapping[str, str] | None = None) -> Path:
    """Keeps a secret in a file only its owner can read. Raises: InvalidArguments for a name that is no variable's."""
    if not name.replace("_", "").isalnum() or not name.isascii() or name != name.upper():
        raise InvalidArguments(f"{name!r} is no name of a secret", remedy=f"names look like {', '.join(SECRETS[:3])}")
    if name in ALIASES and ALIASES[name] not in SECRET_KEYS:
        raise InvalidArguments(f"{name} is a setting and no secret", remedy=f"cormorant settings set {ALIASES[name]} VALUE")
    if not value.strip():
        raise InvalidArguments(f"nothing was given for {name}", remedy=f"cormorant secret set {name} < file")
    file = files.secrets_file(os.environ if environ is None else environ)
    files.put(file, (name,), value.strip(), secret=True)
    return file


def unset_secret(name: str, *, environ: Mapping[str, str] | None = None) -> bool:
    """Forgets a secret; whether there was one."""
    return files.drop(files.secrets_file(os.environ if environ is None else environ), (name,), secret=True)


def fields(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every setting as `section.name` with its field, in the order they are declared."""
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from fields(info.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name, info


class _Taken:
    """What the layers said so far, flat: a later layer wins."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.notes: list[str] = []
        self.fields = dict(fields())

    def known(self, key: str) -> str:
        """The setting's own name. Raises: InvalidArguments with the nearest ones."""
        if key in RENAMED:
            self.notes.append(f"{key} is now called {RENAMED[key]}")
            return RENAMED[key]
        if key in self.fields or self._of_dict(key):
            return key
        last = key.rsplit(".", 1)[-1]
        same_name = [known for known in self.fields if known.rsplit(".", 1)[-1] == last]
        near = (same_name + difflib.get_close_matches(key, self.fields, n=3, cutoff=0.6))[:3]
        hint = f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else "cormorant settings list shows every setting"
        raise InvalidArguments(f"there is no setting {key}", remedy=hint)

    def _of_dict(self, key: str) -> bool:
        return any(key.startswith(f"{known}.") and get_origin(info.annotation) is dict for known, info in self.fields.items())

    def set(self, key: str, value: Any, origin: str) -> None:
        key = self.known(key)
        if key == "search.provider" and isinstance(value, list | tuple):
            value = ",".join(map(str, value))
        if isinstance(value, str) and (info := self.fields.get(key)) is not None and _is_list(info):
            value = _from_text(key, value, info, origin)
        if isinstance(value, dict) and key != "profiles":
            for name, item in value.items():
                self.set(f"{key}.{name}", item, origin)
            return
        self.values[key], self.origins[key] = self._clamped(key, value), origin

    def table(self, table: Mapping[str, Any], origin: str, prefix: str = "") -> None:
        for name, value in table.items():
            key = prefix + str(name)
            if isinstance(value, Mapping) and key in Settings.model_fields and key not in self.fields:
                self.table(value, origin, f"{key}.")
                continue
            try:
                if key in Settings.model_fields and key not in self.fields:
                    raise InvalidArguments(f"{key} is a section and no setting", remedy=f"write its settings under [{key}]")
                near = difflib.get_close_matches(key, Settings.model_fields)
                if isinstance(value, Mapping) and key not in self.fields and near:
                    raise InvalidArguments(f"there is no section {key}", remedy=f"did you mean [{near[0]}]?")
                self.set(key, value, origin)
            except InvalidArguments as error:
                raise InvalidArguments(f"{error.message} (in {origin})", remedy=error.remedy) from error
            if key.startswith(SECRET_KEYS) or RENAMED.get(key) in SECRET_KEYS:
                self.notes.append(f"{key} in {origin} is a secret in a settings file: `cormorant secret set NAME` keeps it apart")

    def text(self, key: str, text: str, origin: str) -> None:
        """A value as the environment or a command line has it."""
        key = self.known(key)
        self.set(key, _from_text(key, text, self.fields.get(key), origin), origin)

    def _clamped(self, key: str, value: Any) -> Any:
        info = self.fields.get(key)
        if info is None or isinstance(value, bool) or not isinstance(value, int | float | str):
            return value
        try:
            number = float(value)
        except ValueError:
            return value
        low = next((m.ge for m in info.metadata if hasattr(m, "ge")), None)
        high = next((m.le for m in info.metadata if hasattr(m, "le")), None)
        bound = low if low is not None and number < low else high if high is not None and number > high else None
        if bound is None:
            return value
        self.notes.append(f"{key} = {value} is out of range; {bound} is used")
        return bound


def _kinds(info: FieldInfo | None) -> set[Any]:
    """The types a setting may have, without what they hold."""
    if info is None:
        return set()
    return {get_origin(kind) or kind for kind in (*get_args(info.annotation), info.annotation)}


def _is_list(info: FieldInfo) -> bool:
    return tuple in _kinds(info)


def _from_text(key: str, text: str, info: FieldInfo | None, origin: str) -> Any:
    kinds = _kinds(info)
    if not kinds & {tuple, dict}:
        return text
    if text.strip().lower() in ("null", "none") and type(None) in kinds:
        return None
    if text.strip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except ValueError as error:
            raise InvalidArguments(f"{key} is no JSON ({origin})", remedy='write a,b or ["a", "b"]') from error
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if dict in kinds:
        pairs = (part.partition("=") for part in parts)
        return {name.strip(): value.strip() for name, _, value in pairs}
    if not parts and type(None) in kinds:
        raise InvalidArguments(f"{key} is empty ({origin})", remedy="write [] for none at all, or take the variable away")
    return parts


def _from_environment(taken: _Taken, environ: Mapping[str, str]) -> None:
    """Old names first, so that a variable of our own wins over them."""
    for name, key in ALIASES.items():
        if value := _value(environ, name):
            taken.text(key, value, name)
    wanted = str(taken.values.get("search.api_key_env", "")) or environ.get("CORMORANT_SEARCH__API_KEY_ENV", "")
    for name in (*SECRETS, *([wanted] if wanted else [])):
        if value := _value(environ, name):
            taken.set(f"keys.{name}", value, name)
    for name in sorted(environ):
        if not name.startswith("CORMORANT_"):
            continue
        bare = name.removesuffix("_FILE") if name.removesuffix("_FILE") not in environ else name
        key = _key_of(bare, taken)
        if key and (value := _value(environ, bare) if bare != name else environ[name]) is not None and (value or key == "egress.allow"):
            taken.text(key, value, name)


def _key_of(name: str, taken: _Taken) -> str:
    """The setting a variable of ours names, or nothing for a variable that is not about settings."""
    rest = name.removeprefix("CORMORANT_")
    sections = {section.upper() for section in Settings.model_fields}
    if "__" not in rest:
        if rest in sections and rest.lower() in taken.fields:
            return rest.lower()
        section = next((s for s in sections if rest.startswith(f"{s}_")), "")
        if section and f"{section}.{rest[len(section) + 1 :]}".lower() in taken.fields:
            raise InvalidArguments(f"there is no variable {name}", remedy=f"did you mean CORMORANT_{section}__{rest[len(section) + 1 :]}?")
        return ""
    head, *tail = rest.split("__")
    key = ".".join([head.lower(), *(part.lower() for part in tail)])
    if key.startswith("keys."):
        return f"keys.{tail[0]}"
    try:
        return taken.known(key)
    except InvalidArguments as error:
        near = error.remedy
        for known in taken.fields:
            near = near.replace(known, "CORMORANT_" + known.upper().replace(".", "__"))
        raise InvalidArguments(f"there is no setting {key} (from {name})", remedy=near) from error


def _value(environ: Mapping[str, str], name: str) -> str | None:
    """The variable, or the text of the file that NAME_FILE names (how containers are handed secrets)."""
    if value := environ.get(name):
        return value.strip()
    if not (path := environ.get(f"{name}_FILE")):
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArguments(
            f"{name}_FILE names {path}, which can't be read: {error}", remedy="correct the path or its rights"
        ) from error


def _overlay_profile(taken: _Taken, name: str) -> None:
    profiles = taken.values.get("profiles", {})
    if name not in profiles:
        near = difflib.get_close_matches(name, profiles, n=1)
        known = f"there are: {', '.join(sorted(profiles)) or 'none'}"
        raise InvalidArguments(f"there is no profile {name}", remedy=f"did you mean {near[0]}?" if near else known)
    taken.table(profiles[name], f"profile {name}")


def _validated(taken: _Taken) -> Settings:
    nested: dict[str, Any] = {}
    for key, value in taken.values.items():
        *heads, last = _path(key, taken.fields)
        table = nested
        for head in heads:
            table = table.setdefault(head, {})
        table[last] = value
    try:
        return Settings.model_validate(nested)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        setting = next((known for known in sorted(taken.values, key=len, reverse=True) if key.startswith(known)), key)
        shown = "" if setting.startswith(SECRET_KEYS) else f", not {str(first['input'])[:80]!r}"
        message = first["msg"].removeprefix("Value error, ")
        raise InvalidArguments(
            f"{setting}: {message}{shown} ({taken.origins.get(setting, 'unknown')})",
            remedy="cormorant settings list shows what each one takes",
        ) from None


def _path(key: str, known: Mapping[str, Any]) -> list[str]:
    """The steps to a setting; what follows a table's own name is one key, whatever dots it holds."""
    for name in known:
        if key.startswith(f"{name}."):
            return [*name.split("."), key[len(name) + 1 :]]
    return key.split(".")
