"""Lists, patterns, ports, names and addresses: who may be reached, and which rule said so."""

from __future__ import annotations

import shlex
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cormorant.errors import InvalidArguments, NotAllowed, PrivateAddress, Refused
from cormorant.policy import BAD_PORTS, Policy, matches, networks, pattern


def allowed(policy: Policy, url: str) -> bool:
    try:
        policy.check_url(url)
    except (Refused, InvalidArguments):
        return False
    return True


def reached(policy: Policy, host: str, ip: str, port: int | None = None) -> bool:
    try:
        policy.check_address(host, ip, port)
    except Refused:
        return False
    return True


# The pattern language (one for allow, block, filters, prefer, no-proxy)


@pytest.mark.parametrize(
    ("text", "host", "port", "narrow", "wide"),
    [
        ("x.org", "x.org", 443, True, True),
        ("x.org", "a.x.org", 443, False, True),
        ("x.org", "evilx.org", 443, False, False),
        ("x.org", "x.org.evil.test", 443, False, False),
        (".x.org", "x.org", 443, True, True),
        (".x.org", "a.b.x.org", 443, True, True),
        (".x.org", "ax.org", 443, False, False),
        ("*.x.org", "x.org", 443, False, False),
        ("*.x.org", "a.x.org", 443, True, True),
        ("=x.org", "x.org", 443, True, True),
        ("=x.org", "a.x.org", 443, False, False),
        ("x.org:8080", "x.org", 8080, True, True),
        ("x.org:8080", "x.org", 443, False, False),
        ("x.org:8080", "a.x.org", 8080, False, True),
        ("x.org:443", "x.org", 443, True, True),
        ("x.org:80", "x.org", 443, False, False),
        ("X.ORG.", "x.org", 443, True, True),
        ("Bücher.example", "xn--bcher-kva.example", 443, True, True),
        ("https://x.org/", "x.org", 443, True, True),
        ("10.0.0.7", "10.0.0.7", 80, True, True),
        ("10.0.0.7:8080", "10.0.0.7", 80, False, False),
        ("0xa.7", "10.0.0.7", 80, True, True),
        ("[fd00::7]:8080", "fd00::7", 8080, True, True),
        ("fd00:0::7", "fd00::7", 80, True, True),
        ("x.org", "x.org", None, True, True),
        ("x.org:8080", "x.org", None, True, True),
        ("*", "anything.at.all", 443, True, True),
    ],
)
def test_what_a_pattern_means(text: str, host: str, port: int | None, narrow: bool, wide: bool) -> None:
    assert pattern(text).matches(host, port, wide=False) is narrow
    assert pattern(text).matches(host, port, wide=True) is wide


@pytest.mark.parametrize(
    "text", ["", "x org", "http://x.org/path", "x.*.org", "**", "*x.org", "10.0.0.0/8", "*.10.0.0.7", "x.org:99999", "u@x.org", "a..b"]
)
def test_a_pattern_that_means_nothing_is_an_error(text: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        Policy(block=[text])
    assert "x.org" in caught.value.remedy


def test_matches_takes_hosts_as_people_write_them() -> None:
    assert str(matches(["*.a.org", "x.org"], "WWW.X.Org.", wide=True)) == "x.org"
    assert matches(["x.org"], "www.x.org", wide=False) is None
    assert matches([], "x.org", wide=True) is None


# The lists


@pytest.mark.parametrize(
    ("policy", "url", "expected"),
    [
        pytest.param(Policy(), "https://any.example/", True, id="no list: every public host"),
        pytest.param(Policy(allow=[]), "https://any.example/", False, id="empty list: nothing"),
        pytest.param(Policy(allow=["x.org"]), "https://x.org/", True, id="listed"),
        pytest.param(Policy(allow=["x.org"]), "https://www.x.org/", False, id="bare is narrow on allow"),
        pytest.param(Policy(block=["x.org"]), "https://www.x.org/", False, id="bare is wide on block"),
        pytest.param(Policy(allow=["x.org"], block=["x.org"]), "https://x.org/", False, id="block wins"),
        pytest.param(Policy(allow=["10.0.0.7:8080"]), "http://10.0.0.7:8080/", True, id="private literal listed"),
        pytest.param(Policy(allow=["10.0.0.7:8080"]), "http://10.0.0.7:8081/", False, id="other port"),
        pytest.param(Policy(allow=["10.0.0.7:8080"]), "http://0xa000007:8080/", True, id="other spelling of the literal"),
        pytest.param(Policy(allow=["10.0.0.7"]), "http://[::ffff:10.0.0.7]/", False, id="the list names another literal"),
        pytest.param(Policy(allow=["169.254.169.254"]), "http://169.254.169.254/", False, id="metadata by literal"),
        pytest.param(Policy(allow=["*"]), "http://127.0.0.1/", False, id="a star opens no private address"),
        pytest.param(Policy(allow_ranges=["127.0.0.0/8"]), "http://127.0.0.1:5000/", True, id="range"),
        pytest.param(Policy(allow_ranges=["127.0.0.0/8"]), "http://localhost:5000/", False, id="localhost by name all the same"),
        pytest.param(Policy(allow_ranges=["10.0.0.0/8"], block=["10.0.0.7"]), "http://10.0.0.7/", False, id="blocked inside a range"),
        pytest.param(Policy(allow=["wiki.corp.internal"]), "http://wiki.corp.internal/", True, id="inside name, named"),
        pytest.param(Policy(allow=["*"]), "http://wiki.corp.internal/", False, id="inside name, star"),
        pytest.param(Policy(allow=["localhost"]), "http://localhost/", False, id="localhost, named"),
        pytest.param(Policy(block=["evil.test"]), "https://EVIL.test../", False, id="two root dots"),
    ],
)
def test_what_the_lists_decide(policy: Policy, url: str, expected: bool) -> None:
    assert allowed(policy, url) is expected


def test_a_policy_is_a_value() -> None:
    one, two = Policy(allow=["x.org"], block=("a.org",)), Policy(allow=("x.org",), block=["a.org"])
    assert one == two
    assert hash(one) == hash(two)
    assert one != Policy(allow=["x.org"])
    with pytest.raises(AttributeError):
        one.allow = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("policy", "url", "kind", "says", "remedy"),
    [
        (Policy(allow=["a.org"]), "https://x.org/", NotAllowed, 'host "x.org" is not allowed by policy', "cormorant egress allow x.org"),
        (Policy(allow=["a.org"]), "https://x.org:8443/", NotAllowed, "egress.allow", "cormorant egress allow x.org:8443"),
        (
            Policy(block=["x.org"]),
            "https://w.x.org/",
            NotAllowed,
            'host "w.x.org" is not allowed by policy',
            "remove x.org from egress.block",
        ),
        (Policy(), "http://10.0.0.7:8080/", PrivateAddress, "RFC 1918", "cormorant egress allow 10.0.0.7:8080"),
        (Policy(), "http://[fd00::7]:8080/", PrivateAddress, "RFC 4193", "cormorant egress allow [fd00::7]:8080"),
        (Policy(), "http://169.254.169.254/", PrivateAddress, "metadata", "no setting"),
        (Policy(), "http://localhost:3000/", PrivateAddress, "RFC 6761", "cormorant egress allow 127.0.0.1:3000"),
        (Policy(), "http://x.org:25/", NotAllowed, "bad-port", "no setting"),
        (Policy(allow_ranges=["10.0.0.0/33"]), "https://x.org/", NotAllowed, "10.0.0.0/33", "CIDR"),
        (Policy(allow_ranges=["0.0.0.0/0"]), "https://x.org/", NotAllowed, "0.0.0.0/0", "never /0"),
        (Policy(), "http://a.org\\@b.org/", NotAllowed, "backslash", "http://a.org/@b.org/"),
    ],
)
def test_a_refusal_names_its_rule_and_what_would_allow_it(policy: Policy, url: str, kind: type, says: str, remedy: str) -> None:
    with pytest.raises(kind) as caught:
        policy.check_url(url)
    assert says in caught.value.message
    assert remedy in caught.value.remedy
    assert caught.value.url


def test_the_command_of_a_refusal_closes_nothing_else() -> None:
    for url in ("http://10.0.0.7:8080/", "http://nas.home.arpa/", "http://intranet/"):
        with pytest.raises(PrivateAddress) as caught:
            Policy().check_url(url)
        entries = shlex.split(caught.value.remedy)[3:]
        assert allowed(Policy(allow=entries), url)
        assert allowed(Policy(allow=entries), "https://x.org/")
    with pytest.raises(PrivateAddress) as caught:
        Policy(allow_ranges=["10.0.0.0/8"]).check_address("x.org", "192.168.0.1")
    ranges = caught.value.remedy.rpartition(" ")[2].split(",")
    assert reached(Policy(allow_ranges=ranges), "x.org", "192.168.0.1")
    assert reached(Policy(allow_ranges=ranges), "x.org", "10.0.0.1")


def test_the_command_of_a_refusal_does_allow_it() -> None:
    for url in (
        "https://x.org/",
        "https://x.org:8443/a",
        "http://10.0.0.7:8080/",
        "http://10.0.0.7/",
        "http://[fd00::7]:99/",
        "http://nas.home.arpa/",
    ):
        with pytest.raises(Refused) as caught:
            Policy(allow=["other.org"]).check_url(url)
        named = caught.value.remedy.removeprefix("cormorant egress allow ")
        assert allowed(Policy(allow=["other.org", named]), url), named


@pytest.mark.parametrize("bad", [["10.0.0.0/33"], ["0.0.0.0/0"], ["::/0"], ["nonsense"], ["10.0.0.0/8", ""]])
def test_a_bad_range_refuses_everything(bad: list[str]) -> None:
    policy = Policy(allow_ranges=bad)
    assert not allowed(policy, "https://x.org/")
    assert not reached(policy, "x.org", "93.184.215.14")


# Names


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "printer.local",
        "x.internal",
        "x.onion",
        "nas.home.arpa",
        "router.lan",
        "intranet",
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "a;b.org",
        "a,b.org",
        "-a.org",
        "a&b.org",
        "ｌｏｃａｌｈｏｓｔ",
        "loc\xadalhost",
        "metadata。google。internal",
        "x" * 64 + ".org",
        ".".join(["abcdefg"] * 33),
    ],
)
def test_names_that_are_no_public_server_are_refused(host: str) -> None:
    assert not allowed(Policy(), f"http://{host}/")


@pytest.mark.parametrize(
    "host", ["x.org", "a-b_c.org", "localhost.org", "mylocal", "local.org", "xn--r8jz45g.example", "1-1-1-1.org", "internal.x.org"]
)
def test_names_that_only_look_like_them_are_not(host: str) -> None:
    assert allowed(Policy(allow=[host]), f"http://{host}/")
    if "." in host:
        assert allowed(Policy(), f"http://{host}/")


def test_ports() -> None:
    assert {22, 25, 6000, 6667, 10080, 0} <= BAD_PORTS
    for port in BAD_PORTS:
        assert not allowed(Policy(allow=[f"x.org:{port}", "x.org"]), f"https://x.org:{port}/")
    for port in (80, 443, 8080, 8443, 3000, 9200):
        assert allowed(Policy(), f"https://x.org:{port}/")


# Addresses


@pytest.mark.parametrize(
    "ip",
    [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "169.254.1.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "::",
        "::1",
        "::8.8.8.8",
        "::ffff:10.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::808:808",
        "100::1",
        "100:0:0:1::1",
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:2::1",
        "2001:10::1",
        "2001:db8::1",
        "2002:a00:1::",
        "2002:a9fe:a9fe::1",
        "2606:4700::5efe:10.0.0.1",
        "2606:4700::200:5efe:7f00:1",
        "3fff::1",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "8.8.8.8%1",
        "not an address",
        "",
    ],
)
def test_addresses_that_are_not_public_are_refused(ip: str) -> None:
    assert not reached(Policy(), "x.org", ip)
    assert not reached(Policy(allow=["x.org"]), "x.org", ip)


@pytest.mark.parametrize(
    "ip",
    [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.0.9",
        "192.0.0.10",
        "192.0.1.1",
        "192.31.196.1",
        "192.52.193.1",
        "192.167.0.1",
        "198.17.0.1",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2a00:1450::1",
        "2001:4860:4860::8888",
        "2001:1::1",
        "2001:3::1",
        "2001:4:112::1",
        "2001:20::1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
        "2606:4700::5efe:8.8.8.8",
        "2001:200::1",
    ],
)
def test_public_addresses_may_be_reached(ip: str) -> None:
    assert reached(Policy(), "x.org", ip)


@pytest.mark.parametrize(
    ("ranges", "ip", "expected"),
    [
        (["10.0.0.0/8"], "10.1.2.3", True),
        (["10.0.0.0/8"], "192.168.0.1", False),
        (["10.0.0.0/8"], "::ffff:10.1.2.3", True),
        (["198.18.0.0/15"], "198.18.0.5", True),
        (["fd00::/8"], "fd12::1", True),
        (["fd00::/8"], "fd00:ec2::254", False),
        (["169.254.0.0/16"], "169.254.169.254", False),
        (["169.254.0.0/16"], "169.254.7.7", True),
        (["100.64.0.0/10"], "100.100.100.200", False),
        (["64:ff9b:1::/48"], "64:ff9b:1::a9fe:a9fe", False),
        (["64:ff9b:1::/48"], "64:ff9b:1::a00:1", False),
        (["2002::/16"], "2002:7f00:1::", False),
        (["10.0.0.7"], "10.0.0.7", True),
        (["::1/128"], "::1", True),
        (["127.0.0.0/8"], "::1", False),
    ],
)
def test_ranges_open_what_they_name_and_never_metadata(ranges: list[str], ip: str, expected: bool) -> None:
    assert reached(Policy(allow_ranges=ranges), "x.org", ip) is expected


def test_a_private_literal_in_the_list_is_reached_and_a_name_resolving_there_is_not() -> None:
    policy = Policy(allow=["10.0.0.7:8080", "intra.example"])
    assert reached(policy, "10.0.0.7", "10.0.0.7", 8080)
    assert not reached(policy, "intra.example", "10.0.0.7", 8080)


def test_a_blocked_address_is_not_reached_by_a_name_either() -> None:
    assert not reached(Policy(block=["93.184.215.14"]), "x.org", "93.184.215.14")
    assert not reached(Policy(block=["93.184.215.14"]), "x.org", "::ffff:93.184.215.14")


def test_the_table_holds_whole_networks() -> None:
    for network in networks.SPECIAL:
        for ip in (network[0], network[-1]):
            inside = any(ip.version == one.version and ip in one for one in networks.PUBLIC_INSIDE)
            assert inside or not reached(Policy(), "x.org", str(ip)), ip


# Properties

V4 = st.integers(0, 2**32 - 1).map(IPv4Address)
V6 = st.integers(0, 2**128 - 1).map(IPv6Address)


def spellings(ip: IPv4Address) -> list[str]:
    a, b, c, d = ip.packed
    whole = int(ip)
    return [
        str(ip),
        f"{ip}.",
        str(whole),
        hex(whole),
        f"0{whole:o}",
        f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}",
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"{a}.{whole & 0xFFFFFF}",
        f"{a}.{b}.{whole & 0xFFFF}",
        f"%3{a // 100}{a % 100:02d}.{b}.{c}.{d}" if a >= 100 else f"{a}.{b}.{c}.{d}",
        "".join(chr(ord(x) + 0xFEE0) if x.isdigit() else "。" for x in str(ip)),
        f"[::ffff:{ip}]",
    ]


@given(V4)
def test_no_spelling_of_an_address_changes_the_decision(ip: IPv4Address) -> None:
    expected = allowed(Policy(), f"http://{ip}/")
    assert expected is not bool(networks.special(ip) or networks.metadata(ip))
    for text in spellings(ip):
        assert allowed(Policy(), f"http://{text}/") is expected, text


@given(V4)
def test_an_address_inside_another_is_judged_as_itself(ip: IPv4Address) -> None:
    public = reached(Policy(), "x.org", str(ip))
    low = int(ip)
    for clothes in (0xFFFF << 32, 0x0064_FF9B << 96, 0x2002 << 112 | low << 80, 0x2606_4700 << 96 | 0x5EFE << 32):
        dressed = IPv6Address(clothes if clothes >> 112 == 0x2002 else clothes | low)
        assert reached(Policy(), "x.org", str(dressed)) is public, dressed
    for clothes in (0, 0xFFFF << 48, 0x0064_FF9B_0001 << 80):
        assert not reached(Policy(), "x.org", str(IPv6Address(clothes | low)))


@given(V6)
def test_nothing_outside_global_unicast_is_reached_unless_it_carries_a_public_ipv4(ip: IPv6Address) -> None:
    if reached(Policy(), "x.org", str(ip)):
        assert ip in networks.GLOBAL_UNICAST or reached(Policy(), "x.org", str(networks.embedded(ip)[0]))


@given(st.one_of(V4, V6))
def test_metadata_is_in_no_list_and_no_range(ip: IPv4Address | IPv6Address) -> None:
    for network in networks.METADATA:
        inside = (
            ip_address(int(network[0]) + int(ip) % network.num_addresses)
            if network.version == 4
            else network[int(ip) % network.num_addresses]
        )
        host = str(inside) if inside.version == 4 else f"[{inside}]"
        open_policy = Policy(allow=[str(inside), "*"], allow_ranges=["0.0.0.0/1", "128.0.0.0/1", "::/1", "8000::/1"])
        assert not allowed(open_policy, f"http://{host}/")
        assert not reached(open_policy, "x.org", str(inside))


@given(st.from_regex(r"[a-z][a-z0-9]{0,8}\.(example|org)", fullmatch=True), st.randoms(use_true_random=False), st.booleans())
def test_a_decision_never_depends_on_case_dot_idna_or_port_spelling(host: str, random: object, listed: bool) -> None:
    policy = Policy(allow=[host if listed else "other.example"])
    mixed = "".join(x.upper() if random.random() < 0.5 else x for x in host)  # type: ignore[attr-defined]
    wide = "".join(chr(ord(x) + 0xFEE0) if x.isalnum() else x for x in host)
    for spelling in (host, mixed, f"{host}.", f"{host}:443", f"{host}:0443", f"{host}:", wide, host.replace(".", "。")):
        assert allowed(policy, f"https://{spelling}/") is listed, spelling


# Explaining


def test_explain_lists_each_check_up_to_the_one_that_refuses() -> None:
    lines = Policy(allow=["x.org"], block=["bad.org"]).explain("https://x.org/a")
    assert [line.name for line in lines] == ["parse", "scheme", "port", "block", "allow", "name"]
    assert all(line.ok for line in lines)
    assert "egress.allow has x.org" in lines[4].rule
    refused = Policy(allow=["x.org"]).explain("http://10.0.0.7/")
    assert (refused[-1].ok, refused[-1].name) == (False, "not_allowed")
    assert "cormorant egress allow 10.0.0.7" in refused[-1].rule
    assert Policy().explain("nonsense")[0] == refused[0].__class__("parse", False, "not a URL: nonsense")


def test_explain_address_says_what_opened_it() -> None:
    assert Policy().explain_address("x.org", "8.8.8.8").ok
    assert "opened by the lists" in Policy(allow_ranges=["10.0.0.0/8"]).explain_address("x.org", "10.0.0.1").rule
    assert not Policy().explain_address("x.org", "10.0.0.1").ok
