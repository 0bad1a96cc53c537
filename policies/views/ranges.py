"""Checks of address ranges."""

from ipaddress import ip_network

from components.contract.ranges import PUBLIC_PREFIX_MIN
from policies.values import NotJudgeableError, Value


def is_world(cidr: Value) -> bool:
    """Return whether the range covers at least half of the internet.

    Raises
    ------
    NotJudgeableError
        If it is unknown or no range.
    """
    try:
        return ip_network(cidr.text() or "", strict=False).prefixlen < PUBLIC_PREFIX_MIN
    except ValueError:
        raise NotJudgeableError(cidr.path, "is not an address range") from None
