"""Checks of reserved capacity on AKS."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from components.contract.aks.config import AksConfig
from components.contract.constraint_violation import Mismatch
from components.contract.pools import NodePool

NOT_RESERVED: Final = r"Standard_(ND\w+|NC\d+adi?s_H100_v5|H[BC]\w+)"
"""Sizes that capacity reservations do not offer.

https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview#limitations-and-restrictions
"""

_GROUP: Final = (
    r"/subscriptions/([0-9a-f-]{36})/resourceGroups/[\w.()-]{1,90}"
    r"/providers/Microsoft\.Compute/capacityReservationGroups/[\w.-]{1,80}"
)


def reservation_problems(choices: AksConfig, pools: Mapping[str, NodePool]) -> Iterator[Mismatch]:
    """Find reservations and zones that Azure would refuse or silently ignore."""
    for name, pool in pools.items():
        if pool.zone and pool.zone not in choices.zones:
            yield Mismatch((name, "zone"), f"is not one of cluster.zones, {', '.join(choices.zones)}")
        if not pool.reservation:
            continue
        found = re.fullmatch(_GROUP, pool.reservation.id)
        if not found:
            yield Mismatch(
                (name, "reservation", "id"),
                "must be the id of a capacity reservation group: /subscriptions/ID/resourceGroups/NAME/providers/"
                "Microsoft.Compute/capacityReservationGroups/NAME",
            )
        elif found[1] != choices.subscription_id:
            yield Mismatch(
                (name, "reservation", "id"),
                f"is in subscription {found[1]}, the cluster in {choices.subscription_id}; use a group of the latter",
            )
        if pool.reservation.block:
            yield Mismatch((name, "reservation", "block"), "is for EKS: Azure sells no capacity blocks; remove it")
        unfit = [each.name for each in pool.instances if re.fullmatch(NOT_RESERVED, each.name)]
        if unfit:
            message = f"Azure reserves no {', '.join(unfit)}; use other types, or lifecycle: on-demand"
            yield Mismatch((name, "reservation"), message)
