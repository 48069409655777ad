"""Web Bot Auth: our signatures, verified by a library that is not ours."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from http_message_signatures import HTTPMessageVerifier, InvalidSignature, MappingKeyResolver, algorithms

from cormorant.address import parse
from cormorant.errors import InvalidArguments
from cormorant.transport.signing import Signer, thumbprint
from support_net import Request, answer, quick, serving, transport

KEY = Ed25519PrivateKey.generate()
PEM = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
AGENT = "https://agent.example"


def verify(headers: dict[str, str], url: str, key: Ed25519PublicKey, key_id: str) -> None:
    resolver = MappingKeyResolver(public_keys={key_id: key}, private_keys={})
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=resolver)
    message = SimpleNamespace(method="GET", url=url, headers=headers)
    covered = ("@authority", "signature-agent")
    found = verifier.verify(message, max_age=timedelta(minutes=1), expect_tag="web-bot-auth", require_components=covered)
    assert len(found) == 1


@pytest.mark.parametrize("url", ["https://site.test/a?b=1", "https://site.test:8443/", "http://[2606:4700::1]/", "https://BÜCHER.example/"])
def test_a_signature_is_good_for_its_host_alone(url: str) -> None:
    signer = Signer(PEM, AGENT)
    found = parse(url)
    fields = signer.fields(found)
    verify(dict(fields), found.href, KEY.public_key(), signer.key_id)
    with pytest.raises(InvalidSignature):
        verify(dict(fields), "https://other.test/", KEY.public_key(), signer.key_id)
    assert signer.fields(found)["signature"] != fields["signature"], "a nonce makes each one new"


def test_the_directory_holds_the_public_key_under_its_thumbprint() -> None:
    signer = Signer(PEM, AGENT)
    key = signer.directory()["keys"][0]
    assert (key["kty"], key["crv"], key["kid"]) == ("OKP", "Ed25519", signer.key_id)
    assert "d" not in key


def test_the_thumbprint_is_the_one_of_rfc_8037() -> None:
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")  # RFC 8037 A.2
    assert thumbprint(public) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"  # RFC 8037 A.3


OTHER_CURVE = ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize("pem", [b"nonsense", OTHER_CURVE], ids=["nonsense", "other curve"])
def test_a_key_that_is_none_is_an_error(pem: bytes) -> None:
    with pytest.raises(InvalidArguments):
        Signer(pem, AGENT)


def test_the_agent_is_https_and_the_key_stays_hidden() -> None:
    with pytest.raises(InvalidArguments, match="https"):
        Signer(PEM, "http://agent.example")
    with pytest.raises(InvalidArguments, match="can't be read"):
        Signer.from_file("/nowhere/key.pem", AGENT)
    assert "PRIVATE" not in repr(Signer(PEM, AGENT))


@pytest.mark.anyio
async def test_every_hop_is_signed_for_its_own_host() -> None:
    signer = Signer(PEM, AGENT)

    def page(request: Request) -> bytes:
        return answer(302, "", location=server.url("/b", host="other.test")) if request.target == "/a" else answer(200, "x")

    async with serving({"*": page}) as server, transport(options=quick(signer=signer.fields)) as t:
        await t.get(server.url("/a"))
        await t.request("GET", server.url("/api"), trusted=True)
    first, second, api = server.requests
    verify(first.headers, server.url("/a"), KEY.public_key(), signer.key_id)
    verify(second.headers, server.url("/b", host="other.test"), KEY.public_key(), signer.key_id)
    assert "signature" not in api.headers
