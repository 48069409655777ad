"""Who a request says it is: the operator's settings as the Options of a Transport.

A login is a secret that holds header lines (`Cookie: session=...`), kept apart from the settings; a setting says which
host it is for. A signature needs a key file and the address where the operator publishes the public key.
"""

from __future__ import annotations

from collections.abc import Mapping

from cormorant.errors import InvalidArguments, NotConfigured
from cormorant.policy import pattern
from cormorant.settings import Settings
from cormorant.transport.resource import Options
from cormorant.transport.signing import Signer

FIRST_BYTE_S = 15.0
FIRST_BYTE_SHARE = 0.75  # of the whole deadline, for operators who gave slow sites more time


def options_of(settings: Settings) -> Options:
    """How requests are made, from the settings. Raises: InvalidArguments, NotConfigured."""
    egress = settings.egress
    signer = signer_of(settings)
    return Options(
        user_agent=egress.user_agent,
        accept_language=egress.accept_language,
        connect_timeout_s=settings.fetch.connect_timeout,
        first_byte_timeout_s=max(FIRST_BYTE_S, FIRST_BYTE_SHARE * settings.fetch.timeout),
        ca_bundle=egress.ca_bundle,
        no_proxy=egress.no_proxy,
        public_only_headers=egress.public_only_headers,
        profiles={_one_host(host): _headers(settings.keys, secret) for host, secret in egress.logins.items()},
        signer=signer.fields if signer else None,
    )


def signer_of(settings: Settings) -> Signer | None:
    """What signs requests, where the operator has set a key. Raises: InvalidArguments, NotConfigured."""
    key, agent = settings.egress.signing_key, settings.egress.signing_agent
    if not key and not agent:
        return None
    if not (key and agent):
        raise InvalidArguments("egress.signing_key and egress.signing_agent go together", remedy="set both, or neither")
    return Signer.from_file(key, agent)


def _one_host(text: str) -> str:
    """A login goes to exactly one host, so nothing that could mean several is taken."""
    found = pattern(text)
    if found.kind not in ("bare", "exact") or found.port is not None:
        raise InvalidArguments(f"egress.logins has {text!r}, which is not one host name", remedy="write the host alone: www.x.org")
    return found.host


def _headers(secrets: Mapping[str, str], name: str) -> dict[str, str]:
    value = secrets.get(name)
    if value is None:
        raise NotConfigured(f"egress.logins names the secret {name}, which is not set", remedy=f"cormorant secret set {name}")
    lines = [line for line in value.splitlines() if line.strip()]
    found = {key.strip(): text.strip() for key, colon, text in (line.partition(":") for line in lines) if colon}
    if not found or len(found) != len(lines):
        raise InvalidArguments(
            f"the secret {name} holds no header lines", remedy="write `Cookie: name=value` or `Authorization: Bearer ...`, one a line"
        )
    return found
