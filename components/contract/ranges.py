"""Ranges of IPv4 addresses, with the checks that every cloud needs."""

from collections.abc import Sequence
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError
from itertools import permutations
from typing import Final

PRIVATE_RANGES: Final = tuple(IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
"""RFC 1918."""

SHARED_RANGE: Final = IPv4Network("100.64.0.0/10")
"""RFC 6598."""

EVERYWHERE: Final = IPv4Network("0.0.0.0/0")
"""The whole internet."""

NEVER_PUBLIC: Final = (*PRIVATE_RANGES, SHARED_RANGE, IPv4Network("127.0.0.0/8"), IPv4Network("169.254.0.0/16"))
"""Ranges that cannot be the source of internet traffic."""

PUBLIC_PREFIX_MIN: Final = 8
"""Wider ranges count as the whole internet, because two halves make 0.0.0.0/0."""


def ipv4_network(text: str) -> IPv4Network:
    """Return the network that ``text`` names in its canonical form.

    Raises
    ------
    ValueError
        If it is not an IPv4 network, or has host bits set.
    """
    try:
        network = IPv4Network(text, strict=False)
    except (AddressValueError, NetmaskValueError, ValueError):
        raise ValueError("is not an IPv4 range such as 10.20.0.0/16") from None
    if str(network) != text:
        raise ValueError(f"must be written as '{network}'")
    return network


def bounded_network(text: str, bounds: tuple[int, int], ranges: Sequence[IPv4Network], noun: str) -> IPv4Network:
    """Return the network that ``text`` names.

    Parameters
    ----------
    text
        The range in a stack file.
    bounds
        Lengths of the widest and the narrowest prefix.
    ranges
        Ranges of which one must contain the network.
    noun
        Noun for the network in messages, such as ``VPC``.

    Raises
    ------
    ValueError
        If it is not a network, or is outside the bounds or the ranges.
    """
    widest, narrowest = bounds
    if "/" not in text:
        raise ValueError(f"is an address; write a range: a {noun} must be /{widest} to /{narrowest}")
    network = ipv4_network(text)
    if not widest <= network.prefixlen <= narrowest:
        raise ValueError(f"a {noun} must be /{widest} to /{narrowest}")
    if not any(network.subnet_of(private) for private in ranges):
        raise ValueError(f"a {noun} must be inside {', '.join(map(str, ranges))}")
    return network


def public_range(text: str, rule: str, instead: str) -> str:
    """Return ``text`` if it is a range that may reach a public endpoint.

    Parameters
    ----------
    text
        The range in a stack file.
    rule
        Id of the rule that forbids public access.
    instead
        Alternative to internet access, for the message.

    Raises
    ------
    ValueError
        If it is not a range, is too wide, or cannot be the source of internet traffic.
    """
    if ":" in text:
        raise ValueError("must be an IPv4 range; the cluster is IPv4 only")
    network = ipv4_network(text)
    if network.prefixlen < PUBLIC_PREFIX_MIN:
        raise ValueError(f"{rule}: covers the internet or much of it; use ranges of /{PUBLIC_PREFIX_MIN} or smaller")
    if any(network.overlaps(reserved) for reserved in NEVER_PUBLIC):
        raise ValueError(f"is a private range and cannot be the source of internet traffic; remove it, {instead}")
    return text


def service_address(cidr: str) -> str:
    """Return, as a range, the address of the Service ``kubernetes``: always the first of the range of Services."""
    return f"{IPv4Network(cidr)[1]}/32"


def differing(ranges: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``ranges`` if none is listed twice or inside another.

    Raises
    ------
    ValueError
        If one is.
    """
    if len(set(ranges)) < len(ranges):
        raise ValueError("lists a range twice; remove one")
    for inner, outer in permutations(map(IPv4Network, ranges), 2):
        if inner.subnet_of(outer):
            raise ValueError(f"lists {inner}, which {outer} includes; remove one")
    return ranges
