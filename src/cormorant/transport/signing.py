"""Web Bot Auth: requests signed with an operator's Ed25519 key, so that a site can tell this agent from one that says so.

HTTP Message Signatures (RFC 9421) over `@authority` and `signature-agent` with the tag `web-bot-auth`; the key's id is its
JWK thumbprint (RFC 7638, RFC 8037 appendix A.3), and `directory` is the document the site fetches the public key from,
at `/.well-known/http-message-signatures-directory` of the address in `agent`.
"""

from __future__ import annotations

import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from typing import Any

from cormorant.address import Url, parse
from cormorant.errors import InvalidArguments, NotConfigured

LASTS_S = 60  # a signature is used at once, so it need not be good for long
LABEL = "sig1"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"
DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"


class Signer:
    """Signs requests with one key. `agent` is the https address under which the operator publishes the directory."""

    def __init__(self, key_pem: bytes, agent: str, *, clock: Callable[[], float] = time.time) -> None:
        self._key = _read(key_pem)
        self._clock = clock
        self.agent = parse(agent).origin
        if not self.agent.startswith("https://"):
            raise InvalidArguments("the address of the signature agent is not https", remedy="publish the key directory over https")
        self.key_id = thumbprint(self.public_key)

    @classmethod
    def from_file(cls, path: str, agent: str) -> Signer:
        """The key as a PEM file (PKCS 8, unencrypted). Raises: InvalidArguments, NotConfigured."""
        try:
            return cls(Path(path).read_bytes(), agent)
        except OSError as error:
            raise InvalidArguments(f"the signing key can't be read: {path} ({error.strerror})", remedy="give a PEM file") from error

    def __repr__(self) -> str:
        return f"Signer({self.key_id}, {self.agent})"

    @property
    def public_key(self) -> bytes:
        """The 32 bytes of the public key."""
        raw: bytes = self._key.public_key().public_bytes_raw()
        return raw

    def fields(self, url: Url) -> dict[str, str]:
        """The three header fields of a signed request to `url`."""
        created = int(self._clock())
        agent = f'"{self.agent}"'
        parameters = (
            f'("@authority" "signature-agent");created={created};expires={created + LASTS_S};keyid="{self.key_id}"'
            f';alg="ed25519";nonce="{b64encode(token_bytes(32)).decode()}";tag="web-bot-auth"'
        )
        base = f'"@authority": {url.authority}\n"signature-agent": {agent}\n"@signature-params": {parameters}'  # RFC 9421 2.5
        signature = b64encode(self._key.sign(base.encode("ascii"))).decode()
        return {"signature-agent": agent, "signature-input": f"{LABEL}={parameters}", "signature": f"{LABEL}=:{signature}:"}

    def directory(self) -> dict[str, Any]:
        """The key directory to publish, with the media type DIRECTORY_TYPE: a JWK set with the public key."""
        x = _base64url(self.public_key)
        return {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.key_id, "use": "sig"}]}


def thumbprint(public_key: bytes) -> str:
    """The JWK thumbprint of an Ed25519 key."""
    return _base64url(sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{_base64url(public_key)}"}}'.encode()).digest())


def _base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _read(key_pem: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise NotConfigured("signing requests needs an optional package", remedy="pip install 'cormorant[signing]'") from None
    try:
        key = load_pem_private_key(key_pem, password=None)
    except (ValueError, TypeError) as error:
        raise InvalidArguments(
            "the signing key is not an unencrypted PEM private key", remedy="openssl genpkey -algorithm ed25519"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidArguments("the signing key is not an Ed25519 key", remedy="openssl genpkey -algorithm ed25519")
    return key
