"""Which addresses are public, by our own table. Pure: no sockets, no clock.

Taken from the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its successors), not from
`ipaddress.is_global`: that property changes between Python versions and calls NAT64, 6to4 and IPv4-compatible forms of
private addresses, multicast and site-local addresses global. An IPv6 address is public only inside 2000::/3, the one
block IANA has given out for global unicast, or where it carries a public IPv4 address.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_SPECIAL = {  # registry: "Globally Reachable" False, or no unicast destination at all
    "0.0.0.0/8": "this network (RFC 791)",
    "10.0.0.0/8": "private use (RFC 1918)",
    "100.64.0.0/10": "shared address space of carriers (RFC 6598)",
    "127.0.0.0/8": "loopback (RFC 1122)",
    "169.254.0.0/16": "link-local (RFC 3927)",
    "172.16.0.0/12": "private use (RFC 1918)",
    "192.0.0.0/24": "IETF protocol assignments (RFC 6890)",
    "192.0.2.0/24": "documentation (RFC 5737)",
    "192.88.99.0/24": "withdrawn 6to4 relay anycast (RFC 7526)",
    "192.168.0.0/16": "private use (RFC 1918)",
    "198.18.0.0/15": "benchmarking (RFC 2544)",
    "198.51.100.0/24": "documentation (RFC 5737)",
    "203.0.113.0/24": "documentation (RFC 5737)",
    "224.0.0.0/4": "multicast (RFC 5771)",
    "240.0.0.0/4": "reserved (RFC 1112)",
    "255.255.255.255/32": "limited broadcast (RFC 919)",
    "::/128": "unspecified (RFC 4291)",
    "::1/128": "loopback (RFC 4291)",
    "::/96": "IPv4-compatible, withdrawn (RFC 4291)",
    "::ffff:0:0:0/96": "IPv4-translated (RFC 2765)",
    "64:ff9b:1::/48": "local-use translation (RFC 8215)",
    "100::/64": "discard-only (RFC 6666)",
    "100:0:0:1::/64": "dummy prefix (RFC 9780)",
    "2001::/32": "Teredo (RFC 4380)",
    "2001:2::/48": "benchmarking (RFC 5180)",
    "2001:10::/28": "ORCHID, withdrawn (RFC 4843)",
    "2001::/23": "IETF protocol assignments (RFC 2928)",
    "2001:db8::/32": "documentation (RFC 3849)",
    "3fff::/20": "documentation (RFC 9637)",
    "5f00::/16": "segment routing identifiers (RFC 9602)",
    "fc00::/7": "unique local (RFC 4193)",
    "fe80::/10": "link-local (RFC 4291)",
    "fec0::/10": "site-local, withdrawn (RFC 3879)",
    "ff00::/8": "multicast (RFC 4291)",
}
_PUBLIC_INSIDE = (  # registry: more specific entries inside the blocks above that are "Globally Reachable"
    "192.0.0.9/32",  # Port Control Protocol anycast, RFC 7723
    "192.0.0.10/32",  # TURN anycast, RFC 8155
    "2001:1::1/128",  # the same two for IPv6, and service registration (RFC 9665)
    "2001:1::2/128",
    "2001:1::3/128",
    "2001:3::/32",  # AMT, RFC 7450
    "2001:4:112::/48",  # AS112, RFC 7535
    "2001:20::/28",  # ORCHIDv2, RFC 7343
    "2001:30::/28",  # drone remote ID, RFC 9374
)
_METADATA = {  # the vendors' documentation; link-local and unique-local blocks cover most of them a second time
    "169.254.169.0/24": "instance metadata of AWS, Azure, Google, Oracle, OpenStack and others",
    "169.254.170.0/24": "credentials of AWS containers (ECS, EKS)",
    "169.254.42.42/32": "instance metadata of Scaleway",
    "169.254.0.23/32": "instance metadata of Tencent",
    "100.100.100.200/32": "instance metadata of Alibaba",
    "168.63.129.16/32": "the Azure host agent",
    "192.0.0.192/32": "instance metadata of Oracle Classic",
    "fd00:ec2::/32": "instance metadata of AWS",
    "fd20:ce::/32": "instance metadata of Google",
    "fd00:c1::/32": "instance metadata of Oracle",
    "fd00:42::42/128": "instance metadata of Scaleway",
}
SPECIAL: dict[Network, str] = {ip_network(text): why for text, why in _SPECIAL.items()}
METADATA: dict[Network, str] = {ip_network(text): why for text, why in _METADATA.items()}
PUBLIC_INSIDE: tuple[Network, ...] = tuple(ip_network(text) for text in _PUBLIC_INSIDE)

GLOBAL_UNICAST = IPv6Network("2000::/3")  # RFC 4291 2.4, and IANA's IPv6 address space registry
MAPPED = IPv6Network("::ffff:0:0/96")  # RFC 4291 2.5.5.2
NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")  # RFC 8215
COMPATIBLE = IPv6Network("::/96")
TRANSLATED = IPv6Network("::ffff:0:0:0/96")
SIX_TO_FOUR = IPv6Network("2002::/16")  # RFC 3056
TEREDO = IPv6Network("2001::/32")  # RFC 4380
_LOW_32 = 0xFFFF_FFFF
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE, 0x0100_5EFE, 0x0300_5EFE})  # RFC 5214 6.1, both states of the u and g bits


def read(text: str) -> Address:
    """The address, without a zone. Raises: ValueError where it is none."""
    return ip_address(text.partition("%")[0])


def embedded(ip: Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses an IPv6 one leads to by a transition mechanism; packets may end there, so they are judged too."""
    if isinstance(ip, IPv4Address):
        return ()
    bits = int(ip)
    if bits <= 1:  # :: and ::1 lie in ::/96 and are no IPv4-compatible addresses (RFC 4291 2.5.5.1)
        return ()
    low = IPv4Address(bits & _LOW_32)
    if ip in NAT64_LOCAL:  # RFC 6052 2.2: the prefix in use may be /48 (bits 48-63 and 72-87), /56, /64 or /96
        return (low, *(IPv4Address(_around_bits_64_to_71(bits, prefix)) for prefix in (48, 56, 64)))
    if any(ip in network for network in (MAPPED, NAT64, COMPATIBLE, TRANSLATED)):
        return (low,)
    if ip in SIX_TO_FOUR:
        return (IPv4Address(bits >> 80 & _LOW_32),)
    if ip in TEREDO:
        return (IPv4Address(bits >> 64 & _LOW_32), IPv4Address(~bits & _LOW_32))
    return (low,) if bits >> 32 & _LOW_32 in _ISATAP else ()


def _around_bits_64_to_71(bits: int, prefix: int) -> int:
    """The IPv4 address after `prefix` bits, which leaves out the octet RFC 6052 reserves."""
    octets = bits.to_bytes(16, "big")
    rest = [octets[n] for n in range(prefix // 8, 16) if n != 8]
    return int.from_bytes(bytes(rest[:4]), "big")


@lru_cache(maxsize=4096)
def metadata(ip: Address) -> str:
    """Whose metadata service answers there, or empty. Nothing opens these: not a list, not a range."""
    for one in (ip, *embedded(ip)):
        for network, whose in METADATA.items():
            if one.version == network.version and one in network:
                return whose
    return ""


@lru_cache(maxsize=4096)
def special(ip: Address) -> str:
    """Why the address is not a public one, or empty where it is."""
    if isinstance(ip, IPv6Address) and (ip in MAPPED or ip in NAT64):
        return special(embedded(ip)[0])
    if any(ip.version == network.version and ip in network for network in PUBLIC_INSIDE):
        return ""
    for network, why in SPECIAL.items():
        if ip.version == network.version and ip in network:
            return f"{why}, {network}"
    for inner in embedded(ip):
        if why := special(inner):
            return f"it leads to {inner}: {why}"
    if isinstance(ip, IPv6Address) and ip not in GLOBAL_UNICAST:
        return "outside 2000::/3, the only block given out for global unicast"
    return ""
