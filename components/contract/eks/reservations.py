"""Checks of reserved capacity on EKS."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from components.contract.constraint_violation import Mismatch
from components.contract.eks.config import EksConfig
from components.contract.pools import NodePool
from components.contract.reservation import Reservation

BLOCK_FAMILIES: Final = ("p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300")
"""Families with NVIDIA GPUs of which AWS sells capacity blocks.

moto 5.2.5, ``instance_types.json.gz`` (``SupportedUsageClasses`` with ``capacity-block``).
"""

_EXAMPLE: Final = "cr-0a91582543292e10a"

_ID: Final = r"cr-[0-9a-f]{17}"
_GROUP: Final = r"arn:aws:resource-groups:([a-z0-9-]+):(\d{12}):group/[A-Za-z0-9_.-]{1,300}"


def reservation_problems(choices: EksConfig, pools: Mapping[str, NodePool]) -> Iterator[Mismatch]:
    """Find reservations and zones that EC2 would refuse, or that would start no machine."""
    for name, pool in pools.items():
        if pool.zone and pool.zone not in choices.zones:
            yield Mismatch((name, "zone"), f"is not one of cluster.zones, {', '.join(choices.zones)}")
        if pool.reservation:
            for key, message in _problems(pool.reservation, pool, choices):
                yield Mismatch((name, "reservation", key), message)


def _problems(reservation: Reservation, pool: NodePool, choices: EksConfig) -> Iterator[tuple[str, str]]:
    group = re.fullmatch(_GROUP, reservation.id)
    if not group and not re.fullmatch(_ID, reservation.id):
        yield "id", f"must be the id of a reservation or block, such as {_EXAMPLE}, or the ARN of a reservation group"
    elif group and reservation.block:
        yield "id", f"must be the id of the block, such as {_EXAMPLE}: a block is in no resource group"
    elif group and group.groups() != (choices.region, choices.account_id):
        yield "id", f"is in {group[1]}, account {group[2]}; use a group of {choices.region}, {choices.account_id}"
    unfit = [each.name for each in pool.instances if each.family not in BLOCK_FAMILIES]
    if reservation.block and unfit:
        families = ", ".join(BLOCK_FAMILIES)
        yield "block", f"AWS sells no capacity blocks of {', '.join(unfit)}, only of {families}; use one of these types"
