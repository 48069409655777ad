"""Every collected attack and every must-allow case, played against the real transport over real sockets.

Public addresses can't be dialled offline, so the dialler of these tests brings every address to one server of this
machine. What may be dialled at all is decided before it, by the product alone; each test looks at what was dialled.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cormorant.errors import CormorantError
from cormorant.policy import Policy, networks
from support_net import Authority, Request, Scripted, answer, dials_to, quick, serving, transport

pytestmark = pytest.mark.anyio
CASES = Path(__file__).parents[2] / "shared" / "cases" / "ssrf.jsonl"
KINDS = ("url", "dns", "dns-sequence", "redirect")


def collected() -> Iterator[Any]:
    lines = CASES.read_text().splitlines() if CASES.is_file() else []
    for case in map(json.loads, lines):
        if case["kind"] in KINDS:
            yield pytest.param(case, id=case["id"])
    yield pytest.param({"kind": "url", "url": "http://127.0.0.1/", "expected": "refuse"}, id="own-loopback")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


def policy_of(case: dict[str, Any]) -> Policy:
    config = case.get("config") or {}
    listed = [*config.get("allow_hosts", ()), *config.get("allow_addresses", ())]
    return Policy(allow=tuple(listed) if listed else None, allow_ranges=tuple(config.get("allow_ranges", ())))


@pytest.mark.parametrize("case", list(collected()))
async def test_a_collected_case_decides_as_it_says(case: dict[str, Any], authority: Authority) -> None:
    hops = list(case.get("redirects", ()))
    asked: list[Request] = []

    def page(request: Request) -> bytes:
        asked.append(request)
        return answer(302, "", location=hops[len(asked) - 1]) if len(asked) <= len(hops) else answer(200, "reached")

    if "_" in case["url"].partition("://")[2].partition("/")[0]:  # no authority signs a name with an underscore
        case = case | {"url": case["url"].replace("https:", "http:")}
    names = case.get("dns", {})
    if case["kind"] == "dns-sequence":
        names = {case["url"].split("/")[2]: case["dns_sequence"]}
    resolve = Scripted(names, otherwise=())
    dialled: list[str] = []
    async with serving({"*": page}) as plain, serving({"*": page}, tls=authority.for_any_name()) as secure:
        ports = {"http": plain.port, "https": secure.port}

        async def connect(address: str, port: int) -> Any:
            return await dials_to(ports["https" if port in (443, 8443) else "http"], dialled)(address, port)

        times = len(case.get("dns_sequence", [1]))
        async with transport(policy_of(case), resolve=resolve, connect=connect, options=quick(ca_bundle=authority.bundle)) as t:
            outcome = "allow"
            try:
                for _ in range(times):
                    found = await t.get(case["url"])
                    t._pool.close()
                    t._pool._closed = False
                    assert found.body == b"reached"
            except CormorantError:
                outcome = "refuse"
    assert outcome == case["expected"]
    if case["kind"] in ("url", "dns") and outcome == "refuse":
        assert dialled == [], "nothing may leave before every check is done"
    assert not [address for address in dialled if address.startswith(("127.", "10.", "169.254.", "::1"))]


def test_the_collected_cases_are_there(cases: Path) -> None:
    assert (cases / "ssrf.jsonl").is_file()


def disguises(ip: IPv4Address) -> list[str]:
    """Spellings of an IPv4 address that some client or other has been talked into."""
    a, b, c, d = ip.packed
    whole = int(ip)
    plain = [str(ip), f"{ip}.", str(whole), hex(whole), f"0{whole:o}", f"{a}.{whole & 0xFFFFFF}"]
    plain += [f"0x{a:02X}.{b}.0{c:o}.{d}", f"{a}.{b}.{whole & 0xFFFF}"]
    wide = "".join(chr(ord(x) + 0xFEE0) if x.isdigit() else "\u3002" for x in str(ip))
    hidden = "".join(f"%{ord(x):02x}" for x in str(ip))
    low = f"{a << 8 | b:x}:{c << 8 | d:x}"
    inside = [f"[{before}:{low}]" for before in ("::ffff", ":", "64:ff9b:", "64:ff9b:1:", "2606:4700::5efe", "::ffff:0")]
    inside.append(f"[2002:{low}::1]")
    return [*plain, wide, hidden, *inside, f"user@{ip}", f"public.example\\@{ip}", f"{ip}\\@public.example"]


NOT_PUBLIC = st.one_of(
    *(st.integers(int(network[0]), int(network[-1])).map(IPv4Address) for network in networks.SPECIAL if network.version == 4),
    *(st.integers(int(network[0]), int(network[-1])).map(IPv4Address) for network in networks.METADATA if network.version == 4),
).filter(lambda ip: bool(networks.special(ip) or networks.metadata(ip)))


@settings(max_examples=60, deadline=None)
@given(NOT_PUBLIC, st.sampled_from(["url", "redirect", "dns"]))
def test_no_spelling_of_an_address_that_is_not_public_is_ever_dialled(ip: IPv4Address, way: str) -> None:
    asyncio.run(never_dialled(ip, way))


async def never_dialled(ip: IPv4Address, way: str) -> None:
    dialled: list[str] = []
    location = ""

    def page(request: Request) -> bytes:
        return answer(302, "", location=location) if location else answer(200, "x")

    async with serving({"*": page}) as server:
        connect = dials_to(server.port, dialled)
        resolve = Scripted({"pub.example": ["93.184.215.14"], "evil.example": ["93.184.215.14", str(ip)]})
        async with transport(Policy(), resolve=resolve, connect=connect, options=quick()) as t:
            for text in disguises(ip) if way != "dns" else ["evil.example"]:
                location = f"http://{text}/" if way == "redirect" else ""
                with pytest.raises(CormorantError):
                    await t.get("http://pub.example/" if location else f"http://{text}/")
    assert set(dialled) <= {"93.184.215.14"}
