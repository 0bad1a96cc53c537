"""Elastic Fabric Adapters: AWS's fast network between machines, as network interfaces of a launch template."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from components.contract.groups import NodeGroup

PLAIN_FIRST_CARD: Final = ("p6-b300",)
"""Families whose first network card has no such adapter: moto 5.2.5, ``instance_types.json.gz``."""


class NetworkInterface(NamedTuple):
    """One network interface of a machine."""

    card: int
    """Index of its network card."""
    kind: str
    """``interface``: addresses alone; ``efa``: an adapter and addresses; ``efa-only``: an adapter alone."""


def network_interfaces(group: NodeGroup) -> Iterator[NetworkInterface]:
    """Yield the interfaces of the group's machines, the primary one first; none without a fast network.

    Each card that can have an adapter gets one. Only the primary interface has addresses, so a node uses no more
    addresses of the subnet than any other. It is an adapter too if its card can have one: a second interface on the
    first card would use a slot that the network plug-in needs for addresses of pods.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    """
    if group.fabric is None:
        return
    is_plain = group.instances[0].family in PLAIN_FIRST_CARD
    yield NetworkInterface(0, "interface" if is_plain else "efa")
    others = group.fabric.interfaces if is_plain else group.fabric.interfaces - 1
    yield from (NetworkInterface(card, "efa-only") for card in range(1, others + 1))
