"""From settings to what a request says of itself: User-Agent, logins, signatures."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cormorant.address import parse
from cormorant.errors import InvalidArguments, NotConfigured
from cormorant.settings import Settings
from cormorant.transport.identity import options_of


def of(keys: dict[str, str] | None = None, **egress: object) -> Settings:
    return Settings.model_validate({"egress": egress, "keys": keys or {}})


def test_a_login_is_a_secret_for_one_host() -> None:
    keys = {"SHOP_LOGIN": "Cookie: session=S3CRET; theme=dark\nX-Csrf: 1\n"}
    options = options_of(of(keys, logins={"WWW.Shop.example.": "SHOP_LOGIN"}))
    assert options.profiles == {"www.shop.example": {"Cookie": "session=S3CRET; theme=dark", "X-Csrf": "1"}}
    assert "S3CRET" not in repr(options)


@pytest.mark.parametrize("host", ["*.shop.example", ".shop.example", "*", "shop.example:8443", "10.0.0.7"])
def test_a_login_for_several_hosts_is_refused(host: str) -> None:
    with pytest.raises(InvalidArguments, match="one host"):
        options_of(of({"L": "Cookie: a=b"}, logins={host: "L"}))


def test_a_login_without_its_secret_or_without_headers_is_named() -> None:
    with pytest.raises(NotConfigured) as caught:
        options_of(of(logins={"shop.example": "SHOP_LOGIN"}))
    assert caught.value.remedy == "cormorant secret set SHOP_LOGIN"
    with pytest.raises(InvalidArguments) as wrong:
        options_of(of({"SHOP_LOGIN": "session=S3CRET"}, logins={"shop.example": "SHOP_LOGIN"}))
    assert "S3CRET" not in str(wrong.value.as_dict())


def test_requests_are_signed_when_a_key_and_its_address_are_set(tmp_path: Path) -> None:
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "agent.pem").write_bytes(pem)
    options = options_of(of(signing_key=str(tmp_path / "agent.pem"), signing_agent="https://agent.example/about"))
    assert options.signer
    assert options.signer(parse("https://site.test/"))["signature-agent"] == '"https://agent.example"'
    assert options_of(of()).signer is None
    with pytest.raises(InvalidArguments, match="together"):
        options_of(of(signing_agent="https://agent.example"))
